/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit for what most programs are: all is traced, atoms and addresses only. */
#include "etmv4/unit.h"

/* At the first instruction behind a P0 element there is seldom something to tell. */
static inline bool must_settle(const struct tw_etmv4_unit *unit)
{
    return unit->flow.pending | unit->sync_is_due | unit->is_changed | (unit->late != 0);
}

static inline void open_block(struct tw_etmv4_unit *unit, const struct tw_retired *first)
{
    if (unit->flow.block_is_open)
        return;
    if (must_settle(unit))
        tw_etmv4_unit_settle(unit, first->address, first->isa);
    unit->flow.block_is_open = true;
}

/* An instruction of the kinds that are noted. */
static void note(struct tw_etmv4_unit *unit, const struct tw_retired *at)
{
    if (at->kind == TW_RETIRED_TSB)
        unit->timestamp_is_due |= unit->setup.timestamps;
    else
        tw_etmv4_unit_trace_p0(unit, at);
}

void tw_etmv4_unit_retire_plain(struct tw_etmv4_unit *unit, const struct tw_retired *list,
                                size_t count)
{
    const uint32_t kinds = unit->setup.noted_kinds;
    const uint32_t cycles = unit->cycles_per_instruction;

    for (size_t i = 0; i < count; i++) {
        const struct tw_retired *at = &list[i];

        unit->cycle += cycles;
        open_block(unit, at);
        if (TW_LIKELY(!(kinds >> at->kind & 1)))
            continue;
        if (at->kind == TW_RETIRED_BRANCH && !(at->flags & TW_RETIRED_LINK) &&
            !unit->timestamp_is_due) {
            tw_etmv4_unit_add_atom(unit, at->flags & TW_RETIRED_TAKEN);
            unit->flow.block_is_open = false;
            unit->flow.last_is_taken = at->flags & TW_RETIRED_TAKEN;
            unit->flow.target = at->target;
            unit->stamped = unit->cycle;
            unit->popped = false;
            continue;
        }
        note(unit, at);
    }
}

/* ---- runs ---- */

/* The last of a run, which is more than a branch or comes where more than an atom is to be told. */
static void note_last(struct tw_etmv4_unit *unit, const struct tw_retired_run *run,
                      const struct tw_retired *last)
{
    struct tw_retired whole = *last;

    if (!(unit->setup.noted_kinds >> last->kind & 1))
        return;
    whole.flags = run->flags;
    whole.target = run->target;
    note(unit, &whole);
}

/* The last of a run is a branch that needs an atom, and its target behind it. */
static inline bool is_atom(const struct tw_etmv4_unit *unit, const struct tw_retired_run *run,
                           const struct tw_retired *last)
{
    const uint32_t branches = 1u << TW_RETIRED_BRANCH | 1u << TW_RETIRED_INDIRECT;
    const unsigned returns = TW_RETIRED_EXCEPTION_RETURN | TW_RETIRED_FUNCTION_RETURN;

    return branches >> last->kind & 1 && !(run->flags & returns) && !unit->timestamp_is_due;
}

/* Where a program goes is not to be foreseen: what each run comes to has no branch that depends on it. */
static inline void retire_run(struct tw_etmv4_unit *unit, const struct tw_retired_run *run)
{
    const struct tw_retired *last = &run->instructions[run->count - 1];
    const unsigned call = TW_RETIRED_TAKEN | TW_RETIRED_LINK;
    const bool is_taken = run->flags & TW_RETIRED_TAKEN;

    open_block(unit, run->instructions);
    unit->cycle += (uint64_t)unit->cycles_per_instruction * run->count;
    if (TW_UNLIKELY(!is_atom(unit, run, last))) {
        note_last(unit, run, last);
        return;
    }
    tw_etmv4_unit_add_atom(unit, is_taken);
    if ((run->flags & call) == call && unit->setup.return_stack)
        tw_etmv4_unit_push_return(unit, last->address + last->size, last->isa);
    unit->flow.pending =
        (uint8_t)((is_taken & (last->kind == TW_RETIRED_INDIRECT)) * TW_PENDING_INDIRECT);
    unit->flow.block_is_open = false;
    unit->flow.last_is_taken = is_taken;
    unit->flow.target = run->target;
    unit->flow.target_isa = last->isa;
    unit->stamped = unit->cycle;
    unit->popped = false;
}

/* The same branch again and again: so many atoms, up to where something else is to be told. */
static uint32_t repeat_atoms(struct tw_etmv4_unit *unit, bool is_taken, uint32_t count)
{
    uint32_t left = count;

    while (left && !must_settle(unit)) {
        const uint32_t room = TW_ETMV4_UNIT_ATOM_QUEUE - 1 - unit->atom_count;
        const uint32_t some = left < room ? left : room;

        if (is_taken)
            unit->atoms |= (((uint64_t)1 << some) - 1) << unit->atom_count;
        unit->atom_count += some;
        left -= some;
        if (unit->atom_count == TW_ETMV4_UNIT_ATOM_QUEUE - 1)
            tw_etmv4_unit_pack_atoms(unit, TW_ETMV4_UNIT_ATOMS_MOST);
    }
    return count - left;
}

/* A run that was executed once is executed again. */
static void repeat_run(struct tw_etmv4_unit *unit, const struct tw_retired_run *run)
{
    const struct tw_retired *last = &run->instructions[run->count - 1];

    for (uint32_t left = run->repeats; left; left--) {
        if (last->kind == TW_RETIRED_BRANCH && !(run->flags & TW_RETIRED_LINK) &&
            is_atom(unit, run, last) && !unit->flow.block_is_open && !unit->buffered &&
            !unit->config.on_element) {
            const uint32_t done = repeat_atoms(unit, run->flags & TW_RETIRED_TAKEN, left);

            unit->cycle += (uint64_t)unit->cycles_per_instruction * run->count * done;
            if (done)
                unit->stamped = unit->cycle;
            left -= done;
            if (!left)
                break;
        }
        retire_run(unit, run);
    }
}

void tw_etmv4_unit_retire_plain_runs(struct tw_etmv4_unit *unit,
                                     const struct tw_retired_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (TW_UNLIKELY(!runs[i].count))
            continue;
        retire_run(unit, &runs[i]);
        if (runs[i].repeats)
            repeat_run(unit, &runs[i]);
    }
}
