/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of ITM and DWT of Cortex-M (and CoreSight ITM): configuration, bytes to packets
   and back, and what the hardware watched.  Stable. */
#ifndef TRACKWAY_ITM_H
#define TRACKWAY_ITM_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What happens after a packet that cannot be. */
enum tw_itm_on_error {
    TW_ITM_ON_ERROR_USUAL, /* resume when unframed bytes are decoded, else wait */
    TW_ITM_RESUME,         /* go on at the next byte */
    TW_ITM_WAIT            /* go on at the next synchronization packet */
};

struct tw_itm_config {
    size_t size;       /* sizeof(struct tw_itm_config) */
    uint32_t tcr;      /* ITM_TCR: trace ID, timestamp prescaler, ... */
    uint8_t id;        /* used when the register names no trace ID */
    uint8_t on_error;  /* enum tw_itm_on_error */
    bool assume_sync;  /* do not wait for the first synchronization packet */
    bool is_framed;    /* the bytes come out of formatter frames */
    bool scale_as_swo; /* apply the prescaler only with TCR.SWOENA, as some decoders do */
};

enum {
    TW_ITM_TCR_ENABLE = 1u << 0,
    TW_ITM_TCR_TIMESTAMPS = 1u << 1,
    TW_ITM_TCR_SYNC = 1u << 2,
    TW_ITM_TCR_DWT = 1u << 3,
    TW_ITM_TCR_SWO = 1u << 4
};

enum tw_itm_type {
    TW_ITM_PACKET_NOT_SYNC,     /* bytes before synchronization */
    TW_ITM_PACKET_RESERVED,     /* no packet begins with this byte */
    TW_ITM_PACKET_BAD_SEQUENCE, /* broken, or cut by the synchronization that follows */
    TW_ITM_PACKET_INCOMPLETE,   /* the trace ends inside this packet */
    TW_ITM_PACKET_ASYNC,
    TW_ITM_PACKET_OVERFLOW,
    TW_ITM_PACKET_SWIT,
    TW_ITM_PACKET_DWT,
    TW_ITM_PACKET_TS_LOCAL,
    TW_ITM_PACKET_GTS_1,
    TW_ITM_PACKET_GTS_2,
    TW_ITM_PACKET_EXTENSION,
    TW_ITM_PACKET_TYPES
};

/* A plain value: nothing to free. */
struct tw_itm_packet {
    struct tw_packet base;
    uint64_t value; /* payload; counts of a local timestamp; bits of a global one; header */
    uint8_t size;   /* payload bytes; GTS_2: 4 or 5 for the short and the long form */
    uint8_t
        source;   /* SWIT: port; DWT: discriminator; TS_LOCAL: relation 0-3; EXTENSION: 1 DWT */
    uint8_t bits; /* EXTENSION: bits of value */
    bool freq_change; /* GTS_1 */
    bool wrap;        /* GTS_1 */
};

/* Names as in listings: "ITM_SWIT" ... */
TW_API const char *tw_itm_type_name(unsigned type);

struct tw_itm_reader;

TW_API TW_MUST_USE enum tw_status tw_itm_reader_new(struct tw_itm_reader **reader,
                                                    const struct tw_itm_config *config,
                                                    const struct tw_allocator *allocator,
                                                    struct tw_fault *fault);
TW_API void tw_itm_reader_free(struct tw_itm_reader *reader);

/* The next packet of a stream.  TW_OK: packet->base.size bytes are done (at least 1).  TW_MORE: it
   is cut, nothing is done; give these bytes again with more behind them.  With is_last nothing
   follows, and a cut packet comes out as TW_ITM_PACKET_INCOMPLETE.  size 0: TW_MORE.
   index and offset of packets count the bytes done so far. */
TW_API TW_MUST_USE enum tw_status tw_itm_read(struct tw_itm_reader *reader,
                                              struct tw_itm_packet *packet, const uint8_t *data,
                                              size_t size, bool is_last);

/* Up to `room` packets at once; returns how many, and in *used how many bytes they took.  Fewer
   than `room`: what is left of the data is the beginning of a packet. */
TW_API size_t tw_itm_read_batch(struct tw_itm_reader *reader, struct tw_itm_packet *packets,
                                size_t room, size_t *used, const uint8_t *data, size_t size);

/* Bytes are missing before the next one: waits for synchronization, or with assume_sync looks for
   what seems to be the first packet. */
TW_API void tw_itm_reader_lost(struct tw_itm_reader *reader);

/* A good packet as bytes, the inverse of reading.  *size: room in, bytes written out.  A
   synchronization packet has base.size bytes, at least 6.  TW_E_ARGUMENT: the packet cannot be written
   so.  TW_E_ROOM: it does not fit, *size is what it takes. */
TW_API TW_MUST_USE enum tw_status tw_itm_write(struct tw_itm_reader *writer, uint8_t *out,
                                               size_t *size,
                                               const struct tw_itm_packet *packet);

/* What a DWT packet (or an ITMTRACE element of kind DWT) says. */
enum tw_dwt_kind {
    TW_DWT_RESERVED,   /* a well-formed packet of no known meaning */
    TW_DWT_COUNTERS,   /* event counters wrapped: `mask`, bits of enum tw_dwt_counter */
    TW_DWT_EXCEPTION,  /* `number` was entered, left or returned to */
    TW_DWT_PC_SAMPLE,  /* `value` is the PC */
    TW_DWT_ASLEEP,     /* a PC sample while the core sleeps */
    TW_DWT_PROHIBITED, /* ... where sampling is not allowed */
    TW_DWT_PMU,        /* PMU counters overflowed: `mask` */
    TW_DWT_PC,         /* data trace: `value` is the address of the instruction */
    TW_DWT_ADDRESS,    /* data trace: `value` is the (low half of the) data's address */
    TW_DWT_VALUE,      /* data trace: `value` was read or written */
    TW_DWT_MATCH       /* data trace: the comparator matched */
};

enum tw_dwt_counter {
    TW_DWT_CPI = 0x01,
    TW_DWT_EXC = 0x02,
    TW_DWT_SLEEP = 0x04,
    TW_DWT_LSU = 0x08,
    TW_DWT_FOLD = 0x10,
    TW_DWT_CYC = 0x20
};

enum tw_dwt_action { TW_DWT_NO_ACTION, TW_DWT_ENTERED, TW_DWT_EXITED, TW_DWT_RETURNED };

struct tw_dwt_meaning {
    uint8_t kind;       /* enum tw_dwt_kind */
    uint8_t comparator; /* 0-3; data trace */
    uint8_t action;     /* enum tw_dwt_action; EXCEPTION */
    uint8_t size;       /* bytes of the payload */
    bool is_write;      /* VALUE */
    uint8_t mask;       /* COUNTERS, PMU */
    uint16_t number;    /* EXCEPTION: 0 is thread mode, 16 + n external interrupt n */
    uint32_t value;     /* as the kind says; else the raw payload */
};

TW_API struct tw_dwt_meaning tw_dwt_meaning(unsigned discriminator, unsigned size,
                                            uint32_t value);
/* The inverse: discriminator, size and payload; false when no packet says so. */
TW_API bool tw_dwt_packet(struct tw_itm_packet *packet, const struct tw_dwt_meaning *meaning);
/* "HardFault", "SysTick" ...; "IRQ" for external interrupts, "reserved" for the rest. */
TW_API const char *tw_exception_name_m(unsigned number);

#ifdef __cplusplus
}
#endif

#endif
