/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that a program executed, by number: what calls, profiles and timelines speak
   of.  Experimental. */
#ifndef TRACKWAY_FUNCTIONS_H
#define TRACKWAY_FUNCTIONS_H

#include <trackway/symbols.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tw_function_kind {
    TW_FUNCTION_UNKNOWN,    /* number 0: "[callers unknown]" */
    TW_FUNCTION_SYMBOL,     /* has a symbol */
    TW_FUNCTION_UNNAMED,    /* code without a symbol: "[0xADDRESS]", where control entered it */
    TW_FUNCTION_NO_CODE,    /* "[no code at 0xADDRESS]" */
    TW_FUNCTION_NOT_TRACED, /* "[not traced]": counted, but not where */
    TW_FUNCTION_KERNEL, /* "[kernel]": from an exception whose handler is not traced to its return;
                          timelines alone show it */
    TW_FUNCTION_INLINED /* has no code of its own there: address 0 */
};

struct tw_function {
    const char *name;
    uint64_t address;           /* of its first instruction, as its file has it */
    uint64_t size;              /* in bytes; 0: not known */
    uint32_t file;              /* the caller's number for the file that holds it */
    const char *object;         /* that file's name; NULL: the capture does not say */
    struct tw_symbols *symbols; /* that hold it, for its source lines; NULL: none do */
    uint8_t kind;               /* enum tw_function_kind */
    bool is_stub; /* PLT entries, veneers, outlined routines: part of their caller by meaning */
    bool is_resume; /* leaves for a frame below its caller: _Unwind_Resume */
    /* of a result that was loaded: its first; else tw_function_line */
    struct tw_source_line line;
};

struct tw_functions;

TW_API size_t tw_functions_count(const struct tw_functions *functions);
/* NULL: there is no such number. */
TW_API const struct tw_function *tw_functions_get(const struct tw_functions *functions,
                                                  uint32_t number);
/* The source line that a function begins with; false: it is not known. */
TW_API bool tw_function_line(const struct tw_function *function, struct tw_source_line *line);

#ifdef __cplusplus
}
#endif

#endif
