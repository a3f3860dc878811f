/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the push data path: what it gives is what pull gives, wherever a consumer waits. */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "all_runs.h"
#include "failing.h"

/* A consumer at all three heights that waits at random. */
struct consumer {
    struct digest digest;
    struct check_random *random; /* NULL: never waits */
    unsigned one_in;             /* how often it waits */
    uint64_t raw_hash, next_raw;
    unsigned ends[2], resets[2], flushes[2]; /* operations at the raw and packet heights */
    bool has_raw;
    uint64_t waits;
};

static enum tw_response consent(struct consumer *consumer)
{
    if (!consumer->random || check_random_below(consumer->random, consumer->one_in))
        return TW_RESPONSE_CONT;
    consumer->waits++;
    return TW_RESPONSE_WAIT;
}

static enum tw_response other_operation(struct consumer *consumer, unsigned height,
                                        enum tw_operation operation)
{
    consumer->ends[height] += operation == TW_OP_EOT;
    consumer->resets[height] += operation == TW_OP_RESET;
    consumer->flushes[height] += operation == TW_OP_FLUSH;
    return consent(consumer);
}

static enum tw_response see_raw(void *context, enum tw_operation operation,
                                const struct tw_raw *raw)
{
    struct consumer *consumer = context;

    if (operation != TW_OP_DATA) {
        CHECK(!raw);
        return other_operation(consumer, 0, operation);
    }
    CHECK_EQ(consumer->ends[0], 0);
    if (raw->event) {
        CHECK_EQ(raw->size, 0);
        return consent(consumer);
    }
    /* Byte by byte: how a run is cut may differ. */
    for (size_t i = 0; i < raw->size; i++) {
        const uint64_t item[2] = { raw->index + i, raw->offset + i };

        consumer->raw_hash = digest_mix(
            consumer->raw_hash ^ raw->id ^ (uint64_t)raw->bytes[i] << 8, item, sizeof item);
    }
    consumer->digest.raw_bytes += raw->size;
    return consent(consumer);
}

static enum tw_response see_packet(void *context, enum tw_operation operation,
                                   const struct tw_packet_view *packet)
{
    struct consumer *consumer = context;

    if (operation != TW_OP_DATA) {
        CHECK(!packet);
        return other_operation(consumer, 1, operation);
    }
    CHECK_EQ(consumer->ends[1], 0);
    digest_packet(&consumer->digest, packet);
    return consent(consumer);
}

static enum tw_response see_element(void *context, const struct tw_batch *batch,
                                    const struct tw_element *element)
{
    struct consumer *consumer = context;

    digest_element(&consumer->digest, batch->id, element);
    return consent(consumer);
}

static struct tw_push *make_push(struct tw_tree *tree, struct consumer *consumer, size_t piece,
                                 const struct tw_tree_config *tree_config)
{
    struct tw_push_config config = { .size = sizeof config, .piece = piece };
    struct tw_fault fault;
    struct tw_push *push;

    config.raw_context = config.packet_context = config.element_context = consumer;
    config.raw = see_raw;
    if (tree_config->packets_only || tree_config->with_packets)
        config.packet = see_packet;
    if (!tree_config->packets_only)
        config.element = see_element;
    CHECK_EQ(tw_push_new(&push, tree, &config, &fault), TW_OK);
    return push;
}

/* Flushes until the answer is of the group CONT. */
static void settle(struct tw_push *push, enum tw_response response)
{
    size_t used = 1;

    while (tw_response_is_wait(response)) {
        /* Whoever gives data in between loses nothing. */
        response = tw_push_operation(push, &used, TW_OP_DATA, 12345, NULL, 0);
        CHECK(tw_response_is_wait(response) && used == 0);
        response = tw_push_operation(push, NULL, TW_OP_FLUSH, 0, NULL, 0);
    }
    CHECK(tw_response_is_cont(response));
}

static void push_all(struct tw_push *push, const struct tw_capture *capture, size_t buffer,
                     struct check_random *random)
{
    const uint64_t base = tw_capture_buffer(capture, buffer)->offset;
    enum tw_response response;
    const uint8_t *bytes;
    uint64_t at = 0;
    size_t size;

    while (tw_capture_read(capture, &bytes, &size, buffer, at) == TW_OK) {
        size_t used = 0;

        if (random) {
            const uint64_t most = check_random_below(random, 20) ? 3000 : 200000;
            const size_t piece = (size_t)check_random_below(random, most) + 1;

            size = size < piece ? size : piece;
        }
        response = tw_push_operation(push, &used, TW_OP_DATA, base + at, bytes, size);
        CHECK(used == size || tw_response_is_wait(response));
        CHECK(used <= size);
        at += used;
        settle(push, response);
        if (random && check_random_below(random, 8) == 0)
            CHECK(tw_response_is_cont(tw_push_operation(push, NULL, TW_OP_FLUSH, 0, NULL, 0)));
    }
    settle(push, tw_push_operation(push, NULL, TW_OP_EOT, 0, NULL, 0));
    CHECK_EQ(tw_push_operation(push, NULL, TW_OP_EOT, 0, NULL, 0), TW_RESPONSE_CONT);
}

static void clear(struct consumer *consumer)
{
    struct check_random *random = consumer->random;
    const unsigned one_in = consumer->one_in;

    *consumer = (struct consumer){ .random = random, .one_in = one_in };
}

static void check_result(const struct consumer *got, const struct digest *want,
                         const struct tw_tree_config *config)
{
    CHECK_EQ(got->digest.elements, want->elements);
    CHECK_EQ(got->digest.packets, want->packets);
    CHECK_EQ(got->digest.packet_hash, want->packet_hash);
    CHECK_EQ(got->digest.hash, want->hash);
    CHECK_EQ(got->ends[0], 1);
    CHECK_EQ(got->ends[1], config->packets_only || config->with_packets);
}

/* One buffer: pull, push in one piece, push in random pieces with random waits, again after a
   reset in the middle. */
static void check_buffer(const struct tw_capture *capture, size_t buffer,
                         struct check_random *random, struct tw_tree_config config,
                         struct digest *sum)
{
    struct digest want = { 0 };
    struct consumer consumer = { .one_in = 1 };
    struct run_tree tree;
    struct tw_push *push;
    uint64_t raw_hash, raw_bytes;

    CHECK_EQ(run_tree_new(&tree, capture, buffer, config), TW_OK);
    CHECK_EQ(run_pull(tree.tree, &want, capture, buffer, &config), TW_END);
    tw_tree_free(tree.tree);

    CHECK_EQ(run_tree_new(&tree, capture, buffer, config), TW_OK);
    push = make_push(tree.tree, &consumer, SIZE_MAX, &config);
    push_all(push, capture, buffer, NULL);
    check_result(&consumer, &want, &config);
    raw_hash = consumer.raw_hash;
    raw_bytes = consumer.digest.raw_bytes;
    tw_push_free(push);
    tw_tree_free(tree.tree);

    CHECK_EQ(run_tree_new(&tree, capture, buffer, config), TW_OK);
    consumer.random = random;
    consumer.one_in = 2 + (unsigned)check_random_below(random, 400);
    push =
        make_push(tree.tree, &consumer, 1 + (size_t)check_random_below(random, 5000), &config);
    for (unsigned round = 0; round < 2; round++) {
        clear(&consumer);
        push_all(push, capture, buffer, random);
        check_result(&consumer, &want, &config);
        CHECK_EQ(consumer.raw_hash, raw_hash);
        CHECK_EQ(consumer.digest.raw_bytes, raw_bytes);
        sum->raw_bytes += consumer.waits;
        /* Half of it again, then a reset even while it waits. */
        clear(&consumer);
        CHECK(tw_response_is_cont(tw_push_operation(push, NULL, TW_OP_RESET, 0, NULL, 0)));
        CHECK_EQ(consumer.resets[0], 1);
        if (round == 0) {
            const uint8_t *bytes;
            size_t size = 0, used;

            if (tw_capture_read(capture, &bytes, &size, buffer, 0) == TW_OK)
                CHECK(!tw_response_is_fatal(
                    tw_push_operation(push, &used, TW_OP_DATA, 77, bytes, size / 2)));
            CHECK(tw_response_is_cont(tw_push_operation(push, NULL, TW_OP_RESET, 0, NULL, 0)));
        }
    }
    tw_push_free(push);
    tw_tree_free(tree.tree);
    sum->elements += want.elements;
    sum->packets += want.packets;
}

/* [CSD 2.1.4/2] [CSD 2.1.4/4] [CSD 2.1.4/5] [CSD 3.1.2] [CSD 3.1.3] */
static void push_gives_what_pull_gives(void **state)
{
    static const struct tw_tree_config kinds[] = { { .with_packets = true },
                                                   { .packets_only = true },
                                                   { .counts_elements = true } };
    struct check_random random = check_random_start(0x70757368);
    struct runs runs = runs_find();
    struct digest sum = { 0 };
    const size_t step = runs.is_corpus ? runs.count / check_scale(runs.count) : 1;
    size_t done = 0, buffers = 0;

    (void)state;
    for (size_t i = check_random_below(&random, step); i < runs.count; i += step) {
        const struct run *run = &runs.runs[i];
        struct tw_capture *capture;
        struct tw_fault fault = { TW_OK, "" };
        const enum tw_status opened = run_open(&capture, run, NULL, &fault);

        check_case("%s: %s", run->path, fault.text);
        if (opened != TW_OK) /* a broken perf.data of the corpus */
            continue;
        done++;
        for (size_t buffer = 0; buffer < tw_capture_buffer_count(capture); buffer++)
            for (size_t kind = 0; kind < LENGTH(kinds); kind++) {
                check_case("%s, buffer %zu, kind %zu", run->path, buffer, kind);
                check_buffer(capture, buffer, &random, kinds[kind], &sum);
                buffers++;
            }
        tw_capture_free(capture);
    }
    print_message("%zu runs, %zu trees, %" PRIu64 " elements, %" PRIu64 " packets, %" PRIu64
                  " waits\n",
                  done, buffers, sum.elements, sum.packets, sum.raw_bytes);
    CHECK(done > 0 && sum.elements > 0);
    free(runs.runs);
}

/* An ITM stream: enough for the rules of the data path itself. */
static const uint8_t itm_bytes[] = { 0,    0,   0,    0,   0,    0x80, 0x01, 'a',
                                     0x01, 'b', 0x09, 'c', 0x70, 0x01, 'd',  0x15 };

static struct tw_tree *itm_tree(struct tw_tree_config config)
{
    const struct tw_tree_source source = { .size = sizeof source, .protocol = "itm", .id = 1 };
    struct tw_tree *tree;

    config.size = sizeof config;
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    return tree;
}

/* [CSD 2.1.4/2] [CSD 3.1.1] */
static void operations_follow_their_rules(void **state)
{
    const struct tw_tree_config config = { .with_packets = true };
    struct consumer consumer = { .one_in = 1 };
    struct tw_tree *tree = itm_tree(config);
    struct tw_push *push = make_push(tree, &consumer, 0, &config);
    size_t used = 9;

    (void)state;
    CHECK_EQ(tw_push_operation(push, NULL, TW_OP_FLUSH, 0, NULL, 0), TW_RESPONSE_CONT);
    CHECK_EQ(tw_push_operation(push, &used, TW_OP_DATA, 100, itm_bytes, 10), TW_RESPONSE_CONT);
    CHECK_EQ(used, 10);
    /* The next byte lies at 110. */
    CHECK_EQ(tw_push_operation(push, &used, TW_OP_DATA, 111, itm_bytes + 10, 6),
             TW_RESPONSE_FATAL_ARGUMENT);
    CHECK_EQ(used, 0);
    CHECK_EQ(tw_push_operation(push, &used, TW_OP_DATA, 110, itm_bytes + 10, 6),
             TW_RESPONSE_FATAL_ARGUMENT); /* it stays so ... */
    CHECK_EQ(tw_push_operation(push, NULL, TW_OP_RESET, 0, NULL, 0), TW_RESPONSE_CONT);
    clear(&consumer);
    CHECK_EQ(tw_push_operation(push, &used, TW_OP_DATA, 0, itm_bytes, sizeof itm_bytes),
             TW_RESPONSE_CONT); /* ... until a reset */
    CHECK_EQ(tw_push_operation(push, NULL, TW_OP_EOT, 0, NULL, 0), TW_RESPONSE_CONT_ERROR);
    CHECK_EQ(consumer.digest.packets, 7);
    CHECK_EQ(tw_push_operation(push, &used, TW_OP_DATA, sizeof itm_bytes, itm_bytes, 1),
             TW_RESPONSE_FATAL_OPERATION);
    CHECK_EQ(tw_push_operation(push, NULL, TW_OP_RESET, 0, NULL, 0), TW_RESPONSE_CONT);
    CHECK_EQ(tw_push_operation(push, NULL, (enum tw_operation)9, 0, NULL, 0),
             TW_RESPONSE_FATAL_ARGUMENT);
    CHECK_EQ(tw_push_operation(push, NULL, TW_OP_RESET, 0, NULL, 0), TW_RESPONSE_CONT);
    CHECK_EQ(tw_push_operation(push, NULL, TW_OP_DATA, 0, itm_bytes, 1),
             TW_RESPONSE_FATAL_ARGUMENT);
    tw_push_free(push);
    tw_push_free(NULL);
    tw_tree_free(tree);
}

#define RESPONSE(name)                                                                         \
    {                                                                                          \
        TW_RESPONSE_##name, "TW_RESPONSE_" #name                                               \
    }

static void responses_have_their_names(void **state)
{
    static const struct {
        enum tw_response response;
        const char *name;
    } rows[] = { RESPONSE(CONT),         RESPONSE(CONT_WARNING),    RESPONSE(CONT_ERROR),
                 RESPONSE(WAIT),         RESPONSE(WAIT_WARNING),    RESPONSE(WAIT_ERROR),
                 RESPONSE(FATAL_MEMORY), RESPONSE(FATAL_OPERATION), RESPONSE(FATAL_ARGUMENT),
                 RESPONSE(FATAL_DATA) };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        CHECK_TEXT(tw_response_name(rows[i].response), rows[i].name);
    CHECK_TEXT(tw_response_name((enum tw_response)99), "TW_RESPONSE_UNKNOWN");
}

/* Answers the same to every element. */
struct stubborn {
    struct tw_push *push;
    enum tw_response response, inner;
    unsigned count;
};

static enum tw_response refuse(void *context, const struct tw_batch *batch,
                               const struct tw_element *element)
{
    struct stubborn *stubborn = context;

    (void)batch;
    (void)element;
    stubborn->count++;
    stubborn->inner = tw_push_operation(stubborn->push, NULL, TW_OP_FLUSH, 0, NULL, 0);
    return stubborn->response;
}

/* [CSD 2.1.4/3] */
static void a_consumer_may_wait_each_time_or_give_up(void **state)
{
    static const struct {
        enum tw_response answer, want;
        unsigned count;
    } cases[] = {
        { TW_RESPONSE_CONT, TW_RESPONSE_CONT, 4 },
        { TW_RESPONSE_CONT_WARNING, TW_RESPONSE_CONT_WARNING, 4 },
        { TW_RESPONSE_CONT_ERROR, TW_RESPONSE_CONT_ERROR, 4 },
        { TW_RESPONSE_WAIT, TW_RESPONSE_WAIT, 1 },
        { TW_RESPONSE_WAIT_ERROR, TW_RESPONSE_WAIT_ERROR, 1 },
        { TW_RESPONSE_FATAL_DATA, TW_RESPONSE_FATAL_DATA, 1 },
        { (enum tw_response)77, TW_RESPONSE_FATAL_ARGUMENT, 1 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct stubborn stubborn = { .response = cases[i].answer };
        const struct tw_push_config config = { .size = sizeof config,
                                               .element = refuse,
                                               .element_context = &stubborn };
        struct tw_tree *tree = itm_tree((struct tw_tree_config){ 0 });
        size_t used;

        check_case("answer %d", (int)cases[i].answer);
        CHECK_EQ(tw_push_new(&stubborn.push, tree, &config, NULL), TW_OK);
        CHECK_EQ(tw_push_operation(stubborn.push, &used, TW_OP_DATA, 0, itm_bytes, 12),
                 cases[i].want);
        CHECK_EQ(stubborn.count, cases[i].count);
        CHECK_EQ(stubborn.inner, TW_RESPONSE_FATAL_OPERATION);
        for (unsigned n = stubborn.count; tw_response_is_wait(cases[i].want) && n < 4; n++)
            CHECK_EQ(tw_push_operation(stubborn.push, NULL, TW_OP_FLUSH, 0, NULL, 0),
                     cases[i].want);
        CHECK_EQ(stubborn.count, tw_response_is_fatal(cases[i].want) ? 1 : 4);
        tw_push_free(stubborn.push);
        tw_tree_free(tree);
    }
}

static void wrong_consumers_are_refused(void **state)
{
    struct tw_push_config config = { .size = sizeof config, .packet = see_packet };
    struct tw_tree *tree = itm_tree((struct tw_tree_config){ 0 });
    struct tw_fault fault;
    struct tw_push *push;

    (void)state;
    CHECK_EQ(tw_push_new(&push, tree, &config, &fault), TW_E_CONFIG);
    CHECK(!push);
    config = (struct tw_push_config){ .size = 3 };
    CHECK_EQ(tw_push_new(&push, tree, &config, &fault), TW_E_ARGUMENT);
    CHECK_EQ(tw_tree_feed(tree, itm_bytes, 1), TW_OK);
    config.size = sizeof config;
    CHECK_EQ(tw_push_new(&push, tree, &config, &fault), TW_E_ARGUMENT);
    tw_tree_free(tree);
    tree = itm_tree((struct tw_tree_config){ .packets_only = true });
    config.element = see_element;
    CHECK_EQ(tw_push_new(&push, tree, &config, &fault), TW_E_CONFIG);
    tw_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_follow_their_rules),
        cmocka_unit_test(a_consumer_may_wait_each_time_or_give_up),
        cmocka_unit_test(wrong_consumers_are_refused),
        cmocka_unit_test(responses_have_their_names),
        cmocka_unit_test(push_gives_what_pull_gives),
    };

    return cmocka_run_group_tests_name("push", tests, NULL, NULL);
}
