/* SPDX-License-Identifier: BSD-2-Clause */
/* Common Trace Format 1.8: a folder with metadata and one stream of packets.  Functions carry the names
   by which Trace Compass knows calls. */
#include <string.h>

#include "export/export.h"
#include "export/timeline_order.h"

enum { PACKET_BYTES = 1 << 20, HEAD_BYTES = 52 };

enum ctf_event {
    FUNCTION_ENTRY,
    FUNCTION_EXIT,
    EXCEPTION_ENTRY,
    EXCEPTION_EXIT,
    THREAD_BEGIN,
    THREAD_END,
    GAP_BEGIN,
    GAP_END,
    SHORT_BEGIN,
    SHORT_END,
    MARK,
    VALUE
};

struct ctf {
    struct tw_timeline_order order;
    struct tw_text packet; /* what comes after the packet's head */
    uint64_t first, last;  /* times of its events */
    uint64_t lost;         /* gaps so far */
    bool has_any;
};

static const char types[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; base = 16; } := addr_t;\n"
    "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n"
    "\tpacket.header := struct { uint32_t magic; uint32_t stream_id; };\n};\n";

static const char streams[] =
    "typealias integer { size = 64; align = 8; signed = false; map = clock.trace.value; } := "
    "ts_t;\n"
    "stream {\n\tid = 0;\n"
    "\tpacket.context := struct { ts_t timestamp_begin; ts_t timestamp_end; uint64_t "
    "content_size; "
    "uint64_t packet_size; uint64_t events_discarded; uint32_t cpu_id; };\n"
    "\tevent.header := struct { uint8_t id; ts_t timestamp; };\n"
    "\tevent.context := struct { uint32_t track; int32_t vtid; };\n};\n";

static const struct {
    const char *name, *fields;
} events[] = {
    [FUNCTION_ENTRY] = { "lttng_ust_cyg_profile:func_entry",
                         "addr_t addr; string name; uint32_t depth; uint64_t lo; uint64_t hi; "
                         "uint64_t instructions;" },
    [FUNCTION_EXIT] = { "lttng_ust_cyg_profile:func_exit",
                        "addr_t addr; uint32_t depth; uint64_t lo; uint64_t hi; "
                        "uint64_t instructions;" },
    [EXCEPTION_ENTRY] = { "exception_entry", "uint32_t number; string name; uint8_t chained;" },
    [EXCEPTION_EXIT] = { "exception_exit", "uint32_t number;" },
    [THREAD_BEGIN] = { "thread_begin", "string core; string thread;" },
    [THREAD_END] = { "thread_end", "string core;" },
    [GAP_BEGIN] = { "gap_begin", "string source; string reason; uint64_t bytes;" },
    [GAP_END] = { "gap_end", "string source;" },
    [SHORT_BEGIN] = { "short_begin", "uint64_t spans;" },
    [SHORT_END] = { "short_end", "" },
    [MARK] = { "mark", "string name; string text; uint32_t number; addr_t address;" },
    [VALUE] = { "value", "string name; uint64_t value; addr_t address;" },
};

static struct ctf *state_of(struct tw_timeline_writer *writer)
{
    return writer->state;
}

static void write_to(struct tw_timeline_writer *writer, const char *file, const void *bytes,
                     size_t size)
{
    if (writer->sink.is_over)
        return;
    if (!writer->subject.write_file ||
        !writer->subject.write_file(writer->subject.file_context, file, bytes, size))
        writer->sink.is_over = true;
}

static void put_bytes(struct ctf *state, uint64_t value, unsigned bytes)
{
    for (; bytes; bytes--, value >>= 8)
        tw_text_char(&state->packet, (char)(value & 0xff));
}

/* A string ends with a zero, and so holds none. */
static void put_text(struct ctf *state, const char *text, size_t size)
{
    const char *zero = memchr(text, 0, size);

    tw_text_add_size(&state->packet, text, zero ? (size_t)(zero - text) : size);
    tw_text_char(&state->packet, 0);
}

static void put_name(struct ctf *state, const char *name)
{
    put_text(state, name, strlen(name));
}

static void end_packet(struct tw_timeline_writer *writer)
{
    struct ctf *state = state_of(writer);
    const uint64_t bits = (HEAD_BYTES + state->packet.size) * 8;
    const uint64_t words[] = { state->first, state->last, bits, bits, state->lost };
    unsigned char head[HEAD_BYTES] = { 0xc1, 0x1f, 0xfc, 0xc1 };
    size_t at = 8;

    if (!state->has_any)
        return;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        for (unsigned k = 0; k < 64; k += 8)
            head[at++] = (unsigned char)(words[i] >> k);
    writer->sink.lacks_memory |= state->packet.failed;
    write_to(writer, "stream", head, sizeof head);
    write_to(writer, "stream", state->packet.chars, state->packet.size);
    tw_text_clear(&state->packet);
    state->has_any = false;
}

static void put_head(struct tw_timeline_writer *writer, enum ctf_event kind,
                     const struct tw_timeline_event *event, uint64_t time)
{
    struct ctf *state = state_of(writer);
    const struct tw_track *track = tw_timeline_track(writer->timeline, event->track);

    if (!state->has_any)
        state->first = time;
    state->has_any = true;
    state->last = time;
    put_bytes(state, (uint64_t)kind, 1);
    put_bytes(state, time, 8);
    put_bytes(state, event->track, 4);
    put_bytes(state, track->tid != TW_NONE ? track->tid : event->track, 4);
}

static void put_function(struct tw_timeline_writer *writer,
                         const struct tw_timeline_event *event, uint64_t time)
{
    struct ctf *state = state_of(writer);
    const struct tw_function *function =
        tw_functions_get(tw_timeline_functions(writer->timeline), event->what);
    const bool is_entry = event->kind == TW_TIMELINE_BEGIN;

    put_head(writer, is_entry ? FUNCTION_ENTRY : FUNCTION_EXIT, event, time);
    put_bytes(state, function ? function->address : 0, 8);
    if (is_entry)
        put_name(state, tw_timeline_name(writer, event));
    put_bytes(state, event->depth, 4);
    put_bytes(state, event->times.low, 8);
    put_bytes(state, event->times.high, 8);
    put_bytes(state, event->instructions, 8);
}

static void put_span(struct tw_timeline_writer *writer, const struct tw_timeline_event *event,
                     uint64_t time)
{
    struct ctf *state = state_of(writer);
    const struct tw_track *track = tw_timeline_track(writer->timeline, event->track);
    const bool is_begin = event->kind == TW_TIMELINE_BEGIN;

    switch (event->span) {
    case TW_SPAN_FUNCTION:
        put_function(writer, event, time);
        break;
    case TW_SPAN_EXCEPTION:
        put_head(writer, is_begin ? EXCEPTION_ENTRY : EXCEPTION_EXIT, event, time);
        put_bytes(state, track->number, 4);
        if (is_begin) {
            put_name(state, track->name);
            put_bytes(state, event->how == TW_EXCEPTION_CHAINED, 1);
        }
        break;
    case TW_SPAN_THREAD:
        put_head(writer, is_begin ? THREAD_BEGIN : THREAD_END, event, time);
        put_name(state, track->name);
        if (is_begin)
            put_name(state, tw_timeline_name(writer, event));
        break;
    case TW_SPAN_GAP:
        put_head(writer, is_begin ? GAP_BEGIN : GAP_END, event, time);
        put_name(state, track->source ? track->source : "");
        state->lost += is_begin;
        if (is_begin) {
            put_name(state, tw_gap_reason_name(event->how));
            put_bytes(state, event->value, 8);
        }
        break;
    default:
        put_head(writer, is_begin ? SHORT_BEGIN : SHORT_END, event, time);
        if (is_begin)
            put_bytes(state, event->value, 8);
        break;
    }
}

static void give(struct tw_timeline_writer *writer, const struct tw_timeline_event *event,
                 uint64_t time)
{
    struct ctf *state = state_of(writer);
    const struct tw_track *track = tw_timeline_track(writer->timeline, event->track);

    if (event->kind == TW_TIMELINE_BEGIN || event->kind == TW_TIMELINE_END) {
        put_span(writer, event, time);
    } else if (event->kind == TW_TIMELINE_MARK) {
        put_head(writer, MARK, event, time);
        put_name(state, track->name);
        put_text(state, event->text ? event->text : "", event->text ? event->text_size : 0);
        put_bytes(state, event->what, 4);
        put_bytes(state, event->address, 8);
    } else {
        put_head(writer, VALUE, event, time);
        put_name(state, track->name);
        put_bytes(state, event->value, 8);
        put_bytes(state, event->address, 8);
    }
    if (state->packet.size >= PACKET_BYTES)
        end_packet(writer);
}

static void begin(struct tw_timeline_writer *writer)
{
    const enum tw_time_unit unit = tw_timeline_unit(writer->timeline);
    struct tw_text text = { .allocator = writer->sink.allocator };

    state_of(writer)->order.give = give;
    state_of(writer)->packet.allocator = writer->sink.allocator;
    tw_text_add(&text, types);
    tw_text_add(&text, "env { domain = \"ust\"; tracer_name = \"lttng-ust\"; "
                       "tracer_major = 2; tracer_minor = 0; };\n");
    tw_text_format(
        &text,
        "clock { name = trace; freq = 1000000000; description = \"1 ns stands for 1 of: "
        "%s\"; };\n",
        writer->subject.clock ? "ns" : tw_time_unit_name(unit));
    tw_text_add(&text, streams);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        tw_text_format(
            &text,
            "event { name = \"%s\"; id = %zu; stream_id = 0; fields := struct { %s }; "
            "};\n",
            events[i].name, i, events[i].fields);
    writer->sink.lacks_memory |= text.failed;
    write_to(writer, "metadata", text.chars ? text.chars : "", text.size);
    tw_text_free(&text);
}

static void take(struct tw_timeline_writer *writer, const struct tw_timeline_event *event)
{
    tw_timeline_order_take(&state_of(writer)->order, writer, event);
}

static void end(struct tw_timeline_writer *writer)
{
    tw_timeline_order_end(&state_of(writer)->order, writer);
    end_packet(writer);
}

static void release(struct tw_timeline_writer *writer)
{
    struct ctf *state = state_of(writer);

    tw_text_free(&state->packet);
    tw_timeline_order_release(&state->order, writer);
}

const struct tw_timeline_form tw_timeline_ctf = { .state_size = sizeof(struct ctf),
                                                  .begin = begin,
                                                  .take = take,
                                                  .end = end,
                                                  .release = release };
