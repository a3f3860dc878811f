/* SPDX-License-Identifier: BSD-2-Clause */
/* A decode tree behind its handle. */
#ifndef OPENCSD_TREE_H
#define OPENCSD_TREE_H

#include "opencsd/channel.h"
#include "opencsd/frames.h"
#include "opencsd/memory.h"

enum { OC_IDS = 128 };

struct oc_tree {
    bool is_framed;
    struct oc_frames frames;
    struct oc_memory memory;
    struct oc_output *element_output;    /* of the printer */
    struct oc_channel *channels[OC_IDS]; /* unframed: the only one is at 0 */
};

/* NULL: not possible with these flags, or no memory. */
dcd_tree_handle_t oc_tree_new(ocsd_dcd_tree_src_t source, uint32_t flags);
/* NULL: no tree has this handle. */
struct oc_tree *oc_tree_of(dcd_tree_handle_t handle);
void oc_tree_free(dcd_tree_handle_t handle);

/* The decoder of an ID; unframed trees have one, whatever the ID.  NULL: none. */
struct oc_channel *oc_tree_channel(const struct oc_tree *tree, uint8_t id);

#endif
