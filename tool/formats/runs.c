/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway decode --format runs. */
#include "formats/runs.h"

struct runs {
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

static void take_range(struct runs *runs, const struct tw_who *who,
                       const struct tw_element *range)
{
    if (!range->count)
        return;
    if (range->start != runs->next || who->cpu != runs->cpu || who->tid != runs->tid)
        close_run(runs);
    if (!runs->count) {
        runs->first = range->start;
        runs->cpu = who->cpu;
        runs->tid = who->tid;
    }
    runs->count += range->count;
    runs->next = tw_element_end(range);
}

static void take_repeat(struct runs *runs, struct session *session, const struct tw_part *part,
                        size_t at)
{
    const struct repeat repeat = repeats_of(&session->repeats, &part->batch, at);

    for (uint64_t i = 0; i < repeat.times && !output_is_over(runs->out); i++)
        for (size_t j = 0; j < repeat.count; j++)
            if (part->batch.elements[repeat.first + j].type == TW_ELEMENT_INSTR_RANGE)
                take_range(runs, &part->who, &part->batch.elements[repeat.first + j]);
    if (!repeat.omitted)
        return;
    close_run(runs);
    repeats_note(runs->out, &repeat);
}

static void take_part(struct runs *runs, struct session *session, const struct tw_part *part)
{
    if (part->has_skipped) /* filters join nothing */
        close_run(runs);
    for (size_t i = 0; i < part->batch.count; i++) {
        const struct tw_element *element = &part->batch.elements[i];

        if (element->type == TW_ELEMENT_INSTR_RANGE)
            take_range(runs, &part->who, element);
        else if (element->type == TW_ELEMENT_REPEAT)
            take_repeat(runs, session, part, i);
        else if (element->type == TW_ELEMENT_ERROR)
            session_say_error(session, element, part->batch.id);
    }
}

int runs_print(struct session *session)
{
    struct runs runs = { .out = session->out };
    struct tw_part part = { .size = sizeof part };
    struct session_wish wish;
    enum tw_status status = TW_END;
    int done;

    output_text(session->out, "# cpu tid first_pc instructions\n");
    done = session_wish(session, &wish);
    if (done == DONE) {
        wish.config.order = TW_ORDER_TIME;
        wish.config.is_joined = false;
        done = session_start(session, &wish);
    }
    session_wish_free(&wish);
    if (done != DONE)
        return done;
    while (!output_is_over(session->out) && (status = session_next(session, &part)) == TW_OK)
        if (part.kind == TW_PART_ELEMENTS)
            take_part(&runs, session, &part);
    done = session_end(session, status);
    close_run(&runs);
    return done;
}
