/* SPDX-License-Identifier: BSD-2-Clause */
/* A whole machine: exceptions and what processors are at, as QEMU tells it. */
#ifndef QEMU_SYSTEM_H
#define QEMU_SYSTEM_H

#include "qemu/blocks.h"

enum { SYSTEM_TRAPS = 4 };
#define SYSTEM_UNTOLD UINT64_MAX

/* An exception. */
struct system_trap {
    uint64_t return_address; /* or SYSTEM_UNTOLD */
    uint64_t cause;
    uint8_t type; /* enum tw_exception_type */
    bool is_interrupt;
    bool is_chained; /* M profile: right behind another's end */
};

/* What happened between two blocks, in this order: a return from an exception, exceptions, and what the
   processor is at now. */
struct system_events {
    bool is_return, is_returned; /* the return was begun, and came to its end */
    bool is_function_return;     /* Armv8-M: to a Secure function */
    /* Armv8-M: an SG was executed here, of which no block tells; SYSTEM_UNTOLD: none was. */
    uint64_t gateway;
    unsigned trap_count;
    struct system_trap traps[SYSTEM_TRAPS];
    struct tw_step_context context;
};

/* Begins to read QEMU's own list of exceptions. */
void system_begin(const char *folder, bool is_m);
/* What this processor is at when it begins. */
struct tw_step_context system_context(unsigned vcpu);
/* RISC-V: where the return from a trap goes that this block ends with; `now` if it is none. */
uint8_t system_return_level(unsigned vcpu, const struct block *block, uint8_t now);
/* Whether something can have happened that the addresses do not show. */
bool system_may_hide(const struct block *before, const struct tw_step_context *context);
/* What QEMU listed since it was last asked, and what the processor that was in this context and ran this block is at;
   false: nothing happened. */
bool system_read(struct system_events *events, unsigned vcpu,
                 const struct tw_step_context *before, const struct block *last);

#endif
