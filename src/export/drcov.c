/* SPDX-License-Identifier: BSD-2-Clause */
/* DynamoRIO's drcov, version 2: which stretches of which file were executed, for Lighthouse and its like.
   It has no counts. */
#include <inttypes.h>

#include "base/bytes.h"
#include "export/export.h"

enum { RECORD_SIZE = 8, STRETCH_MOST = 0xfffc };

/* Where a file is said to begin: offsets have 32 bits. */
#define BASE_MASK (~(uint64_t)0xffff)

struct extent {
    uint64_t base, end;
};

static struct extent extent_of(const struct tw_coverage *coverage, size_t object)
{
    const struct tw_code_count *code = tw_coverage_code(coverage, object, 0);
    struct extent extent = { code ? code->first & BASE_MASK : 0, 0 };

    for (size_t i = 0; (code = tw_coverage_code(coverage, object, i)); i++)
        extent.end = code->end;
    return extent;
}

/* Records of what was executed of a file, written where there is a sink; how many. */
static uint64_t put_records(struct tw_sink *sink, const struct tw_coverage *coverage,
                            size_t object)
{
    const uint64_t base = extent_of(coverage, object).base;
    const struct tw_code_count *code;
    uint64_t count = 0;

    for (size_t i = 0; (code = tw_coverage_code(coverage, object, i)); i++) {
        for (uint64_t at = code->first; code->count && at < code->end; at += STRETCH_MOST) {
            const uint64_t left = code->end - at;
            const uint16_t size = (uint16_t)(left < STRETCH_MOST ? left : STRETCH_MOST);
            uint8_t record[RECORD_SIZE];

            if (at - base > UINT32_MAX)
                continue;
            count++;
            if (!sink)
                continue;
            tw_store_le64(record, (at - base) | (uint64_t)size << 32 | (uint64_t)object << 48);
            tw_sink_bytes(sink, record, sizeof record);
        }
    }
    return count;
}

void tw_write_drcov(struct tw_sink *sink, const struct tw_subject *subject)
{
    const struct tw_coverage *coverage = subject->coverage;
    const size_t all = tw_coverage_object_count(coverage);
    const size_t objects = all < UINT16_MAX ? all : UINT16_MAX;
    uint64_t records = 0;

    tw_sink_format(sink,
                   "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov-64\nModule Table: version 2, count "
                   "%zu\nColumns: id, base, end, entry, path\n",
                   objects);
    for (size_t i = 0; i < objects; i++) {
        const struct extent extent = extent_of(coverage, i);
        const char *name = tw_coverage_object(coverage, i)->name;

        tw_sink_format(sink, " %zu, 0x%" PRIx64 ", 0x%" PRIx64 ", 0x0, ", i, extent.base,
                       extent.end);
        for (const char *at = name ? name : "[code]"; *at; at++)
            tw_sink_bytes(sink, (unsigned char)*at < 0x20 ? "?" : at, 1);
        tw_sink_text(sink, "\n");
        records += put_records(NULL, coverage, i);
    }
    tw_sink_format(sink, "BB Table: %" PRIu64 " bbs\n", records);
    for (size_t i = 0; i < objects && !sink->is_over; i++)
        (void)put_records(sink, coverage, i);
}
