/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the E-Trace encoder share: unit.c takes blocks, unit_plain.c those of which little is to be said,
   unit_runs.c many of these, unit_flow.c decides what to report, unit_emit.c makes packets, unit_sink.c sends them. */
#ifndef ETRACE_UNIT_H
#define ETRACE_UNIT_H

#include <trackway/etrace_unit.h>

#include "base/fault.h"
#include "base/fifo.h"
#include "base/memory.h"
#include "etrace/packet.h"
#include "ingress/filter.h"

enum { TW_ETRACE_SINK = 1 << 16, TW_ETRACE_BRANCHES = 31 };

/* An instruction in the pipeline, or a trap that none retired with. */
enum {
    TW_SLOT_RETIRES = 0x0001,
    TW_SLOT_TRAPS = 0x0002,
    TW_SLOT_INTERRUPT = 0x0004,
    TW_SLOT_BRANCH = 0x0008,
    TW_SLOT_TAKEN = 0x0010,
    TW_SLOT_UNINFERABLE = 0x0020,
    TW_SLOT_CALL = 0x0040,
    TW_SLOT_RETURN = 0x0080,
    TW_SLOT_SIJUMP = 0x0100,
    TW_SLOT_NOTIFY = 0x0200,
    TW_SLOT_QUALIFIED = 0x0400,
    TW_SLOT_CHANGED = 0x0800,   /* privilege or, precisely, context is another than before */
    TW_SLOT_SWITCHED = 0x1000,  /* ctype 3 */
    TW_SLOT_IMPRECISE = 0x2000, /* ctype 1 */
    TW_SLOT_ENDS = 0x4000       /* a block ends here wherever blocks are cut */
};

struct tw_etrace_slot {
    uint32_t flags;
    uint64_t cause;
    uint64_t address, context, time, tval;
    uint64_t from; /* the first address that is not the slot before's: of a block's end */
    uint8_t priv;
    uint8_t size; /* in bytes */
    /* Half-words between the slot before and this one, and of this one: a block's first
       instruction has a size that is not known, and counts with those behind it. */
    uint32_t half_words_before, half_words;
};

/* A frame of the calls that implicit return follows. */
struct tw_etrace_call {
    uint64_t link;         /* where it returns to */
    uint64_t repeated_at;  /* the call, if another one of its stretch led to this depth ... */
    uint64_t repeated_in;  /* ... and that stretch; 0: none did */
    uint32_t depth_before; /* the call */
};

/* What accesses are compressed against. */
struct tw_etrace_data_state {
    /* bit n: of an access of size n, in full since the last sync */
    uint8_t has_address, has_value;
    struct tw_etraced_history history;
};

/* What no block has of which nothing can be wrong, as bits, and the most that it has. */
struct tw_etrace_usual {
    uint64_t iaddr, context;
    uint32_t half_words; /* beside its last instruction */
    uint32_t iretire;
    uint16_t itypes; /* that it may have: traps are looked at */
    uint8_t priv, ctype;
};

struct tw_etrace_unit {
    struct tw_etrace_config config;
    struct tw_etrace_unit_config user;
    struct tw_etrace_shape shape;
    struct tw_etraced_shape data_shape;
    struct tw_etrace_transport transport;
    struct tw_fault fault;
    bool is_v2;
    bool is_single; /* retires_p is 1 */
    bool one_stream;
    struct tw_etrace_usual usual;

    /* Table 2.1 and 2.2. */
    bool is_active, is_enabled, data_enabled, trigger_enabled, data_trigger_enabled;
    bool stall_enabled;
    uint8_t resync_mode, resync_max;
    uint64_t resync_limit;
    uint32_t options;
    uint32_t first_options; /* those of the first packet */
    bool has_begun;         /* it was sent */
    uint8_t data_compress;
    struct tw_ingress ingress;

    bool is_halted, is_reset;
    bool is_running; /* enabled, and none of the two */
    uint8_t last_priv;
    uint64_t last_context;

    /* The pipeline. */
    struct tw_etrace_slot slot; /* current; its flags are 0 when there is none */
    uint32_t previous;          /* flags of the one before */
    bool is_after_updiscon; /* what it was for the trace: an uninferable discontinuity ... */
    bool is_after_return;   /* ... or a return that was inferred ... */
    bool is_mispredicted;   /* ... or should have been */
    bool is_wild;      /* the current instruction is such a return, and its target is another */
    bool must_sync;    /* the next instruction is as if it were the first */
    bool sync_is_next; /* resynchronization: next instruction */
    bool trap_is_reported;
    bool context_is_due;
    bool has_sent;        /* a packet, for the current instruction */
    bool is_reported_now; /* its trap is */
    bool is_end_inferred; /* should trace end here: the packet would have come in any case */
    bool is_busy;         /* something is to be said whatever the instruction */
    struct tw_etrace_slot trap; /* the last one, until its handler */

    /* What is not reported yet. */
    uint32_t map; /* the first of them */
    uint64_t branches;
    bool is_wrong; /* one of them was not as predicted: the last one alone, if more than 31 */
    uint64_t address; /* reported last */
    uint64_t resync_count;
    bool is_located;    /* a packet told of the current instruction */
    uint64_t low, high; /* code that ran since the last packet: no address outside of these */
    bool is_indexed;    /* the last packet gave an index of the jump target cache */
    /* a jump's target was reported that may have been passed before: unless the next packet is of
       format 0 to 2, the decoder takes that visit */
    bool is_target_open;

    uint32_t depth, depth_max;
    uint32_t calls_max; /* a power of two: frames in `calls` */
    uint32_t call_top;
    uint64_t stretch; /* counts packets and branches: what the decoder surely knows */
    bool has_returned, has_called; /* inferred, in this stretch; a call since then */
    bool is_repeated;              /* a call of this stretch repeats another's depth */

    struct tw_etrace_data_state data;
    bool is_atomic[TW_ETRACED_REQUESTS]; /* split requests, by transfer number */
    uint64_t cycle;

    struct tw_etrace_unit_counts counts;
    struct tw_etrace_packet report; /* for packets that report branches and addresses */
    /* The sink. */
    struct tw_fifo fifo;
    bool is_lost, data_is_lost;
    bool is_too_long; /* a packet was */
    uint32_t esp32_number;
    size_t used[2];
    uint64_t written[2];
    uint8_t bytes[2][TW_ETRACE_SINK];

    struct tw_etrace_call *calls;
    uint64_t
        *returned;   /* by depth: the last stretch in which a return from there was inferred */
    uint64_t *cache; /* jump targets plus one; 0: none */
    uint8_t *predictor;
};

/* What the decoder surely knows reaches up to here. */
static inline void tw_etrace_begin_stretch(struct tw_etrace_unit *unit)
{
    unit->stretch++;
    unit->has_returned = unit->has_called = unit->is_repeated = false;
}

/* unit_flow.c */
/* The instruction in the slot is decided on, now that the next one is known. */
void tw_etrace_unit_step(struct tw_etrace_unit *unit, const struct tw_etrace_slot *next);

TW_INLINE bool tw_etrace_is_due(const struct tw_etrace_unit *unit)
{
    return unit->resync_mode && unit->resync_count >= unit->resync_limit;
}

/* Nothing is to be said whatever the instruction. */
TW_INLINE bool tw_etrace_is_quiet(const struct tw_etrace_unit *unit)
{
    return !(unit->is_after_updiscon | unit->sync_is_next | unit->must_sync |
             unit->context_is_due | unit->is_lost) &&
           !tw_etrace_is_due(unit);
}

/* Most instructions: nothing is to be said of them, nor of what was before or comes after. */
TW_INLINE bool tw_etrace_is_plain(const struct tw_etrace_unit *unit, uint32_t next)
{
    const uint32_t plain = TW_SLOT_RETIRES | TW_SLOT_QUALIFIED;

    return unit->slot.flags == plain && !unit->is_busy &&
           (unit->previous & (TW_SLOT_QUALIFIED | TW_SLOT_TRAPS)) == TW_SLOT_QUALIFIED &&
           (next & (TW_SLOT_RETIRES | TW_SLOT_QUALIFIED | TW_SLOT_CHANGED)) == plain;
}

TW_INLINE void tw_etrace_note_passed(struct tw_etrace_unit *unit)
{
    if (unit->is_located) {
        unit->is_located = false;
        unit->low = UINT64_MAX;
        unit->high = 0;
        return;
    }
    if (unit->slot.from < unit->low)
        unit->low = unit->slot.from;
    if (unit->slot.address > unit->high)
        unit->high = unit->slot.address;
}

/* The next instruction: the one before it is done with. */
TW_INLINE void tw_etrace_unit_push(struct tw_etrace_unit *unit,
                                   const struct tw_etrace_slot *next)
{
    if (TW_UNLIKELY(unit->resync_mode == 3))
        unit->resync_count += unit->slot.half_words_before;
    if (unit->slot.flags & TW_SLOT_QUALIFIED) {
        unit->is_busy = unit->is_after_updiscon || unit->sync_is_next || unit->must_sync ||
                        unit->context_is_due || unit->is_lost || tw_etrace_is_due(unit);
        if (tw_etrace_is_plain(unit, next->flags))
            unit->is_after_return = false;
        else
            tw_etrace_unit_step(unit, next);
        tw_etrace_note_passed(unit);
    }
    if (TW_UNLIKELY(unit->resync_mode == 3))
        unit->resync_count += unit->slot.half_words;
    unit->previous = unit->slot.flags;
    unit->slot = *next;
}
/* unit.c */
/* What the last instruction of a block is, by itype. */
extern const uint16_t tw_etrace_slot_flags[16];

/* Nearly every block is so that nothing of it needs to be looked at more closely: all that could be wrong
   is in a few bits. */
TW_INLINE bool tw_etrace_is_usual(const struct tw_etrace_unit *unit,
                                  const struct tw_etrace_block *block, uint32_t half_words)
{
    const struct tw_etrace_usual *usual = &unit->usual;
    const uint64_t odd = (block->iaddr & usual->iaddr) | (block->context & usual->context) |
                         block->impdef | block->impdef_high | (block->priv & usual->priv);

    return !odd && block->itype < 16 && usual->itypes >> block->itype & 1 &&
           block->ilastsize <= 1 && block->ctype <= usual->ctype &&
           half_words - (1u << block->ilastsize) <= usual->half_words &&
           block->iretire <= usual->iretire;
}

TW_INLINE void tw_etrace_pass_cycles(struct tw_etrace_unit *unit, uint64_t count)
{
    unit->cycle += count;
    if (unit->resync_mode == 2)
        unit->resync_count += count;
}

enum tw_status tw_etrace_unit_take_block(struct tw_etrace_unit *unit,
                                         const struct tw_etrace_block *block);

/* unit_flow.c */
/* Nothing more is qualified: ends what is traced. */
void tw_etrace_unit_end(struct tw_etrace_unit *unit);

/* unit_register.c */
/* The draft's support packet gets a bit for each data mode that is used (6.5, chapter 7). */
void tw_etrace_show_data_modes(struct tw_etrace_unit *unit, uint32_t options);
/* iEnable and dEnable. */
void tw_etrace_unit_enable(struct tw_etrace_unit *unit, bool is_enabled);
void tw_etrace_unit_enable_data(struct tw_etrace_unit *unit, bool is_enabled);

/* unit_emit.c */
void tw_etrace_emit_support(struct tw_etrace_unit *unit, unsigned status);
void tw_etrace_emit_sync(struct tw_etrace_unit *unit);
void tw_etrace_emit_trap(struct tw_etrace_unit *unit, const struct tw_etrace_slot *trap,
                         bool thaddr);
void tw_etrace_emit_context(struct tw_etrace_unit *unit);
/* The flags of a packet that reports an address. */
struct tw_etrace_report {
    bool is_target; /* of an uninferable discontinuity */
    bool notify, updiscon, irreport;
    uint32_t irdepth;
};
void tw_etrace_emit_address(struct tw_etrace_unit *unit, uint64_t address,
                            const struct tw_etrace_report *report);
/* Branches that fill a packet. */
void tw_etrace_emit_full(struct tw_etrace_unit *unit);
TW_INLINE void tw_etrace_emit_branches(struct tw_etrace_unit *unit)
{
    if (unit->branches >= TW_ETRACE_BRANCHES)
        tw_etrace_emit_full(unit);
}
void tw_etrace_add_branch(struct tw_etrace_unit *unit);
void tw_etrace_forget_prediction(struct tw_etrace_unit *unit);

/* unit_data.c */
enum tw_status tw_etrace_take_access(struct tw_etrace_unit *unit,
                                     const struct tw_etrace_access *access);

/* unit_sink.c */
/* False: the packet is lost. */
bool tw_etrace_send(struct tw_etrace_unit *unit, struct tw_etrace_packet *packet);
bool tw_etrace_has_room(struct tw_etrace_unit *unit);
void tw_etrace_sink_flush(struct tw_etrace_unit *unit);
/* Hands over what waits. */
void tw_etrace_sink_give(struct tw_etrace_unit *unit, unsigned stream);
enum { TW_ETRACE_PACKET_ROOM = 64 };
/* Room for a packet behind what waits. */
TW_INLINE void tw_etrace_sink_reserve(struct tw_etrace_unit *unit, unsigned stream)
{
    if (TW_UNLIKELY(unit->used[stream] + TW_ETRACE_PACKET_ROOM > TW_ETRACE_SINK))
        tw_etrace_sink_give(unit, stream);
}

#endif
