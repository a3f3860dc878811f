/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit: instructions, exceptions and transactions to elements. */
#include "etmv4/unit.h"

#include <string.h>

#include "base/m_profile.h"

static bool is_p0(const struct tw_etmv4_unit *unit, const struct tw_retired *instruction)
{
    return unit->setup.p0_kinds >> instruction->kind & 1;
}

/* ---- return stack ---- */

void tw_etmv4_unit_push_return(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa)
{
    if (unit->late) /* not between Trace Info and the address and context behind it */
        return;
    /* No division: this is done for every call. */
    unit->return_top =
        unit->return_top + 1 < unit->setup.return_depth ? unit->return_top + 1 : 0;
    unit->returns[unit->return_top] = (struct tw_etmv4_unit_return){ address, isa };
    if (unit->return_count < unit->setup.return_depth)
        unit->return_count++;
}

/* Whether the address may be left out, since the analyzer finds it on its stack. */
static bool pop_return(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa)
{
    const struct tw_etmv4_unit_return *top = &unit->returns[unit->return_top];

    if (unit->return_count == 0 || top->address != address || top->isa != isa)
        return false;
    unit->return_top = (unit->return_top ? unit->return_top : unit->setup.return_depth) - 1u;
    unit->return_count--;
    unit->popped = true;
    return true;
}

/* ---- where a block begins ---- */

/* A periodic synchronization whose address and context come later: the analyzer knows the place, or
   finds it on its return stack before that is emptied [K10.5.5.9]. */
static bool syncs_late(struct tw_etmv4_unit *unit, uint8_t pending, uint64_t address,
                       uint8_t isa)
{
    if (!unit->config.late_places || unit->is_speculating ||
        (unit->is_changed && tw_etmv4_unit_context_differs(unit)) ||
        (pending && (pending != TW_PENDING_INDIRECT || !pop_return(unit, address, isa))))
        return false;
    tw_etmv4_unit_release_buffered(unit);
    tw_etmv4_unit_emit_sync(unit);
    unit->late = unit->config.late_places;
    return true;
}

/* The first instruction behind a P0 element, or behind a cancelled one. */
void tw_etmv4_unit_settle(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa)
{
    const uint8_t pending = unit->flow.pending;

    unit->flow.pending = TW_PENDING_NOTHING;
    if (TW_UNLIKELY(unit->late)) {
        unit->late--;
        if (unit->sync_is_due || pending || unit->is_changed || !unit->late) {
            unit->late = 0;
            tw_etmv4_unit_emit_place(unit, address, isa);
        }
        unit->is_changed = false;
        return;
    }
    if (TW_UNLIKELY(unit->sync_is_due && syncs_late(unit, pending, address, isa)))
        return;
    if (TW_UNLIKELY(unit->sync_is_due)) {
        tw_etmv4_unit_send_commits(unit);
        tw_etmv4_unit_emit_sync(unit);
        tw_etmv4_unit_emit_place(unit, address, isa);
        unit->popped = false;
    } else if (pending == TW_PENDING_INDIRECT &&
               !(unit->is_changed && tw_etmv4_unit_context_differs(unit)) &&
               pop_return(unit, address, isa)) {
        ;
    } else if (pending) {
        tw_etmv4_unit_emit_place(unit, address, isa);
    } else if (unit->is_changed) {
        tw_etmv4_unit_emit_context_at(unit, address, isa);
    }
    unit->is_changed = false;
}

static void start_transaction(struct tw_etmv4_unit *unit)
{
    tw_etmv4_unit_emit_transaction(unit, TW_TRANS_START);
    unit->flow.told_transaction = true;
    memcpy(unit->saved_returns, unit->returns, sizeof unit->returns);
    unit->saved_top = unit->return_top;
    unit->saved_count = unit->return_count;
    if (unit->setup.start_is_p0)
        tw_etmv4_unit_count_p0(unit);
}

static void begin_tracing(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa)
{
    if (!unit->is_synced || unit->sync_is_due) {
        tw_etmv4_unit_send_commits(unit);
        tw_etmv4_unit_emit_sync(unit);
    }
    tw_etmv4_unit_emit_trace_on(unit);
    tw_etmv4_unit_emit_place(unit, address, isa);
    unit->late = 0;
    unit->popped = false;
    unit->is_changed = false;
    unit->flow.pending = TW_PENDING_NOTHING;
    unit->flow.is_active = true;
    if (unit->flow.in_transaction && !unit->flow.told_transaction)
        start_transaction(unit);
}

/* Remembers what changed besides instructions, so that a cancel does not undo it. */
static void note(struct tw_etmv4_unit *unit)
{
    if (unit->is_speculating && !unit->is_overflowing && !unit->record_is_open &&
        tw_etmv4_unit_begin_record(unit, false))
        tw_etmv4_unit_end_record(unit);
}

void tw_etmv4_unit_stop_tracing(struct tw_etmv4_unit *unit)
{
    unit->flow.is_active = false;
    unit->flow.was_traced = false;
    unit->flow.block_is_open = false;
    unit->flow.pending = TW_PENDING_NOTHING;
    unit->flow.last_is_taken = false;
    note(unit);
}

/* ---- Q elements ---- */

static bool in_q_region(const struct tw_etmv4_unit *unit, uint64_t address)
{
    const uint32_t control = tw_etmv4_unit_value(unit, TW_TRCQCTLR);

    return unit->setup.q && !unit->is_speculating &&
           tw_etmv4_unit_in_region(unit, control, address);
}

void tw_etmv4_unit_close_q(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa)
{
    const bool has_count = unit->setup.q_counts;

    if (!unit->q_is_open)
        return;
    unit->q_is_open = false;
    unit->flow.block_is_open = false;
    unit->flow.pending = TW_PENDING_NOTHING;
    tw_etmv4_unit_emit_q(unit, unit->q_count, has_count, address, isa);
    tw_etmv4_unit_count_p0(unit);
    unit->stamped = unit->cycle;
    tw_etmv4_unit_after_p0(unit);
}

static bool is_branch(const struct tw_retired *instruction)
{
    return instruction->kind == TW_RETIRED_BRANCH || instruction->kind == TW_RETIRED_INDIRECT;
}

void tw_etmv4_unit_end_q(struct tw_etmv4_unit *unit)
{
    unit->q_count = unit->q_sure;
    if (unit->q_count)
        tw_etmv4_unit_close_q(unit, unit->q_next, unit->q_isa);
    unit->q_is_open = false;
}

/* True: the instruction is covered by a Q element. */
static bool cover(struct tw_etmv4_unit *unit, const struct tw_retired *instruction)
{
    struct tw_etmv4_unit_flow *flow = &unit->flow;
    const bool in_region = in_q_region(unit, instruction->address);

    if (unit->q_is_open &&
        (!in_region ||
         (!flow->block_is_open && (unit->q_must_end || unit->q_count >= unit->setup.q_most)))) {
        tw_etmv4_unit_close_q(unit, instruction->address, instruction->isa);
    }
    if (!unit->q_is_open && (!in_region || flow->block_is_open))
        return false;
    if (!unit->q_is_open) {
        /* Analyzers of others do not look at the return stack before a Q. */
        tw_etmv4_unit_settle(unit, instruction->address, instruction->isa);
        if (unit->popped)
            return false;
        unit->q_is_open = true;
        unit->q_must_end = false;
        unit->q_count = unit->q_sure = 0;
    }
    unit->q_count++;
    flow->was_traced = true;
    flow->block_is_open = !is_p0(unit, instruction);
    if (!flow->block_is_open) {
        unit->q_sure = unit->q_count;
        unit->q_isa = instruction->isa;
        unit->q_next = instruction->flags & TW_RETIRED_TAKEN && is_branch(instruction)
                           ? instruction->target
                           : instruction->address + instruction->size;
    }
    flow->last_is_taken = false;
    if (instruction->kind == TW_RETIRED_ISB || instruction->flags & TW_RETIRED_EXCEPTION_RETURN)
        unit->q_must_end = true;
    return true;
}

/* ---- P0 instructions ---- */

void tw_etmv4_unit_after_p0(struct tw_etmv4_unit *unit)
{
    unit->popped = false;
    if (unit->setup.cycles && (unit->setup.max_spec == 0 || unit->resolved))
        tw_etmv4_unit_emit_cycles(unit);
    if (unit->timestamp_is_due)
        tw_etmv4_unit_emit_timestamp(unit);
}

/* The atom of a P0 instruction, or what stands for it.  False: nothing went out yet. */
static bool emit_p0(struct tw_etmv4_unit *unit, const struct tw_retired *instruction,
                    bool is_taken)
{
    if (!unit->config.source_addresses || !unit->setup.is_ete || unit->is_speculating) {
        tw_etmv4_unit_add_atom(unit, is_taken);
        return true;
    }
    if (!is_taken && !unit->timestamp_is_due && !unit->setup.cycles) {
        unit->buffered++;
        return false;
    }
    /* Analyzers of others do not look at the return stack before a source address. */
    if (is_taken && unit->buffered >= unit->config.source_addresses && !unit->popped)
        tw_etmv4_unit_emit_source(unit, instruction->address, instruction->isa);
    else
        tw_etmv4_unit_add_atom(unit, is_taken);
    return true;
}

void tw_etmv4_unit_trace_p0(struct tw_etmv4_unit *unit, const struct tw_retired *instruction)
{
    struct tw_etmv4_unit_flow *flow = &unit->flow;
    const bool is_taken = instruction->flags & TW_RETIRED_TAKEN;
    const bool is_function = instruction->flags & TW_RETIRED_FUNCTION_RETURN;
    const bool is_return = is_function || instruction->flags & TW_RETIRED_EXCEPTION_RETURN;
    const bool is_indirect = instruction->kind == TW_RETIRED_INDIRECT;
    const bool is_broadcast =
        unit->setup.broadcasts &&
        tw_etmv4_unit_in_region(unit, tw_etmv4_unit_value(unit, TW_TRCBBCTLR),
                                instruction->address);
    const bool is_out = emit_p0(unit, instruction, is_taken);

    if (is_out)
        tw_etmv4_unit_count_p0(unit);
    if (unit->record_is_open) {
        struct tw_etmv4_unit_record *record =
            &unit->records[unit->record_first + unit->record_count - 1];

        record->is_atom = true;
        record->is_taken = is_taken;
        record->is_indirect = is_indirect;
        record->is_broadcast = is_broadcast;
    }
    if (is_broadcast)
        unit->return_count = 0;
    else if (is_taken && unit->setup.return_stack && instruction->flags & TW_RETIRED_LINK)
        tw_etmv4_unit_push_return(unit, instruction->address + instruction->size,
                                  instruction->isa);
    if (is_taken && (is_broadcast || (is_indirect && is_return)))
        flow->pending = TW_PENDING_BROADCAST;
    else
        flow->pending = is_taken && is_indirect ? TW_PENDING_INDIRECT : TW_PENDING_NOTHING;
    flow->block_is_open = false;
    flow->last_is_taken = is_taken;
    flow->target = instruction->target;
    flow->target_isa = instruction->isa;
    if (is_return && is_taken && !unit->setup.is_ete) {
        tw_etmv4_unit_emit_return(unit, is_function);
        if (unit->config.is_m) /* there it is a P0 element of its own */
            tw_etmv4_unit_count_p0(unit);
    }
    if ((is_return || instruction->kind == TW_RETIRED_ISB) && is_taken)
        unit->timestamp_is_due = unit->setup.timestamps;
    if (is_out) {
        unit->stamped = unit->cycle;
        tw_etmv4_unit_after_p0(unit);
    }
}

/* ---- instructions ---- */

static void trace(struct tw_etmv4_unit *unit, const struct tw_retired *instruction,
                  bool is_wanted)
{
    struct tw_etmv4_unit_flow *flow = &unit->flow;

    if (!is_wanted && !(flow->is_active && flow->block_is_open)) {
        tw_etmv4_unit_close_q(unit, instruction->address, instruction->isa);
        tw_etmv4_unit_release_buffered(unit);
        tw_etmv4_unit_stop_tracing(unit);
        return;
    }
    if (!flow->is_active)
        begin_tracing(unit, instruction->address, instruction->isa);
    else if ((unit->q_is_open || unit->setup.q) && cover(unit, instruction))
        return;
    else if (!flow->block_is_open)
        tw_etmv4_unit_settle(unit, instruction->address, instruction->isa);
    else if (flow->pending) /* what came before was cancelled */
        tw_etmv4_unit_settle(unit, flow->block_start, flow->block_isa);
    else if (unit->is_changed)
        tw_etmv4_unit_emit_context(unit);
    if (!flow->block_is_open) {
        flow->block_start = instruction->address;
        flow->block_isa = instruction->isa;
    }
    flow->was_traced = true;
    flow->block_is_open = true;
    if (is_p0(unit, instruction))
        tw_etmv4_unit_trace_p0(unit, instruction);
    else if (instruction->kind == TW_RETIRED_TSB) /* [K10.5.9] */
        unit->timestamp_is_due |= unit->setup.is_ete && unit->setup.timestamps;
}

void tw_etmv4_unit_retire_slowly(struct tw_etmv4_unit *unit,
                                 const struct tw_retired *instruction)
{
    bool is_wanted = unit->is_viewed;

    if (unit->is_speculating && !unit->is_overflowing) {
        struct tw_etmv4_unit_record *record = tw_etmv4_unit_begin_record(unit, true);

        if (record)
            record->is_branch = is_p0(unit, instruction);
    }
    if (unit->setup.filters || unit->setup.has_resources) {
        tw_etmv4_unit_compare(unit, instruction);
        is_wanted = tw_etmv4_unit_view(unit, instruction);
    }
    unit->cycle += unit->cycles_per_instruction;
    if (!unit->is_overflowing)
        trace(unit, instruction, is_wanted);
    if (unit->setup.has_resources)
        for (uint32_t i = 0; i < unit->cycles_per_instruction; i++)
            tw_etmv4_unit_step_resources(unit);
    tw_etmv4_unit_end_record(unit);
}

/* ---- exceptions ---- */

static bool is_forced(const struct tw_etmv4_unit *unit, unsigned type)
{
    const uint32_t control = tw_etmv4_unit_value(unit, TW_TRCVICTLR);

    if (unit->config.is_m) /* TRCERR: HardFault to SecureFault */
        return (type >= 3 && type <= 7 && control >> 11 & 1) ||
               (type == 1 && control >> 10 & 1);
    return (type == TW_EXCEPTION_SYSTEM_ERROR && control >> 11 & 1) ||
           (type == TW_EXCEPTION_PE_RESET && control >> 10 & 1);
}

/* The target of the last P0 before the exception; true: the exception packet tells it. */
static bool settle_exception(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa)
{
    struct tw_etmv4_unit_flow *flow = &unit->flow;

    if (unit->late && flow->block_is_open)
        return false; /* the analyzer knows where the block began */
    if (unit->late) {
        unit->late = 0;
        tw_etmv4_unit_emit_place(unit, address, isa);
        return false;
    }
    if (flow->block_is_open) {
        if (flow->pending)
            tw_etmv4_unit_emit_place(unit, flow->block_start, flow->block_isa);
        return false;
    }
    if (unit->config.is_m && address == TW_M_CHAINED)
        return false;
    if (unit->config.is_m && flow->pending && tw_etmv4_unit_context_differs(unit)) {
        /* A return into another mode, or a handler of which nothing ran: the address says so. */
        tw_etmv4_unit_emit_place(unit, address, isa);
        return false;
    }
    if (flow->pending == TW_PENDING_INDIRECT && !tw_etmv4_unit_context_differs(unit) &&
        pop_return(unit, address, isa))
        return false;
    if (unit->setup.return_stack &&
        (flow->pending == TW_PENDING_INDIRECT || flow->pending == TW_PENDING_BROADCAST)) {
        /* OpenCSD pops its stack when the exception packet has the target of a branch. */
        tw_etmv4_unit_emit_place(unit, address, isa);
        return false;
    }
    return flow->pending != TW_PENDING_NOTHING;
}

void tw_etmv4_unit_trace_exception(struct tw_etmv4_unit *unit, unsigned type, uint64_t address,
                                   uint8_t isa)
{
    struct tw_etmv4_unit_flow *flow = &unit->flow;
    const bool is_forced_now = is_forced(unit, type);
    const bool is_reset = type == TW_EXCEPTION_PE_RESET && !unit->config.is_m;
    bool is_target;

    if (tw_etmv4_unit_is_prohibited(unit) || !(flow->was_traced || is_forced_now)) {
        tw_etmv4_unit_close_q(unit, address, isa);
        tw_etmv4_unit_release_buffered(unit);
        tw_etmv4_unit_stop_tracing(unit);
        return;
    }
    if (unit->is_speculating)
        (void)tw_etmv4_unit_begin_record(unit, false);
    tw_etmv4_unit_close_q(unit, address, isa);
    if (unit->buffered >= unit->config.source_addresses && !unit->late)
        unit->buffered = 0; /* the exception implies them */
    tw_etmv4_unit_release_buffered(unit);
    if (is_reset && flow->told_transaction) {
        tw_etmv4_unit_emit_transaction(unit, TW_TRANS_FAIL);
        flow->told_transaction = flow->in_transaction = false;
    }
    if (!flow->is_active)
        begin_tracing(unit, address, isa);
    is_target = !is_reset && settle_exception(unit, address, isa);
    tw_etmv4_unit_emit_exception(unit, type, address, isa, is_target);
    tw_etmv4_unit_count_p0(unit);
    unit->is_changed = true;
    flow->pending = TW_PENDING_EXCEPTION;
    flow->block_is_open = false;
    flow->was_traced = true;
    flow->last_is_taken = false;
    unit->timestamp_is_due = unit->setup.timestamps;
    unit->stamped = unit->cycle;
    tw_etmv4_unit_after_p0(unit);
    tw_etmv4_unit_end_record(unit);
}

/* ---- transactions ---- */

static void fail_transaction(struct tw_etmv4_unit *unit, uint64_t cancelled)
{
    struct tw_etmv4_unit_flow *flow = &unit->flow;
    const bool was_started = flow->start_transaction;

    unit->waiting_shots = 0;
    if (flow->told_transaction) {
        if (flow->is_active && !flow->block_is_open && flow->last_is_taken && flow->target)
            tw_etmv4_unit_emit_place(unit, flow->target, flow->target_isa);
        if (cancelled && tw_etmv4_unit_do_cancel(unit, cancelled, TW_CANCEL_ONLY) != TW_OK)
            return;
        tw_etmv4_unit_emit_transaction(unit, TW_TRANS_FAIL);
    }
    /* Some analyzers do not put back what the transaction took from the stack [K10.5.4.4]. */
    unit->return_count = 0;
    if (unit->config.restores_returns && !unit->is_speculating && flow->told_transaction) {
        memcpy(unit->returns, unit->saved_returns, sizeof unit->returns);
        unit->return_top = unit->saved_top;
        unit->return_count = unit->saved_count;
    }
    flow->told_transaction = flow->in_transaction = false;
    flow->is_started = was_started;
    flow->pending = TW_PENDING_EXCEPTION;
    flow->block_is_open = false;
    flow->last_is_taken = false;
}

void tw_etmv4_unit_transact(struct tw_etmv4_unit *unit, enum tw_transaction what,
                            uint64_t cancelled)
{
    struct tw_etmv4_unit_flow *flow = &unit->flow;

    switch (what) {
    case TW_TRANS_START:
        if (unit->is_speculating && !unit->is_overflowing)
            (void)tw_etmv4_unit_begin_record(unit, false);
        flow->in_transaction = true;
        flow->start_transaction = flow->is_started;
        if (flow->is_active && !unit->is_overflowing) {
            tw_etmv4_unit_end_q(unit);
            start_transaction(unit);
        }
        tw_etmv4_unit_end_record(unit);
        break;
    case TW_TRANS_COMMIT:
        if (flow->told_transaction && !unit->is_overflowing)
            tw_etmv4_unit_emit_transaction(unit, what);
        flow->told_transaction = flow->in_transaction = false;
        tw_etmv4_unit_fire(unit, unit->waiting_shots);
        unit->waiting_shots = 0;
        note(unit);
        break;
    case TW_TRANS_FAIL:
        fail_transaction(unit, cancelled);
        note(unit);
        break;
    default:
        break;
    }
}
