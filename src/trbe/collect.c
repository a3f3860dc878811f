/* SPDX-License-Identifier: BSD-2-Clause */
/* The Trace Buffer Unit's loop: collect, translate, write, move the pointer, count the trigger.
   It works on runs of bytes; the result is that of one byte at a time (I_BTSCF). */
#include "trbe/unit.h"

#include <string.h>

enum { FLUSH_ROOM = 256, FLUSH_MOST = 1 << 20 };

/* R_MSPSD */
bool tw_trbe_is_out_of_range(const struct tw_trbe *unit)
{
    const uint64_t pointer = unit->used[TW_TRBE_PTR];
    const uint64_t base = tw_trbe_base(unit), limit = tw_trbe_limit(unit);

    return pointer < base || pointer >= limit || pointer >> 56 != base >> 56 ||
           pointer >> 56 != limit >> 56;
}

static enum tw_trbe_register recorder(const struct tw_trbe *unit)
{
    return tw_trbe_sr(tw_trbe_recorder(unit, NULL));
}

/* TRB_TRIG comes in every mode, stopped or not; a flush only where the trigger is heeded. */
static void trigger_event(struct tw_trbe *unit)
{
    unit->counts.trigger_events++;
    tw_trbe_tell(unit, TW_TRBE_ON_EVENT, TW_TRBE_EVENT_TRB_TRIG, 0);
    if (tw_trbe_is_running(unit) && tw_trbe_trigger_mode(unit) != TW_TRBE_IGNORE_TRIGGER)
        unit->is_flush_due = true;
}

static void count_trigger(struct tw_trbe *unit, uint64_t size)
{
    const uint64_t count = unit->used[TW_TRBE_TRG];

    if (!(unit->used[recorder(unit)] & TW_TRBE_SR_TRG) || count == 0)
        return;
    tw_trbe_indirect(unit, TW_TRBE_TRG, count - size);
    if (count == size)
        trigger_event(unit);
}

/* R_VHNTF, R_MBSHC, R_GDSTS */
static void move_pointer(struct tw_trbe *unit, uint64_t size)
{
    const uint64_t next = unit->used[TW_TRBE_PTR] + size;
    const unsigned el = tw_trbe_recorder(unit, NULL);

    if (next != tw_trbe_limit(unit)) {
        tw_trbe_indirect(unit, TW_TRBE_PTR, next);
        return;
    }
    tw_trbe_indirect(unit, TW_TRBE_PTR, tw_trbe_base(unit));
    tw_trbe_indirect(unit, tw_trbe_sr(el), unit->used[tw_trbe_sr(el)] | TW_TRBE_SR_WRAP);
    unit->counts.wraps++;
    unit->session_wraps++;
    tw_trbe_tell(unit, TW_TRBE_ON_EVENT, TW_TRBE_EVENT_TRB_WRAP, el);
    if (tw_trbe_has(unit, TW_TRBE_EXT))
        tw_trbe_tell(unit, TW_TRBE_ON_CTI_WRAP, 0, el);
    if (tw_trbe_fill_mode(unit) == TW_TRBE_FILL)
        tw_trbe_stop_other(unit, TW_TRBE_BSC_FILLED);
    else if (tw_trbe_fill_mode(unit) == TW_TRBE_WRAP)
        tw_trbe_manage(unit, el, 0, false);
}

static void advance(struct tw_trbe *unit, uint64_t size)
{
    if (size == 0)
        return;
    if (!unit->config.is_trigger_first) {
        move_pointer(unit, size);
        count_trigger(unit, size);
    } else {
        count_trigger(unit, size);
        /* Both at once: the trigger is recorded first, and its flush finds a stopped unit. */
        if (unit->is_flush_due && unit->used[TW_TRBE_PTR] + size == tw_trbe_limit(unit) &&
            tw_trbe_trigger_mode(unit) == TW_TRBE_STOP_ON_TRIGGER)
            tw_trbe_stop_other(unit, TW_TRBE_BSC_TRIGGER);
        move_pointer(unit, size);
    }
    unit->restart_pointer = unit->used[TW_TRBE_PTR];
}

static bool may_use_space(const struct tw_trbe *unit, uint64_t space)
{
    static const uint8_t needs[] = { TW_TRBE_AUTH_S, TW_TRBE_AUTH_NS, TW_TRBE_AUTH_RT,
                                     TW_TRBE_AUTH_RL };
    const bool exists = space == TW_TRBE_NON_SECURE ||
                        (space == TW_TRBE_SECURE_STATE && tw_trbe_has(unit, TW_TRBE_SECURE)) ||
                        (space >= TW_TRBE_ROOT && tw_trbe_has(unit, TW_TRBE_RME));

    return exists && (unit->authentication & needs[space]) != 0;
}

/* R_CMYYF, R_VVWKG */
static bool is_external_illegal(const struct tw_trbe *unit)
{
    const uint64_t mpam = unit->used[TW_TRBE_MPAM];

    if (!may_use_space(unit, tw_trbe_bits(unit->used[TW_TRBE_MAR], 10, 2)))
        return true;
    return tw_trbe_has(unit, TW_TRBE_MPAM_EXT) && mpam >> 26 & 1 &&
           !may_use_space(unit, tw_trbe_bits(mpam, 24, 2));
}

/* D6.4.3 */
static bool rejects(const struct tw_trbe *unit)
{
    return tw_trbe_has(unit, TW_TRBE_RME) && !tw_trbe_is_self_hosted(unit) &&
           !(unit->authentication & TW_TRBE_AUTH_RT) &&
           !(unit->used[TW_TRBE_GPCCR_EL3] & (GPCCR_GPC | GPCCR_TBGPCD));
}

/* What software must not do; of the allowed outcomes: no write, and an event that says so. */
static bool is_misprogrammed(struct tw_trbe *unit)
{
    if (tw_trbe_is_self_hosted(unit) && tw_trbe_has(unit, TW_TRBE_EL3)) {
        if (tw_trbe_owner_is_reserved(unit)) {
            tw_trbe_misuse(unit, "MDCR_EL3.{NSTBE,NSTB} selects no Security state");
            tw_trbe_stop_other(unit, TW_TRBE_BSC_NOT_ALLOWED);
            return true;
        }
        if (tw_trbe_security_at(unit, 1) != tw_trbe_owner_security(unit)) {
            tw_trbe_misuse(unit, "SCR_EL3 selects another Security state than the owner's");
            tw_trbe_stop_other(unit, TW_TRBE_BSC_NOT_ALLOWED);
            return true;
        }
    }
    if (tw_trbe_is_out_of_range(unit)) {
        tw_trbe_misuse(unit, "TRBPTR_EL1 is outside the buffer");
        tw_trbe_stop_other(unit, TW_TRBE_BSC_NOT_ALLOWED);
        return true;
    }
    if (unit->is_fault_start) {
        tw_trbe_misuse(unit, "TRBPTR_EL1 holds a fault value");
        tw_trbe_stop_other(unit, TW_TRBE_BSC_NOT_ALLOWED);
        return true;
    }
    if (unit->has_bad_pointer) {
        static const struct tw_trbe_fault fault = { .class_code = TW_TRBE_EC_STAGE1,
                                                    .status = 0x21 };

        tw_trbe_misuse(unit, "TRBPTR_EL1 is not aligned");
        tw_trbe_report(unit, &fault);
        return true;
    }
    return false;
}

/* Bytes until something may happen: the wrap, the end of the count. */
static size_t run_length(const struct tw_trbe *unit, size_t size)
{
    const uint64_t left = tw_trbe_limit(unit) - unit->used[TW_TRBE_PTR];
    const uint64_t count = unit->used[TW_TRBE_TRG];

    if (left < size)
        size = (size_t)left;
    if (count && unit->used[recorder(unit)] & TW_TRBE_SR_TRG && count < size)
        size = (size_t)count;
    return size;
}

/* Returns how many bytes are dealt with; 0: rejected. */
static size_t take_run(struct tw_trbe *unit, const uint8_t *bytes, size_t size)
{
    enum tw_trbe_reply reply;
    size_t run;

    if (!tw_trbe_is_enabled(unit)) {
        unit->counts.disabled += size;
        if (unit->config.sink)
            unit->config.sink(unit->config.context, bytes, size);
        return size;
    }
    unit->is_finished = unit->is_complete = unit->is_visible = unit->is_abort_visible = false;
    if (!tw_trbe_is_running(unit)) {
        unit->counts.discarded += size;
        return size;
    }
    if (rejects(unit))
        return 0;
    if (!tw_trbe_is_self_hosted(unit) && is_external_illegal(unit)) {
        tw_trbe_stop_other(unit, TW_TRBE_BSC_NOT_ALLOWED);
        unit->counts.discarded++;
        return 1;
    }
    if (is_misprogrammed(unit)) {
        unit->counts.discarded++;
        return 1;
    }
    run = run_length(unit, size);
    reply = tw_trbe_store_bytes(unit, bytes, &run);
    unit->counts.accepted += run;
    advance(unit, run);
    if (reply != TW_TRBE_FAULT)
        return run;
    unit->counts.discarded++;
    return run + 1;
}

static void end_flush(struct tw_trbe *unit)
{
    if (tw_trbe_trigger_mode(unit) == TW_TRBE_STOP_ON_TRIGGER)
        tw_trbe_stop_other(unit, TW_TRBE_BSC_TRIGGER);
    else
        tw_trbe_manage(unit, tw_trbe_recorder(unit, NULL), 0, false);
}

/* The trace unit gives up what it holds; bytes that are refused are lost to it. */
static void flush_source(struct tw_trbe *unit)
{
    uint8_t bytes[FLUSH_ROOM];
    size_t total = 0;

    unit->counts.flushes++;
    tw_trbe_tell(unit, TW_TRBE_ON_FLUSH, 0, 0);
    while (unit->config.flush && total < FLUSH_MOST) {
        size_t size = unit->config.flush(unit->config.context, bytes, sizeof bytes);
        size_t at = 0;

        if (size == 0)
            break;
        if (size > sizeof bytes)
            size = sizeof bytes;
        while (at < size) {
            const size_t taken = take_run(unit, bytes + at, size - at);

            if (taken == 0)
                break;
            at += taken;
        }
        unit->counts.rejected += size - at;
        total += size;
    }
}

/* Flushes that Trigger Events asked for: never inside the byte that made the event. */
static void drain_flushes(struct tw_trbe *unit)
{
    if (unit->is_flushing)
        return;
    unit->is_flushing = true;
    while (unit->is_flush_due) {
        unit->is_flush_due = false;
        flush_source(unit);
        end_flush(unit);
    }
    unit->is_flushing = false;
}

/* The flush of a TSB CSYNC or ManStop: no management event of its own. */
void tw_trbe_flush_all(struct tw_trbe *unit)
{
    if (!tw_trbe_is_enabled(unit))
        return;
    unit->is_flushing = true;
    flush_source(unit);
    unit->is_flushing = false;
    drain_flushes(unit);
}

static size_t take_all(struct tw_trbe *unit, const uint8_t *bytes, size_t size)
{
    size_t at = 0;

    while (at < size) {
        const size_t taken = take_run(unit, bytes + at, size - at);

        if (taken == 0)
            break;
        at += taken;
        drain_flushes(unit);
    }
    tw_trbe_lines(unit);
    return at;
}

/* Trace that waited.  I_TRWFM: it was made while the unit was enabled; if it is not any more, the
   trace is discarded, with an event. */
void tw_trbe_process_queue(struct tw_trbe *unit)
{
    while (unit->queue_count) {
        const uint32_t room = unit->config.queue;
        const uint32_t whole = room - unit->queue_first;
        const uint32_t size = unit->queue_count < whole ? unit->queue_count : whole;
        size_t taken = size;

        if (tw_trbe_is_enabled(unit)) {
            taken = take_all(unit, unit->queue + unit->queue_first, size);
            if (taken == 0)
                return;
        } else {
            tw_trbe_misuse(unit, "trace of earlier code reached a unit that was disabled");
            tw_trbe_stop_other(unit, TW_TRBE_BSC_NOT_ALLOWED);
            unit->counts.discarded += size;
            tw_trbe_lines(unit);
        }
        unit->queue_first = (unit->queue_first + (uint32_t)taken) % room;
        unit->queue_count -= (uint32_t)taken;
    }
}

static size_t enqueue(struct tw_trbe *unit, const uint8_t *bytes, size_t size)
{
    const uint32_t room = unit->config.queue;

    for (size_t i = 0; i < size; i++) {
        if (unit->queue_count == room)
            tw_trbe_process_queue(unit);
        if (unit->queue_count == room)
            return i;
        unit->queue[(unit->queue_first + unit->queue_count) % room] = bytes[i];
        unit->queue_count++;
    }
    unit->is_finished = unit->is_complete = unit->is_visible = unit->is_abort_visible = false;
    return size;
}

size_t tw_trbe_collect(struct tw_trbe *unit, const uint8_t *bytes, size_t size, bool is_earlier)
{
    size_t taken;

    if (unit->is_silent || (!is_earlier && !tw_trbe_is_allowed_at(unit, unit->el))) {
        unit->counts.prohibited += size;
        return size;
    }
    if (unit->config.timing == TW_TRBE_LATE && tw_trbe_is_enabled(unit))
        taken = enqueue(unit, bytes, size);
    else
        taken = take_all(unit, bytes, size);
    unit->counts.rejected += size - taken;
    return taken;
}

/* R_KSQJW, R_DHLQG */
void tw_trbe_trigger(struct tw_trbe *unit)
{
    enum tw_trbe_register name;

    if (unit->is_silent)
        return;
    tw_trbe_process_queue(unit);
    if (!tw_trbe_is_enabled(unit))
        return;
    unit->counts.triggers++;
    tw_trbe_tell(unit, TW_TRBE_ON_TRIGGER, 0, 0);
    name = recorder(unit);
    if (unit->used[name] & TW_TRBE_SR_TRG)
        return;
    tw_trbe_indirect(unit, name, unit->used[name] | TW_TRBE_SR_TRG);
    if (unit->used[TW_TRBE_TRG] == 0) {
        trigger_event(unit);
    } else if (unit->config.counts_whole_units) {
        /* R_QFGNQ: the unit of bytes that is being gathered counts in full. */
        const uint64_t begun =
            unit->used[TW_TRBE_PTR] & (((uint64_t)1 << unit->config.align) - 1);
        const uint64_t count = unit->used[TW_TRBE_TRG];

        count_trigger(unit, begun < count ? begun : count);
    }
    drain_flushes(unit);
    tw_trbe_lines(unit);
}
