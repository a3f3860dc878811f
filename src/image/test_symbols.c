/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of names and source lines by address, with ELF files made here. */
#include "check.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/symbols.h>
#include <trackway/version.h>

static const char path[] = "image-test-symbols.elf";

enum { TEXT = 1, DATA, SYMTAB, STRTAB, INFO, ABBREV, LINES, SHSTRTAB, SECTIONS };
enum { TEXT_AT = 0x10000, TEXT_SIZE = 0x100, FILE_ROOM = 8192 };

struct row {
    const char *name;
    uint64_t value, size;
    uint8_t info;
    uint16_t section;
};

#define FUNC   ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define LOCAL  ELF64_ST_INFO(STB_LOCAL, STT_FUNC)
#define WEAK   ELF64_ST_INFO(STB_WEAK, STT_FUNC)
#define LABEL  ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE)
#define OBJECT ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)

static const struct row rows[] = {
    { "_start", 0x10000, 0, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), TEXT },
    { "$x", 0x10010, 0, LABEL, TEXT },
    { "alias", 0x10010, 0x20, WEAK, TEXT },
    { "main", 0x10010, 0x20, FUNC, TEXT },
    { "local_alias", 0x10010, 0x20, LOCAL, TEXT },
    { "loop", 0x10018, 0, LABEL, TEXT }, /* inside main */
    { "outer", 0x10040, 0x40, FUNC, TEXT },
    { "inner", 0x10050, 0x10, LOCAL, TEXT },
    { "twice", 0x10080, 0x08, LOCAL, TEXT },
    { "twice", 0x10090, 0x08, LOCAL, TEXT },
    { "tail", 0x100f0, 0, LABEL, TEXT },
    { "long", 0x100f8, 0x1000, LOCAL, TEXT }, /* beyond its section */
    { "variable", 0x20000, 8, OBJECT, DATA },
    { "end_of_data", 0x20010, 0, LABEL, DATA },
    { "outside", 0x30000, 8, FUNC, TEXT },
    { "undefined", 0, 0, FUNC, SHN_UNDEF },
    { "number", 0x10020, 0, LABEL, SHN_ABS },
    { "rom_call", 0xfff0, 8, FUNC, SHN_ABS },
    { "", 0x100a0, 8, FUNC, TEXT },
};

/* One unit "a.c" in "/src" that covers 0x10000-0x10100: lines 3 at 0x10000, 5 at 0x10010, 9 at
   0x10040, then the end.  In it "outer" at 0x10000-0x10080, and in that "small", inlined at
   0x10010-0x10040, called in line 42.  Line 5 has the discriminator 0x15 of 5 bits, of four copies, the call 0x23 of 12 bits. */
/* clang-format off */
static const uint8_t abbrev[] = {
    1, 0x11, 1, 0x03, 0x08, 0x1b, 0x08, 0x10, 0x17, 0x11, 1, 0x12, 7, 0, 0,
    2, 0x2e, 1, 0x03, 0x08, 0x11, 1, 0x12, 7, 0, 0, /* a function */
    3, 0x2e, 0, 0x03, 0x08, 0, 0,                   /* one that is only inlined */
    4, 0x1d, 0, 0x31, 0x13, 0x11, 1, 0x12, 7, 0x58, 0x0b, 0x59, 0x0b, 0xb6, 0x42, 0x0f, 0, 0,
    0,
};
static const uint8_t info[] = {
    0x5e, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, /* length, version 4, abbreviations, address size */
    1, 'a', '.', 'c', 0, '/', 's', 'r', 'c', 0, 0, 0, 0, 0, /* name, folder, lines */
    0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, /* low, size */
    3, 's', 'm', 'a', 'l', 'l', 0, /* at 41 */
    2, 'o', 'u', 't', 'e', 'r', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0,
    4, 41, 0, 0, 0, 0x10, 0, 1, 0, 0, 0, 0, 0, 0x30, 0, 0, 0, 0, 0, 0, 0, 1, 42, 0xc6, 1,
    0, 0, /* ends of "outer" and of the unit */
};
static const uint8_t lines[] = {
    0x43, 0, 0, 0, 2, 0, 0x1a, 0, 0, 0, /* length, version 2, header length */
    1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, /* opcode lengths */
    0, 'a', '.', 'c', 0, 0, 0, 0, 0, /* no folders; one file */
    0, 9, 2, 0, 0, 1, 0, 0, 0, 0, 0, /* set address 0x10000 */
    3, 2, 1,                         /* line 3: a row */
    0, 3, 4, 0xaa, 8,                /* a discriminator */
    2, 0x10, 3, 2, 1,                /* 0x10010, line 5 */
    2, 0x30, 3, 4, 1,                /* 0x10040, line 9 */
    2, 0xc0, 1,                      /* 0x10100 */
    0, 1, 1,                         /* end */
};
/* clang-format on */

struct maker {
    uint8_t *out;
    size_t size;
    bool is_64;
    Elf64_Shdr headers[SECTIONS];
};

static void put(struct maker *maker, unsigned section, const void *bytes, size_t size)
{
    CHECK(maker->size + size <= FILE_ROOM);
    if (!maker->headers[section].sh_offset)
        maker->headers[section].sh_offset = maker->size;
    memcpy(maker->out + maker->size, bytes, size);
    maker->size += size;
    maker->headers[section].sh_size = maker->size - maker->headers[section].sh_offset;
}

static void put_symbols(struct maker *maker, const struct row *list, size_t count)
{
    char names[1024] = "";
    size_t used = 1;

    put(maker, SYMTAB, (uint8_t[24]){ 0 }, maker->is_64 ? 24 : 16);
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &list[i];
        const Elf64_Sym wide = { .st_name = (uint32_t)used,
                                 .st_info = row->info,
                                 .st_shndx = row->section,
                                 .st_value = row->value,
                                 .st_size = row->size };
        const Elf32_Sym narrow = { .st_name = (uint32_t)used,
                                   .st_info = row->info,
                                   .st_shndx = row->section,
                                   .st_value = (uint32_t)row->value,
                                   .st_size = (uint32_t)row->size };

        put(maker, SYMTAB, maker->is_64 ? (const void *)&wide : &narrow,
            maker->is_64 ? sizeof wide : sizeof narrow);
        memcpy(names + used, row->name, strlen(row->name) + 1);
        used += strlen(row->name) + 1;
    }
    put(maker, STRTAB, names, used);
}

static void put_header(struct maker *maker, size_t at, const Elf64_Shdr *wide)
{
    const Elf32_Shdr narrow = {
        .sh_name = wide->sh_name,
        .sh_type = wide->sh_type,
        .sh_flags = (uint32_t)wide->sh_flags,
        .sh_addr = (uint32_t)wide->sh_addr,
        .sh_offset = (uint32_t)wide->sh_offset,
        .sh_size = (uint32_t)wide->sh_size,
        .sh_link = wide->sh_link,
        .sh_addralign = (uint32_t)wide->sh_addralign,
        .sh_entsize = (uint32_t)wide->sh_entsize,
    };

    if (maker->is_64)
        memcpy(maker->out + at, wide, sizeof *wide);
    else
        memcpy(maker->out + at, &narrow, sizeof narrow);
}

static void name_sections(struct maker *maker)
{
    static const char names[] = "\0.text\0.data\0.symtab\0.strtab\0.debug_info\0.debug_abbrev\0"
                                ".debug_line\0.shstrtab";
    const char *at = names + 1;

    put(maker, SHSTRTAB, names, sizeof names);
    for (size_t i = TEXT; i < SECTIONS; i++) {
        Elf64_Shdr *header = &maker->headers[i];

        header->sh_name = (uint32_t)(at - names);
        header->sh_type = i == SYMTAB                    ? SHT_SYMTAB
                          : i == STRTAB || i == SHSTRTAB ? SHT_STRTAB
                                                         : SHT_PROGBITS;
        header->sh_addralign = 1;
        at += strlen(at) + 1;
    }
    maker->headers[TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    maker->headers[TEXT].sh_addr = TEXT_AT;
    maker->headers[DATA].sh_flags = SHF_ALLOC | SHF_WRITE;
    maker->headers[DATA].sh_addr = 0x20000;
    maker->headers[SYMTAB].sh_link = STRTAB;
    maker->headers[SYMTAB].sh_entsize = maker->is_64 ? 24 : 16;
}

static void put_start(struct maker *maker, uint16_t machine, size_t sections)
{
    const Elf64_Ehdr wide = {
        .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
        .e_type = ET_EXEC,
        .e_machine = machine,
        .e_version = EV_CURRENT,
        .e_phoff = 64,
        .e_shoff = sections,
        .e_ehsize = 64,
        .e_phentsize = 56,
        .e_phnum = 1,
        .e_shentsize = 64,
        .e_shnum = SECTIONS,
        .e_shstrndx = SHSTRTAB,
    };
    const Elf64_Phdr segment = { .p_type = PT_LOAD,
                                 .p_flags = PF_R | PF_X,
                                 .p_offset = maker->headers[TEXT].sh_offset,
                                 .p_vaddr = TEXT_AT,
                                 .p_filesz = TEXT_SIZE,
                                 .p_memsz = TEXT_SIZE };
    const Elf32_Ehdr narrow = {
        .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
        .e_type = ET_EXEC,
        .e_machine = machine,
        .e_version = EV_CURRENT,
        .e_shoff = (uint32_t)sections,
        .e_ehsize = 52,
        .e_shentsize = 40,
        .e_shnum = SECTIONS,
        .e_shstrndx = SHSTRTAB,
    };

    if (maker->is_64) {
        memcpy(maker->out, &wide, sizeof wide);
        memcpy(maker->out + 64, &segment, sizeof segment);
    } else {
        memcpy(maker->out, &narrow, sizeof narrow);
    }
}

/* An ELF file in `out`, of FILE_ROOM bytes; its size. */
static size_t make_elf(uint8_t *out, uint16_t machine, const struct row *list, size_t count)
{
    static const uint8_t code[TEXT_SIZE], data[0x20];
    struct maker maker = { .out = out, .size = 0x80, .is_64 = machine != EM_ARM };
    size_t sections;

    memset(out, 0, FILE_ROOM);
    put(&maker, TEXT, code, sizeof code);
    put(&maker, DATA, data, sizeof data);
    put_symbols(&maker, list, count);
    put(&maker, INFO, info, sizeof info);
    put(&maker, ABBREV, abbrev, sizeof abbrev);
    put(&maker, LINES, lines, sizeof lines);
    name_sections(&maker);
    sections = (maker.size + 7) & ~(size_t)7;
    for (size_t i = 0; i < SECTIONS; i++)
        put_header(&maker, sections + i * (maker.is_64 ? 64 : 40), &maker.headers[i]);
    put_start(&maker, machine, sections);
    return sections + SECTIONS * (size_t)(maker.is_64 ? 64 : 40);
}

static void write_file(const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    CHECK(file);
    CHECK_EQ(fwrite(bytes, 1, size, file), size);
    CHECK_EQ(fclose(file), 0);
}

static bool has(const char *feature)
{
    return strstr(tw_features(), feature) != NULL;
}

static struct tw_symbols *make_symbols(uint16_t machine, const struct row *list, size_t count)
{
    struct tw_symbols *symbols;
    uint8_t file[FILE_ROOM];

    if (!has("elf")) {
        print_message("skipped: no libelf\n");
        skip();
    }
    write_file(file, make_elf(file, machine, list, count));
    CHECK_EQ(tw_symbols_new(&symbols, NULL, NULL), TW_OK);
    return symbols;
}

/* "main+0x4", or "-". */
static const char *name_at(const struct tw_symbols *symbols, uint64_t address)
{
    static char text[64];
    struct tw_symbol found;

    if (!tw_symbols_find(symbols, &found, address))
        return "-";
    CHECK(address >= found.address && address - found.address < found.size);
    (void)snprintf(text, sizeof text, "%s+%#llx", found.name,
                   (unsigned long long)(address - found.address));
    return text;
}

static const struct {
    uint64_t address;
    const char *name;
} places[] = {
    { 0xffef, "-" },          { 0xfff0, "rom_call+0" },  { 0xfff8, "-" },
    { 0x10000, "_start+0" },  { 0x1000f, "_start+0xf" }, /* up to the next symbol */
    { 0x10010, "main+0" },                               /* the global one of three */
    { 0x1001c, "main+0xc" },                             /* a label inside hides nothing */
    { 0x1002f, "main+0x1f" }, { 0x10030, "-" },          { 0x10040, "outer+0" },
    { 0x10050, "inner+0" },   { 0x1005f, "inner+0xf" },  { 0x10060, "outer+0x20" }, /* again */
    { 0x10080, "twice+0" },   { 0x10088, "-" },          { 0x10094, "twice+0x4" },
    { 0x100a0, "-" },         { 0x100f0, "tail+0" },     { 0x100ff, "long+0x7" },
    { 0x10100, "-" }, /* no symbol leaves its section */
    { 0x20000, "-" },         { 0x20010, "-" },          { 0x30000, "-" },
    { UINT64_MAX, "-" },
};

static void finds_names_by_address(void **state)
{
    static const uint64_t biases[] = { 0, 0x7f0000000000, (uint64_t)-0x8000 };

    (void)state;
    for (size_t b = 0; b < LENGTH(biases); b++) {
        struct tw_symbols *symbols = make_symbols(EM_AARCH64, rows, LENGTH(rows));
        struct tw_symbol_object object = { .size = sizeof object };
        struct tw_symbol found;

        CHECK(!tw_symbols_find(symbols, &found, 0x10010));
        CHECK_EQ(tw_symbols_add_elf(symbols, path, biases[b]), TW_OK);
        CHECK(tw_symbols_object(symbols, &object, 0));
        CHECK(object.has_symbols);
        CHECK_EQ(object.bias, biases[b]);
        CHECK(!tw_symbols_object(symbols, &object, 1));
        for (size_t i = 0; i + 1 < LENGTH(places); i++) {
            check_case("%#llx", (unsigned long long)places[i].address);
            CHECK_TEXT(name_at(symbols, places[i].address + biases[b]), places[i].name);
        }
        CHECK_TEXT(name_at(symbols, UINT64_MAX), "-");
        CHECK_EQ(tw_symbols_count(symbols), 12);
        CHECK_EQ(tw_symbols_add_elf(symbols, path, biases[b]), TW_OK); /* the same again */
        CHECK_EQ(tw_symbols_count(symbols), 12);
        CHECK_EQ(tw_symbols_add_elf(symbols, path, biases[b] + 0x100000), TW_OK);
        CHECK_EQ(tw_symbols_count(symbols), 24);
        CHECK_TEXT(name_at(symbols, 0x10014 + biases[b]), "main+0x4");
        CHECK_TEXT(name_at(symbols, 0x110014 + biases[b]), "main+0x4");
        tw_symbols_free(symbols);
    }
    CHECK_EQ(remove(path), 0);
}

static void finds_addresses_by_name(void **state)
{
    struct tw_symbols *symbols = make_symbols(EM_AARCH64, rows, LENGTH(rows));
    struct tw_symbol found;

    (void)state;
    CHECK_EQ(tw_symbols_add_elf(symbols, path, 0), TW_OK);
    CHECK(tw_symbols_by_name(symbols, &found, "alias", 0));
    CHECK_EQ(found.address, 0x10010);
    CHECK_EQ(found.size, 0x20);
    CHECK(tw_symbols_by_name(symbols, &found, "twice", 1));
    CHECK_EQ(found.address, 0x10090);
    CHECK(!tw_symbols_by_name(symbols, &found, "twice", 2));
    CHECK(!tw_symbols_by_name(symbols, &found, "variable", 0));
    CHECK(!tw_symbols_by_name(symbols, &found, "", 0));
    tw_symbols_free(symbols);
    CHECK_EQ(remove(path), 0);
}

static void t32_functions_lose_bit_0(void **state)
{
    static const struct row list[] = {
        { "thumb", 0x10021, 8, FUNC, TEXT },
        { "$t", 0x10020, 0, LABEL, TEXT },
        { "$d.3", 0x10024, 0, LABEL, TEXT },
        { "arm", 0x10040, 8, FUNC, TEXT },
    };
    struct tw_symbols *symbols = make_symbols(EM_ARM, list, LENGTH(list));

    (void)state;
    CHECK_EQ(tw_symbols_add_elf(symbols, path, 0), TW_OK);
    CHECK_TEXT(name_at(symbols, 0x10020), "thumb+0");
    CHECK_TEXT(name_at(symbols, 0x10026), "thumb+0x6");
    CHECK_TEXT(name_at(symbols, 0x10044), "arm+0x4");
    CHECK_EQ(tw_symbols_count(symbols), 2);
    tw_symbols_free(symbols);
    CHECK_EQ(remove(path), 0);
}

static void bias_follows_from_what_lies_where(void **state)
{
    struct tw_symbols *symbols = make_symbols(EM_AARCH64, rows, LENGTH(rows));

    (void)state;
    /* The code begins at file offset 0x80. */
    CHECK_EQ(tw_symbols_add_loaded(symbols, path, 0x40, 0x500000), TW_E_FILE);
    CHECK(strstr(tw_symbols_fault(symbols), "file offset 64"));
    CHECK_EQ(tw_symbols_add_loaded(symbols, path, 0x90, 0x500010), TW_OK);
    CHECK_TEXT(name_at(symbols, 0x500010), "main+0");
    CHECK_EQ(tw_symbols_add_loaded(symbols, path, 0x80, 0x500000), TW_OK);
    CHECK_EQ(tw_symbols_count(symbols), 12);
    tw_symbols_free(symbols);
    CHECK_EQ(remove(path), 0);
}

static void finds_source_lines(void **state)
{
    static const struct {
        uint64_t address;
        uint32_t line;
    } cases[] = { { 0xffff, 0 },  { 0x10000, 3 }, { 0x1000c, 3 }, { 0x10010, 5 },
                  { 0x1003c, 5 }, { 0x10040, 9 }, { 0x100fc, 9 }, { 0x10100, 0 } };
    struct tw_symbols *symbols = make_symbols(EM_AARCH64, rows, LENGTH(rows));

    (void)state;
    CHECK_EQ(tw_symbols_add_elf(symbols, path, 0x1000), TW_OK);
    for (size_t i = 0; has("dw") && i < LENGTH(cases); i++) {
        struct tw_source_line line = { NULL, 0 };

        check_case("%#llx", (unsigned long long)cases[i].address);
        CHECK_EQ(tw_symbols_line(symbols, &line, cases[i].address + 0x1000),
                 cases[i].line != 0);
        CHECK_EQ(line.line, cases[i].line);
        if (line.line)
            CHECK_TEXT(line.file, "/src/a.c");
    }
    tw_symbols_free(symbols);
    CHECK_EQ(remove(path), 0);
    if (!has("dw")) {
        print_message("skipped: no libdw\n");
        skip();
    }
}

static void finds_inlined_functions(void **state)
{
    static const struct {
        uint64_t address;
        size_t count;
        const char *inner;
        uint32_t line, outer_line;
    } cases[] = {
        { 0xffff, 0, NULL, 0, 0 },      { 0x10000, 1, "outer", 3, 0 },
        { 0x1000c, 1, "outer", 3, 0 },  { 0x10010, 2, "small", 5, 42 },
        { 0x1003c, 2, "small", 5, 42 }, { 0x10040, 1, "outer", 9, 0 },
        { 0x1007c, 1, "outer", 9, 0 },  { 0x10080, 0, NULL, 0, 0 },
    };
    struct tw_symbols *symbols = make_symbols(EM_AARCH64, rows, LENGTH(rows));

    (void)state;
    CHECK_EQ(tw_symbols_add_elf(symbols, path, 0x1000), TW_OK);
    for (size_t i = 0; has("dw") && i < LENGTH(cases); i++) {
        struct tw_source_frame frames[4] = { { .function = NULL } };
        struct tw_sample_frame samples[2];
        const uint64_t address = cases[i].address + 0x1000;

        check_case("%#llx", (unsigned long long)cases[i].address);
        CHECK_EQ(tw_symbols_frames(symbols, frames, 4, address), cases[i].count);
        if (!cases[i].count)
            continue;
        CHECK_TEXT(frames[0].function, cases[i].inner);
        CHECK_EQ(frames[0].line.line, cases[i].line);
        CHECK_TEXT(frames[0].line.file, "/src/a.c");
        if (cases[i].count == 1)
            continue;
        CHECK_TEXT(frames[1].function, "outer");
        CHECK_EQ(frames[1].line.line, cases[i].outer_line);
        CHECK_TEXT(frames[1].line.file, "/src/a.c");
        CHECK_EQ(tw_symbols_sample_frames(symbols, samples, 2, address), 2);
        CHECK_TEXT(samples[0].function, "small");
        CHECK(samples[0].has_line && samples[1].has_line);
        CHECK_EQ(samples[0].discriminator, 0x15);
        CHECK_EQ(samples[0].copies, 4);
        CHECK_EQ(samples[1].discriminator, 0x23);
        CHECK_EQ(samples[1].copies, 1);
        CHECK_EQ(samples[1].line, cases[i].outer_line); /* no line is told of `outer` itself */
        memset(frames, 0, sizeof frames);
        CHECK_EQ(tw_symbols_frames(symbols, frames, 1, address), 2);
        CHECK(!frames[1].function);
    }
    tw_symbols_free(symbols);
    CHECK_EQ(remove(path), 0);
    if (!has("dw")) {
        print_message("skipped: no libdw\n");
        skip();
    }
}

static void ask_everything(struct tw_symbols *symbols)
{
    struct tw_symbol symbol;
    struct tw_source_line line;
    struct tw_source_frame frames[2];
    struct tw_sample_frame samples[2];
    struct tw_symbol_object object = { .size = sizeof object };

    for (uint64_t address = 0xff00; address < 0x10200; address += 4) {
        if (tw_symbols_find(symbols, &symbol, address))
            CHECK(address >= symbol.address && strlen(symbol.name) < FILE_ROOM);
        if (tw_symbols_line(symbols, &line, address))
            CHECK(line.line > 0 && strlen(line.file) < 2 * FILE_ROOM);
        if (tw_symbols_frames(symbols, frames, 2, address))
            CHECK(strlen(frames[0].function) < FILE_ROOM);
        if (tw_symbols_sample_frames(symbols, samples, 2, address))
            CHECK(strlen(samples[0].function) < FILE_ROOM && samples[0].copies > 0);
    }
    for (size_t i = 0; tw_symbols_object(symbols, &object, i); i++)
        CHECK_TEXT(object.path, path);
    object.size = 3;
    CHECK(!tw_symbols_object(symbols, &object, 0));
    (void)tw_symbols_by_name(symbols, &symbol, "main", 0);
}

static void try_file(const uint8_t *bytes, size_t size)
{
    struct tw_symbols *symbols;

    write_file(bytes, size);
    CHECK_EQ(tw_symbols_new(&symbols, NULL, NULL), TW_OK);
    if (tw_symbols_add_elf(symbols, path, 0) != TW_OK)
        CHECK_EQ(tw_symbols_count(symbols), 0);
    ask_everything(symbols);
    tw_symbols_free(symbols);
}

static void hostile_files_do_no_harm(void **state)
{
    struct check_random random = check_random_start(0x51b01);
    struct tw_symbols *symbols = make_symbols(EM_AARCH64, rows, LENGTH(rows));
    uint8_t file[FILE_ROOM];
    const size_t size = make_elf(file, EM_AARCH64, rows, LENGTH(rows));

    (void)state;
    CHECK_EQ(tw_symbols_add_elf(symbols, "no/such/file", 0), TW_E_FILE);
    CHECK_EQ(tw_symbols_add_elf(symbols, ".", 0), TW_E_FILE);
    tw_symbols_free(symbols);
    for (size_t cut = 0; cut < size; cut += 61)
        try_file(file, cut);
    for (size_t n = check_scale(6000); n > 0; n--) {
        uint8_t bad[FILE_ROOM];

        memcpy(bad, file, size);
        for (uint64_t flips = 1 + check_random_below(&random, 4); flips > 0; flips--)
            bad[check_random_below(&random, size)] = (uint8_t)check_random_next(&random);
        try_file(bad, size);
    }
    CHECK_EQ(remove(path), 0);
}

static void *fail_later(void *context, void *old, size_t size)
{
    unsigned *left = context;

    if (!size) {
        free(old);
        return NULL;
    }
    if (!*left)
        return NULL;
    --*left;
    return realloc(old, size);
}

static void survives_each_failed_allocation(void **state)
{
    struct tw_symbols *symbols = make_symbols(EM_AARCH64, rows, LENGTH(rows));
    bool is_done = false;

    (void)state;
    tw_symbols_free(symbols);
    for (unsigned left = 0; !is_done; left++) {
        unsigned count = left;
        const struct tw_allocator allocator = { fail_later, &count };

        CHECK(left < 1000);
        if (tw_symbols_new(&symbols, &allocator, NULL) != TW_OK)
            continue;
        is_done = tw_symbols_add_elf(symbols, path, 0) == TW_OK;
        if (!is_done)
            CHECK_EQ(tw_symbols_count(symbols), 0);
        is_done &= tw_symbols_add_elf(symbols, path, 0x1000000) == TW_OK;
        ask_everything(symbols);
        tw_symbols_free(symbols);
    }
    CHECK_EQ(remove(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_names_by_address),
        cmocka_unit_test(finds_addresses_by_name),
        cmocka_unit_test(t32_functions_lose_bit_0),
        cmocka_unit_test(bias_follows_from_what_lies_where),
        cmocka_unit_test(finds_source_lines),
        cmocka_unit_test(finds_inlined_functions),
        cmocka_unit_test(hostile_files_do_no_harm),
        cmocka_unit_test(survives_each_failed_allocation),
    };

    return cmocka_run_group_tests_name("symbols", tests, NULL, NULL);
}
