/* SPDX-License-Identifier: BSD-2-Clause */
/* lcov's .info: functions, branches and lines by source file. */
#include <inttypes.h>
#include <string.h>

#include "export/export.h"

static void put_path(struct tw_sink *sink, const char *key, const char *text)
{
    tw_sink_text(sink, key);
    for (; *text; text++)
        tw_sink_bytes(sink, (unsigned char)*text < 0x20 ? "?" : text, 1);
    tw_sink_text(sink, "\n");
}

static void put_functions(struct tw_sink *sink, const struct tw_subject *subject,
                          const char *file)
{
    const struct tw_coverage *coverage = subject->coverage;
    const struct tw_function_count *function;
    uint64_t found = 0, hit = 0;

    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < tw_coverage_object_count(coverage); i++) {
            for (size_t k = 0; (function = tw_coverage_function(coverage, i, k)); k++) {
                char head[64];

                if (!function->file || strcmp(function->file, file) != 0)
                    continue;
                (void)snprintf(head, sizeof head,
                               pass ? "FNDA:%" PRIu64 "," : "FN:%" PRIu64 ",",
                               pass ? function->entries : function->line);
                put_path(sink, head, tw_subject_name(subject, function->name));
                found += pass;
                hit += pass && function->entries;
            }
        }
    }
    tw_sink_format(sink, "FNF:%" PRIu64 "\nFNH:%" PRIu64 "\n", found, hit);
}

static void put_branches(struct tw_sink *sink, const struct tw_coverage *coverage,
                         const char *file)
{
    const struct tw_branch_count *branch;
    uint64_t found = 0, hit = 0;
    uint32_t last = 0, block = 0;

    for (size_t i = 0; i < tw_coverage_object_count(coverage); i++) {
        for (size_t k = 0; (branch = tw_coverage_branch(coverage, i, k)); k++) {
            const uint64_t ways[] = { branch->taken, branch->not_taken };
            struct tw_source_line line;

            if (!tw_coverage_source(coverage, i, &line, branch->address) ||
                strcmp(line.file, file) != 0)
                continue;
            block = line.line == last ? block + 1 : 0;
            last = line.line;
            for (unsigned way = 0; way < 2; way++) {
                tw_sink_format(sink, "BRDA:%" PRIu32 ",%" PRIu32 ",%u,", line.line, block, way);
                if (branch->taken || branch->not_taken)
                    tw_sink_decimal(sink, ways[way]);
                else
                    tw_sink_text(sink, "-");
                tw_sink_text(sink, "\n");
                found++;
                hit += ways[way] != 0;
            }
        }
    }
    tw_sink_format(sink, "BRF:%" PRIu64 "\nBRH:%" PRIu64 "\n", found, hit);
}

void tw_write_lcov(struct tw_sink *sink, const struct tw_subject *subject)
{
    const struct tw_line_count *line = tw_coverage_line(subject->coverage, 0);
    size_t i = 0;

    while (line && !sink->is_over) {
        const char *file = line->file;
        uint64_t found = 0, hit = 0;

        tw_sink_text(sink, "TN:\n");
        put_path(sink, "SF:", file);
        put_functions(sink, subject, file);
        put_branches(sink, subject->coverage, file);
        for (; line && strcmp(line->file, file) == 0;
             line = tw_coverage_line(subject->coverage, ++i)) {
            tw_sink_format(sink, "DA:%" PRIu32 ",%" PRIu64 "\n", line->line, line->count);
            found++;
            hit += line->count != 0;
        }
        tw_sink_format(sink, "LF:%" PRIu64 "\nLH:%" PRIu64 "\nend_of_record\n", found, hit);
    }
}
