/* SPDX-License-Identifier: BSD-2-Clause */
/* The perf.data reader: the input is the file; what follows a line "@@FILE" in it is every program
   that the file names, what follows "@@DATA" the records of another thread of the recorder.  What is
   decoded does not depend on the pieces that it is fed in. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/perfdata.h>
#include <trackway/tree.h>

#include "capture/capture.h"

enum { PERF, PROGRAM, MORE, KINDS };

struct bundle {
    const uint8_t *bytes[KINDS];
    size_t sizes[KINDS];
};

static const char *const markers[KINDS] = { NULL, "\n@@FILE\n", "\n@@DATA\n" };

static void split(struct bundle *bundle, const uint8_t *data, size_t size)
{
    const size_t length = strlen(markers[PROGRAM]);
    unsigned kind = PERF;

    *bundle = (struct bundle){ .bytes = { data }, .sizes = { size } };
    for (const uint8_t *at = data; (size_t)(data + size - at) >= length; at++)
        for (unsigned next = PROGRAM; next < KINDS; next++) {
            if (bundle->bytes[next] || at < bundle->bytes[kind] ||
                memcmp(at, markers[next], length) != 0)
                continue;
            bundle->sizes[kind] = (size_t)(at - bundle->bytes[kind]);
            bundle->bytes[next] = at + length;
            bundle->sizes[next] = (size_t)(data + size - at) - length;
            kind = next;
        }
}

static enum tw_status load(void *context, const uint8_t **bytes, size_t *size, const char *path,
                           struct tw_fault *fault)
{
    const struct bundle *bundle = context;
    const bool is_more = strncmp(path, "in/data.", 8) == 0;
    const unsigned kind = strcmp(path, "in/data") == 0 ? PERF : is_more ? MORE : PROGRAM;
    const uint8_t *from = bundle->bytes[kind];
    uint8_t *copy;

    (void)memcpy(fault->text, "not there", sizeof "not there");
    if (!from || (is_more && strcmp(path, "in/data.0") != 0))
        return TW_E_FILE;
    /* A block of exactly that size: ASan sees a read of one byte too far. */
    *size = bundle->sizes[kind];
    copy = malloc(*size ? *size : 1);
    if (!copy)
        return TW_E_FILE;
    memcpy(copy, from, *size);
    *bytes = copy;
    return TW_OK;
}

static void drop(void *context, const uint8_t *bytes, size_t size)
{
    (void)context;
    (void)size;
    free((void *)(uintptr_t)bytes);
}

static uint64_t look(const struct tw_perf *perf)
{
    uint64_t sum = tw_perf_stream_count(perf), ns = 0, first, last;
    const char *const features[] = { "hostname", "cmdline", "nothing" };

    for (size_t i = 0; i < tw_perf_mapping_count(perf); i++) {
        const struct tw_perf_mapping *mapping = tw_perf_mapping(perf, i);
        const struct tw_perf_thread *thread = tw_perf_thread(perf, mapping->tid, mapping->time);
        const struct tw_perf_map *map =
            tw_perf_map(perf, thread ? thread->space : 0, mapping->address, mapping->time);
        struct tw_view view = { 0 };

        tw_perf_view(perf, &view, thread, mapping->time);
        sum += view.time + (thread ? strlen(thread->comm) : 0) + (map ? map->length : 0);
        sum += tw_perf_link_address(perf, mapping->file, mapping->offset);
        sum += tw_perf_link_base(perf, mapping->file);
        sum += map && tw_perf_link(perf, &ns, map, mapping->address);
    }
    for (size_t i = 0; i < tw_perf_file_count(perf); i++)
        sum += strlen(tw_perf_file(perf, i)->name);
    for (size_t i = 0; i < tw_perf_loss_count(perf); i++)
        sum += tw_perf_loss(perf, i)->size;
    for (size_t i = 0; i < 3; i++)
        sum += tw_perf_feature(perf, features[i]) != NULL;
    (void)tw_perf_time_span(perf, &first, &last);
    return sum + tw_perf_time(perf, &ns, 0x123456) + ns + first + last;
}

/* Runs a buffer through a tree with all its sources, in pieces. */
static uint64_t decode(const struct tw_capture *capture, size_t buffer, size_t piece)
{
    const struct tw_buffer *about = tw_capture_buffer(capture, buffer);
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = about->framing,
                                           .range_limit = 1000,
                                           .base = about->offset };
    const size_t count = tw_capture_source_count(capture);
    struct tw_perf_cursor *cursors = calloc(count + 1, sizeof *cursors);
    struct tw_tree *tree;
    struct tw_batch batch = { .size = sizeof batch };
    uint64_t sum = 0;
    const uint8_t *bytes;
    size_t size;

    if (!cursors || tw_tree_new(&tree, &config, NULL) != TW_OK)
        abort();
    for (size_t i = 0; i < count; i++) {
        const struct tw_source *source = tw_capture_source(capture, i);
        const struct tw_tree_source add = { .size = sizeof add,
                                            .protocol = source->protocol,
                                            .registers = source->registers,
                                            .register_count = source->register_count,
                                            .core_type = source->core_type,
                                            .id = source->id,
                                            .image = tw_capture_image(capture, 0),
                                            .view = tw_perf_look,
                                            .view_context = &cursors[i] };

        cursors[i] = (struct tw_perf_cursor){ .perf = tw_capture_perf(capture),
                                              .source = (uint32_t)i,
                                              .buffer = (uint32_t)buffer };
        if (tw_capture_source_is_in(capture, i, 0, (uint32_t)buffer))
            sum += tw_tree_add_source(tree, NULL, &add) == TW_OK;
    }
    if (sum && tw_capture_read(capture, &bytes, &size, buffer, 0) == TW_OK)
        for (size_t at = 0; at < size; at += piece) {
            if (tw_tree_feed(tree, bytes + at, size - at < piece ? size - at : piece) != TW_OK)
                abort();
            while (tw_tree_next(tree, &batch) == TW_OK)
                sum += batch.count;
        }
    tw_tree_free(tree);
    free(cursors);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { BUFFERS_MOST = 4 };
    struct bundle bundle;
    const struct tw_files files = { load, drop, &bundle };
    struct tw_capture_options options = { .size = sizeof options,
                                          .sysroot = "root",
                                          .build_ids = "ids" };
    struct tw_fault fault = { .text = "" };
    struct tw_capture *capture;
    volatile uint64_t sum = 0;

    split(&bundle, data, size);
    if (tw_capture_open_files(&capture, "in", &options, &files, &fault) == TW_OK) {
        if (tw_capture_perf(capture))
            sum = look(tw_capture_perf(capture));
        for (size_t i = 0; i < tw_capture_buffer_count(capture) && i < BUFFERS_MOST; i++)
            if (tw_capture_perf(capture) &&
                decode(capture, i, SIZE_MAX / 2) != decode(capture, i, 1 + size % 61))
                abort();
    } else if (!memchr(fault.text, 0, sizeof fault.text) || !fault.text[0]) {
        abort(); /* a refusal says why */
    }
    tw_capture_free(capture);
    (void)sum;
    return 0;
}
