/* SPDX-License-Identifier: BSD-2-Clause */
/* Structs that begin with `size`, as callers give them who were built with an older or a newer header:
   every one that a function of the library takes.  scripts/check-interface holds the list against the
   headers. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

enum { SURPLUS = 64 };

/* What a call with this struct says; whatever it makes is freed. */
typedef enum tw_status try_fn(const void *taken);

struct row {
    const char *name;
    size_t size;
    try_fn *try_it;
    void (*fill)(void *taken); /* beyond `size`, so that the call does something; or NULL */
};

/* Functions that make a handle of a config. */
#define MAKES(type, handle, new_call, free_function)                                           \
    static enum tw_status try_##type(const void *taken)                                        \
    {                                                                                          \
        const struct type *config = taken;                                                     \
        struct handle *made = NULL;                                                            \
        const enum tw_status status = new_call;                                                \
                                                                                               \
        CHECK_EQ(made != NULL, status == TW_OK);                                               \
        free_function(made);                                                                   \
        return status;                                                                         \
    }
#define SIMPLE(type, handle, stem)                                                             \
    MAKES(type, handle, stem##_new(&made, config, NULL), stem##_free)
#define READER(type, stem)                                                                     \
    MAKES(type, stem##_reader, stem##_reader_new(&made, config, NULL, NULL), stem##_reader_free)
#define UNIT(stem) SIMPLE(stem##_config, stem, stem)

static struct tw_capture *demo;

SIMPLE(tw_calls_config, tw_calls, tw_calls)
SIMPLE(tw_channels_config, tw_channels, tw_channels)
SIMPLE(tw_coverage_config, tw_coverage, tw_coverage)
#ifdef TW_WITH_LLVM
SIMPLE(tw_disassembler_config, tw_disassembler, tw_disassembler)
#endif
SIMPLE(tw_edge_map_config, tw_edge_map, tw_edge_map)
SIMPLE(tw_errors_config, tw_errors, tw_errors)
SIMPLE(tw_unframer_config, tw_unframer, tw_unframer)
SIMPLE(tw_framer_config, tw_framer, tw_framer)
SIMPLE(tw_interrupts_config, tw_interrupts, tw_interrupts)
SIMPLE(tw_perf_writer_config, tw_perf_writer, tw_perf_writer)
SIMPLE(tw_profile_config, tw_profiler, tw_profile)
SIMPLE(tw_pyramid_config, tw_pyramid, tw_pyramid)
SIMPLE(tw_report_config, tw_report, tw_report)
SIMPLE(tw_timeline_config, tw_timeline, tw_timeline)
SIMPLE(tw_trbe_config, tw_trbe, tw_trbe)
SIMPLE(tw_tree_config, tw_tree, tw_tree)
READER(tw_etmv3_config, tw_etmv3)
READER(tw_etmv4_config, tw_etmv4)
READER(tw_etrace_config, tw_etrace)
READER(tw_itm_config, tw_itm)
READER(tw_ntrace_config, tw_ntrace)
READER(tw_ptm_config, tw_ptm)
READER(tw_stm_config, tw_stm)
UNIT(tw_etmv3_unit)
UNIT(tw_etmv4_unit)
UNIT(tw_etrace_unit)
UNIT(tw_itm_unit)
UNIT(tw_ntrace_unit)
UNIT(tw_ptm_unit)
UNIT(tw_stm_unit)
UNIT(tw_unit)
MAKES(tw_doctor_options, tw_doctor, tw_doctor_new(&made, demo, config, NULL), tw_doctor_free)
MAKES(tw_identify_options, tw_identified,
      tw_identify_bytes(&made, (const uint8_t *)"text", 4, "file", config, NULL),
      tw_identified_free)
MAKES(tw_capture_options, tw_capture,
      tw_capture_open(&made, TW_SOURCE_DIR "/tests/captures/demo", config, NULL),
      tw_capture_free)
MAKES(tw_hart_options, tw_hart,
      tw_hart_open_memory(&made, (const uint8_t *)"x", 1, config, NULL), tw_hart_free)
MAKES(tw_log_options, tw_log, tw_log_open_memory(&made, (const uint8_t *)"x", 1, config, NULL),
      tw_log_free)
MAKES(tw_replay_config, tw_replay, tw_replay_new(&made, demo, config, NULL), tw_replay_free)
MAKES(tw_run_config, tw_run, tw_run_new(&made, demo, config, NULL), tw_run_free)
MAKES(tw_samples_config, tw_samples, tw_samples_new(&made, demo, config, NULL), tw_samples_free)
MAKES(tw_sequence_config, tw_sequence, tw_sequence_check(&made, "isb\n", 4, config, NULL),
      tw_sequence_free)

/* Structs that others point at. */
static enum tw_status try_tw_filter(const void *taken)
{
    const struct tw_run_config config = { .size = sizeof config, .filter = taken };

    return try_tw_run_config(&config);
}

static enum tw_status try_tw_run_counter(const void *taken)
{
    const struct tw_run_config config = { .size = sizeof config, .counter = taken };

    return try_tw_run_config(&config);
}

static enum tw_status try_tw_run_sums(const void *taken)
{
    const struct tw_run_config config = { .size = sizeof config, .sums = taken };

    return try_tw_run_config(&config);
}

static enum tw_status try_tw_counter(const void *taken)
{
    const struct tw_tree_config config = { .size = sizeof config, .counter = taken };

    return try_tw_tree_config(&config);
}

static void count_nothing(void *context, void *tally, const struct tw_part *part)
{
    (void)context, (void)tally, (void)part;
}

static void add_nothing(void *context, void *tally, void *later, bool is_resumed)
{
    (void)context, (void)tally, (void)later, (void)is_resumed;
}

static void count_no_batch(void *context, void *tally, const struct tw_batch *batch)
{
    (void)context, (void)tally, (void)batch;
}

static void merge_no_batch(void *context, void *tally, const struct tw_batch *whose)
{
    (void)context, (void)tally, (void)whose;
}

static void fill_run_counter(void *taken)
{
    struct tw_run_counter *counter = taken;

    counter->tally_size = 8;
    counter->count = count_nothing;
    counter->add = add_nothing;
    counter->merge = count_nothing;
}

static void sum_nothing(void *context, struct tw_run *run, const struct tw_part *part,
                        uint64_t at, const struct tw_range_sum *sums, size_t count)
{
    (void)context;
    (void)run;
    (void)part;
    (void)at;
    (void)sums;
    (void)count;
}

static void take_no_part(void *context, struct tw_run *run, const struct tw_part *part)
{
    (void)context;
    (void)run;
    (void)part;
}

static void forget_nothing(void *context)
{
    (void)context;
}

static void fill_run_sums(void *taken)
{
    struct tw_run_sums *sums = taken;

    sums->block = 1024;
    sums->sum = sum_nothing;
    sums->take = take_no_part;
    sums->forget = forget_nothing;
}

static void fill_counter(void *taken)
{
    struct tw_counter *counter = taken;

    counter->tally_size = 8;
    counter->count = count_no_batch;
    counter->merge = merge_no_batch;
}

static struct tw_tree *new_tree(void)
{
    const struct tw_tree_config config = { .size = sizeof config, .packets_only = true };
    struct tw_tree *tree = NULL;

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    return tree;
}

static enum tw_status try_tw_tree_source(const void *taken)
{
    struct tw_tree *tree = new_tree();
    const enum tw_status status = tw_tree_add_source(tree, NULL, taken);

    tw_tree_free(tree);
    return status;
}

static void fill_tree_source(void *taken)
{
    struct tw_tree_source *source = taken;

    source->protocol = "itm";
    source->id = 0x10;
}

static enum tw_status try_tw_custom_protocol(const void *taken)
{
    struct tw_tree *tree = new_tree();
    const enum tw_status status = tw_tree_add_protocol(tree, taken);

    tw_tree_free(tree);
    return status;
}

static enum tw_status try_tw_push_config(const void *taken)
{
    struct tw_tree *tree = new_tree();
    struct tw_push *push = NULL;
    const enum tw_status status = tw_push_new(&push, tree, taken, NULL);

    tw_push_free(push);
    tw_tree_free(tree);
    return status;
}

static enum tw_status try_tw_region(const void *taken)
{
    static const uint8_t bytes[16];
    struct tw_image *image = NULL;
    enum tw_status status;

    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    status = tw_image_add(image, taken, bytes);
    tw_image_free(image);
    return status;
}

static void fill_region(void *taken)
{
    struct tw_region *region = taken;

    region->address = 0x1000;
    region->length = 16;
}

static enum tw_status try_tw_instruction_query(const void *taken)
{
    struct tw_instruction_answer answer = { .size = sizeof answer };

    return tw_instruction_classify(&answer, taken);
}

static enum tw_status read_nothing(void *context, const uint8_t **bytes, size_t *size,
                                   uint64_t offset)
{
    (void)context, (void)bytes, (void)size, (void)offset;
    return TW_END;
}

static void fill_index_capture(void *taken)
{
    struct tw_index_capture *capture = taken;

    capture->read = read_nothing;
}

static enum tw_status make_index(const void *capture, const void *config)
{
    struct tw_index *index = NULL;
    const enum tw_status status = tw_index_new(&index, capture, config, NULL);

    tw_index_free(index);
    return status;
}

static enum tw_status try_tw_index_capture(const void *taken)
{
    const struct tw_index_config config = { .size = sizeof config };

    return make_index(taken, &config);
}

static enum tw_status try_tw_index_config(const void *taken)
{
    struct tw_index_capture capture = { .size = sizeof capture };

    fill_index_capture(&capture);
    return make_index(&capture, taken);
}

static enum tw_status try_tw_snapshot(const void *taken)
{
    return tw_snapshot_write("/nonexist/folder", taken, NULL);
}

static enum tw_status try_tw_sim_config(const void *taken)
{
    struct tw_sim_result result;

    return tw_sim_run(&result, "", 0, taken, NULL);
}

static bool write_nothing(void *context, const void *bytes, size_t size)
{
    (void)context, (void)bytes, (void)size;
    return true;
}

static enum tw_status try_tw_subject(const void *taken)
{
    return tw_format_write(tw_format_by_name("folded", TW_SUBJECT_CALLS), taken, write_nothing,
                           NULL);
}

static struct tw_calls *no_calls;

static void fill_subject(void *taken)
{
    ((struct tw_subject *)taken)->calls = no_calls;
}

static void fill_unit(void *taken)
{
    ((struct tw_unit_config *)taken)->protocol = "itm";
}

static void fill_etrace(void *taken)
{
    tw_etrace_config_init(taken, TW_ETRACE_LAYOUT_V2);
}

static void fill_ntrace(void *taken)
{
    tw_ntrace_config_init(taken);
}

#define ROW(type)                                                                              \
    {                                                                                          \
#type, sizeof(struct type), try_##type, NULL                                           \
    }
#define FILLED(type, fill)                                                                     \
    {                                                                                          \
#type, sizeof(struct type), try_##type, fill                                           \
    }

static const struct row rows[] = {
    ROW(tw_calls_config),
    ROW(tw_capture_options),
    ROW(tw_channels_config),
    FILLED(tw_counter, fill_counter),
    ROW(tw_coverage_config),
    ROW(tw_custom_protocol),
#ifdef TW_WITH_LLVM /* else there is none at all */
    ROW(tw_disassembler_config),
#endif
    ROW(tw_doctor_options),
    ROW(tw_edge_map_config),
    ROW(tw_errors_config),
    ROW(tw_etmv3_config),
    ROW(tw_etmv3_unit_config),
    ROW(tw_etmv4_config),
    ROW(tw_etmv4_unit_config),
    FILLED(tw_etrace_config, fill_etrace),
    ROW(tw_etrace_unit_config),
    ROW(tw_filter),
    ROW(tw_framer_config),
    ROW(tw_hart_options),
    ROW(tw_identify_options),
    FILLED(tw_index_capture, fill_index_capture),
    ROW(tw_index_config),
    ROW(tw_instruction_query),
    ROW(tw_interrupts_config),
    ROW(tw_itm_config),
    ROW(tw_itm_unit_config),
    ROW(tw_log_options),
    FILLED(tw_ntrace_config, fill_ntrace),
    ROW(tw_ntrace_unit_config),
    ROW(tw_perf_writer_config),
    ROW(tw_profile_config),
    ROW(tw_ptm_config),
    ROW(tw_ptm_unit_config),
    ROW(tw_push_config),
    FILLED(tw_region, fill_region),
    ROW(tw_replay_config),
    ROW(tw_run_config),
    FILLED(tw_run_counter, fill_run_counter),
    FILLED(tw_run_sums, fill_run_sums),
    ROW(tw_samples_config),
    ROW(tw_sequence_config),
    ROW(tw_sim_config),
    ROW(tw_snapshot),
    ROW(tw_stm_config),
    ROW(tw_stm_unit_config),
    FILLED(tw_subject, fill_subject),
    ROW(tw_pyramid_config),
    ROW(tw_report_config),
    ROW(tw_timeline_config),
    ROW(tw_trbe_config),
    ROW(tw_tree_config),
    FILLED(tw_tree_source, fill_tree_source),
    ROW(tw_unframer_config),
    FILLED(tw_unit_config, fill_unit),
};

/* The call with the first `size` bytes of a struct, at the end of a block: a read beyond them is seen. */
static enum tw_status try_size(const struct row *row, const uint8_t *filled, size_t size)
{
    uint8_t *taken = malloc(size < sizeof size ? sizeof size : size);
    enum tw_status status;

    CHECK(taken != NULL);
    memcpy(taken, filled, size < sizeof size ? sizeof size : size);
    memcpy(taken, &size, sizeof size);
    status = row->try_it(taken);
    free(taken);
    return status;
}

static void what_is_taken_may_be_older_or_newer(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct row *row = &rows[i];
        uint8_t *filled = calloc(1, row->size + SURPLUS);
        size_t used = row->size;
        enum tw_status usual;

        CHECK_CASE(row->name);
        CHECK(filled != NULL);
        memcpy(filled, &row->size, sizeof row->size);
        if (row->fill)
            row->fill(filled);
        usual = try_size(row, filled, row->size);
        CHECK_EQ(try_size(row, filled, row->size + SURPLUS), usual);
        while (used > sizeof used && !filled[used - 1])
            used--;
        for (size_t size = used; size < row->size; size++)
            CHECK_EQ(try_size(row, filled, size), usual);
        CHECK_EQ(try_size(row, filled, 0), TW_E_ARGUMENT);
        CHECK_EQ(try_size(row, filled, sizeof used - 1), TW_E_ARGUMENT);
        for (size_t at = row->size; at < row->size + SURPLUS; at += SURPLUS - 1) {
            filled[at] = 1;
            CHECK_EQ(try_size(row, filled, row->size + SURPLUS), TW_E_UNSUPPORTED);
            filled[at] = 0;
        }
        free(filled);
    }
}

static int set_up(void **state)
{
    const struct tw_calls_config config = { .size = sizeof config };

    (void)state;
    CHECK_EQ(tw_calls_new(&no_calls, &config, NULL), TW_OK);
    CHECK_EQ(tw_capture_open(&demo, TW_SOURCE_DIR "/tests/captures/demo", NULL, NULL), TW_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tw_calls_free(no_calls);
    tw_capture_free(demo);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_may_be_older_or_newer),
    };

    return cmocka_run_group_tests_name("sizes", tests, set_up, tear_down);
}
