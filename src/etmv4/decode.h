/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE: from bytes to elements.  Shared by both protocols. */
#ifndef ETMV4_DECODE_H
#define ETMV4_DECODE_H

#include "etmv4/packet.h"
#include "path/follow.h"
#include "stage/stage.h"

/* What waits in the queue: see queue.c.  P0 elements first. */
enum tw_etmv4_item_kind {
    TW_ITEM_ATOM,
    TW_ITEM_EXCEPTION,
    TW_ITEM_Q,
    TW_ITEM_SOURCE,
    TW_ITEM_TRANS_START_P0,
    TW_ITEM_EXCEPTION_RETURN_P0,
    TW_ITEM_FUNCTION_RETURN,
    TW_ITEM_NOT_P0, /* from here on */
    TW_ITEM_TARGET = TW_ITEM_NOT_P0,
    TW_ITEM_CONTEXT,
    TW_ITEM_TRACE_ON,
    TW_ITEM_TRACE_INFO,
    TW_ITEM_EXCEPTION_RETURN,
    TW_ITEM_TRANSACTION,
    TW_ITEM_MISPREDICT, /* of an atom that was followed already */
    TW_ITEM_KEPT,       /* from here on: kept by cancel, discard and end of trace */
    TW_ITEM_TIMESTAMP = TW_ITEM_KEPT,
    TW_ITEM_CYCLE_COUNT,
    TW_ITEM_EVENT,
    TW_ITEM_MARKER,
    TW_ITEM_INSTRUMENTATION,
    TW_ITEM_NO_SYNC,
    TW_ITEM_END
};

struct tw_etmv4_item {
    uint64_t index;
    uint64_t value;  /* address, timestamp, payload */
    uint32_t number; /* exception, count, cycles, event mask, reason */
    uint8_t kind;
    uint8_t sub_isa;
    bool is_taken;    /* atom */
    bool was_taken;   /* atom: before any mispredict */
    bool has_context; /* exception, context: `context` holds something */
    bool has_address; /* Q */
    bool has_count;   /* Q, timestamp, cycle count: it is known */
    bool is_target;   /* exception: the return address is also the last branch's target */
    struct tw_etmv4_context context;
};

enum tw_etmv4_sync { TW_SYNC_START, TW_SYNC_ASYNC, TW_SYNC_INFO, TW_SYNC_DONE };

struct tw_etmv4_decoder {
    struct tw_etmv4_reader reader; /* stays through a reset; all behind is cleared */

    /* Step 1: bytes to elements. */
    uint8_t sync;        /* enum tw_etmv4_sync */
    uint8_t lost_reason; /* enum tw_reason: for the NO_SYNC that the next packet brings */
    bool lost_is_pending;
    bool is_after_overflow; /* the next Trace On says so */
    bool in_transaction;
    bool has_marker;        /* a Timestamp Marker was seen */
    bool has_atom;          /* since Trace On or synchronization */
    bool exception_is_open; /* its address packet comes next */
    struct tw_etmv4_item exception;
    struct tw_etmv4_context context; /* last one */
    struct tw_damage damage;

    /* Step 2: speculation. */
    struct tw_etmv4_item *items; /* oldest first, from `first` on */
    size_t first, count, room;
    uint32_t depth;       /* uncommitted P0 elements, unseen ones included */
    uint32_t unseen;      /* ... of before the first Trace Info */
    uint32_t commit_left; /* P0 elements still to hand on */
    bool drains;          /* hand on all that is in the queue */
    bool is_ending, is_ended;
    uint64_t last_index, last_offset; /* of the last packet: end of trace is there */
    bool is_in_run;                   /* ... which is a run of unsynchronized bytes */
    const struct tw_allocator *allocator;
    bool is_out_of_memory; /* sticky: the queue could not grow */

    /* Step 3: analysis. */
    bool has_context, has_address;
    bool push_needs_address, push_needs_context; /* the return stack waits for them */
    uint64_t address; /* of the last Target Address, until there is a context */
    uint8_t sub_isa;
    bool sf;
    bool q_is_open; /* a Q without address waits for it */
    struct tw_etmv4_item q;
    bool atom_is_pending; /* speculation: the last committed atom may still be mispredicted */
    struct tw_etmv4_item atom;
    bool has_returns; /* inside a transaction: the return stack as it was when that began */
    struct tw_returns returns;
    bool source_is_open; /* ranges of a source address did not all fit the batch */
    struct tw_etmv4_item source;
};

/* queue.c: step 2.  False: no memory or too much. */
bool tw_etmv4_enqueue(struct tw_etmv4_decoder *decoder, const struct tw_etmv4_item *item);
bool tw_etmv4_commit(struct tw_etmv4_decoder *decoder, uint32_t count);
void tw_etmv4_count_p0(struct tw_etmv4_decoder *decoder, uint32_t count);
bool tw_etmv4_cancel(struct tw_etmv4_decoder *decoder, uint32_t count);
void tw_etmv4_mispredict(struct tw_stage *stage);
/* Drops what a discard drops, keeps what it keeps, to be drained.  True: a transaction is open then. */
bool tw_etmv4_discard(struct tw_etmv4_decoder *decoder);
void tw_etmv4_drop_queue(struct tw_etmv4_decoder *decoder);
/* Hands on what is committed, while there is room; false: there is more. */
bool tw_etmv4_release(struct tw_stage *stage);

/* take.c: one packet that was read whole. */
void tw_etmv4_take(struct tw_stage *stage, const struct tw_etmv4_packet *packet,
                   uint8_t header);
/* The packets contradict each other or the image: what waits is void. */
void tw_etmv4_fail(struct tw_stage *stage, uint8_t code, const struct tw_packet *packet,
                   uint64_t detail);
/* Bytes are missing here. */
void tw_etmv4_take_gap(struct tw_stage *stage, const struct tw_packet *at);
/* No more bytes come: leaves in the queue what end of trace releases, to be drained. */
void tw_etmv4_prepare_end(struct tw_stage *stage);

/* analyse.c: step 3.  Hands one item on. */
void tw_etmv4_analyse(struct tw_stage *stage, const struct tw_etmv4_item *item);
void tw_etmv4_analyse_pending(struct tw_stage *stage);
void tw_etmv4_go_on(struct tw_stage *stage); /* with a source address that did not fit */
void tw_etmv4_forget_place(struct tw_stage *stage);
/* A P0 element comes: an address whose context is not known is of no use after it [K10.5.6.2.2]. */
void tw_etmv4_use_up_address(struct tw_etmv4_decoder *decoder);

TW_INLINE uint8_t tw_etmv4_isa(const struct tw_etmv4_decoder *decoder, bool sf, uint8_t sub_isa)
{
    if (decoder->reader.setup.profile == TW_PROFILE_M)
        return TW_ISA_T32;
    if (sf)
        return TW_ISA_A64;
    return sub_isa ? TW_ISA_T32 : TW_ISA_A32;
}

/* The most elements that one item can make, and that one packet of atoms can. */
enum {
    TW_ETMV4_ITEM_MOST = 6,
    TW_ETMV4_Q_MOST =
        TW_WAY_BRANCHES + TW_ETMV4_ITEM_MOST, /* a Q, with the address that ends it */
    TW_ETMV4_PACKET_MOST = 24 * TW_FOLLOW_MOST + TW_ETMV4_ITEM_MOST
};

/* decode.c: the members of struct tw_protocol. */
void tw_etmv4_decoder_init(void *decoder, const void *config);
void tw_etmv4_decoder_free(void *decoder);
void tw_etmv4_decoder_reset(void *decoder);
enum tw_status tw_etmv4_decode(void *decoder, struct tw_follow *follow, struct tw_output *out,
                               struct tw_input *in);
enum tw_status tw_etmv4_end(void *decoder, struct tw_follow *follow, struct tw_output *out);
/* split.c: members of struct tw_protocol. */
void tw_etmv4_state(void *decoder, struct tw_follow *follow, struct tw_state *state);
bool tw_etmv4_split(struct tw_split *split, const void *decoder, const uint8_t *data,
                    size_t size);
/* data.c: the data trace stream beside the instructions, and whether the unit sends it. */
extern const struct tw_protocol tw_etmv4d;
bool tw_etmv4_has_data_stream(const void *config);
/* What the decoder wants of the code that it follows. */
void tw_etmv4_code_config(struct tw_code_config *code, const void *config);

#endif
