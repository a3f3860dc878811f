/* SPDX-License-Identifier: BSD-2-Clause */
/* What the decoders of software trace share (ITM and STM): packets give one element each, and damage is
   told together with the loss of synchronization once its end is known. */
#ifndef SWTRACE_DECODE_H
#define SWTRACE_DECODE_H

#include "stage/stage.h"

/* Elements: a packet makes five at most, the end of the trace four. */
enum { TW_SWTRACE_MOST = 8 };

/* Kept by a decoder from one input to the next. */
struct tw_swtrace {
    struct tw_damage damage;
    /* of the last packet that says something: the end of the trace is there */
    uint64_t last_index;
    bool has_begun, is_ended;
};

static inline void tw_swtrace_state(struct tw_swtrace *kept, struct tw_state *state)
{
    tw_damage_state(&kept->damage, state);
    TW_STATE(state, kept->last_index);
    TW_STATE(state, kept->has_begun);
}

static inline bool tw_swtrace_has_room(const struct tw_stage *stage)
{
    return stage->limit - stage->out >= TW_SWTRACE_MOST;
}

/* Says, at the first byte of the trace, that nothing is known yet. */
void tw_swtrace_start(struct tw_stage *stage, struct tw_swtrace *kept);

/* Bytes are missing, and there was synchronization before them. */
void tw_swtrace_lose(struct tw_stage *stage, const struct tw_packet *at);

/* Decodes an input: `decode` and `take_gap` as tw_stage_run has them. */
enum tw_status
tw_swtrace_decode(void *decoder, struct tw_swtrace *kept, struct tw_output *output,
                  struct tw_input *in, bool (*decode)(struct tw_stage *stage),
                  void (*take_gap)(struct tw_stage *stage, const struct tw_packet *at));

/* The end of the trace: the damage ends at `offset`, the end of the stream.  `add_last`, if any, adds
   what else the decoder has to say. */
enum tw_status tw_swtrace_end(void *decoder, struct tw_swtrace *kept, struct tw_output *output,
                              uint64_t offset, void (*add_last)(struct tw_stage *stage));

/* Where a loop over packets is in the capture: offsets of the input in units of so many to a byte. */
struct tw_swtrace_place {
    uint64_t delta; /* byte + delta is the offset in the capture ... */
    /* ... before `stop`; up to `end` 15 bytes more lie one byte further each */
    uint64_t stop, end;
};

struct tw_swtrace_place tw_swtrace_place(struct tw_stage *stage, size_t at, unsigned units);

/* `at` is at or behind place->stop. */
TW_INLINE void tw_swtrace_place_move(struct tw_swtrace_place *place, struct tw_stage *stage,
                                     size_t at, const unsigned units)
{
    const unsigned frame = 15 * units;

    if (at - place->stop < frame && at < place->end) {
        place->delta++;
        place->stop = place->end - place->stop < frame ? place->end : place->stop + frame;
    } else {
        *place = tw_swtrace_place(stage, at, units);
    }
}

/* The packet whose last byte is this one of the input released `element`, the next one. */
TW_INLINE void tw_swtrace_mark(struct tw_stage *stage, const struct tw_element *element,
                               size_t last)
{
    const uint64_t offset = stage->offset + last;

    if (offset >= stage->marked_until) {
        const uint64_t index = tw_position_at(&stage->position, offset);

        tw_stage_add_mark(stage, element, index);
    }
}

#endif
