/* SPDX-License-Identifier: BSD-2-Clause */
/* How calls end, the text of what went wrong, and where memory comes from.  Stable. */
#ifndef TRACKWAY_STATUS_H
#define TRACKWAY_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include <trackway/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0: done.  Positive: not done, no fault.  Negative: the call itself could not be done.
   Bad trace is never a fault: it comes out as packets and elements. */
enum tw_status {
    TW_OK = 0,
    TW_MORE = 1, /* give more bytes */
    TW_END = 2,  /* nothing is left */
    TW_E_ARGUMENT = -1,
    TW_E_CONFIG = -2,
    TW_E_MEMORY = -3,
    TW_E_FILE = -4,
    TW_E_UNSUPPORTED = -5,
    TW_E_CANCELLED = -6,
    TW_E_ROOM = -7 /* the caller's memory is too small for the result: nothing was written */
};

/* The text of a fault: one line, no final dot, names file, line and key where there are any. */
struct tw_fault {
    enum tw_status status;
    char text[500];
};

/* Memory: resize(context, NULL, n) takes, resize(context, p, n) moves, resize(context, p, 0)
   gives back.  A NULL allocator means the C library's.  It must not keep what it is given. */
struct tw_allocator {
    void *(*resize)(void *context, void *memory, size_t size);
    void *context;
};

/* "TW_E_CONFIG" and the like; never NULL. */
TW_API const char *tw_status_name(enum tw_status status);

#ifdef __cplusplus
}
#endif

#endif
