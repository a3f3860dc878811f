/* SPDX-License-Identifier: BSD-2-Clause */
/* A sorted table of symbols: names by address and addresses by name. */
#include "image/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

enum tw_status tw_symbols_new(struct tw_symbols **symbols, const struct tw_allocator *allocator,
                              struct tw_fault *fault)
{
    struct tw_symbols *made = tw_take(allocator, sizeof *made);

    *symbols = made;
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for symbols");
    if (allocator) {
        made->allocator_copy = *allocator;
        made->allocator = &made->allocator_copy;
    }
    return TW_OK;
}

static void drop_file(struct tw_symbols *symbols, struct symbol_file *file)
{
    tw_symbol_lines_close(file->lines, symbols->allocator);
    for (size_t i = 0; i < 2; i++)
        tw_give(symbols->allocator, file->names[i]);
    tw_give(symbols->allocator, file->path);
    tw_give(symbols->allocator, file);
}

void tw_symbols_free(struct tw_symbols *symbols)
{
    struct tw_allocator allocator;
    bool is_ours;

    if (!symbols)
        return;
    while (symbols->files) {
        struct symbol_file *file = symbols->files;

        symbols->files = file->next;
        drop_file(symbols, file);
    }
    tw_give(symbols->allocator, symbols->items);
    tw_give(symbols->allocator, symbols->spans);
    tw_give(symbols->allocator, symbols->marks);
    tw_give(symbols->allocator, symbols->code);
    allocator = symbols->allocator_copy; /* the handle itself holds it */
    is_ours = !symbols->allocator;
    tw_give(is_ours ? NULL : &allocator, symbols);
}

const char *tw_symbols_fault(const struct tw_symbols *symbols)
{
    return symbols->fault.text;
}

size_t tw_symbols_count(const struct tw_symbols *symbols)
{
    return symbols->count;
}

/* By address; at one address the outermost first, and of aliases the best one: functions before
   labels, global before weak before local, then the shortest. */
static int compare(const void *left, const void *right)
{
    enum { NAME_MOST = 256 }; /* names may be as long as the file */
    const struct symbol *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->is_sized != b->is_sized)
        return a->is_sized ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    if (strnlen(a->name, NAME_MOST) != strnlen(b->name, NAME_MOST))
        return strnlen(a->name, NAME_MOST) < strnlen(b->name, NAME_MOST) ? -1 : 1;
    return strncmp(a->name, b->name, NAME_MOST);
}

/* A symbol without a size ends where the next one begins, or with its section. */
static void close_unsized(struct symbol *items, size_t count)
{
    uint64_t next = UINT64_MAX, here = UINT64_MAX;

    for (size_t i = count; i-- > 0;) {
        struct symbol *item = &items[i];

        if (item->start != here) {
            next = here;
            here = item->start;
        }
        if (!item->is_sized && item->end > next)
            item->end = next;
    }
}

static void put_span(struct tw_symbols *symbols, uint64_t start, size_t symbol)
{
    if (symbols->span_count && symbols->spans[symbols->span_count - 1].start == start)
        symbols->span_count--;
    symbols->spans[symbols->span_count++] = (struct span){ start, symbol };
}

/* Leaves the symbols that end at or before `address`; what lay under them comes out again. */
static size_t leave(struct tw_symbols *symbols, size_t *open, size_t depth, uint64_t address)
{
    const struct symbol *items = symbols->items;

    while (depth && items[open[depth - 1]].end <= address) {
        const uint64_t end = items[open[depth - 1]].end;

        while (depth && items[open[depth - 1]].end <= end)
            depth--;
        put_span(symbols, end, depth ? open[depth - 1] : SIZE_MAX);
    }
    return depth;
}

/* Cuts the nested and overlapping symbols into spans that lie side by side, so that a look-up is one
   binary search whatever the file says.  `open` has room for all of them. */
static void cut_spans(struct tw_symbols *symbols, size_t *open)
{
    const struct symbol *items = symbols->items;
    size_t depth = 0;

    symbols->span_count = 0;
    for (size_t i = 0; i < symbols->count; i++) {
        const struct symbol *item = &items[i];
        const struct symbol *around;

        depth = leave(symbols, open, depth, item->start);
        around = depth ? &items[open[depth - 1]] : NULL;
        /* A label inside a function is no function; an alias adds nothing. */
        if (around &&
            (!item->is_sized || (around->start == item->start && around->end == item->end)))
            continue;
        open[depth++] = i;
        put_span(symbols, item->start, i);
    }
    (void)leave(symbols, open, depth, UINT64_MAX);
}

static enum tw_status settle(struct tw_symbols *symbols)
{
    const size_t count = symbols->count;
    struct span *spans;
    size_t *open;

    if (!count)
        return TW_OK;
    if (count > SIZE_MAX / 4 / sizeof *spans)
        return tw_fail(&symbols->fault, TW_E_MEMORY, "no memory for %zu symbols", count);
    spans = tw_take(symbols->allocator, (2 * count + 1) * sizeof *spans);
    open = tw_take(symbols->allocator, count * sizeof *open);
    if (!spans || !open) {
        tw_give(symbols->allocator, spans);
        tw_give(symbols->allocator, open);
        return tw_fail(&symbols->fault, TW_E_MEMORY, "no memory for %zu symbols", count);
    }
    tw_give(symbols->allocator, symbols->spans);
    symbols->spans = spans;
    qsort(symbols->items, count, sizeof *symbols->items, compare);
    close_unsized(symbols->items, count);
    cut_spans(symbols, open);
    tw_give(symbols->allocator, open);
    return TW_OK;
}

static enum tw_status add(struct tw_symbols *symbols, const char *path, uint64_t bias,
                          const struct symbol_place *place)
{
    const size_t before = symbols->count, marks = symbols->mark_count;
    struct symbol_file *file = tw_take(symbols->allocator, sizeof *file);
    enum tw_status status;

    if (file)
        file->path = tw_copy_text(symbols->allocator, path);
    if (!file || !file->path) {
        tw_give(symbols->allocator, file);
        return tw_fail(&symbols->fault, TW_E_MEMORY, "no memory for %s", path);
    }
    file->bias = bias;
    status = tw_symbols_read_elf(symbols, file, place);
    if (status == TW_OK && !tw_symbols_settle_code(symbols))
        status = tw_fail(&symbols->fault, TW_E_MEMORY, "no memory for the code of %s", path);
    if (status == TW_OK && symbols->count != before)
        status = settle(symbols);
    if (status !=
        TW_OK) { /* TW_END: it is there already.  New ones are the last: none was sorted. */
        symbols->count = before;
        symbols->mark_count = marks;
        drop_file(symbols, file);
        return status == TW_END ? TW_OK : status;
    }
    file->next = symbols->files;
    symbols->files = file;
    return TW_OK;
}

enum tw_status tw_symbols_add_elf(struct tw_symbols *symbols, const char *path, uint64_t bias)
{
    const struct symbol_place nowhere = { false, 0, 0 };

    return add(symbols, path, bias, &nowhere);
}

enum tw_status tw_symbols_add_loaded(struct tw_symbols *symbols, const char *path,
                                     uint64_t offset, uint64_t address)
{
    const struct symbol_place place = { true, offset, address };

    return add(symbols, path, 0, &place);
}

enum tw_status tw_symbols_add_list(struct tw_symbols *symbols, const char *path,
                                   const struct tw_symbol *list, size_t count)
{
    const size_t before = symbols->count;
    struct symbol_file *file = tw_take(symbols->allocator, sizeof *file);
    enum tw_status status = TW_E_MEMORY;

    if (file)
        file->path = tw_copy_text(symbols->allocator, path);
    if (file && file->path &&
        TW_GROW(symbols->allocator, &symbols->items, &symbols->room, before + count)) {
        for (size_t i = 0; i < count; i++)
            symbols->items[symbols->count++] =
                (struct symbol){ .start = list[i].address,
                                 .end = list[i].address + list[i].size,
                                 .name = list[i].name,
                                 .is_sized = true,
                                 .rank = TW_SYMBOL_FUNCTION };
        status = settle(symbols);
    }
    if (status != TW_OK) {
        symbols->count = before;
        if (file)
            drop_file(symbols, file);
        return tw_fail(&symbols->fault, status, "no memory for %s", path);
    }
    file->has_tried_lines = true; /* it has none */
    file->has_list = true;
    file->next = symbols->files;
    symbols->files = file;
    return TW_OK;
}

static void show(struct tw_symbol *symbol, const struct symbol *item)
{
    *symbol = (struct tw_symbol){ item->name, item->start, item->end - item->start };
}

bool tw_symbols_find(const struct tw_symbols *symbols, struct tw_symbol *symbol,
                     uint64_t address)
{
    size_t low = 0, high = symbols->span_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (symbols->spans[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || symbols->spans[low - 1].symbol == SIZE_MAX)
        return false;
    show(symbol, &symbols->items[symbols->spans[low - 1].symbol]);
    return true;
}

/* How many symbols begin at or before an address. */
static size_t symbols_upto(const struct tw_symbols *symbols, uint64_t address)
{
    size_t low = 0, high = symbols->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (symbols->items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool tw_symbols_function(const struct tw_symbols *symbols, struct tw_symbol *symbol,
                         uint64_t address)
{
    const size_t upto = symbols_upto(symbols, address);
    uint64_t end;

    if (!tw_symbols_find(symbols, symbol, address))
        return false;
    end = symbol->address + symbol->size;
    for (size_t i = upto; i < symbols->count && symbols->items[i].start < end; i++) {
        if (symbols->items[i].is_sized)
            continue;
        end = symbols->items[i].start;
        symbol->size = end - symbol->address;
    }
    for (size_t i = upto; i-- > 0 && symbols->items[i].start > symbol->address;) {
        const struct symbol *label = &symbols->items[i];

        if (label->is_sized)
            continue;
        while (i && symbols->items[i - 1].start == label->start &&
               !symbols->items[i - 1].is_sized)
            label = &symbols->items[--i]; /* the best of several */
        *symbol = (struct tw_symbol){ label->name, label->start, end - label->start };
        break;
    }
    return true;
}

bool tw_symbols_by_name(const struct tw_symbols *symbols, struct tw_symbol *symbol,
                        const char *name, size_t number)
{
    const struct symbol *last = NULL;

    for (size_t i = 0; i < symbols->count; i++) {
        const struct symbol *item = &symbols->items[i];

        /* .symtab and .dynsym have many in common. */
        if (strcmp(item->name, name) != 0 || (last && last->start == item->start))
            continue;
        last = item;
        if (number-- == 0) {
            show(symbol, item);
            return true;
        }
    }
    return false;
}

bool tw_symbols_object(const struct tw_symbols *symbols, struct tw_symbol_object *object,
                       size_t number)
{
    const struct symbol_file *file = symbols->files;
    struct tw_symbol_object about;

    while (file && number--)
        file = file->next;
    if (!file)
        return false;
    about = file->about;
    about.path = file->path;
    about.bias = file->bias;
    about.has_symbols = file->names[0] || file->names[1] || file->has_list;
    return TW_SIZED_GIVE(object, &about);
}

size_t tw_symbols_local(const struct tw_symbols *symbols, const struct tw_symbol *symbol)
{
    uint64_t last = UINT64_MAX;
    size_t number = 0;

    for (size_t i = 0; i < symbols->count && symbols->items[i].start <= symbol->address; i++) {
        const struct symbol *item = &symbols->items[i];

        if (strcmp(item->name, symbol->name) != 0)
            continue;
        if (item->start == symbol->address && item->rank & TW_SYMBOL_SHARED)
            return 0;
        number += !(item->rank & TW_SYMBOL_SHARED) && item->start != last;
        last = item->start;
    }
    return number;
}

static struct symbol_lines *lines_of(struct tw_symbols *symbols, struct symbol_file *file)
{
    if (!file->has_tried_lines) {
        file->has_tried_lines = true;
        file->lines =
            tw_symbol_lines_open(file->path, symbols->allocator, &symbols->lacks_lines);
    }
    return file->lines;
}

bool tw_symbols_line(struct tw_symbols *symbols, struct tw_source_line *line, uint64_t address)
{
    for (struct symbol_file *file = symbols->files; file; file = file->next) {
        struct symbol_lines *lines = lines_of(symbols, file);

        if (lines && tw_symbol_lines_find(lines, line, address - file->bias))
            return true;
    }
    return false;
}

size_t tw_symbols_frames(struct tw_symbols *symbols, struct tw_source_frame *frames,
                         size_t room, uint64_t address)
{
    size_t count = 0;

    for (struct symbol_file *file = symbols->files; file && !count; file = file->next) {
        struct symbol_lines *lines = lines_of(symbols, file);

        if (!lines)
            continue;
        count = tw_symbol_lines_frames(lines, frames, room, address - file->bias,
                                       symbols->allocator);
        symbols->lacks_lines |= tw_symbol_lines_are_out(lines);
    }
    return count;
}

size_t tw_symbols_sample_frames(struct tw_symbols *symbols, struct tw_sample_frame *frames,
                                size_t room, uint64_t address)
{
    size_t count = 0;

    for (struct symbol_file *file = symbols->files; file && !count; file = file->next) {
        struct symbol_lines *lines = lines_of(symbols, file);

        if (!lines)
            continue;
        count = tw_symbol_lines_samples(lines, frames, room, address - file->bias,
                                        symbols->allocator);
        symbols->lacks_lines |= tw_symbol_lines_are_out(lines);
    }
    return count;
}
