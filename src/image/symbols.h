/* SPDX-License-Identifier: BSD-2-Clause */
/* What the table of symbols and the reader of ELF files share. */
#ifndef IMAGE_SYMBOLS_H
#define IMAGE_SYMBOLS_H

#include <trackway/symbols.h>

/* Bits of symbol.rank. */
enum { TW_SYMBOL_WEAK = 1, TW_SYMBOL_GLOBAL = 2, TW_SYMBOL_SHARED = 3, TW_SYMBOL_FUNCTION = 4 };

struct symbol {
    uint64_t start, end; /* without a size: up to the next one or the end of the section */
    const char *name;
    bool is_sized;
    uint8_t rank; /* of several at one place the highest is shown */
};

/* From `start` on, up to the next span, addresses belong to this symbol. */
struct span {
    uint64_t start;
    size_t symbol; /* SIZE_MAX: to none */
};

/* A file: its string tables, and its source lines once they are asked for. */
struct symbol_file {
    struct symbol_file *next;
    char *path;
    uint64_t bias;
    char *names[2];                /* of .symtab and .dynsym */
    struct tw_symbol_object about; /* but for path and bias */
    bool has_list;                 /* of names, instead of tables */
    bool has_tried_lines;
    struct symbol_lines *lines; /* NULL: it has none */
};

/* From here on the bytes of a section are of this kind: a section's beginning, or a mapping symbol. */
struct code_mark {
    uint64_t address;
    uint64_t end; /* of the section; marks of symbols: 0 */
    uint8_t isa;  /* enum tw_isa */
};

struct tw_symbols {
    struct code_mark *marks; /* of all files; sorted into `code` when asked for */
    size_t mark_count, mark_room;
    struct tw_code_stretch *code;
    size_t code_count;
    struct symbol *items;
    size_t count, room;
    struct span *spans;
    size_t span_count;
    struct symbol_file *files;
    bool lacks_lines; /* no memory for those of a file */
    struct tw_fault fault;
    struct tw_allocator allocator_copy;
    const struct tw_allocator *allocator;
};

/* What is known of where a file was loaded, instead of its bias. */
struct symbol_place {
    bool has_place;
    uint64_t offset, address;
};

/* Appends the file's symbols, with file->bias, or with the bias that follows from `place`.  TW_END:
   the same is there already. */
enum tw_status tw_symbols_read_elf(struct tw_symbols *symbols, struct symbol_file *file,
                                   const struct symbol_place *place);

/* Adds names that stand in no ELF file, `path` is where they are from; their texts stay where they are. */
enum tw_status tw_symbols_add_list(struct tw_symbols *symbols, const char *path,
                                   const struct tw_symbol *list, size_t count);

/* symbols_code.c: notes code of a section or of a mapping symbol, with the file's bias added.  False:
   no memory. */
bool tw_symbols_mark(struct tw_symbols *symbols, const struct code_mark *mark);
/* Makes the list of code again; false: no memory. */
bool tw_symbols_settle_code(struct tw_symbols *symbols);

/* The source lines of a file; all is fine with a file that has none. */
struct symbol_lines *tw_symbol_lines_open(const char *path,
                                          const struct tw_allocator *allocator, bool *is_out);
void tw_symbol_lines_close(struct symbol_lines *lines, const struct tw_allocator *allocator);
/* Memory was out for some of them. */
bool tw_symbol_lines_are_out(const struct symbol_lines *lines);
/* `address` as the file was linked. */
bool tw_symbol_lines_find(const struct symbol_lines *lines, struct tw_source_line *line,
                          uint64_t address);
size_t tw_symbol_lines_samples(struct symbol_lines *lines, struct tw_sample_frame *frames,
                               size_t room, uint64_t address,
                               const struct tw_allocator *allocator);
size_t tw_symbol_lines_frames(struct symbol_lines *lines, struct tw_source_frame *frames,
                              size_t room, uint64_t address,
                              const struct tw_allocator *allocator);

#endif
