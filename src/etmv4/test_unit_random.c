/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit on random programs, in each way to program it and in random mixtures: our decoder
   and OpenCSD find the path that was executed. */
#include "etmv4/test_peer.h"
#include "etmv4/test_setting.h"

/* The unit takes one step, and beside it an oracle, which knows how much must be told by then. */
static void run_beside(struct tw_etmv4_unit *unit, struct oracle *beside,
                       const struct program *program)
{
    for (size_t i = 0; i < program->step_count; i++) {
        const struct tw_step *step = &program->steps[i];
        enum tw_status status;

        if (step->kind == TW_STEP_INSTRUCTIONS)
            oracle_instruction(beside, step->instructions);
        else
            oracle_step(beside, step);
        status = tw_etmv4_unit_step(unit, step);
        if (status != TW_OK)
            printf("step %zu: %s\n", i, tw_etmv4_unit_fault(unit));
        CHECK_EQ(status, TW_OK);
    }
}

static void try_setting(const struct program *program, struct tw_image *image,
                        const struct setting *setting, bool asks_peer)
{
    struct filter filter, filter_beside;
    struct oracle oracle = make_oracle(program, &filter, setting);
    struct oracle beside = make_oracle(program, &filter_beside, setting);
    struct moments moments = { .told = &beside.released };
    struct tw_etmv4_unit *unit = make_unit(setting, &moments);
    struct checked_against seen = { .oracle = &oracle,
                                    .who = "Trackway",
                                    .checks_cid = tells_cid(setting),
                                    .checks_vmid = setting->configr & VMID };
    /* Else some of it is cancelled, or an element stands for more than the last instructions. */
    const bool has_moments =
        !setting->max_spec && !setting->q_instructions && !setting->source_addresses;
    struct decoding decoding;
    const uint8_t *bytes;
    size_t size;

    decoding = decoding_new(unit, setting->is_ete, image, setting->is_framed);
    set_register(unit, "TRCPRGCTLR", 1);
    run_beside(unit, &beside, program);
    set_register(unit, "TRCPRGCTLR", 0);
    bytes = tw_etmv4_unit_output(unit, &size);
    decoding_feed(&decoding, &seen, bytes, size);
    decoding_end(&decoding, &seen);
    if (has_moments)
        moments_check(&seen.moments, &moments);
    free(seen.moments.items);
    free(beside.waiting);
    free(oracle.waiting);
    if (asks_peer && HAS_PEER) {
        oracle = make_oracle(program, &filter, setting);
        seen = (struct checked_against){ .oracle = &oracle,
                                         .is_loose = setting->q_instructions,
                                         .checks_cid = tells_cid(setting),
                                         .checks_vmid = setting->configr & VMID };
        peer_check(unit, setting->is_ete, image, &seen, bytes, size);
        moments_forget_unknown(&moments);
        seen.moments.is_peer = true;
        if (has_moments)
            moments_check(&seen.moments, &moments);
        free(seen.moments.items);
        free(oracle.waiting);
    }
    free(moments.items);
    tw_etmv4_unit_free(unit);
}

static void try_program(struct check_random *random, const struct wishes *wishes,
                        struct setting *setting, bool asks_peer)
{
    struct program *program = malloc(sizeof *program);
    struct tw_image *image;

    CHECK(program != NULL);
    program_make(program, random, wishes);
    image = memory_image(&program->memory);
    setting->first = program->base + 4 * check_random_below(random, SLOTS / 2);
    setting->last = setting->first + 4 * check_random_below(random, SLOTS / 2);
    setting->start = program->base + 4 * check_random_below(random, SLOTS / 2);
    setting->stop = setting->start + 4 + 4 * check_random_below(random, 40);
    try_setting(program, image, setting, asks_peer && peer_can(setting, wishes));
    tw_image_free(image);
    program_free(program);
    free(program);
}

/* ---- settings ---- */

static const struct {
    const char *name;
    struct setting setting;
} alone[] = {
    { "nothing", { 0 } },
    { "branch broadcast", { .configr = BB } },
    { "branch broadcast in a range", { .configr = BB | RS, .bb_control = 0x101 } },
    { "branch broadcast out of a range", { .configr = BB | RS, .bb_control = 0x001 } },
    { "cycle counts", { .configr = CCI, .threshold = 4, .commopt = true } },
    { "cycle counts, COMMOPT 0", { .configr = CCI, .threshold = 9 } },
    { "context identifiers", { .configr = CID } },
    { "virtual context identifiers", { .configr = VMID } },
    { "timestamps", { .configr = TS } },
    { "timestamps with markers", { .configr = TS, .marks = true } },
    { "return stack", { .configr = RS } },
    { "return stack of 3", { .configr = RS, .return_depth = 3 } },
    { "synchronization", { .syncpr = 8 } },
    { "synchronization and return stack", { .syncpr = 8, .configr = RS } },
    { "Exception levels", { .excluded_levels = 0x6f } },
    { "Exception level 0", { .excluded_levels = 0x1f } },
    { "include range", { .range = INCLUDE } },
    { "exclude range", { .range = EXCLUDE } },
    { "start and stop", { .has_points = true } },
    { "self-hosted, EL0", { .is_self_hosted = true, .trfcr_el1 = 1 } },
    { "self-hosted, EL1", { .is_self_hosted = true, .trfcr_el1 = 2, .trfcr_el2 = 2 } },
    { "frames", { .is_framed = true } },
    { "each step by itself", { .no_gathering = true } },
    { "waits are no P0 elements", { .lesser = NO_WFX } },
    { "a cycle counter of 12 bits", { .lesser = 0x2, .configr = CCI, .threshold = 4 } },
    { "two events", { .lesser = 0x4 } },
    { "no return stack to turn on", { .lesser = NO_RETURN_STACK, .configr = RS } },
    { "timestamps of 48 bits", { .lesser = 0x10, .configr = TS } },
    { "VMID of 8 bits", { .lesser = 0x20, .configr = VMID | CID } },
    { "VMID of 16 bits", { .lesser = 0x40, .configr = VMID | CID } },
    { "no context identifiers to turn on", { .lesser = NO_CID, .configr = VMID | CID } },
    { "no branch broadcast to turn on", { .lesser = 0x100, .configr = BB } },
    { "no cycle counts to turn on", { .lesser = NO_CYCLES, .configr = CCI, .threshold = 4 } },
    { "ETMv4.0", { .lesser = 0x400, .configr = TS | RS } },
    { "ETMv4.2", { .lesser = 0x800, .configr = TS | RS } },
    { "ETMv4.6", { .lesser = 0x1000, .configr = TS | RS } },
};

/* [K10.5.7.3/1] */
static void each_setting_alone(void **state)
{
    struct check_random random = check_random_start(0x756e6974);
    const size_t times = check_scale(80);

    (void)state;
    for (size_t i = 0; i < LENGTH(alone); i++) {
        for (size_t j = 0; j < times; j++) {
            const struct wishes wishes = all_wishes(j % 4 != 3);
            struct setting setting = alone[i].setting;

            setting.is_ete = j % 2;
            if (setting.marks && !setting.is_ete)
                setting.marks = false;
            name_case(alone[i].name, j, &setting);
            try_program(&random, &wishes, &setting, true);
        }
    }
}

static void settings_mixed(void **state)
{
    struct check_random random = check_random_start(0x6d6978);
    const size_t times = check_scale(2000);

    (void)state;
    for (size_t i = 0; i < times; i++) {
        struct wishes wishes = all_wishes(i % 4 != 3);
        struct setting setting = any_setting(&random);

        wishes.has_exceptions = i % 5 != 0;
        wishes.has_losses = i % 7 == 0;
        /* OpenCSD knows instrumentation from 1.5 on. */
        wishes.has_instrumentation = setting.is_ete && i % 9 == 0;
        name_case("program", i, &setting);
        try_program(&random, &wishes, &setting, !wishes.has_instrumentation);
    }
}

/* [K10.5.3.4/R_ZLVXG]
   Wrong paths are cancelled, wrong directions and targets corrected. */
static void speculation(void **state)
{
    static const uint32_t depths[] = { 4, 5, 8, 16, 17, 40, 200 };
    struct check_random random = check_random_start(0x73706563);
    const size_t times = check_scale(1000);

    (void)state;
    for (size_t i = 0; i < times; i++) {
        struct wishes wishes = all_wishes(i % 4 != 3);
        struct setting setting = any_setting(&random);

        setting.max_spec = wishes.max_spec = depths[i % LENGTH(depths)];
        setting.no_gathering = i % 3 != 1;
        wishes.has_requests = i % 2;
        wishes.has_losses = i % 7 == 0;
        wishes.has_exceptions = i % 3 != 0;
        name_case("speculation", i, &setting);
        try_program(&random, &wishes, &setting, true);
    }
}

/* [K10.5.9/28] */
static void transactions(void **state)
{
    struct check_random random = check_random_start(0x746d65);
    const size_t times = check_scale(500);

    (void)state;
    for (size_t i = 0; i < times; i++) {
        struct wishes wishes = all_wishes(true);
        struct setting setting = any_setting(&random);

        setting.is_ete = true;
        setting.max_spec = wishes.max_spec = i % 3 ? 0 : 16;
        setting.commtrans = setting.max_spec && i % 2;
        wishes.has_transactions = true;
        wishes.has_instrumentation = i % 4 == 1;
        name_case("transactions", i, &setting);
        try_program(&random, &wishes, &setting, !wishes.has_instrumentation);
    }
}

/* [K10.5.5.9] [K10.5.4.4] Atoms between a periodic Trace Info and its address, the return stack as it was
   before a failed transaction.  OpenCSD gets neither right. */
static void return_stack_rules(void **state)
{
    struct check_random random = check_random_start(0x72657473);
    const size_t times = check_scale(1000);

    (void)state;
    for (size_t i = 0; i < times; i++) {
        struct wishes wishes = all_wishes(i % 4 != 3);
        struct setting setting = any_setting(&random);

        setting.configr |= RS;
        setting.lesser &= ~(uint32_t)NO_RETURN_STACK;
        setting.syncpr = 8;
        setting.late_places = (uint8_t)(1 + i % 5);
        if (i % 3 == 0) {
            wishes = all_wishes(true);
            setting.is_ete = setting.restores_returns = true;
            wishes.has_transactions = true;
        } else if (setting.is_ete && i % 3 == 1) {
            setting.source_addresses = (uint8_t)(1 + i % 3);
        }
        wishes.has_requests = i % 2;
        wishes.has_exceptions = i % 5 != 0;
        name_case("return stack", i, &setting);
        try_program(&random, &wishes, &setting, false);
    }
}

/* [K10.5.9/30] */
static void source_addresses(void **state)
{
    struct check_random random = check_random_start(0x73726300);
    const size_t times = check_scale(500);

    (void)state;
    for (size_t i = 0; i < times; i++) {
        struct wishes wishes = all_wishes(i % 4 != 3);
        struct setting setting = any_setting(&random);

        setting.is_ete = true;
        setting.source_addresses = (uint8_t)(1 + i % 3);
        setting.max_spec = i % 5 ? 0 : 16;
        name_case("source addresses", i, &setting);
        try_program(&random, &wishes, &setting, true);
    }
}

static void q_elements(void **state)
{
    struct check_random random = check_random_start(0x7100);
    const size_t times = check_scale(500);

    (void)state;
    for (size_t i = 0; i < times; i++) {
        struct wishes wishes = all_wishes(i % 4 != 3);
        struct setting setting = any_setting(&random);

        setting.configr |= QE;
        setting.q_instructions = (uint32_t)(1 + i % 20);
        setting.q_control = i % 3 == 0 ? 0 : i % 3 == 1 ? 0x101 : 0x001;
        name_case("Q", i, &setting);
        try_program(&random, &wishes, &setting, true);
    }
}

/* ---- a FIFO that overflows ---- */

/* Addresses of instructions; of an exception, the one to return to with bit 0 set. */
struct addresses {
    uint64_t *items;
    size_t count, room;
};

static void addresses_add(struct addresses *list, uint64_t address)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 1024;
        list->items = realloc(list->items, list->room * sizeof *list->items);
        CHECK(list->items != NULL);
    }
    list->items[list->count++] = address;
}

/* Where the run comes next in what was executed; it must come whole. */
static size_t find_run(const struct addresses *all, size_t from, const struct addresses *run)
{
    while (run->count && from + run->count <= all->count &&
           memcmp(all->items + from, run->items, run->count * sizeof *run->items) != 0)
        from++;
    CHECK(from + run->count <= all->count);
    return from + run->count;
}

/* What was decoded, cut at each Trace On: parts of what was executed, in its order. */
static uint64_t check_runs(struct tw_tree *tree, const struct addresses *all, uint64_t *losses)
{
    struct addresses run = { 0 };
    struct tw_batch batch = { .size = sizeof batch };
    uint64_t told = 0;
    size_t at = 0;

    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            const struct tw_element *element = &batch.elements[i];

            CHECK(element->type != TW_ELEMENT_ERROR && element->type != TW_ELEMENT_ADDR_NACC);
            if (element->type == TW_ELEMENT_TRACE_ON || element->type == TW_ELEMENT_EO_TRACE) {
                *losses += element->reason == TW_TRACE_ON_OVERFLOW;
                at = find_run(all, at, &run);
                run.count = 0;
            }
            for (uint32_t j = 0; element->type == TW_ELEMENT_INSTR_RANGE && j < element->count;
                 j++, told++)
                addresses_add(&run, element->start + 4 * j);
            if (element->type == TW_ELEMENT_EXCEPTION)
                addresses_add(&run, element->return_address | 1);
        }
    CHECK_EQ(run.count, 0);
    free(run.items);
    return told;
}

static void list_executed(struct addresses *all, const struct program *program)
{
    const struct setting everything = { .is_ete = true };
    struct filter filter;
    struct oracle oracle = make_oracle(program, &filter, &everything);
    const struct expected *item;

    while ((item = oracle_next(&oracle)) != NULL)
        addresses_add(all, item->instruction.address | item->is_exception);
    free(oracle.waiting);
}

static uint64_t overflow_once(struct check_random *random, const struct program *program,
                              uint64_t *losses)
{
    const struct tw_etmv4_unit_config config = {
        .size = sizeof config,
        .is_ete = true,
        .fifo_size = 40 + (uint32_t)check_random_below(random, 100),
        .cycles_per_byte = 1 + (uint32_t)check_random_below(random, 12)
    };
    const uint32_t configr = (uint32_t)check_random_next(random) & (RS | TS | CID | BB);
    struct addresses all = { 0 };
    struct tw_image *image = memory_image(&program->memory);
    struct decoding decoding;
    struct tw_etmv4_unit *unit;
    const uint8_t *bytes;
    uint64_t told;
    size_t size;

    CHECK_EQ(tw_etmv4_unit_new(&unit, &config, NULL), TW_OK);
    set_register(unit, "TRCTRACEIDR", 0x10);
    set_register(unit, "TRCVICTLR", 0x201);
    set_register(unit, "TRCCONFIGR", 1 | configr);
    decoding = decoding_new(unit, true, image, false);
    set_register(unit, "TRCPRGCTLR", 1);
    for (size_t i = 0; i < program->step_count; i++)
        CHECK_EQ(tw_etmv4_unit_step(unit, &program->steps[i]), TW_OK);
    set_register(unit, "TRCPRGCTLR", 0);
    bytes = tw_etmv4_unit_output(unit, &size);
    CHECK_EQ(tw_tree_feed(decoding.tree, bytes, size), TW_OK);
    CHECK_EQ(tw_tree_finish(decoding.tree), TW_OK);
    list_executed(&all, program);
    told = check_runs(decoding.tree, &all, losses);
    free(all.items);
    tw_tree_free(decoding.tree);
    tw_etmv4_unit_free(unit);
    tw_image_free(image);
    return told;
}

static void a_fifo_that_overflows(void **state)
{
    struct check_random random = check_random_start(0x6669666f);
    const size_t times = check_scale(500);
    uint64_t told = 0, losses = 0;

    (void)state;
    for (size_t i = 0; i < times; i++) {
        const struct wishes wishes = {
            .is_64bit = true, .has_exceptions = i % 2, .has_context = i % 3 == 0, .length = 1000
        };
        struct program *program = malloc(sizeof *program);

        CHECK(program != NULL);
        check_case("FIFO %zu", i);
        program_make(program, &random, &wishes);
        told += overflow_once(&random, program, &losses);
        program_free(program);
        free(program);
    }
    printf("%" PRIu64 " of %zu instructions told, %" PRIu64 " losses\n", told, 1000 * times,
           losses);
    CHECK(losses > times && told > 100 * times);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_setting_alone), cmocka_unit_test(settings_mixed),
        cmocka_unit_test(speculation),        cmocka_unit_test(transactions),
        cmocka_unit_test(return_stack_rules), cmocka_unit_test(source_addresses),
        cmocka_unit_test(q_elements),         cmocka_unit_test(a_fifo_that_overflows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
