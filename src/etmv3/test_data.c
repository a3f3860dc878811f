/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3 data trace: random programs with loads and stores of every size, several registers, values
   out of order, filtered and failed transfers, instructions that are withdrawn.  The unit's model
   traces them; addresses and values must come back exactly, in order, each with its instruction. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/etmv3.h>
#include <trackway/etmv3_unit.h>

#include "exec_log.h"

enum { CODE = 0x8000, INSTRUCTIONS = 24, EXPECTED_MAX = 20000, TRANSFERS_MAX = 32 };

/* What an instruction of the program moves. */
struct form {
    uint32_t a32; /* opcode */
    uint32_t t32;
    uint8_t t32_size;
    uint8_t count, size;
    uint8_t kind;
    bool is_exclusive_store;
};

/* clang-format off */
static const struct form forms[] = {
    { 0xe320f000, 0xbf00,     2, 0, 0, TW_DATA_UNKNOWN, false }, /* nop */
    { 0xe2800001, 0x3001,     2, 0, 0, TW_DATA_UNKNOWN, false }, /* add */
    { 0xe5921000, 0x6811,     2, 1, 4, TW_DATA_LOAD,  false },   /* ldr r1, [r2] */
    { 0xe5d21000, 0x7811,     2, 1, 1, TW_DATA_LOAD,  false },   /* ldrb */
    { 0xe1d210b0, 0x8811,     2, 1, 2, TW_DATA_LOAD,  false },   /* ldrh */
    { 0xe1d210d0, 0xf9921000, 4, 1, 1, TW_DATA_LOAD,  false },   /* ldrsb */
    { 0xe5821000, 0x6011,     2, 1, 4, TW_DATA_STORE, false },   /* str */
    { 0xe5c21000, 0x7011,     2, 1, 1, TW_DATA_STORE, false },   /* strb */
    { 0xe1c210b0, 0x8011,     2, 1, 2, TW_DATA_STORE, false },   /* strh */
    { 0xe1c200d0, 0xe9d20100, 4, 2, 4, TW_DATA_LOAD,  false },   /* ldrd r0, r1, [r2] */
    { 0xe1c200f0, 0xe9c20100, 4, 2, 4, TW_DATA_STORE, false },   /* strd */
    { 0xe89300f0, 0xe89300f0, 4, 4, 4, TW_DATA_LOAD,  false },   /* ldm r3, {r4-r7} */
    { 0xe88300f0, 0xe88300f0, 4, 4, 4, TW_DATA_STORE, false },   /* stm */
    { 0xe8931fff, 0xe8931ff6, 4, 0, 4, TW_DATA_LOAD,  false },   /* ldm of many, see below */
    { 0xe1923f9f, 0xe8523f00, 4, 1, 4, TW_DATA_LOAD,  false },   /* ldrex */
    { 0xe1821f93, 0xe8423100, 4, 1, 4, TW_DATA_STORE, true },    /* strex */
    { 0xed920a00, 0xed920a00, 4, 1, 4, TW_DATA_LOAD,  false },   /* vldr s0 */
    { 0xed920b00, 0xed920b00, 4, 2, 4, TW_DATA_LOAD,  false },   /* vldr d0 */
    { 0xec820b08, 0xec820b08, 4, 8, 4, TW_DATA_STORE, false },   /* vstm r2, {d0-d3} */
    { 0xe1021091, 0,          0, 2, 4, TW_DATA_SWAP,  false },   /* swp, A32 only */
};
/* clang-format on */

struct expected {
    uint8_t type, kind, size;
    bool has_address, is_big_endian;
    uint32_t pc, address, value;
};

struct run {
    struct check_random random;
    struct exec_memory *memory;
    struct tw_etmv3_unit *unit;
    struct tw_retired code[INSTRUCTIONS + 1]; /* a branch back at the end */
    const struct form *form[INSTRUCTIONS + 1];
    struct expected *expected;
    size_t count, committed; /* before `committed`: cannot be withdrawn any more */
    struct {
        struct expected value;
        bool is_open;
    } late[4];
    bool has_address, has_value, is_thumb;
};

static bool chance(struct run *run, unsigned one_in)
{
    return check_random_below(&run->random, one_in) == 0;
}

static void make_program(struct run *run)
{
    uint32_t address = CODE;
    size_t i;

    for (i = 0; i < INSTRUCTIONS; i++) {
        const struct form *form;

        do
            form = &forms[check_random_below(&run->random, LENGTH(forms))];
        while (run->is_thumb && !form->t32_size);
        run->form[i] = form;
        run->code[i] = (struct tw_retired){ .address = address,
                                            .opcode = run->is_thumb ? form->t32 : form->a32,
                                            .isa = run->is_thumb ? TW_ISA_T32 : TW_ISA_A32,
                                            .size = run->is_thumb ? form->t32_size : 4 };
        address += run->code[i].size;
    }
    /* b CODE */
    run->form[i] = &forms[0];
    run->code[i] = (struct tw_retired){ .address = address,
                                        .isa = run->is_thumb ? TW_ISA_T32 : TW_ISA_A32,
                                        .size = run->is_thumb ? 2 : 4,
                                        .flags = TW_RETIRED_TAKEN };
    run->code[i].opcode = run->is_thumb ? 0xe000 | ((CODE - address - 4) >> 1 & 0x7ff)
                                        : 0xea000000 | ((CODE - address - 8) >> 2 & 0xffffff);
    for (i = 0; i <= INSTRUCTIONS; i++)
        exec_memory_add(run->memory, &run->code[i]);
}

static void expect(struct run *run, const struct expected *what)
{
    assert_true(run->count < EXPECTED_MAX);
    run->expected[run->count++] = *what;
}

/* One transfer as it should come out. */
static void expect_transfer(struct run *run, const struct tw_etmv3_transfer *transfer,
                            struct expected *what)
{
    what->address = transfer->address;
    what->is_big_endian = transfer->is_big_endian;
    what->has_address = run->has_address;
    if (what->has_address) {
        what->type = TW_ELEMENT_DATA_ADDR;
        expect(run, what);
    }
    if (transfer->is_untraced || !run->has_value)
        return;
    what->type = TW_ELEMENT_DATA_VALUE;
    what->value = transfer->value;
    if (transfer->tag) {
        run->late[transfer->tag].value = *what;
        run->late[transfer->tag].is_open = true;
    } else {
        expect(run, what);
    }
}

static unsigned bits_set(uint32_t value)
{
    unsigned count = 0;

    for (; value; value &= value - 1)
        count++;
    return count;
}

/* The loads and stores of instruction `at`.  Some at the front may be outside the filter. */
static void access_memory(struct run *run, size_t at, bool is_big_endian)
{
    const struct form *form = run->form[at];
    const unsigned total = form->count ? form->count : bits_set(run->code[at].opcode & 0xffff);
    const unsigned skipped =
        total > 2 && chance(run, 4) ? (unsigned)check_random_below(&run->random, total) : 0;
    const uint32_t base = (uint32_t)check_random_next(&run->random) & ~3u;
    struct tw_etmv3_transfer transfers[TRANSFERS_MAX] = { { 0 } };
    unsigned count = 0;

    for (unsigned i = skipped; i < total; i++) {
        struct tw_etmv3_transfer *transfer = &transfers[count++];
        struct expected what = { .pc = (uint32_t)run->code[at].address,
                                 .size = form->size,
                                 .kind = form->kind };

        transfer->address = form->kind == TW_DATA_SWAP ? base : base + 4 * i;
        transfer->is_big_endian = is_big_endian;
        transfer->value =
            (uint32_t)check_random_next(&run->random) >> check_random_below(&run->random, 32);
        if (form->size < 4)
            transfer->value &= (1u << (8 * form->size)) - 1;
        if (chance(run, 5))
            transfer->value = 0;
        if (form->is_exclusive_store && run->has_value && chance(run, 2)) {
            transfer->has_failed = true;
            transfer->value = 0;
            what.kind = TW_DATA_SC_FAIL;
        } else if (total > 1 && chance(run, 8)) {
            transfer->is_untraced = true;
        } else if (run->has_value && chance(run, 4)) {
            const unsigned tag = 1 + (unsigned)check_random_below(&run->random, 3);

            if (!run->late[tag].is_open)
                transfer->tag = (uint8_t)tag;
        }
        expect_transfer(run, transfer, &what);
    }
    CHECK_EQ(tw_etmv3_unit_access(run->unit, transfers, count), TW_OK);
}

/* A value comes back out of order. */
static void return_late(struct run *run)
{
    const unsigned tag = 1 + (unsigned)check_random_below(&run->random, 3);

    if (!run->late[tag].is_open)
        return;
    run->late[tag].is_open = false;
    CHECK_EQ(tw_etmv3_unit_data(run->unit, tag, run->late[tag].value.value, false), TW_OK);
    expect(run, &run->late[tag].value);
}

/* A data abort withdraws instruction `at`, with all that it moved. */
static void abort_instruction(struct run *run, size_t at, size_t before)
{
    size_t to = before;

    for (size_t i = before; i < run->count; i++)
        if (run->expected[i].pc != (uint32_t)run->code[at].address)
            run->expected[to++] = run->expected[i];
    run->count = to;
    for (unsigned tag = 1; tag < 4; tag++)
        if (run->late[tag].is_open &&
            run->late[tag].value.pc == (uint32_t)run->code[at].address)
            run->late[tag].is_open = false;
    CHECK_EQ(tw_etmv3_unit_exception(run->unit, 12, 0x10, TW_ISA_A32, true), TW_OK);
    CHECK_EQ(tw_etmv3_unit_gap(run->unit, TW_ETMV3_TRACE_ENABLE), TW_OK);
    for (unsigned tag = 1; tag < 4; tag++)
        run->late[tag].is_open = false; /* tracing begins anew */
}

static bool is_late(const struct run *run, size_t at)
{
    for (unsigned tag = 1; tag < 4; tag++)
        if (run->late[tag].is_open &&
            run->late[tag].value.pc == (uint32_t)run->code[at].address)
            return true;
    return false;
}

static void execute(struct run *run)
{
    const unsigned loops = 1 + (unsigned)check_random_below(&run->random, 6);
    const bool is_big_endian = chance(run, 5);

    for (unsigned loop = 0; loop < loops; loop++)
        for (size_t at = 0; at <= INSTRUCTIONS; at++) {
            const bool moves = run->form[at]->kind != TW_DATA_UNKNOWN && at < INSTRUCTIONS;
            const size_t before = run->count;
            /* An older late value of the same instruction would be taken for its own. */
            const bool may_abort = moves && !is_late(run, at);

            CHECK_EQ(tw_etmv3_unit_retire(run->unit, &run->code[at], 1), TW_OK);
            /* Data may come behind instructions that have none. */
            if (moves) {
                size_t behind = at;

                while (!may_abort && behind + 1 < INSTRUCTIONS &&
                       run->form[behind + 1]->kind == TW_DATA_UNKNOWN && chance(run, 2))
                    CHECK_EQ(tw_etmv3_unit_retire(run->unit, &run->code[++behind], 1), TW_OK);
                access_memory(run, at, is_big_endian);
                if (may_abort && chance(run, 12)) {
                    abort_instruction(run, at, before);
                    break;
                }
                at = behind;
            }
            while (chance(run, 3))
                return_late(run);
        }
    CHECK_EQ(tw_etmv3_unit_flush(run->unit), TW_OK);
}

static void check_element(const struct expected *want, const struct tw_element *got)
{
    CHECK_EQ(got->type, want->type);
    CHECK(got->flags & TW_DATA_HAS_PC);
    CHECK_EQ(got->pc, want->pc);
    CHECK_EQ(got->size, want->size);
    CHECK_EQ(got->kind, want->kind);
    CHECK_EQ((got->flags & TW_DATA_HAS_ADDRESS) != 0, want->has_address);
    if (want->has_address) {
        CHECK_EQ(got->data_address, want->address);
        CHECK_EQ((got->flags & TW_DATA_BIG_ENDIAN) != 0, want->is_big_endian);
    }
    if (want->type == TW_ELEMENT_DATA_VALUE)
        CHECK_EQ(got->data_value, want->value);
}

static void decode(struct run *run, uint32_t control, uint32_t identity)
{
    const struct tw_register registers[] = { { "ETMCR", control },
                                             { "ETMIDR", identity },
                                             { "ETMCCER", 0x10000000 } };
    struct exec_tree tree;
    struct tw_batch batch = { .size = sizeof batch };
    size_t size, next = 0;
    const uint8_t *bytes = tw_etmv3_unit_output(run->unit, &size);
    const size_t piece = 1 + check_random_below(&run->random, size);

    exec_tree_open(&tree, run->memory, "etmv3", registers, LENGTH(registers), "Cortex-R5");
    for (size_t at = 0; at <= size; at += piece) {
        CHECK_EQ(tw_tree_feed(tree.tree, bytes + at, size - at < piece ? size - at : piece),
                 TW_OK);
        if (size - at < piece || at + piece == size)
            CHECK_EQ(tw_tree_finish(tree.tree), TW_OK);
        while (tw_tree_next(tree.tree, &batch) == TW_OK)
            for (size_t i = 0; i < batch.count; i++) {
                const struct tw_element *element = &batch.elements[i];

                CHECK(element->type != TW_ELEMENT_ERROR);
                if (element->type != TW_ELEMENT_DATA_ADDR &&
                    element->type != TW_ELEMENT_DATA_VALUE)
                    continue;
                CHECK(next < run->count);
                check_element(&run->expected[next++], element);
            }
        if (at + piece == size)
            break;
    }
    CHECK_EQ(next, run->count);
    exec_tree_close(&tree);
}

static void data_comes_back_exactly(void **unused)
{
    struct check_random random = check_random_start(0x64617461);
    size_t transfers = 0;

    (void)unused;
    for (size_t i = 0; i < check_scale(1000); i++) {
        static const uint32_t modes[] = { 0xc, 0xc, 0xc, 0x4, 0x8 };
        const uint32_t control = modes[check_random_below(&random, LENGTH(modes))] |
                                 (check_random_below(&random, 3) ? 0 : 0x1000);
        const uint32_t identity = check_random_below(&random, 2) ? 0x411cf250 : 0x410cf250;
        const struct tw_etmv3_unit_config config = {
            .size = sizeof config,
            .registers = { .size = sizeof config.registers,
                           .etmcr = control,
                           .etmidr = identity,
                           .etmccer = 0x10000000,
                           .profile = TW_PROFILE_R },
            .sync_bytes = check_random_below(&random, 2) ? 150 : 0,
        };
        struct run run = { .random = { check_random_next(&random) },
                           .has_address = (control & 8) != 0,
                           .has_value = (control & 4) != 0,
                           .is_thumb = check_random_below(&random, 2) != 0 };

        check_case("run %zu, ETMCR 0x%x", i, (unsigned)control);
        run.memory = exec_memory_new();
        run.expected = calloc(EXPECTED_MAX, sizeof *run.expected);
        assert_non_null(run.expected);
        CHECK_EQ(tw_etmv3_unit_new(&run.unit, &config, NULL), TW_OK);
        make_program(&run);
        execute(&run);
        decode(&run, control, identity);
        transfers += run.count;
        tw_etmv3_unit_free(run.unit);
        exec_memory_free(run.memory);
        free(run.expected);
    }
    CHECK(transfers > 1000);
}

/* Data-only trace has no instructions to tie to. */
static void data_only_trace_gives_addresses_and_values(void **unused)
{
    const struct tw_etmv3_unit_config config = { .size = sizeof config,
                                                 .registers = { .size = sizeof config.registers,
                                                                .etmcr = 0x10000c,
                                                                .etmidr = 0x410cf250,
                                                                .etmccer = 0x10000000 } };
    const struct tw_register registers[] = { { "ETMCR", 0x10000c },
                                             { "ETMIDR", 0x410cf250 },
                                             { "ETMCCER", 0x10000000 } };
    const struct tw_retired load = {
        .address = CODE, .opcode = 0xe5921000, .isa = TW_ISA_A32, .size = 4
    };
    const struct tw_etmv3_transfer transfers[] = {
        { .address = 0x20000000, .value = 0x11 },
        { .address = 0x20000004, .value = 0x12345678 },
        { .address = 0x30000000, .tag = 2 },
    };
    static const uint32_t want[][2] = { { 0x20000000, 0x11 },
                                        { 0x20000004, 0x12345678 },
                                        { 0x30000000, 0x99 } };
    struct exec_memory *memory = exec_memory_new();
    struct tw_etmv3_unit *unit;
    struct exec_tree tree;
    struct tw_batch batch = { .size = sizeof batch };
    const uint8_t *bytes;
    size_t size, addresses = 0, values = 0;

    (void)unused;
    CHECK_EQ(tw_etmv3_unit_new(&unit, &config, NULL), TW_OK);
    CHECK_EQ(tw_etmv3_unit_retire(unit, &load, 1), TW_OK);
    CHECK_EQ(tw_etmv3_unit_access(unit, transfers, LENGTH(transfers)), TW_OK);
    CHECK_EQ(tw_etmv3_unit_data(unit, 2, 0x99, false), TW_OK);
    CHECK_EQ(tw_etmv3_unit_data(unit, 4, 0x99, false), TW_E_ARGUMENT);
    bytes = tw_etmv3_unit_output(unit, &size);
    exec_tree_open(&tree, memory, "etmv3", registers, LENGTH(registers), "Cortex-R5");
    CHECK_EQ(tw_tree_feed(tree.tree, bytes, size), TW_OK);
    CHECK_EQ(tw_tree_finish(tree.tree), TW_OK);
    while (tw_tree_next(tree.tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            const struct tw_element *element = &batch.elements[i];

            CHECK(element->type != TW_ELEMENT_INSTR_RANGE);
            if (element->type == TW_ELEMENT_DATA_ADDR)
                CHECK_EQ(element->data_address, want[addresses++][0]);
            if (element->type == TW_ELEMENT_DATA_VALUE) {
                CHECK_EQ(element->data_value, want[values][1]);
                CHECK_EQ(element->data_address, want[values++][0]);
                CHECK(!(element->flags & TW_DATA_HAS_PC));
            }
        }
    CHECK_EQ(addresses, LENGTH(want));
    CHECK_EQ(values, LENGTH(want));
    exec_tree_close(&tree);
    tw_etmv3_unit_free(unit);
    exec_memory_free(memory);
}

/* "Data suppressed" is a packet where data is traced together with instructions, and nothing elsewhere. */
static void data_that_is_lost_is_told_of(void **unused)
{
    static const struct {
        uint32_t etmcr;
        bool is_told;
    } rows[] = { { 0xc, true }, { 0x4, true }, { 0, false }, { 0x10000c, false } };
    const struct tw_retired nop = {
        .address = CODE, .opcode = 0xe1a00000, .isa = TW_ISA_A32, .size = 4
    };

    (void)unused;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct tw_etmv3_unit_config config = { .size = sizeof config,
                                                     .registers = { .size =
                                                                        sizeof config.registers,
                                                                    .etmcr = rows[i].etmcr,
                                                                    .etmidr = 0x410cf250,
                                                                    .etmccer = 0x10000000 } };
        struct tw_etmv3_unit *unit;
        const uint8_t *bytes;
        size_t size;

        check_case("ETMCR 0x%x", (unsigned)rows[i].etmcr);
        CHECK_EQ(tw_etmv3_unit_new(&unit, &config, NULL), TW_OK);
        CHECK_EQ(tw_etmv3_unit_retire(unit, &nop, 1), TW_OK);
        CHECK_EQ(tw_etmv3_unit_suppress(unit), TW_OK);
        bytes = tw_etmv3_unit_output(unit, &size);
        CHECK_EQ(size > 0 && bytes[size - 1] == 0x62, rows[i].is_told);
        tw_etmv3_unit_free(unit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_comes_back_exactly),
        cmocka_unit_test(data_only_trace_gives_addresses_and_values),
        cmocka_unit_test(data_that_is_lost_is_told_of),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
