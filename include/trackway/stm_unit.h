/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of a System Trace Macrocell: writes to stimulus ports and hardware events in,
   trace bytes out.  Experimental. */
#ifndef TRACKWAY_STM_UNIT_H
#define TRACKWAY_STM_UNIT_H

#include <trackway/stm.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_stm_unit_config {
    size_t size;            /* sizeof(struct tw_stm_unit_config) */
    uint8_t version;        /* 3: timestamps in binary, 4: in Gray code */
    bool has_timestamps;    /* else timestamped writes go out without */
    bool compresses;        /* leading zeros of data are left out */
    uint8_t timestamp_bits; /* of the first timestamp after synchronization: 48 or 64 */
    uint32_t frequency;     /* of the timestamp, in Hz */
    uint32_t sync_bytes;    /* synchronize after so many bytes; 0: at the start only */
    uint16_t event_master;  /* of hardware events; 0: 0x80 */
    const struct tw_allocator *allocator;
};

/* What a write asks for. */
enum { TW_STM_MARKED = 1, TW_STM_TIMED = 2 };

struct tw_stm_unit;

TW_API TW_MUST_USE enum tw_status tw_stm_unit_new(struct tw_stm_unit **unit,
                                                  const struct tw_stm_unit_config *config,
                                                  struct tw_fault *fault);
TW_API void tw_stm_unit_free(struct tw_stm_unit *unit);
/* From whom the next writes come. */
TW_API void tw_stm_unit_select(struct tw_stm_unit *unit, uint16_t master, uint16_t channel);
/* The timestamp of what follows. */
TW_API void tw_stm_unit_set_time(struct tw_stm_unit *unit, uint64_t time);
/* Data of 4, 8, 16, 32 or 64 bits; `flags`: TW_STM_MARKED, TW_STM_TIMED. */
TW_API TW_MUST_USE enum tw_status tw_stm_unit_write(struct tw_stm_unit *unit, uint64_t value,
                                                    unsigned bits, unsigned flags);
TW_API TW_MUST_USE enum tw_status tw_stm_unit_flag(struct tw_stm_unit *unit, unsigned flags);
TW_API TW_MUST_USE enum tw_status tw_stm_unit_trigger(struct tw_stm_unit *unit, uint8_t value,
                                                      unsigned flags);
/* A hardware event: data of 8 bits from the master of events, channel 0. */
TW_API TW_MUST_USE enum tw_status tw_stm_unit_event(struct tw_stm_unit *unit, uint8_t number,
                                                    unsigned flags);
/* Data was lost: of the selected master, or of several. */
TW_API TW_MUST_USE enum tw_status tw_stm_unit_lose(struct tw_stm_unit *unit, bool all,
                                                   uint8_t code);
/* Pads with NULL packets to a multiple of 4 bytes. */
TW_API TW_MUST_USE enum tw_status tw_stm_unit_flush(struct tw_stm_unit *unit);
/* The bytes so far, valid until the next call; tw_stm_unit_take drops them. */
TW_API const uint8_t *tw_stm_unit_output(const struct tw_stm_unit *unit, size_t *size);
TW_API void tw_stm_unit_take(struct tw_stm_unit *unit);

#ifdef __cplusplus
}
#endif

#endif
