/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists executed instructions.  Programs run in loops: the lines of a range are made once and kept; for people, who get the most
   of them, as they were written last, so that only the index is put in. */
#include "formats/instructions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/walk.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "formats/rows.h"

/* What is kept may take so much; then it is forgotten and made again. */
enum { KEPT_MOST = 64 << 20, BLOCKS_MOST = 1 << 20 };
enum { LINES_AT_ONCE = 64 }; /* that are written */
/* The index is put into lines that are ready by one copy of so many characters: with what is behind it, which is the same. */
enum { STAMP = 16 };

/* How a range is listed: by whom it was executed, and what its lines begin with, but for the digits of the index. */
enum { MANNER_WIDTH_BITS = 8 }; /* the number of a head, then the width of the index */
#define MANNER_NONE  UINT64_C(0)
#define MANNER_UNSET UINT64_MAX /* the part at work has none yet */

/* A range of instructions; all that its rows depend on. */
struct block {
    uint64_t start;
    uint32_t length, count;
    uint64_t ready_manner; /* of its lines in list->ready; MANNER_NONE: it has none there */
    size_t ready; /* where a line begins as a uint32_t, for `ready_lines`, then text ... */
    uint32_t ready_size;  /* ... of so many bytes */
    uint32_t ready_lines; /* an even number: the last one may stand there twice */
    uint32_t after;       /* the block that came behind this one last time; 0: none yet */
    uint8_t isa;
    bool has_lines; /* of the source: which ones are shown depends on what came before */
    uint32_t source, space, context;
    uint64_t time;
    uint64_t manner; /* when it was listed last */
    uint32_t next;   /* the block with the same hash; 0: none */
    size_t first, rows;
};

/* What the lines of a source had in common when they were last made, who executed then, and the number of both. */
struct head {
    struct tw_text text;
    uint32_t space, context;
    uint64_t time;
    uint64_t number;
};

/* Of the source: what the last instruction had. */
struct shown {
    const char *file;
    uint32_t line;
};

struct instructions {
    struct lines *lines;
    struct session *session;
    struct tw_walk *walk;
    struct rows rows;

    struct block *blocks; /* from 1 on; that of 0 is like no range */
    size_t block_count, block_room;
    struct tw_map by_key; /* number of a block */
    uint32_t last;        /* that was listed last; 0: none */
    char *ready;
    size_t ready_size, ready_room;

    struct tw_text head;       /* of the lines of a range: the buffer's name, the index, ... */
    struct tw_text rest;       /* ... and what is the same for all of a part ... */
    uint64_t rest_number;      /* ... with this number */
    struct head *heads;        /* by source */
    uint64_t head_number;      /* of the one at work ... */
    uint64_t head_count;       /* ... and of the last that was new */
    char index[TW_INDEX_ROOM]; /* of the last range, then what is behind it in a line ... */
    size_t index_size;         /* ... of so many digits, with "0x"; 0: there was none ... */
    size_t width;              /* ... of so many characters ... */
    uint64_t index_of;         /* ... and as a number: ranges of one packet have the same */
    uint64_t manner;           /* of the part at work, with that index */
    struct shown shown[128];
    struct shown *shown_here; /* of the ID at work */
};

static void add_rows(struct instructions *list, struct block *block, const struct tw_part *part,
                     const struct tw_element *range)
{
    struct rows *rows = &list->rows;
    struct tw_code_bytes code;
    size_t size;

    block->first = rows->count;
    tw_walk_start(list->walk, part, range);
    while (tw_walk_next(list->walk, &code, &size))
        rows_add(rows, part, &code, size);
    block->rows = rows->count - block->first;
    for (size_t i = 0; i < block->rows; i++)
        block->has_lines |= rows->items[block->first + i].line != 0;
}

static void forget(struct instructions *list)
{
    rows_forget(&list->rows);
    list->block_count = 1;
    list->ready_size = 0;
    list->last = list->blocks[0].after = 0;
    tw_map_clear(&list->by_key);
}

static uint64_t hash_of(const struct block *key)
{
    return tw_hash64(key->start ^ (uint64_t)key->length << 40 ^ (uint64_t)key->source << 56 ^
                     (uint64_t)key->space << 48 ^ (uint64_t)key->context << 32 ^
                     tw_hash64(key->time));
}

static bool is_same(const struct block *a, const struct block *b)
{
    return a->start == b->start && a->length == b->length && a->count == b->count &&
           a->source == b->source && a->space == b->space && a->context == b->context &&
           a->time == b->time && a->isa == b->isa;
}

/* The block that is like the key, made if there is none. */
static uint32_t look_up(struct instructions *list, struct block *key,
                        const struct tw_part *part, const struct tw_element *range)
{
    uint64_t *first = tw_map_put(&list->by_key, hash_of(key));

    if (!first)
        out_of_memory();
    for (uint64_t at = *first; at; at = list->blocks[at].next)
        if (is_same(&list->blocks[at], key))
            return (uint32_t)at;
    key->next = (uint32_t)*first;
    add_rows(list, key, part, range);
    if (!TW_GROW(NULL, &list->blocks, &list->block_room, list->block_count + 1))
        out_of_memory();
    list->blocks[list->block_count] = *key;
    *first = list->block_count;
    return (uint32_t)list->block_count++;
}

/* Mostly the block that came last time behind the one that was listed last. */
static struct block *find_block(struct instructions *list, const struct tw_part *part,
                                const struct tw_element *range)
{
    struct block key = { .start = range->start,
                         .length = range->length,
                         .count = range->count,
                         .source = part->source_number,
                         .space = part->who.view.space,
                         .context = part->who.view.context,
                         .time = part->who.view.time,
                         .isa = range->isa };
    uint32_t found;

    if (rows_size(&list->rows) + list->ready_size > KEPT_MOST ||
        list->block_count == BLOCKS_MOST)
        forget(list);
    found = list->blocks[list->last].after;
    if (!found || !is_same(&list->blocks[found], &key)) {
        found = look_up(list, &key, part, range);
        list->blocks[list->last].after = found;
    }
    list->last = found;
    return &list->blocks[found];
}

static void put_source(const struct instructions *list, const struct row *row)
{
    output_format(list->lines->out, "%*s  %s:%" PRIu32, (int)row->padding, "", row->file,
                  row->line);
}

/* What the lines of a part have in common has the number of the last part of the source, if it is the same. */
static void number_head(struct instructions *list, const struct tw_part *part)
{
    const struct tw_view *view = &part->who.view;
    const size_t source = part->source_number;
    struct head *last =
        &list->heads[source < list->rows.source_count ? source : list->rows.source_count];

    if (!last->number || last->space != view->space || last->context != view->context ||
        last->time != view->time || last->text.size != list->head.size ||
        memcmp(last->text.chars, list->head.chars, list->head.size) != 0) {
        last->text.size = 0;
        tw_text_add_size(&last->text, list->head.chars, list->head.size);
        if (last->text.failed)
            out_of_memory();
        last->space = view->space;
        last->context = view->context;
        last->time = view->time;
        last->number = ++list->head_count;
    }
    list->head_number = last->number;
}

/* What stands behind the index in all lines of a part, for people: "0x10 INSTR          ", and of perf.data who. */
static void make_rest(struct instructions *list, const struct tw_part *part)
{
    static const char blanks[ROWS_COPY] = { 0 };
    struct tw_text *rest = &list->rest;

    rest->size = 0;
    tw_text_hex(rest, part->batch.id & 0x7f);
    tw_text_add(rest, " INSTR          ");
    if (list->session->perf && part->who.cpu != TW_NONE) {
        tw_text_escaped(rest, lines_told_who(list->lines, part));
        tw_text_add(rest, "  ");
    }
    tw_text_add_size(rest, blanks, sizeof blanks);
    list->head.size = 0;
    tw_text_add_size(&list->head, list->lines->prefix, list->lines->prefix_size);
    tw_text_add_size(&list->head, blanks, sizeof blanks);
    tw_text_add_size(&list->head, rest->chars, rest->size);
    if (rest->failed || list->head.failed)
        out_of_memory();
    rest->size -= sizeof blanks;
    list->rest_number = list->lines->part_number;
    number_head(list, part);
}

static char *copy(char *out, const char *text, size_t size)
{
    memcpy(out, text, ROWS_COPY);
    if (TW_UNLIKELY(size > ROWS_COPY))
        memcpy(out + ROWS_COPY, text + ROWS_COPY, size - ROWS_COPY);
    return out + size;
}

/* What is behind the index, and the manner that comes of it. */
static void set_manner(struct instructions *list)
{
    memcpy(list->index + list->width, list->rest.chars, STAMP - TW_INDEX_WIDTH);
    list->manner = list->head_number << MANNER_WIDTH_BITS | list->width;
}

/* "0x123     ", with a blank behind it. */
static void write_index(struct instructions *list, uint64_t index)
{
    list->width = (size_t)(tw_write_index(list->index, index) - list->index);
    list->index_size = (size_t)((char *)memchr(list->index, ' ', list->width) - list->index);
    list->index_of = index;
}

/* The same where the manner is set.  Mostly only the last two digits are others. */
static inline void change_index(struct instructions *list, uint64_t index)
{
    static const char digits[] = "0123456789abcdef";

    if (TW_LIKELY((index ^ list->index_of) < 256 && index >= 256)) {
        char *last = list->index + list->index_size - 2;

        last[0] = digits[index >> 4 & 15];
        last[1] = digits[index & 15];
        list->index_of = index;
    } else {
        write_index(list, index);
        set_manner(list);
    }
}

static void list_lines(struct instructions *list, const struct row *row, const struct row *end)
{
    struct output *out = list->lines->out;
    struct shown *shown = list->shown_here;
    const size_t room = (size_t)(end - row) * (list->head.size + 1) + end[-1].text +
                        end[-1].size - row->text + 2 * (size_t)ROWS_COPY;
    char *line = output_room(out, room), *at = line;

    for (; row < end; row++) {
        at = copy(at, list->head.chars, list->head.size);
        at = copy(at, list->rows.text + row->text, row->size);
        if (row->line && (row->line != shown->line || row->file != shown->file)) {
            output_took(out, (size_t)(at - line));
            put_source(list, row);
            at = line = output_room(out, room);
        }
        shown->file = row->file;
        shown->line = row->line;
        *at++ = '\n';
    }
    output_took(out, (size_t)(at - line));
}

/* Keeps the lines of a block as they are listed now. */
static void make_ready(struct instructions *list, struct block *block)
{
    const struct row *const rows = &list->rows.items[block->first];
    const uint32_t lines = (uint32_t)(block->rows + (block->rows & 1));
    const size_t before = lines * sizeof(uint32_t);
    size_t size = block->rows * (list->head.size + 1);
    char *starts, *text;
    uint32_t at = 0;

    for (size_t i = 0; i < block->rows; i++)
        size += rows[i].size;
    if (block->ready_size != size) { /* else in the same place */
        if (!TW_GROW(NULL, &list->ready, &list->ready_room,
                     list->ready_size + before + size + ROWS_COPY))
            out_of_memory();
        block->ready = list->ready_size;
        block->ready_size = (uint32_t)size;
        block->ready_lines = lines;
        list->ready_size += before + size;
    }
    starts = list->ready + block->ready;
    text = starts + before;
    for (size_t i = 0; i < block->rows; i++) {
        memcpy(starts + i * sizeof at, &at, sizeof at);
        memcpy(starts + before - sizeof at, &at, sizeof at);
        memcpy(text + at, list->head.chars, list->head.size);
        at += (uint32_t)list->head.size;
        memcpy(text + at, list->rows.text + rows[i].text, rows[i].size);
        at += rows[i].size;
        text[at++] = '\n';
    }
    block->ready_manner = list->manner;
}

/* The lines that are kept, with another index. */
static inline void list_ready(struct instructions *list, const struct block *block)
{
    const char *start = list->ready + block->ready;
    const char *const text = start + block->ready_lines * sizeof(uint32_t);
    const size_t size = block->ready_size;
    char *at = output_room(list->lines->out, size + ROWS_COPY);
    char stamp[STAMP];

    for (size_t i = 0; i < size; i += ROWS_COPY)
        memcpy(at + i, text + i, ROWS_COPY);
    at += list->lines->prefix_size;
    memcpy(stamp, list->index, STAMP);
    for (; start < text; start += 2 * sizeof(uint32_t)) {
        uint32_t two[2];

        memcpy(two, start, sizeof two);
        memcpy(at + two[0], stamp, STAMP);
        memcpy(at + two[1], stamp, STAMP);
    }
    output_took(list->lines->out, size);
    *list->shown_here = (struct shown){ NULL, 0 };
}

/* A range whose lines are ready: mostly the one that came last time behind that which was listed last. */
static inline bool list_again(struct instructions *list, const struct tw_element *range)
{
    const uint32_t found = list->blocks[list->last].after;
    const struct block *block = &list->blocks[found];

    if (list->index_of != range->index) {
        if (list->manner == MANNER_UNSET)
            return false;
        change_index(list, range->index);
    }
    if (block->ready_manner != list->manner || block->start != range->start ||
        block->length != range->length || block->count != range->count ||
        block->isa != range->isa)
        return false;
    list->last = found;
    list_ready(list, block);
    return true;
}

static void list_text(struct instructions *list, const struct tw_part *part,
                      struct block *block, const struct tw_element *range)
{
    char *at;

    if (list->rest_number != list->lines->part_number)
        make_rest(list, part);
    if (list->index_of != range->index || !list->index_size)
        write_index(list, range->index);
    set_manner(list);
    if (block->ready_manner == list->manner) {
        list_ready(list, block);
        return;
    }
    at = list->head.chars + list->lines->prefix_size;
    memcpy(at, list->index, sizeof list->index);
    at += list->width;
    list->head.size = (size_t)(copy(at, list->rest.chars, list->rest.size) - list->head.chars);
    for (size_t i = 0; i < block->rows; i += LINES_AT_ONCE) {
        const struct row *row = &list->rows.items[block->first + i];
        const size_t left = block->rows - i;

        list_lines(list, row, row + (left < LINES_AT_ONCE ? left : LINES_AT_ONCE));
    }
    block->ready_manner = MANNER_NONE;
    if (block->manner == list->manner && !block->has_lines && block->rows &&
        list->width <= STAMP)
        make_ready(list, block);
    block->manner = list->manner;
}

/* What stands before each instruction of a range. */
static struct tw_members *head_members(struct instructions *list, const struct tw_part *part,
                                       const struct tw_element *range)
{
    struct tw_members *head = tw_members_start(&list->lines->members, TW_MEMBER_LISTED);

    head->types = line_members;
    tw_put(head, LINE_I, range->index);
    tw_put(head, LINE_ID, part->batch.id & 0x7f);
    if (part->batch.src != TW_NO_SRC)
        tw_put(head, LINE_SRCID, part->batch.src); /* "src" is the source line */
    tw_put_text(head, LINE_T, "INSTR");
    if (list->lines->buffer)
        tw_put_text(head, LINE_BUF, list->lines->buffer);
    if (list->session->perf)
        lines_put_who(list->lines, head, part);
    return head;
}

static void list_json(struct instructions *list, const struct tw_members *head,
                      const struct block *block)
{
    const size_t most = tw_members_most(head);

    for (size_t i = 0; i < block->rows; i++) {
        const struct row *row = &list->rows.items[block->first + i];
        char *line = output_room(list->lines->out, most + row->size + 1), *end;

        end = tw_members_json(line, head) - 1; /* without the brace */
        memcpy(end, list->rows.text + row->text, row->size);
        end += row->size;
        *end++ = '\n';
        output_took(list->lines->out, (size_t)(end - line));
    }
}

static void list_csv(struct instructions *list, struct tw_members *head,
                     const struct block *block)
{
    const size_t count = head->count;

    for (size_t i = 0; i < block->rows; i++) {
        const struct row *row = &list->rows.items[block->first + i];

        head->count = count;
        for (size_t k = 0; k < row->member_count && head->count + 1 < head->room; k++)
            head->items[head->count++] = row->members[k];
        columns_row(list->lines->columns, list->lines->out, head);
    }
}

static void list_range(struct instructions *list, const struct tw_part *part,
                       const struct tw_element *range)
{
    struct block *block = find_block(list, part, range);

    if (rows_are_text(&list->rows))
        list_text(list, part, block, range);
    else if (list->lines->columns)
        list_csv(list, head_members(list, part, range), block);
    else
        list_json(list, head_members(list, part, range), block);
}

static void list_element(struct instructions *list, const struct tw_part *part,
                         const struct tw_element *element)
{
    if (element->type == TW_ELEMENT_INSTR_RANGE)
        list_range(list, part, element);
    else if (!session_is_filtered(list->session))
        list->lines->style->element(list->lines, element, &part->batch);
}

/* The instructions again; a REPEAT of what is left out. */
static void list_repeat(struct instructions *list, const struct tw_part *part, size_t at)
{
    const struct repeat repeat = repeats_of(&list->session->repeats, &part->batch, at);
    struct tw_element rest = part->batch.elements[at];

    for (uint64_t i = 0; i < repeat.times && !output_is_over(list->lines->out); i++)
        for (size_t j = 0; j < repeat.count; j++)
            list_element(list, part, &part->batch.elements[repeat.first + j]);
    rest.times = repeat.omitted;
    if (rest.times)
        list_element(list, part, &rest);
}

void instructions_part(struct instructions *list, const struct tw_part *part, bool lists_errors)
{
    list->manner = MANNER_UNSET;
    list->shown_here = &list->shown[part->batch.id & 0x7f];
    for (size_t i = 0; i < part->batch.count; i++) {
        const struct tw_element *element = &part->batch.elements[i];

        if (element->type == TW_ELEMENT_INSTR_RANGE) {
            if (!list_again(list, element))
                list_range(list, part, element);
        } else if (element->type == TW_ELEMENT_REPEAT) {
            list_repeat(list, part, i);
        } else if (element->type != TW_ELEMENT_ERROR || lists_errors) {
            list_element(list, part, element);
        }
    }
}

struct instructions *instructions_new(struct lines *lines, struct session *session)
{
    struct instructions *made = calloc(1, sizeof *made);

    if (made && rows_start(&made->rows, lines, session))
        made->heads = calloc(made->rows.source_count + 1, sizeof *made->heads);
    if (!made || !made->heads || !TW_GROW(NULL, &made->blocks, &made->block_room, 1) ||
        tw_walk_new(&made->walk, NULL, NULL) != TW_OK) {
        say("out of memory");
        instructions_free(made);
        return NULL;
    }
    made->blocks[0] = (struct block){ .after = 0 };
    made->block_count = 1;
    made->lines = lines;
    made->session = session;
    return made;
}

void instructions_free(struct instructions *list)
{
    if (!list)
        return;
    for (size_t i = 0; list->heads && i <= list->rows.source_count; i++)
        tw_text_free(&list->heads[i].text);
    free(list->heads);
    rows_end(&list->rows);
    tw_walk_free(list->walk);
    tw_text_free(&list->head);
    tw_text_free(&list->rest);
    tw_map_free(&list->by_key);
    free(list->blocks);
    free(list->ready);
    free(list);
}
