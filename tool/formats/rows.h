/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of an instruction's line that is the same each time: its address, opcode, text, symbol and source line. */
#ifndef ROWS_H
#define ROWS_H

#include <trackway/disassembly.h>

#include "formats/lines.h"
#include "shared/arena.h"

/* For CSV its members, else as text. */
struct row {
    size_t text; /* in rows->text */
    uint32_t size;
    uint32_t line;    /* of the source; 0: not known */
    uint32_t padding; /* blanks before it */
    const char *file;
    const struct tw_member *members;
    size_t member_count;
};

struct rows {
    struct lines *lines;
    struct session *session;
    const struct tw_part *part; /* whose branch targets are named */

    struct tw_disassembler **disassemblers; /* by source */
    size_t source_count;
    bool has_no_text; /* said so */

    struct row *items;
    size_t count, room;
    char *text; /* ROWS_COPY characters can be read behind that of each row */
    size_t text_size, text_room;
    struct arena members; /* of the rows of CSV */
    size_t members_size;
};

/* Texts may be copied so many characters at a time, whatever counts of them. */
enum { ROWS_COPY = 64 };

/* False: out of memory. */
bool rows_start(struct rows *rows, struct lines *lines, struct session *session);
void rows_end(struct rows *rows);
/* A row of an instruction that has `size` bytes, unless it is not wanted. */
void rows_add(struct rows *rows, const struct tw_part *part, const struct tw_code_bytes *code,
              size_t size);
void rows_forget(struct rows *rows);
/* Bytes that are kept. */
static inline size_t rows_size(const struct rows *rows)
{
    return rows->text_size + rows->members_size;
}
/* Lines are for people. */
static inline bool rows_are_text(const struct rows *rows)
{
    return rows->lines->style->wanted == TW_MEMBER_TOLD;
}

#endif
