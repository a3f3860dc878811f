/* SPDX-License-Identifier: BSD-2-Clause */
/* Saved results whose checksum is right and all else is not.  Input: which kind, then the values. */
#include <stdlib.h>
#include <string.h>

#include "analysis/autofdo.h"
#include "analysis/calls.h"
#include "analysis/coverage.h"
#include "analysis/profile.h"
#include "analysis/pyramid.h"
#include "analysis/saved.h"
#include "analysis/statistics.h"

static void load_statistics(struct tw_load *load)
{
    struct tw_source_statistics source = { .size = sizeof source };
    struct tw_statistics *statistics, *sum;

    if (tw_statistics_new(&statistics, NULL, NULL, NULL) != TW_OK ||
        tw_statistics_new(&sum, NULL, NULL, NULL) != TW_OK)
        abort();
    tw_statistics_read(statistics, load);
    if (tw_load_end(load, NULL, NULL) == TW_OK) {
        if (tw_statistics_add(sum, statistics) != TW_OK ||
            tw_statistics_add(sum, statistics) != TW_OK)
            abort();
        for (size_t i = 0; tw_statistics_source(sum, &source, i); i++)
            if (!source.buffer || !source.protocol)
                abort();
    }
    tw_statistics_free(statistics);
    tw_statistics_free(sum);
}

static bool take_text(void *context, const char *text, size_t size)
{
    (void)text;
    *(size_t *)context += size;
    return true;
}

static void load_autofdo(struct tw_load *load)
{
    struct tw_autofdo *autofdo, *sum;
    size_t size = 0, file;

    if (tw_autofdo_new(&autofdo, NULL, NULL, NULL) != TW_OK ||
        tw_autofdo_new(&sum, NULL, NULL, NULL) != TW_OK)
        abort();
    tw_autofdo_read(autofdo, load);
    if (tw_load_end(load, NULL, NULL) == TW_OK) {
        if (tw_autofdo_add(sum, autofdo) != TW_OK)
            abort();
        file = tw_autofdo_choose(sum, NULL);
        if (file != SIZE_MAX &&
            (tw_autofdo_write(sum, file, take_text, &size) != TW_OK || !size))
            abort();
    }
    tw_autofdo_free(autofdo);
    tw_autofdo_free(sum);
}

static void load_coverage(struct tw_load *load)
{
    const struct tw_coverage_config config = { .size = sizeof config };
    struct tw_coverage *coverage, *sum;

    if (tw_coverage_new(&coverage, &config, NULL) != TW_OK ||
        tw_coverage_new(&sum, &config, NULL) != TW_OK)
        abort();
    tw_coverage_read_saved(coverage, load);
    if (tw_load_end(load, NULL, NULL) == TW_OK &&
        (tw_coverage_add(sum, coverage, NULL) != TW_OK ||
         sum->counted.executed != coverage->counted.executed))
        abort();
    tw_coverage_free(coverage);
    tw_coverage_free(sum);
}

static void load_calls(struct tw_load *load)
{
    const struct tw_calls_config config = { .size = sizeof config };
    struct tw_calls *calls, *sum;

    if (tw_calls_new(&calls, &config, NULL) != TW_OK ||
        tw_calls_new(&sum, &config, NULL) != TW_OK)
        abort();
    tw_calls_read_saved(calls, load);
    sum->machine.is_logical = calls->machine.is_logical;
    if (tw_load_end(load, NULL, NULL) == TW_OK &&
        (tw_calls_add(sum, calls, NULL) != TW_OK ||
         tw_calls_stats(sum).instructions != tw_calls_stats(calls).instructions))
        abort();
    tw_calls_finish(sum); /* parts that wait for others are taken as they are */
    tw_calls_free(calls);
    tw_calls_free(sum);
}

static void load_profile(struct tw_load *load)
{
    const struct tw_profile_config config = { .size = sizeof config };
    struct tw_profiler *profile, *sum;

    if (tw_profile_new(&profile, &config, NULL) != TW_OK ||
        tw_profile_new(&sum, &config, NULL) != TW_OK)
        abort();
    tw_profile_read_saved(profile, load);
    sum->by = profile->by;
    sum->with_inlined = profile->with_inlined;
    sum->has_calls = profile->has_calls;
    if (tw_load_end(load, NULL, NULL) == TW_OK && tw_profile_add(sum, profile, NULL) != TW_OK)
        abort();
    tw_profile_free(profile);
    tw_profile_free(sum);
}

static void load_pyramid(struct tw_load *load)
{
    struct tw_pyramid *pyramid = tw_pyramid_read(load);
    struct tw_tile tile = { .size = sizeof tile };

    if (tw_load_end(load, NULL, NULL) == TW_OK)
        for (size_t level = 0; level < tw_pyramid_levels(pyramid); level++)
            for (size_t i = 0; tw_pyramid_tile(pyramid, &tile, level, i); i++)
                for (size_t k = 0; k < tile.function_count; k++)
                    if (!tw_pyramid_name(pyramid, tile.functions[k].function))
                        abort();
    tw_pyramid_free(pyramid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    struct tw_load load = { .version = 1 };

    if (!copy || !size) {
        free(copy);
        return 0;
    }
    memcpy(copy, data, size);
    load.in = (struct tw_bytes){ .at = copy + 1, .end = copy + size };
    if (copy[0] & 16)
        load_pyramid(&load);
    else if (copy[0] & 8)
        load_calls(&load);
    else if (copy[0] & 4)
        load_profile(&load);
    else if (copy[0] & 2)
        load_coverage(&load);
    else if (copy[0] & 1)
        load_autofdo(&load);
    else
        load_statistics(&load);
    free(copy);
    return 0;
}
