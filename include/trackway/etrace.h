/* SPDX-License-Identifier: BSD-2-Clause */
/* RISC-V E-Trace: instruction trace and data trace, from the 2020 draft (1.1.1) to version
   2.0.  Experimental. */
#ifndef TRACKWAY_ETRACE_H
#define TRACKWAY_ETRACE_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which document the packets follow.  Never guessed. */
enum tw_etrace_layout {
    TW_ETRACE_LAYOUT_NONE,
    TW_ETRACE_LAYOUT_SEED,           /* 1.1.1-draft of September 2020 */
    TW_ETRACE_LAYOUT_V2,             /* ratified 2.0 */
    TW_ETRACE_LAYOUT_V2_REFPY_QUIRKS /* 2.0 as the reference data model writes it */
};

/* How packets lie in the stream of bytes. */
enum tw_etrace_encapsulation {
    TW_ETRACE_ENCAP_LEN5_TYPE2, /* one byte: length 5, type 2; the reference flow's raw files */
    TW_ETRACE_ENCAP_RISCV,   /* Unformatted Trace & Diagnostic Data Packet Encapsulation 1.0 */
    TW_ETRACE_ENCAP_SMI,     /* the draft's UltraSoC example: index, then 16-bit timestamp */
    TW_ETRACE_ENCAP_ATB,     /* the draft's ATB example: length 5, timestamp-present 1 */
    TW_ETRACE_ENCAP_ESP32,   /* length 5 of the whole packet, 16-bit packet number */
    TW_ETRACE_ENCAP_SIEMENS, /* length 5, type 2, timestamp-present 1; 16-bit timestamp; index */
    TW_ETRACE_ENCAP_PULP /* records of 40 bytes, the last byte first: header, timestamp, payload */
};

/* Run-time options, as bits of tw_etrace_options.  The order on the wire is the trace unit's. */
enum tw_etrace_option {
    TW_ETRACE_IMPLICIT_RETURN = 0x01,
    TW_ETRACE_IMPLICIT_EXCEPTION = 0x02,
    TW_ETRACE_FULL_ADDRESS = 0x04,
    TW_ETRACE_JUMP_TARGET_CACHE = 0x08,
    TW_ETRACE_BRANCH_PREDICTION = 0x10,
    TW_ETRACE_SIJUMP = 0x20,
    TW_ETRACE_DELTA_ADDRESS = 0x40, /* says what full address denies; changes nothing */
    /* Data trace. */
    TW_ETRACE_NO_ADDRESS = 0x100,
    TW_ETRACE_NO_DATA = 0x200,
    TW_ETRACE_FULL_DADDRESS = 0x400,
    TW_ETRACE_FULL_DATA = 0x800
};

enum { TW_ETRACE_OPTION_BITS = 32, TW_ETRACE_PRIVILEGES = 8 };

/* What is known of a trace unit: its parameters by the specification's names (without "_p"; the
   values are the parameters themselves), and how it is set up.  tw_etrace_config_init fills in
   the defaults of a layout. */
struct tw_etrace_config {
    size_t size; /* sizeof(struct tw_etrace_config) */
    uint8_t layout;
    uint8_t encapsulation;
    bool is_data; /* a stream of te_data packets: no program image is needed */

    /* Widths of fields. */
    uint8_t iaddress_width, iaddress_lsb;
    uint8_t privilege_width, context_width, time_width, ecause_width;
    bool nocontext, notime;
    uint8_t f0s_width;
    uint8_t bpred_size, cache_size, call_counter_size, return_stack_size;
    uint8_t encoder_mode_bits, ioptions_bits, doptions_bits;
    /* What each bit of ioptions and doptions is, bit 0 first: one of enum tw_etrace_option, or 0. */
    uint16_t ioption_order[TW_ETRACE_OPTION_BITS], doption_order[TW_ETRACE_OPTION_BITS];

    /* What the hart can do (sijump_p), and what the encoder is told to do (siJump) are two things: the
       mode is on when `options` has it, or when the hart can and nothing else is said. */
    bool sijump;
    bool has_sijump_mode; /* `options` tells whether it is on */

    uint32_t options; /* in force until a support packet says otherwise */

    /* What implementations do differently. */
    bool x1_links_only;       /* implicit return: only x1 makes a call or return, not x5 */
    bool ecall_retires;       /* ecall and ebreak are reported as retired */
    bool bpred_reset_on_sync; /* predictor back to 01 at every synchronization packet (3.2.6) */
    /* not the whole packet, but its address is compressed: to bytes and a sign bit; zeros pad */
    bool compresses_addresses;
    bool tval_of_interrupts; /* 2.0: tval is there, too */
    bool short_support;      /* 2.0: support packets without denable, dloss and doptions */
    bool filters_data;       /* not every access is traced: none is tied to its instruction */
    bool never_notifies;     /* the bit is that of the address itself, not of the field */
    bool has_zcmp_zcmt;
    uint64_t jvt;                        /* address of the jump vector table */
    uint8_t tvec_mask;                   /* bit n: tvec[n] is given */
    uint64_t tvec[TW_ETRACE_PRIVILEGES]; /* implicit exception: trap handlers by privilege */
    uint8_t xlen;                        /* 32 or 64; 0: 32 when iaddress_width is 32 or less */

    /* Data trace. */
    uint8_t data_width, daddress_width;
    uint8_t format_bits;   /* 2: only unified loads and stores; else 3 */
    uint8_t lrid_width;    /* not 0: loads and atomics are split into request and data */
    uint8_t diff_bits;     /* data only, and CSR: 1 or 2 */
    uint8_t csr_width;     /* 32 or 64; 0: 64 when data_width is 64 or more */
    uint8_t csr_diff_bits; /* address only: 0 or 1 */
    uint8_t data_compress; /* what a diff field of one bit means: 1 XOR, 2 difference */

    /* Encapsulation: RISC-V and SMI. */
    uint8_t srcid_bits, type_bits, timestamp_bytes;
    uint16_t block_size; /* memory is cut into blocks that no packet crosses; 0: it is not */
    bool starts_inside;  /* the first byte need not begin a packet: a buffer that wrapped */
    bool has_srcid;      /* only packets of this source ... */
    uint16_t srcid;
    /* the stream holds nothing but packets of srcid, whole: those of others were left out before */
    bool comes_apart;
    uint8_t id; /* what to call it in the output */

    /* Said by discovery, not needed to decode. */
    uint8_t arch, version, minor_revision;
    uint8_t itype_width, ctype_width, ilastsize_width, iretire_width, impdef_width;
    uint8_t retires, taken_branches, comparators, filters, ecause_choice;
    uint8_t filter_context, filter_excint, filter_privilege, filter_tval, filter_impdef;
    uint8_t filter_time, dblock_width, dsize_width, dtype_width, iaddr_lsbs_width;
    uint8_t lresp_width, ldata_width, sdata_width;
    uint32_t resync_packets;
};

enum tw_etrace_type {
    TW_ETRACE_F0S0,
    TW_ETRACE_F0S1,
    TW_ETRACE_F1,
    TW_ETRACE_F2,
    TW_ETRACE_F3S0,
    TW_ETRACE_F3S1,
    TW_ETRACE_F3S2,
    TW_ETRACE_F3S3,
    TW_ETRACE_LOAD,
    TW_ETRACE_STORE,
    TW_ETRACE_SPLIT_LOAD_ADDR,
    TW_ETRACE_SPLIT_LOAD_DATA,
    TW_ETRACE_ATOMIC,
    TW_ETRACE_SPLIT_ATOMIC_ADDR,
    TW_ETRACE_SPLIT_ATOMIC_DATA,
    TW_ETRACE_CSR,
    TW_ETRACE_NULL,       /* idle or alignment, no payload */
    TW_ETRACE_OTHER,      /* of another source, or of a message type that is no trace */
    TW_ETRACE_NOT_SYNC,   /* bytes passed over before a packet's beginning was found */
    TW_ETRACE_BAD,        /* fits no packet */
    TW_ETRACE_INCOMPLETE, /* cut by the end of the trace */
    TW_ETRACE_TYPES
};

enum tw_etrace_qual_status {
    TW_ETRACE_NO_CHANGE,
    TW_ETRACE_ENDED_REP,
    TW_ETRACE_TRACE_LOST,
    TW_ETRACE_ENDED_UPD /* 2.0: ended_ntr */
};

/* Which of the members that may be absent a packet has. */
enum {
    TW_ETRACE_HAS_ADDRESS = 0x01,
    TW_ETRACE_HAS_TVAL = 0x02,
    TW_ETRACE_HAS_IRDEPTH = 0x04,
    TW_ETRACE_HAS_STAMP = 0x08,
    TW_ETRACE_HAS_DATA = 0x10,
    TW_ETRACE_HAS_OPERAND = 0x20,
    /* Data trace: a difference from what was lost, or never told; address, value are not known. */
    TW_ETRACE_LOST_ADDRESS = 0x40,
    TW_ETRACE_LOST_VALUE = 0x80
};

/* A packet: a plain value, nothing to free.  Members that its type does not have are 0. */
struct tw_etrace_packet {
    struct tw_packet base;
    uint8_t header_size;  /* bytes before the payload */
    uint8_t payload_size; /* packet.size - header_size */
    uint8_t has;          /* TW_ETRACE_HAS_... */
    uint8_t error;        /* enum tw_error_code of a bad packet */

    /* Of the encapsulation. */
    uint8_t flow;
    uint16_t source;
    uint64_t stamp;

    /* Instruction trace; notify, updiscon and irreport are logical values. */
    uint8_t branches, branch_fmt, branch;
    bool notify, updiscon, irreport;
    uint8_t privilege, interrupt, thaddr, qual_status;
    uint8_t ienable, denable, dloss;
    bool has_data_options; /* 2.0: denable, dloss and doptions are there */
    uint32_t encoder_mode;
    uint64_t ecause;
    uint32_t branch_map, branch_count, index, irdepth;
    uint32_t ioptions, doptions;
    uint64_t time, context, tval;
    uint64_t field;   /* the address as transmitted: difference or full, without its low bits */
    uint64_t address; /* where that is */

    /* Data trace; `field` and `address` as above. */
    uint8_t format, subtype, data_size, diff, data_len, op_len, resp;
    uint32_t lrid;
    uint64_t data, data_high;       /* as transmitted */
    uint64_t operand, operand_high; /* likewise */
    uint64_t value, value_high;     /* the data itself, when known */
    uint64_t operand_value, operand_value_high;
};

/* Names of the encoders whose form is known ("pulp", "esp32" ...), as the key `preset` takes them;
   NULL: there are no more. */
TW_API const char *tw_etrace_preset(size_t number);

/* The layout and the defaults of its discovery tables. */
TW_API void tw_etrace_config_init(struct tw_etrace_config *config,
                                  enum tw_etrace_layout layout);

/* The options in force at the beginning of a trace: bits of enum tw_etrace_option. */
TW_API uint32_t tw_etrace_config_options(const struct tw_etrace_config *config);

/* Reads a configuration into what init made: `key=value` lines, or the ipxact form of a component's
   discovery registers (or lines and then the component).  Says which line or key is wrong. */
TW_API TW_MUST_USE enum tw_status tw_etrace_config_read(struct tw_etrace_config *config,
                                                        const char *text,
                                                        struct tw_fault *fault);

/* What decoder and encoder make of a text (NULL: none): it is read upon the defaults of the layout
   that it names, or else of `layout`, or else of v2; addresses and data are as wide as `xlen` (32,
   64; 0: as the layout has them) unless it says otherwise. */
TW_API TW_MUST_USE enum tw_status tw_etrace_config_make(struct tw_etrace_config *config,
                                                        const char *text,
                                                        enum tw_etrace_layout layout,
                                                        unsigned xlen, struct tw_fault *fault);
/* Refuses what cannot be decoded: widths out of range, no layout. */
TW_API TW_MUST_USE enum tw_status tw_etrace_config_check(const struct tw_etrace_config *config,
                                                         struct tw_fault *fault);
/* The two forms again.  Never write more than `room` bytes; return the text's length, not
   counting the zero that ends it.  16 KiB hold the lines, 64 KiB the component. */
TW_API size_t tw_etrace_config_text(char *out, size_t room,
                                    const struct tw_etrace_config *config);
TW_API size_t tw_etrace_config_ipxact(char *out, size_t room,
                                      const struct tw_etrace_config *config);

/* Reads and writes packets of one stream; both keep what the wire format needs: address and data
   histories, jump targets, the options in force. */
struct tw_etrace_reader;

TW_API TW_MUST_USE enum tw_status tw_etrace_reader_new(struct tw_etrace_reader **reader,
                                                       const struct tw_etrace_config *config,
                                                       const struct tw_allocator *allocator,
                                                       struct tw_fault *fault);
TW_API void tw_etrace_reader_free(struct tw_etrace_reader *reader);
/* TW_MORE: the packet is cut and more bytes may come.  Bytes that are no packet come out as
   TW_ETRACE_NOT_SYNC, TW_ETRACE_BAD or TW_ETRACE_INCOMPLETE.  index and offset of packets count
   the bytes done so far. */
TW_API TW_MUST_USE enum tw_status tw_etrace_read(struct tw_etrace_reader *reader,
                                                 struct tw_etrace_packet *packet,
                                                 const uint8_t *data, size_t size,
                                                 bool is_last);
/* Up to `room` packets at once, of instruction or data trace; returns how many, and in *used how
   many bytes they took.  Fewer than `room`: what is left of the data is the beginning of a packet,
   or too little to tell where one begins. */
TW_API size_t tw_etrace_read_batch(struct tw_etrace_reader *reader,
                                   struct tw_etrace_packet *packets, size_t room, size_t *used,
                                   const uint8_t *data, size_t size);
/* Bytes are missing before the next one: waits for the beginning of a packet. */
TW_API void tw_etrace_reader_lost(struct tw_etrace_reader *reader);
/* A good packet as bytes, header included.  Takes the transmitted values: `field`, `data`, `operand`.
   *size: room in, bytes written out.  TW_E_ARGUMENT: the packet cannot be written so.  TW_E_ROOM: it
   does not fit, *size is what it takes. */
TW_API TW_MUST_USE enum tw_status tw_etrace_write(struct tw_etrace_reader *writer, uint8_t *out,
                                                  size_t *size,
                                                  const struct tw_etrace_packet *packet);

/* "f0s0", "split_load_addr" ...; never NULL. */
TW_API const char *tw_etrace_type_name(unsigned type);

#ifdef __cplusplus
}
#endif

#endif
