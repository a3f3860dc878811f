/* SPDX-License-Identifier: BSD-2-Clause */
/* Synchronization points from which not all can be known: decoding begins before them. */
#include "check.h"

#include <string.h>

#include <trackway/trackway.h>

#include "etrace/packet.h"

/* With a jump target cache a synchronization packet does not tell all: the cache was filled before. */
#define CONFIG                                                                                 \
    "layout=v2\nencapsulation=len5-type2\niaddress_width_p=64\niaddress_lsb_p=1\n"             \
    "privilege_width_p=2\nnocontext_p=0\ncontext_width_p=8\necause_width_p=5\nnotime_p=1\n"    \
    "cache_size_p=4\n"

enum { MOST = 64, SIZE = 1000 };

struct made {
    struct tw_etrace_reader *writer;
    uint8_t bytes[SIZE];
    size_t size;
    size_t syncs[MOST]; /* where they are */
    size_t count;
};

static void send(struct made *made, struct tw_etrace_packet packet)
{
    size_t size = sizeof made->bytes - made->size;

    CHECK_EQ(tw_etrace_write(made->writer, made->bytes + made->size, &size, &packet), TW_OK);
    made->size += size;
}

/* One letter for each: s a synchronization point, + and - the cache on and off. */
static void make(struct made *made, const char *text)
{
    struct tw_etrace_config config;
    struct tw_fault fault;

    memset(made, 0, sizeof *made);
    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
    CHECK_EQ(tw_etrace_config_read(&config, CONFIG, &fault), TW_OK);
    CHECK_EQ(tw_etrace_reader_new(&made->writer, &config, NULL, NULL), TW_OK);
    for (; *text; text++) {
        if (*text != 's') {
            uint32_t bit = 0;

            while (config.ioption_order[bit] != TW_ETRACE_JUMP_TARGET_CACHE)
                bit++;
            send(made, (struct tw_etrace_packet){ .base = { .type = TW_ETRACE_F3S3 },
                                                  .ienable = 1,
                                                  .ioptions = *text == '+' ? 1u << bit : 0 });
            continue;
        }
        made->syncs[made->count++] = made->size;
        send(made, (struct tw_etrace_packet){ .base = { .type = TW_ETRACE_F3S0 },
                                              .has = TW_ETRACE_HAS_ADDRESS,
                                              .field = 0x800,
                                              .branch = 1,
                                              .privilege = 3 });
    }
    tw_etrace_reader_free(made->writer);
}

static enum tw_status read_made(void *context, const uint8_t **bytes, size_t *size,
                                uint64_t offset)
{
    const struct made *made = context;

    if (offset >= made->size)
        return TW_END;
    *bytes = made->bytes + offset;
    *size = made->size - (size_t)offset;
    return TW_OK;
}

/* Where decoding begins for the last byte; as the number of the sync point, or -1: the beginning. */
static int begins_at(struct made *made, unsigned back)
{
    const struct tw_tree_source source = { .size = sizeof source,
                                           .protocol = "etrace",
                                           .text = CONFIG };
    const struct tw_index_capture capture = { .size = sizeof capture,
                                              .framing = TW_FRAMING_NONE,
                                              .bytes = made->size,
                                              .read = read_made,
                                              .read_context = made,
                                              .sources = &source,
                                              .source_count = 1 };
    const struct tw_index_config config = { .size = sizeof config, .detail = TW_INDEX_FULL };
    const struct tw_tree_config tree_config = { .size = sizeof tree_config };
    struct tw_index *index;
    struct tw_tree *tree;
    uint64_t from = 0;
    struct tw_fault fault;

    CHECK_EQ(tw_index_build(&index, &capture, &config, &fault), TW_OK);
    CHECK_EQ(tw_tree_new(&tree, &tree_config, &fault), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_index_seek(&capture, index, tree, &from, made->size, back), TW_OK);
    tw_tree_free(tree);
    tw_index_free(index);
    for (size_t i = 0; i < made->count; i++)
        if (made->syncs[i] == from)
            return (int)i;
    CHECK_EQ(from, 0);
    return -1;
}

static void points_that_do_not_tell_all_are_gone_behind(void **state)
{
    static const struct {
        const char *trace;
        unsigned back;
        int want;
    } cases[] = {
        { "-sssss", 1, 4 },
        { "-sssss", 3, 2 },
        { "-sssss", 9, -1 },     /* there are not so many */
        { "-sss+sss-ss", 1, 7 }, /* the last two tell all */
        { "-sss+sss-ss", 2, 6 },
        { "-sss+sss-ss", 3, 0 }, /* not one of the three with the cache, nor two and one */
        { "-sss+sss-s", 2, 1 },
        { "-sss+s", 1, 2 },
        { "-sss+s", 2, 1 },
        { "+sss", 1, -1 },
        { "+sss-", 2, -1 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        static struct made made;

        check_case("%s, %u back", cases[i].trace, cases[i].back);
        make(&made, cases[i].trace);
        CHECK_EQ(begins_at(&made, cases[i].back), cases[i].want);
    }
}

/* N-Trace: behind a synchronizing message comes Ownership; where it does not, the one from before is told again. */
static void who_was_told_before_is_told_again(void **state)
{
    static const uint8_t bytes[] = {
        0x24, 0x0d, 0x00, 0x60, 0x23, /* ProgTraceSync, 0x8600 */
        0x08, 0xc8, 0x3b,             /* Ownership, PROCESS 0x3b2: scontext 0x1d, VU */
        0x24, 0x0d, 0x00, 0x60, 0x23, 0x24, 0x0d, 0x00, 0x60, 0x23,
    };
    const struct tw_tree_source source = { .size = sizeof source, .protocol = "ntrace" };
    struct made made = { .size = sizeof bytes };
    const struct tw_index_capture capture = { .size = sizeof capture,
                                              .framing = TW_FRAMING_NONE,
                                              .bytes = sizeof bytes,
                                              .read = read_made,
                                              .read_context = &made,
                                              .sources = &source,
                                              .source_count = 1 };
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_batch batch = { .size = sizeof batch };
    struct tw_tree *tree;
    uint64_t from = 0;
    size_t at = 0;

    (void)state;
    memcpy(made.bytes, bytes, sizeof bytes);
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_index_seek(&capture, NULL, tree, &from, sizeof bytes, 1), TW_OK);
    CHECK_EQ(from, 13);
    CHECK_EQ(tw_tree_feed(tree, bytes + from, sizeof bytes - (size_t)from), TW_OK);
    CHECK_EQ(tw_tree_next(tree, &batch), TW_OK);
    while (at < batch.count && batch.elements[at].type != TW_ELEMENT_PE_CONTEXT)
        at++;
    CHECK(at + 1 < batch.count);
    CHECK_EQ(batch.elements[at].index, 5);
    CHECK_EQ(batch.elements[at].context_id, 0x1d);
    CHECK_EQ(batch.elements[at + 1].type, TW_ELEMENT_TRACE_ON);
    CHECK_EQ(batch.elements[at + 1].index, 13);
    tw_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_that_do_not_tell_all_are_gone_behind),
        cmocka_unit_test(who_was_told_before_is_told_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
