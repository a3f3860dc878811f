/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile as JSON lines: a line for each row, branches and targets, totals. */
#include <inttypes.h>

#include "export/export.h"

static const char *const kinds[] = {
    [TW_PROFILE_FUNCTION] = "FUNCTION", [TW_PROFILE_LINE] = "LINE",
    [TW_PROFILE_ADDRESS] = "INSTR",     [TW_PROFILE_THREAD] = "THREAD",
    [TW_PROFILE_PROGRAM] = "PROGRAM",   [TW_PROFILE_SOURCE] = "SOURCE",
};

static void put_text(struct tw_sink *sink, const char *key, const char *text)
{
    if (!text)
        return;
    tw_sink_format(sink, ",\"%s\":", key);
    tw_sink_json(sink, text);
}

static void put_number(struct tw_sink *sink, const char *key, uint64_t value)
{
    tw_sink_format(sink, ",\"%s\":%" PRIu64, key, value);
}

static void put_spent(struct tw_sink *sink, const char *key, const struct tw_spent *spent,
                      bool has_bounds)
{
    put_number(sink, key, spent->estimate);
    if (has_bounds)
        tw_sink_format(sink, ",\"%s_lo\":%" PRIu64 ",\"%s_hi\":%" PRIu64, key, spent->least,
                       key, spent->most);
}

static void put_who(struct tw_sink *sink, const struct tw_profile_row *row)
{
    if (row->pid != TW_NONE)
        put_number(sink, "pid", row->pid);
    if (row->tid != TW_NONE)
        put_number(sink, "tid", row->tid);
    if (row->context != UINT64_MAX)
        tw_sink_format(sink, ",\"cid\":\"0x%" PRIx64 "\"", row->context);
}

static void put_row(struct tw_sink *sink, const struct tw_subject *subject,
                    const struct tw_profile_row *row)
{
    const enum tw_profile_by by = tw_profile_what(subject->profile);
    const bool is_function = by == TW_PROFILE_FUNCTION;

    tw_sink_format(sink, "{\"t\":\"%s\"", kinds[by]);
    if (by == TW_PROFILE_ADDRESS)
        tw_sink_format(sink, ",\"pc\":\"0x%" PRIx64 "\"", row->address);
    put_text(sink, by == TW_PROFILE_ADDRESS || by == TW_PROFILE_LINE ? "function" : "name",
             row->name                      ? tw_subject_name(subject, row->name)
             : is_function && !row->address ? "[no symbol]"
                                            : NULL);
    if (is_function && row->address)
        tw_sink_format(sink, ",\"addr\":\"0x%" PRIx64 "\"", row->address);
    put_text(sink, "file", row->file);
    if (row->line)
        put_number(sink, "line", row->line);
    put_text(sink, "object", row->object);
    put_who(sink, row);
    if (is_function)
        put_number(sink, "entries", row->entries);
    put_number(sink, by == TW_PROFILE_ADDRESS ? "count" : "self", row->self);
    if (row->known & (TW_PROFILE_HAS_CALLS | TW_PROFILE_HAS_TOTAL))
        put_number(sink, "inclusive", row->total);
    if (row->known & TW_PROFILE_IS_INLINED)
        tw_sink_text(sink, ",\"inlined\":true");
    if (row->known & TW_PROFILE_HAS_CYCLES)
        put_spent(sink, "cycles", &row->cycles, row->known & TW_PROFILE_HAS_BOUNDS);
    if (row->known & TW_PROFILE_HAS_TIME)
        put_spent(sink, "time", &row->time, row->known & TW_PROFILE_HAS_BOUNDS);
    tw_sink_text(sink, "}\n");
}

static void put_branches(struct tw_sink *sink, const struct tw_profiler *profile)
{
    const struct tw_profile_branch *branch;
    const struct tw_profile_target *target;

    for (size_t i = 0; (branch = tw_profile_branch(profile, i)) && !sink->is_over; i++) {
        tw_sink_format(sink,
                       "{\"t\":\"BRANCH\",\"pc\":\"0x%" PRIx64 "\",\"taken\":%" PRIu64
                       ",\"not_taken\":%" PRIu64,
                       branch->address, branch->taken, branch->not_taken);
        put_text(sink, "object", branch->object);
        tw_sink_text(sink, "}\n");
    }
    for (size_t i = 0; (target = tw_profile_target(profile, i)) && !sink->is_over; i++) {
        tw_sink_format(sink,
                       "{\"t\":\"TARGET\",\"pc\":\"0x%" PRIx64 "\",\"to\":\"0x%" PRIx64
                       "\",\"count\":%" PRIu64,
                       target->from, target->to, target->count);
        put_text(sink, "object", target->object);
        tw_sink_text(sink, "}\n");
    }
}

static void put_totals(struct tw_sink *sink, const struct tw_profiler *profile)
{
    struct tw_profile_totals totals = { .size = sizeof totals };

    if (!tw_profile_totals(profile, &totals))
        return;
    tw_sink_format(sink,
                   "{\"t\":\"TOTAL\",\"instructions\":%" PRIu64 ",\"known\":%" PRIu64
                   ",\"unknown\":%" PRIu64 ",\"untraced\":%" PRIu64 ",\"missing\":%" PRIu64,
                   totals.instructions, totals.instructions - totals.unknown, totals.unknown,
                   totals.untraced, totals.missing);
    if (totals.has_cycles)
        tw_sink_format(sink, ",\"cycles\":%" PRIu64 ",\"lost_cycles\":%" PRIu64, totals.cycles,
                       totals.lost_cycles);
    if (totals.has_time)
        tw_sink_format(sink, ",\"time\":%" PRIu64 ",\"lost_time\":%" PRIu64 ",\"unit\":\"%s\"",
                       totals.time, totals.lost_time,
                       totals.clock == TW_CLOCK_RECORD ? "ns" : "ticks");
    tw_sink_text(sink, "}\n");
}

void tw_write_profile_jsonl(struct tw_sink *sink, const struct tw_subject *subject)
{
    const struct tw_profile_row *row;

    for (size_t i = 0; (row = tw_profile_row(subject->profile, i)) && !sink->is_over; i++)
        put_row(sink, subject, row);
    if (tw_profile_what(subject->profile) == TW_PROFILE_ADDRESS ||
        tw_profile_what(subject->profile) == TW_PROFILE_LINE)
        put_branches(sink, subject->profile);
    put_totals(sink, subject->profile);
}
