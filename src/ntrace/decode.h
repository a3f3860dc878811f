/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the N-Trace decoder share: walk.c moves along the code, take.c knows what
   messages mean, decode.c feeds them. */
#ifndef NTRACE_DECODE_H
#define NTRACE_DECODE_H

#include "ntrace/packet.h"
#include "path/follow.h"
#include "stage/stage.h"

enum {
    TW_NTRACE_RETURNS_MAX = 1 << 15, /* calls that a reader remembers; the oldest is lost */
    TW_NTRACE_MOST = 12,             /* elements that the effects of one message make */
    TW_NTRACE_HOPS_MAX = 4096 + 2 * TW_NTRACE_RETURNS_MAX /* blocks left between two branches */
};

enum tw_ntrace_state {
    TW_NTRACE_UNSYNCED, /* wait for a synchronizing message */
    TW_NTRACE_ENDED,    /* the same, but nothing was lost */
    TW_NTRACE_MISSING,  /* the code is not in the image; an address helps */
    TW_NTRACE_TRACING
};

/* What is still to be done of the message at hand. */
enum tw_ntrace_phase {
    TW_NTRACE_DONE,
    TW_NTRACE_BY_COUNT,  /* walk so many half-words */
    TW_NTRACE_BY_HISTORY /* walk so many branches */
};

/* How a walk ends. */
enum tw_ntrace_walk {
    TW_NTRACE_WALK_DONE,
    TW_NTRACE_WALK_FULL, /* no room for more elements: walk again */
    TW_NTRACE_WALK_MISSING,
    TW_NTRACE_WALK_ERROR /* the messages contradict the image: error and error_detail */
};

/* Branches whose outcome is known, and how far to walk. */
struct tw_ntrace_way {
    uint64_t left;    /* BY_COUNT: half-words to walk */
    uint64_t walked;  /* half-words done */
    uint64_t bits;    /* the top bit is the next branch's: 1 is taken */
    uint32_t count;   /* of those bits */
    uint32_t hops;    /* blocks left since the last branch */
    uint64_t pattern; /* what `bits` are filled with again ... */
    uint32_t pattern_count;
    uint64_t refills; /* ... so many times */
};

/* A message that RepeatBranch may repeat: what of it happens again. */
struct tw_ntrace_previous {
    bool is_there;
    uint8_t type, tcode, has, btype;
    uint64_t icnt, hist;
};

/* What Ownership messages said. */
struct tw_ntrace_owner {
    bool has_scontext, has_hcontext;
    uint64_t scontext, hcontext;
};

/* Of a decoder that begins in the middle: what it would know at the first synchronizing message. */
struct tw_ntrace_before {
    bool is_due; /* that message has not come yet */
    bool has_time;
    uint64_t time;
    bool has_owner; /* who is told again then, with the index of the message that told it */
    uint64_t owner_index;
    uint64_t process; /* of that message */
    struct tw_ntrace_owner owner;
};

struct tw_ntrace_decoder {
    struct tw_ntrace_reader codec;
    uint8_t isa;
    uint8_t state, phase;
    bool has_begun; /* a byte came */
    bool is_ended;
    bool is_after_loss;  /* the unit said so */
    bool is_after_error; /* what follows belongs to an error that is not reported yet */
    bool is_dialect;
    bool has_pc; /* `pc` is where the program goes on */
    uint64_t pc;
    uint32_t at; /* the block there; 0: not looked up */
    /* the block that was left last, as long as its jump is to be told; 0: none */
    uint32_t last;
    uint64_t epoch;     /* of the code, when these two were found */
    uint64_t reference; /* the address sent last */
    int64_t adjust;     /* half-words that I-CNT counts too many or too few */
    struct tw_ntrace_way way;

    bool has_time;
    uint64_t time;
    struct tw_ntrace_owner owner;
    struct tw_ntrace_before before;

    struct tw_ntrace_packet packet; /* at hand */
    uint64_t packet_offset, packet_end;
    uint64_t packet_index, end_index; /* of its beginning and end, in the capture */
    struct tw_ntrace_previous previous;
    uint64_t times;     /* that `packet` is still to be repeated */
    uint8_t repeat_has; /* `has` of the last time */

    uint8_t error; /* of the walk */
    uint64_t error_detail;
    struct tw_damage damage;

    uint64_t generation;     /* of the image, when it was asked ... */
    bool image_has_contexts; /* ... whether it holds regions of some contexts only */

    uint32_t return_top, return_depth;
    uint64_t returns[TW_NTRACE_RETURNS_MAX];
};

TW_INLINE struct tw_ntrace_decoder *tw_ntrace_of(const struct tw_stage *stage)
{
    return stage->decoder;
}

/* decode.c: members of struct tw_protocol. */
enum tw_status tw_ntrace_decode(void *state, struct tw_follow *follow, struct tw_output *output,
                                struct tw_input *in);
enum tw_status tw_ntrace_end(void *state, struct tw_follow *follow, struct tw_output *output);
void tw_ntrace_decoder_init(void *state, const void *config);
void tw_ntrace_decoder_reset(void *state);
void tw_ntrace_code_config(struct tw_code_config *code, const void *config);

/* owner.c: takes what an Ownership message says; tells it, and finds the code of it. */
void tw_ntrace_own(struct tw_ntrace_owner *owner, uint64_t process);
void tw_ntrace_tell_owner(struct tw_stage *stage, uint64_t process, uint64_t index);
/* The first synchronizing message of a decoder that began in the middle is at hand. */
void tw_ntrace_take_before(struct tw_stage *stage);

/* split.c */
void tw_ntrace_state(void *decoder, struct tw_follow *follow, struct tw_state *state);
void tw_ntrace_resume(void *decoder, struct tw_follow *follow);
bool tw_ntrace_split(struct tw_split *split, const void *decoder, const uint8_t *data,
                     size_t size);

/* index.c */
unsigned tw_ntrace_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                         const void *packet);
void tw_ntrace_restore(void *decoder, const uint64_t *words);

TW_INLINE uint64_t tw_ntrace_block_end(const struct tw_block *block)
{
    return block->start + block->length;
}

TW_INLINE void tw_ntrace_push(struct tw_ntrace_decoder *decoder, uint64_t address)
{
    decoder->return_top = (decoder->return_top + 1) & (TW_NTRACE_RETURNS_MAX - 1);
    decoder->returns[decoder->return_top] = address;
    if (decoder->return_depth < TW_NTRACE_RETURNS_MAX)
        decoder->return_depth++;
}

/* plain.c */

/* Goes on with decoder->way, from the block decoder->at, over blocks that are known and end in a direct branch or jump; by half-words, or by
   outcomes. */
void tw_ntrace_run(struct tw_stage *stage, bool by_count);
/* The whole walk of a DirectBranch, if it passes nothing but blocks that are known.  False: from where
   it has come to, half-words are left to walk: decoder->way. */
bool tw_ntrace_walk_direct(struct tw_stage *stage);

/* walk.c */

/* Goes on with decoder->way from decoder->pc. */
enum tw_ntrace_walk tw_ntrace_walk(struct tw_stage *stage);
/* Outcomes of branches, as HIST has them: a stop bit, then the oldest first. */
void tw_ntrace_set_bits(struct tw_ntrace_way *way, uint64_t hist);
/* The same again and again, `times` in all. */
void tw_ntrace_set_pattern(struct tw_ntrace_way *way, uint64_t hist, uint64_t times);
/* The program goes on at this address, which the trace tells. */
void tw_ntrace_go(struct tw_stage *stage, uint64_t address);
/* Instructions up to the next branch or jump, at most so many half-words: what is certain of a walk
   whose end was lost. */
void tw_ntrace_walk_certain(struct tw_stage *stage, uint64_t units);

/* take.c */

/* From here on, messages are those of the dialect. */
void tw_ntrace_take_dialect(struct tw_ntrace_decoder *decoder);

/* Begins with the message at hand: sets the phase. */
void tw_ntrace_take(struct tw_stage *stage);
/* Goes on until the message is done (true) or there is no more room. */
bool tw_ntrace_go_on(struct tw_stage *stage);
/* What was traced is no longer known to go on. */
void tw_ntrace_fail(struct tw_stage *stage, uint8_t code, uint64_t detail);

#endif
