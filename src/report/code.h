/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of a program, executed or not, and the code of those that were. */
#ifndef REPORT_CODE_H
#define REPORT_CODE_H

#include <trackway/disassembly.h>

#include "report/report.h"

struct report_code_row {
    uint64_t address, count, taken, not_taken;
    uint64_t to; /* of a direct branch that is no call; 0: none */
    uint32_t text, file, line;
    uint8_t is_branch;
};

struct report_code_target {
    uint64_t to, count;
    uint32_t code; /* row */
    uint32_t name;
};

struct report_cover_function {
    uint64_t address, entries, self;
    uint32_t name, object, file, line;
    uint32_t instructions, covered;
    uint32_t first, rows; /* of its code */
    uint32_t object_number;
    uint8_t is_called; /* by code that is shown */
    bool is_shown;
};

/* One instruction on its way. */
struct report_instruction {
    struct tw_code_bytes code;
    uint8_t bytes[4];
    size_t size;
    uint64_t count;
    const struct tw_branch_count *branch; /* NULL: it is none */
};

struct report_code {
    struct tw_report *report;
    struct report_cover_function *functions;
    size_t function_count, function_room;
    struct tw_map by_address; /* of object and address: function + 1 */
    struct report_code_row *rows;
    size_t count, room, most;
    struct report_code_target *targets;
    size_t target_count, target_room;
    /* the object at work */
    size_t object;
    struct tw_symbols *symbols; /* may be NULL */
    struct tw_disassembler *disassembler;
    size_t code_at, branch_at, target_at; /* numbers of what comes next */
    uint64_t at;                          /* address of the next instruction */
};

/* All functions of all objects, by object and address. */
void report_code_functions(struct report_code *code);
void report_code_add_function(struct report_code *code,
                              const struct report_cover_function *function);
/* Code that is shown calls the function there. */
void report_code_called(struct report_code *code, uint64_t address);
void report_code_functions_table(struct report_code *code);

#endif
