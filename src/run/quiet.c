/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges that are left out of parts: whose way it is that a tree asks of. */
#include "run/run.h"
#include "tree/branch.h"

void tw_run_leave_out(struct tw_run *run, tw_run_quiet_fn *quiet, void *context)
{
    if (run->config.packets_only || run->filter.has_element || run->extent.is_given)
        return;
    run->quiet = quiet;
    run->quiet_context = context;
}

static enum tw_quiet_kind ask(void *context, const struct tw_batch *two,
                              const struct tw_view *view, struct tw_image *image)
{
    const struct tw_reader *reader = context;
    const struct tw_run *run = reader->run;
    const uint32_t source = reader->owner_of[two->id % TW_RUN_IDS];
    const struct tw_perf_thread thread = { .space = view->context };
    struct tw_part part = { .size = sizeof part,
                            .batch = *two,
                            .source_number = source,
                            .source = tw_capture_source(run->capture, source),
                            .buffer = reader->buffer,
                            .who = { .view = *view, .thread = run->perf ? &thread : NULL } };

    if (part.source)
        part.image =
            tw_capture_image(run->capture, tw_capture_image_of(run->capture, source, two->src));
    return run->quiet(run->quiet_context, &part, image);
}

void tw_reader_leave_out(struct tw_reader *reader)
{
    if (reader->run->quiet && !reader->run->seek)
        tw_tree_leave_out(reader->tree, ask, reader);
}
