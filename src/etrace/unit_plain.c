/* SPDX-License-Identifier: BSD-2-Clause */
/* The E-Trace encoder for what most programs are: all is traced, and nothing is to be said of a block but which way
   its branch went. */
#include "etrace/unit.h"

/* Nothing is to be said whatever the instruction. */
TW_INLINE bool is_quiet(const struct tw_etrace_unit *unit)
{
    return !(unit->is_after_updiscon | unit->sync_is_next | unit->must_sync |
             unit->context_is_due | unit->is_lost) &&
           !tw_etrace_is_due(unit);
}

/* The instruction in the slot is a branch, a jump whose target the next one tells, or nothing to the trace, and those
   around it are no odder. */
TW_INLINE bool is_plain(const struct tw_etrace_unit *unit, const struct tw_etrace_block *block,
                        uint32_t half_words)
{
    const uint32_t quiet = TW_SLOT_RETIRES | TW_SLOT_QUALIFIED;
    const uint32_t calls =
        unit->options & TW_ETRACE_IMPLICIT_RETURN ? 0 : TW_SLOT_CALL | TW_SLOT_RETURN;
    const uint32_t loaded = unit->options & TW_ETRACE_SIJUMP ? 0 : TW_SLOT_SIJUMP;
    const uint32_t odd = ~(quiet | TW_SLOT_ENDS | TW_SLOT_BRANCH | TW_SLOT_TAKEN |
                           TW_SLOT_UNINFERABLE | calls | loaded);

    return (unit->slot.flags & (odd | quiet)) == quiet &&
           (unit->previous & (TW_SLOT_QUALIFIED | TW_SLOT_TRAPS)) == TW_SLOT_QUALIFIED &&
           is_quiet(unit) && unit->is_running && tw_ingress_is_idle(&unit->ingress) &&
           unit->resync_mode != 3 && !block->trigger && block->priv == unit->last_priv &&
           block->context == unit->last_context && tw_etrace_is_usual(unit, block, half_words);
}

/* What tw_etrace_unit_step does with such an instruction. */
TW_INLINE void step_plain(struct tw_etrace_unit *unit)
{
    unit->is_wild = unit->has_sent = unit->is_end_inferred = unit->is_reported_now = false;
    if (unit->slot.flags & TW_SLOT_BRANCH) {
        tw_etrace_add_branch(unit);
        tw_etrace_emit_branches(unit);
        tw_etrace_begin_stretch(unit);
    }
    unit->is_after_return = unit->is_mispredicted = unit->trap_is_reported = false;
    unit->is_after_updiscon = unit->slot.flags & TW_SLOT_UNINFERABLE;
    tw_etrace_note_passed(unit);
    unit->previous = unit->slot.flags;
}

/* As tw_etrace_unit_take_block. */
static void take_plain(struct tw_etrace_unit *unit, const struct tw_etrace_block *block,
                       uint32_t half_words)
{
    const uint32_t quiet = TW_SLOT_RETIRES | TW_SLOT_QUALIFIED;
    const uint32_t last = 1u << block->ilastsize;
    struct tw_etrace_slot *slot = &unit->slot;

    unit->counts.blocks++;
    unit->counts.half_words += half_words;
    step_plain(unit);
    slot->flags = quiet;
    slot->address = slot->from = block->iaddr;
    slot->context = block->context;
    slot->time = block->time;
    slot->size = (uint8_t)(2 * last);
    slot->half_words_before = slot->half_words = 0;
    slot->cause = slot->tval = 0;
    if (half_words != last) {
        if (!is_quiet(unit)) { /* it is a jump's target, or a packet was sent and more is due */
            const struct tw_etrace_slot next = { .flags = quiet };

            unit->is_busy = true;
            tw_etrace_unit_step(unit, &next);
        }
        tw_etrace_note_passed(unit);
        unit->previous = quiet;
        slot->from = block->iaddr + 2;
        slot->half_words_before = half_words - last;
        slot->address = block->iaddr + 2 * (uint64_t)(half_words - last);
    }
    slot->flags = tw_etrace_slot_flags[block->itype] | TW_SLOT_QUALIFIED;
    slot->half_words = half_words - slot->half_words_before;
    if (block->sijump && slot->flags & TW_SLOT_UNINFERABLE)
        slot->flags |= TW_SLOT_SIJUMP;
}

static enum tw_status retire(struct tw_etrace_unit *unit, const struct tw_etrace_block *block)
{
    const uint32_t half_words =
        unit->is_single ? block->iretire << block->ilastsize : block->iretire;

    tw_etrace_pass_cycles(unit, 1);
    if (TW_UNLIKELY(!is_plain(unit, block, half_words)))
        return tw_etrace_unit_take_block(unit, block);
    take_plain(unit, block, half_words);
    return TW_OK;
}

enum tw_status tw_etrace_unit_retire(struct tw_etrace_unit *unit,
                                     const struct tw_etrace_block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        TW_TRY(retire(unit, &blocks[i]));
    return TW_OK;
}

/* How often a block that was just taken can be taken again so that nothing but its branch is noted. */
static uint64_t room_for_branches(const struct tw_etrace_unit *unit,
                                  const struct tw_etrace_block *block, uint32_t half_words)
{
    const uint64_t last =
        block->iaddr + 2 * (uint64_t)half_words - ((uint64_t)2 << block->ilastsize);
    uint64_t room = TW_ETRACE_BRANCHES - 1 - unit->branches;

    if (block->itype != TW_ETRACE_ITYPE_TAKEN || unit->is_single ||
        unit->options & TW_ETRACE_BRANCH_PREDICTION ||
        unit->branches >= TW_ETRACE_BRANCHES - 1 || !is_plain(unit, block, half_words) ||
        unit->slot.address != last || !(unit->slot.flags & TW_SLOT_TAKEN) || unit->is_located)
        return 0;
    if (unit->resync_mode == 2 && unit->resync_limit - 1 - unit->resync_count < room)
        room = unit->resync_limit - 1 - unit->resync_count;
    return room;
}

enum tw_status tw_etrace_unit_repeat(struct tw_etrace_unit *unit,
                                     const struct tw_etrace_block *block, uint64_t times,
                                     uint64_t step)
{
    struct tw_etrace_block now = *block;

    for (bool is_taken = false; times; is_taken = true) {
        uint64_t some = is_taken ? room_for_branches(unit, &now, now.iretire) : 0;

        if (!some) {
            now.time += step;
            TW_TRY(retire(unit, &now));
            times--;
            continue;
        }
        some = some < times ? some : times;
        if (!unit->branches)
            unit->map = 0;
        unit->is_wrong = true;
        if (now.iaddr < unit->low)
            unit->low = now.iaddr;
        if (unit->slot.address > unit->high)
            unit->high = unit->slot.address;
        unit->branches += some;
        tw_etrace_begin_stretch(unit);
        unit->stretch += some - 1;
        unit->counts.blocks += some;
        unit->counts.half_words += some * now.iretire;
        tw_etrace_pass_cycles(unit, some);
        now.time += some * step;
        unit->slot.time = now.time;
        times -= some;
    }
    return TW_OK;
}

/* ---- runs ---- */

/* What runs of instructions change of the encoder while nothing is sent. */
struct passed {
    size_t count;
    uint64_t low, high, from, address, time, half_words;
    uint64_t branches, first_branches;
    uint32_t map, flags, last_half_words;
    uint8_t size;
};

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
        return true;
    }
    if (!(run->flags & TW_RETIRED_CONDITIONAL)) {
        *flags = quiet;
        return next == last->target;
    }
    *flags = quiet | TW_SLOT_BRANCH | (next != behind ? TW_SLOT_TAKEN : 0);
    return next == behind || next == last->target;
}

/* As many runs as come to branches that need not be reported yet; a jump that is to be reported is the last. */
static void pass_runs(struct passed *to, const struct tw_etrace_unit *unit,
                      const struct tw_retired_run *runs, size_t count, uint32_t most)
{
    struct passed at = *to;

    while (at.count < count && !(at.flags & TW_SLOT_UNINFERABLE)) {
        const struct tw_retired_run *run = &runs[at.count];
        const struct tw_retired *first = run->instructions, *last;
        uint32_t flags;

        if (run->repeats || !is_block(unit, run, most, &flags) ||
            (at.flags & TW_SLOT_BRANCH && at.branches == TW_ETRACE_BRANCHES - 1))
            break;
        last = &first[run->count - 1];
        if (at.flags & TW_SLOT_BRANCH) {
            at.map |= (uint32_t) !(at.flags & TW_SLOT_TAKEN) << at.branches;
            at.branches++;
        }
        at.low = at.from < at.low ? at.from : at.low;
        at.high = at.address > at.high ? at.address : at.high;
        at.from = first->address;
        if (run->count > 1) { /* its first instruction has been passed, too */
            at.low = at.from < at.low ? at.from : at.low;
            at.high = at.from > at.high ? at.from : at.high;
            at.from += 2;
        }
        at.address = last->address;
        at.size = last->size;
        at.flags = flags;
        at.last_half_words = (uint32_t)(last->address + last->size - first->address) / 2;
        at.half_words += at.last_half_words;
        at.time += run->count;
        at.count++;
    }
    *to = at;
}

/* What tw_etrace_unit_step and tw_etrace_note_passed would have left behind. */
static void settle(struct tw_etrace_unit *unit, const struct passed *at, uint64_t time)
{
    struct tw_etrace_slot *slot = &unit->slot;
    const uint64_t branches = at->branches - at->first_branches;

    if (branches) {
        unit->is_wrong = true;
        tw_etrace_begin_stretch(unit);
        unit->stretch += branches - 1;
    }
    unit->is_wild = unit->has_sent = unit->is_end_inferred = unit->is_reported_now = false;
    unit->is_after_return = unit->is_mispredicted = unit->trap_is_reported = false;
    unit->map = at->map;
    unit->branches = at->branches;
    unit->low = at->low;
    unit->high = at->high;
    unit->previous = TW_SLOT_RETIRES | TW_SLOT_QUALIFIED;
    unit->counts.blocks += at->count;
    unit->counts.half_words += at->half_words;
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

static size_t take_branches(struct tw_etrace_unit *unit, const struct tw_retired_run *runs,
                            size_t count, uint32_t most, uint64_t *time)
{
    const uint32_t quiet = TW_SLOT_RETIRES | TW_SLOT_QUALIFIED;
    const uint32_t odd =
        ~(quiet | TW_SLOT_ENDS | TW_SLOT_BRANCH | TW_SLOT_TAKEN | TW_SLOT_CALL);
    struct passed at = { .low = unit->low,
                         .high = unit->high,
                         .from = unit->slot.from,
                         .address = unit->slot.address,
                         .branches = unit->branches,
                         .first_branches = unit->branches,
                         .map = unit->branches ? unit->map : 0,
                         .flags = unit->slot.flags,
                         .time = *time };

    if ((unit->slot.flags & (odd | quiet)) != quiet ||
        (unit->previous & (TW_SLOT_QUALIFIED | TW_SLOT_TRAPS)) != TW_SLOT_QUALIFIED ||
        !is_quiet(unit) || unit->is_located)
        return 0;
    if (unit->resync_mode == 2 && count > unit->resync_limit - 1 - unit->resync_count)
        count = (size_t)(unit->resync_limit - 1 - unit->resync_count);
    pass_runs(&at, unit, runs, count, most);
    if (!at.count)
        return 0;
    settle(unit, &at, at.time - runs[at.count - 1].count);
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
    if (retire(unit, &block) != TW_OK ||
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
        const size_t some = take_branches(unit, runs + taken, count - 1 - taken, most, time);

        taken += some;
        if (taken + 1 == count || !take_alone(unit, runs + taken, most, time))
            break;
        taken++;
    }
    return taken;
}
