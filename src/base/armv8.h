/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of exceptions and events as ETMv4 and ETE number them. */
#ifndef BASE_ARMV8_H
#define BASE_ARMV8_H

#include <stddef.h>

/* A and R profile; NULL: it has none. */
static inline const char *tw_armv8_exception_name(unsigned number)
{
    static const char *const names[16] = {
        "PE reset",          "debug halt", "call", "trap", "system error", NULL,
        "instruction debug", "data debug", NULL,   NULL,   "alignment",    "instruction fault",
        "data fault",        NULL,         "IRQ",  "FIQ",
    };

    return number < 16 ? names[number] : NULL;
}

/* M profile, but for interrupts; NULL: it has none. */
static inline const char *tw_armv8_m_exception_name(unsigned number)
{
    static const char *const names[27] = {
        [1] = "reset",         [2] = "NMI",        [3] = "HardFault",   [4] = "MemManage",
        [5] = "BusFault",      [6] = "UsageFault", [7] = "SecureFault", [11] = "SVCall",
        [12] = "DebugMonitor", [14] = "PendSV",    [15] = "SysTick",    [24] = "debug halt",
        [25] = "lazy FP push", [26] = "lockup",
    };

    return number < 27 ? names[number] : NULL;
}

/* M profile: the interrupt that this number stands for; -1: it is none. */
static inline int tw_armv8_m_irq(unsigned number)
{
    if (number >= 16 && number < 24)
        return (int)number - 16;
    return number >= 0x208 && number < 0x3f0 ? (int)number - 0x200 : -1;
}

/* The events of an Event packet: bit n of the mask is event n. */
static inline const char *tw_armv8_events(unsigned mask)
{
    static const char *const lists[16] = {
        "none", "0",    "1",    "0, 1",    "2",    "0, 2",    "1, 2",    "0, 1, 2",
        "3",    "0, 3", "1, 3", "0, 1, 3", "2, 3", "0, 2, 3", "1, 2, 3", "0, 1, 2, 3",
    };

    return lists[mask & 15];
}

#endif
