/* SPDX-License-Identifier: BSD-2-Clause */
/* Tiles of a capture: saved and loaded again; and of a stretch, counted by sums, those that each element makes. */
#ifndef FUZZ_PYRAMID_H
#define FUZZ_PYRAMID_H

#include "analyses.h"

enum { SUMS_BLOCK = 1024 };

/* A stretch of a capture's only buffer, from a place on. */
struct pyramid_stretch {
    uint64_t bytes, from;
    bool is_summed;
};

static struct tw_pyramid *pyramid_of_stretch(const struct subject *subject,
                                             const struct pyramid_stretch *stretch)
{
    const struct tw_pyramid_config about = { .size = sizeof about,
                                             .bytes = stretch->bytes,
                                             .block = SUMS_BLOCK };
    const struct tw_run_place place = { .kind = TW_PLACE_OFFSET, .value = stretch->from };
    struct tw_run_config config = subject->config;
    struct tw_part part = { .size = sizeof part };
    struct tw_pyramid *pyramid;
    struct tw_run_sums sums;
    struct tw_run *run;

    require(tw_pyramid_new(&pyramid, &about, NULL) == TW_OK);
    require(tw_pyramid_sums(pyramid, &sums, stretch->from, stretch->bytes) == TW_OK);
    config.sums = stretch->is_summed ? &sums : NULL;
    config.threads = 1;
    run = start(subject, &config);
    if (run && (!stretch->from || tw_run_seek(run, &place) == TW_OK))
        while (tw_run_next(run, &part) == TW_OK)
            require(tw_pyramid_take(pyramid, run, &part) == TW_OK);
    require(tw_pyramid_finish(pyramid) == TW_OK);
    tw_run_free(run);
    return pyramid;
}

static void compare_tiles(const struct tw_pyramid *one, const struct tw_pyramid *other)
{
    struct tw_tile a = { .size = sizeof a }, b = { .size = sizeof b };

    for (size_t i = 0; tw_pyramid_tile(one, &a, 0, i); i++) {
        require(tw_pyramid_tile(other, &b, 0, i));
        require(a.is_seen == b.is_seen && a.instructions == b.instructions);
        require(a.calls == b.calls && a.exceptions == b.exceptions && a.errors == b.errors);
        require(a.overflows == b.overflows && a.discards == b.discards && a.gaps == b.gaps);
        require(a.missing_code == b.missing_code && a.first == b.first && a.last == b.last);
        require(a.function_count == b.function_count);
        for (size_t k = 0; k < a.function_count; k++)
            require(a.functions[k].self == b.functions[k].self);
    }
}

static void sum_tiles(const struct subject *subject, uint64_t bytes)
{
    struct pyramid_stretch stretch = { .bytes = bytes };

    for (unsigned i = 0; i < 2; i++) {
        struct tw_pyramid *plain, *summed;

        stretch.is_summed = false;
        plain = pyramid_of_stretch(subject, &stretch);
        stretch.is_summed = true;
        summed = pyramid_of_stretch(subject, &stretch);
        compare_tiles(plain, summed);
        tw_pyramid_free(plain);
        tw_pyramid_free(summed);
        stretch.from = subject->at % (bytes / SUMS_BLOCK + 1) * SUMS_BLOCK;
        if (!stretch.from)
            return;
    }
}

static void do_pyramid(const struct subject *subject)
{
    const struct tw_buffer *buffer = tw_capture_buffer_count(subject->capture)
                                         ? tw_capture_buffer(subject->capture, 0)
                                         : NULL;
    const struct tw_pyramid_config about = { .size = sizeof about,
                                             .bytes = buffer ? buffer->size : 0,
                                             .block = 32 };
    struct tw_part part = { .size = sizeof part };
    struct tw_tile tile = { .size = sizeof tile };
    struct tw_pyramid *pyramid, *again;
    struct tw_run *run = start(subject, &subject->config);
    char path[BUNDLE_PATH];

    bundle_path(path, subject->bundle, "saved");
    if (tw_pyramid_new(&pyramid, &about, NULL) == TW_OK) {
        while (run && tw_run_next(run, &part) == TW_OK)
            require(tw_pyramid_take(pyramid, run, &part) == TW_OK);
        require(tw_pyramid_finish(pyramid) == TW_OK);
        for (size_t level = 0; level < tw_pyramid_levels(pyramid); level++)
            for (size_t i = 0; tw_pyramid_tile(pyramid, &tile, level, i); i++)
                for (size_t k = 0; k < tile.function_count; k++)
                    require(tw_pyramid_name(pyramid, tile.functions[k].function) != NULL);
        require(tw_pyramid_save(pyramid, path, NULL) == TW_OK);
        require(tw_pyramid_load(&again, path, NULL, NULL) == TW_OK);
        require(tw_pyramid_levels(again) == tw_pyramid_levels(pyramid));
        tw_pyramid_free(again);
        bundle_remove(subject->bundle, "saved");
    }
    tw_pyramid_free(pyramid);
    tw_run_free(run);
    if (tw_capture_buffer_count(subject->capture) == 1 && about.bytes &&
        !tw_capture_perf(subject->capture))
        sum_tiles(subject, about.bytes);
}

#endif
