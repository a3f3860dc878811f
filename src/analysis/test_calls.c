/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules of call stacks, each on a few ranges of made-up code. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trackway/formats.h>

#include "analysis/calls.h"
#include "failing.h"

/* Functions lie 0x100 apart, from 0x1000 on: a, b, c ...; what is beyond has no symbol. */
static const char *const names[] = { "a", "b", "c", "d", "_Unwind_Resume", "e" };

static bool find(void *context, struct tw_function *function, uint64_t *first, uint64_t *end,
                 uint64_t address)
{
    const uint64_t number = (address - 0x1000) / 0x100;

    (void)context;
    if (address < 0x1000 || number >= LENGTH(names))
        return false;
    *first = 0x1000 + number * 0x100;
    *end = *first + 0x100;
    function->name = names[number];
    function->address = *first;
    function->size = 0x100;
    return true;
}

/* A line of a case: ranges of one instruction unless `count` says more. */
struct line {
    enum tw_element_type type;
    uint64_t start;
    uint32_t count;
    uint8_t kind, sub; /* of the last instruction, taken */
    uint64_t back;     /* exceptions */
};

#define RANGE(start, count, kind, sub)                                                         \
    {                                                                                          \
        TW_ELEMENT_INSTR_RANGE, start, count, kind, sub, 0                                     \
    }
#define GO(start, count)   RANGE(start, count, TW_LAST_OTHER, TW_SUB_NONE)
#define CALL(start, count) RANGE(start, count, TW_LAST_BR, TW_SUB_LINK)
#define JUMP(start, count) RANGE(start, count, TW_LAST_BR, TW_SUB_NONE)
#define LEAP(start, count) RANGE(start, count, TW_LAST_IBR, TW_SUB_NONE)
#define RET(start, count)  RANGE(start, count, TW_LAST_IBR, TW_SUB_V8_RET)
#define ERET(start, count) RANGE(start, count, TW_LAST_IBR, TW_SUB_V8_ERET)
#define EXCEPTION(back)                                                                        \
    {                                                                                          \
        TW_ELEMENT_EXCEPTION, 0, 0, 0, 0, back                                                 \
    }
#define BACK /* M profile */                                                                   \
    {                                                                                          \
        TW_ELEMENT_EXCEPTION_RET, 0, 0, 0, 0, 0                                                \
    }
#define CHAINED EXCEPTION(0)
#define ON                                                                                     \
    {                                                                                          \
        TW_ELEMENT_TRACE_ON, 0, 0, 0, 0, 0                                                     \
    }
#define LOST                                                                                   \
    {                                                                                          \
        TW_ELEMENT_NO_SYNC, 0, 0, 0, 0, 0                                                      \
    }
#define NO_CODE(address)                                                                       \
    {                                                                                          \
        TW_ELEMENT_ADDR_NACC, address, 0, 0, 0, 0                                              \
    }
#define END                                                                                    \
    {                                                                                          \
        TW_ELEMENT_UNKNOWN, 0, 0, 0, 0, 0                                                      \
    }

/* clang-format off */
static const struct {
    const char *name;
    bool is_logical;
    struct line lines[14];
    const char *folded;
} cases[] = {
    { "a call and its return", false,
      { GO(0x1000, 1), CALL(0x1004, 1), RET(0x1100, 3), GO(0x1008, 2), END },
      "a 4\na;b 3\n" },
    { "a call to the next address asks for it", false,
      { CALL(0x1000, 1), GO(0x1004, 5), END },
      "a 6\n" },
    { "recursion", false,
      { CALL(0x1000, 1), CALL(0x1000, 2), RET(0x1000, 3), RET(0x1008, 4), GO(0x1004, 1), END },
      "a 2\na;a 6\na;a;a 3\n" },
    { "a tail call takes the place of its caller", false,
      { CALL(0x1000, 1), JUMP(0x1100, 2), RET(0x1200, 3), GO(0x1004, 1), END },
      "a 2\na;b 2\na;c 3\n" },
    { "logical: it stands on its caller", true,
      { CALL(0x1000, 1), JUMP(0x1100, 2), RET(0x1200, 3), GO(0x1004, 1), END },
      "a 2\na;b 2\na;b;c 3\n" },
    { "logical: two that tail-call each other do not grow", true,
      { CALL(0x1000, 1), JUMP(0x1100, 1), JUMP(0x1200, 1), JUMP(0x1100, 1), RET(0x1200, 1), GO(0x1004, 1), END },
      "a 2\na;b 2\na;b;c 2\n" },
    { "falling into the next function is a tail call", false,
      { CALL(0x1000, 1), GO(0x11fc, 1), RET(0x1200, 1), GO(0x1004, 1), END },
      "a 2\na;b 1\na;c 1\n" },
    { "... inside one range, too", false,
      { CALL(0x1000, 1), RET(0x11f8, 4), GO(0x1004, 1), END },
      "a 2\na;b 2\na;c 2\n" },
    { "a jump into the middle of a function that waits leaves what is above", false,
      { CALL(0x1000, 1), CALL(0x1100, 1), LEAP(0x1200, 1), GO(0x1020, 2), END },
      "a 3\na;b 1\na;b;c 1\n" },
    { "unwinding goes on below the frame that cleaned up", false,
      { CALL(0x1000, 1), CALL(0x1000, 1), CALL(0x1000, 1), LEAP(0x1400, 1), GO(0x1040, 1), END },
      "a 1\na;a 2\na;a;a 1\na;a;a;_Unwind_Resume 1\n" },
    { "beginning in the middle: the caller shows itself", false,
      { RET(0x1104, 3), RET(0x1044, 2), GO(0x1244, 1), END },
      "[callers unknown];c 1\n[callers unknown];c;a 2\n[callers unknown];c;a;b 3\n" },
    { "after a gap nothing is known of the callers", false,
      { CALL(0x1000, 1), GO(0x1100, 1), LOST, ON, GO(0x1104, 1), RET(0x1108, 1), GO(0x1004, 1), END },
      "[callers unknown];a 1\n[callers unknown];a;b 2\na 1\na;b 1\n" },
    { "an exception and its return", false,
      { GO(0x1000, 2), EXCEPTION(0x1008), ERET(0x1100, 3), GO(0x1008, 1), END },
      "a 3\na;b 3\n" },
    { "a call that is interrupted before its first instruction", false,
      { CALL(0x1000, 1), EXCEPTION(0x1100), ERET(0x1200, 2), RET(0x1100, 3), GO(0x1004, 1), END },
      "a 2\na;b 3\na;b;c 2\n" },
    { "... and a return before its caller's next one", false,
      { CALL(0x1000, 1), RET(0x1100, 3), EXCEPTION(0x1004), ERET(0x1200, 2), GO(0x1004, 1), END },
      "a 2\na;b 3\na;c 2\n" },
    { "... and a tail call before that of its callee", false,
      { CALL(0x1000, 1), JUMP(0x1100, 1), EXCEPTION(0x1300), ERET(0x1200, 2), RET(0x1300, 3), GO(0x1004, 1), END },
      "a 2\na;b 1\na;d 3\na;d;c 2\n" },
    { "... where the handler is not traced", false,
      { CALL(0x1000, 1), EXCEPTION(0x1100), ON, RET(0x1100, 3), GO(0x1004, 1), END },
      "a 2\na;b 3\n" },
    { "... and a branch inside one function changes nothing", false,
      { JUMP(0x1000, 1), EXCEPTION(0x1040), ERET(0x1200, 2), GO(0x1040, 1), END },
      "a 2\na;c 2\n" },
    { "a system call whose handler is not traced", false,
      { CALL(0x1000, 1), GO(0x1100, 1), EXCEPTION(0x1104), ON, RET(0x1104, 1), GO(0x1004, 1), END },
      "a 2\na;b 2\n" },
    { "a signal's handler, and the way back", false,
      { GO(0x1000, 2), EXCEPTION(0x1008), ON, GO(0x1100, 1), EXCEPTION(0x1104), ON, GO(0x1008, 1), END },
      "a 3\na;b 1\n" },
    { "a task is left for another, and goes on", false,
      { GO(0x1000, 1), EXCEPTION(0x1004), ERET(0x1100, 1), GO(0x1204, 2), EXCEPTION(0x120c), ERET(0x1100, 1), GO(0x1004, 3), END },
      "[callers unknown];c 2\n[callers unknown];c;b 1\na 4\na;b 1\n" },
    { "a return that fits nothing begins another stack", false,
      { CALL(0x1000, 1), RET(0x1100, 1), GO(0x1304, 2), END },
      "[callers unknown];d 2\na 1\na;b 1\n" },
    { "code without a symbol is named by where it is entered", false,
      { CALL(0x1000, 1), JUMP(0x8000, 1), RET(0x8010, 1), GO(0x1004, 1), END },
      "a 2\na;[0x8000] 2\n" },
    { "a jump through a register returns to a call", false,
      { CALL(0x1000, 1), CALL(0x1100, 1), LEAP(0x1200, 1), GO(0x1004, 2), END },
      "a 3\na;b 1\na;b;c 1\n" },
    { "... not to where an exception came from: a handler that calls what it interrupted, which jumps by a table", false,
      { GO(0x1000, 2), EXCEPTION(0x1008), CALL(0x1100, 1), LEAP(0x1000, 2), RET(0x1008, 3), ERET(0x1104, 1), GO(0x1008, 1), END },
      "a 3\na;b 2\na;b;a 5\n" },
    { "a chained handler takes the place of the one before", false,
      { GO(0x1000, 2), EXCEPTION(0x1008), RET(0x1100, 3), BACK, CHAINED, RET(0x1200, 2), BACK, GO(0x1008, 1), END },
      "a 3\na;b 3\na;c 2\n" },
    { "... and one that is interrupted at once is there, too", false,
      { GO(0x1000, 2), EXCEPTION(0x1008), RET(0x1100, 3), BACK, CHAINED, EXCEPTION(0x1200), RET(0x1300, 4), BACK, RET(0x1200, 2), BACK, GO(0x1008, 1), END },
      "a 3\na;b 3\na;c 2\na;c;d 4\n" },
    { "an exception right behind the return from another one", false,
      { GO(0x1000, 2), EXCEPTION(0x1008), RET(0x1100, 3), BACK, EXCEPTION(0x1008), RET(0x1200, 2), BACK, GO(0x1008, 1), END },
      "a 3\na;b 3\na;c 2\n" },
    { "a fault handler steps over the call that led to it", false,
      { CALL(0x1000, 1), EXCEPTION(0x1100), RET(0x1200, 3), BACK, GO(0x1006, 1), END },
      "a 2\na;b;c 3\n" },
    { "a return that went astray: what died is what returned", false,
      { CALL(0x1000, 1), RET(0x1100, 2), EXCEPTION(0x55555554), GO(0x1200, 3), END },
      "a 1\na;b 2\na;b;c 3\n" },
    { "code that is missing", false,
      { CALL(0x1000, 1), NO_CODE(0x9000), GO(0x1004, 1), END },
      "a 2\n" },
};
/* clang-format on */

static struct tw_element element_of(const struct line *line)
{
    struct tw_element element = { .type = (uint8_t)line->type };

    if (line->type == TW_ELEMENT_INSTR_RANGE) {
        element.start = line->start;
        element.length = line->count * 4;
        element.count = line->count;
        element.isa = TW_ISA_A64;
        element.flags = TW_RANGE_EXECUTED;
        element.last_kind = line->kind & 7u;
        element.last_sub = line->sub & 7u;
        element.last_size = 2;
    } else if (line->type == TW_ELEMENT_EXCEPTION) {
        element.return_address = line->back;
        element.flags = line->back ? TW_EXCEPTION_HAS_RETURN : TW_EXCEPTION_TAIL_CHAIN;
    } else if (line->type == TW_ELEMENT_ADDR_NACC) {
        element.address = line->start;
    }
    return element;
}

struct text {
    char chars[4096];
    size_t size;
};

static bool keep(void *context, const void *bytes, size_t size)
{
    struct text *text = context;

    CHECK(text->size + size < sizeof text->chars);
    memcpy(text->chars + text->size, bytes, size);
    text->size += size;
    text->chars[text->size] = 0;
    return true;
}

static void check_folded(const struct tw_calls *calls, const char *want)
{
    struct text text = { "", 0 };
    const struct tw_subject subject = { .size = sizeof subject, .calls = calls };

    CHECK_EQ(
        tw_format_write(tw_format_by_name("folded", TW_SUBJECT_CALLS), &subject, keep, &text),
        TW_OK);
    CHECK_TEXT(text.chars, want);
}

/* all_at_once: in one call, where ranges are taken quickly; else one element at a time. */
static void run_case(size_t number, bool all_at_once)
{
    const struct tw_code_place place = { .map = 1, .find = find };
    const struct tw_call_thread thread = { 0, 0, 0 };
    const struct tw_calls_config config = { .size = sizeof config,
                                            .is_logical = cases[number].is_logical };
    struct tw_element elements[14];
    struct tw_call_stack *stack;
    struct tw_calls *calls;
    uint64_t instructions = 0;
    size_t count = 0;

    CHECK_EQ(tw_calls_new(&calls, &config, NULL), TW_OK);
    stack = tw_calls_stack(calls, &thread);
    for (; cases[number].lines[count].type != TW_ELEMENT_UNKNOWN; count++) {
        elements[count] = element_of(&cases[number].lines[count]);
        instructions +=
            elements[count].type == TW_ELEMENT_INSTR_RANGE ? elements[count].count : 0;
    }
    for (size_t i = 0; i < count; i += all_at_once ? count : 1)
        tw_call_stack_take(&calls->machine, stack, elements + i, all_at_once ? count : 1,
                           &place);
    tw_calls_finish(calls);
    check_folded(calls, cases[number].folded);
    CHECK_EQ(tw_calls_stats(calls).instructions, instructions);
    tw_calls_free(calls);
}

static void each_rule_gives_its_stacks(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        CHECK_CASE(cases[i].name);
        run_case(i, true);
        run_case(i, false);
    }
}

/* A program that calls itself without end takes no memory without end. */
static void kinds_have_names(void **state)
{
    static const char *const calls[] = {
        [TW_CALL_BEGIN] = "begin",     [TW_CALL_CALL] = "call",
        [TW_CALL_TAIL] = "tail",       [TW_CALL_EXCEPTION] = "exception",
        [TW_CALL_SIGNAL] = "signal",   [TW_CALL_OUTER] = "outer",
        [TW_CALL_RESUMED] = "resumed", [TW_CALL_INLINED] = "inlined"
    };
    static const char *const leaves[] = {
        [TW_LEAVE_RETURN] = "return", [TW_LEAVE_TAIL] = "tail", [TW_LEAVE_UNWOUND] = "unwound",
        [TW_LEAVE_SWITCH] = "switch", [TW_LEAVE_GAP] = "gap",   [TW_LEAVE_END] = "end"
    };

    (void)state;
    for (unsigned i = 0; i < LENGTH(calls); i++)
        CHECK_TEXT(tw_call_kind_name(i), calls[i]);
    for (unsigned i = 0; i < LENGTH(leaves); i++)
        CHECK_TEXT(tw_leave_kind_name(i), leaves[i]);
    CHECK_TEXT(tw_call_kind_name(LENGTH(calls)), "unknown");
    CHECK_TEXT(tw_leave_kind_name(LENGTH(leaves)), "unknown");
}

static void recursion_without_end_is_bounded(void **state)
{
    const struct tw_code_place place = { .map = 1, .find = find };
    const struct tw_call_thread thread = { 0, 0, 0 };
    const struct tw_calls_config config = { .size = sizeof config };
    const struct line line = CALL(0x1000, 2);
    const struct tw_element call = element_of(&line);
    struct tw_call_stack *stack;
    struct tw_calls *calls;

    (void)state;
    CHECK_EQ(tw_calls_new(&calls, &config, NULL), TW_OK);
    stack = tw_calls_stack(calls, &thread);
    for (size_t i = 0; i < 3000000; i++)
        tw_call_stack_take(&calls->machine, stack, &call, 1, &place);
    CHECK(stack->count <= 1 << 20);
    CHECK(stack->tree.count <= (1 << 16) + 2);
    CHECK(tw_calls_stats(calls).too_deep > 0);
    tw_calls_finish(calls);
    CHECK_EQ(tw_calls_stats(calls).instructions, 6000000);
    CHECK_EQ(tw_calls_totals(calls, 1).inclusive, 6000000);
    tw_calls_free(calls);
}

/* ---- results that are kept ---- */

enum { KEPT = 6, ELEMENTS = 300 };

static struct tw_element random_element(struct check_random *random)
{
    static const struct line lines[] = {
        GO(0x1000, 1),  CALL(0x1000, 1), CALL(0x1000, 1), JUMP(0x1000, 1),   LEAP(0x1000, 1),
        RET(0x1000, 1), RET(0x1000, 1),  ERET(0x1000, 1), EXCEPTION(0x1000), ON,
        LOST,           NO_CODE(0x9000)
    };
    struct line line = lines[check_random_below(random, LENGTH(lines))];
    const uint64_t at = 0x1000 + check_random_below(random, LENGTH(names) + 1) * 0x100 +
                        check_random_below(random, 6) * 4;

    if (line.type == TW_ELEMENT_INSTR_RANGE)
        line.start = at;
    line.back = at;
    return element_of(&line);
}

/* The calls of a thread that does as it likes. */
static struct tw_calls *random_calls(uint64_t seed)
{
    const struct tw_code_place place = { .map = 1, .find = find };
    const struct tw_call_thread thread = { 0, 0, 0 };
    const struct tw_calls_config config = { .size = sizeof config };
    struct check_random random = { seed };
    struct tw_calls *calls;
    struct tw_call_stack *stack;

    CHECK_EQ(tw_calls_new(&calls, &config, NULL), TW_OK);
    stack = tw_calls_stack(calls, &thread);
    for (size_t i = 0; i < ELEMENTS; i++) {
        const struct tw_element element = random_element(&random);

        tw_call_stack_take(&calls->machine, stack, &element, 1, &place);
    }
    return calls;
}

static char path[64];

static void check_kept(struct tw_calls *calls, const uint8_t *want, size_t want_size)
{
    size_t size;
    uint8_t *bytes;

    CHECK_EQ(tw_calls_save(calls, path, NULL), TW_OK);
    bytes = check_load(&size, path);
    CHECK_BYTES(bytes, size, want, want_size);
    free(bytes);
}

/* One of two that were added is loaded from a file, by turns. */
static struct tw_calls *sum_of(struct check_random *random, struct tw_calls *one,
                               struct tw_calls *other)
{
    if (check_random_below(random, 2)) {
        struct tw_calls *loaded;

        CHECK_EQ(tw_calls_save(other, path, NULL), TW_OK);
        CHECK_EQ(tw_calls_load(&loaded, path, NULL, NULL), TW_OK);
        tw_calls_free(other);
        other = loaded;
    }
    CHECK_EQ(tw_calls_add(one, other, NULL), TW_OK);
    tw_calls_free(other);
    return one;
}

static void sums_do_not_depend_on_order_or_grouping(void **state)
{
    struct check_random random = { 18 };
    uint8_t *want = NULL;
    size_t size = 0;

    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/trackway-calls-%ld", (long)getpid());
    for (unsigned round = 0; round < 20; round++) {
        struct tw_calls *left[KEPT];

        check_case("round %u", round);
        for (size_t i = 0; i < KEPT; i++)
            left[i] = random_calls(i + 1);
        for (size_t count = KEPT; count > 1; count--) {
            const size_t one = (size_t)check_random_below(&random, count);
            size_t other = (size_t)check_random_below(&random, count - 1);

            other += other >= one;
            left[one] = sum_of(&random, left[one], left[other]);
            left[other] = left[count - 1];
            if (one == count - 1)
                left[other] = left[one];
        }
        if (want) {
            check_kept(left[0], want, size);
        } else {
            CHECK_EQ(tw_calls_save(left[0], path, NULL), TW_OK);
            want = check_load(&size, path);
        }
        tw_calls_free(left[0]);
    }
    free(want);
    (void)remove(path);
}

static void what_does_not_fit_is_not_added(void **state)
{
    const struct tw_calls_config logical = { .size = sizeof logical, .is_logical = true };
    struct tw_calls *one = random_calls(1), *other;

    (void)state;
    CHECK_EQ(tw_calls_new(&other, &logical, NULL), TW_OK);
    CHECK_EQ(tw_calls_add(one, other, NULL), TW_E_ARGUMENT);
    CHECK_EQ(tw_calls_add(one, one, NULL), TW_E_ARGUMENT);
    tw_calls_free(one);
    tw_calls_free(other);
}

static void memory_may_run_out_while_loading(void **state)
{
    struct tw_calls *calls = random_calls(3);
    enum tw_status status = TW_E_MEMORY;

    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/trackway-calls-%ld", (long)getpid());
    CHECK_EQ(tw_calls_save(calls, path, NULL), TW_OK);
    for (size_t limit = 0; status != TW_OK; limit++) {
        struct failing failing = { .left = limit };
        const struct tw_allocator allocator = { failing_resize, &failing };
        struct tw_calls *loaded;

        check_case("%zu requests", limit);
        status = tw_calls_load(&loaded, path, &allocator, NULL);
        CHECK(status == TW_OK || !loaded);
        tw_calls_free(loaded);
        CHECK_EQ(failing.live, 0);
    }
    tw_calls_free(calls);
    (void)remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_gives_its_stacks),
        cmocka_unit_test(kinds_have_names),
        cmocka_unit_test(recursion_without_end_is_bounded),
        cmocka_unit_test(sums_do_not_depend_on_order_or_grouping),
        cmocka_unit_test(what_does_not_fit_is_not_added),
        cmocka_unit_test(memory_may_run_out_while_loading),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
