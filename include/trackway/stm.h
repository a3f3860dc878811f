/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of the System Trace Macrocell (MIPI STPv2): configuration, bytes to packets and
   back.  Stable. */
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

/* A plain value: nothing to free.  base.skip_bits and spare_bits tell the nibbles from the bytes. */
struct tw_stm_packet {
    struct tw_packet base;
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
                                                    const struct tw_allocator *allocator,
                                                    struct tw_fault *fault);
TW_API void tw_stm_reader_free(struct tw_stm_reader *reader);

/* The next packet of a stream.  TW_OK: the packet is whole; where it ends inside a byte
   (base.spare_bits) that byte is not done yet, base.size - 1 bytes are, which may be none, and the
   reader keeps that the next packet begins with the byte's other half; else base.size bytes are
   done.  TW_MORE: it is cut, nothing is done; give these bytes again with more behind them.  With
   is_last nothing follows, and a cut packet comes out as TW_STM_INCOMPLETE.  size 0: TW_MORE.
   index and offset of packets count the bytes done so far. */
TW_API TW_MUST_USE enum tw_status tw_stm_read(struct tw_stm_reader *reader,
                                              struct tw_stm_packet *packet, const uint8_t *data,
                                              size_t size, bool is_last);

/* Up to `room` packets at once; returns how many, and in *used how many bytes are done.  Fewer
   than `room`: what is left of the data is the beginning of a packet. */
TW_API size_t tw_stm_read_batch(struct tw_stm_reader *reader, struct tw_stm_packet *packets,
                                size_t room, size_t *used, const uint8_t *data, size_t size);

/* Bytes are missing before the next one: forgets all, waits for ASYNC. */
TW_API void tw_stm_reader_lost(struct tw_stm_reader *reader);

/* A good packet as bytes, the inverse of reading.  *size: room in, bytes finished out, which may be
   none: two packets may share a byte, and half of one waits in the writer for the next packet or for
   tw_stm_write_flush, which fills it with a NULL packet.  TW_E_ARGUMENT: the packet cannot be written
   so.  TW_E_ROOM: it does not fit, *size is what it takes; 19 bytes are enough for any packet. */
TW_API TW_MUST_USE enum tw_status tw_stm_write(struct tw_stm_reader *writer, uint8_t *out,
                                               size_t *size,
                                               const struct tw_stm_packet *packet);
TW_API TW_MUST_USE enum tw_status tw_stm_write_flush(struct tw_stm_reader *writer, uint8_t *out,
                                                     size_t *size);

#ifdef __cplusplus
}
#endif

#endif
