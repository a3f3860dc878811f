/* SPDX-License-Identifier: BSD-2-Clause */
/* What was lost, what the doctor found, and where in the capture. */
#include "report/report.h"

#include "base/memory.h"

struct report_finding {
    uint64_t count, offset;
    uint32_t severity, code, text, remedy;
    uint8_t weight, has_offset;
};

/* One cell of a strip. */
struct report_strip {
    uint32_t name;
    uint64_t bytes;
    uint8_t id, state;
};

static const struct tw_table_column finding_columns[] = {
    TW_TEXT_COLUMN(struct report_finding, severity),
    TW_TEXT_COLUMN(struct report_finding, code),
    TW_TEXT_COLUMN(struct report_finding, text),
    TW_TEXT_COLUMN(struct report_finding, remedy),
    TW_NUMBER_COLUMN(struct report_finding, weight),
    TW_NUMBER_COLUMN(struct report_finding, count),
    TW_NUMBER_COLUMN(struct report_finding, offset),
    TW_NUMBER_COLUMN(struct report_finding, has_offset),
    { .name = NULL },
};

static const struct tw_table_column strip_columns[] = {
    TW_TEXT_COLUMN(struct report_strip, name),
    TW_NUMBER_COLUMN(struct report_strip, id),
    TW_NUMBER_COLUMN(struct report_strip, bytes),
    TW_NUMBER_COLUMN(struct report_strip, state),
    { .name = NULL },
};

static void add_strips(struct tw_report *report, const struct tw_doctor *doctor)
{
    enum { MOST = 256 }; /* sources */
    struct report_strip *rows = NULL;
    const struct tw_strip *strip;
    size_t used = 0, room = 0;

    for (size_t i = 0; i < MOST && (strip = tw_doctor_strip(doctor, i)) != NULL; i++) {
        if (!TW_GROW(report->config.allocator, &rows, &room, used + TW_STRIP_COLUMNS)) {
            report->is_out = true;
            break;
        }
        for (size_t k = 0; k < TW_STRIP_COLUMNS; k++)
            rows[used++] = (struct report_strip){ tw_report_text(report, strip->name),
                                                  strip->bytes, strip->id, strip->states[k] };
    }
    tw_tables_add(&report->tables, "strips", (struct tw_table_rows){ rows, used, sizeof *rows },
                  strip_columns);
    tw_give(report->config.allocator, rows);
}

enum tw_status tw_report_doctor(struct tw_report *report, const struct tw_doctor *doctor)
{
    struct report_finding *rows = NULL;
    const struct tw_finding *finding;
    size_t used = 0, room = 0;

    for (size_t i = 0; (finding = tw_doctor_finding(doctor, i)) != NULL; i++) {
        if (!TW_GROW(report->config.allocator, &rows, &room, used + 1)) {
            report->is_out = true;
            break;
        }
        rows[used++] = (struct report_finding){
            .count = finding->count,
            .offset = finding->has_offset ? finding->offset : 0,
            .has_offset = finding->has_offset,
            .weight = finding->severity,
            .severity = tw_report_text(report, tw_finding_severity_name(finding->severity)),
            .code = tw_report_text(report, finding->code),
            .text = tw_report_text(report, finding->text),
            .remedy = tw_report_text(report, finding->remedy),
        };
    }
    tw_tables_add(&report->tables, "findings",
                  (struct tw_table_rows){ rows, used, sizeof *rows }, finding_columns);
    tw_give(report->config.allocator, rows);
    tw_tables_fact(&report->tables, "summary", tw_doctor_summary(doctor));
    tw_tables_number(&report->tables, "isWhole", tw_doctor_is_whole(doctor));
    add_strips(report, doctor);
    return report->is_out ? TW_E_MEMORY : TW_OK;
}

void tw_report_add_losses(struct tw_report *report)
{
    struct tw_run_losses losses = { .size = sizeof losses };
    struct tw_tables *tables = &report->tables;

    if (!report->run || !tw_run_losses(report->run, &losses))
        return;
    tw_tables_number(tables, "lostRecorder", losses.recorder);
    tw_tables_number(tables, "lostErrors", losses.errors);
    tw_tables_number(tables, "lostTruncated", losses.truncated);
    tw_tables_number(tables, "lostOverflows", losses.overflows);
    tw_tables_number(tables, "lostDiscards", losses.discards);
    tw_tables_number(tables, "lostGaps", losses.gaps);
    tw_tables_number(tables, "lostUnsynced", losses.unsynced_bytes);
    tw_tables_number(tables, "lostCode", losses.missing_code);
}
