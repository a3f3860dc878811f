/* SPDX-License-Identifier: BSD-2-Clause */
/* The few things that are asked of an ELF file here: segments, build ID, a symbol, a section. */
#include <string.h>

#include "capture/perfdata.h"

enum { NOTE_SEGMENT = 4, NOTE_BUILD_ID = 3, SECTION_SYMBOLS = 2, SYMBOLS_MAX = 1 << 22 };

void tw_perf_elf_open(struct perf_elf *elf, const uint8_t *bytes, size_t size)
{
    struct perf_view *view = &elf->view;

    *elf = (struct perf_elf){ .view = { bytes, size, false } };
    if (size < 64 || memcmp(bytes, "\177ELF", 4) != 0)
        return;
    elf->is_elf = true;
    elf->is_64 = bytes[4] == 2;
    view->is_big = bytes[5] == 2;
    elf->type = perf_u16(view, 16);
    elf->machine = perf_u16(view, 18);
    elf->segments = elf->is_64 ? perf_u64(view, 32) : perf_u32(view, 28);
    elf->sections = elf->is_64 ? perf_u64(view, 40) : perf_u32(view, 32);
    elf->segment_size = perf_u16(view, elf->is_64 ? 54 : 42);
    elf->segment_count = perf_u16(view, elf->is_64 ? 56 : 44);
    elf->section_size = perf_u16(view, elf->is_64 ? 58 : 46);
    elf->section_count = perf_u16(view, elf->is_64 ? 60 : 48);
}

bool tw_perf_elf_segment(const struct perf_elf *elf, struct perf_segment *out, uint32_t number)
{
    const struct perf_view *view = &elf->view;
    const uint64_t at64 = elf->segments + (uint64_t)number * elf->segment_size;
    const size_t at = (size_t)at64;

    if (!elf->is_elf || number >= elf->segment_count || elf->segments > view->size ||
        at64 >= view->size)
        return false;
    out->type = perf_u32(view, at);
    if (elf->is_64) {
        out->flags = perf_u32(view, at + 4);
        out->offset = perf_u64(view, at + 8);
        out->address = perf_u64(view, at + 16);
        out->file_size = perf_u64(view, at + 32);
    } else {
        out->offset = perf_u32(view, at + 4);
        out->address = perf_u32(view, at + 8);
        out->file_size = perf_u32(view, at + 16);
        out->flags = perf_u32(view, at + 24);
    }
    if (out->offset > view->size)
        out->file_size = 0;
    else if (out->file_size > view->size - out->offset)
        out->file_size = view->size - out->offset;
    return true;
}

/* The build ID among the notes in a stretch of the file. */
static size_t find_build_id(const struct perf_view *view, uint64_t at, uint64_t end,
                            uint8_t out[20])
{
    while (at <= end && end - at >= 12) {
        const uint64_t name = perf_u32(view, (size_t)at);
        const uint64_t size = perf_u32(view, (size_t)at + 4);
        const uint32_t type = perf_u32(view, (size_t)at + 8);
        const uint64_t data = at + 12 + ((name + 3) & ~(uint64_t)3);

        if (data > end || size > end - data)
            return 0;
        if (type == NOTE_BUILD_ID && name == 4 && size && size <= 20 &&
            memcmp(view->bytes + at + 12, "GNU", 4) == 0) {
            memcpy(out, view->bytes + data, (size_t)size);
            return (size_t)size;
        }
        at = data + ((size + 3) & ~(uint64_t)3);
    }
    return 0;
}

struct section {
    uint32_t name, type, link;
    uint64_t flags, offset, size, align, entry;
};

static bool read_section(const struct perf_elf *elf, struct section *out, uint32_t number)
{
    const struct perf_view *view = &elf->view;
    const uint64_t at64 = elf->sections + (uint64_t)number * elf->section_size;
    const size_t at = (size_t)at64;

    if (!elf->is_elf || number >= elf->section_count || elf->sections > view->size ||
        at64 >= view->size)
        return false;
    out->name = perf_u32(view, at);
    out->type = perf_u32(view, at + 4);
    out->flags = elf->is_64 ? perf_u64(view, at + 8) : perf_u32(view, at + 8);
    out->align = elf->is_64 ? perf_u64(view, at + 48) : perf_u32(view, at + 32);
    out->offset = elf->is_64 ? perf_u64(view, at + 24) : perf_u32(view, at + 16);
    out->size = elf->is_64 ? perf_u64(view, at + 32) : perf_u32(view, at + 20);
    out->link = perf_u32(view, at + (elf->is_64 ? 40 : 24));
    out->entry = elf->is_64 ? perf_u64(view, at + 56) : perf_u32(view, at + 36);
    return out->offset <= view->size && out->size <= view->size - out->offset;
}

size_t tw_perf_elf_build_id(const struct perf_elf *elf, uint8_t out[20])
{
    enum { SECTION_NOTE = 7 };
    struct perf_segment segment;
    struct section section;
    size_t size = 0;

    for (uint32_t i = 0; !size && tw_perf_elf_segment(elf, &segment, i); i++)
        if (segment.type == NOTE_SEGMENT)
            size = find_build_id(&elf->view, segment.offset, segment.offset + segment.file_size,
                                 out);
    /* Kernel modules have no segments. */
    for (uint32_t i = 0; !size && i < elf->section_count; i++)
        if (read_section(elf, &section, i) && section.type == SECTION_NOTE)
            size =
                find_build_id(&elf->view, section.offset, section.offset + section.size, out);
    return size;
}

/* Attributes of the Arm ABI: tags and values, strings for some tags.  The architecture, if it is of the M profile. */
static uint8_t m_arch(const uint8_t *bytes, size_t size)
{
    enum { RAW_NAME = 4, NAME = 5, ARCHITECTURE = 6, PROFILE = 7, COMPATIBILITY = 32 };
    /* 'A', a length, "aeabi", the tag for the whole file and its length. */
    const size_t head = 1 + 4 + 6 + 1 + 4;
    uint8_t arch = 0;

    if (size < head || bytes[0] != 'A' || memcmp(bytes + 5, "aeabi", 6) != 0)
        return 0;
    for (size_t at = head; at < size;) {
        const uint8_t tag = bytes[at++];
        uint8_t value = 0;

        if (tag == RAW_NAME || tag == NAME) {
            while (at < size && bytes[at])
                at++;
            at++;
            continue;
        }
        if (at < size)
            value = bytes[at];
        while (at < size && bytes[at] & 0x80)
            at++;
        at++;
        if (tag == ARCHITECTURE)
            arch = value;
        if (tag == PROFILE)
            return value == 'M' ? arch : 0;
        if (tag >= COMPATIBILITY)
            break; /* strings again */
    }
    return 0;
}

uint8_t tw_perf_elf_m_arch(const struct perf_elf *elf)
{
    enum { ATTRIBUTES = 0x70000003, MACHINE_ARM = 40 };
    struct section section;

    for (uint32_t i = 0; elf->machine == MACHINE_ARM && i < elf->section_count; i++)
        if (read_section(elf, &section, i) && section.type == ATTRIBUTES)
            return m_arch(elf->view.bytes + section.offset, (size_t)section.size);
    return 0;
}

static bool text_is(const struct perf_elf *elf, const struct section *strings, uint64_t at,
                    const char *text)
{
    const size_t size = strlen(text) + 1;

    return at < strings->size && size <= strings->size - at &&
           memcmp(elf->view.bytes + strings->offset + at, text, size) == 0;
}

bool tw_perf_elf_symbol(const struct perf_elf *elf, uint64_t *value, const char *name)
{
    struct section table, strings;

    for (uint32_t i = 0; i < elf->section_count; i++) {
        const size_t entry = elf->is_64 ? 24 : 16;
        uint64_t count;

        if (!read_section(elf, &table, i) || table.type != SECTION_SYMBOLS ||
            !read_section(elf, &strings, table.link))
            continue;
        count = table.size / entry;
        for (uint64_t k = 0; k < count && k < SYMBOLS_MAX; k++) {
            const size_t at = (size_t)(table.offset + k * entry);

            if (!text_is(elf, &strings, perf_u32(&elf->view, at), name))
                continue;
            *value = elf->is_64 ? perf_u64(&elf->view, at + 8) : perf_u32(&elf->view, at + 4);
            return true;
        }
    }
    return false;
}

/* Whether a name begins so. */
static bool text_begins(const struct perf_elf *elf, const struct section *strings, uint64_t at,
                        const char *start)
{
    const size_t size = strlen(start);

    return at < strings->size && size <= strings->size - at &&
           memcmp(elf->view.bytes + strings->offset + at, start, size) == 0;
}

bool tw_perf_elf_module_text(const struct perf_elf *elf, uint64_t *offset, uint64_t *size,
                             uint64_t *place)
{
    enum { SECTION_NOBITS = 8, ALLOCATED = 2, EXECUTABLE = 4 };
    struct section section = { 0 }, strings;
    const uint32_t names = perf_u16(&elf->view, elf->is_64 ? 62 : 50);
    uint64_t at = 0;

    if (!read_section(elf, &strings, names))
        return false;
    for (uint32_t i = 0; i < elf->section_count; i++) {
        const bool fits = read_section(elf, &section, i);
        const uint64_t code = ALLOCATED | EXECUTABLE;

        if ((!fits && section.type != SECTION_NOBITS) || (section.flags & code) != code ||
            text_begins(elf, &strings, section.name, ".init"))
            continue;
        if (section.align > 1)
            at = (at + section.align - 1) / section.align * section.align;
        if (text_is(elf, &strings, section.name, ".text")) {
            *offset = section.offset;
            *size = section.size;
            *place = at;
            return fits;
        }
        at += section.size;
    }
    return false;
}
