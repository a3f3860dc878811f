/* SPDX-License-Identifier: BSD-2-Clause */
/* All code of the files: their sections, cut by the symbols that say what kind of bytes follow. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "image/symbols.h"

bool tw_symbols_mark(struct tw_symbols *symbols, const struct code_mark *mark)
{
    if (!TW_GROW(symbols->allocator, &symbols->marks, &symbols->mark_room,
                 symbols->mark_count + 1))
        return false;
    symbols->marks[symbols->mark_count++] = *mark;
    return true;
}

/* By address; a section before the symbol at its beginning. */
static int compare(const void *left, const void *right)
{
    const struct code_mark *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->end > b->end ? -1 : a->end < b->end;
}

bool tw_symbols_settle_code(struct tw_symbols *symbols)
{
    const size_t count = symbols->mark_count;
    struct tw_code_stretch *made =
        count ? tw_take(symbols->allocator, count * sizeof *made) : NULL;
    /* A copy is sorted: the marks of a file that cannot be added go away again, from the end. */
    struct code_mark *marks = count ? tw_take(symbols->allocator, count * sizeof *marks) : NULL;
    uint64_t end = 0; /* of the section at work */

    if (count && (!made || !marks)) {
        tw_give(symbols->allocator, made);
        tw_give(symbols->allocator, marks);
        return false;
    }
    tw_give(symbols->allocator, symbols->code);
    symbols->code = made;
    symbols->code_count = 0;
    if (count) {
        memcpy(marks, symbols->marks, count * sizeof *marks);
        qsort(marks, count, sizeof *marks, compare);
    }
    for (size_t i = 0; i < count; i++) {
        const struct code_mark *mark = &marks[i];
        struct tw_code_stretch *last =
            symbols->code_count ? &made[symbols->code_count - 1] : NULL;

        if (mark->end > end)
            end = mark->end;
        else if (mark->end)
            continue; /* a section inside another */
        if (mark->address >= end)
            continue; /* a symbol outside of all */
        if (last && last->end > mark->address)
            last->end = mark->address;
        if (last && last->first == last->end)
            symbols->code_count--;
        made[symbols->code_count++] = (struct tw_code_stretch){ mark->address, end, mark->isa };
    }
    tw_give(symbols->allocator, marks);
    return true;
}

bool tw_symbols_code(const struct tw_symbols *symbols, struct tw_code_stretch *stretch,
                     size_t number)
{
    if (number >= symbols->code_count)
        return false;
    *stretch = symbols->code[number];
    return true;
}
