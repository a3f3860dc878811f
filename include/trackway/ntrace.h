/* SPDX-License-Identifier: BSD-2-Clause */
/* RISC-V N-Trace 1.0, and the dialect of the hardware that came before it.  Experimental. */
#ifndef TRACKWAY_NTRACE_H
#define TRACKWAY_NTRACE_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which messages and rules.  Nothing in a stream says it; a few messages that only the dialect has
   are strong hints. */
enum tw_ntrace_dialect {
    TW_NTRACE_AUTO,  /* 1.0, and the dialect from the first such message on */
    TW_NTRACE_1_0,   /* as ratified */
    TW_NTRACE_SIFIVE /* SiFive cores before it: E31, P550 and others */
};

enum { TW_NTRACE_SRC_BITS_MAX = 12, TW_NTRACE_PACKET_MAX = 4096 };

/* trTeInstMode. */
enum tw_ntrace_mode {
    TW_NTRACE_MODE_BTM = 3, /* a message for each taken branch */
    TW_NTRACE_MODE_HTM = 6  /* branches are collected in HIST */
};

/* How a periodic synchronization is sent. */
enum tw_ntrace_sync_style {
    TW_NTRACE_SYNC_MERGED,  /* with the next branch message */
    TW_NTRACE_SYNC_AT_ONCE, /* in the shortest message that has room for what is pending */
    TW_NTRACE_SYNC_HIST     /* at once, as IndirectBranchHistSync */
};

/* What a stream does not say of itself.  tw_ntrace_config_init fills in the defaults. */
struct tw_ntrace_config {
    size_t size;      /* sizeof(struct tw_ntrace_config) */
    uint8_t dialect;  /* enum tw_ntrace_dialect */
    uint8_t src_bits; /* trTeSrcBits: width of SRC; 0: there is none */
    bool inhibit_src; /* trTeInhibitSrc: there is none whatever src_bits says */
    bool extend_addr; /* trTeInstExtendAddrMSB: equal top bits of addresses are left out */
    bool all_jumps;   /* trTeInstEnAllJumps: direct jumps and calls are in HIST too */
    uint8_t xlen;     /* 32 or 64 */
    bool has_zcmp_zcmt;
    uint64_t jvt;       /* address of the jump vector table */
    uint8_t time_width; /* trTsWidth: bits of a timestamp, which wraps; 0: 64 */
    bool starts_inside; /* the first byte need not begin a message: a buffer that wrapped */
    bool has_src;       /* only messages of this source ... */
    uint16_t src;
    /* the stream holds nothing but messages of src, whole: those of others were left out before */
    bool comes_apart;
    uint8_t id; /* what to call it in the output */

    /* A RAM sink's buffer as it lies in memory: trRamStart, trRamLimit (its last word), trRamWP. */
    bool has_ram, ram_wrapped;
    uint64_t ram_start, ram_limit, ram_wp;
    /* the bytes show so many pins, 1, 2, 4, 8 or 16, at each clock edge; 0: bytes */
    uint8_t pib_bits;

    /* How the unit is set up: not needed to decode. */
    uint8_t mode;         /* enum tw_ntrace_mode; 0: not known */
    uint8_t return_mode;  /* trTeInstImplicitReturnMode: 0 to 3 */
    uint8_t return_depth; /* of its stack or counter */
    bool timestamps, ownership, repeat_history, repeat_branch, sequential_jump;
    uint8_t btype;          /* 1: traps are sent as B-TYPE 1; else as 2 and 3 */
    uint8_t sync_style;     /* enum tw_ntrace_sync_style */
    uint32_t sync_messages; /* between two periodic synchronizations; 0: there are none */
    uint32_t icnt_max;      /* half-words that fill I-CNT; 0: as many as 22 bits hold */
    uint8_t hist_max;       /* bits that fill HIST, the stop bit among them; 0: 32 */
};

/* Messages, by their names in the specification. */
enum tw_ntrace_type {
    TW_NTRACE_OWNERSHIP,
    TW_NTRACE_DIRECT_BRANCH,
    TW_NTRACE_INDIRECT_BRANCH,
    TW_NTRACE_ERROR,
    TW_NTRACE_PROG_TRACE_SYNC,
    TW_NTRACE_DIRECT_BRANCH_SYNC,
    TW_NTRACE_INDIRECT_BRANCH_SYNC,
    TW_NTRACE_RESOURCE_FULL,
    TW_NTRACE_INDIRECT_BRANCH_HIST,
    TW_NTRACE_INDIRECT_BRANCH_HIST_SYNC,
    TW_NTRACE_REPEAT_BRANCH,
    TW_NTRACE_PROG_TRACE_CORRELATION,
    /* The dialect's. */
    TW_NTRACE_DATA_ACQUISITION,
    TW_NTRACE_AUX_ACCESS_WRITE,
    TW_NTRACE_IN_CIRCUIT_TRACE,
    TW_NTRACE_IN_CIRCUIT_TRACE_SYNC,
    TW_NTRACE_VENDOR,     /* TCODE 56 to 62: nothing is known but SRC */
    TW_NTRACE_IDLE,       /* a run of idle bytes between messages */
    TW_NTRACE_NOT_SYNC,   /* bytes passed over before a message's beginning was found */
    TW_NTRACE_RESERVED,   /* a TCODE that there is not */
    TW_NTRACE_BAD,        /* fits no message */
    TW_NTRACE_INCOMPLETE, /* cut by the end of the trace */
    TW_NTRACE_TYPES
};

/* Why there is a synchronizing message. */
enum tw_ntrace_sync {
    TW_NTRACE_SYNC_TRIGGER = 0,
    TW_NTRACE_SYNC_RESET = 1,
    TW_NTRACE_SYNC_PERIODIC = 2,
    TW_NTRACE_SYNC_DEBUG_EXIT = 3,
    TW_NTRACE_SYNC_ICNT_FULL = 4,
    TW_NTRACE_SYNC_ENABLED = 5,
    TW_NTRACE_SYNC_EVENT = 6,
    TW_NTRACE_SYNC_OVERRUN = 7,
    TW_NTRACE_SYNC_POWER_UP = 9
};

enum tw_ntrace_btype {
    TW_NTRACE_BTYPE_JUMP,
    TW_NTRACE_BTYPE_TRAP, /* the unit cannot tell which */
    TW_NTRACE_BTYPE_EXCEPTION,
    TW_NTRACE_BTYPE_INTERRUPT
};

enum tw_ntrace_evcode {
    TW_NTRACE_EVCODE_DEBUG = 0,
    TW_NTRACE_EVCODE_LOW_POWER = 1,
    TW_NTRACE_EVCODE_DISABLED = 4
};

enum tw_ntrace_rcode {
    TW_NTRACE_RCODE_ICNT = 0,
    TW_NTRACE_RCODE_HIST = 1,
    TW_NTRACE_RCODE_REPEAT = 2,
    TW_NTRACE_RCODE_NOT_TAKEN = 8, /* the dialect: so many branches not taken ... */
    TW_NTRACE_RCODE_TAKEN = 9      /* ... or taken */
};

/* Which of the members that may be absent a packet has. */
enum { TW_NTRACE_HAS_SRC = 1, TW_NTRACE_HAS_TSTAMP = 2, TW_NTRACE_HAS_HIST = 4 };

/* What is odd about a message, but can be read. */
enum {
    TW_NTRACE_ODD_EMPTY = 1,  /* a variable field without bits */
    TW_NTRACE_ODD_EXTRA = 2,  /* fields behind the timestamp, dropped */
    TW_NTRACE_ODD_IDLE = 4,   /* idle bytes that are not all ones */
    TW_NTRACE_ODD_FORMAT = 8, /* Ownership of the reserved FORMAT */
    TW_NTRACE_ODD_CODE = 16   /* a reserved value of RCODE, ETYPE, EVCODE or SYNC */
};

/* What is wrong with a bad packet. */
enum tw_ntrace_fault {
    TW_NTRACE_FAULT_NONE,
    TW_NTRACE_FAULT_MSEO,    /* the reserved value */
    TW_NTRACE_FAULT_START,   /* a message begins with the end of a field */
    TW_NTRACE_FAULT_CUT,     /* fixed fields are cut short */
    TW_NTRACE_FAULT_ADDRESS, /* there is no address */
    TW_NTRACE_FAULT_HIST,    /* HIST is missing or without its stop bit */
    TW_NTRACE_FAULT_FIELD,   /* another field is missing */
    TW_NTRACE_FAULT_CDF,     /* a reserved value */
    TW_NTRACE_FAULT_WIDE,    /* a field of more than 64 bits */
    TW_NTRACE_FAULT_LONG     /* no end within TW_NTRACE_PACKET_MAX bytes */
};

/* A packet: a plain value, nothing to free.  Members that its type does not have are 0. */
struct tw_ntrace_packet {
    struct tw_packet base;
    uint8_t tcode;
    uint8_t has;   /* TW_NTRACE_HAS_... */
    uint8_t odd;   /* TW_NTRACE_ODD_... */
    uint8_t fault; /* enum tw_ntrace_fault of a bad packet */
    uint8_t error; /* the same as an enum tw_error_code */
    uint8_t sync, btype;
    uint8_t code; /* RCODE, EVCODE, ETYPE or CKSRC */
    uint8_t cdf;  /* CDF or CKDF */
    uint16_t src;
    uint32_t fault_at; /* bytes before the one that is wrong */
    TW_EXTENSION union {
        uint64_t icnt;
        uint64_t process, ecode, rdata, bcnt; /* of messages without I-CNT */
        uint64_t idtag;                       /* DataAcquisition; AuxAccessWrite: the address */
        uint64_t ckdata0;
    };
    TW_EXTENSION union {
        uint64_t address; /* F-ADDR or U-ADDR, as sent, extended: bit 0 is bit 1 of the pc */
        uint64_t hrepeat;
        uint64_t dqdata; /* DataAcquisition, AuxAccessWrite */
        uint64_t ckdata1;
    };
    uint64_t hist;
    uint64_t tstamp; /* as sent: a difference, but in synchronizing messages */
};

/* The defaults: N-Trace 1.0 or the dialect, RV64, no SRC. */
TW_API void tw_ntrace_config_init(struct tw_ntrace_config *config);
/* Reads `key=value` lines or settings divided by commas into what init made: this header's names,
   those of the specification's registers and fields (trTeInstFeatures=0x..., trTeSrcBits=2), or both.
   Says which line or key is wrong. */
TW_API TW_MUST_USE enum tw_status tw_ntrace_config_read(struct tw_ntrace_config *config,
                                                        const char *text,
                                                        struct tw_fault *fault);
/* Refuses what cannot be decoded. */
TW_API TW_MUST_USE enum tw_status tw_ntrace_config_check(const struct tw_ntrace_config *config,
                                                         struct tw_fault *fault);
/* The lines again.  Never writes more than `room` bytes; returns the text's length, not counting the
   zero that ends it.  4 KiB hold it. */
TW_API size_t tw_ntrace_config_text(char *out, size_t room,
                                    const struct tw_ntrace_config *config);

/* Reads packets of one stream: keeps whether it is inside a message. */
struct tw_ntrace_reader;

TW_API TW_MUST_USE enum tw_status tw_ntrace_reader_new(struct tw_ntrace_reader **reader,
                                                       const struct tw_ntrace_config *config,
                                                       const struct tw_allocator *allocator,
                                                       struct tw_fault *fault);
TW_API void tw_ntrace_reader_free(struct tw_ntrace_reader *reader);
/* TW_MORE: the message is cut and more bytes may come.  Bytes that are no message come out as one of
   the types from TW_NTRACE_IDLE on.  index and offset of packets count the bytes done so far. */
TW_API TW_MUST_USE enum tw_status tw_ntrace_read(struct tw_ntrace_reader *reader,
                                                 struct tw_ntrace_packet *packet,
                                                 const uint8_t *data, size_t size,
                                                 bool is_last);
/* Up to `room` packets at once; returns how many, and in *used how many bytes they took.  Fewer than
   `room`: what is left of the data is the beginning of a packet. */
TW_API size_t tw_ntrace_read_batch(struct tw_ntrace_reader *reader,
                                   struct tw_ntrace_packet *packets, size_t room, size_t *used,
                                   const uint8_t *data, size_t size);
/* Bytes are missing before the next one: waits for the end of a message. */
TW_API void tw_ntrace_reader_lost(struct tw_ntrace_reader *reader);
/* A message as bytes, or base.size idle bytes.  *size: room in, bytes written out.  TW_E_ARGUMENT: the
   packet cannot be written so.  TW_E_ROOM: it does not fit, *size is what it takes. */
TW_API TW_MUST_USE enum tw_status tw_ntrace_write(struct tw_ntrace_reader *writer, uint8_t *out,
                                                  size_t *size,
                                                  const struct tw_ntrace_packet *packet);

/* What bytes of unknown origin look like.  To identify a file: call tw_ntrace_guess with its bytes (of
   framed trace: those of one ID), compare `score` with that of other protocols, and give the decoder
   src_bits, dialect, pib_bits and starts_inside as its configuration. */
struct tw_ntrace_guess {
    size_t size;      /* sizeof(struct tw_ntrace_guess) */
    uint8_t score;    /* 0: they are no N-Trace, to 100 */
    uint8_t src_bits; /* under which they make most sense */
    uint8_t dialect;  /* enum tw_ntrace_dialect: messages or times that only it has, else 1.0 */
    uint8_t pib_bits; /* 1, 2 or 4: only if so many pins are put in line; else 0 */
    bool starts_inside; /* the first byte begins no message */
    bool has_times;
    uint32_t messages, syncs, bad; /* among the bytes that were looked at, 64 KiB at most */
    uint32_t sources;
};

/* TW_E_MEMORY is all that can go wrong, once size is set. */
TW_API TW_MUST_USE enum tw_status tw_ntrace_guess(struct tw_ntrace_guess *guess,
                                                  const uint8_t *bytes, size_t size,
                                                  const struct tw_allocator *allocator);

/* "IndirectBranchHist", "ResourceFull" ...; never NULL. */
TW_API const char *tw_ntrace_type_name(unsigned type);

#ifdef __cplusplus
}
#endif

#endif
