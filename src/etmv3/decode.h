/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: from bytes to elements. */
#ifndef ETMV3_DECODE_H
#define ETMV3_DECODE_H

#include "armv7/decode.h"
#include "etmv3/packet.h"
#include "path/follow.h"
#include "stage/stage.h"

enum tw_etmv3_sync {
    TW_ETMV3_SYNC_START, /* no byte was seen yet */
    TW_ETMV3_SYNC_ASYNC, /* waits for A-sync ... */
    TW_ETMV3_SYNC_ISYNC, /* ... or for I-sync */
    TW_ETMV3_SYNC_DONE
};

enum {
    /* The last instruction may still be withdrawn, and so it waits with what came after it; but
       not behind more than this. */
    TW_ETMV3_HELD_MAX = 64,
    /* The most elements that one packet can make: 16 atoms, and the rest. */
    TW_ETMV3_PACKET_MOST = 24,
    TW_ETMV3_ROOM = TW_ETMV3_HELD_MAX + 3 * TW_ETMV3_PACKET_MOST, /* least of a batch */
    TW_ETMV3_STRETCH_MOST = 16, /* P-headers looked at in a row ... */
    TW_ETMV3_STRETCH_ROOM = 16 * TW_ETMV3_STRETCH_MOST +
                            TW_ETMV3_PACKET_MOST, /* ... and the elements they may make */
    TW_ETMV3_TAGS = 4                             /* tag 0 is not used */
};

/* A transfer whose value comes later, out of order. */
struct tw_etmv3_slot {
    struct tw_element value; /* the DATA_VALUE, but for its value and index */
    uint32_t serial;         /* of its instruction */
    bool is_open;
};

/* Data trace: which instruction the next transfers belong to, and where they go on. */
struct tw_etmv3_data {
    uint32_t pc;     /* of the last data instruction traced ... */
    uint32_t serial; /* ... the how-manieth it is ... */
    uint8_t left;    /* ... and its transfers that did not come yet */
    uint8_t flags;   /* TW_TRANSFER_... */
    bool is_known;   /* pc, left and flags mean something */
    bool is_last;    /* it is the last instruction traced */
    bool has_next;   /* `next` is the address after the last transfer */
    uint32_t next;
    struct tw_etmv3_slot slots[TW_ETMV3_TAGS];
};

struct tw_etmv3_decoder {
    struct tw_etmv3_reader reader;
    struct tw_etmv3_config config;
    /* From here on: what a reset forgets. */
    struct tw_damage damage;
    uint64_t last_index; /* of the last packet: the end of the trace is there */
    uint8_t sync;        /* enum tw_etmv3_sync */
    uint8_t lost_reason; /* enum tw_reason of the first NO_SYNC */
    bool is_ended;
    bool is_in_run; /* the last packet was bytes before synchronization: one run, in pieces */
    bool unknown_is_said; /* ADDR_UNKNOWN, for this loss of the place */
    bool half_is_done;    /* wide_is_two: the next atom is of the second half */
    bool is_returning;    /* M profile: from an exception, and no address came yet */

    struct tw_armv7_context context;

    struct tw_etmv3_data data;

    /* Elements that are not released yet.  During a run they are at the end of the batch, from
       `waiting` on; between runs in `buffered`. */
    struct tw_element *waiting; /* NULL: none */
    bool has_instruction;       /* the first one is the last instruction's range */
    /* ranges are counted, and there is a context among them that is not that of those before */
    bool holds_context;
    unsigned buffered_count;
    struct tw_element buffered[TW_ETMV3_HELD_MAX];
};

/* data.c */
void tw_etmv3_data_forget(struct tw_etmv3_decoder *decoder);
/* An instruction was executed: its loads and stores may come next. */
void tw_etmv3_data_instruction(struct tw_etmv3_decoder *decoder, const struct tw_follow *follow,
                               const struct tw_element *range);
void tw_etmv3_take_data(struct tw_stage *stage, const struct tw_etmv3_packet *packet);

/* take.c: one packet that was read whole. */
void tw_etmv3_take(struct tw_stage *stage, const struct tw_etmv3_packet *packet);
/* Follows the atoms of a P-header from number `done` on. */
void tw_etmv3_go_on(struct tw_stage *stage, const struct tw_etmv3_atoms *atoms, unsigned done,
                    uint64_t index);
/* After the atoms of a P-header were followed, whose elements begin at `first`: cycles, what is
   left when the place was lost; the last instruction waits. */
void tw_etmv3_settle(struct tw_stage *stage, const struct tw_etmv3_atoms *atoms,
                     struct tw_element *first, uint64_t index);

TW_INLINE void tw_etmv3_set_cycles(struct tw_element *first, const struct tw_etmv3_atoms *atoms,
                                   unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        first[i].range_cycles = tw_etmv3_cycles_of(atoms, i);
        first[i].flags |= TW_FLAG_HAS_CYCLES;
    }
}

void tw_etmv3_fail(struct tw_stage *stage, uint8_t code, const struct tw_packet *packet,
                   uint64_t detail);
void tw_etmv3_take_gap(struct tw_stage *stage, const struct tw_packet *at);
/* What waits is sure now. */
static inline void tw_etmv3_release(struct tw_etmv3_decoder *decoder)
{
    decoder->waiting = NULL;
    decoder->has_instruction = false;
}

/* What waits is not released yet. */
static inline void tw_etmv3_mark(struct tw_stage *stage, const uint8_t *packet_end)
{
    const struct tw_etmv3_decoder *decoder = stage->decoder;

    tw_stage_mark(stage, decoder->waiting ? decoder->waiting : stage->out, packet_end);
}

/* fast.c: P-headers and plain branches, until something else comes, the room is used up or the path breaks off, which is
   told.  Neither data is traced, nor has a wide instruction two atoms. */
void tw_etmv3_fast(struct tw_stage *stage);

/* decode.c: the members of struct tw_protocol. */
void tw_etmv3_code_config(struct tw_code_config *code, const void *config);
void tw_etmv3_decoder_init(void *decoder, const void *config);
void tw_etmv3_decoder_reset(void *decoder);
enum tw_status tw_etmv3_decode(void *decoder, struct tw_follow *follow, struct tw_output *out,
                               struct tw_input *in);
enum tw_status tw_etmv3_end(void *decoder, struct tw_follow *follow, struct tw_output *out);
/* split.c */
void tw_etmv3_state(void *decoder, struct tw_follow *follow, struct tw_state *state);
bool tw_etmv3_split(struct tw_split *split, const void *decoder, const uint8_t *data,
                    size_t size);

/* index.c */
unsigned tw_etmv3_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                        const void *packet);
void tw_etmv3_restore(void *decoder, const uint64_t *words);

#endif
