/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the E-Trace decoder share: walk.c moves along the code, take.c knows what
   packets mean, decode.c feeds them. */
#ifndef ETRACE_DECODE_H
#define ETRACE_DECODE_H

#include "etrace/packet.h"
#include "path/follow.h"
#include "stage/stage.h"

enum {
    TW_ETRACE_PREDICTOR_MAX = 1 << 15,
    TW_ETRACE_RETURNS_MAX = 1 << 15,
    TW_ETRACE_STEPS =
        1 << 16, /* blocks that one packet may lead through, and a return stack twice */
    TW_ETRACE_LOOP_LEAST = 4096, /* branches of a packet from which on loops are looked for */
    TW_ETRACE_MOST = 12 /* elements that the effects of one packet make, the walk aside */
};

/* Where the program is: in a block, `done` bytes of which were executed, those before `from` said
   so already. */
struct tw_etrace_place {
    uint32_t at;         /* the block; 0: nowhere */
    uint32_t from_count; /* instructions of the block before `from` ... */
    uint32_t done_count; /* ... and before `done` */
    bool is_first;       /* the instruction at `done` was executed too, but not looked at yet */
    uint64_t start;      /* of the block */
    uint64_t from, done;
    uint64_t pc; /* of the last instruction executed; the block's start while is_first */
};

/* How a walk ends. */
enum tw_etrace_walk {
    TW_ETRACE_WALK_ON,
    TW_ETRACE_WALK_FULL,     /* no room for more elements: walk again */
    TW_ETRACE_WALK_REPORTED, /* an uninferable jump went to the packet's address */
    TW_ETRACE_WALK_ADDRESS,  /* came by the address */
    TW_ETRACE_WALK_BRANCH,   /* at the branch that the last outcome is for */
    TW_ETRACE_WALK_MISSING,  /* the image ends */
    TW_ETRACE_WALK_ERROR     /* the packets contradict the image: walk_error */
};

/* Where a walk is to go. */
struct tw_etrace_goal {
    uint64_t address;
    bool to_branch;   /* no address: stop at the last outcome's branch */
    bool report_only; /* coming by the address is not enough */
    bool is_sync;     /* F3: with an equal privilege only */
    bool is_notify;   /* not the target of a jump that is not inferable */
    bool has_irdepth; /* irreport: */
    uint32_t irdepth;
};

enum tw_etrace_state {
    TW_ETRACE_UNSYNCED, /* wait for a synchronization packet */
    TW_ETRACE_ENDED,    /* the same, but nothing was lost */
    TW_ETRACE_TRAPPED,  /* a trap was reported, its handler was not */
    TW_ETRACE_MISSING,  /* the code is not in the image; an address helps */
    TW_ETRACE_TRACING
};

/* What is still to be done of the packet at hand. */
enum tw_etrace_phase {
    TW_ETRACE_IDLE,
    TW_ETRACE_SECOND_VISIT, /* 6.6.2: walk on to where the last address was reported */
    TW_ETRACE_FOLLOW
};

/* A loop of which a packet may claim very many turns: see loop.c. */
enum { TW_ETRACE_LOOP_RETURNS = 64 };
struct tw_etrace_loop {
    bool is_wanted; /* the packet at hand claims so many branches that one must be found */
    bool is_due;    /* one may begin here, in the next batch */
    bool has_begun; /* at: */
    uint32_t most;  /* elements of the next one tried */
    uint32_t at;    /* this block ... */
    uint64_t epoch; /* ... as it was called then, ... */
    struct tw_element *first;    /* ... whose element this one is, in the batch, ... */
    uint64_t predicted;          /* ... with so many outcomes left ... */
    uint64_t learned;            /* ... and the predictor so */
    uint32_t depth, least_depth; /* of the return stack, there and since */
    bool has_lost;               /* since: an entry of the return stack */
    uint64_t returns[TW_ETRACE_LOOP_RETURNS]; /* the last ones, newest first */
};

enum {
    TW_ETRACE_WAITING = 512, /* accesses whose instructions are not known yet */
    TW_ETRACE_PASSED = 4096, /* instructions whose accesses have not come yet */
    TW_ETRACE_SPLIT = 64     /* split loads whose values have not come yet */
};

/* An access that waits for its instruction. */
struct tw_etrace_waiting {
    struct tw_element elements[5]; /* address, value and operand, the last two in halves */
    uint8_t count;
    uint8_t size; /* log2 of its bytes */
    /* its value comes later, under the same lrid; it is this value */
    bool is_split, is_response;
    uint32_t lrid;
};

/* An access that an instruction of the path makes. */
struct tw_etrace_passed {
    uint64_t pc;
    uint64_t access : 8, size : 8; /* enum tw_rv_access; log2 of its bytes */
};

struct tw_etrace_split_pc {
    uint32_t lrid;
    uint32_t is_there;
    uint64_t pc;
};

/* Instructions and accesses that wait for each other: see tie.c. */
struct tw_etrace_tie {
    bool is_on;
    uint32_t first, count, ready; /* accesses: a ring; of them, those that may be told */
    uint32_t passed_first, passed;
    struct tw_etrace_split_pc split[TW_ETRACE_SPLIT];
    struct tw_etrace_waiting waiting[TW_ETRACE_WAITING];
    struct tw_etrace_passed pcs[TW_ETRACE_PASSED];
};

struct tw_etrace_decoder {
    struct tw_etrace_reader codec;
    uint8_t isa;
    uint8_t state, phase;
    bool has_begun; /* a packet came */
    bool is_flushed, is_ended;
    bool is_inferred;      /* the last address may not have been visited for the last time */
    bool was_updiscon;     /* the last address packet had updiscon set */
    bool is_after_loss;    /* the unit said so */
    bool is_after_error;   /* what follows belongs to an error that is not reported yet */
    uint32_t encoder_mode; /* not 0: other packets than branch trace come */
    bool has_context;
    uint8_t privilege;
    uint64_t context;

    /* Outcomes of branches to come: of the map, then as predicted, then one mispredicted. */
    uint64_t map; /* bit 0 is next, 0 is taken */
    uint32_t count;
    bool is_missed;
    uint64_t predicted;

    struct tw_etrace_place place;
    struct tw_etrace_place sure; /* as the last packet left it */
    struct tw_etrace_goal goal;
    uint64_t epoch; /* of the code when place.at was found */
    uint32_t hops;  /* blocks left since the last outcome */
    uint32_t hops_max;
    uint32_t steps; /* blocks left in this packet */
    uint32_t steps_max;
    uint64_t learned; /* moves on when the predictor may have changed */
    struct tw_etrace_loop loop;
    bool has_left; /* a block, in this packet */

    struct tw_etrace_packet packet;     /* at hand */
    uint64_t packet_offset, packet_end; /* in the stream */
    /* In the capture: of its beginning, and behind it and the idle bytes that follow. */
    uint64_t packet_index, end_index;

    /* The last trap, until its handler is reported. */
    bool has_trap;
    uint64_t trap_cause;
    uint8_t trap_interrupt;
    uint64_t trap_tval;
    bool has_next_epc;
    uint64_t next_epc;

    uint8_t walk_error; /* what TW_ETRACE_WALK_ERROR stands for */
    uint64_t walk_error_detail;
    struct tw_damage damage;

    uint64_t generation;     /* of the image, when it was asked ... */
    bool image_has_contexts; /* ... whether it holds regions of some contexts only */

    uint32_t returns_max, return_top, return_depth;
    uint64_t returns[TW_ETRACE_RETURNS_MAX];
    uint8_t predictor[TW_ETRACE_PREDICTOR_MAX];
    struct tw_etrace_tie tie;
};

TW_INLINE struct tw_etrace_decoder *tw_etrace_of(const struct tw_stage *stage)
{
    return stage->decoder;
}

/* decode.c: members of struct tw_protocol. */
enum tw_status tw_etrace_decode(void *state, struct tw_follow *follow, struct tw_output *output,
                                struct tw_input *in);
enum tw_status tw_etrace_end(void *state, struct tw_follow *follow, struct tw_output *output);
void tw_etrace_decoder_init(void *state, const void *config);
void tw_etrace_decoder_reset(void *state);
/* A packet begins; the place is what the last one left. */
void tw_etrace_begin_packet(struct tw_stage *stage, uint64_t offset, uint32_t size);
void tw_etrace_code_config(struct tw_code_config *code, const void *config);
/* split.c */
void tw_etrace_state(void *decoder, struct tw_follow *follow, struct tw_state *state);
void tw_etrace_resume(void *decoder, struct tw_follow *follow);
bool tw_etrace_split(struct tw_split *split, const void *decoder, const uint8_t *data,
                     size_t size);

/* walk.c */

enum tw_etrace_walk tw_etrace_walk(struct tw_stage *stage);
/* False: a walk to the goal, a synchronization packet's address, would end at a branch that no
   outcome tells of, or nowhere.  Nothing is said or changed. */
bool tw_etrace_reaches(struct tw_stage *stage);

/* The program is at this address, whose instruction was executed.  False: it is not in the image,
   and an element says so. */
bool tw_etrace_place_at(struct tw_stage *stage, uint64_t address);
/* Says what was executed up to now, or up to the instruction at pc, which is left out. */
void tw_etrace_flush(struct tw_stage *stage);
void tw_etrace_flush_before(struct tw_stage *stage);
/* What was executed up to now was said before. */
void tw_etrace_skip(struct tw_stage *stage);
/* The instruction at an address is a conditional branch. */
bool tw_etrace_is_branch(struct tw_stage *stage, uint64_t address);
/* Where the program would have gone on.  False: the trace does not tell. */
bool tw_etrace_successor(struct tw_stage *stage, uint64_t *address);
/* The last instruction is an ecall or ebreak, so it raised this exception. */
bool tw_etrace_raised(struct tw_stage *stage, uint64_t cause);
/* Outcomes that wait. */
TW_INLINE uint64_t tw_etrace_outcomes(const struct tw_etrace_decoder *decoder)
{
    return decoder->count + decoder->predicted + (decoder->is_missed ? 1 : 0);
}

/* What is left at a branch becomes an outcome of the map. */
void tw_etrace_settle_outcomes(struct tw_etrace_decoder *decoder);
void tw_etrace_drop_outcomes(struct tw_etrace_decoder *decoder);
void tw_etrace_reset_predictor(struct tw_etrace_decoder *decoder);

/* tie.c */

/* From here on, accesses and instructions are in step; or no longer. */
void tw_etrace_tie_begin(struct tw_etrace_decoder *decoder);
void tw_etrace_untie(struct tw_etrace_decoder *decoder);
/* What was executed; what was accessed; the path ends. */
void tw_etrace_tie_range(struct tw_stage *stage, const struct tw_element *range);
void tw_etrace_tie_access(struct tw_stage *stage, const struct tw_etrace_waiting *access);
void tw_etrace_tie_end(struct tw_stage *stage);
/* Tells the accesses that may be told.  False: there is no room for all. */
bool tw_etrace_tie_drain(struct tw_stage *stage);
void tw_etrace_tie_state(struct tw_etrace_tie *tie, struct tw_state *state);

/* loop.c: at the beginning of a block, of a packet that claims many branches.  False: the batch ends
   here. */
bool tw_etrace_look_for_loop(struct tw_stage *stage);

/* take.c */

/* Begins with the packet at hand: sets the phase. */
void tw_etrace_take(struct tw_stage *stage);
/* Goes on until the phase is idle (true) or there is no more room. */
bool tw_etrace_go_on(struct tw_stage *stage);
/* What was traced is no longer known to go on. */
void tw_etrace_fail(struct tw_stage *stage, uint8_t code, uint64_t detail);

/* The way of the packet at hand begins. */
void tw_etrace_set_goal(struct tw_etrace_decoder *decoder);

/* plain.c */

/* Packets that most of a trace is, as far as they go; of the last one the way may be left to be gone on. */
void tw_etrace_pass_plain(struct tw_stage *stage);
/* Blocks up to the last outcome that waits, as far as they are known: the program is at the end of a plain block
   of which nothing was told. */
void tw_etrace_pass_outcomes(struct tw_stage *stage);

/* data.c: a te_data packet. */
void tw_etrace_take_data(struct tw_stage *stage);

/* index.c */

unsigned tw_etrace_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                         const void *packet);
void tw_etrace_restore(void *decoder, const uint64_t *words);

#endif
