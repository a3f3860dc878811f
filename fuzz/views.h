/* SPDX-License-Identifier: BSD-2-Clause */
/* The rest of what can be asked of a capture: in time, from afar, from place to place, by an index. */
#ifndef FUZZ_VIEWS_H
#define FUZZ_VIEWS_H

#include "analyses.h"

/* ---- timelines, in every format; interrupts ---- */

struct timeline_sinks {
    struct tw_timeline_writer *writer;
    struct tw_interrupts *interrupts;
};

static void on_event(void *context, const struct tw_timeline_event *event)
{
    const struct timeline_sinks *sinks = context;

    require(event->times.low == TW_TIME_UNKNOWN || event->times.high == TW_TIME_UNKNOWN ||
            event->times.low <= event->times.high);
    if (sinks->writer)
        tw_timeline_writer_take(sinks->writer, event);
    require(tw_interrupts_take(sinks->interrupts, event) == TW_OK);
}

static void do_timeline(const struct subject *subject, const struct tw_format *format,
                        unsigned number)
{
    struct timeline_sinks sinks = { NULL, NULL };
    const struct tw_timeline_config about = { .size = sizeof about,
                                              .key = (enum tw_call_key)(number & 3),
                                              .unit = (enum tw_time_unit)(number % 6),
                                              .is_logical = number & 1,
                                              .least = number & 2 ? 20 : 0,
                                              .event = on_event,
                                              .context = &sinks };
    struct tw_interrupts_config for_interrupts = { .size = sizeof for_interrupts };
    struct tw_run_config config = subject->config;
    struct tw_part part = { .size = sizeof part };
    struct tw_timeline_stats stats = { .size = sizeof stats };
    uint64_t sum = 0;
    struct tw_subject all = { .size = sizeof all,
                              .clock = number & 1 ? 1000000 : 0,
                              .write_file = swallow_file,
                              .file_context = &sum };
    struct tw_timeline *timeline;
    struct tw_run *run;

    config.order = TW_ORDER_TIME;
    run = start(subject, &config);
    require(tw_timeline_new(&timeline, &about, NULL) == TW_OK);
    all.timeline = for_interrupts.timeline = timeline;
    require(tw_interrupts_new(&sinks.interrupts, &for_interrupts, NULL) == TW_OK);
    if (tw_timeline_writer_new(&sinks.writer, format, &all, swallow, &sum, NULL) != TW_OK)
        sinks.writer = NULL;
    while (run && tw_run_next(run, &part) == TW_OK)
        require(tw_timeline_take(timeline, run, &part) == TW_OK);
    require(tw_timeline_finish(timeline) == TW_OK);
    if (sinks.writer)
        (void)!tw_timeline_writer_end(sinks.writer);
    tw_timeline_writer_free(sinks.writer);
    require(tw_timeline_stats(timeline, &stats));
    for (size_t i = 0; tw_interrupts_get(sinks.interrupts, i); i++)
        require(tw_timeline_track(timeline, tw_interrupts_get(sinks.interrupts, i)->track) !=
                NULL);
    tw_interrupts_free(sinks.interrupts);
    tw_timeline_free(timeline);
    tw_run_free(run);
}

static void do_timelines(const struct subject *subject)
{
    const struct tw_format *format;
    unsigned number = 0;

    for (size_t i = 0; (format = tw_format_get(i)); i++)
        if (format->subjects & TW_SUBJECT_TIMELINE) {
            if (goes_through(number % 8, 8, subject->choice))
                do_timeline(subject, format, number);
            number++;
        }
}

/* ---- reports, and what is wrong ---- */

static void do_doctor(const struct subject *subject)
{
    const struct tw_doctor_options options = { .size = sizeof options };
    const struct tw_finding *finding;
    struct tw_doctor *doctor;
    char picture[256];

    if (tw_doctor_new(&doctor, subject->capture, &options, NULL) == TW_OK) {
        for (size_t i = 0; (finding = tw_doctor_finding(doctor, i)); i++)
            require(finding->code && finding->text);
        require(tw_doctor_summary(doctor) != NULL);
        (void)tw_doctor_svg(picture, sizeof picture, doctor);
    }
    tw_doctor_free(doctor);
}

static void do_report(const struct subject *subject)
{
    const struct tw_doctor_options options = { .size = sizeof options };
    const struct tw_report_config about = { .size = sizeof about, .title = "capture" };
    struct tw_run_config config = subject->config;
    struct tw_part part = { .size = sizeof part };
    struct tw_run_counter counter;
    struct tw_report *report;
    struct tw_doctor *doctor;
    struct tw_run *run, *second;
    uint64_t sum = 0;

    config.order = TW_ORDER_TIME;
    require(tw_report_new(&report, &about, NULL) == TW_OK);
    run = start(subject, &config);
    while (run && tw_run_next(run, &part) == TW_OK)
        require(tw_report_take(report, run, &part) == TW_OK);
    config.order = TW_ORDER_CAPTURE;
    counter = tw_report_counter(report);
    config.counter = &counter;
    second = start(subject, &config);
    if (second) {
        tw_report_run(report, second);
        (void)!tw_run_all(second);
    }
    if (tw_doctor_new(&doctor, subject->capture, &options, NULL) == TW_OK)
        require(tw_report_doctor(report, doctor) == TW_OK);
    if (run)
        require(tw_report_write(report, swallow, &sum) == TW_OK);
    tw_report_free(report);
    tw_doctor_free(doctor);
    tw_run_free(second);
    tw_run_free(run);
}

/* ---- from place to place ---- */

struct reopened {
    const struct subject *subject;
    struct tw_capture *captures[2];
    size_t count;
};

static struct tw_capture *open_again(void *context)
{
    struct reopened *again = context;

    if (again->count == 2 ||
        tw_capture_open(&again->captures[again->count], again->subject->path,
                        again->subject->options, NULL) != TW_OK)
        return NULL;
    return again->captures[again->count++];
}

/* As many steps back as there were forward lead to where they began. */
static void step(struct tw_replay *replay, struct tw_replay_place *place)
{
    const struct tw_replay_place from = *place;
    struct tw_replay_view view = { .size = sizeof view };
    struct tw_replay_loss loss;
    char line[256];
    size_t count;
    int done = 0;

    while (done < STEPS && tw_replay_step(replay, place, false, &loss) == TW_OK) {
        done++;
        if (loss.kind != TW_REPLAY_NO_LOSS)
            require(tw_replay_loss_text(line, sizeof line, &loss) > 0);
        if (tw_replay_look(replay, &view, place) != TW_OK)
            break;
        (void)tw_replay_elements(replay, &count, place, done & 1);
    }
    for (int i = 0; i < done; i++)
        require(tw_replay_step(replay, place, true, &loss) == TW_OK);
    require(tw_replay_compare(place, &from) == 0);
}

static void walk_thread(struct tw_replay *replay, uint32_t thread, unsigned long at)
{
    struct tw_replay_view view = { .size = sizeof view };
    struct tw_replay_frame frames[4];
    struct tw_replay_place place, other;
    struct tw_replay_loss loss;
    uint64_t number, address = at;
    bool is_whole;
    size_t count;

    if (tw_replay_first(replay, &place, thread) != TW_OK)
        return;
    step(replay, &place);
    require(tw_replay_number(replay, &number, &place) == TW_OK && number == 0);
    if (tw_replay_look(replay, &view, &place) == TW_OK)
        address = view.pc;
    if (tw_replay_at_number(replay, &other, thread, at % 50) == TW_OK) {
        (void)!tw_replay_stack(replay, frames, 4, &count, &is_whole, &other,
                               TW_REPLAY_STACK_NEAR);
        (void)!tw_replay_stack(replay, frames, 4, &count, &is_whole, &other,
                               TW_REPLAY_STACK_WHOLE);
        (void)!tw_replay_find(replay, &other, false, &address, 1, NULL);
        (void)!tw_replay_find(replay, &other, true, &address, 1, &loss);
        (void)tw_replay_bytes_before(replay, &other);
    }
    (void)!tw_replay_at_offset(replay, &other, thread, at % 200);
    (void)!tw_replay_at_time(replay, &other, thread, at);
    if (tw_replay_last(replay, &place, thread) == TW_OK)
        step(replay, &place);
}

static void do_replay(const struct subject *subject)
{
    struct reopened again = { .subject = subject };
    struct tw_run_config config = subject->config;
    const struct tw_replay_config about = { .size = sizeof about,
                                            .run = &config,
                                            .window = 96,
                                            .memory = 4096,
                                            .open_again = open_again,
                                            .context = &again };
    struct tw_replay_thread thread = { .size = sizeof thread };
    struct tw_replay *replay;

    config.threads = 2;
    if (tw_replay_new(&replay, subject->capture, &about, NULL) == TW_OK &&
        tw_replay_find_threads(replay) == TW_OK)
        for (uint32_t i = 0; i < 4 && tw_replay_thread(replay, &thread, i); i++) {
            require(thread.name != NULL);
            walk_thread(replay, i, subject->at);
        }
    tw_replay_free(replay);
    for (size_t i = 0; i < again.count; i++)
        tw_capture_free(again.captures[i]);
}

/* ---- perf.data; software trace ---- */

static void on_sample(void *context, const struct tw_sample *sample)
{
    *(uint64_t *)context += strlen(tw_sample_flags_name(sample->flags)) + strlen(sample->comm);
}

static bool swallow_text(void *context, const char *text, size_t size)
{
    return swallow(context, text, size);
}

static void sample(const struct subject *subject, unsigned i)
{
    uint64_t sum = 0;
    const struct tw_samples_config about = { .size = sizeof about,
                                             .is_perf_6_1 = i & 1,
                                             .period = i & 2 ? 3 : 0,
                                             .stack_room = i & 2 ? 5 : 0,
                                             .report = on_sample,
                                             .context = &sum };
    struct tw_run_config config = subject->config;
    struct tw_part part = { .size = sizeof part };
    struct tw_samples *samples;
    struct tw_autofdo *autofdo;
    struct tw_run *run;
    size_t file;

    config.order = TW_ORDER_TIME;
    run = start(subject, &config);
    require(tw_samples_new(&samples, subject->capture, &about, NULL) == TW_OK);
    require(tw_autofdo_new(&autofdo, subject->capture, NULL, NULL) == TW_OK);
    while (run && tw_run_next(run, &part) == TW_OK) {
        require(tw_samples_take(samples, &part) == TW_OK);
        require(tw_autofdo_take(autofdo, &part) == TW_OK);
    }
    file = tw_autofdo_choose(autofdo, NULL);
    if (file != SIZE_MAX)
        require(tw_autofdo_write(autofdo, file, swallow_text, &sum) == TW_OK);
    tw_samples_free(samples);
    tw_autofdo_free(autofdo);
    tw_run_free(run);
}

static void do_samples(const struct subject *subject)
{
    for (unsigned i = 0; i < 4; i++)
        if (tw_capture_kind(subject->capture) == TW_CAPTURE_PERF &&
            goes_through(i, 4, subject->choice))
            sample(subject, i);
}

static void on_channel(void *context, const struct tw_channel_event *event)
{
    *(uint64_t *)context += strlen(event->type);
}

static void on_line(void *context, const struct tw_channel_line *line)
{
    (void)swallow(context, line->text, line->text_size);
}

static void do_channels(const struct subject *subject)
{
    uint64_t sum = 0;
    const struct tw_channels_config about = { .size = sizeof about,
                                              .with_values = true,
                                              .on_event = on_channel,
                                              .on_line = on_line,
                                              .context = &sum };
    struct tw_part part = { .size = sizeof part };
    struct tw_pc_totals totals = { .size = sizeof totals };
    const struct tw_pc_count *counts;
    struct tw_pc_samples *samples, *again;
    struct tw_channels *channels;
    struct tw_run *run = start(subject, &subject->config);
    char path[BUNDLE_PATH];
    size_t number;

    require(tw_channels_new(&channels, &about, NULL) == TW_OK);
    require(tw_pc_samples_new(&samples, NULL, NULL) == TW_OK);
    while (run && tw_run_next(run, &part) == TW_OK)
        if (part.kind == TW_PART_ELEMENTS) {
            require(tw_channels_take(channels, &part.batch) == TW_OK);
            require(tw_pc_samples_take(samples, &part.batch) == TW_OK);
        }
    require(tw_channels_finish(channels) == TW_OK);
    require(tw_pc_samples_counts(samples, &counts, &number, NULL) == TW_OK);
    require(tw_pc_samples_totals(samples, &totals) && number <= totals.samples);
    bundle_path(path, subject->bundle, "saved");
    require(tw_pc_samples_save(samples, path, NULL) == TW_OK);
    require(tw_pc_samples_load(&again, path, NULL, NULL) == TW_OK);
    require(tw_pc_samples_add(again, samples) == TW_OK);
    merge_saved(subject->bundle);
    bundle_remove(subject->bundle, "saved");
    tw_pc_samples_free(again);
    tw_pc_samples_free(samples);
    tw_channels_free(channels);
    tw_run_free(run);
}

/* ---- by an index ---- */

/* From a place on, the elements are the same with an index and without. */
static uint64_t from_place(const struct subject *subject, const struct tw_run_place *place,
                           const char *index)
{
    struct tw_run_config config = subject->config;
    struct tw_part part = { .size = sizeof part };
    struct tw_run *run;
    uint64_t sum = 0;

    config.index = index;
    run = start(subject, &config);
    if (run && tw_run_seek(run, place) == TW_OK)
        while (tw_run_next(run, &part) == TW_OK)
            for (size_t i = 0; part.kind == TW_PART_ELEMENTS && i < part.batch.count; i++)
                sum = (sum ^ part.batch.elements[i].index << 8 ^ part.batch.elements[i].type) *
                      0x100000001b3;
    tw_run_free(run);
    return sum;
}

static void do_index(const struct subject *subject)
{
    const struct tw_index_config about = { .size = sizeof about,
                                           .detail = TW_INDEX_FULL,
                                           .block_bytes = 512 };
    const struct tw_run_place places[] = { { TW_PLACE_OFFSET, TW_INDEX_SYNC, subject->at },
                                           { TW_PLACE_NTH, TW_INDEX_SYNC, 2 },
                                           { TW_PLACE_NTH, TW_INDEX_TIME, 1 },
                                           { TW_PLACE_TIME, TW_INDEX_TIME, subject->at } };
    const struct tw_index_capture *capture;
    struct tw_run *run = start(subject, &subject->config);
    struct tw_index *index = NULL;
    const struct tw_index *whole;
    char path[BUNDLE_PATH];

    bundle_path(path, subject->bundle, "index");
    if (run && tw_capture_buffer_count(subject->capture) == 1 &&
        tw_run_index_capture(run, &capture, 0) == TW_OK &&
        tw_index_build(&index, capture, &about, NULL) == TW_OK) {
        whole = index;
        require(tw_index_write(path, &whole, 1, NULL) == TW_OK);
        for (size_t i = 0; i < 3; i++)
            require(from_place(subject, &places[i], path) ==
                    from_place(subject, &places[i], NULL));
        (void)from_place(subject, &places[3], path);
        (void)from_place(subject, &places[3], NULL);
        bundle_remove(subject->bundle, "index");
    }
    tw_index_free(index);
    tw_run_free(run);
}

/* ---- a part of it ---- */

static void filter_by(const struct subject *subject, struct tw_filter *filter, unsigned number)
{
    struct tw_run_config config = subject->config;

    if (!goes_through(number, 8, subject->choice))
        return;
    filter->size = sizeof *filter;
    config.filter = filter;
    (void)elements_of(subject, &config, false);
    config.order = TW_ORDER_TIME;
    (void)elements_of(subject, &config, false);
}

static void do_filters(const struct subject *subject)
{
    static const char *const functions[] = { "leaf", "main" };
    static const char *const comms[] = { "prog", "a64" };
    const uint32_t numbers[] = { 0, 7 };
    const struct tw_address_range ranges[] = { { 0x1000, 0x1208 }, { 0x10000, 0 } };
    const struct tw_source *source = tw_capture_source_count(subject->capture)
                                         ? tw_capture_source(subject->capture, 0)
                                         : NULL;
    struct tw_filter code = { .ranges = ranges, .range_count = 2, .levels = 3 };
    struct tw_filter named = { .functions = functions, .function_count = 2 };
    struct tw_filter who = { .tids = numbers + 1,
                             .tid_count = 1,
                             .pids = numbers + 1,
                             .pid_count = 1,
                             .cpus = numbers,
                             .cpu_count = 1,
                             .comms = comms,
                             .comm_count = 2 };
    struct tw_filter place = {
        .has_from = true, .from = subject->at, .has_to = true, .to = 200
    };
    struct tw_filter when = {
        .has_from_time = true, .from_time = subject->at, .has_to_time = true, .to_time = 0x5800
    };
    struct tw_filter step = { .has_from_instruction = true,
                              .from_instruction = 3,
                              .has_to_instruction = true,
                              .to_instruction = 20 };
    struct tw_filter one = { .has_ids = true, .ids = { 1 << 16, 1 }, .srcs = numbers };

    filter_by(subject, &code, 0);
    filter_by(subject, &named, 1);
    filter_by(subject, &who, 2);
    filter_by(subject, &place, 3);
    filter_by(subject, &when, 4);
    filter_by(subject, &step, 5);
    filter_by(subject, &one, 6);
    if (source) {
        struct tw_filter by_name = { .sources = &source->name, .source_count = 1 };

        filter_by(subject, &by_name, 7);
    }
}

/* A tree of each buffer, fed in two pieces, with a log of what is amiss. */
static void do_tree(const struct subject *subject)
{
    const struct tw_errors_config log = {
        .size = sizeof log, .keeps_all = true, .most = 50, .name = "capture"
    };
    struct tw_errors *errors;
    char line[300];

    require(tw_errors_new(&errors, &log, NULL) == TW_OK);
    for (size_t i = 0; i < tw_capture_buffer_count(subject->capture) && i < 4; i++) {
        const struct tw_tree_config config = { .size = sizeof config,
                                               .range_limit = RANGE_LIMIT,
                                               .counts_elements = true,
                                               .markers = true,
                                               .errors = errors,
                                               .verbosity = TW_SEVERITY_INFO };
        struct tw_batch batch = { .size = sizeof batch };
        struct tw_retained *kept = NULL;
        struct tw_tree *tree;
        const uint8_t *bytes;
        size_t size;

        if (tw_capture_tree(&tree, subject->capture, i, &config, NULL) != TW_OK)
            continue;
        for (uint64_t at = 0; tw_capture_read(subject->capture, &bytes, &size, i, at) == TW_OK;
             at += size) {
            require(tw_tree_feed(tree, bytes, size / 2) == TW_OK);
            while (tw_tree_next(tree, &batch) == TW_OK)
                if (!kept && batch.source != UINT32_MAX) /* markers are not kept */
                    require(tw_tree_retain(&kept, tree, batch.elements) == TW_OK);
            require(tw_tree_feed(tree, bytes + size / 2, size - size / 2) == TW_OK);
            while (tw_tree_next(tree, &batch) == TW_OK)
                require(batch.count > 0);
            tw_capture_forget(subject->capture, i, at, size);
        }
        require(tw_tree_finish(tree) == TW_OK);
        while (tw_tree_next(tree, &batch) == TW_OK)
            require(batch.count > 0);
        tw_tree_free(tree);
        tw_retained_free(kept);
    }
    for (size_t i = 0; i < tw_errors_kept(errors); i++)
        require(tw_error_text(line, sizeof line, tw_errors_get(errors, i), "capture") > 0);
    tw_errors_free(errors);
}

/* ---- names of every file that is there ---- */

static void do_symbols(const struct subject *subject)
{
    for (size_t i = 0; i < subject->bundle->count; i++) {
        struct tw_symbol_object object = { .size = sizeof object };
        struct tw_code_stretch stretch;
        struct tw_source_frame frames[4];
        struct tw_sample_frame samples[4];
        struct tw_symbols *symbols;
        struct tw_source_line line;
        struct tw_symbol symbol;
        struct tw_perf_program program = { .size = sizeof program };
        struct tw_demangler *demangler;
        uint8_t build_id[20];
        struct tw_image *image;
        const struct tw_region region = { .size = sizeof region };
        char path[BUNDLE_PATH];

        bundle_path(path, subject->bundle, subject->bundle->names[i]);
        require(tw_image_new(&image, NULL, NULL) == TW_OK);
        require(tw_symbols_new(&symbols, NULL, NULL) == TW_OK);
        /* Some builds know no names but those that there are. */
        require(tw_demangler_new(&demangler, NULL, NULL) != TW_E_MEMORY);
        (void)!tw_image_add_any(image, &region, path);
        (void)!tw_image_add_segments(image, &region, path);
        (void)!tw_symbols_add_loaded(symbols, path, 0, subject->at);
        (void)!tw_perf_program(&program, path, NULL);
        require(tw_perf_build_id(build_id, path) <= sizeof build_id);
        if (tw_symbols_add_elf(symbols, path, 0) == TW_OK &&
            tw_symbols_object(symbols, &object, 0))
            for (uint64_t at = object.code; at < object.code + 64; at += 2) {
                (void)tw_symbols_line(symbols, &line, at);
                (void)tw_symbols_frames(symbols, frames, 4, at);
                (void)tw_symbols_sample_frames(symbols, samples, 4, at);
                (void)tw_symbols_function(symbols, &symbol, at);
                if (tw_symbols_find(symbols, &symbol, at)) {
                    require(tw_symbols_by_name(symbols, &symbol, symbol.name, 0));
                    (void)tw_symbols_local(symbols, &symbol);
                    require(tw_demangle(demangler, symbol.name) != NULL);
                }
            }
        for (size_t k = 0; k < ROWS_MOST && tw_symbols_code(symbols, &stretch, k); k++)
            require(stretch.first < stretch.end);
        tw_demangler_free(demangler);
        tw_symbols_free(symbols);
        tw_image_free(image);
    }
}

#endif
