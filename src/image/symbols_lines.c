/* SPDX-License-Identifier: BSD-2-Clause */
/* Source lines by address, from the DWARF in an ELF file, read with libdw. */
#include "base/memory.h"
#include "image/symbols.h"

#if defined(TW_WITH_ELF) && defined(TW_WITH_DW)

#include <dwarf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/libdw.h"
#include "image/libelf.h"

TW_LIBRARY_HERE(tw_libdw, TW_LIBDW_CALLS, "libdw.so.1")

/* Addresses that one compilation unit covers.  Read from the units themselves: not every compiler
   writes the index .debug_aranges. */
struct covered {
    uint64_t start, end;
    Dwarf_Off unit;
};

/* Addresses of one function. */
struct function {
    uint64_t start, end;
    Dwarf_Off unit, die;
};

struct symbol_lines {
    Dwarf *dwarf;
    Dwfl *module;  /* a kernel module: it owns `dwarf`; else NULL */
    uint64_t base; /* of its code, in `dwarf` */
    struct covered *items;
    size_t count, room;
    bool has_functions; /* they were looked for */
    struct function *functions;
    size_t function_count, function_room;
    size_t most; /* of anything: bytes of the file */
    int fd;
    bool is_out; /* of memory */
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

    if (!tw_libdw.dwarf_offdie(lines->dwarf, unit, &die))
        return true;
    while ((at = tw_libdw.dwarf_ranges(&die, at, &base, &start, &end)) > 0) {
        if (start >= end)
            continue;
        if (lines->count == most)
            return false;
        if (!TW_GROW(allocator, &lines->items, &lines->room, lines->count + 1)) {
            lines->is_out = true;
            return false;
        }
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
    lines->most = (size_t)about.st_size;
    while (tw_libdw.dwarf_nextcu(lines->dwarf, at, &next, &head, NULL, NULL, NULL) == 0) {
        if (!take_unit(lines, allocator, at + head, lines->most))
            return false;
        at = next;
    }
    if (lines->count)
        qsort(lines->items, lines->count, sizeof *lines->items, compare);
    return lines->count != 0;
}

/* Debug information that is not in the file itself is not looked for. */
static int find_nothing(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                        const char *file, const char *link, GElf_Word crc, char **path)
{
    (void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc;
    (void)path;
    return -1;
}

static int find_no_section(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                           const char *section, GElf_Word number, const GElf_Shdr *header,
                           Dwarf_Addr *address)
{
    (void)module, (void)data, (void)name, (void)base, (void)section, (void)number, (void)header;
    *address = 0;
    return -1;
}

/* Where libdwfl has put the code. */
static uint64_t text_address(Elf *elf)
{
    Elf_Scn *section = NULL;
    size_t names = 0;

    if (!elf || tw_libelf.elf_getshdrstrndx(elf, &names) != 0)
        return 0;
    while ((section = tw_libelf.elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name = tw_libelf.gelf_getshdr(section, &header)
                               ? tw_libelf.elf_strptr(elf, names, header.sh_name)
                               : NULL;

        if (name && strcmp(name, ".text") == 0)
            return header.sh_addr;
    }
    return 0;
}

/* The debug information of a kernel module is not linked either: libdwfl does that. */
static void open_module(struct symbol_lines *lines, const char *path)
{
    static const Dwfl_Callbacks callbacks = { .find_debuginfo = find_nothing,
                                              .section_address = find_no_section };
    Dwfl_Module *module = NULL;
    Dwarf_Addr bias = 0;
    int fd;

    lines->module = tw_libdw.dwfl_begin(&callbacks);
    if (!lines->module)
        return;
    fd = dup(lines->fd); /* it closes its own */
    if (fd >= 0)
        module = tw_libdw.dwfl_report_elf(lines->module, "module", path, fd, 0, false);
    if (fd >= 0 && !module)
        (void)close(fd);
    if (!module || tw_libdw.dwfl_report_end(lines->module, NULL, NULL) != 0)
        return;
    lines->dwarf = tw_libdw.dwfl_module_getdwarf(module, &bias);
    lines->base = text_address(tw_libdw.dwfl_module_getelf(module, &bias));
}

static bool is_linked(int fd)
{
    Elf *elf = tw_libelf.elf_version(EV_CURRENT) == EV_NONE
                   ? NULL
                   : tw_libelf.elf_begin(fd, ELF_C_READ, NULL);
    GElf_Ehdr header;
    const bool is = !elf || !tw_libelf.gelf_getehdr(elf, &header) || header.e_type != ET_REL;

    (void)tw_libelf.elf_end(elf);
    return is;
}

struct symbol_lines *tw_symbol_lines_open(const char *path,
                                          const struct tw_allocator *allocator, bool *is_out)
{
    struct symbol_lines *made;

    if (!tw_libelf_load() || !tw_libdw_load())
        return NULL;
    made = tw_take(allocator, sizeof *made);
    *is_out |= !made;
    if (!made)
        return NULL;
    made->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (made->fd >= 0 && is_linked(made->fd))
        made->dwarf = tw_libdw.dwarf_begin(made->fd, DWARF_C_READ);
    else if (made->fd >= 0)
        open_module(made, path);
    if (made->dwarf && take_units(made, allocator))
        return made;
    *is_out |= made->is_out;
    tw_symbol_lines_close(made, allocator);
    return NULL;
}

void tw_symbol_lines_close(struct symbol_lines *lines, const struct tw_allocator *allocator)
{
    if (!lines)
        return;
    if (lines->module)
        tw_libdw.dwfl_end(lines->module);
    else
        (void)tw_libdw.dwarf_end(lines->dwarf);
    if (lines->fd >= 0)
        (void)close(lines->fd);
    tw_give(allocator, lines->items);
    tw_give(allocator, lines->functions);
    tw_give(allocator, lines);
}

bool tw_symbol_lines_are_out(const struct symbol_lines *lines)
{
    return lines->is_out;
}

/* The unit that covers an address; false: none does. */
static bool find_unit(const struct symbol_lines *lines, Dwarf_Die *die, uint64_t address)
{
    size_t low = 0, high = lines->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (lines->items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && lines->items[low - 1].end > address &&
           tw_libdw.dwarf_offdie(lines->dwarf, lines->items[low - 1].unit, die);
}

bool tw_symbol_lines_find(const struct symbol_lines *lines, struct tw_source_line *line,
                          uint64_t address)
{
    Dwarf_Die die;
    Dwarf_Line *found;
    const char *name;
    int number = 0;

    if (!find_unit(lines, &die, address + lines->base))
        return false;
    found = tw_libdw.dwarf_getsrc_die(&die, address + lines->base);
    name = found ? tw_libdw.dwarf_linesrc(found, NULL, NULL) : NULL;
    if (!name || tw_libdw.dwarf_lineno(found, &number) != 0 || number <= 0)
        return false;
    *line = (struct tw_source_line){ name, (uint32_t)number };
    return true;
}

/* ---- inlined functions ---- */

enum {
    DEPTH_MOST = 64,  /* of scopes in each other: more is damage */
    INLINED_MOST = 32 /* functions in each other */
};

static bool holds_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

static bool add_function(struct symbol_lines *lines, const struct tw_allocator *allocator,
                         Dwarf_Die *function, Dwarf_Off unit)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;

    while ((at = tw_libdw.dwarf_ranges(function, at, &base, &start, &end)) > 0) {
        if (start >= end)
            continue;
        if (lines->function_count == lines->most)
            return false;
        if (!TW_GROW(allocator, &lines->functions, &lines->function_room,
                     lines->function_count + 1)) {
            lines->is_out = true;
            return false;
        }
        lines->functions[lines->function_count++] =
            (struct function){ start, end, unit, tw_libdw.dwarf_dieoffset(function) };
    }
    return true;
}

/* The functions of a unit, which may stand in namespaces and classes.  `*looked` counts what was looked
   at: a file has fewer entries than bytes, unless they go round in circles. */
static bool take_functions(struct symbol_lines *lines, const struct tw_allocator *allocator,
                           Dwarf_Off unit, size_t *looked)
{
    Dwarf_Die path[DEPTH_MOST];
    size_t depth = 0;

    if (!tw_libdw.dwarf_offdie(lines->dwarf, unit, &path[0]) ||
        tw_libdw.dwarf_child(&path[0], &path[0]) != 0)
        return true;
    for (;;) {
        const int tag = tw_libdw.dwarf_tag(&path[depth]);

        if (++*looked > lines->most ||
            (tag == DW_TAG_subprogram && !add_function(lines, allocator, &path[depth], unit)))
            return false;
        if (holds_functions(tag) && depth + 1 < DEPTH_MOST &&
            tw_libdw.dwarf_child(&path[depth], &path[depth + 1]) == 0) {
            depth++;
            continue;
        }
        while (tw_libdw.dwarf_siblingof(&path[depth], &path[depth]) != 0)
            if (depth-- == 0)
                return true;
    }
}

static int compare_functions(const void *left, const void *right)
{
    const struct function *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->end > b->end ? -1 : a->end < b->end;
}

static void find_functions(struct symbol_lines *lines, const struct tw_allocator *allocator)
{
    Dwarf_Off at = 0, next;
    size_t head, looked = 0;
    bool goes_on = true;

    lines->has_functions = true;
    while (goes_on &&
           tw_libdw.dwarf_nextcu(lines->dwarf, at, &next, &head, NULL, NULL, NULL) == 0) {
        goes_on = take_functions(lines, allocator, at + head, &looked);
        at = next;
    }
    if (lines->function_count)
        qsort(lines->functions, lines->function_count, sizeof *lines->functions,
              compare_functions);
}

/* The function that holds an address; NULL: none does. */
static const struct function *function_at(const struct symbol_lines *lines, uint64_t address)
{
    size_t low = 0, high = lines->function_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (lines->functions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && lines->functions[low - 1].end > address ? &lines->functions[low - 1] : NULL;
}

static bool is_scope(int tag)
{
    return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
           tag == DW_TAG_try_block || tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

/* Goes from scope to scope, from a function on, into the code that holds an address.  Functions on the
   way, the outermost first; returns how many. */
static size_t find_scopes(const struct symbol_lines *lines, Dwarf_Die *functions,
                          uint64_t address)
{
    Dwarf_Die at = functions[0];
    size_t count = 1, looked = 0;

    while (count < INLINED_MOST && tw_libdw.dwarf_child(&at, &at) == 0) {
        bool is_it;

        do
            is_it = is_scope(tw_libdw.dwarf_tag(&at)) && tw_libdw.dwarf_haspc(&at, address) > 0;
        while (!is_it && looked++ < lines->most && tw_libdw.dwarf_siblingof(&at, &at) == 0);
        if (!is_it)
            break;
        if (tw_libdw.dwarf_tag(&at) == DW_TAG_inlined_subroutine)
            functions[count++] = at;
    }
    return count;
}

static const char *name_of(Dwarf_Die *function)
{
    static const unsigned names[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        Dwarf_Attribute attribute;
        const char *name = tw_libdw.dwarf_formstring(
            tw_libdw.dwarf_attr_integrate(function, names[i], &attribute));

        if (name)
            return name;
    }
    return "";
}

/* Where an inlined function was called. */
static void find_call(struct tw_source_line *line, Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, number = 0;
    Dwarf_Files *files;
    size_t count;

    *line = (struct tw_source_line){ .file = NULL };
    if (tw_libdw.dwarf_formudata(tw_libdw.dwarf_attr(inlined, DW_AT_call_file, &attribute),
                                 &file) != 0 ||
        tw_libdw.dwarf_formudata(tw_libdw.dwarf_attr(inlined, DW_AT_call_line, &attribute),
                                 &number) != 0 ||
        tw_libdw.dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count ||
        number > UINT32_MAX)
        return;
    line->file = tw_libdw.dwarf_filesrc(files, (size_t)file, NULL, NULL);
    line->line = line->file ? (uint32_t)number : 0;
}

/* The functions that hold an address, the outermost first; how many. */
static size_t functions_at(struct symbol_lines *lines, Dwarf_Die *unit, Dwarf_Die *functions,
                           uint64_t address, const struct tw_allocator *allocator)
{
    const struct function *found;

    if (!lines->has_functions)
        find_functions(lines, allocator);
    found = function_at(lines, address);
    if (!found || !tw_libdw.dwarf_offdie(lines->dwarf, found->unit, unit) ||
        !tw_libdw.dwarf_offdie(lines->dwarf, found->die, &functions[0]))
        return 0;
    return find_scopes(lines, functions, address);
}

/* LLVM keeps several numbers in a discriminator: the first one, of 5 or 12 bits, tells code apart. */
static uint32_t base_discriminator(uint64_t all)
{
    const uint32_t first = (uint32_t)all >> 1;

    if (all & 1)
        return 0;
    return first & 0x20 ? (first >> 1 & 0xfe0) | (first & 0x1f) : first & 0x1f;
}

/* ... and the second how many copies were made of that: unrolled loops and the like. */
static uint32_t copies_of(uint64_t all)
{
    const uint32_t copies =
        base_discriminator(all & 1 ? all >> 1 : all >> (all & 0x40 ? 14 : 7));

    return copies ? copies : 1;
}

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;

    return tw_libdw.dwarf_formudata(tw_libdw.dwarf_attr(die, name, &attribute), &number) == 0
               ? number
               : 0;
}

size_t tw_symbol_lines_samples(struct symbol_lines *lines, struct tw_sample_frame *frames,
                               size_t room, uint64_t address,
                               const struct tw_allocator *allocator)
{
    enum {
        LINE_MASK = 0xffff,
        GNU_DISCRIMINATOR = 0x2136 /* LLVM's DW_AT_GNU_discriminator */
    };
    Dwarf_Die unit, functions[INLINED_MOST];
    const size_t count =
        functions_at(lines, &unit, functions, address + lines->base, allocator);
    Dwarf_Line *found = count ? tw_libdw.dwarf_getsrc_die(&unit, address + lines->base) : NULL;
    unsigned mark = 0;
    uint64_t discriminator;
    int line = 0, start;

    if (!found || tw_libdw.dwarf_lineno(found, &line) != 0)
        line = 0;
    if (found)
        (void)tw_libdw.dwarf_linediscriminator(found, &mark);
    discriminator = mark;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Die *function = &functions[count - 1 - i];

        if (tw_libdw.dwarf_decl_line(function, &start) != 0)
            start = 0;
        if (i < room)
            frames[i] = (struct tw_sample_frame){ name_of(function),
                                                  (uint32_t)(line - start) & LINE_MASK,
                                                  base_discriminator(discriminator),
                                                  copies_of(discriminator), line > 0 };
        line = (int)number_of(function, DW_AT_call_line);
        discriminator = number_of(function, GNU_DISCRIMINATOR);
    }
    return count;
}

size_t tw_symbol_lines_frames(struct symbol_lines *lines, struct tw_source_frame *frames,
                              size_t room, uint64_t address,
                              const struct tw_allocator *allocator)
{
    Dwarf_Die unit, functions[INLINED_MOST];
    struct tw_source_line line = { .file = NULL };
    const size_t count =
        functions_at(lines, &unit, functions, address + lines->base, allocator);

    if (!count)
        return 0;
    (void)tw_symbol_lines_find(lines, &line, address);
    for (size_t i = 0; i < count; i++) {
        Dwarf_Die *function = &functions[count - 1 - i];

        if (i < room)
            frames[i] = (struct tw_source_frame){ name_of(function), line };
        if (tw_libdw.dwarf_tag(function) == DW_TAG_inlined_subroutine)
            find_call(&line, &unit, function);
    }
    return count;
}

#else

struct symbol_lines *tw_symbol_lines_open(const char *path,
                                          const struct tw_allocator *allocator, bool *is_out)
{
    (void)is_out;
    (void)path, (void)allocator;
    return NULL;
}

void tw_symbol_lines_close(struct symbol_lines *lines, const struct tw_allocator *allocator)
{
    (void)lines, (void)allocator;
}

bool tw_symbol_lines_are_out(const struct symbol_lines *lines)
{
    (void)lines;
    return false;
}

bool tw_symbol_lines_find(const struct symbol_lines *lines, struct tw_source_line *line,
                          uint64_t address)
{
    (void)lines, (void)line, (void)address;
    return false;
}

size_t tw_symbol_lines_frames(struct symbol_lines *lines, struct tw_source_frame *frames,
                              size_t room, uint64_t address,
                              const struct tw_allocator *allocator)
{
    (void)lines, (void)frames, (void)room, (void)address, (void)allocator;
    return 0;
}

size_t tw_symbol_lines_samples(struct symbol_lines *lines, struct tw_sample_frame *frames,
                               size_t room, uint64_t address,
                               const struct tw_allocator *allocator)
{
    (void)lines, (void)frames, (void)room, (void)address, (void)allocator;
    return 0;
}

#endif
