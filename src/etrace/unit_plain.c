/* SPDX-License-Identifier: BSD-2-Clause */
/* The E-Trace encoder for what most programs are: all is traced, and nothing is to be said of a block but which way
   its branch went. */
#include "etrace/unit.h"

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
           tw_etrace_is_quiet(unit) && unit->is_running && tw_ingress_is_idle(&unit->ingress) &&
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
        if (!tw_etrace_is_quiet(
                unit)) { /* it is a jump's target, or a packet was sent and more is due */
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
