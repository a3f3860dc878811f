/* SPDX-License-Identifier: BSD-2-Clause */
/* Want of memory at every point of a whole decode, from opening the capture to the last element:
   a clean failure, and nothing is left behind. */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "all_runs.h"
#include "failing.h"

enum { MOST_BYTES = 24 * 1024, MOST_BUFFERS = 3 };

static const struct tw_tree_config config = { .with_packets = true, .counts_elements = true };

struct seen {
    struct digest digest;
};

static enum tw_response see_raw(void *context, enum tw_operation operation,
                                const struct tw_raw *raw)
{
    struct seen *seen = context;

    if (operation == TW_OP_DATA)
        seen->digest.raw_bytes += raw->size;
    return TW_RESPONSE_CONT;
}

static enum tw_response see_packet(void *context, enum tw_operation operation,
                                   const struct tw_packet_view *packet)
{
    struct seen *seen = context;

    if (operation == TW_OP_DATA)
        digest_packet(&seen->digest, packet);
    return TW_RESPONSE_CONT;
}

static enum tw_response see_element(void *context, const struct tw_batch *batch,
                                    const struct tw_element *element)
{
    struct seen *seen = context;

    digest_element(&seen->digest, batch->id, element);
    return TW_RESPONSE_CONT;
}

/* The first bytes of a buffer through the data path. */
static enum tw_status push_buffer(struct seen *seen, struct tw_tree *tree,
                                  const struct tw_capture *capture, size_t buffer)
{
    const struct tw_push_config push_config = { .size = sizeof push_config,
                                                .raw = see_raw,
                                                .raw_context = seen,
                                                .packet = see_packet,
                                                .packet_context = seen,
                                                .element = see_element,
                                                .element_context = seen };
    const uint64_t base = tw_capture_buffer(capture, buffer)->offset;
    enum tw_response response = TW_RESPONSE_CONT;
    struct tw_push *push;
    const uint8_t *bytes;
    size_t size, used;

    if (tw_push_new(&push, tree, &push_config, NULL) != TW_OK) {
        CHECK(!push);
        return TW_E_MEMORY;
    }
    if (tw_capture_read(capture, &bytes, &size, buffer, 0) == TW_OK)
        response = tw_push_operation(push, &used, TW_OP_DATA, base, bytes,
                                     size < MOST_BYTES ? size : MOST_BYTES);
    if (tw_response_is_cont(response))
        response = tw_push_operation(push, NULL, TW_OP_EOT, 0, NULL, 0);
    CHECK(tw_response_is_cont(response) || response == TW_RESPONSE_FATAL_MEMORY);
    tw_push_free(push);
    return tw_response_is_fatal(response) ? TW_E_MEMORY : TW_OK;
}

/* All of it.  TW_OK: it succeeded. */
static enum tw_status decode(struct seen *seen, const struct run *run,
                             const struct tw_allocator *allocator)
{
    const struct tw_errors_config errors_config = { .size = sizeof errors_config,
                                                    .keeps_all = true,
                                                    .allocator = allocator };
    struct tw_tree_config tree_config = config;
    struct tw_capture *capture = NULL;
    struct tw_fault fault = { TW_OK, "" };
    enum tw_status status = run_open(&capture, run, allocator, &fault);

    if (status != TW_OK) {
        CHECK(!capture);
        CHECK(fault.text[0]);
        return status;
    }
    if (tw_errors_new(&tree_config.errors, &errors_config, NULL) != TW_OK)
        status = TW_E_MEMORY;
    tree_config.allocator = allocator;
    for (size_t i = 0; status == TW_OK && i < tw_capture_buffer_count(capture); i++) {
        struct run_tree tree;

        if (i == MOST_BUFFERS)
            break;
        status = run_tree_new(&tree, capture, i, tree_config);
        if (status != TW_OK)
            break;
        status = push_buffer(seen, tree.tree, capture, i);
        tw_tree_free(tree.tree);
    }
    tw_errors_free(tree_config.errors);
    tw_capture_free(capture);
    return status;
}

/* Each request fails alone, and with all that come after it. */
static size_t starve(const struct run *run)
{
    struct failing counting = { .left = SIZE_MAX };
    const struct tw_allocator all = { failing_resize, &counting };
    struct seen want = { .digest = { 0 } };
    size_t step = 1;

    check_case("%s", run->path);
    CHECK_EQ(decode(&want, run, &all), TW_OK);
    CHECK_EQ(counting.live, 0);
    if (counting.asked > check_scale(3000))
        step = counting.asked / check_scale(3000) + 1;
    for (size_t n = 0; n < counting.asked; n += n < 200 ? 1 : step)
        for (unsigned once = 0; once < 2; once++) {
            struct failing failing = { .left = n, .is_once = once };
            const struct tw_allocator allocator = { failing_resize, &failing };
            struct seen seen = { .digest = { 0 } };
            enum tw_status status;

            check_case("%s: request %zu fails%s", run->path, n, once ? " alone" : "");
            status = decode(&seen, run, &allocator);
            CHECK_EQ(failing.live, 0);
            /* Some requests are for speed only: then all is as it should be. */
            CHECK(status == TW_E_MEMORY ||
                  (status == TW_OK && digest_is_same(&seen.digest, &want.digest)));
        }
    return counting.asked;
}

/* The protocol of the first source, and how many bytes there are. */
static bool look(const struct run *run, const char **protocol, uint64_t *bytes)
{
    struct tw_capture *capture;

    *bytes = 0;
    *protocol = NULL;
    if (run_open(&capture, run, NULL, NULL) != TW_OK)
        return false;
    for (size_t i = 0; i < tw_capture_source_count(capture) && !*protocol; i++)
        for (size_t k = 0; tw_protocol_name(k); k++)
            if (tw_capture_source(capture, i)->protocol &&
                strcmp(tw_capture_source(capture, i)->protocol, tw_protocol_name(k)) == 0)
                *protocol = tw_protocol_name(k);
    for (size_t i = 0; i < tw_capture_buffer_count(capture); i++)
        *bytes += tw_capture_buffer(capture, i)->size;
    tw_capture_free(capture);
    return *protocol != NULL;
}

struct choice {
    const struct run *run;
    const char *protocol;
    bool is_perf;
    uint64_t bytes;
};

static int smaller(const void *a, const void *b)
{
    const struct choice *left = a, *right = b;

    return left->bytes < right->bytes ? -1 : left->bytes > right->bytes;
}

static void a_whole_decode_fails_cleanly_at_every_request(void **state)
{
    struct runs runs = runs_find();
    struct choice *choices = calloc(runs.count + 1, sizeof *choices);
    const size_t most = check_scale(120); /* of each protocol, the smallest */
    size_t count = 0, tried = 0, requests = 0;

    (void)state;
    assert_non_null(choices);
    for (size_t i = 0; i < runs.count; i++) {
        choices[count] =
            (struct choice){ .run = &runs.runs[i], .is_perf = runs.runs[i].sysroot[0] != 0 };
        count += look(&runs.runs[i], &choices[count].protocol, &choices[count].bytes);
    }
    qsort(choices, count, sizeof *choices, smaller);
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;

        for (size_t k = 0; k < i; k++)
            same += choices[k].protocol == choices[i].protocol &&
                    choices[k].is_perf == choices[i].is_perf;
        if (same >= most)
            continue;
        requests += starve(choices[i].run);
        tried++;
    }
    print_message("%zu captures, %zu requests\n", tried, requests);
    CHECK(tried > 0);
    free(choices);
    free(runs.runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_decode_fails_cleanly_at_every_request),
    };

    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
