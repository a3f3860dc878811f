/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions with how often each was executed, which way branches went, and their source lines. */
#include <stdlib.h>

#include <inttypes.h>
#include <stdio.h>

#include <trackway/disassembly.h>
#include <trackway/instruction.h>

#include "base/memory.h"
#include "report/code.h"

static const struct tw_table_column code_columns[] = {
    TW_NUMBER_COLUMN(struct report_code_row, address),
    TW_NUMBER_COLUMN(struct report_code_row, count),
    TW_NUMBER_COLUMN(struct report_code_row, taken),
    TW_NUMBER_COLUMN(struct report_code_row, not_taken),
    TW_NUMBER_COLUMN(struct report_code_row, is_branch),
    TW_NUMBER_COLUMN(struct report_code_row, to),
    TW_TEXT_COLUMN(struct report_code_row, text),
    TW_TEXT_COLUMN(struct report_code_row, file),
    TW_NUMBER_COLUMN(struct report_code_row, line),
    { .name = NULL },
};

static const struct tw_table_column code_target_columns[] = {
    TW_NUMBER_COLUMN(struct report_code_target, code),
    TW_NUMBER_COLUMN(struct report_code_target, to),
    TW_TEXT_COLUMN(struct report_code_target, name),
    TW_NUMBER_COLUMN(struct report_code_target, count),
    { .name = NULL },
};

/* ---- instructions in order ---- */

/* The next instruction of the object; false: that was the last. */
static bool next_code(struct report_code *code, struct report_instruction *next)
{
    const struct tw_coverage *coverage = code->report->coverage;
    const struct tw_code_count *run;

    while ((run = tw_coverage_code(coverage, code->object, code->code_at)) &&
           code->at >= run->end)
        code->code_at++;
    if (!run)
        return false;
    if (code->at < run->first)
        code->at = run->first;
    *next = (struct report_instruction){ .count = run->count };
    next->code =
        (struct tw_code_bytes){ .bytes = next->bytes, .address = code->at, .isa = run->isa };
    next->code.size =
        tw_coverage_read(coverage, code->object, next->bytes, code->at, sizeof next->bytes);
    next->size = tw_instruction_size(&next->code);
    if (!next->size)
        next->size = run->isa == TW_ISA_A64 || run->isa == TW_ISA_A32 ? 4 : 2;
    while ((next->branch = tw_coverage_branch(coverage, code->object, code->branch_at)) &&
           next->branch->address < code->at)
        code->branch_at++;
    if (next->branch && next->branch->address != code->at)
        next->branch = NULL;
    code->at += next->size;
    return true;
}

/* Where a direct branch leads; is_call: and returns from.  0: it is none. */
static uint64_t direct_target(const struct report_instruction *is, bool *is_call)
{
    const struct tw_instruction_query query = { .size = sizeof query,
                                                .address = is->code.address,
                                                .bytes = is->bytes,
                                                .count = is->code.size,
                                                .isa = is->code.isa };
    struct tw_instruction_answer answer = { .size = sizeof answer };

    *is_call = false;
    if (!is->code.size || tw_instruction_classify(&answer, &query) != TW_OK ||
        answer.info.kind != TW_LAST_BR)
        return 0;
    *is_call = answer.info.is_link;
    return answer.info.target;
}

static uint32_t symbol_name(const struct report_code *code, uint64_t address)
{
    struct tw_symbol symbol;

    return code->symbols && tw_symbols_function(code->symbols, &symbol, address)
               ? tw_report_name(code->report, symbol.name)
               : 0;
}

static void add_targets(struct report_code *code, uint64_t address)
{
    const struct tw_coverage *coverage = code->report->coverage;
    const struct tw_target_count *target;

    while ((target = tw_coverage_target(coverage, code->object, code->target_at)) &&
           target->from < address)
        code->target_at++;
    for (; target && target->from == address;
         target = tw_coverage_target(coverage, code->object, ++code->target_at)) {
        if (!TW_GROW(code->report->config.allocator, &code->targets, &code->target_room,
                     code->target_count + 1)) {
            code->report->is_out = true;
            return;
        }
        code->targets[code->target_count++] =
            (struct report_code_target){ .to = target->to,
                                         .count = target->count,
                                         .code = (uint32_t)code->count,
                                         .name = symbol_name(code, target->to) };
    }
}

static void add_instruction(struct report_code *code, const struct report_instruction *is)
{
    struct report_code_row row = { .address = is->code.address, .count = is->count };
    struct tw_source_line line;
    bool is_call;
    char text[256] = "";

    if (code->disassembler && is->code.size)
        (void)tw_disassemble(code->disassembler, text, sizeof text, &is->code);
    if (!text[0])
        (void)snprintf(text, sizeof text, ".inst 0x%0*" PRIx32, (int)is->size * 2,
                       tw_instruction_opcode(&is->code));
    row.text = tw_report_text(code->report, text);
    row.is_branch = is->branch != NULL;
    if (is->branch) {
        row.taken = is->branch->taken;
        row.not_taken = is->branch->not_taken;
    }
    row.to = direct_target(is, &is_call);
    if (is_call) {
        report_code_called(code, row.to);
        row.to = 0;
    }
    if (tw_coverage_source(code->report->coverage, code->object, &line, is->code.address)) {
        row.file = tw_report_text(code->report, line.file);
        row.line = line.line;
    }
    if (!TW_GROW(code->report->config.allocator, &code->rows, &code->room, code->count + 1)) {
        code->report->is_out = true;
        return;
    }
    add_targets(code, is->code.address);
    code->rows[code->count++] = row;
}

/* ---- functions ---- */

static bool is_in(const struct report_code *code, uint64_t first, uint64_t address)
{
    struct tw_symbol symbol;

    return code->symbols && tw_symbols_function(code->symbols, &symbol, address) &&
           symbol.address == first;
}

static void add_function_code(struct report_code *code, struct report_cover_function *function)
{
    struct report_instruction is;

    function->first = (uint32_t)code->count;
    code->at = function->address;
    while (next_code(code, &is) && is_in(code, function->address, is.code.address))
        add_instruction(code, &is);
    function->rows = (uint32_t)code->count - function->first;
}

/* Code without symbols: what was executed of it, as one function. */
static void add_unnamed(struct report_code *code, struct report_cover_function *function)
{
    struct report_instruction is;

    function->first = (uint32_t)code->count;
    code->at = 0;
    code->code_at = code->branch_at = code->target_at = 0;
    while (code->count < code->most && next_code(code, &is)) {
        struct tw_symbol symbol;

        if (is.count &&
            !(code->symbols && tw_symbols_function(code->symbols, &symbol, is.code.address))) {
            add_instruction(code, &is);
            function->self += is.count;
            function->instructions++;
            function->covered++;
        }
    }
    function->rows = (uint32_t)code->count - function->first;
}

static int by_self(const void *a, const void *b)
{
    const struct report_cover_function *const *left = a, *const *right = b;

    return (*left)->self < (*right)->self ? 1 : (*left)->self > (*right)->self ? -1 : 0;
}

/* Those that executed most, as far as there is room, get their code. */
static void choose(struct report_code *code)
{
    struct report_cover_function **order =
        tw_take(code->report->config.allocator, (code->function_count + 1) * sizeof *order);
    uint64_t used = 0, left = 0;

    if (!order) {
        code->report->is_out = true;
        return;
    }
    for (size_t i = 0; i < code->function_count; i++)
        order[i] = &code->functions[i];
    if (code->function_count)
        qsort(order, code->function_count, sizeof(*order), by_self);
    for (size_t i = 0; i < code->function_count; i++) {
        if (!order[i]->covered)
            continue;
        used += order[i]->instructions;
        order[i]->is_shown = used <= code->most;
        left += !order[i]->is_shown;
    }
    tw_tables_number(&code->report->tables, "codeLeft", left);
    tw_give(code->report->config.allocator, order);
}

static void add_object(struct report_code *code, struct report_cover_function *unnamed)
{
    const struct tw_disassembler_config config = { .size = sizeof config,
                                                   .core_type = code->report->config.core_type,
                                                   .symbols = code->symbols,
                                                   .allocator =
                                                       code->report->config.allocator };
    const enum tw_status status = tw_disassembler_new(&code->disassembler, &config, NULL);

    if (status != TW_OK)
        code->disassembler = NULL;
    code->report->is_out |= status == TW_E_MEMORY;
    code->code_at = code->branch_at = code->target_at = 0;
    for (size_t i = 0; i < code->function_count; i++)
        if (code->functions[i].object_number == code->object && code->functions[i].is_shown)
            add_function_code(code, &code->functions[i]);
    add_unnamed(code, unnamed);
    tw_disassembler_free(code->disassembler);
    code->disassembler = NULL;
}

void tw_report_add_code(struct tw_report *report)
{
    struct report_code code = { .report = report,
                                .most = (size_t)(report->config.room / 4 / 24) + 1000,
                                .by_address.allocator = report->config.allocator };

    report_code_functions(&code);
    choose(&code);
    for (code.object = 0;
         code.object < tw_coverage_object_count(report->coverage) && !report->is_out;
         code.object++) {
        struct report_cover_function unnamed = {
            .name = tw_report_text(report, "[no symbol]"),
            .object =
                tw_report_text(report, tw_coverage_object(report->coverage, code.object)->name),
        };

        code.symbols = tw_coverage_symbols(report->coverage, code.object);
        add_object(&code, &unnamed);
        if (unnamed.rows)
            report_code_add_function(&code, &unnamed);
    }
    report_code_functions_table(&code);
    tw_tables_add(&report->tables, "code",
                  (struct tw_table_rows){ code.rows, code.count, sizeof *code.rows },
                  code_columns);
    tw_tables_add(
        &report->tables, "codeTargets",
        (struct tw_table_rows){ code.targets, code.target_count, sizeof *code.targets },
        code_target_columns);
    tw_map_free(&code.by_address);
    tw_give(report->config.allocator, code.functions);
    tw_give(report->config.allocator, code.rows);
    tw_give(report->config.allocator, code.targets);
}
