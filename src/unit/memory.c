/* SPDX-License-Identifier: BSD-2-Clause */
/* The program's memory, from its files and, where they lack code, from the logs. */
#include "unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { PAGE = 4096 };

/* The page with this base; a new one has its bytes if the program files do not hold `address`. */
static struct tw_unit_page *find_page(struct tw_unit *unit, uint64_t base, uint64_t address)
{
    const struct tw_view view = { .space = TW_SPACE_ANY };
    struct tw_unit_page *page;
    uint8_t byte;

    if (unit->page_count && unit->pages[unit->last_page].base == base)
        return &unit->pages[unit->last_page];
    for (size_t i = 0; i < unit->page_count; i++)
        if (unit->pages[i].base == base) {
            unit->last_page = i;
            return &unit->pages[i];
        }
    if (!TW_GROW(unit->allocator, &unit->pages, &unit->page_room, unit->page_count + 1))
        return NULL;
    page = &unit->pages[unit->page_count];
    *page = (struct tw_unit_page){ .base = base };
    if (!unit->config.image ||
        tw_image_read(unit->config.image, &byte, &view, address, 1) == 0) {
        page->bytes = tw_take(unit->allocator, PAGE);
        if (!page->bytes)
            return NULL;
    }
    unit->last_page = unit->page_count++;
    return page;
}

/* What of the instruction not every core has. */
static void note_feature(struct tw_unit *unit, const struct tw_retired *at)
{
    const uint32_t code = at->opcode;

    if (at->isa != TW_ISA_A64)
        return;
    /* BRAA, BLRAA, RETAA, ERETAA and their kin. */
    unit->has_pointer_auth |= (code & 0xfe1ff800) == 0xd61f0800;
    /* RETAASPPC; CB<cc>, compare and branch; BC.cond. */
    unit->has_late_branches |= (code & 0xff800000) == 0x55000000 ||
                               (code & 0x7e000000) == 0x74000000 ||
                               (code & 0xff000010) == 0x54000010;
}

enum tw_status tw_unit_note(struct tw_unit *unit, const struct tw_step *step)
{
    if (step->kind != TW_STEP_INSTRUCTIONS)
        return TW_OK;
    for (size_t i = 0; i < step->count; i++) {
        const struct tw_retired *at = &step->instructions[i];
        const bool is_wide = at->isa == TW_ISA_T32 && at->size == 4;
        const uint32_t code = is_wide ? at->opcode >> 16 | at->opcode << 16 : at->opcode;

        note_feature(unit, at);
        for (unsigned byte = 0; byte < at->size; byte++) {
            const uint64_t address = at->address + byte;
            const struct tw_unit_page *page =
                find_page(unit, address & ~(uint64_t)(PAGE - 1), address);

            if (!page)
                return tw_unit_no_memory(unit);
            if (!page->bytes)
                break; /* of this instruction: its page is known */
            page->bytes[address & (PAGE - 1)] = (uint8_t)(code >> (8 * byte));
        }
    }
    return TW_OK;
}

static bool name_dump(struct tw_unit *unit, struct tw_snapshot_dump *dump)
{
    char *name = tw_unit_room(unit, 32);

    if (!name)
        return false;
    (void)snprintf(name, 32, "code_%" PRIx64 ".bin", dump->address);
    dump->file = name;
    return true;
}

/* A region of the program files as bytes. */
static bool dump_region(struct tw_unit *unit, struct tw_snapshot_dump *dump,
                        const struct tw_region *region)
{
    const struct tw_view view = { .space = TW_SPACE_ANY };
    uint8_t *bytes = tw_unit_room(unit, (size_t)region->length + 1);

    if (!bytes)
        return false;
    *dump = (struct tw_snapshot_dump){ .bytes = bytes, .address = region->address };
    dump->size = tw_image_read(unit->config.image, bytes, &view, region->address,
                               (size_t)region->length);
    return name_dump(unit, dump);
}

static int compare_pages(const void *a, const void *b)
{
    const struct tw_unit_page *left = a, *right = b;

    return left->base < right->base ? -1 : left->base > right->base;
}

/* Pages that lie side by side are one dump: an instruction may cross from one to the next. */
static bool dump_pages(struct tw_unit *unit, struct tw_snapshot_dump *dump, size_t first,
                       size_t count)
{
    const struct tw_unit_page *pages = &unit->pages[first];
    uint8_t *bytes = tw_unit_room(unit, count * PAGE);

    if (!bytes)
        return false;
    for (size_t i = 0; i < count; i++)
        memcpy(bytes + i * PAGE, pages[i].bytes, PAGE);
    *dump = (struct tw_snapshot_dump){ .bytes = bytes,
                                       .size = count * PAGE,
                                       .address = pages[0].base };
    return name_dump(unit, dump);
}

enum tw_status tw_unit_dumps(struct tw_unit *unit, struct tw_snapshot_dump **dumps,
                             size_t *count)
{
    const size_t regions = unit->config.image ? tw_image_region_count(unit->config.image) : 0;

    *count = 0;
    *dumps = tw_unit_room(unit, (regions + unit->page_count + 1) * sizeof **dumps);
    if (!*dumps)
        return tw_unit_no_memory(unit);
    for (size_t i = 0; i < regions; i++) {
        const struct tw_region *region = tw_image_region(unit->config.image, i);

        if (region->length && !dump_region(unit, &(*dumps)[(*count)++], region))
            return tw_unit_no_memory(unit);
    }
    if (unit->page_count)
        qsort(unit->pages, unit->page_count, sizeof *unit->pages, compare_pages);
    for (size_t i = 0, next; i < unit->page_count; i = next) {
        const struct tw_unit_page *pages = unit->pages;

        next = i + 1;
        if (!pages[i].bytes)
            continue;
        while (next < unit->page_count && pages[next].bytes &&
               pages[next].base == pages[next - 1].base + PAGE)
            next++;
        if (!dump_pages(unit, &(*dumps)[*count], i, next - i))
            return tw_unit_no_memory(unit);
        (*count)++;
    }
    return TW_OK;
}

void tw_unit_free_pages(struct tw_unit *unit)
{
    for (size_t i = 0; i < unit->page_count; i++)
        tw_give(unit->allocator, unit->pages[i].bytes);
    tw_give(unit->allocator, unit->pages);
}
