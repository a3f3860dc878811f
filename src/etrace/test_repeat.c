/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: packets that claim very many branches (3.2.6, 6.8): the path that repeats is said once. */
#include "check.h"

#include "etrace/test_path.h"

enum { BLOCKS = 24, MOST_PCS = 400000, STACK = 8, TABLE = 8 };

/* A program of small blocks: what each ends with, and where that leads. */
struct blocks {
    struct program program;
    uint64_t start[BLOCKS + 1];
    enum { BRANCH, JUMP, CALL, RETURN, ON } kind[BLOCKS];
    unsigned to[BLOCKS];
};

static void make_blocks(struct blocks *blocks, struct check_random *random)
{
    uint64_t next = 0x1000;

    memset(blocks, 0, sizeof *blocks);
    for (unsigned i = 0; i < BLOCKS; i++) {
        static const uint8_t kinds[] = { BRANCH, BRANCH, BRANCH, JUMP, CALL, RETURN, ON };

        blocks->start[i] = next;
        blocks->kind[i] = i + 1 == BLOCKS ? JUMP : kinds[check_random_below(random, 7)];
        blocks->to[i] = (unsigned)check_random_below(random, BLOCKS);
        next += 8;
    }
    blocks->start[BLOCKS] = next;
    at(&blocks->program, 0x1000);
    for (unsigned i = 0; i < BLOCKS; i++) {
        const int32_t offset = (int32_t)(blocks->start[blocks->to[i]] - (blocks->start[i] + 4));

        put(&blocks->program, NOP4);
        put(&blocks->program, blocks->kind[i] == BRANCH   ? beq(offset)
                              : blocks->kind[i] == JUMP   ? jal(0, offset)
                              : blocks->kind[i] == CALL   ? jal(1, offset)
                              : blocks->kind[i] == RETURN ? jalr(0, 1, 0)
                                                          : (uint32_t)NOP4);
    }
}

/* The path by the document's words, branch after branch. */
struct path {
    uint64_t pcs[MOST_PCS];
    size_t count;
};

/* Goes on as predicted for `branches` branches, and to the next one.  Returns how many there were
   before the path led nowhere. */
static uint64_t follow(struct path *path, const struct blocks *blocks, uint64_t branches)
{
    uint8_t table[TABLE];
    unsigned stack[STACK], depth = 0, at_block = 0, hops = 0;
    uint64_t done = 0;

    memset(table, 1, sizeof table);
    path->count = 0;
    for (;;) {
        const uint64_t branch = blocks->start[at_block] + 4;
        uint8_t *entry = &table[branch >> 1 & (TABLE - 1)];

        if (path->count + 2 > MOST_PCS || ++hops > 1000)
            return done;
        path->pcs[path->count++] = blocks->start[at_block];
        path->pcs[path->count++] = branch;
        switch (blocks->kind[at_block]) {
        case BRANCH:
            if (done == branches)
                return done;
            done++;
            hops = 0;
            at_block = *entry & 2 ? blocks->to[at_block] : at_block + 1;
            *entry = *entry & 2 ? 3 : 0; /* the prediction was right */
            break;
        case CALL:
            if (depth == STACK) {
                memmove(stack, stack + 1, sizeof stack - sizeof stack[0]);
                depth--;
            }
            stack[depth++] = at_block + 1;
            at_block = blocks->to[at_block];
            break;
        case RETURN:
            if (depth == 0)
                return done;
            at_block = stack[--depth];
            break;
        default:
            at_block = blocks->kind[at_block] == ON ? at_block + 1 : blocks->to[at_block];
        }
    }
}

#define CONFIG                                                                                 \
    BASE "return_stack_size_p=3\nbpred_size_p=3\nbranch_prediction=1\nimplicit_return=1\n"

static void send_branches(struct trace *trace, uint64_t branches)
{
    support(trace, TW_ETRACE_NO_CHANGE, 0x11);
    sync_at(trace, 0x1000, 1);
    send(trace,
         (struct tw_etrace_packet){ TYPE(F0S0), .branch_count = (uint32_t)(branches - 31) });
    support(trace, TW_ETRACE_ENDED_REP, 0x11);
}

/* What came out. */
struct result {
    uint64_t pcs[MOST_PCS];
    size_t count;
    uint64_t elements, errors, repeats, digest, instructions;
};

static void take_range(struct result *result, const struct tw_element *range)
{
    for (uint32_t i = 0; i < range->count; i++) {
        if (result->count < MOST_PCS)
            result->pcs[result->count] = range->start + 4u * i;
        result->count++;
    }
}

static void take(struct result *result, const struct tw_batch *batch, bool expands)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];
        uint64_t words[sizeof *element / 8];

        memcpy(words, element, sizeof words);
        for (size_t k = 0; k < LENGTH(words); k++)
            result->digest = (result->digest ^ words[k] ^ words[k] >> 29) * 1099511628211u;
        result->elements++;
        result->errors += element->type == TW_ELEMENT_ERROR;
        if (element->type == TW_ELEMENT_INSTR_RANGE && expands)
            take_range(result, element);
        if (element->type != TW_ELEMENT_REPEAT)
            continue;
        result->repeats++;
        CHECK(element->count >= 1 && element->count <= TW_REPEAT_MAX && element->count <= i);
        CHECK(element->times >= 1);
        for (uint64_t n = 0; expands && n < element->times; n++)
            for (uint32_t k = 0; k < element->count; k++) {
                CHECK_EQ(element[-(int)element->count + (int)k].type, TW_ELEMENT_INSTR_RANGE);
                CHECK_EQ(element[-(int)element->count + (int)k].index, element->index);
                take_range(result, &element[-(int)element->count + (int)k]);
            }
    }
}

static void run(struct result *result, const struct program *program, const struct trace *trace,
                size_t piece, bool expands)
{
    const struct tw_region region = { .size = sizeof region,
                                      .address = program->base,
                                      .length = sizeof program->bytes };
    const struct tw_tree_config config = { .size = sizeof config, .counts_elements = true };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = "etrace",
                                     .text = trace->config };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;

    result->count = 0;
    result->elements = result->errors = result->repeats = result->digest = 0;
    CHECK_EQ(tw_image_new(&source.image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(source.image, &region, program->bytes), TW_OK);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    for (size_t from = 0; from < trace->size; from += piece) {
        const size_t left = trace->size - from;

        CHECK_EQ(tw_tree_feed(tree, trace->bytes + from, left < piece ? left : piece), TW_OK);
        while (tw_tree_next(tree, &batch) == TW_OK)
            take(result, &batch, expands);
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        take(result, &batch, expands);
    result->instructions = tw_tree_source_stats(tree, 0)->instructions;
    tw_tree_free(tree);
    tw_image_free(source.image);
}

/* Random programs: what is repeated, expanded, is the path. */
/* [RVT 3.2.6/1] [RVT 3.2.6/2] [RVT 3.2.6/4] [RVT 11/13] */
static void repeats_are_the_path(void **state)
{
    struct check_random random = check_random_start(326);
    struct blocks *blocks = calloc(1, sizeof *blocks);
    struct path *path = calloc(1, sizeof *path);
    struct result *result = calloc(1, sizeof *result);
    const size_t programs = check_scale(3000);
    size_t tried = 0, repeated = 0;

    (void)state;
    CHECK(blocks && path && result);
    for (size_t i = 0; i < programs; i++) {
        const uint64_t wanted = 4000 + check_random_below(&random, 8000);
        uint64_t branches, digest;
        struct trace trace;

        check_case("program %zu", i);
        make_blocks(blocks, &random);
        branches = follow(path, blocks, wanted);
        if (branches < 40)
            continue; /* it leads nowhere, or to a return that nothing is known of */
        if (branches != wanted)
            branches = follow(path, blocks, branches - 1);
        if (path->count == MOST_PCS)
            continue;
        tried++;
        trace = trace_of(CONFIG);
        send_branches(&trace, branches);
        run(result, &blocks->program, &trace, trace.size, true);
        CHECK_EQ(result->errors, 0);
        CHECK_EQ(result->count, path->count);
        CHECK(!memcmp(result->pcs, path->pcs, path->count * sizeof path->pcs[0]));
        CHECK_EQ(result->instructions, path->count);
        repeated += result->repeats;
        digest = result->digest;
        run(result, &blocks->program, &trace, 1, true);
        CHECK_EQ(result->digest, digest);
        tw_etrace_reader_free(trace.codec);
    }
    print_message("%zu programs, %zu with repeats\n", tried, repeated);
    CHECK(repeated > tried / 4);
    free(result);
    free(path);
    free(blocks);
}

/* The largest claim there is: what comes of it stays small. */
/* [RVT 6.8/4] */
static void the_largest_count(void **state)
{
    struct program program = { .base = 0 };
    struct result *result = calloc(1, sizeof *result);
    struct trace trace = trace_of(CONFIG);

    (void)state;
    CHECK(result != NULL);
    at(&program, 0x1000);
    put(&program, NOP4);
    put(&program, beq(8)); /* never taken */
    put(&program, jal(0, -8));
    support(&trace, TW_ETRACE_NO_CHANGE, 0x11);
    sync_at(&trace, 0x1000, 1);
    for (unsigned i = 0; i < 10; i++) /* fmt 2: all were right */
        send_to(&trace, 0x1004,
                (struct tw_etrace_packet){ TYPE(F0S0), .branch_count = UINT32_MAX,
                                           .branch_fmt = 2, .notify = true });
    run(result, &program, &trace, trace.size, false);
    CHECK_EQ(result->errors, 0);
    CHECK(result->elements < 200);
    CHECK_EQ(result->instructions, 10 * 3 * (UINT64_C(0x100000000) + 30) - 1);
    tw_etrace_reader_free(trace.codec);
    free(result);
}

/* A path that repeats itself only after more elements than a REPEAT may have: bounded, and said. */
static void what_does_not_repeat_is_bounded(void **state)
{
    struct program program = { .base = 0 };
    struct result *result = calloc(1, sizeof *result);
    struct trace trace = trace_of(CONFIG);

    (void)state;
    CHECK(result != NULL);
    at(&program, 0x1000);
    for (unsigned i = 0; i < 1200; i++)
        put(&program, beq(8));
    put(&program, jal(0, -4800));
    support(&trace, TW_ETRACE_NO_CHANGE, 0x11);
    sync_at(&trace, 0x1000, 1);
    send(&trace, (struct tw_etrace_packet){ TYPE(F0S0), .branch_count = UINT32_MAX });
    run(result, &program, &trace, trace.size, false);
    CHECK_EQ(result->errors, 1);
    CHECK(result->elements > 60000 && result->elements < 70000);
    tw_etrace_reader_free(trace.codec);
    free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(repeats_are_the_path),
                                        cmocka_unit_test(the_largest_count),
                                        cmocka_unit_test(what_does_not_repeat_is_bounded) };

    return cmocka_run_group_tests_name("repeats", tests, NULL, NULL);
}
