/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists executed instructions.  Programs run in loops: the lines of a range are made once and kept. */
#include "formats/instructions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/disassembly.h>
#include <trackway/walk.h>

#include "base/escape.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "shared/arena.h"
#include "shared/interrupt.h"

/* What is kept may take so much; then it is forgotten and made again. */
enum { KEPT_MOST = 64 << 20, BLOCKS_MOST = 1 << 20, TEXT_ROOM = 256, NAME_ROOM = 512 };
/* Texts are copied so many characters at a time, whatever counts of them; lines are written so many at a time. */
enum { COPY = 64, LINES_AT_ONCE = 64 };

/* The part of an instruction's line that is the same each time: for CSV its members, else as text. */
struct row {
    size_t text; /* in list->text */
    uint32_t size;
    uint32_t line;    /* of the source; 0: not known */
    uint32_t padding; /* blanks before it */
    const char *file;
    const struct tw_member *members;
    size_t member_count;
};

/* A range of instructions; all that its rows depend on. */
struct block {
    uint64_t start;
    uint32_t length, count;
    uint32_t source, space, context;
    uint64_t time;
    uint8_t isa;
    uint32_t next; /* block + 1 with the same hash */
    size_t first, rows;
};

struct instructions {
    struct lines *lines;
    struct session *session;
    struct tw_walk *walk;
    const struct tw_part *part; /* whose branch targets are named */

    struct tw_disassembler **disassemblers; /* by source */
    size_t source_count;
    bool has_no_text; /* said so */

    struct block *blocks;
    size_t block_count, block_room;
    struct tw_map by_key; /* number of a block + 1 */
    struct row *rows;
    size_t row_count, row_room;
    char *text;
    size_t text_size, text_room;
    struct arena members; /* of the rows of CSV */
    size_t members_size;

    struct tw_text head;   /* of the lines of a range: the buffer's name, the index, ... */
    struct tw_text rest;   /* ... and what is the same for all of a part ... */
    uint64_t rest_number;  /* ... with this number */
    const char *file[128]; /* of the last instruction of each ID */
    uint32_t line[128];
};

static bool is_text(const struct instructions *list)
{
    return list->lines->style->wanted == TW_MEMBER_TOLD;
}

static void add_text(struct instructions *list, const char *text, size_t size)
{
    if (!TW_GROW(NULL, &list->text, &list->text_room, list->text_size + size + COPY))
        out_of_memory();
    memcpy(list->text + list->text_size, text, size);
    list->text_size += size;
}

static const char *arch_of(const struct session *session, const struct tw_source *source)
{
    return session->options->arch ? session->options->arch : source->core_type;
}

/* Symbols by the addresses that are executed, of the files of the options; NULL: none. */
static struct tw_symbols *given_symbols(const struct session *session,
                                        const struct tw_part *part, uint64_t address)
{
    uint64_t link;

    if (session->perf && !session->options->symbols.count && !session->options->images.count)
        return NULL;
    return tw_run_symbols(session->run, &link, part, address);
}

/* perf.data: where each program lies is known of the address alone. */
static bool find_target(void *context, struct tw_symbol *symbol, uint64_t address)
{
    const struct instructions *list = context;
    uint64_t link;
    const struct tw_symbols *symbols =
        tw_run_symbols(list->session->run, &link, list->part, address);

    if (!symbols || !tw_symbols_find(symbols, symbol, link))
        return false;
    symbol->address += address - link;
    return true;
}

/* NULL: there is no disassembly; said so once. */
static struct tw_disassembler *disassembler(struct instructions *list,
                                            const struct tw_part *part, uint64_t address)
{
    const struct session *session = list->session;
    const uint32_t number = part->source_number;
    struct tw_fault fault = { TW_OK, "" };
    struct tw_disassembler_config config = { .size = sizeof config };

    if (list->has_no_text || number >= list->source_count)
        return NULL;
    if (!list->disassemblers[number]) {
        config.core_type = arch_of(session, part->source);
        config.symbols = given_symbols(session, part, address);
        config.find = session->perf ? find_target : NULL;
        config.context = list;
        if (tw_disassembler_new(&list->disassemblers[number], &config, &fault) != TW_OK) {
            list->has_no_text = true;
            if (fault.status == TW_E_MEMORY)
                out_of_memory();
            if (!session->options->quiet)
                say("%s", fault.text);
        }
    }
    return list->disassemblers[number];
}

/* What is to be said of one instruction. */
struct about {
    struct tw_code_bytes code;
    size_t size;
    char text[TEXT_ROOM];
    char symbol[TEXT_ROOM]; /* "main+0x10" */
    char source[NAME_ROOM]; /* "main.c:12" */
};

static void find_symbol(struct about *about, const struct tw_symbols *symbols, uint64_t pc)
{
    struct tw_symbol symbol;

    if (symbols && tw_symbols_find(symbols, &symbol, pc))
        (void)snprintf(about->symbol, sizeof about->symbol, "%.200s+0x%" PRIx64, symbol.name,
                       pc - symbol.address);
}

static void find_line(struct about *about, struct row *row, struct tw_symbols *symbols,
                      uint64_t pc)
{
    struct tw_source_line line;

    if (!symbols || !tw_symbols_line(symbols, &line, pc))
        return;
    row->file = line.file;
    row->line = line.line;
    (void)snprintf(about->source, sizeof about->source, "%.480s:%" PRIu32, line.file,
                   line.line);
}

static void put_members(struct instructions *list, struct tw_members *out,
                        const struct tw_part *part, const struct about *about)
{
    const struct tw_code_bytes *code = &about->code;

    out->types = line_members;
    tw_put(out, LINE_PC, code->address);
    if (code->size)
        tw_put(out, LINE_OP, tw_instruction_opcode(code));
    tw_put(out, LINE_SIZE, about->size);
    tw_put_text(out, LINE_ISA, tw_isa_name(code->isa));
    if (about->text[0])
        tw_put_text(out, LINE_ASM, about->text);
    if (about->symbol[0])
        tw_put_text(out, LINE_SYM, about->symbol);
    if (about->source[0])
        tw_put_text(out, LINE_SOURCE, about->source);
    lines_put_where(out, list->session->run, part, code->address);
}

static size_t text_size(const struct tw_member *member)
{
    return member->type->kind == TW_MEMBER_TEXT ? strlen(member->text) + 1 : 0;
}

/* Copies of the members, with their texts. */
static void keep_members(struct instructions *list, struct row *row,
                         const struct tw_members *members)
{
    size_t size = members->count * sizeof members->items[0];
    struct tw_member *kept;
    char *text;

    for (size_t i = 0; i < members->count; i++)
        size += text_size(&members->items[i]);
    kept = arena_room(&list->members, size);
    if (!kept) {
        interrupt_clean();
        exit(NOT_DONE);
    }
    text = (char *)(kept + members->count);
    for (size_t i = 0; i < members->count; i++) {
        const size_t more = text_size(&members->items[i]);

        kept[i] = members->items[i];
        if (more)
            kept[i].text = memcpy(text, members->items[i].text, more);
        text += more;
    }
    row->members = kept;
    row->member_count = members->count;
    list->members_size += size;
}

/* The members of an object behind those that stand at its beginning. */
static void add_json(struct instructions *list, const struct tw_members *members)
{
    char *at;

    if (!TW_GROW(NULL, &list->text, &list->text_room,
                 list->text_size + tw_members_most(members)))
        out_of_memory();
    at = list->text + list->text_size;
    list->text_size = (size_t)(tw_members_json(at, members) - list->text);
    at[0] = ',';
}

/* A name in a column of at least `width` characters. */
static void add_column(struct instructions *list, const char *name, size_t width)
{
    char shown[TW_ESCAPE_TEXT_MOST * TEXT_ROOM];
    size_t size = tw_escape_text(shown, name, strlen(name));

    add_text(list, shown, size);
    for (; size < width; size++)
        add_text(list, " ", 1);
}

/* Columns; the source line is put behind them only when it changes.  Returns the blanks before it. */
static uint32_t add_columns(struct instructions *list, const struct about *about)
{
    enum { ADDRESS_WIDTH = 15 };
    const struct tw_code_bytes *code = &about->code;
    const bool has_more = about->symbol[0] || about->source[0];
    const size_t start = list->text_size;
    char address[24], opcode[16] = "?";
    uint32_t padding = 0;

    if (code->size)
        (void)snprintf(opcode, sizeof opcode, "%0*" PRIx32, (int)(2 * about->size),
                       tw_instruction_opcode(code));
    add_text(list, address, (size_t)(tw_write_hex(address, code->address) - address));
    do
        add_text(list, " ", 1);
    while (list->text_size - start < ADDRESS_WIDTH);
    add_column(list, opcode, 8);
    add_text(list, " ", 1);
    add_column(list, about->text, has_more ? 32 : 0);
    add_text(list, " ", has_more);
    add_column(list, about->symbol, about->source[0] ? 20 : 0);
    while (list->text[list->text_size - 1 - padding] == ' ')
        padding++;
    list->text_size -= padding;
    return padding;
}

static void add_row(struct instructions *list, const struct tw_part *part, struct about *about)
{
    struct tw_run *run = list->session->run;
    const struct tw_code_bytes *code = &about->code;
    struct tw_disassembler *with = code->size ? disassembler(list, part, code->address) : NULL;
    struct row row = { .text = list->text_size };
    struct tw_members_here here;
    struct tw_members *members = tw_members_start(&here, TW_MEMBER_LISTED);
    struct tw_symbols *symbols;
    uint64_t pc;

    list->part = part;
    if (with)
        (void)tw_disassemble(with, about->text, sizeof about->text, code);
    if (!tw_run_keeps(run, part, code->address, code->address + about->size))
        return;
    symbols = tw_run_symbols(run, &pc, part, code->address);
    find_symbol(about, symbols, pc);
    find_line(about, &row, symbols, pc);
    if (is_text(list)) {
        row.padding = add_columns(list, about);
    } else {
        put_members(list, members, part, about);
        if (list->lines->columns)
            keep_members(list, &row, members);
        else
            add_json(list, members);
    }
    row.size = (uint32_t)(list->text_size - row.text);
    if (!TW_GROW(NULL, &list->rows, &list->row_room, list->row_count + 1))
        out_of_memory();
    list->rows[list->row_count++] = row;
}

static void add_rows(struct instructions *list, struct block *block, const struct tw_part *part,
                     const struct tw_element *range)
{
    struct about about;

    block->first = list->row_count;
    tw_walk_start(list->walk, part, range);
    while (tw_walk_next(list->walk, &about.code, &about.size)) {
        about.text[0] = about.symbol[0] = about.source[0] = 0;
        add_row(list, part, &about);
    }
    block->rows = list->row_count - block->first;
}

static void forget(struct instructions *list)
{
    list->block_count = list->row_count = list->text_size = list->members_size = 0;
    arena_free(&list->members);
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

static const struct block *find_block(struct instructions *list, const struct tw_part *part,
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
    uint64_t *first;

    if (list->text_size + list->members_size > KEPT_MOST || list->block_count == BLOCKS_MOST)
        forget(list);
    first = tw_map_put(&list->by_key, hash_of(&key));
    if (!first)
        out_of_memory();
    for (uint64_t at = *first; at; at = list->blocks[at - 1].next)
        if (is_same(&list->blocks[at - 1], &key))
            return &list->blocks[at - 1];
    key.next = (uint32_t)*first;
    add_rows(list, &key, part, range);
    if (!TW_GROW(NULL, &list->blocks, &list->block_room, list->block_count + 1))
        out_of_memory();
    list->blocks[list->block_count++] = key;
    *first = list->block_count;
    return &list->blocks[list->block_count - 1];
}

static void put_source(const struct instructions *list, const struct row *row)
{
    output_format(list->lines->out, "%*s  %s:%" PRIu32, (int)row->padding, "", row->file,
                  row->line);
}

/* What stands behind the index in all lines of a part, for people: "0x10 INSTR          ", and of perf.data who. */
static void make_rest(struct instructions *list, const struct tw_part *part)
{
    static const char blanks[COPY] = { 0 };
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
}

static char *copy(char *out, const char *text, size_t size)
{
    memcpy(out, text, COPY);
    if (TW_UNLIKELY(size > COPY))
        memcpy(out + COPY, text + COPY, size - COPY);
    return out + size;
}

/* "0x123     " and what stands behind that. */
static void make_head(struct instructions *list, const struct tw_part *part,
                      const struct tw_element *range)
{
    static const char blanks[] = "          ";
    enum { COLUMN = sizeof blanks - 1 };
    char *index, *at;

    if (list->rest_number != list->lines->part_number)
        make_rest(list, part);
    index = list->head.chars + list->lines->prefix_size;
    at = tw_write_hex(index, range->index);
    memcpy(at, blanks, COLUMN);
    at = at < index + COLUMN ? index + COLUMN : at + 1;
    list->head.size = (size_t)(copy(at, list->rest.chars, list->rest.size) - list->head.chars);
}

static void list_lines(struct instructions *list, const struct row *row, const struct row *end,
                       uint8_t id)
{
    struct output *out = list->lines->out;
    const size_t room = (size_t)(end - row) * (list->head.size + 1) + end[-1].text +
                        end[-1].size - row->text + 2 * (size_t)COPY;
    char *line = output_room(out, room), *at = line;

    for (; row < end; row++) {
        at = copy(at, list->head.chars, list->head.size);
        at = copy(at, list->text + row->text, row->size);
        if (row->line && (row->line != list->line[id] || row->file != list->file[id])) {
            output_took(out, (size_t)(at - line));
            put_source(list, row);
            at = line = output_room(out, room);
        }
        list->file[id] = row->file;
        list->line[id] = row->line;
        *at++ = '\n';
    }
    output_took(out, (size_t)(at - line));
}

static void list_text(struct instructions *list, const struct tw_part *part,
                      const struct block *block, const struct tw_element *range)
{
    make_head(list, part, range);
    for (size_t i = 0; i < block->rows; i += LINES_AT_ONCE) {
        const struct row *row = &list->rows[block->first + i];
        const size_t left = block->rows - i;

        list_lines(list, row, row + (left < LINES_AT_ONCE ? left : LINES_AT_ONCE),
                   part->batch.id & 0x7f);
    }
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
        const struct row *row = &list->rows[block->first + i];
        char *line = output_room(list->lines->out, most + row->size + 1), *end;

        end = tw_members_json(line, head) - 1; /* without the brace */
        memcpy(end, list->text + row->text, row->size);
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
        const struct row *row = &list->rows[block->first + i];

        head->count = count;
        for (size_t k = 0; k < row->member_count && head->count + 1 < head->room; k++)
            head->items[head->count++] = row->members[k];
        columns_row(list->lines->columns, list->lines->out, head);
    }
}

static void list_range(struct instructions *list, const struct tw_part *part,
                       const struct tw_element *range)
{
    const struct block *block = find_block(list, part, range);

    if (is_text(list))
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

void instructions_element(struct instructions *list, const struct tw_part *part, size_t at)
{
    if (part->batch.elements[at].type == TW_ELEMENT_REPEAT)
        list_repeat(list, part, at);
    else
        list_element(list, part, &part->batch.elements[at]);
}

struct instructions *instructions_new(struct lines *lines, struct session *session)
{
    struct instructions *made = calloc(1, sizeof *made);
    const size_t count = tw_capture_source_count(session->capture);

    if (made)
        made->disassemblers = calloc(count + 1, sizeof(struct tw_disassembler *));
    if (!made || !made->disassemblers || tw_walk_new(&made->walk, NULL, NULL) != TW_OK) {
        say("out of memory");
        instructions_free(made);
        return NULL;
    }
    made->source_count = count;
    made->lines = lines;
    made->session = session;
    return made;
}

void instructions_free(struct instructions *list)
{
    if (!list)
        return;
    for (size_t i = 0; list->disassemblers && i < list->source_count; i++)
        tw_disassembler_free(list->disassemblers[i]);
    free(list->disassemblers);
    tw_walk_free(list->walk);
    tw_text_free(&list->head);
    tw_text_free(&list->rest);
    tw_map_free(&list->by_key);
    arena_free(&list->members);
    free(list->blocks);
    free(list->rows);
    free(list->text);
    free(list);
}
