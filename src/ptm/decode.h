/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: from bytes to elements. */
#ifndef PTM_DECODE_H
#define PTM_DECODE_H

#include "armv7/decode.h"
#include "path/follow.h"
#include "ptm/packet.h"
#include "stage/stage.h"

enum tw_ptm_sync {
    TW_PTM_SYNC_START, /* no byte was seen yet */
    TW_PTM_SYNC_ASYNC, /* waits for ASYNC ... */
    TW_PTM_SYNC_ISYNC, /* ... or for ISYNC */
    TW_PTM_SYNC_DONE
};

struct tw_ptm_decoder {
    struct tw_ptm_reader reader;
    struct tw_ptm_config config;
    /* From here on: what a reset forgets. */
    struct tw_damage damage;
    uint64_t last_index; /* of the last packet: the end of the trace is there */
    uint8_t sync;        /* enum tw_ptm_sync */
    uint8_t lost_reason; /* enum tw_reason of the first NO_SYNC */
    bool is_ended;
    bool is_in_run; /* the last packet was bytes before synchronization: one run, in pieces */

    struct tw_armv7_context context;
};

/* The most elements that one packet can make. */
enum { TW_PTM_PACKET_MOST = 5 * TW_FOLLOW_MOST + 6 };

TW_INLINE void tw_ptm_set_cycles(struct tw_element *element, uint32_t cycles)
{
    element->cycles = cycles;
    element->flags |= TW_FLAG_HAS_CYCLES;
}

/* What the waypoint took is its range's; where there is no whole range it stands alone.  Returns
   where the next element goes. */
TW_INLINE struct tw_element *tw_ptm_give_cycles(struct tw_element *first,
                                                struct tw_element *out, uint32_t cycles,
                                                uint64_t index)
{
    if (TW_LIKELY(out == first + 1 && first->type == TW_ELEMENT_INSTR_RANGE)) {
        tw_ptm_set_cycles(first, cycles);
        return out;
    }
    *out = (struct tw_element){ .type = TW_ELEMENT_CYCLE_COUNT, .index = index };
    tw_ptm_set_cycles(out, cycles);
    return out + 1;
}

/* The packets contradict the image or each other; bytes are still in step. */
void tw_ptm_fail(struct tw_stage *stage, uint8_t code, const struct tw_packet *packet,
                 uint64_t detail);

/* fast.c: atoms and plain branches, until something else comes or the room is used up, or fewer bytes are left. */
enum { TW_PTM_FAST_MARGIN = 16 };
void tw_ptm_fast(struct tw_stage *stage);

/* The members of struct tw_protocol. */
void tw_ptm_code_config(struct tw_code_config *code, const void *config);
void tw_ptm_decoder_init(void *decoder, const void *config);
void tw_ptm_decoder_reset(void *decoder);
enum tw_status tw_ptm_decode(void *decoder, struct tw_follow *follow, struct tw_output *out,
                             struct tw_input *in);
enum tw_status tw_ptm_end(void *decoder, struct tw_follow *follow, struct tw_output *out);
/* split.c */
void tw_ptm_state(void *decoder, struct tw_follow *follow, struct tw_state *state);
bool tw_ptm_split(struct tw_split *split, const void *decoder, const uint8_t *data,
                  size_t size);

/* index.c */
unsigned tw_ptm_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                      const void *packet);
void tw_ptm_restore(void *decoder, const uint64_t *words);

#endif
