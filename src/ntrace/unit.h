/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the N-Trace encoder share: unit.c takes blocks, unit_flow.c decides what to
   report, unit_emit.c makes messages and sends them, unit_register.c holds the registers. */
#ifndef NTRACE_UNIT_H
#define NTRACE_UNIT_H

#include <trackway/ntrace_unit.h>

#include "base/fault.h"
#include "base/fifo.h"
#include "base/memory.h"
#include "ingress/filter.h"
#include "ntrace/packet.h"
#include "trctl/table.h"

enum {
    TW_NTRACE_SINK = 1 << 16,
    TW_NTRACE_MESSAGE_ROOM = 64,
    TW_NTRACE_ICNT_MAX = (1 << 22) - 1, /* what the fields of a message can hold */
    TW_NTRACE_REPEAT_MAX = (1 << 18) - 1,
    TW_NTRACE_CALLS_MAX = 32,
    TW_NTRACE_COUNT_MAX = 1023,  /* of a call counter, unless it is told otherwise */
    TW_NTRACE_PARTIAL_BITS = 16, /* of addresses, that the partial comparison looks at */
    TW_NTRACE_NESTING_BITS = 4   /* of the filters' counters of nested traps */
};

/* trTeInstImplicitReturnMode. */
enum {
    TW_NTRACE_RETURN_NONE,
    TW_NTRACE_RETURN_COUNT,
    TW_NTRACE_RETURN_PARTIAL,
    TW_NTRACE_RETURN_FULL
};

enum { TW_NTRACE_NO_SYNC = 0xff }; /* no synchronization is due; else its SYNC */

/* What happens between two blocks: what the first one's last instruction does, and where that
   leads. */
struct tw_ntrace_end {
    uint8_t itype; /* of the block before; TW_ETRACE_ITYPE_NONE: nothing */
    bool sijump;
    bool is_alone; /* its last instruction follows on a message with I-CNT at once */
    uint64_t link; /* the address behind it */
};

/* A message that RepeatBranch may repeat. */
struct tw_ntrace_sent {
    bool is_there;
    uint8_t type, btype;
    uint32_t icnt;
    uint32_t hist;
    uint64_t target;
    uint32_t times; /* that it was not sent again */
};

struct tw_ntrace_unit {
    struct tw_ntrace_unit_config user;
    struct tw_ntrace_reader codec;
    struct tw_fault fault;
    uint32_t registers[TW_TRCTL_SIZE / 4];

    /* What the registers say. */
    bool is_htm, has_times, has_ownership, may_stall;
    uint8_t return_mode, sync_mode;
    uint32_t depth_max;
    uint64_t sync_limit;
    uint32_t icnt_limit, hist_limit;
    bool is_running; /* enabled, tracing, and the hart is neither halted nor asleep */
    struct tw_ingress ingress;

    bool is_halted, is_reset, is_asleep;
    uint8_t next_sync; /* why tracing begins again */
    uint8_t stop_code; /* EVCODE of the end */

    /* What is traced. */
    bool is_announced; /* that tracing is on, although nothing is traced yet */
    bool is_tracing;   /* a synchronizing message has begun it */
    bool is_lost;      /* messages were dropped */
    uint8_t lost_code; /* which: bits of ECODE */
    uint8_t due;       /* a synchronization: its SYNC, or TW_NTRACE_NO_SYNC */
    bool is_due_now;   /* ... not with the next branch message */
    struct tw_ntrace_end end;
    uint32_t icnt, hist;
    uint64_t reference;
    struct tw_ntrace_sent sent;
    uint32_t buffered, buffered_times; /* HIST that was full, and how often in a row; 0: none */
    uint64_t sync_count;
    uint8_t priv;
    uint64_t context;
    bool has_owner; /* these two were sent since the last synchronization */
    uint64_t time, sent_time;
    uint64_t cycle;

    uint32_t depth, top;
    uint64_t calls[TW_NTRACE_CALLS_MAX];

    struct tw_ntrace_unit_counts counts;
    struct tw_fifo fifo;
    size_t used;
    uint64_t written;
    uint8_t bytes[TW_NTRACE_SINK];
};

/* unit_register.c */
void tw_ntrace_unit_setup(struct tw_ntrace_unit *unit);
/* What the registers say is worked out again. */
void tw_ntrace_unit_refresh(struct tw_ntrace_unit *unit);
uint32_t tw_ntrace_unit_get(const struct tw_ntrace_unit *unit, const char *name);
void tw_ntrace_unit_set(struct tw_ntrace_unit *unit, const char *name, uint32_t value);

/* unit_flow.c */
/* The block before is followed by what begins at this address. */
void tw_ntrace_unit_arrive(struct tw_ntrace_unit *unit, uint64_t address);
/* The block's instructions retire. */
void tw_ntrace_unit_pass(struct tw_ntrace_unit *unit, const struct tw_etrace_block *block);
/* Tracing begins at this address, or ends. */
void tw_ntrace_unit_begin(struct tw_ntrace_unit *unit, uint64_t address);
void tw_ntrace_unit_stop(struct tw_ntrace_unit *unit);
/* Privilege and context, if they are others than before. */
void tw_ntrace_unit_owner(struct tw_ntrace_unit *unit, const struct tw_etrace_block *block);
void tw_ntrace_unit_sync(struct tw_ntrace_unit *unit, uint8_t sync, bool is_now);

/* unit_emit.c */
void tw_ntrace_emit_branch(struct tw_ntrace_unit *unit, uint8_t btype, bool is_direct,
                           uint64_t target);
void tw_ntrace_emit_sync(struct tw_ntrace_unit *unit, uint64_t address);
void tw_ntrace_emit_history(struct tw_ntrace_unit *unit);
void tw_ntrace_emit_count(struct tw_ntrace_unit *unit, uint32_t count);
void tw_ntrace_emit_stop(struct tw_ntrace_unit *unit, uint8_t code);
void tw_ntrace_emit_owner(struct tw_ntrace_unit *unit);
/* Messages were lost, and there is room to say so; false: there is not. */
bool tw_ntrace_emit_loss(struct tw_ntrace_unit *unit);
/* What is held back is sent. */
void tw_ntrace_emit_buffered(struct tw_ntrace_unit *unit);
void tw_ntrace_sink_flush(struct tw_ntrace_unit *unit);

#endif
