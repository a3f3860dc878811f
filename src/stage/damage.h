/* SPDX-License-Identifier: BSD-2-Clause */
/* The record of damage: from the packet at which it was met up to where decoding goes on. */
#ifndef STAGE_DAMAGE_H
#define STAGE_DAMAGE_H

#include <trackway/types.h>

#include "base/state.h"

/* Kept by a decoder from one input to the next. */
struct tw_damage {
    uint8_t code;         /* enum tw_error_code; TW_ERROR_NONE: all was reported */
    uint8_t reason;       /* enum tw_reason of a NO_SYNC to report with it; 0: there is none */
    uint8_t flags;        /* of the ERROR element */
    uint64_t index;       /* of the packet at which it was met, in the capture ... */
    uint64_t offset;      /* ... and in the stream */
    uint64_t detail;      /* error_detail of the ERROR element */
    uint64_t handled_gap; /* stream offset of the last gap acted on, plus 1 */
};

/* As part of a decoder's state. */
static inline void tw_damage_state(struct tw_damage *damage, struct tw_state *state)
{
    TW_STATE(state, damage->code);
    if (damage->code != TW_ERROR_NONE) {
        TW_STATE(state, damage->reason);
        TW_STATE(state, damage->flags);
        TW_STATE(state, damage->index);
        TW_STATE(state, damage->offset);
        TW_STATE(state, damage->detail);
    }
    tw_state_gap(state, &damage->handled_gap);
}

#endif
