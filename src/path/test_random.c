/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the follower: random programs, run by an interpreter that knows nothing of opcodes; its
   decisions go to the follower, which must find the same path. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "path/follow.h"

enum { WORDS = 400, STEPS = 3000, STACK = 16, GROUP = 24 };

static const uint64_t base = 0x40000000;

enum kind {
    PLAIN,
    JUMP,
    BRANCH,
    CALL,
    ISB,
    INDIRECT,
    INDIRECT_CALL,
    RETURN,
    EXCEPTION_RETURN,
    KINDS
};

/* What each word of the program means, and the words. */
struct program {
    enum kind kinds[WORDS];
    size_t targets[WORDS];
    uint8_t bytes[4 * WORDS];
};

/* What the interpreter has to say. */
struct run {
    uint64_t executed[STEPS];
    bool is_taken[STEPS]; /* of waypoints */
    size_t count;
};

static void put_word(struct program *program, size_t at, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        program->bytes[4 * at + i] = (uint8_t)(word >> (8 * i));
}

static void make_program(struct program *program, struct check_random *random)
{
    for (size_t i = 0; i < WORDS; i++) {
        enum kind kind = (enum kind)check_random_below(random, 3 * KINDS);
        const size_t target = (size_t)check_random_below(random, WORDS);
        const uint32_t distance = (uint32_t)(target - i);
        uint32_t word = 0xd503201f;

        if (kind >= KINDS || i == WORDS - 1)
            kind = i == WORDS - 1 ? JUMP : PLAIN; /* the end is never passed */
        switch (kind) {
        case JUMP:
            word = 0x14000000 | (distance & 0x3ffffff);
            break;
        case BRANCH: /* b.ne, cbnz, tbz */
            word = i % 3 == 0   ? 0x54000001 | (distance & 0x7ffff) << 5
                   : i % 3 == 1 ? 0xb5000003 | (distance & 0x7ffff) << 5
                                : 0x36280004 | (distance & 0x3fff) << 5;
            break;
        case CALL:
            word = 0x94000000 | (distance & 0x3ffffff);
            break;
        case ISB:
            word = 0xd5033fdf;
            break;
        case INDIRECT:
            word = 0xd61f0060;
            break;
        case INDIRECT_CALL:
            word = 0xd63f0060;
            break;
        case RETURN:
            word = 0xd65f03c0;
            break;
        case EXCEPTION_RETURN:
            word = 0xd69f03e0;
            break;
        default:
            break;
        }
        program->kinds[i] = kind;
        program->targets[i] = target;
        put_word(program, i, word);
    }
}

/* The unit's return stack. */
struct stack {
    uint64_t entries[STACK];
    size_t count, depth;
};

static void push(struct stack *stack, uint64_t address)
{
    if (stack->count == stack->depth)
        memmove(stack->entries, stack->entries + 1, --stack->count * sizeof *stack->entries);
    stack->entries[stack->count++] = address;
}

static bool pop_if(struct stack *stack, uint64_t address)
{
    if (!stack->count || stack->entries[stack->count - 1] != address)
        return false;
    stack->count--;
    return true;
}

/* The follower's side: atoms that wait, and what came out so far. */
struct feed {
    struct tw_follow follow;
    uint32_t bits;
    unsigned waiting, most;
    struct tw_element elements[GROUP * TW_FOLLOW_MOST];
    struct run got;
    size_t exception_returns;
};

static void flush(struct feed *feed)
{
    struct tw_element *end;

    if (!feed->waiting)
        return;
    end = tw_follow_atoms(&feed->follow, feed->elements, feed->bits, feed->waiting, 1);
    feed->bits = feed->waiting = 0;
    CHECK_EQ(feed->follow.error, TW_ERROR_NONE);
    for (const struct tw_element *element = feed->elements; element < end; element++) {
        if (element->type == TW_ELEMENT_EXCEPTION_RET) {
            feed->exception_returns++;
            continue;
        }
        CHECK_EQ(element->type, TW_ELEMENT_INSTR_RANGE);
        CHECK_EQ(element->length, 4 * element->count);
        CHECK(element->count > 0);
        for (uint32_t i = 0; i < element->count; i++) {
            CHECK(feed->got.count < STEPS);
            feed->got.executed[feed->got.count] = element->start + 4 * i;
            feed->got.is_taken[feed->got.count++] =
                i + 1 == element->count && (element->flags & TW_RANGE_EXECUTED);
        }
    }
}

static void add_atom(struct feed *feed, bool is_taken)
{
    feed->bits |= (uint32_t)is_taken << feed->waiting++;
    if (feed->waiting == feed->most)
        flush(feed);
}

static size_t word_of(uint64_t address)
{
    return (size_t)(address - base) / 4;
}

/* Runs the program, tells the follower what a trace unit would, notes what was run.  Returns how
   many exception returns there were. */
static size_t run(const struct program *program, struct feed *feed, struct run *log,
                  struct stack *stack, struct check_random *random)
{
    uint64_t pc = base + 4 * check_random_below(random, WORDS);
    uint64_t calls[64] = { 0 };
    size_t depth = 0, exception_returns = 0;
    const bool has_stack = feed->follow.has_return_stack;

    tw_follow_jump(&feed->follow, pc, TW_ISA_A64);
    while (log->count < STEPS) {
        const size_t at = word_of(pc);
        const enum kind kind = program->kinds[at];
        const bool is_indirect = kind >= INDIRECT;
        const bool taken = kind != BRANCH || check_random_below(random, 2);
        uint64_t next = pc + 4;

        log->executed[log->count] = pc;
        log->is_taken[log->count++] = kind != PLAIN && taken;
        if (kind == PLAIN) {
            pc = next;
            continue;
        }
        if (kind == JUMP || kind == CALL || (kind == BRANCH && taken))
            next = base + 4 * program->targets[at];
        else if (kind == RETURN && depth && check_random_below(random, 4))
            next = calls[--depth % LENGTH(calls)];
        else if (is_indirect)
            next = base + 4 * check_random_below(random, WORDS);
        if (kind == CALL || kind == INDIRECT_CALL) {
            calls[depth++ % LENGTH(calls)] = pc + 4;
            if (has_stack)
                push(stack, pc + 4);
        }
        exception_returns += kind == EXCEPTION_RETURN;
        add_atom(feed, taken);
        if (is_indirect && !(has_stack && pop_if(stack, next))) {
            flush(feed);
            tw_follow_jump(&feed->follow, next, TW_ISA_A64);
        }
        pc = next;
    }
    flush(feed);
    return exception_returns;
}

static void random_programs_are_followed(void **state)
{
    struct check_random random = check_random_start(0x666f6c6c6f77);
    const size_t rounds = check_scale(2000);
    struct program *program = malloc(sizeof *program);
    struct feed *feed = malloc(sizeof *feed);
    struct run *log = malloc(sizeof *log);

    (void)state;
    assert_true(program && feed && log);
    for (size_t round = 0; round < rounds; round++) {
        struct stack stack = { .depth = 1 + (size_t)check_random_below(&random, STACK) };
        struct tw_region region = { .size = sizeof region, .address = base };
        struct tw_code_config config = { .links_are_special = round % 2 };
        struct tw_image *image;
        struct tw_code *code;
        size_t exception_returns;

        config.exception_returns_are_special = round % 3 == 0;
        config.check_atoms = round % 5 == 0;
        check_case("round %zu, stack of %zu", round, stack.depth);
        make_program(program, &random);
        region.length = sizeof program->bytes;
        CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
        CHECK_EQ(tw_image_add(image, &region, program->bytes), TW_OK);
        CHECK_EQ(tw_code_new(&code, image, &config), TW_OK);
        memset(feed, 0, sizeof *feed);
        tw_follow_init(&feed->follow, code);
        feed->follow.has_return_stack = config.links_are_special;
        feed->most = 1 + (unsigned)check_random_below(&random, GROUP);
        log->count = 0;
        exception_returns = run(program, feed, log, &stack, &random);
        /* What ran after the last waypoint is not known. */
        while (log->count && program->kinds[word_of(log->executed[log->count - 1])] == PLAIN)
            log->count--;
        CHECK(log->count > STEPS - WORDS);
        CHECK_EQ(feed->got.count, log->count);
        for (size_t i = 0; i < log->count; i++) {
            CHECK_EQ(feed->got.executed[i], log->executed[i]);
            CHECK_EQ(feed->got.is_taken[i], log->is_taken[i]);
        }
        CHECK_EQ(feed->exception_returns,
                 config.exception_returns_are_special ? exception_returns : 0);
        tw_code_free(code);
        tw_image_free(image);
    }
    free(program);
    free(feed);
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_are_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
