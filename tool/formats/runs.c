/* SPDX-License-Identifier: BSD-2-Clause */
/* --format runs: straight runs of every CPU and thread, in the order of time. */
#include <stdlib.h>

#include "formats/formats.h"

struct runs {
    struct session *session;
    struct output *out;
    uint32_t cpu, tid; /* of the run being put together */
    uint64_t first, next, count;
};

static void close_run(struct runs *runs)
{
    struct output *out = runs->out;

    if (!runs->count)
        return;
    output_decimal(out, runs->cpu);
    output_text(out, " ");
    if (runs->tid == TW_NONE)
        output_text(out, "-1");
    else
        output_decimal(out, runs->tid);
    output_text(out, " ");
    output_address(out, runs->first);
    output_text(out, " ");
    output_decimal(out, runs->count);
    output_text(out, "\n");
    runs->count = 0;
}

static void take_range(struct runs *runs, const struct tw_who *who,
                       const struct tw_element *range)
{
    if (!range->count)
        return;
    if (range->start != runs->next || who->cpu != runs->cpu || who->tid != runs->tid)
        close_run(runs);
    if (!runs->count) {
        runs->first = range->start;
        runs->cpu = who->cpu;
        runs->tid = who->tid;
    }
    runs->count += range->count;
    runs->next = tw_element_end(range);
}

static void take_repeat(struct runs *runs, const struct tw_part *part, size_t at)
{
    const struct repeat repeat = repeats_of(&runs->session->repeats, &part->batch, at);

    for (uint64_t i = 0; i < repeat.times && !output_is_over(runs->out); i++)
        for (size_t j = 0; j < repeat.count; j++)
            if (part->batch.elements[repeat.first + j].type == TW_ELEMENT_INSTR_RANGE)
                take_range(runs, &part->who, &part->batch.elements[repeat.first + j]);
    if (!repeat.omitted)
        return;
    close_run(runs);
    repeats_note(runs->out, &repeat);
}

static void *start(const struct listing *listing)
{
    struct runs *runs = calloc(1, sizeof *runs);

    if (!runs) {
        say("out of memory");
        return NULL;
    }
    runs->session = listing->session;
    runs->out = listing->out;
    output_text(runs->out, "# cpu tid first_pc instructions\n");
    return runs;
}

static bool take(void *state, const struct tw_part *part, const struct tw_packet_view *packet)
{
    struct runs *runs = state;

    (void)packet;
    if (part->kind != TW_PART_ELEMENTS)
        return true;
    if (part->has_skipped) /* filters join nothing */
        close_run(runs);
    for (size_t i = 0; i < part->batch.count; i++) {
        const struct tw_element *element = &part->batch.elements[i];

        if (element->type == TW_ELEMENT_INSTR_RANGE)
            take_range(runs, &part->who, element);
        else if (element->type == TW_ELEMENT_REPEAT)
            take_repeat(runs, part, i);
    }
    return true;
}

static void end(void *state)
{
    close_run(state);
    free(state);
}

const struct format format_runs = {
    .name = "runs",
    .flags = FORMAT_ELEMENTS | FORMAT_INSTRUCTIONS | FORMAT_OF_PERF,
    .start = start,
    .take = take,
    .end = end,
};
