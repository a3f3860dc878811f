/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE, stage 1: what the loop over bytes and the handling of packets share. */
#ifndef ETMV4_STAGE_H
#define ETMV4_STAGE_H

#include "etmv4/decode.h"
#include "stage/position.h"

/* One run over an input. */
struct tw_etmv4_stage {
    struct tw_etmv4_run run;
    struct tw_position position;
    struct tw_output *output;
    const uint8_t *base; /* data[0] of the input */
    uint64_t offset;     /* its stream offset */
    const uint8_t *at, *end;
    struct tw_element *marked; /* elements before this one have a mark */
    uint64_t marked_until;     /* stream offsets before this one need no other mark */
    bool is_last;
};

/* take.c: one packet that was read whole. */
void tw_etmv4_take(struct tw_etmv4_stage *stage, const struct tw_etmv4_packet *packet,
                   uint8_t header);
/* The packets contradict each other or the image: what waits is void. */
void tw_etmv4_fail(struct tw_etmv4_stage *stage, uint8_t code, const struct tw_packet *packet,
                   uint64_t detail);
/* Bytes are missing at this stream offset. */
void tw_etmv4_take_gap(struct tw_etmv4_stage *stage, uint64_t offset);
/* No more bytes come: leaves in the queue what end of trace releases, to be drained. */
void tw_etmv4_prepare_end(struct tw_etmv4_stage *stage);

#endif
