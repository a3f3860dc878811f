/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules on register accesses, polling loops and uses of the buffer. */
#include <string.h>

#include "trbe/sequence.h"

/* Steps that a loop, or a look ahead, may span. */
enum { FAR = 4096 };

static bool is_set(struct value value, unsigned bit)
{
    return (value.known & value.bits) >> bit & 1;
}

static bool is_clear(struct value value, unsigned bit)
{
    return (value.known & ~value.bits) >> bit & 1;
}

/* TRCPRGCTLR.EN = 0, or the OS Lock. */
static void switch_off(struct checker *c, const char *name, bool is_lock)
{
    if (!is_lock)
        c->runs_unlocked = false;
    /* What is off already does not change (R_MDZDN speaks of a change). */
    if (c->is_enable_guessed && !is_lock)
        c->unit = UNIT_IDLE;
    c->is_enable_guessed = false;
    if (c->unit == UNIT_IDLE && !is_lock)
        return;
    if (c->unit == UNIT_ENABLING)
        tw_seq_find(c, c->enable_pending, RULE_TS19, "",
                    "%s switches the trace unit off before it was seen to run", name);
    if (c->unit != UNIT_IDLE && c->is_active && !c->tsb) {
        if (tw_seq_is_prohibited(c, c->effective) && c->has_synchronized && !c->is_halted)
            (void)tw_seq_must_be_drained(c, RULE_TS2, name);
        else
            c->undrained = c->line;
    }
    if (c->unit != UNIT_IDLE)
        c->unit = UNIT_DISABLING;
    c->is_disabled_by_lock = is_lock;
    c->disable_pending = c->line;
    c->enable_pending = 0;
    c->has_read_status = false;
}

static void check_sink_first(struct checker *c)
{
    const uint64_t bit = c->el == 0 ? 1 : 2;
    const struct filter *filter = &c->effective[c->el == 2];

    if (c->buffer != BUFFER_OFF || !(filter->known & filter->bits & bit))
        return;
    for (size_t i = c->at + 1; i < c->count && i < c->at + FAR; i++) {
        if (c->steps[i].kind == STEP_BEGIN)
            return;
        if (c->steps[i].kind == STEP_MSR && c->steps[i].class_code == REG_TRBLIMITR) {
            tw_seq_find(
                c, c->steps[i].line, RULE_I3, "",
                "the trace unit is enabled before the Trace Buffer Unit, where trace is "
                "allowed");
            return;
        }
    }
}

static void switch_on(struct checker *c)
{
    if (!c->is_locked) {
        if ((c->unit == UNIT_DISABLING || c->unit == UNIT_STABLE) && !tw_seq_is_settled(c))
            tw_seq_find(c, c->disable_pending, RULE_TS19, "",
                        "the trace unit is enabled before it was seen to be idle");
        if (c->trc_pending || !c->has_synchronized) {
            tw_seq_find(
                c, c->trc_pending, RULE_TS1, "",
                "the trace unit is enabled, but no context synchronization event made its "
                "registers act");
            c->trc_pending = 0;
            c->has_synchronized = true;
        }
        check_sink_first(c);
        if (c->unit != UNIT_RUNNING)
            c->unit = UNIT_ENABLING;
        c->enable_pending = c->line;
    }
    c->runs_unlocked = true;
    c->is_enable_guessed = false;
    c->disable_pending = 0;
    c->has_read_status = false;
}

static void write_enable(struct checker *c, struct value value)
{
    /* A value that is not known is taken as the one that makes sense here. */
    const bool is_off = c->unit == UNIT_IDLE || c->unit == UNIT_DISABLING ||
                        c->unit == UNIT_STABLE || c->unit == UNIT_ENABLING;

    if (is_set(value, 0) || (!is_clear(value, 0) && is_off))
        switch_on(c);
    else
        switch_off(c, "TRCPRGCTLR.EN = 0", false);
}

static void write_lock(struct checker *c, struct value value)
{
    /* A value that is not known changes what is. */
    if (is_set(value, 0) || (!is_clear(value, 0) && !c->is_locked)) {
        c->runs_unlocked =
            c->unit != UNIT_IDLE && c->unit != UNIT_DISABLING && c->unit != UNIT_STABLE;
        switch_off(c, "the OS Lock", true);
        c->is_locked = true;
        c->unlock_pending = 0;
    } else if (c->is_locked) {
        c->is_locked = false;
        /* Whether it is enabled is not known where nothing was said of it: a write of 0 tells. */
        c->is_enable_guessed = !c->runs_unlocked;
        c->unit = UNIT_ENABLING;
        c->unlock_pending = c->line;
        c->disable_pending = 0;
    }
}

static void write_trc(struct checker *c, const char *name)
{
    if (!c->is_locked && c->unit != UNIT_UNKNOWN && c->unit != UNIT_IDLE &&
        !tw_seq_is_settled(c)) {
        tw_seq_find(c, c->enable_pending ? c->enable_pending : c->disable_pending, RULE_TS18,
                    "", "%s is written while the trace unit %s", name,
                    c->unit == UNIT_DISABLING || c->unit == UNIT_STABLE
                        ? "was not seen to be idle"
                        : "is enabled");
        return;
    }
    c->trc_pending = c->line;
}

/* TRB registers other than TRBLIMITR, or TRBLIMITR without a change of E. */
static void write_trb(struct checker *c, const char *name)
{
    if (c->buffer == BUFFER_ON) {
        tw_seq_find(c, c->buffer_on_pending, RULE_TS9, "",
                    "%s is written while the Trace Buffer Unit is enabled: it may ignore that",
                    name);
        return;
    }
    if (c->buffer_off_pending) {
        tw_seq_find(
            c, c->buffer_off_pending, RULE_TS9, "",
            "%s is written, but no context synchronization event follows the disable at "
            "line %u",
            name, c->buffer_off_pending);
        c->buffer_off_pending = 0;
    } else {
        (void)tw_seq_must_be_drained(c, RULE_TS2, name);
    }
    c->trb_pending = c->line;
}

static void buffer_on(struct checker *c)
{
    const uint32_t trb = c->trb_pending ? c->trb_pending : c->buffer_off_pending;
    const uint32_t memory = c->memory_pending ? c->memory_pending : c->memory_unsynced;

    if (trb) {
        tw_seq_find(
            c, trb, RULE_TS9, c->vmsa_pending ? "TS1 TS11" : "TS1",
            "TRBLIMITR_EL1.E is set, but no context synchronization event follows the write "
            "at line %u",
            trb);
        c->trc_pending = 0; /* the same event would serve */
        c->has_synchronized = true;
    } else if (c->vmsa_pending) {
        tw_seq_find(c, c->vmsa_pending, RULE_TS11, "TS1",
                    "TRBLIMITR_EL1.E is set, but no context synchronization event follows the "
                    "translation registers at line %u",
                    c->vmsa_pending);
    }
    if (c->memory_pending || (memory && !trb))
        tw_seq_find(c, memory, RULE_TS10, "",
                    "TRBLIMITR_EL1.E is set, but the maintenance at line %u lacks %s", memory,
                    c->memory_pending ? "a DSB and an event after it"
                                      : "an event after its DSB");
    c->trb_pending = c->vmsa_pending = c->buffer_off_pending = 0;
    c->memory_pending = c->memory_unsynced = 0;
    tw_seq_check_owner(c);
    c->buffer = BUFFER_ON;
    c->buffer_on_pending = c->line;
}

static void write_limitr(struct checker *c, struct value value)
{
    const bool is_off = c->buffer == BUFFER_OFF;

    if (is_set(value, 0) || (!is_clear(value, 0) && is_off)) {
        if (c->buffer == BUFFER_ON)
            write_trb(c, "TRBLIMITR_EL1");
        else
            buffer_on(c);
    } else if (is_off) {
        write_trb(c, "TRBLIMITR_EL1");
    } else {
        (void)tw_seq_must_be_drained(c, RULE_TS2, "TRBLIMITR_EL1.E is cleared");
        c->buffer = BUFFER_OFF;
        c->buffer_off_pending = c->off_line = c->line;
        c->moved_line = 0;
        c->buffer_on_pending = 0;
    }
}

static void write_filter(struct checker *c, uint8_t el, struct value value, const char *name)
{
    const bool is_host = c->el == 2 && strcmp(name, "TRFCR_EL1") == 0;
    struct filter *filter = &c->direct[el == 2 || is_host];

    c->is_forgiven = false;
    *filter = (struct filter){ .known = value.known, .bits = value.bits & value.known };
    if (c->disable_pending && !tw_seq_is_prohibited(c, c->direct) &&
        tw_seq_is_prohibited(c, c->effective)) {
        tw_seq_find(c, c->disable_pending, RULE_TS8, "DIS6",
                    "trace is allowed again before a context synchronization event made the "
                    "switch-off at line %u act",
                    c->disable_pending);
        return;
    }
    c->filter_pending = c->line;
}

/* Not known to be off, while there is trace. */
static bool may_be_on(const struct checker *c)
{
    return c->buffer == BUFFER_ON || (c->buffer == BUFFER_UNKNOWN && c->is_active);
}

static void write_tables(struct checker *c, uint8_t el, const char *name)
{
    const bool is_owners =
        c->owner_el == 2 ? el == 2 || (el == 1 && c->el == 2) : el == 1 || el == 0;

    if (!is_owners)
        return;
    if (may_be_on(c)) {
        tw_seq_find(c, c->buffer_on_pending, RULE_TS11, "",
                    "%s is changed while the Trace Buffer Unit is enabled", name);
        return;
    }
    if (c->buffer_off_pending) {
        tw_seq_find(
            c, c->buffer_off_pending, RULE_TS11, "TS9",
            "%s is changed, but no context synchronization event follows the disable at "
            "line %u",
            name, c->buffer_off_pending);
        c->buffer_off_pending = 0;
    }
    c->vmsa_pending = c->line;
}

/* SCR_EL3, MDCR_EL3 and MDCR_EL2: a change of who owns the buffer. */
static void write_owner(struct checker *c, uint8_t class_code, struct value value,
                        const char *name)
{
    const uint64_t fields = class_code == REG_SCR_EL3    ? (uint64_t)1 << 62 | 1
                            : class_code == REG_MDCR_EL3 ? 0x7000000
                                                         : 0x3000000;

    tw_seq_note_owner(c, class_code, value);
    /* Read, changed elsewhere, written back. */
    if (value.origin == class_code && !(value.known & fields) &&
        (value.mask & fields) == fields)
        return;
    if (may_be_on(c)) {
        if (tw_seq_must_be_drained(c, RULE_TS12, name))
            tw_seq_find(c, c->buffer_on_pending, RULE_TS12, "",
                        "%s is changed while the Trace Buffer Unit is enabled", name);
        c->buffer = BUFFER_OFF; /* once is enough */
        return;
    }
    if (c->buffer_off_pending) {
        tw_seq_find(
            c, c->buffer_off_pending, RULE_TS12, "TS9",
            "%s is changed, but no context synchronization event follows the disable at "
            "line %u",
            name, c->buffer_off_pending);
        c->buffer_off_pending = 0;
        return;
    }
    (void)tw_seq_must_be_drained(c, RULE_TS12, name);
}

void tw_seq_write(struct checker *c, uint8_t class_code, uint8_t el, struct value value,
                  const char *name)
{
    switch (class_code) {
    case REG_TRC:
    case REG_TRC_STATUS:
        write_trc(c, name);
        break;
    case REG_TRCPRGCTLR:
        write_enable(c, value);
        break;
    case REG_TRBLIMITR:
        write_limitr(c, value);
        break;
    case REG_TRBPTR:
    case REG_TRBSR:
    case REG_TRBTRG:
    case REG_TRB:
        write_trb(c, name);
        break;
    case REG_TRFCR:
        write_filter(c, el, value, name);
        break;
    case REG_VMSA:
        write_tables(c, el, name);
        break;
    case REG_SCR_EL3:
    case REG_MDCR_EL3:
    case REG_MDCR_EL2:
        write_owner(c, class_code, value, name);
        break;
    case REG_OSLAR:
        write_lock(c, value);
        break;
    default:
        break;
    }
}

/* What trace wrote must be visible: an event, TSB CSYNC, an event. */
static bool check_visible(struct checker *c, const char *name)
{
    if (!c->is_active || (c->tsb && c->is_seen))
        return true;
    if (c->tsb)
        tw_seq_find(c, c->tsb, RULE_TS3, "",
                    "%s is read, but no context synchronization event follows the TSB CSYNC at "
                    "line %u",
                    name, c->tsb);
    else
        tw_seq_find(
            c, c->undrained, RULE_TS3, "",
            "%s is read while trace of earlier code may still change it: no TSB CSYNC came "
            "before",
            name);
    if (!c->tsb)
        c->tsb = c->line;
    c->undrained = 0;
    tw_seq_synchronize(c); /* go on as if it were there */
    return false;
}

static void read_unit(struct checker *c, const char *name)
{
    /* Not known, but drained here: it is in use, and nobody switched it off. */
    if (tw_seq_unit_may_run(c) && (c->unit != UNIT_UNKNOWN || (c->tsb && c->is_active))) {
        tw_seq_find(c, c->enable_pending, RULE_O4, "TS18",
                    "%s cannot be read while the trace unit is enabled", name);
        c->unit = UNIT_IDLE; /* once is enough */
        c->is_quiet = true;
        return;
    }
    if (!check_visible(c, name))
        return;
    if (c->unit == UNIT_DISABLING && !tw_seq_is_settled(c)) {
        tw_seq_find(c, c->disable_pending, RULE_SAVE7, "TS18",
                    "%s is read before the trace unit was seen to be stable", name);
        c->unit = UNIT_STABLE;
    }
}

static void read_status(struct checker *c)
{
    const uint32_t written = c->enable_pending    ? c->enable_pending
                             : c->disable_pending ? c->disable_pending
                                                  : c->unlock_pending;

    if (written || c->status_pending) {
        tw_seq_find(
            c, written ? written : c->status_pending, RULE_TS17, "",
            "TRCSTATR is read, but no context synchronization event follows %s at line %u",
            written ? "the write" : "the read before", written ? written : c->status_pending);
        c->status_reported = c->line;
        tw_seq_synchronize(c); /* go on as if the event were there */
    }
    c->status_pending = c->line;
    c->has_read_status = true;
}

void tw_seq_read(struct checker *c, uint8_t class_code, const char *name)
{
    switch (class_code) {
    case REG_TRC:
    case REG_TRC_STATUS:
        read_unit(c, name);
        break;
    case REG_TRCSTATR:
        read_status(c);
        break;
    case REG_TRBPTR:
    case REG_TRBSR:
    case REG_TRBTRG:
        if (check_visible(c, name) && c->is_active && c->dsb && !c->is_abort_seen &&
            class_code != REG_TRBTRG) {
            tw_seq_find(
                c, c->dsb, RULE_TS5, "",
                "%s is read, but no context synchronization event follows the DSB at line "
                "%u: an External abort may be missed",
                name, c->dsb);
            tw_seq_synchronize(c);
        }
        break;
    default:
        break;
    }
}

void tw_seq_read_buffer(struct checker *c)
{
    if (!c->is_active || c->dsb)
        return;
    if (c->tsb)
        tw_seq_find(c, c->tsb, RULE_TS4, c->is_halted ? "TS7 TS14" : "TS7",
                    "the buffer is read, but no DSB follows the TSB CSYNC at line %u", c->tsb);
    else
        tw_seq_find(c, 0, RULE_TS4, "TS6",
                    "the buffer is read while trace may still be on its way: no TSB CSYNC came "
                    "before");
    c->tsb = c->tsb ? c->tsb : c->line;
    c->dsb = c->line;
}

static void judge_wait(struct checker *c, struct wait wait)
{
    if (c->unit == UNIT_ENABLING) {
        if (wait.idle != 0)
            tw_seq_find(c, 0, RULE_EN4, "",
                        "the loop waits for %s, not for TRCSTATR.IDLE (bit 0) to be 0",
                        wait.pmstable >= 0 ? "TRCSTATR.PMSTABLE (bit 1)" : "something else");
        c->unit = UNIT_RUNNING;
    } else if (c->unit == UNIT_DISABLING || c->unit == UNIT_STABLE) {
        /* The OS Lock makes the unit stable, and idle some time later: each wait is right there. */
        const bool is_enough = c->is_disabled_by_lock || c->unit == UNIT_STABLE
                                   ? wait.idle == 1 || wait.pmstable == 1
                                   : wait.idle == 1 && wait.pmstable == 1;

        if (wait.idle == 0 || wait.pmstable == 0 || !is_enough) {
            tw_seq_find(c, 0, RULE_DIS5, "",
                        "the loop does not wait for TRCSTATR.IDLE and PMSTABLE to be 1");
            c->unit = UNIT_IDLE;
        } else {
            c->unit = wait.idle == 1 ? UNIT_IDLE : UNIT_STABLE;
        }
    } else if (c->unit == UNIT_UNKNOWN && wait.idle >= 0) {
        c->unit = wait.idle ? UNIT_IDLE : UNIT_RUNNING;
    }
}

static bool is_event(uint8_t kind)
{
    return kind == STEP_CSE || kind == STEP_EXCEPTION || kind == STEP_ERET || kind == STEP_CALL;
}

/* The body of a loop, from its label to the branch back. */
static void check_body(struct checker *c, const struct step *branch)
{
    uint32_t read = 0;
    bool has_event = false;
    unsigned branches = 0;

    for (size_t i = branch->target; i <= c->at; i++) {
        const struct step *step = &c->steps[i];

        has_event |= is_event(step->kind);
        branches += step->kind == STEP_BRANCH;
        if (step->kind == STEP_MRS && step->class_code == REG_TRCSTATR)
            read = step->line;
    }
    if (read && !has_event && c->status_reported != read) {
        const uint32_t line = c->line;

        c->line = read;
        tw_seq_find(c, 0, RULE_TS17, "",
                    "TRCSTATR is read in a loop that has no context synchronization event");
        c->line = line;
    }
    if (read && c->is_strict && branches == 1)
        tw_seq_find(c, 0, RULE_POLL, "", "the loop on TRCSTATR has no bound");
}

void tw_seq_poll(struct checker *c, const struct step *branch)
{
    struct wait wait;
    const bool is_back =
        branch->target != NO_STEP && branch->target <= c->at && c->at - branch->target < FAR;
    const bool is_exit = !is_back && !tw_seq_falls_out(c, branch);
    const bool is_test = branch->op != OP_JUMP && branch->op != OP_BANY &&
                         tw_seq_loop_wait(&c->values, &wait, branch, is_exit);

    if (!is_back) {
        if (is_test) {
            c->exit_wait = wait;
            c->has_exit_wait = true;
        } else if (branch->op == OP_JUMP) {
            c->has_exit_wait = false;
        }
        return;
    }
    /* The way out may be a branch forward, with a jump or a count-down behind it. */
    if (!is_test && !c->has_exit_wait)
        return;
    check_body(c, branch);
    judge_wait(c, is_test ? wait : c->exit_wait);
    c->has_exit_wait = false;
}
