/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists executed instructions.  Programs run in loops: the lines of a range are made once and kept. */
#include "formats/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "formats/code.h"
#include "shared/rollback.h"

/* What is kept may take so much; then it is forgotten and made again. */
enum { TEXT_MOST = 64 << 20, BLOCKS_MOST = 1 << 20, HEAD_ROOM = 1400 };

/* The part of an instruction's line that is the same each time. */
struct row {
    size_t text; /* in listing->text */
    uint32_t size;
    uint32_t line;    /* of the source; 0: not known */
    uint32_t padding; /* blanks before it */
    const char *file;
};

/* A range of instructions; all that its rows depend on. */
struct block {
    uint64_t start;
    uint32_t length, count;
    uint32_t source, space, context;
    uint64_t time;
    uint8_t isa;
    size_t first, rows;
};

struct listing {
    struct lines *lines;
    const struct names *names;
    const struct session *session;
    struct code code;
    struct rollback rollback;

    struct tw_disassembler **disassemblers; /* by source */
    size_t source_count;
    bool has_no_text; /* said so */

    struct block *blocks;
    size_t block_count, block_room;
    uint32_t *slots; /* number of a block + 1, 0: free */
    size_t slot_count;
    struct row *rows;
    size_t row_count, row_room;
    char *text;
    size_t text_size, text_room;

    const char *file[128]; /* of the last instruction of each ID */
    uint32_t line[128];
};

static void out_of_memory(void)
{
    say("out of memory");
    exit(NOT_DONE);
}

static void *grow(void *items, size_t *room, size_t count, size_t size)
{
    void *bigger;

    if (count <= *room)
        return items;
    *room = count > 2 * *room ? count : 2 * *room;
    bigger = realloc(items, *room * size);
    if (!bigger)
        out_of_memory();
    return bigger;
}

static void add_text(struct listing *listing, const char *text, size_t size)
{
    listing->text = grow(listing->text, &listing->text_room, listing->text_size + size + 1, 1);
    memcpy(listing->text + listing->text_size, text, size);
    listing->text_size += size;
}

static void add_format(struct listing *listing, const char *format, ...) PRINTF_LIKE(2, 3);

static void add_format(struct listing *listing, const char *format, ...)
{
    enum { LONGEST = 1024 };
    char text[LONGEST];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    add_text(listing, text, size < LONGEST ? (size_t)size : LONGEST - 1);
}

/* A JSON string with its quotes; of about->source at most. */
static void add_quoted(struct listing *listing, const char *text)
{
    char shown[TW_ESCAPE_JSON_MOST * 512];

    add_text(listing, "\"", 1);
    add_text(listing, shown, tw_escape_json(shown, text, strlen(text)));
    add_text(listing, "\"", 1);
}

static const char *arch_of(const struct session *session, const struct tw_source *source)
{
    return session->options->arch ? session->options->arch : source->core_type;
}

/* NULL: there is no disassembly; said so once. */
static struct tw_disassembler *disassembler(struct listing *listing, uint8_t id)
{
    const struct session *session = listing->session;
    const uint32_t number = session->source_of[id & 0x7f];
    struct tw_fault fault = { TW_OK, "" };
    struct tw_disassembler_config config = { .size = sizeof config };

    if (listing->has_no_text || number >= listing->source_count)
        return NULL;
    if (!listing->disassemblers[number]) {
        config.core_type = arch_of(session, tw_capture_source(session->capture, number));
        config.symbols = names_of(listing->names, id);
        if (tw_disassembler_new(&listing->disassemblers[number], &config, &fault) != TW_OK) {
            listing->has_no_text = true;
            if (!session->options->quiet)
                say("%s", fault.text);
        }
    }
    return listing->disassemblers[number];
}

/* What is to be said of one instruction. */
struct about {
    const struct walk *walk;
    char text[256];
    char symbol[256];  /* "main+0x10" */
    char source[512];  /* "main.c:12" */
    const char *where; /* perf.data: the file, as attribution_where has it */
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

static void add_json(struct listing *listing, const struct about *about)
{
    const struct walk *walk = about->walk;

    add_format(listing, ",\"pc\":\"0x%" PRIx64 "\"", walk->at.address);
    if (walk->at.size)
        add_format(listing, ",\"op\":\"0x%" PRIx32 "\"", tw_instruction_opcode(&walk->at));
    add_format(listing, ",\"size\":%zu", walk->size);
    if (about->text[0]) {
        add_format(listing, ",\"asm\":");
        add_quoted(listing, about->text);
    }
    if (about->symbol[0]) {
        add_format(listing, ",\"sym\":");
        add_quoted(listing, about->symbol);
    }
    if (about->source[0]) {
        add_format(listing, ",\"src\":");
        add_quoted(listing, about->source);
    }
    add_text(listing, about->where, strlen(about->where));
    add_format(listing, "}");
}

/* Columns; the source line is put behind them only when it changes.  Returns the blanks before it. */
static uint32_t add_columns(struct listing *listing, const struct about *about)
{
    const struct walk *walk = about->walk;
    char opcode[16] = "?";
    uint32_t padding = 0;
    const bool has_more = about->symbol[0] || about->source[0];

    if (walk->at.size)
        (void)snprintf(opcode, sizeof opcode, "%0*" PRIx32, (int)(2 * walk->size),
                       tw_instruction_opcode(&walk->at));
    add_format(listing, "0x%-12" PRIx64 " %-8s ", walk->at.address, opcode);
    add_format(listing, has_more ? "%-32s " : "%s", about->text);
    add_format(listing, about->source[0] ? "%-20s" : "%s", about->symbol);
    while (listing->text[listing->text_size - 1 - padding] == ' ')
        padding++;
    listing->text_size -= padding;
    return padding;
}

static void add_row(struct listing *listing, const struct walk *walk, uint8_t id)
{
    struct tw_symbols *symbols = names_of(listing->names, id);
    struct tw_disassembler *with = walk->at.size ? disassembler(listing, id) : NULL;
    struct about about = { .walk = walk };
    struct row row = { .text = listing->text_size };
    const struct tw_perf_map *map =
        attribution_map(&listing->code.attribution, id, walk->at.address);
    uint64_t pc = walk->at.address;

    if (with)
        (void)tw_disassemble(with, about.text, sizeof about.text, &walk->at);
    if (!names_keep(listing->names, id, walk->at.address, walk->at.address + walk->size))
        return;
    about.where = attribution_where(&listing->code.attribution, id, pc,
                                    listing->lines->format != LINES_TEXT);
    if ((!symbols || !tw_symbols_count(symbols)) && map &&
        tw_perf_link(listing->session->perf, &pc, map, pc))
        symbols = names_of_file(listing->names, map->file);
    find_symbol(&about, symbols, pc);
    find_line(&about, &row, symbols, pc);
    if (listing->lines->format == LINES_TEXT)
        row.padding = add_columns(listing, &about);
    else
        add_json(listing, &about);
    row.size = (uint32_t)(listing->text_size - row.text);
    listing->rows = grow(listing->rows, &listing->row_room, listing->row_count + 1, sizeof row);
    listing->rows[listing->row_count++] = row;
}

static void add_rows(struct listing *listing, struct block *block,
                     const struct tw_element *range, uint8_t id)
{
    struct walk walk;

    block->first = listing->row_count;
    walk_start(&walk, &listing->code, range, id);
    while (walk_next(&walk))
        add_row(listing, &walk, id);
    block->rows = listing->row_count - block->first;
}

static void forget(struct listing *listing)
{
    listing->block_count = listing->row_count = listing->text_size = 0;
    if (listing->slots)
        memset(listing->slots, 0, listing->slot_count * sizeof *listing->slots);
}

static size_t slot_of(const struct listing *listing, const struct block *key)
{
    uint64_t hash = key->start ^ (uint64_t)key->length << 40 ^ (uint64_t)key->source << 56 ^
                    (uint64_t)key->space << 48 ^ (uint64_t)key->context << 32 ^ key->time;

    hash = (hash ^ hash >> 29) * 0x9e3779b97f4a7c15u;
    return (size_t)(hash >> 32) & (listing->slot_count - 1);
}

static bool is_same(const struct block *a, const struct block *b)
{
    return a->start == b->start && a->length == b->length && a->count == b->count &&
           a->source == b->source && a->space == b->space && a->context == b->context &&
           a->time == b->time && a->isa == b->isa;
}

/* At most half of the slots are used. */
static void grow_slots(struct listing *listing)
{
    size_t old = listing->slot_count;

    if (2 * (listing->block_count + 1) <= old)
        return;
    listing->slot_count = old ? 2 * old : 1024;
    free(listing->slots);
    listing->slots = calloc(listing->slot_count, sizeof *listing->slots);
    if (!listing->slots)
        out_of_memory();
    for (size_t i = 0; i < listing->block_count; i++) {
        size_t slot = slot_of(listing, &listing->blocks[i]);

        while (listing->slots[slot])
            slot = (slot + 1) & (listing->slot_count - 1);
        listing->slots[slot] = (uint32_t)i + 1;
    }
}

static const struct block *find_block(struct listing *listing, const struct tw_element *range,
                                      uint8_t id)
{
    struct block key = { .start = range->start,
                         .length = range->length,
                         .count = range->count,
                         .source = listing->session->source_of[id],
                         .space = listing->code.views[id].space,
                         .context = listing->code.views[id].context,
                         .time = listing->code.views[id].time,
                         .isa = range->isa };
    size_t slot;

    if (listing->text_size > TEXT_MOST || listing->block_count == BLOCKS_MOST)
        forget(listing);
    grow_slots(listing);
    for (slot = slot_of(listing, &key); listing->slots[slot];
         slot = (slot + 1) & (listing->slot_count - 1)) {
        const struct block *block = &listing->blocks[listing->slots[slot] - 1];

        if (is_same(block, &key))
            return block;
    }
    add_rows(listing, &key, range, id);
    listing->blocks = grow(listing->blocks, &listing->block_room, listing->block_count + 1,
                           sizeof *listing->blocks);
    listing->blocks[listing->block_count++] = key;
    listing->slots[slot] = (uint32_t)listing->block_count;
    return &listing->blocks[listing->block_count - 1];
}

static void put_source(struct listing *listing, const struct row *row, uint8_t id)
{
    if (row->line && (row->line != listing->line[id] || row->file != listing->file[id]))
        output_format(listing->lines->out, "%*s  %s:%" PRIu32, (int)row->padding, "", row->file,
                      row->line);
    listing->file[id] = row->file;
    listing->line[id] = row->line;
}

/* What stands before the rows of a range, the same for all of them. */
static size_t put_head(struct listing *listing, char head[HEAD_ROOM],
                       const struct tw_element *range, uint8_t id)
{
    const struct lines *lines = listing->lines;
    const char *who =
        attribution_who(&listing->code.attribution, id, lines->format != LINES_TEXT);
    char index[24];
    int size;

    if (lines->format == LINES_TEXT) {
        (void)snprintf(index, sizeof index, "0x%" PRIx64, range->index);
        size = snprintf(head, HEAD_ROOM, "%s%-9s 0x%x INSTR        %s%s", lines->prefix, index,
                        id, *who ? who : "  ", *who ? "  " : "");
    } else {
        size = snprintf(head, HEAD_ROOM, "{\"i\":%" PRIu64 ",\"id\":%u,\"t\":\"INSTR\"%s%s",
                        range->index, id, lines->member, who);
    }
    return size > 0 && size < HEAD_ROOM ? (size_t)size : 0;
}

static void list_range(struct listing *listing, const struct tw_element *range, uint8_t id)
{
    struct lines *lines = listing->lines;
    const struct block *block = find_block(listing, range, id);
    char head[HEAD_ROOM];
    const size_t head_size = put_head(listing, head, range, id);

    for (size_t i = 0; i < block->rows; i++) {
        const struct row *row = &listing->rows[block->first + i];
        const char *text = listing->text + row->text;

        if (lines->format == LINES_CSV) {
            char *line = output_room(lines->out, head_size + row->size + 1);

            memcpy(line, head, head_size);
            memcpy(line + head_size, text, row->size);
            line[head_size + row->size] = 0;
            csv_row(&lines->csv, lines->out, line);
            continue;
        }
        output_bytes(lines->out, head, head_size);
        output_bytes(lines->out, text, row->size);
        if (lines->format == LINES_TEXT)
            put_source(listing, row, id);
        output_bytes(lines->out, "\n", 1);
    }
}

static void take(void *context, const struct tw_element *element, uint8_t id)
{
    struct listing *listing = context;

    code_context(&listing->code, element, id);
    if (element->type == TW_ELEMENT_INSTR_RANGE)
        list_range(listing, element, id);
    else if (!listing->names->is_filtered) {
        listing->lines->tail = listing->session->perf
                                   ? attribution_of(&listing->code.attribution, element, id,
                                                    listing->lines->format != LINES_TEXT)
                                   : NULL;
        lines_element(listing->lines, element, id);
    }
}

struct listing *listing_new(struct lines *lines, const struct names *names)
{
    struct listing *made = calloc(1, sizeof *made);
    const size_t count = tw_capture_source_count(names->session->capture);

    if (made)
        made->disassemblers = calloc(count + 1, sizeof(struct tw_disassembler *));
    if (!made || !made->disassemblers) {
        say("out of memory");
        free(made);
        return NULL;
    }
    made->source_count = count;
    made->lines = lines;
    made->names = names;
    made->rollback.take = take;
    made->rollback.context = made;
    return made;
}

void listing_free(struct listing *listing)
{
    if (!listing)
        return;
    for (size_t i = 0; i < listing->source_count; i++)
        tw_disassembler_free(listing->disassemblers[i]);
    free(listing->disassemblers);
    rollback_free(&listing->rollback);
    free(listing->blocks);
    free(listing->slots);
    free(listing->rows);
    free(listing->text);
    free(listing);
}

void listing_start(struct listing *listing, const struct session *session)
{
    listing->session = session;
    code_start(&listing->code, session);
}

void listing_take(struct listing *listing, const struct tw_batch *batch)
{
    const struct session *session = listing->session;

    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        if (!session_wants_index(session, element->index))
            code_context(&listing->code, element, batch->id);
        else if (element->type == TW_ELEMENT_ERROR && !session->options->errors)
            session_say_error(session, element, batch->id);
        else
            rollback_element(&listing->rollback, element, batch->id);
    }
}

void listing_end(struct listing *listing)
{
    rollback_end(&listing->rollback);
}
