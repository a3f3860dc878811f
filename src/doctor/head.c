/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes before the first synchronization of a buffer.  Decoders of programs pass over them in silence, so
   the packets up to there are read once more. */
#include <trackway/tree.h>

#include "capture/sources.h"
#include "doctor/doctor.h"

/* Runs of bytes before the first packet of the source. */
static uint64_t unsynced_of(struct tw_tree *tree, uint8_t id)
{
    struct tw_packet_view view = { .size = sizeof view };
    uint64_t bytes = 0;

    while (tw_tree_next_packet(tree, &view) == TW_OK) {
        if (view.packet->id != id)
            continue;
        if (!view.is_not_sync)
            break;
        bytes += view.packet->size;
    }
    return bytes;
}

/* The source that is asked for, and the ID that the tree gave it. */
struct head {
    uint32_t source;
    uint8_t id;
};

static bool wants(void *context, uint32_t source)
{
    return source == ((const struct head *)context)->source;
}

static void added(void *context, const struct tw_added_source *source)
{
    if (!source->left_out)
        ((struct head *)context)->id = source->id;
}

static void feed(const struct tw_doctor *doctor, struct tw_tree *tree, uint32_t buffer,
                 uint64_t to)
{
    const uint8_t *part;
    uint64_t at = 0;
    size_t size;

    while (at < to && tw_capture_read(doctor->capture, &part, &size, buffer, at) == TW_OK &&
           size) {
        const size_t wanted = size < to - at ? size : (size_t)(to - at);

        if (tw_tree_feed(tree, part, wanted) != TW_OK)
            break;
        at += wanted;
    }
}

uint64_t tw_doctor_head(const struct tw_doctor *doctor, const struct tw_patient *patient,
                        uint32_t buffer, uint64_t to)
{
    const struct tw_tree_config config = {
        .size = sizeof config,
        .framing = tw_capture_buffer(doctor->capture, buffer)->framing,
        .packets_only = true,
        .allocator = doctor->allocator
    };
    struct head head = { .source = patient->source };
    struct tw_source_setup setup = { .capture = doctor->capture,
                                     .buffer = buffer,
                                     .core_type = doctor->how.core_type,
                                     .assumes_sync = doctor->how.assumes_sync,
                                     .wants = wants,
                                     .added = added,
                                     .context = &head };
    uint64_t bytes = 0;

    if (tw_tree_new(&setup.tree, &config, NULL) == TW_OK && tw_add_sources(&setup) == 1) {
        feed(doctor, setup.tree, buffer, to);
        bytes = unsynced_of(setup.tree, head.id);
    }
    tw_tree_free(setup.tree);
    return bytes;
}
