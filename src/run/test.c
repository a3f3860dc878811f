/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of runs: what they give, in what order, and that selecting a part changes nothing of it. */
#include "run/test.h"

#include <stdio.h>
#include <unistd.h>

#include "failing.h"

static const struct tw_run_config plain = { .size = sizeof plain, .keeps_failed = true };

/* ---- capture order ---- */

static void digest_buffers(struct tw_capture *capture, struct digest *digest)
{
    static const struct tw_tree_config config = { .size = sizeof config, .markers = true };

    for (size_t i = 0; i < tw_capture_buffer_count(capture); i++) {
        struct tw_tree *tree;

        if (tw_capture_tree(&tree, capture, i, &config, NULL) != TW_OK)
            continue;
        CHECK_EQ(run_pull(tree, digest, capture, i, &config), TW_END);
        tw_tree_free(tree);
    }
}

static void check_capture_order(struct tw_capture *capture, struct check_random *random)
{
    struct digest got = { 0 }, want = { 0 };
    struct records records = record_all(capture, &plain, NULL);

    (void)random;
    for (size_t i = 0; i < records.count; i++)
        digest_element(&got, records.items[i].id, &records.items[i].element);
    digest_buffers(capture, &want);
    CHECK(digest_is_same(&got, &want));
    CHECK_EQ(records.events[TW_PART_BEGIN], records.events[TW_PART_END]);
    CHECK_EQ(records.events[TW_PART_BEGIN] + records.events[TW_PART_NOTHING],
             tw_capture_buffer_count(capture));
    free(records.items);
}

static void gives_what_the_trees_of_all_buffers_give(void **state)
{
    struct check_random random = check_random_start(0x72756e31);

    (void)state;
    each_capture(&random, 1000, check_capture_order);
}

/* ---- threads ---- */

static void check_threads(struct tw_capture *capture, struct check_random *random)
{
    struct tw_run_config config = plain;
    struct records one, many;

    (void)random;
    for (unsigned i = 0; i < 2; i++) {
        config.with_not_after = i;
        config.threads = 1;
        one = record_all(capture, &config, NULL);
        config.threads = 3;
        many = record_all(capture, &config, NULL);
        records_check(&many, &one);
        free(one.items);
        free(many.items);
    }
}

static void says_the_same_with_any_number_of_threads(void **state)
{
    struct check_random random = check_random_start(0x72756e32);

    (void)state;
    each_capture(&random, 200, check_threads);
}

/* ---- statistics ---- */

/* Instructions, as the statistics of all sources tell. */
static uint64_t count_of_stats(struct tw_capture *capture, const struct tw_run_config *config)
{
    struct tw_part part = { .size = sizeof part };
    struct tw_run *run;
    uint64_t sum = 0;

    CHECK_EQ(tw_run_new(&run, capture, config, NULL), TW_OK);
    while (tw_run_next(run, &part) == TW_OK)
        for (unsigned id = 0; part.kind == TW_PART_END && id < 256; id++) {
            const struct tw_source_stats *stats = tw_run_source_stats(run, (uint8_t)id);

            sum += stats ? stats->instructions : 0;
        }
    tw_run_free(run);
    return sum;
}

static void check_stats(struct tw_capture *capture, struct check_random *random)
{
    struct tw_run_config config = plain;
    struct records with = record_all(capture, &config, NULL), without;
    bool has_ranges = false;

    (void)random;
    for (size_t i = 0; i < with.count; i++)
        has_ranges |= with.items[i].element.type == TW_ELEMENT_INSTR_RANGE;
    CHECK_EQ(count_of_stats(capture, &config) != 0, has_ranges);
    config.leaves_stats = true;
    without = record_all(capture, &config, NULL);
    records_check(&without, &with);
    CHECK_EQ(count_of_stats(capture, &config), 0);
    free(with.items);
    free(without.items);
}

static void statistics_may_be_left_out(void **state)
{
    struct check_random random = check_random_start(0x72756e33);

    (void)state;
    each_capture(&random, 50, check_stats);
}

/* ---- packets that are kept ---- */

static void a_copied_packet_says_the_same(void **state)
{
    enum { ROOM = 4096 };
    const struct run demo = { .path = TW_SOURCE_DIR "/tests/captures/demo" };
    struct tw_run_config config = plain;
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_part part = { .size = sizeof part };
    struct tw_capture *capture;
    struct tw_run *run;
    size_t packets = 0;

    (void)state;
    config.packets_only = true;
    CHECK_EQ(run_open(&capture, &demo, NULL, NULL), TW_OK);
    CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
    while (tw_run_next_packet(run, &part, &view) == TW_OK) {
        struct tw_packet_view copy = { .size = sizeof copy };
        char want[ROOM], got[ROOM];
        uint8_t *memory;
        size_t size;

        if (part.kind != TW_PART_ELEMENTS)
            continue;
        size = tw_packet_copy(&copy, NULL, 0, &view);
        CHECK(size >= sizeof *view.packet + view.packet->size && size % 16 == 0);
        CHECK(!copy.packet);
        memory = malloc(size);
        assert_non_null(memory);
        CHECK_EQ(tw_packet_copy(&copy, memory, size, &view), size);
        (void)tw_packet_json(want, sizeof want, &view);
        (void)tw_packet_json(got, sizeof got, &copy);
        CHECK_TEXT(got, want);
        CHECK(copy.packet != view.packet && copy.bytes != view.bytes && !copy.bits);
        copy.size = 1;
        CHECK_EQ(tw_packet_copy(&copy, memory, size, &view), 0);
        free(memory);
        packets++;
    }
    CHECK(packets > 10);
    tw_run_free(run);
    tw_capture_free(capture);
}

/* ---- threads that are asked for ---- */

/* Threads pay for large captures; who asks for a number gets it. */
static void a_small_capture_takes_one_thread(void **state)
{
    static const struct {
        uint32_t asked;
        bool packets_only;
        uint32_t want;
    } rows[] = { { 0, false, 1 }, { 1, false, 1 }, { 3, false, 3 }, { 3, true, 3 } };
    const struct run demo = { .path = TW_SOURCE_DIR "/tests/captures/demo" };
    struct tw_capture *capture;

    (void)state;
    CHECK_EQ(run_open(&capture, &demo, NULL, NULL), TW_OK);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct tw_run_config config = plain;
        struct tw_part part = { .size = sizeof part };
        struct tw_packet_view view = { .size = sizeof view };
        struct tw_run *run;

        check_case("row %zu", i);
        config.threads = rows[i].asked;
        config.packets_only = rows[i].packets_only;
        CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
        CHECK_EQ(rows[i].packets_only ? tw_run_next_packet(run, &part, &view)
                                      : tw_run_next(run, &part),
                 TW_OK);
        CHECK_EQ(tw_run_threads(run), rows[i].want);
        tw_run_free(run);
    }
    tw_capture_free(capture);
}

/* ---- filters ---- */

static bool is_code(const struct tw_element *element, uint64_t first, uint64_t end)
{
    if (element->type == TW_ELEMENT_INSTR_RANGE)
        return element->start < end && tw_element_end(element) > first;
    if (element->type == TW_ELEMENT_I_RANGE_NOPATH)
        return element->first < end && element->first >= first;
    if (element->type == TW_ELEMENT_ADDR_NACC)
        return element->address < end && element->address >= first;
    return element->type == TW_ELEMENT_ERROR;
}

static bool is_wanted(const struct record *record, const struct tw_filter *filter)
{
    if (filter->has_from && record->element.index < filter->from)
        return false;
    if (filter->has_to && record->element.index >= filter->to)
        return false;
    if (filter->tid_count && record->tid != filter->tids[0])
        return false;
    if (filter->pid_count && record->pid != filter->pids[0])
        return false;
    if (filter->cpu_count && record->cpu != filter->cpus[0])
        return false;
    if (filter->comm_count && strcmp(record->comm, filter->comms[0]) != 0)
        return false;
    if (filter->has_ids && !(filter->ids[record->id / 64] >> record->id % 64 & 1))
        return false;
    if (filter->levels &&
        !((record->known & TW_WHO_LEVEL) && (filter->levels >> record->level & 1)))
        return false;
    if (filter->has_from_time && record->when.not_after < filter->from_time)
        return false;
    if (filter->has_to_time && record->when.not_before >= filter->to_time)
        return false;
    return !filter->range_count ||
           is_code(&record->element, filter->ranges[0].first, filter->ranges[0].end);
}

/* Filters that keep something of a record. */
static void make_filter(struct tw_filter *filter, const struct record *record, unsigned kind,
                        const char **comm, struct tw_address_range *range)
{
    *filter = (struct tw_filter){ .size = sizeof *filter };
    if (kind == 0 || kind == 7) {
        filter->has_from = filter->has_to = true;
        filter->from = record->element.index;
        filter->to = record->element.index + 5000;
    } else if (kind == 1) {
        filter->tids = &record->tid;
        filter->tid_count = 1;
    } else if (kind == 2) {
        *comm = record->comm;
        filter->comms = comm;
        filter->comm_count = 1;
        filter->cpus = &record->cpu;
        filter->cpu_count = 1;
    } else if (kind == 3) {
        *range = (struct tw_address_range){ record->element.start, record->element.start + 64 };
        filter->ranges = range;
        filter->range_count = 1;
    } else if (kind == 4) {
        filter->has_ids = true;
        filter->ids[record->id / 64] = (uint64_t)1 << record->id % 64;
        filter->pids = &record->pid;
        filter->pid_count = 1;
    } else if (kind == 5) {
        filter->levels = (uint8_t)(1 << (record->level & 7));
    } else {
        filter->has_from_time = filter->has_to_time = true;
        filter->from_time = record->when.not_before;
        filter->to_time = record->when.not_before + 1000;
    }
}

static void check_filters(struct tw_capture *capture, struct check_random *random)
{
    for (unsigned kind = 0; kind < 8; kind++) {
        struct tw_run_config config = plain;
        struct records all, some, want = { 0 };
        struct tw_address_range range;
        struct tw_filter filter;
        const char *comm;

        config.with_not_after = kind >= 6;
        config.order = kind == 7 ? TW_ORDER_TIME : TW_ORDER_CAPTURE;
        all = record_all(capture, &config, NULL);
        if (all.count) {
            make_filter(&filter, &all.items[check_random_below(random, all.count)], kind, &comm,
                        &range);
            config.filter = &filter;
            some = record_all(capture, &config, NULL);
            want.items = calloc(all.count, sizeof *want.items);
            for (size_t i = 0; i < all.count; i++)
                if (is_wanted(&all.items[i], &filter))
                    want.items[want.count++] = all.items[i];
            records_check(&some, &want);
            free(some.items);
            free(want.items);
        }
        free(all.items);
    }
}

static void a_filter_changes_nothing_of_what_is_left(void **state)
{
    struct check_random random = check_random_start(0x72756e33);

    (void)state;
    each_capture(&random, 200, check_filters);
}

/* ---- places ---- */

/* An index of the first buffer, in a file; false: there can be none. */
static bool write_index(struct tw_capture *capture, const char *path)
{
    const struct tw_index_config config = { .size = sizeof config, .detail = TW_INDEX_FULL };
    const struct tw_index_capture *about;
    struct tw_index *index = NULL;
    struct tw_run *run;
    bool is_good;

    CHECK_EQ(tw_run_new(&run, capture, &plain, NULL), TW_OK);
    is_good = tw_capture_buffer_count(capture) == 1 &&
              tw_run_index_capture(run, &about, 0) == TW_OK &&
              tw_index_build(&index, about, &config, NULL) == TW_OK;
    if (is_good)
        CHECK_EQ(tw_index_write(path, (const struct tw_index *const[]){ index }, 1, NULL),
                 TW_OK);
    tw_index_free(index);
    tw_run_free(run);
    return is_good;
}

static void check_seek(struct tw_capture *capture, struct check_random *random)
{
    const struct records all = record_all(capture, &plain, NULL);
    struct tw_run_config config = plain;
    char path[64];

    (void)snprintf(path, sizeof path, "/tmp/trackway-run-%ld.twx", (long)getpid());
    if (write_index(capture, path))
        config.index = path;
    for (unsigned i = 0; all.count && i < 4; i++) {
        const struct record *at = &all.items[check_random_below(random, all.count)];
        const struct tw_run_place place = { .kind = TW_PLACE_OFFSET,
                                            .value = at->element.index };
        struct records some, want = { 0 };

        const struct tw_buffer *buffer = tw_capture_buffer(capture, at->buffer);

        if (tw_capture_buffer_count(capture) > 1 && !tw_capture_perf(capture))
            break; /* offsets are those of each buffer's own file */
        if (place.value >= buffer->offset + buffer->size)
            continue; /* the end of the trace */
        some = record_all(capture, i % 2 ? &config : &plain, &place);
        want.items = calloc(all.count, sizeof *want.items);
        for (size_t k = 0; k < all.count; k++)
            if (all.items[k].buffer > at->buffer || (all.items[k].buffer == at->buffer &&
                                                     all.items[k].element.index >= place.value))
                want.items[want.count++] = all.items[k];
        records_check(&some, &want);
        free(some.items);
        free(want.items);
    }
    free(all.items);
    (void)remove(path);
}

static void begins_anywhere_as_if_all_had_been_decoded(void **state)
{
    struct check_random random = check_random_start(0x72756e34);

    (void)state;
    each_capture(&random, 200, check_seek);
}

/* ---- time order ---- */

static int by_stream(const void *a, const void *b)
{
    const struct record *const *left = a, *const *right = b;

    if ((*left)->buffer != (*right)->buffer)
        return (*left)->buffer < (*right)->buffer ? -1 : 1;
    if ((*left)->source != (*right)->source)
        return (*left)->source < (*right)->source ? -1 : 1;
    if ((*left)->id != (*right)->id)
        return (*left)->id < (*right)->id ? -1 : 1;
    if ((*left)->src != (*right)->src)
        return (*left)->src < (*right)->src ? -1 : 1;
    return *left < *right ? -1 : *left > *right;
}

static const struct record **sorted(const struct records *records)
{
    const struct record **list = calloc(records->count + 1, sizeof(const struct record *));

    CHECK(list != NULL);
    for (size_t i = 0; i < records->count; i++)
        list[i] = &records->items[i];
    qsort(list, records->count, sizeof *list, by_stream);
    return list;
}

/* Each stream says the same in both orders, but for how its decoder began. */
static void check_time_order(struct tw_capture *capture, struct check_random *random)
{
    struct tw_run_config config = plain;
    struct records by_bytes = record_all(capture, &config, NULL), by_time;
    const struct record **one, **other;

    (void)random;
    config.order = TW_ORDER_TIME;
    by_time = record_all(capture, &config, NULL);
    CHECK_EQ(by_time.count, by_bytes.count);
    one = sorted(&by_bytes);
    other = sorted(&by_time);
    for (size_t i = 0; i < by_time.count; i++) {
        struct record a = *one[i], b = *other[i];

        if (a.element.type == TW_ELEMENT_NO_SYNC && b.element.type == TW_ELEMENT_NO_SYNC)
            a.element.reason = b.element.reason;
        CHECK(record_is_same(&a, &b));
    }
    free(one);
    free(other);
    free(by_bytes.items);
    free(by_time.items);
}

/* Whether the timestamps of each stream never go back. */
static bool is_steady(const struct records *records)
{
    uint64_t last[64][128] = { { 0 } };

    for (size_t i = 0; i < records->count; i++) {
        const struct record *record = &records->items[i];
        uint64_t *before = &last[record->source % 64][record->id % 128];

        if (record->element.type != TW_ELEMENT_TIMESTAMP || !record->element.timestamp)
            continue;
        if (record->element.timestamp < *before)
            return false;
        *before = record->element.timestamp;
    }
    return true;
}

/* Over all streams of a snapshot, timestamps come in their order. */
static void check_merged(struct tw_capture *capture, struct check_random *random)
{
    struct tw_run_config config = plain;
    struct records records;
    uint64_t last = 0;

    (void)random;
    if (tw_capture_perf(capture))
        return; /* sources of one ring buffer come as its bytes lie */
    config.order = TW_ORDER_TIME;
    records = record_all(capture, &config, NULL);
    for (size_t i = 0; is_steady(&records) && i < records.count; i++) {
        const struct tw_element *element = &records.items[i].element;

        if (element->type != TW_ELEMENT_TIMESTAMP || !element->timestamp)
            continue;
        CHECK(element->timestamp >= last);
        last = element->timestamp;
    }
    free(records.items);
}

static void timestamps_of_all_streams_are_merged(void **state)
{
    struct check_random random = check_random_start(0x72756e38);

    (void)state;
    each_capture(&random, 300, check_merged);
}

static void time_order_only_moves_things(void **state)
{
    struct check_random random = check_random_start(0x72756e35);

    (void)state;
    each_capture(&random, 300, check_time_order);
}

/* ---- the next timestamp ---- */

static void check_not_after(struct tw_capture *capture, struct check_random *random)
{
    struct tw_run_config config = plain;
    struct records records;

    (void)random;
    config.with_not_after = true;
    records = record_all(capture, &config, NULL);
    for (size_t i = 0; i < records.count; i++) {
        const struct record *record = &records.items[i];
        const size_t most = i + 5000 < records.count ? i + 5000 : records.count;

        for (size_t k = i + 1; k < most; k++) {
            const struct record *next = &records.items[k];

            if (next->id != record->id || next->src != record->src ||
                next->buffer != record->buffer || next->when.clock != record->when.clock ||
                next->when.not_before <= record->when.not_before)
                continue;
            if (record->when.clock == TW_CLOCK_TRACE)
                CHECK_EQ(record->when.not_after, next->when.not_before);
            break;
        }
        i += 97;
    }
    free(records.items);
}

static void the_next_timestamp_ends_the_interval(void **state)
{
    struct check_random random = check_random_start(0x72756e36);

    (void)state;
    each_capture(&random, 100, check_not_after);
}

/* ---- memory ---- */

static void memory_may_run_out_at_any_time(void **state)
{
    const struct run demo = { .path = TW_SOURCE_DIR "/tests/captures/demo" };
    static const char *const functions[] = { "main" };
    const struct tw_filter filter = { .size = sizeof filter,
                                      .functions = functions,
                                      .function_count = 0,
                                      .has_from_time = true };
    struct tw_capture *capture;
    enum tw_status status = TW_E_MEMORY;

    (void)state;
    CHECK_EQ(run_open(&capture, &demo, NULL, NULL), TW_OK);
    for (size_t limit = 0; status != TW_END; limit++) {
        struct failing failing = { .left = limit };
        const struct tw_allocator allocator = { failing_resize, &failing };
        struct tw_run_config config = plain;
        struct tw_part part = { .size = sizeof part };
        struct tw_run *run;

        check_case("%zu requests", limit);
        config.allocator = &allocator;
        config.order = limit % 2 ? TW_ORDER_TIME : TW_ORDER_CAPTURE;
        config.filter = &filter;
        status = tw_run_new(&run, capture, &config, NULL);
        while (status == TW_OK)
            status = tw_run_next(run, &part);
        CHECK(status == TW_END || status == TW_E_MEMORY);
        tw_run_free(run);
        CHECK_EQ(failing.live, 0);
    }
    tw_capture_free(capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copied_packet_says_the_same),
        cmocka_unit_test(a_small_capture_takes_one_thread),
        cmocka_unit_test(gives_what_the_trees_of_all_buffers_give),
        cmocka_unit_test(says_the_same_with_any_number_of_threads),
        cmocka_unit_test(statistics_may_be_left_out),
        cmocka_unit_test(a_filter_changes_nothing_of_what_is_left),
        cmocka_unit_test(begins_anywhere_as_if_all_had_been_decoded),
        cmocka_unit_test(time_order_only_moves_things),
        cmocka_unit_test(timestamps_of_all_streams_are_merged),
        cmocka_unit_test(the_next_timestamp_ends_the_interval),
        cmocka_unit_test(memory_may_run_out_at_any_time),
    };

    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
