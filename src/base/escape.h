/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of any origin (names in captures are what a stranger wrote) made fit for output. */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>

/* How many times as long the text may become. */
enum { TW_ESCAPE_JSON_MOST = 6, TW_ESCAPE_TEXT_MOST = 4 };

/* Bytes of the character that `text` begins with: 1 to 4; 0: it is not UTF-8. */
size_t tw_utf8_size(const char *text, size_t size);

/* What stands between the quotes of a JSON string: control characters as \u001b, bytes that are
   no UTF-8 as \ufffd.  `out` has room for TW_ESCAPE_JSON_MOST * size; returns how much of it is
   used.  No zero is added. */
size_t tw_escape_json(char *out, const char *text, size_t size);
/* For people: control characters, which a terminal would obey, and bytes that are no UTF-8 as \x1b;
   the rest as it is.  Room for TW_ESCAPE_TEXT_MOST * size. */
size_t tw_escape_text(char *out, const char *text, size_t size);

#endif
