/* SPDX-License-Identifier: BSD-2-Clause */
/* Data accesses to te_data packets: chapter 7, each packet in its shortest form. */
#include "etrace/unit.h"

#include <inttypes.h>

enum { FULL, XOR, FULL_DATA, DIFFERENCE, METHODS }; /* codes of `diff` */

/* format */
enum { LOAD, STORE = 2, SPLIT_LOAD_DATA = 4, CSR, ATOMIC, SPLIT_ATOMIC_DATA };

static struct tw_etraced_value fit(struct tw_etraced_value value, unsigned size)
{
    const unsigned bits = 8u << size;

    if (bits < 64) {
        value.low = tw_sign_extend(value.low, bits);
        value.high = value.low >> 63 ? UINT64_MAX : 0;
    } else if (bits == 64) {
        value.high = value.low >> 63 ? UINT64_MAX : 0;
    }
    return value;
}

/* What is sent of a value after `last`, sign-extended from its size. */
static struct tw_etraced_value compressed(const struct tw_etrace_unit *unit,
                                          struct tw_etraced_value value,
                                          struct tw_etraced_value last, unsigned method,
                                          unsigned size)
{
    struct tw_etraced_value out = value;

    if (method == XOR) {
        out.low ^= last.low;
        out.high ^= last.high;
    } else if (method == DIFFERENCE) {
        out.low -= last.low;
        out.high -= last.high + (value.low < last.low);
    }
    return unit->data_shape.is_quirky ? out : fit(out, size);
}

/* Bytes, less one, from which sign extension restores the value. */
static uint8_t length_of(const struct tw_etrace_unit *unit, struct tw_etraced_value value,
                         unsigned size)
{
    unsigned bytes = 1u << size;

    if (unit->data_shape.is_quirky)
        return (uint8_t)(bytes - 1);
    while (bytes > 1) {
        const unsigned rest = bytes - 1, at = 8 * rest - 1;
        const uint64_t word = at < 64 ? value.low : value.high;
        const unsigned shift = at & 63;
        const uint64_t sign = word >> shift & 1 ? UINT64_MAX : 0;

        if ((word ^ sign) >> shift || (at < 64 && (value.high ^ sign)))
            break;
        bytes = rest;
    }
    return (uint8_t)(bytes - 1);
}

static void put_data(struct tw_etrace_unit *unit, struct tw_etrace_packet *packet,
                     struct tw_etraced_value value)
{
    packet->data = value.low;
    packet->data_high = value.high;
    packet->data_len = length_of(unit, value, packet->data_size);
    packet->has |= TW_ETRACE_HAS_DATA;
}

static void put_operand(struct tw_etrace_unit *unit, struct tw_etrace_packet *packet,
                        struct tw_etraced_value value)
{
    packet->operand = value.low;
    packet->operand_high = value.high;
    packet->op_len = length_of(unit, value, packet->data_size);
    packet->has |= TW_ETRACE_HAS_OPERAND;
}

/* An access on its way to a packet. */
struct draft {
    struct tw_etrace_packet packet;
    uint64_t encoded; /* its address, without redundant bits */
    struct tw_etraced_value data, operand;
    bool has_address, has_data, has_operand;
    bool operand_is_first; /* atomics */
    uint8_t allowed;       /* bit n: method n has a code */
};

/* One way to say it; the code of `diff` is the caller's. */
static struct tw_etrace_packet say(struct tw_etrace_unit *unit, const struct draft *draft,
                                   unsigned method)
{
    struct tw_etrace_packet packet = draft->packet;
    const unsigned size = packet.data_size;
    const uint64_t mask = unit->config.daddress_width < 64
                              ? ((uint64_t)1 << unit->config.daddress_width) - 1
                              : UINT64_MAX;
    struct tw_etraced_value last = unit->data.history.data[size];

    if (unit->data_shape.is_quirky && method == XOR) /* its own meaning of the code */
        method = DIFFERENCE;
    if (draft->has_address) {
        packet.has |= TW_ETRACE_HAS_ADDRESS;
        packet.field = draft->encoded;
        if (packet.base.type != TW_ETRACE_CSR) {
            if (method != FULL)
                packet.field -= unit->data.history.address[size];
            packet.field &= mask;
        }
    }
    if (draft->has_operand && draft->operand_is_first) {
        put_operand(unit, &packet, compressed(unit, draft->operand, last, method, size));
        last = draft->operand;
    }
    if (draft->has_data) {
        put_data(unit, &packet, compressed(unit, draft->data, last, method, size));
        last = draft->data;
    }
    if (draft->has_operand && !draft->operand_is_first)
        put_operand(unit, &packet, compressed(unit, draft->operand, last, method, size));
    return packet;
}

static unsigned size_of(const struct tw_etrace_unit *unit,
                        const struct tw_etrace_packet *packet)
{
    struct tw_payload payload;

    return tw_etraced_build(&unit->data_shape, unit->options, &payload, packet)
               ? tw_payload_finish(&payload)
               : UINT32_MAX;
}

/* Methods that the registers let it use for this access, among those that its packet has. */
static unsigned methods(const struct tw_etrace_unit *unit, const struct draft *draft)
{
    const unsigned bit = 1u << draft->packet.data_size;
    const bool needs_address = draft->has_address && draft->packet.base.type != TW_ETRACE_CSR;
    const bool needs_value = draft->has_data || draft->has_operand;
    const bool full_address =
        unit->options & TW_ETRACE_FULL_DADDRESS || unit->data_compress == 0;
    const bool full_data = unit->options & TW_ETRACE_FULL_DATA || unit->data_compress == 0;
    unsigned found = 1u << FULL;

    if (unit->data_shape.is_quirky) /* the same for each access */
        return full_address                   ? 1u << FULL
               : full_data && draft->has_data ? 1u << FULL_DATA
                                              : 1u << XOR;
    if ((needs_address && (full_address || !(unit->data.has_address & bit))) ||
        (needs_value && !(unit->data.has_value & bit)))
        return found;
    found |= 1u << FULL_DATA;
    if (!full_data && unit->data_compress & 1)
        found |= 1u << XOR;
    if (!full_data && unit->data_compress & 2)
        found |= 1u << DIFFERENCE;
    return found & (draft->allowed | 1u << FULL);
}

static void set_code(struct tw_etrace_packet *packet, unsigned method, unsigned bits)
{
    const unsigned type = packet->base.type;

    if (type == TW_ETRACE_SPLIT_LOAD_DATA || type == TW_ETRACE_SPLIT_ATOMIC_DATA)
        packet->resp = method == XOR ? 1 : method == DIFFERENCE ? 3 : 2;
    else if (bits == 1)
        packet->diff = method != FULL;
    else
        packet->diff = (uint8_t)method;
}

/* Sends the shortest of all ways. */
static void send(struct tw_etrace_unit *unit, struct draft *draft, unsigned diff_bits)
{
    const unsigned allowed = methods(unit, draft);
    struct tw_etrace_packet best = draft->packet;
    unsigned best_size = 0;

    for (unsigned method = 0; method < METHODS; method++) {
        struct tw_etrace_packet packet;
        unsigned size;

        if (!(allowed >> method & 1))
            continue;
        packet = say(unit, draft, method);
        set_code(&packet, method, diff_bits);
        size = size_of(unit, &packet);
        if (best_size == 0 || size < best_size) {
            best = packet;
            best_size = size;
        }
    }
    if (unit->data_is_lost) {
        if (!tw_etrace_has_room(unit)) {
            unit->counts.lost++;
            return;
        }
        if (unit->is_v2)
            tw_etrace_emit_support(unit, TW_ETRACE_NO_CHANGE);
        unit->data_is_lost = false;
        unit->data.has_address = unit->data.has_value = 0;
        send(unit, draft, diff_bits);
        return;
    }
    if (!tw_etrace_send(unit, &best))
        return;
    if (draft->has_address && best.base.type != TW_ETRACE_CSR)
        unit->data.has_address |= (uint8_t)(1u << best.data_size);
    if (draft->has_data || draft->has_operand)
        unit->data.has_value |= (uint8_t)(1u << best.data_size);
    tw_etraced_resolve(&unit->data_shape, &unit->data.history, &best);
}

/* With a diff field of one bit its 1 means what the unit has. */
static uint8_t one_bit_methods(const struct tw_etrace_unit *unit)
{
    return unit->data_shape.one_bit_is_difference ? 1u << DIFFERENCE : 1u << XOR;
}

static void take_csr(struct tw_etrace_unit *unit, const struct tw_etrace_access *access)
{
    const bool has_data = !(unit->options & TW_ETRACE_NO_DATA);
    const unsigned bits = has_data ? unit->data_shape.diff : unit->data_shape.csr_diff;
    struct draft draft = {
        .packet = { .base = { .type = TW_ETRACE_CSR },
                    .format = CSR,
                    .subtype = (uint8_t)(access->dtype - TW_ETRACE_DTYPE_CSR_RW),
                    .data_size = unit->data_shape.csr_size },
        .encoded = access->daddr & 0xfff,
        .data = { access->data, access->data_high },
        .operand = { access->operand, access->operand_high },
        .has_address = true,
        .has_data = has_data,
        .has_operand = has_data && (access->daddr >> 10 & 3) != 3,
        .allowed = 1u << XOR | 1u << DIFFERENCE,
    };

    if (!has_data)
        draft.allowed = 0;
    else if (bits == 1)
        draft.allowed = one_bit_methods(unit);
    send(unit, &draft, bits);
}

static void take_atomic(struct tw_etrace_unit *unit, const struct tw_etrace_access *access)
{
    const bool is_split = unit->data_shape.is_split;
    const bool has_data = !(unit->options & TW_ETRACE_NO_DATA);
    const bool has_address = !has_data || !(unit->options & TW_ETRACE_NO_ADDRESS);
    const unsigned bits = !has_data ? 1 : has_address && !is_split ? 2 : unit->data_shape.diff;
    const unsigned subtype = access->dtype - TW_ETRACE_DTYPE_SWAP;
    struct draft draft = {
        .packet = { .base = { .type =
                                  is_split ? TW_ETRACE_SPLIT_ATOMIC_ADDR : TW_ETRACE_ATOMIC },
                    .format = ATOMIC,
                    .subtype =
                        (uint8_t)(subtype + (unit->data_shape.is_quirky && subtype >= 4)),
                    .data_size = access->dsize,
                    .lrid = access->lrid },
        .encoded = access->daddr >> access->dsize,
        .data = { access->data, access->data_high },
        .operand = { access->operand, access->operand_high },
        .has_address = has_address,
        .has_data = has_data && !is_split,
        .has_operand = has_data,
        .operand_is_first = true,
        .allowed = 1u << XOR | 1u << FULL_DATA | 1u << DIFFERENCE,
    };

    if (access->dtype == TW_ETRACE_DTYPE_SC_FAIL && has_data)
        return; /* only packets without data have a code for it */
    if (!has_data)
        draft.allowed = 1u << FULL_DATA;
    else if (!has_address)
        draft.allowed = bits == 1 ? one_bit_methods(unit) : 1u << XOR | 1u << DIFFERENCE;
    else if (bits == 1)
        draft.allowed = 1u << XOR;
    if (is_split)
        unit->is_atomic[access->lrid % TW_ETRACED_REQUESTS] = true;
    send(unit, &draft, bits);
}

static void take_load_store(struct tw_etrace_unit *unit, const struct tw_etrace_access *access)
{
    const bool is_load = access->dtype == TW_ETRACE_DTYPE_LOAD;
    const bool is_split = is_load && unit->data_shape.is_split;
    const bool has_data = !is_split && !(unit->options & TW_ETRACE_NO_DATA);
    const bool has_address = !has_data || !(unit->options & TW_ETRACE_NO_ADDRESS);
    const bool is_aligned = !(access->daddr & (((uint64_t)1 << access->dsize) - 1));
    const unsigned bits = !has_data ? 1 : has_address ? 2 : unit->data_shape.diff;
    struct draft draft = {
        .packet = { .base = { .type = is_split  ? TW_ETRACE_SPLIT_LOAD_ADDR
                                      : is_load ? TW_ETRACE_LOAD
                                                : TW_ETRACE_STORE },
                    .format = (uint8_t)((is_load ? LOAD : STORE) + !is_aligned),
                    .data_size = access->dsize,
                    .lrid = access->lrid },
        .encoded = is_aligned ? access->daddr >> access->dsize : access->daddr,
        .data = { access->data, access->data_high },
        .has_address = has_address,
        .has_data = has_data,
        .allowed = 1u << XOR | 1u << FULL_DATA | 1u << DIFFERENCE,
    };

    if (!has_data)
        draft.allowed = 1u << FULL_DATA;
    else if (!has_address)
        draft.allowed = bits == 1 ? one_bit_methods(unit) : 1u << XOR | 1u << DIFFERENCE;
    if (is_split)
        unit->is_atomic[access->lrid % TW_ETRACED_REQUESTS] = false;
    send(unit, &draft, bits);
}

enum tw_status tw_etrace_take_access(struct tw_etrace_unit *unit,
                                     const struct tw_etrace_access *access)
{
    const bool is_csr =
        access->dtype >= TW_ETRACE_DTYPE_CSR_RW && access->dtype <= TW_ETRACE_DTYPE_CSR_RC;
    const bool is_atomic = access->dtype >= TW_ETRACE_DTYPE_SWAP;

    if (access->dtype > TW_ETRACE_DTYPE_SC_FAIL ||
        (access->dtype > TW_ETRACE_DTYPE_STORE && !is_csr && !is_atomic) ||
        (!unit->is_v2 && access->dtype == TW_ETRACE_DTYPE_SC_FAIL))
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "there is no dtype %u", access->dtype);
    if (!is_csr && (access->dsize > 4 || 8u << access->dsize > unit->config.data_width))
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "an access of 2^%u bytes has no packet",
                       access->dsize);
    if (is_atomic && !unit->is_v2 && (access->dsize < 2 || access->dsize > 3))
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "an atomic access has 4 or 8 bytes");
    if (unit->config.format_bits == 2 && (is_csr || is_atomic))
        return tw_fail(&unit->fault, TW_E_ARGUMENT,
                       "format_bits of 2 leave packets for loads and stores only");
    if (unit->config.lrid_width && access->lrid >> (unit->config.lrid_width - 1) >> 1)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "lrid does not fit lrid_width_p");
    if (is_csr)
        take_csr(unit, access);
    else if (is_atomic)
        take_atomic(unit, access);
    else
        take_load_store(unit, access);
    return TW_OK;
}

enum tw_status tw_etrace_unit_response(struct tw_etrace_unit *unit, uint32_t lrid,
                                       uint64_t data, uint64_t data_high, bool is_error)
{
    const unsigned number = lrid % TW_ETRACED_REQUESTS;
    const bool is_atomic = unit->is_atomic[number];
    struct draft draft = {
        .packet = { .base = { .type = is_atomic ? TW_ETRACE_SPLIT_ATOMIC_DATA
                                                : TW_ETRACE_SPLIT_LOAD_DATA },
                    .format = is_atomic ? SPLIT_ATOMIC_DATA : SPLIT_LOAD_DATA,
                    .data_size = unit->data.history.requests[number].size,
                    .lrid = lrid },
        .data = { data, data_high },
        .has_data = true,
        .allowed = 1u << XOR | 1u << DIFFERENCE,
    };

    if (!unit->data_shape.is_split)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "loads are not split");
    if (!unit->data.history.requests[number].is_open || unit->options & TW_ETRACE_NO_DATA)
        return TW_OK; /* its request was not traced */
    if (is_error) {
        if (tw_etrace_send(unit, &draft.packet))
            tw_etraced_resolve(&unit->data_shape, &unit->data.history, &draft.packet);
        return TW_OK;
    }
    send(unit, &draft, 2);
    return TW_OK;
}
