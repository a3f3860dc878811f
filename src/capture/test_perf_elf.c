/* SPDX-License-Identifier: BSD-2-Clause */
/* What perf.data asks of ELF files: segments, build IDs, symbols and the code of kernel modules, for
   32 and 64 bits, in both byte orders, whole and damaged. */
#include "capture/test_perf.h"

#include "capture/perfdata.h"

enum {
    LOAD = 1,
    NOTE = 4,
    SYMBOLS = 2,
    STRINGS = 3,
    NOBITS = 8,
    SECTION_NOTE = 7,
    ALLOCATED = 2,
    EXECUTABLE = 4,
    HEADS = 0x40, /* where tables begin */
    SECTIONS = 0x200,
    CONTENT = 0x800,
};

struct elf_writer {
    struct writer file;
    bool is_64;
};

static void field(struct elf_writer *elf, uint64_t value)
{
    put(&elf->file, value, elf->is_64 ? 8 : 4);
}

static void go_to(struct elf_writer *elf, size_t at)
{
    CHECK(elf->file.size <= at);
    while (elf->file.size < at)
        put(&elf->file, 0, 1);
}

/* The head: so many segments at HEADS and sections at SECTIONS, names in section `names`. */
static void begin_elf(struct elf_writer *elf, unsigned form, unsigned segments,
                      unsigned sections, unsigned names)
{
    static const uint8_t magic[] = { 0x7f, 'E', 'L', 'F' };

    memset(elf, 0, sizeof *elf);
    elf->is_64 = form & 1;
    elf->file.is_big = form & 2;
    put_bytes(&elf->file, magic, sizeof magic);
    put(&elf->file, elf->is_64 ? 2 : 1, 1);
    put(&elf->file, elf->file.is_big ? 2 : 1, 1);
    put(&elf->file, 1, 1);
    go_to(elf, 16);
    put(&elf->file, 2, 2);   /* type */
    put(&elf->file, 183, 2); /* machine */
    put(&elf->file, 1, 4);
    field(elf, 0x1234); /* entry */
    field(elf, HEADS);
    field(elf, SECTIONS);
    put(&elf->file, 0, 4);
    put(&elf->file, elf->is_64 ? 64 : 52, 2);
    put(&elf->file, elf->is_64 ? 56 : 32, 2);
    put(&elf->file, segments, 2);
    put(&elf->file, elf->is_64 ? 64 : 40, 2);
    put(&elf->file, sections, 2);
    put(&elf->file, names, 2);
    go_to(elf, HEADS);
}

static void put_segment(struct elf_writer *elf, uint32_t type, uint32_t flags, uint64_t offset,
                        uint64_t address, uint64_t size)
{
    put(&elf->file, type, 4);
    if (elf->is_64)
        put(&elf->file, flags, 4);
    field(elf, offset);
    field(elf, address);
    field(elf, address + 0x77777); /* physical */
    field(elf, size);
    field(elf, size + 0x1000); /* in memory */
    if (!elf->is_64)
        put(&elf->file, flags, 4);
    field(elf, 4);
}

static void put_section(struct elf_writer *elf, uint32_t name, uint32_t type, uint64_t flags,
                        uint64_t offset, uint64_t size, uint32_t link, uint64_t align)
{
    put(&elf->file, name, 4);
    put(&elf->file, type, 4);
    field(elf, flags);
    field(elf, 0x55555); /* address */
    field(elf, offset);
    field(elf, size);
    put(&elf->file, link, 4);
    put(&elf->file, 0, 4);
    field(elf, align);
    field(elf, 0);
}

static void put_note(struct elf_writer *elf, uint32_t type, const char *name, uint8_t first,
                     uint32_t size)
{
    const uint32_t name_size = (uint32_t)strlen(name) + 1;

    put(&elf->file, name_size, 4);
    put(&elf->file, size, 4);
    put(&elf->file, type, 4);
    put_bytes(&elf->file, name, name_size);
    while (elf->file.size % 4)
        put(&elf->file, 0, 1);
    for (uint32_t i = 0; i < size; i++)
        put(&elf->file, first + i, 1);
    while (elf->file.size % 4)
        put(&elf->file, 0, 1);
}

static void segments_are_read(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 4; form++) {
        static struct elf_writer writer;
        struct perf_segment found;
        struct perf_elf elf;
        uint8_t *copy;

        check_case("form %u", form);
        begin_elf(&writer, form, 3, 0, 0);
        put_segment(&writer, LOAD, 5, 0x100, 0x400100, 0x80);
        put_segment(&writer, NOTE, 4, 0x180, 0x400180, 0x1000); /* more than the file has */
        put_segment(&writer, LOAD, 6, 0x1000, 0x500000, 0x10);  /* behind its end */
        go_to(&writer, 0x200);
        copy = check_copy(writer.file.bytes, writer.file.size);
        tw_perf_elf_open(&elf, copy, writer.file.size);
        CHECK(elf.is_elf);
        CHECK_EQ(elf.is_64, form & 1);
        CHECK_EQ(elf.type, 2);
        CHECK_EQ(elf.machine, 183);
        CHECK(tw_perf_elf_segment(&elf, &found, 0));
        CHECK_EQ(found.type, LOAD);
        CHECK_EQ(found.flags, 5);
        CHECK_EQ(found.offset, 0x100);
        CHECK_EQ(found.address, 0x400100);
        CHECK_EQ(found.file_size, 0x80);
        CHECK(tw_perf_elf_segment(&elf, &found, 1));
        CHECK_EQ(found.type, NOTE);
        CHECK_EQ(found.file_size, 0x80);
        CHECK(tw_perf_elf_segment(&elf, &found, 2));
        CHECK_EQ(found.flags, 6);
        CHECK_EQ(found.file_size, 0);
        CHECK(!tw_perf_elf_segment(&elf, &found, 3));
        free(copy);
    }
}

static void other_files_have_nothing(void **state)
{
    static struct elf_writer writer;
    struct perf_segment segment;
    struct perf_elf elf;
    uint8_t id[20];
    uint64_t value;

    (void)state;
    begin_elf(&writer, 1, 1, 1, 0);
    put_segment(&writer, LOAD, 5, 0, 0, 64);
    go_to(&writer, SECTIONS);
    writer.file.bytes[3] = 'G';
    tw_perf_elf_open(&elf, writer.file.bytes, writer.file.size);
    CHECK(!elf.is_elf);
    CHECK(!tw_perf_elf_segment(&elf, &segment, 0));
    CHECK_EQ(tw_perf_elf_build_id(&elf, id), 0);
    CHECK(!tw_perf_elf_symbol(&elf, &value, "x"));
    writer.file.bytes[3] = 'F';
    tw_perf_elf_open(&elf, writer.file.bytes, 63);
    CHECK(!elf.is_elf);
    tw_perf_elf_open(&elf, writer.file.bytes, 64); /* the tables are missing */
    CHECK(elf.is_elf);
    CHECK(!tw_perf_elf_segment(&elf, &segment, 0));
}

static void the_build_id_is_a_note_of_gnu(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 4; form++)
        for (unsigned in_section = 0; in_section < 2; in_section++) {
            static struct elf_writer writer;
            struct perf_elf elf;
            uint8_t id[20];
            size_t notes, at[4];

            check_case("form %u, in a section: %u", form, in_section);
            begin_elf(&writer, form, in_section ? 0 : 2, in_section ? 2 : 0, 0);
            if (!in_section) {
                put_segment(&writer, LOAD, 5, 0, 0, 64);
                put_segment(&writer, NOTE, 4, CONTENT, 0, 0x200);
            }
            go_to(&writer, SECTIONS);
            put_section(&writer, 0, 0, 0, 0, 0, 0, 0);
            put_section(&writer, 0, SECTION_NOTE, ALLOCATED, CONTENT, 0x200, 0, 4);
            go_to(&writer, CONTENT);
            notes = writer.file.size;
            put_note(&writer, 1, "GNU", 0x10, 16);   /* the ABI, not a build ID */
            put_note(&writer, 3, "Linux", 0x20, 20); /* not of GNU */
            at[0] = writer.file.size;
            put_note(&writer, 3, "GNU", 0x30, 20);
            put_note(&writer, 3, "GNU", 0x50, 20); /* the first counts */
            go_to(&writer, notes + 0x200);
            tw_perf_elf_open(&elf, writer.file.bytes, writer.file.size);
            CHECK_EQ(tw_perf_elf_build_id(&elf, id), 20);
            CHECK_EQ(id[0], 0x30);
            CHECK_EQ(id[19], 0x43);
            /* Shorter ones, longer ones, none. */
            put_at(&writer.file, at[0] + 4, 17, 4);
            CHECK_EQ(tw_perf_elf_build_id(&elf, id), 17);
            put_at(&writer.file, at[0] + 4, 21, 4);
            put_at(&writer.file, at[0] + 8, 3, 4);
            CHECK(tw_perf_elf_build_id(&elf, id) != 21);
            put_at(&writer.file, at[0] + 4, 0x1000, 4); /* says more than there is */
            CHECK_EQ(tw_perf_elf_build_id(&elf, id), 0);
        }
}

/* Symbols and a module's sections; names: offsets in the string table. */
static void symbols_are_found_by_their_whole_name(void **state)
{
    static const char names[] = "\0_stext\0_stex\0_text\0last";

    (void)state;
    for (unsigned form = 0; form < 4; form++) {
        static struct elf_writer writer;
        const size_t entry = form & 1 ? 24 : 16;
        struct perf_elf elf;
        uint64_t value = 0;

        check_case("form %u", form);
        begin_elf(&writer, form, 0, 3, 2);
        go_to(&writer, SECTIONS);
        put_section(&writer, 0, 0, 0, 0, 0, 0, 0);
        put_section(&writer, 0, SYMBOLS, 0, CONTENT, 4 * entry, 2, 8);
        put_section(&writer, 0, STRINGS, 0, CONTENT + 0x100, sizeof names, 0, 1);
        go_to(&writer, CONTENT);
        for (unsigned i = 0; i < 4; i++) {
            static const uint32_t starts[] = { 0, 1, 14, 20 };

            put(&writer.file, starts[i], 4);
            if (writer.is_64)
                put(&writer.file, 0x11223344, 4);
            field(&writer, 0xa000 + i);
            field(&writer, 0xb000 + i);
            if (!writer.is_64)
                put(&writer.file, 0x11223344, 4);
        }
        go_to(&writer, CONTENT + 0x100);
        put_bytes(&writer.file, names, sizeof names);
        tw_perf_elf_open(&elf, writer.file.bytes, writer.file.size);
        CHECK(tw_perf_elf_symbol(&elf, &value, "_stext"));
        CHECK_EQ(value, 0xa001);
        CHECK(tw_perf_elf_symbol(&elf, &value, "_text"));
        CHECK_EQ(value, 0xa002);
        CHECK(tw_perf_elf_symbol(&elf, &value, "last"));
        CHECK_EQ(value, 0xa003);
        CHECK(!tw_perf_elf_symbol(&elf, &value, "_stex"));
        CHECK(!tw_perf_elf_symbol(&elf, &value, "_stextt"));
        CHECK(!tw_perf_elf_symbol(&elf, &value, "lastly"));
        CHECK_EQ(value, 0xa003);
    }
}

/* The loader puts code sections one behind the other, each as it wants to be aligned; those of
   initialization lie elsewhere. */
static void the_code_of_a_module_lies_behind_what_comes_first(void **state)
{
    static const char names[] = "\0.text\0.init.text\0.exit.text\0.data\0.text.fast";

    (void)state;
    for (unsigned form = 0; form < 4; form++) {
        static struct elf_writer writer;
        struct perf_elf elf;
        uint64_t offset = 0, size = 0, place = 0;

        check_case("form %u", form);
        begin_elf(&writer, form, 0, 7, 6);
        go_to(&writer, SECTIONS);
        put_section(&writer, 0, 0, 0, 0, 0, 0, 0);
        put_section(&writer, 7, 1, ALLOCATED | EXECUTABLE, CONTENT, 0x30, 0, 4);  /* .init */
        put_section(&writer, 29, 1, ALLOCATED, CONTENT, 0x30, 0, 4);              /* data */
        put_section(&writer, 18, 1, ALLOCATED | EXECUTABLE, CONTENT, 0x14, 0, 4); /* .exit */
        put_section(&writer, 35, 1, ALLOCATED | EXECUTABLE, CONTENT, 0x21, 0, 16);
        put_section(&writer, 1, 1, ALLOCATED | EXECUTABLE, CONTENT + 0x40, 0x18, 0, 8);
        put_section(&writer, 0, STRINGS, 0, CONTENT + 0x100, sizeof names, 0, 1);
        go_to(&writer, CONTENT + 0x100);
        put_bytes(&writer.file, names, sizeof names);
        tw_perf_elf_open(&elf, writer.file.bytes, writer.file.size);
        CHECK(tw_perf_elf_module_text(&elf, &offset, &size, &place));
        CHECK_EQ(offset, CONTENT + 0x40);
        CHECK_EQ(size, 0x18);
        CHECK_EQ(place, 0x48); /* 0x14, at 0x20 another 0x21, then a multiple of 8 */
        /* Code that the file does not hold cannot be read. */
        put_at(&writer.file, SECTIONS + 5 * (form & 1 ? 64u : 40u) + (form & 1 ? 24 : 16),
               0x100000, form & 1 ? 8 : 4);
        CHECK(!tw_perf_elf_module_text(&elf, &offset, &size, &place));
        put_at(&writer.file, form & 1 ? 62 : 50, 7, 2); /* no such table of names */
        CHECK(!tw_perf_elf_module_text(&elf, &offset, &size, &place));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_are_read),
        cmocka_unit_test(other_files_have_nothing),
        cmocka_unit_test(the_build_id_is_a_note_of_gnu),
        cmocka_unit_test(symbols_are_found_by_their_whole_name),
        cmocka_unit_test(the_code_of_a_module_lies_behind_what_comes_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
