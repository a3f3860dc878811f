/* SPDX-License-Identifier: BSD-2-Clause */
/* What the encoders of RISC-V trace share: logs of harts. */
#include "unit/unit.h"

#include <string.h>

unsigned tw_unit_xlen(const struct tw_unit *unit)
{
    unsigned xlen = unit->xlen;
    struct tw_log *log;
    struct tw_step step;

    if (!xlen && unit->config.image)
        xlen = tw_image_xlen(unit->config.image);
    if (xlen || unit->takes_steps || tw_unit_open_log(unit, &log, NULL) != TW_OK)
        return xlen;
    while (tw_log_is_riscv(log) && !xlen && tw_log_next(log, &step) == TW_OK)
        if (step.kind == TW_STEP_INSTRUCTIONS && step.count)
            xlen = step.instructions[0].isa == TW_ISA_RV32 ? 32 : 64;
    tw_log_free(log);
    return xlen;
}

/* Code that is in no program file, of logs that hold it. */
static enum tw_status note_log(struct tw_unit *unit)
{
    enum tw_status status = TW_OK;
    struct tw_log *log;
    struct tw_step step;

    if (tw_unit_open_log(unit, &log, NULL) != TW_OK)
        return TW_OK;
    if (!tw_log_is_riscv(log))
        status = tw_fail(&unit->fault, TW_E_CONFIG,
                         "the log is of an Arm processor, which %s does not trace",
                         unit->kind->protocol);
    while (status == TW_OK && tw_log_next(log, &step) == TW_OK)
        if (step.kind == TW_STEP_INSTRUCTIONS)
            status = tw_unit_note(unit, &step);
    tw_log_free(log);
    return status;
}

static enum tw_status open_hart(const struct tw_unit *unit, struct tw_hart **hart,
                                const struct tw_hart_options *options, struct tw_fault *fault)
{
    return unit->path ? tw_hart_open(hart, unit->path, options, fault)
                      : tw_hart_open_memory(hart, unit->bytes, unit->size, options, fault);
}

static enum tw_status run_hart(struct tw_unit_hart *hart, struct tw_hart *from,
                               struct tw_fault *fault)
{
    return hart->etrace ? tw_hart_run(from, hart->etrace, fault)
                        : tw_hart_run_ntrace(from, hart->ntrace, fault);
}

static void complete_options(const struct tw_unit *unit, struct tw_unit_hart *hart)
{
    hart->options.image = unit->config.image;
    hart->options.repeats_most = unit->config.repeats_most;
    hart->options.allocator = unit->allocator;
}

enum tw_status tw_unit_run_hart(struct tw_unit *unit, struct tw_unit_hart *hart)
{
    struct tw_fault fault = { TW_OK, "" };
    struct tw_hart *from = NULL;
    enum tw_status status;

    complete_options(unit, hart);
    TW_TRY(note_log(unit));
    status = open_hart(unit, &from, &hart->options, &fault);
    if (status == TW_OK)
        status = run_hart(hart, from, &fault);
    if (status == TW_OK) {
        unit->trace.instructions += tw_hart_instructions(from);
    } else {
        const bool is_named =
            !unit->path || strncmp(fault.text, unit->path, strlen(unit->path)) == 0;

        (void)tw_fail(&unit->fault, status, "%s%s%s", is_named ? "" : unit->path,
                      is_named ? "" : ": ", fault.text);
    }
    tw_hart_free(from);
    return status;
}

/* ---- steps ---- */

static enum tw_status next_step(void *context, struct tw_step *step)
{
    struct tw_unit_hart *hart = context;

    if (!hart->step)
        return hart->has_ended ? TW_END : TW_MORE;
    *step = *hart->step;
    hart->step = NULL;
    return TW_OK;
}

enum tw_status tw_unit_step_hart(struct tw_unit *unit, struct tw_unit_hart *hart,
                                 const struct tw_step *step)
{
    enum tw_status status;

    if (!hart->hart) {
        complete_options(unit, hart);
        TW_TRY(tw_hart_open_steps(&hart->hart, next_step, hart, &hart->options, &unit->fault));
    }
    hart->step = step;
    hart->has_ended = !step;
    status = run_hart(hart, hart->hart, &unit->fault);
    return status == TW_MORE ? TW_OK : status; /* everything that is given is taken at once */
}
