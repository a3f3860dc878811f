/* SPDX-License-Identifier: BSD-2-Clause */
/* What is used of zstd. */
#ifndef CAPTURE_LIBZSTD_H
#define CAPTURE_LIBZSTD_H

#include <zstd.h>

#include "base/library.h"

#define TW_LIBZSTD_CALLS(CALL)                                                                 \
    CALL(ZSTD_DCtx_setParameter)                                                               \
    CALL(ZSTD_createDCtx)                                                                      \
    CALL(ZSTD_decompressStream)                                                                \
    CALL(ZSTD_freeDCtx)                                                                        \
    CALL(ZSTD_getErrorName)                                                                    \
    CALL(ZSTD_isError)

TW_LIBRARY(tw_libzstd, TW_LIBZSTD_CALLS);

#endif
