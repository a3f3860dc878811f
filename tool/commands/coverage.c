/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway coverage: what was executed and what was not. */
#include <inttypes.h>
#include <string.h>

#include <trackway/coverage.h>
#include <trackway/formats.h>

#include "base/percent.h"
#include "commands/commands.h"
#include "commands/coverage.h"
#include "shared/feed.h"

enum { BAR = 20 };

struct coverage_command {
    struct output out;
    struct tw_coverage *coverage;
    bool has_written;
};

static void begin(void *context, struct tw_run *run)
{
    struct coverage_command *command = context;

    tw_coverage_run(command->coverage, run);
}

static bool write_bytes(void *context, const void *bytes, size_t size)
{
    struct coverage_command *command = context;

    command->has_written = true;
    output_bytes(&command->out, bytes, size);
    return !output_is_over(&command->out);
}

static void print_share(struct output *out, uint64_t part, uint64_t all)
{
    const unsigned filled = all ? (unsigned)(part * BAR / all) : 0;

    output_format(out, "%5s %% ", tw_percent((double)part, (double)all, 1).text);
    for (unsigned i = 0; i < BAR; i++)
        output_text(out, i < filled ? "#" : ".");
}

static void print_row(struct output *out, const char *name, uint64_t part, uint64_t all)
{
    output_format(out, "%-14s %10" PRIu64 " of %10" PRIu64 "  ", name, part, all);
    print_share(out, part, all);
    output_text(out, "\n");
}

/* A line for each source file. */
static void print_files(struct coverage_command *command)
{
    const struct tw_line_count *line = tw_coverage_line(command->coverage, 0);
    size_t i = 0;

    if (line)
        output_text(&command->out, "\nfiles (lines)\n");
    while (line) {
        const char *file = line->file;
        uint64_t all = 0, covered = 0;

        for (; line && strcmp(line->file, file) == 0;
             line = tw_coverage_line(command->coverage, ++i)) {
            all++;
            covered += line->count != 0;
        }
        output_format(&command->out, "  %6" PRIu64 " of %6" PRIu64 "  ", covered, all);
        print_share(&command->out, covered, all);
        output_format(&command->out, "  %s\n", file);
    }
}

static void print_functions(struct coverage_command *command)
{
    const struct tw_function_count *function;

    output_text(&command->out, "\nfunctions (instructions)\n");
    for (size_t i = 0; i < tw_coverage_object_count(command->coverage); i++) {
        for (size_t k = 0; (function = tw_coverage_function(command->coverage, i, k)); k++) {
            output_format(&command->out, "  %6" PRIu32 " of %6" PRIu32 "  ", function->covered,
                          function->instructions);
            print_share(&command->out, function->covered, function->instructions);
            output_format(&command->out, "  %s\n", function->name);
        }
    }
}

/* Branches that went one way only: what testers look for first. */
static void print_one_way(struct coverage_command *command)
{
    const struct tw_branch_count *branch;
    bool has_any = false;

    for (size_t i = 0; i < tw_coverage_object_count(command->coverage); i++) {
        for (size_t k = 0; (branch = tw_coverage_branch(command->coverage, i, k)); k++) {
            struct tw_source_line line = { NULL, 0 };

            if (!branch->taken == !branch->not_taken)
                continue;
            if (!has_any)
                output_text(&command->out, "\nbranches that went one way only\n");
            has_any = true;
            output_format(&command->out, "  0x%" PRIx64 " %-12s %10" PRIu64 " times",
                          branch->address, branch->taken ? "always taken" : "never taken",
                          branch->taken + branch->not_taken);
            if (tw_coverage_source(command->coverage, i, &line, branch->address))
                output_format(&command->out, "  %s:%" PRIu32, line.file, line.line);
            output_text(&command->out, "\n");
        }
    }
}

/* Lines that have code and were never executed, by file: 12-15, 20. */
static void print_uncovered_lines(struct coverage_command *command)
{
    const struct tw_line_count *line = tw_coverage_line(command->coverage, 0);
    const char *file = NULL;

    for (size_t i = 0; line;) {
        const uint32_t first = line->line;
        uint32_t last = first;
        const char *of = line->file;
        const bool is_covered = line->count != 0;

        /* Lines between, of which there is no code, do not end a stretch. */
        for (line = tw_coverage_line(command->coverage, ++i);
             line && !is_covered && !line->count && strcmp(line->file, of) == 0;
             line = tw_coverage_line(command->coverage, ++i))
            last = line->line;
        if (is_covered)
            continue;
        if (!file)
            output_text(&command->out, "\nlines that were never executed");
        if (!file || strcmp(file, of) != 0)
            output_format(&command->out, "\n  %s: ", of);
        else
            output_text(&command->out, ", ");
        file = of;
        output_decimal(&command->out, first);
        if (last > first)
            output_format(&command->out, "-%" PRIu32, last);
    }
    if (file)
        output_text(&command->out, "\n");
}

/* Branches of functions that were executed, but did not come there. */
static void print_unreached(struct coverage_command *command)
{
    const struct tw_function_count *function, *next;
    const struct tw_branch_count *branch;
    bool has_any = false;

    for (size_t i = 0; i < tw_coverage_object_count(command->coverage); i++) {
        size_t at = 0;

        for (size_t k = 0; (branch = tw_coverage_branch(command->coverage, i, k)); k++) {
            struct tw_source_line line = { NULL, 0 };

            while ((next = tw_coverage_function(command->coverage, i, at + 1)) &&
                   next->address <= branch->address)
                at++;
            function = tw_coverage_function(command->coverage, i, at);
            if (branch->taken || branch->not_taken || !function || !function->covered)
                continue;
            if (!has_any)
                output_text(&command->out,
                            "\nbranches that were never reached, of functions that were\n");
            has_any = true;
            output_format(&command->out, "  0x%" PRIx64 "  %s", branch->address,
                          function->name);
            if (tw_coverage_source(command->coverage, i, &line, branch->address))
                output_format(&command->out, "  %s:%" PRIu32, line.file, line.line);
            output_text(&command->out, "\n");
        }
    }
}

static int print_text(struct coverage_command *command)
{
    struct tw_coverage_totals totals = { .size = sizeof totals };

    if (!tw_coverage_totals(command->coverage, &totals))
        return NOT_DONE;
    print_row(&command->out, "instructions", totals.covered, totals.instructions);
    print_row(&command->out, "branches both", totals.both, totals.branches);
    print_row(&command->out, "functions", totals.functions_covered, totals.functions);
    if (totals.lines)
        print_row(&command->out, "lines", totals.lines_covered, totals.lines);
    if (totals.lines && totals.unexplained)
        output_format(&command->out, "%" PRIu64 " instructions come from no source line\n",
                      totals.unexplained);
    print_files(command);
    print_functions(command);
    print_uncovered_lines(command);
    print_one_way(command);
    print_unreached(command);
    return DONE;
}

/* create_llvm_prof and create_gcov make an empty profile of it, and say nothing. */
static void warn_of_dwarf(const struct coverage_command *command)
{
    struct tw_symbol_object file = { .size = sizeof file };

    for (size_t i = 0; i < tw_coverage_object_count(command->coverage); i++) {
        const struct tw_symbols *symbols = tw_coverage_symbols(command->coverage, i);

        for (size_t k = 0; symbols && tw_symbols_object(symbols, &file, k); k++)
            if (file.dwarf >= 5)
                say("warning: %s has DWARF 5, of which AutoFDO 0.19 reads nothing: build with "
                    "-gdwarf-4, or use --format unsymbolized or llvm",
                    file.path);
    }
}

static int print(struct coverage_command *command, const struct options *options,
                 const char *title)
{
    const char *name = options->format ? options->format : "text";
    const struct tw_format *format = tw_format_by_name(name, TW_SUBJECT_COVERAGE);
    const struct tw_subject subject = { .size = sizeof subject,
                                        .title = title,
                                        .coverage = command->coverage,
                                        .binary = options->binary };
    enum tw_status status;

    if (!format)
        return print_text(command);
    if (strcmp(name, "autofdo") == 0 && !options->quiet)
        warn_of_dwarf(command);
    status = tw_format_write(format, &subject, write_bytes, command);
    if (status == TW_OK && options->binary && !command->has_written) {
        say("nothing that was executed is named \"%s\"", options->binary);
        return NOT_DONE;
    }
    if (status == TW_E_MEMORY)
        say("out of memory");
    return status == TW_OK || status == TW_E_CANCELLED ? DONE : NOT_DONE;
}

static bool add_saved(struct coverage_command *command, const char *path)
{
    struct tw_coverage *saved;
    struct tw_fault fault = { TW_OK, "" };
    bool is_good = tw_coverage_load(&saved, path, NULL, &fault) == TW_OK;

    if (!is_good) {
        say("%s", fault.text);
        return false;
    }
    is_good = tw_coverage_add(command->coverage, saved, &fault) == TW_OK;
    if (!is_good)
        say("%s: %s", path, fault.text);
    tw_coverage_free(saved);
    return is_good;
}

/* Programs of what was added: where a capture is there, it tells its own. */
static bool open_programs(struct coverage_command *command, const struct options *options)
{
    const struct list *lists[] = { &options->symbols, &options->images };
    struct tw_fault fault = { TW_OK, "" };

    if (options->arguments.count)
        return true;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < lists[i]->count; k++)
            if (tw_coverage_program(command->coverage, lists[i]->items[k], &fault) != TW_OK) {
                say("%s", fault.text);
                return false;
            }
    if (!options->symbols.count && !options->images.count && !options->quiet)
        say("warning: no code and no names: give the programs with --symbols FILE");
    return true;
}

/* What was kept of others is added, and the sum kept. */
static bool add_and_save(struct coverage_command *command, const struct options *options)
{
    struct tw_fault fault = { TW_OK, "" };

    for (size_t i = 0; i < options->add.count; i++)
        if (!add_saved(command, options->add.items[i]))
            return false;
    if (!open_programs(command, options))
        return false;
    if (!options->save || tw_coverage_save(command->coverage, options->save, &fault) == TW_OK)
        return true;
    say("%s", fault.text);
    return false;
}

int coverage_counts(const struct options *options)
{
    const struct tw_coverage_config config = { .size = sizeof config };
    struct coverage_command command = { .coverage = NULL };
    struct tw_run_counter counter;
    struct feed feed = { .counter = &counter, .begin = begin };
    struct tw_fault fault;
    int status = NOT_DONE;

    if (tw_coverage_new(&command.coverage, &config, &fault) == TW_OK) {
        counter = tw_coverage_counter(command.coverage);
        status = feed_run(&feed, options, NULL, &command);
    } else {
        say("%s", fault.text);
    }
    if ((status == DONE || status == DONE_WITH_LOSS) && !add_and_save(&command, options))
        status = NOT_DONE;
    if ((status == DONE || status == DONE_WITH_LOSS) &&
        tw_coverage_finish(command.coverage) != TW_OK) {
        say("out of memory");
        status = NOT_DONE;
    }
    if ((status == DONE || status == DONE_WITH_LOSS) &&
        !output_open(&command.out, options->output, options->color)) {
        status = NOT_DONE;
    } else if (status == DONE || status == DONE_WITH_LOSS) {
        const int printed = print(&command, options, feed_title(&feed));

        if (printed != DONE)
            status = printed;
        if (!output_close(&command.out, printed == DONE))
            status = NOT_DONE;
    }
    tw_coverage_free(command.coverage);
    feed_close(&feed);
    return status;
}

static int run(const struct options *options)
{
    if (!options->arguments.count && !options->add.count) {
        (void)options_wrong(options, "coverage needs a CAPTURE, or --add FILE");
        return BAD_USAGE;
    }
    if (options_format_is(options, "afl") || options_format_is(options, "afl-map")) {
        if (options->arguments.count)
            return coverage_edges(options);
        (void)options_wrong(options, "--format afl needs a CAPTURE: what was kept has no map");
        return BAD_USAGE;
    }
    if (options->each) {
        (void)options_wrong(options, "--each wants --format afl or afl-map");
        return BAD_USAGE;
    }
    return coverage_counts(options);
}

static const uint8_t takes[] = {
    G_CAPTURE, G_PART,  G_DECODER, G_EXECUTED, O_RANGE,  O_FUNCTION, O_SAVE,
    O_PART,    O_PARTS, O_ADD,     O_EACH,     O_BINARY, G_OUTPUT,   O_END,
};

const struct command command_coverage = {
    .name = "coverage",
    .arguments = "CAPTURE... [OPTION...]",
    .summary = "what was executed and what was not: code, branches, lines, functions",
    .details =
        "text prints totals, files, functions, lines that were never executed, and branches\n"
        "that went one way only or were not reached; outcomes is a table of all branches\n"
        "(taken, not taken, both, never reached) and of code that no line explains; lcov is\n"
        "for lcov and genhtml, cobertura for CI servers, drcov for Lighthouse.\n"
        "All code of the program's ELF files is listed, executed or not (--symbols, --image\n"
        "FILE). Several captures are added up.\n"
        "afl prints the edge map that fuzzers keep, one byte per edge, as afl-showmap -r\n"
        "does, afl-map its 65536 bytes; with --each one map for each capture, thousands in "
        "one\n"
        "go: coverage --each --format afl --protocol etmv4 --config regs --image prog *.bin\n"
        "\n"
        "examples:\n"
        "  trackway coverage snapshot --symbols firmware.elf\n"
        "  trackway coverage perf.data --format lcov -o coverage.info\n"
        "  trackway coverage --add all.twr --symbols firmware.elf --format lcov",
    .formats = "text|jsonl|lcov|cobertura|drcov|outcomes|afl|afl-map|autofdo|unsymbolized|llvm|"
               "bolt|fdata",
    .options = takes,
    .least = 0,
    .most = 1 << 20,
    .is_confined = true,
    .run = run,
};
