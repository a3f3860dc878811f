/* SPDX-License-Identifier: BSD-2-Clause */
/* What this build of the library is. */
#include <trackway/version.h>

#define TEXT_OF(value) #value
#define TEXT(a, b, c)  TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *tw_version(void)
{
    return TEXT(TW_VERSION_MAJOR, TW_VERSION_MINOR, TW_VERSION_PATCH);
}

unsigned tw_version_number(void)
{
    return TW_VERSION;
}

const char *tw_features(void)
{
    static const char features[] = ""
#ifdef TW_WITH_ELF
                                   " elf"
#endif
#ifdef TW_WITH_DW
                                   " dw"
#endif
#ifdef TW_WITH_ZSTD
                                   " zstd"
#endif
#ifdef TW_WITH_LLVM
                                   " llvm"
#endif
        ;

    return features[0] ? features + 1 : features;
}
