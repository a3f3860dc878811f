/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway info: what a perf.data file tells beside its trace. */
#include <inttypes.h>

#include "commands/info.h"

enum { RECORD_TYPES = 256 };

static const char *const states[] = { "unused", "found", "missing", "wrong" };

void info_perf_text(struct output *out, const struct tw_perf *perf)
{
    const char *between = "    ", *name;
    uint64_t first, last;

    output_text(out, "recording\n");
    for (size_t i = 0; (name = tw_perf_feature_name(i)) != NULL; i++) {
        const char *text = tw_perf_feature(perf, name);

        if (text && *text)
            output_format(out, "  %s: %s\n", name, text);
    }
    if (tw_perf_time_span(perf, &first, &last))
        output_format(out, "  time: %" PRIu64 " to %" PRIu64 " ns\n", first, last);
    output_text(out, "  records:\n");
    for (unsigned type = 0; type < RECORD_TYPES; type++) {
        if (!tw_perf_record_count(perf, type))
            continue;
        name = tw_perf_record_name(type);
        output_format(out, "%s%s %" PRIu64, between, name ? name : "other",
                      tw_perf_record_count(perf, type));
        between = ", ";
    }
    output_text(out, "\nfiles\n");
    for (size_t i = 0; i < tw_perf_file_count(perf); i++) {
        const struct tw_perf_file *file = tw_perf_file(perf, i);

        output_format(out, "  %s: %s", file->name, states[file->state & 3]);
        if (file->path)
            output_format(out, " %s", file->path);
        if (file->build_id_size) {
            output_text(out, ", build ID ");
            output_hex(out, file->build_id, file->build_id_size);
        }
        output_text(out, "\n");
    }
}

static void member(struct output *out, const char *key, const char *text)
{
    output_format(out, ",\"%s\":", key);
    output_json_text(out, text);
}

void info_perf_json(struct output *out, const struct tw_perf *perf)
{
    const char *name;
    uint64_t first, last;

    output_text(out, "{\"t\":\"RECORDING\"");
    for (size_t i = 0; (name = tw_perf_feature_name(i)) != NULL; i++) {
        const char *text = tw_perf_feature(perf, name);

        if (text && *text)
            member(out, name, text);
    }
    if (tw_perf_time_span(perf, &first, &last))
        output_format(out, ",\"first\":%" PRIu64 ",\"last\":%" PRIu64, first, last);
    output_text(out, "}\n");
    for (unsigned type = 0; type < RECORD_TYPES; type++) {
        name = tw_perf_record_name(type);
        if (tw_perf_record_count(perf, type))
            output_format(out,
                          "{\"t\":\"RECORDS\",\"type\":%u,\"name\":\"%s\",\"n\":%" PRIu64 "}\n",
                          type, name ? name : "other", tw_perf_record_count(perf, type));
    }
    for (size_t i = 0; i < tw_perf_file_count(perf); i++) {
        const struct tw_perf_file *file = tw_perf_file(perf, i);

        output_text(out, "{\"t\":\"FILE\"");
        member(out, "name", file->name);
        member(out, "state", states[file->state & 3]);
        if (file->path)
            member(out, "path", file->path);
        if (file->build_id_size) {
            output_text(out, ",\"build_id\":\"");
            output_hex(out, file->build_id, file->build_id_size);
            output_text(out, "\"");
        }
        output_text(out, "}\n");
    }
}
