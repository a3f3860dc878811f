/* SPDX-License-Identifier: BSD-2-Clause */
/* Perfetto's protobuf trace: packets of track descriptors and track events. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "export/export.h"
#include "export/protobuf.h"

/* Field numbers of Trace, TracePacket and the messages in it. */
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER = 30,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_DESCRIPTION = 14,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    INTERNED_NAMES = 2,
    NAME_IID = 1,
    NAME_NAME = 2,
    ANNOTATION_NAME = 10,
    ANNOTATION_UINT = 3,
    ANNOTATION_STRING = 6,
    ANNOTATION_POINTER = 7
};

enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2, SEQUENCE = 1 };

struct perfetto {
    struct tw_text packet, event, inner, deeper;
    bool *is_named; /* by function: its name is interned */
    size_t named_room;
    bool *is_group; /* by process or stream: its descriptor is written */
    size_t group_room;
    bool has_begun;
};

static struct perfetto *state_of(struct tw_timeline_writer *writer)
{
    return writer->state;
}

/* Uuids: groups, tracks, tracks of counters. */
static uint64_t group_uuid(uint64_t number)
{
    return number * 4 + 1;
}

static uint64_t track_uuid(uint32_t number, bool is_counter)
{
    return (uint64_t)number * 4 + (is_counter ? 3 : 2);
}

static void put_packet(struct tw_timeline_writer *writer)
{
    struct perfetto *state = state_of(writer);
    char head[12] = { TRACE_PACKET << 3 | 2 };
    size_t size = 1;

    tw_protobuf_number(&state->packet, PACKET_SEQUENCE, SEQUENCE);
    tw_protobuf_number(&state->packet, PACKET_FLAGS,
                       state->has_begun ? NEEDS_STATE : STATE_CLEARED);
    state->has_begun = true;
    for (uint64_t left = state->packet.size;; left >>= 7) {
        head[size++] = (char)(left >= 0x80 ? left | 0x80 : left);
        if (left < 0x80)
            break;
    }
    tw_sink_bytes(&writer->sink, head, size);
    tw_sink_bytes(&writer->sink, state->packet.chars, state->packet.size);
    if (state->packet.failed || state->event.failed || state->inner.failed)
        writer->sink.lacks_memory = true;
    tw_text_clear(&state->packet);
}

static char *put_varint(char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(value | 0x80);
    *at++ = (char)value;
    return at;
}

/* The packet that nearly all are: a function begins (its name is known) or something ends. */
static void put_quickly(struct tw_timeline_writer *writer, const struct tw_timeline_event *from,
                        unsigned type, uint64_t name)
{
    char event[40], packet[80], all[100];
    char *at = event, *to;

    *at++ = EVENT_TYPE << 3;
    *at++ = (char)type;
    *at++ = EVENT_TRACK << 3;
    at = put_varint(at, track_uuid(from->track, false));
    if (name) {
        *at++ = EVENT_NAME_IID << 3;
        at = put_varint(at, name);
    }
    to = packet;
    *to++ = PACKET_TIMESTAMP << 3;
    to = put_varint(to, tw_timeline_ns(writer, &from->times));
    *to++ = PACKET_EVENT << 3 | 2;
    to = put_varint(to, (uint64_t)(at - event));
    memcpy(to, event, (size_t)(at - event));
    to += at - event;
    *to++ = PACKET_SEQUENCE << 3;
    *to++ = SEQUENCE;
    *to++ = PACKET_FLAGS << 3;
    *to++ = NEEDS_STATE;
    at = all;
    *at++ = TRACE_PACKET << 3 | 2;
    at = put_varint(at, (uint64_t)(to - packet));
    memcpy(at, packet, (size_t)(to - packet));
    at += to - packet;
    tw_sink_bytes(&writer->sink, all, (size_t)(at - all));
}

static bool *flag_at(struct tw_timeline_writer *writer, bool **flags, size_t *room,
                     size_t number)
{
    const size_t before = *room;

    if (number >= before) {
        if (!TW_GROW(writer->sink.allocator, flags, room, number + 1)) {
            writer->sink.lacks_memory = true;
            return NULL;
        }
        memset(*flags + before, 0, (*room - before) * sizeof **flags);
    }
    return &(*flags)[number];
}

/* The process of a thread that has one, else the core. */
static uint64_t tell_group(struct tw_timeline_writer *writer, const struct tw_track *track)
{
    struct perfetto *state = state_of(writer);
    const bool has_pid =
        track->kind == TW_TRACK_THREAD && track->pid != TW_NONE && track->pid < 1 << 22;
    const uint32_t number = has_pid ? track->pid * 2 + 1 : track->stream * 2;
    bool *is_told = flag_at(writer, &state->is_group, &state->group_room, number);
    char name[64];

    if (!is_told || *is_told)
        return group_uuid(number);
    *is_told = true;
    if (track->core)
        (void)snprintf(name, sizeof name, "%s", track->core);
    else if (track->cpu != TW_NONE)
        (void)snprintf(name, sizeof name, "cpu %u", track->cpu);
    else
        (void)snprintf(name, sizeof name, "id 0x%02x", track->id);
    /* pids of cores are beyond those of processes */
    tw_protobuf_number(&state->deeper, PROCESS_PID,
                       has_pid ? track->pid : (1u << 22) + track->stream);
    tw_protobuf_text(&state->deeper, PROCESS_NAME,
                     has_pid && track->comm[0] ? track->comm : name);
    tw_protobuf_number(&state->inner, TRACK_UUID, group_uuid(number));
    tw_protobuf_message(&state->inner, TRACK_PROCESS, &state->deeper);
    tw_protobuf_message(&state->packet, PACKET_TRACK, &state->inner);
    put_packet(writer);
    return group_uuid(number);
}

static void tell_track(struct tw_timeline_writer *writer, uint32_t number, bool is_counter)
{
    struct perfetto *state = state_of(writer);
    const struct tw_track *track = tw_timeline_track(writer->timeline, number);
    struct tw_told_track *told = tw_timeline_told(writer, number);
    uint64_t parent;

    if (!told || (is_counter ? told->is_told_too : told->is_told))
        return;
    *(is_counter ? &told->is_told_too : &told->is_told) = true;
    parent = tell_group(writer, track);
    tw_protobuf_number(&state->inner, TRACK_UUID, track_uuid(number, is_counter));
    tw_protobuf_number(&state->inner, TRACK_PARENT, parent);
    if (track->kind == TW_TRACK_THREAD && track->tid != TW_NONE && track->pid != TW_NONE) {
        tw_protobuf_number(&state->deeper, THREAD_PID, track->pid);
        tw_protobuf_number(&state->deeper, THREAD_TID, track->tid);
        tw_protobuf_text(&state->deeper, THREAD_NAME, track->name);
        tw_protobuf_message(&state->inner, TRACK_THREAD, &state->deeper);
    } else {
        tw_protobuf_text(&state->inner, TRACK_NAME, track->name);
    }
    if (is_counter)
        tw_protobuf_message(&state->inner, TRACK_COUNTER, &state->deeper);
    tw_protobuf_message(&state->packet, PACKET_TRACK, &state->inner);
    put_packet(writer);
}

static void begin(struct tw_timeline_writer *writer)
{
    struct perfetto *state = state_of(writer);
    char text[96];

    state->packet.allocator = state->event.allocator = writer->sink.allocator;
    state->inner.allocator = state->deeper.allocator = writer->sink.allocator;
    (void)snprintf(
        text, sizeof text, "%s; 1 ns stands for 1 of: %s",
        writer->subject.creator ? writer->subject.creator : "trackway",
        writer->subject.clock ? "ns" : tw_time_unit_name(tw_timeline_unit(writer->timeline)));
    tw_protobuf_number(&state->inner, TRACK_UUID, UINT64_MAX / 2);
    tw_protobuf_text(&state->inner, TRACK_NAME,
                     writer->subject.title ? writer->subject.title : "trace");
    tw_protobuf_text(&state->inner, TRACK_DESCRIPTION, text);
    tw_protobuf_message(&state->packet, PACKET_TRACK, &state->inner);
    put_packet(writer);
}

static void annotate_text(struct perfetto *state, const char *name, const char *text,
                          size_t size)
{
    tw_protobuf_text(&state->inner, ANNOTATION_NAME, name);
    tw_protobuf_bytes(&state->inner, ANNOTATION_STRING, text, size);
    tw_protobuf_message(&state->event, EVENT_ANNOTATION, &state->inner);
}

static void annotate(struct perfetto *state, const char *name, unsigned field, uint64_t value)
{
    tw_protobuf_text(&state->inner, ANNOTATION_NAME, name);
    tw_protobuf_number(&state->inner, field, value);
    tw_protobuf_message(&state->event, EVENT_ANNOTATION, &state->inner);
}

/* A packet with the event that is made up. */
static void put_event(struct tw_timeline_writer *writer, const struct tw_timeline_event *from)
{
    struct perfetto *state = state_of(writer);

    tw_protobuf_number(&state->packet, PACKET_TIMESTAMP, tw_timeline_ns(writer, &from->times));
    tw_protobuf_message(&state->packet, PACKET_EVENT, &state->event);
    put_packet(writer);
}

/* Names of functions come again and again: they are written once. */
static void put_function_name(struct tw_timeline_writer *writer,
                              const struct tw_timeline_event *event)
{
    struct perfetto *state = state_of(writer);
    bool *is_named = flag_at(writer, &state->is_named, &state->named_room, event->what);

    if (!is_named)
        return;
    if (!*is_named) {
        *is_named = true;
        tw_protobuf_number(&state->deeper, NAME_IID, (uint64_t)event->what + 1);
        tw_protobuf_text(&state->deeper, NAME_NAME, tw_timeline_name(writer, event));
        tw_protobuf_message(&state->inner, INTERNED_NAMES, &state->deeper);
        tw_protobuf_message(&state->packet, PACKET_INTERNED, &state->inner);
    }
    tw_protobuf_number(&state->event, EVENT_NAME_IID, (uint64_t)event->what + 1);
}

static void put_begin(struct tw_timeline_writer *writer, const struct tw_timeline_event *event)
{
    struct perfetto *state = state_of(writer);

    if (event->span == TW_SPAN_FUNCTION && event->what < state->named_room &&
        state->is_named[event->what]) {
        put_quickly(writer, event, SLICE_BEGIN, (uint64_t)event->what + 1);
        return;
    }
    tw_protobuf_number(&state->event, EVENT_TYPE, SLICE_BEGIN);
    tw_protobuf_number(&state->event, EVENT_TRACK, track_uuid(event->track, false));
    if (event->span == TW_SPAN_FUNCTION)
        put_function_name(writer, event);
    else
        tw_protobuf_text(&state->event, EVENT_NAME, tw_timeline_name(writer, event));
    if (event->span == TW_SPAN_EXCEPTION && event->has_address)
        annotate(state, "interrupted at", ANNOTATION_POINTER, event->address);
    if (event->span == TW_SPAN_GAP)
        annotate(state, "bytes", ANNOTATION_UINT, event->value);
    put_event(writer, event);
}

static void put_end(struct tw_timeline_writer *writer, const struct tw_timeline_event *event)
{
    struct perfetto *state = state_of(writer);

    if (event->span == TW_SPAN_FUNCTION && event->how == TW_LEAVE_END)
        return; /* it did not finish, and is shown so */
    put_quickly(writer, event, SLICE_END, 0);
    if (event->span == TW_SPAN_FUNCTION && event->how == TW_LEAVE_GAP && !event->depth) {
        tw_protobuf_number(&state->event, EVENT_TYPE, INSTANT);
        tw_protobuf_number(&state->event, EVENT_TRACK, track_uuid(event->track, false));
        tw_protobuf_text(&state->event, EVENT_NAME, "gap");
        put_event(writer, event);
    }
}

static void put_mark(struct tw_timeline_writer *writer, const struct tw_timeline_event *event)
{
    struct perfetto *state = state_of(writer);
    const struct tw_track *track = tw_timeline_track(writer->timeline, event->track);

    tw_protobuf_number(&state->event, EVENT_TYPE, INSTANT);
    tw_protobuf_number(&state->event, EVENT_TRACK, track_uuid(event->track, false));
    if (event->text)
        tw_protobuf_bytes(&state->event, EVENT_NAME, event->text, event->text_size);
    else
        tw_protobuf_text(&state->event, EVENT_NAME,
                         track->kind == TW_TRACK_EVENTS ? tw_timeline_mark_name(event)
                                                        : tw_track_kind_name(track->kind));
    if (event->text)
        annotate_text(state, "text", event->text, event->text_size);
    if (track->kind == TW_TRACK_EVENTS)
        annotate(state, "number", ANNOTATION_UINT, event->what);
    if (event->has_address)
        annotate(state, "address", ANNOTATION_POINTER, event->address);
    put_event(writer, event);
}

static void take(struct tw_timeline_writer *writer, const struct tw_timeline_event *event)
{
    struct perfetto *state = state_of(writer);

    tell_track(writer, event->track, event->kind == TW_TIMELINE_VALUE);
    if (event->kind == TW_TIMELINE_BEGIN) {
        put_begin(writer, event);
    } else if (event->kind == TW_TIMELINE_END) {
        put_end(writer, event);
    } else if (event->kind == TW_TIMELINE_MARK) {
        put_mark(writer, event);
    } else {
        tw_protobuf_number(&state->event, EVENT_TYPE, COUNTER);
        tw_protobuf_number(&state->event, EVENT_TRACK, track_uuid(event->track, true));
        tw_protobuf_number(&state->event, EVENT_COUNTER, event->value);
        put_event(writer, event);
    }
}

static void release(struct tw_timeline_writer *writer)
{
    struct perfetto *state = state_of(writer);

    tw_text_free(&state->packet);
    tw_text_free(&state->event);
    tw_text_free(&state->inner);
    tw_text_free(&state->deeper);
    tw_give(writer->sink.allocator, state->is_named);
    tw_give(writer->sink.allocator, state->is_group);
}

const struct tw_timeline_form tw_timeline_perfetto = {
    .state_size = sizeof(struct perfetto), .begin = begin, .take = take, .release = release
};
