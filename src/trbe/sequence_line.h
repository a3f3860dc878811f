/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of a sequence, cut into its parts, and the labels met so far. */
#ifndef TRBE_SEQUENCE_LINE_H
#define TRBE_SEQUENCE_LINE_H

#include "trbe/sequence.h"

enum { LINE_ROOM = 240, OPERANDS = 5 };

/* A line in lower case, cut into its parts. */
struct line {
    char chars[LINE_ROOM];
    char comment[LINE_ROOM];
    char *word; /* the mnemonic; "" if there is none */
    char *operand[OPERANDS];
    size_t count;
};

struct label {
    const char *name;
    size_t size;
    uint32_t step;
};

struct parser {
    struct tw_seq_steps *out;
    const struct tw_allocator *allocator;
    struct label *labels;
    size_t label_count, label_room;
    uint32_t number;
};

/* Without white space around it; in place. */
char *tw_line_trim(char *text);
/* Number with or without '#', decimal, 0x or 0b; false: something else. */
bool tw_line_number(uint64_t *value, const char *text);
uint8_t tw_line_register(const char *text);
/* Step of the nearest label of that name before here; NO_STEP: none. */
uint32_t tw_line_label(const struct parser *p, const char *name);
/* Of the nearest one behind this step. */
uint32_t tw_line_label_after(const struct parser *p, const char *name, uint32_t step);
/* Cuts up the line; the word is "" when it holds no instruction, and begins with '<' for a
   placeholder.  False: out of memory. */
bool tw_line_read(struct parser *p, struct line *line, const char *raw, size_t size);

#endif
