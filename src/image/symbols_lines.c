/* SPDX-License-Identifier: BSD-2-Clause */
/* Source lines by address, from the DWARF in an ELF file, read with libdw. */
#include "base/memory.h"
#include "image/symbols.h"

#if defined(TW_WITH_ELF) && defined(TW_WITH_DW)

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Addresses that one compilation unit covers.  Read from the units themselves: not every compiler
   writes the index .debug_aranges. */
struct covered {
    uint64_t start, end;
    Dwarf_Off unit;
};

struct symbol_lines {
    Dwarf *dwarf;
    struct covered *items;
    size_t count, room;
    int fd;
};

static int compare(const void *left, const void *right)
{
    const struct covered *a = left, *b = right;

    return a->start < b->start ? -1 : a->start > b->start;
}

/* False: memory is out, or the ranges cannot all be true. */
static bool take_unit(struct symbol_lines *lines, const struct tw_allocator *allocator,
                      Dwarf_Off unit, size_t most)
{
    Dwarf_Die die;
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;

    if (!dwarf_offdie(lines->dwarf, unit, &die))
        return true;
    while ((at = dwarf_ranges(&die, at, &base, &start, &end)) > 0) {
        if (start >= end)
            continue;
        if (lines->count == most ||
            !TW_GROW(allocator, &lines->items, &lines->room, lines->count + 1))
            return false;
        lines->items[lines->count++] = (struct covered){ start, end, unit };
    }
    return true;
}

static bool take_units(struct symbol_lines *lines, const struct tw_allocator *allocator)
{
    Dwarf_Off at = 0, next;
    struct stat about;
    size_t head;

    if (fstat(lines->fd, &about) != 0)
        return false;
    /* A range takes bytes in the file; units that share theirs must not keep us busy. */
    while (dwarf_nextcu(lines->dwarf, at, &next, &head, NULL, NULL, NULL) == 0) {
        if (!take_unit(lines, allocator, at + head, (size_t)about.st_size))
            return false;
        at = next;
    }
    if (lines->count)
        qsort(lines->items, lines->count, sizeof *lines->items, compare);
    return lines->count != 0;
}

struct symbol_lines *tw_symbol_lines_open(const char *path,
                                          const struct tw_allocator *allocator)
{
    struct symbol_lines *made = tw_take(allocator, sizeof *made);

    if (!made)
        return NULL;
    made->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (made->fd >= 0)
        made->dwarf = dwarf_begin(made->fd, DWARF_C_READ);
    if (made->dwarf && take_units(made, allocator))
        return made;
    tw_symbol_lines_close(made, allocator);
    return NULL;
}

void tw_symbol_lines_close(struct symbol_lines *lines, const struct tw_allocator *allocator)
{
    if (!lines)
        return;
    (void)dwarf_end(lines->dwarf);
    if (lines->fd >= 0)
        (void)close(lines->fd);
    tw_give(allocator, lines->items);
    tw_give(allocator, lines);
}

bool tw_symbol_lines_find(const struct symbol_lines *lines, struct tw_source_line *line,
                          uint64_t address)
{
    size_t low = 0, high = lines->count;
    Dwarf_Die die;
    Dwarf_Line *found;
    const char *name;
    int number = 0;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (lines->items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || lines->items[low - 1].end <= address ||
        !dwarf_offdie(lines->dwarf, lines->items[low - 1].unit, &die))
        return false;
    found = dwarf_getsrc_die(&die, address);
    name = found ? dwarf_linesrc(found, NULL, NULL) : NULL;
    if (!name || dwarf_lineno(found, &number) != 0 || number <= 0)
        return false;
    *line = (struct tw_source_line){ name, (uint32_t)number };
    return true;
}

#else

struct symbol_lines *tw_symbol_lines_open(const char *path,
                                          const struct tw_allocator *allocator)
{
    (void)path, (void)allocator;
    return NULL;
}

void tw_symbol_lines_close(struct symbol_lines *lines, const struct tw_allocator *allocator)
{
    (void)lines, (void)allocator;
}

bool tw_symbol_lines_find(const struct symbol_lines *lines, struct tw_source_line *line,
                          uint64_t address)
{
    (void)lines, (void)line, (void)address;
    return false;
}

#endif
