/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of ETMv3 (3.0 to 3.5), instruction and data trace: configuration, bytes to packets
   and back.  Stable. */
#ifndef TRACKWAY_ETMV3_H
#define TRACKWAY_ETMV3_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers of the unit, and its core. */
struct tw_etmv3_config {
    size_t size; /* sizeof(struct tw_etmv3_config) */
    uint32_t etmcr;
    uint32_t etmidr;
    uint32_t etmccer;
    uint32_t etmtraceidr;
    uint8_t profile; /* enum tw_profile */
};

enum tw_etmv3_type {
    TW_ETMV3_NOT_SYNC, /* bytes before synchronization */
    TW_ETMV3_INCOMPLETE_EOT,
    TW_ETMV3_BAD_SEQUENCE,
    TW_ETMV3_BAD_TRACEMODE, /* a header that the configuration does not allow */
    TW_ETMV3_RESERVED,
    TW_ETMV3_A_SYNC,
    TW_ETMV3_I_SYNC,
    TW_ETMV3_I_SYNC_CYCLE,
    TW_ETMV3_BRANCH_ADDRESS,
    TW_ETMV3_P_HDR,
    TW_ETMV3_CYCLE_COUNT,
    TW_ETMV3_TRIGGER,
    TW_ETMV3_OOO_DATA,
    TW_ETMV3_STORE_FAIL,
    TW_ETMV3_OOO_ADDR_PLC,
    TW_ETMV3_NORM_DATA,
    TW_ETMV3_DATA_SUPPRESSED,
    TW_ETMV3_VAL_NOT_TRACED,
    TW_ETMV3_IGNORE,
    TW_ETMV3_CONTEXT_ID,
    TW_ETMV3_VMID,
    TW_ETMV3_EXCEPTION_ENTRY,
    TW_ETMV3_EXCEPTION_EXIT,
    TW_ETMV3_TIMESTAMP,
    TW_ETMV3_TYPES
};

/* Why an I-sync came. */
enum tw_etmv3_reason {
    TW_ETMV3_PERIODIC,
    TW_ETMV3_TRACE_ENABLE,
    TW_ETMV3_AFTER_OVERFLOW,
    TW_ETMV3_DEBUG_EXIT
};

/* A plain value: nothing to free. */
struct tw_etmv3_packet {
    struct tw_packet base;
    /* bits that should be 0 (or 1) are not; written back as they should be */
    bool has_reserved;
    TW_EXTENSION union {
        struct {                   /* I_SYNC, I_SYNC_CYCLE, BRANCH_ADDRESS */
            uint32_t address;      /* whole: what was not sent is filled in */
            uint32_t context_id;   /* I_SYNC */
            uint32_t cycles;       /* I_SYNC_CYCLE */
            uint32_t next_address; /* I_SYNC with is_in_progress: of the next instruction */
            /* BRANCH_ADDRESS with has_info; deprecated codes as the others */
            uint16_t exception;
            uint8_t address_bits;  /* carried by the packet */
            uint8_t address_valid; /* known so far */
            uint8_t address_size;  /* bytes of it; of next_address in an I_SYNC */
            uint8_t info_size;     /* bytes of exception information: 0 to 3 */
            uint8_t cycle_size;    /* bytes of the cycle count */
            uint8_t isa;           /* enum tw_isa */
            uint8_t reason;        /* I_SYNC: enum tw_etmv3_reason */
            uint8_t resume;        /* M profile: an interrupted instruction goes on */
            bool isa_changed;
            bool has_info;   /* exception information came */
            bool has_state;  /* ... with exception, NS, AltISA */
            bool has_second; /* ... with Hyp and the upper bits of the exception */
            bool has_resume;
            bool is_deprecated; /* the exception is in the fifth byte */
            bool is_m_profile;
            bool cancels; /* the last instruction was not executed */
            bool ns, hyp, alt_isa;
            bool has_context_id; /* I_SYNC */
            bool has_address;    /* I_SYNC: not in data-only mode */
            bool is_in_progress; /* I_SYNC: a load or store is in progress at `address` */
        };
        struct {            /* P_HDR */
            uint32_t atoms; /* bit n is atom n, the oldest first; 1: E */
            uint8_t atom_count;
            uint8_t format;        /* 0 to 4 */
            uint8_t header_cycles; /* W atoms; always before the atoms, as the format says */
            uint8_t header;
        };
        struct { /* CYCLE_COUNT */
            uint32_t count;
            uint8_t count_size;
        };
        struct {                   /* NORM_DATA, OOO_ADDR_PLC, OOO_DATA, VAL_NOT_TRACED */
            uint32_t data_address; /* whole */
            uint32_t data_value;
            uint8_t data_bits;  /* of the address carried; 0: none */
            uint8_t data_valid; /* ... known so far */
            uint8_t data_size;  /* bytes of the address */
            uint8_t value_size; /* bytes of the value: 0 to 4; 0 is a value of zero */
            uint8_t tag;        /* out of order: 1 to 3 */
            bool is_first;      /* the A bit: a new address, sent or not */
            bool has_data_address, has_value;
            bool is_big_endian;
        };
        struct {                /* TIMESTAMP */
            uint64_t timestamp; /* as traced, whole: Gray code where the unit uses it */
            uint64_t time;      /* the same as a number */
            uint8_t timestamp_bits;
            bool freq_changed;
        };
        uint32_t value; /* CONTEXT_ID, VMID; bad packets: the header */
    };
};

/* Fills a config from registers by name (ETMCR, ETMCCER, ETMIDR; ETMTRACEIDR may be missing) and
   the core's name ("Cortex-M3"; may be NULL). */
TW_API TW_MUST_USE enum tw_status tw_etmv3_config_from(struct tw_etmv3_config *config,
                                                       const struct tw_register *registers,
                                                       size_t count, const char *core_type,
                                                       struct tw_fault *fault);

struct tw_etmv3_reader;

TW_API TW_MUST_USE enum tw_status tw_etmv3_reader_new(struct tw_etmv3_reader **reader,
                                                      const struct tw_etmv3_config *config,
                                                      const struct tw_allocator *allocator,
                                                      struct tw_fault *fault);
TW_API void tw_etmv3_reader_free(struct tw_etmv3_reader *reader);

/* The next packet of a stream.  TW_OK: packet->base.size bytes are done (at least 1).  TW_MORE: it
   is cut, nothing is done; give these bytes again with more behind them.  With is_last nothing
   follows, and a cut packet comes out as TW_ETMV3_INCOMPLETE_EOT.  size 0: TW_MORE.
   index and offset of packets count the bytes done so far. */
TW_API TW_MUST_USE enum tw_status tw_etmv3_read(struct tw_etmv3_reader *reader,
                                                struct tw_etmv3_packet *packet,
                                                const uint8_t *data, size_t size, bool is_last);

/* Up to `room` packets at once; returns how many, and in *used how many bytes they took.  Fewer
   than `room`: what is left of the data is the beginning of a packet.  Members that a packet's type
   does not have may be left as they were. */
TW_API size_t tw_etmv3_read_batch(struct tw_etmv3_reader *reader,
                                  struct tw_etmv3_packet *packets, size_t room, size_t *used,
                                  const uint8_t *data, size_t size);

/* Bytes are missing before the next one: forgets compression, waits for A-sync. */
TW_API void tw_etmv3_reader_lost(struct tw_etmv3_reader *reader);

/* A good packet as bytes, the inverse of reading: addresses, counts and timestamps take the bytes
   that their size or bits members say, or as few as will do where those are 0.  *size: room in,
   bytes written out.  TW_E_ARGUMENT: the packet cannot be written so.  TW_E_ROOM:
   it does not fit, *size is what it takes; 64 bytes are always enough.  The writer's state moves on as that of a reader of these bytes does. */
TW_API TW_MUST_USE enum tw_status tw_etmv3_write(struct tw_etmv3_reader *writer, uint8_t *out,
                                                 size_t *size,
                                                 const struct tw_etmv3_packet *packet);

/* "I_SYNC" ..., never NULL; and whether the type is damage. */
TW_API const char *tw_etmv3_type_name(unsigned type);
TW_API bool tw_etmv3_type_is_bad(unsigned type);
/* "irq", "cm_systick" ... of a branch packet's exception, never NULL. */
TW_API const char *tw_etmv3_exception_name(unsigned number, bool is_m_profile);

#ifdef __cplusplus
}
#endif

#endif
