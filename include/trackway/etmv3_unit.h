/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of an ETMv3 trace unit: what a processor does in, trace bytes out.
   Experimental. */
#ifndef TRACKWAY_ETMV3_UNIT_H
#define TRACKWAY_ETMV3_UNIT_H

#include <trackway/etmv3.h>
#include <trackway/log.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_etmv3_unit_config {
    size_t size; /* sizeof(struct tw_etmv3_unit_config) */
    struct tw_etmv3_config registers;
    uint32_t sync_bytes; /* A-sync and a periodic I-sync after so many bytes; 0: never */
    uint32_t vectors;    /* where tw_etmv3_unit_step takes the exception vectors to be */
    const struct tw_allocator *allocator;
};

/* A load or store of 32 bits or less. */
struct tw_etmv3_transfer {
    uint32_t address, value;
    uint8_t tag;         /* 1 to 3: the value comes later, by tw_etmv3_unit_data; 0: at once */
    bool is_untraced;    /* it was filtered out */
    bool has_failed;     /* an exclusive store that did not happen */
    bool has_no_address; /* of a coprocessor */
    bool is_big_endian;
};

struct tw_etmv3_unit;

TW_API TW_MUST_USE enum tw_status tw_etmv3_unit_new(struct tw_etmv3_unit **unit,
                                                    const struct tw_etmv3_unit_config *config,
                                                    struct tw_fault *fault);
TW_API void tw_etmv3_unit_free(struct tw_etmv3_unit *unit);

/* Instructions of A32 and T32 were executed, one cycle each.  Where one does not follow from those
   before it, tracing begins anew. */
TW_API TW_MUST_USE enum tw_status tw_etmv3_unit_retire(struct tw_etmv3_unit *unit,
                                                       const struct tw_retired *instructions,
                                                       size_t count);
/* The loads and stores of the last instruction that has any; it is the last one retired, or others
   without any came after it. */
TW_API TW_MUST_USE enum tw_status
tw_etmv3_unit_access(struct tw_etmv3_unit *unit, const struct tw_etmv3_transfer *transfers,
                     size_t count);
/* The value of the transfer with this tag. */
TW_API TW_MUST_USE enum tw_status tw_etmv3_unit_data(struct tw_etmv3_unit *unit, unsigned tag,
                                                     uint32_t value, bool has_failed);
/* Data is lost from here on, until the next access. */
TW_API TW_MUST_USE enum tw_status tw_etmv3_unit_suppress(struct tw_etmv3_unit *unit);
/* An exception is taken to `vector`; `cancels`: the last instruction retired was not executed.  The
   context that it brings comes before, by tw_etmv3_unit_context. */
TW_API TW_MUST_USE enum tw_status tw_etmv3_unit_exception(struct tw_etmv3_unit *unit,
                                                          unsigned number, uint32_t vector,
                                                          uint8_t isa, bool cancels);
/* M profile: the exception of this number (IPSR); its handler is the next instruction.  The address is where the
   program was, for a branch that led there; none is traced.  TW_E_ARGUMENT: ETMv3 has no such exception. */
TW_API TW_MUST_USE enum tw_status
tw_etmv3_unit_exception_m(struct tw_etmv3_unit *unit, unsigned number, uint32_t return_address);
/* In force from here on; Exception level 2 is Hyp mode. */
TW_API TW_MUST_USE enum tw_status tw_etmv3_unit_context(struct tw_etmv3_unit *unit,
                                                        const struct tw_step_context *context);
/* What runs from here on is not traced; tracing goes on with the next instruction, by an I-sync
   of this reason (enum tw_etmv3_reason, not periodic). */
TW_API TW_MUST_USE enum tw_status tw_etmv3_unit_gap(struct tw_etmv3_unit *unit,
                                                    unsigned reason);
TW_API TW_MUST_USE enum tw_status tw_etmv3_unit_trigger(struct tw_etmv3_unit *unit);
/* The timestamp is output, if ETMCR enables it. */
TW_API TW_MUST_USE enum tw_status tw_etmv3_unit_time(struct tw_etmv3_unit *unit, uint64_t time);
/* Cycles pass. */
TW_API TW_MUST_USE enum tw_status tw_etmv3_unit_cycles(struct tw_etmv3_unit *unit,
                                                       uint32_t count);
/* Everything executed so far is told. */
TW_API TW_MUST_USE enum tw_status tw_etmv3_unit_flush(struct tw_etmv3_unit *unit);
/* Any step of an execution log; kinds that ETMv3 does not trace change nothing. */
TW_API TW_MUST_USE enum tw_status tw_etmv3_unit_step(struct tw_etmv3_unit *unit,
                                                     const struct tw_step *step);

/* The bytes made so far, valid until the next call; tw_etmv3_unit_take drops them. */
TW_API const uint8_t *tw_etmv3_unit_output(const struct tw_etmv3_unit *unit, size_t *size);
TW_API void tw_etmv3_unit_take(struct tw_etmv3_unit *unit);

#ifdef __cplusplus
}
#endif

#endif
