/* SPDX-License-Identifier: BSD-2-Clause */
/* The library without memory: what is done with it, from the file to the result, with an allocator whose
   n-th request fails, once or from there on, for every n.  It says so or gives what it gives with memory;
   all that was taken is given back. */
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
#include <trackway/identify.h>
#include <trackway/index.h>
#include <trackway/log.h>
#include <trackway/pyramid.h>
#include <trackway/replay.h>
#include <trackway/report.h>
#include <trackway/run.h>
#include <trackway/sequence.h>
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
    uint8_t edges[1 << TW_EDGE_MAP_BITS];
};

static void add(struct use *use, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < size; i++)
        use->hash = (use->hash ^ at[i]) * UINT64_C(1099511628211);
}

static void add_text(struct use *use, const char *text)
{
    add(use, text ? text : "(none)", text ? strlen(text) : 6);
}

static void add_number(struct use *use, uint64_t number)
{
    add(use, &number, sizeof number);
}

static bool add_bytes(void *context, const void *bytes, size_t size)
{
    add(context, bytes, size);
    return true;
}

static void free_all(struct use *use)
{
    tw_index_free(use->index);
    tw_edge_map_free(use->map);
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

static enum tw_status open_demo(struct use *use)
{
    const struct tw_capture_options options = { .size = sizeof options,
                                                .allocator = use->allocator };

    return tw_capture_open(&use->capture, CAPTURES "demo", &options, NULL);
}

static enum tw_status begin(struct use *use, const struct tw_run_counter *counter)
{
    const struct tw_run_config config = {
        .size = sizeof config, .threads = 1, .counter = counter, .allocator = use->allocator
    };

    return tw_run_new(counter ? &use->counted : &use->run, use->capture, &config, NULL);
}

/* ---- uses ---- */

static enum tw_status use_calls(struct use *use)
{
    const struct tw_calls_config config = { .size = sizeof config,
                                            .allocator = use->allocator };
    struct tw_part part = { .size = sizeof part };
    const struct tw_functions *functions;
    enum tw_status status;

    TRY(open_demo(use));
    TRY(begin(use, NULL));
    TRY(tw_calls_new(&use->calls, &config, NULL));
    while ((status = tw_run_next(use->run, &part)) == TW_OK)
        TRY(tw_calls_take(use->calls, use->run, &part));
    if (status != TW_END)
        return status;
    TRY(tw_calls_finish(use->calls));
    functions = tw_calls_functions(use->calls);
    for (uint32_t i = 1; i < tw_functions_count(functions); i++) {
        struct tw_source_line line = { NULL, 0 };

        add_text(use, tw_functions_get(functions, i)->name);
        add_number(use, tw_calls_totals(use->calls, i).inclusive);
        add_number(use, tw_function_line(tw_functions_get(functions, i), &line));
        add_text(use, line.file);
        add_number(use, line.line);
    }
    return tw_calls_is_complete(use->calls) ? TW_OK : TW_E_MEMORY;
}

static enum tw_status count_coverage(struct use *use)
{
    const struct tw_coverage_config config = { .size = sizeof config,
                                               .allocator = use->allocator };
    struct tw_run_counter counter;

    TRY(open_demo(use));
    TRY(tw_coverage_new(&use->coverage, &config, NULL));
    counter = tw_coverage_counter(use->coverage);
    TRY(begin(use, &counter));
    tw_coverage_run(use->coverage, use->counted);
    return tw_run_all(use->counted);
}

static enum tw_status use_coverage(struct use *use)
{
    TRY(count_coverage(use));
    TRY(tw_coverage_finish(use->coverage));
    for (size_t i = 0; i < tw_coverage_object_count(use->coverage); i++)
        for (size_t k = 0; tw_coverage_function(use->coverage, i, k); k++)
            add_text(use, tw_coverage_function(use->coverage, i, k)->name);
    for (size_t i = 0; tw_coverage_line(use->coverage, i); i++) {
        add_number(use, tw_coverage_line(use->coverage, i)->line);
        add_number(use, tw_coverage_line(use->coverage, i)->count);
    }
    return TW_OK;
}

static enum tw_status use_edges(struct use *use)
{
    const struct tw_edge_map_config config = { .size = sizeof config,
                                               .allocator = use->allocator };
    struct tw_run_counter counter;

    TRY(open_demo(use));
    TRY(tw_edge_map_new(&use->map, &config, NULL));
    counter = tw_edge_map_counter(use->map, use->edges);
    TRY(begin(use, &counter));
    TRY(tw_run_all(use->counted));
    add(use, use->edges, sizeof use->edges);
    return tw_edge_map_is_complete(use->map) ? TW_OK : TW_E_MEMORY;
}

static enum tw_status use_index(struct use *use)
{
    const struct tw_index_config config = { .size = sizeof config };
    struct tw_index_entry entry;
    const struct tw_index_capture *capture;

    TRY(open_demo(use));
    TRY(begin(use, NULL));
    TRY(tw_run_index_capture(use->run, &capture, 0));
    TRY(tw_index_build(&use->index, capture, &config, NULL));
    for (uint64_t i = 0; i < 9; i++)
        if (tw_run_place_nth(use->run, use->index, &entry, TW_INDEX_SYNC, i) == TW_OK)
            add_number(use, entry.offset);
    return TW_OK;
}

static enum tw_status use_statistics(struct use *use)
{
    struct tw_source_statistics source = { .size = sizeof source };

    TRY(open_demo(use));
    TRY(tw_statistics_new(&use->statistics, use->capture, use->allocator, NULL));
    TRY(begin(use, tw_statistics_counter(use->statistics)));
    TRY(tw_run_all(use->counted));
    for (size_t i = 0; tw_statistics_source(use->statistics, &source, i); i++)
        add_number(use, source.id);
    return tw_statistics_end_packets(use->statistics);
}

static enum tw_status use_pyramid(struct use *use)
{
    struct tw_pyramid_config config = { .size = sizeof config, .allocator = use->allocator };
    struct tw_part part = { .size = sizeof part };
    struct tw_tile tile = { .size = sizeof tile };
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
    for (size_t i = 0; i < tw_pyramid_levels(use->pyramid); i++)
        for (size_t k = 0; tw_pyramid_tile(use->pyramid, &tile, i, k); k++)
            add_number(use, tile.instructions);
    return TW_OK;
}

static enum tw_status use_replay(struct use *use)
{
    const struct tw_replay_config config = { .size = sizeof config,
                                             .window = 1024,
                                             .allocator = use->allocator };
    struct tw_replay_frame frames[8];
    struct tw_replay_view view = { .size = sizeof view };
    struct tw_replay_loss loss;
    struct tw_replay_place place;
    const uint64_t address = 0x400174;
    size_t count;
    bool is_whole;

    TRY(open_demo(use));
    TRY(tw_replay_new(&use->replay, use->capture, &config, NULL));
    TRY(tw_replay_find_threads(use->replay));
    TRY(tw_replay_last(use->replay, &place, 0));
    for (unsigned i = 0; i < 3; i++) {
        TRY(tw_replay_step(use->replay, &place, true, &loss));
        TRY(tw_replay_find(use->replay, &place, true, &address, 1, &loss));
        TRY(tw_replay_look(use->replay, &view, &place));
        TRY(tw_replay_stack(use->replay, frames, 8, &count, &is_whole, &place,
                            TW_REPLAY_STACK_WHOLE));
        add_number(use, view.pc);
        for (size_t k = 0; k < count && k < 8; k++)
            add_text(use, frames[k].name);
    }
    return TW_OK;
}

static enum tw_status use_report(struct use *use)
{
    const struct tw_report_config config = { .size = sizeof config,
                                             .allocator = use->allocator };
    struct tw_part part = { .size = sizeof part };
    struct tw_run_counter counter;
    enum tw_status status;

    TRY(open_demo(use));
    TRY(begin(use, NULL));
    TRY(tw_report_new(&use->report, &config, NULL));
    while ((status = tw_run_next(use->run, &part)) == TW_OK)
        TRY(tw_report_take(use->report, use->run, &part));
    if (status != TW_END)
        return status;
    counter = tw_report_counter(use->report);
    TRY(begin(use, &counter));
    tw_report_run(use->report, use->counted);
    TRY(tw_run_all(use->counted));
    return tw_report_write(use->report, add_bytes, use);
}

static enum tw_status use_doctor(struct use *use)
{
    const struct tw_doctor_options options = { .size = sizeof options,
                                               .allocator = use->allocator };

    TRY(open_demo(use));
    TRY(tw_doctor_new(&use->doctor, use->capture, &options, NULL));
    add_text(use, tw_doctor_summary(use->doctor));
    for (size_t i = 0; tw_doctor_finding(use->doctor, i); i++)
        add_text(use, tw_doctor_finding(use->doctor, i)->text);
    return TW_OK;
}

static enum tw_status use_identify(struct use *use)
{
    const struct tw_identify_options options = { .size = sizeof options,
                                                 .allocator = use->allocator };

    TRY(tw_identify(&use->identified, CAPTURES "demo/ETB_0.bin", &options, NULL));
    add_text(use, tw_identified_about(use->identified)->what);
    return TW_OK;
}

static enum tw_status use_symbols(struct use *use)
{
    struct tw_symbol symbol;

    TRY(tw_symbols_new(&use->symbols, use->allocator, NULL));
    TRY(tw_symbols_add_elf(use->symbols, CAPTURES "demo/recur.elf", 0));
    for (uint64_t at = 0x400100; at < 0x400700; at += 64)
        if (tw_symbols_find(use->symbols, &symbol, at))
            add_text(use, symbol.name);
    return TW_OK;
}

static enum tw_status use_log(struct use *use)
{
    const struct tw_log_options options = { .size = sizeof options,
                                            .allocator = use->allocator };
    struct tw_step step;
    enum tw_status status;

    TRY(tw_log_open(&use->log, CAPTURES "logs/a32-recur.exlog.gz", &options, NULL));
    for (unsigned i = 0; i < 3000; i++) {
        status = tw_log_next(use->log, &step);
        if (status != TW_OK)
            return status == TW_END ? TW_OK : status;
        add_number(use, step.kind);
    }
    return TW_OK;
}

static enum tw_status use_sequence(struct use *use)
{
    static const char text[] = "TRBLIMITR_EL1 = 1\nTRCPRGCTLR = 1\nisb\ntsb csync\n";
    const struct tw_sequence_config config = { .size = sizeof config,
                                               .allocator = use->allocator };

    TRY(tw_sequence_check(&use->sequence, text, sizeof text - 1, &config, NULL));
    for (size_t i = 0; i < tw_sequence_count(use->sequence); i++)
        add_number(use, tw_sequence_finding(use->sequence, i)->line);
    return TW_OK;
}

static enum tw_status use_control(struct use *use)
{
    static const char text[] = "[te0 0x20000000]\ntrTeControl = 0x01110061\n"
                               "trTeInstFeatures = 0\n[ram0 0x20001000]\ntrRamControl = 0x11\n";
    char out[4096];
    size_t size = sizeof out;
    enum tw_status status;

    TRY(tw_control_read(&use->control, text, sizeof text - 1, use->allocator, NULL));
    status = tw_control_config(use->control, out, &size, NULL);
    add_number(use, status == TW_OK);
    add_number(use, tw_control_count(use->control));
    return TW_OK;
}

static const struct {
    const char *name;
    enum tw_status (*run)(struct use *use);
} uses[] = {
    { "calls", use_calls },       { "coverage", use_coverage },     { "edge map", use_edges },
    { "index", use_index },       { "statistics", use_statistics }, { "pyramid", use_pyramid },
    { "replay", use_replay },     { "report", use_report },         { "doctor", use_doctor },
    { "identify", use_identify }, { "symbols", use_symbols },       { "log", use_log },
    { "sequence", use_sequence }, { "control", use_control },
};

static enum tw_status try_use(struct failing *failing, uint64_t *hash, size_t number)
{
    const struct tw_allocator allocator = { failing_resize, failing };
    struct use *use = calloc(1, sizeof *use);
    enum tw_status status;

    assert_non_null(use);
    use->allocator = &allocator;
    use->hash = UINT64_C(14695981039346656037);
    status = uses[number].run(use);
    *hash = use->hash;
    free_all(use);
    free(use);
    CHECK_EQ(failing->live, 0);
    return status;
}

static void memory_may_run_out_anywhere(void **state)
{
    const bool is_full = check_scale(10) == 10;
    const size_t step = is_full ? 1 : STEP;

    (void)state;
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        struct failing failing = { .left = SIZE_MAX };
        uint64_t want, got;
        size_t requests;

        if (uses[i].run == use_symbols && !strstr(tw_features(), "elf"))
            continue; /* there are none to read */
        CHECK_CASE(uses[i].name);
        CHECK_EQ(try_use(&failing, &want, i), TW_OK);
        requests = failing.asked;
        CHECK(requests > 0);
        for (size_t n = 0; n < requests; n += n < FEW ? 1 : step)
            for (unsigned once = 0; once < 2; once++) {
                enum tw_status status;

                check_case("%s, request %zu of %zu fails%s", uses[i].name, n + 1, requests,
                           once ? " once" : "");
                failing = (struct failing){ .left = n, .is_once = once };
                status = try_use(&failing, &got, i);
                CHECK(status == TW_E_MEMORY || (status == TW_OK && got == want));
            }
        if (is_full)
            print_message("%s: %zu requests\n", uses[i].name, requests);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(memory_may_run_out_anywhere) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
