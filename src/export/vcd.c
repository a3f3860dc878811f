/* SPDX-License-Identifier: BSD-2-Clause */
/* Value change dump: a signal for each function, depth, exception, port, with x where trace is missing.
   Signals are declared before the first change, so changes go to a temporary file until the end. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "export/export.h"
#include "export/timeline_order.h"

enum { ID_FIRST = '!', IDS = 94, NAME_BYTES = 96 };

/* What is open on a track. */
struct vcd_track {
    uint32_t *functions;
    size_t count, room;
    bool is_seen, has_text;
};

struct vcd {
    struct tw_timeline_order order;
    FILE *body;
    struct vcd_track *tracks;
    size_t track_room;
    uint64_t time;
    bool has_time;
};

static struct vcd *state_of(struct tw_timeline_writer *writer)
{
    return writer->state;
}

/* Two signals of a track: the value, and what else there is (depth, text). */
static void make_id(char *id, uint32_t track, bool is_second)
{
    uint64_t number = (uint64_t)track * 2 + is_second;

    do
        *id++ = (char)(ID_FIRST + number % IDS);
    while (number /= IDS);
    *id = 0;
}

/* Text of the format has no blanks. */
static void make_word(char *word, size_t room, const char *text, size_t size)
{
    size_t i = 0;

    for (; i < size && i + 1 < room && text[i]; i++)
        word[i] = (unsigned char)text[i] <= ' ' || text[i] == 0x7f ? '_' : text[i];
    if (!i)
        word[i++] = '-';
    word[i] = 0;
}

static struct vcd_track *track_at(struct tw_timeline_writer *writer, uint32_t number)
{
    struct vcd *state = state_of(writer);
    const size_t before = state->track_room;

    if (number >= before) {
        if (!TW_GROW(writer->sink.allocator, &state->tracks, &state->track_room,
                     (size_t)number + 1)) {
            writer->sink.lacks_memory = true;
            return NULL;
        }
        memset(state->tracks + before, 0, (state->track_room - before) * sizeof *state->tracks);
    }
    state->tracks[number].is_seen = true;
    return &state->tracks[number];
}

static void set_time(struct vcd *state, uint64_t time)
{
    if (state->has_time && state->time == time)
        return;
    state->has_time = true;
    state->time = time;
    (void)fprintf(state->body, "#%" PRIu64 "\n", time);
}

static void put_text(struct vcd *state, uint32_t track, bool is_second, const char *text,
                     size_t size)
{
    char id[8], word[NAME_BYTES];

    make_id(id, track, is_second);
    make_word(word, sizeof word, text, size);
    (void)fprintf(state->body, "s%s %s\n", word, id);
}

static void put_number(struct vcd *state, uint32_t track, bool is_second, uint64_t value)
{
    char id[8], bits[65];
    size_t at = sizeof bits - 1;

    make_id(id, track, is_second);
    bits[at] = 0;
    do
        bits[--at] = (char)('0' + (value & 1));
    while (value >>= 1);
    (void)fprintf(state->body, "b%s %s\n", bits + at, id);
}

static void put_bit(struct vcd *state, uint32_t track, char value)
{
    char id[8];

    make_id(id, track, false);
    (void)fprintf(state->body, "%c%s\n", value, id);
}

/* The function at work and how deep it is. */
static void show_function(struct tw_timeline_writer *writer, uint32_t number,
                          const struct vcd_track *track)
{
    const struct tw_functions *functions = tw_timeline_functions(writer->timeline);
    const struct tw_function *function =
        track->count ? tw_functions_get(functions, track->functions[track->count - 1]) : NULL;
    const char *name = function       ? tw_subject_name(&writer->subject, function->name)
                       : track->count ? "(short)"
                                      : "-";

    put_text(state_of(writer), number, false, name, strlen(name));
    put_number(state_of(writer), number, true, track->count);
}

static void take_function(struct tw_timeline_writer *writer,
                          const struct tw_timeline_event *event, struct vcd_track *track)
{
    if (event->kind == TW_TIMELINE_BEGIN) {
        if (!TW_GROW(writer->sink.allocator, &track->functions, &track->room,
                     track->count + 1)) {
            writer->sink.lacks_memory = true;
            return;
        }
        track->functions[track->count++] =
            event->span == TW_SPAN_FUNCTION ? event->what : TW_NONE;
    } else if (track->count) {
        track->count--;
    }
    show_function(writer, event->track, track);
}

/* While trace of a source is missing nothing is known of what ran there. */
static void take_gap(struct tw_timeline_writer *writer, const struct tw_timeline_event *event)
{
    struct vcd *state = state_of(writer);
    const uint32_t stream = tw_timeline_track(writer->timeline, event->track)->stream;
    const bool is_begin = event->kind == TW_TIMELINE_BEGIN;

    put_bit(state, event->track, is_begin ? '1' : '0');
    for (uint32_t i = 0; is_begin && i < state->track_room; i++) {
        const struct tw_track *track = tw_timeline_track(writer->timeline, i);
        char id[8];

        if (!track || !state->tracks[i].is_seen || track->stream != stream)
            continue;
        make_id(id, i, false);
        if (track->kind == TW_TRACK_EXCEPTION)
            put_bit(state, i, 'x');
        if (track->kind != TW_TRACK_THREAD)
            continue;
        (void)fprintf(state->body, "sx %s\n", id);
        make_id(id, i, true);
        (void)fprintf(state->body, "bx %s\n", id);
    }
}

static void take_mark(struct tw_timeline_writer *writer, const struct tw_timeline_event *event,
                      struct vcd_track *track)
{
    struct vcd *state = state_of(writer);
    const struct tw_track *about = tw_timeline_track(writer->timeline, event->track);

    if (about->kind == TW_TRACK_EVENTS)
        put_number(state, event->track, false, event->what);
    else if (event->value_size)
        put_number(state, event->track, false, event->value);
    else if (event->has_address)
        put_number(state, event->track, false, event->address);
    if (event->text) {
        track->has_text = true;
        put_text(state, event->track, true, event->text, event->text_size);
    }
}

static void give(struct tw_timeline_writer *writer, const struct tw_timeline_event *event,
                 uint64_t time)
{
    const struct tw_track *about = tw_timeline_track(writer->timeline, event->track);
    struct vcd_track *track = track_at(writer, event->track);
    struct vcd *state = state_of(writer);

    if (!track || !state->body)
        return;
    set_time(state, time);
    if (event->kind == TW_TIMELINE_MARK || event->kind == TW_TIMELINE_VALUE) {
        take_mark(writer, event, track);
    } else if (about->kind == TW_TRACK_THREAD) {
        take_function(writer, event, track);
    } else if (about->kind == TW_TRACK_GAPS) {
        take_gap(writer, event);
    } else if (about->kind == TW_TRACK_EXCEPTION) {
        put_bit(state, event->track, event->kind == TW_TIMELINE_BEGIN ? '1' : '0');
    } else if (event->kind == TW_TIMELINE_BEGIN) {
        const char *name = tw_timeline_name(writer, event);

        put_text(state, event->track, false, name, strlen(name));
    } else {
        put_text(state, event->track, false, "-", 1);
    }
}

static void begin(struct tw_timeline_writer *writer)
{
    struct vcd *state = state_of(writer);

    state->order.give = give;
    state->body = tmpfile();
    writer->sink.lacks_memory |= !state->body;
}

static void take(struct tw_timeline_writer *writer, const struct tw_timeline_event *event)
{
    tw_timeline_order_take(&state_of(writer)->order, writer, event);
}

static void declare(struct tw_timeline_writer *writer, const char *type, uint32_t number,
                    bool is_second, const char *what)
{
    const struct tw_track *track = tw_timeline_track(writer->timeline, number);
    char id[8], word[NAME_BYTES];

    make_id(id, number, is_second);
    make_word(word, sizeof word, track->name, strlen(track->name));
    tw_sink_format(&writer->sink, "$var %s %s %s%s $end\n", type, id, word, what);
}

/* Every signal of a track. */
static void declare_track(struct tw_timeline_writer *writer, uint32_t number)
{
    switch (tw_timeline_track(writer->timeline, number)->kind) {
    case TW_TRACK_THREAD:
        declare(writer, "string 1", number, false, ".function");
        declare(writer, "wire 32", number, true, ".depth");
        break;
    case TW_TRACK_CORE:
        declare(writer, "string 1", number, false, ".thread");
        break;
    case TW_TRACK_EXCEPTION:
    case TW_TRACK_GAPS:
        declare(writer, "wire 1", number, false, "");
        break;
    default:
        declare(writer, "wire 64", number, false, "");
        if (state_of(writer)->tracks[number].has_text)
            declare(writer, "string 1", number, true, ".text");
        break;
    }
}

static void copy_body(struct tw_timeline_writer *writer)
{
    struct vcd *state = state_of(writer);
    char bytes[4096];
    size_t size;

    if (fflush(state->body) != 0 || ferror(state->body))
        writer->sink.lacks_memory = true; /* no room on the disk */
    rewind(state->body);
    while ((size = fread(bytes, 1, sizeof bytes, state->body)) > 0 && !writer->sink.is_over)
        tw_sink_bytes(&writer->sink, bytes, size);
}

static void end(struct tw_timeline_writer *writer)
{
    struct vcd *state = state_of(writer);
    struct tw_sink *sink = &writer->sink;

    if (!state->body)
        return;
    tw_timeline_order_end(&state->order, writer);
    tw_sink_format(
        sink, "$version %.60s $end\n$comment times count %s $end\n",
        writer->subject.creator ? writer->subject.creator : "trackway",
        writer->subject.clock ? "ns" : tw_time_unit_name(tw_timeline_unit(writer->timeline)));
    tw_sink_text(sink, "$timescale 1 ns $end\n$scope module trace $end\n");
    for (uint32_t i = 0; i < state->track_room; i++)
        if (state->tracks[i].is_seen)
            declare_track(writer, i);
    tw_sink_text(sink, "$upscope $end\n$enddefinitions $end\n");
    copy_body(writer);
}

static void release(struct tw_timeline_writer *writer)
{
    struct vcd *state = state_of(writer);

    if (state->body)
        (void)fclose(state->body);
    for (size_t i = 0; i < state->track_room; i++)
        tw_give(writer->sink.allocator, state->tracks[i].functions);
    tw_give(writer->sink.allocator, state->tracks);
    tw_timeline_order_release(&state->order, writer);
}

const struct tw_timeline_form tw_timeline_vcd = { .state_size = sizeof(struct vcd),
                                                  .begin = begin,
                                                  .take = take,
                                                  .end = end,
                                                  .release = release };
