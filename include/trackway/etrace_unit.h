/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of a RISC-V E-Trace encoder: what a hart retires in, trace bytes out.
   Experimental. */
#ifndef TRACKWAY_ETRACE_UNIT_H
#define TRACKWAY_ETRACE_UNIT_H

#include <trackway/etrace.h>
#include <trackway/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a block ends (table 4.1).  6 only where itype_width_p is 3, 8 and above only where it is
   not. */
enum tw_etrace_itype {
    TW_ETRACE_ITYPE_NONE = 0,
    TW_ETRACE_ITYPE_EXCEPTION = 1, /* taken after the block; the block may be empty */
    TW_ETRACE_ITYPE_INTERRUPT = 2, /* likewise */
    TW_ETRACE_ITYPE_TRAP_RETURN = 3,
    TW_ETRACE_ITYPE_NOT_TAKEN = 4,
    TW_ETRACE_ITYPE_TAKEN = 5,
    TW_ETRACE_ITYPE_UNINFERABLE = 6,
    TW_ETRACE_ITYPE_CALL = 8,
    TW_ETRACE_ITYPE_INFERABLE_CALL = 9,
    TW_ETRACE_ITYPE_JUMP = 10,
    TW_ETRACE_ITYPE_INFERABLE_JUMP = 11,
    TW_ETRACE_ITYPE_SWAP = 12,
    TW_ETRACE_ITYPE_RETURN = 13,
    TW_ETRACE_ITYPE_OTHER = 14,
    TW_ETRACE_ITYPE_INFERABLE_OTHER = 15
};

enum {
    TW_ETRACE_TRIGGER_ON = 1,    /* tracing begins with this block */
    TW_ETRACE_TRIGGER_OFF = 2,   /* this block is the last one traced */
    TW_ETRACE_TRIGGER_NOTIFY = 4 /* the block's last instruction is reported */
};

/* What the hart says of instructions that it retired one behind the other: tables 4.1 to 4.5. */
struct tw_etrace_block {
    uint64_t iaddr; /* of the first instruction; of an empty block: where the trap returns to */
    uint64_t tval;  /* of a trap, like cause */
    uint64_t context, time;
    uint64_t cause;
    uint64_t impdef, impdef_high; /* up to 128 bits */
    uint32_t iretire;             /* half-words; where retires_p is 1: instructions, 0 or 1 */
    uint8_t itype;                /* enum tw_etrace_itype */
    uint8_t ilastsize;            /* the last instruction has 2^ilastsize half-words */
    uint8_t priv;    /* of the instructions; a trap's new one comes with its handler */
    uint8_t ctype;   /* what to do about a new context: 0 to 3 (table 4.4) */
    uint8_t trigger; /* TW_ETRACE_TRIGGER_... */
    bool sijump;     /* the jump's target was loaded by the instruction just before it */
};

/* dtype: the codes of table 4.9. */
enum tw_etrace_dtype {
    TW_ETRACE_DTYPE_LOAD = 0,
    TW_ETRACE_DTYPE_STORE = 1,
    TW_ETRACE_DTYPE_CSR_RW = 4,
    TW_ETRACE_DTYPE_CSR_RS = 5,
    TW_ETRACE_DTYPE_CSR_RC = 6,
    TW_ETRACE_DTYPE_SWAP = 8,
    TW_ETRACE_DTYPE_ADD = 9,
    TW_ETRACE_DTYPE_AND = 10,
    TW_ETRACE_DTYPE_OR = 11,
    TW_ETRACE_DTYPE_XOR = 12,
    TW_ETRACE_DTYPE_MAX = 13,
    TW_ETRACE_DTYPE_MIN = 14,
    TW_ETRACE_DTYPE_SC_FAIL = 15 /* a conditional store that failed; 2.0 */
};

/* A data access that retired (table 4.9).  Where lrid_width_p is not 0, loads and atomics are split:
   their data comes later, with tw_etrace_unit_response. */
struct tw_etrace_access {
    uint64_t daddr; /* CSR: its number */
    /* loaded or stored; CSR and atomic: the one that is not `operand` */
    uint64_t data, data_high;
    uint64_t operand, operand_high; /* CSR and atomic */
    uint32_t lrid;                  /* of a split one */
    /* where in its block the instruction is: low bits of its address ... */
    uint32_t iaddr_lsbs;
    uint8_t dblock; /* ... and which block of the cycle that is */
    uint8_t dtype;  /* enum tw_etrace_dtype */
    uint8_t dsize;  /* log2 of its bytes */
};

/* What happens in one clock cycle: blocks, oldest first, at most taken_branches_p of them unless
   that is 1, and data accesses. */
struct tw_etrace_cycle {
    const struct tw_etrace_block *blocks;
    size_t block_count;
    const struct tw_etrace_access *accesses;
    size_t access_count;
};

struct tw_etrace_unit_config {
    size_t size;                          /* sizeof(struct tw_etrace_unit_config) */
    const struct tw_etrace_config *trace; /* copied; its options are the modes at first */
    /* Takes the bytes of a stream: 0, or 1 for data packets where the encapsulation does not tell
       them from others.  They come when there are some thousands of them, and at a flush. */
    void (*write)(void *context, unsigned stream, const uint8_t *bytes, size_t size);
    void *write_context;
    void (*on_packet)(void *context, const struct tw_etrace_packet *packet); /* or NULL */
    void *packet_context;
    uint32_t fifo_size;       /* bytes that wait for the sink; 0: without bound */
    uint32_t cycles_per_byte; /* how fast the sink takes them; 0: 1 */
    /* implicit return: only the reports that 6.6.3 asks for, although some paths then cannot be
       told apart */
    bool literal_returns;
    bool always_index; /* a cached jump target is sent as its index even when its address would
                             be shorter */
    bool resync_anywhere; /* a synchronization may also lie inside what blocks usually hold: the
                             same packets for blocks of one instruction only */
    const struct tw_allocator *allocator; /* asked by new and free alone */
};

/* One of the choices above by its name: "fifo", "cycles-per-byte", "literal-returns", "always-index",
   "resync-anywhere".  TW_E_ARGUMENT: there is none of this name, or the value is too large. */
TW_API TW_MUST_USE enum tw_status
tw_etrace_unit_config_set(struct tw_etrace_unit_config *config, const char *name,
                          uint64_t value);

struct tw_etrace_unit;

/* An encoder with Active set and everything disabled. */
TW_API TW_MUST_USE enum tw_status tw_etrace_unit_new(struct tw_etrace_unit **unit,
                                                     const struct tw_etrace_unit_config *config,
                                                     struct tw_fault *fault);
TW_API void tw_etrace_unit_free(struct tw_etrace_unit *unit);
/* What was wrong with the last call that failed. */
TW_API const char *tw_etrace_unit_fault(const struct tw_etrace_unit *unit);

/* The fields of tables 2.1 to 2.6 by their names, without regard to case: "iEnable", "ResyncMax",
   "iFilters"; "filter2.matchPrivilege" of a filter, "comparator0.pMatch" of a comparator.  Setting
   iEnable or dEnable to 1 begins tracing, 0 ends it and sends what is queued.  Once a packet was
   sent, a mode can only be changed if the support packet has a bit that tells of it. */
TW_API TW_MUST_USE enum tw_status tw_etrace_unit_write_field(struct tw_etrace_unit *unit,
                                                             const char *name, uint64_t value);
TW_API TW_MUST_USE enum tw_status tw_etrace_unit_read_field(const struct tw_etrace_unit *unit,
                                                            uint64_t *value, const char *name);

/* What a decoder of the unit's trace is to be given: the configuration, with the modes that were on
   when tracing began. */
TW_API void tw_etrace_unit_trace(const struct tw_etrace_unit *unit,
                                 struct tw_etrace_config *config);

/* What the hart does.  Blocks are taken one a cycle; TW_E_ARGUMENT: a block that cannot be, and
   those before it are taken. */
TW_API TW_MUST_USE enum tw_status tw_etrace_unit_retire(struct tw_etrace_unit *unit,
                                                        const struct tw_etrace_block *blocks,
                                                        size_t count);
/* The same block so many times more, each time `step` later than the one before: as if it were given
   that often. */
TW_API TW_MUST_USE enum tw_status tw_etrace_unit_repeat(struct tw_etrace_unit *unit,
                                                        const struct tw_etrace_block *block,
                                                        uint64_t times, uint64_t step);
/* Straight runs of instructions of a hart with this privilege and no context, as blocks of `most`
   instructions at most, as far as they come to nothing but branches and jumps: how many were taken.
   Where a run leads to is what the next one says, so the last one never is.  *time, which each
   instruction moves on by one, is that of the first. */
TW_API TW_MUST_USE size_t tw_etrace_unit_retire_runs(struct tw_etrace_unit *unit,
                                                     const struct tw_retired_run *runs,
                                                     size_t count, uint8_t priv, uint32_t most,
                                                     uint64_t *time);
TW_API TW_MUST_USE enum tw_status tw_etrace_unit_cycle(struct tw_etrace_unit *unit,
                                                       const struct tw_etrace_cycle *cycle);
/* The data of a split load or atomic; is_error: there is none. */
TW_API TW_MUST_USE enum tw_status tw_etrace_unit_response(struct tw_etrace_unit *unit,
                                                          uint32_t lrid, uint64_t data,
                                                          uint64_t data_high, bool is_error);
/* Cycles in which nothing retires. */
TW_API void tw_etrace_unit_idle(struct tw_etrace_unit *unit, uint32_t cycles);
/* The sideband signals of these names. */
TW_API void tw_etrace_unit_halted(struct tw_etrace_unit *unit, bool is_halted);
TW_API void tw_etrace_unit_reset(struct tw_etrace_unit *unit, bool is_reset);
/* Cycles for which the hart was stalled since the last call. */
TW_API uint64_t tw_etrace_unit_stalled(struct tw_etrace_unit *unit);
/* Gives the writer all bytes there are, blocks of memory padded to their end. */
TW_API void tw_etrace_unit_flush(struct tw_etrace_unit *unit);

/* How many instructions retired, and bits and packets that were made of them, so far. */
struct tw_etrace_unit_counts {
    uint64_t blocks, half_words;
    uint64_t packets, bytes; /* instruction trace: payloads, without what encapsulates them */
    uint64_t data_packets, data_bytes;
    uint64_t lost; /* packets */
};
TW_API void tw_etrace_unit_counts(const struct tw_etrace_unit *unit,
                                  struct tw_etrace_unit_counts *out);

#ifdef __cplusplus
}
#endif

#endif
