/* SPDX-License-Identifier: BSD-2-Clause */
/* The Trace Buffer Unit (FEAT_TRBE): its registers, what it does with each byte of trace,
   and what software can be sure to see after which barrier.  Experimental. */
#ifndef TRACKWAY_TRBE_H
#define TRACKWAY_TRBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/export.h>
#include <trackway/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the processor has besides FEAT_TRBE. */
enum tw_trbe_feature {
    TW_TRBE_EL2 = 1 << 0,
    TW_TRBE_EL3 = 1 << 1,
    TW_TRBE_SECURE = 1 << 2,   /* Secure state; without EL3: the only one */
    TW_TRBE_SEL2 = 1 << 3,     /* EL2 in Secure state */
    TW_TRBE_RME = 1 << 4,      /* Realm and Root state */
    TW_TRBE_EXT = 1 << 5,      /* External mode */
    TW_TRBE_MPAM_EXT = 1 << 6, /* FEAT_TRBE_MPAM */
    TW_TRBE_EXC = 1 << 7,      /* FEAT_TRBE_EXC and FEAT_TRBEv1p1 */
    TW_TRBE_V9_3 = 1 << 8,     /* External aborts are not reported */
    TW_TRBE_LPA = 1 << 9,      /* output addresses of 52 bits */
    TW_TRBE_D128 = 1 << 10     /* of 56 bits */
};

/* Registers of the unit, then those of the processor that it obeys. */
enum tw_trbe_register {
    TW_TRBE_LIMITR,
    TW_TRBE_PTR,
    TW_TRBE_BASER,
    TW_TRBE_SR_EL1,
    TW_TRBE_MAR,
    TW_TRBE_MPAM,
    TW_TRBE_TRG,
    TW_TRBE_IDR,
    TW_TRBE_SR_EL2,
    TW_TRBE_SR_EL3,
    TW_TRBE_SR_EL12, /* the name by which EL2 reaches TRBSR_EL1 when HCR_EL2.E2H is 1 */
    TW_TRBE_TRFCR_EL1,
    TW_TRBE_TRFCR_EL2,
    TW_TRBE_MDCR_EL2,
    TW_TRBE_MDCR_EL3,
    TW_TRBE_HCR_EL2,
    TW_TRBE_SCR_EL3,
    TW_TRBE_GPCCR_EL3,
    TW_TRBE_OSLAR,      /* bit 0 */
    TW_TRBE_EDSCR,      /* bit 31, TFO */
    TW_TRBE_TRCPRGCTLR, /* bit 0: the trace unit is enabled */
    TW_TRBE_REGISTERS
};

/* Fields of TRBLIMITR_EL1 and TRBSR_ELx. */
#define TW_TRBE_LIMITR_E   0x01u
#define TW_TRBE_LIMITR_NVM 0x20u
#define TW_TRBE_LIMITR_XE  0x40u
#define TW_TRBE_SR_S       0x00020000u
#define TW_TRBE_SR_EA      0x00040000u
#define TW_TRBE_SR_WRAP    0x00100000u
#define TW_TRBE_SR_TRG     0x00200000u
#define TW_TRBE_SR_IRQ     0x00400000u
#define TW_TRBE_SR_DAT     0x00800000u

enum tw_trbe_fill_mode { TW_TRBE_FILL = 0, TW_TRBE_WRAP = 1, TW_TRBE_CIRCULAR = 3 };
enum tw_trbe_trigger_mode {
    TW_TRBE_STOP_ON_TRIGGER = 0,
    TW_TRBE_IRQ_ON_TRIGGER = 1,
    TW_TRBE_IGNORE_TRIGGER = 3
};
enum tw_trbe_stop_code {
    TW_TRBE_BSC_NOT_ALLOWED = 0,
    TW_TRBE_BSC_FILLED = 1,
    TW_TRBE_BSC_TRIGGER = 2,
    TW_TRBE_BSC_MANUAL = 3
};
enum tw_trbe_class {
    TW_TRBE_EC_OTHER = 0x00,
    TW_TRBE_EC_GPC = 0x1e,
    TW_TRBE_EC_IMPLEMENTATION = 0x1f,
    TW_TRBE_EC_STAGE1 = 0x24,
    TW_TRBE_EC_STAGE2 = 0x25
};

/* As MDCR_EL3.{NSTBE,NSTB}, TRBMAR_EL1.PAS and TRBMPAM_EL1.MPAM_SP number them. */
enum tw_trbe_security {
    TW_TRBE_SECURE_STATE = 0,
    TW_TRBE_NON_SECURE = 1,
    TW_TRBE_ROOT = 2,
    TW_TRBE_REALM = 3
};

enum tw_trbe_regime { TW_TRBE_EL10, TW_TRBE_EL2_ONLY, TW_TRBE_EL20, TW_TRBE_PHYSICAL };

/* The authentication interface: which debug an external debugger may do. */
enum tw_trbe_authentication {
    TW_TRBE_AUTH_NS_WATCH = 1 << 0, /* non-invasive, of Non-secure state */
    TW_TRBE_AUTH_S_WATCH = 1 << 1,
    TW_TRBE_AUTH_RL_WATCH = 1 << 2,
    TW_TRBE_AUTH_RT_WATCH = 1 << 3,
    TW_TRBE_AUTH_NS = 1 << 4, /* invasive */
    TW_TRBE_AUTH_S = 1 << 5,
    TW_TRBE_AUTH_RL = 1 << 6,
    TW_TRBE_AUTH_RT = 1 << 7
};

/* Events that the unit makes, and those of the number space that it shares with the Performance
   Monitors and the trace unit. */
enum tw_trbe_event_number {
    TW_TRBE_EVENT_TRB_WRAP = 0x400c,
    TW_TRBE_EVENT_PMU_OVFS = 0x400d,
    TW_TRBE_EVENT_TRB_TRIG = 0x400e,
    TW_TRBE_EVENT_PMU_HOVFS = 0x400f,
    TW_TRBE_EVENT_TRCEXTOUT0 = 0x4010,  /* to TRCEXTOUT3, 0x4013 */
    TW_TRBE_EVENT_CTI_TRIGOUT4 = 0x4018 /* to CTI_TRIGOUT7, 0x401b */
};

enum tw_trbe_event_kind {
    TW_TRBE_ON_EVENT,      /* an event of the shared number space: `value` is its number */
    TW_TRBE_ON_CTI_STOP,   /* cross-trigger inputs, with TW_TRBE_EXT: S became 1 */
    TW_TRBE_ON_CTI_MANAGE, /* IRQ became 1 */
    TW_TRBE_ON_CTI_WRAP,
    TW_TRBE_ON_STOP,      /* collection stopped: `value` is the TRBSR_ELx that says why */
    TW_TRBE_ON_TRIGGER,   /* a Detected Trigger was taken */
    TW_TRBE_ON_FLUSH,     /* the unit asks the trace unit to flush */
    TW_TRBE_ON_IRQ,       /* TRBIRQ changed: `value` is its level */
    TW_TRBE_ON_EXCEPTION, /* a Profiling exception became pending: `value` is its target EL */
    TW_TRBE_ON_SERROR,    /* an External abort that is taken as SError */
    TW_TRBE_ON_MISUSE     /* software did what is UNPREDICTABLE: `text` says what */
};

struct tw_trbe_event {
    enum tw_trbe_event_kind kind;
    uint64_t value;
    uint64_t accepted; /* bytes accepted when it happened */
    uint64_t pointer;  /* TRBPTR_EL1 then */
    uint8_t el;        /* of the TRBSR_ELx concerned; 0: none */
    const char *text;  /* of a misuse; else NULL */
};

/* Why a write to the buffer failed. */
struct tw_trbe_fault {
    uint8_t class_code; /* enum tw_trbe_class: stage 1, stage 2 or GPC */
    uint8_t status;     /* the fault status code; 0x10 and 0x11 are External aborts */
    uint32_t more;      /* goes to TRBSR_ELx.MSS2 (24 bits) */
};

enum tw_trbe_reply { TW_TRBE_DONE, TW_TRBE_BUSY, TW_TRBE_FAULT };

/* A question to the translation tables. */
struct tw_trbe_walk {
    uint64_t address;
    uint64_t size;      /* bytes that will be written; may be made smaller by the answer */
    uint8_t regime;     /* enum tw_trbe_regime */
    uint8_t security;   /* enum tw_trbe_security */
    bool is_stage1_off; /* effective nVM: the address is an IPA, or physical */
    bool has_stage2;
    uint64_t physical;  /* the answer; preset to the address */
    uint8_t attributes; /* MAIR form; preset from TRBMAR_EL1 when stage 1 is off */
    uint8_t shareability;
    struct tw_trbe_fault fault; /* of TW_TRBE_FAULT */
};

/* A write to memory. */
struct tw_trbe_store {
    uint64_t address, physical;
    const uint8_t *bytes;
    size_t size;
    size_t done; /* preset to size; less when the reply is not TW_TRBE_DONE */
    uint8_t security, attributes, shareability;
    bool has_mpam; /* the next three come from TRBMPAM_EL1; else the defaults are used */
    uint8_t mpam_space, pmg;
    uint16_t partid;
    struct tw_trbe_fault fault; /* of TW_TRBE_FAULT: an External abort */
};

/* A TW_TRBE_SEQUENTIAL unit does everything at once: one of the allowed behaviours.  A
   TW_TRBE_LATE one does it as late as the architecture lets it: direct writes act at the next
   context synchronization event, bytes wait for a TSB CSYNC, writes to memory for a DSB, and
   registers show what trace did only after the whole sequence.  Software that is synchronized
   rightly sees no difference. */
enum tw_trbe_timing { TW_TRBE_SEQUENTIAL, TW_TRBE_LATE };

struct tw_trbe_config {
    size_t size;          /* sizeof(struct tw_trbe_config) */
    uint32_t features;    /* enum tw_trbe_feature */
    uint8_t align;        /* TRBIDR_EL1.Align: 0 to 11 */
    uint8_t aborts;       /* TRBIDR_EL1.EA: 0 reported, 1 ignored, 2 SError */
    uint8_t address_bits; /* of physical addresses; 0: 48 */
    bool manages_flags;   /* TRBIDR_EL1.F */
    bool aborts_set_ea;   /* External aborts on table walks set TRBSR_ELx.EA */
    /* of TRBPTR and TRBTRG, below the alignment, as software sees them */
    bool low_bits_are_zero;
    bool is_trigger_first; /* count the trigger before the pointer moves */
    /* a Detected Trigger takes a begun unit of 1 << align off the count */
    bool counts_whole_units;
    uint8_t timing;   /* enum tw_trbe_timing */
    uint32_t queue;   /* TW_TRBE_LATE: bytes that may wait; 0: 4096 */
    uint64_t unknown; /* what UNKNOWN registers hold after a cold reset */

    void *context; /* for the functions below, any of which may be NULL */
    enum tw_trbe_reply (*translate)(void *context, struct tw_trbe_walk *walk);
    enum tw_trbe_reply (*write)(void *context, struct tw_trbe_store *store);
    /* The trace unit gives up what it holds, room bytes at most; called until it returns 0. */
    size_t (*flush)(void *context, uint8_t *bytes, size_t room);
    void (*event)(void *context, const struct tw_trbe_event *event);
    /* Where trace goes while the unit is disabled. */
    void (*sink)(void *context, const uint8_t *bytes, size_t size);
    const struct tw_allocator *allocator;
};

/* What became of the bytes, and how often what happened. */
struct tw_trbe_counts {
    uint64_t accepted;   /* written to the buffer, or on the way */
    uint64_t written;    /* by the memory */
    uint64_t rejected;   /* refused: the trace unit keeps them, or overflows */
    uint64_t discarded;  /* lost: collection was stopped, or the write failed */
    uint64_t disabled;   /* arrived while the unit was disabled */
    uint64_t prohibited; /* of code that may not be traced: never made */
    uint64_t wraps, triggers, trigger_events, flushes, stops, management_events;
    uint64_t ignored_writes; /* to registers, while the unit was enabled */
    uint64_t misuses;
};

struct tw_trbe;

/* A unit after a cold reset.  TW_E_CONFIG: a field is out of range, or features exclude each other. */
TW_API TW_MUST_USE enum tw_status
tw_trbe_new(struct tw_trbe **unit, const struct tw_trbe_config *config, struct tw_fault *fault);
TW_API void tw_trbe_free(struct tw_trbe *unit);
TW_API void tw_trbe_reset(struct tw_trbe *unit, bool is_cold);

/* MSR and MRS at the current Exception level; whether that may, tw_trbe_access says.  Writes to registers
   of an enabled unit are ignored, but for one that disables it. */
TW_API void tw_trbe_write(struct tw_trbe *unit, enum tw_trbe_register name, uint64_t value);
TW_API uint64_t tw_trbe_read(const struct tw_trbe *unit, enum tw_trbe_register name);
/* What trace operations use, whatever software sees; for models and displays. */
TW_API uint64_t tw_trbe_used(const struct tw_trbe *unit, enum tw_trbe_register name);

/* Who takes an MSR or MRS of the current Exception level: 0 nobody, it is done; 2 or 3 the level
   that it traps to; 255: the instruction is UNDEFINED. */
TW_API unsigned tw_trbe_access(const struct tw_trbe *unit, enum tw_trbe_register name);

/* The external view (TW_TRBE_EXT), by offset.  TW_E_ARGUMENT: an error response. */
TW_API TW_MUST_USE enum tw_status tw_trbe_external_read(struct tw_trbe *unit, uint64_t *value,
                                                        uint32_t offset);
TW_API TW_MUST_USE enum tw_status tw_trbe_external_write(struct tw_trbe *unit, uint32_t offset,
                                                         uint64_t value);

/* Trace of the code that executes now.  Code in a prohibited region makes none: its bytes are
   counted as prohibited.  Returns how many were taken; the rest was rejected and may be offered
   again.  With is_earlier the trace belongs to earlier code and only comes out now. */
TW_API size_t tw_trbe_collect(struct tw_trbe *unit, const uint8_t *bytes, size_t size,
                              bool is_earlier);
/* The trace unit signals a Detected Trigger (for ETE: its event 0). */
TW_API void tw_trbe_trigger(struct tw_trbe *unit);
/* An asynchronous External abort on an earlier write. */
TW_API void tw_trbe_abort(struct tw_trbe *unit, const struct tw_trbe_fault *fault);
/* An IMPLEMENTATION DEFINED management event with this MSS. */
TW_API void tw_trbe_implementation_event(struct tw_trbe *unit, uint16_t mss);

/* Barriers.  `tw_trbe_dsb` is one for reads and writes. */
TW_API void tw_trbe_isb(struct tw_trbe *unit);
TW_API void tw_trbe_tsb(struct tw_trbe *unit);
TW_API void tw_trbe_dsb(struct tw_trbe *unit);
/* An exception or exception return to `el`: a context synchronization event. */
TW_API void tw_trbe_enter(struct tw_trbe *unit, unsigned el);
/* Debug state is entered or left; PSTATE.PM; the authentication interface; AArch32 owner. */
TW_API void tw_trbe_set_debug(struct tw_trbe *unit, bool is_halted);
TW_API void tw_trbe_set_pm(struct tw_trbe *unit, bool is_masked);
TW_API void tw_trbe_set_authentication(struct tw_trbe *unit, unsigned allowed);
TW_API void tw_trbe_set_aarch32(struct tw_trbe *unit, bool is_aarch32);

/* Predicates, on what trace operations see. */
struct tw_trbe_state {
    bool is_self_hosted, is_enabled, is_running, is_stopped;
    bool is_trace_allowed; /* where the processor executes now */
    bool is_external;      /* mode */
    bool effective_nvm;
    bool irq;
    uint8_t exception;          /* target EL of a pending Profiling exception, 0: none */
    bool is_exception_unmasked; /* ... and it is taken now */
    uint8_t el, security;       /* where the processor executes */
    uint8_t owner_el, owner_security, regime;
    /* What is guaranteed: all trace operations are finished; complete in memory; and direct reads
       return what they wrote, External aborts included in the second. */
    bool is_finished, is_complete, is_visible, is_abort_visible;
};
TW_API void tw_trbe_get_state(const struct tw_trbe *unit, struct tw_trbe_state *state);
/* The same decision for any Exception level. */
TW_API bool tw_trbe_is_allowed_at(const struct tw_trbe *unit, unsigned el);
TW_API const struct tw_trbe_counts *tw_trbe_get_counts(const struct tw_trbe *unit);

/* Whether an event of the shared number space reaches the trace unit now: in a prohibited region
   only few do. */
TW_API bool tw_trbe_event_reaches(const struct tw_trbe *unit, unsigned number);

/* The parts of the buffer that hold trace, oldest first, at most two; `start` is where the session
   began to write. */
struct tw_trbe_span {
    uint64_t address, size;
};
TW_API size_t tw_trbe_spans(const struct tw_trbe *unit, struct tw_trbe_span spans[2],
                            uint64_t start);

/* Copies the spans, oldest byte first, then Ignore packets (0x70) up to a multiple of `align` (0
   or 1: none).  `read` returns false where memory cannot be read.  *size: room in, bytes out;
   TW_E_ROOM: the room needed out. */
struct tw_trbe_memory {
    void *context;
    bool (*read)(void *context, uint8_t *bytes, uint64_t address, size_t size);
};
TW_API TW_MUST_USE enum tw_status tw_trbe_drain(const struct tw_trbe *unit, uint8_t *out,
                                                size_t *size,
                                                const struct tw_trbe_memory *memory,
                                                uint64_t start, size_t align);

/* How an operating system uses a ring of pages: where the next session writes, and which bytes it
   first fills with Ignore packets, because they cannot be used.  `head` and `tail` count bytes
   since the ring was made; `wakeup` is the head at which the reader wants to be told. */
struct tw_trbe_ring {
    uint64_t base, size, page; /* page: the smallest translation granule */
    uint64_t head, tail, wakeup;
};
struct tw_trbe_plan {
    uint64_t start, limit; /* TRBPTR and Limit; equal: there is no room */
    uint64_t padding;      /* bytes from head on to fill with 0x70 */
};
TW_API void tw_trbe_ring_plan(const struct tw_trbe_ring *ring, struct tw_trbe_plan *plan,
                              unsigned align);

/* An interrupt after `level` bytes while collection goes on (K10.5.11), in the buffer [base, limit).
   Writes the pointers, modes and counters, with the barriers between; the unit must be disabled and is
   enabled on return.  TW_E_ARGUMENT: the level does not fit or is not aligned. */
enum tw_trbe_watermark { TW_TRBE_BY_WRAP, TW_TRBE_BY_TRIGGER };
TW_API TW_MUST_USE enum tw_status tw_trbe_set_watermark(struct tw_trbe *unit,
                                                        enum tw_trbe_watermark method,
                                                        uint64_t base, uint64_t limit,
                                                        uint64_t level);

/* "TRBLIMITR_EL1" and so on; names are found in any case, with or without _EL1.  TW_TRBE_REGISTERS:
   there is none. */
TW_API const char *tw_trbe_register_name(enum tw_trbe_register name);
TW_API enum tw_trbe_register tw_trbe_register_find(const char *name, size_t size);
/* "TRB_WRAP" and so on; NULL: not one of those events. */
TW_API const char *tw_trbe_event_name(unsigned number);

/* The fields of a register: name, lowest bit and width; `index` from 0 until it returns false. */
struct tw_trbe_field {
    const char *name;
    uint8_t lowest, width;
};
TW_API bool tw_trbe_register_field(struct tw_trbe_field *field, enum tw_trbe_register name,
                                   size_t index);

#ifdef __cplusplus
}
#endif

#endif
