/* SPDX-License-Identifier: BSD-2-Clause */
/* What to report, instruction by instruction: figure 8.1, with the modes of section 3.2. */
#include "etrace/unit.h"

static bool is_trap_only(uint32_t flags)
{
    return (flags & (TW_SLOT_TRAPS | TW_SLOT_RETIRES)) == TW_SLOT_TRAPS;
}

/* Resynchronization may follow this instruction: the next one begins a block in any case. */
static bool may_resync(const struct tw_etrace_unit *unit)
{
    if (unit->is_wild)
        return false; /* its target's packet must tell the depth */
    return unit->is_single || unit->user.resync_anywhere || (unit->slot.flags & TW_SLOT_ENDS);
}

/* Counting packets, one instruction at a time: the synchronization waits until a packet tells of
   the instruction before it.  Else a packet comes only where it must. */
static bool waits(const struct tw_etrace_unit *unit)
{
    return unit->resync_mode == 1 && unit->is_single;
}

/* A jump leads to code that ran since the last packet, as far as that is known.  Without branches
   nothing else but returns does. */
static bool leads_back(const struct tw_etrace_unit *unit, uint64_t next)
{
    if (!(unit->slot.flags & TW_SLOT_UNINFERABLE))
        return false;
    return (unit->low <= next && next <= unit->high) ||
           (unit->slot.from <= next && next <= unit->slot.address);
}

/* The decoder would not find its way to a synchronization packet for the next instruction without
   an address before it. */
static bool is_open(const struct tw_etrace_unit *unit, uint64_t next)
{
    if (unit->branches || unit->is_target_open || leads_back(unit, next))
        return true;
    return !unit->user.literal_returns && (unit->has_returned || unit->is_repeated);
}

/* The next packet after one for this instruction will be of format 3. */
static bool is_before_sync(const struct tw_etrace_unit *unit, uint32_t next)
{
    if (unit->slot.flags & TW_SLOT_TRAPS)
        return true;
    if (next & TW_SLOT_QUALIFIED && (is_trap_only(next) || next & TW_SLOT_CHANGED))
        return true;
    return tw_etrace_is_due(unit) && may_resync(unit);
}

/* ---- calls and returns (3.2.5) ---- */

static struct tw_etrace_call *frame_at(const struct tw_etrace_unit *unit, uint32_t depth)
{
    return &unit->calls[(unit->call_top - (unit->depth - depth)) & (unit->calls_max - 1)];
}

static void push_call(struct tw_etrace_unit *unit)
{
    struct tw_etrace_call *frame;
    const uint32_t before = unit->depth;

    if (!unit->depth_max)
        return;
    if (unit->depth < unit->depth_max)
        unit->depth++;
    unit->call_top++;
    frame = frame_at(unit, unit->depth);
    frame->link = unit->slot.address + unit->slot.size;
    frame->depth_before = before;
    frame->repeated_in = 0;
    if (unit->returned[unit->depth] == unit->stretch) {
        frame->repeated_in = unit->stretch;
        frame->repeated_at = unit->slot.address;
        unit->is_repeated = true;
    }
    unit->has_called = true;
}

static bool is_inferred_return(const struct tw_etrace_unit *unit,
                               const struct tw_etrace_slot *next)
{
    if (unit->depth == 0)
        return false;
    return !unit->config.return_stack_size ||
           frame_at(unit, unit->depth)->link == next->address;
}

/* A return that the decoder may infer. */
static bool is_implicit(const struct tw_etrace_unit *unit)
{
    return unit->slot.flags & TW_SLOT_RETURN && unit->options & TW_ETRACE_IMPLICIT_RETURN;
}

/* irdepth cannot tell returns from one depth apart (nor places that calls lead to again).  Where
   that matters, the calls that still stand are reported first. */
static void report_calls(struct tw_etrace_unit *unit)
{
    const uint64_t stretch = unit->stretch;

    if (!unit->is_repeated || unit->user.literal_returns)
        return;
    for (uint32_t i = 1; i <= unit->depth; i++) {
        const struct tw_etrace_call *frame = frame_at(unit, i);
        const struct tw_etrace_report report = { .notify = true,
                                                 .irreport = true,
                                                 .irdepth = frame->depth_before };

        if (frame->repeated_in == stretch)
            tw_etrace_emit_address(unit, frame->repeated_at, &report);
    }
}

/* 6.6.3: the depth is needed to find the last instruction before a synchronization. */
static bool needs_depth(const struct tw_etrace_unit *unit)
{
    if (!(unit->options & TW_ETRACE_IMPLICIT_RETURN) || unit->slot.flags & TW_SLOT_BRANCH)
        return false;
    if (!unit->user.literal_returns)
        return unit->has_returned;
    return unit->is_after_return ? unit->depth > 0 : unit->has_returned && !unit->has_called;
}

/* ---- packets with an address ---- */

/* The current instruction follows an uninferable discontinuity. */
static void report_target(struct tw_etrace_unit *unit, uint32_t next)
{
    const struct tw_etrace_report report = { .is_target = true,
                                             .updiscon = is_before_sync(unit, next),
                                             .irreport = unit->is_mispredicted,
                                             .irdepth = unit->depth };
    const uint64_t address = unit->slot.address;
    const bool was_passed = unit->low <= address && address <= unit->high;

    if (unit->is_mispredicted)
        report_calls(unit);
    tw_etrace_emit_address(unit, address, &report);
    unit->is_end_inferred = !report.updiscon;
    unit->is_target_open = was_passed && !report.updiscon && !unit->is_indexed;
}

/* This call fills the counter, and a return was inferred since the last packet: what follows may need
   a depth that its field cannot hold, unless this one is told now. */
static bool fills_counter(const struct tw_etrace_unit *unit)
{
    return unit->slot.flags & TW_SLOT_CALL && unit->options & TW_ETRACE_IMPLICIT_RETURN &&
           !unit->config.return_stack_size && !unit->user.literal_returns &&
           unit->has_returned && unit->depth + 1 == unit->depth_max;
}

/* It does not, but must be reported. */
static void report_here(struct tw_etrace_unit *unit)
{
    const struct tw_etrace_report report = { .notify = unit->slot.flags & TW_SLOT_NOTIFY ||
                                                       fills_counter(unit),
                                             .irreport = needs_depth(unit),
                                             .irdepth = unit->depth };

    if (!(unit->slot.flags & TW_SLOT_BRANCH))
        report_calls(unit);
    tw_etrace_emit_address(unit, unit->slot.address, &report);
}

/* ---- decisions ---- */

/* The instruction after a trap. */
static void after_trap(struct tw_etrace_unit *unit)
{
    if (is_trap_only(unit->slot.flags)) {
        if (unit->is_v2)
            tw_etrace_emit_trap(unit, &unit->trap, false);
    } else if (unit->trap_is_reported) {
        tw_etrace_emit_sync(unit);
    } else {
        tw_etrace_emit_trap(unit, &unit->trap, true);
    }
}

/* The draft treats a change of hart like an exception. */
static void after_switch(struct tw_etrace_unit *unit)
{
    const struct tw_etrace_slot none = { .flags = TW_SLOT_TRAPS | TW_SLOT_INTERRUPT };

    tw_etrace_emit_trap(unit, &none, true);
}

/* A trap struck before anything retired, and where that was is not known yet. */
static void report_trap_only(struct tw_etrace_unit *unit)
{
    tw_etrace_emit_trap(unit, &unit->slot, false);
    unit->is_reported_now = true;
}

static void synchronize(struct tw_etrace_unit *unit, bool is_first)
{
    const uint32_t flags = unit->slot.flags;

    /* Nobody could infer the address of a switch that came without a trap. */
    const bool has_address = !(unit->options & TW_ETRACE_IMPLICIT_EXCEPTION);

    if (!unit->is_v2 && flags & TW_SLOT_SWITCHED && !is_first && flags & TW_SLOT_RETIRES &&
        has_address)
        after_switch(unit);
    else if (flags & TW_SLOT_RETIRES)
        tw_etrace_emit_sync(unit);
    else if (unit->is_v2 && (is_first || flags & TW_SLOT_CHANGED || unit->is_after_updiscon))
        report_trap_only(unit);
    else if (!unit->is_v2 && !is_first && unit->is_after_updiscon)
        tw_etrace_emit_sync(unit); /* as if it had retired */
}

/* Where the current instruction leads must be told. */
static bool is_updiscon(const struct tw_etrace_unit *unit, const struct tw_etrace_slot *after)
{
    const uint32_t flags = unit->slot.flags;

    if (!(flags & TW_SLOT_UNINFERABLE) ||
        (flags & TW_SLOT_SIJUMP && unit->options & TW_ETRACE_SIJUMP))
        return false;
    return !is_implicit(unit) || !is_inferred_return(unit, after);
}

static bool must_report(const struct tw_etrace_unit *unit, const struct tw_etrace_slot *after)
{
    const uint32_t flags = unit->slot.flags, next = after->flags;

    if (flags & (TW_SLOT_TRAPS | TW_SLOT_NOTIFY) || !(next & TW_SLOT_QUALIFIED) ||
        fills_counter(unit))
        return true;
    /* The draft reports the target although it trapped.  Two addresses in a row would say that the
       first one is a jump's target. */
    if (is_trap_only(next))
        return unit->is_v2 || !is_updiscon(unit, after);
    if (tw_etrace_is_due(unit) && may_resync(unit) &&
        (waits(unit) ? unit->branches != 0 : is_open(unit, after->address)))
        return true;
    return next & TW_SLOT_CHANGED &&
           (next & TW_SLOT_SWITCHED || unit->is_wild || is_open(unit, after->address));
}

static void decide(struct tw_etrace_unit *unit, const struct tw_etrace_slot *next)
{
    const uint32_t flags = unit->slot.flags, previous = unit->previous;
    const bool is_first = unit->must_sync || !(previous & TW_SLOT_QUALIFIED);

    if (flags & TW_SLOT_BRANCH)
        tw_etrace_add_branch(unit);
    if (!is_first && previous & TW_SLOT_TRAPS)
        after_trap(unit);
    else if (is_first || flags & TW_SLOT_CHANGED ||
             (unit->sync_is_next && flags & TW_SLOT_RETIRES))
        synchronize(unit, is_first);
    else if (unit->is_after_updiscon && is_trap_only(flags) && unit->is_v2)
        report_trap_only(unit);
    else if (unit->is_after_updiscon)
        report_target(unit, next->flags);
    else if (flags & TW_SLOT_RETIRES && must_report(unit, next))
        report_here(unit);
    else if (flags & TW_SLOT_BRANCH)
        tw_etrace_emit_branches(unit);
    if (unit->context_is_due && !unit->has_sent && flags & TW_SLOT_RETIRES)
        tw_etrace_emit_context(unit);
    if (!is_trap_only(flags) || !is_first || unit->has_sent)
        unit->must_sync = false;
}

/* Trace was lost: goes on with this instruction, if there is room again. */
static bool recovers(struct tw_etrace_unit *unit)
{
    unit->branches = 0;
    unit->must_sync = true;
    if (!tw_etrace_has_room(unit))
        return false;
    tw_etrace_emit_support(unit, TW_ETRACE_TRACE_LOST);
    return true;
}

/* What the instruction leaves behind for the next one. */
static void leave(struct tw_etrace_unit *unit, const struct tw_etrace_slot *next, bool is_first)
{
    const uint32_t flags = unit->slot.flags;
    const bool returns = flags & TW_SLOT_RETURN && unit->options & TW_ETRACE_IMPLICIT_RETURN;

    unit->is_after_return = unit->is_mispredicted = false;
    unit->is_after_updiscon = flags & TW_SLOT_UNINFERABLE;
    if (flags & TW_SLOT_SIJUMP && unit->options & TW_ETRACE_SIJUMP && !is_first)
        unit->is_after_updiscon = false;
    if (flags & TW_SLOT_BRANCH)
        tw_etrace_begin_stretch(unit);
    if (returns && is_inferred_return(unit, next)) {
        unit->returned[unit->depth] = unit->stretch;
        unit->depth--;
        unit->call_top--;
        unit->is_after_updiscon = false;
        unit->is_after_return = unit->has_returned = true;
        unit->has_called = false;
    } else if (returns && unit->depth) {
        unit->is_mispredicted = true;
    }
    if (flags & TW_SLOT_CALL && unit->options & TW_ETRACE_IMPLICIT_RETURN)
        push_call(unit);
    if (flags & TW_SLOT_TRAPS)
        unit->trap = unit->slot;
    unit->trap_is_reported = unit->is_reported_now;
}

void tw_etrace_unit_step(struct tw_etrace_unit *unit, const struct tw_etrace_slot *next)
{
    const uint32_t flags = unit->slot.flags;
    const bool is_first = unit->must_sync || !(unit->previous & TW_SLOT_QUALIFIED);
    bool was_due;

    unit->is_wild = is_implicit(unit) && unit->depth && !is_inferred_return(unit, next);
    was_due = tw_etrace_is_due(unit) && may_resync(unit);
    unit->has_sent = unit->is_end_inferred = unit->is_reported_now = false;
    if (unit->is_lost && !recovers(unit))
        return;
    unit->has_sent = false;
    if (flags & TW_SLOT_IMPRECISE)
        unit->context_is_due = true;
    decide(unit, next);
    unit->sync_is_next = was_due && (!waits(unit) || unit->has_sent) && tw_etrace_is_due(unit);
    if (unit->is_wild && next->flags & TW_SLOT_CHANGED && next->flags & TW_SLOT_RETIRES) {
        tw_etrace_emit_support(unit, TW_ETRACE_ENDED_REP); /* F3 cannot tell the depth */
        unit->must_sync = true;
    }
    leave(unit, next, is_first);
    if (!(next->flags & TW_SLOT_QUALIFIED))
        tw_etrace_emit_support(unit, unit->is_end_inferred ? TW_ETRACE_ENDED_UPD
                                                           : TW_ETRACE_ENDED_REP);
}

void tw_etrace_unit_end(struct tw_etrace_unit *unit)
{
    const struct tw_etrace_slot none = { .flags = 0 };

    if (unit->slot.flags & TW_SLOT_QUALIFIED)
        tw_etrace_unit_push(unit, &none);
    unit->branches = 0;
    unit->previous = 0;
    unit->slot.flags = 0;
    unit->is_after_updiscon = unit->is_after_return = unit->is_mispredicted = false;
    unit->sync_is_next = unit->context_is_due = false;
}
