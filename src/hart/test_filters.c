/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters, triggers and back-pressure on random programs: exactly the qualified part comes back. */
#include "check.h"

#include <trackway/image.h>

#include "hart/test_setup.h"

struct bench {
    struct program program;
    struct history history;
    struct bytes trace;
    struct tw_image *image;
    struct check_random random;
    uint64_t got[2 * STEPS_MOST];
    size_t count;
    uint64_t errors, overflows, events;
};

static void take(void *context, const struct tw_batch *batch)
{
    struct bench *bench = context;

    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];
        uint64_t pc = element->start;

        bench->errors +=
            element->type == TW_ELEMENT_ERROR || element->type == TW_ELEMENT_ADDR_NACC;
        bench->overflows +=
            element->type == TW_ELEMENT_TRACE_ON && element->reason == TW_TRACE_ON_OVERFLOW;
        bench->events += element->type == TW_ELEMENT_EVENT;
        if (element->type != TW_ELEMENT_INSTR_RANGE)
            continue;
        for (uint32_t k = 0; k < element->count; k++) {
            CHECK(bench->count < LENGTH(bench->got));
            bench->got[bench->count++] = pc;
            pc += (bench->program.code[pc - BASE] & 3) == 3 ? 4 : 2;
        }
    }
}

static const struct tw_etrace_block *at(const struct bench *bench, size_t step)
{
    return &bench->history.steps[step].block;
}

static bool in_range(const struct bench *bench, size_t step)
{
    return at(bench, step)->iaddr >= BASE + 0x20 && at(bench, step)->iaddr < BASE + 0x80;
}

static bool out_of_range(const struct bench *bench, size_t step)
{
    return !in_range(bench, step);
}

static bool in_user_mode(const struct bench *bench, size_t step)
{
    return at(bench, step)->priv == 0;
}

static bool in_mask(const struct bench *bench, size_t step)
{
    return (at(bench, step)->iaddr & 0x18) == 0x10;
}

static bool in_context(const struct bench *bench, size_t step)
{
    return at(bench, step)->context == 8;
}

static bool above_or_user(const struct bench *bench, size_t step)
{
    return at(bench, step)->iaddr > BASE + 0x40 || at(bench, step)->priv == 0;
}

/* From one address until after another. */
static bool between_addresses(const struct bench *bench, size_t step)
{
    bool is_on = false;

    for (size_t i = 0; i <= step; i++) {
        const bool was_on = is_on || at(bench, i)->iaddr == bench->program.entry[1][0];

        is_on = was_on && at(bench, i)->iaddr != bench->program.entry[0][0];
        if (i == step)
            return was_on;
    }
    return false;
}

/* In the handler of a chosen trap, with those nested in it. */
static bool in_chosen_trap(const struct bench *bench, size_t step)
{
    unsigned depth = 0;

    for (size_t i = 0; i <= step; i++) {
        const struct tw_etrace_block *block = at(bench, i);
        const bool is_inside = depth > 0;

        if (i == step)
            return is_inside;
        if (block->itype == TW_ETRACE_ITYPE_TRAP_RETURN)
            depth -= depth > 0;
        else if (block->itype == TW_ETRACE_ITYPE_EXCEPTION ||
                 block->itype == TW_ETRACE_ITYPE_INTERRUPT)
            depth += is_inside || (block->cause & 1 && block->itype == 1);
    }
    return false;
}

static bool everything(const struct bench *bench, size_t step)
{
    return step < bench->history.count;
}

/* Fields, and what they are to let through. */
/* clang-format off */
static const struct {
    const char *name;
    struct { const char *name; uint64_t value; } fields[14];
    bool (*is_wanted)(const struct bench *bench, size_t step);
} wishes[] = {
    { "range", { { "iFilters", 1 }, { "filter0.filterEnable", 1 }, { "filter0.matchComp1", 1 },
                 { "filter0.comp1", 2 }, { "comparator2.pFunction", 5 },
                 { "comparator2.pMatch", BASE + 0x20 }, { "comparator2.sFunction", 2 },
                 { "comparator2.sMatch", BASE + 0x80 }, { "comparator2.matchMode", 1 } }, in_range },
    { "outside", { { "iFilters", 1 }, { "filter0.filterEnable", 1 }, { "filter0.matchComp2", 1 },
                   { "filter0.comp2", 1 }, { "comparator1.pFunction", 5 },
                   { "comparator1.pMatch", BASE + 0x20 }, { "comparator1.sFunction", 2 },
                   { "comparator1.sMatch", BASE + 0x80 }, { "comparator1.matchMode", 2 } }, out_of_range },
    { "privilege", { { "iFilters", 2 }, { "filter1.filterEnable", 1 }, { "filter1.matchPrivilege", 1 },
                     { "filter1.matchChoicePrivilege", 1 } }, in_user_mode },
    { "mask", { { "iFilters", 1 }, { "filter0.filterEnable", 1 }, { "filter0.matchComp3", 1 },
                { "comparator0.pFunction", 0 }, { "comparator0.pMatch", 0x10 },
                { "comparator0.sFunction", 6 }, { "comparator0.sMatch", 0x18 } }, in_mask },
    { "context", { { "iFilters", 1 }, { "filter0.filterEnable", 1 }, { "filter0.matchComp1", 1 },
                   { "comparator0.pInput", 1 }, { "comparator0.pMatch", 8 } }, in_context },
    { "either", { { "iFilters", 3 }, { "filter0.filterEnable", 1 }, { "filter0.matchComp1", 1 },
                  { "comparator0.pFunction", 4 }, { "comparator0.pMatch", BASE + 0x40 },
                  { "filter1.filterEnable", 1 }, { "filter1.matchPrivilege", 1 },
                  { "filter1.matchChoicePrivilege", 1 } }, above_or_user },
    { "trap", { { "iFilters", 1 }, { "filter0.filterEnable", 1 }, { "filter0.matchEcause", 1 },
                { "filter0.matchChoiceEcause", 0xaaaaaaaa }, { "filter0.matchInterrupt", 1 },
                { "filter0.matchValueInterrupt", 0 } }, in_chosen_trap },
    { "latch", { { "iFilters", 1 }, { "filter0.filterEnable", 1 }, { "filter0.matchComp1", 1 },
                 { "comparator0.matchMode", 3 }, { "comparator0.pMatch", 1 },
                 { "comparator0.sMatch", 0 } }, between_addresses },
    { "not enabled", { { "iFilters", 0 }, { "filter0.filterEnable", 1 },
                       { "filter0.matchPrivilege", 1 } }, everything },
};
/* clang-format on */

static struct setup make_filter_setup(unsigned turn)
{
    const unsigned modes[2] = { (turn / 2) % MODES, (turn / 3) % MODES };
    struct setup setup;

    setup = make_setup(false, modes,
                       modes[0] + modes[1] == COUNTER + RETURNS || modes[0] == modes[1] ? 1 : 2,
                       turn);
    setup.config.itype_width = 4;
    setup.config.filters = 4;
    setup.config.comparators = 4;
    setup.config.filter_excint = 4;
    setup.config.retires = turn % 2 ? 200 : 1;
    setup.run.has_contexts = true;
    setup.config.nocontext = false;
    return setup;
}

static void new_program(struct bench *bench, const struct setup *setup)
{
    const struct tw_region region = { .size = sizeof region, .address = BASE, .length = CODE };

    make_program(&bench->program, &bench->random);
    run_program(&bench->history, &bench->program, &setup->run, &bench->random);
    tw_image_free(bench->image);
    CHECK_EQ(tw_image_new(&bench->image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(bench->image, &region, bench->program.code), TW_OK);
    bench->count = 0;
    bench->errors = bench->overflows = bench->events = 0;
}

static struct tw_etrace_block block_at(const struct bench *bench, const struct setup *setup,
                                       size_t step)
{
    struct tw_etrace_block block = *at(bench, step);

    if (setup->config.retires <= 1 && block.iretire)
        block.iretire = 1;
    return block;
}

/* [RVT 2.3/1] [RVT 2.3/3] [RVT 2.3/4] [RVT 2.3/5] [RVT 2.3/6] [RVT 2.3/7] [RVT 2.3/11] [RVT 2.3/12] [RVT 2.3/13] [RVT 2.3/14] [RVT 3.1.5/2]
   [RVT 3.1.6/4] [RVT 5/1] [RVT 5/2] [RVT 5/3] [RVT 5/4] [RVT 5/5] */
static void test_filters(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    const size_t programs = check_scale(2000);

    (void)state;
    CHECK(bench != NULL);
    bench->random = check_random_start(77);
    for (size_t i = 0; i < programs; i++) {
        const size_t wish = i % LENGTH(wishes);
        struct setup setup = make_filter_setup((unsigned)i);
        struct tw_etrace_unit *unit;
        size_t next = 0;

        check_case("%s, program %zu, %s", wishes[wish].name, i, setup.name);
        new_program(bench, &setup);
        unit = make_unit(&setup, &bench->trace);
        for (size_t k = 0; wishes[wish].fields[k].name; k++)
            write_field(unit, wishes[wish].fields[k].name, wishes[wish].fields[k].value);
        if (wishes[wish].is_wanted == between_addresses) {
            write_field(unit, "comparator0.pMatch", bench->program.entry[1][0]);
            write_field(unit, "comparator0.sMatch", bench->program.entry[0][0]);
        }
        write_field(unit, "iEnable", 1);
        for (size_t k = 0; k < bench->history.count; k++) {
            const struct tw_etrace_block block = block_at(bench, &setup, k);

            CHECK_EQ(tw_etrace_unit_retire(unit, &block, 1), TW_OK);
        }
        write_field(unit, "iEnable", 0);
        tw_etrace_unit_free(unit);
        decode_with(&setup.config, bench->image, &bench->trace, take, bench);
        for (size_t k = 0; k < bench->history.count; k++)
            if (at(bench, k)->iretire && wishes[wish].is_wanted(bench, k)) {
                CHECK(next < bench->count);
                CHECK_EQ(bench->got[next], at(bench, k)->iaddr);
                next++;
            }
        CHECK_EQ(bench->count, next);
        CHECK_EQ(bench->errors, 0);
    }
    tw_image_free(bench->image);
    free(bench->trace.bytes);
    free(bench);
}

/* Trace-on, trace-off and notify at random blocks. */
/* [RVT 2.1/4] [RVT 3.1.6/3] [RVT 4.2.4/1] [RVT 4.2.4/2] [RVT 4.2.4/3] [RVT 5/6] */
static void test_triggers(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    const size_t programs = check_scale(1000);

    (void)state;
    CHECK(bench != NULL);
    bench->random = check_random_start(78);
    for (size_t i = 0; i < programs; i++) {
        struct setup setup = make_filter_setup((unsigned)i);
        struct tw_etrace_unit *unit;
        bool is_on = false;
        size_t next = 0, notified = 0;
        static bool is_traced[STEPS_MOST + 8];

        check_case("program %zu, %s", i, setup.name);
        new_program(bench, &setup);
        unit = make_unit(&setup, &bench->trace);
        write_field(unit, "iTrigEnable", 1);
        for (size_t k = 0; k < bench->history.count; k++) {
            struct tw_etrace_block block = block_at(bench, &setup, k);
            const uint64_t dice = check_random_below(&bench->random, 60);

            if (dice == 0)
                block.trigger = TW_ETRACE_TRIGGER_ON;
            else if (dice == 1)
                block.trigger = TW_ETRACE_TRIGGER_OFF;
            else if (dice < 6)
                block.trigger = TW_ETRACE_TRIGGER_NOTIFY;
            is_on |= dice == 0;
            is_traced[k] = is_on;
            notified += is_on && block.iretire && block.trigger == TW_ETRACE_TRIGGER_NOTIFY;
            CHECK_EQ(tw_etrace_unit_retire(unit, &block, 1), TW_OK);
            is_on &= dice != 1;
        }
        write_field(unit, "iEnable", 0);
        tw_etrace_unit_flush(unit);
        tw_etrace_unit_free(unit);
        decode_with(&setup.config, bench->image, &bench->trace, take, bench);
        for (size_t k = 0; k < bench->history.count; k++)
            if (at(bench, k)->iretire && is_traced[k]) {
                CHECK(next < bench->count);
                CHECK_EQ(bench->got[next], at(bench, k)->iaddr);
                next++;
            }
        CHECK_EQ(bench->count, next);
        CHECK_EQ(bench->errors, 0);
        CHECK(bench->events <= notified + bench->history.count / 8);
    }
    tw_image_free(bench->image);
    free(bench->trace.bytes);
    free(bench);
}

/* A slow sink: what comes back is stretches of the path, or all of it when the hart waits. */
/* [RVT 2.1/6] [RVT 2.1/7] [RVT 6.5/3] [RVT T4.6/1] [RVT 8.3/2] */
static void test_back_pressure(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    const size_t programs = check_scale(1000);
    size_t lossy = 0, stalled = 0, overflows = 0;

    (void)state;
    CHECK(bench != NULL);
    bench->random = check_random_start(79);
    for (size_t i = 0; i < programs; i++) {
        struct setup setup = make_filter_setup((unsigned)i);
        struct tw_etrace_unit *unit;
        size_t next = 0, retired = 0;

        check_case("program %zu, %s", i, setup.name);
        new_program(bench, &setup);
        setup.unit.fifo_size = 64 + (uint32_t)check_random_below(&bench->random, 64);
        setup.unit.cycles_per_byte = 1 + (uint32_t)check_random_below(&bench->random, 12);
        unit = make_unit(&setup, &bench->trace);
        write_field(unit, "stallEnable", i & 1);
        write_field(unit, "iEnable", 1);
        for (size_t k = 0; k < bench->history.count; k++) {
            const struct tw_etrace_block block = block_at(bench, &setup, k);

            CHECK_EQ(tw_etrace_unit_retire(unit, &block, 1), TW_OK);
            retired += block.iretire != 0;
        }
        write_field(unit, "iEnable", 0);
        stalled += tw_etrace_unit_stalled(unit) > 0;
        tw_etrace_unit_free(unit);
        decode_with(&setup.config, bench->image, &bench->trace, take, bench);
        CHECK_EQ(bench->errors, 0);
        for (size_t k = 0; k < bench->history.count && next < bench->count; k++)
            next += at(bench, k)->iretire && bench->got[next] == at(bench, k)->iaddr;
        CHECK_EQ(next, bench->count); /* in order, none invented */
        if (i & 1)
            CHECK_EQ(bench->count, retired);
        lossy += bench->count < retired;
        overflows += bench->overflows;
    }
    CHECK(lossy > 0 && stalled > 0 && overflows > 0);
    tw_image_free(bench->image);
    free(bench->trace.bytes);
    free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_filters),
                                        cmocka_unit_test(test_triggers),
                                        cmocka_unit_test(test_back_pressure) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
