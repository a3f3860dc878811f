/* SPDX-License-Identifier: BSD-2-Clause */
/* What the encoders of RISC-V trace share: logs of harts. */
#include "unit/unit.h"

#include <string.h>

#include <trackway/hart.h>

unsigned tw_unit_xlen(const struct tw_unit *unit)
{
    unsigned xlen = unit->config.image ? tw_image_xlen(unit->config.image) : 0;
    struct tw_log *log;
    struct tw_step step;

    if (xlen || tw_unit_open_log(unit, &log, NULL) != TW_OK)
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

enum tw_status tw_unit_run_hart(struct tw_unit *unit, const struct tw_hart_options *options,
                                struct tw_etrace_unit *etrace, struct tw_ntrace_unit *ntrace)
{
    struct tw_hart_options own = *options;
    struct tw_fault fault = { TW_OK, "" };
    struct tw_hart *hart = NULL;
    enum tw_status status;

    own.image = unit->config.image;
    own.repeats_most = unit->config.repeats_most;
    own.allocator = unit->allocator;
    TW_TRY(note_log(unit));
    status = open_hart(unit, &hart, &own, &fault);
    if (status == TW_OK)
        status = etrace ? tw_hart_run(hart, etrace, &fault)
                        : tw_hart_run_ntrace(hart, ntrace, &fault);
    if (status == TW_OK) {
        unit->trace.instructions += tw_hart_instructions(hart);
    } else {
        const bool is_named =
            !unit->path || strncmp(fault.text, unit->path, strlen(unit->path)) == 0;

        (void)tw_fail(&unit->fault, status, "%s%s%s", is_named ? "" : unit->path,
                      is_named ? "" : ": ", fault.text);
    }
    tw_hart_free(hart);
    return status;
}
