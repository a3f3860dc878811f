/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway profile: where the instructions and the time went. */
#include "commands/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/formats.h>
#include <trackway/version.h>

#include "base/percent.h"
#include "commands/commands.h"
#include "shared/advice.h"
#include "shared/feed.h"
#include "shared/names.h"

static void begin(void *context, struct tw_run *run)
{
    struct profile_command *command = context;

    if (command->profile)
        tw_profile_run(command->profile, run);
    if (command->calls)
        tw_calls_run(command->calls, run);
    if (command->calls && !command->with_time)
        tw_calls_take_alone(command->calls, run);
}

static enum tw_status take(void *context, struct tw_run *run, const struct tw_part *part)
{
    struct profile_command *command = context;

    if (!command->profile)
        return tw_calls_take(command->calls, run, part);
    return tw_profile_take(command->profile, run, part);
}

static bool write_bytes(void *context, const void *bytes, size_t size)
{
    struct output *out = context;

    output_bytes(out, bytes, size);
    return !output_is_over(out);
}

static const struct {
    const char *word;
    enum tw_profile_by by;
} kinds[] = {
    { "function", TW_PROFILE_FUNCTION }, { "line", TW_PROFILE_LINE },
    { "address", TW_PROFILE_ADDRESS },   { "thread", TW_PROFILE_THREAD },
    { "program", TW_PROFILE_PROGRAM },   { "source", TW_PROFILE_SOURCE },
};

/* Paths of calls: asked for, or what the format holds. */
static bool is_by_stack(const struct options *options)
{
    if (options->by && strcmp(options->by, "stack") == 0)
        return true;
    return options->format && !options_format_is(options, "text") &&
           !tw_format_by_name(options->format, TW_SUBJECT_PROFILE);
}

static bool choose(struct profile_command *command, const struct options *options)
{
    command->by = TW_PROFILE_FUNCTION;
    for (size_t i = 0; options->by && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(options->by, kinds[i].word) == 0)
            command->by = kinds[i].by;
    command->is_by_stack = is_by_stack(options);
    command->with_inlined = options->with_inlined;
    command->unit = !options->unit || strcmp(options->unit, "instructions") == 0
                        ? UNIT_INSTRUCTIONS
                    : strcmp(options->unit, "cycles") == 0 ? UNIT_CYCLES
                                                           : UNIT_TIME;
    if (command->is_by_stack && options->by && strcmp(options->by, "stack") != 0)
        return options_wrong(options, "--by: %s holds paths of calls, not a table by %s",
                             options->format, options->by);
    if (command->is_by_stack && options_format_is(options, "csv"))
        return options_wrong(options,
                             "--by stack: there is no csv of it; take folded or jsonl");
    if (command->unit != UNIT_INSTRUCTIONS &&
        (command->is_by_stack || options->self || options->with_inlined))
        return options_wrong(options, "--unit: %s counts instructions only",
                             options->self           ? "--self"
                             : options->with_inlined ? "--inline"
                                                     : "--by stack");
    if (options->with_inlined && (command->is_by_stack || command->by != TW_PROFILE_FUNCTION))
        return options_wrong(options, "--inline: rows have to be functions");
    return true;
}

static int open_analyses(struct profile_command *command, const struct options *options)
{
    const bool wants_calls = command->is_by_stack || (command->by == TW_PROFILE_FUNCTION &&
                                                      !options->self && !options->with_inlined);
    const struct tw_calls_config calls = {
        .size = sizeof calls,
        .is_logical = command->is_by_stack && (options_format_is(options, "callgrind") ||
                                               options_format_is(options, "pprof") ||
                                               options_format_is(options, "dot")),
        .is_part = command->is_by_stack && options->part
    };
    struct tw_fault fault;
    enum tw_status status = TW_OK;

    if (wants_calls)
        status = tw_calls_new(&command->calls, &calls, &fault);
    if (status == TW_OK && !command->is_by_stack) {
        const struct tw_profile_config config = {
            .size = sizeof config,
            .by = command->by,
            .calls = command->calls,
            .with_inlined = options->with_inlined,
            .with_time = command->unit != UNIT_INSTRUCTIONS ||
                         (wants_calls && (options->save || !names_are_for_people(options)))
        };

        command->with_time = config.with_time;
        command->takes_parts = config.with_time || wants_calls;
        status = tw_profile_new(&command->profile, &config, &fault);
    }
    command->takes_parts |= command->is_by_stack;
    if (status != TW_OK)
        say("%s", fault.text);
    return status == TW_OK ? DONE : NOT_DONE;
}

static int print(struct profile_command *command, const struct options *options,
                 const char *title)
{
    const enum tw_subject_kind kind =
        command->is_by_stack ? TW_SUBJECT_CALLS : TW_SUBJECT_PROFILE;
    const struct tw_format *format =
        options->format ? tw_format_by_name(options->format, kind) : NULL;
    char creator[64];
    const struct tw_subject subject = { .size = sizeof subject,
                                        .title = title,
                                        .creator = creator,
                                        .calls = command->calls,
                                        .profile = command->profile,
                                        .with_stacks = true,
                                        .show_name = names_show,
                                        .show_context = &command->names };
    enum tw_status status;

    (void)snprintf(creator, sizeof creator, "trackway %s", tw_version());
    if (!format)
        return command->is_by_stack ? profile_print_stacks(command) : profile_print(command);
    status = tw_format_write(format, &subject, write_bytes, &command->out);
    if (status == TW_E_MEMORY)
        say("out of memory");
    return status == TW_OK || status == TW_E_CANCELLED ? DONE : NOT_DONE;
}

/* What has no name, and what would give it one. */
static void say_unknown(const struct profile_command *command, const struct feed *feed)
{
    struct tw_profile_totals totals = { .size = sizeof totals };

    if (!command->profile || !tw_profile_totals(command->profile, &totals))
        return;
    if (totals.unknown > totals.untraced && command->by == TW_PROFILE_LINE)
        say("%s %% of the instructions come from no source line that is known: give files "
            "with "
            "debug information (--symbols FILE, --sysroot)",
            tw_percent((double)(totals.unknown - totals.untraced), (double)totals.instructions,
                       1)
                .text);
    else if (totals.unknown > totals.untraced && command->by <= TW_PROFILE_ADDRESS)
        advise_symbols(totals.unknown - totals.untraced, totals.instructions);
    advise_code(totals.missing);
    if (!totals.instructions)
        advise_nothing(feed, totals.missing);
    if (command->unit == UNIT_TIME && !totals.has_time)
        say("the trace has no timestamps: there is no time to show");
    if (command->unit == UNIT_CYCLES && !totals.has_cycles)
        say("the trace has no cycle counts: there are no cycles to show");
}

static void summarize(const struct profile_command *command, const struct feed *feed)
{
    struct tw_profile_totals totals = { .size = sizeof totals };

    say_unknown(command, feed);
    if (command->profile && tw_profile_totals(command->profile, &totals))
        say("%" PRIu64 " instructions: %" PRIu64 " known, %" PRIu64 " unknown",
            totals.instructions, totals.instructions - totals.unknown, totals.unknown);
    else if (command->calls)
        say("%" PRIu64 " instructions", tw_calls_stats(command->calls).instructions);
}

static bool has_instructions(const struct profile_command *command)
{
    struct tw_profile_totals totals = { .size = sizeof totals };

    if (command->calls && tw_calls_stats(command->calls).instructions)
        return true;
    return command->profile && tw_profile_totals(command->profile, &totals) &&
           totals.instructions;
}

static bool load_saved(struct profile_command *loaded, bool is_by_stack, const char *path,
                       struct tw_fault *fault)
{
    *loaded = (struct profile_command){ .calls = NULL };
    return (is_by_stack ? tw_calls_load(&loaded->calls, path, NULL, fault)
                        : tw_profile_load(&loaded->profile, path, NULL, fault)) == TW_OK;
}

static void close_analyses(struct profile_command *command)
{
    tw_profile_free(command->profile);
    tw_calls_free(command->calls);
}

/* What was kept of others: the first alone where there is no capture. */
static bool add_saved(struct profile_command *command, const struct options *options)
{
    struct tw_fault fault;

    for (size_t i = 0; i < options->add.count; i++) {
        struct profile_command loaded;
        enum tw_status status = TW_OK;

        if (!load_saved(&loaded, command->is_by_stack, options->add.items[i], &fault)) {
            say("%s", fault.text);
            return false;
        }
        if (!command->profile && !command->calls) {
            command->profile = loaded.profile;
            command->calls = loaded.calls;
            if (loaded.profile)
                command->by = tw_profile_what(loaded.profile);
            continue;
        }
        status = command->is_by_stack
                     ? tw_calls_add(command->calls, loaded.calls, &fault)
                     : tw_profile_add(command->profile, loaded.profile, &fault);
        close_analyses(&loaded);
        if (status == TW_OK)
            continue;
        say("%s: %s", options->add.items[i], fault.text);
        return false;
    }
    if (!options->save ||
        (command->is_by_stack
             ? tw_calls_save(command->calls, options->save, &fault)
             : tw_profile_save(command->profile, options->save, &fault)) == TW_OK)
        return true;
    say("%s", fault.text);
    return false;
}

static int finish(struct profile_command *command, const struct options *options,
                  const struct feed *feed)
{
    int status = DONE;

    if (command->profile && tw_profile_finish(command->profile) != TW_OK) {
        say("out of memory");
        return NOT_DONE;
    }
    if (!add_saved(command, options))
        return NOT_DONE;
    if (command->calls && tw_calls_finish(command->calls) != TW_OK)
        out_of_memory();
    command->limit = options->limit.is_given ? options->limit.value : UINT64_MAX;
    if (options->arguments.count && !has_instructions(command) &&
        profile_samples(command, options, feed, &status))
        return status == DONE_WITH_LOSS ? DONE : status;
    if (!output_open(&command->out, options->output, options->color))
        return NOT_DONE;
    names_open(&command->names, options, names_are_for_people(options));
    status = print(command, options, feed_title(feed));
    names_close(&command->names);
    if (!output_close(&command->out, status == DONE))
        status = NOT_DONE;
    if (!options->quiet)
        summarize(command, feed);
    return status;
}

static int run(const struct options *options)
{
    struct profile_command command = { .calls = NULL };
    struct tw_run_counter counter;
    struct feed feed = { .order = TW_ORDER_TIME, .is_whole = true, .begin = begin };
    int status;

    if (!choose(&command, options))
        return BAD_USAGE;
    feed.is_cut = command.is_by_stack;
    feed.options = options;
    if (!options->arguments.count && !options->add.count) {
        (void)options_wrong(options, "profile needs a CAPTURE, or --add FILE");
        return BAD_USAGE;
    }
    status = options->arguments.count ? open_analyses(&command, options) : DONE;
    if (status == DONE && command.profile && !command.takes_parts) {
        counter = tw_profile_counter(command.profile);
        feed = (struct feed){ .counter = &counter, .begin = begin };
    } else if (status == DONE && command.calls && !command.with_time) {
        counter = tw_calls_counter(command.calls);
        feed.calls_counter = &counter;
    }
    if (status == DONE && options->arguments.count)
        status = feed_run(&feed, options, command.takes_parts ? take : NULL, &command);
    if (command.calls && !tw_calls_is_complete(command.calls)) {
        say("out of memory");
        status = NOT_DONE;
    }
    if (status == DONE || status == DONE_WITH_LOSS) {
        const int printed = finish(&command, options, &feed);

        if (printed != DONE)
            status = printed;
    }
    close_analyses(&command);
    feed_close(&feed);
    return status;
}

static const uint8_t takes[] = {
    G_CAPTURE,   G_PART, G_DECODER, G_EXECUTED, O_RANGE,    O_FUNCTION,    O_BY,
    O_SHOW_UNIT, O_SELF, O_LIMIT,   O_INLINE,   O_DEMANGLE, O_NO_DEMANGLE, G_OUTPUT,
    O_SAVE,      O_PART, O_PARTS,   O_ADD,      O_END,
};

const struct command command_profile = {
    .name = "profile",
    .arguments = "CAPTURE... [OPTION...]",
    .summary = "where the instructions and the time went",
    .details =
        "text prints a table: instructions executed in each function itself, their share,\n"
        "those of what it called too, and how often it was entered. Counts are exact. Time "
        "and\n"
        "cycles are known at some points of the trace only: what is between them is shared by\n"
        "instructions (~), and lies in the interval that stands beside it. Several captures "
        "are\n"
        "added up. Where nothing but PC samples of the DWT are there, these are counted, and\n"
        "said to be. Handlers of exceptions count for what they interrupted too, until they\n"
        "return (M profile: by EXC_RETURN); see trackway calls.\n"
        "\n"
        "examples:\n"
        "  trackway profile perf.data --limit 20\n"
        "  trackway profile snapshot/ --by line --symbols program.elf\n"
        "  trackway profile swo.bin --protocol itm --symbols firmware.elf\n"
        "  trackway profile perf.data --format pprof -o profile.pb.gz\n"
        "  trackway profile --add monday.twr --add tuesday.twr     what --save kept",
    .formats = "text|jsonl|csv|folded|svg|callgrind|pprof|speedscope|dot",
    .options = takes,
    .least = 0,
    .most = 4096,
    .is_confined = true,
    .run = run,
};
