/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of E-Trace's reader counts, for the tables of flow and of data (every_reader.h). */
#ifndef TRACKWAY_TESTS_ETRACE_USED_H
#define TRACKWAY_TESTS_ETRACE_USED_H

#include "etrace/packet.h"

/* Bytes at its beginning that its configuration uses: what is behind them is never looked at. */
static inline size_t etrace_used(const void *reader)
{
    const struct tw_etrace_reader *codec = reader;

    return offsetof(struct tw_etrace_reader, cache) +
           (sizeof codec->cache[0] << codec->shape.index);
}

#endif
