/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of a call: status and one line of text, kept in the handle. */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <trackway/status.h>

#include "base/compiler.h"

/* Writes the text (unless fault is NULL) and returns `status`. */
enum tw_status tw_fail(struct tw_fault *fault, enum tw_status status, const char *format, ...)
    TW_PRINTF(3, 4);

/* Returns from the calling function on anything but TW_OK. */
#define TW_TRY(call)                                                                           \
    do {                                                                                       \
        const enum tw_status tw_try_ = (call);                                                 \
        if (tw_try_ != TW_OK)                                                                  \
            return tw_try_;                                                                    \
    } while (0)

#endif
