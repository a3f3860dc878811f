/* SPDX-License-Identifier: BSD-2-Clause */
/* Merging the ring buffers of a perf.data file by the timestamps in their trace. */
#include "shared/merge.h"

#include "shared/attribution.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A ring buffer: its blocks one after the other. */
struct stream {
    struct session session; /* with a tree of its own; capture and options are shared */
    size_t next, end;       /* blocks that are still to come */
    bool is_open;           /* a block is at work */
    bool is_done;
    bool needs_key; /* no timestamp has come since the block began */
    uint64_t key;   /* all that is given next happened after this timestamp */
    struct tw_batch batch;
    size_t given;
    struct merge_lane *lanes[128];
    void *state; /* of all lanes, where they share it */
};

struct merge {
    struct session *session;
    const struct merge_sink *sink;
    struct stream *streams;
    size_t count;
    bool has_failed;
};

const char *merge_comm(const struct merge_lane *lane)
{
    const struct tw_perf_thread *thread = lane->at.thread;

    if (thread && *thread->comm)
        return thread->comm;
    return lane->at.tid == 0 ? "swapper" : ":-1";
}

uint32_t merge_pid(const struct merge_lane *lane)
{
    return lane->at.thread ? lane->at.thread->pid : lane->at.tid;
}

/* Zeroed state for a lane: its own, or that of the ring buffer. */
static void *state_of(struct merge *merge, struct stream *stream)
{
    const struct tw_perf_block *block =
        tw_perf_block(merge->session->perf, stream->session.buffer);

    if (merge->sink->share == SHARE_NEVER ||
        (merge->sink->share == SHARE_IN_THREADS && block->tid == TW_NONE))
        return calloc(1, merge->sink->state_size + 1);
    if (!stream->state)
        stream->state = calloc(1, merge->sink->state_size + 1);
    return stream->state;
}

static struct merge_lane *lane_of(struct merge *merge, struct stream *stream, uint8_t id)
{
    const uint32_t number = stream->session.source_of[id & 0x7f];
    struct merge_lane *lane = stream->lanes[id & 0x7f];
    const struct tw_source *source = tw_capture_source(merge->session->capture, number);

    if (lane || !source)
        return lane;
    lane = calloc(1, sizeof *lane);
    if (lane)
        lane->state = state_of(merge, stream);
    if (!lane || !lane->state) {
        say("out of memory");
        free(lane);
        merge->has_failed = true;
        return NULL;
    }
    lane->at = (struct tw_perf_lane){ .perf = merge->session->perf,
                                      .source = number,
                                      .buffer = stream->session.buffer };
    lane->id = id;
    lane->cpu = tw_perf_source_cpu(merge->session->perf, number);
    lane->protocol = source->protocol;
    lane->image = tw_capture_image(merge->session->capture, source->image);
    lane->view = tw_element_view(NULL);
    tw_perf_look(&lane->at, &lane->view, NULL);
    stream->lanes[id & 0x7f] = lane;
    return lane;
}

/* Whether the tree of one block serves the other: the same framing and the same sources. */
static bool serves(const struct merge *merge, size_t block, size_t other)
{
    const struct tw_perf_block *a = tw_perf_block(merge->session->perf, block);
    const struct tw_perf_block *b = tw_perf_block(merge->session->perf, other);

    return a->on_cpu == b->on_cpu && (a->flags & TW_PERF_RAW) == (b->flags & TW_PERF_RAW);
}

/* Begins the next block that has something.  False: there is none, or it failed. */
static bool open_block(struct merge *merge, struct stream *stream)
{
    while (stream->next < stream->end) {
        const size_t block = stream->next++;
        enum start start = STARTED;

        if (!session_wants(merge->session, block))
            continue;
        if (stream->session.tree && serves(merge, stream->session.buffer, block)) {
            session_restart(&stream->session, block);
        } else {
            session_stop(&stream->session);
            start = session_start(&stream->session, block, false);
        }
        if (start == START_FAILED)
            merge->has_failed = true;
        if (start != STARTED)
            continue;
        for (size_t id = 0; id < 128; id++) {
            struct merge_lane *lane = stream->lanes[id];

            if (!lane)
                continue;
            lane->at.buffer = (uint32_t)block;
            tw_perf_look(&lane->at, &lane->view, NULL);
        }
        stream->is_open = stream->needs_key = true;
        return true;
    }
    stream->is_done = true;
    return false;
}

static void end_block(struct merge *merge, struct stream *stream)
{
    stream->is_open = false;
    for (size_t id = 0; merge->sink->end_block && id < 128; id++)
        if (stream->lanes[id])
            merge->sink->end_block(merge->sink->context, stream->lanes[id]);
}

/* The first timestamp at or after `from`; `count`: there is none. */
static size_t find_time(const struct tw_batch *batch, size_t from)
{
    while (from < batch->count && (batch->elements[from].type != TW_ELEMENT_TIMESTAMP ||
                                   !batch->elements[from].timestamp))
        from++;
    return from;
}

/* Makes sure that there are elements to give, or the stream is done. */
static void refill(struct merge *merge, struct stream *stream)
{
    while (!stream->is_done && !merge->has_failed && stream->given == stream->batch.count) {
        enum tw_status status;
        size_t time;

        stream->given = stream->batch.count = 0;
        if (!stream->is_open && !open_block(merge, stream))
            return;
        stream->batch.size = sizeof stream->batch;
        status = session_next(&stream->session, &stream->batch);
        if (status == TW_END)
            end_block(merge, stream);
        else if (status != TW_OK)
            merge->has_failed = true;
        if (status != TW_OK) {
            stream->batch.count = 0;
            continue;
        }
        if (!session_wants_id(merge->session, stream->batch.id))
            stream->given = stream->batch.count;
        if (!stream->needs_key)
            continue;
        /* What comes before a block's first timestamp is as near to it as to nothing else. */
        time = find_time(&stream->batch, 0);
        if (time < stream->batch.count) {
            stream->key = stream->batch.elements[time].timestamp;
            stream->needs_key = false;
        }
    }
}

/* Where the elements that are near to the timestamp at `given` end, before the one at `next`.  A
   new context begins a stretch of its own, with what stands between it and the last range: it is
   nearer to the timestamp after it, as time went by before tracing went on. */
static size_t end_of_stretch(const struct tw_batch *batch, size_t given, size_t next)
{
    size_t end = given + (batch->elements[given].type == TW_ELEMENT_TIMESTAMP);

    for (size_t i = given; i < next; i++) {
        if (batch->elements[i].type == TW_ELEMENT_INSTR_RANGE)
            end = i + 1;
        else if (batch->elements[i].type == TW_ELEMENT_PE_CONTEXT && end > given)
            return end;
        else if (batch->elements[i].type == TW_ELEMENT_PE_CONTEXT)
            return next;
    }
    return next;
}

/* Gives the elements up to the next timestamp, or to a context before it. */
static void give(struct merge *merge, struct stream *stream)
{
    const struct tw_batch *batch = &stream->batch;
    const size_t next = find_time(batch, stream->given + 1);
    const size_t end = end_of_stretch(batch, stream->given, next);
    struct merge_lane *lane = lane_of(merge, stream, batch->id);

    if (lane)
        merge->sink->take(merge->sink->context, lane, batch->elements + stream->given,
                          end - stream->given);
    stream->given = end;
    if (next < batch->count)
        stream->key = batch->elements[next].timestamp;
}

static struct stream *earliest(struct merge *merge)
{
    struct stream *found = NULL;

    for (size_t i = 0; i < merge->count; i++) {
        struct stream *stream = &merge->streams[i];

        refill(merge, stream);
        if (!stream->is_done && (!found || stream->key < found->key))
            found = stream;
    }
    return found;
}

static bool set_up(struct merge *merge)
{
    const struct tw_perf *perf = merge->session->perf;
    const size_t count = tw_capture_buffer_count(merge->session->capture);

    merge->count = tw_perf_stream_count(perf);
    merge->streams = calloc(merge->count + 1, sizeof *merge->streams);
    if (!merge->streams) {
        say("out of memory");
        return false;
    }
    for (size_t i = 0; i < merge->count; i++) {
        struct session *session = &merge->streams[i].session;

        *session = (struct session){ .options = merge->session->options,
                                     .out = merge->session->out,
                                     .capture = merge->session->capture,
                                     .perf = perf,
                                     .missing = merge->session->missing };
        session->seen = calloc(1, sizeof *session->seen);
        session->lanes =
            calloc(tw_capture_source_count(session->capture) + 1, sizeof *session->lanes);
        if (!session->lanes || !session->seen) {
            say("out of memory");
            return false;
        }
        merge->streams[i].next = count;
    }
    for (size_t i = count; i-- > 0;) {
        struct stream *stream = &merge->streams[tw_perf_block(perf, i)->stream];

        if (stream->next == count)
            stream->end = i + 1;
        stream->next = i;
        stream->session.stream_count = merge->count;
        stream->session.stream_size += tw_capture_buffer(merge->session->capture, i)->size;
    }
    return true;
}

static void add_loss(struct loss *to, const struct loss *from)
{
    to->bad += from->bad;
    to->truncated += from->truncated;
    to->overflows += from->overflows;
    to->discards += from->discards;
    to->lost += from->lost;
    to->unsynced += from->unsynced;
    to->missing += from->missing;
}

static void clean_up(struct merge *merge)
{
    for (size_t i = 0; merge->streams && i < merge->count; i++) {
        struct stream *stream = &merge->streams[i];

        session_stop(&stream->session);
        add_loss(&merge->session->loss, &stream->session.loss);
        free(stream->session.lanes);
        free(stream->session.seen);
        for (size_t id = 0; id < 128; id++) {
            if (stream->lanes[id] && stream->lanes[id]->state != stream->state)
                free(stream->lanes[id]->state);
            free(stream->lanes[id]);
        }
        free(stream->state);
    }
    free(merge->streams);
}

int merge_run(struct session *session, const struct merge_sink *sink)
{
    struct merge merge = { .session = session, .sink = sink };
    struct stream *stream;

    merge.has_failed = !set_up(&merge);
    while (!merge.has_failed && !output_is_over(session->out) &&
           (stream = earliest(&merge)) != NULL)
        give(&merge, stream);
    clean_up(&merge);
    if (merge.has_failed || session->out->has_failed)
        return NOT_DONE;
    return session_summary(session);
}
