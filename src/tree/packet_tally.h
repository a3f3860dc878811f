/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that are counted where they are read: of most of them nobody wants to know more than what they are. */
#ifndef TREE_PACKET_TALLY_H
#define TREE_PACKET_TALLY_H

#include "tree/branch.h"

struct tw_packet_sum {
    uint64_t packets, bytes;
};

struct tw_packet_tally {
    struct tw_packet_sum types[256];
};

/* From now on, of a tree without decoders: packets that tell more than what they are (syncs, losses, what is not
   understood, and the first that is) are handed out, the others are counted by type.  After sources were added. */
enum tw_status tw_tree_tally_packets(struct tw_tree *tree);
/* Reads and counts what the branch holds up to the next packet that is handed out; true: this one was read. */
bool tw_packet_tally_read(struct tw_branch *branch);
/* What was counted of each type, with a packet of that type; the counts are empty then. */
typedef void tw_packet_sum_fn(void *context, const struct tw_packet_view *view,
                              const struct tw_packet_sum *sum);
void tw_packet_tally_take(struct tw_tree *tree, tw_packet_sum_fn *take, void *context);

#endif
