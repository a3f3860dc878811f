/* SPDX-License-Identifier: BSD-2-Clause */
/* Skeleton: what an index notes of packets, and what of it a decoder needs that begins there. */
#include <trackway/index.h>

#include "skeleton/decode.h"

/* Words of the state: the total, and whether it is not known. */
enum { TOTAL, UNKNOWN = TW_INDEX_WORDS - 1 };

unsigned tw_skeleton_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                           const void *packet)
{
    const struct tw_skeleton_packet *from = packet;
    unsigned count;

    (void)reader;
    switch (from->base.type) {
    case TW_SKELETON_SYNC:
        count = tw_note(notes, TW_INDEX_SYNC, !state[UNKNOWN]);
        if (!state[UNKNOWN])
            count += tw_note(notes + count, TW_INDEX_STATE, state[TOTAL]);
        return count;
    case TW_SKELETON_DATA:
        state[TOTAL] += from->data;
        return 0;
    case TW_SKELETON_TIMESTAMP:
        return tw_note(notes, TW_INDEX_TIME, from->timestamp);
    case TW_SKELETON_OVERFLOW:
        return tw_note(notes, TW_INDEX_LOSS, TW_REASON_OVERFLOW);
    default:
        return 0;
    }
}

void tw_skeleton_restore(void *decoder, const uint64_t *words)
{
    struct tw_skeleton_decoder *to = decoder;

    to->total = words[TOTAL];
}
