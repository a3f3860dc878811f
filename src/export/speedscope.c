/* SPDX-License-Identifier: BSD-2-Clause */
/* speedscope: one sampled profile whose samples are the paths of calls. */
#include <inttypes.h>

#include "export/export.h"

struct scope {
    struct tw_sink *sink;
    const struct tw_subject *subject;
    bool is_weights; /* else the stacks */
    bool has_any;
};

static void put_path(void *context, const struct tw_call_path *path)
{
    struct scope *scope = context;

    if (!path->self || scope->sink->is_over)
        return;
    tw_sink_text(scope->sink, scope->has_any ? ",\n" : "\n");
    scope->has_any = true;
    if (scope->is_weights) {
        tw_sink_decimal(scope->sink, path->self);
        return;
    }
    for (size_t i = 0; i < path->depth; i++) {
        tw_sink_text(scope->sink, i ? "," : "[");
        tw_sink_decimal(scope->sink, path->functions[i]);
    }
    tw_sink_text(scope->sink, "]");
}

void tw_write_speedscope(struct tw_sink *sink, const struct tw_subject *subject)
{
    const struct tw_functions *functions = tw_calls_functions(subject->calls);
    struct scope scope = { .sink = sink, .subject = subject };

    tw_sink_text(sink, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                       "\"exporter\":");
    tw_sink_json(sink, subject->creator ? subject->creator : "trackway");
    tw_sink_text(sink, ",\"name\":");
    tw_sink_json(sink, subject->title ? subject->title : "");
    tw_sink_text(sink, ",\n\"shared\":{\"frames\":[");
    for (uint32_t i = 0; i < tw_functions_count(functions); i++) {
        tw_sink_text(sink, i ? ",\n{\"name\":" : "\n{\"name\":");
        tw_sink_json(sink, tw_subject_name(subject, tw_functions_get(functions, i)->name));
        tw_sink_text(sink, "}");
    }
    tw_sink_text(sink, "]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":\"instructions\","
                       "\"unit\":\"none\",\"startValue\":0,\"endValue\":");
    tw_sink_decimal(sink, tw_calls_stats(subject->calls).instructions);
    tw_sink_text(sink, ",\n\"samples\":[");
    if (tw_calls_paths(subject->calls, put_path, &scope) != TW_OK)
        sink->lacks_memory = true;
    tw_sink_text(sink, "],\n\"weights\":[");
    scope.is_weights = true;
    scope.has_any = false;
    if (tw_calls_paths(subject->calls, put_path, &scope) != TW_OK)
        sink->lacks_memory = true;
    tw_sink_text(sink, "]}]}\n");
}
