/* SPDX-License-Identifier: BSD-2-Clause */
/* The library without memory: what is done with it, from the file to the result, with an allocator whose
   n-th request fails, once or from there on, for every n.  It says so or gives what it gives with memory;
   all that was taken is given back. */
#ifndef TRACKWAY_TESTS_MEMORY_H
#define TRACKWAY_TESTS_MEMORY_H

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/calls.h>
#include <trackway/capture.h>
#include <trackway/control.h>
#include <trackway/coverage.h>
#include <trackway/doctor.h>
#include <trackway/edge_map.h>
#include <trackway/hart.h>
#include <trackway/identify.h>
#include <trackway/index.h>
#include <trackway/log.h>
#include <trackway/merge.h>
#include <trackway/perfdata.h>
#include <trackway/profile.h>
#include <trackway/pyramid.h>
#include <trackway/replay.h>
#include <trackway/report.h>
#include <trackway/run.h>
#include <trackway/sequence.h>
#include <trackway/sim.h>
#include <trackway/statistics.h>
#include <trackway/symbols.h>
#include <trackway/version.h>

#include "failing.h"

#define CAPTURES TW_SOURCE_DIR "/tests/captures/"
#define TRY(call)                                                                              \
    do {                                                                                       \
        const enum tw_status tried = (call);                                                   \
        if (tried != TW_OK)                                                                    \
            return tried;                                                                      \
    } while (0)

enum { FEW = 60, STEP = 7 }; /* of more requests some are tried; TW_TEST_FULL: all */

/* One use of the library.  What it made is there to be freed, whatever came of it. */
struct use {
    const struct tw_allocator *allocator;
    uint64_t hash; /* of what it found */
    struct tw_capture *capture;
    struct tw_run *run, *counted;
    struct tw_calls *calls;
    struct tw_coverage *coverage;
    struct tw_statistics *statistics;
    struct tw_pyramid *pyramid;
    struct tw_replay *replay;
    struct tw_report *report;
    struct tw_doctor *doctor;
    struct tw_identified *identified;
    struct tw_symbols *symbols;
    struct tw_log *log;
    struct tw_sequence *sequence;
    struct tw_control *control;
    struct tw_index *index;
    struct tw_edge_map *map;
    struct tw_profiler *profile;
    struct tw_perf_writer *writer;
    struct tw_hart *hart;
    struct tw_etrace_unit *unit;
    uint8_t edges[1 << TW_EDGE_MAP_BITS];
};

static inline void add(struct use *use, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < size; i++)
        use->hash = (use->hash ^ at[i]) * UINT64_C(1099511628211);
}

static inline void add_text(struct use *use, const char *text)
{
    add(use, text ? text : "(none)", text ? strlen(text) : 6);
}

static inline void add_number(struct use *use, uint64_t number)
{
    add(use, &number, sizeof number);
}

static inline bool add_bytes(void *context, const void *bytes, size_t size)
{
    add(context, bytes, size);
    return true;
}

static inline void free_all(struct use *use)
{
    tw_index_free(use->index);
    tw_edge_map_free(use->map);
    tw_profile_free(use->profile);
    tw_perf_writer_free(use->writer);
    tw_hart_free(use->hart);
    tw_etrace_unit_free(use->unit);
    tw_report_free(use->report);
    tw_doctor_free(use->doctor);
    tw_replay_free(use->replay);
    tw_pyramid_free(use->pyramid);
    tw_statistics_free(use->statistics);
    tw_coverage_free(use->coverage);
    tw_calls_free(use->calls);
    tw_run_free(use->counted);
    tw_run_free(use->run);
    tw_capture_free(use->capture);
    tw_identified_free(use->identified);
    tw_symbols_free(use->symbols);
    tw_log_free(use->log);
    tw_sequence_free(use->sequence);
    tw_control_free(use->control);
}

static inline enum tw_status open_demo(struct use *use)
{
    const struct tw_capture_options options = { .size = sizeof options,
                                                .allocator = use->allocator };

    return tw_capture_open(&use->capture, CAPTURES "demo", &options, NULL);
}

static inline enum tw_status begin(struct use *use, const struct tw_run_counter *counter)
{
    const struct tw_run_config config = {
        .size = sizeof config, .threads = 1, .counter = counter, .allocator = use->allocator
    };

    return tw_run_new(counter ? &use->counted : &use->run, use->capture, &config, NULL);
}

struct memory_use {
    const char *name;
    enum tw_status (*run)(struct use *use);
    bool wants_elf;
};

/* The pyramid of the demo. */
static inline enum tw_status make_pyramid(struct use *use)
{
    struct tw_pyramid_config config = { .size = sizeof config, .allocator = use->allocator };
    struct tw_part part = { .size = sizeof part };
    enum tw_status status;

    TRY(open_demo(use));
    TRY(begin(use, NULL));
    config.bytes = tw_capture_buffer(use->capture, 0)->size;
    config.block = 256;
    TRY(tw_pyramid_new(&use->pyramid, &config, NULL));
    while ((status = tw_run_next(use->run, &part)) == TW_OK)
        TRY(tw_pyramid_take(use->pyramid, use->run, &part));
    if (status != TW_END)
        return status;
    TRY(tw_pyramid_finish(use->pyramid));
    return TW_OK;
}

static inline enum tw_status try_use(struct failing *failing, uint64_t *hash,
                                     const struct memory_use *about)
{
    const struct tw_allocator allocator = { failing_resize, failing };
    struct use *use = calloc(1, sizeof *use);
    enum tw_status status;

    assert_non_null(use);
    use->allocator = &allocator;
    use->hash = UINT64_C(14695981039346656037);
    status = about->run(use);
    *hash = use->hash;
    free_all(use);
    free(use);
    CHECK_EQ(failing->live, 0);
    return status;
}

/* Without memory at each request of each use, as far as they are tried. */
static inline void memory_may_run_out(const struct memory_use *uses, size_t count)
{
    const bool is_full = check_scale(10) == 10;
    const size_t step = is_full ? 1 : STEP;

    for (size_t i = 0; i < count; i++) {
        struct failing failing = { .left = SIZE_MAX };
        uint64_t want, got;
        size_t requests;

        if (uses[i].wants_elf && !strstr(tw_features(), "elf"))
            continue; /* there are no symbols to read */
        CHECK_CASE(uses[i].name);
        CHECK_EQ(try_use(&failing, &want, &uses[i]), TW_OK);
        requests = failing.asked;
        CHECK(requests > 0);
        for (size_t n = 0; n < requests; n += n < FEW ? 1 : step)
            for (unsigned once = 0; once < 2; once++) {
                enum tw_status status;

                check_case("%s, request %zu of %zu fails%s", uses[i].name, n + 1, requests,
                           once ? " once" : "");
                failing = (struct failing){ .left = n, .is_once = once };
                status = try_use(&failing, &got, &uses[i]);
                CHECK(status == TW_E_MEMORY || (status == TW_OK && got == want));
            }
        if (is_full)
            print_message("%s: %zu requests\n", uses[i].name, requests);
    }
}

#endif
