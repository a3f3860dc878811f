/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of a RISC-V N-Trace encoder: what a hart retires in, messages out.  Experimental. */
#ifndef TRACKWAY_NTRACE_UNIT_H
#define TRACKWAY_NTRACE_UNIT_H

#include <trackway/etrace_unit.h>
#include <trackway/ntrace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_ntrace_unit_config {
    size_t size;                          /* sizeof(struct tw_ntrace_unit_config) */
    const struct tw_ntrace_config *trace; /* copied: mode, options, SRC, limits */
    /* Takes the bytes.  They come when there are some thousands of them, and at a flush. */
    void (*write)(void *context, const uint8_t *bytes, size_t size);
    void *write_context;
    void (*on_packet)(void *context, const struct tw_ntrace_packet *packet); /* or NULL */
    void *packet_context;
    uint32_t fifo_size;       /* bytes that wait for the sink; 0: without bound */
    uint32_t cycles_per_byte; /* how fast the sink takes them; 0: 1 */
    bool short_messages;      /* HTM, nothing in HIST: IndirectBranch and IndirectBranchSync */
    bool sync_when_full;      /* BTM: a full I-CNT is sent as ProgTraceSync (SYNC 4) */
    /* the upper 32 bits of a block's context are hcontext, the lower scontext */
    bool has_hcontext;
    bool sparse_times; /* only synchronizing messages and indirect branches have timestamps */
    const struct tw_allocator *allocator; /* asked by new and free alone */
};

/* One of the choices above by its name: "fifo", "cycles-per-byte", "short-messages", "sync-when-full", "hcontext",
   "sparse-times".  TW_E_ARGUMENT: there is none of this name, or the value is too large. */
TW_API TW_MUST_USE enum tw_status
tw_ntrace_unit_config_set(struct tw_ntrace_unit_config *config, const char *name,
                          uint64_t value);

struct tw_ntrace_unit;

/* An encoder that is active, with what the configuration says in its registers; trTeEnable and
   trTeInstTracing are 0. */
TW_API TW_MUST_USE enum tw_status tw_ntrace_unit_new(struct tw_ntrace_unit **unit,
                                                     const struct tw_ntrace_unit_config *config,
                                                     struct tw_fault *fault);
TW_API void tw_ntrace_unit_free(struct tw_ntrace_unit *unit);
/* What was wrong with the last call that failed. */
TW_API const char *tw_ntrace_unit_fault(const struct tw_ntrace_unit *unit);

/* The registers of the control interface, by their offset; what is not there reads 0 and ignores
   writes.  trTeEnable and trTeInstTracing at 1 begin tracing; with either at 0 it ends, and trTeEnable
   at 0 sends what is queued. */
TW_API void tw_ntrace_unit_write(struct tw_ntrace_unit *unit, uint32_t offset, uint32_t value);
TW_API uint32_t tw_ntrace_unit_read(const struct tw_ntrace_unit *unit, uint32_t offset);
/* Their fields by name, without regard to case: "trTeInstTracing", "trTeFilter2MatchPrivilege",
   "trTeComp0PMatchLow". */
TW_API TW_MUST_USE enum tw_status tw_ntrace_unit_write_field(struct tw_ntrace_unit *unit,
                                                             const char *name, uint64_t value);
TW_API TW_MUST_USE enum tw_status tw_ntrace_unit_read_field(const struct tw_ntrace_unit *unit,
                                                            const char *name, uint64_t *value);

/* What a decoder of the unit's trace is to be given: the configuration that it was made with gets what the unit's fields
   say now. */
TW_API void tw_ntrace_unit_trace(const struct tw_ntrace_unit *unit,
                                 struct tw_ntrace_config *config);

/* What else can happen to a block, beside TW_ETRACE_TRIGGER_... */
enum { TW_NTRACE_TRIGGER_EXTERNAL = 8 /* an external trigger, behind the block: SYNC 0 */ };

/* What the hart does: blocks as an E-Trace encoder takes them, which has the same ingress port, one
   a cycle; iretire counts half-words, itype has 4 bits.  TW_E_ARGUMENT: a block that cannot be, and
   those before it are taken. */
TW_API TW_MUST_USE enum tw_status tw_ntrace_unit_retire(struct tw_ntrace_unit *unit,
                                                        const struct tw_etrace_block *blocks,
                                                        size_t count);
/* The same block so many times more, each time `step` later than the one before: as if it were given
   that often. */
TW_API TW_MUST_USE enum tw_status tw_ntrace_unit_repeat(struct tw_ntrace_unit *unit,
                                                        const struct tw_etrace_block *block,
                                                        uint64_t times, uint64_t step);
/* Straight runs of instructions of a hart with this privilege and no context, as blocks of `most`
   instructions at most, as far as they come to nothing but branches and jumps: how many were taken.
   Where a run leads to is what the next one says, so the last one never is.  *time, which each
   instruction moves on by one, is that of the first. */
TW_API TW_MUST_USE size_t tw_ntrace_unit_retire_runs(struct tw_ntrace_unit *unit,
                                                     const struct tw_retired_run *runs,
                                                     size_t count, uint8_t priv, uint32_t most,
                                                     uint64_t *time);
/* Cycles in which nothing retires. */
TW_API void tw_ntrace_unit_idle(struct tw_ntrace_unit *unit, uint32_t cycles);
/* The hart is in debug mode, in reset, or asleep. */
TW_API void tw_ntrace_unit_halted(struct tw_ntrace_unit *unit, bool is_halted);
TW_API void tw_ntrace_unit_reset(struct tw_ntrace_unit *unit, bool is_reset);
TW_API void tw_ntrace_unit_asleep(struct tw_ntrace_unit *unit, bool is_asleep);
/* Cycles for which the hart was stalled since the last call. */
TW_API uint64_t tw_ntrace_unit_stalled(struct tw_ntrace_unit *unit);
/* Gives the writer all bytes there are. */
TW_API void tw_ntrace_unit_flush(struct tw_ntrace_unit *unit);

/* How much retired, and what was made of it, so far. */
struct tw_ntrace_unit_counts {
    uint64_t blocks, half_words;
    uint64_t messages, bytes;
    uint64_t lost; /* messages */
};
TW_API void tw_ntrace_unit_counts(struct tw_ntrace_unit_counts *out,
                                  const struct tw_ntrace_unit *unit);

#ifdef __cplusplus
}
#endif

#endif
