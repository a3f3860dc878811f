/* SPDX-License-Identifier: BSD-2-Clause */
/* The sources that share a stream, which only its packets name. */
#ifndef TOOL_SRCS_H
#define TOOL_SRCS_H

#include "shared/session.h"

enum { SRCS_MOST = 65536 }; /* that a stream can have */

struct src {
    uint8_t id;
    uint32_t src;
    uint64_t packets, bytes;
};

/* Reads a buffer until `most` were found, or to its end.  Returns how many are in `found`. */
size_t srcs_find(struct src *found, size_t most, const struct tw_capture *capture,
                 size_t buffer);
/* The buffers of a session have more than one, of which more than one are wanted. */
bool srcs_are_several(const struct session *session);

#endif
