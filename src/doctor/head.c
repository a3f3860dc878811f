/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes before the first synchronization of a buffer.  Decoders of programs pass over them in silence, so
   the packets up to there are read once more. */
#include <trackway/tree.h>

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

uint64_t tw_doctor_head(const struct tw_doctor *doctor, const struct tw_patient *patient,
                        uint32_t buffer, uint64_t to)
{
    const struct tw_source *source = tw_capture_source(doctor->capture, patient->source);
    const struct tw_tree_config config = {
        .size = sizeof config,
        .framing = tw_capture_buffer(doctor->capture, buffer)->framing,
        .packets_only = true,
        .allocator = doctor->allocator
    };
    const struct tw_tree_source about = { .size = sizeof about,
                                          .protocol = source->protocol,
                                          .registers = source->registers,
                                          .register_count = source->register_count,
                                          .type = source->type,
                                          .core_type = source->core_type,
                                          .text = source->text,
                                          .id = patient->id };
    struct tw_tree *tree = NULL;
    uint64_t bytes = 0;
    uint8_t id;

    if (tw_tree_new(&tree, &config, NULL) == TW_OK &&
        tw_tree_add_source(tree, &id, &about) == TW_OK) {
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
        bytes = unsynced_of(tree, id);
    }
    tw_tree_free(tree);
    return bytes;
}
