/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements that wait for room in the batch, and damage that waits for its end to be seen: for
   decoders whose packets give one element each. */
#ifndef BASE_HELD_H
#define BASE_HELD_H

#include <trackway/types.h>

#include "base/compiler.h"
#include "base/state.h"

enum { TW_HELD_MAX = 8 }; /* a packet adds three, the end of the trace four */

struct tw_held {
    unsigned count;
    struct tw_element elements[TW_HELD_MAX];
};

static inline struct tw_element *tw_held_add(struct tw_held *held, uint8_t type, uint64_t index)
{
    struct tw_element *element = &held->elements[held->count++];

    *element = (struct tw_element){ .type = type, .index = index };
    return element;
}

/* Damage from where it was met up to the next synchronization. */
struct tw_damage {
    uint8_t code; /* enum tw_error_code; TW_ERROR_NONE: there is none */
    uint8_t
        reason; /* enum tw_reason of the NO_SYNC that follows; TW_REASON_UNDEFINED: none does */
    uint64_t index, skipped, detail;
};

/* The damage ends here: two elements at most. */
static inline void tw_damage_settle(struct tw_damage *damage, struct tw_held *held)
{
    struct tw_element *element;

    if (damage->code == TW_ERROR_NONE)
        return;
    element = tw_held_add(held, TW_ELEMENT_ERROR, damage->index);
    element->error = damage->code;
    element->skipped = damage->skipped;
    element->error_detail = damage->detail;
    if (damage->reason != TW_REASON_UNDEFINED)
        tw_held_add(held, TW_ELEMENT_NO_SYNC, damage->index)->reason = damage->reason;
    damage->code = TW_ERROR_NONE;
}

/* Both, as parts of a decoder's state. */
static inline void tw_held_state(struct tw_held *held, struct tw_damage *damage,
                                 struct tw_state *state)
{
    TW_STATE(state, held->count);
    for (unsigned i = 0; i < held->count && i < TW_HELD_MAX; i++)
        TW_STATE(state, held->elements[i]);
    TW_STATE(state, damage->code);
    if (damage->code == TW_ERROR_NONE)
        return;
    TW_STATE(state, damage->reason);
    TW_STATE(state, damage->index);
    TW_STATE(state, damage->skipped);
    TW_STATE(state, damage->detail);
}

#endif
