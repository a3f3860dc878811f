/* SPDX-License-Identifier: BSD-2-Clause */
/* Decodes buffers one after the other: windows of bytes into a tree, elements that count out of it. */
#include <string.h>

#include "base/fault.h"
#include "base/platform.h"
#include "capture/capture.h"
#include "capture/sources.h"
#include "protocol.h"
#include "run/run.h"

enum {
    WINDOW = 1 << 18,       /* what is taken out of its frames stays near */
    SMALL_WINDOW = 1 << 16, /* where little is wanted */
    THREADS_MAX = 256,
    READERS_AHEAD = 32,     /* more are not decoded ahead */
    LARGE_WINDOW = 4 << 20, /* for several threads ... */
    LARGE_CAPTURE = 4 << 20 /* ... which pay from this size on */
};

/* Of so many threads those for one reader.  Each of several has one that decodes ahead, and what
   they hold is limited by the number of readers. */
static uint32_t share_of(const struct tw_run *run, uint32_t threads)
{
    if (run->reader_count <= 1 || threads == 1)
        return threads;
    if (run->reader_count > READERS_AHEAD)
        return 1;
    return threads / run->reader_count < 2 ? 2 : (uint32_t)(threads / run->reader_count);
}

static uint32_t threads_of(const struct tw_reader *reader)
{
    const struct tw_run *run = reader->run;
    const uint64_t size = run->config.order == TW_ORDER_TIME
                              ? reader->bytes
                              : tw_capture_buffer(run->capture, reader->buffer)->size;
    long cores;

    if (run->config.threads)
        return share_of(run,
                        run->config.threads < THREADS_MAX ? run->config.threads : THREADS_MAX);
    if (run->seek || size < LARGE_CAPTURE)
        return 1;
    cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores < 1)
        cores = 1;
    return share_of(run, cores < THREADS_MAX ? (uint32_t)cores : THREADS_MAX);
}

uint32_t tw_run_threads(const struct tw_run *run)
{
    return run->at_work ? threads_of(run->at_work) : 1;
}

static size_t window_of(const struct tw_reader *reader)
{
    const struct tw_run *run = reader->run;

    if (run->seek)
        return SMALL_WINDOW;
    return tw_capture_buffer(run->capture, reader->buffer)->size < LARGE_CAPTURE ? WINDOW
                                                                                 : LARGE_WINDOW;
}

/* perf.data: what the decoders look through lasts as long as the reader, which moves it from buffer to
   buffer. */
static enum tw_status take_cursors(struct tw_reader *reader)
{
    const struct tw_run *run = reader->run;
    const size_t count = tw_capture_source_count(run->capture) + 1;

    if (run->perf && !reader->cursors)
        reader->cursors = tw_take(run->allocator, count * sizeof *reader->cursors);
    return run->perf && !reader->cursors ? TW_E_MEMORY : TW_OK;
}

static enum tw_status new_tree(struct tw_reader *reader)
{
    struct tw_run *run = reader->run;
    const struct tw_run_config *wish = &run->config;
    const struct tw_buffer *buffer = tw_capture_buffer(run->capture, reader->buffer);
    const struct tw_tree_config config = {
        .size = sizeof config,
        .framing = buffer->framing,
        .base = buffer->offset,
        .no_barrier = tw_capture_no_barrier(run->capture),
        .packets_only = wish->packets_only,
        .keeps_bits = wish->keeps_bits,
        .counts_elements = !wish->packets_only && !wish->leaves_stats,
        .range_limit = wish->range_limit,
        .source_address_n = wish->source_address_n,
        .batch_room = wish->batch_room,
        .check_opcodes = wish->check_opcodes,
        .check_atoms = wish->check_atoms,
        .check_continuity = wish->check_continuity,
        .threads = run->config.packets_only ? 1 : threads_of(reader),
        .counter = run->count ? tw_count_counter(run) : tw_summing_counter(run),
        .allocator = run->allocator,
        .markers = !run->count, /* those that count in trees have none: nor has any other */
    };

    TW_TRY(tw_tree_new(&reader->tree, &config, &run->fault));
    tw_reader_leave_out(reader);
    return TW_OK;
}

static bool wants_source(void *context, uint32_t source)
{
    const struct tw_reader *reader = context;

    return reader->only == TW_NONE ? tw_filter_has_source(reader->run, source)
                                   : reader->only == source;
}

static void added_source(void *context, const struct tw_added_source *added)
{
    struct tw_reader *reader = context;
    const struct tw_run_config *config = &reader->run->config;
    const struct tw_run_source about = {
        .buffer = reader->buffer,
        .source = added->number,
        .id = added->id,
        .core_type = added->source ? added->source->core_type : NULL,
        .left_out = added->left_out,
    };

    if (!added->left_out)
        reader->source_of[added->id % TW_RUN_IDS] = added->number;
    if (config->on_source)
        config->on_source(config->context, &about);
}

/* A unit's second stream has the next ID, unless that is another source's. */
static void find_owners(struct tw_reader *reader)
{
    memcpy(reader->owner_of, reader->source_of, sizeof reader->owner_of);
    for (unsigned id = 1; id < TW_RUN_IDS; id++)
        if (reader->source_of[id] == TW_NONE && reader->source_of[id - 1] != TW_NONE &&
            tw_tree_source_stats(reader->tree, (uint8_t)id))
            reader->owner_of[id] = reader->source_of[id - 1];
}

static enum tw_status add_sources(struct tw_reader *reader)
{
    struct tw_run *run = reader->run;
    const struct tw_run_config *config = &run->config;
    const struct tw_source_setup setup = {
        .capture = run->capture,
        .buffer = reader->buffer,
        .tree = reader->tree,
        .core_type = config->core_type,
        .on_error = config->waits_on_error     ? TW_ON_ERROR_WAIT
                    : config->resumes_on_error ? TW_ON_ERROR_RESUME
                                               : TW_ON_ERROR_USUAL,
        .assumes_sync = config->assumes_sync,
        .cursors = reader->cursors,
        .wants = wants_source,
        .added = added_source,
        .context = reader,
    };

    for (size_t id = 0; id < TW_RUN_IDS; id++)
        reader->source_of[id] = TW_NONE;
    reader->source_count = tw_add_sources(&setup);
    if (reader->source_count == SIZE_MAX)
        return TW_E_MEMORY;
    find_owners(reader);
    return reader->source_count ? TW_OK : TW_END;
}

/* The same tree for another buffer that holds the same sources. */
static void restart(struct tw_reader *reader)
{
    const struct tw_run *run = reader->run;

    for (size_t i = 0; reader->cursors && i < tw_capture_source_count(run->capture); i++)
        reader->cursors[i].buffer = reader->buffer;
    tw_tree_reset(reader->tree, tw_capture_buffer(run->capture, reader->buffer)->offset);
}

bool tw_reader_serves(const struct tw_reader *reader, uint32_t buffer)
{
    const struct tw_run *run = reader->run;
    const struct tw_perf_block *a, *b;

    if (!reader->tree)
        return false;
    if (run->config.is_joined)
        return true;
    if (!run->perf)
        return false;
    a = tw_perf_block(run->perf, reader->buffer);
    b = tw_perf_block(run->perf, buffer);
    /* In capture order each block is decoded as if it was alone. */
    return run->config.order == TW_ORDER_TIME && a->on_cpu == b->on_cpu &&
           (a->flags & TW_PERF_RAW) == (b->flags & TW_PERF_RAW);
}

static uint32_t ring_of(const struct tw_run *run, uint32_t buffer)
{
    if (run->config.is_joined)
        return 0;
    return run->perf ? tw_perf_block(run->perf, buffer)->stream : buffer;
}

enum tw_status tw_reader_open(struct tw_reader *reader, uint32_t buffer)
{
    struct tw_run *run = reader->run;
    const bool is_served = tw_reader_serves(reader, buffer);
    enum tw_status status = TW_OK;

    if (!is_served)
        tw_reader_close_tree(reader);
    if (ring_of(run, buffer) != reader->ring) {
        reader->stream_count = 0;
        tw_map_clear(&reader->by_src);
    }
    memset(reader->by_id, 0, sizeof reader->by_id);
    reader->buffer = buffer;
    reader->ring = ring_of(run, buffer);
    reader->fed = 0;
    reader->is_finished = reader->is_ended = reader->is_over = false;
    reader->rolling = NULL;
    reader->flushed = 0;
    memset(reader->progress, 0, sizeof reader->progress);
    memset(run->is_synced, 0, sizeof run->is_synced);
    if (is_served)
        restart(reader);
    else
        status = take_cursors(reader);
    if (!is_served && status == TW_OK)
        status = new_tree(reader);
    if (!is_served && status == TW_OK) {
        if (run->count)
            tw_count_begin(run, reader);
        status = add_sources(reader);
    }
    if (!is_served && status == TW_OK && run->tallies_packets)
        status = tw_tree_tally_packets(reader->tree);
    if (status != TW_OK) {
        tw_tree_free(reader->tree);
        reader->tree = NULL;
        return status;
    }
    /* Sources that were seen in a buffer before this one. */
    for (size_t i = 0; i < reader->stream_count; i++)
        tw_who_begin(run, reader->streams[i], buffer);
    reader->is_open = true;
    tw_extent_open(run, buffer);
    tw_reader_index_begin(reader);
    return TW_OK;
}

static struct tw_run_stream *new_stream(struct tw_reader *reader, uint8_t id, uint32_t src)
{
    struct tw_run *run = reader->run;
    const uint32_t number = reader->owner_of[id % TW_RUN_IDS];
    struct tw_run_stream *stream;

    if (!TW_GROW(run->allocator, &run->streams, &run->stream_room, run->stream_count + 1))
        return NULL;
    stream = tw_take(run->allocator, sizeof *stream);
    if (!stream)
        return NULL;
    stream->number = (uint32_t)run->stream_count;
    stream->source_number = number;
    stream->source = tw_capture_source(run->capture, number);
    if (stream->source) /* else: markers of the frames */
        stream->image =
            tw_capture_image(run->capture, tw_capture_image_of(run->capture, number, src));
    stream->ring = reader->ring;
    stream->id = id;
    stream->src = src;
    if (stream->source && id == 0 && src != TW_NO_SRC) {
        const struct tw_protocol *protocol = tw_protocol_by_name(stream->source->protocol);

        stream->src_is_id = protocol && protocol->flags & TW_PROTOCOL_SRC_IS_ID;
    }
    stream->last_total = TW_NONE;
    run->streams[run->stream_count++] = stream;
    return stream;
}

/* Streams of an earlier buffer of the same ring go on. */
static struct tw_run_stream *find_stream(const struct tw_reader *reader, uint8_t id,
                                         uint32_t src)
{
    const struct tw_run *run = reader->run;

    for (size_t i = 0; run->perf && i < run->stream_count; i++)
        if (run->streams[i]->ring == reader->ring && run->streams[i]->id == id &&
            run->streams[i]->src == src)
            return run->streams[i];
    return NULL;
}

struct tw_run_stream *tw_reader_stream(struct tw_reader *reader, uint8_t id, uint32_t src)
{
    struct tw_run *run = reader->run;
    struct tw_run_stream **last = &reader->by_id[id % TW_RUN_IDS], *stream;
    uint64_t *place;

    if (*last && (*last)->src == src)
        return *last;
    place = tw_map_put(&reader->by_src, (uint64_t)id << 32 | src);
    if (!place || !TW_GROW(run->allocator, &reader->streams, &reader->stream_room,
                           reader->stream_count + 1))
        return NULL;
    if (*place)
        return *last = reader->streams[*place - 1];
    stream = find_stream(reader, id, src);
    if (!stream)
        stream = new_stream(reader, id, src);
    if (!stream)
        return NULL;
    reader->streams[reader->stream_count++] = stream;
    *place = reader->stream_count;
    tw_who_begin(run, stream, reader->buffer);
    return *last = stream;
}

/* Gives the tree its next bytes, or the end; TW_OK: ask it again. */
static enum tw_status feed(struct tw_reader *reader)
{
    struct tw_run *run = reader->run;
    const uint8_t *bytes = NULL;
    size_t size = 0;
    enum tw_status status;

    if (reader->is_finished)
        return TW_END;
    status = tw_capture_read(run->capture, &bytes, &size, reader->buffer, reader->fed);
    if (status == TW_END) {
        (void)tw_summing_feed(run, reader, 0);
        reader->is_finished = true;
        tw_reader_index_end(reader);
        return tw_tree_finish(reader->tree);
    }
    if (status != TW_OK)
        return status;
    if (size > window_of(reader))
        size = window_of(reader);
    size = tw_summing_feed(run, reader, size);
    status = tw_tree_feed(reader->tree, bytes, size);
    tw_reader_index_feed(reader, bytes, size);
    tw_capture_forget(run->capture, reader->buffer, reader->fed, size);
    reader->fed += size;
    if (run->config.on_bytes)
        run->config.on_bytes(run->config.context, size);
    return status;
}

/* What rollbacks hold at the end of the buffer. */
static enum tw_status flush(struct tw_reader *reader, struct tw_batch *batch)
{
    while (reader->flushed < reader->stream_count)
        if (tw_rollback_end(&reader->streams[reader->flushed++]->rollback, batch))
            return TW_OK;
    return TW_END;
}

/* The next batch as the tree has it. */
static enum tw_status next_decoded(struct tw_reader *reader, struct tw_batch *batch)
{
    while (!reader->is_over) {
        enum tw_status status;
        bool has_elements;

        batch->size = sizeof *batch;
        status = tw_tree_next(reader->tree, batch);
        has_elements = status == TW_OK && batch->count;
        status = tw_summing_check(reader->run, reader, status);

        if (status == TW_MORE)
            status = feed(reader);
        else if (has_elements && reader->run->seek)
            status = tw_seek_check(reader->run, reader, batch);
        if (status == TW_OK && has_elements) {
            reader->is_over = tw_extent_is_behind(reader->run, reader, batch);
            return TW_OK;
        }
        if (status != TW_OK && status != TW_MORE) {
            batch->count = 0;
            return status;
        }
    }
    batch->count = 0;
    return TW_END;
}

static enum tw_status fail(struct tw_reader *reader, enum tw_status status)
{
    struct tw_run *run = reader->run;

    if (status < 0 && reader->tree)
        (void)tw_fail(&run->fault, status, "%s",
                      status == TW_E_MEMORY ? "out of memory" : tw_tree_fault(reader->tree));
    return status;
}

enum tw_status tw_reader_next(struct tw_reader *reader, struct tw_batch *batch)
{
    struct tw_run *run = reader->run;

    for (;;) {
        struct tw_run_stream *stream;
        enum tw_status status;

        if (reader->rolling) {
            if (tw_rollback_next(reader->rolling, batch, run->allocator))
                return TW_OK;
            reader->rolling = NULL;
        }
        batch->count = 0;
        if (reader->is_ended)
            return flush(reader, batch);
        status = next_decoded(reader, batch);
        if (status == TW_END) {
            reader->is_ended = true;
            continue;
        }
        if (status != TW_OK)
            return fail(reader, status);
        stream = tw_reader_stream(reader, batch->id, batch->src);
        if (!stream)
            return fail(reader, TW_E_MEMORY);
        if (run->config.keeps_failed || tw_rollback_is_idle(&stream->rollback, batch))
            return TW_OK;
        tw_rollback_take(&stream->rollback, batch);
        reader->rolling = &stream->rollback;
    }
}

enum tw_status tw_reader_next_packet(struct tw_reader *reader, struct tw_packet_view *view)
{
    for (;;) {
        enum tw_status status = tw_tree_next_packet(reader->tree, view);

        if (status == TW_OK)
            return TW_OK;
        if (status == TW_MORE)
            status = feed(reader);
        if (status != TW_OK)
            return fail(reader, status);
    }
}

void tw_reader_close_tree(struct tw_reader *reader)
{
    for (size_t id = 0; reader->tree && id < TW_RUN_IDS; id++) {
        const struct tw_source_stats *stats = NULL;

        if (reader->source_of[id] != TW_NONE)
            stats = tw_tree_source_stats(reader->tree, (uint8_t)id);
        if (stats)
            tw_losses_add_stats(&reader->run->losses, stats);
    }
    tw_tree_free(reader->tree);
    reader->tree = NULL;
}

void tw_reader_free(struct tw_reader *reader)
{
    if (!reader)
        return;
    tw_tree_free(reader->tree);
    tw_index_free(reader->index);
    tw_map_free(&reader->by_src);
    tw_give(reader->run->allocator, reader->streams);
    tw_give(reader->run->allocator, reader->cursors);
    tw_give(reader->run->allocator, reader);
}
