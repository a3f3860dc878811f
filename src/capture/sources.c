/* SPDX-License-Identifier: BSD-2-Clause */
/* The sources of a buffer, given to a decode tree. */
#include "capture/sources.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "capture/capture.h"
#include "protocol.h"
#include "tree/branch.h"
#include "tree/custom.h"

enum { EXTRA_KEYS = 2 };

/* Adds to the source's registers what decoders know as keys of their configuration. */
static bool add_keys(const struct tw_source_setup *setup, struct tw_tree_source *source)
{
    const size_t count = source->register_count;
    struct tw_register *registers;

    if (setup->on_error == TW_ON_ERROR_USUAL && !setup->assumes_sync)
        return true;
    registers = tw_tree_keep(setup->tree, (count + EXTRA_KEYS) * sizeof *registers);
    if (!registers)
        return false;
    if (count)
        memcpy(registers, source->registers, count * sizeof *registers);
    source->registers = registers;
    if (setup->on_error != TW_ON_ERROR_USUAL)
        registers[source->register_count++] =
            (struct tw_register){ "ON_ERROR", setup->on_error };
    if (setup->assumes_sync)
        registers[source->register_count++] = (struct tw_register){ "ASSUME_SYNC", 1 };
    return true;
}

/* perf.data: the decoder asks whose code is executed. */
static bool add_view(const struct tw_source_setup *setup, struct tw_tree_source *source,
                     uint32_t number)
{
    struct tw_perf_cursor *cursor =
        setup->cursors ? &setup->cursors[number] : tw_tree_keep(setup->tree, sizeof *cursor);

    if (!cursor)
        return false;
    *cursor = (struct tw_perf_cursor){ .perf = setup->capture->perf,
                                       .source = number,
                                       .buffer = setup->buffer };
    source->view = tw_perf_look;
    source->view_context = cursor;
    source->view_size = sizeof *cursor;
    return true;
}

/* Programs of their own that sources have which share a stream. */
static bool add_src_images(const struct tw_source_setup *setup, struct tw_tree_source *source,
                           uint32_t number)
{
    const struct tw_capture *capture = setup->capture;
    struct tw_src_image *images;
    size_t count = 0;

    for (size_t i = 0; i < capture->image_count; i++)
        count += capture->images[i].src != TW_NO_SRC;
    if (!count || setup->image)
        return true;
    images = tw_tree_keep(setup->tree, count * sizeof *images);
    if (!images)
        return false;
    source->src_images = images;
    for (size_t i = 0; i < capture->image_count; i++) {
        const uint32_t src = capture->images[i].src;

        if (src != TW_NO_SRC && tw_capture_image_of(capture, number, src) == i)
            images[source->src_image_count++] =
                (struct tw_src_image){ src, capture->images[i].image };
    }
    return true;
}

static struct tw_tree_source *describe(const struct tw_source_setup *setup, uint32_t number,
                                       const char *protocol)
{
    const struct tw_source *from = tw_capture_source(setup->capture, number);
    struct tw_tree_source *source = tw_tree_keep(setup->tree, sizeof *source);

    if (!source)
        return NULL;
    *source = (struct tw_tree_source){
        .size = sizeof *source,
        .protocol = protocol,
        .registers = from->registers,
        .register_count = from->register_count,
        .type = from->type,
        .core_type = setup->core_type ? setup->core_type : from->core_type,
        .text = from->text,
        .id = from->id,
    };
    if (setup->image)
        source->image = setup->image;
    else if (from->image != TW_NONE)
        source->image = tw_capture_image(setup->capture, from->image);
    if (!add_src_images(setup, source, number) || !add_keys(setup, source) ||
        (setup->capture->perf && !add_view(setup, source, number)))
        return NULL;
    return source;
}

static bool is_framed(const struct tw_source_setup *setup)
{
    return tw_capture_buffer(setup->capture, setup->buffer)->framing != TW_FRAMING_NONE;
}

/* In frames a source's bytes are found by its trace ID. */
static bool has_no_id(const struct tw_source_setup *setup, const struct tw_source *source)
{
    return is_framed(setup) && (!source->has_id || source->id == 0) && !source->text &&
           tw_id_register(source->protocol);
}

/* What the tree calls a stream of the source; NULL: there is no such stream. */
static const char *protocol_of(const struct tw_source *source, uint32_t stream)
{
    const struct tw_protocol *protocol = tw_protocol_by_name(source->protocol);

    if (stream == 0)
        return source->protocol;
    return protocol && protocol->companion && stream == 1 ? protocol->companion->name : NULL;
}

static enum tw_status leave_out(const struct tw_source_setup *setup,
                                struct tw_added_source *added, const char *format, ...)
    TW_PRINTF(3, 4);

static enum tw_status leave_out(const struct tw_source_setup *setup,
                                struct tw_added_source *added, const char *format, ...)
{
    enum { ROOM = 100 };
    char *why = tw_tree_keep(setup->tree, ROOM);
    va_list arguments;

    if (!why)
        return TW_E_MEMORY;
    va_start(arguments, format);
    (void)vsnprintf(why, ROOM, format, arguments);
    va_end(arguments);
    added->left_out = why;
    return TW_E_CONFIG;
}

/* TW_OK: added; TW_E_MEMORY; else it is left out, and added->left_out says why. */
static enum tw_status add_source(const struct tw_source_setup *setup, uint32_t stream,
                                 struct tw_added_source *added)
{
    const struct tw_source *from = tw_capture_source(setup->capture, added->number);
    struct tw_tree_source *source;
    const char *protocol;
    enum tw_status status;

    if (!from->protocol) {
        added->left_out =
            from->type ? "this build knows no such type of trace" : "no type given";
        return TW_E_UNSUPPORTED;
    }
    protocol = protocol_of(from, stream);
    if (!protocol)
        return leave_out(setup, added, "its trace has no stream %" PRIu32, stream);
    if (has_no_id(setup, from))
        return leave_out(setup, added, "its trace ID is %s: register %s",
                         from->has_id ? "0, which is no source's" : "not known",
                         tw_id_register(from->protocol));
    source = describe(setup, added->number, protocol);
    if (!source)
        return TW_E_MEMORY;
    added->source = source;
    status = tw_tree_add_source(setup->tree, &added->id, source);
    if (status != TW_OK)
        added->left_out = tw_tree_fault(setup->tree);
    return status;
}

/* Protocols that the capture was opened with; false: no memory. */
static bool add_protocols(const struct tw_source_setup *setup)
{
    const struct tw_capture_options *options = &setup->capture->options;

    for (size_t i = 0; i < options->protocol_count; i++)
        if (!tw_custom_by_name(setup->tree->customs, options->protocols[i]->name) &&
            tw_tree_add_protocol(setup->tree, options->protocols[i]) == TW_E_MEMORY)
            return false;
    return true;
}

/* Adds a stream of the source and tells of it; false: no memory. */
static bool add_stream(const struct tw_source_setup *setup, size_t *count, uint32_t source,
                       uint32_t stream)
{
    struct tw_added_source added = { .number = source };

    if (!is_framed(setup) && *count)
        added.left_out = "an unframed buffer holds one source only";
    else if (add_source(setup, stream, &added) == TW_E_MEMORY)
        return false;
    *count += !added.left_out;
    if (setup->added)
        setup->added(setup->context, &added);
    return true;
}

/* Streams after the first that the capture says are in this buffer.  What a tree has added beside the
   first one, because it is in the same frames, is there already. */
static bool add_named_streams(const struct tw_source_setup *setup, size_t *count,
                              uint32_t number)
{
    const struct tw_source *source = tw_capture_source(setup->capture, number);
    const bool has_second =
        is_framed(setup) && source->has_id && tw_branch_of(setup->tree, source->id + 1u);

    for (size_t i = 0; i < source->stream_count; i++) {
        const struct tw_stream_buffers *list = &source->streams[i];

        if (list->stream == TW_NONE || list->stream == 0 || (list->stream == 1 && has_second))
            continue;
        if (tw_stream_is_in(list, setup->buffer) &&
            !add_stream(setup, count, number, list->stream))
            return false;
    }
    return true;
}

size_t tw_add_sources(const struct tw_source_setup *setup)
{
    size_t count = 0;

    if (!add_protocols(setup))
        return SIZE_MAX;
    for (uint32_t i = 0; i < tw_capture_source_count(setup->capture); i++) {
        if (setup->wants && !setup->wants(setup->context, i))
            continue;
        if (tw_capture_source_is_in(setup->capture, i, 0, setup->buffer) &&
            !add_stream(setup, &count, i, 0))
            return SIZE_MAX;
        if (!add_named_streams(setup, &count, i))
            return SIZE_MAX;
    }
    return count;
}
