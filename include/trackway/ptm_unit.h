/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of a PTM trace unit: what a processor does in, trace bytes out.  Experimental. */
#ifndef TRACKWAY_PTM_UNIT_H
#define TRACKWAY_PTM_UNIT_H

#include <trackway/log.h>
#include <trackway/ptm.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_ptm_unit_config {
    size_t size; /* sizeof(struct tw_ptm_unit_config) */
    struct tw_ptm_config registers;
    uint8_t return_stack_depth; /* entries, at most 16; 0: 4 */
    uint32_t sync_bytes;        /* ASYNC and a periodic I-sync after so many bytes; 0: never */
    uint32_t vectors;           /* where tw_ptm_unit_step takes the exception vectors to be */
    const struct tw_allocator *allocator;
};

struct tw_ptm_unit;

TW_API TW_MUST_USE enum tw_status tw_ptm_unit_new(struct tw_ptm_unit **unit,
                                                  const struct tw_ptm_unit_config *config,
                                                  struct tw_fault *fault);
TW_API void tw_ptm_unit_free(struct tw_ptm_unit *unit);

/* Instructions of A32 and T32 were executed, one cycle each.  Where one does not follow from those
   before it, tracing begins anew. */
TW_API TW_MUST_USE enum tw_status tw_ptm_unit_retire(struct tw_ptm_unit *unit,
                                                     const struct tw_retired *instructions,
                                                     size_t count);
/* An exception (1 to 15) is taken to `vector`.  The context that it brings comes before, by
   tw_ptm_unit_context. */
TW_API TW_MUST_USE enum tw_status
tw_ptm_unit_exception(struct tw_ptm_unit *unit, unsigned number, uint32_t vector, uint8_t isa);
/* In force from here on; Exception level 2 is Hyp mode. */
TW_API TW_MUST_USE enum tw_status tw_ptm_unit_context(struct tw_ptm_unit *unit,
                                                      const struct tw_step_context *context);
/* What runs from here on is not traced; tracing goes on with the next instruction, by an I-sync
   of this reason (enum tw_ptm_reason, not periodic). */
TW_API TW_MUST_USE enum tw_status tw_ptm_unit_gap(struct tw_ptm_unit *unit, unsigned reason);
TW_API TW_MUST_USE enum tw_status tw_ptm_unit_trigger(struct tw_ptm_unit *unit);
/* The timestamp is output, if ETMCR enables it. */
TW_API TW_MUST_USE enum tw_status tw_ptm_unit_time(struct tw_ptm_unit *unit, uint64_t time);
/* Cycles pass. */
TW_API TW_MUST_USE enum tw_status tw_ptm_unit_cycles(struct tw_ptm_unit *unit, uint32_t count);
/* Everything executed so far is told, as before tracing ends. */
TW_API TW_MUST_USE enum tw_status tw_ptm_unit_flush(struct tw_ptm_unit *unit);
/* Any step of an execution log; kinds that PTM does not trace change nothing. */
TW_API TW_MUST_USE enum tw_status tw_ptm_unit_step(struct tw_ptm_unit *unit,
                                                   const struct tw_step *step);

/* The bytes made so far, valid until the next call; tw_ptm_unit_take drops them. */
TW_API const uint8_t *tw_ptm_unit_output(const struct tw_ptm_unit *unit, size_t *size);
TW_API void tw_ptm_unit_take(struct tw_ptm_unit *unit);

#ifdef __cplusplus
}
#endif

#endif
