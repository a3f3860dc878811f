/* SPDX-License-Identifier: BSD-2-Clause */
/* What the library asks of libelf, where there is none: in a page the answers come from web/elf.js, through
   web/wasm/libelf.js.  Types and meanings are libelf's. */
#ifndef WEB_GELF_H
#define WEB_GELF_H

#include <elf.h>
#include <stddef.h>

typedef struct Elf Elf;
typedef struct Elf_Scn Elf_Scn;
typedef Elf64_Ehdr GElf_Ehdr;
typedef Elf64_Phdr GElf_Phdr;
typedef Elf64_Shdr GElf_Shdr;
typedef Elf64_Sym GElf_Sym;

typedef struct {
    void *d_buf;
    size_t d_size;
} Elf_Data;

typedef enum { ELF_C_READ = 1 } Elf_Cmd;
typedef enum { ELF_K_NONE, ELF_K_ELF = 3 } Elf_Kind;
typedef enum { ELF_T_SYM = 12 } Elf_Type;

#define GELF_ST_BIND(info) ELF64_ST_BIND(info)
#define GELF_ST_TYPE(info) ELF64_ST_TYPE(info)

unsigned elf_version(unsigned version);
Elf *elf_begin(int fd, Elf_Cmd command, Elf *parent);
int elf_end(Elf *elf);
Elf_Kind elf_kind(Elf *elf);
const char *elf_errmsg(int error);
int elf_getphdrnum(Elf *elf, size_t *count);
int elf_getshdrstrndx(Elf *elf, size_t *number);
Elf_Scn *elf_getscn(Elf *elf, size_t number);
size_t elf_ndxscn(Elf_Scn *section);
Elf_Scn *elf_nextscn(Elf *elf, Elf_Scn *section);
char *elf_strptr(Elf *elf, size_t section, size_t offset);
/* Both give the bytes; those of a symbol table are GElf_Sym, whatever the file's form. */
Elf_Data *elf_getdata(Elf_Scn *section, Elf_Data *data);
Elf_Data *elf_rawdata(Elf_Scn *section, Elf_Data *data);
size_t gelf_fsize(Elf *elf, Elf_Type type, size_t count, unsigned version);
GElf_Ehdr *gelf_getehdr(Elf *elf, GElf_Ehdr *out);
GElf_Phdr *gelf_getphdr(Elf *elf, int number, GElf_Phdr *out);
GElf_Shdr *gelf_getshdr(Elf_Scn *section, GElf_Shdr *out);
GElf_Sym *gelf_getsym(Elf_Data *data, int number, GElf_Sym *out);

#endif
