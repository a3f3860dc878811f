/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of functions, lines and addresses, made of counted ranges once, at the end. */
#include <stdlib.h>
#include <string.h>

#include <trackway/disassembly.h>

#include "analysis/profile.h"
#include "base/memory.h"
#include "image/symbols.h"

struct tw_profile_row *tw_profile_row_of(struct tw_profiler *profile, uint64_t key,
                                         bool *is_new)
{
    uint64_t *number = tw_map_put(&profile->row_of, key);

    *is_new = number && !*number;
    if (!number || (*is_new && !TW_GROW(profile->allocator, &profile->rows, &profile->row_room,
                                        profile->row_count + 1)))
        return NULL;
    if (*is_new) {
        profile->rows[profile->row_count] =
            (struct tw_profile_row){ .pid = TW_NONE, .tid = TW_NONE, .context = UINT64_MAX };
        *number = ++profile->row_count;
    }
    return &profile->rows[*number - 1];
}

const char *tw_profile_keep(struct tw_profiler *profile, const char *name)
{
    char *copy;

    if (!TW_GROW(profile->allocator, &profile->names, &profile->name_room,
                 profile->name_count + 1))
        return NULL;
    copy = tw_copy_text(profile->allocator, name);
    if (copy)
        profile->names[profile->name_count++] = copy;
    return copy;
}

/* ---- instructions of a range ---- */

/* An instruction of a range that was executed so often; time and cycles are its part of the range's. */
struct executed_step {
    uint64_t address;
    uint64_t times;
    uint64_t cycles, time;
    uint8_t isa;
};

typedef bool step_fn(struct tw_profiler *profile, const struct tw_counted_file *file,
                     const struct executed_step *step);

static size_t size_at(const struct tw_counted_file *file, const struct tw_range_count *range,
                      uint64_t address)
{
    uint8_t bytes[4] = { 0 };
    struct tw_code_bytes code = { .bytes = bytes, .address = address, .isa = range->isa };

    if (range->length == range->instructions * 4)
        return 4;
    if (range->length == range->instructions * 2)
        return 2;
    if (file->image)
        code.size =
            tw_image_read(file->image, bytes, &file->view, address + file->bias, sizeof bytes);
    return tw_instruction_size(&code);
}

/* Calls `each` for every instruction of every range. */
static bool walk_file(struct tw_profiler *profile, const struct tw_counted_file *file,
                      step_fn *each)
{
    for (size_t i = 1; i < file->counts.range_count; i++) {
        const struct tw_range_count *range = &file->counts.ranges[i];
        struct executed_step step = { .address = range->start,
                                      .times = range->taken + range->not_taken,
                                      .isa = range->isa };

        for (uint32_t k = 0; k < range->instructions; k++) {
            const size_t size = size_at(file, range, step.address);

            step.cycles =
                range->cycles / range->instructions + (k < range->cycles % range->instructions);
            step.time =
                range->time / range->instructions + (k < range->time % range->instructions);
            if (!each(profile, file, &step))
                return false;
            step.address += size ? size : 2; /* all are counted even where the code is gone */
        }
    }
    return true;
}

/* ---- functions ---- */

static struct tw_profile_row *function_row(struct tw_profiler *profile,
                                           const struct tw_counted_file *file, uint64_t address,
                                           uint64_t *end)
{
    struct tw_symbol symbol;
    uint64_t first;
    const bool is_known = tw_code_function(file->symbols, &symbol, &first, end, address);
    bool is_new;
    struct tw_profile_row *row = tw_profile_row_of(
        profile, tw_hash64(file->key ^ tw_hash64(is_known ? symbol.address : UINT64_MAX)),
        &is_new);

    if (row && is_new) {
        struct tw_source_line line = { NULL, 0 };

        row->object = file->name;
        row->known = is_known ? TW_PROFILE_IS_KNOWN : 0;
        row->name = is_known ? symbol.name : NULL;
        row->address = is_known ? symbol.address : 0;
        if (is_known)
            (void)tw_symbols_line(file->symbols, &line, symbol.address);
        row->file = line.file;
        row->line = line.line;
    }
    if (!is_known) /* where there are symbols, the next may begin anywhere */
        *end = file->symbols && tw_symbols_count(file->symbols) ? address : UINT64_MAX;
    return row;
}

static bool take_function_step(struct tw_profiler *profile, const struct tw_counted_file *file,
                               const struct executed_step *step)
{
    uint64_t end;
    struct tw_profile_row *row = function_row(profile, file, step->address, &end);

    if (!row)
        return false;
    row->self += step->times;
    row->entries +=
        row->known & TW_PROFILE_IS_KNOWN && row->address == step->address ? step->times : 0;
    return true;
}

/* Most ranges lie in one function: only the others are gone through. */
static bool walk_functions(struct tw_profiler *profile, const struct tw_counted_file *file)
{
    for (size_t i = 1; i < file->counts.range_count; i++) {
        const struct tw_range_count *range = &file->counts.ranges[i];
        const uint64_t times = range->taken + range->not_taken;
        struct executed_step step = { .address = range->start, .times = times };
        uint64_t end;
        struct tw_profile_row *row = function_row(profile, file, range->start, &end);

        if (!row)
            return false;
        if (end >= range->start + range->length) {
            row->self += times * range->instructions;
            row->entries += row->address == range->start ? times : 0;
            continue;
        }
        for (uint32_t k = 0; k < range->instructions; k++) {
            const size_t size = size_at(file, range, step.address);

            if (!take_function_step(profile, file, &step))
                return false;
            step.address += size ? size : 2;
        }
    }
    return true;
}

/* ---- functions, with what was inlined ---- */

enum { INLINED_MOST = 32 };

static bool is_among(const struct tw_source_frame *frames, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(frames[i].function, name) == 0)
            return true;
    return false;
}

static struct tw_profile_row *inlined_row(struct tw_profiler *profile,
                                          const struct tw_counted_file *file,
                                          const struct tw_source_frame *frame)
{
    bool is_new;
    struct tw_profile_row *row = tw_profile_row_of(
        profile, tw_hash64(file->key ^ tw_profile_text_key(frame->function)), &is_new);

    if (row && is_new) {
        row->name = frame->function;
        row->object = file->name;
        row->known = TW_PROFILE_IS_KNOWN | TW_PROFILE_IS_INLINED | TW_PROFILE_HAS_TOTAL;
    }
    return row;
}

/* What the debug information calls a function may not be what the symbols do: the outermost one is the
   symbol's. */
static bool take_inlined(struct tw_profiler *profile, const struct tw_counted_file *file,
                         const struct executed_step *step)
{
    struct tw_source_frame frames[INLINED_MOST];
    struct tw_profile_row *row;
    uint64_t end;
    size_t count = 0;

    if (file->symbols)
        count = tw_symbols_frames(file->symbols, frames, INLINED_MOST, step->address);
    count = count > INLINED_MOST ? INLINED_MOST : count;
    for (size_t i = 0; i + 1 < count; i++) {
        if (is_among(frames, i, frames[i].function))
            continue; /* inlined into itself: it counts once */
        row = inlined_row(profile, file, &frames[i]);
        if (!row)
            return false;
        row->self += i ? 0 : step->times;
        row->total += step->times;
    }
    row = function_row(profile, file, step->address, &end);
    if (!row)
        return false;
    row->known |= TW_PROFILE_HAS_TOTAL;
    row->self += count > 1 ? 0 : step->times;
    row->total += step->times;
    row->entries +=
        row->known & TW_PROFILE_IS_KNOWN && row->address == step->address ? step->times : 0;
    return true;
}

/* ---- lines and addresses ---- */

static bool take_address(struct tw_profiler *profile, const struct tw_counted_file *file,
                         const struct executed_step *step)
{
    struct tw_source_line line = { NULL, 0 };
    struct tw_symbol symbol;
    uint64_t first, end;
    bool is_new;
    struct tw_profile_row *row = tw_profile_row_of(
        profile, tw_hash64(file->key ^ tw_hash64(step->address * 8 + step->isa)), &is_new);

    if (!row)
        return false;
    if (is_new) {
        row->object = file->name;
        row->address = step->address;
        row->isa = step->isa;
        row->known = TW_PROFILE_IS_KNOWN;
        if (tw_code_function(file->symbols, &symbol, &first, &end, step->address))
            row->name = symbol.name;
        if (file->symbols)
            (void)tw_symbols_line(file->symbols, &line, step->address);
        row->file = line.file;
        row->line = line.line;
    }
    row->self += step->times;
    row->entries += step->times;
    row->cycles.estimate += step->cycles;
    row->time.estimate += step->time;
    return true;
}

static uint64_t line_key(const struct tw_counted_file *file, const struct tw_source_line *line)
{
    return line->file ? tw_hash64(tw_profile_text_key(line->file)) ^ line->line
                      : tw_hash64(file->key ^ UINT64_MAX);
}

static bool take_line(struct tw_profiler *profile, const struct tw_counted_file *file,
                      const struct executed_step *step)
{
    struct tw_source_line line = { NULL, 0 };
    struct tw_symbol symbol;
    struct tw_profile_row *row;
    uint64_t first, end;
    bool is_new;

    if (file->symbols)
        (void)tw_symbols_line(file->symbols, &line, step->address);
    row = tw_profile_row_of(profile, line_key(file, &line), &is_new);
    if (!row)
        return false;
    if (is_new) {
        row->object = file->name;
        row->file = line.file;
        row->line = line.line;
        row->known = line.file ? TW_PROFILE_IS_KNOWN : 0;
        if (line.file && tw_code_function(file->symbols, &symbol, &first, &end, step->address))
            row->name = symbol.name;
    }
    row->self += step->times;
    row->cycles.estimate += step->cycles;
    row->time.estimate += step->time;
    return true;
}

/* Instructions that were counted, but not where, are a row of their own. */
static bool add_untraced(struct tw_profiler *profile)
{
    bool is_new;
    struct tw_profile_row *row =
        profile->code.untraced ? tw_profile_row_of(profile, tw_hash64(UINT64_MAX - 1), &is_new)
                               : NULL;

    if (row) {
        row->name = "[not traced]";
        row->self = profile->code.untraced;
    }
    return row || !profile->code.untraced;
}

bool tw_profile_code_rows(struct tw_profiler *profile)
{
    bool is_good = true;

    for (size_t i = 0; i < profile->code.count && is_good; i++) {
        const struct tw_counted_file *file = profile->code.files[i];

        is_good = profile->with_inlined                ? walk_file(profile, file, take_inlined)
                  : profile->by == TW_PROFILE_FUNCTION ? walk_functions(profile, file)
                  : profile->by == TW_PROFILE_LINE     ? walk_file(profile, file, take_line)
                                                       : walk_file(profile, file, take_address);
    }
    return is_good && add_untraced(profile);
}

/* ---- functions, where calls are followed ---- */

bool tw_profile_call_rows(struct tw_profiler *profile)
{
    const struct tw_functions *functions = tw_calls_functions(profile->calls);

    for (uint32_t i = 1; i < tw_functions_count(functions); i++) {
        const struct tw_function *function = tw_functions_get(functions, i);
        const struct tw_call_totals totals = tw_calls_totals(profile->calls, i);
        struct tw_source_line line = { NULL, 0 };
        struct tw_profile_row *row;
        bool is_new;

        if (!totals.entries && !totals.inclusive)
            continue;
        row = tw_profile_row_of(profile, i, &is_new);
        if (!row)
            return false;
        row->name = function->name;
        row->address = function->address;
        row->object = function->object;
        (void)tw_function_line(function, &line);
        if (function->symbols && function->symbols->lacks_lines)
            return false;
        row->file = line.file;
        row->line = line.line;
        row->function = i;
        row->entries = totals.entries;
        row->self = totals.self;
        row->total = totals.inclusive;
        row->known = TW_PROFILE_HAS_CALLS;
        if (function->kind == TW_FUNCTION_SYMBOL)
            row->known |= TW_PROFILE_IS_KNOWN;
    }
    return true;
}

/* ---- order ---- */

static int by_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int compare(const void *left, const void *right)
{
    const struct tw_profile_row *a = left, *b = right;
    int order;

    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    order = by_text(a->name, b->name);
    if (!order)
        order = by_text(a->file, b->file);
    if (!order)
        order = by_text(a->object, b->object);
    if (order)
        return order;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* Rows of what executed nothing are left out. */
void tw_profile_sort(struct tw_profiler *profile)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->row_count; i++)
        if (profile->rows[i].self || profile->rows[i].entries || profile->rows[i].total)
            profile->rows[count++] = profile->rows[i];
    profile->row_count = count;
    if (profile->row_count)
        qsort(profile->rows, profile->row_count, sizeof *profile->rows, compare);
}
