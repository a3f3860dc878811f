/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of threads, programs and sources. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/profile.h"

uint64_t tw_profile_text_key(const char *text)
{
    uint64_t hash = 14695981039346656037u;

    while (*text)
        hash = (hash ^ (unsigned char)*text++) * 1099511628211u;
    return hash;
}

static uint64_t context_of(const struct tw_who *who)
{
    if (!(who->known & TW_WHO_CONTEXT))
        return UINT64_MAX;
    return (uint64_t)who->context_id | (uint64_t)who->context_high << 32;
}

/* The first address of the part's code that was executed tells the file where nothing else tells the
   program. */
static const char *program_of(struct tw_run *run, const struct tw_part *part)
{
    for (size_t i = 0; i < part->batch.count; i++)
        if (part->batch.elements[i].type == TW_ELEMENT_INSTR_RANGE)
            return tw_run_object(run, NULL, part, part->batch.elements[i].start);
    return NULL;
}

static const char *source_of(const struct tw_part *part)
{
    if (part->who.core)
        return part->who.core;
    return part->source ? part->source->name : NULL;
}

/* What tells rows apart, as text: equal for equal rows of several captures. */
static void describe(char *text, size_t room, const struct tw_profiler *profile,
                     struct tw_run *run, const struct tw_part *part)
{
    const struct tw_who *who = &part->who;
    const uint64_t context = context_of(who);

    if (profile->by == TW_PROFILE_SOURCE) {
        (void)snprintf(text, room, "%s %" PRIu32, source_of(part) ? source_of(part) : "",
                       part->batch.src);
    } else if (profile->by == TW_PROFILE_THREAD && who->tid != TW_NONE) {
        (void)snprintf(text, room, "%" PRIu32 " %" PRIu32 " %s", who->pid, who->tid, who->comm);
    } else if (profile->by == TW_PROFILE_PROGRAM && who->pid != TW_NONE) {
        (void)snprintf(text, room, "%" PRIu32, who->pid);
    } else if (context != UINT64_MAX) {
        (void)snprintf(text, room, "context %" PRIx64, context);
    } else {
        const char *program =
            profile->by == TW_PROFILE_PROGRAM ? program_of(run, part) : source_of(part);

        (void)snprintf(text, room, "? %s", program ? program : "");
    }
}

static const char *name_of(struct tw_profiler *profile, struct tw_run *run,
                           const struct tw_part *part)
{
    const struct tw_who *who = &part->who;
    const uint64_t context = context_of(who);
    char text[64];

    if (profile->by == TW_PROFILE_SOURCE)
        return source_of(part);
    if (who->tid != TW_NONE && who->comm && who->comm[0])
        return who->comm;
    if (who->tid != TW_NONE || who->pid != TW_NONE)
        (void)snprintf(text, sizeof text, "pid %" PRIu32,
                       who->pid != TW_NONE ? who->pid : who->tid);
    else if (context != UINT64_MAX)
        (void)snprintf(text, sizeof text, "context 0x%" PRIx64, context);
    else
        return profile->by == TW_PROFILE_PROGRAM ? program_of(run, part) : source_of(part);
    return tw_profile_keep(profile, text);
}

uint32_t tw_profile_who(struct tw_profiler *profile, struct tw_run *run,
                        const struct tw_part *part)
{
    char text[512];
    bool is_new;
    struct tw_profile_row *row;

    describe(text, sizeof text, profile, run, part);
    row = tw_profile_row_of(profile, tw_profile_text_key(text), &is_new);
    if (!row)
        return UINT32_MAX;
    if (is_new) {
        row->name = name_of(profile, run, part);
        row->known = row->name ? TW_PROFILE_IS_KNOWN : 0;
        if (profile->by != TW_PROFILE_SOURCE) {
            row->pid = part->who.pid;
            row->context = context_of(&part->who);
        }
        if (profile->by == TW_PROFILE_THREAD)
            row->tid = part->who.tid;
    }
    /* A process is called as its first thread is. */
    if (profile->by == TW_PROFILE_PROGRAM && part->who.tid == part->who.pid &&
        part->who.tid != TW_NONE && part->who.comm && part->who.comm[0])
        row->name = part->who.comm;
    return (uint32_t)(row - profile->rows);
}

static bool add_to_row(struct tw_profiler *profile, struct tw_run *run,
                       const struct tw_part *part, uint64_t instructions)
{
    const uint32_t row = tw_profile_who(profile, run, part);

    if (row == UINT32_MAX)
        return false;
    profile->rows[row].self += instructions;
    return true;
}

bool tw_profile_add_who(struct tw_profiler *profile, struct tw_run *run,
                        struct tw_range_counts *counts, const struct tw_part *whose)
{
    struct tw_part part = *whose;
    uint64_t left;

    tw_range_counts_settle(counts);
    left = counts->instructions + counts->untraced;
    part.batch.count = 0;
    if (profile->by != TW_PROFILE_PROGRAM || part.who.pid != TW_NONE ||
        part.who.known & TW_WHO_CONTEXT)
        return add_to_row(profile, run, &part, left);
    for (size_t i = 1; i < counts->range_count; i++) {
        const struct tw_range_count *range = &counts->ranges[i];
        const uint64_t executed = range->instructions * (range->taken + range->not_taken);
        struct tw_element element = { .type = TW_ELEMENT_INSTR_RANGE, .start = range->start };

        part.batch.elements = &element;
        part.batch.count = 1;
        if (!add_to_row(profile, run, &part, executed))
            return false;
        left -= executed;
    }
    part.batch.count = 0;
    return !left || add_to_row(profile, run, &part, left);
}
