/* SPDX-License-Identifier: BSD-2-Clause */
/* How often elements are listed that a REPEAT repeats. */
#include "shared/repeats.h"

#include <inttypes.h>

enum { LEAST = 1 << 22, PER_BYTE = 1 << 10 };

void repeats_start(struct repeats *repeats, const struct options *options, uint64_t bytes)
{
    *repeats =
        (struct repeats){ .left = options->repeat_limit.is_given ? options->repeat_limit.value
                                                                 : LEAST + bytes * PER_BYTE };
}

struct repeat repeats_of(struct repeats *repeats, const struct tw_batch *batch, size_t at)
{
    const size_t count = tw_repeat_reach(batch->elements, at);
    struct repeat repeat = { .first = at - count, .count = count };
    const uint64_t wanted = batch->elements[at].times;
    const uint64_t most = count ? repeats->left / count : 0;
    const uint64_t room = count ? (UINT64_MAX - repeats->omitted) / count : 0;

    if (!count)
        return repeat;
    repeat.times = wanted < most ? wanted : most;
    repeat.omitted = wanted - repeat.times;
    repeats->left -= repeat.times * count;
    repeats->omitted += (repeat.omitted < room ? repeat.omitted : room) * count;
    return repeat;
}

void repeats_note(struct output *out, const struct repeat *repeat)
{
    if (repeat->omitted)
        output_format(out, "# the last %zu ranges %" PRIu64 " more times\n", repeat->count,
                      repeat->omitted);
}

void repeats_say(const struct repeats *repeats)
{
    if (repeats->omitted)
        say("%" PRIu64 " repeated ranges are not listed; --opt repeat-limit=N lists up to N",
            repeats->omitted);
}
