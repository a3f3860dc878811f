/* SPDX-License-Identifier: BSD-2-Clause */
/* Indexes of a capture's buffers: in a file beside it, or made when they are asked for. */
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/platform.h"
#include "capture/capture.h"
#include "capture/sources.h"
#include "run/run.h"

struct tw_indexes {
    char *path;
    bool has_file; /* there is one, good or not, and nothing was made in its place */
    struct tw_index_file *file;  /* NULL: none that can be used */
    struct tw_index **made;      /* by buffer; NULL: none was made */
    const struct tw_index **all; /* by buffer: of the file or made */

    /* The buffer that was described last. */
    struct tw_run *run;
    uint32_t buffer;
    struct tw_index_capture about;
    struct tw_tree_source *sources;
    struct tw_tree *tree; /* keeps what the sources point at */
};

typedef void tell_fn(void *context, const char *text);

static void tell_of(const struct tw_run *run, tell_fn *fn, const char *format,
                    va_list arguments)
{
    char text[600];

    if (!fn)
        return;
    (void)vsnprintf(text, sizeof text, format, arguments);
    fn(run->config.context, text);
}

void tw_warn(struct tw_run *run, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell_of(run, run->config.on_warning, format, arguments);
    va_end(arguments);
}

void tw_note_that(struct tw_run *run, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell_of(run, run->config.on_note, format, arguments);
    va_end(arguments);
}

/* The capture's path and ".twx"; a folder's name ends with no slash. */
static char *path_beside(const struct tw_run *run)
{
    static const char suffix[] = ".twx";
    const char *capture = tw_capture_path(run->capture);
    size_t size = strlen(capture);
    char *path = tw_take(run->allocator, size + sizeof suffix);

    if (!path)
        return NULL;
    while (size > 1 && tw_is_slash(capture[size - 1]))
        size--;
    memcpy(path, capture, size);
    memcpy(path + size, suffix, sizeof suffix);
    return path;
}

static bool is_there(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && access(path, R_OK) == 0; /* opening a pipe would wait */
}

/* Opens the file, if there is one; says why it is of no use, if it is not. */
static struct tw_indexes *open_indexes(struct tw_run *run)
{
    const size_t count = tw_capture_buffer_count(run->capture);
    struct tw_fault fault = { TW_OK, "" };
    struct tw_indexes *made = run->indexes;

    if (made)
        return made;
    made = run->indexes = tw_take(run->allocator, sizeof *made);
    if (!made)
        return NULL;
    made->run = run;
    made->buffer = TW_NONE;
    made->path =
        run->config.index ? tw_copy_text(run->allocator, run->config.index) : path_beside(run);
    made->made = tw_take(run->allocator, (count + 1) * sizeof *made->made);
    made->all = tw_take(run->allocator, (count + 1) * sizeof(const struct tw_index *));
    if (!made->path || !made->made || !made->all) {
        tw_indexes_free(run);
        return NULL;
    }
    made->has_file = is_there(made->path);
    if (made->has_file &&
        tw_index_open(&made->file, made->path, run->allocator, &fault) != TW_OK)
        tw_warn(run, "%s; it is not used", fault.text);
    return made;
}

static void close_capture(struct tw_indexes *indexes)
{
    tw_tree_free(indexes->tree);
    indexes->tree = NULL;
    tw_give(indexes->run->allocator, indexes->sources);
    indexes->sources = NULL;
    indexes->buffer = TW_NONE;
}

void tw_indexes_free(struct tw_run *run)
{
    struct tw_indexes *indexes = run->indexes;
    const size_t count = tw_capture_buffer_count(run->capture);

    if (!indexes)
        return;
    for (size_t i = 0; indexes->made && i < count; i++)
        tw_index_free(indexes->made[i]);
    tw_index_close(indexes->file);
    close_capture(indexes);
    tw_give(run->allocator, indexes->made);
    tw_give(run->allocator, (void *)indexes->all);
    tw_give(run->allocator, indexes->path);
    tw_give(run->allocator, indexes);
    run->indexes = NULL;
}

/* ---- a buffer as an index wants it ---- */

static enum tw_status read_buffer(void *context, const uint8_t **bytes, size_t *size,
                                  uint64_t offset)
{
    const struct tw_indexes *indexes = context;

    return tw_capture_read(indexes->run->capture, bytes, size, indexes->buffer,
                           offset - indexes->about.base);
}

/* An index is of all sources, whichever of them are asked for; unframed there is one alone. */
static bool wants_source(void *context, uint32_t source)
{
    const struct tw_indexes *indexes = context;

    return indexes->about.framing != TW_FRAMING_NONE ||
           tw_filter_has_source(indexes->run, source);
}

static void added_source(void *context, const struct tw_added_source *added)
{
    struct tw_indexes *indexes = context;
    struct tw_tree_source *source = &indexes->sources[indexes->about.source_count];

    if (added->left_out)
        return;
    *source = *added->source;
    source->image = NULL;
    source->view = NULL;
    indexes->about.source_count++;
}

static enum tw_status describe(struct tw_indexes *indexes, uint32_t buffer)
{
    struct tw_run *run = indexes->run;
    const struct tw_buffer *about = tw_capture_buffer(run->capture, buffer);
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = about->framing,
                                           .packets_only = true,
                                           .allocator = run->allocator };
    const struct tw_source_setup setup = {
        .capture = run->capture,
        .buffer = buffer,
        .core_type = run->config.core_type,
        .on_error = run->config.waits_on_error     ? TW_ON_ERROR_WAIT
                    : run->config.resumes_on_error ? TW_ON_ERROR_RESUME
                                                   : TW_ON_ERROR_USUAL,
        .assumes_sync = run->config.assumes_sync,
        .wants = wants_source,
        .added = added_source,
        .context = indexes,
    };
    struct tw_source_setup with_tree = setup;

    close_capture(indexes);
    /* Of a source that has two streams each may be in a buffer of its own, or both in one. */
    indexes->sources = tw_take(run->allocator, (2 * tw_capture_source_count(run->capture) + 1) *
                                                   sizeof *indexes->sources);
    if (!indexes->sources)
        return TW_E_MEMORY;
    TW_TRY(tw_tree_new(&indexes->tree, &config, &run->fault));
    indexes->buffer = buffer;
    indexes->about = (struct tw_index_capture){
        .size = sizeof indexes->about,
        .framing = about->framing,
        .no_barrier = tw_capture_no_barrier(run->capture),
        .base = about->offset,
        .bytes = about->size,
        .read = read_buffer,
        .read_context = indexes,
        .sources = indexes->sources,
        .allocator = run->allocator,
        .protocols = run->capture->options.protocols,
        .protocol_count = run->capture->options.protocol_count,
    };
    with_tree.tree = indexes->tree;
    return tw_add_sources(&with_tree) == SIZE_MAX ? TW_E_MEMORY : TW_OK;
}

enum tw_status tw_run_index_capture(struct tw_run *run, const struct tw_index_capture **capture,
                                    uint32_t buffer)
{
    struct tw_indexes *indexes = open_indexes(run);
    enum tw_status status = TW_OK;

    *capture = NULL;
    if (buffer >= tw_capture_buffer_count(run->capture))
        return tw_fail(&run->fault, TW_E_ARGUMENT, "the capture has no such buffer");
    if (!indexes)
        return tw_fail(&run->fault, TW_E_MEMORY, "out of memory");
    if (indexes->buffer != buffer)
        status = describe(indexes, buffer);
    if (status != TW_OK) {
        close_capture(indexes);
        return tw_fail(&run->fault, status, "out of memory");
    }
    *capture = &indexes->about;
    return TW_OK;
}

/* ---- indexes ---- */

/* By its place, else by its name. */
static const struct tw_index *index_of(const struct tw_indexes *indexes,
                                       const struct tw_buffer *buffer)
{
    const struct tw_index *first = NULL;

    for (size_t i = 0; i < tw_index_file_count(indexes->file); i++) {
        const struct tw_index *index = tw_index_file_get(indexes->file, i);
        const struct tw_index_about *about = tw_index_about(index);

        if (strncmp(about->name, buffer->name, strlen(about->name)) == 0 &&
            about->base == buffer->offset)
            return index;
        if (!first)
            first = index;
    }
    return tw_index_file_count(indexes->file) == 1 ? first : NULL;
}

const struct tw_index *tw_run_index(struct tw_run *run, uint32_t buffer, bool is_thorough)
{
    const struct tw_buffer *about = tw_capture_buffer(run->capture, buffer);
    struct tw_indexes *indexes = open_indexes(run);
    const struct tw_index_capture *capture;
    const struct tw_index *index;
    struct tw_fault fault = { TW_OK, "" };

    if (!indexes || !about || indexes->all[buffer] || !indexes->file)
        return indexes && about ? indexes->all[buffer] : NULL;
    index = index_of(indexes, about);
    if (!index) {
        tw_warn(run, "%s holds no index of buffer %s", indexes->path, about->name);
        return NULL;
    }
    if (tw_run_index_capture(run, &capture, buffer) != TW_OK)
        return NULL;
    if (tw_index_matches(index, capture, is_thorough, &fault) != TW_OK) {
        tw_warn(run, "%s: %s; it is not used", indexes->path, fault.text);
        return NULL;
    }
    indexes->all[buffer] = index;
    return index;
}

/* Whether nothing would be added by making it again. */
static bool is_whole(const struct tw_index *index)
{
    return index && tw_index_about(index)->detail == TW_INDEX_FULL &&
           tw_index_about(index)->is_complete;
}

const struct tw_index *tw_run_index_need(struct tw_run *run, uint32_t buffer, bool is_thorough)
{
    const struct tw_index *found = tw_run_index(run, buffer, is_thorough);
    const struct tw_buffer *about = tw_capture_buffer(run->capture, buffer);
    const struct tw_index_config config = { .size = sizeof config,
                                            .detail = TW_INDEX_FULL,
                                            .name = about ? about->name : NULL };
    const struct tw_index_capture *capture;

    if (is_whole(found))
        return found;
    tw_note_that(run, "indexes buffer %s", about ? about->name : "");
    if (tw_run_index_capture(run, &capture, buffer) != TW_OK ||
        tw_index_build(&run->indexes->made[buffer], capture, &config, &run->fault) != TW_OK)
        return NULL;
    run->indexes->all[buffer] = run->indexes->made[buffer];
    run->indexes->has_file = false;
    return run->indexes->all[buffer];
}

const char *tw_run_index_path(struct tw_run *run, bool *is_there)
{
    const struct tw_indexes *indexes = open_indexes(run);

    *is_there = indexes && indexes->has_file;
    return indexes ? indexes->path : NULL;
}

void tw_run_index_check(struct tw_run *run)
{
    struct tw_indexes *indexes = open_indexes(run);
    struct tw_fault fault = { TW_OK, "" };

    if (!indexes || !indexes->file || tw_index_file_check(indexes->file, &fault) == TW_OK)
        return;
    tw_warn(run, "%s: %s; it is not used", indexes->path, fault.text);
    tw_index_close(indexes->file);
    indexes->file = NULL;
    memcpy(indexes->all, indexes->made,
           tw_capture_buffer_count(run->capture) * sizeof(const struct tw_index *));
}

/* ---- made while decoding ---- */

void tw_reader_index_begin(struct tw_reader *reader)
{
    struct tw_run *run = reader->run;
    const struct tw_buffer *about = tw_capture_buffer(run->capture, reader->buffer);
    const struct tw_index_config config = { .size = sizeof config,
                                            .detail = TW_INDEX_FULL,
                                            .name = about->name };
    const struct tw_index_capture *capture;
    struct tw_fault fault = { TW_OK, "" };

    tw_index_free(reader->index);
    reader->index = NULL;
    if (!run->config.builds_index || run->seek ||
        is_whole(tw_run_index(run, reader->buffer, false)) ||
        tw_run_index_capture(run, &capture, reader->buffer) != TW_OK)
        return;
    /* What cannot be indexed can still be decoded. */
    if (tw_index_new(&reader->index, capture, &config, &fault) != TW_OK)
        tw_warn(run, "%s: there will be no index: %s", about->name, fault.text);
}

void tw_reader_index_feed(struct tw_reader *reader, const uint8_t *bytes, size_t size)
{
    if (!reader->index)
        return;
    if (tw_index_feed(reader->index, bytes, size) == TW_OK)
        return;
    tw_index_free(reader->index);
    reader->index = NULL;
}

void tw_reader_index_end(struct tw_reader *reader)
{
    struct tw_indexes *indexes = reader->index ? open_indexes(reader->run) : NULL;

    if (indexes && tw_index_finish(reader->index) == TW_OK) {
        tw_index_free(indexes->made[reader->buffer]);
        indexes->made[reader->buffer] = reader->index;
        indexes->all[reader->buffer] = reader->index;
        indexes->has_file = false;
        reader->index = NULL;
    }
    tw_index_free(reader->index);
    reader->index = NULL;
}
