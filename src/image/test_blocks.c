/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of basic blocks, against a walk from instruction to instruction. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "failing.h"
#include "image/blocks.h"
#include "image/image.h"

enum { BASE = 0x4000, SIZE = 0x6000 };

/* The program: bytes from BASE on, and which of them are there. */
struct program {
    uint8_t bytes[SIZE];
    bool is_there[SIZE];
};

static bool read_program(const struct program *program, uint8_t *out, uint64_t address,
                         size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const uint64_t at = address + i - BASE;

        if (at >= SIZE || !program->is_there[at])
            return false;
        out[i] = program->bytes[at];
    }
    return true;
}

/* One instruction, the slow way.  False: not all of it is there. */
static bool step(const struct program *program, const struct tw_isa_options *options,
                 struct tw_instruction *out, uint64_t address, uint8_t isa, uint8_t it_open)
{
    uint8_t bytes[4];
    uint32_t opcode;

    if (isa == TW_ISA_T32) {
        if (!read_program(program, bytes, address, 2))
            return false;
        opcode = tw_load_le16(bytes);
        if (tw_t32_size((uint16_t)opcode) == 4) {
            if (!read_program(program, bytes, address, 4))
                return false;
            opcode = opcode << 16 | tw_load_le16(bytes + 2);
        }
        tw_t32_classify(out, opcode, address, it_open, options);
        return true;
    }
    if (!read_program(program, bytes, address, 4))
        return false;
    if (isa == TW_ISA_A64)
        tw_a64_classify(out, tw_load_le32(bytes), address, options);
    else
        tw_a32_classify(out, tw_load_le32(bytes), address, options);
    return true;
}

/* The block as it must be: shape of the range in `block`, the rest in `more`. */
static void walk(const struct program *program, const struct tw_code_config *config,
                 struct tw_block *block, struct tw_block_more *more)
{
    uint64_t address = block->start;
    uint8_t it_open = more->it_open;
    struct tw_instruction instruction = { .size = 0 };
    struct tw_element shape = { .index = 0 };

    for (;;) {
        more->end = TW_BLOCK_RUNAWAY;
        if (block->count == config->range_limit)
            break;
        more->end = TW_BLOCK_UNREADABLE;
        if (!step(program, &config->isa, &instruction, address, block->isa, it_open))
            break;
        address += instruction.size;
        it_open = instruction.it_remaining;
        block->count++;
        tw_range_set_last(&shape, &instruction);
        more->end = TW_BLOCK_WAYPOINT;
        if (instruction.is_waypoint)
            break;
    }
    block->length = (uint32_t)(address - block->start);
    block->last = shape.last;
    block->flags = shape.flags;
    if (more->end != TW_BLOCK_WAYPOINT)
        return;
    more->target = instruction.target;
    more->target_isa = instruction.target_isa & 15u;
    more->it_remaining = instruction.it_remaining & 7u;
    more->is_link = instruction.is_link;
    more->is_exception_return = instruction.is_exception_return;
    more->is_indirect = instruction.kind == TW_FLOW_INDIRECT;
}

static void check_block(struct tw_blocks *blocks, const struct program *program,
                        uint64_t address, uint8_t isa, uint8_t it_open)
{
    struct tw_block want = { .start = address, .isa = isa };
    struct tw_block_more want_more = { .it_open = it_open & 7u };
    const uint32_t index = tw_blocks_find(blocks, address, isa, it_open);
    const struct tw_block *got = &blocks->blocks[index & ~TW_BLOCK_BROKEN];
    const struct tw_block_more *more = &blocks->more[index & ~TW_BLOCK_BROKEN];

    walk(program, &blocks->code->config, &want, &want_more);
    CHECK(index != 0);
    CHECK_EQ(tw_block_is_plain(index), want_more.end == TW_BLOCK_WAYPOINT);
    CHECK_EQ(got->start, address);
    CHECK_EQ(got->isa, isa);
    CHECK_EQ(got->count, want.count);
    CHECK_EQ(got->length, want.length);
    CHECK_EQ(more->end, want_more.end);
    CHECK_EQ(more->it_open, it_open);
    if (want.count) {
        CHECK_EQ(got->last, want.last);
        CHECK_EQ(got->flags, want.flags);
    }
    CHECK_EQ(more->target, want_more.target);
    CHECK_EQ(more->is_link, want_more.is_link);
    CHECK_EQ(more->is_indirect, want_more.is_indirect);
    CHECK_EQ(more->is_exception_return, want_more.is_exception_return);
    if (want_more.end == TW_BLOCK_WAYPOINT) {
        CHECK_EQ(more->target_isa, want_more.target_isa);
        CHECK_EQ(more->it_remaining, want_more.it_remaining);
    }
    CHECK_EQ(tw_blocks_find(blocks, address, isa, it_open), index); /* from the cache */
}

/* Code with few or many waypoints, in regions that touch, or leave holes. */
static struct tw_image *make_program(struct program *program, struct check_random *random,
                                     uint8_t isa)
{
    /* Nothing at all, and what only some trace units take for a waypoint: WFI, DSB. */
    static const uint8_t plain[3][3][4] = {
        [TW_ISA_A32] = { { 0, 0, 0xa0, 0xe1 },
                         { 3, 0xf0, 0x20, 0xe3 },
                         { 0x4f, 0xf0, 0x7f, 0xf5 } },
        [TW_ISA_T32] = { { 0, 0xbf, 0, 0xbf },
                         { 0x30, 0xbf, 0, 0xbf },
                         { 0xbf, 0xf3, 0x4f, 0x8f } },
        [TW_ISA_A64] = { { 0x1f, 0x20, 3, 0xd5 },
                         { 0x7f, 0x20, 3, 0xd5 },
                         { 0x9f, 0x3f, 3, 0xd5 } },
    };
    const uint64_t rarity = check_random_below(random, 2) ? 1 : 300;
    struct tw_image *image;
    size_t at = 0;

    check_random_fill(random, program->bytes, SIZE);
    memset(program->is_there, 0, sizeof program->is_there);
    for (size_t i = 0; i < SIZE; i += 4)
        if (check_random_below(random, rarity))
            memcpy(program->bytes + i,
                   plain[isa]
                        [check_random_below(random, 6) ? 0 : 1 + check_random_below(random, 2)],
                   4);
    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    while (at < SIZE - 2) {
        const size_t length = 2 * (size_t)(1 + check_random_below(random, (SIZE - at) / 2 - 1));
        const struct tw_region region = { .size = sizeof region,
                                          .address = BASE + at,
                                          .length = length };

        CHECK_EQ(tw_image_add(image, &region, program->bytes + at), TW_OK);
        memset(program->is_there + at, 1, length);
        at += length;
        if (check_random_below(random, 3) == 0)
            at += 2 * (size_t)check_random_below(random, 20);
    }
    return image;
}

static void blocks_are_what_a_walk_finds(void **state)
{
    static const uint8_t isas[] = { TW_ISA_A64, TW_ISA_A32, TW_ISA_T32 };
    struct check_random random = check_random_start(0x626c6f636b73);
    struct program *program = calloc(1, sizeof *program);
    const size_t rounds = check_scale(600);

    (void)state;
    assert_non_null(program);
    for (size_t round = 0; round < rounds; round++) {
        const uint8_t isa = isas[round % LENGTH(isas)];
        struct tw_image *image = make_program(program, &random, isa);
        const struct tw_view view = { .space = TW_SPACE_ANY };
        struct tw_code_config config = { .isa = { .wfx_is_p0 = true } };
        struct tw_code *code;

        config.isa.profile = round % 2 ? TW_PROFILE_A : TW_PROFILE_M;
        config.range_limit = round % 4 ? 0 : 1 + (uint32_t)check_random_below(&random, 900);
        CHECK_EQ(tw_code_new(&code, image, &config), TW_OK);
        for (size_t i = 0; i < 200; i++) {
            const uint64_t step_size = isa == TW_ISA_T32 ? 2 : 4;
            const uint64_t address =
                BASE - 8 + step_size * check_random_below(&random, SIZE / step_size + 4);
            const uint8_t it_open =
                isa == TW_ISA_T32 && i % 4 == 0 ? (uint8_t)check_random_below(&random, 5) : 0;

            check_case("round %zu, isa %u, address %llx, it %u, limit %u", round, isa,
                       (unsigned long long)address, it_open, code->config.range_limit);
            check_block(tw_code_space(code, &view), program, address, isa, it_open);
        }
        tw_code_free(code);
        tw_image_free(image);
    }
    free(program);
}

/* What a decoder may hit: data as far as the eye can see. */
struct zeros {
    uint64_t size;
    size_t calls;
};

static size_t read_zeros(void *context, uint8_t *out, const struct tw_view *view,
                         uint64_t address, size_t size)
{
    struct zeros *zeros = context;

    (void)view;
    zeros->calls++;
    if (address >= zeros->size)
        return 0;
    if (size > zeros->size - address)
        size = (size_t)(zeros->size - address);
    memset(out, 0, size);
    return size;
}

/* Jumps about in `size` bytes without a waypoint: pages read, once all were seen. */
static size_t pages_read(uint64_t size, uint32_t range_limit, uint8_t isa, size_t jumps)
{
    struct check_random random = check_random_start(0x7a65726f73);
    struct zeros zeros = { .size = size };
    const struct tw_view view = { .space = TW_SPACE_ANY };
    const struct tw_code_config config = { .range_limit = range_limit };
    const uint32_t limit = range_limit ? range_limit : 1048576;
    struct tw_image *image;
    struct tw_code *code;

    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_set_callback(image, read_zeros, &zeros), TW_OK);
    CHECK_EQ(tw_code_new(&code, image, &config), TW_OK);
    for (size_t i = 0; i < jumps; i++) {
        const uint64_t width = isa == TW_ISA_T32 ? 2 : 4;
        const uint64_t address = width * check_random_below(&random, size / width);
        struct tw_blocks *blocks = tw_code_space(code, &view);
        const uint32_t index = tw_blocks_find(blocks, address, isa, 0) & ~TW_BLOCK_BROKEN;
        const uint64_t left = (size - address) / width;

        CHECK_EQ(blocks->blocks[index].count, left < limit ? left : limit);
        CHECK_EQ(blocks->more[index].end,
                 left < limit ? TW_BLOCK_UNREADABLE : TW_BLOCK_RUNAWAY);
    }
    tw_code_free(code);
    tw_image_free(image);
    return zeros.calls;
}

static void large_areas_without_waypoints_are_walked_once(void **state)
{
    static const uint8_t isas[] = { TW_ISA_A64, TW_ISA_A32, TW_ISA_T32 };
    enum { AREA = 2 << 20, FEW = 20, MANY = 600 };

    (void)state;
    for (size_t i = 0; i < LENGTH(isas); i++) {
        const uint32_t limits[] = { 0, AREA / 16 };

        for (size_t n = 0; n < LENGTH(limits); n++) {
            const size_t few = pages_read(AREA, limits[n], isas[i], FEW);
            const size_t many = pages_read(AREA, limits[n], isas[i], MANY);

            check_case("isa %u, limit %u: %zu and %zu pages", isas[i], limits[n], few, many);
            /* Near its start and its end each jump reads a page or two of its own. */
            CHECK(many <= few + 4 * MANY);
        }
    }
}

static void links_lead_to_the_next_blocks(void **state)
{
    /* 1000: cbz x0, 1008; 1004: bl 100c; 1008: br x1; 100c: b 1000 */
    static const uint8_t bytes[] = { 0x40, 0x00, 0x00, 0xb4, 0x02, 0x00, 0x00, 0x94,
                                     0x20, 0x00, 0x1f, 0xd6, 0xfd, 0xff, 0xff, 0x17 };
    const struct tw_region region = { .size = sizeof region, .address = 0x1000, .length = 16 };
    const struct tw_view view = { .space = TW_SPACE_ANY };
    struct tw_code_config config = { .links_are_special = false };
    struct tw_image *image;
    struct tw_code *code;
    struct tw_blocks *blocks;
    uint32_t at[4];

    (void)state;
    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(image, &region, bytes), TW_OK);
    for (unsigned special = 0; special < 2; special++) {
        config.links_are_special = special;
        CHECK_EQ(tw_code_new(&code, image, &config), TW_OK);
        blocks = tw_code_space(code, &view);
        for (unsigned i = 0; i < 4; i++)
            at[i] = tw_blocks_find(blocks, 0x1000 + 4 * i, TW_ISA_A64, 0);
        CHECK_EQ(blocks->links[2 * at[0] + 1], TW_NEXT_UNKNOWN);
        CHECK_EQ(tw_blocks_link(blocks, at[0], 1), at[2]);
        CHECK_EQ(blocks->links[2 * at[0] + 1], at[2]); /* remembered */
        CHECK_EQ(tw_blocks_link(blocks, at[0], 0), at[1]);
        CHECK_EQ(blocks->links[2 * at[1] + 1], special ? TW_NEXT_SPECIAL : TW_NEXT_UNKNOWN);
        CHECK_EQ(tw_blocks_target(blocks, at[1]), at[3]);
        CHECK_EQ(tw_blocks_target(blocks, at[1]), at[3]);
        CHECK_EQ(blocks->links[2 * at[2] + 1], TW_NEXT_NEEDED);
        CHECK_EQ(tw_blocks_link(blocks, at[3], 1), at[0]);
        CHECK(!tw_block_is_plain(tw_blocks_link(blocks, at[3], 0))); /* memory ends at 1010 */
        tw_code_free(code);
    }
    tw_image_free(image);
}

static void a_changed_image_voids_the_blocks(void **state)
{
    static const uint8_t nops[] = { 0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5 };
    static const uint8_t branch[] = { 0x00, 0x00, 0x00, 0x14 };
    struct tw_region region = { .size = sizeof region, .address = 0x1000, .length = 8 };
    const struct tw_view view = { .space = TW_SPACE_ANY };
    const struct tw_view other = { .space = TW_SPACE_EL3 };
    const struct tw_code_config config = { .range_limit = 0 };
    struct tw_image *image;
    struct tw_code *code;
    uint32_t index;
    uint64_t epoch;

    (void)state;
    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(image, &region, nops), TW_OK);
    CHECK_EQ(tw_code_new(&code, image, &config), TW_OK);
    index = tw_blocks_find(tw_code_space(code, &view), 0x1000, TW_ISA_A64, 0);
    CHECK(!tw_block_is_plain(index));
    CHECK(tw_code_space(code, &view) == tw_code_space(code, &view));
    CHECK(tw_code_space(code, &view) != tw_code_space(code, &other));
    epoch = code->epoch;
    tw_code_refresh(code);
    CHECK_EQ(code->epoch, epoch); /* nothing has changed */
    region.address = 0x1008;
    region.length = 4;
    CHECK_EQ(tw_image_add(image, &region, branch), TW_OK);
    tw_code_refresh(code);
    CHECK(code->epoch != epoch);
    index = tw_blocks_find(tw_code_space(code, &view), 0x1000, TW_ISA_A64, 0);
    CHECK(tw_block_is_plain(index));
    CHECK_EQ(tw_code_space(code, &view)->blocks[index].count, 3);
    tw_image_remove(image, 0x1008, 0);
    tw_code_refresh(code);
    index = tw_blocks_find(tw_code_space(code, &view), 0x1000, TW_ISA_A64, 0);
    CHECK(!tw_block_is_plain(index));
    tw_code_free(code);
    tw_code_free(NULL);
    tw_image_free(image);
}

static void no_image_is_an_empty_one(void **state)
{
    const struct tw_view view = { .space = TW_SPACE_ANY };
    const struct tw_code_config config = { .range_limit = 0 };
    struct tw_instruction instruction;
    struct tw_code *code;
    uint32_t index;

    (void)state;
    CHECK_EQ(tw_code_new(&code, NULL, &config), TW_OK);
    index = tw_blocks_find(tw_code_space(code, &view), 0x1000, TW_ISA_T32, 0);
    CHECK(index & TW_BLOCK_BROKEN);
    CHECK_EQ(tw_code_space(code, &view)->blocks[index & ~TW_BLOCK_BROKEN].count, 0);
    CHECK(
        !tw_code_instruction(tw_code_space(code, &view), &instruction, 0x1000, TW_ISA_A64, 0));
    tw_code_refresh(code);
    tw_code_free(code);
}

static void memory_may_run_out_at_any_time(void **state)
{
    struct check_random random = check_random_start(0x6d656d);
    struct program *program = calloc(1, sizeof *program);
    struct tw_image *image = make_program(program, &random, TW_ISA_A64);
    const struct tw_view view = { .space = TW_SPACE_ANY };
    bool is_done = false;

    (void)state;
    for (size_t limit = 0; !is_done; limit++) {
        struct failing failing = { .left = limit };
        const struct tw_allocator allocator = { failing_resize, &failing };
        const struct tw_code_config config = { .allocator = &allocator };
        struct tw_code *code;
        struct tw_blocks *blocks;

        check_case("%zu requests", limit);
        if (tw_code_new(&code, image, &config) != TW_OK) {
            CHECK(code == NULL);
            continue;
        }
        blocks = tw_code_space(code, &view);
        for (uint64_t at = 0; blocks && at < SIZE / 4; at++)
            if (!tw_blocks_find(blocks, BASE + 4 * at, TW_ISA_A64, 0))
                break;
        CHECK(limit < 10000);
        if (failing.asked <= limit)
            is_done = true;
        else if (!code->out_of_memory) /* only a checkpoint was lost: slower, not wrong */
            check_block(blocks, program, BASE + 0x100, TW_ISA_A64, 0);
        CHECK(!is_done || !code->out_of_memory);
        tw_code_free(code);
        CHECK_EQ(failing.live, 0);
    }
    tw_image_free(image);
    free(program);
}

/* One branch after the other, each to the next: whatever memory the tables move to as they grow.  A large page is for the
   first space that needs one, and not for the first of all. */
static void many_blocks_stay_what_they_are(void **state)
{
    enum { MANY = 40000, FEW = 10, SPACES = 5 };
    static const uint8_t branch[] = { 0x01, 0x00, 0x00, 0x14 };
    struct failing counting = { .left = SIZE_MAX };
    const struct tw_allocator allocator = { failing_resize, &counting };
    const struct tw_region region = { .size = sizeof region,
                                      .address = BASE,
                                      .length = 4 * MANY };
    uint8_t *bytes = malloc(4 * MANY);
    struct tw_image *image;

    (void)state;
    for (size_t i = 0; i < MANY; i++)
        memcpy(bytes + 4 * i, branch, 4);
    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(image, &region, bytes), TW_OK);
    for (unsigned turn = 0; turn < 4; turn++) {
        const struct tw_code_config config = { .allocator = turn % 2 ? &allocator : NULL };
        struct tw_code *code;

        CHECK_EQ(tw_code_new(&code, image, &config), TW_OK);
        for (uint32_t space = 0; space < SPACES; space++) {
            const struct tw_view view = { .space = TW_SPACE_ANY, .context = space };
            const uint32_t most = turn < 2 && space == 1 ? MANY : MANY / 8;
            const uint32_t some = space ? most : FEW;
            struct tw_blocks *blocks = tw_code_space(code, &view);
            uint32_t at = tw_blocks_find(blocks, BASE, TW_ISA_A64, 0);

            check_case("turn %u, space %u", turn, space);
            for (uint32_t i = 0; i + 1 < some; i++)
                at = tw_blocks_link(blocks, at, 1);
            CHECK_EQ(at, TW_BLOCK_FIRST + some - 1);
            for (uint32_t i = 0; i + 1 < some; i++) {
                at = tw_blocks_known(blocks, BASE + 4 * (uint64_t)i, TW_ISA_A64, 0);
                CHECK_EQ(at, TW_BLOCK_FIRST + i);
                CHECK_EQ(blocks->blocks[at].start, BASE + 4 * (uint64_t)i);
                CHECK_EQ(blocks->more[at].target, BASE + 4 * (uint64_t)(i + 1));
                CHECK_EQ(blocks->links[2 * at], TW_NEXT_UNKNOWN);
                CHECK_EQ(blocks->links[2 * at + 1], at + 1);
            }
#if defined __linux__
            CHECK_EQ(blocks->large != NULL, turn == 2 && space == 1);
#endif
        }
        tw_code_free(code);
    }
    CHECK_EQ(counting.live, 0);
    tw_image_free(image);
    free(bytes);
}

/* RISC-V: where an instruction is in a long block, of which others begin inside, some of them in the
   middle of instructions. */
static void places_in_long_blocks(void **state)
{
    enum { LONG = 0x5000 };
    struct check_random random = check_random_start(1024);
    static uint8_t bytes[LONG];
    const struct tw_region region = { .size = sizeof region, .address = BASE, .length = LONG };
    const struct tw_code_config config = { .range_limit = 0 };
    const struct tw_view view = { .space = TW_SPACE_ANY };

    (void)state;
    for (unsigned round = 0; round < 40; round++) {
        struct tw_image *image;
        struct tw_code *code;
        struct tw_blocks *blocks;

        for (size_t i = 0; i < LONG; i += 2) /* nothing that jumps, however it is cut */
            bytes[i] = check_random_below(&random, 3) ? 0x01 : 0x13;
        CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
        CHECK_EQ(tw_image_add(image, &region, bytes), TW_OK);
        CHECK_EQ(tw_code_new(&code, image, &config), TW_OK);
        blocks = tw_code_space(code, &view);
        for (unsigned turn = 0; turn < 60; turn++) {
            const uint64_t from = BASE + 2 * check_random_below(&random, LONG / 2 - 8);
            const uint32_t number = tw_blocks_find(blocks, from, TW_ISA_RV64, 0);
            const uint64_t to =
                from + 2 * check_random_below(&random, (BASE + LONG - from) / 2);
            struct tw_block_place place;
            uint64_t at = from, before = from;
            uint32_t count = 0;
            bool is_there;

            check_case("round %u, turn %u", round, turn);
            while (at < to) {
                before = at;
                at += (bytes[at - BASE] & 3) == 3 ? 4 : 2;
                count++;
            }
            is_there = tw_block_locate(blocks, number, to, &place);
            if (to - from >= blocks->blocks[number & ~TW_BLOCK_BROKEN].length)
                CHECK(!is_there);
            else
                CHECK_EQ(is_there, at == to);
            if (is_there) {
                CHECK_EQ(place.count, count);
                CHECK_EQ(place.before, before);
            }
        }
        tw_code_free(code);
        tw_image_free(image);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_what_a_walk_finds),
        cmocka_unit_test(large_areas_without_waypoints_are_walked_once),
        cmocka_unit_test(many_blocks_stay_what_they_are),
        cmocka_unit_test(places_in_long_blocks),
        cmocka_unit_test(links_lead_to_the_next_blocks),
        cmocka_unit_test(a_changed_image_voids_the_blocks),
        cmocka_unit_test(no_image_is_an_empty_one),
        cmocka_unit_test(memory_may_run_out_at_any_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
