/* SPDX-License-Identifier: BSD-2-Clause */
/* differ ORIGINAL DROPIN CAPTURE BUFFER PLAN...: what two libraries do with a buffer, line by line.  A plan is
   words joined by commas: full or packets, monitor, print, callback, cut, wait=N, flush=N, reset=N, end=N,
   log=N, stop, seed=N.  Prints one line for each plan; exit status 1: there was a difference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

static struct plan parse(const char *text)
{
    struct plan plan = { .seed = 1, .is_full = true };
    char words[256], *word, *rest = words;

    (void)snprintf(words, sizeof words, "%s", text);
    while ((word = strtok_r(rest, ",", &rest))) {
        const char *equals = strchr(word, '=');
        const unsigned number = equals ? (unsigned)strtoul(equals + 1, NULL, 0) : 0;

        if (strcmp(word, "packets") == 0)
            plan.is_full = false;
        else if (strcmp(word, "monitor") == 0)
            plan.has_monitor = true;
        else if (strcmp(word, "print") == 0)
            plan.is_printed = true;
        else if (strcmp(word, "callback") == 0)
            plan.uses_memory_callback = true;
        else if (strcmp(word, "cut") == 0)
            plan.cuts = true;
        else if (strcmp(word, "stop") == 0)
            plan.stops_early = true;
        else if (strncmp(word, "wait=", 5) == 0)
            plan.waits = number;
        else if (strncmp(word, "flush=", 6) == 0)
            plan.flushes = number;
        else if (strncmp(word, "reset=", 6) == 0)
            plan.resets = number;
        else if (strncmp(word, "end=", 4) == 0)
            plan.ends = number;
        else if (strncmp(word, "log=", 4) == 0)
            plan.verbosity = (int)number;
        else if (strncmp(word, "seed=", 5) == 0)
            plan.seed = number;
    }
    return plan;
}

static size_t first_difference(const struct events *a, const struct events *b)
{
    size_t at = 0;

    while (at < a->count && at < b->count && a->hashes[at] == b->hashes[at])
        at++;
    return at;
}

/* Both again, keeping what they say around a place. */
static void show(const struct library *libraries, const struct subject *subject,
                 const struct plan *plan, size_t at)
{
    enum { BEFORE = 4, AFTER = 6 };
    const size_t from = at < BEFORE ? 0 : at - BEFORE;

    for (unsigned i = 0; i < 2; i++) {
        struct events events = { .from = from, .keep = BEFORE + AFTER };

        client_run(&events, &libraries[i], subject, plan);
        for (size_t n = 0; n < events.keep && events.lines && events.lines[n]; n++)
            (void)printf("%s %s %zu: %s\n", libraries[i].name, from + n < at ? " " : "*",
                         from + n, events.lines[n]);
        events_free(&events);
    }
}

static bool is_same(const struct library *libraries, const struct subject *subject,
                    const char *text)
{
    const struct plan plan = parse(text);
    struct events events[2] = { 0 };
    size_t at;
    bool is_same;

    for (unsigned i = 0; i < 2; i++)
        client_run(&events[i], &libraries[i], subject, &plan);
    at = first_difference(&events[0], &events[1]);
    is_same = at == events[0].count && at == events[1].count;
    (void)printf("%s %s: %zu, %zu events%s\n", is_same ? "same" : "DIFFERS", text,
                 events[0].count, events[1].count, is_same ? "" : "");
    if (!is_same)
        show(libraries, subject, &plan, at);
    events_free(&events[0]);
    events_free(&events[1]);
    return is_same;
}

int main(int count, char **words)
{
    struct library libraries[2];
    struct subject subject;
    int status = 0;

    if (count < 6 || !library_open(&libraries[0], "original", words[1]) ||
        !library_open(&libraries[1], "drop-in ", words[2]))
        return 2;
    if (!subject_open(&subject, words[3], (size_t)strtoul(words[4], NULL, 0))) {
        (void)puts("nothing to decode");
        subject_free(&subject);
        return 0;
    }
    for (int i = 5; i < count; i++)
        if (!is_same(libraries, &subject, words[i]))
            status = 1;
    subject_free(&subject);
    return status;
}
