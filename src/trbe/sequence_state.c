/* SPDX-License-Identifier: BSD-2-Clause */
/* Barriers, exceptions and trace regions, as the sequence checker follows them. */
#include "trbe/sequence.h"

enum { MAY_TRACE_EL0 = 1, MAY_TRACE_EL1 = 2 };

bool tw_seq_is_prohibited(const struct checker *c, const struct filter filters[2])
{
    const struct filter *filter = &filters[c->el == 2];
    const uint64_t bit = c->el == 0 ? MAY_TRACE_EL0 : MAY_TRACE_EL1;

    if (c->is_halted || c->is_forgiven || c->el == 3)
        return true;
    if (c->owner_el && c->el > c->owner_el && c->buffer == BUFFER_ON)
        return true;
    if (filter->known & bit)
        return !(filter->bits & bit);
    return filter->is_assumed;
}

/* The trace unit is not known to be off. */
bool tw_seq_unit_may_run(const struct checker *c)
{
    return !c->is_locked &&
           (c->unit == UNIT_UNKNOWN || c->unit == UNIT_ENABLING || c->unit == UNIT_RUNNING);
}

/* Off since a drain, with an event after: as good as polled, if nobody began to poll. */
bool tw_seq_is_settled(const struct checker *c)
{
    return c->unit == UNIT_DISABLING && c->tsb && !c->disable_pending && !c->has_read_status;
}

static void forget_drain(struct checker *c)
{
    c->tsb = c->dsb = 0;
    c->is_seen = c->is_abort_seen = false;
}

void tw_seq_synchronize(struct checker *c)
{
    for (int i = 0; i < 2; i++)
        c->effective[i] = c->direct[i];
    c->trc_pending = c->trb_pending = c->vmsa_pending = c->filter_pending = 0;
    c->enable_pending = c->disable_pending = c->unlock_pending = 0;
    c->buffer_on_pending = c->buffer_off_pending = 0;
    c->status_pending = c->memory_unsynced = 0;
    c->has_synchronized = true;
    c->is_seen = c->tsb != 0;
    c->is_abort_seen = c->dsb != 0;
    c->is_quiet = tw_seq_is_prohibited(c, c->effective) || !tw_seq_unit_may_run(c);
    if (c->is_quiet)
        return;
    forget_drain(c);
    c->is_active = true;
}

void tw_seq_tsb(struct checker *c)
{
    const bool may_run = tw_seq_unit_may_run(c);

    if (c->is_halted) {
        if (may_run)
            tw_seq_find(c, 0, RULE_TS14, "",
                        "TSB CSYNC in Debug state while the trace unit may be enabled");
    } else if (c->is_active && !c->is_quiet) {
        if (tw_seq_is_prohibited(c, c->direct) || !may_run) {
            const uint32_t cause = c->filter_pending ? c->filter_pending : c->disable_pending;

            tw_seq_find(c, cause, RULE_TS6, "TS7 TS8",
                        "TSB CSYNC before a context synchronization event has made line %u act",
                        cause);
        } else {
            tw_seq_find(
                c, 0, RULE_TS6, "",
                "TSB CSYNC where trace is not known to be prohibited, and the trace unit "
                "may be enabled");
        }
        c->is_forgiven = c->is_quiet = true;
    }
    forget_drain(c);
    c->tsb = c->line;
    c->undrained = 0;
}

void tw_seq_dsb(struct checker *c)
{
    if (c->tsb) {
        c->dsb = c->line;
        c->is_abort_seen = false;
    }
    if (c->memory_pending) {
        c->memory_unsynced = c->memory_pending;
        c->memory_pending = 0;
    }
}

bool tw_seq_must_be_drained(struct checker *c, enum rule_index rule, const char *what)
{
    if (!c->is_active || c->tsb)
        return true;
    tw_seq_find(
        c, c->undrained, rule, "",
        "%s while trace of earlier code may still be on its way: no TSB CSYNC came before",
        what);
    c->tsb = c->line; /* once is enough */
    c->undrained = 0;
    return false;
}

void tw_seq_exception(struct checker *c, uint8_t el)
{
    c->el = el <= 3 ? el : c->el ? c->el : 1;
    /* Where nothing is known of the filter, an exception is taken out of the traced region. */
    c->direct[c->el == 2].is_assumed = true;
    tw_seq_synchronize(c);
}

/* Maintenance that buffer writes of the code to come must see. */
static void check_memory(struct checker *c, bool has_event)
{
    const uint32_t cause = c->memory_pending ? c->memory_pending
                           : has_event       ? 0
                                             : c->memory_unsynced;

    if (!cause || c->buffer == BUFFER_OFF)
        return;
    tw_seq_find(
        c, cause, RULE_TS10, "", "trace is made, but the maintenance at line %u is not %s",
        cause, c->memory_pending ? "completed by a DSB" : "followed by an event after its DSB");
    c->memory_pending = c->memory_unsynced = 0;
}

static void start_tracing(struct checker *c)
{
    if (c->is_quiet)
        return;
    if (c->unit == UNIT_ENABLING)
        c->unit = UNIT_RUNNING;
    c->is_active = true;
}

void tw_seq_return(struct checker *c, uint8_t el)
{
    c->el = el <= 3 ? el : c->el > 1 ? (uint8_t)(c->el - 1) : 0;
    c->direct[0].is_assumed = c->direct[1].is_assumed = false;
    c->is_forgiven = false;
    if (!tw_seq_is_prohibited(c, c->direct) && tw_seq_unit_may_run(c))
        check_memory(c, true);
    tw_seq_synchronize(c);
    start_tracing(c);
}

/* Code that is to be traced begins here, without an event of its own. */
void tw_seq_traced(struct checker *c)
{
    const uint32_t pending[] = { c->unlock_pending, c->buffer_on_pending, c->enable_pending,
                                 c->trc_pending,    c->trb_pending,       c->vmsa_pending };
    uint32_t cause = 0;

    for (size_t i = 0; i < TW_LENGTH(pending); i++)
        if (pending[i] > cause)
            cause = pending[i];
    if (cause)
        tw_seq_find(c, cause, RULE_TS1, "",
                    "traced code begins, but no context synchronization event made line %u act",
                    cause);
    if (c->filter_pending)
        tw_seq_find(
            c, c->filter_pending, RULE_TS8, "TS1",
            "traced code begins, but no context synchronization event made the filter at "
            "line %u act",
            c->filter_pending);
    check_memory(c, false);
    c->is_forgiven = false;
    tw_seq_synchronize(c);
    start_tracing(c);
}

void tw_seq_assume(struct checker *c, const struct step *step)
{
    const uint64_t both = MAY_TRACE_EL0 | MAY_TRACE_EL1;

    switch (step->op) {
    case ASSUME_PROHIBITED:
        for (int i = 0; i < 2; i++)
            c->direct[i] = c->effective[i] = (struct filter){ .is_assumed = true };
        c->is_quiet = true;
        break;
    case ASSUME_ALLOWED:
        for (int i = 0; i < 2; i++)
            c->direct[i] = c->effective[i] = (struct filter){ .known = both, .bits = both };
        c->is_quiet = !tw_seq_unit_may_run(c);
        break;
    case ASSUME_DRAINED:
        c->is_active = false;
        break;
    case ASSUME_UNIT_ENABLED:
        c->unit = UNIT_RUNNING;
        c->is_active = c->buffer != BUFFER_OFF;
        break;
    case ASSUME_UNIT_IDLE:
        c->unit = UNIT_IDLE;
        c->is_active = false;
        break;
    case ASSUME_BUFFER_ENABLED:
        c->buffer = BUFFER_ON;
        c->is_active = c->unit != UNIT_IDLE;
        break;
    case ASSUME_BUFFER_DISABLED:
        c->buffer = BUFFER_OFF;
        c->is_active = false;
        break;
    case ASSUME_EL:
        c->el = step->el;
        break;
    default:
        c->owner_el = step->el;
        break;
    }
}

/* What the first switch of the trace unit and of the buffer tells of the state before it. */
struct outlook {
    int enable, lock, buffer; /* -1: none; 0, 1; 2: not known */
    bool is_lock_first, has_tsb_before_enable, has_tsb_before_buffer;
};

static int switch_value(const struct values *values, const struct step *step)
{
    const struct value value = tw_seq_get(values, step->rd);

    if (step->has_value)
        return (int)(step->value & 1);
    return value.known & 1 ? (int)(value.bits & 1) : 2;
}

static struct outlook look_ahead(const struct checker *c)
{
    struct outlook out = { .enable = -1, .lock = -1, .buffer = -1 };
    struct values values = { 0 };
    bool has_tsb = false;

    for (size_t i = 0; i < GENERAL_REGISTERS; i++)
        values.x[i].mask = ~(uint64_t)0;
    for (size_t i = c->at; i < c->count && c->steps[i].kind != STEP_BEGIN; i++) {
        const struct step *step = &c->steps[i];

        tw_seq_follow(&values, step);
        has_tsb |= step->kind == STEP_TSB;
        if (step->kind == STEP_MRS)
            tw_seq_set(&values, step->rd, (struct value){ .mask = ~(uint64_t)0 });
        if ((step->kind == STEP_RESTORE_UNIT && step->more && out.enable < 0) ||
            (step->kind == STEP_MSR && step->class_code == REG_TRCPRGCTLR && out.enable < 0)) {
            out.enable = step->kind == STEP_MSR ? switch_value(&values, step) : 2;
            out.has_tsb_before_enable = has_tsb;
        }
        if (step->kind != STEP_MSR)
            continue;
        if (step->class_code == REG_OSLAR && out.lock < 0) {
            out.lock = switch_value(&values, step);
            out.is_lock_first = out.enable < 0;
        }
        if (step->class_code == REG_TRBLIMITR && out.buffer < 0) {
            out.buffer = switch_value(&values, step);
            out.has_tsb_before_buffer = has_tsb;
        }
    }
    return out;
}

void tw_seq_begin(struct checker *c)
{
    const struct outlook out = look_ahead(c);
    const struct checker fresh = { .out = c->out,
                                   .is_strict = c->is_strict,
                                   .steps = c->steps,
                                   .count = c->count,
                                   .at = c->at,
                                   .line = c->line,
                                   .el = 1 };

    *c = fresh;
    for (size_t i = 0; i < GENERAL_REGISTERS; i++)
        c->values.x[i].mask = ~(uint64_t)0;
    if ((out.lock == 0 && out.is_lock_first) ||
        (out.lock != 1 && out.lock >= 0 && out.enable == 2)) {
        c->is_locked = true;
        c->unit = UNIT_IDLE;
    } else if (out.lock > 0 && out.is_lock_first) {
        c->unit = UNIT_RUNNING;
    } else if (out.enable >= 0) {
        c->unit = out.enable == 0 || out.has_tsb_before_enable ? UNIT_RUNNING : UNIT_IDLE;
    }
    if (out.buffer >= 0)
        c->buffer = out.buffer == 0 || out.has_tsb_before_buffer ? BUFFER_ON : BUFFER_OFF;
    c->is_active = c->unit != UNIT_IDLE && c->buffer != BUFFER_OFF;
    c->is_quiet = c->unit == UNIT_IDLE;
}

/* What must not be left open. */
void tw_seq_end(struct checker *c)
{
    uint32_t line =
        c->enable_pending > c->buffer_on_pending ? c->enable_pending : c->buffer_on_pending;

    if (c->unlock_pending > line)
        line = c->unlock_pending;
    if (line) {
        c->line = line;
        tw_seq_find(
            c, 0, RULE_TS1, "",
            "the sequence ends without a context synchronization event that makes this act");
    }
    if (c->filter_pending && !tw_seq_is_prohibited(c, c->direct) &&
        (c->unit == UNIT_RUNNING || c->unit == UNIT_ENABLING) && !c->is_locked) {
        c->line = c->filter_pending;
        tw_seq_find(c, 0, RULE_TS8, "TS1",
                    "the sequence ends without a context synchronization event that makes the "
                    "filter act");
    }
    if (c->undrained) {
        c->line = c->undrained;
        tw_seq_find(c, 0, RULE_TS2, "",
                    "the trace unit is switched off, but no TSB CSYNC drains its trace");
    }
}
