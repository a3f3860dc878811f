/* SPDX-License-Identifier: BSD-2-Clause */
/* Indexing a capture of four ETMv4 units beside unpacking it and reading its packets, and decoding
   from the middle of it with the index and without.
   bench_index [MIB]: of so many MiB (64). */
#include "ours.h"

#include <inttypes.h>

enum { CORES = 4, PIECE = 1 << 16, PASSES = 3, ELEMENTS = 1000 /* taken from the middle on */ };

/* What is timed; `ours` or NULL. */
typedef void pass_fn(struct subject *subject, struct ours *ours);

static enum tw_status read_data(void *context, const uint8_t **bytes, size_t *size,
                                uint64_t offset)
{
    const struct subject *subject = context;

    if (offset >= subject->size)
        return TW_END;
    *bytes = subject->data + offset;
    *size = subject->size - (size_t)offset;
    return TW_OK;
}

static struct tw_index_capture capture_of(struct subject *subject)
{
    return (struct tw_index_capture){ .size = sizeof(struct tw_index_capture),
                                      .framing = subject->framing,
                                      .bytes = subject->size,
                                      .read = read_data,
                                      .read_context = subject,
                                      .sources = subject->sources,
                                      .source_count = subject->source_count };
}

static struct tw_index *build(struct subject *subject, enum tw_index_detail detail)
{
    const struct tw_index_config config = { .size = sizeof config, .detail = detail };
    const struct tw_index_capture capture = capture_of(subject);
    struct tw_index *index;

    bench_need(tw_index_build(&index, &capture, &config, NULL), "index");
    return index;
}

static void own_pass(struct subject *subject, struct ours *ours)
{
    struct bench_counts counts;

    (void)subject;
    ours_pass(ours, &counts);
}

static void source_pass(struct subject *subject, struct ours *ours)
{
    (void)ours;
    tw_index_free(build(subject, TW_INDEX_SOURCE));
}

static void sparse_pass(struct subject *subject, struct ours *ours)
{
    (void)ours;
    tw_index_free(build(subject, TW_INDEX_SPARSE));
}

static void full_pass(struct subject *subject, struct ours *ours)
{
    (void)ours;
    tw_index_free(build(subject, TW_INDEX_FULL));
}

/* The best of some passes, in nanoseconds. */
static double best_of(struct subject *subject, const char *name, pass_fn *pass,
                      struct ours *ours)
{
    double best = 0;

    for (unsigned i = 0; i < PASSES; i++) {
        const uint64_t start = bench_now();
        double taken;

        pass(subject, ours);
        taken = (double)(bench_now() - start);
        if (i == 0 || taken < best)
            best = taken;
    }
    (void)printf("# index %-8s %10zu bytes %8.1f MB/s\n", name, subject->size,
                 (double)subject->size * 1e3 / best);
    return best;
}

static double time_stage(struct subject *subject, enum bench_stage stage)
{
    struct ours *ours = ours_new(subject, stage, 0);
    const double best = best_of(subject, bench_stage_name(stage), own_pass, ours);

    ours_free(ours);
    return best;
}

/* The first elements of `offset` and later, when feeding from `from` on. */
static void take(const struct subject *subject, struct tw_tree *tree, struct tw_element *out,
                 uint64_t from, uint64_t offset)
{
    struct tw_batch batch = { .size = sizeof batch };
    size_t count = 0;

    while (count < ELEMENTS && from < subject->size) {
        const size_t left = subject->size - (size_t)from;

        bench_need(tw_tree_feed(tree, subject->data + from, left < PIECE ? left : PIECE),
                   "feed");
        from += left < PIECE ? left : PIECE;
        while (tw_tree_next(tree, &batch) == TW_OK)
            for (size_t i = 0; i < batch.count && count < ELEMENTS; i++)
                if (batch.elements[i].index >= offset)
                    out[count++] = batch.elements[i];
    }
    if (count < ELEMENTS)
        bench_stop("too few elements");
}

/* By time; each instruction takes a cycle, and timestamps count those. */
static void from_the_middle(struct subject *subject, const char *path)
{
    static struct tw_element late[ELEMENTS], early[ELEMENTS];
    const struct tw_index_capture capture = capture_of(subject);
    struct tw_tree *tree = ours_tree(subject, 0);
    struct tw_index_file *file = NULL;
    const struct tw_index *index = NULL;
    struct tw_fault fault;
    uint64_t offset, from, start = bench_now(), taken;

    if (path && (tw_index_open(&file, path, NULL, &fault) != TW_OK ||
                 tw_index_matches(index = tw_index_file_get(file, 0), &capture, false,
                                  &fault) != TW_OK))
        bench_stop("%s", fault.text);
    bench_need(tw_index_locate(&capture, index, &offset, NULL, subject->instructions / 2),
               "locate");
    bench_need(tw_index_seek(&capture, index, tree, &from, offset, 2), "seek");
    take(subject, tree, late, from, offset);
    taken = bench_now() - start;
    tw_tree_free(tree);
    tree = ours_tree(subject, 0);
    take(subject, tree, early, 0, offset);
    tw_tree_free(tree);
    tw_index_close(file);
    if (memcmp(late, early, sizeof late) != 0)
        bench_stop("from the middle other elements come");
    (void)printf("# index %s: offset 0x%" PRIx64 ", begun 0x%" PRIx64 " before\n",
                 path ? "in a file" : "none", offset, offset - from);
    bench_result(path ? "index/at-file-ms" : "index/at-none-ms", (double)taken / 1e6,
                 "  ms of CPU until %u elements from the middle are there", ELEMENTS);
}

int main(int count, char **words)
{
    const unsigned long size = count > 1 ? strtoul(words[1], NULL, 10) : 64;
    char what[100], folder[300], path[400];
    const struct tw_index *index;
    struct subject subject;
    double unpacked, packets;

    bench_pin();
    (void)snprintf(what, sizeof what, "made/etmv4,times=1,sync=1024,mib=%lu", size / CORES);
    if (!subject_open(&subject, what))
        bench_stop("nothing is made");
    subject_multiply(&subject, CORES);
    unpacked = time_stage(&subject, BENCH_UNFRAME_ALL);
    packets = time_stage(&subject, BENCH_PACKETS);
    bench_result("index/source", unpacked / best_of(&subject, "source", source_pass, NULL),
                 "  of the rate of unpacking frames");
    bench_result("index/sparse", packets / best_of(&subject, "sparse", sparse_pass, NULL),
                 "  of the rate of reading packets");
    bench_result("index/full", packets / best_of(&subject, "full", full_pass, NULL),
                 "  of the rate of reading packets");
    bench_make_folder(folder, sizeof folder);
    (void)snprintf(path, sizeof path, "%s/capture.twx", folder);
    index = build(&subject, TW_INDEX_FULL);
    bench_need(tw_index_write(path, &index, 1, NULL), "index file");
    from_the_middle(&subject, path);
    from_the_middle(&subject, NULL);
    bench_remove_folder(folder);
    subject_free(&subject);
    return 0;
}
