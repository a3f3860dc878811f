/* SPDX-License-Identifier: BSD-2-Clause */
/* The Trace Buffer Unit's state, and what its files share. */
#ifndef TRBE_UNIT_H
#define TRBE_UNIT_H

#include <trackway/trbe.h>

#include "base/compiler.h"

/* Fields outside the unit. */
#define TRFCR_E0TRE  0x1u
#define TRFCR_E1TRE  0x2u
#define TRFCR_KE     0x400u
#define TRFCR_DNVM   0x800u
#define MDCR3_RLTE   0x1u
#define MDCR3_STE    0x40000u
#define MDCR3_TTRF   0x80000u
#define MDCR3_NSTBE  0x4000000u
#define MDCR3_ENTB2  0x8000000000u
#define HCR_VM       0x1u
#define HCR_TGE      0x8000000u
#define HCR_E2H      0x400000000u
#define HCR_TEA      0x2000000000u
#define HCR_GPF      0x1000000000000u
#define SCR_NS       0x1u
#define SCR_EA       0x8u
#define SCR_EEL2     0x40000u
#define SCR_GPF      0x1000000000000u
#define SCR_NSE      0x4000000000000000u
#define GPCCR_GPC    0x10000u
#define GPCCR_TBGPCD 0x40000u
#define EDSCR_TFO    0x80000000u

enum { SMALLEST_GRANULE = 4096 };

/* A write that was accepted, but is not yet in memory. */
struct tw_trbe_waiting {
    uint64_t address, physical;
    uint8_t byte, security, attributes, shareability;
};

struct tw_trbe {
    struct tw_trbe_config config;
    uint64_t seen[TW_TRBE_REGISTERS]; /* by MRS */
    uint64_t used[TW_TRBE_REGISTERS]; /* by trace operations */
    uint32_t itctrl;
    /* One bit for each register: a direct write that is not synchronized; an indirect one that is
       not finished, or finished but not visible. */
    uint32_t direct, indirect, finished;

    uint8_t el;
    bool is_halted, is_pm, is_aarch32;
    uint8_t authentication;

    /* Trace operations that wait (TW_TRBE_LATE): a ring of bytes, each made while the unit was
       enabled, and a ring of writes. */
    uint8_t *queue;
    uint32_t queue_first, queue_count;
    struct tw_trbe_waiting *waiting;
    uint32_t waiting_first, waiting_count;
    uint32_t synchronized; /* of the waiting writes: by a TSB CSYNC */

    /* What is guaranteed. */
    bool is_quiet_region; /* a context synchronization event led to a prohibited region */
    bool models_source;   /* TRCPRGCTLR.EN was ever set: the caller says when it is disabled */
    bool is_silent;       /* ... and a TSB CSYNC finished there: the trace unit makes no more */
    bool is_finished, is_complete, is_visible, is_abort_visible;

    bool has_bad_pointer;   /* a misaligned value was written that no hardware left */
    bool has_fault_pointer; /* an abort or Alignment fault left it */
    bool is_fault_start;    /* ... and the unit was enabled with it */
    uint64_t restart_pointer;
    uint64_t session_wraps; /* since the pointer was written */
    bool is_flush_due, is_flushing;
    bool irq;
    uint8_t exception;
    struct tw_trbe_counts counts;
};

/* state.c: predicates on registers that trace operations use. */
bool tw_trbe_is_self_hosted(const struct tw_trbe *unit);
bool tw_trbe_is_enabled(const struct tw_trbe *unit);
bool tw_trbe_is_running(const struct tw_trbe *unit);
uint8_t tw_trbe_owner_security(const struct tw_trbe *unit);
bool tw_trbe_owner_is_reserved(const struct tw_trbe *unit);
uint8_t tw_trbe_owner_el(const struct tw_trbe *unit);
uint8_t tw_trbe_security_at(const struct tw_trbe *unit, unsigned el);
bool tw_trbe_has_el2(const struct tw_trbe *unit, uint8_t security);
unsigned tw_trbe_el2_ee(const struct tw_trbe *unit);
unsigned tw_trbe_el1_ee(const struct tw_trbe *unit);
bool tw_trbe_effective_nvm(const struct tw_trbe *unit);
bool tw_trbe_has(const struct tw_trbe *unit, unsigned feature);
unsigned tw_trbe_trbee(const struct tw_trbe *unit);
/* Exception level whose TRBSR records an event; `fault` NULL: an event that is no fault. */
unsigned tw_trbe_recorder(const struct tw_trbe *unit, const struct tw_trbe_fault *fault);
/* Target of a pending Profiling exception, 0: none; *is_unmasked: it is taken now. */
uint8_t tw_trbe_pending(const struct tw_trbe *unit, bool *is_unmasked);

/* events.c: what the unit tells and records. */
enum tw_trbe_register tw_trbe_sr(unsigned el);
void tw_trbe_tell(struct tw_trbe *unit, enum tw_trbe_event_kind kind, uint64_t value,
                  unsigned el);
void tw_trbe_misuse(struct tw_trbe *unit, const char *text);
/* An indirect write, made by a trace operation. */
void tw_trbe_indirect(struct tw_trbe *unit, enum tw_trbe_register name, uint64_t value);
void tw_trbe_manage(struct tw_trbe *unit, unsigned el, uint64_t syndrome, bool stops);
void tw_trbe_stop_other(struct tw_trbe *unit, unsigned code);
void tw_trbe_report(struct tw_trbe *unit, const struct tw_trbe_fault *fault);
void tw_trbe_lines(struct tw_trbe *unit);

/* collect.c */
void tw_trbe_flush_all(struct tw_trbe *unit);
void tw_trbe_process_queue(struct tw_trbe *unit);
bool tw_trbe_is_out_of_range(const struct tw_trbe *unit);

/* store.c: memory, and writes that wait. */
enum tw_trbe_reply tw_trbe_store_bytes(struct tw_trbe *unit, const uint8_t *bytes,
                                       size_t *size);
void tw_trbe_perform(struct tw_trbe *unit, uint32_t count);

/* registers.c */
void tw_trbe_put(struct tw_trbe *unit, enum tw_trbe_register name, uint64_t value,
                 uint64_t mask);
uint64_t tw_trbe_writable(const struct tw_trbe *unit, enum tw_trbe_register name);

TW_INLINE uint64_t tw_trbe_bits(uint64_t value, unsigned lowest, unsigned width)
{
    return value >> lowest & (((uint64_t)1 << width) - 1);
}

TW_INLINE uint64_t tw_trbe_base(const struct tw_trbe *unit)
{
    return unit->used[TW_TRBE_BASER] & ~(uint64_t)0xfff;
}

TW_INLINE uint64_t tw_trbe_limit(const struct tw_trbe *unit)
{
    return unit->used[TW_TRBE_LIMITR] & ~(uint64_t)0xfff;
}

/* The reserved codes act as the pseudocode of the architecture takes them. */
TW_INLINE unsigned tw_trbe_fill_mode(const struct tw_trbe *unit)
{
    const unsigned mode = (unsigned)tw_trbe_bits(unit->used[TW_TRBE_LIMITR], 1, 2);

    return mode == 2 ? TW_TRBE_WRAP : mode;
}

TW_INLINE unsigned tw_trbe_trigger_mode(const struct tw_trbe *unit)
{
    const unsigned mode = (unsigned)tw_trbe_bits(unit->used[TW_TRBE_LIMITR], 3, 2);

    return mode == 2 ? TW_TRBE_IRQ_ON_TRIGGER : mode;
}

#endif
