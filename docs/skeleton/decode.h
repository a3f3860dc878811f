/* SPDX-License-Identifier: BSD-2-Clause */
/* Skeleton: what a decoder keeps from one input to the next. */
#ifndef SKELETON_DECODE_H
#define SKELETON_DECODE_H

#include "skeleton/packet.h"
#include "stage/damage.h"

struct tw_skeleton_decoder {
    struct tw_skeleton_reader reader;
    struct tw_damage damage;
    uint64_t total;      /* of all data since the beginning: synchronization does not tell it */
    uint64_t offset;     /* in the stream, behind the last packet ... */
    uint64_t last_index; /* ... and where that is in the capture */
    bool was_reset, has_begun, is_ended;
};

void tw_skeleton_decoder_init(void *decoder, const void *config);
void tw_skeleton_decoder_reset(void *decoder);
enum tw_status tw_skeleton_decode(void *decoder, struct tw_follow *follow,
                                  struct tw_output *output, struct tw_input *in);
enum tw_status tw_skeleton_end(void *decoder, struct tw_follow *follow,
                               struct tw_output *output);

unsigned tw_skeleton_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                           const void *packet);
void tw_skeleton_restore(void *decoder, const uint64_t *words);

#endif
