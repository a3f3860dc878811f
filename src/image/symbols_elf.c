/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbols of ELF files, read with libelf. */
#include "base/fault.h"
#include "base/memory.h"
#include "image/symbols.h"

#ifdef TW_WITH_ELF

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "image/libelf.h"

/* A symbol table at work. */
struct table {
    struct tw_symbols *symbols;
    struct symbol_file *file;
    Elf *elf;
    const char *names; /* our copy: ends with a zero */
    size_t names_size; /* without that zero */
    uint16_t machine;
    uint8_t isa; /* of its code, where nothing else is said */
    size_t text; /* a kernel module: the section whose code lies at 0; else 0 */
};

/* $x, $a, $t, $d and the like say what kind of bytes follow; they name nothing. */
static bool is_mapping(const char *name)
{
    return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
           (!name[2] || name[2] == '.' || (name[1] == 'x' && name[2] == 'r'));
}

/* What the machine's code is where no symbol says so. */
static uint8_t isa_of(uint16_t machine, bool is_64bit)
{
    return machine == EM_AARCH64 ? TW_ISA_A64
           : machine == EM_ARM   ? TW_ISA_A32
           : machine == EM_RISCV ? (is_64bit ? TW_ISA_RV64 : TW_ISA_RV32)
                                 : TW_ISA_UNKNOWN;
}

/* A mapping symbol tells what follows: code of one kind, or data. */
static bool take_mapping(const struct table *table, const char *name, uint64_t address)
{
    const struct code_mark mark = {
        .address = address + table->file->bias,
        .isa = (uint8_t)(name[1] == 'd'   ? TW_ISA_UNKNOWN
                         : name[1] == 't' ? TW_ISA_T32
                         : name[1] == 'a' ? TW_ISA_A32
                                          : table->isa),
    };

    return tw_symbols_mark(table->symbols, &mark);
}

/* The end of the section that holds code at this address; false: it is no such section. */
static bool code_section_end(const struct table *table, size_t number, uint64_t address,
                             uint64_t *end)
{
    Elf_Scn *section = tw_libelf.elf_getscn(table->elf, number);
    GElf_Shdr header;

    if (!section || !tw_libelf.gelf_getshdr(section, &header) ||
        !(header.sh_flags & SHF_EXECINSTR) || address < header.sh_addr ||
        address - header.sh_addr >= header.sh_size)
        return false;
    *end = header.sh_size > UINT64_MAX - header.sh_addr ? UINT64_MAX
                                                        : header.sh_addr + header.sh_size;
    return true;
}

static bool is_function(unsigned type)
{
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* False: the symbol names no code. */
static bool make_symbol(const struct table *table, struct symbol *out, const GElf_Sym *from)
{
    const unsigned type = GELF_ST_TYPE(from->st_info), bind = GELF_ST_BIND(from->st_info);
    uint64_t start = from->st_value, end;

    if ((!is_function(type) && type != STT_NOTYPE) || from->st_shndx == SHN_UNDEF ||
        from->st_name >= table->names_size)
        return false;
    *out = (struct symbol){ .name = table->names + from->st_name };
    if (!*out->name || is_mapping(out->name))
        return false;
    if (table->machine == EM_ARM && is_function(type))
        start &= ~(uint64_t)1; /* T32 */
    if (table->text && from->st_shndx != table->text)
        return false;
    if (from->st_shndx < SHN_LORESERVE) {
        if (!code_section_end(table, from->st_shndx, start, &end))
            return false;
    } else if (is_function(type)) {
        end = start + from->st_size;
    } else {
        return false; /* a number that a linker script made, or a common block */
    }
    out->is_sized = from->st_size != 0;
    if (out->is_sized && from->st_size < end - start)
        end = start + from->st_size;
    out->start = start + table->file->bias; /* may go round: a bias that leads down */
    out->end = end + table->file->bias;
    out->rank = (uint8_t)((is_function(type) ? TW_SYMBOL_FUNCTION : 0) +
                          (bind == STB_GLOBAL ? TW_SYMBOL_GLOBAL : 0) +
                          (bind == STB_WEAK ? TW_SYMBOL_WEAK : 0));
    return out->start < out->end;
}

static enum tw_status copy_names(struct table *table, size_t section, size_t place)
{
    Elf_Scn *from = tw_libelf.elf_getscn(table->elf, section);
    Elf_Data *data = from ? tw_libelf.elf_rawdata(from, NULL) : NULL;
    char *copy;

    table->names_size = 0;
    if (!data || !data->d_buf || data->d_size == 0)
        return TW_OK; /* no names, so no symbols */
    copy = tw_take(table->symbols->allocator, data->d_size + 1);
    if (!copy)
        return tw_fail(&table->symbols->fault, TW_E_MEMORY, "no memory for the names of %s",
                       table->file->path);
    memcpy(copy, data->d_buf, data->d_size);
    table->file->names[place] = copy;
    table->names = copy;
    table->names_size = data->d_size;
    return TW_OK;
}

static enum tw_status read_table(struct table *table, Elf_Scn *section, const GElf_Shdr *header,
                                 size_t place)
{
    struct tw_symbols *symbols = table->symbols;
    Elf_Data *data = tw_libelf.elf_getdata(section, NULL);
    const size_t each = tw_libelf.gelf_fsize(table->elf, ELF_T_SYM, 1, EV_CURRENT);
    size_t count = data && data->d_buf && each ? data->d_size / each : 0;

    TW_TRY(copy_names(table, header->sh_link, place));
    if (!table->names_size)
        return TW_OK;
    if (count > INT_MAX)
        count = INT_MAX;
    for (size_t i = 1; i < count; i++) {
        struct symbol made;
        GElf_Sym symbol;

        if (!tw_libelf.gelf_getsym(data, (int)i, &symbol))
            continue;
        if (symbol.st_name < table->names_size && is_mapping(table->names + symbol.st_name) &&
            (!table->text || symbol.st_shndx == table->text) &&
            !take_mapping(table, table->names + symbol.st_name, symbol.st_value))
            return tw_fail(&symbols->fault, TW_E_MEMORY, "no memory for the symbols of %s",
                           table->file->path);
        if (!make_symbol(table, &made, &symbol))
            continue;
        if (!TW_GROW(symbols->allocator, &symbols->items, &symbols->room, symbols->count + 1))
            return tw_fail(&symbols->fault, TW_E_MEMORY, "no memory for the symbols of %s",
                           table->file->path);
        symbols->items[symbols->count++] = made;
    }
    return TW_OK;
}

static bool take_section(const struct table *table, const GElf_Shdr *header)
{
    const uint64_t first = header->sh_addr + table->file->bias;
    const struct code_mark mark = { .address = first,
                                    .end = first + header->sh_size,
                                    .isa = table->isa };
    const uint64_t wanted = SHF_EXECINSTR | SHF_ALLOC;

    if ((header->sh_flags & wanted) != wanted || header->sh_type == SHT_NOBITS ||
        mark.end <= first)
        return true;
    return tw_symbols_mark(table->symbols, &mark);
}

/* The version of the first unit of the debug information. */
static void take_dwarf(const struct table *table, Elf_Scn *section, const GElf_Shdr *header,
                       const char *name)
{
    const Elf_Data *data =
        strcmp(name, ".debug_info") == 0 && !(header->sh_flags & SHF_COMPRESSED)
            ? tw_libelf.elf_rawdata(section, NULL)
            : NULL;
    const uint8_t *bytes = data ? data->d_buf : NULL;

    if (bytes && data->d_size >= 14)
        table->file->about.dwarf = bytes[0] == 0xff && bytes[3] == 0xff ? bytes[12] : bytes[4];
}

/* The first table of each kind: a linked file has no more. */
static enum tw_status read_tables(struct table *table)
{
    Elf_Scn *section = NULL;
    bool is_done[2] = { false, false };
    size_t names = 0;
    const char *name;

    if (tw_libelf.elf_getshdrstrndx(table->elf, &names) != 0)
        names = 0;

    while ((section = tw_libelf.elf_nextscn(table->elf, section))) {
        GElf_Shdr header;
        size_t place;

        if (!tw_libelf.gelf_getshdr(section, &header))
            continue;
        name = names ? tw_libelf.elf_strptr(table->elf, names, header.sh_name) : NULL;
        if (name)
            take_dwarf(table, section, &header, name);
        if ((!table->text || tw_libelf.elf_ndxscn(section) == table->text) &&
            !take_section(table, &header))
            return tw_fail(&table->symbols->fault, TW_E_MEMORY, "no memory for the code of %s",
                           table->file->path);
        if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)
            continue;
        place = header.sh_type == SHT_DYNSYM;
        if (is_done[place])
            continue;
        is_done[place] = true;
        TW_TRY(read_table(table, section, &header, place));
    }
    return TW_OK;
}

/* Where the segment with these bytes was put, against where it was linked. */
static enum tw_status find_bias(const struct table *table, const struct symbol_place *place)
{
    struct symbol_file *file = table->file;
    size_t count = 0;

    if (tw_libelf.elf_getphdrnum(table->elf, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count && i < INT_MAX; i++) {
        GElf_Phdr header;

        if (!tw_libelf.gelf_getphdr(table->elf, (int)i, &header))
            break;
        if (header.p_type == PT_LOAD && place->offset >= header.p_offset &&
            place->offset - header.p_offset < header.p_filesz) {
            file->bias = place->address - (header.p_vaddr + (place->offset - header.p_offset));
            return TW_OK;
        }
    }
    return tw_fail(&table->symbols->fault, TW_E_FILE,
                   "%s: no loadable segment holds file offset %llu", file->path,
                   (unsigned long long)place->offset);
}

static void take_segments(const struct table *table)
{
    struct tw_symbol_object *about = &table->file->about;
    size_t count = 0;
    bool has_any = false;

    if (tw_libelf.elf_getphdrnum(table->elf, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count && i < INT_MAX; i++) {
        GElf_Phdr header;

        if (!tw_libelf.gelf_getphdr(table->elf, (int)i, &header) || header.p_type != PT_LOAD)
            continue;
        if (!has_any)
            about->first = header.p_vaddr;
        has_any = true;
        if (header.p_vaddr + header.p_memsz > about->end)
            about->end = header.p_vaddr + header.p_memsz;
        if (header.p_flags & PF_X && !about->code_size) {
            about->code = header.p_vaddr;
            about->code_offset = header.p_offset;
            about->code_size = header.p_memsz;
        }
    }
}

/* A kernel module is not linked, and has one section that the kernel keeps its name in: addresses are those of .text
   from 0 on, as in all that is said of its code.  False: it is none. */
static bool take_module(struct table *table)
{
    struct tw_symbol_object *about = &table->file->about;
    Elf_Scn *section = NULL;
    bool is_module = false;
    size_t names = 0;

    if (tw_libelf.elf_getshdrstrndx(table->elf, &names) != 0)
        return false;
    while ((section = tw_libelf.elf_nextscn(table->elf, section))) {
        GElf_Shdr header;
        const char *name = tw_libelf.gelf_getshdr(section, &header)
                               ? tw_libelf.elf_strptr(table->elf, names, header.sh_name)
                               : NULL;

        if (!name)
            continue;
        is_module |= strcmp(name, ".gnu.linkonce.this_module") == 0;
        if (strcmp(name, ".text") != 0)
            continue;
        table->text = tw_libelf.elf_ndxscn(section);
        about->end = about->code_size = header.sh_size;
        about->code_offset = header.sh_offset;
    }
    return is_module && table->text;
}

static enum tw_status read_elf(struct table *table, const struct symbol_place *place)
{
    struct tw_symbols *symbols = table->symbols;
    const char *path = table->file->path;
    GElf_Ehdr header;

    if (tw_libelf.elf_kind(table->elf) != ELF_K_ELF ||
        !tw_libelf.gelf_getehdr(table->elf, &header))
        return tw_fail(&symbols->fault, TW_E_FILE, "%s: not an ELF file", path);
    if (header.e_type == ET_REL && !take_module(table))
        return tw_fail(&symbols->fault, TW_E_FILE, "%s: not linked: it has no addresses yet",
                       path);
    table->machine = header.e_machine;
    table->isa = isa_of(header.e_machine, header.e_ident[EI_CLASS] == ELFCLASS64);
    if (place->has_place)
        TW_TRY(find_bias(table, place));
    for (const struct symbol_file *file = symbols->files; file; file = file->next)
        if (file->bias == table->file->bias && strcmp(file->path, path) == 0)
            return TW_END;
    if (!table->text)
        take_segments(table);
    return read_tables(table);
}

enum tw_status tw_symbols_read_elf(struct tw_symbols *symbols, struct symbol_file *file,
                                   const struct symbol_place *place)
{
    struct table table = { .symbols = symbols, .file = file };
    enum tw_status status;
    int fd;

    if (!tw_libelf_load() || tw_libelf.elf_version(EV_CURRENT) == EV_NONE)
        return tw_fail(&symbols->fault, TW_E_UNSUPPORTED, TW_LIBELF_MISSING, file->path);
    fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return tw_fail(&symbols->fault, TW_E_FILE, "%s: cannot be opened", file->path);
    table.elf = tw_libelf.elf_begin(fd, ELF_C_READ, NULL);
    if (table.elf)
        status = read_elf(&table, place);
    else
        status = tw_fail(&symbols->fault, TW_E_FILE, "%s: not an ELF file", file->path);
    (void)tw_libelf.elf_end(table.elf);
    (void)close(fd);
    return status;
}

#else

enum tw_status tw_symbols_read_elf(struct tw_symbols *symbols, struct symbol_file *file,
                                   const struct symbol_place *place)
{
    (void)place;
    return tw_fail(&symbols->fault, TW_E_UNSUPPORTED,
                   "%s: this build reads no ELF files; it needs libelf (Debian: libelf-dev)",
                   file->path);
}

#endif
