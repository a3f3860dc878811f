/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway frames: the capture's bytes by trace ID. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <trackway/frame.h>

#include "commands/commands.h"
#include "shared/session.h"
#include "shared/split.h"

enum { WINDOW = 1 << 20, EVENT_WINDOW = 1 << 16 };

/* A run kept back until the events before it are known. */
struct kept_run {
    uint64_t capture, stream;
    size_t at, size; /* in the kept bytes */
    uint8_t id;
};

struct frames {
    const struct session *session;
    struct output *out;
    struct split *split; /* NULL: lines */
    const char *buffer;  /* name for "buf"; NULL: not needed */
    uint64_t from, to;
    bool is_json, is_all, has_failed;
    bool has_names; /* --source selects */
    bool is_unframed;
    uint8_t unframed_id; /* whose the bytes are then */

    struct kept_run *runs;
    size_t run_count, run_room;
    uint8_t *bytes;
    size_t byte_count, byte_room;

    uint64_t lost, bad_ids, incomplete;
};

static void print_json(const struct frames *frames, const struct kept_run *run,
                       const uint8_t *bytes)
{
    struct output *out = frames->out;

    output_bytes(out, "{\"i\":", 5);
    output_decimal(out, run->capture);
    output_bytes(out, ",\"id\":", 6);
    if (run->id == TW_ID_UNKNOWN)
        output_bytes(out, "null", 4);
    else
        output_decimal(out, run->id);
    if (frames->buffer) {
        output_text(out, ",\"buf\":");
        output_json_text(out, frames->buffer);
    }
    output_bytes(out, ",\"o\":", 5);
    output_decimal(out, run->stream);
    output_bytes(out, ",\"b\":\"", 6);
    output_hex(out, bytes, run->size);
    output_bytes(out, "\"}\n", 3);
}

static void print_text(const struct frames *frames, const struct kept_run *run,
                       const uint8_t *bytes)
{
    struct output *out = frames->out;

    output_address(out, run->capture);
    if (run->id == TW_ID_UNKNOWN) {
        output_bytes(out, " id none +", 10);
    } else {
        output_bytes(out, " id ", 4);
        output_address(out, run->id);
        output_bytes(out, " +", 2);
    }
    output_address(out, run->stream);
    output_bytes(out, " ", 1);
    output_hex(out, bytes, run->size);
    output_bytes(out, "\n", 1);
}

/* Whether the ID is that of a source that --source names. */
static bool is_named(const struct frames *frames, uint8_t id)
{
    const struct tw_capture *capture = frames->session->capture;

    for (size_t i = 0; i < tw_capture_source_count(capture); i++)
        if (tw_capture_source(capture, i)->id == id && session_wants_source(frames->session, i))
            return true;
    return false;
}

/* What the options leave of a run; false: nothing. */
static bool cut_run(const struct frames *frames, struct kept_run *run, const uint8_t **bytes)
{
    if (frames->is_unframed)
        run->id = frames->unframed_id;
    if (run->capture >= frames->to || run->capture + run->size <= frames->from)
        return false;
    if (!session_wants_id(frames->session, run->id) ||
        (frames->has_names && !is_named(frames, run->id)))
        return false;
    if (run->capture < frames->from) {
        const size_t less = (size_t)(frames->from - run->capture);

        run->capture += less;
        run->stream += less;
        run->size -= less;
        *bytes += less;
    }
    if (run->size > frames->to - run->capture)
        run->size = (size_t)(frames->to - run->capture);
    return true;
}

static bool grow(void **memory, size_t *room, size_t needed, size_t each)
{
    size_t more = *room ? *room : 1024;
    void *bigger;

    if (needed <= *room)
        return true;
    while (more < needed)
        more *= 2;
    bigger = realloc(*memory, more * each);
    if (!bigger) {
        say("out of memory");
        return false;
    }
    *memory = bigger;
    *room = more;
    return true;
}

static void keep_run(struct frames *frames, struct kept_run run, const uint8_t *bytes)
{
    void *runs = frames->runs, *kept = frames->bytes;
    bool is_good = grow(&runs, &frames->run_room, frames->run_count + 1, sizeof run);

    frames->runs = runs;
    is_good = is_good && grow(&kept, &frames->byte_room, frames->byte_count + run.size, 1);
    frames->bytes = kept;
    if (!is_good) {
        frames->has_failed = true;
        return;
    }
    run.at = frames->byte_count;
    memcpy(frames->bytes + run.at, bytes, run.size);
    frames->byte_count += run.size;
    frames->runs[frames->run_count++] = run;
}

static void take_run(void *context, uint8_t id, uint64_t capture_offset, uint64_t stream_offset,
                     const uint8_t *bytes, size_t size)
{
    struct frames *frames = context;
    struct kept_run run = { capture_offset, stream_offset, 0, size, id };

    if (!cut_run(frames, &run, &bytes))
        return;
    if (frames->split)
        frames->has_failed |= !split_write(frames->split, run.id, bytes, run.size);
    else if (frames->is_all)
        keep_run(frames, run, bytes);
    else if (frames->is_json)
        print_json(frames, &run, bytes);
    else
        print_text(frames, &run, bytes);
}

/* The name of an event line; NULL: it has none. */
static const char *event_name(unsigned kind)
{
    switch (kind) {
    case TW_FRAME_TRIGGER:
        return "TRIGGER";
    case TW_FRAME_FLUSH:
        return "FLUSH";
    case TW_FRAME_FSYNC:
        return "FSYNC";
    case TW_FRAME_HSYNC:
        return "HSYNC";
    case TW_FRAME_BARRIER:
        return "BARRIER";
    case TW_FRAME_LOST:
    case TW_FRAME_INCOMPLETE:
    case TW_FRAME_SKIPPED:
    case TW_FRAME_BAD_BLOCK:
        return "LOST";
    default:
        return NULL; /* a reserved ID is seen in the run lines */
    }
}

static const char *lost_why(unsigned kind)
{
    return kind == TW_FRAME_INCOMPLETE  ? "incomplete"
           : kind == TW_FRAME_SKIPPED   ? "before-sync"
           : kind == TW_FRAME_BAD_BLOCK ? "bad-block"
                                        : "lost-sync";
}

static void print_event(const struct frames *frames, const struct tw_frame_event *event)
{
    const char *name = event_name(event->kind);
    const bool is_marker = event->kind == TW_FRAME_TRIGGER || event->kind == TW_FRAME_FLUSH;
    struct output *out = frames->out;

    if (!name || event->offset < frames->from || event->offset >= frames->to)
        return;
    if (!frames->is_json) {
        output_format(out, "0x%" PRIx64 " %s", event->offset, name);
        if (is_marker)
            output_format(out, " 0x%02x", event->value);
        if (strcmp(name, "LOST") == 0)
            output_format(out, " %s, %" PRIu32 " bytes", lost_why(event->kind), event->length);
        output_text(out, "\n");
        return;
    }
    output_format(out, "{\"i\":%" PRIu64 ",\"t\":\"%s\"", event->offset, name);
    if (frames->buffer) {
        output_text(out, ",\"buf\":");
        output_json_text(out, frames->buffer);
    }
    if (is_marker)
        output_format(out, ",\"value\":%u", event->value);
    if (strcmp(name, "LOST") == 0)
        output_format(out, ",\"n\":%" PRIu32 ",\"why\":\"%s\"", event->length,
                      lost_why(event->kind));
    output_text(out, "}\n");
}

/* Runs and events of a window, by offset; an event comes before the run that begins with it. */
static void print_window(struct frames *frames, const struct tw_frame_event *events,
                         size_t event_count)
{
    size_t run = 0;

    for (size_t i = 0; i <= event_count; i++) {
        const uint64_t limit = i < event_count ? events[i].offset : UINT64_MAX;

        for (; run < frames->run_count && frames->runs[run].capture < limit; run++) {
            const struct kept_run *kept = &frames->runs[run];

            if (frames->is_json)
                print_json(frames, kept, frames->bytes + kept->at);
            else
                print_text(frames, kept, frames->bytes + kept->at);
        }
        if (i < event_count)
            print_event(frames, &events[i]);
    }
    frames->run_count = frames->byte_count = 0;
}

static void take_events(struct frames *frames, struct tw_unframer *unframer)
{
    size_t count;
    const struct tw_frame_event *events = tw_unframer_events(unframer, &count);

    for (size_t i = 0; i < count; i++) {
        const unsigned kind = events[i].kind;

        frames->lost += kind == TW_FRAME_LOST || kind == TW_FRAME_BAD_BLOCK;
        frames->bad_ids += kind == TW_FRAME_RESERVED;
        frames->incomplete += kind == TW_FRAME_INCOMPLETE;
    }
    if (frames->is_all)
        print_window(frames, events, count);
    tw_unframer_clear_events(unframer);
}

/* TW_END: to the end of the buffer; TW_OK: to where --to says, or no one reads on. */
static enum tw_status feed_all(struct frames *frames, struct tw_unframer *unframer,
                               size_t buffer)
{
    const size_t window = frames->is_all ? EVENT_WINDOW : WINDOW;
    uint64_t offset = 0;

    while (offset < frames->to && !frames->has_failed && !output_is_over(frames->out)) {
        const uint8_t *bytes;
        size_t size;
        enum tw_status status =
            tw_capture_read(frames->session->capture, &bytes, &size, buffer, offset);

        if (status == TW_OK) {
            size = size < window ? size : window;
            status = tw_unframer_feed(unframer, bytes, size);
        }
        if (status != TW_OK)
            return status;
        take_events(frames, unframer);
        offset += size;
    }
    return TW_OK;
}

/* The trace ID of an unframed buffer's only source. */
static uint8_t only_id(const struct tw_capture *capture, size_t buffer)
{
    for (size_t i = 0; i < tw_capture_source_count(capture); i++)
        if (tw_capture_source_is_in(capture, i, 0, (uint32_t)buffer))
            return tw_capture_source(capture, i)->id;
    return TW_ID_UNKNOWN;
}

static bool do_buffer(struct frames *frames, size_t buffer)
{
    const struct tw_capture *capture = frames->session->capture;
    const struct tw_buffer *about = tw_capture_buffer(capture, buffer);
    const struct tw_unframer_config config = {
        .size = sizeof config,
        .framing = about->framing,
        .no_barrier = tw_capture_no_barrier(capture),
        .sync_events = frames->is_all,
        .on_run = take_run,
        .on_run_context = frames,
    };
    struct tw_unframer *unframer = NULL;
    enum tw_status status = tw_unframer_new(&unframer, &config, NULL);

    frames->buffer = session_has_several(frames->session) ? about->name : NULL;
    frames->is_unframed = about->framing == TW_FRAMING_NONE;
    frames->unframed_id = only_id(capture, buffer);
    if (status == TW_OK)
        status = feed_all(frames, unframer, buffer);
    if (status == TW_END) {
        status = tw_unframer_finish(unframer);
        take_events(frames, unframer);
    }
    tw_unframer_free(unframer);
    if (status != TW_OK)
        say("%s: cannot unpack buffer %s (%s)", tw_capture_path(capture), about->name,
            tw_status_name(status));
    return status == TW_OK && !frames->has_failed;
}

static int summary(const struct frames *frames)
{
    const char *path = tw_capture_path(frames->session->capture);
    const bool is_quiet = frames->session->options->quiet;

    if (!frames->lost && !frames->bad_ids && !frames->incomplete)
        return DONE;
    if (!is_quiet)
        say("%s: frames lost or damaged in %" PRIu64 " places, reserved IDs in %" PRIu64 "%s",
            path, frames->lost, frames->bad_ids,
            frames->incomplete ? ", the last frame is cut" : "");
    return DONE_WITH_LOSS;
}

static int do_all(struct frames *frames, struct session *session)
{
    const struct options *options = session->options;
    int status = DONE;

    for (size_t i = 0; status == DONE && i < tw_capture_buffer_count(session->capture); i++) {
        struct split split;

        if (!session_wants(session, i))
            continue;
        if (options->split) {
            if (!split_open(&split, options->split,
                            session_has_several(session)
                                ? tw_capture_buffer(session->capture, i)->name
                                : NULL)) {
                status = NOT_DONE;
                break;
            }
            frames->split = &split;
        }
        if (!do_buffer(frames, i))
            status = NOT_DONE;
        if (options->split && !split_close(&split, status == DONE))
            status = NOT_DONE;
    }
    if (status == DONE)
        status = summary(frames);
    return status;
}

static int run(const struct options *options)
{
    struct output out;
    struct session session;
    struct frames frames = {
        .session = &session,
        .out = &out,
        .from = options->from.value,
        .to = options->to.is_given ? options->to.value : UINT64_MAX,
        .is_json = options_format_is(options, "jsonl"),
        .is_all = options->all && !options->split,
        .has_names = options->source_names.count > 0,
    };
    int status;

    if (options->split && options->output) {
        say("frames: --split writes to a folder, --output to one file: give one of them");
        return BAD_USAGE;
    }
    if (!options_want_offsets(options))
        return BAD_USAGE;
    if (!output_open(&out, options->output, options->color))
        return NOT_DONE;
    status = session_open(&session, options);
    if (status == DONE)
        status = do_all(&frames, &session);
    session_close(&session);
    free(frames.runs);
    free(frames.bytes);
    if (!output_close(&out, status == DONE || status == DONE_WITH_LOSS))
        status = NOT_DONE;
    return status;
}

static const uint8_t takes[] = {
    G_CAPTURE, G_PART, O_ALL, O_SPLIT, O_OUTPUT, O_COLOR, O_QUIET, O_END,
};

const struct command command_frames = {
    .name = "frames",
    .arguments = "CAPTURE... [OPTION...]",
    .summary = "the bytes of each trace ID, unpacked from their frames",
    .details =
        "One line for each run of bytes of one ID that lie together: capture offset, ID,\n"
        "offset in the ID's own stream, bytes. Bytes before the first ID have none.\n"
        "--split DIR writes DIR/0x10.bin and so on instead (DIR/BUFFER/0x10.bin when\n"
        "there are several buffers).\n" LISTS_EACH "\n"
        "examples:\n"
        "  trackway frames etb.bin --framing memory\n"
        "  trackway frames snapshot --split streams",
    .formats = "text|jsonl",
    .options = takes,
    .least = 1,
    .most = 1 << 20,
    .lists_each = true,
    .run = run,
};
