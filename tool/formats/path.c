/* SPDX-License-Identifier: BSD-2-Clause */
/* --format path and pcs: the executed path alone, as straight runs or as one address for each
   instruction. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/walk.h>

#include "formats/formats.h"
#include "shared/srcs.h"

/* What goes on in a stream. */
struct stream {
    bool is_begun;
    bool is_open; /* a run is being put together */
    uint8_t id;
    uint32_t src;
    uint64_t first, last, next;
    uint64_t count;
    int level; /* last P line; -1: none */
};

struct path {
    struct session *session;
    struct output *out;
    bool is_pcs;
    int last_id;             /* of the last line, when there are several; -1: none */
    uint32_t last_src;       /* the same; TW_NO_SRC: none */
    bool is_asked, has_srcs; /* harts share a stream: it was asked, it is so */
    struct tw_walk *walk;
    struct stream *streams; /* by number */
    size_t stream_count;
};

static void *start(const struct listing *listing, bool is_pcs)
{
    struct path *path = calloc(1, sizeof *path);

    if (!path || tw_walk_new(&path->walk, NULL, NULL) != TW_OK) {
        say("out of memory");
        free(path);
        return NULL;
    }
    path->session = listing->session;
    path->out = listing->out;
    path->is_pcs = is_pcs;
    path->last_id = -1;
    path->last_src = TW_NO_SRC;
    return path;
}

static void *start_path(const struct listing *listing)
{
    return start(listing, false);
}

static void *start_pcs(const struct listing *listing)
{
    return start(listing, true);
}

static void end(void *state)
{
    struct path *path = state;

    tw_walk_free(path->walk);
    free(path->streams);
    free(path);
}

/* NULL: out of memory, said so. */
static struct stream *stream_of(struct path *path, const struct tw_part *part)
{
    struct stream *stream;

    if (part->stream >= path->stream_count) {
        const size_t count = part->stream + (size_t)16;
        struct stream *more = realloc(path->streams, count * sizeof *more);

        if (!more) {
            say("out of memory");
            return NULL;
        }
        memset(more + path->stream_count, 0, (count - path->stream_count) * sizeof *more);
        path->streams = more;
        path->stream_count = count;
    }
    stream = &path->streams[part->stream];
    if (!stream->is_begun)
        stream->level = -1;
    stream->is_begun = true;
    stream->id = part->batch.id;
    stream->src = part->batch.src;
    if (stream->src != TW_NO_SRC && !path->is_asked) {
        path->is_asked = true;
        path->has_srcs = srcs_are_several(path->session);
    }
    return stream;
}

/* With several sources a comment tells whose the next lines are. */
static void name_source(struct path *path, const struct stream *stream)
{
    if (tw_run_source_count(path->session->run) > 1 && path->last_id != stream->id) {
        output_format(path->out, "# id 0x%02x\n", stream->id);
        path->last_id = stream->id;
        path->last_src = TW_NO_SRC;
    }
    if (path->has_srcs && stream->src != TW_NO_SRC && path->last_src != stream->src) {
        output_format(path->out, "# src %" PRIu32 "\n", stream->src);
        path->last_src = stream->src;
    }
}

static void close_run(struct path *path, struct stream *stream)
{
    if (!stream->is_open)
        return;
    stream->is_open = false;
    name_source(path, stream);
    output_format(path->out, "R %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", stream->first,
                  stream->last, stream->count);
}

static void put_address(struct output *out, uint64_t address)
{
    static const char digits[] = "0123456789abcdef";
    char text[17];
    size_t at = sizeof text;

    text[--at] = '\n';
    do
        text[--at] = digits[address & 15];
    while (address >>= 4);
    output_bytes(out, text + at, sizeof text - at);
}

/* Sizes of the instructions are seen from the code where they are not all alike. */
static void print_addresses(struct path *path, const struct stream *stream,
                            const struct tw_part *part, const struct tw_element *range)
{
    const bool is_four = range->length == (uint64_t)range->count * 4;
    const bool is_two = range->length == (uint64_t)range->count * 2;
    struct tw_code_bytes code;
    size_t size;

    name_source(path, stream);
    if (is_four || is_two) {
        for (uint32_t i = 0; i < range->count; i++)
            put_address(path->out, range->start + (uint64_t)i * (is_four ? 4 : 2));
        return;
    }
    tw_walk_start(path->walk, part, range);
    while (tw_walk_next(path->walk, &code, &size))
        put_address(path->out, code.address);
}

static void take_range(struct path *path, struct stream *stream, const struct tw_part *part,
                       const struct tw_element *range)
{
    if (range->count == 0)
        return;
    if (path->is_pcs) {
        print_addresses(path, stream, part, range);
        return;
    }
    if (stream->is_open && stream->next != range->start)
        close_run(path, stream);
    if (!stream->is_open) {
        stream->is_open = true;
        stream->first = range->start;
        stream->count = 0;
    }
    stream->next = tw_element_end(range);
    stream->last = stream->next - (uint64_t)range->last_size * 2;
    stream->count += range->count;
}

/* Of a range, what --range and --function keep: one stretch of instructions after the other. */
static void take_kept(struct path *path, struct stream *stream, const struct tw_part *part,
                      const struct tw_element *range)
{
    struct tw_element kept = *range;
    struct tw_code_bytes code;
    size_t size;

    kept.count = 0;
    tw_walk_start(path->walk, part, range);
    while (tw_walk_next(path->walk, &code, &size)) {
        if (!tw_run_keeps(path->session->run, part, code.address, code.address + size)) {
            take_range(path, stream, part, &kept);
            kept.count = 0;
            continue;
        }
        if (!kept.count++)
            kept.start = code.address;
        kept.length = (uint32_t)(code.address + size - kept.start);
        kept.last_size = size == 2 ? 1 : 2;
    }
    take_range(path, stream, part, &kept);
}

/* N-Trace: FORMAT, privilege, virtual, and the context that was sent. */
static void take_ownership(struct path *path, struct stream *stream,
                           const struct tw_element *context)
{
    const uint32_t low = context->ownership == 3   ? context->vmid
                         : context->ownership == 0 ? 0
                                                   : context->context_id;

    close_run(path, stream);
    name_source(path, stream);
    output_format(path->out, "O %u %u %u %" PRIx64 "\n", (unsigned)context->ownership,
                  (unsigned)context->el, (unsigned)context->is_virtual,
                  (uint64_t)context->context_high << 32 | low);
}

/* N-Trace: where trace is missing, on purpose or not. */
static void take_event(struct path *path, struct stream *stream, const struct tw_element *event)
{
    if (event->kind != TW_EVENT_TRACE_OFF && event->kind != TW_EVENT_LOST)
        return;
    close_run(path, stream);
    name_source(path, stream);
    if (event->kind == TW_EVENT_TRACE_OFF)
        output_format(path->out, "G off %" PRIu32 "\n", event->count);
    else
        output_format(path->out, "G lost %" PRIu32 " %" PRIx64 "\n", event->count,
                      event->value);
}

static void take_context(struct path *path, struct stream *stream,
                         const struct tw_element *context)
{
    if (context->flags & TW_CONTEXT_OWNERSHIP) {
        take_ownership(path, stream, context);
        return;
    }
    if (!(context->flags & (TW_CONTEXT_HAS_EL | TW_CONTEXT_HAS_PRIV)) ||
        stream->level == context->el)
        return;
    close_run(path, stream);
    name_source(path, stream);
    stream->level = context->el;
    output_format(path->out, "P %d\n", stream->level);
}

static void take_exception(struct path *path, struct stream *stream,
                           const struct tw_element *exception)
{
    const unsigned flags = exception->flags;
    const bool is_riscv = flags & TW_EXCEPTION_RISCV;
    const bool has_cause = !is_riscv || exception->number != TW_CAUSE_UNKNOWN;

    close_run(path, stream);
    name_source(path, stream);
    output_format(path->out, "%c",
                  is_riscv && exception->kind == TW_TRAP_ANY ? 'T'
                  : flags & TW_EXCEPTION_INTERRUPT           ? 'I'
                                                             : 'E');
    if (has_cause)
        output_format(path->out, " %" PRIu32, exception->number);
    if (flags & TW_EXCEPTION_HAS_RETURN)
        output_format(path->out, " %" PRIx64, exception->return_address);
    else
        output_text(path->out, " -");
    if ((flags & TW_EXCEPTION_INTERRUPT) || !has_cause)
        output_text(path->out, "\n");
    else if (flags & TW_EXCEPTION_HAS_TVAL)
        output_format(path->out, " %" PRIx64 "\n", exception->tval);
    else
        output_text(path->out, " -\n");
}

static void take_element(struct path *path, struct stream *stream, const struct tw_part *part,
                         const struct tw_element *element)
{
    const bool is_filtered = session_is_filtered(path->session);

    if (element->type == TW_ELEMENT_INSTR_RANGE && is_filtered)
        take_kept(path, stream, part, element);
    else if (element->type == TW_ELEMENT_INSTR_RANGE)
        take_range(path, stream, part, element);
    else if (path->is_pcs || is_filtered)
        return;
    else if (element->type == TW_ELEMENT_PE_CONTEXT)
        take_context(path, stream, element);
    else if (element->type == TW_ELEMENT_EXCEPTION)
        take_exception(path, stream, element);
    else if (element->type == TW_ELEMENT_EVENT)
        take_event(path, stream, element);
}

static void take_repeat(struct path *path, struct stream *stream, const struct tw_part *part,
                        size_t at)
{
    const struct repeat repeat = repeats_of(&path->session->repeats, &part->batch, at);

    for (uint64_t i = 0; i < repeat.times && !output_is_over(path->out); i++)
        for (size_t j = 0; j < repeat.count; j++)
            take_element(path, stream, part, &part->batch.elements[repeat.first + j]);
    if (!repeat.omitted)
        return;
    close_run(path, stream);
    repeats_note(path->out, &repeat);
}

static bool take_elements(struct path *path, const struct tw_part *part)
{
    struct stream *stream = stream_of(path, part);

    if (stream && part->is_resumed) /* filters join nothing */
        close_run(path, stream);
    for (size_t i = 0; stream && i < part->batch.count; i++) {
        if (part->batch.elements[i].type == TW_ELEMENT_REPEAT)
            take_repeat(path, stream, part, i);
        else
            take_element(path, stream, part, &part->batch.elements[i]);
    }
    return stream != NULL;
}

/* The stream with the lowest ID that has something; NULL: none. */
static struct stream *first_begun(struct path *path)
{
    struct stream *first = NULL;

    for (size_t i = 0; i < path->stream_count; i++)
        if (path->streams[i].is_begun &&
            (!first || path->streams[i].id < first->id ||
             (path->streams[i].id == first->id && path->streams[i].src < first->src)))
            first = &path->streams[i];
    return first;
}

/* What is under way at the end of a buffer. */
static void end_buffer(struct path *path)
{
    struct stream *stream;

    while ((stream = first_begun(path)) != NULL) {
        close_run(path, stream);
        stream->is_begun = false;
    }
    path->last_id = -1;
    path->last_src = TW_NO_SRC;
}

static bool take(void *state, const struct tw_part *part, const struct tw_packet_view *packet)
{
    struct path *path = state;

    (void)packet;
    if (part->kind == TW_PART_BEGIN && session_has_several(path->session))
        output_format(path->out, "# buffer %s\n",
                      tw_capture_buffer(path->session->capture, part->buffer)->name);
    if (part->kind == TW_PART_END)
        end_buffer(path);
    return part->kind != TW_PART_ELEMENTS || take_elements(path, part);
}

const struct format format_path = {
    .name = "path",
    .flags = FORMAT_ELEMENTS,
    .start = start_path,
    .take = take,
    .end = end,
};

const struct format format_pcs = {
    .name = "pcs",
    .flags = FORMAT_ELEMENTS,
    .start = start_pcs,
    .take = take,
    .end = end,
};
