/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the ETMv4 and ETE trace unit model, and what its files share. */
#ifndef ETMV4_UNIT_H
#define ETMV4_UNIT_H

#include <trackway/etmv4_unit.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "base/memory.h"
#include "etmv4/packet.h"

/* Where each register's value is kept; indexed ones take several places. */
enum tw_etmv4_unit_slot {
    TW_TRCPRGCTLR,
    TW_TRCSTATR,
    TW_TRCCONFIGR,
    TW_TRCAUXCTLR,
    TW_TRCEVENTCTL0R,
    TW_TRCEVENTCTL1R,
    TW_TRCRSR,
    TW_TRCSTALLCTLR,
    TW_TRCTSCTLR,
    TW_TRCSYNCPR,
    TW_TRCCCCTLR,
    TW_TRCBBCTLR,
    TW_TRCTRACEIDR,
    TW_TRCQCTLR,
    TW_TRCITEEDCR,
    TW_TRCVICTLR,
    TW_TRCVIIECTLR,
    TW_TRCVISSCTLR,
    TW_TRCVIPCSSCTLR,
    TW_TRCSEQEVR,
    TW_TRCSEQRSTEVR = TW_TRCSEQEVR + 3,
    TW_TRCSEQSTR,
    TW_TRCEXTINSELR,
    TW_TRCCNTRLDVR = TW_TRCEXTINSELR + 4,
    TW_TRCCNTCTLR = TW_TRCCNTRLDVR + 4,
    TW_TRCCNTVR = TW_TRCCNTCTLR + 4,
    TW_TRCRSCTLR = TW_TRCCNTVR + 4,
    TW_TRCSSCCR = TW_TRCRSCTLR + 32,
    TW_TRCSSCSR = TW_TRCSSCCR + 8,
    TW_TRCSSPCICR = TW_TRCSSCSR + 8,
    TW_TRCOSLSR = TW_TRCSSPCICR + 8,
    TW_TRCACVR,
    TW_TRCACATR = TW_TRCACVR + 16,
    TW_TRCCIDCVR = TW_TRCACATR + 16,
    TW_TRCVMIDCVR = TW_TRCCIDCVR + 8,
    TW_TRCCIDCCTLR = TW_TRCVMIDCVR + 8,
    TW_TRCVMIDCCTLR = TW_TRCCIDCCTLR + 2,
    TW_TRCIDR = TW_TRCVMIDCCTLR + 2,
    TW_TRCDEVARCH = TW_TRCIDR + 14,
    TW_TRCAUTHSTATUS,
    TW_TRCIMSPEC,
    TW_TRCCLAIMSET = TW_TRCIMSPEC + 8,
    TW_TRCCLAIMCLR,
    TW_TRCITECR_EL1, /* from here on: registers of the processor, written at any time */
    TW_TRCITECR_EL2,
    TW_TRFCR_EL1,
    TW_TRFCR_EL2,
    TW_MDCR_EL3,
    TW_HCR_EL2,
    TW_OSLAR, /* the OS Lock: the unit's own, or the processor's */
    TW_ETMV4_UNIT_SLOTS
};

/* What makes ETE and ETMv4 different units. */
struct tw_etmv4_unit_identity {
    bool is_ete;
    struct {
        uint8_t slot; /* enum tw_etmv4_unit_slot */
        uint32_t value;
    } registers[16]; /* identification registers; a value of 0 ends the list */
};
extern const struct tw_etmv4_unit_identity tw_etmv4_identity, tw_ete_identity;

enum tw_etmv4_unit_pending {
    TW_PENDING_NOTHING,
    TW_PENDING_INDIRECT,  /* the return stack may know */
    TW_PENDING_BROADCAST, /* an address must come */
    TW_PENDING_EXCEPTION
};

/* What a cancelled speculation brings back. */
struct tw_etmv4_unit_flow {
    uint64_t block_start;           /* block_is_open: the target of the newest P0 */
    uint64_t target;                /* of the newest P0, if known */
    struct tw_step_context context; /* the last one that an element told */
    uint32_t placed;                /* Trace On, Target Address and Context elements so far */
    uint32_t infos;                 /* Trace Info elements so far */
    uint8_t block_isa, target_isa;
    uint8_t pending; /* enum tw_etmv4_unit_pending */
    bool has_context, is_active, block_is_open;
    bool was_traced;        /* TRCRSR.TA */
    bool is_started;        /* ViewInst start/stop */
    bool in_transaction;    /* the processor is ... */
    bool told_transaction;  /* ... and the trace says so */
    bool start_transaction; /* start/stop as it was after TSTART */
    bool last_is_taken;     /* the newest P0 is a taken branch */
};

/* An instruction, exception or transaction start that may yet be cancelled. */
struct tw_etmv4_unit_record {
    struct tw_etmv4_unit_flow flow;        /* after it */
    struct tw_step_context context_before; /* told before its P0 element ... */
    uint32_t placed_before;
    uint8_t p0_count; /* P0 elements that it made */
    uint8_t shots;    /* single-shot comparators that it fires when it is certain */
    bool had_context;
    bool is_instruction, is_branch, is_atom, is_taken, is_indirect, is_broadcast;
};

struct tw_etmv4_unit_return {
    uint64_t address;
    uint8_t isa;
};

enum { TW_ETMV4_UNIT_RETURNS = 15, TW_ETMV4_UNIT_SPEC_MOST = 4096 };

/* Which parts of the registers matter, worked out when the unit is enabled. */
struct tw_etmv4_unit_setup {
    uint32_t max_spec;
    uint32_t threshold, cycle_most;
    uint32_t p0_kinds;    /* bit for each enum tw_retired_kind */
    uint32_t noted_kinds; /* these, and what asks for the time */
    uint32_t q_most;
    uint16_t sac_used, arc_used; /* comparators that something looks at */
    uint8_t return_depth;
    uint8_t event_count;
    bool is_ete, return_stack, timestamps, markers, cycles, broadcasts, cid, vmid;
    bool commopt, start_is_p0, has_transactions, has_ite;
    bool filters;       /* ViewInst depends on the instruction */
    bool has_resources; /* something must be worked out each cycle */
    bool has_shots;     /* single-shot comparators are used */
    bool is_plain;      /* none of the above, nor speculation, Q, source addresses */
    bool q, q_counts;
};

struct tw_etmv4_unit {
    /* Hot: what the plain loop over instructions uses. */
    uint64_t atoms; /* not yet packed, the oldest in bit 0; 1 is E */
    unsigned atom_count;
    uint32_t buffered; /* not-taken branches that are no atoms yet (source addresses) */
    struct tw_etmv4_unit_flow flow;
    struct tw_etmv4_unit_setup setup;
    uint8_t *bytes;
    size_t size, room;
    uint64_t since_sync, sync_period; /* bytes; 0: never */
    struct tw_etmv4_unit_return returns[TW_ETMV4_UNIT_RETURNS];
    /* The same when the transaction at hand began. */
    struct tw_etmv4_unit_return saved_returns[TW_ETMV4_UNIT_RETURNS];
    unsigned saved_top, saved_count;
    unsigned return_top, return_count;

    struct tw_etmv4_unit_config config;
    struct tw_fault fault;
    enum tw_status failed; /* sticks: out of memory, or speculation that cannot be */
    uint64_t registers[TW_ETMV4_UNIT_SLOTS];
    struct tw_etmv4_reader packing; /* history and setup, as a reader has them */
    struct tw_step_context context; /* of the processor */
    struct tw_step_context sent;    /* identifiers as packets have told them */
    bool has_sent;
    uint8_t target_sub_isa; /* of the last Target Address packet */
    bool is_viewed;  /* Exception level and Security state are traced, and not prohibited */
    bool is_changed; /* the context may differ from what was told */
    bool is_enabled, is_synced, is_overflowing, is_halted, is_barred, is_asleep;
    bool sync_is_due, timestamp_is_due;
    bool popped; /* an address was left out since the last P0 */
    /* P0 elements that may still come before the place of the last synchronization */
    uint8_t late;

    /* Time. */
    uint64_t cycle, clock_base; /* timestamp = cycle + clock_base */
    uint64_t stamped;           /* cycle of the newest P0, event or instrumentation */
    uint64_t last_timestamp;
    uint64_t counted; /* cycle of the last cycle count */
    bool count_is_unknown;
    uint32_t cycles_per_instruction;

    /* Q. */
    bool q_is_open, q_must_end;
    uint32_t q_count;
    uint32_t q_sure; /* ... up to the last P0 instruction, behind which the program ... */
    uint64_t q_next; /* ... goes on here */
    uint8_t q_isa;

    /* Speculation. */
    bool is_speculating;
    uint32_t depth;    /* P0 elements sent and not committed */
    uint32_t resolved; /* ... of which so many are certain */
    struct tw_etmv4_unit_record *records;
    size_t record_first, record_count, record_room;
    struct tw_etmv4_unit_flow base; /* before the first of them */
    bool record_is_open;            /* the last one belongs to what happens now */

    /* Resources. */
    uint16_t sac_now, sac_hits; /* comparators that match the instruction; in this cycle */
    uint8_t arc_now, arc_hits;
    uint8_t waiting_shots; /* single-shot, of the open transaction */
    uint8_t external, latched_external, inputs, fired;
    uint8_t sequencer; /* states of this cycle, one bit each */
    uint8_t counters_at_zero;
    bool is_paused;
    uint8_t events_out;
    uint8_t lost_events; /* during an overflow */

    /* The sink. */
    uint64_t fifo, fifo_drained; /* bytes in it; cycle up to which it drained */
    bool fifo_overflowed;
};

static inline uint32_t tw_etmv4_unit_value(const struct tw_etmv4_unit *unit, unsigned slot)
{
    return (uint32_t)unit->registers[slot];
}

/* unit_register.c */
enum tw_status tw_etmv4_unit_enable(struct tw_etmv4_unit *unit);

/* unit_filter.c: ViewInst and what it looks at. */
bool tw_etmv4_unit_is_prohibited(const struct tw_etmv4_unit *unit);
/* Context or registers changed: is_viewed, and whether resources are paused. */
void tw_etmv4_unit_look_again(struct tw_etmv4_unit *unit);
bool tw_etmv4_unit_compare_context(const struct tw_etmv4_unit *unit, unsigned slot,
                                   unsigned number);
/* Notes which comparators match; call once for each instruction. */
void tw_etmv4_unit_compare(struct tw_etmv4_unit *unit, const struct tw_retired *instruction);
bool tw_etmv4_unit_view(struct tw_etmv4_unit *unit, const struct tw_retired *instruction);
/* Whether one of these address ranges (bits 7:0) holds the address; MODE in bit 8. */
bool tw_etmv4_unit_in_region(const struct tw_etmv4_unit *unit, uint32_t control,
                             uint64_t address);
bool tw_etmv4_unit_instruments(const struct tw_etmv4_unit *unit);

/* unit_resource.c */
bool tw_etmv4_unit_event_is_active(const struct tw_etmv4_unit *unit, uint32_t event);
void tw_etmv4_unit_step_resources(struct tw_etmv4_unit *unit); /* the cycle ends */
/* Trace became prohibited, or is not so any more. */
void tw_etmv4_unit_pause(struct tw_etmv4_unit *unit, bool is_paused);
void tw_etmv4_unit_take_external(struct tw_etmv4_unit *unit, uint16_t number);
void tw_etmv4_unit_fire(struct tw_etmv4_unit *unit, uint8_t shots);

/* unit_plain.c: where all is traced, atoms and addresses only. */
void tw_etmv4_unit_retire_plain(struct tw_etmv4_unit *unit, const struct tw_retired *list,
                                size_t count);
void tw_etmv4_unit_retire_plain_runs(struct tw_etmv4_unit *unit,
                                     const struct tw_retired_run *runs, size_t count);

/* unit_flow.c */
void tw_etmv4_unit_push_return(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa);
/* The first instruction behind a P0 element, or behind a cancelled one. */
void tw_etmv4_unit_settle(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa);
/* An instruction that is a P0 element. */
void tw_etmv4_unit_trace_p0(struct tw_etmv4_unit *unit, const struct tw_retired *instruction);
void tw_etmv4_unit_retire_slowly(struct tw_etmv4_unit *unit,
                                 const struct tw_retired *instruction);
void tw_etmv4_unit_trace_exception(struct tw_etmv4_unit *unit, unsigned type, uint64_t address,
                                   uint8_t isa);
void tw_etmv4_unit_stop_tracing(
    struct tw_etmv4_unit *unit); /* the next instruction begins with Trace On */
void tw_etmv4_unit_close_q(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa);
/* Nothing follows: what can be told of it. */
void tw_etmv4_unit_end_q(struct tw_etmv4_unit *unit);
void tw_etmv4_unit_transact(struct tw_etmv4_unit *unit, enum tw_transaction what,
                            uint64_t cancelled);
/* A P0 element is out: commits, cycle counts, timestamps. */
void tw_etmv4_unit_after_p0(struct tw_etmv4_unit *unit);

/* unit_speculation.c */
void tw_etmv4_unit_count_p0(struct tw_etmv4_unit *unit);
struct tw_etmv4_unit_record *tw_etmv4_unit_begin_record(struct tw_etmv4_unit *unit,
                                                        bool is_instruction);
void tw_etmv4_unit_end_record(struct tw_etmv4_unit *unit);
void tw_etmv4_unit_forget_records(struct tw_etmv4_unit *unit);
void tw_etmv4_unit_send_commits(struct tw_etmv4_unit *unit);
enum tw_status tw_etmv4_unit_do_cancel(struct tw_etmv4_unit *unit, uint64_t count,
                                       enum tw_cancel how);

/* unit_element.c: elements to packets to bytes. */
void tw_etmv4_unit_stall(
    struct tw_etmv4_unit *unit); /* the FIFO is too full: the processor waits */
void tw_etmv4_unit_show(struct tw_etmv4_unit *unit,
                        const struct tw_etmv4_unit_element *element);
void tw_etmv4_unit_pack_atoms(struct tw_etmv4_unit *unit, unsigned least);
unsigned tw_etmv4_unit_atom_packet(uint8_t *head, uint64_t atoms, unsigned count);
void tw_etmv4_unit_put(struct tw_etmv4_unit *unit, const struct tw_etmv4_packet *packet);
void tw_etmv4_unit_put_type(struct tw_etmv4_unit *unit, uint8_t type);
void tw_etmv4_unit_release_buffered(struct tw_etmv4_unit *unit);
/* With all that may wait before it, and shown. */
void tw_etmv4_unit_add_atom_slowly(struct tw_etmv4_unit *unit, bool is_taken);
void tw_etmv4_unit_emit_sync(struct tw_etmv4_unit *unit); /* A-Sync and Trace Info */
void tw_etmv4_unit_ensure_sync(struct tw_etmv4_unit *unit);
void tw_etmv4_unit_emit_trace_on(struct tw_etmv4_unit *unit);
/* Context if it changed (or always), then the address, in the fewest bytes. */
void tw_etmv4_unit_emit_place(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa);
void tw_etmv4_unit_emit_context(struct tw_etmv4_unit *unit); /* if it changed */
/* The same, and the address again where the last one is of another instruction set: OpenCSD takes
   that of a context from the last address packet. */
void tw_etmv4_unit_emit_context_at(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa);
void tw_etmv4_unit_emit_exception(struct tw_etmv4_unit *unit, unsigned type, uint64_t address,
                                  uint8_t isa, bool is_target);
void tw_etmv4_unit_emit_source(struct tw_etmv4_unit *unit, uint64_t address, uint8_t isa);
void tw_etmv4_unit_emit_q(struct tw_etmv4_unit *unit, uint32_t count, bool has_count,
                          uint64_t address, uint8_t isa);
void tw_etmv4_unit_emit_transaction(struct tw_etmv4_unit *unit, enum tw_transaction what);
/* Of an exception, or (M profile) of a function into Secure code. */
void tw_etmv4_unit_emit_return(struct tw_etmv4_unit *unit, bool is_function);

/* unit_time.c */
void tw_etmv4_unit_emit_commit(struct tw_etmv4_unit *unit, uint32_t count);
void tw_etmv4_unit_emit_cancel(struct tw_etmv4_unit *unit, uint32_t count,
                               bool is_mispredicted);
void tw_etmv4_unit_emit_cycles(struct tw_etmv4_unit *unit); /* if there is something to say */
void tw_etmv4_unit_emit_timestamp(struct tw_etmv4_unit *unit);
void tw_etmv4_unit_emit_events(struct tw_etmv4_unit *unit, uint8_t mask);
void tw_etmv4_unit_emit_loss(struct tw_etmv4_unit *unit, bool is_overflow);
void tw_etmv4_unit_emit_instrumentation(struct tw_etmv4_unit *unit, uint64_t value);

enum {
    TW_ETMV4_UNIT_ATOMS_MOST = 24, /* in a packet */
    TW_ETMV4_UNIT_ATOM_QUEUE = 64
};

static inline void tw_etmv4_unit_queue_atom(struct tw_etmv4_unit *unit, bool is_taken)
{
    unit->atoms |= (uint64_t)is_taken << unit->atom_count;
    /* One place stays free, so that no shift is by 64. */
    if (++unit->atom_count == TW_ETMV4_UNIT_ATOM_QUEUE - 1)
        tw_etmv4_unit_pack_atoms(unit, TW_ETMV4_UNIT_ATOMS_MOST);
}

static inline void tw_etmv4_unit_add_atom(struct tw_etmv4_unit *unit, bool is_taken)
{
    if (TW_UNLIKELY(unit->buffered || unit->config.on_element))
        tw_etmv4_unit_add_atom_slowly(unit, is_taken);
    else
        tw_etmv4_unit_queue_atom(unit, is_taken);
}

static inline bool tw_etmv4_unit_context_differs(const struct tw_etmv4_unit *unit)
{
    const struct tw_step_context *now = &unit->context, *told = &unit->flow.context;

    return !unit->flow.has_context || now->el != told->el || now->security != told->security ||
           now->is_64bit != told->is_64bit ||
           (unit->setup.cid && now->context_id != told->context_id) ||
           (unit->setup.vmid && now->vmid != told->vmid);
}

#endif
