/* SPDX-License-Identifier: BSD-2-Clause */
/* The E-Trace encoder for runs of instructions: while they are branches and jumps and nothing else is to be said, what
   they change is kept in registers, and packets are written at once. */
#include "etrace/unit.h"
#include "isa/isa.h"

/* What runs of instructions change of the encoder. */
struct passed {
    size_t count, most;
    uint64_t low, high, from, address, time, half_words;
    uint64_t told;      /* the address that was reported last */
    uint64_t stretches; /* branches and packets that told an address */
    uint64_t branches;
    uint64_t packets_left; /* until synchronization is due; 0: none may be made here */
    uint32_t map, flags, last_half_words;
    uint8_t size;
    bool has_branched, is_target_open;
};

/* Packets of formats 1 and 2 need nothing that is not known here. */
static uint64_t packets_left(const struct tw_etrace_unit *unit)
{
    const uint32_t odd = TW_ETRACE_FULL_ADDRESS | TW_ETRACE_JUMP_TARGET_CACHE;

    if (unit->options & odd || !unit->shape.has_usual_flow || unit->fifo.size ||
        unit->config.block_size || unit->user.on_packet || !unit->has_begun ||
        unit->config.encapsulation != TW_ETRACE_ENCAP_LEN5_TYPE2)
        return 0;
    return unit->resync_mode == 1 ? unit->resync_limit - 1 - unit->resync_count : UINT64_MAX;
}

/* What tw_etrace_send makes of a packet whose last field is this, signed, behind `bits` others. */
TW_INLINE void send_flow(struct tw_etrace_unit *unit, struct passed *at, uint64_t head,
                         unsigned bits, uint64_t field)
{
    enum { INST = 2 << 5 };
    const uint64_t low = head | field << bits;
    const uint64_t high = (uint64_t)((int64_t)field >> 1 >> (63 - bits));
    const uint64_t sign = -(high >> 63);
    const unsigned size = high == sign && low >> 63 == (sign & 1)
                              ? tw_highest_bit((low ^ sign) << 1 | 1) / 8 + 1
                              : tw_highest_bit((high ^ sign) << 1 | 1) / 8 + 9;
    uint8_t *bytes;

    tw_etrace_sink_reserve(unit, 0);
    bytes = unit->bytes[0] + unit->used[0];
    bytes[0] = (uint8_t)(INST | size);
    tw_store_le64(bytes + 1, low);
    tw_store_le64(bytes + 9, high);
    unit->used[0] += size + 1;
    unit->counts.bytes += size;
    at->packets_left--;
    at->is_target_open = false;
    at->low = UINT64_MAX;
    at->high = 0;
    at->branches = 0;
    at->map = 0;
}

/* The jump that waits leads here. */
TW_INLINE void report_jump(struct tw_etrace_unit *unit, struct passed *at, uint64_t address)
{
    const uint64_t field =
        tw_sign_extend((address - at->told) >> unit->shape.lsb, unit->shape.address_bits);
    const bool was_passed = at->low <= address && address <= at->high;

    if (at->branches)
        send_flow(unit, at, 1 | at->branches << 2 | (uint64_t)at->map << 7,
                  7 + tw_etrace_map_bits((unsigned)at->branches), field);
    else
        send_flow(unit, at, 2, 2, field);
    at->told = address;
    at->is_target_open = was_passed;
    at->stretches++;
}

/* The branch that waits; false: it fills a packet that cannot be made here. */
TW_INLINE bool pass_branch(struct tw_etrace_unit *unit, struct passed *at)
{
    const bool fills = at->branches == TW_ETRACE_BRANCHES - 1;

    if (TW_UNLIKELY(fills && !at->packets_left))
        return false;
    at->map |= (uint32_t) !(at->flags & TW_SLOT_TAKEN) << at->branches;
    at->branches++;
    at->stretches++;
    at->has_branched = true;
    if (TW_UNLIKELY(fills))
        send_flow(unit, at, 1 | (uint64_t)at->map << 7, 38,
                  -(uint64_t)(at->map >> (TW_ETRACE_BRANCHES - 1)));
    return true;
}

/* A run that is a block which ends with a branch or jump; *flags: of its last instruction. */
TW_INLINE bool is_block(const struct tw_etrace_unit *unit, const struct tw_retired_run *run,
                        uint32_t most, uint32_t *flags)
{
    const uint32_t kinds = 1u << TW_RETIRED_BRANCH | 1u << TW_RETIRED_INDIRECT;
    const uint32_t quiet = TW_SLOT_RETIRES | TW_SLOT_QUALIFIED | TW_SLOT_ENDS;
    const struct tw_retired *last;
    uint64_t behind, next;

    if (run->count - 1 >= most || !run[1].count)
        return false;
    last = &run->instructions[run->count - 1];
    behind = last->address + last->size;
    next = run[1].instructions->address;
    if (!(kinds >> last->kind & 1) ||
        (run->instructions->address | (behind - 1) >> 3 << 3) & unit->usual.iaddr)
        return false;
    if (last->kind == TW_RETIRED_INDIRECT) {
        *flags = quiet | TW_SLOT_UNINFERABLE;
        /* else there may be one target, and the hart looks whether it is the next address */
        return run->count < 2 || !tw_rv_may_be_upper(last[-1].opcode);
    }
    if (!(run->flags & TW_RETIRED_CONDITIONAL)) {
        *flags = quiet;
        return next == last->target;
    }
    *flags = quiet | TW_SLOT_BRANCH | (next != behind ? TW_SLOT_TAKEN : 0);
    return next == behind || next == last->target;
}

/* The slot's instruction is passed. */
TW_INLINE void note(struct passed *at, uint64_t from, uint64_t address)
{
    at->low = from < at->low ? from : at->low;
    at->high = address > at->high ? address : at->high;
}

/* As many runs as come to branches and jumps, and nothing else is due. */
static void pass_runs(struct passed *to, struct tw_etrace_unit *unit,
                      const struct tw_retired_run *runs, uint32_t most)
{
    struct passed at = *to;

    for (; at.count < at.most; at.count++) {
        const struct tw_retired_run *run = &runs[at.count];
        const struct tw_retired *first = run->instructions, *last;
        uint32_t flags;

        if (run->repeats || !is_block(unit, run, most, &flags))
            break;
        last = &first[run->count - 1];
        if (at.flags & TW_SLOT_UNINFERABLE) {
            if (run->count == 1 || !at.packets_left)
                break;
            note(&at, at.from, at.address);
            report_jump(unit, &at, first->address);
            at.from = first->address + 2;
        } else {
            const uint64_t left = at.packets_left;

            if (at.flags & TW_SLOT_BRANCH && !pass_branch(unit, &at))
                break;
            if (left == at.packets_left) /* else a packet told of it */
                note(&at, at.from, at.address);
            at.from = first->address;
            if (run->count > 1) { /* its first instruction has been passed, too */
                note(&at, at.from, at.from);
                at.from += 2;
            }
        }
        at.address = last->address;
        at.size = last->size;
        at.flags = flags;
        at.last_half_words = (uint32_t)(last->address + last->size - first->address) / 2;
        at.half_words += at.last_half_words;
        at.time += run->count;
    }
    *to = at;
}

/* What tw_etrace_unit_step and tw_etrace_note_passed would have left behind. */
static void settle(struct tw_etrace_unit *unit, const struct passed *at, uint64_t packets,
                   uint64_t time)
{
    struct tw_etrace_slot *slot = &unit->slot;

    if (at->has_branched)
        unit->is_wrong = true;
    if (at->stretches) {
        tw_etrace_begin_stretch(unit);
        unit->stretch += at->stretches - 1;
    }
    unit->is_wild = unit->has_sent = unit->is_end_inferred = unit->is_reported_now = false;
    unit->is_after_return = unit->is_mispredicted = unit->trap_is_reported = false;
    unit->is_target_open = at->is_target_open;
    unit->map = at->map;
    unit->branches = at->branches;
    unit->address = at->told;
    unit->low = at->low;
    unit->high = at->high;
    unit->previous = TW_SLOT_RETIRES | TW_SLOT_QUALIFIED;
    unit->counts.blocks += at->count;
    unit->counts.half_words += at->half_words;
    unit->counts.packets += packets;
    unit->esp32_number += (uint32_t)packets;
    if (unit->resync_mode == 1)
        unit->resync_count += packets;
    tw_etrace_pass_cycles(unit, at->count);
    slot->flags = at->flags;
    slot->address = at->address;
    slot->from = at->from;
    slot->time = time;
    slot->size = at->size;
    slot->cause = slot->tval = 0;
    slot->half_words = at->size / 2u;
    slot->half_words_before = at->last_half_words - slot->half_words;
}

static size_t take_flow(struct tw_etrace_unit *unit, const struct tw_retired_run *runs,
                        size_t count, uint32_t most, uint64_t *time)
{
    const uint32_t quiet = TW_SLOT_RETIRES | TW_SLOT_QUALIFIED;
    const uint32_t odd = ~(quiet | TW_SLOT_ENDS | TW_SLOT_BRANCH | TW_SLOT_TAKEN |
                           TW_SLOT_CALL | TW_SLOT_RETURN | TW_SLOT_UNINFERABLE);
    const uint64_t packets = packets_left(unit);
    struct passed at = { .most = count,
                         .low = unit->low,
                         .high = unit->high,
                         .from = unit->slot.from,
                         .address = unit->slot.address,
                         .told = unit->address,
                         .branches = unit->branches,
                         .packets_left = packets,
                         .map = unit->branches ? unit->map : 0,
                         .flags = unit->slot.flags,
                         .is_target_open = unit->is_target_open,
                         .time = *time };

    if ((unit->slot.flags & (odd | quiet)) != quiet ||
        (unit->previous & (TW_SLOT_QUALIFIED | TW_SLOT_TRAPS)) != TW_SLOT_QUALIFIED ||
        !tw_etrace_is_quiet(unit) || unit->is_located)
        return 0;
    if (unit->resync_mode == 2 && count > unit->resync_limit - 1 - unit->resync_count)
        at.most = (size_t)(unit->resync_limit - 1 - unit->resync_count);
    pass_runs(&at, unit, runs, most);
    if (!at.count)
        return 0;
    settle(unit, &at, packets - at.packets_left, at.time - runs[at.count - 1].count);
    *time = at.time;
    return at.count;
}

/* One run as a block. */
static bool take_alone(struct tw_etrace_unit *unit, const struct tw_retired_run *run,
                       uint32_t most, uint64_t *time)
{
    const struct tw_retired *first = run->instructions;
    struct tw_etrace_block block = { .iaddr = first->address,
                                     .time = *time,
                                     .priv = unit->last_priv };
    const struct tw_retired *last;
    uint32_t flags;

    if (!is_block(unit, run, most, &flags))
        return false;
    last = &first[run->count - 1];
    block.iretire = (uint32_t)(last->address + last->size - first->address) / 2;
    block.ilastsize = last->size == 4;
    block.itype = flags & TW_SLOT_UNINFERABLE ? TW_ETRACE_ITYPE_OTHER
                  : !(flags & TW_SLOT_BRANCH) ? TW_ETRACE_ITYPE_INFERABLE_OTHER
                  : flags & TW_SLOT_TAKEN     ? TW_ETRACE_ITYPE_TAKEN
                                              : TW_ETRACE_ITYPE_NOT_TAKEN;
    if (run->repeats && run[1].instructions->address != first->address)
        return false;
    if (tw_etrace_unit_retire(unit, &block, 1) != TW_OK ||
        (run->repeats &&
         tw_etrace_unit_repeat(unit, &block, run->repeats, run->count) != TW_OK))
        return false;
    *time += (uint64_t)run->count * ((uint64_t)run->repeats + 1);
    return true;
}

size_t tw_etrace_unit_retire_runs(struct tw_etrace_unit *unit,
                                  const struct tw_retired_run *runs, size_t count, uint8_t priv,
                                  uint32_t most, uint64_t *time)
{
    const uint32_t told = TW_ETRACE_IMPLICIT_RETURN | TW_ETRACE_SIJUMP;
    const uint32_t odd = told | TW_ETRACE_BRANCH_PREDICTION;
    size_t taken = 0;

    if (unit->options & odd || unit->config.itype_width != 4 || unit->is_single ||
        unit->resync_mode == 3 || !unit->is_running || !tw_ingress_is_idle(&unit->ingress) ||
        priv != unit->last_priv || unit->last_context)
        return 0;
    while (taken + 1 < count) {
        const size_t some = take_flow(unit, runs + taken, count - 1 - taken, most, time);

        taken += some;
        if (taken + 1 == count || !take_alone(unit, runs + taken, most, time))
            break;
        taken++;
    }
    return taken;
}
