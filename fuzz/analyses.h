/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything that can be asked of a capture, as often as makes sense: it never breaks, what is counted on several threads or
   in parts is what one thread counts at once, and what was saved is loaded again. */
#ifndef FUZZ_ANALYSES_H
#define FUZZ_ANALYSES_H

#include <trackway/experimental.h>
#include <trackway/trackway.h>

#include "bundle.h"
#include "kept.h"

enum { PARTS = 2, RANGE_LIMIT = 1000, STEPS = 60, ROWS_MOST = 2000, OUTPUT_MOST = 1 << 18 };

struct subject {
    struct tw_capture *capture;
    const char *path;
    const struct tw_capture_options *options; /* that it was opened with */
    unsigned long at;                         /* a place, a time, an address ... */
    unsigned choice;                          /* which parts of an analysis */
    const struct bundle *bundle;
    struct tw_run_config config;
};

static bool swallow(void *context, const void *bytes, size_t size)
{
    const uint8_t *all = bytes;
    uint64_t *sum = context;

    for (size_t i = 0; i < size; i++)
        *sum = (*sum ^ all[i]) * 0x100000001b3;
    return true;
}

/* Of stacks that are deep, whose paths are written one by one, the beginning: where millions of others wait. */
struct mouth {
    uint64_t sum;
    size_t taken;
};

static bool swallow_some(void *context, const void *bytes, size_t size)
{
    struct mouth *mouth = context;

    mouth->taken += size;
    return swallow(&mouth->sum, bytes, size) && (!is_fuzzed() || mouth->taken < OUTPUT_MOST);
}

static bool swallow_file(void *context, const char *name, const void *bytes, size_t size)
{
    return name[0] != 0 && swallow(context, bytes, size);
}

static struct tw_run *start(const struct subject *subject, const struct tw_run_config *config)
{
    struct tw_fault fault = { .text = "" };
    struct tw_run *run;

    if (tw_run_new(&run, subject->capture, config, &fault) != TW_OK)
        require(fault.text[0] != 0);
    return run;
}

/* The whole file again: equal results give equal bytes. */
static uint64_t take_file(const struct bundle *bundle, const char *name)
{
    char path[BUNDLE_PATH];
    uint64_t sum = 0;
    FILE *file;
    int c;

    bundle_path(path, bundle, name);
    file = fopen(path, "rb");
    if (file) {
        while ((c = fgetc(file)) != EOF)
            sum = (sum ^ (unsigned)c) * 0x100000001b3;
        (void)fclose(file);
    }
    return sum;
}

/* The saved file added to itself, and to that: the order does not matter. */
static void merge_saved(const struct bundle *bundle)
{
    static const char *const names[] = { "saved", "twice", "thrice", "other" };
    char paths[4][BUNDLE_PATH];
    const char *const first[] = { paths[0], paths[0] }, *const rest[] = { paths[1], paths[0] },
                      *const back[] = { paths[0], paths[1] };
    uint64_t sum;

    for (size_t i = 0; i < 4; i++)
        bundle_path(paths[i], bundle, names[i]);
    require(tw_merge(paths[1], first, 2, NULL, NULL) == TW_OK);
    require(tw_merge(paths[2], rest, 2, NULL, NULL) == TW_OK);
    require(tw_merge(paths[3], back, 2, NULL, NULL) == TW_OK);
    sum = take_file(bundle, names[2]);
    require(sum && sum == take_file(bundle, names[3]));
    for (size_t i = 1; i < 4; i++)
        bundle_remove(bundle, names[i]);
}

/* ---- elements ---- */

static uint64_t elements_of(const struct subject *subject, const struct tw_run_config *config,
                            bool is_named)
{
    struct tw_part part = { .size = sizeof part };
    struct tw_run_losses losses = { .size = sizeof losses };
    struct tw_missing missing;
    struct tw_run *run = start(subject, config);
    struct tw_walk *walk;
    uint64_t sum = 0;

    if (!run)
        return 0;
    require(tw_walk_new(&walk, NULL, NULL) == TW_OK);
    while (tw_run_next(run, &part) == TW_OK) {
        sum = (sum ^ part.kind ^ part.buffer) * 0x100000001b3;
        for (size_t i = 0; part.kind == TW_PART_ELEMENTS && i < part.batch.count; i++) {
            const struct tw_element *element = &part.batch.elements[i];
            struct tw_name name = { .size = sizeof name };
            struct tw_source_frame frames[4];
            struct tw_code_bytes code;
            size_t size;

            sum = (sum ^ element->index << 8 ^ element->type ^ part.who.tid) * 0x100000001b3;
            if (is_named) {
                char line[600];

                require(tw_element_text(line, sizeof line, element, part.batch.id) > 0);
                require(tw_element_json(line, sizeof line, element, part.batch.id) > 0);
            }
            if (!is_named || element->type != TW_ELEMENT_INSTR_RANGE)
                continue;
            (void)tw_run_name(run, &name, &part, element->start);
            (void)tw_run_frames(run, frames, 4, &part, element->start);
            tw_walk_start(walk, &part, element);
            while (tw_walk_next(walk, &code, &size))
                sum += size && config->threads > 1;
        }
    }
    require(tw_run_losses(run, &losses));
    for (size_t i = 0; tw_run_missing(run, &missing, i); i++)
        sum += missing.times;
    tw_walk_free(walk);
    tw_run_free(run);
    return sum;
}

static void do_elements(const struct subject *subject)
{
    struct tw_run_config config = subject->config;
    uint64_t one;

    if (goes_through(0, 3, subject->choice)) {
        one = elements_of(subject, &config, false);
        config.threads = 3;
        require(elements_of(subject, &config, false) == one);
    }
    config.threads = 1;
    config.order = TW_ORDER_TIME;
    config.loads_names = true;
    config.with_not_after = true;
    if (goes_through(1, 3, subject->choice))
        (void)elements_of(subject, &config, true);
    config.keeps_failed = true;
    config.is_joined = true;
    config.check_atoms = config.check_opcodes = config.check_continuity = true;
    config.order = TW_ORDER_CAPTURE;
    if (goes_through(2, 3, subject->choice))
        (void)elements_of(subject, &config, false);
}

/* ---- packets and statistics ---- */

static void do_packets(const struct subject *subject)
{
    struct tw_run_config config = subject->config;
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_part part = { .size = sizeof part };
    struct tw_packet_bit_run bits[32];
    char line[2048];
    struct tw_run *run;

    config.packets_only = config.keeps_bits = true;
    run = start(subject, &config);
    for (int n = 0; run && n < ROWS_MOST && tw_run_next_packet(run, &part, &view) == TW_OK; n++)
        if (part.kind == TW_PART_ELEMENTS) {
            require(tw_packet_type_name(&view) != NULL);
            require(tw_packet_text(line, sizeof line, &view) > 0);
            require(tw_packet_json(line, sizeof line, &view) > 0);
            (void)tw_packet_bits(&view, bits, n < (is_fuzzed() ? 4 : 40) ? 32 : 0);
        }
    tw_run_free(run);
}

/* Counted by a run over one part of the capture, or all of it, on so many threads. */
static void count(const struct subject *subject, struct tw_statistics *statistics,
                  const struct tw_run_extent *extent, uint32_t threads)
{
    struct tw_run_config config = subject->config;
    struct tw_run *run, *packets;

    config.extent = extent;
    config.packets_only = true;
    packets = start(subject, &config);
    config.packets_only = false;
    config.threads = threads;
    config.counter = tw_statistics_counter(statistics);
    run = start(subject, &config);
    if (run && packets) {
        tw_statistics_begin_packets(statistics, packets, threads > 1);
        (void)!tw_run_all(run);
        (void)!tw_statistics_end_packets(statistics);
    }
    tw_run_free(run);
    tw_run_free(packets);
}

static uint64_t save_statistics(const struct subject *subject, struct tw_statistics *statistics)
{
    struct tw_source_statistics source = { .size = sizeof source };
    struct tw_statistics *again;
    char path[BUNDLE_PATH];
    uint64_t sum;

    for (size_t i = 0; tw_statistics_source(statistics, &source, i); i++)
        require(source.buffer && source.protocol);
    bundle_path(path, subject->bundle, "saved");
    require(tw_statistics_save(statistics, path, NULL) == TW_OK);
    sum = take_file(subject->bundle, "saved");
    require(tw_statistics_load(&again, path, NULL, NULL) == TW_OK);
    require(tw_statistics_save(again, path, NULL) == TW_OK);
    require(take_file(subject->bundle, "saved") == sum);
    tw_statistics_free(again);
    bundle_remove(subject->bundle, "saved");
    return sum;
}

/* Two files become one, which has the sum. */
static void merge_statistics(const struct subject *subject, struct tw_statistics *one,
                             struct tw_statistics *other)
{
    static const char *const names[] = { "one", "other" };
    char paths[3][BUNDLE_PATH];
    const char *const parts[] = { paths[0], paths[1] };
    struct tw_fault fault = { .text = "" };

    for (size_t i = 0; i < 2; i++)
        bundle_path(paths[i], subject->bundle, names[i]);
    bundle_path(paths[2], subject->bundle, "merged");
    require(tw_statistics_save(one, paths[0], NULL) == TW_OK);
    require(tw_statistics_save(other, paths[1], NULL) == TW_OK);
    require(tw_merge(paths[2], parts, 2, NULL, &fault) == TW_OK);
    require(tw_statistics_add(other, one) == TW_OK);
    require(take_file(subject->bundle, "merged") == save_statistics(subject, other));
    bundle_remove(subject->bundle, "merged");
    for (size_t i = 0; i < 2; i++)
        bundle_remove(subject->bundle, names[i]);
}

static void do_statistics(const struct subject *subject)
{
    struct tw_run_extent extents[PARTS];
    struct tw_statistics *whole, *threads, *sum;
    struct tw_run *run = start(subject, &subject->config);
    const bool is_cut = run && tw_run_cut(run, extents, PARTS) == TW_OK;

    tw_run_free(run);
    require(tw_statistics_new(&whole, subject->capture, NULL, NULL) == TW_OK);
    require(tw_statistics_new(&threads, subject->capture, NULL, NULL) == TW_OK);
    require(tw_statistics_new(&sum, subject->capture, NULL, NULL) == TW_OK);
    count(subject, whole, NULL, 1);
    count(subject, threads, NULL, 3);
    require(save_statistics(subject, whole) == save_statistics(subject, threads));
    for (size_t i = 0; is_cut && i < PARTS; i++) {
        struct tw_statistics *part;

        require(tw_statistics_new(&part, subject->capture, NULL, NULL) == TW_OK);
        count(subject, part, &extents[i], 1);
        require(tw_statistics_add(sum, part) == TW_OK);
        tw_statistics_free(part);
    }
    if (is_cut)
        require(save_statistics(subject, whole) == save_statistics(subject, sum));
    merge_statistics(subject, whole, sum);
    tw_statistics_free(whole);
    tw_statistics_free(threads);
    tw_statistics_free(sum);
}

/* ---- results in every format ---- */

static void write_all(struct tw_subject *about, unsigned kind, unsigned choice)
{
    const struct tw_format *format;
    struct mouth mouth = { 0, 0 };
    unsigned number = 0;

    about->size = sizeof *about;
    about->title = "capture";
    about->creator = "trackway";
    about->write_file = swallow_file;
    about->file_context = &mouth.sum;
    for (size_t i = 0; (format = tw_format_get(i)); i++) {
        if (!(format->subjects & kind) || !goes_through(number++ % 8, 8, choice))
            continue;
        mouth.taken = 0;
        (void)!tw_format_write(format, about, swallow_some, &mouth);
    }
}

static void on_call(void *context, const struct tw_call_event *event)
{
    *(uint64_t *)context += event->depth;
}

static uint64_t save_calls(const struct subject *subject, struct tw_calls *calls)
{
    struct tw_fault fault = { .text = "" };
    struct tw_calls *again;
    char path[BUNDLE_PATH];
    uint64_t sum;

    bundle_path(path, subject->bundle, "saved");
    if (tw_calls_save(calls, path, &fault) != TW_OK) {
        require(fault.text[0] != 0);
        return 0;
    }
    sum = take_file(subject->bundle, "saved");
    require(tw_calls_load(&again, path, NULL, NULL) == TW_OK);
    require(tw_calls_save(again, path, NULL) == TW_OK);
    require(take_file(subject->bundle, "saved") == sum);
    tw_calls_free(again);
    merge_saved(subject->bundle);
    bundle_remove(subject->bundle, "saved");
    return sum;
}

static void do_calls(const struct subject *subject)
{
    struct tw_run_config config = subject->config;
    struct tw_calls *calls;
    struct tw_part part = { .size = sizeof part };
    struct tw_run *run;
    uint64_t depths = 0;
    struct tw_calls_config about = { .size = sizeof about,
                                     .event = on_call,
                                     .context = &depths };

    for (unsigned i = 0; i < 4; i++) {
        struct tw_subject all = { .with_stacks = true, .function = i == 3 ? "main" : NULL };

        if (!goes_through(i, 4, subject->choice))
            continue;
        about.key = (enum tw_call_key)i;
        about.is_logical = i & 1;
        about.with_inlined = i == 2;
        if (i >= 2)
            about.event = NULL;
        config.order = i & 1 ? TW_ORDER_TIME : TW_ORDER_CAPTURE;
        run = start(subject, &config);
        require(tw_calls_new(&calls, &about, NULL) == TW_OK);
        while (run && tw_run_next(run, &part) == TW_OK)
            require(tw_calls_take(calls, run, &part) == TW_OK);
        tw_calls_finish(calls);
        all.calls = calls;
        write_all(&all, TW_SUBJECT_CALLS, subject->choice >> 4);
        (void)save_calls(subject, calls);
        tw_calls_free(calls);
        tw_run_free(run);
    }
}

static struct tw_calls *count_calls(const struct subject *subject,
                                    const struct tw_run_extent *extent, struct tw_run **which)
{
    const struct tw_calls_config about = { .size = sizeof about, .is_part = extent != NULL };
    struct tw_run_config config = subject->config;
    struct tw_part part = { .size = sizeof part };
    struct tw_calls *calls;
    struct tw_run *run;

    config.extent = extent;
    *which = run = start(subject, &config);
    require(tw_calls_new(&calls, &about, NULL) == TW_OK);
    if (run && extent)
        tw_calls_run(calls, run);
    while (run && tw_run_next(run, &part) == TW_OK)
        require(tw_calls_take(calls, run, &part) == TW_OK);
    if (!extent) /* a part waits for the others */
        tw_calls_finish(calls);
    return calls;
}

/* Followed on the threads that decode. */
static struct tw_calls *count_on_threads(const struct subject *subject, struct tw_run **which)
{
    const struct tw_calls_config about = { .size = sizeof about };
    struct tw_run_config config = subject->config;
    struct tw_run_counter counter;
    struct tw_calls *calls;

    require(tw_calls_new(&calls, &about, NULL) == TW_OK);
    counter = tw_calls_counter(calls);
    config.counter = &counter;
    config.threads = 3;
    *which = start(subject, &config);
    if (*which) {
        tw_calls_run(calls, *which);
        (void)!tw_run_all(*which);
    }
    require(tw_calls_is_complete(calls));
    tw_calls_finish(calls);
    return calls;
}

static void do_call_threads(const struct subject *subject)
{
    struct tw_run *runs[2] = { NULL, NULL };
    struct tw_calls *threads, *one;

    if (!tw_calls_has_counter(subject->capture, NULL))
        return;
    threads = count_on_threads(subject, &runs[0]);
    one = count_calls(subject, NULL, &runs[1]);
    require(save_calls(subject, threads) == save_calls(subject, one));
    tw_calls_free(threads);
    tw_calls_free(one);
    tw_run_free(runs[0]);
    tw_run_free(runs[1]);
}

/* Parts in the wrong order come to the same as the whole. */
static void do_call_parts(const struct subject *subject)
{
    struct tw_run_extent extents[PARTS];
    struct tw_run *run = start(subject, &subject->config), *runs[PARTS + 1] = { NULL };
    struct tw_calls *sum, *whole, *other;

    if (run && tw_run_cut(run, extents, PARTS) == TW_OK) {
        sum = count_calls(subject, &extents[PARTS - 1], &runs[PARTS - 1]);
        for (size_t i = PARTS - 1; i-- > 0;) {
            other = count_calls(subject, &extents[i], &runs[i]);
            require(tw_calls_add(sum, other, NULL) == TW_OK);
            tw_calls_free(other);
        }
        whole = count_calls(subject, NULL, &runs[PARTS]);
        require(save_calls(subject, sum) == save_calls(subject, whole));
        tw_calls_free(sum);
        tw_calls_free(whole);
    }
    for (size_t i = 0; i <= PARTS; i++)
        tw_run_free(runs[i]);
    tw_run_free(run);
}

static void save_profile(const struct subject *subject, struct tw_profiler *profile)
{
    struct tw_profiler *again;
    char path[BUNDLE_PATH];
    uint64_t sum;

    bundle_path(path, subject->bundle, "saved");
    require(tw_profile_save(profile, path, NULL) == TW_OK);
    sum = take_file(subject->bundle, "saved");
    require(tw_profile_load(&again, path, NULL, NULL) == TW_OK);
    require(tw_profile_save(again, path, NULL) == TW_OK);
    require(take_file(subject->bundle, "saved") == sum);
    tw_profile_free(again);
    merge_saved(subject->bundle);
    bundle_remove(subject->bundle, "saved");
}

/* On the threads that decode, or part by part with calls and time. */
static void profile_by(const struct subject *subject, unsigned i)
{
    const struct tw_calls_config for_calls = { .size = sizeof for_calls };
    struct tw_profile_config about = { .size = sizeof about,
                                       .by = (enum tw_profile_by)(i / 2),
                                       .with_time = i & 1,
                                       .with_inlined = i == 0 };
    struct tw_run_config config = subject->config;
    struct tw_part part = { .size = sizeof part };
    struct tw_subject all = { .title = NULL };
    struct tw_run_counter counter;
    struct tw_profiler *profile;
    struct tw_run *run;

    if (i == 1)
        require(tw_calls_new(&about.calls, &for_calls, NULL) == TW_OK);
    require(tw_profile_new(&profile, &about, NULL) == TW_OK);
    counter = tw_profile_counter(profile);
    config.threads = 2;
    config.counter = i & 1 ? NULL : &counter;
    run = start(subject, &config);
    if (run && i & 1) {
        while (tw_run_next(run, &part) == TW_OK)
            require(tw_profile_take(profile, run, &part) == TW_OK);
    } else if (run) {
        tw_profile_run(profile, run);
        (void)!tw_run_all(run);
    }
    require(tw_profile_finish(profile) == TW_OK);
    all.profile = profile;
    write_all(&all, TW_SUBJECT_PROFILE, subject->choice >> 4);
    save_profile(subject, profile);
    tw_profile_free(profile);
    tw_calls_free(about.calls);
    tw_run_free(run);
}

static void do_profile(const struct subject *subject)
{
    const unsigned count = 2 * (TW_PROFILE_SOURCE + 1);

    for (unsigned i = 0; i < count; i++)
        if (goes_through(i, count, subject->choice))
            profile_by(subject, i);
}

/* Counts that were loaded, with the code of a program that is there. */
static void show_with_programs(const struct subject *subject, struct tw_coverage *coverage)
{
    struct tw_coverage_totals totals = { .size = sizeof totals };
    struct tw_subject all = { .coverage = coverage };
    char path[BUNDLE_PATH];

    for (size_t i = 0; i < subject->bundle->count; i++) {
        bundle_path(path, subject->bundle, subject->bundle->names[i]);
        (void)!tw_coverage_program(coverage, path, NULL);
    }
    require(tw_coverage_finish(coverage) == TW_OK && tw_coverage_totals(coverage, &totals));
    write_all(&all, TW_SUBJECT_COVERAGE, subject->choice >> 4);
}

static uint64_t save_coverage(const struct subject *subject, const struct tw_coverage *coverage)
{
    struct tw_coverage *again;
    char path[BUNDLE_PATH];
    uint64_t sum;

    bundle_path(path, subject->bundle, "saved");
    require(tw_coverage_save(coverage, path, NULL) == TW_OK);
    sum = take_file(subject->bundle, "saved");
    require(tw_coverage_load(&again, path, NULL, NULL) == TW_OK);
    require(tw_coverage_save(again, path, NULL) == TW_OK);
    require(take_file(subject->bundle, "saved") == sum);
    show_with_programs(subject, again);
    tw_coverage_free(again);
    merge_saved(subject->bundle);
    bundle_remove(subject->bundle, "saved");
    return sum;
}

static void do_coverage(const struct subject *subject)
{
    const struct tw_coverage_config about = { .size = sizeof about };
    uint64_t sums[2] = { 0, 0 };

    for (uint32_t i = 0; i < 2; i++) {
        struct tw_run_config config = subject->config;
        struct tw_coverage_totals totals = { .size = sizeof totals };
        struct tw_subject all = { .title = NULL };
        struct tw_coverage *coverage;
        struct tw_run_counter counter;
        struct tw_run *run;

        require(tw_coverage_new(&coverage, &about, NULL) == TW_OK);
        counter = tw_coverage_counter(coverage);
        config.counter = &counter;
        config.threads = 1 + i;
        run = start(subject, &config);
        if (run) {
            tw_coverage_run(coverage, run);
            (void)!tw_run_all(run);
        }
        sums[i] = save_coverage(subject, coverage);
        require(tw_coverage_finish(coverage) == TW_OK);
        require(tw_coverage_totals(coverage, &totals) && totals.covered <= totals.instructions);
        all.coverage = coverage;
        write_all(&all, TW_SUBJECT_COVERAGE, subject->choice >> 4);
        tw_coverage_free(coverage);
        tw_run_free(run);
    }
    require(sums[0] == sums[1]);
}

#endif
