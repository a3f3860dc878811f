/* SPDX-License-Identifier: BSD-2-Clause */
/* What was executed and what was not: functions, lines, branches. */
#include "base/memory.h"
#include "report/code.h"

struct report_line {
    uint64_t count;
    uint32_t file, line, instructions, covered, text;
};

struct report_branch {
    uint64_t address, taken, not_taken;
    uint32_t name, file, line;
};

static const struct tw_table_column cover_function_columns[] = {
    TW_TEXT_COLUMN(struct report_cover_function, name),
    TW_TEXT_COLUMN(struct report_cover_function, object),
    TW_TEXT_COLUMN(struct report_cover_function, file),
    TW_NUMBER_COLUMN(struct report_cover_function, line),
    TW_NUMBER_COLUMN(struct report_cover_function, address),
    TW_NUMBER_COLUMN(struct report_cover_function, entries),
    TW_NUMBER_COLUMN(struct report_cover_function, self),
    TW_NUMBER_COLUMN(struct report_cover_function, instructions),
    TW_NUMBER_COLUMN(struct report_cover_function, covered),
    TW_NUMBER_COLUMN(struct report_cover_function, first),
    TW_NUMBER_COLUMN(struct report_cover_function, rows),
    TW_NUMBER_COLUMN(struct report_cover_function, is_called),
    { .name = NULL },
};

static const struct tw_table_column line_columns[] = {
    TW_TEXT_COLUMN(struct report_line, file),
    TW_NUMBER_COLUMN(struct report_line, line),
    TW_NUMBER_COLUMN(struct report_line, count),
    TW_NUMBER_COLUMN(struct report_line, instructions),
    TW_NUMBER_COLUMN(struct report_line, covered),
    TW_TEXT_COLUMN(struct report_line, text),
    { .name = NULL },
};

static const struct tw_table_column branch_columns[] = {
    TW_NUMBER_COLUMN(struct report_branch, address),
    TW_NUMBER_COLUMN(struct report_branch, taken),
    TW_NUMBER_COLUMN(struct report_branch, not_taken),
    TW_TEXT_COLUMN(struct report_branch, name),
    TW_TEXT_COLUMN(struct report_branch, file),
    TW_NUMBER_COLUMN(struct report_branch, line),
    { .name = NULL },
};

static uint64_t address_key(size_t object, uint64_t address)
{
    return address ^ (uint64_t)object << 56;
}

void report_code_add_function(struct report_code *code,
                              const struct report_cover_function *function)
{
    uint64_t *number;

    if (!TW_GROW(code->report->config.allocator, &code->functions, &code->function_room,
                 code->function_count + 1)) {
        code->report->is_out = true;
        return;
    }
    code->functions[code->function_count++] = *function;
    number =
        tw_map_put(&code->by_address, address_key(function->object_number, function->address));
    if (!number)
        code->report->is_out = true;
    else if (!*number)
        *number = code->function_count;
}

void report_code_functions(struct report_code *code)
{
    struct tw_report *report = code->report;
    const struct tw_coverage *coverage = report->coverage;
    const struct tw_function_count *count;

    for (size_t object = 0; object < tw_coverage_object_count(coverage); object++) {
        const uint32_t name =
            tw_report_text(report, tw_coverage_object(coverage, object)->name);

        for (size_t i = 0; (count = tw_coverage_function(coverage, object, i)) != NULL; i++) {
            const struct report_cover_function function = {
                .address = count->address,
                .entries = count->entries,
                .self = count->self,
                .name = tw_report_name(report, count->name),
                .object = name,
                .file = tw_report_text(report, count->file),
                .line = count->line,
                .instructions = count->instructions,
                .covered = count->covered,
                .object_number = (uint32_t)object,
            };

            report_code_add_function(code, &function);
        }
    }
}

void report_code_called(struct report_code *code, uint64_t address)
{
    const uint64_t *number = tw_map_find(&code->by_address, address_key(code->object, address));

    if (number)
        code->functions[*number - 1].is_called = 1;
}

void report_code_functions_table(struct report_code *code)
{
    tw_tables_add(&code->report->tables, "coverFunctions",
                  (struct tw_table_rows){ code->functions, code->function_count,
                                          sizeof *code->functions },
                  cover_function_columns);
}

static void add_lines(struct tw_report *report)
{
    const struct tw_report_config *config = &report->config;
    const size_t most = (size_t)(config->room / 8 / 16) + 1000;
    const struct tw_line_count *count;
    struct report_line *rows = NULL;
    size_t used = 0, room = 0, i;

    for (i = 0; (count = tw_coverage_line(report->coverage, i)) != NULL; i++) {
        size_t size = 0;
        const char *text =
            config->source_text
                ? config->source_text(config->source_context, count->file, count->line, &size)
                : NULL;

        if (used >= most)
            continue;
        if (!TW_GROW(config->allocator, &rows, &room, used + 1)) {
            report->is_out = true;
            break;
        }
        rows[used++] = (struct report_line){
            .count = count->count,
            .file = tw_report_text(report, count->file),
            .line = count->line,
            .instructions = count->instructions,
            .covered = count->covered,
            .text =
                text ? tw_tables_text_size(&report->tables, text, size < 400 ? size : 400) : 0,
        };
    }
    tw_tables_number(&report->tables, "linesLeft", i - used);
    tw_tables_add(&report->tables, "lines", (struct tw_table_rows){ rows, used, sizeof *rows },
                  line_columns);
    tw_give(config->allocator, rows);
}

static void add_branches_of(struct tw_report *report, size_t object, struct report_branch *rows,
                            size_t *used)
{
    struct tw_symbols *symbols = tw_coverage_symbols(report->coverage, object);
    const struct tw_branch_count *branch;

    for (size_t i = 0; (branch = tw_coverage_branch(report->coverage, object, i)) != NULL;
         i++) {
        struct report_branch row = { .address = branch->address,
                                     .taken = branch->taken,
                                     .not_taken = branch->not_taken };
        struct tw_source_line line;
        struct tw_symbol symbol;

        if (!branch->taken && !branch->not_taken)
            continue;
        if (symbols && tw_symbols_function(symbols, &symbol, branch->address))
            row.name = tw_report_name(report, symbol.name);
        if (tw_coverage_source(report->coverage, object, &line, branch->address)) {
            row.file = tw_report_text(report, line.file);
            row.line = line.line;
        }
        rows[(*used)++] = row;
    }
}

/* Those that were reached. */
static void add_branches(struct tw_report *report)
{
    const size_t objects = tw_coverage_object_count(report->coverage);
    struct report_branch *rows;
    const struct tw_branch_count *branch;
    size_t count = 0, used = 0;

    for (size_t object = 0; object < objects; object++)
        for (size_t i = 0; (branch = tw_coverage_branch(report->coverage, object, i)); i++)
            count += branch->taken || branch->not_taken;
    rows = tw_take(report->config.allocator, (count + 1) * sizeof *rows);
    if (!rows) {
        report->is_out = true;
        return;
    }
    for (size_t object = 0; object < objects; object++)
        add_branches_of(report, object, rows, &used);
    tw_tables_add(&report->tables, "branches",
                  (struct tw_table_rows){ rows, used, sizeof *rows }, branch_columns);
    tw_give(report->config.allocator, rows);
}

void tw_report_add_coverage(struct tw_report *report)
{
    struct tw_coverage_totals totals = { .size = sizeof totals };
    struct tw_tables *tables = &report->tables;

    if (tw_coverage_totals(report->coverage, &totals)) {
        tw_tables_number(tables, "codeInstructions", totals.instructions);
        tw_tables_number(tables, "codeCovered", totals.covered);
        tw_tables_number(tables, "codeBranches", totals.branches);
        tw_tables_number(tables, "codeBoth", totals.both);
        tw_tables_number(tables, "codeLines", totals.lines);
        tw_tables_number(tables, "codeLinesCovered", totals.lines_covered);
        tw_tables_number(tables, "codeFunctions", totals.functions);
        tw_tables_number(tables, "codeFunctionsCovered", totals.functions_covered);
    }
    add_lines(report);
    add_branches(report);
}
