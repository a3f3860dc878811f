/* SPDX-License-Identifier: BSD-2-Clause */
/* Data accesses of every kind, loads that are answered late among them, come back with the instruction that made them. */
#include "check.h"

#include <trackway/image.h>
#include <trackway/tree.h>

#include "hart/test_kept.h"

enum { ROUNDS = 20, NOPS = 2, LOAD = 2, ATOMIC = 5 };

/* A loop, and what its instructions access. */
static const struct {
    uint32_t opcode;
    bool has_access;
    struct tw_etrace_access access;
} program[] = {
    { 0x00000013, false, { .dtype = 0 } },
    { 0x00000013, false, { .dtype = 0 } },
    { 0x0005a503,
      true,
      { .dtype = TW_ETRACE_DTYPE_LOAD, .dsize = 2, .daddr = 0x8000, .data = 7 } },
    { 0x00a5a223,
      true,
      { .dtype = TW_ETRACE_DTYPE_STORE, .dsize = 2, .daddr = 0x8004, .data = 7 } },
    { 0x30059573,
      true,
      { .dtype = TW_ETRACE_DTYPE_CSR_RW,
        .dsize = 3,
        .daddr = 0x300,
        .data = 1,
        .operand = 2 } },
    { 0x00c5a52f,
      true,
      { .dtype = TW_ETRACE_DTYPE_ADD, .dsize = 2, .daddr = 0x8000, .data = 7, .operand = 3 } },
    { 0x18c5a52f,
      true,
      { .dtype = TW_ETRACE_DTYPE_STORE, .dsize = 2, .daddr = 0x8000, .data = 9 } },
    { 0x00070067, false, { .dtype = 0 } }, /* to the first: each round has a packet */
};

static void step(struct tw_etrace_unit *unit, uint64_t base, size_t number, uint32_t lrid)
{
    struct tw_etrace_access access = program[number].access;
    const bool is_last = number + 1 == LENGTH(program);
    const struct tw_etrace_block block = { .iaddr = base + 4 * number,
                                           .iretire = 2,
                                           .ilastsize = 1,
                                           .priv = 3,
                                           .itype = is_last ? TW_ETRACE_ITYPE_JUMP : 0 };
    const struct tw_etrace_cycle cycle = { .blocks = &block,
                                           .block_count = 1,
                                           .accesses = &access,
                                           .access_count = program[number].has_access };

    access.lrid = lrid;
    CHECK_EQ(tw_etrace_unit_cycle(unit, &cycle), TW_OK);
}

/* Values that split accesses load come when the next round has begun, which tells the path of the last one. */
static void run_program(struct kept *kept, const struct tw_etrace_config *config, uint64_t base)
{
    struct tw_etrace_unit *unit = make_unit(kept, config);

    write_field(unit, "iEnable", 1);
    write_field(unit, "dEnable", 1);
    for (size_t i = 0; i < NOPS; i++)
        step(unit, base, i, 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint32_t lrid = 2 * round % 8;

        for (size_t i = NOPS; i < LENGTH(program); i++)
            step(unit, base, i, i == ATOMIC ? lrid + 1 : lrid);
        for (size_t i = 0; i < NOPS; i++)
            step(unit, base, i, 0);
        for (uint32_t i = 0; config->lrid_width && i < 2; i++)
            CHECK_EQ(tw_etrace_unit_response(unit, lrid + i, 7, 0, false), TW_OK);
    }
    write_field(unit, "iEnable", 0);
    write_field(unit, "dEnable", 0);
    tw_etrace_unit_flush(unit);
    tw_etrace_unit_free(unit);
}

static struct tw_tree *make_tree(const struct tw_etrace_config *config, struct tw_image *image)
{
    static char text[16384];
    const struct tw_tree_config choices = { .size = sizeof choices };
    const struct tw_tree_source source = {
        .size = sizeof source, .protocol = "etrace", .text = text, .image = image
    };
    struct tw_tree *tree;

    CHECK(tw_etrace_config_text(text, sizeof text, config) < sizeof text);
    CHECK_EQ(tw_tree_new(&tree, &choices, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    return tree;
}

static uint64_t pc_of(const struct tw_element *element)
{
    if (!(element->flags & TW_DATA_WIDE_PC))
        return element->pc;
    return element->type == TW_ELEMENT_DATA_ADDR ? element->data_value : element->data_address;
}

/* How often each instruction made an access, by the elements' word. */
static void count_accesses(size_t counts[LENGTH(program)], size_t *untied,
                           const struct kept *kept, struct tw_tree *tree, uint64_t base)
{
    struct tw_batch batch = { .size = sizeof batch };
    uint64_t last = UINT64_MAX;

    *untied = 0;
    memset(counts, 0, LENGTH(program) * sizeof *counts);
    CHECK_EQ(tw_tree_feed(tree, kept->bytes[0], kept->size[0]), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            const struct tw_element *element = &batch.elements[i];

            CHECK(element->type != TW_ELEMENT_ERROR);
            if (element->type < TW_ELEMENT_DATA_ADDR || element->type > TW_ELEMENT_DATA_VALUE)
                continue;
            if (!(element->flags & TW_DATA_HAS_PC)) {
                ++*untied;
                continue;
            }
            CHECK(pc_of(element) >= base && pc_of(element) < base + 4 * LENGTH(program));
            /* the parts of one access are one */
            if (element->index != last)
                counts[(pc_of(element) - base) / 4]++;
            last = element->index;
        }
}

static void accesses_have_their_instruction(void **state)
{
    static const struct {
        const char *name;
        uint64_t base;
        uint8_t lrid_width;
        uint32_t options;
        size_t untied;
    } rows[] = {
        { "at once", 0x1000, 0, 0, 0 },
        { "split", 0x1000, 3, 0, 0 },
        /* the address of a CSR stands where the instruction's would, in both of its values */
        { "far away", 0x7f1234561000, 0, TW_ETRACE_NO_ADDRESS, (size_t)2 * ROUNDS },
        { "far away, no data", 0x7f1234561000, 0, TW_ETRACE_NO_DATA, 0 },
    };

    (void)state;
    for (size_t k = 0; k < LENGTH(rows); k++) {
        struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_V2);
        const struct tw_region region = { .size = sizeof region,
                                          .address = rows[k].base,
                                          .length = 4 * LENGTH(program) };
        uint8_t code[4 * LENGTH(program)];
        struct kept *kept = new_kept();
        struct tw_image *image;
        struct tw_tree *tree;
        size_t counts[LENGTH(program)], untied;

        CHECK_CASE(rows[k].name);
        config.data_width = config.daddress_width = 64;
        config.lrid_width = rows[k].lrid_width;
        config.options = rows[k].options;
        for (size_t i = 0; i < LENGTH(program); i++)
            for (unsigned byte = 0; byte < 4; byte++)
                code[4 * i + byte] = (uint8_t)(program[i].opcode >> 8 * byte);
        run_program(kept, &config, rows[k].base);
        CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
        CHECK_EQ(tw_image_add(image, &region, code), TW_OK);
        tree = make_tree(&config, image);
        count_accesses(counts, &untied, kept, tree, rows[k].base);
        CHECK_EQ(untied, rows[k].untied);
        for (size_t i = 0; i < LENGTH(program); i++)
            /* a split load and a split atomic have two packets: the address, the answer */
            CHECK_EQ(counts[i], !program[i].has_access                             ? 0
                                : rows[k].lrid_width && (i == LOAD || i == ATOMIC) ? 2 * ROUNDS
                                                                                   : ROUNDS);
        tw_tree_free(tree);
        tw_image_free(image);
        free(kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(accesses_have_their_instruction) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
