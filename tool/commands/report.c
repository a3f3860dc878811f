/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway report: one HTML file that shows captures. */
#include <inttypes.h>

#include "commands/commands.h"
#include "report/make.h"
#include "report/page.h"

enum { DEFAULT_BUDGET = 20 * 1000 * 1000 };

/* Bytes for the tables of one capture: three of them are four characters of the file. */
static uint64_t room_of(const struct options *options)
{
    const uint64_t budget = options->budget.is_given ? options->budget.value : DEFAULT_BUDGET;

    return budget > web_page_size ? (budget - web_page_size) / 4 * 3 / options->arguments.count
                                  : 1;
}

static void summarize(const struct options *options, const struct page *page)
{
    if (!options->quiet)
        say("%s: %" PRIu64 " bytes of data; open it with a browser", options->output,
            page->data);
}

static int write_captures(struct page *page, const struct options *options)
{
    struct report_maker maker;
    int worst = DONE;

    report_open(&maker, options);
    maker.room = room_of(options);
    for (size_t i = 0; i < options->arguments.count && worst < BAD_USAGE; i++) {
        int status;

        page_data_begin(page);
        status = report_make(&maker, i, page_bytes, page);
        page_data_end(page);
        worst = status > worst ? status : worst;
    }
    report_close(&maker);
    return worst;
}

static int run(const struct options *options)
{
    struct output out;
    struct page page = { .out = &out };
    int status;

    if (!options->output) {
        say("report: give the file a name with --output: -o report.html");
        return BAD_USAGE;
    }
    if (!output_open(&out, options->output, COLOR_NEVER))
        return NOT_DONE;
    page_head(&page, PAGE_ALONE);
    status = write_captures(&page, options);
    page_tail(&page);
    if (!output_close(&out, status < BAD_USAGE))
        status = NOT_DONE;
    if (status < BAD_USAGE)
        summarize(options, &page);
    return status;
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
