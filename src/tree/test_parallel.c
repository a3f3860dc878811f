/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of parallel decode: what comes out is what one thread makes, for every capture of the
   corpus, whole and damaged; state that is saved and loaded goes on alike; cancelling. */
#include "check.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

#include "tree/parallel.h"
#include "tree/test_stream.h"

enum {
    SOURCES_MAX = 128,
    /* Damaged trace may tell of billions of branches: then no more is looked at. */
    ELEMENTS_MAX = 500000
};

/* How a capture is decoded. */
struct way {
    uint32_t threads;
    size_t segment, window;
    uint64_t damage; /* a random seed: bytes are changed; 0: none */
    unsigned every;  /* ... one in so many */
    bool unmerged;
};

/* All elements, in few numbers. */
struct outcome {
    uint64_t elements, hash, bytes, unsynced, instructions, errors;
    uint64_t matched, redone, given;
};

static bool is_enough(const struct outcome *outcome)
{
    return outcome->elements == ELEMENTS_MAX;
}

static void take(struct outcome *outcome, const struct tw_batch *batch)
{
    for (size_t i = 0; i < batch->count && !is_enough(outcome); i++) {
        const struct tw_element *element = &batch->elements[i];
        char line[600] = { 0 };
        size_t length = sizeof *element;

        /* Members that an element does not use hold anything; ranges, which are most, use all. */
        if (element->type == TW_ELEMENT_INSTR_RANGE || element->type == TW_ELEMENT_ADDR_NACC)
            memcpy(line, element, sizeof *element);
        else
            length = tw_element_json(line, sizeof line, element, batch->id);
        CHECK(length < sizeof line);
        outcome->hash ^= batch->id;
        if (element->type == TW_ELEMENT_EO_TRACE)
            outcome->hash ^= (uint64_t)element->count << 8;
        for (size_t n = 0; n < length; n += sizeof(uint64_t)) {
            uint64_t word;

            memcpy(&word, line + n, sizeof word);
            outcome->hash = (outcome->hash ^ word) * 0x9e3779b97f4a7c15u;
            outcome->hash ^= outcome->hash >> 29;
        }
        outcome->elements++;
    }
}

static void drain(struct tw_tree *tree, struct outcome *outcome, enum tw_status until)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    while (!is_enough(outcome)) {
        status = tw_tree_next(tree, &batch);
        if (status != TW_OK) {
            CHECK_EQ(status, until);
            return;
        }
        take(outcome, &batch);
    }
}

static void add_sources(struct tw_tree *tree, const struct tw_capture *capture, uint32_t buffer,
                        struct tw_perf_cursor *cursors)
{
    const struct tw_perf *perf = tw_capture_perf(capture);
    size_t added = 0;

    for (uint32_t i = 0; i < tw_capture_source_count(capture) && i < SOURCES_MAX; i++) {
        const struct tw_source *source = tw_capture_source(capture, i);
        const struct tw_tree_source add = {
            .size = sizeof add,
            .protocol = source->protocol,
            .registers = source->registers,
            .register_count = source->register_count,
            .type = source->type,
            .core_type = source->core_type,
            .text = source->text,
            .id = source->id,
            .image = source->image == TW_NONE ? NULL : tw_capture_image(capture, source->image),
            .view = perf ? tw_perf_look : NULL,
            .view_context = &cursors[i],
            .view_size = sizeof cursors[i],
        };

        if (!source->protocol || !tw_capture_source_is_in(capture, i, 0, buffer) ||
            (added && tw_capture_buffer(capture, buffer)->framing == TW_FRAMING_NONE))
            continue;
        memset(&cursors[i], 0, sizeof cursors[i]);
        cursors[i].perf = perf;
        cursors[i].source = i;
        cursors[i].buffer = buffer;
        if (tw_tree_add_source(tree, NULL, &add) == TW_OK)
            added++;
    }
}

static void feed_all(struct tw_tree *tree, struct outcome *outcome,
                     const struct tw_capture *capture, uint32_t buffer, const struct way *way)
{
    struct check_random random = { way->damage };
    uint64_t fed = 0;
    const uint8_t *bytes;
    size_t size;

    while (tw_capture_read(capture, &bytes, &size, buffer, fed) == TW_OK) {
        uint8_t *copy;

        if (size > way->window)
            size = way->window;
        copy = malloc(size);
        CHECK(copy != NULL);
        memcpy(copy, bytes, size);
        for (size_t i = 0; way->damage && i < size / way->every + 1; i++)
            copy[check_random_below(&random, size)] = (uint8_t)check_random_below(&random, 256);
        CHECK_EQ(tw_tree_feed(tree, copy, size), TW_OK);
        memset(copy, 0xa5, size);
        free(copy);
        drain(tree, outcome, TW_MORE);
        if (is_enough(outcome))
            return;
        fed += size;
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    drain(tree, outcome, TW_END);
}

static void count_up(struct outcome *outcome, const struct tw_tree *tree)
{
    for (unsigned id = 0; id < 128; id++) {
        const struct tw_source_stats *stats = tw_tree_source_stats(tree, (uint8_t)id);

        if (!stats)
            continue;
        outcome->bytes += stats->bytes;
        outcome->unsynced += stats->unsynced_bytes;
        outcome->instructions += stats->instructions;
        outcome->errors += stats->elements[TW_ELEMENT_ERROR];
    }
    if (tree->pool) {
        outcome->matched += tree->pool->matched;
        outcome->redone += tree->pool->redone;
        outcome->given += tree->pool->given;
    }
}

/* Counts the blocks that are out; threads ask for memory too. */
static void *resize_counted(void *context, void *memory, size_t size)
{
    atomic_long *live = context;
    void *moved = NULL;

    if (size == 0) {
        atomic_fetch_sub(live, memory != NULL);
        free(memory);
        return NULL;
    }
    moved = realloc(memory, size);
    atomic_fetch_add(live, moved && !memory);
    return moved;
}

static struct outcome decode(const struct tw_capture *capture, const struct way *way)
{
    static struct tw_perf_cursor cursors[SOURCES_MAX];
    atomic_long live = 0;
    const struct tw_allocator allocator = { resize_counted, &live };
    struct outcome outcome = { .hash = 1 };

    for (uint32_t i = 0; i < tw_capture_buffer_count(capture) && !is_enough(&outcome); i++) {
        const struct tw_buffer *about = tw_capture_buffer(capture, i);
        const struct tw_tree_config config = {
            .size = sizeof config,
            .framing = about->framing,
            .base = about->offset,
            .no_barrier = tw_capture_no_barrier(capture),
            .counts_elements = true,
            .unmerged = way->unmerged,
            .threads = way->threads,
            .segment_size = way->segment,
            .allocator = &allocator,
        };
        struct tw_tree *tree;

        CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
        tree->guesses = true;
        add_sources(tree, capture, i, cursors);
        feed_all(tree, &outcome, capture, i, way);
        if (!is_enough(&outcome))
            count_up(&outcome, tree);
        tw_tree_free(tree);
        CHECK_EQ(atomic_load(&live), 0);
    }
    return outcome;
}

static void check_same(const struct outcome *got, const struct outcome *want)
{
    CHECK_EQ(got->elements, want->elements);
    CHECK_EQ(got->bytes, want->bytes);
    CHECK_EQ(got->unsynced, want->unsynced);
    CHECK_EQ(got->instructions, want->instructions);
    CHECK_EQ(got->errors, want->errors);
    CHECK(got->hash == want->hash);
}

static bool is_full(void)
{
    return check_scale(10) == 10;
}

/* One capture in every way; in a short run, in one of them, which goes by its number. */
static struct outcome try_capture(const struct tw_capture *capture, const char *name,
                                  unsigned number)
{
    static const uint32_t threads[] = { 2, 3, 8 };
    static const struct way ways[] = {
        { .segment = 4096, .window = 1 << 22 },
        { .segment = 300, .window = 20000 },
        { .segment = 1000, .window = 1 << 22, .damage = 7, .every = 500 },
        { .segment = 2000, .window = 70000, .damage = 9, .every = 4000, .unmerged = true },
    };
    const size_t first = is_full() ? 0 : number % (LENGTH(ways) * LENGTH(threads));
    const size_t end = is_full() ? LENGTH(ways) * LENGTH(threads) : first + 1;
    struct outcome total = { .hash = 0 };

    for (size_t i = first; i < end; i++) {
        struct way way = ways[i % LENGTH(ways)];
        struct outcome one, many;
        char text[200];

        way.threads = 1;
        one = decode(capture, &way);
        way.threads = threads[i / LENGTH(ways)];
        (void)snprintf(text, sizeof text, "%s: %u threads, segments of %zu", name, way.threads,
                       way.segment);
        CHECK_CASE(text);
        many = decode(capture, &way);
        check_same(&many, &one);
        total.matched += many.matched;
        total.redone += many.redone;
        total.given += many.given;
    }
    return total;
}

static void add_up(struct outcome *to, const struct outcome *from)
{
    to->matched += from->matched;
    to->redone += from->redone;
    to->given += from->given;
}

static void print_counts(const char *what, const struct outcome *counts)
{
    print_message("%s: %llu segments right, %llu again, %llu known\n", what,
                  (unsigned long long)counts->matched, (unsigned long long)counts->redone,
                  (unsigned long long)counts->given);
}

/* Every capture in a folder whose name ends so. */
static unsigned try_folder(struct outcome *total, const char *relative, const char *ending,
                           const struct tw_capture_options *options)
{
    char folder[400], path[800];
    unsigned count = 0;
    struct dirent *entry;
    DIR *all;

    check_corpus(folder, sizeof folder, relative);
    all = opendir(folder);
    CHECK(all);
    while ((entry = readdir(all))) {
        const size_t length = strlen(entry->d_name);
        struct tw_capture *capture;
        struct outcome found;

        if (entry->d_name[0] == '.' || length < strlen(ending) ||
            strcmp(entry->d_name + length - strlen(ending), ending) != 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (tw_capture_open(&capture, path, options, NULL) != TW_OK)
            continue;
        found = try_capture(capture, entry->d_name, count);
        print_counts(entry->d_name, &found);
        add_up(total, &found);
        tw_capture_free(capture);
        count++;
    }
    (void)closedir(all);
    return count;
}

static void snapshots_of_the_corpus(void **state)
{
    struct outcome total = { .hash = 0 };

    (void)state;
    CHECK_EQ(try_folder(&total, "coresight/snapshots", "", NULL), 39);
    print_counts("all", &total);
    CHECK(total.matched > 0);
}

static void recordings_of_the_corpus(void **state)
{
    struct outcome total = { .hash = 0 };
    struct tw_capture_options options = { .size = sizeof options };
    char root[400];

    (void)state;
    check_corpus(root, sizeof root, "perf/root");
    options.sysroot = root;
    CHECK(try_folder(&total, "perf", ".perf.data", &options) >= 15);
    print_counts("all", &total);
}

/* Generated: no corpus is needed. */

static struct tw_tree *make_tree(const struct made_stream *made, uint32_t threads, bool guesses)
{
    const struct tw_tree_config config = {
        .size = sizeof config, .counts_elements = true, .threads = threads, .segment_size = 600
    };
    struct tw_tree *tree;

    CHECK_EQ(tw_tree_new(&tree, &config, NULL), TW_OK);
    tree->guesses = guesses;
    made_stream_add(made, tree);
    return tree;
}

static struct outcome decode_made(struct tw_tree *tree, const struct made_stream *made)
{
    struct outcome outcome = { .hash = 1 };

    CHECK_EQ(tw_tree_feed(tree, made->bytes, made->size), TW_OK);
    drain(tree, &outcome, TW_MORE);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    drain(tree, &outcome, TW_END);
    count_up(&outcome, tree);
    return outcome;
}

static void losses_in_every_segment(void **state)
{
    static const uint32_t threads[] = { 2, 3, 8 };
    static struct made_stream made;

    (void)state;
    for (uint64_t seed = 1; seed <= check_scale(30); seed++) {
        struct tw_tree *tree;
        struct outcome one, many;

        made_stream_make(&made, seed);
        tree = make_tree(&made, 1, false);
        one = decode_made(tree, &made);
        tw_tree_free(tree);
        CHECK(one.errors > 100 && one.instructions > 10000);
        for (size_t i = 0; i < 2 * LENGTH(threads); i++) {
            tree = make_tree(&made, threads[i / 2], i % 2);
            many = decode_made(tree, &made);
            check_same(&many, &one);
            if (i % 2)
                CHECK(many.matched > 300);
            tw_tree_free(tree);
        }
        made_stream_free(&made);
    }
}

static void cancelled_and_begun_again(void **state)
{
    static struct made_stream made;
    struct outcome want, got;
    struct tw_tree *tree;
    struct tw_batch batch = { .size = sizeof batch };

    (void)state;
    made_stream_make(&made, 77);
    tree = make_tree(&made, 1, false);
    want = decode_made(tree, &made);
    tw_tree_free(tree);
    tree = make_tree(&made, 4, true);
    for (unsigned batches = 0; batches < 6; batches++) {
        CHECK_EQ(tw_tree_feed(tree, made.bytes, made.size), TW_OK);
        CHECK_EQ(tw_tree_feed(tree, made.bytes, made.size), TW_E_ARGUMENT); /* not taken yet */
        for (unsigned i = 0; i < batches; i++)
            CHECK_EQ(tw_tree_next(tree, &batch), TW_OK);
        tw_tree_cancel(tree);
        CHECK_EQ(tw_tree_next(tree, &batch), TW_E_CANCELLED);
        tw_tree_reset(tree, 0);
    }
    tw_tree_free(tree); /* with work under way, too */
    tree = make_tree(&made, 4, true);
    CHECK_EQ(tw_tree_feed(tree, made.bytes, made.size), TW_OK);
    CHECK_EQ(tw_tree_next(tree, &batch), TW_OK);
    tw_tree_free(tree);
    tree = make_tree(&made, 3, true);
    got = decode_made(tree, &made);
    check_same(&got, &want);
    tw_tree_free(tree);
    made_stream_free(&made);
}

static void itm_of_the_corpus(void **state)
{
    static const struct tw_capture_source_option source = { .protocol = "itm" };
    const struct tw_capture_options options = { .size = sizeof options,
                                                .sources = &source,
                                                .source_count = 1 };
    struct outcome total = { .hash = 0 };

    (void)state;
    CHECK_EQ(try_folder(&total, "itm", ".raw", &options), 1);
}

/* The value of a key in a case's text. */
static void value_of(char *out, size_t room, const char *text, const char *key)
{
    const char *at = strstr(text, key);

    (void)snprintf(out, room, "%.*s", at ? (int)strcspn(at + strlen(key), "\n") : 0,
                   at ? at + strlen(key) : "");
}

/* Cases of E-Trace and N-Trace, and where their programs are. */
struct cases {
    const char *protocol, *folder, *programs;
};

static void try_case(struct outcome *total, const struct cases *cases, const char *folder,
                     const char *name, unsigned number)
{
    char config[700], trace[700], image[700], program[100];
    struct tw_capture_source_option source = { .protocol = cases->protocol, .config = config };
    struct tw_capture_image_option memory = { .path = image };
    struct tw_capture_options options = { .size = sizeof options,
                                          .sources = &source,
                                          .source_count = 1,
                                          .images = &memory,
                                          .image_count = 1 };
    struct tw_capture *capture;
    struct tw_fault fault = { TW_OK, "" };
    struct outcome found;
    char *text;
    uint8_t *bytes;
    size_t size;

    (void)snprintf(config, sizeof config, "%.400s/%.255s/case.txt", folder, name);
    (void)snprintf(trace, sizeof trace, "%.400s/%.255s/trace.bin", folder, name);
    bytes = check_load(&size, config);
    CHECK(bytes != NULL);
    text = calloc(1, size + 1);
    CHECK(text != NULL);
    memcpy(text, bytes, size);
    value_of(program, sizeof program, text, "program=");
    free(text);
    free(bytes);
    (void)snprintf(image, sizeof image, "%.400s/%s/%.90s/image.txt", folder, cases->programs,
                   program);
    bytes = check_load(&size, image);
    options.image_count = bytes != NULL; /* data trace has no program */
    free(bytes);
    if (tw_capture_open(&capture, trace, &options, &fault) != TW_OK)
        CHECK_TEXT(fault.text, "(opens)");
    found = try_capture(capture, name, number);
    print_counts(name, &found);
    add_up(total, &found);
    tw_capture_free(capture);
}

static void try_cases(const struct cases *cases)
{
    struct outcome total = { .hash = 0 };
    unsigned count = 0;
    struct dirent *entry;
    char folder[400];
    DIR *all;

    check_corpus(folder, sizeof folder, cases->folder);
    all = opendir(folder);
    CHECK(all);
    while ((entry = readdir(all)))
        if (entry->d_name[0] != '.' && (count++ % 10 == 0 || is_full()))
            try_case(&total, cases, folder, entry->d_name, count / 10);
    (void)closedir(all);
    print_counts("all", &total);
    CHECK(total.matched > 0);
}

static void etrace_of_the_corpus(void **state)
{
    static const struct cases cases = { "etrace", "riscv/cases", "../programs" };

    (void)state;
    try_cases(&cases);
}

static void ntrace_of_the_corpus(void **state)
{
    static const struct cases cases = { "ntrace", "ntrace/cases", ".." };

    (void)state;
    try_cases(&cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_in_every_segment), cmocka_unit_test(cancelled_and_begun_again),
        cmocka_unit_test(snapshots_of_the_corpus), cmocka_unit_test(recordings_of_the_corpus),
        cmocka_unit_test(itm_of_the_corpus),       cmocka_unit_test(etrace_of_the_corpus),
        cmocka_unit_test(ntrace_of_the_corpus),
    };

    return cmocka_run_group_tests_name("parallel", tests, NULL, NULL);
}
