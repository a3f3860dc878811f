/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway decode --format runs. */
#include "formats/runs.h"

#include "shared/merge.h"

struct runs {
    const struct session *session;
    struct output *out;
    uint32_t cpu, tid; /* of the run being put together */
    uint64_t first, next, count;
};

static void close_run(struct runs *runs)
{
    struct output *out = runs->out;

    if (!runs->count)
        return;
    output_decimal(out, runs->cpu);
    output_text(out, " ");
    if (runs->tid == TW_NONE)
        output_text(out, "-1");
    else
        output_decimal(out, runs->tid);
    output_text(out, " ");
    output_address(out, runs->first);
    output_text(out, " ");
    output_decimal(out, runs->count);
    output_text(out, "\n");
    runs->count = 0;
}

static void take(void *context, struct merge_lane *lane, const struct tw_element *elements,
                 size_t count)
{
    struct runs *runs = context;

    for (size_t i = 0; i < count; i++) {
        const struct tw_element *element = &elements[i];

        if (element->type != TW_ELEMENT_INSTR_RANGE) {
            if (element->type == TW_ELEMENT_ERROR)
                session_say_error(runs->session, element, lane->id);
            else
                merge_look(lane, element);
            continue;
        }
        if (!element->count || !session_wants_index(runs->session, element->index))
            continue;
        if (element->start != runs->next || lane->cpu != runs->cpu || lane->at.tid != runs->tid)
            close_run(runs);
        if (!runs->count) {
            runs->first = element->start;
            runs->cpu = lane->cpu;
            runs->tid = lane->at.tid;
        }
        runs->count += element->count;
        runs->next = tw_element_end(element);
    }
}

int runs_print(struct session *session)
{
    struct runs runs = { .session = session, .out = session->out };
    const struct merge_sink sink = { .state_size = 1, .take = take, .context = &runs };
    int status;

    output_text(session->out, "# cpu tid first_pc instructions\n");
    status = merge_run(session, &sink);
    close_run(&runs);
    return status;
}
