/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames, packets and full decode through the library. */
#include "ours.h"

#include "protocol.h"

/* What is fed at a time: to one thread, where elements are counted as a run feeds it, and to several. */
enum { WINDOW = 1 << 17, RUN_WINDOW = 1 << 20, WIDE_WINDOW = 4 << 20, RECORDS = 1024 };

/* A source's packets. */
struct lister {
    const struct tw_protocol *protocol;
    void *config, *reader;
    uint8_t id;
};

struct ours {
    const struct subject *subject;
    enum bench_stage stage;
    unsigned threads;
    bool has_ranges; /* not what software writes */
    struct tw_tree *tree;
    struct tw_unframer *unframer;
    struct lister listers[SUBJECT_SOURCES];
    uint8_t *records;
    struct bench_counts counted;
};

/* ---- full decode ---- */

static struct tw_tree *tree_of(const struct subject *subject, unsigned threads,
                               const struct tw_counter *counter)
{
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = subject->framing,
                                           .counter = counter,
                                           .threads = threads };
    struct tw_tree *tree;
    struct tw_fault fault;

    if (tw_tree_new(&tree, &config, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    for (size_t i = 0; i < subject->source_count; i++)
        if (tw_tree_add_source(tree, NULL, &subject->sources[i]) != TW_OK)
            bench_stop("%s", tw_tree_fault(tree));
    return tree;
}

struct tw_tree *ours_tree(const struct subject *subject, unsigned threads)
{
    return tree_of(subject, threads, NULL);
}

static void count_ranges(struct bench_counts *counts, const struct tw_batch *batch)
{
    uint64_t ranges = 0, instructions = 0;

    for (size_t i = 0; i < batch->count; i++) {
        const uint64_t is_range = batch->elements[i].type == TW_ELEMENT_INSTR_RANGE;

        ranges += is_range;
        instructions += batch->elements[i].count & (0 - is_range);
    }
    counts->ranges += ranges;
    counts->instructions += instructions;
}

static void hash_batch(struct bench_counts *counts, const struct tw_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        counts->hash = counts->hash * 3 + element->index + element->type;
        if (element->type == TW_ELEMENT_INSTR_RANGE)
            counts->hash = counts->hash * 3 + element->start + element->count;
    }
}

/* Counting: a tally is a struct bench_counts. */
static void count_batch(void *context, void *tally, const struct tw_batch *batch)
{
    (void)context;
    count_ranges(tally, batch);
}

static void count_sums(void *context, void *tally, const struct tw_range_sum *sums,
                       size_t count, const struct tw_batch *whose)
{
    struct bench_counts *counts = tally;

    (void)context;
    (void)whose;
    for (size_t i = 0; i < count; i++) {
        const uint64_t times = sums[i].is_edge ? 0 : sums[i].times;

        counts->ranges += times;
        counts->instructions += times * sums[i].range.count;
    }
}

static void add_tally(void *context, void *tally, const struct tw_batch *whose)
{
    struct ours *ours = context;
    const struct bench_counts *counts = tally;

    (void)whose;
    ours->counted.ranges += counts->ranges;
    ours->counted.instructions += counts->instructions;
}

static struct tw_tree *counting_tree(struct ours *ours)
{
    const struct tw_counter counter = { .size = sizeof counter,
                                        .tally_size = sizeof(struct bench_counts),
                                        .context = ours,
                                        .count = count_batch,
                                        .merge = add_tally,
                                        .sum = count_sums };

    return tree_of(ours->subject, ours->threads, &counter);
}

static void take(struct ours *ours, struct bench_counts *counts, bool is_hashed)
{
    struct tw_batch batch = { .size = sizeof batch };

    while (tw_tree_next(ours->tree, &batch) == TW_OK) {
        counts->elements += batch.count;
        if (ours->has_ranges)
            count_ranges(counts, &batch);
        if (is_hashed)
            hash_batch(counts, &batch);
    }
}

static void decode(struct ours *ours, struct bench_counts *counts, bool is_hashed)
{
    const struct subject *subject = ours->subject;
    /* The order in which IDs are merged may depend on it, so what is compared is fed alike. */
    const size_t window = ours->threads > 1 || is_hashed ? WIDE_WINDOW
                          : ours->stage == BENCH_COUNTED ? RUN_WINDOW
                                                         : WINDOW;

    if (ours->stage == BENCH_NEW)
        ours->tree = ours_tree(subject, ours->threads);
    else
        tw_tree_reset(ours->tree, 0);
    for (size_t at = 0; at < subject->size; at += window) {
        const size_t left = subject->size - at;

        if (tw_tree_feed(ours->tree, subject->data + at, left < window ? left : window) !=
            TW_OK)
            bench_stop("%s", tw_tree_fault(ours->tree));
        take(ours, counts, is_hashed);
    }
    if (tw_tree_finish(ours->tree) != TW_OK)
        bench_stop("%s", tw_tree_fault(ours->tree));
    take(ours, counts, is_hashed);
    if (ours->stage == BENCH_COUNTED) {
        counts->ranges = ours->counted.ranges;
        counts->instructions = ours->counted.instructions;
        ours->counted = (struct bench_counts){ .bytes = 0 };
    }
    counts->bytes = subject->size;
    if (ours->stage == BENCH_NEW) {
        tw_tree_free(ours->tree);
        ours->tree = NULL;
    }
}

/* ---- frames and packets ---- */

static void add_lister(struct ours *ours, size_t number)
{
    const struct tw_tree_source *source = &ours->subject->sources[number];
    const struct tw_source_info info = { .registers = source->registers,
                                         .register_count = source->register_count,
                                         .type = source->type,
                                         .core_type = source->core_type,
                                         .text = source->text,
                                         .id = source->id,
                                         .is_framed = ours->unframer != NULL };
    struct lister *lister = &ours->listers[number];
    struct tw_fault fault;

    lister->protocol = tw_protocol_by_name(source->protocol);
    lister->config = bench_allocate(lister->protocol->config_size);
    if (lister->protocol->configure(lister->config, &info, &fault) != TW_OK)
        bench_stop("%s", fault.text);
    lister->id = lister->protocol->trace_id(lister->config);
    if (!lister->id)
        lister->id = source->id;
    lister->reader = bench_allocate(lister->protocol->reader_size);
    lister->protocol->reader_init(lister->reader, lister->config);
}

/* Packets in batches, where the protocol has them; how many bytes are done. */
static size_t list_batches(struct ours *ours, struct lister *lister,
                           struct bench_counts *counts, const struct tw_stream *stream)
{
    size_t done = 0, used, count;

    if (!lister->protocol->read_batch)
        return 0;
    do {
        count = lister->protocol->read_batch(lister->reader, ours->records, RECORDS, &used,
                                             stream->bytes + done, stream->size - done);
        done += used;
        counts->packets += count;
    } while (count == RECORDS);
    return done;
}

/* The packets of what is there of a stream; how many bytes are done. */
static size_t list_packets(struct ours *ours, struct lister *lister,
                           struct bench_counts *counts, const struct tw_stream *stream,
                           bool is_last)
{
    const struct tw_protocol *const protocol = lister->protocol;
    uint8_t *record = ours->records, *const end = record + RECORDS * protocol->packet_size;
    const uint8_t *at = stream->bytes + list_batches(ours, lister, counts, stream);
    const uint8_t *const last = stream->bytes + stream->size;
    uint64_t count = 0;

    while (at < last &&
           protocol->read(lister->reader, record, at, (size_t)(last - at), is_last) == TW_OK) {
        const struct tw_packet *packet = (const void *)record;

        at += packet->size - (packet->spare_bits != 0);
        count++;
        record += protocol->packet_size;
        if (record == end)
            record = ours->records;
    }
    counts->packets += count;
    return (size_t)(at - stream->bytes);
}

static void reset_listers(struct ours *ours)
{
    for (size_t i = 0; i < ours->subject->source_count; i++)
        if (ours->listers[i].reader)
            ours->listers[i].protocol->reader_lost(ours->listers[i].reader);
}

static void list_unframed(struct ours *ours, struct bench_counts *counts)
{
    const struct tw_stream stream = { .bytes = ours->subject->data,
                                      .size = ours->subject->size };

    counts->bytes = list_packets(ours, &ours->listers[0], counts, &stream, true);
}

/* What the frames of a window gave; packets of it where they are wanted. */
static void consume(struct ours *ours, struct bench_counts *counts, bool is_last)
{
    const bool is_all = ours->stage == BENCH_UNFRAME_ALL;
    const size_t count = is_all                             ? TW_ID_COUNT
                         : ours->stage == BENCH_UNFRAME_ONE ? 1
                                                            : ours->subject->source_count;

    for (size_t i = 0; i < count; i++) {
        const uint8_t id = is_all ? (uint8_t)i : ours->listers[i].id;
        const struct tw_stream stream = tw_unframer_stream(ours->unframer, id);
        size_t done = stream.size;

        if (!stream.size)
            continue;
        if (ours->stage == BENCH_PACKETS)
            done = list_packets(ours, &ours->listers[i], counts, &stream, is_last);
        counts->bytes += done;
        tw_unframer_consume(ours->unframer, id, done);
    }
    tw_unframer_clear_events(ours->unframer);
}

static void unframe(struct ours *ours, struct bench_counts *counts)
{
    const struct subject *subject = ours->subject;

    if (ours->stage == BENCH_PACKETS)
        reset_listers(ours);
    if (!ours->unframer) {
        list_unframed(ours, counts);
        return;
    }
    tw_unframer_reset(ours->unframer, 0);
    for (size_t at = 0; at < subject->size; at += WINDOW) {
        const size_t left = subject->size - at;

        bench_need(
            tw_unframer_feed(ours->unframer, subject->data + at, left < WINDOW ? left : WINDOW),
            "unframer");
        consume(ours, counts, left <= WINDOW);
    }
}

static void new_unframer(struct ours *ours)
{
    struct tw_unframer_config config = { .size = sizeof config,
                                         .framing = ours->subject->framing };

    for (size_t i = 0; i < ours->subject->source_count; i++) {
        const uint8_t id = ours->listers[i].id;

        if (ours->stage == BENCH_PACKETS || i == 0)
            config.wanted[id / 64] |= (uint64_t)1 << id % 64;
    }
    if (ours->stage == BENCH_UNFRAME_ALL)
        config.wanted[0] = config.wanted[1] = UINT64_MAX;
    bench_need(tw_unframer_new(&ours->unframer, &config, NULL), "unframer");
}

/* ---- for all stages ---- */

struct ours *ours_new(const struct subject *subject, enum bench_stage stage, unsigned threads)
{
    struct ours *ours = bench_allocate(sizeof *ours);
    size_t packet_size = 0;

    ours->subject = subject;
    ours->stage = stage;
    ours->threads = threads;
    ours->has_ranges =
        strcmp(subject->protocol, "stm") != 0 && strcmp(subject->protocol, "itm") != 0;
    if (stage == BENCH_WARM)
        ours->tree = ours_tree(subject, threads);
    if (stage == BENCH_COUNTED)
        ours->tree = counting_tree(ours);
    if (stage >= BENCH_WARM)
        return ours;
    for (size_t i = 0; i < subject->source_count; i++) {
        add_lister(ours, i);
        if (ours->listers[i].protocol->packet_size > packet_size)
            packet_size = ours->listers[i].protocol->packet_size;
    }
    ours->records = bench_allocate(RECORDS * packet_size);
    if (subject->framing != TW_FRAMING_NONE)
        new_unframer(ours);
    return ours;
}

void ours_free(struct ours *ours)
{
    for (size_t i = 0; i < ours->subject->source_count; i++) {
        free(ours->listers[i].config);
        free(ours->listers[i].reader);
    }
    tw_tree_free(ours->tree);
    tw_unframer_free(ours->unframer);
    free(ours->records);
    free(ours);
}

static void pass(struct ours *ours, struct bench_counts *counts, bool is_hashed)
{
    *counts = (struct bench_counts){ 0 };
    if (ours->stage >= BENCH_WARM)
        decode(ours, counts, is_hashed);
    else
        unframe(ours, counts);
}

void ours_pass(struct ours *ours, struct bench_counts *counts)
{
    pass(ours, counts, false);
}

void ours_hashed_pass(struct ours *ours, struct bench_counts *counts)
{
    pass(ours, counts, true);
}
