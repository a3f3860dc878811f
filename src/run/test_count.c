/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of counting: on any number of threads the sums are those of the parts, one after the other. */
#include "run/test.h"

enum { SUMS = 4096 };

/* What was executed by one thread of execution of a source. */
struct sum {
    uint32_t buffer, source, src, tid, context_id;
    uint8_t id, known, level;
    struct tw_view view;
    uint64_t elements, instructions, exceptions, joints;
};

struct tally {
    uint64_t elements, instructions, exceptions;
    uint64_t joints; /* ranges that directly follow each other, as the sum of their addresses */
    bool has_any;
    struct tw_element first, last;
};

struct sums {
    struct sum *items;
    size_t count;
};

static void see(struct tally *tally, const struct tw_element *element)
{
    tally->elements++;
    tally->instructions += element->type == TW_ELEMENT_INSTR_RANGE ? element->count : 0;
    tally->exceptions += element->type == TW_ELEMENT_EXCEPTION;
}

static void count_part(void *context, void *to, const struct tw_part *part)
{
    struct tally *tally = to;

    (void)context;
    CHECK(part->batch.count > 0 && part->source != NULL);
    for (size_t i = 0; i < part->batch.count; i++) {
        const struct tw_element *element = &part->batch.elements[i];

        see(tally, element);
        if (tally->has_any && (i || !part->is_resumed))
            tally->joints += element->index * 3 + tally->last.index;
        if (!tally->has_any)
            tally->first = *element;
        tally->has_any = true;
        tally->last = *element;
    }
}

static void add_tally(void *context, void *to, void *later, bool is_resumed)
{
    struct tally *tally = to;
    const struct tally *more = later;

    (void)context;
    if (tally->has_any && more->has_any && !is_resumed)
        tally->joints += more->first.index * 3 + tally->last.index;
    if (!tally->has_any)
        tally->first = more->first;
    if (more->has_any)
        tally->last = more->last;
    tally->has_any |= more->has_any;
    tally->elements += more->elements;
    tally->instructions += more->instructions;
    tally->exceptions += more->exceptions;
    tally->joints += more->joints;
}

static void add_sum(void *context, void *from, const struct tw_part *part)
{
    struct sums *sums = context;
    const struct tally *tally = from;
    struct sum *sum = &sums->items[sums->count++];

    CHECK(sums->count < SUMS);
    memset(sum, 0, sizeof *sum);
    sum->buffer = part->buffer;
    sum->source = part->source_number;
    sum->src = part->batch.src;
    sum->tid = part->who.tid;
    sum->context_id = part->who.context_id;
    sum->id = part->batch.id;
    sum->known = part->who.known;
    sum->level = part->who.level;
    sum->view.space = part->who.view.space;
    sum->view.context = part->who.view.context;
    sum->view.time = part->who.view.time;
    sum->elements = tally->elements;
    sum->instructions = tally->instructions;
    sum->exceptions = tally->exceptions;
    sum->joints = tally->joints;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, offsetof(struct sum, elements));
}

static struct sums count(struct tw_capture *capture, const struct tw_filter *filter,
                         uint32_t threads, bool by_parts)
{

    struct sums sums = { calloc(SUMS, sizeof(struct sum)), 0 };
    const struct tw_run_counter counter = { .size = sizeof counter,
                                            .tally_size = sizeof(struct tally),
                                            .context = &sums,
                                            .count = count_part,
                                            .add = add_tally,
                                            .merge = add_sum };
    struct tw_run_config config = {
        .size = sizeof config, .counter = &counter, .threads = threads, .filter = filter
    };
    struct tw_filter own = filter ? *filter : (struct tw_filter){ .size = sizeof own };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_missing missing;
    struct tw_run *run;

    CHECK(sums.items != NULL);
    if (by_parts) { /* a filter by time that keeps all: not on threads */
        own.has_to_time = true;
        own.to_time = UINT64_MAX;
        config.filter = &own;
    }
    CHECK_EQ(tw_run_new(&run, capture, &config, &fault), TW_OK);
    CHECK_EQ(tw_run_all(run), TW_OK);
    for (size_t i = 0; tw_run_missing(run, &missing, i); i++)
        if (missing.times) {
            struct sum *sum = &sums.items[sums.count++];

            memset(sum, 0, sizeof *sum);
            sum->buffer = TW_NONE;
            sum->source = missing.file;
            sum->elements = missing.times;
            sum->instructions = missing.branches;
        }
    tw_run_free(run);
    qsort(sums.items, sums.count, sizeof *sums.items, compare);
    return sums;
}

static void check_same(struct tw_capture *capture, const struct tw_filter *filter)
{
    struct sums want = count(capture, filter, 1, true);

    for (uint32_t threads = 1; threads < 5; threads += 2) {
        struct sums got = count(capture, filter, threads, false);

        CHECK_EQ(got.count, want.count);
        for (size_t i = 0; i < got.count; i++) {
            const struct sum *a = &got.items[i], *b = &want.items[i];

            CHECK_EQ(compare(a, b), 0);
            CHECK_EQ(a->elements, b->elements);
            CHECK_EQ(a->instructions, b->instructions);
            CHECK_EQ(a->exceptions, b->exceptions);
            CHECK_EQ(a->joints, b->joints);
        }
        free(got.items);
    }
    free(want.items);
}

static void check_capture(struct tw_capture *capture, struct check_random *random)
{
    const struct tw_run_config plain = { .size = sizeof plain };
    struct records records = record_all(capture, &plain, NULL);
    const size_t at = records.count ? (size_t)check_random_below(random, records.count) : 0;
    struct tw_filter filter = { .size = sizeof filter };

    check_same(capture, NULL);
    if (records.count) {
        filter.has_from = filter.has_to = true;
        filter.from = records.items[at].element.index;
        filter.to = filter.from + 20000;
        check_same(capture, &filter);
        filter = (struct tw_filter){ .size = sizeof filter };
        filter.tids = &records.items[at].tid;
        filter.tid_count = 1;
        check_same(capture, &filter);
        filter = (struct tw_filter){ .size = sizeof filter };
        filter.has_from_instruction = filter.has_to_instruction = true;
        filter.from_instruction = check_random_below(random, 10000);
        filter.to_instruction = filter.from_instruction + check_random_below(random, 100000);
        check_same(capture, &filter);
    }
    free(records.items);
}

static void sums_on_threads_are_those_of_the_parts(void **state)
{
    struct check_random random = check_random_start(0x72756e37);

    (void)state;
    each_capture(&random, 300, check_capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_on_threads_are_those_of_the_parts),
    };

    return cmocka_run_group_tests_name("run: counting", tests, NULL, NULL);
}
