/* SPDX-License-Identifier: BSD-2-Clause */
/* Analyses, captures and what belongs to them, without memory (memory.h). */
#include "memory.h"

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
    struct tw_tile tile = { .size = sizeof tile };

    TRY(make_pyramid(use));
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

static const struct memory_use uses[] = {
    { "calls", use_calls, false },           { "coverage", use_coverage, false },
    { "edge map", use_edges, false },        { "index", use_index, false },
    { "statistics", use_statistics, false }, { "pyramid", use_pyramid, false },
    { "replay", use_replay, false },         { "report", use_report, false },
    { "doctor", use_doctor, false },         { "identify", use_identify, false },
    { "symbols", use_symbols, true },        { "log", use_log, false },
    { "sequence", use_sequence, false },     { "control", use_control, false },
};

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    memory_may_run_out(uses, sizeof uses / sizeof uses[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(memory_may_run_out_anywhere) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
