/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of E-Trace's reader counts, for the tables of flow and of data (every_reader.h). */
#ifndef TRACKWAY_TESTS_ETRACE_USED_H
#define TRACKWAY_TESTS_ETRACE_USED_H

#include "etrace/packet.h"

static inline size_t etrace_used(const void *reader)
{
    return tw_etrace_reader_used(reader);
}

#endif
