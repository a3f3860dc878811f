/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of text logs: what software trace shows, and the M profile. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <trackway/log.h>

static struct tw_log *open_text(const char *text)
{
    static char all[1024]; /* borrowed by the log */
    struct tw_log *log;

    (void)snprintf(all, sizeof all, "trackway-log 1\n%s", text);
    CHECK_EQ(tw_log_open_memory(&log, (const uint8_t *)all, strlen(all), NULL, NULL), TW_OK);
    return log;
}

/* What is seen of a step of the kinds below, in one number. */
static uint64_t seen(const struct tw_step *step)
{
    const struct tw_dwt_meaning *watched = &step->watched;

    if (step->kind == TW_STEP_STIMULUS)
        return step->stimulus.value | (uint64_t)step->stimulus.port << 32 |
               (uint64_t)step->stimulus.bits << 40 | (uint64_t)step->stimulus.flags << 48 |
               (uint64_t)step->stimulus.master << 56;
    return watched->value | (uint64_t)watched->kind << 32 |
           (uint64_t)(watched->comparator | watched->action) << 40 |
           (uint64_t)(watched->number + watched->mask) << 44 |
           (uint64_t)watched->is_write << 60 | (uint64_t)watched->size << 61;
}

static void reads_what_software_trace_shows(void **state)
{
    static const struct {
        const char *line;
        uint64_t want;
    } lines[] = {
        /* clang-format off */
        { "stimulus 3 0x41",                   0x41 | 3ULL << 32 | 32ULL << 40 },
        { "stimulus 0 0x41 bits=8",            0x41 | 8ULL << 40 },
        { "stimulus 7 9 bits=4 master=2 marked timed", 9 | 7ULL << 32 | 4ULL << 40 | 3ULL << 48 | 2ULL << 56 },
        { "stimulus 1 flag timed",             1ULL << 32 | 6ULL << 48 },
        { "stimulus 1 trigger=5",              5 | 1ULL << 32 | 8ULL << 40 | 8ULL << 48 },
        { "watch exception 300 entered",       (uint64_t)TW_DWT_EXCEPTION << 32 | 1ULL << 40 | 300ULL << 44 },
        { "watch exception 0 returned",        (uint64_t)TW_DWT_EXCEPTION << 32 | 3ULL << 40 },
        { "watch sample 0x1234",               0x1234 | (uint64_t)TW_DWT_PC_SAMPLE << 32 },
        { "watch sample asleep",               (uint64_t)TW_DWT_ASLEEP << 32 },
        { "watch sample prohibited",           (uint64_t)TW_DWT_PROHIBITED << 32 },
        { "watch counters 0x21",               (uint64_t)TW_DWT_COUNTERS << 32 | 0x21ULL << 44 },
        { "watch pmu 0x81",                    (uint64_t)TW_DWT_PMU << 32 | 0x81ULL << 44 },
        { "watch 2 pc 0x1000",                 0x1000 | (uint64_t)TW_DWT_PC << 32 | 2ULL << 40 | 4ULL << 61 },
        { "watch 1 address 0x20",              0x20 | (uint64_t)TW_DWT_ADDRESS << 32 | 1ULL << 40 | 2ULL << 61 },
        { "watch 3 write 0x12 bits=8",         0x12 | (uint64_t)TW_DWT_VALUE << 32 | 3ULL << 40 | 1ULL << 60 | 1ULL << 61 },
        { "watch 0 read 0x12 bits=16",         0x12 | (uint64_t)TW_DWT_VALUE << 32 | 2ULL << 61 },
        { "watch 1 match",                     (uint64_t)TW_DWT_MATCH << 32 | 1ULL << 40 },
        /* clang-format on */
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(lines); i++) {
        struct tw_log *log = open_text(lines[i].line);
        struct tw_step step;

        CHECK_CASE(lines[i].line);
        CHECK_EQ(tw_log_next(log, &step), TW_OK);
        CHECK_EQ(tw_log_next(log, &step), TW_OK);
        CHECK_EQ(step.kind, lines[i].line[0] == 's' ? TW_STEP_STIMULUS : TW_STEP_WATCH);
        CHECK_EQ(seen(&step), lines[i].want);
        tw_log_free(log);
    }
}

static void each_wrong_watch_is_refused(void **state)
{
    static const char *const lines[] = {
        "watch",
        "watch 4 match",
        "watch 0 match 1",
        "watch 0 pc",
        "watch 0 jump 1",
        "watch sample",
        "watch exception 1",
        "watch exception 512 entered",
        "watch pmu 256",
        "watch counters 64",
        "watch exception 3 none",
        "watch 0 write 256 bits=8",
        "watch 0 write 1 bits=4",
        "watch sample 0x100000000",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(lines); i++) {
        struct tw_log *log = open_text(lines[i]);
        struct tw_step step;

        CHECK_CASE(lines[i]);
        CHECK_EQ(tw_log_next(log, &step), TW_OK);
        CHECK_EQ(tw_log_next(log, &step), TW_E_CONFIG);
        tw_log_free(log);
    }
}

static void reads_the_m_profile(void **state)
{
    static const char text[] = "trackway-log 1\n"
                               "profile m\n"
                               "cpu cortex-m33\n"
                               "i 0x100 bf00\n"
                               "exception irq300 return=0x102\n"
                               "context mode=handler security=nonsecure\n"
                               "i 0x200 4770 eret\n"
                               "exception systick chained\n"
                               "i 0x300 4770 fret 0x10000000\n"
                               "i 0x302 bf08\n"         /* it eq */
                               "i 0x304 2001 failed\n"; /* moveq r0, #1 */
    struct tw_log *log;
    struct tw_step step;

    (void)state;
    CHECK_EQ(tw_log_open_memory(&log, (const uint8_t *)text, sizeof text - 1, NULL, NULL),
             TW_OK);
    CHECK(tw_log_is_m(log) && !tw_log_is_riscv(log));
    CHECK_TEXT(tw_log_cpu(log), "cortex-m33");
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK(step.kind == TW_STEP_CONTEXT && step.context.el == 0 && !step.context.is_64bit);
    CHECK_EQ(step.context.security, TW_SECURE);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK_EQ(step.instructions[0].isa, TW_ISA_T32);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK(step.kind == TW_STEP_EXCEPTION && step.cause == 316 && !step.is_chained);
    CHECK(step.return_address == 0x102 && step.is_interrupt);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK(step.kind == TW_STEP_CONTEXT && step.context.el == 3);
    CHECK_EQ(step.context.security, TW_NONSECURE);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK_EQ(step.instructions[0].flags, TW_RETIRED_TAKEN | TW_RETIRED_EXCEPTION_RETURN);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK(step.kind == TW_STEP_EXCEPTION && step.cause == 15 && step.is_chained);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK_EQ(step.count, 3);
    CHECK_EQ(step.instructions[0].flags, TW_RETIRED_TAKEN | TW_RETIRED_FUNCTION_RETURN);
    CHECK_EQ(step.instructions[0].target, 0x10000000);
    CHECK_EQ(step.instructions[2].flags, TW_RETIRED_FAILED);
    CHECK_EQ(tw_log_next(log, &step), TW_END);
    tw_log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_software_trace_shows),
        cmocka_unit_test(each_wrong_watch_is_refused),
        cmocka_unit_test(reads_the_m_profile),
    };

    return cmocka_run_group_tests_name("log_sw", tests, NULL, NULL);
}
