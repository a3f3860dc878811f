/* SPDX-License-Identifier: BSD-2-Clause */
/* The sources of a buffer, given to a decode tree. */
#include "capture/sources.h"

#include <string.h>

#include "capture/capture.h"
#include "tree/branch.h"

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
    struct tw_perf_lane *lane =
        setup->lanes ? &setup->lanes[number] : tw_tree_keep(setup->tree, sizeof *lane);

    if (!lane)
        return false;
    *lane = (struct tw_perf_lane){ .perf = setup->capture->perf,
                                   .source = number,
                                   .buffer = setup->buffer };
    source->view = tw_perf_look;
    source->view_context = lane;
    source->view_size = sizeof *lane;
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
    if (!count)
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

static struct tw_tree_source *describe(const struct tw_source_setup *setup, uint32_t number)
{
    const struct tw_source *from = tw_capture_source(setup->capture, number);
    struct tw_tree_source *source = tw_tree_keep(setup->tree, sizeof *source);

    if (!source)
        return NULL;
    *source = (struct tw_tree_source){
        .size = sizeof *source,
        .protocol = from->protocol,
        .registers = from->registers,
        .register_count = from->register_count,
        .type = from->type,
        .core_type = setup->core_type ? setup->core_type : from->core_type,
        .text = from->text,
        .id = from->id,
    };
    if (from->image != TW_NONE)
        source->image = tw_capture_image(setup->capture, from->image);
    if (!add_src_images(setup, source, number) || !add_keys(setup, source) ||
        (setup->capture->perf && !add_view(setup, source, number)))
        return NULL;
    return source;
}

/* TW_OK: added; TW_E_MEMORY; else it is left out, and added->left_out says why. */
static enum tw_status add_source(const struct tw_source_setup *setup,
                                 struct tw_added_source *added)
{
    const struct tw_source *from = tw_capture_source(setup->capture, added->number);
    struct tw_tree_source *source;
    enum tw_status status;

    if (!from->protocol) {
        added->left_out =
            from->type ? "this build knows no such type of trace" : "no type given";
        return TW_E_UNSUPPORTED;
    }
    source = describe(setup, added->number);
    if (!source)
        return TW_E_MEMORY;
    added->source = source;
    status = tw_tree_add_source(setup->tree, &added->id, source);
    if (status != TW_OK)
        added->left_out = tw_tree_fault(setup->tree);
    return status;
}

size_t tw_add_sources(const struct tw_source_setup *setup)
{
    const bool is_single =
        tw_capture_buffer(setup->capture, setup->buffer)->framing == TW_FRAMING_NONE;
    size_t count = 0;

    for (uint32_t i = 0; i < tw_capture_source_count(setup->capture); i++) {
        struct tw_added_source added = { .number = i };

        if (!tw_capture_source_is_in(setup->capture, i, 0, setup->buffer) ||
            (setup->wants && !setup->wants(setup->context, i)))
            continue;
        if (is_single && count)
            added.left_out = "an unframed buffer holds one source only";
        else if (add_source(setup, &added) == TW_E_MEMORY)
            return SIZE_MAX;
        count += !added.left_out;
        if (setup->added)
            setup->added(setup->context, &added);
    }
    return count;
}
