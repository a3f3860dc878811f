/* SPDX-License-Identifier: BSD-2-Clause */
/* A decode tree behind its handle. */
#ifndef OPENCSD_TREE_H
#define OPENCSD_TREE_H

#include "opencsd/channel.h"
#include "opencsd/custom.h"
#include "opencsd/frames.h"
#include "opencsd/memory.h"

enum { OC_IDS = 128 };

struct oc_tree {
    bool is_framed;
    struct oc_frames frames;
    struct oc_memory memory;
    struct oc_output *element_output;    /* of the printer */
    struct oc_channel *channels[OC_IDS]; /* unframed: the only one is at 0 */
    struct oc_custom *customs[OC_IDS]; /* those that the client brought; only one has a place */
};

/* NULL: not possible with these flags, or no memory. */
dcd_tree_handle_t oc_tree_new(ocsd_dcd_tree_src_t source, uint32_t flags);
/* NULL: no tree has this handle. */
struct oc_tree *oc_tree_of(dcd_tree_handle_t handle);
void oc_tree_free(dcd_tree_handle_t handle);

/* Where the decoder of an ID is; unframed trees have one, whatever the ID. */
unsigned oc_tree_slot(const struct oc_tree *tree, uint8_t id);
/* Whether there is a decoder at that place. */
bool oc_tree_has(const struct oc_tree *tree, unsigned slot);
void oc_tree_remove(struct oc_tree *tree, unsigned slot);

/* The data path of the decoder at a place. */
ocsd_datapath_resp_t oc_tree_data(struct oc_tree *tree, unsigned slot, ocsd_trc_index_t index,
                                  uint32_t size, const uint8_t *data, uint32_t *used);
ocsd_datapath_resp_t oc_tree_operation(struct oc_tree *tree, unsigned slot,
                                       ocsd_datapath_op_t op, ocsd_trc_index_t index);

#endif
