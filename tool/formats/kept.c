/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of elements that were written before. */
#include "formats/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/members.h"

/* Each is kept where its element puts it, in place of what was there.  There is more room when several times as many were
   written: a small capture needs but little. */
enum { BITS_FIRST = 8, BITS_MORE = 2, BITS_MOST = 12, TIMES = 8 };
enum { TEXT_ROOM = 102, COPY = 64 };
_Static_assert(sizeof(struct tw_element) == 32, "the bytes of an element are compared");

struct line {
    uint64_t element[3]; /* all of it but the index */
    uint8_t id;
    uint8_t size;         /* 0: none */
    char text[TEXT_ROOM]; /* behind the index */
};

struct kept_lines {
    struct line *lines;
    unsigned bits;  /* of the number of a line; 0: there are none */
    size_t written; /* lines since there is this much room */
};

static size_t place_of(const uint64_t element[3], unsigned bits)
{
    const uint64_t mixed =
        (element[0] ^ element[1] << 17 ^ element[2] >> 11) * 0x9e3779b97f4a7c15u;

    return (size_t)(mixed >> (64 - bits));
}

/* Moves what is kept to so much room; without memory all stays as it is. */
static bool make_room(struct kept_lines *kept, unsigned bits)
{
    const size_t before = kept->bits ? (size_t)1 << kept->bits : 0;
    struct line *more = malloc(sizeof *more << bits);

    kept->written = 0;
    if (!more)
        return false;
    for (size_t i = 0; i < (size_t)1 << bits; i++)
        more[i].size = 0;
    for (size_t i = 0; i < before; i++)
        if (kept->lines[i].size)
            more[place_of(kept->lines[i].element, bits)] = kept->lines[i];
    free(kept->lines);
    kept->lines = more;
    kept->bits = bits;
    return true;
}

struct kept_lines *kept_lines_new(void)
{
    struct kept_lines *made = calloc(1, sizeof *made);

    if (made && make_room(made, BITS_FIRST))
        return made;
    free(made);
    return NULL;
}

void kept_lines_free(struct kept_lines *kept)
{
    if (!kept)
        return;
    free(kept->lines);
    free(kept);
}

static size_t write_line(struct kept_lines *kept, struct line *line, char *out,
                         const struct tw_element *element, uint8_t id, const uint64_t words[3])
{
    const size_t size = tw_element_text(out, KEPT_ROOM, element, id);
    char index[TW_INDEX_ROOM];
    const size_t before = (size_t)(tw_write_index(index, element->index) - index);

    line->size = 0;
    if (size - before > sizeof line->text)
        return size;
    memcpy(line->element, words, sizeof line->element);
    line->id = id;
    line->size = (uint8_t)(size - before);
    memcpy(line->text, out + before, size - before);
    if (++kept->written > (size_t)TIMES << kept->bits && kept->bits < BITS_MOST)
        (void)make_room(kept, kept->bits + BITS_MORE);
    return size;
}

size_t kept_text(struct kept_lines *kept, char *out, const struct tw_element *element,
                 uint8_t id)
{
    struct line *line;
    uint64_t words[3];
    char *at;

    if (!kept)
        return tw_element_text(out, KEPT_ROOM, element, id);
    memcpy(words, (const char *)element + sizeof element->index, sizeof words);
    line = &kept->lines[place_of(words, kept->bits)];
    if (!line->size || line->element[0] != words[0] || line->element[1] != words[1] ||
        line->element[2] != words[2] || line->id != id)
        return write_line(kept, line, out, element, id, words);
    at = tw_write_index(out, element->index);
    memcpy(at, line->text, COPY);
    if (line->size > COPY)
        memcpy(at + COPY, line->text + COPY, TEXT_ROOM - COPY);
    return (size_t)(at - out) + line->size;
}
