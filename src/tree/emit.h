/* SPDX-License-Identifier: BSD-2-Clause */
/* The elements that a protocol of the caller gives for a packet. */
#ifndef TREE_EMIT_H
#define TREE_EMIT_H

#include <trackway/protocol.h>

#include "base/held.h"
#include "path/follow.h"

enum { TW_EMITTER_ROOM = TW_EMIT_MAX + TW_HELD_MAX };

struct tw_emitter {
    struct tw_follow *follow; /* NULL: not of this protocol */
    uint64_t index;
    struct tw_element elements[TW_EMITTER_ROOM]; /* the last ones are for the library */
    unsigned count, given;
    bool is_over, has_repeat;
    struct tw_element spare; /* what is too many goes here */
};

/* A new element, also one of the library's own behind the caller's. */
struct tw_element *tw_emitter_add(struct tw_emitter *out, uint8_t type, uint64_t index);
/* A REPEAT repeats no more than the ranges of its packet, which begins at `from`, that stand directly
   before it; where there are none it goes. */
void tw_emitter_check_repeats(struct tw_emitter *out, unsigned from);
/* How many elements from the next on must not be torn apart. */
unsigned tw_emitter_together(const struct tw_emitter *out);

#endif
