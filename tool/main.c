/* SPDX-License-Identifier: BSD-2-Clause */
/* The `trackway` command: finds the sub-command and runs it. */
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "commands/commands.h"
#include "shared/complete.h"
#include "shared/interrupt.h"
#include "shared/manual.h"
#include "shared/memory.h"
#include "shared/options.h"
#include "shared/pager.h"
#include "shared/sandbox.h"
#include "shared/several.h"

#define COMMAND_ROW(name) &command_##name,
static const struct command *const commands[] = { EACH_COMMAND(COMMAND_ROW) };

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[COMMAND_COUNT];
    const char *nearest;

    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    nearest = nearest_name(name, names, COMMAND_COUNT);
    if (nearest)
        say("no command \"%s\"; did you mean \"%s\"?", name, nearest);
    else
        say("no command \"%s\"; \"trackway --help\" lists them", name);
    return BAD_USAGE;
}

static void print_usage(struct output *out)
{
    output_text(out, "usage: trackway COMMAND [ARGUMENT...]\n\n"
                     "Turns processor hardware trace into the exact path of execution.\n\n"
                     "Commands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        output_format(out, "  %-14s %s\n", commands[i]->name, commands[i]->summary);
    output_text(out,
                "\n"
                "  trackway help COMMAND    what a command does, and its options\n"
                "  trackway --version       version, features and protocols of this build\n"
                "\n"
                "A capture is a snapshot folder, a perf.data file or a raw trace file.\n"
                "Exit status: 0 done; 1 done, but the trace held damage or gaps; 2 wrong "
                "usage;\n3 could not be done.\n");
}

static void print_version(struct output *out)
{
#ifdef TW_WITH_HTTP /* the tool's own */
    const char *own = "http";
#else
    const char *own = "";
#endif
    const char *features = tw_features();

    output_format(out, "trackway %s\nfeatures: %s%s%s\nprotocols:", tw_version(), features,
                  *features && *own ? " " : "", *features || *own ? own : "none");
    for (size_t i = 0; tw_protocol_name(i); i++)
        output_format(out, " %s", tw_protocol_name(i));
    output_text(out, "\n");
}

/* Text that was asked for: to standard output, and that is all. */
static int print(void (*text)(struct output *out), const struct command *command)
{
    struct output out;

    if (!output_open(&out, NULL, COLOR_NEVER))
        return NOT_DONE;
    if (command)
        options_help(&out, command);
    else
        text(&out);
    return output_close(&out, true) ? DONE : NOT_DONE;
}

/* For the shells' completions. */
static int print_candidates(char **words)
{
    struct output out;

    if (!output_open(&out, NULL, COLOR_NEVER))
        return NOT_DONE;
    complete(&out, commands, COMMAND_COUNT, words);
    return output_close(&out, true) ? DONE : NOT_DONE;
}

static int help(char **words)
{
    const struct command *command;

    if (!words[0])
        return print(print_usage, NULL);
    command = find_command(words[0]);
    return command ? print(NULL, command) : unknown_command(words[0]);
}

static int run_command(const struct command *command, char **words)
{
    struct options options;
    int status = BAD_USAGE;

    if (options_parse(&options, command, words)) {
        pager_start(&options);
        /* What a plug-in may need is not known. */
        if (command->is_confined && !options.no_sandbox && !options.plugins.count)
            sandbox_enter();
        if (options.help)
            status = print(NULL, command);
        else if (command->lists_each && options.arguments.count > 1)
            status = several_run(&options);
        else
            status = command->run(&options);
        pager_wait();
    }
    options_free(&options);
    return status;
}

int main(int count, char **words)
{
    const struct command *command;

    interrupt_start();
    keep_memory();
    if (count < 2) {
        say("what shall it do? \"trackway --help\" lists the commands");
        return BAD_USAGE;
    }
    if (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0)
        return print(print_usage, NULL);
    if (strcmp(words[1], "--version") == 0 || strcmp(words[1], "-V") == 0)
        return print(print_version, NULL);
    if (strcmp(words[1], "--complete") == 0)
        return print_candidates(words + 2);
    if (strcmp(words[1], "--manual") == 0 && words[2])
        return manual_write(commands, COMMAND_COUNT, words[2], words[3]) ? DONE : NOT_DONE;
    if (strcmp(words[1], "help") == 0)
        return help(words + 2);
    if (words[1][0] == '-') {
        say("no option %s before the command; \"trackway --help\" lists the commands",
            words[1]);
        return BAD_USAGE;
    }
    command = find_command(words[1]);
    return command ? run_command(command, words + 2) : unknown_command(words[1]);
}
