/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing perf.data: what the files of the writer share. */
#ifndef CAPTURE_PERFDATA_WRITE_H
#define CAPTURE_PERFDATA_WRITE_H

#include "base/fault.h"
#include "base/memory.h"
#include "capture/perfdata.h"

enum {
    PERF_FINISHED_ROUND = 68,
    PERF_AUXTRACE_SIZE = 48,
    PERF_SAMPLE_TYPE = 1 | PERF_HAS_TID | PERF_HAS_TIME | PERF_HAS_CPU | PERF_HAS_IDENTIFIER
};

struct tw_perf_writer {
    struct tw_perf_writer_config config;
    const struct perf_unit *unit;
    struct tw_fault fault;
    uint64_t position;       /* where the next byte goes */
    uint64_t data, data_end; /* the data section */
    uint64_t *lengths;       /* trace of each CPU so far */
    uint64_t *traces;        /* places of AUXTRACE records */
    size_t trace_count, trace_room;
    uint8_t *build_ids; /* their section, as written */
    size_t build_id_size, build_id_room;
    size_t buffered;
    uint8_t buffer[1 << 16];
};

enum tw_status perf_put(struct tw_perf_writer *writer, uint64_t value, unsigned size);
enum tw_status perf_put_bytes(struct tw_perf_writer *writer, const void *bytes, size_t size);
enum tw_status perf_put_zeros(struct tw_perf_writer *writer, size_t size);
/* The header of a record, `size` bytes with it. */
enum tw_status perf_begin(struct tw_perf_writer *writer, uint32_t type, uint16_t misc,
                          size_t size);
/* Events: 0 is the trace, 1 what tells of tasks. */
uint64_t perf_event_id(unsigned event, uint32_t cpu);

#endif
