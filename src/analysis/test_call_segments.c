/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of segments that do not know of each other, joined: the same bytes as of the whole, wherever it is cut. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "all_runs.h"
#include "analysis/calls.h"
#include "base/memory.h"
#include "failing.h"

enum { FUNCTIONS = 6, FIRST = 0x1000, APART = 0x100, DEEP = 64, SEGMENTS_MOST = 12 };

static const char *const names[FUNCTIONS] = { "a", "b", "c", "d", "_Unwind_Resume", "e" };

static char path[64];

static int make_paths(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/trackway-segments-%ld", (long)getpid());
    return 0;
}

static int remove_paths(void **state)
{
    (void)state;
    (void)remove(path);
    return 0;
}

/* ---- a thread that does as it likes, more or less ---- */

static bool find(void *context, struct tw_function *function, uint64_t *first, uint64_t *end,
                 uint64_t address)
{
    const uint64_t number = (address - FIRST) / APART;

    (void)context;
    if (address < FIRST || number >= FUNCTIONS)
        return false;
    *first = FIRST + number * APART;
    *end = *first + APART;
    function->name = names[number];
    function->address = *first;
    function->size = APART;
    return true;
}

/* Without code every jump through a register may be a return. */
static struct tw_code_place places[2] = { { .map = 1, .find = find },
                                          { .map = 2, .find = find } };

struct thread {
    struct check_random random;
    uint64_t back[DEEP]; /* where its frames return to */
    size_t depth;
    uint64_t at;
    bool is_wild; /* seldom does what programs do */
};

static uint64_t some_address(struct thread *thread)
{
    return FIRST + check_random_below(&thread->random, FUNCTIONS + 1) * APART +
           check_random_below(&thread->random, 8) * 4;
}

static uint64_t some_entry(struct thread *thread)
{
    return FIRST + check_random_below(&thread->random, FUNCTIONS) * APART;
}

enum { KINDS = 6 }; /* of instructions: which one is at an address depends on that alone */

static const uint32_t opcodes[KINDS] = { 0xd503201f, 0x94000000, 0xd65f03c0,
                                         0xd69f03e0, 0x14000000, 0xd61f0000 };

static int make_code(void **state)
{
    static uint8_t bytes[(FUNCTIONS + 2) * APART];
    const struct tw_region region = { .size = sizeof region,
                                      .address = FIRST,
                                      .length = sizeof bytes };

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(opcodes[((FIRST + i) >> 2) % KINDS] >> 8 * (i % 4));
    CHECK_EQ(tw_image_new(&places[1].image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(places[1].image, &region, bytes), TW_OK);
    return 0;
}

static int free_code(void **state)
{
    (void)state;
    tw_image_free(places[1].image);
    return 0;
}

/* How many instructions there are up to one of a kind. */
static uint32_t instructions_to(uint64_t at, unsigned kind, unsigned sub)
{
    const uint64_t which = kind == TW_LAST_OTHER   ? 0
                           : sub == TW_SUB_LINK    ? 1
                           : sub == TW_SUB_V8_RET  ? 2
                           : sub == TW_SUB_V8_ERET ? 3
                           : kind == TW_LAST_BR    ? 4
                                                   : 5;
    uint32_t count = 1;

    while ((at >> 2) % KINDS != which) {
        at += 4;
        count++;
    }
    return count;
}

static struct tw_element range_to(struct thread *thread, unsigned kind, unsigned sub,
                                  uint64_t next)
{
    const uint32_t count = instructions_to(thread->at, kind, sub);
    const struct tw_element range = { .type = TW_ELEMENT_INSTR_RANGE,
                                      .index = thread->at,
                                      .start = thread->at,
                                      .length = count * 4,
                                      .count = count,
                                      .flags = TW_RANGE_EXECUTED,
                                      .isa = TW_ISA_A64,
                                      .last_kind = kind & 7,
                                      .last_sub = sub & 7,
                                      .last_size = 2 };

    if (sub == TW_SUB_LINK && thread->depth < DEEP)
        thread->back[thread->depth++] = tw_element_end(&range);
    thread->at = next ? next : tw_element_end(&range);
    return range;
}

static struct tw_element returning(struct thread *thread, unsigned sub, bool is_far)
{
    size_t to = thread->depth;

    if (!to)
        return range_to(thread, TW_LAST_IBR, sub, some_address(thread));
    to = is_far ? check_random_below(&thread->random, to) : to - 1;
    thread->depth = to;
    return range_to(thread, TW_LAST_IBR, sub, thread->back[to]);
}

static struct tw_element odd(struct thread *thread)
{
    static const uint8_t types[] = { TW_ELEMENT_TRACE_ON,       TW_ELEMENT_NO_SYNC,
                                     TW_ELEMENT_ERROR,          TW_ELEMENT_ADDR_NACC,
                                     TW_ELEMENT_I_RANGE_NOPATH, TW_ELEMENT_EXCEPTION_RET,
                                     TW_ELEMENT_TIMESTAMP };
    struct tw_element element = { .type =
                                      types[check_random_below(&thread->random, LENGTH(types))],
                                  .address = 0x9000,
                                  .count = 3 };

    if (element.type == TW_ELEMENT_TRACE_ON)
        element.reason =
            check_random_below(&thread->random, 2) ? TW_TRACE_ON_NORMAL : TW_TRACE_ON_OVERFLOW;
    return element;
}

static struct tw_element next_element(struct thread *thread)
{
    const uint64_t dice = check_random_below(&thread->random, thread->is_wild ? 100 : 75);

    if (dice < 20)
        return range_to(thread, TW_LAST_OTHER, TW_SUB_NONE, 0);
    if (dice < 28) /* by a table */
        return range_to(thread, TW_LAST_IBR, TW_SUB_NONE,
                        thread->at - (thread->at - FIRST) % APART +
                            check_random_below(&thread->random, 16) * 4);
    if (dice < 30)
        return returning(thread, TW_SUB_NONE, dice & 1);
    if (dice < 50)
        return range_to(thread, TW_LAST_BR, TW_SUB_LINK, some_entry(thread));
    if (dice < 69)
        return returning(thread, TW_SUB_V8_RET, false);
    if (dice < 72)
        return range_to(thread, dice & 1 ? TW_LAST_BR : TW_LAST_IBR, TW_SUB_NONE,
                        some_entry(thread));
    if (dice == 72)
        return returning(thread, TW_SUB_V8_RET, true);
    if (dice < 80 && thread->depth < DEEP) { /* and 73, 74: interrupts */
        const struct tw_element exception = { .type = TW_ELEMENT_EXCEPTION,
                                              .return_address = thread->at,
                                              .flags = TW_EXCEPTION_HAS_RETURN };

        thread->back[thread->depth++] = thread->at;
        thread->at = some_entry(thread);
        return exception;
    }
    if (dice < 84)
        return returning(thread, TW_SUB_V8_ERET, false);
    if (dice < 90)
        return range_to(thread, TW_LAST_BR, TW_SUB_NONE, some_address(thread));
    if (dice < 94)
        return range_to(thread, TW_LAST_IBR, TW_SUB_V8_RET, some_address(thread));
    return odd(thread);
}

/* Elements, with loops that are told of as a number. */
static struct tw_element *elements_of(uint64_t seed, size_t count, bool is_wild)
{
    struct thread thread = { .random = { seed }, .at = FIRST, .is_wild = is_wild };
    struct tw_element *elements = calloc(count, sizeof *elements);

    CHECK(elements != NULL);
    for (size_t i = 0; i < count; i++) {
        const uint64_t dice = check_random_below(&thread.random, 40);

        if (i > 3 && dice == 0 && elements[i - 1].type == TW_ELEMENT_INSTR_RANGE)
            elements[i] =
                (struct tw_element){ .type = TW_ELEMENT_REPEAT,
                                     .times = 1 + check_random_below(&thread.random, 5),
                                     .count =
                                         1 + (uint32_t)check_random_below(&thread.random, 3) };
        else
            elements[i] = next_element(&thread);
    }
    return elements;
}

static struct tw_calls *calls_new(bool is_logical, bool is_part)
{
    const struct tw_calls_config config = { .size = sizeof config,
                                            .is_logical = is_logical,
                                            .is_part = is_part };
    struct tw_calls *calls;

    CHECK_EQ(tw_calls_new(&calls, &config, NULL), TW_OK);
    return calls;
}

/* A segment from one place to another of a capture that has so many. */
static void begin_segment(struct tw_calls *calls, uint64_t from, uint64_t to, uint64_t end)
{
    struct tw_call_segments *all = &calls->segments;
    struct tw_call_segment *made = tw_call_segment_new(calls);

    CHECK(made && TW_GROW(NULL, &all->items, &all->room, all->count + 1));
    made->about = (struct tw_run_stretch){ .capture = 1,
                                           .extent = { .offset = from, .end_offset = to },
                                           .is_first = from == 0,
                                           .is_last = to == end };
    all->items[all->count++] = calls->segment = made;
}

/* What a file of it holds. */
static struct tw_save saved(struct tw_calls *calls)
{
    struct tw_save save = { .allocator = NULL };

    tw_calls_finish(calls);
    tw_calls_write_saved(calls, &save);
    CHECK(!save.has_failed);
    tw_calls_free(calls);
    return save;
}

/* Adds them in any order. */
static struct tw_calls *add_all(struct tw_calls **parts, size_t count,
                                struct check_random *random)
{
    struct tw_calls *sum = NULL;

    while (count) {
        const size_t which = check_random_below(random, count);
        struct tw_calls *loaded;

        if (check_random_below(random, 200) == 0) { /* by way of a file */
            CHECK_EQ(tw_calls_save(parts[which], path, NULL), TW_OK);
            CHECK_EQ(tw_calls_load(&loaded, path, NULL, NULL), TW_OK);
            tw_calls_free(parts[which]);
        } else {
            loaded = parts[which];
        }
        parts[which] = parts[--count];
        if (sum) {
            CHECK_EQ(tw_calls_add(sum, loaded, NULL), TW_OK);
            tw_calls_free(loaded);
        } else {
            sum = loaded;
        }
    }
    tw_call_segments_join(sum, false);
    CHECK_EQ(sum->segments.count, 0);
    return sum;
}

static void check_same(struct tw_save want, struct tw_save got)
{
    enum { HEAD = 32 }; /* filled in with the file */

    CHECK_BYTES(got.bytes + HEAD, got.size - HEAD, want.bytes + HEAD, want.size - HEAD);
    tw_give(NULL, want.bytes);
    tw_give(NULL, got.bytes);
}

static void cut_and_join(struct tw_element *elements, size_t count, bool is_logical,
                         struct check_random *random)
{
    const struct tw_code_place *place = &places[check_random_below(random, 2)];
    const struct tw_call_thread thread = { 1, UINT64_MAX, UINT64_MAX };
    struct tw_calls *whole = calls_new(is_logical, false), *parts[SEGMENTS_MOST];
    const size_t number = 1 + check_random_below(random, SEGMENTS_MOST);
    struct tw_save want;
    size_t at = 0;

    tw_call_stack_take(&whole->machine, tw_calls_stack(whole, &thread), elements, count, place);
    want = saved(whole);
    for (size_t i = 0; i < number; i++) {
        struct tw_part mine = { .batch.elements = elements + at };
        size_t end = i + 1 == number ? count : at + check_random_below(random, count - at + 1);

        for (size_t k = end; k < count && k < end + 4; k++)
            if (elements[k].type == TW_ELEMENT_REPEAT) /* it speaks of what is before it */
                end = k + 1;
        mine.who.tid = TW_NONE;
        mine.batch.count = end - at;
        parts[i] = calls_new(is_logical, true);
        begin_segment(parts[i], at, end, count);
        if (mine.batch.count)
            CHECK(tw_call_segment_take(parts[i], &thread, &mine, place));
        at = end;
    }
    check_same(want, saved(add_all(parts, number, random)));
}

static void any_thread_is_cut_anywhere(void **state)
{
    struct check_random random = check_random_start(181);
    const size_t cases = check_scale(4000);

    (void)state;
    for (size_t i = 0; i < cases; i++) {
        const size_t count = 1 + check_random_below(&random, i % 8 == 0 ? 3000 : 60);
        struct tw_element *elements =
            elements_of(check_random_next(&random), count, check_random_below(&random, 2));

        check_case("thread %zu", i);
        cut_and_join(elements, count, i & 1, &random);
        free(elements);
    }
}

/* ---- recursion beyond what is kept ---- */

static void endless_recursion_is_cut(void **state)
{
    enum { CALLS = 1200000 };
    struct check_random random = check_random_start(182);
    struct tw_element *elements = calloc(CALLS, sizeof *elements);
    struct thread thread = { .random = random, .at = FIRST };

    (void)state;
    CHECK(elements != NULL);
    for (size_t i = 0; i < CALLS; i++)
        elements[i] = i % 5 == 4
                          ? range_to(&thread, TW_LAST_BR, TW_SUB_NONE, some_entry(&thread))
                          : range_to(&thread, TW_LAST_BR, TW_SUB_LINK, some_entry(&thread));
    cut_and_join(elements, CALLS, false, &random);
    free(elements);
}

/* ---- captures ---- */

static struct tw_save take_all(struct tw_calls *calls, struct tw_capture *capture)
{
    const struct tw_run_config config = { .size = sizeof config, .order = TW_ORDER_TIME };
    struct tw_part part = { .size = sizeof part };
    struct tw_save save;
    struct tw_run *run;

    CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
    while (tw_run_next(run, &part) == TW_OK)
        CHECK_EQ(tw_calls_take(calls, run, &part), TW_OK);
    save = saved(calls);
    tw_run_free(run);
    return save;
}

/* The same by parts, cut at random elements.  How many there are. */
static size_t take_parts(struct tw_calls **parts, struct tw_run *run,
                         struct check_random *random)
{
    struct tw_part part = { .size = sizeof part };
    size_t count = 0;

    while (tw_run_next(run, &part) == TW_OK) {
        if (part.kind != TW_PART_ELEMENTS)
            continue;
        if (!count || (count < SEGMENTS_MOST && check_random_below(random, 20) == 0)) {
            if (count)
                tw_call_segment_end(parts[count - 1]);
            parts[count] = calls_new(false, true);
            begin_segment(parts[count], count, count + 1, UINT64_MAX);
            parts[count++]->run = run;
        }
        CHECK_EQ(tw_calls_take(parts[count - 1], run, &part), TW_OK);
    }
    if (count) {
        tw_call_segment_end(parts[count - 1]);
        parts[count - 1]->segments.items[0]->about.is_last = true;
    }
    return count;
}

static void check_capture(struct tw_capture *capture, struct check_random *random)
{
    const struct tw_run_config config = { .size = sizeof config, .order = TW_ORDER_TIME };
    struct tw_calls *whole = calls_new(false, false), *parts[SEGMENTS_MOST];
    struct tw_save want = take_all(whole, capture);
    struct tw_run *run;
    size_t count;

    CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
    count = take_parts(parts, run, random);
    if (count)
        check_same(want, saved(add_all(parts, count, random)));
    else
        tw_give(NULL, want.bytes);
    tw_run_free(run);
}

/* The same on the threads that decode. */
static struct tw_save count_all(struct tw_calls *calls, struct tw_capture *capture,
                                uint32_t threads)
{
    const struct tw_run_counter counter = tw_calls_counter(calls);
    const struct tw_run_config config = { .size = sizeof config,
                                          .counter = &counter,
                                          .threads = threads };
    struct tw_save save;
    struct tw_run *run;

    CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
    tw_calls_run(calls, run);
    CHECK_EQ(tw_run_all(run), TW_OK);
    CHECK(tw_calls_is_complete(calls));
    save = saved(calls);
    tw_run_free(run);
    return save;
}

static void captures_are_counted_on_threads(void **state)
{
    struct runs runs = runs_find();
    const size_t step = runs.count / check_scale(10 * (runs.count < 60 ? runs.count : 60)) + 1;

    (void)state;
    CHECK(runs.runs != NULL);
    for (size_t i = 0; i < runs.count; i += step) {
        struct tw_capture *capture;

        check_case("%s", runs.runs[i].path);
        if (run_open(&capture, &runs.runs[i], NULL, NULL) != TW_OK)
            continue;
        if (tw_calls_has_counter(capture, NULL)) {
            const bool is_logical = i & 1;

            check_same(take_all(calls_new(is_logical, false), capture),
                       count_all(calls_new(is_logical, false), capture, 1));
            check_same(take_all(calls_new(is_logical, false), capture),
                       count_all(calls_new(is_logical, false), capture, 3));
        }
        tw_capture_free(capture);
    }
    free(runs.runs);
}

static void captures_are_cut_anywhere(void **state)
{
    struct check_random random = check_random_start(183);
    struct runs runs = runs_find();
    const size_t step = runs.count / check_scale(10 * (runs.count < 60 ? runs.count : 60)) + 1;

    (void)state;
    CHECK(runs.runs != NULL);
    for (size_t i = 0; i < runs.count; i += step) {
        struct tw_capture *capture;

        check_case("%s", runs.runs[i].path);
        if (strstr(runs.runs[i].path, ".perf.data") ||
            run_open(&capture, &runs.runs[i], NULL, NULL) != TW_OK)
            continue;
        check_capture(capture, &random);
        tw_capture_free(capture);
    }
    free(runs.runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_thread_is_cut_anywhere, make_code, free_code),
        cmocka_unit_test_setup_teardown(endless_recursion_is_cut, make_code, free_code),
        cmocka_unit_test(captures_are_cut_anywhere),
        cmocka_unit_test(captures_are_counted_on_threads),
    };

    return cmocka_run_group_tests_name("analysis: segments of calls", tests, make_paths,
                                       remove_paths);
}
