/* SPDX-License-Identifier: BSD-2-Clause */
/* Full decode of real captures beside OpenCSD, alternating in one process: with the block cache warm
   and with a new decoder for each pass; and packets as records.  The numbers of ranges and
   instructions must agree before a ratio is printed.
   --once CAPTURE MODE: one pass, for an instruction counter. */
#define _GNU_SOURCE /* sched_setaffinity, popen */

#include "peer.h"

#include <inttypes.h>

#include <trackway/etmv4.h>

enum { WINDOW = 1 << 17, RECORDS = 1024 };

struct job {
    const char *snapshot, *buffer;
    const char *protocol; /* for packets as records */
    bool is_held;         /* bench/promises holds its ratios */
};

static const struct job jobs[] = {
    { "bugfix-exact-match-part", NULL, "etmv4", true },
    { "juno-uname-001", NULL, "etmv4", true },
    { "juno-uname-002", NULL, "etmv4", true },
    { "juno_r1_1", "ETB_0", "etmv4", true },
    { "001-ack_test", NULL, "ete", false },
};

struct input {
    struct tw_capture *capture;
    uint32_t buffer;
    const uint8_t *data;
    size_t size;
};

static struct peer_counts ours;

static bool open_input(struct input *input, const struct job *job)
{
    char path[600];
    struct tw_fault fault;

    if (!bench_snapshot(path, sizeof path, job->snapshot))
        return false;
    if (tw_capture_open(&input->capture, path, NULL, &fault) != TW_OK)
        bench_stop(fault.text);
    input->buffer = job->buffer ? tw_capture_buffer_by_name(input->capture, job->buffer) : 0;
    if (tw_capture_read(input->capture, input->buffer, 0, &input->data, &input->size) != TW_OK)
        bench_stop("the capture is empty");
    return true;
}

static struct tw_tree *make_tree(const struct input *input)
{
    const struct tw_buffer *buffer = tw_capture_buffer(input->capture, input->buffer);
    const struct tw_tree_config config = { .size = sizeof config, .framing = buffer->framing };
    struct tw_tree *tree;
    struct tw_fault fault;

    if (tw_tree_new(&tree, &config, &fault) != TW_OK)
        bench_stop(fault.text);
    for (size_t i = 0; i < tw_capture_source_count(input->capture); i++) {
        const struct tw_source *from = tw_capture_source(input->capture, i);
        const struct tw_tree_source source = {
            .size = sizeof source,
            .protocol = from->protocol,
            .registers = from->registers,
            .register_count = from->register_count,
            .type = from->type,
            .core_type = from->core_type,
            .text = from->text,
            .id = from->id,
            .image =
                from->image == TW_NONE ? NULL : tw_capture_image(input->capture, from->image),
        };

        if (from->protocol && tw_capture_source_is_in(input->capture, i, 0, input->buffer) &&
            tw_tree_add_source(tree, NULL, &source) != TW_OK)
            bench_stop(tw_tree_fault(tree));
    }
    return tree;
}

static void take(struct tw_tree *tree)
{
    struct tw_batch batch;

    while (tw_tree_next(tree, &batch) == TW_OK) {
        ours.elements += batch.count;
        for (size_t i = 0; i < batch.count; i++)
            if (batch.elements[i].type == TW_ELEMENT_INSTR_RANGE) {
                ours.ranges++;
                ours.instructions += batch.elements[i].count;
            }
    }
}

/* All elements of the capture, delivered to a consumer that counts. */
void decode_pass(struct tw_tree *tree, const struct input *input);
void decode_pass(struct tw_tree *tree, const struct input *input)
{
    memset(&ours, 0, sizeof ours);
    tw_tree_reset(tree, 0);
    for (size_t at = 0; at < input->size; at += WINDOW) {
        const size_t left = input->size - at;

        if (tw_tree_feed(tree, input->data + at, left < WINDOW ? left : WINDOW) != TW_OK)
            bench_stop(tw_tree_fault(tree));
        take(tree);
    }
    if (tw_tree_finish(tree) != TW_OK)
        bench_stop(tw_tree_fault(tree));
    take(tree);
}

/* The capture so many times in one stream, joined by frames that reset all IDs. */
void copies_pass(struct tw_tree *tree, const struct input *input, unsigned copies);
void copies_pass(struct tw_tree *tree, const struct input *input, unsigned copies)
{
    static const uint8_t barrier[16] = { 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
                                         0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f };

    memset(&ours, 0, sizeof ours);
    tw_tree_reset(tree, 0);
    for (unsigned copy = 0; copy < copies; copy++) {
        if (tw_tree_feed(tree, barrier, sizeof barrier) != TW_OK)
            bench_stop(tw_tree_fault(tree));
        take(tree);
        for (size_t at = 0; at < input->size; at += WINDOW) {
            const size_t left = input->size - at;

            if (tw_tree_feed(tree, input->data + at, left < WINDOW ? left : WINDOW) != TW_OK)
                bench_stop(tw_tree_fault(tree));
            take(tree);
        }
    }
    if (tw_tree_finish(tree) != TW_OK)
        bench_stop(tw_tree_fault(tree));
    take(tree);
}

/* Program memory that the trace never comes to. */
static void add_regions(const struct input *input, unsigned count)
{
    static const uint8_t nothing[4096];

    for (size_t i = 0; i < tw_capture_image_count(input->capture); i++)
        for (unsigned n = 0; n < count; n++) {
            const struct tw_region region = { .size = sizeof region,
                                              .address = 0x500000000000u + n * 0x10000u,
                                              .length = sizeof nothing };

            if (tw_image_add(tw_capture_image(input->capture, i), &region, nothing) != TW_OK)
                bench_stop("a region is not taken");
        }
}

/* The same with everything made anew: no block is known. */
void new_pass(const struct input *input);
void new_pass(const struct input *input)
{
    struct tw_tree *tree = make_tree(input);

    decode_pass(tree, input);
    tw_tree_free(tree);
}

/* Packet records of every source. */
struct lister {
    struct tw_unframer *unframer;
    struct tw_etmv4_reader *readers[TW_ID_COUNT];
    struct tw_etmv4_packet packets[RECORDS];
};

static struct lister *make_lister(const struct input *input)
{
    struct lister *lister = calloc(1, sizeof *lister);
    struct tw_unframer_config config = { .size = sizeof config };

    if (!lister)
        bench_stop("no memory");
    config.framing = tw_capture_buffer(input->capture, input->buffer)->framing;
    for (size_t i = 0; i < tw_capture_source_count(input->capture); i++) {
        const struct tw_source *source = tw_capture_source(input->capture, i);
        struct tw_etmv4_config registers;
        struct tw_fault fault;

        if (!source->protocol || !tw_capture_source_is_in(input->capture, i, 0, input->buffer))
            continue;
        if (tw_etmv4_config_from(&registers, source->registers, source->register_count,
                                 source->core_type, strcmp(source->protocol, "ete") == 0,
                                 &fault) != TW_OK ||
            tw_etmv4_reader_new(&lister->readers[source->id], &registers, NULL) != TW_OK)
            bench_stop("a source is not taken");
        config.wanted[source->id >> 6] |= (uint64_t)1 << (source->id & 63);
    }
    if (config.framing != TW_FRAMING_NONE &&
        tw_unframer_new(&lister->unframer, &config) != TW_OK)
        bench_stop("no memory");
    return lister;
}

static void list_stream(struct lister *lister, uint8_t id, const uint8_t *data, size_t size)
{
    size_t used, count;

    tw_etmv4_reader_lost(lister->readers[id]);
    do {
        count = tw_etmv4_read_batch(lister->readers[id], lister->packets, RECORDS, data, size,
                                    &used);
        data += used;
        size -= used;
        ours.packets += count;
    } while (count == RECORDS);
}

void packet_pass(struct lister *lister, const struct input *input);
void packet_pass(struct lister *lister, const struct input *input)
{
    memset(&ours, 0, sizeof ours);
    if (lister->unframer) {
        tw_unframer_reset(lister->unframer, 0);
        if (tw_unframer_feed(lister->unframer, input->data, input->size) != TW_OK)
            bench_stop("no memory");
    }
    for (unsigned id = 0; id < TW_ID_COUNT; id++) {
        struct tw_stream stream = { .bytes = input->data, .size = input->size };

        if (!lister->readers[id])
            continue;
        if (lister->unframer)
            stream = tw_unframer_stream(lister->unframer, (uint8_t)id);
        if (stream.size)
            list_stream(lister, (uint8_t)id, stream.bytes, stream.size);
        if (lister->unframer)
            tw_unframer_consume(lister->unframer, (uint8_t)id, stream.size);
    }
}

static void free_lister(struct lister *lister)
{
    for (unsigned id = 0; id < TW_ID_COUNT; id++)
        tw_etmv4_reader_free(lister->readers[id]);
    tw_unframer_free(lister->unframer);
    free(lister);
}

static void report(const struct job *job, const char *mode, const struct input *input,
                   struct bench_times *mine, struct bench_times *theirs)
{
    bench_sort(mine);
    printf("%-8s %-24s %8zu bytes %6.1f MB/s", mode, job->snapshot, input->size,
           (double)input->size * 1e3 / bench_best(mine));
    if (ours.instructions)
        printf(" %6.0f M instructions/s %5.2f ns/range",
               (double)ours.instructions * 1e3 / bench_best(mine),
               bench_best(mine) / (double)ours.ranges);
    if (theirs) {
        bench_sort(theirs);
        printf("; peer %5.1f MB/s: %.1fx best, %.1fx median",
               (double)input->size * 1e3 / bench_best(theirs),
               bench_best(theirs) / bench_best(mine),
               bench_median(theirs) / bench_median(mine));
        if (job->is_held)
            printf("\nratio flow/%s/%s %.2f", job->snapshot, mode,
                   bench_best(theirs) / bench_best(mine));
    }
    printf("\n");
}

static void check_equal(const struct job *job, const struct peer *peer)
{
    if (peer && (peer->counts.ranges != ours.ranges ||
                 peer->counts.instructions != ours.instructions)) {
        (void)fprintf(stderr,
                      "bench: %s: ranges %" PRIu64 " and %" PRIu64 ", instructions %" PRIu64
                      " and %" PRIu64 "\n",
                      job->snapshot, ours.ranges, peer->counts.ranges, ours.instructions,
                      peer->counts.instructions);
        exit(1);
    }
}

static void run_full(const struct job *job, const struct input *input, bool is_new)
{
    struct tw_tree *tree = make_tree(input);
    struct peer *peer = peer_new(input->capture, input->buffer, false);
    struct bench_times mine, theirs;

    decode_pass(tree, input);
    for (unsigned i = 0; i < BENCH_PASSES; i++) {
        const uint64_t start = bench_now();
        uint64_t middle;

        if (is_new)
            new_pass(input);
        else
            decode_pass(tree, input);
        middle = bench_now();
        mine.all[i] = middle - start;
        if (peer)
            peer_pass(peer, input->data, input->size);
        theirs.all[i] = bench_now() - middle;
        check_equal(job, peer);
    }
    report(job, is_new ? "new" : "warm", input, &mine, peer ? &theirs : NULL);
    peer_free(peer);
    tw_tree_free(tree);
}

static void run_packets(const struct job *job, const struct input *input)
{
    struct lister *lister = make_lister(input);
    struct peer *peer = peer_new(input->capture, input->buffer, true);
    struct bench_times mine, theirs;

    for (unsigned i = 0; i < BENCH_PASSES; i++) {
        const uint64_t start = bench_now();
        uint64_t middle;

        packet_pass(lister, input);
        middle = bench_now();
        mine.all[i] = middle - start;
        if (peer)
            peer_pass(peer, input->data, input->size);
        theirs.all[i] = bench_now() - middle;
    }
    report(job, "packets", input, &mine, peer ? &theirs : NULL);
    peer_free(peer);
    free_lister(lister);
}

static int run_once(const char *snapshot, const char *mode)
{
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        struct input input;
        struct tw_tree *tree;

        if (strcmp(jobs[i].snapshot, snapshot) != 0 || !open_input(&input, &jobs[i]))
            continue;
        if (strcmp(mode, "packets") == 0) {
            struct lister *lister = make_lister(&input);

            packet_pass(lister, &input);
            free_lister(lister);
        } else if (strcmp(mode, "new") == 0) {
            new_pass(&input);
        } else if (strcmp(mode, "regions") == 0) {
            add_regions(&input, 4096);
            new_pass(&input);
        } else if (mode[0] == 'x') {
            tree = make_tree(&input);
            decode_pass(tree, &input); /* warms the block cache; not counted */
            copies_pass(tree, &input, (unsigned)atoi(mode + 1));
            tw_tree_free(tree);
        } else {
            tree = make_tree(&input);
            decode_pass(tree, &input); /* counted too: subtract one `new` pass */
            decode_pass(tree, &input);
            tw_tree_free(tree);
        }
        tw_capture_free(input.capture);
        return 0;
    }
    bench_stop("no such capture");
    return 1;
}

/* Host instructions per capture byte on the first job. */
static void count_instructions(const char *program, size_t size)
{
    const double fresh =
        bench_instructions(program, "decode_pass", "--once bugfix-exact-match-part new");
    const double both =
        bench_instructions(program, "decode_pass", "--once bugfix-exact-match-part warm");
    const double packets =
        bench_instructions(program, "packet_pass", "--once bugfix-exact-match-part packets");

    if (!fresh || !both || !packets)
        return;
    printf("host instructions per byte: warm %.1f, new decoder %.1f, packets %.1f\n",
           (both - fresh) / (double)size, fresh / (double)size, packets / (double)size);
    printf("ratio flow/instructions-warm %.1f\n", (both - fresh) / (double)size);
    printf("ratio flow/instructions-new %.1f\n", fresh / (double)size);
    printf("ratio flow/instructions-packets %.1f\n", packets / (double)size);
}

/* Growth, in host instructions so that it repeats. */
static void count_growth(const char *program)
{
    static const char capture[] = "--once bugfix-exact-match-part";
    char arguments[100];
    double one, sixteen, plain, regions;

    (void)snprintf(arguments, sizeof arguments, "%s x1", capture);
    one = bench_instructions(program, "copies_pass", arguments);
    (void)snprintf(arguments, sizeof arguments, "%s x16", capture);
    sixteen = bench_instructions(program, "copies_pass", arguments);
    (void)snprintf(arguments, sizeof arguments, "%s new", capture);
    plain = bench_instructions(program, "decode_pass", arguments);
    (void)snprintf(arguments, sizeof arguments, "%s regions", capture);
    regions = bench_instructions(program, "decode_pass", arguments);
    if (!one || !sixteen || !plain || !regions)
        return;
    printf("growth: 16 copies cost %.2f times one, 4,096 unused regions %.3f times none\n",
           sixteen / one, regions / plain);
    printf("ratio flow/growth-16 %.3f\n", sixteen / one);
    printf("ratio flow/regions-4096 %.3f\n", regions / plain);
}

int main(int argc, char **argv)
{
    size_t count = 0, size = 0;

    if (argc == 4 && strcmp(argv[1], "--once") == 0)
        return run_once(argv[2], argv[3]);
    bench_pin();
    printf("peer: OpenCSD %s\n", peer_name());
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        struct input input;

        if (!open_input(&input, &jobs[i]))
            continue;
        run_full(&jobs[i], &input, false);
        run_full(&jobs[i], &input, true);
        run_packets(&jobs[i], &input);
        if (i == 0)
            size = input.size;
        tw_capture_free(input.capture);
        count++;
    }
    if (!count) {
        printf("skipped: no corpus\n");
        return 0;
    }
    if (size) {
        count_instructions(argv[0], size);
        count_growth(argv[0]);
    }
    return 0;
}
