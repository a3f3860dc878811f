/* SPDX-License-Identifier: BSD-2-Clause */
/* Types of several elements at a time: most are ranges. */
#ifndef BASE_ELEMENTS_H
#define BASE_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/types.h>

/* Types of so many elements together, as bits: most have none that is looked for. */
enum { TW_TYPES_AT_ONCE = 4 };

static inline uint32_t tw_types_of(const struct tw_element *elements)
{
    return 1u << (elements[0].type & 31) | 1u << (elements[1].type & 31) |
           1u << (elements[2].type & 31) | 1u << (elements[3].type & 31);
}

/* Whether so many are ranges, as most are. */
static inline bool tw_are_ranges(const struct tw_element *elements)
{
    return !((elements[0].type ^ TW_ELEMENT_INSTR_RANGE) |
             (elements[1].type ^ TW_ELEMENT_INSTR_RANGE) |
             (elements[2].type ^ TW_ELEMENT_INSTR_RANGE) |
             (elements[3].type ^ TW_ELEMENT_INSTR_RANGE));
}

/* From elements[at] on to where not all of the next ones are ranges, or few are left. */
static inline size_t tw_past_ranges(const struct tw_element *elements, size_t at, size_t count)
{
    while (at + TW_TYPES_AT_ONCE <= count && tw_are_ranges(elements + at))
        at += TW_TYPES_AT_ONCE;
    return at;
}

#endif
