/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway decode --format runs. */
#include "runs.h"

#include "merge.h"

enum { LINE_ROOM = 100 };

struct runs {
    const struct session *session;
    struct output *out;
    uint32_t cpu, tid; /* of the run being put together */
    uint64_t first, next, count;
};

static char *put_decimal(char *at, uint64_t value)
{
    char digits[20];
    size_t first = sizeof digits;

    do
        digits[--first] = (char)('0' + value % 10);
    while (value /= 10);
    while (first < sizeof digits)
        *at++ = digits[first++];
    return at;
}

static char *put_address(char *at, uint64_t value)
{
    static const char digits[] = "0123456789abcdef";
    unsigned shift = 0;

    while (shift < 60 && value >> shift >> 4)
        shift += 4;
    *at++ = '0';
    *at++ = 'x';
    for (;; shift -= 4) {
        *at++ = digits[value >> shift & 15];
        if (!shift)
            return at;
    }
}

/* There are as many lines as taken branches: each is put together in its place. */
static void close_run(struct runs *runs)
{
    char *line, *at;

    if (!runs->count)
        return;
    line = output_room(runs->out, LINE_ROOM);
    at = put_decimal(line, runs->cpu);
    *at++ = ' ';
    if (runs->tid == TW_NONE) {
        *at++ = '-';
        *at++ = '1';
    } else {
        at = put_decimal(at, runs->tid);
    }
    *at++ = ' ';
    at = put_address(at, runs->first);
    *at++ = ' ';
    at = put_decimal(at, runs->count);
    *at++ = '\n';
    output_took(runs->out, (size_t)(at - line));
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
