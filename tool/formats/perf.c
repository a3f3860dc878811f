/* SPDX-License-Identifier: BSD-2-Clause */
/* --format perf: branches, or with --instructions each instruction, as `perf script` prints them. */
#include "commands/branches.h"
#include "formats/formats.h"

static void *start(const struct listing *listing)
{
    return branches_new(listing->session,
                        listing->options->instructions ? EACH_INSTRUCTION : EACH_BRANCH);
}

static bool take(void *state, const struct tw_part *part, const struct tw_packet_view *packet)
{
    (void)packet;
    return branches_take(state, part);
}

static void end(void *state)
{
    branches_free(state);
}

const struct format format_perf = {
    .name = "perf",
    .flags = FORMAT_ELEMENTS | FORMAT_INSTRUCTIONS | FORMAT_OF_PERF,
    .start = start,
    .take = take,
    .end = end,
};
