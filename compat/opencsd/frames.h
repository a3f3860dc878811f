/* SPDX-License-Identifier: BSD-2-Clause */
/* Formatter frames to the decoders of their IDs, one frame at a time. */
#ifndef OPENCSD_FRAMES_H
#define OPENCSD_FRAMES_H

#include <stdbool.h>

#include <trackway/frame.h>

#include "opencsd/log.h"

struct oc_tree;

/* Bytes of one ID inside a frame. */
struct oc_piece {
    uint8_t id; /* OCSD_BAD_CS_SRC_ID: none was named yet */
    uint8_t size, used;
    ocsd_trc_index_t index;
    uint8_t bytes[TW_FRAME_SIZE];
};

struct oc_frames {
    uint32_t flags; /* OCSD_DFRMTR_... */
    struct oc_source log;
    ocsd_demux_stats_t stats;
    bool prints; /* raw frames, to `output` */
    struct oc_output *output;

    bool has_data, is_synced;
    bool has_half_sync; /* the first half of an FSYNC ended the last block */
    uint8_t matched;    /* bytes of the first FSYNC that were met last */
    uint8_t id;
    ocsd_trc_index_t index; /* that the next block must have */

    uint8_t frame[TW_FRAME_SIZE];
    unsigned fill;
    ocsd_trc_index_t frame_index;

    struct oc_piece pieces[TW_FRAME_CUTS];
    unsigned piece_count, next; /* not given to decoders yet: from `next` on */
};

/* OCSD_OK, or a reason why these flags cannot be. */
ocsd_err_t oc_frames_configure(struct oc_frames *frames, uint32_t flags);
void oc_frames_reset(struct oc_frames *frames);

ocsd_datapath_resp_t oc_frames_data(struct oc_tree *tree, ocsd_trc_index_t index, uint32_t size,
                                    const uint8_t *data, uint32_t *used);
/* The other operations, for all decoders. */
ocsd_datapath_resp_t oc_frames_operation(struct oc_tree *tree, ocsd_datapath_op_t op);

#endif
