/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the follower: single rules on a small program. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "path/follow.h"

enum { ROOM = 64 };

/* A small program and a follower on it. */
struct bench {
    struct tw_image *image;
    struct tw_code *code;
    struct tw_follow follow;
    struct tw_element elements[ROOM];
    size_t count;
};

static struct bench set_up(const void *bytes, size_t size, uint64_t address,
                           struct tw_code_config config)
{
    const struct tw_region region = { .size = sizeof region,
                                      .address = address,
                                      .length = size };
    struct bench bench = { .count = 0 };

    CHECK_EQ(tw_image_new(&bench.image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(bench.image, &region, bytes), TW_OK);
    CHECK_EQ(tw_code_new(&bench.code, bench.image, &config), TW_OK);
    tw_follow_init(&bench.follow, bench.code);
    bench.follow.has_return_stack = config.links_are_special;
    return bench;
}

static void tear_down(struct bench *bench)
{
    tw_code_free(bench->code);
    tw_image_free(bench->image);
}

/* Follows atoms given as letters. */
static void atoms(struct bench *bench, const char *letters)
{
    uint32_t bits = 0;

    for (size_t i = 0; letters[i]; i++)
        bits |= (uint32_t)(letters[i] == 'E') << i;
    bench->count = (size_t)(tw_follow_atoms(&bench->follow, bench->elements, bits,
                                            (unsigned)strlen(letters), 7) -
                            bench->elements);
    CHECK(bench->count <= ROOM);
}

static void check_range(const struct bench *bench, size_t number, uint64_t start, uint64_t end,
                        unsigned flags)
{
    const struct tw_element *range = &bench->elements[number];

    CHECK(number < bench->count);
    CHECK_EQ(range->type, TW_ELEMENT_INSTR_RANGE);
    CHECK_EQ(range->start, start);
    CHECK_EQ(tw_element_end(range), end);
    CHECK_EQ(range->flags, flags);
    CHECK_EQ(range->index, 7);
}

/* Words at 0x1000, as little-endian bytes whatever this machine is. */
static struct bench set_up_words(const uint32_t *words, size_t size,
                                 struct tw_code_config config)
{
    static uint8_t bytes[1 << 16];

    CHECK(size <= sizeof bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
    return set_up(bytes, size, 0x1000, config);
}

enum { TAKEN = TW_RANGE_EXECUTED, COND = TW_RANGE_CONDITIONAL };

/* 1000: nop; cbz x0, 1010; bl 1018; nop;   1010: b 1000; nop;   1018: nop; ret;   1020: nop */
static const uint32_t program[] = { 0xd503201f, 0xb4000060, 0x94000004, 0xd503201f, 0x17fffffc,
                                    0xd503201f, 0xd503201f, 0xd65f03c0, 0xd503201f };

static struct bench set_up_program(struct tw_code_config config)
{
    return set_up_words(program, sizeof program, config);
}

static void atoms_give_a_range_each(void **state)
{
    struct bench bench = set_up_program((struct tw_code_config){ .range_limit = 0 });

    (void)state;
    atoms(&bench, "EEE"); /* no place yet */
    CHECK_EQ(bench.count, 0);
    CHECK(!tw_follow_is_placed(&bench.follow));
    tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64);
    CHECK(tw_follow_is_placed(&bench.follow));
    atoms(&bench, "EENEE");
    CHECK_EQ(bench.count, 5);
    check_range(&bench, 0, 0x1000, 0x1008, TAKEN | COND);
    check_range(&bench, 1, 0x1010, 0x1014, TAKEN);
    check_range(&bench, 2, 0x1000, 0x1008, COND);
    check_range(&bench, 3, 0x1008, 0x100c, TAKEN);
    check_range(&bench, 4, 0x1018, 0x1020, TAKEN);
    CHECK_EQ(bench.elements[3].last_sub, TW_SUB_LINK);
    CHECK_EQ(bench.elements[4].last_kind, TW_LAST_IBR);
    atoms(&bench, "EN"); /* where the return led to was not told */
    CHECK_EQ(bench.count, 0);
    CHECK_EQ(bench.follow.error, TW_ERROR_NONE);
    tw_follow_jump(&bench.follow, 0x100c, TW_ISA_A64);
    CHECK_EQ(tw_follow_address(&bench.follow), 0x100c);
    atoms(&bench, "E");
    check_range(&bench, 0, 0x100c, 0x1014, TAKEN);
    tear_down(&bench);
}

static void missing_code_is_told_once(void **state)
{
    struct bench bench = set_up_program((struct tw_code_config){ .range_limit = 0 });

    (void)state;
    tw_follow_view(&bench.follow, TW_SPACE_EL1N, 0);
    tw_follow_jump(&bench.follow, 0x1020, TW_ISA_A64);
    atoms(&bench, "EEEE");
    CHECK_EQ(bench.count, 2);
    check_range(&bench, 0, 0x1020, 0x1024, TAKEN);
    CHECK_EQ(bench.elements[1].type, TW_ELEMENT_ADDR_NACC);
    CHECK_EQ(bench.elements[1].address, 0x1024);
    CHECK_EQ(bench.elements[1].space, TW_SPACE_EL1N);
    atoms(&bench, "E");
    CHECK_EQ(bench.count, 0);
    tw_follow_jump(&bench.follow, 0x5000, TW_ISA_A64);
    atoms(&bench, "N");
    CHECK_EQ(bench.count, 1);
    CHECK_EQ(bench.elements[0].type, TW_ELEMENT_ADDR_NACC);
    tear_down(&bench);
}

/* 100 times bl to the next instruction, then rets. */
static void the_return_stack_keeps_the_newest(void **state)
{
    static const unsigned depths[] = { 1, 3, 15, 16 };
    uint32_t calls[200];

    (void)state;
    for (size_t i = 0; i < LENGTH(calls); i++)
        calls[i] = i < 100 ? 0x94000001 : 0xd65f03c0;
    for (size_t n = 0; n < LENGTH(depths); n++) {
        struct bench bench = set_up_words(calls, sizeof calls,
                                          (struct tw_code_config){ .links_are_special = true });

        check_case("depth %u", depths[n]);
        bench.follow.return_depth = (uint8_t)depths[n];
        tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64);
        for (unsigned i = 0; i < 100; i++)
            atoms(&bench, "E");
        /* Each return goes behind a call, to calls again: only the first is of interest there. */
        for (unsigned i = 0; i < depths[n]; i++) {
            tw_follow_jump(&bench.follow, 0x1000 + 4 * 150, TW_ISA_A64);
            atoms(&bench, "E");
            CHECK(tw_follow_is_placed(&bench.follow));
            CHECK_EQ(tw_follow_address(&bench.follow), 0x1000 + 4 * (100 - i));
        }
        tw_follow_jump(&bench.follow, 0x1000 + 4 * 150, TW_ISA_A64);
        atoms(&bench, "EE"); /* nothing left */
        CHECK_EQ(bench.count, 1);
        CHECK_EQ(bench.follow.error, TW_ERROR_RETURN_STACK);
        tear_down(&bench);
    }
}

static void an_address_takes_the_place_of_a_return(void **state)
{
    struct bench bench = set_up_program((struct tw_code_config){ .links_are_special = true });

    (void)state;
    tw_follow_jump(&bench.follow, 0x1008, TW_ISA_A64);
    atoms(&bench, "EE"); /* bl, ret */
    tw_follow_jump(&bench.follow, 0x1018, TW_ISA_A64);
    atoms(&bench, "EE"); /* ret again: the entry is still there */
    CHECK_EQ(bench.count, 2);
    check_range(&bench, 0, 0x1018, 0x1020, TAKEN);
    check_range(&bench, 1, 0x100c, 0x1014, TAKEN);

    tw_follow_reset(&bench.follow);
    bench.follow.push_is_blocked = true;
    tw_follow_jump(&bench.follow, 0x1008, TW_ISA_A64);
    atoms(&bench, "EE");
    CHECK_EQ(bench.count, 2);
    CHECK(!tw_follow_is_placed(&bench.follow)); /* nothing was pushed */
    CHECK_EQ(bench.follow.error, TW_ERROR_RETURN_STACK);
    tear_down(&bench);
}

static void decisions_can_be_taken_back(void **state)
{
    struct bench bench = set_up_program((struct tw_code_config){ .links_are_special = true });

    (void)state;
    tw_follow_flip(&bench.follow); /* nothing was decided yet */
    tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64);
    atoms(&bench, "E");
    CHECK_EQ(tw_follow_address(&bench.follow), 0x1010);
    tw_follow_flip(&bench.follow);
    CHECK_EQ(tw_follow_address(&bench.follow), 0x1008);
    tw_follow_flip(&bench.follow);
    CHECK_EQ(tw_follow_address(&bench.follow), 0x1010);
    tw_follow_flip(&bench.follow);
    atoms(&bench, "E");
    CHECK_EQ(bench.follow.return_count, 1);
    tw_follow_flip(&bench.follow); /* the call was not made, but the unit pushed for it */
    CHECK_EQ(bench.follow.return_count, 1);
    CHECK_EQ(tw_follow_address(&bench.follow), 0x100c);
    tw_follow_push_last(&bench.follow);
    CHECK_EQ(bench.follow.return_count, 2);
    tw_follow_flip(&bench.follow); /* it was, and nothing is pushed again */
    CHECK_EQ(bench.follow.return_count, 2);
    tear_down(&bench);
}

static void to_exception(struct bench *bench, uint64_t stop)
{
    bench->count = (size_t)(tw_follow_to_exception(&bench->follow, bench->elements, stop, 7) -
                            bench->elements);
}

static void what_ran_before_an_exception(void **state)
{
    struct bench bench = set_up_program((struct tw_code_config){ .range_limit = 0 });

    (void)state;
    to_exception(&bench, 0x1010); /* no place */
    CHECK_EQ(bench.count, 0);
    tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64);
    to_exception(&bench, 0x1000); /* nothing ran */
    CHECK_EQ(bench.count, 0);
    to_exception(&bench, 0x1004);
    check_range(&bench, 0, 0x1000, 0x1004, TAKEN); /* its last instruction is no waypoint */
    to_exception(&bench, 0x1008);
    check_range(&bench, 0, 0x1004, 0x1008, COND); /* a branch that was not taken */
    to_exception(&bench, 0x1018);
    CHECK_EQ(bench.count, 1); /* two more such on the way */
    check_range(&bench, 0, 0x1008, 0x1018, TAKEN);
    CHECK_EQ(bench.elements[0].count, 4);
    CHECK_EQ(tw_follow_address(&bench.follow), 0x1018);
    to_exception(&bench, 0x1004); /* it lies behind: nothing */
    CHECK_EQ(bench.count, 0);
    to_exception(&bench, 0x1100); /* memory ends first */
    CHECK_EQ(bench.count, 2);
    check_range(&bench, 0, 0x1018, 0x1024, TAKEN);
    CHECK_EQ(bench.elements[1].type, TW_ELEMENT_ADDR_NACC);
    CHECK(!tw_follow_is_placed(&bench.follow));
    tear_down(&bench);
}

/* An exception at `stop`, after code at the top of memory, size bytes of it, and at 0. */
static struct bench around_the_top(uint32_t above, uint64_t top, uint8_t isa, uint64_t stop)
{
    static uint8_t bytes[3][8];
    const uint32_t nop = isa == TW_ISA_A64 ? 0xd503201f : 0xe1a00000;
    const struct tw_region bottom = { .size = sizeof bottom, .address = 0, .length = 8 };
    struct bench bench;

    for (unsigned i = 0; i < 8; i++) {
        bytes[0][i] = (uint8_t)((i < 4 ? nop : above) >> 8 * (i % 4));
        bytes[1][i] = (uint8_t)(nop >> 8 * (i % 4));
    }
    bench = set_up(bytes[0], 8, top - 7, (struct tw_code_config){ .range_limit = 0 });
    CHECK_EQ(tw_image_add(bench.image, &bottom, bytes[1]), TW_OK);
    tw_follow_jump(&bench.follow, top - 7, isa);
    to_exception(&bench, stop);
    return bench;
}

/* [K10.5.5.6] Straight code may lead over the top of memory. */
static void what_ran_before_an_exception_around_the_top(void **state)
{
    static const struct {
        uint64_t top;
        uint8_t isa;
        uint32_t nop, branch;
    } cases[] = { { UINT64_MAX, TW_ISA_A64, 0xd503201f, 0x14000000 },
                  { UINT32_MAX, TW_ISA_A32, 0xe1a00000, 0xeafffffe } };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const uint64_t top = cases[i].top;
        struct bench bench = around_the_top(cases[i].nop, top, cases[i].isa, 4);

        CHECK_CASE(i ? "A32" : "A64");
        CHECK_EQ(bench.count, 2);
        check_range(&bench, 0, top - 7, top == UINT64_MAX ? 0 : top + 1, TAKEN);
        check_range(&bench, 1, 0, 4, TAKEN);
        CHECK_EQ(tw_follow_address(&bench.follow), 4);
        tear_down(&bench);
        /* A branch leads elsewhere; code ends; too far away: nothing ran. */
        bench = around_the_top(cases[i].branch, top, cases[i].isa, 4);
        CHECK_EQ(bench.count, 0);
        tear_down(&bench);
        bench = around_the_top(cases[i].nop, top, cases[i].isa, 16);
        CHECK_EQ(bench.count, 0);
        tear_down(&bench);
        bench = around_the_top(cases[i].nop, top, cases[i].isa, 0x8000);
        CHECK_EQ(bench.count, 0);
        tear_down(&bench);
    }
}

/* Walks to a source address with little room, in as many calls as it takes. */
static void to_source(struct bench *bench, uint64_t stop, bool split)
{
    struct tw_element *out = bench->elements;
    bool done = false;

    for (unsigned calls = 0; !done && calls < 100; calls++) {
        struct tw_element *end = out + TW_FOLLOW_MOST + calls % 2;

        out = tw_follow_to_source(&bench->follow, out, end, stop, split, 7, &done);
        CHECK(out <= end);
    }
    CHECK(done);
    bench->count = (size_t)(out - bench->elements);
}

static void a_source_address_is_reached_and_taken(void **state)
{
    struct bench bench = set_up_program((struct tw_code_config){ .links_are_special = true });

    (void)state;
    tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64);
    to_source(&bench, 0x1008, false);
    CHECK_EQ(bench.count, 1);
    check_range(&bench, 0, 0x1000, 0x100c, TAKEN);
    CHECK_EQ(tw_follow_address(&bench.follow), 0x1018);
    CHECK_EQ(bench.follow.return_count, 1); /* it was a call */
    tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64);
    to_source(&bench, 0x101c, true); /* over a call that is always made */
    CHECK_EQ(bench.count, 1);
    check_range(&bench, 0, 0x1000, 0x1008, COND);
    CHECK_EQ(bench.follow.error, TW_ERROR_IMAGE_MISMATCH);
    bench.follow.error = TW_ERROR_NONE;
    tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64);
    to_source(&bench, 0x1008, true);
    CHECK_EQ(bench.count, 1);
    check_range(&bench, 0, 0x1000, 0x100c, TAKEN);
    tw_follow_jump(&bench.follow, 0x1018, TW_ISA_A64);
    to_source(&bench, 0x101c, true);
    check_range(&bench, 0, 0x1018, 0x1020, TAKEN);
    CHECK(tw_follow_is_placed(&bench.follow)); /* by the return stack */
    CHECK_EQ(tw_follow_address(&bench.follow), 0x100c);
    to_source(&bench, 0x1010, false);
    check_range(&bench, 0, 0x100c, 0x1014, TAKEN);
    to_source(&bench, 0x1004, true);
    check_range(&bench, 0, 0x1000, 0x1008, TAKEN | COND);
    CHECK_EQ(tw_follow_address(&bench.follow), 0x1010);
    to_source(&bench, 0x1004, true); /* it lies behind: no way leads there [K10.5.5.7] */
    CHECK_EQ(bench.count, 0);
    CHECK_EQ(bench.follow.error, TW_ERROR_IMAGE_MISMATCH);
    CHECK_EQ(bench.follow.error_detail, 0x1004);
    tear_down(&bench);
}

/* A packet of one byte may name an address behind any number of branches that were not taken. */
static void walks_pass_no_more_than_4096_branches(void **state)
{
    enum { BRANCHES = 5000 };
    static uint32_t code[BRANCHES];
    static const struct {
        uint32_t branches;
        bool is_reached;
    } cases[] = { { 4000, true }, { 4070, true }, { 4100, false }, { 4999, false } };
    static struct tw_element elements[BRANCHES + 64];

    (void)state;
    for (size_t i = 0; i < LENGTH(code); i++)
        code[i] = 0x54000020; /* b.eq, to the next */
    for (size_t i = 0; i < LENGTH(cases); i++)
        for (int split = 0; split < 3; split++) { /* 2: to an exception */
            struct bench bench =
                set_up_words(code, sizeof code, (struct tw_code_config){ .range_limit = 0 });
            const uint64_t stop = 0x1000 + 4 * (uint64_t)cases[i].branches;
            bool done;

            check_case("%u branches, %d", cases[i].branches, split);
            tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64);
            if (split == 2)
                (void)tw_follow_to_exception(&bench.follow, elements, stop, 0);
            else
                (void)tw_follow_to_source(&bench.follow, elements, elements + LENGTH(elements),
                                          stop, split, 0, &done);
            CHECK_EQ(bench.follow.error,
                     cases[i].is_reached ? TW_ERROR_NONE : TW_ERROR_RANGE_LIMIT);
            tear_down(&bench);
        }
}

static void walks_end_at_the_range_limit(void **state)
{
    static uint32_t branches[1000];
    struct tw_way way;
    struct bench bench;
    bool done = false;

    (void)state;
    for (size_t i = 0; i < LENGTH(branches); i++)
        branches[i] = i % 2 ? 0x54000000 : 0xd503201f; /* nop; b.eq . */
    bench =
        set_up_words(branches, sizeof branches, (struct tw_code_config){ .range_limit = 50 });
    for (unsigned split = 0; split < 2; split++) {
        size_t ranges = 0;

        tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64);
        for (done = false; !done;) {
            struct tw_element *out = tw_follow_to_source(
                &bench.follow, bench.elements, bench.elements + ROOM, 0x1800, split, 7, &done);

            ranges += (size_t)(out - bench.elements);
        }
        CHECK_EQ(bench.follow.error, TW_ERROR_RANGE_LIMIT);
        CHECK_EQ(ranges, split ? 25 : 0);
        bench.follow.error = TW_ERROR_NONE;
        tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64);
        to_source(&bench, 0x1000 + 4 * 49, false); /* 50 instructions are fine, again */
        CHECK_EQ(bench.follow.error, TW_ERROR_NONE);
        CHECK_EQ(bench.elements[0].count, 50);
    }
    tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64);
    to_exception(&bench, 0x1f00);
    CHECK_EQ(bench.follow.error, TW_ERROR_RANGE_LIMIT);
    CHECK_EQ(bench.count, 0);
    bench.follow.error = TW_ERROR_NONE;
    tear_down(&bench);

    for (size_t i = 0; i < LENGTH(branches); i++)
        branches[i] = 0xd503201f;
    bench =
        set_up(branches, sizeof branches, 0x1000, (struct tw_code_config){ .range_limit = 50 });
    tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64);
    CHECK_EQ(tw_follow_find_way(&bench.follow, &way, 50, 0x1000 + 4 * 50), TW_WAYS_ONE);
    CHECK(tw_follow_way(&bench.follow, bench.elements, &way, 9) == bench.elements + 1);
    CHECK_EQ(bench.elements[0].count, 50);
    CHECK_EQ(tw_follow_find_way(&bench.follow, &way, UINT32_MAX, 0x1000), TW_WAYS_MANY);
    atoms(&bench, "E");
    CHECK_EQ(bench.count, 0);
    CHECK_EQ(bench.follow.error, TW_ERROR_RANGE_LIMIT);
    CHECK_EQ(bench.follow.error_detail, 0x1000 + 4 * 50);
    tear_down(&bench);
}

static void checks_find_contradictions(void **state)
{
    const struct tw_code_config config = { .check_atoms = true, .check_opcodes = true };
    struct bench bench = set_up_program(config);

    (void)state;
    bench.follow.check_continuity = true;
    tw_follow_jump(&bench.follow, 0x1010, TW_ISA_A64);
    atoms(&bench, "E");
    tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64); /* where the branch leads to */
    CHECK_EQ(bench.follow.error, TW_ERROR_NONE);
    atoms(&bench, "N");
    tw_follow_jump(&bench.follow, 0x1010, TW_ISA_A64);
    CHECK_EQ(bench.follow.error, TW_ERROR_NOT_CONTINUOUS);
    CHECK_EQ(bench.follow.error_detail, 0x1010);
    bench.follow.error = TW_ERROR_NONE;
    tw_follow_jump(&bench.follow, 0x1010, TW_ISA_A64);
    atoms(&bench, "NE");
    CHECK_EQ(bench.follow.error, TW_ERROR_BAD_ATOM);
    CHECK_EQ(bench.follow.error_detail, 0x1014);
    CHECK_EQ(bench.count, 1);
    tear_down(&bench);
}

/* itt eq; isb; bx lr; bx lr: the block goes on behind a waypoint. */
static void it_blocks_go_on_behind_a_waypoint(void **state)
{
    static const uint8_t code[] = { 0x04, 0xbf, 0xbf, 0xf3, 0x6f, 0x8f,
                                    0x70, 0x47, 0x70, 0x47, 0x00, 0xbf };
    struct bench bench =
        set_up(code, sizeof code, 0x8000, (struct tw_code_config){ .range_limit = 0 });

    (void)state;
    for (unsigned round = 0; round < 2; round++) { /* the second time from the cache */
        tw_follow_jump(&bench.follow, 0x8000, TW_ISA_T32);
        atoms(&bench, round ? "ENE" : "NNE");
        CHECK_EQ(bench.count, 3);
        check_range(&bench, 0, 0x8000, 0x8006, COND | (round ? TAKEN : 0));
        check_range(&bench, 1, 0x8006, 0x8008, COND);
        check_range(&bench, 2, 0x8008, 0x800a, TAKEN);
        tw_follow_jump(&bench.follow, 0x8006, TW_ISA_T32); /* not out of the IT block */
        atoms(&bench, "E");
        check_range(&bench, 0, 0x8006, 0x8008, TAKEN);
    }
    tw_follow_jump(&bench.follow, 0x8000, TW_ISA_T32);
    to_exception(&bench, 0x8006); /* and a walk carries it along */
    atoms(&bench, "E");
    check_range(&bench, 0, 0x8006, 0x8008, TAKEN | COND);
    tw_follow_jump(&bench.follow, 0x8000, TW_ISA_T32);
    to_exception(&bench, 0x8004); /* inside the isb */
    check_range(&bench, 0, 0x8000, 0x8006, COND);
    tear_down(&bench);
}

static void the_place_outlives_a_changed_image(void **state)
{
    static const uint8_t branch[] = { 0x00, 0x00, 0x00, 0x14 };
    const struct tw_region region = { .size = sizeof region, .address = 0x1024, .length = 4 };
    struct bench bench = set_up_program((struct tw_code_config){ .range_limit = 0 });

    (void)state;
    tw_follow_enter(&bench.follow);
    tw_follow_jump(&bench.follow, 0x1000, TW_ISA_A64);
    atoms(&bench, "E");
    tw_follow_leave(&bench.follow);
    CHECK_EQ(tw_image_add(bench.image, &region, branch), TW_OK);
    tw_follow_enter(&bench.follow);
    CHECK_EQ(tw_follow_address(&bench.follow), 0x1010);
    CHECK_EQ(tw_follow_isa(&bench.follow), TW_ISA_A64);
    atoms(&bench, "E");
    check_range(&bench, 0, 0x1010, 0x1014, TAKEN);
    tw_follow_view(&bench.follow, TW_SPACE_EL3, 0);
    CHECK_EQ(tw_follow_address(&bench.follow), 0x1000);
    tw_follow_jump(&bench.follow, 0x1020, TW_ISA_A64);
    atoms(&bench, "E");
    check_range(&bench, 0, 0x1020, 0x1028, TAKEN); /* what was added is seen */
    tw_follow_leave(&bench.follow);
    tw_image_remove(bench.image, 0x1024, 0);
    tw_follow_enter(&bench.follow);
    tw_follow_flip(&bench.follow); /* the block it was decided in is no more */
    CHECK(!tw_follow_is_placed(&bench.follow));
    tear_down(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atoms_give_a_range_each),
        cmocka_unit_test(missing_code_is_told_once),
        cmocka_unit_test(the_return_stack_keeps_the_newest),
        cmocka_unit_test(an_address_takes_the_place_of_a_return),
        cmocka_unit_test(decisions_can_be_taken_back),
        cmocka_unit_test(what_ran_before_an_exception),
        cmocka_unit_test(what_ran_before_an_exception_around_the_top),
        cmocka_unit_test(a_source_address_is_reached_and_taken),
        cmocka_unit_test(walks_end_at_the_range_limit),
        cmocka_unit_test(walks_pass_no_more_than_4096_branches),
        cmocka_unit_test(checks_find_contradictions),
        cmocka_unit_test(it_blocks_go_on_behind_a_waypoint),
        cmocka_unit_test(the_place_outlives_a_changed_image),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
