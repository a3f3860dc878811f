/* SPDX-License-Identifier: BSD-2-Clause */
/* Execution logs (exlog, text) of RISC-V processors, and steps as they are made. */
#include "hart/hart.h"

static enum tw_status take_step(struct tw_hart *hart, const struct tw_step *step)
{
    struct tw_hart_trap trap;

    switch (step->kind) {
    case TW_STEP_INSTRUCTIONS:
        hart->retired = step->instructions;
        hart->retired_left = step->count;
        return TW_OK;
    case TW_STEP_RUNS:
        hart->runs = step->runs;
        hart->runs_left = step->run_count;
        hart->run_done = hart->run_repeats = 0;
        return TW_OK;
    case TW_STEP_EXCEPTION:
        trap = (struct tw_hart_trap){ .epc = step->return_address,
                                      .cause = step->cause,
                                      .is_interrupt = step->is_interrupt };
        return tw_hart_trap(hart, &trap);
    case TW_STEP_CONTEXT:
        return tw_hart_set_priv(hart, step->context.el);
    case TW_STEP_GAP:
        tw_hart_gap(hart);
        return TW_OK;
    default:
        return TW_OK; /* what does not concern a hart's trace */
    }
}

/* Some of the next run: what comes of it has to fit the queue.  Where the last one goes is what the
   hart finds itself. */
static enum tw_status take_run(struct tw_hart *hart)
{
    const struct tw_retired_run *run = hart->runs;
    enum tw_status status = TW_OK;

    if (hart->run_done < run->count)
        hart->run_done += (uint32_t)tw_hart_pass(hart, run->instructions + hart->run_done,
                                                 run->count - hart->run_done, &status);
    if (hart->run_done == run->count && hart->run_repeats < run->repeats && run->count) {
        hart->run_repeats++;
        hart->run_done = 0;
    } else if (hart->run_done == run->count) {
        hart->run_repeats = 0;
        hart->runs++;
        hart->runs_left--;
        hart->run_done = 0;
    }
    return status;
}

static enum tw_status next(struct tw_hart *hart)
{
    struct tw_step step;
    enum tw_status status;

    if (hart->runs_left)
        return take_run(hart);
    if (hart->retired_left) {
        const struct tw_retired *at = hart->retired++;

        hart->retired_left--;
        tw_hart_note(hart, at->address, at->opcode);
        return tw_hart_step(hart, at->address);
    }
    status = hart->log ? tw_log_next(hart->log, &step) : hart->step(hart->step_context, &step);
    if (status == TW_OK)
        return take_step(hart, &step);
    if (status == TW_MORE)
        return status;
    if (status != TW_END && !hart->log)
        return tw_hart_wrong(hart, "a step could not be given");
    if (status != TW_END)
        return tw_hart_wrong(hart, "%.380s", tw_log_fault(hart->log));
    tw_hart_finish(hart);
    return TW_END;
}

enum tw_status tw_hart_log_begin(struct tw_hart *hart, const uint8_t *bytes, size_t size)
{
    const struct tw_log_options options = { .size = sizeof options,
                                            .image = hart->options.image,
                                            .allocator = hart->options.allocator,
                                            .repeats_most = hart->options.repeats_most };

    TW_TRY(tw_log_open_memory(&hart->log, bytes, size, &options, &hart->fault));
    hart->next = next;
    return TW_OK;
}

void tw_hart_steps_begin(struct tw_hart *hart)
{
    hart->next = next;
}
