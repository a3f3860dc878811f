/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile as a table with commas: one line for each row, one set of columns for all kinds. */
#include <inttypes.h>

#include "export/export.h"

static void put_text(struct tw_sink *sink, const char *text)
{
    if (text)
        tw_sink_csv(sink, text);
    tw_sink_text(sink, ",");
}

static void put_number(struct tw_sink *sink, uint64_t value, bool is_known)
{
    if (is_known)
        tw_sink_decimal(sink, value);
    tw_sink_text(sink, ",");
}

static void put_spent(struct tw_sink *sink, const struct tw_spent *spent, bool is_known,
                      bool has_bounds)
{
    put_number(sink, spent->estimate, is_known);
    put_number(sink, spent->least, is_known && has_bounds);
    put_number(sink, spent->most, is_known && has_bounds);
}

void tw_write_profile_csv(struct tw_sink *sink, const struct tw_subject *subject)
{
    const enum tw_profile_by by = tw_profile_what(subject->profile);
    const bool has_address = by == TW_PROFILE_FUNCTION || by == TW_PROFILE_ADDRESS;
    const struct tw_profile_row *row;

    tw_sink_text(sink, "name,addr,file,line,object,pid,tid,cid,entries,self,inclusive,cycles,"
                       "cycles_lo,cycles_hi,time,time_lo,time_hi\n");
    for (size_t i = 0; (row = tw_profile_row(subject->profile, i)) && !sink->is_over; i++) {
        put_text(sink, row->name ? tw_subject_name(subject, row->name) : NULL);
        if (has_address && row->known & TW_PROFILE_IS_KNOWN)
            tw_sink_format(sink, "0x%" PRIx64, row->address);
        tw_sink_text(sink, ",");
        put_text(sink, row->file);
        put_number(sink, row->line, row->line != 0);
        put_text(sink, row->object);
        put_number(sink, row->pid, row->pid != TW_NONE);
        put_number(sink, row->tid, row->tid != TW_NONE);
        put_number(sink, row->context, row->context != UINT64_MAX);
        put_number(sink, row->entries, has_address);
        put_number(sink, row->self, true);
        put_number(sink, row->total,
                   row->known & (TW_PROFILE_HAS_CALLS | TW_PROFILE_HAS_TOTAL));
        put_spent(sink, &row->cycles, row->known & TW_PROFILE_HAS_CYCLES,
                  row->known & TW_PROFILE_HAS_BOUNDS);
        put_number(sink, row->time.estimate, row->known & TW_PROFILE_HAS_TIME);
        put_number(sink, row->time.least,
                   row->known & TW_PROFILE_HAS_TIME && row->known & TW_PROFILE_HAS_BOUNDS);
        if (row->known & TW_PROFILE_HAS_TIME && row->known & TW_PROFILE_HAS_BOUNDS)
            tw_sink_decimal(sink, row->time.most);
        tw_sink_text(sink, "\n");
    }
}
