/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that grows as it is written.  Running out of memory is remembered, and seen once. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trackway/status.h>

#include "base/compiler.h"

struct tw_text {
    char *chars; /* always ends with a zero once anything was written */
    size_t size, room;
    bool failed;
    bool is_fixed; /* `chars` is the caller's and never moves; what does not fit is dropped */
    const struct tw_allocator *allocator;
};

/* Text in the caller's buffer of `room` bytes (at least 1). */
struct tw_text tw_text_in(char *buffer, size_t room);
void tw_text_free(struct tw_text *text);
void tw_text_clear(struct tw_text *text);

void tw_text_add(struct tw_text *text, const char *chars);
void tw_text_add_size(struct tw_text *text, const char *chars, size_t size);
void tw_text_char(struct tw_text *text, char c);
/* With escapes for what a terminal would obey: names from captures. */
void tw_text_escaped(struct tw_text *text, const char *value);
void tw_text_format(struct tw_text *text, const char *format, ...) TW_PRINTF(2, 3);

/* Fast forms of what listings print most. */
void tw_text_decimal(struct tw_text *text, uint64_t value);
void tw_text_hex(struct tw_text *text, uint64_t value); /* 0x…, no leading zeros */
void tw_text_hex_bytes(struct tw_text *text, const uint8_t *bytes, size_t size); /* 0a1b… */

/* JSON members: `,"key":value`; the comma is left out directly after an opening brace. */
void tw_json_key(struct tw_text *text, const char *key);
void tw_json_u64(struct tw_text *text, const char *key, uint64_t value);
void tw_json_hex(struct tw_text *text, const char *key, uint64_t value); /* "0x…" */
void tw_json_text(struct tw_text *text, const char *key, const char *value);
void tw_json_bytes(struct tw_text *text, const char *key, const uint8_t *bytes, size_t size);

#endif
