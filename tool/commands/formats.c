/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway formats: the table of what is written for other programs. */
#include <stdio.h>
#include <string.h>

#include <trackway/formats.h>

#include "commands/commands.h"

/* Commands with formats of the table, and what of it they hold. */
static const struct {
    const struct command *command;
    unsigned subjects; /* bits of enum tw_subject_kind */
} writers[] = { { &command_calls, TW_SUBJECT_CALLS },
                { &command_profile, TW_SUBJECT_PROFILE | TW_SUBJECT_CALLS },
                { &command_coverage, TW_SUBJECT_COVERAGE },
                { &command_branches, TW_SUBJECT_COVERAGE },
                { &command_timeline, TW_SUBJECT_TIMELINE } };

enum { WRITERS = sizeof writers / sizeof writers[0] };

static bool writes(size_t number, const struct tw_format *format)
{
    const unsigned subjects = writers[number].subjects;

    /* A profile's own form of what the calls have, too, stands in a row of its own. */
    if (subjects & TW_SUBJECT_PROFILE && !(format->subjects & TW_SUBJECT_PROFILE) &&
        tw_format_by_name(format->name, TW_SUBJECT_PROFILE))
        return false;
    return subjects & format->subjects && is_choice(options_formats(writers[number].command),
                                                    format->name, strlen(format->name));
}

static void print_text(struct output *out, const struct tw_format *format)
{
    char names[80] = "";
    size_t size = 0;

    for (size_t i = 0; i < WRITERS; i++)
        if (writes(i, format) && size < sizeof names)
            size += (size_t)snprintf(names + size, sizeof names - size, "%s%s",
                                     size ? ", " : "", writers[i].command->name);
    output_format(out, "%-18s  %-12s  %-16s  %s\n", names, format->name,
                  format->extension ? format->extension : "(a folder)", format->title);
}

static void print_json(struct output *out, const struct tw_format *format)
{
    bool is_first = true;

    output_format(out, "{\"t\":\"FORMAT\",\"name\":\"%s\",\"commands\":[", format->name);
    for (size_t i = 0; i < WRITERS; i++) {
        if (!writes(i, format))
            continue;
        output_format(out, "%s\"%s\"", is_first ? "" : ",", writers[i].command->name);
        is_first = false;
    }
    output_text(out, "],\"extension\":");
    if (format->extension)
        output_json_text(out, format->extension);
    else
        output_text(out, "null");
    output_text(out, ",\"title\":");
    output_json_text(out, format->title);
    output_format(out, ",\"binary\":%s}\n", format->is_binary ? "true" : "false");
}

static int run(const struct options *options)
{
    const bool is_json = options_format_is(options, "jsonl");
    const struct tw_format *format;
    struct output out;

    if (!output_open(&out, options->output, options->color))
        return NOT_DONE;
    if (!is_json)
        output_format(&out, "%-18s  %-12s  %-16s  %s\n", "commands", "--format", "files",
                      "what it is, or what reads it");
    for (size_t i = 0; (format = tw_format_get(i)) != NULL; i++)
        (is_json ? print_json : print_text)(&out, format);
    return output_close(&out, true) ? DONE : NOT_DONE;
}

static const uint8_t takes[] = { O_FORMAT, O_OUTPUT, O_COLOR, O_HELP, O_END };

const struct command command_formats = {
    .name = "formats",
    .arguments = "",
    .summary = "what results can be written as, and which programs read that",
    .details = "Beside text for people, which each command prints by itself. \"--help\" of a\n"
               "command lists the rest of its formats: lines of elements, packets, branches.\n"
               "\n"
               "examples:\n"
               "  trackway formats\n"
               "  trackway calls capture --format pprof -o calls.pb.gz",
    .options = takes,
    .formats = "text|jsonl",
    .least = 0,
    .most = 0,
    .run = run,
};
