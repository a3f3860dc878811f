/* SPDX-License-Identifier: BSD-2-Clause */
/* What this build of the library is. */
#include <trackway/status.h>

#ifndef TW_VERSION
#define TW_VERSION "0.1.0"
#endif

const char *tw_version(void)
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
