/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of ETMv4 (4.0 to 4.6) and ETE (1.0 to 1.3) instruction trace: bytes to packets and
   back.  Stable. */
#ifndef TRACKWAY_ETMV4_H
#define TRACKWAY_ETMV4_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a trace unit can do and how it was programmed: values read from its registers. */
struct tw_etmv4_config {
    size_t size;         /* sizeof(struct tw_etmv4_config) */
    uint32_t trcidr[14]; /* TRCIDR0 ... TRCIDR13 */
    uint32_t trcconfigr;
    uint32_t trctraceidr;
    uint32_t trcauthstatus;
    uint32_t trcdevarch;  /* ETE: names the version */
    uint8_t profile;      /* enum tw_profile of the core */
    uint8_t architecture; /* of the core, ten times: 60, 70, 80, 81 (Armv8.1-M), 90 */
    bool is_ete;
    bool is_aa64_extended; /* core "ARM-AA64": TSTART, WFET and WFIT are P0 */
    bool is_data_stream;   /* the ETMv4 data trace stream (ID + 1): found, named, not split */
};

enum tw_etmv4_type {
    /* Bytes that are no good packet. */
    TW_ETMV4_NOT_SYNC,       /* before synchronization; a run may go on in the next packet */
    TW_ETMV4_INCOMPLETE_EOT, /* the trace ends inside a packet */
    TW_ETMV4_BAD_SEQUENCE,   /* inner bytes are wrong */
    TW_ETMV4_BAD_TRACEMODE,  /* not possible in this mode of tracing */
    TW_ETMV4_RESERVED,       /* no packet begins with this byte */
    TW_ETMV4_RESERVED_CFG,   /* ... under this configuration */
    /* Extension packets: 00 and a second byte. */
    TW_ETMV4_EXTENSION, /* never in a packet: what header 00 stands for */
    TW_ETMV4_ASYNC,
    TW_ETMV4_DISCARD,
    TW_ETMV4_OVERFLOW,
    TW_ETMV4_BF_FLUSH, /* Armv8.1-M branch future */
    /* The rest in the order of their headers. */
    TW_ETMV4_TRACE_INFO,
    TW_ETMV4_TIMESTAMP,
    TW_ETMV4_TRACE_ON,
    TW_ETMV4_FUNC_RET,
    TW_ETMV4_EXCEPT,
    TW_ETMV4_EXCEPT_RTN,
    TW_ETMV4_RESYNC, /* Armv8.1-M: A-sync follows */
    TW_ETMV4_ITE,
    TW_ETMV4_TRANS_ST,
    TW_ETMV4_TRANS_COMMIT,
    TW_ETMV4_TRANS_FAIL, /* an exception packet of type 0x18, ETE */
    TW_ETMV4_PE_RESET,   /* an exception packet of type 0, ETE */
    TW_ETMV4_CCNT_F2,
    TW_ETMV4_CCNT_F1,
    TW_ETMV4_CCNT_F3,
    TW_ETMV4_NUM_DS_MKR,
    TW_ETMV4_UNNUM_DS_MKR,
    TW_ETMV4_COMMIT,
    TW_ETMV4_CANCEL_F1,
    TW_ETMV4_CANCEL_F1_MISPRED,
    TW_ETMV4_MISPREDICT,
    TW_ETMV4_CANCEL_F2,
    TW_ETMV4_CANCEL_F3,
    TW_ETMV4_COND_I_F2,
    TW_ETMV4_COND_FLUSH,
    TW_ETMV4_COND_RES_F4,
    TW_ETMV4_COND_RES_F2,
    TW_ETMV4_COND_RES_F3,
    TW_ETMV4_COND_RES_F1,
    TW_ETMV4_COND_I_F1,
    TW_ETMV4_COND_I_F3,
    TW_ETMV4_IGNORE,
    TW_ETMV4_EVENT,
    TW_ETMV4_CTXT,
    TW_ETMV4_ADDR_CTXT_L_32IS0,
    TW_ETMV4_ADDR_CTXT_L_32IS1,
    TW_ETMV4_ADDR_CTXT_L_64IS0,
    TW_ETMV4_ADDR_CTXT_L_64IS1,
    TW_ETMV4_TS_MARKER,
    TW_ETMV4_ADDR_MATCH,
    TW_ETMV4_ADDR_S_IS0,
    TW_ETMV4_ADDR_S_IS1,
    TW_ETMV4_ADDR_L_32IS0,
    TW_ETMV4_ADDR_L_32IS1,
    TW_ETMV4_ADDR_L_64IS0,
    TW_ETMV4_ADDR_L_64IS1,
    TW_ETMV4_Q,
    TW_ETMV4_SRC_ADDR_MATCH,
    TW_ETMV4_SRC_ADDR_S_IS0,
    TW_ETMV4_SRC_ADDR_S_IS1,
    TW_ETMV4_SRC_ADDR_L_32IS0,
    TW_ETMV4_SRC_ADDR_L_32IS1,
    TW_ETMV4_SRC_ADDR_L_64IS0,
    TW_ETMV4_SRC_ADDR_L_64IS1,
    TW_ETMV4_ATOM_F1,
    TW_ETMV4_ATOM_F2,
    TW_ETMV4_ATOM_F3,
    TW_ETMV4_ATOM_F4,
    TW_ETMV4_ATOM_F5,
    TW_ETMV4_ATOM_F6,
    TW_ETMV4_DATA, /* bytes of a data trace stream, from one A-sync to the next */
    TW_ETMV4_TYPES
};

/* Sections of a Trace Info packet, bits of `sections`. */
enum {
    TW_ETMV4_INFO = 0x01,
    TW_ETMV4_KEY = 0x02,
    TW_ETMV4_SPEC = 0x04,
    TW_ETMV4_CYCT = 0x08,
    TW_ETMV4_WNDW = 0x10
};

/* One packet, a plain value.  The type says which members hold something; the others are not
   written.  Each `..._size` is how many bytes its number took; 0, when written, means as few as
   possible. */
struct tw_etmv4_packet {
    struct tw_packet base;
    uint8_t cause;     /* bad packets: the type that the header announced, else 0 */
    bool has_reserved; /* reserved bits were set: written again they are 0 */
    TW_EXTENSION union {
        struct {            /* ATOM_*, MISPREDICT, COMMIT, CANCEL_*, CCNT_* */
            uint32_t atoms; /* bit n is atom n, the oldest first; 1: E */
            uint8_t atom_count;
            bool mispredict;
            bool has_commit; /* CCNT: false when the unit sends none (COMMOPT) */
            bool is_unknown; /* CCNT_F1: no count */
            uint32_t commit; /* CCNT_F2, CCNT_F3 without commit: the bits as sent */
            uint32_t cancel;
            uint32_t count;  /* CCNT: as sent ... */
            uint32_t cycles; /* ... and with the threshold added; 0: unknown */
            uint8_t count_size;
            uint8_t commit_size;  /* of commit or cancel */
            bool is_from_maximum; /* CCNT_F2: commit was sent as a distance from MAXSPEC */
        };
        struct {                   /* addresses, Q, contexts */
            uint64_t address;      /* whole: what was not sent is filled in */
            uint8_t address_bits;  /* bits that the packet carried; exact match: the entry's */
            uint8_t address_width; /* 32 or 64 */
            uint8_t sub_isa;       /* IS0 or IS1 */
            uint8_t match;         /* exact match, also of Q: entry 0, 1 or 2 */
            bool has_context;      /* CTXT: false for header 80, the same context again */
            bool has_cid, has_vmid;
            uint8_t el;
            bool sf, ns, nse;
            uint8_t q_type; /* Q: low half of the header */
            bool q_has_count, q_has_address, q_is_match;
            uint8_t q_count_size;
            uint32_t q_count;
            uint32_t cid, vmid; /* 0 unless has_... */
        };
        struct {                    /* TIMESTAMP */
            uint64_t timestamp;     /* whole */
            uint8_t timestamp_bits; /* replaced; 64 for the first one after Trace Info */
            uint8_t timestamp_size;
            bool timestamp_has_count;
            uint8_t timestamp_count_size;
            uint32_t timestamp_count;
        };
        struct { /* EXCEPT, PE_RESET, TRANS_FAIL; the address packet follows on its own */
            uint16_t exception;
            uint8_t interpretation; /* E field: 1, or 2 when the address is also a target */
            bool is_m_profile;
            bool fault_pending;      /* M profile */
            bool is_extended;        /* sent with a second information byte */
            bool is_unknown_address; /* ETE: byte 70 stands for the address */
        };
        struct { /* TRACE_INFO: absent sections read as 0 */
            uint32_t info, key, spec, threshold, window;
            uint8_t sections;
            bool is_initial; /* the first one since synchronization was lost */
            uint8_t info_size, key_size, spec_size, threshold_size, window_size;
        };
        struct { /* ITE; value also DATA: its first byte */
            uint64_t value;
            uint8_t value_el;
        };
        uint8_t number; /* EVENT: mask; NUM_DS_MKR, UNNUM_DS_MKR */
        struct {        /* COND_I_* */
            uint32_t cond_key;
            uint8_t cond_count;
            bool cond_has_key, cond_final, cond_increment;
            uint8_t cond_key_size;
        };
        struct { /* COND_RES_* */
            uint32_t result_key[2];
            uint8_t result[2], result_ci[2], result_size[2];
            uint8_t result_count;     /* F1: 1 or 2 */
            uint8_t result_increment; /* F2: 1 or 2 */
            uint8_t token;            /* F2, F4 */
            uint16_t tokens;          /* F3: 12 bits, the low ones first */
        };
    };
};

/* Fills a config from registers by name ("TRCIDR0", "TRCCONFIGR" ...) and the core's name
   ("Cortex-M33"; may be NULL).  TRCIDR0, 1, 2 and TRCCONFIGR must be there, for ETE also
   TRCDEVARCH; the rest is 0 when missing. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_config_from(struct tw_etmv4_config *config,
                                                       const struct tw_register *registers,
                                                       size_t count, const char *core_type,
                                                       bool is_ete, struct tw_fault *fault);

struct tw_etmv4_reader;

TW_API TW_MUST_USE enum tw_status tw_etmv4_reader_new(struct tw_etmv4_reader **reader,
                                                      const struct tw_etmv4_config *config,
                                                      const struct tw_allocator *allocator,
                                                      struct tw_fault *fault);
TW_API void tw_etmv4_reader_free(struct tw_etmv4_reader *reader);

/* The next packet of a stream.  TW_OK: packet->base.size bytes are done (at least 1).  TW_MORE: it
   is cut, nothing is done; give these bytes again with more behind them.  With is_last nothing
   follows, and a cut packet comes out as TW_ETMV4_INCOMPLETE_EOT.  size 0: TW_MORE.
   index and offset of packets count the bytes done so far. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_read(struct tw_etmv4_reader *reader,
                                                struct tw_etmv4_packet *packet,
                                                const uint8_t *data, size_t size, bool is_last);

/* Up to `room` packets at once; returns how many, and in *used how many bytes they took.  Fewer
   than `room`: what is left of the data is the beginning of a packet. */
TW_API size_t tw_etmv4_read_batch(struct tw_etmv4_reader *reader,
                                  struct tw_etmv4_packet *packets, size_t room, size_t *used,
                                  const uint8_t *data, size_t size);

/* Bytes are missing before the next one: forgets compression, waits for A-sync. */
TW_API void tw_etmv4_reader_lost(struct tw_etmv4_reader *reader);

/* A good packet as bytes, the inverse of reading.  *size: room in, bytes written out.
   TW_E_ARGUMENT: the packet cannot be written so (a type that this configuration has not or that is
   damage, a value or an address that its form cannot hold).  TW_E_ROOM: it does not fit, *size is what
   it takes; 64 bytes are always enough.  The writer remembers no packets: what a short form leaves
   out of an address or a timestamp is for the caller to have sent before.  Flags and widths that type
   and configuration tell a reader are not looked at. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_write(struct tw_etmv4_reader *writer, uint8_t *out,
                                                 size_t *size,
                                                 const struct tw_etmv4_packet *packet);

/* "I_ATOM_F1" ..., never NULL; and whether the type is damage. */
TW_API const char *tw_etmv4_type_name(unsigned type);
TW_API bool tw_etmv4_type_is_bad(unsigned type);

/* What a header of the data trace stream is called ("D_P1_ADDR_F2" ...; `second` is used after
   the extension byte 00). */
TW_API const char *tw_etmv4_data_name(uint8_t header, uint8_t second);

#ifdef __cplusplus
}
#endif

#endif
