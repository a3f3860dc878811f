/* SPDX-License-Identifier: BSD-2-Clause */
/* The words that all protocols share: instruction sets, elements, batches, packets,
   registers.  Stable. */
#ifndef TRACKWAY_TYPES_H
#define TRACKWAY_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/export.h>
#include <trackway/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tw_isa {
    TW_ISA_A32,
    TW_ISA_T32,
    TW_ISA_A64,
    TW_ISA_TEE,
    TW_ISA_JAZELLE,
    TW_ISA_CUSTOM,
    TW_ISA_UNKNOWN,
    TW_ISA_RV32,
    TW_ISA_RV64
};

enum tw_profile { TW_PROFILE_A, TW_PROFILE_R, TW_PROFILE_M };

/* What the last instruction of a range is ("lt"). */
enum tw_last_kind {
    TW_LAST_OTHER,
    TW_LAST_BR,
    TW_LAST_IBR,
    TW_LAST_ISB,
    TW_LAST_DSB_DMB,
    TW_LAST_WFI_WFE,
    TW_LAST_TSTART
};

/* ... and more closely ("ls"). */
enum tw_last_sub {
    TW_SUB_NONE,
    TW_SUB_LINK,
    TW_SUB_V8_RET,
    TW_SUB_V8_ERET,
    TW_SUB_V7_IMPLIED_RET,
    TW_SUB_RET,     /* RISC-V */
    TW_SUB_TRAP_RET /* RISC-V */
};

enum tw_security { TW_SECURE, TW_NONSECURE, TW_ROOT, TW_REALM };

/* Memory spaces of Arm cores, as bits; the value is the "space" of output lines. */
enum tw_space {
    TW_SPACE_EL1S = 0x01,
    TW_SPACE_EL1N = 0x02,
    TW_SPACE_EL2 = 0x04,
    TW_SPACE_EL3 = 0x08,
    TW_SPACE_EL2S = 0x10,
    TW_SPACE_EL1R = 0x20,
    TW_SPACE_EL2R = 0x40,
    TW_SPACE_ROOT = 0x80,
    TW_SPACE_ANY_S = 0x19,
    TW_SPACE_ANY_N = 0x06,
    TW_SPACE_ANY_R = 0x60,
    TW_SPACE_ANY = 0xff
};

enum tw_element_type {
    TW_ELEMENT_UNKNOWN,
    TW_ELEMENT_NO_SYNC,
    TW_ELEMENT_TRACE_ON,
    TW_ELEMENT_EO_TRACE,
    TW_ELEMENT_PE_CONTEXT,
    TW_ELEMENT_INSTR_RANGE,
    TW_ELEMENT_I_RANGE_NOPATH,
    TW_ELEMENT_ADDR_NACC,
    TW_ELEMENT_ADDR_UNKNOWN,
    TW_ELEMENT_EXCEPTION,
    TW_ELEMENT_EXCEPTION_RET,
    TW_ELEMENT_TIMESTAMP,
    TW_ELEMENT_CYCLE_COUNT,
    TW_ELEMENT_EVENT,
    TW_ELEMENT_SWTRACE,
    TW_ELEMENT_SYNC_MARKER,
    TW_ELEMENT_MEMTRANS,
    TW_ELEMENT_INSTRUMENTATION,
    TW_ELEMENT_ITMTRACE,
    TW_ELEMENT_DATA_ADDR,
    TW_ELEMENT_DATA_VALUE,
    TW_ELEMENT_BUS_TRANSFER,
    TW_ELEMENT_CUSTOM,
    TW_ELEMENT_ERROR,  /* bad trace: what and how much was skipped; see enum tw_error_code */
    TW_ELEMENT_REPEAT, /* the last `count` elements happened `times` more times */
    TW_ELEMENT_TYPES
};

/* Why synchronization is missing, or the trace ended ("reason"). */
enum tw_reason {
    TW_REASON_UNDEFINED,
    TW_REASON_INIT,
    TW_REASON_RESET,
    TW_REASON_OVERFLOW,
    TW_REASON_DISCARD,
    TW_REASON_BAD_PACKET,
    TW_REASON_BAD_IMAGE,
    TW_REASON_END
};

enum tw_trace_on { TW_TRACE_ON_NORMAL, TW_TRACE_ON_OVERFLOW, TW_TRACE_ON_DEBUG_EXIT };
/* TRIGGER and FLUSH are also what the markers of formatter frames say: elements of ID TW_ID_TRIGGER
   whose number is the marker's byte. */
enum tw_event_kind {
    TW_EVENT_TRIGGER,
    TW_EVENT_NUMBERED,
    TW_EVENT_NOTIFY,
    TW_EVENT_FLUSH,
    TW_EVENT_TRACE_OFF, /* N-Trace: tracing stops; the number is EVCODE */
    TW_EVENT_LOST,      /* N-Trace: messages were lost; the number is ETYPE, `value` ECODE */
    TW_EVENT_CIRCUIT /* N-Trace: InCircuitTrace; the number is CKSRC, `value` an address or code,
                           `value_more` what else was sent */
};

/* `kind` of a RISC-V EXCEPTION: whether TW_EXCEPTION_INTERRUPT says which it is. */
enum tw_trap_kind { TW_TRAP_KNOWN, TW_TRAP_ANY };
/* `kind` of an Arm EXCEPTION: whose numbers `number` is one of. */
enum tw_exception_numbers {
    TW_NUMBERS_UNKNOWN,
    TW_NUMBERS_ARMV8,   /* ETMv4 and ETE */
    TW_NUMBERS_ARMV8_M, /* ... of the M profile */
    TW_NUMBERS_ARMV7,   /* ETMv3 and PTM */
    TW_NUMBERS_ARMV7_M  /* ETMv3 of the M profile */
};
/* `number` of a RISC-V EXCEPTION whose cause is not traced. */
#define TW_CAUSE_UNKNOWN UINT32_MAX

enum tw_transaction { TW_TRANS_INIT, TW_TRANS_START, TW_TRANS_COMMIT, TW_TRANS_FAIL };

enum tw_itm_kind {
    TW_ITM_SWIT,
    TW_ITM_DWT,
    TW_ITM_TS_SYNC,
    TW_ITM_TS_DELAY,
    TW_ITM_TS_PKT_DELAY,
    TW_ITM_TS_PKT_TS_DELAY,
    TW_ITM_TS_GLOBAL,
    TW_ITM_LOST /* an overflow that no element follows, whose flag could say so */
};

/* "dir" of a data address. */
enum tw_data_kind {
    TW_DATA_LOAD,
    TW_DATA_STORE,
    TW_DATA_CSR_RW,
    TW_DATA_CSR_RS,
    TW_DATA_CSR_RC,
    TW_DATA_SWAP,
    TW_DATA_ADD,
    TW_DATA_AND,
    TW_DATA_OR,
    TW_DATA_XOR,
    TW_DATA_MAX,
    TW_DATA_MIN,
    TW_DATA_SC_FAIL,
    TW_DATA_UNKNOWN /* the trace does not say, and the instruction is not known */
};

/* What is wrong with the trace: code of an error element, of packets that fit no rule, and of
   the error log. */
enum tw_error_code {
    TW_ERROR_NONE,
    TW_ERROR_RESERVED_HEADER, /* no packet begins with this byte */
    TW_ERROR_RESERVED_CONFIG, /* ... under this configuration */
    TW_ERROR_BAD_SEQUENCE,    /* a packet's inner bytes are wrong */
    TW_ERROR_TRUNCATED,       /* the trace ends inside a packet */
    TW_ERROR_COMMIT,          /* commit or cancel of elements that are not there */
    TW_ERROR_RETURN_STACK,    /* an address was left out, and the return stack is empty */
    TW_ERROR_RANGE_LIMIT,     /* no waypoint within the limit: runaway code */
    TW_ERROR_BAD_OPCODE,      /* check: the image holds no code there */
    TW_ERROR_BAD_ATOM,        /* check: not-taken atom on an unconditional branch */
    TW_ERROR_NOT_CONTINUOUS,  /* check: a range does not go on where the last one ended */
    TW_ERROR_IMAGE_MISMATCH,  /* the trace contradicts the image */
    TW_ERROR_UNSUPPORTED,     /* packets of a kind that cannot be decoded */
    TW_ERROR_OVERFLOW,        /* the trace unit lost trace */
    TW_ERROR_DISCONTINUITY,   /* bytes are missing here: barrier, lost frame sync, gap */
    TW_ERROR_UNSYNCED,        /* packets before the first synchronization; no damage */
    TW_ERROR_ENCODER_MODE, /* RISC-V: the encoder traces by an algorithm that is not branch trace */
    TW_ERROR_PACKET_LIMIT, /* one packet leads through more code than is followed for it */
    TW_ERROR_UNPLACED, /* branches whose address is not known: the path cannot tell of them; no
                          damage */
    TW_ERROR_RESERVED_BITS, /* check: bits of a packet that should be zero are set */
    TW_ERROR_CODES
};

/* Flags of elements.  Each bit means one thing per element type. */
enum {
    TW_FLAG_HAS_CYCLES = 0x80, /* any type with `cycles`: it holds a cycle count */

    TW_RANGE_EXECUTED = 0x01,    /* the last instruction's condition passed (E atom) */
    TW_RANGE_CONDITIONAL = 0x02, /* the last instruction is conditional */

    TW_CONTEXT_64BIT = 0x01,
    TW_CONTEXT_HAS_EL = 0x02,
    TW_CONTEXT_HAS_VMID = 0x04,
    TW_CONTEXT_HAS_CID = 0x08,
    TW_CONTEXT_HAS_PRIV = 0x10, /* RISC-V: el is the privilege, context_id the context */
    /* N-Trace: from an Ownership message, whose FORMAT is `ownership`; context_id is scontext, vmid
       hcontext, and `is_virtual` is there. */
    TW_CONTEXT_OWNERSHIP = 0x20,
    TW_CONTEXT_M = 0x40, /* M profile: el 0 is Thread mode, 3 Handler mode */

    TW_EXCEPTION_HAS_RETURN = 0x01,
    TW_EXCEPTION_RETURN_IS_TARGET = 0x02,
    TW_EXCEPTION_DATA_MARKER = 0x04,
    /* M profile: right behind the end of another one.  ETMv3 does not tell from this a return that was
       complete before the exception was taken. */
    TW_EXCEPTION_TAIL_CHAIN = 0x08,
    TW_EXCEPTION_INTERRUPT = 0x10, /* RISC-V */
    TW_EXCEPTION_HAS_TVAL = 0x20,  /* RISC-V */
    TW_EXCEPTION_RISCV = 0x40,

    TW_EVENT_IS_MASK = 0x01, /* EVENT: bit n of the number is event n (ETMv4 and ETE) */

    TW_TIME_FREQ_CHANGE = 0x01,
    /* TIMESTAMP of ETMv4 and ETE: `cycles` is how long after the last CYCLE_COUNT it was, which the
       next one counts again: no part of a total. */
    TW_TIME_CYCLES_APART = 0x02,

    TW_CYCLES_UNKNOWN = 0x01, /* CYCLE_COUNT: the unit could not tell; `cycles` is 0 */

    TW_SW_HAS_ID = 0x01, /* master and channel are known */
    TW_SW_MARKER = 0x02,
    TW_SW_HAS_TIME = 0x04,
    TW_SW_TRIGGER = 0x08,
    TW_SW_FREQ = 0x10,
    TW_SW_MASTER_ERROR = 0x20,
    TW_SW_GLOBAL_ERROR = 0x40,

    TW_ITM_OVERFLOW = 0x01,
    TW_ITM_HAS_TIME = 0x02,
    TW_ITM_FREQ_CHANGE = 0x04,

    TW_SKIP_RESUMED = 0x01, /* ERROR: decoding went on at the next byte, not at the next
                               synchronization */

    TW_DATA_HAS_ADDRESS = 0x01,
    TW_DATA_HAS_PC = 0x02,  /* `pc` is the instruction's address */
    TW_DATA_HAS_KEY = 0x04, /* `pc` is the association key */
    TW_DATA_HAS_VALUE = 0x08,
    TW_DATA_OPERAND = 0x10,    /* RISC-V: the other value of an atomic or CSR access */
    TW_DATA_BIG_ENDIAN = 0x20, /* ETMv3: the transfer was big-endian; the value is as traced */
    TW_DATA_WIDE_PC = 0x40     /* with HAS_PC: the address has more than 32 bits, and stands in
                              data_value (DATA_ADDR) or data_address (DATA_VALUE without address) */
};

/* A REPEAT repeats so many elements at most: INSTR_RANGEs that stand directly before it in the same
   batch and come from the same packet as itself. */
enum { TW_REPEAT_MAX = 1024 };

/* One thing that happened, the same for all protocols: 32 bytes, no pointers.  `type` says which
   members hold something.  Written in place into the caller's batch. */
struct tw_element {
    uint64_t index; /* offset in the capture of the packet that made it */
    TW_EXTENSION union {
        struct { /* INSTR_RANGE */
            uint64_t start;
            uint32_t length; /* in bytes: the range ends before start + length */
            uint32_t range_cycles;
        };
        struct { /* I_RANGE_NOPATH: continues at next */
            uint64_t first;
            uint64_t next;
        };
        struct { /* ADDR_NACC, and any other element that needs an address */
            uint64_t address;
            uint32_t space; /* enum tw_space of the missing address */
            uint32_t address_pad;
        };
        struct { /* PE_CONTEXT */
            uint32_t context_id;
            uint32_t vmid;
            uint32_t context_high; /* N-Trace: bits 63:32 of the context that was sent */
            uint32_t context_cycles;
        };
        struct { /* EXCEPTION */
            uint64_t return_address;
            TW_EXTENSION union {
                uint64_t tval; /* RISC-V */
                struct {
                    uint32_t architectural;    /* M profile: the number in IPSR, as DWT packets
                                               carry it; 0: it has none, or another profile */
                    uint32_t exception_cycles; /* Arm */
                };
            };
        };
        struct { /* TIMESTAMP, CYCLE_COUNT, TRACE_ON (count: N-Trace's SYNC + 1) */
            uint64_t timestamp;
            uint32_t time_pad;
            uint32_t cycles; /* the same place as the other *_cycles */
        };
        struct { /* SWTRACE */
            uint64_t payload;
            uint64_t sw_time;
        };
        struct { /* ITMTRACE: value, or delta of a local timestamp */
            uint64_t itm_time;
            uint32_t itm_value;
            uint32_t itm_pad;
        };
        struct { /* INSTRUMENTATION, SYNC_MARKER, CUSTOM, EVENT (count = number) */
            uint64_t value;
            uint64_t value_more;
        };
        struct { /* DATA_ADDR, DATA_VALUE, BUS_TRANSFER */
            uint64_t data_address;
            uint64_t data_value;
        };
        struct { /* ERROR: bytes passed over up to where decoding went on (see flags) */
            uint64_t skipped;
            uint64_t error_detail; /* by code: header byte, address ... */
        };
        struct { /* REPEAT: n of "the last `count` elements, n more times", at least 1 */
            uint64_t times;
            uint64_t repeat_pad;
        };
    };
    TW_EXTENSION union {
        uint32_t count;  /* INSTR_RANGE, I_RANGE_NOPATH: instructions; EVENT: number or mask;
                            ADDR_NACC, EO_TRACE: branches since the last ADDR_NACC of which
                            nothing could be said, as code was missing; REPEAT: how many of the
                            elements before it are repeated, 1 to TW_REPEAT_MAX */
        uint32_t number; /* EXCEPTION: type or cause; CUSTOM: what the protocol likes */
        struct {
            uint16_t master, channel; /* SWTRACE */
        };
        uint32_t source; /* ITMTRACE: port with page, or DWT discriminator */
        uint32_t pc;     /* DATA_*: instruction address or association key, see flags */
    };
    uint8_t type;  /* enum tw_element_type */
    uint8_t flags; /* above */
    TW_EXTENSION union {
        uint8_t isa;    /* INSTR_RANGE, I_RANGE_NOPATH, PE_CONTEXT: enum tw_isa */
        uint8_t reason; /* NO_SYNC, EO_TRACE: enum tw_reason; TRACE_ON: enum tw_trace_on */
        uint8_t kind;   /* EVENT, EXCEPTION, MEMTRANS, ITMTRACE, DATA_ADDR,
                           BUS_TRANSFER: enums above */
        uint8_t error;  /* ERROR: enum tw_error_code */
        uint8_t width;  /* SWTRACE: payload bits */
        uint8_t instrumentation_el;
    };
    TW_EXTENSION union {
        struct {
            uint8_t last_kind : 3; /* INSTR_RANGE: enum tw_last_kind */
            uint8_t last_sub : 3;  /* enum tw_last_sub */
            uint8_t last_size : 2; /* in halfwords: 1 or 2 */
        };
        struct {
            uint8_t el : 4;       /* PE_CONTEXT: Exception level or privilege */
            uint8_t security : 4; /* enum tw_security */
        };
        struct { /* PE_CONTEXT of RISC-V */
            uint8_t privilege : 4;
            uint8_t is_virtual : 1;
            uint8_t ownership : 3;
        };
        uint8_t size;    /* ITMTRACE, DATA_*, BUS_TRANSFER: bytes */
        uint8_t packets; /* SWTRACE: how many packets made it */
        uint8_t last;    /* all of the last_* at once */
    };
};

/* The stream of a trace ID is one source's own; else see tw_batch.src. */
#define TW_NO_SRC UINT32_MAX

/* Elements of one source, in order. */
struct tw_batch {
    size_t size; /* sizeof(struct tw_batch): set by the caller, before the first use */
    struct tw_element *elements;
    size_t room;
    size_t count;    /* of the elements that are there */
    void *user;      /* tw_tree_source.user of their source ... */
    uint32_t source; /* ... and its number, in the order in which sources were added, from 0 */
    /* Where several sources share a stream (RISC-V: E-Trace srcid, N-Trace SRC), which of them;
       TW_NO_SRC: the stream has no such sources, or it is damage of the stream. */
    uint32_t src;
    uint8_t id; /* trace ID */
    /* E-Trace that comes without a trace ID: lines call the source by its src in the place of `id`,
       too. */
    bool src_is_id;
};

/* A range and how often it was executed, without the places in the trace: see struct tw_counter. */
struct tw_range_sum {
    struct tw_element range; /* an INSTR_RANGE; its index is 0 */
    uint64_t times;
    uint64_t to;  /* is_edge: where the indirect branch that ends it led, ... */
    bool is_edge; /* ... so often; the range itself is summed by another */
};

/* What a packet is, whatever the protocol. */
enum tw_packet_kind {
    TW_PACKET_OTHER,
    TW_PACKET_NOT_SYNC, /* bytes that are not read: before synchronization, or not decoded */
    TW_PACKET_BAD,      /* bytes that fit no packet */
    TW_PACKET_CUT,      /* ... as the trace ends inside of it */
    TW_PACKET_SYNC,     /* a reader that knows nothing can begin here */
    TW_PACKET_OVERFLOW, /* the trace unit lost trace */
    TW_PACKET_DISCARD,  /* ... or gave up what it held back */
    TW_PACKET_INFO, /* what a decoder has to know from here on: trace info, I-sync, version */
    TW_PACKET_FLOW, /* the way through the program: atoms, addresses */
    TW_PACKET_EXCEPTION,
    TW_PACKET_CONTEXT, /* whose: Exception level, context ID, master and channel */
    TW_PACKET_TIME,    /* timestamps, cycle counts */
    TW_PACKET_EVENT,   /* triggers, events of the trace unit */
    TW_PACKET_DATA,    /* data trace, and what software wrote */
    TW_PACKET_PADDING,
    TW_PACKET_KINDS
};

/* Every protocol's packet begins with this. */
struct tw_packet {
    uint64_t index;  /* offset in the capture of its first byte */
    uint64_t offset; /* ... in its ID's own stream */
    uint32_t size;   /* in bytes; the next packet begins at offset + size ... */
    uint8_t type;    /* the protocol's enum */
    uint8_t id;      /* trace ID */
    /* Streams of nibbles (STM): low bits of the first byte that belong to the packet before, and
       high bits of the last byte that belong to the next one: 0 or 4.  With spare_bits the next
       packet begins in this one's last byte: at offset + size - 1. */
    uint8_t skip_bits, spare_bits;
};

/* A register of a trace unit or a key of a configuration, by name. */
struct tw_register {
    const char *name;
    uint64_t value;
};

static inline uint64_t tw_element_end(const struct tw_element *range)
{
    return range->start + range->length;
}

/* How many of the elements before elements[at], a REPEAT, it repeats. */
static inline size_t tw_repeat_reach(const struct tw_element *elements, size_t at)
{
    return elements[at].count < at ? elements[at].count : at;
}

/* Names as in the output: "INSTR_RANGE", "A64", "BR", "V8_RET", "discard", "bad-sequence" ...
   A value out of range gives "UNKNOWN" or the like, never NULL. */
TW_API const char *tw_element_type_name(unsigned type);
TW_API const char *tw_isa_name(unsigned isa);
TW_API const char *tw_last_kind_name(unsigned kind);
TW_API const char *tw_last_sub_name(unsigned sub);
TW_API const char *tw_security_name(unsigned security);
TW_API const char *tw_reason_name(unsigned reason);
TW_API const char *tw_error_code_name(unsigned code);
TW_API const char *tw_space_name(uint32_t space);
TW_API const char *
tw_packet_kind_name(unsigned kind); /* enum tw_packet_kind: "sync", "flow" ... */

/* One element as a line without its end: JSON (the form that docs/formats.md describes) or text
   for people.  Never writes more than `room` bytes; returns the line's length, not counting the
   zero that ends it; 512 bytes are always enough. */
TW_API size_t tw_element_json(char *out, size_t room, const struct tw_element *element,
                              uint8_t id);
TW_API size_t tw_element_text(char *out, size_t room, const struct tw_element *element,
                              uint8_t id);

#ifdef __cplusplus
}
#endif

#endif
