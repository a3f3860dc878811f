/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3 (3.0 to 3.5), instruction and data trace: configuration, packets, and the trace unit's
   model. */
#ifndef TRACKWAY_ETMV3_H
#define TRACKWAY_ETMV3_H

#include <trackway/log.h>
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
    bool
        has_reserved; /* bits that should be 0 (or 1) are not; written back as they should be */
    union {
        struct {                   /* I_SYNC, I_SYNC_CYCLE, BRANCH_ADDRESS */
            uint32_t address;      /* whole: what was not sent is filled in */
            uint32_t context_id;   /* I_SYNC */
            uint32_t cycles;       /* I_SYNC_CYCLE */
            uint32_t next_address; /* I_SYNC with is_in_progress: of the next instruction */
            uint16_t
                exception; /* BRANCH_ADDRESS with has_info; deprecated codes as the others */
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
                                                      const struct tw_allocator *allocator);
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
                                  struct tw_etmv3_packet *packets, size_t room,
                                  const uint8_t *data, size_t size, size_t *used);

/* Bytes are missing before the next one: forgets compression, waits for A-sync. */
TW_API void tw_etmv3_reader_lost(struct tw_etmv3_reader *reader);

/* A good packet as bytes, the inverse of reading: addresses, counts and timestamps take the bytes
   that their size or bits members say, or as few as will do where those are 0.  *size: room in,
   bytes written out.  TW_E_ARGUMENT: the packet cannot be written so or does not fit; 64 bytes are
   always enough.  The writer's state moves on as that of a reader of these bytes does. */
TW_API TW_MUST_USE enum tw_status tw_etmv3_write(struct tw_etmv3_reader *writer, uint8_t *out,
                                                 size_t *size,
                                                 const struct tw_etmv3_packet *packet);

/* "I_SYNC" ..., never NULL; and whether the type is damage. */
TW_API const char *tw_etmv3_type_name(unsigned type);
TW_API bool tw_etmv3_type_is_bad(unsigned type);
/* "irq", "cm_systick" ... of a branch packet's exception, never NULL. */
TW_API const char *tw_etmv3_exception_name(unsigned number, bool is_m_profile);

/* The trace unit: what a processor does in, trace bytes out. */
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
                                                    const struct tw_etmv3_unit_config *config);
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
