/* SPDX-License-Identifier: BSD-2-Clause */
/* A capture through the analyses, and their results as tables. */
#include "report/report.h"

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

enum { REPORT_ROOM = 14 << 20 };

static void take_timeline(void *context, const struct tw_timeline_event *event)
{
    struct tw_report *report = context;

    if (event->span == TW_SPAN_EXCEPTION &&
        tw_interrupts_take(report->interrupts, event) != TW_OK)
        report->is_out = true;
    tw_report_take_event(report, event);
}

static enum tw_status new_analyses(struct tw_report *report, struct tw_fault *fault)
{
    const struct tw_report_config *config = &report->config;
    const struct tw_calls_config calls = { .size = sizeof calls,
                                           .key = config->key,
                                           .is_logical = config->is_logical,
                                           .allocator = config->allocator };
    struct tw_profile_config profile = { .size = sizeof profile,
                                         .by = TW_PROFILE_FUNCTION,
                                         .with_time = !config->without_time,
                                         .allocator = config->allocator };
    const struct tw_timeline_config timeline = { .size = sizeof timeline,
                                                 .key = config->key,
                                                 .unit = config->unit,
                                                 .core_type = config->core_type,
                                                 .is_logical = config->is_logical,
                                                 .event = take_timeline,
                                                 .context = report,
                                                 .allocator = config->allocator,
                                                 .with_calls = config->without_time };
    struct tw_interrupts_config interrupts = { .size = sizeof interrupts,
                                               .allocator = config->allocator };
    const struct tw_coverage_config coverage = { .size = sizeof coverage,
                                                 .allocator = config->allocator };
    enum tw_status status = tw_timeline_new(&report->timeline, &timeline, fault);

    if (status == TW_OK && !config->without_time)
        status = tw_calls_new(&report->own_calls, &calls, fault);
    if (status == TW_OK) {
        report->calls =
            config->without_time ? tw_timeline_calls(report->timeline) : report->own_calls;
        profile.calls = report->calls;
        status = tw_profile_new(&report->profile, &profile, fault);
    }
    interrupts.timeline = report->timeline;
    if (status == TW_OK)
        status = tw_interrupts_new(&report->interrupts, &interrupts, fault);
    if (status == TW_OK)
        status = tw_coverage_new(&report->coverage, &coverage, fault);
    return status;
}

enum tw_status tw_report_new(struct tw_report **report, const struct tw_report_config *config,
                             struct tw_fault *fault)
{
    struct tw_report_config ours;
    struct tw_report *made;
    enum tw_status status = TW_SIZED_TAKE(&ours, config, "struct tw_report_config", fault);

    *report = NULL;
    if (status != TW_OK)
        return status;
    made = tw_take(ours.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "out of memory");
    made->config = ours;
    if (!made->config.room)
        made->config.room = REPORT_ROOM;
    tw_tables_init(&made->tables, ours.allocator);
    tw_report_spans_init(&made->spans, ours.allocator, made->config.room);
    status = new_analyses(made, fault);
    if (status == TW_OK)
        *report = made;
    else
        tw_report_free(made);
    return status;
}

void tw_report_free(struct tw_report *report)
{
    if (!report)
        return;
    tw_coverage_free(report->coverage);
    tw_interrupts_free(report->interrupts);
    tw_timeline_free(report->timeline);
    tw_profile_free(report->profile);
    tw_calls_free(report->own_calls);
    tw_report_spans_free(&report->spans);
    tw_tables_free(&report->tables);
    tw_give(report->config.allocator, report);
}

enum tw_status tw_report_take(struct tw_report *report, struct tw_run *run,
                              const struct tw_part *part)
{
    enum tw_status status;

    report->run = run;
    status = tw_timeline_take(report->timeline, run, part);
    if (status == TW_OK && report->own_calls)
        status = tw_profile_take(report->profile, run, part);
    return status == TW_OK && (report->is_out || report->spans.is_out) ? TW_E_MEMORY : status;
}

struct tw_run_counter tw_report_counter(struct tw_report *report)
{
    return tw_coverage_counter(report->coverage);
}

void tw_report_run(struct tw_report *report, struct tw_run *run)
{
    report->code_run = run;
    tw_coverage_run(report->coverage, run);
}

uint32_t tw_report_name(struct tw_report *report, const char *name)
{
    if (name && report->config.show_name)
        name = report->config.show_name(report->config.show_context, name);
    return tw_report_text(report, name);
}

uint32_t tw_report_text(struct tw_report *report, const char *text)
{
    return text ? tw_tables_text(&report->tables, text) : 0;
}

enum tw_status tw_report_write(struct tw_report *report, tw_write_fn *write, void *context)
{
    struct tw_tables *tables = &report->tables;
    const struct tw_report_config *config = &report->config;
    enum tw_status status = tw_timeline_finish(report->timeline);

    if (status == TW_OK)
        tw_report_add_interrupts(report); /* functions have their numbers until the calls end */
    if (status == TW_OK)
        status = tw_profile_finish(report->profile);
    if (status == TW_OK && report->code_run)
        status = tw_coverage_finish(report->coverage);
    if (status != TW_OK)
        return status;
    tw_tables_fact(tables, "title", config->title ? config->title : "");
    tw_tables_fact(tables, "creator", config->creator ? config->creator : "");
    tw_tables_fact(tables, "words", config->words ? config->words : "");
    tw_report_add_functions(report);
    tw_report_add_paths(report);
    tw_report_add_spans(report);
    if (report->code_run) {
        tw_report_add_coverage(report);
        tw_report_add_code(report);
    }
    tw_report_add_losses(report);
    if (report->is_out || report->spans.is_out)
        return TW_E_MEMORY;
    return tw_tables_write(tables, write, context);
}
