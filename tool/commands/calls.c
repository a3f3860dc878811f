/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway calls: who called whom, how often, and what was executed under each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/calls.h>
#include <trackway/formats.h>
#include <trackway/version.h>

#include "commands/calls.h"
#include "commands/commands.h"
#include "shared/advice.h"
#include "shared/choices.h"

struct calls_command {
    struct output out;
    struct tw_calls *calls;
    struct names names;
};

static enum tw_status take(void *context, struct tw_run *run, const struct tw_part *part)
{
    struct calls_command *command = context;

    return tw_calls_take(command->calls, run, part);
}

static void begin(void *context, struct tw_run *run)
{
    const struct calls_command *command = context;

    tw_calls_run(command->calls, run);
    tw_calls_take_alone(command->calls, run);
}

static bool write_bytes(void *context, const void *bytes, size_t size)
{
    struct output *out = context;

    output_bytes(out, bytes, size);
    return !output_is_over(out);
}

static int print(struct calls_command *command, const struct options *options,
                 const char *title)
{
    const char *name = options->format ? options->format : "text";
    char creator[64];
    const struct tw_format *format = tw_format_by_name(name, TW_SUBJECT_CALLS);
    const struct tw_subject subject = { .size = sizeof subject,
                                        .title = title,
                                        .creator = creator,
                                        .calls = command->calls,
                                        .with_stacks = options->stacks,
                                        .function = options->of_function,
                                        .show_name = names_show,
                                        .show_context = &command->names };
    enum tw_status status;

    (void)snprintf(creator, sizeof creator, "trackway %s", tw_version());
    if (!format && options->of_function)
        return calls_print_function(&command->out, command->calls, &command->names,
                                    options->of_function);
    if (!format)
        return calls_print_tree(&command->out, command->calls, &command->names, options);
    status = tw_format_write(format, &subject, write_bytes, &command->out);
    if (status == TW_E_MEMORY)
        say("out of memory");
    return status == TW_OK || status == TW_E_CANCELLED ? DONE : NOT_DONE;
}

/* Instructions in functions that have no name of their own. */
static uint64_t unknown_in(const struct tw_calls *calls)
{
    const struct tw_functions *functions = tw_calls_functions(calls);
    uint64_t unknown = 0;

    for (uint32_t i = 1; i < tw_functions_count(functions); i++)
        if (tw_functions_get(functions, i)->kind == TW_FUNCTION_UNNAMED)
            unknown += tw_calls_totals(calls, i).self;
    return unknown;
}

static void summarize(const struct options *options, const struct feed *feed,
                      const struct tw_calls *calls)
{
    const struct tw_calls_stats stats = tw_calls_stats(calls);

    if (options->quiet)
        return;
    advise_symbols(unknown_in(calls), stats.instructions);
    advise_code(stats.missing);
    if (!stats.instructions)
        advise_nothing(feed, stats.missing);
    say("%" PRIu64 " calls, %" PRIu64 " tail calls; %" PRIu64 " unknown, %" PRIu64
        " gaps; %" PRIu64 " instructions",
        stats.calls, stats.tails, stats.unknown, stats.gaps, stats.instructions);
}

/* Call graphs keep a tail caller's share with it; stacks are shown as they were. */
static bool is_logical(const struct options *options)
{
    if (options->tail_calls)
        return strcmp(options->tail_calls, "logical") == 0;
    return options_format_is(options, "callgrind") || options_format_is(options, "pprof") ||
           options_format_is(options, "dot");
}

/* What goes together. */
static bool fits(const struct options *options)
{
    const bool is_back = options->before || options->last.is_given;

    if (options->events && options->format && !options_format_is(options, "text") &&
        !options_format_is(options, "jsonl") && !options_format_is(options, "csv"))
        return options_wrong(options, "--events: there is jsonl (default) and csv of it");
    if (!options->arguments.count && !options->add.count)
        return options_wrong(options, "calls needs a CAPTURE, or --add FILE");
    if ((options->add.count || options->save) && (options->events || is_back))
        return options_wrong(options, "--add, --save: sums alone are kept");
    if (is_back && options->format && !options_format_is(options, "text"))
        return options_wrong(options, "--before, --last: there is text of it alone");
    if (is_back && (options->events || options->of_function))
        return options_wrong(options,
                             "--before, --last: neither --events nor --function with it");
    if (options->of_function && options->format && !options_format_is(options, "text") &&
        !options_format_is(options, "jsonl") && !options_format_is(options, "csv"))
        return options_wrong(options, "--function: there is text, jsonl and csv of it");
    return true;
}

/* What was kept of others: the first alone where there is no capture. */
static bool add_saved(struct calls_command *command, const struct options *options)
{
    struct tw_calls *saved;
    struct tw_fault fault;
    bool is_good = true;

    for (size_t i = 0; i < options->add.count && is_good; i++) {
        is_good = tw_calls_load(&saved, options->add.items[i], NULL, &fault) == TW_OK;
        if (is_good && !command->calls) {
            command->calls = saved;
            continue;
        }
        if (is_good && tw_calls_add(command->calls, saved, &fault) != TW_OK) {
            say("%s: %s", options->add.items[i], fault.text);
            tw_calls_free(saved);
            return false;
        }
        if (is_good)
            tw_calls_free(saved);
    }
    if (is_good && options->save)
        is_good = tw_calls_save(command->calls, options->save, &fault) == TW_OK;
    if (!is_good)
        say("%s", fault.text);
    return is_good;
}

static int run(const struct options *options)
{
    const struct tw_calls_config config = { .size = sizeof config,
                                            .key = call_key_of(options),
                                            .is_logical = is_logical(options),
                                            .with_inlined = options->with_inlined,
                                            .is_part = options->part && !options->events &&
                                                       !options->with_inlined };
    struct calls_command command = { .calls = NULL };
    struct feed feed = {
        .order = TW_ORDER_TIME, .is_whole = true, .is_cut = config.is_part, .begin = begin
    };
    struct tw_run_counter counter = { .size = sizeof counter };
    struct tw_fault fault;
    int status = DONE;

    if (!fits(options))
        return BAD_USAGE;
    if (options->events)
        return calls_print_events(options, &config);
    if (options->before || options->last.is_given)
        return calls_print_before(options, &config);
    feed.options = options;
    feed.calls_counter = options->with_inlined ? NULL : &counter;
    if (options->arguments.count && tw_calls_new(&command.calls, &config, &fault) != TW_OK) {
        say("%s", fault.text);
        return NOT_DONE;
    }
    counter = command.calls ? tw_calls_counter(command.calls) : counter;
    if (options->arguments.count)
        status = feed_run(&feed, options, take, &command);
    if (command.calls && !tw_calls_is_complete(command.calls)) {
        say("out of memory");
        status = NOT_DONE;
    }
    if ((status == DONE || status == DONE_WITH_LOSS) && !add_saved(&command, options))
        status = NOT_DONE;
    if ((status == DONE || status == DONE_WITH_LOSS) &&
        !output_open(&command.out, options->output, options->color))
        status = NOT_DONE;
    else if (status == DONE || status == DONE_WITH_LOSS) {
        int printed;

        if (tw_calls_finish(command.calls) != TW_OK)
            out_of_memory();
        names_open(&command.names, options, names_are_for_people(options));
        printed = print(&command, options, feed_title(&feed));
        names_close(&command.names);
        /* Source lines are looked up while they are printed. */
        if (printed == DONE && !tw_calls_is_complete(command.calls)) {
            say("out of memory");
            printed = NOT_DONE;
        }
        if (printed != DONE)
            status = printed;
        if (!output_close(&command.out, printed == DONE))
            status = NOT_DONE;
        summarize(options, &feed, command.calls);
    }
    tw_calls_free(command.calls);
    feed_close(&feed);
    return status;
}

static const uint8_t takes[] = {
    G_CAPTURE,     G_PART,     G_DECODER,     G_EXECUTED, O_RANGE,
    O_OF_FUNCTION, O_LIMIT,    O_DEPTH,       O_KEY,      O_TAIL_CALLS,
    O_STACKS,      O_EVENTS,   O_BEFORE,      O_LAST,     O_INSTRUCTIONS,
    O_SOURCE_ROOT, O_DEMANGLE, O_NO_DEMANGLE, G_OUTPUT,   O_INLINE,
    O_SAVE,        O_PART,     O_PARTS,       O_ADD,      O_END,
};

const struct command command_calls = {
    .name = "calls",
    .arguments = "CAPTURE... [OPTION...]",
    .summary = "who called whom, how often, and what was executed under each",
    .details =
        "text prints the tree of calls: share and number of the instructions executed in and\n"
        "below each, in itself, and how often it was entered. What was called before the\n"
        "trace began, or lost in a gap, is [callers unknown] until a return shows it. Of "
        "large\n"
        "trees the 1000 lines with the most instructions are shown, no deeper than 64 calls;\n"
        "--limit and --depth show more, and the last line says how much is left out.\n"
        "An exception stands on what it interrupted until it returns: on M profile when\n"
        "EXC_RETURN is loaded into the PC, whatever instruction does so; a handler that is\n"
        "chained stands where the one before it stood. ETMv3 does not tell where a branch\n"
        "through a register led that an exception follows at once: its handler then stands on\n"
        "the function that was left, and what the handler executes is counted there.\n"
        "\n"
        "examples:\n"
        "  trackway calls perf.data --function memcpy\n"
        "  trackway calls snapshot/ --last 30                 how did I get to the end?\n"
        "  trackway calls snapshot/ --before exception:1 --instructions\n"
        "  trackway calls perf.data --format svg -o flames.svg\n"
        "  trackway calls monday.data --save monday.twr\n"
        "  trackway calls --add monday.twr --add tuesday.twr  the sum of both",
    .formats = "text|jsonl|csv|folded|svg|callgrind|pprof|speedscope|dot",
    .options = takes,
    .least = 0,
    .most = 4096,
    .is_confined = true,
    .run = run,
};
