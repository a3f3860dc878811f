/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile of PC samples: what there is where no program flow was traced.  Counts are of samples, and
   said to be. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/pc_samples.h>

#include "commands/profile.h"

#include "base/percent.h"

enum { BAR = 20 };

struct sampled_row {
    const char *name; /* of its function; NULL: it has none */
    const char *file;
    uint32_t line;
    uint64_t address;
    uint64_t count;
};

struct sampled {
    struct tw_pc_samples *samples;
    struct tw_run *run;
    struct tw_part part; /* one of those that held samples: names are looked for in its place */
    struct sampled_row *rows;
    size_t count;
    bool has_file;
};

/* PC samples are the DWT's, and come with an ITM's trace. */
static bool may_hold_samples(const struct tw_source *source)
{
    return source && source->protocol && strcmp(source->protocol, "itm") == 0;
}

static bool any_may_hold_samples(const struct feed *feed)
{
    for (size_t i = 0; i < feed->count; i++) {
        const struct tw_capture *capture = feed->sessions[i].capture;

        for (size_t k = 0; k < tw_capture_source_count(capture); k++)
            if (may_hold_samples(tw_capture_source(capture, k)))
                return true;
    }
    return false;
}

static enum tw_status take(void *context, struct tw_run *run, const struct tw_part *part)
{
    struct sampled *sampled = context;

    if (part->kind != TW_PART_ELEMENTS || !may_hold_samples(part->source))
        return TW_OK;
    sampled->run = run;
    sampled->part = *part;
    return tw_pc_samples_take(sampled->samples, &part->batch);
}

static int by_name(const void *left, const void *right)
{
    const struct sampled_row *a = left, *b = right;
    const int names = strcmp(a->name ? a->name : "", b->name ? b->name : "");
    const int files = strcmp(a->file ? a->file : "", b->file ? b->file : "");

    if (names || files)
        return names ? names : files;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

static int by_count(const void *left, const void *right)
{
    const struct sampled_row *a = left, *b = right;

    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return by_name(left, right);
}

static bool is_same(const struct profile_command *command, const struct sampled_row *a,
                    const struct sampled_row *b)
{
    if (command->by == TW_PROFILE_ADDRESS || !a->name || !b->name)
        return a->address == b->address;
    if (strcmp(a->name, b->name) != 0)
        return false;
    return command->by != TW_PROFILE_LINE || (a->line == b->line && (!a->file == !b->file) &&
                                              (!a->file || strcmp(a->file, b->file) == 0));
}

/* A row for each address, function or line.  False: out of memory. */
static bool make_rows(struct sampled *sampled, const struct profile_command *command)
{
    const struct tw_pc_count *counts;
    size_t count, kept = 0;

    if (tw_pc_samples_counts(sampled->samples, &counts, &count, NULL) != TW_OK)
        return false;
    sampled->rows = calloc(count + 1, sizeof *sampled->rows);
    if (!sampled->rows)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct tw_name name = { .size = sizeof name };
        struct sampled_row *row = &sampled->rows[i];

        row->address = counts[i].pc;
        row->count = counts[i].count;
        if (!tw_run_name(sampled->run, &name, &sampled->part, counts[i].pc))
            continue;
        row->name = name.has_symbol ? name.symbol.name : NULL;
        if (command->by == TW_PROFILE_LINE && name.has_line) {
            row->file = name.line.file;
            row->line = name.line.line;
        }
        if (command->by == TW_PROFILE_FUNCTION && name.has_symbol)
            row->address = name.symbol.address & ~(uint64_t)1;
    }
    qsort(sampled->rows, count, sizeof *sampled->rows, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept && is_same(command, &sampled->rows[kept - 1], &sampled->rows[i]))
            sampled->rows[kept - 1].count += sampled->rows[i].count;
        else
            sampled->rows[kept++] = sampled->rows[i];
    }
    sampled->count = kept;
    qsort(sampled->rows, kept, sizeof *sampled->rows, by_count);
    return true;
}

static void print_text(struct profile_command *command, const struct sampled *sampled,
                       const struct tw_pc_totals *totals)
{
    struct output *out = &command->out;

    output_color(out, BOLD);
    output_text(out, "     samples  share                       function\n");
    output_color(out, PLAIN);
    for (size_t i = 0; i < sampled->count && i < command->limit; i++) {
        const struct sampled_row *row = &sampled->rows[i];
        const double share = 100.0 * (double)row->count / (double)totals->samples;

        output_format(out, "%12" PRIu64 " %5s %% ", row->count,
                      tw_percent((double)row->count, (double)totals->samples, 1).text);
        for (unsigned k = 0; k < BAR; k++)
            output_text(out, k < (unsigned)(share * BAR / 100 + 0.5) ? "#" : ".");
        output_text(out, "  ");
        if (row->name && command->by != TW_PROFILE_ADDRESS)
            output_name(out, names_show(&command->names, row->name));
        else
            output_format(out, "0x%08" PRIx64, row->address);
        if (row->name && command->by == TW_PROFILE_ADDRESS) {
            output_text(out, " ");
            output_name(out, names_show(&command->names, row->name));
        }
        if (row->file)
            output_format(out, "  %s:%" PRIu32, row->file, row->line);
        output_text(out, "\n");
    }
    if (totals->asleep)
        output_format(out, "%12" PRIu64 " %5s %%  [asleep]\n", totals->asleep,
                      tw_percent((double)totals->asleep, (double)totals->samples, 1).text);
    if (totals->prohibited)
        output_format(out, "%12" PRIu64 " %5s %%  [prohibited]\n", totals->prohibited,
                      tw_percent((double)totals->prohibited, (double)totals->samples, 1).text);
}

static void print_json(struct profile_command *command, const struct sampled *sampled,
                       const struct tw_pc_totals *totals)
{
    static const char *const types[] = { [TW_PROFILE_FUNCTION] = "FUNCTION",
                                         [TW_PROFILE_LINE] = "LINE",
                                         [TW_PROFILE_ADDRESS] = "INSTR" };
    struct output *out = &command->out;

    for (size_t i = 0; i < sampled->count; i++) {
        const struct sampled_row *row = &sampled->rows[i];

        output_format(out, "{\"t\":\"%s\"", types[command->by]);
        if (row->name) {
            output_text(out,
                        command->by == TW_PROFILE_FUNCTION ? ",\"name\":" : ",\"function\":");
            output_json_text(out, row->name);
        }
        if (command->by != TW_PROFILE_LINE)
            output_format(out, ",\"%s\":\"0x%" PRIx64 "\"",
                          command->by == TW_PROFILE_ADDRESS ? "pc" : "addr", row->address);
        if (row->file) {
            output_text(out, ",\"file\":");
            output_json_text(out, row->file);
            output_format(out, ",\"line\":%" PRIu32, row->line);
        }
        output_format(out, ",\"samples\":%" PRIu64 "}\n", row->count);
    }
    output_format(out,
                  "{\"t\":\"TOTAL\",\"samples\":%" PRIu64 ",\"asleep\":%" PRIu64
                  ",\"prohibited\":%" PRIu64 ",\"unit\":\"samples\"}\n",
                  totals->samples, totals->asleep, totals->prohibited);
}

static int print(struct profile_command *command, const struct options *options,
                 const struct sampled *sampled, const struct tw_pc_totals *totals)
{
    bool is_closed;

    if (!output_open(&command->out, options->output, options->color))
        return NOT_DONE;
    names_open(&command->names, options, names_are_for_people(options));
    if (options_format_is(options, "jsonl"))
        print_json(command, sampled, totals);
    else
        print_text(command, sampled, totals);
    names_close(&command->names);
    is_closed = output_close(&command->out, true);
    if (!options->quiet)
        say("from %" PRIu64 " PC samples: counts are samples, not instructions, and shares are "
            "estimates",
            totals->samples);
    return is_closed ? DONE : NOT_DONE;
}

bool profile_samples(struct profile_command *command, const struct options *options,
                     const struct feed *before, int *status)
{
    /* What is wrong with the captures was said when they were gone through for instructions. */
    struct options silent = *options;
    struct tw_pc_totals totals = { .size = sizeof totals };
    struct sampled sampled = { .samples = NULL };
    struct feed feed = { .order = TW_ORDER_CAPTURE };
    bool has_any = false;

    if (command->is_by_stack || command->by > TW_PROFILE_ADDRESS ||
        !any_may_hold_samples(before) ||
        tw_pc_samples_new(&sampled.samples, NULL, NULL) != TW_OK)
        return false;
    silent.quiet = true;
    *status = feed_run(&feed, &silent, take, &sampled);
    if ((*status == DONE || *status == DONE_WITH_LOSS) &&
        tw_pc_samples_totals(sampled.samples, &totals) && totals.samples) {
        has_any = true;
        if (options->format && !options_format_is(options, "text") &&
            !options_format_is(options, "jsonl")) {
            (void)options_wrong(options, "PC samples alone can be shown as text or jsonl");
            *status = BAD_USAGE;
        } else if (!make_rows(&sampled, command)) {
            say("out of memory");
            *status = NOT_DONE;
        } else if (print(command, options, &sampled, &totals) != DONE) {
            *status = NOT_DONE;
        }
    }
    free(sampled.rows);
    tw_pc_samples_free(sampled.samples);
    feed_close(&feed);
    return has_any;
}
