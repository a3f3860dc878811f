/* SPDX-License-Identifier: BSD-2-Clause */
/* System Trace Macrocell (MIPI STPv2): configuration, packets and the trace unit's model. */
#ifndef TRACKWAY_STM_H
#define TRACKWAY_STM_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_stm_config {
    size_t size;   /* sizeof(struct tw_stm_config) */
    uint32_t tcsr; /* STMTCSR: trace ID; the stream itself tells the rest */
    uint8_t id;    /* used when the register names no trace ID */
};

enum tw_stm_type {
    TW_STM_NOT_SYNC,     /* nibbles before synchronization */
    TW_STM_RESERVED,     /* no packet that can be read begins so */
    TW_STM_BAD_SEQUENCE, /* broken, or cut by the synchronization that follows */
    TW_STM_INCOMPLETE,   /* the trace ends inside this packet */
    TW_STM_ASYNC,
    TW_STM_VERSION,
    TW_STM_NULL,
    TW_STM_NULL_TS,
    TW_STM_M8,
    TW_STM_M16,
    TW_STM_MERR,
    TW_STM_C8,
    TW_STM_C16,
    TW_STM_GERR,
    TW_STM_D4,
    TW_STM_D8,
    TW_STM_D16,
    TW_STM_D32,
    TW_STM_D64,
    TW_STM_D4M,
    TW_STM_D8M,
    TW_STM_D16M,
    TW_STM_D32M,
    TW_STM_D64M,
    TW_STM_D4TS,
    TW_STM_D8TS,
    TW_STM_D16TS,
    TW_STM_D32TS,
    TW_STM_D64TS,
    TW_STM_D4MTS,
    TW_STM_D8MTS,
    TW_STM_D16MTS,
    TW_STM_D32MTS,
    TW_STM_D64MTS,
    TW_STM_FLAG,
    TW_STM_FLAG_TS,
    TW_STM_TRIG,
    TW_STM_TRIG_TS,
    TW_STM_FREQ,
    TW_STM_FREQ_TS, /* this and the following: not sent by CoreSight STMs */
    TW_STM_FREQ_40,
    TW_STM_FREQ_40_TS,
    TW_STM_XSYNC,
    TW_STM_XSYNC_TS,
    TW_STM_TYPES
};

/* A plain value: nothing to free.  head.skip_bits and spare_bits tell the nibbles from the bytes. */
struct tw_stm_packet {
    struct tw_packet head;
    uint64_t value;     /* payload; version; master or channel as the packet carries it; for bad
                           packets the nibbles that tell its kind, first one highest */
    uint64_t timestamp; /* after the packet, where it has one */
    uint32_t nibbles;   /* in the packet */
    uint16_t master, channel; /* current after the packet */
    uint8_t timestamp_bits;   /* replaced by the packet */
    bool has_timestamp;
    uint8_t error; /* of a bad packet: enum tw_error_code */
};

TW_API const char *tw_stm_type_name(unsigned type);

struct tw_stm_reader;

TW_API TW_MUST_USE enum tw_status tw_stm_reader_new(struct tw_stm_reader **reader,
                                                    const struct tw_stm_config *config,
                                                    const struct tw_allocator *allocator);
TW_API void tw_stm_reader_free(struct tw_stm_reader *reader);

/* The next packet of a stream.  TW_OK: the packet is whole; where it ends inside a byte
   (head.spare_bits) that byte is not done yet, head.size - 1 bytes are, which may be none, and the
   reader keeps that the next packet begins with the byte's other half; else head.size bytes are
   done.  TW_MORE: it is cut, nothing is done; give these bytes again with more behind them.  With
   is_last nothing follows, and a cut packet comes out as TW_STM_INCOMPLETE.  size 0: TW_MORE.
   index and offset of packets count the bytes done so far. */
TW_API TW_MUST_USE enum tw_status tw_stm_read(struct tw_stm_reader *reader,
                                              struct tw_stm_packet *packet, const uint8_t *data,
                                              size_t size, bool is_last);

/* Up to `room` packets at once; returns how many, and in *used how many bytes are done.  Fewer
   than `room`: what is left of the data is the beginning of a packet. */
TW_API size_t tw_stm_read_batch(struct tw_stm_reader *reader, struct tw_stm_packet *packets,
                                size_t room, const uint8_t *data, size_t size, size_t *used);

/* Bytes are missing before the next one: forgets all, waits for ASYNC. */
TW_API void tw_stm_reader_lost(struct tw_stm_reader *reader);

/* Packets to bytes.  Two packets may share a byte: a half byte waits in the writer for the next
   packet, or for tw_stm_writer_flush, which fills it with a NULL packet. */
struct tw_stm_writer {
    bool has_half;
    uint8_t half;
    bool is_gray; /* timestamps, by the last VERSION */
};

/* *size is the room in and the bytes finished out, which may be none.  TW_MORE: more room is
   needed; 19 bytes are enough for any packet. */
TW_API TW_MUST_USE enum tw_status tw_stm_packet_write(struct tw_stm_writer *writer,
                                                      uint8_t *out, size_t *size,
                                                      const struct tw_stm_packet *packet);
TW_API TW_MUST_USE enum tw_status tw_stm_writer_flush(struct tw_stm_writer *writer,
                                                      uint8_t *out, size_t *size);

/* The trace unit: writes to stimulus ports and hardware events to a byte stream. */
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
                                                  const struct tw_stm_unit_config *config);
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
