/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions with their counts and times, and who called whom. */
#include "base/memory.h"
#include "report/report.h"

struct report_function {
    uint64_t address, size;
    uint64_t entries, self, total;
    uint64_t time, time_least, time_most, cycles;
    uint64_t whole, least, most, least_time, most_time, sum_time; /* of activations */
    uint32_t name, object, file, line;
    uint32_t number; /* of the calls' functions */
    uint8_t kind;
};

struct report_edge {
    uint32_t from, to; /* rows of the functions */
    uint8_t kind;
    uint64_t count, inclusive;
};

static const struct tw_table_column function_columns[] = {
    TW_TEXT_COLUMN(struct report_function, name),
    TW_TEXT_COLUMN(struct report_function, object),
    TW_TEXT_COLUMN(struct report_function, file),
    TW_NUMBER_COLUMN(struct report_function, line),
    TW_NUMBER_COLUMN(struct report_function, address),
    TW_NUMBER_COLUMN(struct report_function, size),
    TW_NUMBER_COLUMN(struct report_function, kind),
    TW_NUMBER_COLUMN(struct report_function, entries),
    TW_NUMBER_COLUMN(struct report_function, self),
    TW_NUMBER_COLUMN(struct report_function, total),
    TW_NUMBER_COLUMN(struct report_function, time),
    TW_NUMBER_COLUMN(struct report_function, time_least),
    TW_NUMBER_COLUMN(struct report_function, time_most),
    TW_NUMBER_COLUMN(struct report_function, cycles),
    TW_NUMBER_COLUMN(struct report_function, whole),
    TW_NUMBER_COLUMN(struct report_function, least),
    TW_NUMBER_COLUMN(struct report_function, most),
    TW_NUMBER_COLUMN(struct report_function, least_time),
    TW_NUMBER_COLUMN(struct report_function, most_time),
    TW_NUMBER_COLUMN(struct report_function, sum_time),
    { .name = NULL },
};

static const struct tw_table_column edge_columns[] = {
    TW_NUMBER_COLUMN(struct report_edge, from),
    TW_NUMBER_COLUMN(struct report_edge, to),
    TW_NUMBER_COLUMN(struct report_edge, kind),
    TW_NUMBER_COLUMN(struct report_edge, count),
    TW_NUMBER_COLUMN(struct report_edge, inclusive),
    { .name = NULL },
};

static size_t row_count(const struct tw_profiler *profile)
{
    size_t count = 0;

    while (tw_profile_row(profile, count))
        count++;
    return count;
}

/* How long single activations took, by the name: the timeline has numbers of its own. */
static void add_activations(struct tw_report *report, struct report_function *rows,
                            size_t count)
{
    const struct tw_report_spans *spans = &report->spans;
    struct tw_map by_name = { .allocator = report->config.allocator };

    for (size_t i = 0; i < spans->function_room; i++) {
        const struct tw_report_calls *calls = &spans->functions[i];
        uint64_t *known;

        if (!calls->name || !calls->whole)
            continue;
        known = tw_map_put(&by_name, calls->name);
        report->is_out |= !known;
        if (known && (!*known || spans->functions[*known - 1].whole < calls->whole))
            *known = i + 1;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t *found = tw_map_find(&by_name, (uint64_t)rows[i].name + 1);
        const struct tw_report_calls *calls = found ? &spans->functions[*found - 1] : NULL;

        if (!calls)
            continue;
        rows[i].whole = calls->whole;
        rows[i].least = calls->least;
        rows[i].most = calls->most;
        rows[i].least_time = calls->least_time;
        rows[i].most_time = calls->most_time;
        rows[i].sum_time = calls->sum_time;
    }
    tw_map_free(&by_name);
}

static void add_edges(struct tw_report *report, const struct tw_map *numbers)
{
    const size_t count = tw_calls_edge_count(report->calls);
    struct report_edge *rows = tw_take(report->config.allocator, (count + 1) * sizeof *rows);
    size_t used = 0;

    for (size_t i = 0; rows && i < count; i++) {
        const struct tw_call_edge *edge = tw_calls_edge(report->calls, i);
        const uint64_t *from = tw_map_find(numbers, edge->from);
        const uint64_t *to = tw_map_find(numbers, edge->to);

        if (from && to)
            rows[used++] = (struct report_edge){ (uint32_t)*from, (uint32_t)*to, edge->kind,
                                                 edge->count, edge->inclusive };
    }
    if (!rows)
        report->is_out = true;
    else
        tw_tables_add(&report->tables, "edges",
                      (struct tw_table_rows){ rows, used, sizeof *rows }, edge_columns);
    tw_give(report->config.allocator, rows);
}

static struct report_function function_row(struct tw_report *report,
                                           const struct tw_profile_row *from)
{
    const struct tw_function *function =
        tw_functions_get(tw_calls_functions(report->calls), from->function);
    struct report_function row = {
        .address = from->address,
        .entries = from->entries,
        .self = from->self,
        .total = from->total,
        .time = from->time.estimate,
        .time_least = from->time.least,
        .time_most = from->time.most,
        .cycles = from->cycles.estimate,
        .name = tw_report_name(report, from->name ? from->name : "[unknown]"),
        .object = tw_report_text(report, from->object),
        .file = tw_report_text(report, from->file),
        .line = from->line,
        .number = from->function,
    };

    if (function) {
        row.kind = function->kind;
        row.size = function->size;
        row.name = tw_report_name(report, function->name);
    }
    return row;
}

static void add_totals(struct tw_report *report)
{
    struct tw_profile_totals totals = { .size = sizeof totals };
    const struct tw_calls_stats stats = tw_calls_stats(report->calls);
    struct tw_tables *tables = &report->tables;

    if (!tw_profile_totals(report->profile, &totals))
        return;
    tw_tables_number(tables, "instructions", totals.instructions);
    tw_tables_number(tables, "unknown", totals.unknown);
    tw_tables_number(tables, "calls", stats.calls);
    tw_tables_number(tables, "tails", stats.tails);
    tw_tables_number(tables, "hasCycles", totals.has_cycles);
    tw_tables_number(tables, "cycles", totals.cycles);
    tw_tables_number(tables, "hasTime", totals.has_time);
    tw_tables_number(tables, "time", totals.time);
    tw_tables_number(tables, "lostTime", totals.lost_time);
    tw_tables_number(tables, "clock", totals.clock);
}

void tw_report_add_functions(struct tw_report *report)
{
    const size_t count = row_count(report->profile);
    struct report_function *rows =
        tw_take(report->config.allocator, (count + 1) * sizeof *rows);
    struct tw_map numbers = { .allocator = report->config.allocator };

    for (size_t i = 0; rows && i < count; i++) {
        uint64_t *number;

        rows[i] = function_row(report, tw_profile_row(report->profile, i));
        number = tw_map_put(&numbers, rows[i].number);
        if (number)
            *number = i;
        else
            report->is_out = true;
    }
    if (rows) {
        add_activations(report, rows, count);
        tw_tables_add(&report->tables, "functions",
                      (struct tw_table_rows){ rows, count, sizeof *rows }, function_columns);
        add_edges(report, &numbers);
    } else {
        report->is_out = true;
    }
    add_totals(report);
    tw_map_free(&numbers);
    tw_give(report->config.allocator, rows);
}
