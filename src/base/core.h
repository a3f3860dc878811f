/* SPDX-License-Identifier: BSD-2-Clause */
/* What the name of a core tells. */
#ifndef BASE_CORE_H
#define BASE_CORE_H

#include <trackway/types.h>

/* Whether a text begins with another, in whatever case. */
static inline bool tw_core_begins(const char *text, const char *prefix)
{
    for (; *prefix; text++, prefix++) {
        const char a = *text >= 'A' && *text <= 'Z' ? (char)(*text + 32) : *text;
        const char b = *prefix >= 'A' && *prefix <= 'Z' ? (char)(*prefix + 32) : *prefix;

        if (a != b)
            return false;
    }
    return true;
}

/* "Cortex-M3", "ARMv7-M", "ARMv7E-M" ...; A also where there is no name. */
static inline enum tw_profile tw_core_profile(const char *core)
{
    if (!core)
        return TW_PROFILE_A;
    if (tw_core_begins(core, "Cortex-M"))
        return TW_PROFILE_M;
    if (tw_core_begins(core, "Cortex-R"))
        return TW_PROFILE_R;
    if (!tw_core_begins(core, "ARMv"))
        return TW_PROFILE_A;
    while (*core && *core != '-')
        core++;
    return tw_core_begins(core, "-M")   ? TW_PROFILE_M
           : tw_core_begins(core, "-R") ? TW_PROFILE_R
                                        : TW_PROFILE_A;
}

#endif
