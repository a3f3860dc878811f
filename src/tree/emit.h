/* SPDX-License-Identifier: BSD-2-Clause */
/* The elements that a protocol of the caller gives for a packet. */
#ifndef TREE_EMIT_H
#define TREE_EMIT_H

#include <trackway/protocol.h>

#include "path/follow.h"

struct tw_emitter {
    struct tw_follow *follow; /* NULL: not of this protocol */
    uint64_t index;
    struct tw_element *elements; /* of the packet at hand, in the batch */
    unsigned count;
    bool is_over;
    struct tw_element spare; /* what is too many goes here */
};

/* A REPEAT repeats no more than the ranges of its packet that stand directly before it; where there
   are none it goes. */
void tw_emitter_check_repeats(struct tw_emitter *out);

#endif
