/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs of what a RISC-V hart did, as the blocks and accesses that its trace encoder is
   given.  Experimental. */
#ifndef TRACKWAY_HART_H
#define TRACKWAY_HART_H

#include <trackway/etrace_unit.h>
#include <trackway/image.h>
#include <trackway/log.h>
#include <trackway/ntrace_unit.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_hart_options {
    size_t size;                          /* sizeof(struct tw_hart_options) */
    const struct tw_etrace_config *trace; /* the encoder's: itype_width, retires, sijump ... */
    struct tw_image *image; /* logs of addresses: the code; may be NULL for logs of blocks */
    const struct tw_allocator *allocator;
    const struct tw_ntrace_config
        *ntrace;           /* instead of `trace`: the encoder's, if it is of N-Trace */
    uint64_t repeats_most; /* of execution logs: as in struct tw_log_options */
};

struct tw_hart;

/* Opens a log of blocks (CSV with the signals' names), the reference flow's encoder_input or
   spike_pc_trace, a list of addresses, a list of runs, or an execution log of <trackway/log.h>;
   docs/formats.md describes them.  Either of them may be compressed with gzip. */
TW_API TW_MUST_USE enum tw_status tw_hart_open(struct tw_hart **hart, const char *path,
                                               const struct tw_hart_options *options,
                                               struct tw_fault *fault);
/* The same from memory; the bytes are borrowed until the hart is freed. */
TW_API TW_MUST_USE enum tw_status tw_hart_open_memory(struct tw_hart **hart,
                                                      const uint8_t *bytes, size_t size,
                                                      const struct tw_hart_options *options,
                                                      struct tw_fault *fault);
/* A hart that runs while it is asked: `next` gives its next step (enum tw_step_kind: instructions,
   contexts, exceptions, gaps), TW_MORE when there is none yet, TW_END behind the last.  TW_MORE comes
   back from tw_hart_next and tw_hart_run, to be called again. */
TW_API TW_MUST_USE enum tw_status
tw_hart_open_steps(struct tw_hart **hart,
                   enum tw_status (*next)(void *context, struct tw_step *step), void *context,
                   const struct tw_hart_options *options, struct tw_fault *fault);
TW_API void tw_hart_free(struct tw_hart *hart);

/* The data of a split load or atomic. */
struct tw_hart_response {
    uint64_t data, data_high;
    uint32_t lrid;
    bool is_error;
};

/* What a log tells next. */
struct tw_hart_event {
    struct tw_etrace_cycle cycle;
    bool has_response;
    struct tw_hart_response response;
    bool is_halted, is_reset; /* levels; the cycle's blocks come after them */
};

/* The next cycle in which something happens, valid until the next call; TW_END: there are no more;
   TW_E_CONFIG: the log cannot be right, tw_hart_fault says where. */
TW_API TW_MUST_USE enum tw_status tw_hart_next(struct tw_hart *hart,
                                               struct tw_hart_event *event);
TW_API const char *tw_hart_fault(const struct tw_hart *hart);
/* Instructions seen so far, where the log tells of them one by one. */
TW_API uint64_t tw_hart_instructions(const struct tw_hart *hart);

/* Gives the encoder all that is left of a log: cycles, responses, signals.  What the encoder does
   not take comes back with the line. */
TW_API TW_MUST_USE enum tw_status tw_hart_run(struct tw_hart *hart, struct tw_etrace_unit *unit,
                                              struct tw_fault *fault);

/* The same for an encoder of N-Trace, which takes no accesses. */
TW_API TW_MUST_USE enum tw_status
tw_hart_run_ntrace(struct tw_hart *hart, struct tw_ntrace_unit *unit, struct tw_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
