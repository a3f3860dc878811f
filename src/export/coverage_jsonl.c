/* SPDX-License-Identifier: BSD-2-Clause */
/* Coverage as JSON lines. */
#include <inttypes.h>

#include "export/export.h"

static void put_code(struct tw_sink *sink, const struct tw_coverage *coverage, size_t object)
{
    const struct tw_code_count *code;
    const struct tw_branch_count *branch;
    const struct tw_target_count *target;

    for (size_t i = 0; (code = tw_coverage_code(coverage, object, i)) && !sink->is_over; i++)
        tw_sink_format(sink,
                       "{\"t\":\"CODE\",\"st\":\"0x%" PRIx64 "\",\"en\":\"0x%" PRIx64
                       "\",\"count\":%" PRIu64 "}\n",
                       code->first, code->end, code->count);
    for (size_t i = 0; (branch = tw_coverage_branch(coverage, object, i)) && !sink->is_over;
         i++)
        tw_sink_format(sink,
                       "{\"t\":\"BRANCH\",\"pc\":\"0x%" PRIx64 "\",\"taken\":%" PRIu64
                       ",\"not_taken\":%" PRIu64 "}\n",
                       branch->address, branch->taken, branch->not_taken);
    for (size_t i = 0; (target = tw_coverage_target(coverage, object, i)) && !sink->is_over;
         i++)
        tw_sink_format(sink,
                       "{\"t\":\"TARGET\",\"pc\":\"0x%" PRIx64 "\",\"to\":\"0x%" PRIx64
                       "\",\"count\":%" PRIu64 "}\n",
                       target->from, target->to, target->count);
}

static void put_object(struct tw_sink *sink, const struct tw_coverage_object *about)
{
    if (!about->name)
        return;
    tw_sink_text(sink, "{\"t\":\"OBJECT\",\"name\":");
    tw_sink_json(sink, about->name);
    if (about->build_id_size)
        tw_sink_text(sink, ",\"build_id\":\"");
    for (unsigned i = 0; i < about->build_id_size; i++)
        tw_sink_format(sink, "%02x", about->build_id[i]);
    tw_sink_text(sink, about->build_id_size ? "\"}\n" : "}\n");
}

void tw_write_coverage_jsonl(struct tw_sink *sink, const struct tw_subject *subject)
{
    const struct tw_coverage *coverage = subject->coverage;
    struct tw_coverage_totals totals = { .size = sizeof totals };
    const struct tw_line_count *line;

    for (size_t i = 0; i < tw_coverage_object_count(coverage) && !sink->is_over; i++) {
        put_object(sink, tw_coverage_object(coverage, i));
        put_code(sink, coverage, i);
    }
    for (size_t i = 0; (line = tw_coverage_line(coverage, i)) && !sink->is_over; i++) {
        tw_sink_text(sink, "{\"t\":\"LINE\",\"file\":");
        tw_sink_json(sink, line->file);
        tw_sink_format(sink,
                       ",\"line\":%" PRIu32 ",\"count\":%" PRIu64 ",\"instrs\":%" PRIu32
                       ",\"covered\":%" PRIu32 "}\n",
                       line->line, line->count, line->instructions, line->covered);
    }
    if (!tw_coverage_totals(coverage, &totals))
        return;
    tw_sink_format(sink,
                   "{\"t\":\"TOTAL\",\"instrs\":%" PRIu64 ",\"covered\":%" PRIu64
                   ",\"branches\":%" PRIu64 ",\"both\":%" PRIu64,
                   totals.instructions, totals.covered, totals.branches, totals.both);
    tw_sink_format(sink,
                   ",\"lines\":%" PRIu64 ",\"lines_covered\":%" PRIu64 ",\"functions\":%" PRIu64
                   ",\"functions_covered\":%" PRIu64 "}\n",
                   totals.lines, totals.lines_covered, totals.functions,
                   totals.functions_covered);
}
