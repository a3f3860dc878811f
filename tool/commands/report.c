/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway report: one HTML file that shows captures. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/doctor.h>
#include <trackway/report.h>
#include <trackway/version.h>

#include "base/text.h"
#include "commands/commands.h"
#include "report/page.h"
#include "report/words.h"
#include "shared/feed.h"
#include "shared/names.h"
#include "shared/source_text.h"

enum { DEFAULT_BUDGET = 20 * 1000 * 1000 };

/* One capture: it is run twice, once in the order of time, once to count its code. */
struct report_command {
    const struct options *options;
    struct page page;
    struct tw_report *report;
    struct names names;
    struct source_texts texts;
    char creator[64];
};

static enum tw_status take(void *context, struct tw_run *run, const struct tw_part *part)
{
    struct report_command *command = context;

    return tw_report_take(command->report, run, part);
}

static void begin_counting(void *context, struct tw_run *run)
{
    struct report_command *command = context;

    tw_report_run(command->report, run);
}

static const char *line_text(void *context, const char *file, uint32_t line, size_t *size)
{
    return source_text(context, file, line, size);
}

static enum tw_call_key key_of(const struct options *options)
{
    const char *key = options->key;

    return !key                          ? TW_CALL_KEY_AUTO
           : strcmp(key, "tid") == 0     ? TW_CALL_KEY_THREAD
           : strcmp(key, "context") == 0 ? TW_CALL_KEY_CONTEXT
                                         : TW_CALL_KEY_CORE;
}

static enum tw_time_unit unit_of(const struct options *options)
{
    const char *unit = options->time_unit;

    return !unit                         ? TW_UNIT_AUTO
           : strcmp(unit, "time") == 0   ? TW_UNIT_TIME
           : strcmp(unit, "cycles") == 0 ? TW_UNIT_CYCLES
                                         : TW_UNIT_INSTRUCTIONS;
}

/* Bytes for the tables of one capture: three of them are four characters of the file. */
static uint64_t room_of(const struct options *options)
{
    const uint64_t budget = options->budget.is_given ? options->budget.value : DEFAULT_BUDGET;

    return budget > web_page_size ? (budget - web_page_size) / 4 * 3 / options->arguments.count
                                  : 1;
}

static bool make_report(struct report_command *command, const char *path, const char *words)
{
    const struct options *options = command->options;
    const char *slash = strrchr(path, '/');
    const struct tw_report_config config = {
        .size = sizeof config,
        .title = slash && slash[1] ? slash + 1 : path,
        .words = words,
        .creator = command->creator,
        .key = key_of(options),
        .unit = unit_of(options),
        .core_type = options->arch,
        .is_logical = options->tail_calls && strcmp(options->tail_calls, "logical") == 0,
        .room = room_of(options),
        .show_name = names_show,
        .show_context = &command->names,
        .source_text = options->embed_sources ? line_text : NULL,
        .source_context = &command->texts,
    };
    struct tw_fault fault;

    if (tw_report_new(&command->report, &config, &fault) == TW_OK)
        return true;
    say("%s", fault.text);
    return false;
}

/* What the capture as a whole lacks; a report without it is none the worse. */
static void ask_doctor(struct report_command *command, const struct session *session)
{
    struct tw_doctor *doctor = NULL;
    struct tw_fault fault;

    if (tw_doctor_new(&doctor, session->capture, NULL, &fault) == TW_OK &&
        tw_report_doctor(command->report, doctor) != TW_OK)
        say("out of memory");
    tw_doctor_free(doctor);
}

static int write_data(struct report_command *command)
{
    enum tw_status status;

    page_data_begin(&command->page);
    status = tw_report_write(command->report, page_bytes, &command->page);
    page_data_end(&command->page);
    if (status == TW_E_MEMORY)
        say("out of memory");
    return status == TW_OK || status == TW_E_CANCELLED ? DONE : NOT_DONE;
}

static bool is_done(int status)
{
    return status == DONE || status == DONE_WITH_LOSS;
}

/* The options of one capture of the command line. */
static struct options one_of(const struct options *options, size_t number)
{
    struct options one = *options;

    one.arguments = (struct list){ &options->arguments.items[number], 1 };
    return one;
}

static int report_one(struct report_command *command, size_t number)
{
    struct options first = one_of(command->options, number), second = first;
    struct feed timed = { .order = TW_ORDER_TIME };
    struct tw_run_counter counter;
    struct feed counted = { .counter = &counter, .begin = begin_counting };
    struct tw_text words = { .chars = NULL };
    int status = NOT_DONE;

    report_words(&words, command->options, number);
    second.quiet = true; /* what is to be said of it was said */
    if (make_report(command, first.arguments.items[0], words.chars)) {
        counter = tw_report_counter(command->report);
        status = feed_run(&timed, &first, take, command);
        if (is_done(status) && !is_done(feed_run(&counted, &second, NULL, command)))
            status = NOT_DONE;
        if (is_done(status)) {
            ask_doctor(command, &counted.sessions[0]);
            if (write_data(command) != DONE)
                status = NOT_DONE;
        }
    }
    tw_report_free(command->report);
    command->report = NULL;
    tw_text_free(&words);
    feed_close(&counted);
    feed_close(&timed);
    return status;
}

static void summarize(const struct report_command *command, const struct output *out)
{
    const struct options *options = command->options;

    if (!options->quiet && options->output && !out->has_failed)
        say("%s: %" PRIu64 " bytes of data; open it with a browser", options->output,
            command->page.data);
}

static int run(const struct options *options)
{
    struct report_command command = { .options = options, .texts.root = options->source_root };
    struct output out;
    int worst = DONE;

    if (!options->output) {
        say("report: give the file a name with --output: -o report.html");
        return BAD_USAGE;
    }
    if (!output_open(&out, options->output, COLOR_NEVER))
        return NOT_DONE;
    command.page.out = &out;
    (void)snprintf(command.creator, sizeof command.creator, "trackway %s", tw_version());
    names_open(&command.names, options, true);
    page_head(&command.page, PAGE_ALONE);
    for (size_t i = 0; i < options->arguments.count && is_done(worst); i++) {
        const int status = report_one(&command, i);

        if (status != DONE)
            worst = status;
    }
    page_tail(&command.page);
    names_close(&command.names);
    source_texts_free(&command.texts);
    if (!output_close(&out, is_done(worst)))
        worst = NOT_DONE;
    if (is_done(worst))
        summarize(&command, &out);
    return worst;
}

static const uint8_t takes[] = {
    G_CAPTURE,     G_PART,      G_DECODER,  G_EXECUTED,    O_KEY,
    O_TAIL_CALLS,  O_TIME_UNIT, O_DEMANGLE, O_NO_DEMANGLE, O_EMBED_SOURCES,
    O_SOURCE_ROOT, O_BUDGET,    G_OUTPUT,   O_END,
};

const struct command command_report = {
    .name = "report",
    .arguments = "CAPTURE... -o FILE.html [OPTION...]",
    .summary = "one HTML file to look at: flame graph, timeline, code, coverage, losses",
    .details =
        "Writes a page that needs no network and no server: open it with a browser, or send\n"
        "it to someone. It has an overview, a flame graph, a timeline, functions, code with\n"
        "counts and branch probabilities, coverage, losses, interrupts and messages; pages\n"
        "without data are left out. Of two captures it shows what differs too.\n"
        "\n"
        "Where the data would be larger than --budget, short spans of the timeline are\n"
        "merged and code that executed least is left out; the page says so.\n"
        "\n"
        "examples:\n"
        "  trackway report snapshot/ -o report.html\n"
        "  trackway report perf.data --embed-sources --source-root src/ -o report.html\n"
        "  trackway report before.data after.data -o difference.html",
    .options = takes,
    .least = 1,
    .most = 64,
    .run = run,
};
