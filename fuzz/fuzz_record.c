/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls that the plug-in for QEMU makes of a trace unit, of any protocol: what is given as straight runs makes the bytes
   that it makes one instruction at a time.
   Input: lines "protocol NAME", "register NAME=VALUE", "choice NAME=VALUE", "runs BITS" (where runs are cut); then a file "log",
   whose steps are the calls. */
#include <trackway/log.h>

#include "bundle.h"
#include "qemu/unit.h"

enum {
    SETTINGS = 8,
    LOG_MOST = 16384,
    STEPS_MOST = 3000,
    CYCLES_MOST = 64,
    RUNS_MOST = 512,
    MADE_MOST = 1 << 18
};

static struct tw_unit *new_unit(const struct bundle *bundle)
{
    const char *registers[SETTINGS], *choices[SETTINGS];
    const char *protocol = bundle_word(bundle, "protocol");
    struct unit_options options = { .protocol = protocol ? protocol : "ete",
                                    .registers = registers,
                                    .choices = choices,
                                    .is_64bit = true,
                                    .is_system = bundle_number(bundle, "runs") & 1 };
    struct tw_fault fault = { .text = "" };
    struct tw_unit *unit;
    const char *line;
    size_t from = 0;

    while (options.register_count < SETTINGS && (line = bundle_says(bundle, "register", &from)))
        registers[options.register_count++] = line;
    from = 0;
    while (options.choice_count < SETTINGS && (line = bundle_says(bundle, "choice", &from)))
        choices[options.choice_count++] = line;
    unit = unit_new(&options, &fault);
    require(unit || fault.text[0] != 0);
    return unit;
}

static bool same_run(const struct tw_retired_run *a, const struct tw_retired_run *b)
{
    return a->count == b->count && a->target == b->target && a->flags == b->flags &&
           memcmp(a->instructions, b->instructions, a->count * sizeof *a->instructions) == 0;
}

/* Cuts behind every instruction that is something to the flow of control or does not lead to the next, and where `bits` say
   so. */
static size_t make_runs(struct tw_retired_run *runs, const struct tw_step *step,
                        unsigned long bits)
{
    size_t from = 0, count = 0;

    for (size_t i = 0; i < step->count && count < RUNS_MOST; i++) {
        const struct tw_retired *at = &step->instructions[i];
        const bool is_next = i + 1 < step->count && at[1].address == at->address + at->size &&
                             at[1].isa == at->isa;

        if (at->kind == TW_RETIRED_OTHER && is_next && !(bits >> (i % 31) & 1))
            continue;
        runs[count] = (struct tw_retired_run){ .instructions = step->instructions + from,
                                               .count = (uint32_t)(i + 1 - from),
                                               .target = at->target,
                                               .flags = at->flags };
        from = i + 1;
        if (count && same_run(&runs[count - 1], &runs[count]))
            runs[count - 1].repeats++;
        else
            count++;
    }
    return count;
}

/* Instructions that follow each other, as the log gave them in pieces. */
struct pending {
    struct tw_retired list[RUNS_MOST];
    size_t count;
};

/* False: a unit did not take it. */
static bool give_pending(struct tw_unit *one, struct tw_unit *other, struct pending *pending,
                         unsigned long bits)
{
    static struct tw_retired_run runs[RUNS_MOST];
    struct tw_step alone = { .kind = TW_STEP_INSTRUCTIONS };
    struct tw_step in_runs = { .kind = TW_STEP_RUNS };
    bool is_taken;

    if (!pending->count)
        return true;
    alone.instructions = pending->list;
    alone.count = pending->count;
    in_runs.runs = runs;
    in_runs.run_count = make_runs(runs, &alone, bits);
    is_taken = tw_unit_step(one, &alone) == TW_OK;
    require((tw_unit_step(other, &in_runs) == TW_OK) == is_taken);
    pending->count = 0;
    return is_taken;
}

static bool give(struct tw_unit *one, struct tw_unit *other, struct pending *pending,
                 const struct tw_step *step, unsigned long bits)
{
    bool is_taken = true;

    if (step->kind != TW_STEP_INSTRUCTIONS) {
        is_taken = give_pending(one, other, pending, bits) && tw_unit_step(one, step) == TW_OK;
        if (is_taken)
            require(tw_unit_step(other, step) == TW_OK);
        return is_taken;
    }
    for (size_t i = 0; is_taken && i < step->count; i++) {
        if (pending->count == RUNS_MOST)
            is_taken = give_pending(one, other, pending, bits);
        pending->list[pending->count++] = step->instructions[i];
    }
    return is_taken;
}

static void compare(struct tw_unit *one, struct tw_unit *other)
{
    size_t size, other_size;
    const uint8_t *bytes = tw_unit_output(one, &size);
    const uint8_t *others = tw_unit_output(other, &other_size);

    require(size == other_size && (size == 0 || memcmp(bytes, others, size) == 0));
}

/* A log that repeats or waits makes many steps of few bytes. */
static bool is_short(struct tw_step *step)
{
    if (step->kind == TW_STEP_CYCLES || step->kind == TW_STEP_CLOCK)
        step->value = step->value > CYCLES_MOST ? CYCLES_MOST : step->value;
    return step->kind != TW_STEP_RUNS;
}

static void run(struct tw_unit *one, struct tw_unit *other, const uint8_t *bytes, size_t size,
                unsigned long bits)
{
    const struct tw_log_options options = { .size = sizeof options, .repeats_most = 20000 };
    static struct pending pending;
    bool is_taken = true;
    struct tw_step step;
    struct tw_log *log;
    size_t made = 0;

    if (tw_log_open_memory(&log, bytes, size, &options, NULL) != TW_OK)
        return;
    pending.count = 0;
    for (unsigned i = 0; is_taken && i < STEPS_MOST && made < MADE_MOST; i++) {
        if (tw_log_next(log, &step) != TW_OK)
            break;
        is_taken = is_short(&step) && give(one, other, &pending, &step, bits);
        (void)tw_unit_output(one, &made);
    }
    if (is_taken && give_pending(one, other, &pending, bits) && tw_unit_finish(one) == TW_OK) {
        require(tw_unit_finish(other) == TW_OK);
        compare(one, other);
    }
    tw_log_free(log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *end = (const char *)data + size, *at = (const char *)data;
    struct tw_unit *one, *other;
    struct bundle bundle;

    while (at != end && !bundle_is_head(at, end))
        at = bundle_line_end(at, end);
    bundle_read(&bundle, data, (size_t)(at - (const char *)data));
    at = bundle_line_end(at, end);
    one = new_unit(&bundle);
    other = one ? new_unit(&bundle) : NULL;
    if (other && end - at < LOG_MOST)
        run(one, other, (const uint8_t *)at, (size_t)(end - at),
            bundle_number(&bundle, "runs"));
    if (one)
        tw_unit_free(one);
    if (other)
        tw_unit_free(other);
    free(bundle.text);
    return 0;
}
