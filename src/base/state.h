/* SPDX-License-Identifier: BSD-2-Clause */
/* A decoder's state as bytes, so that two can be compared and one can go on where another stopped.
   One function visits every member that matters; whether it saves or loads is all the same to it. */
#ifndef BASE_STATE_H
#define BASE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <trackway/types.h>

struct tw_state {
    uint8_t *bytes;
    size_t size, room;
    size_t read;     /* loading: bytes that were */
    bool loads;      /* else it saves */
    bool failed;     /* memory is out, or what is loaded is too short */
    uint64_t offset; /* of the next byte of the stream */
    uint64_t total;  /* of something counted through the whole trace: not compared */
    const struct tw_allocator *allocator;
};

void tw_state_free(struct tw_state *state);
/* From now on it saves, from the beginning. */
void tw_state_save(struct tw_state *state, uint64_t offset);
/* From now on it loads what was saved. */
void tw_state_load(struct tw_state *state);
bool tw_state_is_same(const struct tw_state *a, const struct tw_state *b);
/* False: no memory. */
bool tw_state_copy(struct tw_state *to, const struct tw_state *from);

void tw_state_bytes(struct tw_state *state, void *member, size_t size);

/* A member without padding. */
#define TW_STATE(state, member) tw_state_bytes((state), &(member), sizeof(member))

/* A value that is worked out when saving and looked at when loading. */
static inline uint64_t tw_state_number(struct tw_state *state, uint64_t value)
{
    TW_STATE(state, value);
    return value;
}

static inline bool tw_state_flag(struct tw_state *state, bool value)
{
    TW_STATE(state, value);
    return value;
}

/* Where a total begins that is not known: no real one comes near.  What is counted from there on
   can be told, and be put right once it is known. */
#define TW_STATE_GUESS ((uint64_t)1 << 52)
/* From here on a total is one that began there. */
#define TW_STATE_GUESS_LEAST (TW_STATE_GUESS / 2)

static inline bool tw_state_is_guess(uint64_t total)
{
    return total >= TW_STATE_GUESS_LEAST;
}

static inline void tw_state_total(struct tw_state *state, uint64_t *total)
{
    if (state->loads)
        *total = state->total;
    else
        state->total = *total;
}

/* The place behind the last gap acted on: it matters only until the stream is past it. */
static inline void tw_state_gap(struct tw_state *state, uint64_t *handled)
{
    *handled = tw_state_number(state, *handled > state->offset ? *handled : 0);
}

#endif
