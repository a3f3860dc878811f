/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of PTM (Program Flow Trace 1.0 and 1.1): configuration, bytes to packets and
   back.  Stable. */
#ifndef TRACKWAY_PTM_H
#define TRACKWAY_PTM_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers of the unit. */
struct tw_ptm_config {
    size_t size; /* sizeof(struct tw_ptm_config) */
    uint32_t etmcr;
    uint32_t etmidr;
    uint32_t etmccer;
    uint32_t etmtraceidr;
};

enum tw_ptm_type {
    TW_PTM_NOT_SYNC, /* bytes before synchronization */
    TW_PTM_INCOMPLETE_EOT,
    TW_PTM_BAD_SEQUENCE,
    TW_PTM_RESERVED,
    TW_PTM_ASYNC,
    TW_PTM_ISYNC,
    TW_PTM_ATOM,
    TW_PTM_BRANCH_ADDRESS,
    TW_PTM_WP_UPDATE,
    TW_PTM_TRIGGER,
    TW_PTM_CONTEXT_ID,
    TW_PTM_VMID,
    TW_PTM_TIMESTAMP,
    TW_PTM_EXCEPTION_RETURN,
    TW_PTM_IGNORE,
    TW_PTM_TYPES
};

/* Why an I-sync came. */
enum tw_ptm_reason {
    TW_PTM_PERIODIC,
    TW_PTM_TRACE_ENABLE,
    TW_PTM_AFTER_OVERFLOW,
    TW_PTM_DEBUG_EXIT
};

/* A plain value: nothing to free. */
struct tw_ptm_packet {
    struct tw_packet base;
    uint32_t cycles; /* when has_cycles */
    bool has_cycles; /* a cycle count came with it */
    /* bits that should be 0 (or 1) are not; written back as they should be */
    bool has_reserved;
    TW_EXTENSION union {
        struct {
            uint8_t atoms;      /* bit n is atom n, the oldest first; 1: E */
            uint8_t atom_count; /* 1 to 5 */
        };
        struct {                   /* ISYNC, BRANCH_ADDRESS, WP_UPDATE */
            uint32_t address;      /* whole: what was not sent is filled in */
            uint32_t context_id;   /* ISYNC */
            uint16_t exception;    /* BRANCH_ADDRESS with has_info: 9 bits */
            uint8_t address_bits;  /* carried by the packet */
            uint8_t address_valid; /* known so far */
            uint8_t address_size;  /* bytes of it */
            uint8_t info_size;     /* bytes of exception information: 0 to 2 */
            uint8_t isa;           /* enum tw_isa */
            uint8_t reason;        /* ISYNC: enum tw_ptm_reason */
            bool isa_changed;
            bool has_info; /* exception information came */
            bool ns, hyp, alt_isa;
            bool has_context_id; /* ISYNC */
        };
        struct {
            uint64_t timestamp;     /* as traced, whole: Gray code where the unit uses it */
            uint64_t time;          /* the same as a number */
            uint8_t timestamp_bits; /* carried */
            bool freq_changed;
        };
        uint32_t value; /* CONTEXT_ID, VMID; RESERVED, BAD_SEQUENCE: the header */
    };
};

/* Fills a config from registers by name: ETMCR, ETMCCER, ETMIDR; ETMTRACEIDR may be missing. */
TW_API TW_MUST_USE enum tw_status tw_ptm_config_from(struct tw_ptm_config *config,
                                                     const struct tw_register *registers,
                                                     size_t count, struct tw_fault *fault);

struct tw_ptm_reader;

TW_API TW_MUST_USE enum tw_status tw_ptm_reader_new(struct tw_ptm_reader **reader,
                                                    const struct tw_ptm_config *config,
                                                    const struct tw_allocator *allocator,
                                                    struct tw_fault *fault);
TW_API void tw_ptm_reader_free(struct tw_ptm_reader *reader);

/* The next packet of a stream.  TW_OK: packet->base.size bytes are done (at least 1).  TW_MORE: it
   is cut, nothing is done; give these bytes again with more behind them.  With is_last nothing
   follows, and a cut packet comes out as TW_PTM_INCOMPLETE_EOT.  size 0: TW_MORE.
   index and offset of packets count the bytes done so far. */
TW_API TW_MUST_USE enum tw_status tw_ptm_read(struct tw_ptm_reader *reader,
                                              struct tw_ptm_packet *packet, const uint8_t *data,
                                              size_t size, bool is_last);

/* Up to `room` packets at once; returns how many, and in *used how many bytes they took.  Fewer
   than `room`: what is left of the data is the beginning of a packet.  Members that a packet's type
   does not have may be left as they were. */
TW_API size_t tw_ptm_read_batch(struct tw_ptm_reader *reader, struct tw_ptm_packet *packets,
                                size_t room, size_t *used, const uint8_t *data, size_t size);

/* Bytes are missing before the next one: forgets compression, waits for ASYNC. */
TW_API void tw_ptm_reader_lost(struct tw_ptm_reader *reader);

/* A good packet as bytes, the inverse of reading: addresses take address_size bytes, or as few as
   make the address when it is 0; timestamps carry at least timestamp_bits.  *size: room in, bytes
   written out.  TW_E_ARGUMENT: the packet cannot be written so.  TW_E_ROOM:
   it does not fit, *size is what it takes; 64 bytes are always enough.  The writer's state moves on as that of a reader of these bytes does. */
TW_API TW_MUST_USE enum tw_status tw_ptm_write(struct tw_ptm_reader *writer, uint8_t *out,
                                               size_t *size,
                                               const struct tw_ptm_packet *packet);

/* "ISYNC" ..., never NULL; and whether the type is damage. */
TW_API const char *tw_ptm_type_name(unsigned type);
TW_API bool tw_ptm_type_is_bad(unsigned type);

#ifdef __cplusplus
}
#endif

#endif
