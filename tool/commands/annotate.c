/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway annotate: source and disassembly with how often each instruction was executed, and which way
   branches went. */
#include <inttypes.h>
#include <string.h>

#include <trackway/coverage.h>
#include <trackway/disassembly.h>

#include "base/percent.h"
#include "commands/commands.h"
#include "shared/advice.h"
#include "shared/feed.h"
#include "shared/names.h"
#include "shared/source_text.h"

struct annotate_command {
    struct output out;
    struct tw_coverage *coverage;
    struct names names;
    struct source_texts texts;
    const char *wanted; /* name of a function; NULL: all that were executed */
    bool is_json;
    bool is_any;

    /* The object at work. */
    size_t object;
    struct tw_symbols *symbols; /* may be NULL */
    struct tw_disassembler *disassembler;
    size_t code, branch, target; /* numbers of what comes next */
    uint64_t at;                 /* address of the next instruction */
    /* The function at work. */
    const struct tw_function_count *function;
    struct tw_source_line line; /* that was shown last; file NULL: none */
};

/* An instruction. */
struct annotated {
    struct tw_code_bytes code;
    uint8_t bytes[4];
    size_t size;
    uint64_t count;
    const struct tw_branch_count *branch; /* NULL: it is none */
};

static void begin(void *context, struct tw_run *run)
{
    struct annotate_command *command = context;

    tw_coverage_run(command->coverage, run);
}

/* ---- instructions in order ---- */

/* The next instruction of the object; false: that was the last. */
static bool next_instruction(struct annotate_command *command, struct annotated *next)
{
    const struct tw_code_count *run;

    while ((run = tw_coverage_code(command->coverage, command->object, command->code)) &&
           command->at >= run->end)
        command->code++;
    if (!run)
        return false;
    if (command->at < run->first)
        command->at = run->first;
    memset(next->bytes, 0, sizeof next->bytes);
    next->code =
        (struct tw_code_bytes){ .bytes = next->bytes, .address = command->at, .isa = run->isa };
    next->code.size = tw_coverage_read(command->coverage, command->object, next->bytes,
                                       command->at, sizeof next->bytes);
    next->size = tw_instruction_size(&next->code);
    if (!next->size)
        next->size = run->isa == TW_ISA_A64 || run->isa == TW_ISA_A32 ? 4 : 2;
    next->count = run->count;
    while ((next->branch =
                tw_coverage_branch(command->coverage, command->object, command->branch)) &&
           next->branch->address < command->at)
        command->branch++;
    if (next->branch && next->branch->address != command->at)
        next->branch = NULL;
    command->at += next->size;
    return true;
}

/* ---- text ---- */

static void print_source(struct annotate_command *command, uint64_t address)
{
    struct output *out = &command->out;
    struct tw_source_line line;
    size_t size;
    const char *text;
    char shown[512];

    if (!tw_coverage_source(command->coverage, command->object, &line, address) ||
        (command->line.file && line.line == command->line.line &&
         strcmp(line.file, command->line.file) == 0))
        return;
    text = source_text(&command->texts, line.file, line.line, &size);
    output_color(out, BOLD);
    if (!command->line.file || strcmp(command->line.file, line.file) != 0)
        output_format(out, "%14s %s\n", "", line.file);
    if (text) {
        (void)snprintf(shown, sizeof shown, "%.*s", (int)(size < 400 ? size : 400), text);
        output_format(out, "%14s %5" PRIu32 "  %s\n", "", line.line, shown);
    } else {
        output_format(out, "%14s %5" PRIu32 "\n", "", line.line);
    }
    output_color(out, PLAIN);
    command->line = line;
}

static void print_targets(struct annotate_command *command, uint64_t address)
{
    const struct tw_target_count *target;

    while ((target = tw_coverage_target(command->coverage, command->object, command->target)) &&
           target->from < address)
        command->target++;
    for (; target && target->from == address;
         target = tw_coverage_target(command->coverage, command->object, ++command->target)) {
        struct tw_symbol symbol;
        const bool is_named =
            command->symbols && tw_symbols_function(command->symbols, &symbol, target->to);

        if (command->is_json) {
            output_format(&command->out,
                          "{\"t\":\"TARGET\",\"pc\":\"0x%" PRIx64 "\",\"to\":\"0x%" PRIx64
                          "\",\"count\":%" PRIu64 "}\n",
                          target->from, target->to, target->count);
            continue;
        }
        output_format(&command->out, "%14s      -> %" PRIu64 " times to 0x%" PRIx64, "",
                      target->count, target->to);
        if (is_named)
            output_format(&command->out, " %s", names_show(&command->names, symbol.name));
        output_text(&command->out, "\n");
    }
}

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static void print_instruction(struct annotate_command *command, const struct annotated *is)
{
    const double share = percent(is->count, command->function ? command->function->self : 0);
    struct output *out = &command->out;
    char text[256] = "";

    if (command->disassembler && is->code.size)
        (void)tw_disassemble(command->disassembler, text, sizeof text, &is->code);
    output_color(out, !is->count ? DIM : share >= 10 ? RED : share >= 3 ? YELLOW : PLAIN);
    output_format(out, "%14" PRIu64 "   0x%" PRIx64 "  ", is->count, is->code.address);
    if (!text[0])
        (void)snprintf(text, sizeof text, ".inst 0x%0*" PRIx32, (int)is->size * 2,
                       tw_instruction_opcode(&is->code));
    output_format(out, is->branch ? "%-36s" : "%s", text);
    if (is->branch && is->count)
        output_format(out, " %5s %% taken (%" PRIu64 " of %" PRIu64 ")",
                      tw_percent((double)is->branch->taken,
                                 (double)is->branch->taken + (double)is->branch->not_taken, 1)
                          .text,
                      is->branch->taken, is->branch->taken + is->branch->not_taken);
    else if (is->branch)
        output_text(out, " never reached");
    output_color(out, PLAIN);
    output_text(out, "\n");
}

static void print_head(struct annotate_command *command)
{
    const struct tw_function_count *function = command->function;
    const char *object = tw_coverage_object(command->coverage, command->object)->name;
    struct output *out = &command->out;

    if (command->is_any)
        output_text(out, "\n");
    output_color(out, BOLD);
    output_name(out, names_show(&command->names, function->name));
    output_color(out, PLAIN);
    if (object)
        output_format(out, " (%s)", object);
    output_format(out,
                  ": %" PRIu64 " instructions executed, its first %" PRIu64 " times, %" PRIu32
                  " of %" PRIu32 " at least once\n",
                  function->self, function->entries, function->covered, function->instructions);
}

/* ---- JSON ---- */

static void put_instruction(struct annotate_command *command, const struct annotated *is)
{
    struct output *out = &command->out;
    struct tw_source_line line;
    char text[256] = "";

    if (command->disassembler && is->code.size)
        (void)tw_disassemble(command->disassembler, text, sizeof text, &is->code);
    output_format(out, "{\"t\":\"INSTR\",\"pc\":\"0x%" PRIx64 "\",\"op\":\"0x%0*" PRIx32 "\"",
                  is->code.address, (int)is->size * 2, tw_instruction_opcode(&is->code));
    if (text[0]) {
        output_text(out, ",\"asm\":");
        output_json_text(out, text);
    }
    output_format(out, ",\"count\":%" PRIu64, is->count);
    if (is->branch)
        output_format(out, ",\"taken\":%" PRIu64 ",\"not_taken\":%" PRIu64, is->branch->taken,
                      is->branch->not_taken);
    if (command->function) {
        output_text(out, ",\"function\":");
        output_json_text(out, names_show(&command->names, command->function->name));
    }
    if (tw_coverage_source(command->coverage, command->object, &line, is->code.address)) {
        output_text(out, ",\"file\":");
        output_json_text(out, line.file);
        output_format(out, ",\"line\":%" PRIu32, line.line);
    }
    output_text(out, "}\n");
}

/* ---- functions ---- */

static bool is_wanted(struct annotate_command *command)
{
    const struct tw_function_count *function = command->function;

    if (!command->wanted)
        return function->covered != 0;
    return strcmp(function->name, command->wanted) == 0 ||
           strcmp(names_show(&command->names, function->name), command->wanted) == 0;
}

static bool is_in_function(const struct annotate_command *command, uint64_t address)
{
    struct tw_symbol symbol;

    return command->symbols && tw_symbols_function(command->symbols, &symbol, address) &&
           symbol.address == command->function->address;
}

static void print_function(struct annotate_command *command)
{
    struct annotated is;

    if (!command->is_json)
        print_head(command);
    command->is_any = true;
    command->line = (struct tw_source_line){ NULL, 0 };
    command->at = command->function->address;
    while (!output_is_over(&command->out) && next_instruction(command, &is) &&
           is_in_function(command, is.code.address)) {
        if (command->is_json) {
            put_instruction(command, &is);
        } else {
            print_source(command, is.code.address);
            print_instruction(command, &is);
        }
        print_targets(command, is.code.address);
    }
}

/* Code without symbols: what was executed of it. */
static void print_unnamed(struct annotate_command *command)
{
    struct annotated is;
    uint64_t before = 0;

    command->function = NULL;
    command->at = 0;
    while (!output_is_over(&command->out) && next_instruction(command, &is)) {
        struct tw_symbol symbol;

        if (!is.count || (command->symbols &&
                          tw_symbols_function(command->symbols, &symbol, is.code.address)))
            continue;
        if (!command->is_json && is.code.address != before)
            output_format(&command->out, "%s[no symbol] from 0x%" PRIx64 "\n",
                          command->is_any ? "\n" : "", is.code.address);
        command->is_any = true;
        (command->is_json ? put_instruction : print_instruction)(command, &is);
        print_targets(command, is.code.address);
        before = is.code.address + is.size;
    }
}

static void open_disassembler(struct annotate_command *command, bool is_quiet)
{
    const struct tw_disassembler_config config = { .size = sizeof config,
                                                   .symbols = command->symbols };
    struct tw_fault fault;

    if (tw_disassembler_new(&command->disassembler, &config, &fault) == TW_OK)
        return;
    if (fault.status == TW_E_MEMORY)
        out_of_memory();
    command->disassembler = NULL;
    if (!is_quiet && command->object == 0)
        say("%s", fault.text);
}

static int print(struct annotate_command *command, const struct options *options)
{
    for (command->object = 0; command->object < tw_coverage_object_count(command->coverage);
         command->object++) {
        command->symbols = tw_coverage_symbols(command->coverage, command->object);
        command->code = command->branch = command->target = 0;
        open_disassembler(command, options->quiet);
        for (size_t i = 0;
             (command->function = tw_coverage_function(command->coverage, command->object, i));
             i++)
            if (is_wanted(command))
                print_function(command);
        command->code = command->branch = command->target = 0;
        if (!command->wanted)
            print_unnamed(command);
        tw_disassembler_free(command->disassembler);
        command->disassembler = NULL;
    }
    if (command->is_any)
        return DONE;
    if (command->wanted)
        say("there is no function %s in the program's symbols (--symbols FILE)",
            command->wanted);
    else
        say("nothing was executed");
    return NOT_DONE;
}

/* What stands there without a name, or is not there at all. */
static void say_missing(const struct annotate_command *command, const struct feed *feed)
{
    struct tw_coverage_totals totals = { .size = sizeof totals };
    const struct tw_function_count *function;
    uint64_t named = 0;

    if (!tw_coverage_totals(command->coverage, &totals))
        return;
    for (size_t i = 0; i < tw_coverage_object_count(command->coverage); i++)
        for (size_t k = 0; (function = tw_coverage_function(command->coverage, i, k)); k++)
            named += function->self;
    if (totals.executed > named)
        advise_symbols(totals.executed - named, totals.executed);
    advise_code(totals.missing);
    if (!totals.executed)
        advise_nothing(feed, totals.missing);
}

static int run(const struct options *options)
{
    const struct tw_coverage_config config = { .size = sizeof config };
    struct annotate_command command = { .wanted = options->of_function,
                                        .is_json = options_format_is(options, "jsonl"),
                                        .texts.root = options->source_root };
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
    if ((status == DONE || status == DONE_WITH_LOSS) &&
        tw_coverage_finish(command.coverage) != TW_OK) {
        say("out of memory");
        status = NOT_DONE;
    }
    if ((status == DONE || status == DONE_WITH_LOSS) &&
        !output_open(&command.out, options->output, options->color)) {
        status = NOT_DONE;
    } else if (status == DONE || status == DONE_WITH_LOSS) {
        int printed;

        names_open(&command.names, options, names_are_for_people(options));
        printed = print(&command, options);
        names_close(&command.names);
        if (!options->quiet)
            say_missing(&command, &feed);
        if (printed != DONE)
            status = printed;
        if (!output_close(&command.out, printed == DONE))
            status = NOT_DONE;
    }
    source_texts_free(&command.texts);
    tw_coverage_free(command.coverage);
    feed_close(&feed);
    return status;
}

static const uint8_t takes[] = {
    G_CAPTURE,  G_PART,        G_DECODER,     G_EXECUTED, O_RANGE, O_SHOW_FUNCTION,
    O_DEMANGLE, O_NO_DEMANGLE, O_SOURCE_ROOT, G_OUTPUT,   O_END,
};

const struct command command_annotate = {
    .name = "annotate",
    .arguments = "CAPTURE... [OPTION...]",
    .summary = "source and disassembly with counts and branch percentages",
    .details =
        "text prints each function that was executed: its source lines and instructions, how\n"
        "often each was executed, how often branches were taken, and where indirect ones led.\n"
        "What takes the most is red, what was never executed is dim. Several captures are\n"
        "added up.\n"
        "\n"
        "examples:\n"
        "  trackway annotate perf.data --function memcpy --source-root src/",
    .formats = "text|jsonl",
    .options = takes,
    .least = 1,
    .most = 4096,
    .is_confined = true,
    .run = run,
};
