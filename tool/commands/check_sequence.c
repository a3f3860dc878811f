/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway check-sequence: which rule of trace programming a listing breaks, and where. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/sequence.h>

#include "commands/commands.h"
#include "shared/file.h"

/* A text that is "TS6 TS8" as JSON strings. */
static void put_list(struct output *out, const char *text)
{
    const char *comma = "";

    output_text(out, "[");
    while (*text) {
        const size_t size = strcspn(text, " ");

        output_format(out, "%s\"%.*s\"", comma, (int)size, text);
        comma = ",";
        text += size + (text[size] == ' ');
    }
    output_text(out, "]");
}

static void put_member(struct output *out, const char *key, const char *value)
{
    output_format(out, ",\"%s\":", key);
    output_json_text(out, value);
}

static void print_json(struct output *out, const char *path,
                       const struct tw_sequence_finding *finding)
{
    output_text(out, "{\"file\":");
    output_json_text(out, path);
    output_format(out, ",\"line\":%" PRIu32, finding->line);
    put_member(out, "rule", finding->rule);
    output_text(out, ",\"also\":");
    put_list(out, finding->also);
    if (finding->cause)
        output_format(out, ",\"cause\":%" PRIu32, finding->cause);
    put_member(out, "what", finding->what);
    put_member(out, "hazard", finding->hazard);
    put_member(out, "fix", finding->fix);
    output_text(out, "}\n");
}

static void print_text(struct output *out, const char *path,
                       const struct tw_sequence_finding *finding)
{
    output_color(out, BOLD);
    output_format(out, "%s:%" PRIu32 ": ", path, finding->line);
    output_color(out, RED);
    output_text(out, finding->rule);
    output_color(out, PLAIN);
    if (finding->also[0])
        output_format(out, " (%s)", finding->also);
    output_format(out, ": %s\n    may happen: %s\n    fix: %s\n", finding->what,
                  finding->hazard, finding->fix);
}

/* How many rules the file breaks; -1: could not be read. */
static long check_file(struct output *out, const struct options *options, const char *path)
{
    const struct tw_sequence_config config = { .size = sizeof config,
                                               .is_strict = options->strict };
    const bool is_json = options_format_is(options, "jsonl");
    struct tw_sequence *sequence = NULL;
    size_t size, lines, steps;
    uint8_t *text = file_load(&size, path);
    long count = -1;

    if (!text)
        return -1;
    if (tw_sequence_check(&sequence, (const char *)text, size, &config, NULL) != TW_OK) {
        say("out of memory for %s", path);
    } else {
        count = (long)tw_sequence_count(sequence);
        for (long i = 0; i < count; i++)
            (is_json ? print_json : print_text)(out, path,
                                                tw_sequence_finding(sequence, (size_t)i));
        tw_sequence_lines(sequence, &lines, &steps);
        if (steps == 0 && !options->quiet)
            say("%s: nothing in its %zu lines has to do with trace", path, lines);
    }
    tw_sequence_free(sequence);
    free(text);
    return count;
}

static void print_rule(struct output *out, const struct tw_sequence_rule *rule, bool is_json)
{
    if (is_json) {
        output_text(out, "{\"rule\":");
        output_json_text(out, rule->name);
        put_member(out, "tags", rule->tags);
        put_member(out, "title", rule->title);
        put_member(out, "needs", rule->needs);
        put_member(out, "hazard", rule->hazard);
        put_member(out, "fix", rule->fix);
        output_text(out, "}\n");
        return;
    }
    output_color(out, BOLD);
    output_format(out, "%s", rule->name);
    output_color(out, PLAIN);
    output_format(out, ": %s\n", rule->title);
    if (rule->tags[0])
        output_format(out, "    in the architecture: %s\n", rule->tags);
    output_format(out, "    needed: %s\n    may happen: %s\n    fix: %s\n", rule->needs,
                  rule->hazard, rule->fix);
}

static int explain(struct output *out, const struct options *options)
{
    const struct tw_sequence_rule *rule = tw_sequence_find_rule(options->explain);
    const bool is_json = options_format_is(options, "jsonl");

    if (strcmp(options->explain, "all") == 0) {
        for (size_t i = 0; tw_sequence_rule(i); i++)
            print_rule(out, tw_sequence_rule(i), is_json);
        return DONE;
    }
    if (!rule) {
        say("check-sequence: there is no rule \"%s\"; \"--explain all\" lists them",
            options->explain);
        return BAD_USAGE;
    }
    print_rule(out, rule, is_json);
    return DONE;
}

static int run(const struct options *options)
{
    struct output out;
    int status = DONE;

    if (!options->explain && options->arguments.count == 0) {
        say("check-sequence: usage: trackway check-sequence FILE... [OPTION...]");
        return BAD_USAGE;
    }
    if (!output_open(&out, options->output, options->color))
        return NOT_DONE;
    if (options->explain)
        status = explain(&out, options);
    for (size_t i = 0; i < options->arguments.count && status <= DONE_WITH_LOSS; i++) {
        const long count = check_file(&out, options, options->arguments.items[i]);

        if (count < 0)
            status = NOT_DONE;
        else if (count > 0)
            status = DONE_WITH_LOSS;
    }
    if (!output_close(&out, status <= DONE_WITH_LOSS))
        status = NOT_DONE;
    return status;
}

static const uint8_t takes[] = {
    O_EXPLAIN, O_STRICT, O_OUTPUT, O_COLOR, O_QUIET, O_END,
};

const struct command command_check_sequence = {
    .name = "check-sequence",
    .arguments = "FILE... [OPTION...]",
    .summary = "which rules a trace driver's register accesses and barriers break",
    .details =
        "FILE is assembler, disassembly or a simulator's log: register writes and reads, ISB,\n"
        "DSB, TSB CSYNC, exceptions and returns. Each finding names line, rule, what may\n"
        "happen and the fix. Exit status 1: something was found. Accesses to the registers of\n"
        "RISC-V trace components (trTeControl = 1, poll trRamEmpty == 1) are checked "
        "likewise.\n"
        "\n"
        "examples:\n"
        "  trackway check-sequence driver.S\n"
        "  objdump -d vmlinux | trackway check-sequence - --format jsonl",
    .formats = "text|jsonl",
    .options = takes,
    .least = 0,
    .most = 1000,
    .run = run,
};
