/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and source lines of code by address, from ELF files.  Stable. */
#ifndef TRACKWAY_SYMBOLS_H
#define TRACKWAY_SYMBOLS_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_symbols;

struct tw_symbol {
    const char *name; /* lasts as long as the handle; as it stands in the file, not demangled */
    uint64_t address;
    /* a symbol that has none reaches to the next one or the end of its section */
    uint64_t size;
};

struct tw_source_line {
    const char *file; /* as the compiler wrote it; lasts as long as the handle */
    uint32_t line;
};

TW_API TW_MUST_USE enum tw_status tw_symbols_new(struct tw_symbols **symbols,
                                                 const struct tw_allocator *allocator,
                                                 struct tw_fault *fault);
TW_API void tw_symbols_free(struct tw_symbols *symbols);
TW_API const char *tw_symbols_fault(const struct tw_symbols *symbols);

/* The functions and code labels of a linked ELF file, `bias` added to their addresses.  A file that
   is there already with the same bias changes nothing; one without symbols is no fault.
   TW_E_UNSUPPORTED: this build reads no ELF files. */
TW_API TW_MUST_USE enum tw_status tw_symbols_add_elf(struct tw_symbols *symbols,
                                                     const char *path, uint64_t bias);
/* The same when it is known that the file's bytes from `offset` on lie at `address`: the bias
   follows from its program headers. */
TW_API TW_MUST_USE enum tw_status tw_symbols_add_loaded(struct tw_symbols *symbols,
                                                        const char *path, uint64_t offset,
                                                        uint64_t address);
/* Code symbols of all files, aliases included. */
TW_API size_t tw_symbols_count(const struct tw_symbols *symbols);

/* The symbol that an address belongs to, the innermost if several hold it; false: none does. */
TW_API bool tw_symbols_find(const struct tw_symbols *symbols, struct tw_symbol *symbol,
                            uint64_t address);
/* The same for call graphs: a label without a size inside a function begins a function of its own, up
   to the next label or the end of the one around it. */
TW_API bool tw_symbols_function(const struct tw_symbols *symbols, struct tw_symbol *symbol,
                                uint64_t address);
/* The symbol of this name; of several the one with this number, from 0, by address. */
TW_API bool tw_symbols_by_name(const struct tw_symbols *symbols, struct tw_symbol *symbol,
                               const char *name, size_t number);
/* The source line that the instruction at an address comes from; false: no file tells, or this
   build reads no DWARF. */
TW_API bool tw_symbols_line(struct tw_symbols *symbols, struct tw_source_line *line,
                            uint64_t address);

/* A function that the code at an address is from: itself, or one that was inlined. */
struct tw_source_frame {
    const char *function; /* as the debug information names it; lasts as long as the handle */
    struct tw_source_line line; /* of the instruction, or where the next inner one was called;
                                   file NULL: not known */
};

/* Those functions, the innermost first, at most `room`; returns how many there are.  0: no file tells,
   or this build reads no DWARF. */
TW_API size_t tw_symbols_frames(struct tw_symbols *symbols, struct tw_source_frame *frames,
                                size_t room, uint64_t address);

/* The same as LLVM's sample profiles name places: the line counted from that of the function, modulo
   2^16, and the base discriminator. */
struct tw_sample_frame {
    const char *function;
    uint32_t line, discriminator;
    uint32_t
        copies;    /* that the compiler made of the code, and each has its count: at least 1 */
    bool has_line; /* the debug information tells it */
};

TW_API size_t tw_symbols_sample_frames(struct tw_symbols *symbols,
                                       struct tw_sample_frame *frames, size_t room,
                                       uint64_t address);

/* An ELF file whose symbols are there. */
struct tw_symbol_object {
    size_t size; /* sizeof(struct tw_symbol_object), set by the caller */
    const char *path;
    uint64_t bias; /* that was added to its addresses; the members below are as linked */
    /* its loaded segments: where the first one begins, the last one ends */
    uint64_t first, end;
    uint64_t code, code_offset,
        code_size; /* its first executable segment, and where in the file */
    bool has_symbols;
    uint8_t dwarf; /* version of its debug information; 0: none */
};

/* False: there is no such number, or the size cannot be. */
TW_API bool tw_symbols_object(const struct tw_symbols *symbols, struct tw_symbol_object *object,
                              size_t number);
/* A symbol that is local to a source file: which one of those with its name it is, by address, from 1
   on; 0: it is none. */
TW_API size_t tw_symbols_local(const struct tw_symbols *symbols,
                               const struct tw_symbol *symbol);

/* A stretch of one kind inside the sections that hold code: of all files, by address. */
struct tw_code_stretch {
    uint64_t first, end;
    uint8_t isa; /* enum tw_isa; TW_ISA_UNKNOWN: data among the code */
};

/* All code of the files, executed or not.  False: there is no such number. */
TW_API bool tw_symbols_code(const struct tw_symbols *symbols, struct tw_code_stretch *stretch,
                            size_t number);

#ifdef __cplusplus
}
#endif

#endif
