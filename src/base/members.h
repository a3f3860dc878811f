/* SPDX-License-Identifier: BSD-2-Clause */
/* Putting members together, and the writers for them. */
#ifndef BASE_MEMBERS_H
#define BASE_MEMBERS_H

#include <string.h>

#include <trackway/members.h>

#include "base/compiler.h"

/* Rows of a table of members.  Listed: in JSON and CSV.  Told: in text, behind some words.  Shown: in
   all of them. */
#define TW_ROW(key, words, kind, in)                                                           \
    {                                                                                          \
        key, words, sizeof(key) - 1, sizeof(words) - 1, TW_MEMBER_##kind, in                   \
    }
#define TW_LISTED(key, kind)       TW_ROW(key, "", kind, TW_MEMBER_LISTED)
#define TW_TOLD(kind, words)       TW_ROW("", words, kind, TW_MEMBER_TOLD)
#define TW_SHOWN(key, kind, words) TW_ROW(key, words, kind, TW_MEMBER_LISTED | TW_MEMBER_TOLD)
/* Shown as key=value. */
#define TW_PAIR(key, kind) TW_SHOWN(key, kind, " " key "=")

/* Members on the stack, with room for those of any packet or element. */
struct tw_members_here {
    struct tw_members list;
    struct tw_member items[TW_MEMBERS_ENOUGH];
    char texts[TW_MEMBERS_TEXT_ENOUGH];
};

static inline struct tw_members *tw_members_start(struct tw_members_here *here, unsigned wanted)
{
    here->list = (struct tw_members){ .items = here->items,
                                      .room = TW_MEMBERS_ENOUGH,
                                      .texts = here->texts,
                                      .text_room = sizeof here->texts,
                                      .wanted = wanted };
    return &here->list;
}

/* The next one; where it is not wanted, or there is no room for it, it does not count. */
static inline struct tw_member *tw_put_any(struct tw_members *out, unsigned type)
{
    struct tw_member *to = &out->items[out->count];

    to->type = &out->types[type];
    if (TW_LIKELY(out->count + 1 < out->room))
        out->count += (to->type->in & out->wanted) != 0;
    return to;
}

static inline bool tw_is_wanted(const struct tw_members *out, unsigned type)
{
    return (out->types[type].in & out->wanted) != 0;
}

/* A number, as the row says. */
static inline void tw_put(struct tw_members *out, unsigned type, uint64_t value)
{
    tw_put_any(out, type)->number = value;
}

static inline void tw_put_wide(struct tw_members *out, unsigned type, uint64_t low,
                               uint64_t high)
{
    struct tw_member *to = tw_put_any(out, type);

    to->number = low;
    to->high = high;
}

/* A text that stays. */
static inline void tw_put_text(struct tw_members *out, unsigned type, const char *text)
{
    tw_put_any(out, type)->text = text;
}

static inline void tw_put_bytes(struct tw_members *out, unsigned type, const uint8_t *bytes,
                                size_t size)
{
    struct tw_member *to = tw_put_any(out, type);

    to->number = size;
    to->bytes = bytes;
}

/* A text that has to be put together; what does not fit is cut. */
void tw_put_format(struct tw_members *out, unsigned type, const char *format, ...)
    TW_PRINTF(3, 4);
/* `size` characters of room for a text, which the caller writes; NULL: it is not wanted, or there is
   no room. */
char *tw_put_room(struct tw_members *out, unsigned type, size_t size);

/* ---- writers: to `out`, which has room for tw_members_most; they return the end.  No zero is added. */

size_t tw_members_most(const struct tw_members *members);
/* An object: {"key":value,...}. */
char *tw_members_json(char *out, const struct tw_members *members);
/* Words and values one after the other. */
char *tw_members_text(char *out, const struct tw_members *members);
/* One value by itself, as text shows it and as it is for CSV before it is quoted. */
size_t tw_member_most(const struct tw_member *member);
char *tw_member_value(char *out, const struct tw_member *member);

/* Numbers; in hexadecimal, with 0x and without, 18 and 16 characters may be written, whatever counts of them. */
char *tw_write_decimal(char *out, uint64_t value);
char *tw_write_digits(char *out, uint64_t value);
char *tw_write_hex(char *out, uint64_t value);
/* "0x123     ": a place in the capture, with which lines begin.  Up to TW_INDEX_WIDTH characters and one blank at least; so many
   may be written. */
enum { TW_INDEX_WIDTH = 10, TW_INDEX_ROOM = 32 };
char *tw_write_index(char *out, uint64_t index);
char *tw_write_bytes(char *out, const uint8_t *bytes, size_t size);

/* A word of ours with its length, to be copied whole. */
struct tw_word {
    char text[23];
    uint8_t size;
};
#define TW_WORD(text)                                                                          \
    {                                                                                          \
        text, sizeof(text) - 1                                                                 \
    }

static inline char *tw_write_word(char *out, const struct tw_word *word)
{
    memcpy(out, word->text, sizeof word->text);
    return out + word->size;
}

/* What tw_members_text does with one member, where its row is known when this is compiled. */
static inline char *tw_tell(char *out, const struct tw_member_type *type, uint64_t number)
{
    if (!(type->in & TW_MEMBER_TOLD) || (type->kind == TW_MEMBER_FLAG && !number))
        return out;
    memcpy(out, type->words, type->words_size);
    out += type->words_size;
    if (type->kind == TW_MEMBER_FLAG)
        return out;
    return type->kind == TW_MEMBER_HEX ? tw_write_hex(out, number)
                                       : tw_write_decimal(out, number);
}

static inline char *tw_tell_word(char *out, const struct tw_member_type *type,
                                 const struct tw_word *word)
{
    if (!(type->in & TW_MEMBER_TOLD))
        return out;
    memcpy(out, type->words, type->words_size);
    return tw_write_word(out + type->words_size, word);
}

/* A line that stands in `line`, given to a caller who has `room`: as much as fits, and a zero.  Returns its
   length. */
size_t tw_line_give(char *out, size_t room, const char *line, const char *end);

#endif
