/* SPDX-License-Identifier: BSD-2-Clause */
/* What a line of output says, as values: each member has a key, a kind and a value.  Text, JSON lines
   and CSV are ways to write them.  Experimental. */
#ifndef TRACKWAY_MEMBERS_H
#define TRACKWAY_MEMBERS_H

#include <trackway/tree.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which of struct tw_member's values is meant, and how it is written. */
enum tw_member_kind {
    TW_MEMBER_DECIMAL, /* number: 12 */
    TW_MEMBER_SIGNED,  /* number, as an int64_t: -12 */
    TW_MEMBER_HEX,     /* number: 0xc */
    TW_MEMBER_WIDE,    /* number, and 64 bits above it in `high`: 0xc */
    TW_MEMBER_FLAG,    /* number: 0 or 1; text shows its words where it is 1 */
    TW_MEMBER_SECONDS, /* number, and nanoseconds in `high`: 12.000000034 */
    TW_MEMBER_NAME,    /* text: one of the library's own words */
    TW_MEMBER_TEXT,    /* text of any origin, which is escaped */
    TW_MEMBER_BYTES,   /* bytes, `number` of them: 0a1b */
    TW_MEMBER_NIBBLES /* half bytes, the low one of each byte first: `number` of them, after the
                          first `high` */
};

/* Where a member belongs: to JSON and CSV, to text. */
enum { TW_MEMBER_LISTED = 1, TW_MEMBER_TOLD = 2 };

/* What a member is: a row of the table of all that there may be. */
struct tw_member_type {
    char key[20];   /* in JSON, and the column in CSV */
    char words[20]; /* before the value in text */
    uint8_t key_size, words_size;
    uint8_t kind; /* enum tw_member_kind */
    uint8_t in;   /* TW_MEMBER_LISTED, TW_MEMBER_TOLD or both */
};

struct tw_member {
    const struct tw_member_type *type;
    uint64_t number, high;
    union {
        const char *text;
        const uint8_t *bytes;
    };
};

/* So much is enough for every packet and element. */
enum { TW_MEMBERS_ENOUGH = 64, TW_MEMBERS_TEXT_ENOUGH = 1024 };

/* The caller sets the first five. */
struct tw_members {
    struct tw_member *items;
    size_t room;
    char *texts; /* for texts that have to be put together */
    size_t text_room;
    unsigned wanted;  /* members that are TW_MEMBER_LISTED, TW_MEMBER_TOLD or either */
    size_t count;     /* items: what does not fit is left out */
    size_t text_size; /* used of texts */
    const struct tw_member_type *types; /* whose rows are added: for the library */
};

/* The members of an element of a batch, or of a packet, in the order of its line.  They are valid as long as the packet's view and the caller's `texts`. */
TW_API void tw_element_members(struct tw_members *out, const struct tw_element *element,
                               const struct tw_batch *of);
TW_API void tw_packet_members(struct tw_members *out, const struct tw_packet_view *view);

/* All types of members that elements may have, and packets of any protocol of this build: from number 0
   on, NULL at the end.  Several may have the same key. */
TW_API const struct tw_member_type *tw_element_member_type(size_t number);
TW_API const struct tw_member_type *tw_packet_member_type(size_t number);

#ifdef __cplusplus
}
#endif

#endif
