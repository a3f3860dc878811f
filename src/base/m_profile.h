/* SPDX-License-Identifier: BSD-2-Clause */
/* Exceptions of the M profile: the number that software sees (IPSR, DWT) and what ETMv3 and ETMv4 trace. */
#ifndef BASE_M_PROFILE_H
#define BASE_M_PROFILE_H

#include <stdint.h>

enum {
    TW_M_FIRST_IRQ = 16,
    TW_M_LAST = 511,
    TW_M_ETMV4_SHORT = 23,  /* numbers up to here are types of ETMv4 ... */
    TW_M_ETMV4_IRQ = 0x200, /* ... and from here on those of IRQ0 and up */
    TW_M_ETMV4_LAST = 0x3ff,
    TW_M_ETMV4_LOCKUP =
        26 /* types 24 to 26, debug halt, lazy FP push, lockup, have no number */
};

/* An exception follows right behind another one's end: the return address that says so. */
#define TW_M_CHAINED 0xfffffffeu

/* ETMv3, by number; 0: it traces none such. */
static inline unsigned tw_m_to_etmv3(unsigned number)
{
    static const uint8_t traced[TW_M_FIRST_IRQ + 8] = {
        [1] = 17,  [2] = 10,  [3] = 19,  [4] = 13,  [5] = 21, [6] = 9,
        [11] = 11, [12] = 12, [14] = 14, [15] = 15, [16] = 8, [17] = 1,
        [18] = 2,  [19] = 3,  [20] = 4,  [21] = 5,  [22] = 6, [23] = 7,
    };

    return number < sizeof traced ? traced[number] : number <= TW_M_LAST ? number : 0;
}

/* The number of what ETMv3 traced; 0: there is none. */
static inline unsigned tw_m_from_etmv3(unsigned traced)
{
    if (traced >= TW_M_FIRST_IRQ + 8)
        return traced <= TW_M_LAST ? traced : 0;
    for (unsigned number = 1; number < TW_M_FIRST_IRQ + 8; number++)
        if (tw_m_to_etmv3(number) == traced && traced)
            return number;
    return 0;
}

static inline unsigned tw_m_to_etmv4(unsigned number)
{
    return number <= TW_M_ETMV4_SHORT ? number : TW_M_ETMV4_IRQ + number - TW_M_FIRST_IRQ;
}

/* The number of an exception type of ETMv4; 0: it has none. */
static inline unsigned tw_m_from_etmv4(unsigned type)
{
    if (type <= TW_M_ETMV4_SHORT)
        return type;
    return type >= TW_M_ETMV4_IRQ && type <= TW_M_ETMV4_LAST
               ? type - TW_M_ETMV4_IRQ + TW_M_FIRST_IRQ
               : 0;
}

#endif
