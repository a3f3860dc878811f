/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the sequence checker over the steps, and keeps what it finds. */
#include "trbe/sequence.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "trctl/sequence.h"

enum { TEXT_ROOM = 240, FINDINGS_MOST = 100000 };

static void keep(struct tw_sequence *out, struct tw_sequence_finding finding,
                 const struct tw_sequence_rule *about, const char *text)
{
    char *copy;

    if (out->count >= FINDINGS_MOST)
        return;
    if (!TW_GROW(out->allocator, &out->findings, &out->room, out->count + 1) ||
        !TW_GROW(out->allocator, &out->texts, &out->text_room, out->text_count + 1)) {
        out->is_out_of_memory = true;
        return;
    }
    copy = tw_copy_text(out->allocator, text);
    if (!copy) {
        out->is_out_of_memory = true;
        return;
    }
    out->texts[out->text_count++] = copy;
    finding.rule = about->name;
    finding.what = copy;
    finding.hazard = about->hazard;
    finding.fix = about->fix;
    out->findings[out->count++] = finding;
}

void tw_seq_find(struct checker *c, uint32_t cause, enum rule_index rule, const char *also,
                 const char *format, ...)
{
    char text[TEXT_ROOM];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    keep(c->out,
         (struct tw_sequence_finding){
             .line = c->line, .cause = cause == c->line ? 0 : cause, .also = also },
         tw_seq_rule(rule), text);
}

/* The same of the rules for RISC-V. */
static void find_riscv(void *context, uint32_t line, uint32_t cause,
                       const struct tw_sequence_rule *rule, const char *what)
{
    keep(context, (struct tw_sequence_finding){ .line = line, .cause = cause, .also = "" },
         rule, what);
}

static struct value written_value(const struct checker *c, const struct step *step)
{
    if (step->has_value)
        return (struct value){ .known = ~(uint64_t)0, .bits = step->value };
    return tw_seq_get(&c->values, step->rd);
}

/* What an MRS leaves in its register. */
static void take_read(struct checker *c, const struct step *step)
{
    struct value value = { .mask = ~(uint64_t)0, .origin = step->class_code };

    if (step->has_value) {
        value.known = ~(uint64_t)0;
        value.bits = step->value;
    } else if (step->class_code == REG_TRFCR) {
        const struct filter *filter = &c->direct[step->el == 2];

        value.known = filter->known;
        value.bits = filter->bits;
    } else if (step->class_code == REG_TRBLIMITR && c->buffer != BUFFER_UNKNOWN) {
        value.known = 1;
        value.bits = c->buffer == BUFFER_ON;
    }
    tw_seq_set(&c->values, step->rd, value);
    if (step->class_code != REG_TRCSTATR || !step->has_value)
        return;
    /* A log shows the state itself. */
    if (c->unit == UNIT_ENABLING && !(step->value & 1))
        c->unit = UNIT_RUNNING;
    if ((c->unit == UNIT_DISABLING || c->unit == UNIT_STABLE) && step->value & 3)
        c->unit = step->value & 1 ? UNIT_IDLE : UNIT_STABLE;
}

static bool points_to_buffer(const struct checker *c, uint8_t reg)
{
    const uint8_t origin = tw_seq_get(&c->values, reg).origin;

    return reg < GENERAL_REGISTERS && (origin == REG_TRBPTR || origin == REG_TRB);
}

static void placeholder(struct checker *c, const struct step *step)
{
    const struct value any = { .mask = ~(uint64_t)0 };

    switch (step->kind) {
    case STEP_SAVE_UNIT:
        tw_seq_read(c, REG_TRC_STATUS, "the trace unit's state");
        break;
    case STEP_RESTORE_UNIT:
    case STEP_PROGRAM_UNIT:
        tw_seq_write(c, REG_TRC, 1, any, "the trace unit's state");
        if (step->more)
            tw_seq_write(c, REG_TRCPRGCTLR, 1, any, "TRCPRGCTLR");
        break;
    case STEP_SAVE_BUFFER:
        tw_seq_read(c, REG_TRBPTR, "the Trace Buffer Unit's state");
        break;
    case STEP_RESTORE_BUFFER:
        tw_seq_write(c, REG_TRB, 1, any, "the Trace Buffer Unit's state");
        break;
    default:
        tw_seq_write(c, REG_VMSA, c->owner_el == 2 ? 2 : 1, any, "the translation");
        break;
    }
}

/* Sleep, power-down, a message to others: what comes after does not wait for a bare TSB CSYNC. */
static void leave(struct checker *c, bool is_power_down)
{
    if (c->tsb && c->is_active && !c->is_seen && !c->dsb) {
        tw_seq_find(c, c->tsb, RULE_TS7, "",
                    "nothing orders this after the TSB CSYNC at line %u: no DSB and no context "
                    "synchronization event is between",
                    c->tsb);
        c->is_seen = true;
    }
    if (is_power_down && (c->unit == UNIT_DISABLING || c->unit == UNIT_STABLE))
        tw_seq_find(c, 0, RULE_SAVE8, "",
                    "power goes before the trace unit was seen to be idle");
}

static void halt(struct checker *c, bool is_halted)
{
    c->is_halted = is_halted;
    if (!is_halted)
        c->is_forgiven = false;
    tw_seq_synchronize(c); /* entry stands for an event, and leaving is one */
}

static void take_step(struct checker *c, const struct step *step)
{
    switch (step->kind) {
    case STEP_MSR:
        tw_seq_write(c, step->class_code, step->el, written_value(c, step), step->name);
        break;
    case STEP_MRS:
        tw_seq_read(c, step->class_code, step->name);
        take_read(c, step);
        break;
    case STEP_CSE:
    case STEP_CALL:
        tw_seq_synchronize(c);
        break;
    case STEP_TSB:
        tw_seq_tsb(c);
        break;
    case STEP_DSB:
        tw_seq_dsb(c);
        break;
    case STEP_EXCEPTION:
        tw_seq_exception(c, step->el);
        break;
    case STEP_ERET:
        tw_seq_return(c, step->el);
        break;
    case STEP_HALT:
    case STEP_RESUME:
        halt(c, step->kind == STEP_HALT);
        break;
    case STEP_MAINTAIN:
    case STEP_WRITE_BUFFER:
        c->memory_pending = c->line;
        break;
    case STEP_READ_BUFFER:
        tw_seq_read_buffer(c);
        break;
    case STEP_TRACED:
        tw_seq_traced(c);
        break;
    case STEP_WAIT:
    case STEP_POWER_DOWN:
        leave(c, step->kind == STEP_POWER_DOWN);
        break;
    case STEP_BRANCH:
        tw_seq_poll(c, step);
        break;
    case STEP_ASSUME:
        tw_seq_assume(c, step);
        break;
    case STEP_UNKNOWN:
        tw_seq_find(c, 0, RULE_INPUT, "",
                    step->class_code == REG_BAD_NAME ? "there is no register %s"
                                                     : "this line cannot be read%s",
                    step->class_code == REG_BAD_NAME ? step->name : "");
        break;
    default:
        if (step->kind >= STEP_SAVE_UNIT && step->kind <= STEP_CHANGE_TABLES)
            placeholder(c, step);
        break;
    }
}

void tw_seq_run(struct checker *c)
{
    tw_seq_begin(c);
    for (c->at = 0; c->at < c->count; c->at++) {
        const struct step *step = &c->steps[c->at];

        c->line = step->line;
        if (step->kind == STEP_BEGIN) {
            tw_seq_end(c);
            c->at++;
            tw_seq_begin(c);
            c->at--;
            continue;
        }
        take_step(c, step);
        if (step->kind == STEP_LOAD && points_to_buffer(c, step->rn))
            tw_seq_read_buffer(c);
        if (step->kind == STEP_STORE && points_to_buffer(c, step->rn))
            c->memory_pending = c->line;
        tw_seq_follow(&c->values, step);
    }
    tw_seq_end(c);
}

static int by_line(const void *a, const void *b)
{
    const struct tw_sequence_finding *x = a, *y = b;

    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return strcmp(x->rule, y->rule);
}

/* Assembler, disassembly or a log of an Arm processor. */
static enum tw_status check_arm(struct tw_sequence *sequence, const char *text, size_t size,
                                const struct tw_sequence_config *config)
{
    struct tw_seq_steps steps = { 0 };
    enum tw_status status = tw_seq_parse(&steps, text, size, config->allocator);

    if (status == TW_OK) {
        struct checker c = { .out = sequence,
                             .is_strict = config->is_strict,
                             .steps = steps.items,
                             .count = steps.count };

        tw_seq_run(&c);
        if (sequence->is_out_of_memory)
            status = TW_E_MEMORY;
    }
    sequence->lines = steps.lines;
    /* A return alone says nothing of trace. */
    for (size_t i = 0; i < steps.count; i++)
        sequence->steps += steps.items[i].kind != STEP_LEAVE;
    tw_give(config->allocator, steps.items);
    return status;
}

/* Accesses to the RISC-V Trace Control Interface. */
static enum tw_status check_riscv(struct tw_sequence *sequence, const char *text, size_t size,
                                  const struct tw_sequence_config *config)
{
    struct tw_trctl_checking checking = { .is_strict = config->is_strict,
                                          .find = find_riscv,
                                          .context = sequence };

    tw_trctl_check(&checking, text, size);
    sequence->lines = checking.lines;
    sequence->steps = checking.steps;
    return sequence->is_out_of_memory ? TW_E_MEMORY : TW_OK;
}

enum tw_status tw_sequence_check(struct tw_sequence **out, const char *text, size_t size,
                                 const struct tw_sequence_config *config,
                                 struct tw_fault *fault)
{
    struct tw_sequence_config copy = { .size = sizeof copy };
    const struct tw_allocator *allocator;
    struct tw_sequence *sequence;
    enum tw_status status;

    *out = NULL;
    if (config)
        TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_sequence_config", fault));
    allocator = copy.allocator;
    sequence = tw_take(allocator, sizeof *sequence);
    if (!sequence)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a sequence");
    sequence->allocator = allocator;
    status = tw_trctl_is_sequence(text, size) ? check_riscv(sequence, text, size, &copy)
                                              : check_arm(sequence, text, size, &copy);
    if (status != TW_OK) {
        tw_sequence_free(sequence);
        return tw_fail(fault, status, "no memory for a sequence");
    }
    if (sequence->count)
        qsort(sequence->findings, sequence->count, sizeof *sequence->findings, by_line);
    *out = sequence;
    return TW_OK;
}

void tw_sequence_free(struct tw_sequence *sequence)
{
    if (!sequence)
        return;
    for (size_t i = 0; i < sequence->text_count; i++)
        tw_give(sequence->allocator, sequence->texts[i]);
    tw_give(sequence->allocator, sequence->texts);
    tw_give(sequence->allocator, sequence->findings);
    tw_give(sequence->allocator, sequence);
}

size_t tw_sequence_count(const struct tw_sequence *sequence)
{
    return sequence->count;
}

const struct tw_sequence_finding *tw_sequence_finding(const struct tw_sequence *sequence,
                                                      size_t index)
{
    return index < sequence->count ? &sequence->findings[index] : NULL;
}

void tw_sequence_lines(const struct tw_sequence *sequence, size_t *lines, size_t *steps)
{
    *lines = sequence->lines;
    *steps = sequence->steps;
}
