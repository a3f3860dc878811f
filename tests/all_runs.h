/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything there is to decode: the corpus, or without one the captures of the project; and a
   decode tree for each buffer of it.  For tests. */
#ifndef TRACKWAY_TESTS_ALL_RUNS_H
#define TRACKWAY_TESTS_ALL_RUNS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

enum { RUNS_PATH = 600, RUNS_MOST = 2000, RUNS_SOURCES = 64 };

/* A capture, and how it is opened. */
struct run {
    char path[RUNS_PATH];
    char config[RUNS_PATH], image[RUNS_PATH], sysroot[RUNS_PATH];
    const char *protocol; /* raw files; else NULL */
};

struct runs {
    struct run *runs;
    size_t count;
    bool is_corpus;
};

/* A tree for a buffer of a capture, with what it borrows. */
struct run_tree {
    struct tw_tree *tree;
    struct tw_perf_cursor cursors[RUNS_SOURCES];
    unsigned sources;
};

static inline int runs_compare(const void *a, const void *b)
{
    return strcmp(((const struct run *)a)->path, ((const struct run *)b)->path);
}

static inline bool runs_exists(const char *path)
{
    FILE *file = fopen(path, "rb");

    if (file)
        (void)fclose(file);
    return file != NULL;
}

/* The value of a "key=value" line of a small text file. */
static inline bool runs_value(char *out, size_t room, const char *path, const char *key)
{
    FILE *file = fopen(path, "r");
    char line[300];
    bool is_found = false;

    while (file && !is_found && fgets(line, sizeof line, file)) {
        const size_t size = strlen(key);

        if (strncmp(line, key, size) == 0 && line[size] == '=') {
            line[strcspn(line, "\r\n")] = 0;
            (void)snprintf(out, room, "%s", line + size + 1);
            is_found = true;
        }
    }
    if (file)
        (void)fclose(file);
    return is_found;
}

/* One entry of a folder of the corpus; false: it is no capture. */
static inline bool runs_fill(struct run *run, const char *corpus, const char *folder,
                             const char *name)
{
    const bool is_ntrace = strcmp(folder, "ntrace/cases") == 0;
    char program[300];

    memset(run, 0, sizeof *run);
    if (strcmp(folder, "riscv/cases") == 0 || is_ntrace) {
        (void)snprintf(run->path, RUNS_PATH, "%s/%s/%s/trace.bin", corpus, folder, name);
        (void)snprintf(run->config, RUNS_PATH, "%s/%s/%s/case.txt", corpus, folder, name);
        if (!runs_exists(run->path) || strstr(name, "dtype") ||
            !runs_value(program, sizeof program, run->config, "program"))
            return false;
        (void)snprintf(run->image, RUNS_PATH, "%s/%s/%s/image.txt", corpus,
                       is_ntrace ? "ntrace" : "riscv/programs", program);
        run->protocol = is_ntrace ? "ntrace" : "etrace";
        return true;
    }
    (void)snprintf(run->path, RUNS_PATH, "%s/%s/%s", corpus, folder, name);
    if (strcmp(folder, "perf") == 0) {
        (void)snprintf(run->sysroot, RUNS_PATH, "%s/perf/root", corpus);
        return strstr(name, ".perf.data") != NULL;
    }
    if (strcmp(folder, "itm") == 0) {
        run->protocol = "itm";
        return strstr(name, ".raw") != NULL;
    }
    return true;
}

static inline void runs_add_folder(struct runs *runs, const char *corpus, const char *folder)
{
    char path[RUNS_PATH];
    struct dirent *entry;
    DIR *dir;

    (void)snprintf(path, sizeof path, "%s/%s", corpus, folder);
    dir = opendir(path);
    while (dir && (entry = readdir(dir)) != NULL && runs->count < RUNS_MOST)
        if (entry->d_name[0] != '.' &&
            runs_fill(&runs->runs[runs->count], corpus, folder, entry->d_name))
            runs->count++;
    if (dir)
        (void)closedir(dir);
}

static inline struct runs runs_find(void)
{
    static const char *const folders[] = {
        "coresight/snapshots", "perf-real/snapshots", "perf", "itm",
        "riscv/cases",         "ntrace/cases"
    };
    struct runs runs = { .runs = calloc(RUNS_MOST, sizeof *runs.runs) };
    const char *corpus = getenv("TRACKWAY_CORPUS");

    if (!runs.runs)
        return runs;
    if (!corpus || !*corpus)
        corpus = TW_SOURCE_DIR "/../shared/corpus";
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        runs_add_folder(&runs, corpus, folders[i]);
    runs.is_corpus = runs.count > 0;
    if (!runs.is_corpus)
        (void)runs_fill(&runs.runs[runs.count++], TW_SOURCE_DIR "/tests", "captures", "demo");
    qsort(runs.runs, runs.count, sizeof *runs.runs, runs_compare);
    return runs;
}

static inline enum tw_status run_open(struct tw_capture **capture, const struct run *run,
                                      const struct tw_allocator *allocator,
                                      struct tw_fault *fault)
{
    const struct tw_capture_source_option source = { .protocol = run->protocol,
                                                     .config =
                                                         run->config[0] ? run->config : NULL };
    const struct tw_capture_image_option image = { .path = run->image };
    struct tw_capture_options options = { .size = sizeof options, .allocator = allocator };

    options.sources = &source;
    options.source_count = run->protocol != NULL;
    options.images = &image;
    options.image_count = run->image[0] != 0;
    options.sysroot = run->sysroot[0] ? run->sysroot : NULL;
    options.allow_outside = true;
    return tw_capture_open(capture, run->path, &options, fault);
}

/* Adds what a buffer holds; a source that cannot be added is left out.  False: out of memory. */
static inline bool run_add_sources(struct run_tree *to, const struct tw_capture *capture,
                                   size_t buffer)
{
    const struct tw_perf *perf = tw_capture_perf(capture);
    const bool is_single = tw_capture_buffer(capture, buffer)->framing == TW_FRAMING_NONE;

    for (size_t i = 0; i < tw_capture_source_count(capture) && i < RUNS_SOURCES; i++) {
        const struct tw_source *source = tw_capture_source(capture, i);
        struct tw_tree_source about = { .size = sizeof about,
                                        .protocol = source->protocol,
                                        .registers = source->registers,
                                        .register_count = source->register_count,
                                        .type = source->type,
                                        .core_type = source->core_type,
                                        .text = source->text,
                                        .id = source->id };
        enum tw_status status;

        if (!source->protocol || (is_single && to->sources) ||
            !tw_capture_source_is_in(capture, i, 0, (uint32_t)buffer))
            continue;
        if (source->image != TW_NONE)
            about.image = tw_capture_image(capture, source->image);
        if (perf) {
            to->cursors[i] = (struct tw_perf_cursor){ .perf = perf,
                                                      .source = (uint32_t)i,
                                                      .buffer = (uint32_t)buffer };
            about.view = tw_perf_look;
            about.view_context = &to->cursors[i];
        }
        status = tw_tree_add_source(to->tree, NULL, &about);
        if (status == TW_E_MEMORY)
            return false;
        to->sources += status == TW_OK;
    }
    return true;
}

/* `config` says what is wanted of the tree; framing and base are those of the buffer. */
static inline enum tw_status run_tree_new(struct run_tree *to, const struct tw_capture *capture,
                                          size_t buffer, struct tw_tree_config config)
{
    enum tw_status status;

    to->sources = 0;
    config.size = sizeof config;
    config.framing = tw_capture_buffer(capture, buffer)->framing;
    config.base = tw_capture_buffer(capture, buffer)->offset;
    config.no_barrier = tw_capture_no_barrier(capture);
    status = tw_tree_new(&to->tree, &config, NULL);
    if (status == TW_OK && !run_add_sources(to, capture, buffer)) {
        tw_tree_free(to->tree);
        to->tree = NULL;
        status = TW_E_MEMORY;
    }
    return status;
}

/* What came out, in short. */
struct digest {
    uint64_t elements, packets, raw_bytes, hash, packet_hash;
};

static inline uint64_t digest_mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    while (size >= 8) {
        uint64_t word;

        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
        at += 8;
        size -= 8;
    }
    for (; size; size--)
        hash = (hash ^ *at++) * 0x100000001b3u;
    return hash;
}

static inline void digest_element(struct digest *digest, uint8_t id,
                                  const struct tw_element *element)
{
    struct tw_element copy = *element;

    /* After a reset a decoder says so where it said at first that it begins. */
    if (copy.type == TW_ELEMENT_NO_SYNC && copy.reason == TW_REASON_RESET)
        copy.reason = TW_REASON_INIT;
    digest->hash = digest_mix(digest->hash ^ id, &copy, sizeof copy);
    digest->elements++;
}

static inline void digest_packet(struct digest *digest, const struct tw_packet_view *view)
{
    digest->packet_hash = digest_mix(digest->packet_hash, view->packet, sizeof *view->packet);
    if (view->bytes)
        digest->packet_hash = digest_mix(digest->packet_hash, view->bytes, view->packet->size);
    digest->packets++;
}

static inline bool digest_is_same(const struct digest *a, const struct digest *b)
{
    return a->elements == b->elements && a->packets == b->packets && a->hash == b->hash &&
           a->packet_hash == b->packet_hash;
}

/* Takes all that the tree gives now: packets where it makes any, then elements. */
static inline enum tw_status run_take(struct tw_tree *tree, struct digest *digest,
                                      const struct tw_tree_config *config)
{
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status = TW_OK;

    if (config->packets_only || config->with_packets)
        while ((status = tw_tree_next_packet(tree, &view)) == TW_OK)
            digest_packet(digest, &view);
    if (status < 0 || config->packets_only)
        return status;
    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            digest_element(digest, batch.id, &batch.elements[i]);
    return status;
}

/* The whole of a buffer by pull; TW_END: all went well. */
static inline enum tw_status run_pull(struct tw_tree *tree, struct digest *digest,
                                      const struct tw_capture *capture, size_t buffer,
                                      const struct tw_tree_config *config)
{
    const uint8_t *bytes;
    enum tw_status status;
    uint64_t at = 0;
    size_t size;

    while ((status = tw_capture_read(capture, &bytes, &size, buffer, at)) == TW_OK) {
        status = tw_tree_feed(tree, bytes, size);
        if (status == TW_OK)
            status = run_take(tree, digest, config);
        if (status < 0)
            return status;
        at += size;
    }
    if (status != TW_END)
        return status;
    status = tw_tree_finish(tree);
    return status == TW_OK ? run_take(tree, digest, config) : status;
}

#endif
