/* SPDX-License-Identifier: BSD-2-Clause */
/* Exceptions and reasons of I-sync packets as ETMv3 and PTM number them. */
#ifndef ARMV7_EXCEPTIONS_H
#define ARMV7_EXCEPTIONS_H

#include <trackway/log.h>

/* "irq", "debug_halt" ... of exception numbers 0 to 15 on A and R profile. */
static inline const char *tw_armv7_exception_name(unsigned number)
{
    static const char *const names[16] = { "none",         "debug_halt", "smc",      "hyp",
                                           "async_dabort", "jazelle",    "reserved", "reserved",
                                           "reset",        "undef",      "svc",      "pabort",
                                           "sync_dabort",  "generic",    "irq",      "fiq" };

    return names[number & 15];
}

/* An exception of an execution log: its number in trace, and where its vector is. */
struct tw_armv7_exception {
    uint8_t number, vector;
};

static inline struct tw_armv7_exception tw_armv7_exception(unsigned type)
{
    static const struct tw_armv7_exception exceptions[16] = {
        [TW_EXCEPTION_PE_RESET] = { 8, 0x00 },     [TW_EXCEPTION_DEBUG_HALT] = { 1, 0x00 },
        [TW_EXCEPTION_CALL] = { 10, 0x08 },        [TW_EXCEPTION_TRAP] = { 9, 0x04 },
        [TW_EXCEPTION_SYSTEM_ERROR] = { 4, 0x10 }, [TW_EXCEPTION_INST_DEBUG] = { 11, 0x0c },
        [TW_EXCEPTION_DATA_DEBUG] = { 12, 0x10 },  [TW_EXCEPTION_ALIGNMENT] = { 12, 0x10 },
        [TW_EXCEPTION_INST_FAULT] = { 11, 0x0c },  [TW_EXCEPTION_DATA_FAULT] = { 12, 0x10 },
        [TW_EXCEPTION_IRQ] = { 14, 0x18 },         [TW_EXCEPTION_FIQ] = { 15, 0x1c },
    };
    static const struct tw_armv7_exception generic = { 13, 0x04 };

    return type < 16 && exceptions[type].number ? exceptions[type] : generic;
}

/* "periodic" ... of the two bits of an I-sync. */
static inline const char *tw_armv7_reason_name(unsigned reason)
{
    static const char *const names[4] = { "periodic", "trace_enable", "restart_overflow",
                                          "debug_exit" };

    return names[reason & 3];
}

#endif
