/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit: elements of program flow, packed and compressed into bytes. */
#include "etmv4/unit.h"

/* Of TRCSTALLCTLR and TRCIDR3. */
#define NOOVERFLOW      0x2000u
#define ISTALL          0x100u
#define LEVEL           0xfu
#define IDR3_NOOVERFLOW 0x80000000u
#define IDR3_STALLCTL   0x04000000u

enum { ROOM_MIN = 4096, FEW = 4 };

void tw_etmv4_unit_show(struct tw_etmv4_unit *unit, const struct tw_etmv4_unit_element *element)
{
    if (unit->config.on_element)
        unit->config.on_element(unit->config.element_context, element);
}

/* ---- bytes ---- */

static void drain_fifo(struct tw_etmv4_unit *unit)
{
    const uint64_t bytes = (unit->cycle - unit->fifo_drained) / unit->config.cycles_per_byte;

    unit->fifo -= bytes < unit->fifo ? bytes : unit->fifo;
    unit->fifo_drained += bytes * unit->config.cycles_per_byte;
}

/* The processor waits until no more than so many bytes are in the FIFO. */
static void wait_for(struct tw_etmv4_unit *unit, uint64_t most)
{
    drain_fifo(unit);
    if (unit->fifo <= most)
        return;
    unit->cycle =
        unit->fifo_drained + (unit->fifo - most) * (uint64_t)unit->config.cycles_per_byte;
    drain_fifo(unit);
}

/* TRCSTALLCTLR: where it may stall, at the level that it asks for. */
void tw_etmv4_unit_stall(struct tw_etmv4_unit *unit)
{
    const uint32_t control = tw_etmv4_unit_value(unit, TW_TRCSTALLCTLR);
    const uint64_t room = unit->config.fifo_size;

    if (control & ISTALL && tw_etmv4_unit_value(unit, TW_TRCIDR + 3) & IDR3_STALLCTL)
        wait_for(unit, room - room * (control & LEVEL) / (LEVEL + 1));
}

/* Whole packets only: when they do not fit, all is lost until the FIFO is empty. */
static bool fits_fifo(struct tw_etmv4_unit *unit, size_t size)
{
    if (!unit->config.fifo_size)
        return true;
    if (tw_etmv4_unit_value(unit, TW_TRCSTALLCTLR) & NOOVERFLOW &&
        size <= unit->config.fifo_size &&
        tw_etmv4_unit_value(unit, TW_TRCIDR + 3) & IDR3_NOOVERFLOW)
        wait_for(unit, unit->config.fifo_size - size);
    drain_fifo(unit);
    if (unit->fifo + size > unit->config.fifo_size) {
        unit->fifo_overflowed = true;
        return false;
    }
    unit->fifo += size;
    return true;
}

static void append(struct tw_etmv4_unit *unit, const uint8_t *bytes, size_t size)
{
    if (!size || unit->fifo_overflowed || !fits_fifo(unit, size))
        return;
    if (TW_UNLIKELY(unit->size + size > unit->room)) {
        const size_t room = unit->size + size + ROOM_MIN;

        if (!TW_GROW(unit->config.allocator, &unit->bytes, &unit->room, room)) {
            unit->failed = TW_E_MEMORY;
            return;
        }
    }
    if (size <= FEW) /* most are so short that a call would take longer */
        for (size_t i = 0; i < size; i++)
            unit->bytes[unit->size + i] = bytes[i];
    else
        memcpy(unit->bytes + unit->size, bytes, size);
    unit->size += size;
    unit->since_sync += size;
    if (TW_UNLIKELY(unit->since_sync >= unit->sync_period))
        unit->sync_is_due = true;
}

/* ---- atoms ---- */

/* The longest packet for the first atoms: how many, and its header. */
unsigned tw_etmv4_unit_atom_packet(uint8_t *head, uint64_t atoms, unsigned count)
{
    static const struct {
        uint8_t count, pattern, head;
    } fixed[] = {
        /* clang-format off */
        { 5, 0x1e, 0xf5 }, { 5, 0x00, 0xd5 }, { 5, 0x0a, 0xd6 }, { 5, 0x15, 0xd7 },
        { 4, 0x0e, 0xdc }, { 4, 0x00, 0xdd }, { 4, 0x0a, 0xde }, { 4, 0x05, 0xdf },
        /* clang-format on */
    };
    const unsigned run = ~atoms ? tw_lowest_bit(~atoms) : 64;

    if (run >= TW_ETMV4_UNIT_ATOMS_MOST && count >= TW_ETMV4_UNIT_ATOMS_MOST) {
        *head = 0xd4;
        return TW_ETMV4_UNIT_ATOMS_MOST;
    }
    if (run >= 3 && run < count) {
        *head = (uint8_t)(0xe0 + run - 3);
        return run + 1;
    }
    if (run >= count && count >= 4) {
        *head = (uint8_t)(0xc0 + count - 4);
        return count;
    }
    /* The low four atoms of all of them are 0, 5, 10 or 14. */
    for (size_t i = 0x4421 >> (atoms & 15) & 1 ? 0 : TW_LENGTH(fixed); i < TW_LENGTH(fixed);
         i++)
        if (count >= fixed[i].count &&
            (atoms & ((1u << fixed[i].count) - 1)) == fixed[i].pattern) {
            *head = fixed[i].head;
            return fixed[i].count;
        }
    if (count >= 3) {
        *head = (uint8_t)(0xf8 | (atoms & 7));
        return 3;
    }
    *head = (uint8_t)(count == 2 ? 0xd8 | (atoms & 3) : 0xf6 | (atoms & 1));
    return count;
}

/* Packs while there are `least` atoms or more. */
void tw_etmv4_unit_pack_atoms(struct tw_etmv4_unit *unit, unsigned least)
{
    uint8_t heads[TW_ETMV4_UNIT_ATOM_QUEUE];
    size_t count = 0;

    while (unit->atom_count && unit->atom_count >= least) {
        const unsigned packed =
            tw_etmv4_unit_atom_packet(&heads[count++], unit->atoms, unit->atom_count);

        unit->atoms >>= packed;
        unit->atom_count -= packed;
    }
    append(unit, heads, count);
}

void tw_etmv4_unit_release_buffered(struct tw_etmv4_unit *unit)
{
    const struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_ATOM };

    while (unit->buffered) {
        unit->buffered--;
        tw_etmv4_unit_queue_atom(unit, false);
        tw_etmv4_unit_show(unit, &element);
        tw_etmv4_unit_count_p0(unit);
    }
}

void tw_etmv4_unit_add_atom_slowly(struct tw_etmv4_unit *unit, bool is_taken)
{
    const struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_ATOM,
                                                   .is_taken = is_taken };

    if (unit->buffered)
        tw_etmv4_unit_release_buffered(unit);
    tw_etmv4_unit_queue_atom(unit, is_taken);
    if (unit->config.on_element)
        tw_etmv4_unit_show(unit, &element);
}

/* ---- other packets ---- */

static void write(struct tw_etmv4_unit *unit, struct tw_writer *out,
                  const struct tw_etmv4_packet *packet)
{
    size_t size = (size_t)(out->end - out->at);

    if (tw_etmv4_write(&unit->packing, out->at, &size, packet) != TW_OK)
        unit->failed = TW_E_ARGUMENT; /* a value that the registers leave no room for */
    else
        out->at += size;
}

void tw_etmv4_unit_put(struct tw_etmv4_unit *unit, const struct tw_etmv4_packet *packet)
{
    uint8_t bytes[TW_ETMV4_PACKET_MAX];
    struct tw_writer out = { .at = bytes, .end = bytes + sizeof bytes };

    if (unit->buffered || unit->atom_count) {
        tw_etmv4_unit_release_buffered(unit);
        tw_etmv4_unit_pack_atoms(unit, 0);
    }
    write(unit, &out, packet);
    append(unit, bytes, (size_t)(out.at - bytes));
}

void tw_etmv4_unit_put_type(struct tw_etmv4_unit *unit, uint8_t type)
{
    const struct tw_etmv4_packet packet = { .base = { .type = type } };

    tw_etmv4_unit_put(unit, &packet);
}

/* How an address is sent: the match, or bits that differ from the last one. */
struct form {
    uint64_t address;
    uint8_t sub_isa;
    uint8_t match; /* 3: none */
    uint8_t bits;  /* 8, 9: one byte; 16, 17: two; 32; 64 */
};

static struct form form_of(const struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa)
{
    const struct tw_etmv4_entry *history = unit->packing.history;
    struct form form = { .sub_isa = isa == TW_ISA_T32, .match = 3 };
    const unsigned shift = 2u - form.sub_isa;
    uint64_t changed;

    form.address = address >> shift << shift;
    changed = form.address ^ history[0].address;
    for (uint8_t i = 0; i < TW_ETMV4_HISTORY && form.match == 3; i++)
        if (history[i].address == form.address && history[i].sub_isa == form.sub_isa)
            form.match = i;
    if (changed >> (7 + shift) == 0)
        form.bits = (uint8_t)(7 + shift);
    else if (changed >> (15 + shift) == 0)
        form.bits = (uint8_t)(15 + shift);
    else
        form.bits = changed >> 32 == 0 ? 32 : 64;
    return form;
}

static bool is_long(const struct form *form)
{
    return form->match == 3 && form->bits >= 32;
}

/* Fills the packet of an address, and remembers it. */
static void fill_address(struct tw_etmv4_unit *unit, struct tw_etmv4_packet *packet,
                         const struct form *form, bool is_source)
{
    const struct tw_etmv4_entry entry = { .address = form->address, .sub_isa = form->sub_isa };

    packet->address = form->address;
    packet->address_bits = form->bits;
    packet->sub_isa = form->sub_isa;
    packet->match = form->match;
    if (!is_source)
        unit->target_sub_isa = form->sub_isa;
    if (form->match < 3)
        packet->base.type = is_source ? TW_ETMV4_SRC_ADDR_MATCH : TW_ETMV4_ADDR_MATCH;
    else if (form->bits < 32)
        packet->base.type =
            (uint8_t)((is_source ? TW_ETMV4_SRC_ADDR_S_IS0 : TW_ETMV4_ADDR_S_IS0) +
                      form->sub_isa);
    else if (form->bits == 32)
        packet->base.type =
            (uint8_t)((is_source ? TW_ETMV4_SRC_ADDR_L_32IS0 : TW_ETMV4_ADDR_L_32IS0) +
                      form->sub_isa);
    else
        packet->base.type =
            (uint8_t)((is_source ? TW_ETMV4_SRC_ADDR_L_64IS0 : TW_ETMV4_ADDR_L_64IS0) +
                      form->sub_isa);
    tw_etmv4_push(unit->packing.history, entry);
}

/* Fills the context of a packet: identifiers only when they changed. */
static void fill_context(struct tw_etmv4_unit *unit, struct tw_etmv4_packet *packet)
{
    const struct tw_step_context *now = &unit->context;

    packet->has_context = true;
    packet->el = now->el & 3;
    packet->sf = now->is_64bit;
    packet->ns = now->security == TW_NONSECURE || now->security == TW_REALM;
    packet->nse = now->security == TW_ROOT || now->security == TW_REALM;
    if (unit->setup.cid && (!unit->has_sent || unit->sent.context_id != now->context_id)) {
        packet->has_cid = true;
        packet->cid = now->context_id;
    }
    if (unit->setup.vmid && (!unit->has_sent || unit->sent.vmid != now->vmid)) {
        const unsigned bits = 8u * unit->packing.setup.vmid_bytes;

        packet->has_vmid = true;
        packet->vmid = bits < 32 ? now->vmid & ((1u << bits) - 1) : now->vmid;
    }
    unit->sent = *now;
    unit->has_sent = true;
}

static void tell_context(struct tw_etmv4_unit *unit)
{
    const struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_CONTEXT,
                                                   .context = unit->context };

    unit->flow.context = unit->context;
    unit->flow.has_context = true;
    unit->flow.placed++;
    tw_etmv4_unit_show(unit, &element);
}

static void tell_address(struct tw_etmv4_unit *unit, const struct form *form, uint8_t isa)
{
    const struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_ADDRESS,
                                                   .value = form->address,
                                                   .isa = isa };

    unit->flow.placed++;
    tw_etmv4_unit_show(unit, &element);
}

void tw_etmv4_unit_emit_context(struct tw_etmv4_unit *unit)
{
    struct tw_etmv4_packet packet = { .base = { .type = TW_ETMV4_CTXT } };

    if (!tw_etmv4_unit_context_differs(unit))
        return;
    tw_etmv4_unit_release_buffered(unit);
    tell_context(unit);
    fill_context(unit, &packet);
    tw_etmv4_unit_put(unit, &packet);
}

void tw_etmv4_unit_emit_place(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa)
{
    const struct form form = form_of(unit, address, isa);
    struct tw_etmv4_packet packet = { 0 };

    tw_etmv4_unit_release_buffered(unit);
    if (tw_etmv4_unit_context_differs(unit)) {
        if (is_long(&form)) {
            tell_context(unit);
            fill_address(unit, &packet, &form, false);
            fill_context(unit, &packet);
            packet.base.type = (uint8_t)((form.bits == 64 ? TW_ETMV4_ADDR_CTXT_L_64IS0
                                                          : TW_ETMV4_ADDR_CTXT_L_32IS0) +
                                         form.sub_isa);
            tell_address(unit, &form, isa);
            tw_etmv4_unit_put(unit, &packet);
            return;
        }
        tw_etmv4_unit_emit_context(unit);
    }
    fill_address(unit, &packet, &form, false);
    tell_address(unit, &form, isa);
    tw_etmv4_unit_put(unit, &packet);
}

void tw_etmv4_unit_emit_context_at(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa)
{
    if (tw_etmv4_unit_context_differs(unit) && (isa == TW_ISA_T32) != unit->target_sub_isa)
        tw_etmv4_unit_emit_place(unit, address, isa);
    else
        tw_etmv4_unit_emit_context(unit);
}

/* An exception packet and the address packet that is part of it go out as one. */
static void put_exception(struct tw_etmv4_unit *unit, const struct tw_etmv4_packet *exception,
                          const struct tw_etmv4_packet *address)
{
    uint8_t bytes[2 * TW_ETMV4_PACKET_MAX];
    struct tw_writer out = { .at = bytes, .end = bytes + sizeof bytes };

    tw_etmv4_unit_pack_atoms(unit, 0);
    write(unit, &out, exception);
    if (address)
        write(unit, &out, address);
    append(unit, bytes, (size_t)(out.at - bytes));
}

void tw_etmv4_unit_emit_exception(struct tw_etmv4_unit *unit, unsigned type, uint64_t address,
                                  uint8_t isa, bool is_target)
{
    const bool is_unknown = type == TW_EXCEPTION_PE_RESET && unit->setup.is_ete;
    const struct form form = form_of(unit, is_unknown ? 0 : address, isa);
    const struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_EXCEPTION,
                                                   .number = (uint16_t)type,
                                                   .is_known = !is_unknown,
                                                   .value = form.address,
                                                   .isa = isa };
    struct tw_etmv4_packet packet = { .base = { .type = is_unknown ? TW_ETMV4_PE_RESET
                                                                   : TW_ETMV4_EXCEPT } };
    struct tw_etmv4_packet place = { 0 };

    packet.exception = (uint16_t)type;
    packet.interpretation = is_target && !is_unknown ? 2 : 1;
    packet.is_unknown_address = is_unknown;
    if (is_unknown) {
        tw_etmv4_unit_emit_context(unit);
        tw_etmv4_push(unit->packing.history, (struct tw_etmv4_entry){ 0 });
        tw_etmv4_unit_show(unit, &element);
        put_exception(unit, &packet, NULL);
        return;
    }
    if (tw_etmv4_unit_context_differs(unit) && !is_long(&form))
        tw_etmv4_unit_emit_context(unit);
    if (tw_etmv4_unit_context_differs(unit)) {
        tell_context(unit);
        fill_address(unit, &place, &form, false);
        fill_context(unit, &place);
        place.base.type = (uint8_t)((form.bits == 64 ? TW_ETMV4_ADDR_CTXT_L_64IS0
                                                     : TW_ETMV4_ADDR_CTXT_L_32IS0) +
                                    form.sub_isa);
    } else {
        fill_address(unit, &place, &form, false);
    }
    if (is_target)
        tell_address(unit, &form, isa);
    tw_etmv4_unit_show(unit, &element);
    put_exception(unit, &packet, &place);
}

void tw_etmv4_unit_emit_source(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa)
{
    const struct form form = form_of(unit, address, isa);
    const struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_SOURCE_ADDRESS,
                                                   .value = form.address,
                                                   .isa = isa };
    struct tw_etmv4_packet packet = { 0 };

    unit->buffered = 0; /* the branches before it: not taken, as the address implies */
    fill_address(unit, &packet, &form, true);
    tw_etmv4_unit_show(unit, &element);
    tw_etmv4_unit_put(unit, &packet);
}

/* The address comes before a context: what the Q covers ran in the old one. */
void tw_etmv4_unit_emit_q(struct tw_etmv4_unit *unit, uint32_t count, bool has_count,
                          uint64_t address, uint8_t isa)
{
    const struct form form = form_of(unit, address, isa);
    const struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_Q,
                                                   .is_known = has_count,
                                                   .count = count };
    struct tw_etmv4_packet packet = { 0 };

    tw_etmv4_unit_release_buffered(unit);
    tw_etmv4_unit_show(unit, &element);
    if (!has_count || (form.match == 3 && form.bits == 64)) {
        const struct tw_etmv4_packet alone = { .base = { .type = TW_ETMV4_Q },
                                               .q_type = has_count ? 0xc : 0xf,
                                               .q_count = count };

        tw_etmv4_unit_put(unit, &alone);
        fill_address(unit, &packet, &form, false);
    } else {
        fill_address(unit, &packet, &form, true);
        packet.base.type = TW_ETMV4_Q;
        packet.q_count = count;
        packet.q_has_count = true;
        packet.q_type = (uint8_t)(form.match < 3   ? form.match
                                  : form.bits < 32 ? 0x5 + form.sub_isa
                                                   : 0xa + form.sub_isa);
    }
    tell_address(unit, &form, isa);
    tw_etmv4_unit_put(unit, &packet);
    tw_etmv4_unit_emit_context_at(unit, address, isa);
}

/* ---- synchronization and the like ---- */

void tw_etmv4_unit_emit_sync(struct tw_etmv4_unit *unit)
{
    const struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_TRACE_INFO };
    struct tw_etmv4_packet packet = { .base = { .type = TW_ETMV4_TRACE_INFO } };

    tw_etmv4_unit_put_type(unit, TW_ETMV4_ASYNC);
    unit->since_sync = TW_ETMV4_ASYNC_SIZE;
    unit->sync_is_due = false;
    unit->is_synced = true;
    if (unit->setup.cycles || unit->flow.told_transaction) {
        packet.sections |= TW_ETMV4_INFO;
        packet.info =
            (unit->setup.cycles ? 0x01u : 0) | (unit->flow.told_transaction ? 0x40u : 0);
    }
    if (unit->depth) {
        packet.sections |= TW_ETMV4_SPEC;
        packet.spec = unit->depth;
    }
    if (unit->setup.cycles && unit->setup.threshold) {
        packet.sections |= TW_ETMV4_CYCT;
        packet.threshold = unit->setup.threshold;
    }
    tw_etmv4_unit_show(unit, &element);
    tw_etmv4_unit_put(unit, &packet);
    tw_etmv4_history_clear(unit->packing.history);
    unit->last_timestamp = 0;
    unit->has_sent = false;
    unit->flow.has_context = false;
    unit->flow.infos++;
    unit->flow.placed++;
    unit->return_count = unit->saved_count = 0;
    unit->late = 0;
    unit->timestamp_is_due = unit->setup.timestamps;
}

void tw_etmv4_unit_ensure_sync(struct tw_etmv4_unit *unit)
{
    if (!unit->is_synced)
        tw_etmv4_unit_emit_sync(unit);
}

void tw_etmv4_unit_emit_trace_on(struct tw_etmv4_unit *unit)
{
    const struct tw_etmv4_unit_element element = { .type = TW_ETMV4_UNIT_TRACE_ON };

    tw_etmv4_unit_release_buffered(unit);
    tw_etmv4_unit_show(unit, &element);
    tw_etmv4_unit_put_type(unit, TW_ETMV4_TRACE_ON);
    unit->return_count = 0; /* analyzers drop theirs here */
    unit->flow.placed++;
}

void tw_etmv4_unit_emit_return(struct tw_etmv4_unit *unit, bool is_function)
{
    const struct tw_etmv4_unit_element element = {
        .type = is_function ? TW_ETMV4_UNIT_FUNCTION_RETURN : TW_ETMV4_UNIT_EXCEPTION_RETURN
    };

    tw_etmv4_unit_show(unit, &element);
    tw_etmv4_unit_put_type(unit, is_function ? TW_ETMV4_FUNC_RET : TW_ETMV4_EXCEPT_RTN);
}

void tw_etmv4_unit_emit_transaction(struct tw_etmv4_unit *unit, enum tw_transaction what)
{
    static const struct {
        uint8_t element, packet;
    } kinds[] = {
        [TW_TRANS_START] = { TW_ETMV4_UNIT_TRANSACTION_START, TW_ETMV4_TRANS_ST },
        [TW_TRANS_COMMIT] = { TW_ETMV4_UNIT_TRANSACTION_COMMIT, TW_ETMV4_TRANS_COMMIT },
        [TW_TRANS_FAIL] = { TW_ETMV4_UNIT_TRANSACTION_FAILURE, TW_ETMV4_TRANS_FAIL },
    };
    const struct tw_etmv4_unit_element element = { .type = kinds[what].element };
    struct tw_etmv4_packet packet = { .base = { .type = kinds[what].packet } };

    tw_etmv4_unit_release_buffered(unit);
    tw_etmv4_unit_show(unit, &element);
    if (what == TW_TRANS_FAIL) {
        packet.exception = 0x18;
        packet.interpretation = 1;
        packet.is_unknown_address = true;
        tw_etmv4_push(unit->packing.history, (struct tw_etmv4_entry){ 0 });
    }
    tw_etmv4_unit_put(unit, &packet);
}
