/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of an ITM and DWT: stimulus writes and watched events in, trace bytes out.
   Experimental. */
#ifndef TRACKWAY_ITM_UNIT_H
#define TRACKWAY_ITM_UNIT_H

#include <trackway/itm.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_itm_unit_config {
    size_t size;          /* sizeof(struct tw_itm_unit_config) */
    uint32_t tcr;         /* what is enabled; timestamp prescaler; GTSFREQ */
    uint64_t sync_cycles; /* TCR_SYNC: a synchronization packet each so many cycles; 0: one at
                                 the start only */
    uint32_t fifo_size;   /* bytes; 0: without bound, nothing is ever lost */
    uint32_t cycles_per_byte; /* how fast the FIFO drains; 0: 1 */
    uint64_t global_time;     /* at the start; runs with the cycles */
    const struct tw_allocator *allocator;
};

struct tw_itm_unit;

TW_API TW_MUST_USE enum tw_status tw_itm_unit_new(struct tw_itm_unit **unit,
                                                  const struct tw_itm_unit_config *config,
                                                  struct tw_fault *fault);
TW_API void tw_itm_unit_free(struct tw_itm_unit *unit);
/* Software writes 1, 2 or 4 bytes to stimulus port 0-255. */
TW_API TW_MUST_USE enum tw_status tw_itm_unit_write(struct tw_itm_unit *unit, unsigned port,
                                                    uint32_t value, unsigned size);
/* The DWT saw something. */
TW_API TW_MUST_USE enum tw_status tw_itm_unit_watch(struct tw_itm_unit *unit,
                                                    const struct tw_dwt_meaning *event);
/* Time passes: what was written before is stamped, the FIFO drains. */
TW_API TW_MUST_USE enum tw_status tw_itm_unit_advance(struct tw_itm_unit *unit,
                                                      uint64_t cycles);
/* The global timestamp's clock changed; time goes on from `time`. */
TW_API TW_MUST_USE enum tw_status tw_itm_unit_set_time(struct tw_itm_unit *unit, uint64_t time);
/* Stamps what is not yet, as at the end of a run. */
TW_API TW_MUST_USE enum tw_status tw_itm_unit_flush(struct tw_itm_unit *unit);
/* The bytes so far, valid until the next call; tw_itm_unit_take drops them. */
TW_API const uint8_t *tw_itm_unit_output(const struct tw_itm_unit *unit, size_t *size);
TW_API void tw_itm_unit_take(struct tw_itm_unit *unit);

#ifdef __cplusplus
}
#endif

#endif
