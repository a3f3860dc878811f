/* SPDX-License-Identifier: BSD-2-Clause */
/* All code of an object, instruction by instruction: counts, branches, functions, lines.  Done once, at
   the end: the work is that of the code, not of the trace. */
#include <stdlib.h>
#include <string.h>

#include <trackway/disassembly.h>

#include "analysis/coverage.h"
#include "base/map.h"
#include "base/memory.h"
#include "isa/isa.h"

/* The count changes here by so much. */
struct step {
    uint64_t address;
    uint64_t more; /* modulo 2^64: a range's end takes away what its beginning gave */
};

/* What a branch did, by its address. */
struct outcome {
    uint64_t address;
    uint64_t taken, not_taken;
};

/* A range, for code that no file tells of. */
struct executed {
    uint64_t start, end;
    uint8_t isa;
};

struct walk {
    struct tw_coverage *coverage;
    struct tw_covered_object *object;
    struct step *steps;
    size_t step_count, step_at;
    struct outcome *outcomes;
    size_t outcome_count, outcome_at;
    struct executed *executed; /* by start */
    size_t executed_count, executed_at;
    uint64_t count; /* of the instruction at work */
    struct tw_symbol function;
    bool has_function;
    uint8_t it_open;          /* T32: conditions of an IT block still open */
    struct tw_line_copy line; /* of the instructions just before, not yet kept */
    bool has_line;
};

static int by_address(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* By branch, then by where it led: the order in which they were counted says nothing. */
static int by_target(const void *left, const void *right)
{
    const struct tw_target_count *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->is_call - b->is_call;
}

static bool open_walk(struct walk *walk)
{
    const struct tw_range_counts *counts = &walk->object->of->counts;
    const struct tw_allocator *allocator = walk->coverage->allocator;

    walk->steps = tw_take(allocator, (2 * counts->range_count + 1) * sizeof *walk->steps);
    walk->outcomes = tw_take(allocator, (counts->range_count + 1) * sizeof *walk->outcomes);
    walk->executed = tw_take(allocator, (counts->range_count + 1) * sizeof *walk->executed);
    if (!walk->steps || !walk->outcomes || !walk->executed)
        return false;
    for (size_t i = 1; i < counts->range_count; i++) {
        const struct tw_range_count *range = &counts->ranges[i];
        const uint64_t end = range->start + range->length;
        const uint64_t times = range->taken + range->not_taken;

        walk->steps[walk->step_count++] = (struct step){ range->start, times };
        walk->steps[walk->step_count++] = (struct step){ end, 0 - times };
        walk->outcomes[walk->outcome_count++] =
            (struct outcome){ end - (uint64_t)(range->last >> 6) * 2, range->taken,
                              range->not_taken };
    }
    for (size_t i = 1; i < counts->range_count; i++)
        walk->executed[walk->executed_count++] =
            (struct executed){ counts->ranges[i].start,
                               counts->ranges[i].start + counts->ranges[i].length,
                               counts->ranges[i].isa };
    qsort(walk->executed, walk->executed_count, sizeof *walk->executed, by_address);
    qsort(walk->steps, walk->step_count, sizeof *walk->steps, by_address);
    qsort(walk->outcomes, walk->outcome_count, sizeof *walk->outcomes, by_address);
    return true;
}

static void close_walk(struct walk *walk)
{
    tw_give(walk->coverage->allocator, walk->steps);
    tw_give(walk->coverage->allocator, walk->outcomes);
    tw_give(walk->coverage->allocator, walk->executed);
}

/* Instructions next to each other with one count are one entry. */
static bool add_code(struct walk *walk, uint64_t address, uint64_t end, uint8_t isa)
{
    struct tw_covered_object *object = walk->object;
    struct tw_code_count *last =
        object->code_count ? &object->code[object->code_count - 1] : NULL;

    if (last && last->end == address && last->count == walk->count && last->isa == isa) {
        last->end = end;
        return true;
    }
    if (!TW_GROW(walk->coverage->allocator, &object->code, &object->code_room,
                 object->code_count + 1))
        return false;
    object->code[object->code_count++] =
        (struct tw_code_count){ address, end, walk->count, isa };
    return true;
}

static bool is_conditional_branch(struct walk *walk, const struct tw_code_bytes *code)
{
    const struct tw_isa_options options = { .arch = 0 };
    const struct tw_rv_options rv_options = { .has_zcmp = false };
    const uint32_t opcode = tw_instruction_opcode(code);
    struct tw_instruction is = { .kind = TW_FLOW_OTHER };
    struct tw_rv_instruction rv;

    switch (code->isa) {
    case TW_ISA_A64:
        tw_a64_classify(&is, opcode, code->address, &options);
        break;
    case TW_ISA_A32:
        tw_a32_classify(&is, opcode, code->address, &options);
        break;
    case TW_ISA_T32:
        tw_t32_classify(&is, opcode, code->address, walk->it_open, &options);
        walk->it_open = is.it_remaining;
        break;
    case TW_ISA_RV32:
    case TW_ISA_RV64:
        tw_rv_classify(&rv, opcode, code->address, code->isa, &rv_options);
        return rv.is_branch;
    default:
        return false;
    }
    return is.is_conditional && (is.kind == TW_FLOW_BRANCH || is.kind == TW_FLOW_INDIRECT);
}

static bool add_branch(struct walk *walk, uint64_t address)
{
    struct tw_covered_object *object = walk->object;
    struct tw_branch_count branch = { .address = address };

    while (walk->outcome_at < walk->outcome_count &&
           walk->outcomes[walk->outcome_at].address < address)
        walk->outcome_at++;
    for (size_t i = walk->outcome_at;
         i < walk->outcome_count && walk->outcomes[i].address == address; i++) {
        branch.taken += walk->outcomes[i].taken;
        branch.not_taken += walk->outcomes[i].not_taken;
    }
    if (!TW_GROW(walk->coverage->allocator, &object->branches, &object->branch_room,
                 object->branch_count + 1))
        return false;
    object->branches[object->branch_count++] = branch;
    walk->coverage->totals.branches++;
    walk->coverage->totals.both += branch.taken && branch.not_taken;
    return true;
}

static bool add_function(struct walk *walk, uint64_t address)
{
    struct tw_covered_object *object = walk->object;
    struct tw_function_count *last;
    struct tw_symbol symbol;

    if (!object->of->symbols || !tw_symbols_function(object->of->symbols, &symbol, address)) {
        walk->has_function = false;
        return true;
    }
    if (!walk->has_function || symbol.address != walk->function.address) {
        struct tw_source_line line = { NULL, 0 };

        if (!TW_GROW(walk->coverage->allocator, &object->functions, &object->function_room,
                     object->function_count + 1))
            return false;
        (void)tw_symbols_line(object->of->symbols, &line, address);
        object->functions[object->function_count++] =
            (struct tw_function_count){ .name = symbol.name,
                                        .address = symbol.address,
                                        .entries = walk->count,
                                        .file = line.file,
                                        .line = line.line };
        walk->function = symbol;
        walk->has_function = true;
    }
    last = &object->functions[object->function_count - 1];
    last->instructions++;
    last->covered += walk->count != 0;
    last->self += walk->count;
    return true;
}

static bool keep_line(struct walk *walk)
{
    struct tw_coverage *coverage = walk->coverage;

    if (!walk->has_line)
        return true;
    walk->has_line = false;
    if (!TW_GROW(coverage->allocator, &coverage->copies, &coverage->copy_room,
                 coverage->copy_count + 1))
        return false;
    coverage->copies[coverage->copy_count++] = walk->line;
    return true;
}

/* Copies of a line are told apart by the function that they are in, and by where it was inlined. */
static uint64_t copy_of(const struct walk *walk, uint64_t address)
{
    enum { INLINED = 8 };
    uint64_t copy = walk->has_function ? walk->function.address : address;
    struct tw_source_frame frames[INLINED];
    const size_t count = tw_symbols_frames(walk->object->of->symbols, frames, INLINED, address);

    for (size_t i = 1; i < count && i < INLINED; i++)
        copy = tw_hash64(copy + frames[i].line.line);
    return copy;
}

static bool add_line(struct walk *walk, uint64_t address)
{
    struct tw_source_line line;
    uint64_t copy;

    if (!walk->object->of->symbols ||
        !tw_symbols_line(walk->object->of->symbols, &line, address)) {
        walk->coverage->totals.unexplained++;
        return keep_line(walk);
    }
    copy = copy_of(walk, address);
    if (walk->has_line &&
        (walk->line.line.line != line.line || walk->line.copy != copy ||
         walk->line.line.file != line.file) &&
        !keep_line(walk))
        return false;
    if (!walk->has_line) {
        walk->line = (struct tw_line_copy){ { .file = line.file, .line = line.line }, copy };
        walk->has_line = true;
    }
    if (walk->count > walk->line.line.count)
        walk->line.line.count = walk->count;
    walk->line.line.instructions++;
    walk->line.line.covered += walk->count != 0;
    return true;
}

/* An instruction; `address` as linked. */
static bool take_instruction(struct walk *walk, const struct tw_code_bytes *code, size_t size)
{
    const uint64_t address = code->address;

    while (walk->step_at < walk->step_count && walk->steps[walk->step_at].address <= address)
        walk->count += walk->steps[walk->step_at++].more;
    walk->object->about.instructions++;
    walk->object->about.covered += walk->count != 0;
    return add_code(walk, address, address + size, code->isa) &&
           (!is_conditional_branch(walk, code) || add_branch(walk, address)) &&
           add_function(walk, address) && add_line(walk, address);
}

static bool walk_stretch(struct walk *walk, const struct tw_code_stretch *stretch)
{
    uint64_t at = stretch->first;

    walk->it_open = 0;
    while (at < stretch->end) {
        uint8_t bytes[4] = { 0 };
        struct tw_code_bytes code = { .bytes = bytes, .address = at, .isa = stretch->isa };
        size_t size;

        if (walk->object->of->image)
            code.size = tw_image_read(walk->object->of->image, bytes, &walk->object->of->view,
                                      at + walk->object->of->bias, sizeof bytes);
        size = tw_instruction_size(&code);
        if (!size || size > stretch->end - at)
            size = stretch->isa == TW_ISA_A64 || stretch->isa == TW_ISA_A32 ? 4 : 2;
        if (!take_instruction(walk, &code, size))
            return false;
        at += size;
    }
    return true;
}

/* What was executed between two addresses where no file says that there is code. */
static bool walk_executed(struct walk *walk, uint64_t first, uint64_t end)
{
    for (; walk->executed_at < walk->executed_count &&
           walk->executed[walk->executed_at].start < end;
         walk->executed_at++) {
        const struct executed *range = &walk->executed[walk->executed_at];
        const struct tw_code_stretch stretch = { range->start > first ? range->start : first,
                                                 range->end < end ? range->end : end,
                                                 range->isa };

        if (stretch.end <= stretch.first)
            continue;
        if (!walk_stretch(walk, &stretch))
            return false;
        first = stretch.end;
    }
    return true;
}

static bool add_targets(struct tw_coverage *coverage, struct tw_covered_object *object)
{
    const struct tw_range_counts *counts = &object->of->counts;

    for (size_t i = 1; i < counts->edge_count; i++) {
        const struct tw_edge_count *edge = &counts->edges[i];
        const unsigned kind = edge->kind & ~(unsigned)TW_EDGE_OUTSIDE;

        if ((kind != TW_EDGE_INDIRECT && kind != TW_EDGE_CALL) || edge->from == UINT64_MAX)
            continue;
        if (!TW_GROW(coverage->allocator, &object->targets, &object->target_room,
                     object->target_count + 1))
            return false;
        object->targets[object->target_count++] =
            (struct tw_target_count){ edge->from, edge->to, edge->count, kind == TW_EDGE_CALL };
    }
    if (object->target_count)
        qsort(object->targets, object->target_count, sizeof *object->targets, by_target);
    return true;
}

static void add_totals(struct tw_coverage *coverage, const struct tw_covered_object *object)
{
    coverage->totals.instructions += object->about.instructions;
    coverage->totals.covered += object->about.covered;
    coverage->totals.functions += object->function_count;
    for (size_t i = 0; i < object->function_count; i++)
        coverage->totals.functions_covered += object->functions[i].covered != 0;
}

bool tw_coverage_walk(struct tw_coverage *coverage, struct tw_covered_object *object)
{
    struct walk walk = { .coverage = coverage, .object = object };
    struct tw_code_stretch stretch;
    uint64_t at = 0;
    bool is_good = open_walk(&walk);

    for (size_t i = 0;
         is_good && object->of->symbols && tw_symbols_code(object->of->symbols, &stretch, i);
         i++) {
        is_good = walk_executed(&walk, at, stretch.first);
        if (is_good && stretch.isa != TW_ISA_UNKNOWN)
            is_good = walk_stretch(&walk, &stretch);
        at = stretch.end;
    }
    is_good = is_good && walk_executed(&walk, at, UINT64_MAX) && keep_line(&walk) &&
              add_targets(coverage, object);
    if (is_good)
        add_totals(coverage, object);
    close_walk(&walk);
    return is_good;
}
