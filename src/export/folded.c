/* SPDX-License-Identifier: BSD-2-Clause */
/* Folded stacks: ROOT;...;LEAF COUNT. */
#include "export/export.h"

struct folded {
    struct tw_sink *sink;
    const struct tw_subject *subject;
};

static void put_path(void *context, const struct tw_call_path *path)
{
    const struct folded *folded = context;
    const struct tw_functions *functions = tw_calls_functions(folded->subject->calls);

    if (!path->self || folded->sink->is_over)
        return;
    for (size_t i = 0; i < path->depth; i++) {
        if (i)
            tw_sink_text(folded->sink, ";");
        tw_sink_name(folded->sink,
                     tw_subject_name(folded->subject,
                                     tw_functions_get(functions, path->functions[i])->name),
                     ';');
    }
    tw_sink_text(folded->sink, " ");
    tw_sink_decimal(folded->sink, path->self);
    tw_sink_text(folded->sink, "\n");
}

void tw_write_folded(struct tw_sink *sink, const struct tw_subject *subject)
{
    struct folded folded = { sink, subject };

    if (tw_calls_paths(subject->calls, put_path, &folded) != TW_OK)
        sink->lacks_memory = true;
}
