/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile as a table for people. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/profile.h"

#include "base/percent.h"

enum { BAR = 20 };

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static void print_bar(struct output *out, uint64_t part, uint64_t all)
{
    const double share = percent(part, all);
    const unsigned filled = (unsigned)(share * BAR / 100 + 0.5);
    char bar[BAR + 1] = "";

    output_format(out, "%5s %% ", tw_percent((double)part, (double)all, 1).text);
    output_color(out, share >= 10 ? RED : share >= 1 ? YELLOW : DIM);
    for (unsigned i = 0; i < BAR; i++)
        bar[i] = i < filled ? '#' : '.';
    output_text(out, bar);
    output_color(out, PLAIN);
}

/* ~ marks an estimate whose bounds are more than a hundredth apart. */
static void print_spent(struct output *out, const struct tw_spent *spent, bool has_bounds)
{
    const bool is_sure = has_bounds && (spent->most - spent->least) * 100 <= spent->estimate;
    char text[24];

    (void)snprintf(text, sizeof text, "%s%" PRIu64, is_sure ? "" : "~", spent->estimate);
    output_format(out, " %13s", text);
    if (has_bounds)
        output_format(out, " [%" PRIu64 ", %" PRIu64 "]", spent->least, spent->most);
}

static const struct tw_spent *spent_of(const struct profile_command *command,
                                       const struct tw_profile_row *row)
{
    return command->unit == UNIT_CYCLES ? &row->cycles : &row->time;
}

static bool has_spent(const struct profile_command *command,
                      const struct tw_profile_totals *totals)
{
    return command->unit == UNIT_CYCLES ? totals->has_cycles
           : command->unit == UNIT_TIME ? totals->has_time
                                        : false;
}

static void print_name(struct output *out, struct profile_command *command,
                       const struct tw_profile_row *row)
{
    output_text(out, "  ");
    if (command->by == TW_PROFILE_LINE && row->file) {
        output_format(out, "%s:%" PRIu32, row->file, row->line);
        if (row->name)
            output_format(out, " (%s)", names_show(&command->names, row->name));
        return;
    }
    if (command->by == TW_PROFILE_ADDRESS)
        output_format(out, "0x%" PRIx64 " ", row->address);
    if (row->tid != TW_NONE)
        output_format(out, "%" PRIu32 " ", row->tid);
    else if (row->pid != TW_NONE)
        output_format(out, "%" PRIu32 " ", row->pid);
    if (row->name)
        output_name(out, names_show(&command->names, row->name));
    else
        output_text(out, command->by == TW_PROFILE_LINE      ? "[no line]"
                         : command->by <= TW_PROFILE_ADDRESS ? "[no symbol]"
                                                             : "[not known]");
    if (command->by == TW_PROFILE_ADDRESS && row->file)
        output_format(out, " %s:%" PRIu32, row->file, row->line);
    if (row->known & TW_PROFILE_IS_INLINED)
        output_text(out, " (inlined)");
    if (row->object && command->by <= TW_PROFILE_ADDRESS)
        output_format(out, " (%s)", row->object);
}

static const char *const columns[] = {
    [TW_PROFILE_FUNCTION] = "function", [TW_PROFILE_LINE] = "line",
    [TW_PROFILE_ADDRESS] = "address",   [TW_PROFILE_THREAD] = "thread",
    [TW_PROFILE_PROGRAM] = "program",   [TW_PROFILE_SOURCE] = "source",
};

/* What rows tell: those of a result that was kept tell what it had. */
static uint8_t known_of(const struct profile_command *command)
{
    const struct tw_profile_row *row = tw_profile_row(command->profile, 0);

    return row ? row->known & (TW_PROFILE_HAS_CALLS | TW_PROFILE_HAS_TOTAL) : 0;
}

static void print_head(struct profile_command *command, bool with_spent)
{
    struct output *out = &command->out;

    output_color(out, BOLD);
    output_format(out, "%12s %7s %-20s", "self", "share", "");
    if (command->calls || command->with_inlined || known_of(command))
        output_format(out, " %12s %9s", "total",
                      command->calls || known_of(command) & TW_PROFILE_HAS_CALLS ? "calls"
                                                                                 : "first");
    else if (command->by == TW_PROFILE_FUNCTION)
        output_format(out, " %9s", "first");
    if (with_spent)
        output_format(out, " %13s", command->unit == UNIT_CYCLES ? "cycles" : "time");
    output_format(out, "  %s\n", columns[command->by]);
    output_color(out, PLAIN);
}

static void print_row(struct profile_command *command, const struct tw_profile_row *row,
                      const struct tw_profile_totals *totals, bool with_spent)
{
    struct output *out = &command->out;

    output_format(out, "%12" PRIu64 " ", row->self);
    print_bar(out, row->self, totals->instructions);
    if (command->calls || command->with_inlined || known_of(command))
        output_format(out, " %12" PRIu64 " %9" PRIu64, row->total, row->entries);
    else if (command->by == TW_PROFILE_FUNCTION)
        output_format(out, " %9" PRIu64, row->entries);
    if (with_spent)
        print_spent(out, spent_of(command, row), row->known & TW_PROFILE_HAS_BOUNDS);
    print_name(out, command, row);
    output_text(out, "\n");
}

int profile_print(struct profile_command *command)
{
    struct tw_profile_totals totals = { .size = sizeof totals };
    const struct tw_profile_row *row;
    bool with_spent;

    if (!tw_profile_totals(command->profile, &totals))
        return NOT_DONE;
    with_spent = has_spent(command, &totals);
    print_head(command, with_spent);
    for (size_t i = 0; i < command->limit && (row = tw_profile_row(command->profile, i)) &&
                       !output_is_over(&command->out);
         i++)
        print_row(command, row, &totals, with_spent);
    if (with_spent) {
        const bool is_time = command->unit == UNIT_TIME;
        const uint64_t lost = is_time ? totals.lost_time : totals.lost_cycles;

        output_format(&command->out, "%" PRIu64 " %s in all, %" PRIu64 " with trace missing\n",
                      is_time ? totals.time : totals.cycles,
                      !is_time                          ? "cycles"
                      : totals.clock == TW_CLOCK_RECORD ? "ns"
                                                        : "ticks",
                      lost);
    }
    return DONE;
}

/* ---- paths of calls ---- */

struct path_line {
    uint64_t self;
    char *text;
};

struct path_table {
    const struct tw_functions *functions;
    struct names *names;
    struct path_line *lines;
    size_t count, room;
    bool is_out;
};

static const char *name_of(const struct path_table *table, uint32_t function)
{
    return names_show(table->names, tw_functions_get(table->functions, function)->name);
}

static char *text_of(const struct path_table *table, const struct tw_call_path *path)
{
    size_t size = 1, at = 0;
    char *text;

    for (size_t i = 0; i < path->depth; i++)
        size += strlen(name_of(table, path->functions[i])) + 1;
    text = malloc(size);
    for (size_t i = 0; text && i < path->depth; i++) {
        const char *name = name_of(table, path->functions[i]);
        const size_t length = strlen(name);

        if (i)
            text[at++] = ';';
        memcpy(text + at, name, length);
        at += length;
    }
    if (text)
        text[at] = 0;
    return text;
}

static void take_path(void *context, const struct tw_call_path *path)
{
    struct path_table *table = context;

    if (!path->self || table->is_out)
        return;
    if (table->count == table->room) {
        const size_t room = table->room ? table->room * 2 : 256;
        struct path_line *more = realloc(table->lines, room * sizeof *more);

        table->is_out = !more;
        if (!more)
            return;
        table->lines = more;
        table->room = room;
    }
    table->lines[table->count].self = path->self;
    table->lines[table->count].text = text_of(table, path);
    table->is_out = !table->lines[table->count].text;
    table->count += !table->is_out;
}

static int compare(const void *left, const void *right)
{
    const struct path_line *a = left, *b = right;

    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    return strcmp(a->text, b->text);
}

int profile_print_stacks(struct profile_command *command)
{
    const uint64_t all = tw_calls_stats(command->calls).instructions;
    struct path_table table = { .functions = tw_calls_functions(command->calls),
                                .names = &command->names };

    if (tw_calls_paths(command->calls, take_path, &table) != TW_OK)
        out_of_memory();
    if (table.count)
        qsort(table.lines, table.count, sizeof *table.lines, compare);
    output_color(&command->out, BOLD);
    output_format(&command->out, "%12s %7s %-20s  %s\n", "self", "share", "", "stack");
    output_color(&command->out, PLAIN);
    for (size_t i = 0; i < table.count; i++) {
        if (i < command->limit && !output_is_over(&command->out)) {
            output_format(&command->out, "%12" PRIu64 " ", table.lines[i].self);
            print_bar(&command->out, table.lines[i].self, all);
            output_text(&command->out, "  ");
            output_name(&command->out, table.lines[i].text);
            output_text(&command->out, "\n");
        }
        free(table.lines[i].text);
    }
    free(table.lines);
    if (table.is_out)
        say("out of memory");
    return table.is_out ? NOT_DONE : DONE;
}
