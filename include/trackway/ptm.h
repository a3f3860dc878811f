/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM (Program Flow Trace 1.0 and 1.1): configuration, packets, and the trace unit's model. */
#ifndef TRACKWAY_PTM_H
#define TRACKWAY_PTM_H

#include <trackway/log.h>
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
    bool
        has_reserved; /* bits that should be 0 (or 1) are not; written back as they should be */
    union {
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
                                                    const struct tw_allocator *allocator);
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
                                size_t room, const uint8_t *data, size_t size, size_t *used);

/* Bytes are missing before the next one: forgets compression, waits for ASYNC. */
TW_API void tw_ptm_reader_lost(struct tw_ptm_reader *reader);

/* A good packet as bytes, the inverse of reading: addresses take address_size bytes, or as few as
   make the address when it is 0; timestamps carry at least timestamp_bits.  *size: room in, bytes
   written out.  TW_E_ARGUMENT: the packet cannot be written so or does not fit; 64 bytes are always
   enough.  The writer's state moves on as that of a reader of these bytes does. */
TW_API TW_MUST_USE enum tw_status tw_ptm_write(struct tw_ptm_reader *writer, uint8_t *out,
                                               size_t *size,
                                               const struct tw_ptm_packet *packet);

/* "ISYNC" ..., never NULL; and whether the type is damage. */
TW_API const char *tw_ptm_type_name(unsigned type);
TW_API bool tw_ptm_type_is_bad(unsigned type);

/* The trace unit: what a processor does in, trace bytes out. */
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
                                                  const struct tw_ptm_unit_config *config);
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
