/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway encode: the program's memory, from its files and, where they lack code, from the log. */
#include "commands/encode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shared/image_option.h"

enum { PAGE = 4096 };

bool encode_open_image(struct encoding *encoding)
{
    const struct list *files = &encoding->options->elfs;

    if (tw_image_new(&encoding->image, NULL, NULL) != TW_OK) {
        say("%s: no memory", encoding->options->command->name);
        return false;
    }
    for (size_t i = 0; i < files->count; i++) {
        char *text = arena_copy(&encoding->arena, files->items[i]);
        struct tw_capture_image_option option;
        struct tw_region region = { .size = sizeof region };

        if (!text || !image_parse(encoding->options, "--elf", &option, text))
            return false;
        region.address = option.address;
        region.spaces = option.spaces;
        if (tw_image_add_any(encoding->image, &region, option.path) != TW_OK) {
            say("%s: %s", encoding->options->command->name, tw_image_fault(encoding->image));
            return false;
        }
    }
    return true;
}

/* The page with this base; a new one has its bytes if the program files do not hold `address`. */
static struct encode_page *find_page(struct encoding *encoding, uint64_t base, uint64_t address)
{
    const struct tw_view view = { .space = TW_SPACE_ANY };
    struct encode_page *page;
    uint8_t byte;

    if (encoding->page_count && encoding->pages[encoding->last_page].base == base)
        return &encoding->pages[encoding->last_page];
    for (size_t i = 0; i < encoding->page_count; i++)
        if (encoding->pages[i].base == base) {
            encoding->last_page = i;
            return &encoding->pages[i];
        }
    if (encoding->page_count == encoding->page_room) {
        const size_t room = encoding->page_room ? 2 * encoding->page_room : 64;
        struct encode_page *pages = realloc(encoding->pages, room * sizeof *pages);

        if (!pages)
            return NULL;
        encoding->pages = pages;
        encoding->page_room = room;
    }
    page = &encoding->pages[encoding->page_count];
    *page = (struct encode_page){ .base = base };
    if (tw_image_read(encoding->image, &byte, &view, address, 1) == 0) {
        page->bytes = calloc(1, PAGE);
        if (!page->bytes)
            return NULL;
    }
    encoding->last_page = encoding->page_count++;
    return page;
}

/* What of the instruction not every core has. */
static void note_feature(struct encoding *encoding, const struct tw_retired *at)
{
    const uint32_t code = at->opcode;

    if (at->isa != TW_ISA_A64)
        return;
    /* BRAA, BLRAA, RETAA, ERETAA and their kin. */
    encoding->has_pointer_auth |= (code & 0xfe1ff800) == 0xd61f0800;
    /* RETAASPPC; CB<cc>, compare and branch; BC.cond. */
    encoding->has_late_branches |= (code & 0xff800000) == 0x55000000 ||
                                   (code & 0x7e000000) == 0x74000000 ||
                                   (code & 0xff000010) == 0x54000010;
}

bool encode_note_code(struct encoding *encoding, const struct tw_step *step)
{
    for (size_t i = 0; i < step->count; i++) {
        const struct tw_retired *at = &step->instructions[i];
        const bool is_wide = at->isa == TW_ISA_T32 && at->size == 4;
        const uint32_t code = is_wide ? at->opcode >> 16 | at->opcode << 16 : at->opcode;

        note_feature(encoding, at);
        for (unsigned byte = 0; byte < at->size; byte++) {
            const uint64_t address = at->address + byte;
            const struct encode_page *page =
                find_page(encoding, address & ~(uint64_t)(PAGE - 1), address);

            if (!page) {
                say("%s: no memory", encoding->options->command->name);
                return false;
            }
            if (!page->bytes)
                break; /* of this instruction: its page is known */
            page->bytes[address & (PAGE - 1)] = (uint8_t)(code >> (8 * byte));
        }
    }
    return true;
}

static bool name_dump(struct encoding *encoding, struct tw_snapshot_dump *dump)
{
    char *name = arena_room(&encoding->arena, 32);

    if (!name)
        return false;
    (void)snprintf(name, 32, "code_%" PRIx64 ".bin", dump->address);
    dump->file = name;
    return true;
}

/* A region of the program files as bytes. */
static bool dump_region(struct encoding *encoding, struct tw_snapshot_dump *dump,
                        const struct tw_region *region)
{
    const struct tw_view view = { .space = TW_SPACE_ANY };
    uint8_t *bytes = arena_room(&encoding->arena, (size_t)region->length + 1);

    if (!bytes)
        return false;
    *dump = (struct tw_snapshot_dump){ .bytes = bytes, .address = region->address };
    dump->size =
        tw_image_read(encoding->image, bytes, &view, region->address, (size_t)region->length);
    return name_dump(encoding, dump);
}

static int compare_pages(const void *a, const void *b)
{
    const struct encode_page *left = a, *right = b;

    return left->base < right->base ? -1 : left->base > right->base;
}

/* Pages that lie side by side are one dump: an instruction may cross from one to the next. */
static bool dump_pages(struct encoding *encoding, struct tw_snapshot_dump *dump, size_t first,
                       size_t count)
{
    const struct encode_page *pages = &encoding->pages[first];
    uint8_t *bytes = arena_room(&encoding->arena, count * PAGE);

    if (!bytes)
        return false;
    for (size_t i = 0; i < count; i++)
        memcpy(bytes + i * PAGE, pages[i].bytes, PAGE);
    *dump = (struct tw_snapshot_dump){ .bytes = bytes,
                                       .size = count * PAGE,
                                       .address = pages[0].base };
    return name_dump(encoding, dump);
}

bool encode_dumps(struct encoding *encoding, struct tw_snapshot_dump **dumps, size_t *count)
{
    const size_t regions = tw_image_region_count(encoding->image);

    *count = 0;
    *dumps =
        arena_room(&encoding->arena, (regions + encoding->page_count + 1) * sizeof **dumps);
    if (!*dumps)
        return false;
    for (size_t i = 0; i < regions; i++) {
        const struct tw_region *region = tw_image_region(encoding->image, i);

        if (region->length && !dump_region(encoding, &(*dumps)[(*count)++], region))
            return false;
    }
    if (encoding->page_count)
        qsort(encoding->pages, encoding->page_count, sizeof *encoding->pages, compare_pages);
    for (size_t i = 0, next; i < encoding->page_count; i = next) {
        const struct encode_page *pages = encoding->pages;

        next = i + 1;
        if (!pages[i].bytes)
            continue;
        while (next < encoding->page_count && pages[next].bytes &&
               pages[next].base == pages[next - 1].base + PAGE)
            next++;
        if (!dump_pages(encoding, &(*dumps)[*count], i, next - i))
            return false;
        (*count)++;
    }
    return true;
}

void encode_free_memory(struct encoding *encoding)
{
    for (size_t i = 0; i < encoding->page_count; i++)
        free(encoding->pages[i].bytes);
    free(encoding->pages);
    tw_image_free(encoding->image);
}
