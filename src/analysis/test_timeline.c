/* SPDX-License-Identifier: BSD-2-Clause */
/* Times between timestamps: intervals, estimates, gaps, threads that move. */
#include "check.h"

#include <trackway/interrupts.h>

#include "analysis/clock.h"
#include "analysis/exceptions.h"
#include "failing.h"

enum { MOST = 64 };

/* What came out. */
struct told {
    struct tw_times times[MOST];
    uint64_t positions[MOST];
    size_t count;
};

static void take(void *context, const struct tw_moment *moment, const struct tw_times *times)
{
    struct told *told = context;

    if (told->count == MOST)
        return;
    told->times[told->count] = *times;
    told->positions[told->count++] = moment->position;
}

static struct tw_event_clock make(struct told *told)
{
    struct tw_event_clock clock;

    told->count = 0;
    tw_event_clock_init(&clock, NULL);
    clock.give = take;
    clock.context = told;
    return clock;
}

static void happen(struct tw_event_clock *clock, uint64_t position)
{
    tw_event_clock_take(clock, &(struct tw_moment){ .position = position });
}

static void stamp(struct tw_event_clock *clock, uint64_t position, uint64_t time)
{
    tw_event_clock_anchor(clock, &(struct tw_anchor){ position, 0, time });
}

static void check_times(const struct told *told, size_t number, uint64_t low, uint64_t high,
                        uint64_t estimate)
{
    assert_true(number < told->count);
    CHECK_EQ(told->times[number].low, low);
    CHECK_EQ(told->times[number].high, high);
    CHECK_EQ(told->times[number].estimate, estimate);
}

static void test_between(void **state)
{
    struct told told;
    struct tw_event_clock clock = make(&told);

    (void)state;
    happen(&clock, 5); /* before the first timestamp */
    stamp(&clock, 10, 1000);
    happen(&clock, 25);
    happen(&clock, 50);
    CHECK_EQ(told.count, 1); /* the others wait */
    stamp(&clock, 110, 2000);
    happen(&clock, 110); /* the branch right before the timestamp */
    happen(&clock, 120);
    tw_event_clock_flush(&clock); /* no more come */
    CHECK_EQ(told.count, 5);
    check_times(&told, 0, TW_TIME_UNKNOWN, 1000, 1000);
    check_times(&told, 1, 1000, 2000, 1150);
    check_times(&told, 2, 1000, 2000, 1400);
    check_times(&told, 3, 1000, 2000, 2000);
    check_times(&told, 4, 2000, TW_TIME_UNKNOWN, 2000);
    tw_event_clock_release(&clock);
}

static void test_cycles_spread_the_time(void **state)
{
    struct told told;
    struct tw_event_clock clock = make(&told);

    (void)state;
    tw_event_clock_anchor(&clock, &(struct tw_anchor){ 0, 0, 1000 });
    tw_event_clock_take(&clock, &(struct tw_moment){ .position = 10, .cycles = 900 });
    tw_event_clock_anchor(&clock, &(struct tw_anchor){ 100, 1000, 2000 });
    check_times(&told, 0, 1000, 2000,
                1900); /* a tenth of the instructions, most of the cycles */
    tw_event_clock_release(&clock);
}

/* Two timestamps with nothing executed between them: the core slept. */
static void test_idle(void **state)
{
    struct told told;
    struct tw_event_clock clock = make(&told);

    (void)state;
    stamp(&clock, 0, 100);
    stamp(&clock, 10, 200);
    stamp(&clock, 10, 900);
    happen(&clock, 10); /* before it slept */
    tw_event_clock_take(&clock, &(struct tw_moment){ .position = 10, .is_late = true });
    stamp(&clock, 20, 1000);
    check_times(&told, 0, 100, 200, 200);
    check_times(&told, 1, 900, 1000, 900);
    tw_event_clock_release(&clock);
}

/* Nobody knows how long trace was missing: what is before goes on as fast as it went. */
static void test_gap(void **state)
{
    struct told told;
    struct tw_event_clock clock = make(&told);

    (void)state;
    stamp(&clock, 0, 0);
    stamp(&clock, 100, 1000); /* ten each */
    tw_event_clock_take(&clock, &(struct tw_moment){ .position = 110, .has_gap = true });
    tw_event_clock_take(&clock, &(struct tw_moment){ .position = 110, .is_late = true });
    happen(&clock, 115);
    stamp(&clock, 120, 9000);
    check_times(&told, 0, 1000, 9000, 1100);
    check_times(&told, 1, 1000, 9000, 8900);
    check_times(&told, 2, 1000, 9000, 8950);
    tw_event_clock_release(&clock);
}

static void test_backwards(void **state)
{
    struct told told;
    struct tw_event_clock clock = make(&told);

    (void)state;
    stamp(&clock, 0, 5000);
    happen(&clock, 5);
    stamp(&clock, 10, 100); /* it begins again */
    happen(&clock, 15);
    stamp(&clock, 20, 200);
    CHECK_EQ(clock.backwards, 1);
    check_times(&told, 0, 5000, TW_TIME_UNKNOWN, 5000);
    check_times(&told, 1, 100, 200, 150);
    tw_event_clock_release(&clock);
}

/* A thread comes from another core, where it was later than this one's last timestamp. */
static void test_floor(void **state)
{
    struct told told;
    struct tw_event_clock clock = make(&told);

    (void)state;
    stamp(&clock, 0, 100);
    stamp(&clock, 10, 200);
    tw_event_clock_take(&clock, &(struct tw_moment){ .position = 10, .floor = 150 });
    tw_event_clock_take(&clock, &(struct tw_moment){ .position = 10, .floor = 250 });
    CHECK_EQ(told.count, 1);
    stamp(&clock, 20, 300);
    check_times(&told, 0, 100, 200, 200);
    CHECK_EQ(told.times[1].high, 300);
    tw_event_clock_release(&clock);
}

/* What waits is bounded. */
static void test_many(void **state)
{
    struct told told;
    struct tw_event_clock clock = make(&told);

    (void)state;
    stamp(&clock, 0, 100);
    for (uint64_t i = 1; i <= 100000; i++)
        happen(&clock, i);
    assert_true(clock.room <= 1 << 17);
    CHECK_EQ(told.count, MOST);
    for (size_t i = 0; i < told.count; i++)
        CHECK_EQ(told.positions[i], i + 1);
    tw_event_clock_release(&clock);
}

static void check_exception(enum tw_exception_form form, struct tw_element element,
                            uint32_t number, const char *name)
{
    char text[64];

    CHECK_EQ(tw_exception_number(form, &element), number);
    tw_exception_name(text, sizeof text, form, number);
    assert_string_equal(text, name);
}

static void test_exceptions(void **state)
{
    (void)state;
    check_exception(TW_FORM_ARMV8, (struct tw_element){ .number = 14 }, 14, "IRQ");
    check_exception(TW_FORM_ARMV8, (struct tw_element){ .number = 5 }, 5, "exception 5");
    check_exception(TW_FORM_ARMV7, (struct tw_element){ .number = 10 }, 10, "svc");
    check_exception(TW_FORM_ARMV8_M, (struct tw_element){ .number = 15 }, 15, "SysTick");
    check_exception(TW_FORM_ARMV8_M, (struct tw_element){ .number = 0x208 }, 24, "IRQ 8");
    check_exception(TW_FORM_ARMV7_M, (struct tw_element){ .number = 8 }, 16, "IRQ 0");
    check_exception(TW_FORM_ARMV7_M, (struct tw_element){ .number = 1 }, 17, "IRQ 1");
    check_exception(TW_FORM_ARMV7_M, (struct tw_element){ .number = 19 }, 3, "HardFault");
    check_exception(TW_FORM_ARMV7_M, (struct tw_element){ .number = 10 }, 2, "NMI");
    check_exception(TW_FORM_ARMV7_M, (struct tw_element){ .number = 24 }, 24, "IRQ 8");
    check_exception(TW_FORM_RISCV,
                    (struct tw_element){ .number = 7, .flags = TW_EXCEPTION_INTERRUPT },
                    0x80000007u, "machine timer");
    check_exception(TW_FORM_RISCV, (struct tw_element){ .number = 8 }, 8, "ecall from U");
    check_exception(TW_FORM_RISCV, (struct tw_element){ .number = TW_CAUSE_UNKNOWN },
                    TW_CAUSE_UNKNOWN, "trap");
}

/* ---- no memory ---- */

static void to_interrupts(void *context, const struct tw_timeline_event *event)
{
    struct tw_interrupts **interrupts = context;

    if (*interrupts && tw_interrupts_take(*interrupts, event) != TW_OK)
        return;
}

/* A capture through a timeline into sums of its interrupts, as far as memory goes. */
static bool run_all(struct tw_capture *capture, struct failing *failing)
{
    const struct tw_allocator allocator = { failing_resize, failing };
    struct tw_interrupts *interrupts = NULL;
    const struct tw_timeline_config config = { .size = sizeof config,
                                               .least = 10,
                                               .event = to_interrupts,
                                               .context = &interrupts,
                                               .allocator = &allocator };
    struct tw_interrupts_config about = { .size = sizeof about, .allocator = &allocator };
    const struct tw_run_config plain = { .size = sizeof plain, .order = TW_ORDER_TIME };
    struct tw_part part = { .size = sizeof part };
    struct tw_timeline *timeline = NULL;
    struct tw_run *run = NULL;
    struct tw_fault fault;
    bool is_good;

    CHECK_EQ(tw_run_new(&run, capture, &plain, &fault), TW_OK);
    is_good = tw_timeline_new(&timeline, &config, &fault) == TW_OK;
    about.timeline = timeline;
    is_good = is_good && tw_interrupts_new(&interrupts, &about, &fault) == TW_OK;
    while (is_good && tw_run_next(run, &part) == TW_OK)
        is_good = tw_timeline_take(timeline, run, &part) == TW_OK;
    is_good = is_good && tw_timeline_finish(timeline) == TW_OK;
    for (size_t i = 0; is_good && tw_interrupts_get(interrupts, i); i++)
        assert_true(tw_interrupts_get(interrupts, i)->count > 0);
    tw_interrupts_free(interrupts);
    tw_timeline_free(timeline);
    tw_run_free(run);
    CHECK_EQ(failing->live, 0);
    return is_good;
}

static void test_no_memory(void **state)
{
    struct failing failing = { .left = SIZE_MAX };
    struct tw_capture *capture;
    struct tw_fault fault;
    size_t requests;

    (void)state;
    CHECK_EQ(tw_capture_open(&capture, TW_SOURCE_DIR "/tests/captures/demo", NULL, &fault),
             TW_OK);
    assert_true(run_all(capture, &failing));
    requests = failing.asked;
    for (size_t i = 0; i < requests; i += i < 200 ? 1 : 37) {
        failing = (struct failing){ .left = i };
        (void)run_all(capture, &failing);
        failing = (struct failing){ .left = i, .is_once = true };
        (void)run_all(capture, &failing);
    }
    tw_capture_free(capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_between),   cmocka_unit_test(test_cycles_spread_the_time),
        cmocka_unit_test(test_idle),      cmocka_unit_test(test_gap),
        cmocka_unit_test(test_backwards), cmocka_unit_test(test_floor),
        cmocka_unit_test(test_many),      cmocka_unit_test(test_exceptions),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
