/* SPDX-License-Identifier: BSD-2-Clause */
/* Running a buffer through its decode tree, and what to say of bad trace. */
#include "shared/session.h"

#include "shared/at.h"
#include "shared/attribution.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WINDOW = 1 << 20,
    SMALL_WINDOW = 1 << 16, /* where little is wanted */
    THREADS_MAX = 256,
    STREAMS_AHEAD = 32,     /* more are not decoded ahead */
    LARGE_WINDOW = 4 << 20, /* for several threads ... */
    LARGE_CAPTURE = 4 << 20 /* ... which pay from this size on */
};

static bool is_wanted(const struct session *session, size_t number, uint32_t buffer)
{
    const struct tw_source *source = tw_capture_source(session->capture, number);

    /* A source that is in several buffers is taken from the first, or from the one asked for;
       blocks of perf.data hold one part of its trace each. */
    if (session->options->buffer || session->perf
            ? !tw_capture_source_is_in(session->capture, number, 0, buffer)
            : tw_capture_source_buffer(session->capture, number, 0) != buffer)
        return false;
    if (source->has_id && !session_wants_id(session, source->id))
        return false;
    return session_wants_source(session, number);
}

static void say_left_out(const struct session *session, const struct tw_source *source,
                         const char *why)
{
    if (!session->options->quiet)
        say("warning: %s: source %s is left out: %s", tw_capture_path(session->capture),
            source->name, why);
}

enum { EXTRA_KEYS = 2, ON_ERROR_RESUME = 1, ON_ERROR_WAIT = 2 };

/* Gives the source to the tree, with the options that it knows as keys of its configuration. */
static enum tw_status add_with_keys(struct session *session, uint8_t *id,
                                    struct tw_tree_source *about)
{
    const struct options *options = session->options;
    const size_t count = about->register_count;
    struct tw_register *registers;
    enum tw_status status;

    if (!options->on_error && !options->assume_sync)
        return tw_tree_add_source(session->tree, id, about);
    registers = malloc((count + EXTRA_KEYS) * sizeof *registers);
    if (!registers)
        return TW_E_MEMORY;
    if (count)
        memcpy(registers, about->registers, count * sizeof *registers);
    about->registers = registers;
    if (options->on_error)
        registers[about->register_count++] = (struct tw_register){
            "ON_ERROR",
            strcmp(options->on_error, "wait") == 0 ? ON_ERROR_WAIT : ON_ERROR_RESUME,
        };
    if (options->assume_sync)
        registers[about->register_count++] = (struct tw_register){ "ASSUME_SYNC", 1 };
    status = tw_tree_add_source(session->tree, id, about);
    free(registers);
    return status;
}

static bool add_source(struct session *session, size_t number)
{
    const struct options *options = session->options;
    const struct tw_source *source = tw_capture_source(session->capture, number);
    struct tw_tree_source about = {
        .size = sizeof about,
        .protocol = source->protocol,
        .registers = source->registers,
        .register_count = source->register_count,
        .type = source->type,
        .core_type = options->arch ? options->arch : source->core_type,
        .text = source->text,
        .id = source->id,
        .image =
            source->image == TW_NONE ? NULL : tw_capture_image(session->capture, source->image),
    };
    uint8_t id = 0;

    if (session->perf) {
        session->lanes[number] = (struct tw_perf_lane){ .perf = session->perf,
                                                        .source = (uint32_t)number,
                                                        .buffer = session->buffer };
        about.view = tw_perf_look;
        about.view_context = &session->lanes[number];
        about.view_size = sizeof session->lanes[number];
    }
    if (!source->protocol) {
        say_left_out(session, source,
                     source->type ? "this build knows no such type of trace" : "no type given");
        return false;
    }
    if (add_with_keys(session, &id, &about) != TW_OK) {
        say_left_out(session, source, tw_tree_fault(session->tree));
        return false;
    }
    session->source_of[id & 0x7f] = (uint32_t)number;
    session->source_count++;
    if (options->verbose)
        say("%s: source %s, id 0x%02x, %s, core %s (%s)",
            tw_capture_buffer(session->capture, session->buffer)->name, source->name, id,
            source->protocol, source->core ? source->core : "none",
            about.core_type ? about.core_type : "type not known");
    return true;
}

/* Of so many threads those for this session.  Each of several streams has one that decodes ahead, and
   what they hold is limited by the number of streams. */
static uint32_t share_of(const struct session *session, uint32_t threads)
{
    if (session->stream_count <= 1 || threads == 1)
        return threads;
    if (session->stream_count > STREAMS_AHEAD)
        return 1;
    return threads / session->stream_count < 2 ? 2
                                               : (uint32_t)(threads / session->stream_count);
}

/* How many threads are to decode the buffer at work. */
static uint32_t threads_of(const struct session *session)
{
    const struct tw_buffer *buffer = tw_capture_buffer(session->capture, session->buffer);
    const struct number *wish = &session->options->threads;
    const uint64_t size = session->stream_count ? session->stream_size : buffer->size;
    long cores;

    if (session->is_packets || (!session->progress && !session->stream_count))
        return 1; /* nothing to share */
    if (wish->is_given)
        return share_of(session,
                        wish->value < THREADS_MAX ? (uint32_t)wish->value : THREADS_MAX);
    if (session->at || size < LARGE_CAPTURE)
        return 1;
    cores = sysconf(_SC_NPROCESSORS_ONLN);
    return share_of(session,
                    cores > 1 ? (cores < THREADS_MAX ? (uint32_t)cores : THREADS_MAX) : 1);
}

uint32_t session_threads(const struct session *session)
{
    return threads_of(session);
}

static size_t window_of(const struct session *session)
{
    const struct tw_buffer *buffer = tw_capture_buffer(session->capture, session->buffer);

    if (session->at)
        return SMALL_WINDOW;
    return buffer->size < LARGE_CAPTURE ? WINDOW : LARGE_WINDOW;
}

static bool new_tree(struct session *session, enum tw_framing framing)
{
    const struct options *options = session->options;
    const struct tw_tree_config config = {
        .size = sizeof config,
        .framing = framing,
        .base = tw_capture_buffer(session->capture, session->buffer)->offset,
        .no_barrier = tw_capture_no_barrier(session->capture),
        .packets_only = session->is_packets,
        .counts_elements = !session->is_packets,
        .range_limit = (uint32_t)options->range_limit.value,
        .source_address_n = options->source_address_n,
        .check_opcodes = (options->checks & CHECK_OPCODES) != 0,
        .check_atoms = (options->checks & CHECK_ATOMS) != 0,
        .check_continuity = (options->checks & CHECK_CONTINUITY) != 0,
        .threads = threads_of(session),
        .counter = session->counter,
    };
    struct tw_fault fault = { TW_OK, "" };

    if (tw_tree_new(&session->tree, &config, &fault) == TW_OK)
        return true;
    say("%s: %s", tw_capture_path(session->capture), fault.text);
    return false;
}

static void say_no_source(const struct session *session, const struct tw_buffer *buffer,
                          bool is_any_tried)
{
    const char *path = tw_capture_path(session->capture);

    if (is_any_tried || session->options->quiet)
        return;
    if (tw_capture_source_count(session->capture) == 0)
        say("%s: nothing says what trace this is; give --protocol, or --source ID:PROTOCOL for "
            "each source",
            path);
    else
        say("%s: buffer %s holds no source that was asked for", path, buffer->name);
}

enum start session_start(struct session *session, size_t buffer, bool is_packets)
{
    const struct tw_buffer *about = tw_capture_buffer(session->capture, buffer);
    bool is_any_tried = false;

    session->buffer = (uint32_t)buffer;
    session->is_packets = is_packets;
    session->fed = 0;
    session->is_finished = false;
    if (session->perf)
        attribution_start(session->seen, session);
    session->source_count = 0;
    for (size_t id = 0; id < 128; id++)
        session->source_of[id] = TW_NONE;
    memset(session->is_synced, 0, sizeof session->is_synced);
    if (!new_tree(session, about->framing))
        return START_FAILED;
    for (size_t i = 0; i < tw_capture_source_count(session->capture); i++) {
        if (!is_wanted(session, i, (uint32_t)buffer))
            continue;
        if (about->framing == TW_FRAMING_NONE && session->source_count) {
            say_left_out(session, tw_capture_source(session->capture, i),
                         "an unframed buffer holds one source only");
            continue;
        }
        is_any_tried = true;
        (void)add_source(session, i);
    }
    if (session->source_count)
        return STARTED;
    say_no_source(session, about, is_any_tried);
    tw_tree_free(session->tree);
    session->tree = NULL;
    return NOTHING_THERE;
}

/* Gives the tree its next bytes, or the end; TW_OK: ask it again. */
static enum tw_status feed(struct session *session)
{
    const uint8_t *bytes = NULL;
    size_t size = 0;
    enum tw_status status;

    if (session->is_finished)
        return TW_END;
    status = tw_capture_read(session->capture, &bytes, &size, session->buffer, session->fed);
    if (status == TW_END) {
        session->is_finished = true;
        return tw_tree_finish(session->tree);
    }
    if (status != TW_OK)
        return status;
    if (size > window_of(session))
        size = window_of(session);
    status = tw_tree_feed(session->tree, bytes, size);
    tw_capture_forget(session->capture, session->buffer, session->fed, size);
    session->fed += size;
    if (session->progress)
        progress_add(session->progress, size);
    return status;
}

static enum tw_status say_fault(const struct session *session, enum tw_status status)
{
    if (status < 0 && session->tree) /* else it was said why there is none */
        say("%s: %s", tw_capture_path(session->capture), tw_tree_fault(session->tree));
    return status;
}

enum tw_status session_next(struct session *session, struct tw_batch *batch)
{
    for (;;) {
        enum tw_status status = tw_tree_next(session->tree, batch);

        if (status == TW_MORE)
            status = feed(session);
        else if (status == TW_OK && batch->count) {
            if (session->at)
                status = at_trim(session, batch);
            if (status == TW_OK && session->perf)
                missing_take(session, session->seen, batch);
            if (status == TW_OK || status == TW_END)
                return status;
            if (status == TW_MORE)
                continue;
        }
        if (status != TW_OK)
            return say_fault(session, status);
    }
}

static void count_packet(struct session *session, const struct tw_packet_view *view)
{
    const uint8_t id = view->packet->id & 0x7f;
    struct loss *loss = &session->loss;

    loss->overflows += view->kind == TW_PACKET_OVERFLOW;
    loss->discards += view->kind == TW_PACKET_DISCARD;
    loss->truncated += view->kind == TW_PACKET_CUT;
    loss->bad += view->kind == TW_PACKET_BAD;
    loss->lost += view->is_not_sync && session->is_synced[id];
    session->is_synced[id] |= !view->is_not_sync && !view->is_bad;
}

enum tw_status session_next_packet(struct session *session, struct tw_packet_view *view)
{
    for (;;) {
        enum tw_status status = tw_tree_next_packet(session->tree, view);

        if (status == TW_OK) {
            count_packet(session, view);
            return TW_OK;
        }
        if (status == TW_MORE)
            status = feed(session);
        if (status != TW_OK)
            return say_fault(session, status);
    }
}

void session_restart(struct session *session, size_t buffer)
{
    session->buffer = (uint32_t)buffer;
    if (session->perf)
        attribution_start(session->seen, session);
    for (size_t i = 0; i < tw_capture_source_count(session->capture); i++)
        session->lanes[i].buffer = (uint32_t)buffer;
    tw_tree_reset(session->tree, tw_capture_buffer(session->capture, buffer)->offset);
    session->fed = 0;
    session->is_finished = false;
}

static void count_source(struct loss *loss, const struct tw_source_stats *stats)
{
    for (unsigned code = TW_ERROR_NONE + 1; code < TW_ERROR_CODES; code++) {
        if (code == TW_ERROR_TRUNCATED)
            loss->truncated += stats->errors[code];
        else if (code == TW_ERROR_DISCONTINUITY)
            loss->lost += stats->errors[code];
        else if (code != TW_ERROR_OVERFLOW && code != TW_ERROR_UNSYNCED)
            loss->bad += stats->errors[code];
    }
    loss->overflows += stats->overflows;
    loss->discards += stats->discards;
    loss->unsynced += stats->unsynced_bytes;
    loss->missing += stats->missing_code;
}

void session_stop(struct session *session)
{
    for (size_t id = 0; session->tree && id < 128; id++) {
        const struct tw_source_stats *stats = NULL;

        if (session->source_of[id] != TW_NONE)
            stats = tw_tree_source_stats(session->tree, (uint8_t)id);
        if (stats)
            count_source(&session->loss, stats);
    }
    tw_tree_free(session->tree);
    session->tree = NULL;
}

void session_say_error(const struct session *session, const struct tw_element *error,
                       uint8_t id)
{
    struct tw_error entry;

    if (session->progress)
        progress_hide(session->progress);
    if (!session->options->quiet && tw_error_from_element(&entry, error, id) &&
        tw_errors_set_name(session->errors, session_file(session, session->buffer)))
        tw_errors_add(session->errors, &entry);
}

static void add_count(char *text, size_t room, uint64_t count, const char *one,
                      const char *many)
{
    const size_t used = strlen(text);

    if (count)
        (void)snprintf(text + used, room - used, "%s%" PRIu64 " %s", used ? ", " : "", count,
                       count == 1 ? one : many);
}

int session_summary(const struct session *session)
{
    const struct loss *loss = &session->loss;
    const uint64_t not_recorded = session->perf ? missing_say(session) : 0;
    char damage[400] = "", notes[200] = "";

    add_count(damage, sizeof damage, not_recorded, "loss while recording",
              "losses while recording");
    add_count(damage, sizeof damage, loss->bad, "error in the trace", "errors in the trace");
    add_count(damage, sizeof damage, loss->truncated, "cut packet at the end",
              "cut packets at the end");
    add_count(damage, sizeof damage, loss->overflows, "overflow", "overflows");
    add_count(damage, sizeof damage, loss->discards, "discard", "discards");
    add_count(damage, sizeof damage, loss->lost, "gap", "gaps");
    add_count(notes, sizeof notes, loss->unsynced, "byte without sync", "bytes without sync");
    add_count(notes, sizeof notes, loss->missing, "address not in the image",
              "addresses not in the image");
    if (!session->options->quiet && (damage[0] || notes[0]))
        say("%s: %s%s%s", tw_capture_path(session->capture), damage,
            damage[0] && notes[0] ? "; " : "", notes);
    return damage[0] ? DONE_WITH_LOSS : DONE;
}

/* TW_OK: this buffer is done; TW_MORE: there was nothing to do; else it failed. */
static enum tw_status run_buffer(struct session *session, size_t buffer, session_fn *each,
                                 void *context)
{
    enum start start = STARTED;

    if (session->tree)
        session_restart(session, buffer);
    else
        start = session_start(session, buffer, session->is_packets);
    if (start == NOTHING_THERE)
        return TW_MORE;
    if (start == START_FAILED || !each(context, session, buffer))
        return TW_E_FILE;
    if (!session->options->multi_session)
        session_stop(session);
    return TW_OK;
}

/* Of all buffers that the options want. */
static uint64_t bytes_wanted(const struct session *session)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < tw_capture_buffer_count(session->capture); i++)
        if (session_wants(session, i))
            bytes += tw_capture_buffer(session->capture, i)->size;
    return bytes;
}

int session_run(struct session *session, bool is_packets, session_fn *each, void *context)
{
    struct progress progress;
    bool is_any = false, has_failed = false;
    int status;

    progress_start(&progress, session->options, bytes_wanted(session));
    session->progress = &progress;
    for (size_t i = 0; i < tw_capture_buffer_count(session->capture) && !has_failed; i++) {
        enum tw_status done;

        if (!session_wants(session, i) || (session->out && output_is_over(session->out)))
            continue;
        session->is_packets = is_packets;
        done = run_buffer(session, i, each, context);
        is_any |= done == TW_OK;
        has_failed = done < 0;
    }
    progress_end(&progress);
    session->progress = NULL;
    if (has_failed)
        return NOT_DONE;
    session_stop(session);
    if (session->out && session->out->has_failed)
        return NOT_DONE;
    status = session_summary(session);
    /* A recording may hold no trace at all: that is what there is to say of it. */
    is_any |= session->perf && tw_capture_buffer_count(session->capture) == 0;
    return is_any ? status : NOT_DONE;
}
