/* SPDX-License-Identifier: BSD-2-Clause */
/* The N-Trace encoder: what to report, block by block. */
#include "ntrace/unit.h"

/* ---- calls and returns ---- */

static void push(struct tw_ntrace_unit *unit, uint64_t link)
{
    if (unit->return_mode == TW_NTRACE_RETURN_NONE)
        return;
    unit->top = (unit->top + 1) % TW_NTRACE_CALLS_MAX;
    unit->calls[unit->top] = link;
    if (unit->depth < unit->depth_max) /* else the oldest is lost, or the counter is full */
        unit->depth++;
}

/* A return leads to `target`: whether that is what the reader thinks. */
static bool pop(struct tw_ntrace_unit *unit, uint64_t target)
{
    const uint64_t link = unit->calls[unit->top];
    const uint64_t low = ((uint64_t)1 << TW_NTRACE_PARTIAL_BITS) - 1;

    if (unit->depth == 0)
        return false;
    unit->depth--;
    unit->top = (unit->top + TW_NTRACE_CALLS_MAX - 1) % TW_NTRACE_CALLS_MAX;
    switch (unit->return_mode) {
    case TW_NTRACE_RETURN_COUNT:
        return true;
    case TW_NTRACE_RETURN_PARTIAL:
        return ((link ^ target) & low) == 0;
    default:
        return link == target;
    }
}

/* ---- counters ---- */

/* The reader is told before I-CNT would overflow; `address` is where the program goes on. */
static void check_count(struct tw_ntrace_unit *unit, uint64_t address)
{
    if (TW_LIKELY(unit->icnt < unit->icnt_limit))
        return;
    while (unit->icnt > TW_NTRACE_ICNT_MAX)
        tw_ntrace_emit_count(unit, TW_NTRACE_ICNT_MAX);
    if (unit->icnt < unit->icnt_limit)
        return;
    if (!unit->is_htm && unit->user.sync_when_full) {
        const uint8_t due = unit->due;

        const bool is_now = unit->is_due_now;

        unit->due = TW_NTRACE_SYNC_ICNT_FULL;
        tw_ntrace_emit_sync(unit, address);
        if (due != TW_NTRACE_NO_SYNC && due != TW_NTRACE_SYNC_PERIODIC) {
            unit->due = due; /* has something else to tell */
            unit->is_due_now = is_now;
        }
    } else {
        tw_ntrace_emit_count(unit, unit->icnt);
    }
}

static void add_outcome(struct tw_ntrace_unit *unit, bool is_taken)
{
    unit->hist = unit->hist * 2 + is_taken;
    if (unit->hist >> (unit->hist_limit - 1))
        tw_ntrace_emit_history(unit);
}

/* ---- synchronization ---- */

void tw_ntrace_unit_sync(struct tw_ntrace_unit *unit, uint8_t sync, bool is_now)
{
    if (unit->due == TW_NTRACE_NO_SYNC || unit->due == TW_NTRACE_SYNC_PERIODIC)
        unit->due = sync;
    unit->is_due_now |= is_now;
}

static void check_sync(struct tw_ntrace_unit *unit)
{
    if (TW_LIKELY(unit->sync_count < unit->sync_limit) || !unit->sync_mode)
        return;
    tw_ntrace_unit_sync(unit, TW_NTRACE_SYNC_PERIODIC,
                        unit->codec.config.sync_style != TW_NTRACE_SYNC_MERGED);
}

void tw_ntrace_unit_owner(struct tw_ntrace_unit *unit, const struct tw_etrace_block *block)
{
    const bool is_other = unit->context != block->context;

    if (TW_LIKELY(unit->has_owner && !is_other && unit->priv == block->priv))
        return;
    unit->has_owner &= !is_other;
    unit->priv = block->priv;
    unit->context = block->context;
    if (unit->has_ownership && !unit->is_lost)
        tw_ntrace_emit_owner(unit);
    unit->has_owner = true;
}

/* Messages were lost: goes on here, if there is room again. */
static bool recovers(struct tw_ntrace_unit *unit)
{
    unit->icnt = 0;
    unit->hist = 1;
    unit->buffered_times = 0;
    unit->sent.is_there = false;
    unit->end.itype = TW_ETRACE_ITYPE_NONE;
    return tw_ntrace_emit_loss(unit);
}

void tw_ntrace_unit_begin(struct tw_ntrace_unit *unit, uint64_t address)
{
    uint8_t sync = unit->next_sync;

    if (unit->is_lost) {
        if (!recovers(unit))
            return;
        sync = TW_NTRACE_SYNC_OVERRUN;
    }
    unit->icnt = 0;
    unit->hist = 1;
    unit->buffered_times = 0;
    unit->sent.is_there = false;
    unit->end.itype = TW_ETRACE_ITYPE_NONE;
    unit->is_tracing = true;
    unit->due = sync;
    tw_ntrace_emit_sync(unit, address);
    unit->next_sync = TW_NTRACE_SYNC_ENABLED;
}

/* ---- blocks ---- */

/* What the last block's end needs to have told; false: nothing. */
static bool is_told(struct tw_ntrace_unit *unit, uint64_t address, bool *is_direct)
{
    const struct tw_ntrace_config *config = &unit->codec.config;
    const struct tw_ntrace_end *end = &unit->end;
    bool is_silent = end->sijump && config->sequential_jump && !end->is_alone;

    *is_direct = true;
    switch (end->itype) {
    case TW_ETRACE_ITYPE_TAKEN:
        return !unit->is_htm;
    case TW_ETRACE_ITYPE_INFERABLE_CALL:
    case TW_ETRACE_ITYPE_INFERABLE_JUMP:
    case TW_ETRACE_ITYPE_INFERABLE_OTHER:
        return !unit->is_htm && config->all_jumps;
    case TW_ETRACE_ITYPE_NONE:
    case TW_ETRACE_ITYPE_NOT_TAKEN:
        return false;
    case TW_ETRACE_ITYPE_RETURN:
        is_silent |= pop(unit, address);
        break;
    case TW_ETRACE_ITYPE_SWAP:
        is_silent |= pop(unit, address);
        push(unit, end->link);
        break;
    case TW_ETRACE_ITYPE_CALL:
        push(unit, end->link);
        break;
    default:
        break;
    }
    *is_direct = false;
    return !is_silent;
}

static uint8_t btype_of(const struct tw_ntrace_unit *unit)
{
    const unsigned itype = unit->end.itype;

    if (itype != TW_ETRACE_ITYPE_EXCEPTION && itype != TW_ETRACE_ITYPE_INTERRUPT)
        return TW_NTRACE_BTYPE_JUMP;
    if (unit->codec.config.btype == 1)
        return TW_NTRACE_BTYPE_TRAP;
    return itype == TW_ETRACE_ITYPE_EXCEPTION ? TW_NTRACE_BTYPE_EXCEPTION
                                              : TW_NTRACE_BTYPE_INTERRUPT;
}

void tw_ntrace_unit_arrive(struct tw_ntrace_unit *unit, uint64_t address)
{
    bool is_direct;

    if (TW_UNLIKELY(unit->is_lost)) {
        if (!recovers(unit))
            return;
        unit->due = TW_NTRACE_SYNC_OVERRUN;
        tw_ntrace_emit_sync(unit, address);
        return;
    }
    check_sync(unit);
    if (is_told(unit, address, &is_direct))
        tw_ntrace_emit_branch(unit, btype_of(unit), is_direct, address);
    else if (unit->due != TW_NTRACE_NO_SYNC && unit->is_due_now)
        tw_ntrace_emit_sync(unit, address);
    else
        check_count(unit, address);
    unit->end.itype = TW_ETRACE_ITYPE_NONE;
}

void tw_ntrace_unit_pass(struct tw_ntrace_unit *unit, const struct tw_etrace_block *block)
{
    const uint32_t last = block->iretire ? 1u << block->ilastsize : 0;
    const uint64_t before = block->iaddr + 2 * (uint64_t)(block->iretire - last);
    const bool is_direct = block->itype == TW_ETRACE_ITYPE_INFERABLE_CALL ||
                           block->itype == TW_ETRACE_ITYPE_INFERABLE_JUMP ||
                           block->itype == TW_ETRACE_ITYPE_INFERABLE_OTHER;

    unit->time = block->time;
    unit->icnt += block->iretire - last;
    check_count(unit, before);
    tw_ntrace_unit_owner(unit, block);
    unit->end = (struct tw_ntrace_end){ .itype = block->itype,
                                        .sijump = block->sijump,
                                        .is_alone = unit->icnt == 0,
                                        .link = before + 2 * (uint64_t)last };
    unit->icnt += last;
    if (unit->sync_mode == 3)
        unit->sync_count += block->iretire;
    if (unit->is_htm) {
        if (block->itype == TW_ETRACE_ITYPE_TAKEN || block->itype == TW_ETRACE_ITYPE_NOT_TAKEN)
            add_outcome(unit, block->itype == TW_ETRACE_ITYPE_TAKEN);
        else if (is_direct && unit->codec.config.all_jumps)
            add_outcome(unit, true);
    }
    if (block->itype == TW_ETRACE_ITYPE_INFERABLE_CALL)
        push(unit, unit->end.link);
}

void tw_ntrace_unit_stop(struct tw_ntrace_unit *unit)
{
    const uint8_t due = unit->due;
    bool is_direct;

    if (!unit->is_tracing)
        return;
    unit->due = TW_NTRACE_NO_SYNC; /* where it would be is not traced */
    /* A branch that was taken is told; where a jump or trap leads to is not. */
    if (is_told(unit, 0, &is_direct) && is_direct)
        tw_ntrace_emit_branch(unit, TW_NTRACE_BTYPE_JUMP, true, 0);
    unit->end.itype = TW_ETRACE_ITYPE_NONE;
    if (due == TW_NTRACE_SYNC_RESET) {
        unit->due = due;
        return;
    }
    tw_ntrace_emit_stop(unit, unit->stop_code);
    unit->is_tracing = unit->is_due_now = false;
}
