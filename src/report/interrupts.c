/* SPDX-License-Identifier: BSD-2-Clause */
/* Interrupts as tables: one row for each exception of a source, their histograms, whom they interrupted. */
#include "base/memory.h"
#include "report/report.h"

struct report_interrupt {
    uint32_t name, source, number, track, depth;
    uint64_t count, chained, nested, preempted, open, estimated;
    uint64_t net_count, net_sum, net_least, net_most;
    uint64_t gross_sum, gross_least, gross_most;
    uint64_t period_count, period_sum, period_least, period_most;
    uint8_t id;
};

/* Lengths from 2^(bucket-1) to before 2^bucket. */
struct interrupt_bucket {
    uint32_t interrupt;
    uint8_t what; /* 0: net, 1: gross, 2: period */
    uint8_t bucket;
    uint64_t count;
};

struct interrupt_whom {
    uint32_t interrupt, name;
    uint64_t count;
};

struct interrupt_tables {
    struct report_interrupt *rows;
    size_t count, room;
    struct interrupt_bucket *buckets;
    size_t bucket_count, bucket_room;
    struct interrupt_whom *whom;
    size_t whom_count, whom_room;
};

static const struct tw_table_column interrupt_columns[] = {
    TW_TEXT_COLUMN(struct report_interrupt, name),
    TW_TEXT_COLUMN(struct report_interrupt, source),
    TW_NUMBER_COLUMN(struct report_interrupt, id),
    TW_NUMBER_COLUMN(struct report_interrupt, number),
    TW_NUMBER_COLUMN(struct report_interrupt, track),
    TW_NUMBER_COLUMN(struct report_interrupt, depth),
    TW_NUMBER_COLUMN(struct report_interrupt, count),
    TW_NUMBER_COLUMN(struct report_interrupt, chained),
    TW_NUMBER_COLUMN(struct report_interrupt, nested),
    TW_NUMBER_COLUMN(struct report_interrupt, preempted),
    TW_NUMBER_COLUMN(struct report_interrupt, open),
    TW_NUMBER_COLUMN(struct report_interrupt, estimated),
    TW_NUMBER_COLUMN(struct report_interrupt, net_count),
    TW_NUMBER_COLUMN(struct report_interrupt, net_sum),
    TW_NUMBER_COLUMN(struct report_interrupt, net_least),
    TW_NUMBER_COLUMN(struct report_interrupt, net_most),
    TW_NUMBER_COLUMN(struct report_interrupt, gross_sum),
    TW_NUMBER_COLUMN(struct report_interrupt, gross_least),
    TW_NUMBER_COLUMN(struct report_interrupt, gross_most),
    TW_NUMBER_COLUMN(struct report_interrupt, period_count),
    TW_NUMBER_COLUMN(struct report_interrupt, period_sum),
    TW_NUMBER_COLUMN(struct report_interrupt, period_least),
    TW_NUMBER_COLUMN(struct report_interrupt, period_most),
    { .name = NULL },
};

static const struct tw_table_column interrupt_bucket_columns[] = {
    TW_NUMBER_COLUMN(struct interrupt_bucket, interrupt),
    TW_NUMBER_COLUMN(struct interrupt_bucket, what),
    TW_NUMBER_COLUMN(struct interrupt_bucket, bucket),
    TW_NUMBER_COLUMN(struct interrupt_bucket, count),
    { .name = NULL },
};

static const struct tw_table_column whom_columns[] = {
    TW_NUMBER_COLUMN(struct interrupt_whom, interrupt),
    TW_TEXT_COLUMN(struct interrupt_whom, name),
    TW_NUMBER_COLUMN(struct interrupt_whom, count),
    { .name = NULL },
};

static bool add_buckets(struct tw_report *report, struct interrupt_tables *tables,
                        const struct tw_interrupt_lengths *lengths, uint8_t what)
{
    for (size_t i = 0; i < TW_INTERRUPT_BUCKETS; i++) {
        if (!lengths->buckets[i])
            continue;
        if (!TW_GROW(report->config.allocator, &tables->buckets, &tables->bucket_room,
                     tables->bucket_count + 1))
            return false;
        tables->buckets[tables->bucket_count++] =
            (struct interrupt_bucket){ (uint32_t)tables->count, what, (uint8_t)i,
                                       lengths->buckets[i] };
    }
    return true;
}

static bool add_whom(struct tw_report *report, struct interrupt_tables *tables,
                     const struct tw_interrupt *interrupt)
{
    enum { MOST = 64 };
    const struct tw_functions *functions = tw_timeline_functions(report->timeline);

    for (size_t i = 0; i < interrupt->interrupted_count && i < MOST; i++) {
        const struct tw_function *function =
            tw_functions_get(functions, interrupt->interrupted[i].function);

        if (!TW_GROW(report->config.allocator, &tables->whom, &tables->whom_room,
                     tables->whom_count + 1))
            return false;
        tables->whom[tables->whom_count++] =
            (struct interrupt_whom){ (uint32_t)tables->count,
                                     function ? tw_report_name(report, function->name)
                                              : tw_report_text(report, "?"),
                                     interrupt->interrupted[i].count };
    }
    return true;
}

static bool add_interrupt(struct tw_report *report, struct interrupt_tables *tables,
                          const struct tw_interrupt *one)
{
    const struct tw_track *track = tw_timeline_track(report->timeline, one->track);

    if (!add_buckets(report, tables, &one->net, 0) ||
        !add_buckets(report, tables, &one->gross, 1) ||
        !add_buckets(report, tables, &one->period, 2) || !add_whom(report, tables, one) ||
        !TW_GROW(report->config.allocator, &tables->rows, &tables->room, tables->count + 1))
        return false;
    tables->rows[tables->count++] = (struct report_interrupt){
        .name = tw_report_text(report, track->name),
        .source = tw_report_text(report, track->core ? track->core : track->source),
        .id = track->id,
        .number = one->number,
        .track = one->track,
        .depth = one->depth,
        .count = one->count,
        .chained = one->chained,
        .nested = one->nested,
        .preempted = one->preempted,
        .open = one->open,
        .estimated = one->estimated,
        .net_count = one->net.count,
        .net_sum = one->net.sum,
        .net_least = one->net.least,
        .net_most = one->net.most,
        .gross_sum = one->gross.sum,
        .gross_least = one->gross.least,
        .gross_most = one->gross.most,
        .period_count = one->period.count,
        .period_sum = one->period.sum,
        .period_least = one->period.least,
        .period_most = one->period.most,
    };
    return true;
}

void tw_report_add_interrupts(struct tw_report *report)
{
    const struct tw_allocator *allocator = report->config.allocator;
    struct interrupt_tables tables = { .rows = NULL };
    const struct tw_interrupt *one;

    for (size_t i = 0; (one = tw_interrupts_get(report->interrupts, i)) != NULL; i++)
        if (!add_interrupt(report, &tables, one)) {
            report->is_out = true;
            break;
        }
    tw_tables_add(&report->tables, "interrupts",
                  (struct tw_table_rows){ tables.rows, tables.count, sizeof *tables.rows },
                  interrupt_columns);
    tw_tables_add(
        &report->tables, "interruptLengths",
        (struct tw_table_rows){ tables.buckets, tables.bucket_count, sizeof *tables.buckets },
        interrupt_bucket_columns);
    tw_tables_add(&report->tables, "interrupted",
                  (struct tw_table_rows){ tables.whom, tables.whom_count, sizeof *tables.whom },
                  whom_columns);
    tw_give(allocator, tables.rows);
    tw_give(allocator, tables.buckets);
    tw_give(allocator, tables.whom);
}
