/* SPDX-License-Identifier: BSD-2-Clause */
/* differ ORIGINAL DROPIN CAPTURE BUFFER PLAN...: what two libraries do with a buffer, event by event.  A
   plan is words joined by commas: full or packets, monitor, print, callback, cut, wait=N, flush=N,
   reset=N, end=N, log=N, stop, seed=N; tpiu, hsync: in such frames; mask=NAME: see enum mask; loose: only the order inside a stream of events counts; dump: all
   events, "<" those of the first, ">" those of the second.  Prints a line for each plan; exit status 1: there was a difference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

struct task {
    struct plan plan;
    bool is_dumped, is_tpiu, is_hsync;
};

/* "name=N" */
static bool set_number(struct plan *plan, const char *word)
{
    const struct {
        const char *name;
        unsigned *number;
    } numbers[] = { { "wait", &plan->waits },    { "flush", &plan->flushes },
                    { "reset", &plan->resets },  { "end", &plan->ends },
                    { "log", &plan->verbosity }, { "seed", &plan->seed } };
    const char *equals = strchr(word, '=');

    for (size_t i = 0; equals && i < sizeof numbers / sizeof numbers[0]; i++)
        if (strlen(numbers[i].name) == (size_t)(equals - word) &&
            strncmp(word, numbers[i].name, (size_t)(equals - word)) == 0) {
            *numbers[i].number = (unsigned)strtoul(equals + 1, NULL, 0);
            return true;
        }
    return false;
}

/* "mask=NAME" */
static bool set_mask(struct plan *plan, const char *word)
{
    static const struct {
        const char *word;
        enum mask mask;
    } masks[] = { { "mask=ptm-reset", MASK_PTM_RESET },
                  { "mask=stm-async", MASK_STM_ASYNC },
                  { "mask=notsync", MASK_NOTSYNC },
                  { "mask=passed", MASK_PASSED } };

    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++)
        if (strcmp(masks[i].word, word) == 0) {
            plan->masks |= masks[i].mask;
            return true;
        }
    return false;
}

/* False: there is an unknown word. */
static bool parse(struct task *task, const char *text)
{
    struct plan *plan = &task->plan;
    const struct {
        const char *name;
        bool *flag;
    } flags[] = { { "full", &plan->is_full },     { "monitor", &plan->has_monitor },
                  { "print", &plan->is_printed }, { "callback", &plan->uses_memory_callback },
                  { "cut", &plan->cuts },         { "stop", &plan->stops_early },
                  { "loose", &plan->is_loose },   { "dump", &task->is_dumped },
                  { "tpiu", &task->is_tpiu },     { "hsync", &task->is_hsync } };
    char words[512], *word, *rest = words;

    memset(task, 0, sizeof *task);
    plan->seed = 1;
    (void)snprintf(words, sizeof words, "%s", text);
    while ((word = strtok_r(rest, ",", &rest))) {
        bool is_known =
            strcmp(word, "packets") == 0 || set_number(plan, word) || set_mask(plan, word);

        for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
            if (strcmp(word, flags[i].name) == 0)
                is_known = *flags[i].flag = true;
        if (!is_known) {
            (void)fprintf(stderr, "unknown: %s\n", word);
            return false;
        }
    }
    return true;
}

/* The next event from `at` on that counts: of the stream, or any. */
static size_t next_event(const struct events *events, size_t at, int stream)
{
    while (at < events->count && stream >= 0 && events->streams[at] != stream)
        at++;
    return at;
}

/* Where the first difference is in each; at[0] == count in both: nowhere. */
static bool differ(size_t at[2], const struct events events[2], int stream)
{
    at[0] = next_event(&events[0], 0, stream);
    at[1] = next_event(&events[1], 0, stream);
    while (at[0] < events[0].count && at[1] < events[1].count &&
           events[0].hashes[at[0]] == events[1].hashes[at[1]])
        for (unsigned i = 0; i < 2; i++)
            at[i] = next_event(&events[i], at[i] + 1, stream);
    return at[0] < events[0].count || at[1] < events[1].count;
}

static bool find_difference(size_t at[2], const struct events events[2], bool is_loose)
{
    static bool seen[EVENT_KINDS << 8];

    if (!is_loose)
        return differ(at, events, -1);
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0; i < 2; i++)
        for (size_t n = 0; n < events[i].count; n++)
            seen[events[i].streams[n]] = true;
    for (int stream = EVENT_ELEMENT << 8; stream < EVENT_KINDS << 8; stream++)
        if (seen[stream] && differ(at, events, stream))
            return true;
    return false;
}

/* Again, keeping what is said around a place. */
static void show(const struct library *library, const char *name, const struct subject *subject,
                 const struct plan *plan, size_t at)
{
    enum { BEFORE = 4, AFTER = 6 };
    struct events events = { .from = at < BEFORE ? 0 : at - BEFORE, .keep = BEFORE + AFTER };

    client_run(&events, library, subject, plan);
    for (size_t n = 0; n < events.keep && events.lines && events.lines[n]; n++)
        (void)printf("%s %s %zu: %s\n", name, events.from + n < at ? " " : "*", events.from + n,
                     events.lines[n]);
    events_free(&events);
}

static void dump(const struct library *library, char mark, const struct subject *subject,
                 const struct plan *plan)
{
    struct events events = { .keep = (size_t)1 << 21 };

    client_run(&events, library, subject, plan);
    for (size_t n = 0; n < events.keep && n < events.count; n++)
        (void)printf("%c %s\n", mark, events.lines[n]);
    events_free(&events);
}

static bool is_same(const struct library *libraries, const struct subject *subject,
                    const char *text, const struct task *task)
{
    struct events events[2] = { 0 };
    size_t at[2];
    bool is_different;

    for (unsigned i = 0; i < 2; i++)
        client_run(&events[i], &libraries[i], subject, &task->plan);
    is_different = find_difference(at, events, task->plan.is_loose);
    (void)printf("%s %s: %zu, %zu events\n", is_different ? "DIFFERS" : "same", text,
                 events[0].count, events[1].count);
    for (unsigned i = 0; i < 2 && is_different && !task->is_dumped; i++)
        show(&libraries[i], i ? "drop-in " : "original", subject, &task->plan, at[i]);
    for (unsigned i = 0; i < 2 && task->is_dumped; i++)
        dump(&libraries[i], "<>"[i], subject, &task -> plan);
    events_free(&events[0]);
    events_free(&events[1]);
    return !is_different;
}

/* In the frames that the task asks for. */
static bool is_same_framed(const struct library *libraries, const struct subject *subject,
                           const char *text, const struct task *task)
{
    struct subject framed;
    bool is_good = true;

    if (!task->is_tpiu && !task->is_hsync)
        return is_same(libraries, subject, text, task);
    if (subject_reframe(&framed, subject,
                        task->is_hsync ? TW_FRAMING_TPIU_HSYNC : TW_FRAMING_TPIU))
        is_good = is_same(libraries, &framed, text, task);
    subject_free(&framed);
    return is_good;
}

int main(int count, char **words)
{
    struct library libraries[2];
    struct subject subject;
    int status = 0;

    if (count < 6 || !library_open(&libraries[0], "original", words[1]) ||
        !library_open(&libraries[1], "drop-in ", words[2]))
        return 2;
    if (!subject_open(&subject, words[3], (size_t)strtoul(words[4], NULL, 0),
                      libraries[0].ocsd_get_version() >= 0x10700)) {
        (void)puts("nothing to decode");
        subject_free(&subject);
        return 0;
    }
    for (int i = 5; i < count; i++) {
        struct task task;

        if (!parse(&task, words[i]))
            status = 2;
        else if (!is_same_framed(libraries, &subject, words[i], &task) && status == 0)
            status = 1;
    }
    subject_free(&subject);
    return status;
}
