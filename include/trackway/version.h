/* SPDX-License-Identifier: BSD-2-Clause */
/* Which version of the library this is: of the headers, and of the library that runs.
   Stable. */
#ifndef TRACKWAY_VERSION_H
#define TRACKWAY_VERSION_H

#include <trackway/export.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 2
#define TW_VERSION_PATCH 0

/* As one number, to compare: 0.2.0 is 200, 1.0.0 is 10000. */
#define TW_VERSION (TW_VERSION_MAJOR * 10000 + TW_VERSION_MINOR * 100 + TW_VERSION_PATCH)

/* TW_VERSION of the library that runs; and as text, "0.2.0". */
TW_API unsigned tw_version_number(void);
TW_API const char *tw_version(void);
/* A list such as "elf dw zstd llvm" of the optional parts built in. */
TW_API const char *tw_features(void);

#ifdef __cplusplus
}
#endif

#endif
