/* SPDX-License-Identifier: BSD-2-Clause */
/* Over every capture there is: an index says what the listing of packets says, and decoding from
   the middle gives what decoding all gives. */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

#include "all_runs.h"

struct noted {
    struct tw_index_entry *entries;
    size_t count, room;
};

struct seen {
    struct tw_element *elements;
    uint8_t *ids;
    size_t count, room;
};

/* A buffer as the index wants it. */
struct subject {
    const struct tw_capture *capture;
    size_t buffer;
    struct tw_index_capture about;
    struct tw_tree_source sources[RUNS_SOURCES];
};

static enum tw_status read_buffer(void *context, const uint8_t **bytes, size_t *size,
                                  uint64_t offset)
{
    const struct subject *subject = context;

    return tw_capture_read(subject->capture, bytes, size, subject->buffer,
                           offset - subject->about.base);
}

/* The sources that a tree takes. */
static void describe(struct subject *to, const struct tw_capture *capture, size_t buffer)
{
    const struct tw_buffer *about = tw_capture_buffer(capture, buffer);
    const bool is_single = about->framing == TW_FRAMING_NONE;
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = about->framing,
                                           .packets_only = true };
    struct tw_tree *tree;

    memset(to, 0, sizeof *to);
    to->capture = capture;
    to->buffer = buffer;
    to->about = (struct tw_index_capture){ .size = sizeof to->about,
                                           .framing = about->framing,
                                           .no_barrier = tw_capture_no_barrier(capture),
                                           .base = about->offset,
                                           .bytes = about->size,
                                           .read = read_buffer,
                                           .read_context = to,
                                           .sources = to->sources };
    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    for (size_t i = 0; i < tw_capture_source_count(capture) && i < RUNS_SOURCES; i++) {
        const struct tw_source *source = tw_capture_source(capture, i);
        struct tw_tree_source *at = &to->sources[to->about.source_count];

        *at = (struct tw_tree_source){ .size = sizeof *at,
                                       .protocol = source->protocol,
                                       .registers = source->registers,
                                       .register_count = source->register_count,
                                       .type = source->type,
                                       .core_type = source->core_type,
                                       .text = source->text,
                                       .id = source->id };
        if (source->protocol && !(is_single && to->about.source_count) &&
            tw_capture_source_is_in(capture, i, 0, (uint32_t)buffer) &&
            tw_tree_add_source(tree, NULL, at) == TW_OK)
            to->about.source_count++;
    }
    tw_tree_free(tree);
}

static void add(struct noted *noted, uint8_t kind, uint64_t value,
                const struct tw_packet *packet)
{
    if (noted->count == noted->room) {
        noted->room = 2 * noted->room + 64;
        noted->entries = realloc(noted->entries, noted->room * sizeof *noted->entries);
        CHECK(noted->entries);
    }
    noted->entries[noted->count++] = (struct tw_index_entry){
        .offset = packet->index, .value = value, .kind = kind, .id = packet->id
    };
}

static bool is(const char *type, const char *names)
{
    const char *at = strstr(names, type);

    return at && (at == names || at[-1] == '|') &&
           (at[strlen(type)] == '|' || at[strlen(type)] == 0);
}

static void note_etmv4(struct noted *to, const char *type, const struct tw_etmv4_packet *packet)
{
    const struct tw_packet *base = &packet->base;

    if (is(type, "I_ASYNC"))
        add(to, TW_INDEX_SYNC, 1, base);
    else if (is(type, "I_TRACE_INFO"))
        add(to, TW_INDEX_INFO, packet->info, base);
    else if (is(type, "I_TIMESTAMP"))
        add(to, TW_INDEX_TIME, packet->timestamp, base);
    else if (is(type, "I_EVENT"))
        add(to, TW_INDEX_EVENT, packet->number, base);
    else if (is(type, "I_TRACE_ON"))
        add(to, TW_INDEX_TRACE_ON, 0, base);
    else if (is(type, "I_OVERFLOW"))
        add(to, TW_INDEX_LOSS, TW_REASON_OVERFLOW, base);
    else if (is(type, "I_DISCARD"))
        add(to, TW_INDEX_LOSS, TW_REASON_DISCARD, base);
    else if ((is(type, "I_CTXT") && packet->has_context && packet->has_cid) ||
             (strncmp(type, "I_ADDR_CTXT", 11) == 0 && packet->has_cid))
        add(to, TW_INDEX_CONTEXT, packet->cid, base);
}

static void note_isync(struct noted *to, unsigned reason, uint64_t address,
                       const struct tw_packet *packet)
{
    static const uint8_t trace_on[] = { 0, TW_TRACE_ON_NORMAL, TW_TRACE_ON_OVERFLOW,
                                        TW_TRACE_ON_DEBUG_EXIT };

    if (reason)
        add(to, TW_INDEX_TRACE_ON, trace_on[reason], packet);
    else
        add(to, TW_INDEX_INFO, address, packet);
    if (reason == TW_PTM_AFTER_OVERFLOW)
        add(to, TW_INDEX_LOSS, TW_REASON_OVERFLOW, packet);
}

static void note_armv7(struct noted *to, const char *protocol, const char *type,
                       const struct tw_packet *base)
{
    const struct tw_ptm_packet *ptm = (const void *)base;
    const struct tw_etmv3_packet *etmv3 = (const void *)base;
    const bool is_ptm = strcmp(protocol, "ptm") == 0;

    if (is(type, "ASYNC|A_SYNC"))
        add(to, TW_INDEX_SYNC, 1, base);
    else if (is(type, "TIMESTAMP"))
        add(to, TW_INDEX_TIME, is_ptm ? ptm->time : etmv3->time, base);
    else if (is(type, "TRIGGER"))
        add(to, TW_INDEX_TRIGGER, 0, base);
    else if (is(type, "CONTEXT_ID"))
        add(to, TW_INDEX_CONTEXT, is_ptm ? ptm->value : etmv3->value, base);
    else if (is(type, "ISYNC|I_SYNC|I_SYNC_CYCLE")) {
        note_isync(to, is_ptm ? ptm->reason : etmv3->reason,
                   is_ptm ? ptm->address : etmv3->address, base);
        if (is_ptm ? ptm->has_context_id : etmv3->has_context_id)
            add(to, TW_INDEX_CONTEXT, is_ptm ? ptm->context_id : etmv3->context_id, base);
    }
}

static void note_stm(struct noted *to, const char *type, const struct tw_stm_packet *packet)
{
    const struct tw_packet *base = &packet->base;

    if (packet->has_timestamp)
        add(to, TW_INDEX_TIME, packet->timestamp, base);
    if (is(type, "ASYNC"))
        add(to, TW_INDEX_SYNC, 1, base);
    else if (is(type, "VERSION|FREQ|FREQ_TS|FREQ_40|FREQ_40_TS"))
        add(to, TW_INDEX_INFO, packet->value, base);
    else if (is(type, "TRIG|TRIG_TS"))
        add(to, TW_INDEX_TRIGGER, packet->value, base);
    else if (is(type, "XSYNC|XSYNC_TS"))
        add(to, TW_INDEX_EVENT, packet->value, base);
    else if (is(type, "MERR|GERR"))
        add(to, TW_INDEX_LOSS, TW_REASON_OVERFLOW, base);
}

/* Times of an ITM add up; its global ones have two halves. */
struct itm_times {
    uint64_t local, global;
    bool has_low, has_high;
};

static void note_itm(struct noted *to, struct itm_times *times, const char *type,
                     const struct tw_itm_packet *packet)
{
    const struct tw_packet *base = &packet->base;

    if (is(type, "ITM_ASYNC")) {
        add(to, TW_INDEX_SYNC, 1, base);
    } else if (is(type, "ITM_OVERFLOW")) {
        times->local = 0;
        add(to, TW_INDEX_LOSS, TW_REASON_OVERFLOW, base);
    } else if (is(type, "ITM_TS_LOCAL")) {
        times->local += packet->value;
        add(to, TW_INDEX_TIME, times->local, base);
    } else if (is(type, "ITM_GTS_1|ITM_GTS_2")) {
        const bool is_low = is(type, "ITM_GTS_1");
        const unsigned bits = !is_low ? 26 : packet->size == 4 ? 26 : 7u * packet->size;
        const uint64_t mask = ((uint64_t)1 << bits) - 1;

        if (is_low)
            times->global = (times->global & ~mask) | (packet->value & mask);
        else
            times->global = (times->global & mask) | packet->value << 26;
        times->has_low |= is_low;
        times->has_high = is_low ? times->has_high && !packet->wrap : true;
        if (times->has_low && times->has_high)
            add(to, TW_INDEX_INFO, times->global, base);
    }
}

static void note_etrace(struct noted *to, const char *type,
                        const struct tw_etrace_packet *packet, const char *text)
{
    const struct tw_packet *base = &packet->base;
    struct tw_etrace_config config;

    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
    CHECK_EQ(tw_etrace_config_read(&config, text ? text : "", NULL), TW_OK);

    if (is(type, "f3s0"))
        add(to, TW_INDEX_SYNC, 1, base);
    if (is(type, "f3s1"))
        add(to, TW_INDEX_INFO, packet->ecause, base);
    if (is(type, "f3s3")) {
        add(to, TW_INDEX_INFO, packet->ioptions, base);
        if (packet->qual_status == TW_ETRACE_TRACE_LOST)
            add(to, TW_INDEX_LOSS, TW_REASON_OVERFLOW, base);
        else if (packet->qual_status == TW_ETRACE_NO_CHANGE && packet->ienable)
            add(to, TW_INDEX_TRACE_ON, 0, base);
    }
    if (is(type, "f3s0|f3s1|f3s2")) {
        if (!config.notime && config.time_width)
            add(to, TW_INDEX_TIME, packet->time, base);
        if (!config.nocontext && config.context_width)
            add(to, TW_INDEX_CONTEXT, packet->context, base);
    }
    if (is(type, "f0s0|f0s1|f1|f2") && packet->notify)
        add(to, TW_INDEX_EVENT, 0, base);
}

/* Times add up from one synchronization to the next. */
static void note_ntrace(struct noted *to, struct itm_times *times, const char *type,
                        const struct tw_ntrace_packet *packet)
{
    const struct tw_packet *base = &packet->base;
    const bool is_sync = strstr(type, "Sync") != NULL;

    if (is_sync)
        add(to, TW_INDEX_SYNC, 1, base);
    if (is_sync && packet->sync == TW_NTRACE_SYNC_TRIGGER)
        add(to, TW_INDEX_TRIGGER, 0, base);
    else if (is_sync && packet->sync == TW_NTRACE_SYNC_EVENT)
        add(to, TW_INDEX_EVENT, 0, base);
    else if (is_sync && packet->sync != TW_NTRACE_SYNC_PERIODIC &&
             packet->sync != TW_NTRACE_SYNC_ICNT_FULL)
        add(to, TW_INDEX_TRACE_ON, packet->sync == 7 ? 1 : packet->sync == 3 ? 2 : 0, base);
    if (is(type, "Error"))
        add(to, TW_INDEX_LOSS, TW_REASON_OVERFLOW, base);
    if (is(type, "Ownership"))
        add(to, TW_INDEX_CONTEXT, packet->process >> 5, base);
    if (!(packet->has & TW_NTRACE_HAS_TSTAMP))
        return;
    times->has_low |= is_sync;
    times->local = is_sync ? packet->tstamp : times->local + packet->tstamp;
    if (times->has_low)
        add(to, TW_INDEX_TIME, times->local, base);
}

/* What the listing of packets has of one ID. */
static void list(struct noted *to, const struct subject *subject, uint8_t id)
{
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = subject->about.framing,
                                           .no_barrier = subject->about.no_barrier,
                                           .base = subject->about.base,
                                           .packets_only = true };
    struct itm_times times = { 0 };
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_tree *tree;
    uint64_t at = subject->about.base;
    enum tw_status status = TW_MORE;

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    for (size_t i = 0; i < subject->about.source_count; i++)
        CHECK_EQ(tw_tree_add_source(tree, NULL, &subject->sources[i]), TW_OK);
    while (status != TW_END) {
        const char *type;
        const uint8_t *bytes;
        size_t size;

        status = tw_tree_next_packet(tree, &view);
        CHECK(status >= 0);
        if (status == TW_MORE) {
            if (subject->about.read(subject->about.read_context, &bytes, &size, at) == TW_END) {
                CHECK_EQ(tw_tree_finish(tree), TW_OK);
                continue;
            }
            size = size < 1000 ? size : 1000; /* any pieces will do */
            CHECK_EQ(tw_tree_feed(tree, bytes, size), TW_OK);
            at += size;
        }
        if (status != TW_OK || view.packet->id != id)
            continue;
        type = tw_packet_type_name(&view);
        if (view.is_not_sync)
            continue;
        if (strncmp(view.protocol, "etm", 3) == 0 && view.protocol[4] == '4')
            note_etmv4(to, type, (const void *)view.packet);
        else if (strcmp(view.protocol, "ete") == 0)
            note_etmv4(to, type, (const void *)view.packet);
        else if (is(view.protocol, "ptm|etmv3"))
            note_armv7(to, view.protocol, type, view.packet);
        else if (is(view.protocol, "stm"))
            note_stm(to, type, (const void *)view.packet);
        else if (is(view.protocol, "itm"))
            note_itm(to, &times, type, (const void *)view.packet);
        else if (is(view.protocol, "ntrace"))
            note_ntrace(to, &times, type, (const void *)view.packet);
        else
            note_etrace(to, type, (const void *)view.packet, subject->sources[0].text);
        if (view.is_bad)
            add(to, TW_INDEX_BAD, view.packet->type, view.packet);
    }
    tw_tree_free(tree);
}

static void compare(const struct tw_index *index, size_t stream, const struct noted *want)
{
    struct tw_index_entry got;
    uint64_t number = 0;
    uint64_t counts[TW_INDEX_KINDS] = { 0 };
    struct tw_index_stream about = { .size = sizeof about };

    for (size_t i = 0; i < want->count; i++) {
        do
            CHECK_EQ(tw_index_entry(index, &got, stream, number++), TW_OK);
        while (got.kind == TW_INDEX_STATE);
        CHECK_EQ(got.offset, want->entries[i].offset);
        CHECK_EQ(got.kind, want->entries[i].kind);
        CHECK_EQ(got.id, want->entries[i].id);
        if (got.kind != TW_INDEX_SYNC)
            CHECK_EQ(got.value, want->entries[i].value);
        counts[got.kind]++;
    }
    while (tw_index_entry(index, &got, stream, number) == TW_OK && got.kind == TW_INDEX_STATE)
        number++;
    CHECK_EQ(tw_index_entry(index, &got, stream, number), TW_END);
    CHECK_EQ(tw_index_stream(index, &about, stream), TW_OK);
    for (unsigned kind = 0; kind < TW_INDEX_STATE; kind++)
        CHECK_EQ(about.counts[kind], counts[kind]);
}

static void add_seen(struct seen *to, const struct tw_element *element, uint8_t id)
{
    if (to->count == to->room) {
        to->room = 2 * to->room + 256;
        to->elements = realloc(to->elements, to->room * sizeof *to->elements);
        to->ids = realloc(to->ids, to->room);
        CHECK(to->elements && to->ids);
    }
    to->elements[to->count] = *element;
    to->ids[to->count++] = id;
}

/* Elements of `least` and later, from capture offset `at` on; at most `most`. */
static void take(struct seen *to, struct tw_tree *tree, const struct subject *subject,
                 uint64_t at, uint64_t least, size_t most)
{
    enum tw_status status = TW_MORE;
    struct tw_batch batch = { .size = sizeof batch };

    to->count = 0;
    while (status != TW_END && to->count < most) {
        status = tw_tree_next(tree, &batch);
        CHECK(status >= 0);
        if (status == TW_MORE) {
            const uint8_t *bytes;
            size_t size;

            if (subject->about.read(subject->about.read_context, &bytes, &size, at) == TW_END) {
                CHECK_EQ(tw_tree_finish(tree), TW_OK);
                continue;
            }
            CHECK_EQ(tw_tree_feed(tree, bytes, size), TW_OK);
            at += size;
        }
        for (size_t i = 0; status == TW_OK && i < batch.count && to->count < most; i++)
            if (batch.elements[i].index >= least)
                add_seen(to, &batch.elements[i], batch.id);
    }
}

static void check_same(const struct seen *got, const struct seen *all, uint64_t least)
{
    size_t number = 0;

    for (size_t i = 0; i < all->count; i++) {
        char want_text[512], got_text[512];

        if (all->elements[i].index < least)
            continue;
        CHECK(number < got->count);
        (void)tw_element_json(want_text, sizeof want_text, &all->elements[i], all->ids[i]);
        (void)tw_element_json(got_text, sizeof got_text, &got->elements[number],
                              got->ids[number]);
        CHECK_TEXT(got_text, want_text);
        CHECK(memcmp(&got->elements[number], &all->elements[i], sizeof all->elements[i]) == 0);
        number++;
    }
    CHECK_EQ(number, got->count);
}

static void seeks(const struct run *run, const struct subject *subject,
                  const struct tw_index *index, struct check_random *random, unsigned *late)
{
    const struct tw_tree_config config = { .size = sizeof config };
    struct seen all = { 0 }, some = { 0 };
    struct run_tree tree;
    const size_t count = check_scale(60);

    CHECK_EQ(run_tree_new(&tree, subject->capture, subject->buffer, config), TW_OK);
    take(&all, tree.tree, subject, subject->about.base, 0, SIZE_MAX);
    tw_tree_free(tree.tree);
    for (size_t i = 0; i < count && subject->about.bytes; i++) {
        const uint64_t at =
            subject->about.base + check_random_below(random, subject->about.bytes);
        const unsigned back = 2;
        uint64_t from;

        check_case("%s from 0x%" PRIx64, run->path, at);
        CHECK_EQ(run_tree_new(&tree, subject->capture, subject->buffer, config), TW_OK);
        CHECK_EQ(tw_index_seek(&subject->about, index, tree.tree, &from, at, back), TW_OK);
        CHECK(from <= at);
        *late += from > subject->about.base;
        take(&some, tree.tree, subject, from, at, SIZE_MAX);
        check_same(&some, &all, at);
        tw_tree_free(tree.tree);
    }
    free(all.elements);
    free(all.ids);
    free(some.elements);
    free(some.ids);
}

static void one_buffer(const struct run *run, const struct tw_capture *capture, size_t buffer,
                       struct check_random *random, unsigned *late)
{
    const struct tw_index_config config = { .size = sizeof config,
                                            .detail = TW_INDEX_FULL,
                                            .block_bytes = 512u
                                                           << check_random_below(random, 9) };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_index_stream stream = { .size = sizeof stream };
    struct subject subject;
    struct tw_index *index;

    describe(&subject, capture, buffer);
    check_case("%s, buffer %zu", run->path, buffer);
    CHECK_EQ(tw_index_build(&index, &subject.about, &config, &fault), TW_OK);
    CHECK_EQ(tw_index_matches(index, &subject.about, true, &fault), TW_OK);
    for (size_t i = 0; tw_index_stream(index, &stream, i) == TW_OK; i++) {
        struct noted want = { 0 };

        check_case("%s, buffer %zu, ID %u", run->path, buffer, (unsigned)stream.id);
        list(&want, &subject, stream.id);
        compare(index, i, &want);
        free(want.entries);
    }
    if (!tw_capture_perf(capture) && subject.about.bytes < 1 << 20)
        seeks(run, &subject, index, random, late);
    tw_index_free(index);
}

static void an_index_says_what_the_listing_says(void **state)
{
    struct check_random random = check_random_start(20);
    struct runs runs = runs_find();
    const uint64_t few = check_scale(10) == 10 ? 1 : 10;
    unsigned late = 0;

    (void)state;
    for (size_t i = 0; i < runs.count; i++) {
        struct tw_capture *capture;

        /* Of the many cases of one kind, some. */
        if (strstr(runs.runs[i].path, "/riscv/") && check_random_below(&random, few))
            continue;
        if (run_open(&capture, &runs.runs[i], NULL, NULL) != TW_OK)
            continue;
        for (size_t buffer = 0; buffer < tw_capture_buffer_count(capture); buffer++)
            one_buffer(&runs.runs[i], capture, buffer, &random, &late);
        tw_capture_free(capture);
    }
    print_message("%u of the decodes began late\n", late);
    CHECK(!runs.is_corpus || late > 0);
    free(runs.runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_says_what_the_listing_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
