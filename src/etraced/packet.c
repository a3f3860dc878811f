/* SPDX-License-Identifier: BSD-2-Clause */
/* te_data payloads to packets (E-Trace chapter 7), and the values behind the differences. */
#include "etraced/packet.h"

#include <trackway/types.h>

/* Codes of the format field. */
enum {
    LOAD_ALIGNED,
    LOAD_UNALIGNED,
    STORE_ALIGNED,
    STORE_UNALIGNED,
    SPLIT_LOAD_DATA,
    CSR,
    ATOMIC,
    SPLIT_ATOMIC_DATA
};

/* diff of packets with address and data; resp of split data uses other codes for the same. */
enum { DIFF_FULL, DIFF_XOR, DIFF_FULL_DATA, DIFF_DIFFERENCE };
enum { RESP_ERROR, RESP_XOR, RESP_FULL, RESP_DIFFERENCE };

static uint8_t log2_up(unsigned value)
{
    uint8_t bits = 0;

    while ((1u << bits) < value)
        bits++;
    return bits;
}

void tw_etraced_shape_init(struct tw_etraced_shape *shape,
                           const struct tw_etrace_config *config)
{
    const bool is_seed = config->layout == TW_ETRACE_LAYOUT_SEED;
    const unsigned csr_width = config->csr_width          ? config->csr_width
                               : config->data_width >= 64 ? 64
                                                          : 32;
    uint8_t size = log2_up(log2_up(config->data_width / 8u + 1));

    if (is_seed) /* the text of 7.1.2, not the tables, which need one bit more for 64 */
        size = config->data_width < 128 ? 2 : 3;
    *shape = (struct tw_etraced_shape){
        .is_seed = is_seed,
        .is_quirky = config->layout == TW_ETRACE_LAYOUT_V2_REFPY_QUIRKS,
        .is_split = config->lrid_width > 0,
        .format = config->format_bits,
        .size = size ? size : 1,
        .atomic_size = is_seed ? 1
                       : size  ? size
                               : 1,
        .lrid = config->lrid_width,
        .diff = config->diff_bits,
        .csr_diff = config->csr_diff_bits,
        .csr_len = csr_width == 64 ? 3 : 2,
        .csr_size = csr_width == 64 ? 3 : 2,
        .one_bit_is_difference = config->data_compress == 2,
        .data_width = config->data_width,
        .size_max = log2_up(config->data_width / 8u),
        .address_width = config->daddress_width,
    };
}

static struct tw_etraced_value take_wide(struct tw_payload *in, unsigned bits)
{
    struct tw_etraced_value value = { 0, 0 };

    if (bits <= 64) {
        value.low = tw_payload_take(in, bits);
    } else {
        value.low = tw_payload_take(in, 64);
        value.high = tw_payload_take(in, bits - 64);
    }
    return value;
}

static void take_data(struct tw_etrace_packet *out, struct tw_payload *in, unsigned bits)
{
    const struct tw_etraced_value value = take_wide(in, bits);

    out->data = value.low;
    out->data_high = value.high;
    out->has |= TW_ETRACE_HAS_DATA;
}

/* A number of bytes, in as many bits as the access size needs, then so many bytes. */
static void take_counted_data(struct tw_etrace_packet *out, struct tw_payload *in,
                              unsigned bits)
{
    out->data_len = (uint8_t)tw_payload_take(in, bits);
    take_data(out, in, 8 * (out->data_len + 1u));
}

static void take_operand(struct tw_etrace_packet *out, struct tw_payload *in, unsigned bits)
{
    struct tw_etraced_value value;

    out->op_len = (uint8_t)tw_payload_take(in, bits);
    value = take_wide(in, 8 * (out->op_len + 1u));
    out->operand = value.low;
    out->operand_high = value.high;
    out->has |= TW_ETRACE_HAS_OPERAND;
}

static void take_address(const struct tw_etraced_shape *shape, struct tw_etrace_packet *out,
                         struct tw_payload *in)
{
    out->field = tw_payload_take(in, shape->address_width);
    out->has |= TW_ETRACE_HAS_ADDRESS;
}

static void parse_load_store(const struct tw_etraced_shape *shape, uint32_t options,
                             struct tw_etrace_packet *out, struct tw_payload *in)
{
    const bool is_load = out->format <= LOAD_UNALIGNED;

    out->base.type = is_load ? TW_ETRACE_LOAD : TW_ETRACE_STORE;
    out->data_size = (uint8_t)tw_payload_take(in, shape->size);
    if (out->data_size > shape->size_max)
        return; /* no such access; the lengths that follow depend on it */
    if (is_load && shape->is_split) {
        out->base.type = TW_ETRACE_SPLIT_LOAD_ADDR;
        out->lrid = (uint32_t)tw_payload_take(in, shape->lrid);
        out->diff = (uint8_t)tw_payload_take(in, 1);
        take_address(shape, out, in);
    } else if (options & TW_ETRACE_NO_DATA) {
        out->diff = (uint8_t)tw_payload_take(in, 1);
        take_address(shape, out, in);
    } else if (options & TW_ETRACE_NO_ADDRESS) {
        out->diff = (uint8_t)tw_payload_take(in, shape->diff);
        take_data(out, in, shape->data_width);
    } else {
        out->diff = (uint8_t)tw_payload_take(in, 2);
        take_counted_data(out, in, out->data_size);
        take_address(shape, out, in);
    }
}

static void parse_split_load_data(const struct tw_etraced_shape *shape,
                                  struct tw_etrace_packet *out, struct tw_payload *in)
{
    out->base.type = TW_ETRACE_SPLIT_LOAD_DATA;
    out->data_size = (uint8_t)tw_payload_take(in, shape->size);
    out->lrid = (uint32_t)tw_payload_take(in, shape->lrid);
    out->resp = (uint8_t)tw_payload_take(in, 2);
    if (out->resp != RESP_ERROR)
        take_data(out, in, shape->data_width);
}

static void parse_atomic(const struct tw_etraced_shape *shape, uint32_t options,
                         struct tw_etrace_packet *out, struct tw_payload *in)
{
    const bool has_data = !(options & TW_ETRACE_NO_DATA);
    const bool has_address = !has_data || !(options & TW_ETRACE_NO_ADDRESS);

    out->base.type = shape->is_split ? TW_ETRACE_SPLIT_ATOMIC_ADDR : TW_ETRACE_ATOMIC;
    out->subtype = (uint8_t)tw_payload_take(in, 3);
    /* 7.2.1: in the draft one bit, 4 or 8 bytes */
    out->data_size =
        (uint8_t)(tw_payload_take(in, shape->atomic_size) + (shape->is_seed ? 2 : 0));
    if (out->data_size > shape->size_max)
        return;
    if (shape->is_split)
        out->lrid = (uint32_t)tw_payload_take(in, shape->lrid);
    out->diff = (uint8_t)tw_payload_take(in, !has_data                         ? 1
                                             : has_address && !shape->is_split ? 2
                                                                               : shape->diff);
    if (has_data)
        take_operand(out, in, out->data_size);
    if (has_data && !shape->is_split) {
        if (has_address)
            take_counted_data(out, in, out->data_size);
        else
            take_data(out, in, shape->data_width);
    }
    if (has_address)
        take_address(shape, out, in);
}

static void parse_split_atomic_data(const struct tw_etraced_shape *shape,
                                    const struct tw_etraced_history *history,
                                    struct tw_etrace_packet *out, struct tw_payload *in)
{
    out->base.type = TW_ETRACE_SPLIT_ATOMIC_DATA;
    out->lrid = (uint32_t)tw_payload_take(in, shape->lrid);
    out->data_size = history->requests[out->lrid % TW_ETRACED_REQUESTS].size;
    out->resp = (uint8_t)tw_payload_take(in, 2);
    if (out->resp != RESP_ERROR)
        take_counted_data(out, in, out->data_size);
}

static void parse_csr(const struct tw_etraced_shape *shape, uint32_t options,
                      struct tw_etrace_packet *out, struct tw_payload *in)
{
    const bool has_data = !(options & TW_ETRACE_NO_DATA);
    uint64_t high;

    out->base.type = TW_ETRACE_CSR;
    out->data_size = shape->csr_size;
    out->subtype = (uint8_t)tw_payload_take(in, shape->is_seed && !has_data ? 3 : 2);
    out->diff = (uint8_t)tw_payload_take(in, has_data ? shape->diff : shape->csr_diff);
    if (has_data)
        take_counted_data(out, in, shape->csr_len);
    high = tw_payload_take(in, 6);
    if (has_data && high >> 4 != 3) /* addr[11:10] = 3: read only, no operand */
        take_operand(out, in, shape->csr_len);
    out->field = high << 6 | tw_payload_take(in, 6);
    out->has |= TW_ETRACE_HAS_ADDRESS;
}

static bool is_sound(const struct tw_etraced_shape *shape,
                     const struct tw_etrace_packet *packet)
{
    const unsigned bytes = 1u << packet->data_size;

    if (packet->base.type == TW_ETRACE_CSR)
        return packet->subtype < 3 && packet->data_len < bytes && packet->op_len < bytes;
    if (packet->data_size > shape->size_max)
        return false;
    if (packet->base.type == TW_ETRACE_ATOMIC ||
        packet->base.type == TW_ETRACE_SPLIT_ATOMIC_ADDR) {
        if (shape->is_quirky)
            return packet->subtype != 4;
        /* 7: conditional-store failure, 2.0, without data */
        return packet->subtype != 7 || !(packet->has & TW_ETRACE_HAS_DATA);
    }
    return true;
}

enum tw_error_code tw_etraced_parse(const struct tw_etraced_shape *shape, uint32_t options,
                                    const struct tw_etraced_history *history,
                                    struct tw_etrace_packet *out, struct tw_payload *in)
{
    out->has = 0;
    out->diff = out->resp = out->subtype = out->data_len = out->op_len = 0;
    out->format = (uint8_t)tw_payload_take(in, shape->format);
    switch (out->format) {
    case SPLIT_LOAD_DATA:
        parse_split_load_data(shape, out, in);
        break;
    case CSR:
        parse_csr(shape, options, out, in);
        break;
    case ATOMIC:
        parse_atomic(shape, options, out, in);
        break;
    case SPLIT_ATOMIC_DATA:
        parse_split_atomic_data(shape, history, out, in);
        break;
    default:
        parse_load_store(shape, options, out, in);
    }
    if ((out->format == SPLIT_LOAD_DATA || out->format == SPLIT_ATOMIC_DATA) &&
        !shape->is_split)
        out->base.type = TW_ETRACE_BAD;
    else if (is_sound(shape, out) && tw_payload_is_used_up(in))
        return TW_ERROR_NONE;
    out->base.type = TW_ETRACE_BAD;
    return TW_ERROR_BAD_SEQUENCE;
}

TW_INLINE uint64_t low_bits(uint64_t value, unsigned count)
{
    return count < 64 ? value & (((uint64_t)1 << count) - 1) : value;
}

bool tw_etraced_parse_access(const struct tw_etraced_shape *shape, uint32_t options,
                             struct tw_etrace_packet *out, const uint8_t *bytes, unsigned size)
{
    const struct tw_payload_window in = tw_payload_window(bytes, size);
    const unsigned format = (unsigned)low_bits(in.low, shape->format);
    const unsigned data_size = (unsigned)low_bits(in.low >> shape->format, shape->size);
    const bool has_data = !(options & TW_ETRACE_NO_DATA);
    const bool has_address = !has_data || !(options & TW_ETRACE_NO_ADDRESS);
    const unsigned diff_bits = !has_data ? 1 : has_address ? 2 : shape->diff;
    unsigned at = shape->format + shape->size, data_at, data_bits = 0, length = 0;
    unsigned diff;

    if (format > STORE_UNALIGNED || (shape->is_split && format <= LOAD_UNALIGNED) ||
        data_size > shape->size_max)
        return false;
    diff = (unsigned)low_bits(in.low >> at, diff_bits);
    at += diff_bits;
    if (has_data && has_address) {
        length = (unsigned)low_bits(in.low >> at, data_size);
        at += data_size;
        data_bits = 8 * (length + 1);
    } else if (has_data) {
        data_bits = shape->data_width;
    }
    data_at = at;
    at += data_bits;
    if (data_bits > 64 ||
        !tw_payload_is_done(in, size, has_address ? at + shape->address_width : at))
        return false;
    out->base.type = format <= LOAD_UNALIGNED ? TW_ETRACE_LOAD : TW_ETRACE_STORE;
    out->format = (uint8_t)format;
    out->data_size = (uint8_t)data_size;
    out->diff = (uint8_t)diff;
    out->data_len = (uint8_t)length;
    if (has_data) {
        out->data = low_bits(tw_payload_bits(in, data_at), data_bits);
        out->has |= TW_ETRACE_HAS_DATA;
    }
    if (has_address) {
        out->field = low_bits(tw_payload_bits(in, at), shape->address_width);
        out->has |= TW_ETRACE_HAS_ADDRESS;
    }
    return true;
}

/* Values. */

static struct tw_etraced_value cut(struct tw_etraced_value value, unsigned size)
{
    const unsigned bits = 8u << size;

    if (bits < 64)
        value.low &= ((uint64_t)1 << bits) - 1;
    if (bits <= 64)
        value.high = 0;
    return value;
}

/* Bytes that were left away repeat the top bit. */
static struct tw_etraced_value widen(uint64_t low, uint64_t high, unsigned bytes, unsigned size)
{
    struct tw_etraced_value value = { low, high };

    if (bytes <= 8) {
        value.low = tw_sign_extend(low, 8 * bytes);
        value.high = value.low >> 63 ? UINT64_MAX : 0;
    } else if (bytes < 16) {
        value.high = tw_sign_extend(high, 8 * (bytes - 8));
    }
    return cut(value, size);
}

static struct tw_etraced_value add(struct tw_etraced_value a, struct tw_etraced_value b)
{
    const struct tw_etraced_value sum = { a.low + b.low,
                                          a.high + b.high + (a.low + b.low < a.low) };

    return sum;
}

/* How this packet's data is compressed. */
static unsigned data_method(const struct tw_etraced_shape *shape,
                            const struct tw_etrace_packet *packet)
{
    const unsigned type = packet->base.type;
    const bool is_two = packet->has & TW_ETRACE_HAS_ADDRESS && type != TW_ETRACE_CSR;

    if (type == TW_ETRACE_SPLIT_LOAD_DATA || type == TW_ETRACE_SPLIT_ATOMIC_DATA)
        return packet->resp == RESP_XOR          ? DIFF_XOR
               : packet->resp == RESP_DIFFERENCE ? DIFF_DIFFERENCE
                                                 : DIFF_FULL;
    if (packet->diff == DIFF_XOR &&
        (shape->is_quirky || (!is_two && shape->diff == 1 && shape->one_bit_is_difference)))
        return DIFF_DIFFERENCE;
    return packet->diff;
}

static struct tw_etraced_value restore(struct tw_etraced_history *history,
                                       struct tw_etrace_packet *packet, unsigned method,
                                       struct tw_etraced_value sent)
{
    const unsigned size = packet->data_size;
    struct tw_etraced_value *last = &history->data[size];

    if (method == DIFF_FULL || method == DIFF_FULL_DATA)
        history->lost_data &= (uint8_t) ~(1u << size);
    else if (history->lost_data >> size & 1)
        packet->has |= TW_ETRACE_LOST_VALUE;
    if (method == DIFF_XOR) {
        sent.low ^= last->low;
        sent.high ^= last->high;
    } else if (method == DIFF_DIFFERENCE) {
        sent = add(*last, sent);
    }
    *last = cut(sent, size);
    return *last;
}

static void resolve_data(const struct tw_etraced_shape *shape,
                         struct tw_etraced_history *history, struct tw_etrace_packet *packet)
{
    const unsigned size = packet->data_size, method = data_method(shape, packet);
    const bool is_whole = !(packet->has & TW_ETRACE_HAS_ADDRESS) &&
                          packet->base.type != TW_ETRACE_SPLIT_ATOMIC_DATA;
    const unsigned bytes = is_whole ? 1u << size : packet->data_len + 1u;
    struct tw_etraced_value value;

    value =
        restore(history, packet, method, widen(packet->data, packet->data_high, bytes, size));
    packet->value = value.low;
    packet->value_high = value.high;
}

static void resolve_operand(const struct tw_etraced_shape *shape,
                            struct tw_etraced_history *history, struct tw_etrace_packet *packet)
{
    const unsigned size = packet->data_size;
    const struct tw_etraced_value value =
        restore(history, packet, data_method(shape, packet),
                widen(packet->operand, packet->operand_high, packet->op_len + 1u, size));

    packet->operand_value = value.low;
    packet->operand_value_high = value.high;
}

static bool is_shifted(const struct tw_etrace_packet *packet)
{
    return packet->format != LOAD_UNALIGNED && packet->format != STORE_UNALIGNED;
}

/* Differences are between addresses as encoded, shifted or not. */
static void resolve_address(const struct tw_etraced_shape *shape,
                            struct tw_etraced_history *history, struct tw_etrace_packet *packet)
{
    const unsigned size = packet->data_size;
    const uint64_t mask =
        shape->address_width < 64 ? ((uint64_t)1 << shape->address_width) - 1 : UINT64_MAX;
    uint64_t encoded = packet->field;

    if (packet->diff != DIFF_FULL)
        encoded += history->address[size];
    if (packet->diff == DIFF_FULL)
        history->lost_address &= (uint8_t) ~(1u << size);
    else if (history->lost_address >> size & 1)
        packet->has |= TW_ETRACE_LOST_ADDRESS;
    encoded &= mask;
    history->address[size] = encoded;
    packet->address = is_shifted(packet) ? encoded << size & mask : encoded;
}

void tw_etraced_sync(const struct tw_etraced_shape *shape, struct tw_etraced_history *history)
{
    if (shape->is_quirky)
        return;
    memset(history->address, 0, sizeof history->address);
    memset(history->data, 0, sizeof history->data);
    history->lost_address = history->lost_data = 0xff;
}

/* Of what was under way the size stays: without it the data that may still come cannot be read. */
void tw_etraced_lose(struct tw_etraced_history *history)
{
    history->lost_address = history->lost_data = 0xff;
    for (unsigned i = 0; i < TW_ETRACED_REQUESTS; i++)
        history->requests[i].is_open = false;
}

void tw_etraced_history_init(const struct tw_etraced_shape *shape,
                             struct tw_etraced_history *history)
{
    *history = (struct tw_etraced_history){ .lost_address = 0 };
    tw_etraced_sync(shape, history);
}

static void open_request(struct tw_etraced_history *history,
                         const struct tw_etrace_packet *packet)
{
    const unsigned number = packet->lrid % TW_ETRACED_REQUESTS;

    history->requests[number].size = packet->data_size;
    history->requests[number].subtype = packet->subtype;
    history->requests[number].address = packet->address;
    history->requests[number].is_open = true;
}

static void close_request(struct tw_etraced_history *history, struct tw_etrace_packet *packet)
{
    const unsigned number = packet->lrid % TW_ETRACED_REQUESTS;

    if (history->requests[number].is_open) {
        packet->address = history->requests[number].address;
        packet->subtype = history->requests[number].subtype;
    }
    history->requests[number].is_open = false;
    history->requests[number].size = 0; /* of the next one nothing is known */
}

void tw_etraced_resolve(const struct tw_etraced_shape *shape,
                        struct tw_etraced_history *history, struct tw_etrace_packet *packet)
{
    const unsigned type = packet->base.type;
    const bool is_csr = type == TW_ETRACE_CSR;

    if (is_csr)
        packet->address = packet->field;
    else if (packet->has & TW_ETRACE_HAS_ADDRESS)
        resolve_address(shape, history, packet);
    /* A CSR's data comes before its operand, an atomic's after it. */
    if (is_csr && (packet->has & TW_ETRACE_HAS_DATA))
        resolve_data(shape, history, packet);
    if (packet->has & TW_ETRACE_HAS_OPERAND)
        resolve_operand(shape, history, packet);
    if (!is_csr && (packet->has & TW_ETRACE_HAS_DATA))
        resolve_data(shape, history, packet);
    if (type == TW_ETRACE_SPLIT_LOAD_ADDR || type == TW_ETRACE_SPLIT_ATOMIC_ADDR)
        open_request(history, packet);
    else if (type == TW_ETRACE_SPLIT_LOAD_DATA || type == TW_ETRACE_SPLIT_ATOMIC_DATA)
        close_request(history, packet);
}

unsigned tw_etraced_kind(const struct tw_etraced_shape *shape,
                         const struct tw_etrace_packet *packet)
{
    /* By subtype; the reference data model leaves 4 out. */
    static const uint8_t atomics[] = {
        TW_DATA_SWAP, TW_DATA_ADD, TW_DATA_AND, TW_DATA_OR,
        TW_DATA_XOR,  TW_DATA_MAX, TW_DATA_MIN, TW_DATA_SC_FAIL
    };

    switch (packet->base.type) {
    case TW_ETRACE_STORE:
        return TW_DATA_STORE;
    case TW_ETRACE_CSR:
        return TW_DATA_CSR_RW + packet->subtype % 3u;
    case TW_ETRACE_ATOMIC:
    case TW_ETRACE_SPLIT_ATOMIC_ADDR:
    case TW_ETRACE_SPLIT_ATOMIC_DATA:
        return atomics[(packet->subtype - (shape->is_quirky && packet->subtype > 4)) & 7];
    default:
        return TW_DATA_LOAD;
    }
}
