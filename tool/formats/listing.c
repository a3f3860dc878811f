/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists executed instructions.  Programs run in loops: the lines of a range are made once and kept. */
#include "formats/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/disassembly.h>
#include <trackway/walk.h>

#include "base/escape.h"
#include "base/map.h"
#include "shared/attribution.h"

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
    uint32_t next; /* block + 1 with the same hash */
    size_t first, rows;
};

struct listing {
    struct lines *lines;
    struct session *session;
    struct tw_walk *walk;
    struct attribution attribution; /* perf.data: of the part at work */

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

/* Symbols by the addresses that are executed, of the files of the options; NULL: none. */
static struct tw_symbols *given_symbols(const struct session *session,
                                        const struct tw_part *part, uint64_t address)
{
    uint64_t link;

    if (session->perf && !session->options->symbols.count && !session->options->images.count)
        return NULL;
    return tw_run_symbols(session->run, &link, part, address);
}

/* NULL: there is no disassembly; said so once. */
static struct tw_disassembler *disassembler(struct listing *listing, const struct tw_part *part,
                                            uint64_t address)
{
    const struct session *session = listing->session;
    const uint32_t number = part->source_number;
    struct tw_fault fault = { TW_OK, "" };
    struct tw_disassembler_config config = { .size = sizeof config };

    if (listing->has_no_text || number >= listing->source_count)
        return NULL;
    if (!listing->disassemblers[number]) {
        config.core_type = arch_of(session, part->source);
        config.symbols = given_symbols(session, part, address);
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
    struct tw_code_bytes code;
    size_t size;
    char text[256];
    char symbol[256];  /* "main+0x10" */
    char source[512];  /* "main.c:12" */
    const char *where; /* perf.data: the file, as attribution has it */
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
    const struct tw_code_bytes *code = &about->code;

    add_format(listing, ",\"pc\":\"0x%" PRIx64 "\"", code->address);
    if (code->size)
        add_format(listing, ",\"op\":\"0x%" PRIx32 "\"", tw_instruction_opcode(code));
    add_format(listing, ",\"size\":%zu", about->size);
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
    const struct tw_code_bytes *code = &about->code;
    char opcode[16] = "?";
    uint32_t padding = 0;
    const bool has_more = about->symbol[0] || about->source[0];

    if (code->size)
        (void)snprintf(opcode, sizeof opcode, "%0*" PRIx32, (int)(2 * about->size),
                       tw_instruction_opcode(code));
    add_format(listing, "0x%-12" PRIx64 " %-8s ", code->address, opcode);
    add_format(listing, has_more ? "%-32s " : "%s", about->text);
    add_format(listing, about->source[0] ? "%-20s" : "%s", about->symbol);
    while (listing->text[listing->text_size - 1 - padding] == ' ')
        padding++;
    listing->text_size -= padding;
    return padding;
}

static void add_row(struct listing *listing, const struct tw_part *part, struct about *about)
{
    struct tw_run *run = listing->session->run;
    const struct tw_code_bytes *code = &about->code;
    const bool is_text = listing->lines->format == LINES_TEXT;
    struct tw_disassembler *with =
        code->size ? disassembler(listing, part, code->address) : NULL;
    struct row row = { .text = listing->text_size };
    struct tw_symbols *symbols;
    uint64_t pc;

    if (with)
        (void)tw_disassemble(with, about->text, sizeof about->text, code);
    if (!tw_run_keeps(run, part, code->address, code->address + about->size))
        return;
    attribution_where(&listing->attribution, run, part, code->address, !is_text);
    about->where = listing->attribution.where;
    symbols = tw_run_symbols(run, &pc, part, code->address);
    find_symbol(about, symbols, pc);
    find_line(about, &row, symbols, pc);
    if (is_text)
        row.padding = add_columns(listing, about);
    else
        add_json(listing, about);
    row.size = (uint32_t)(listing->text_size - row.text);
    listing->rows = grow(listing->rows, &listing->row_room, listing->row_count + 1, sizeof row);
    listing->rows[listing->row_count++] = row;
}

static void add_rows(struct listing *listing, struct block *block, const struct tw_part *part,
                     const struct tw_element *range)
{
    struct about about = { .where = "" };

    block->first = listing->row_count;
    tw_walk_start(listing->walk, part, range);
    while (tw_walk_next(listing->walk, &about.code, &about.size)) {
        about.text[0] = about.symbol[0] = about.source[0] = 0;
        add_row(listing, part, &about);
    }
    block->rows = listing->row_count - block->first;
}

static void forget(struct listing *listing)
{
    listing->block_count = listing->row_count = listing->text_size = 0;
    tw_map_clear(&listing->by_key);
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

static const struct block *find_block(struct listing *listing, const struct tw_part *part,
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

    if (listing->text_size > TEXT_MOST || listing->block_count == BLOCKS_MOST)
        forget(listing);
    first = tw_map_put(&listing->by_key, hash_of(&key));
    if (!first)
        out_of_memory();
    for (uint64_t at = *first; at; at = listing->blocks[at - 1].next)
        if (is_same(&listing->blocks[at - 1], &key))
            return &listing->blocks[at - 1];
    key.next = (uint32_t)*first;
    add_rows(listing, &key, part, range);
    listing->blocks = grow(listing->blocks, &listing->block_room, listing->block_count + 1,
                           sizeof *listing->blocks);
    listing->blocks[listing->block_count++] = key;
    *first = listing->block_count;
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
    const char *who = listing->attribution.who;
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

static void list_range(struct listing *listing, const struct tw_part *part,
                       const struct tw_element *range)
{
    const uint8_t id = part->batch.id & 0x7f;
    struct lines *lines = listing->lines;
    const struct block *block = find_block(listing, part, range);
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

static void take(struct listing *listing, const struct tw_part *part,
                 const struct tw_element *element)
{
    const struct session *session = listing->session;
    struct lines *lines = listing->lines;

    if (element->type == TW_ELEMENT_ERROR && !session->options->errors) {
        session_say_error(session, element, part->batch.id);
    } else if (element->type == TW_ELEMENT_INSTR_RANGE) {
        list_range(listing, part, element);
    } else if (!session_is_filtered(session)) {
        lines->tail = session->perf ? attribution_of(&listing->attribution, session->run, part,
                                                     element, lines->format != LINES_TEXT)
                                    : NULL;
        lines_element(lines, element, part->batch.id);
    }
}

struct listing *listing_new(struct lines *lines, struct session *session)
{
    struct listing *made = calloc(1, sizeof *made);
    const size_t count = tw_capture_source_count(session->capture);

    if (made)
        made->disassemblers = calloc(count + 1, sizeof(struct tw_disassembler *));
    if (!made || !made->disassemblers || tw_walk_new(&made->walk, NULL) != TW_OK) {
        say("out of memory");
        listing_free(made);
        return NULL;
    }
    made->source_count = count;
    made->lines = lines;
    made->session = session;
    return made;
}

void listing_free(struct listing *listing)
{
    if (!listing)
        return;
    for (size_t i = 0; listing->disassemblers && i < listing->source_count; i++)
        tw_disassembler_free(listing->disassemblers[i]);
    free(listing->disassemblers);
    tw_walk_free(listing->walk);
    tw_map_free(&listing->by_key);
    free(listing->blocks);
    free(listing->rows);
    free(listing->text);
    free(listing);
}

/* The instructions again; a REPEAT of what is left out. */
static void take_repeat(struct listing *listing, const struct tw_part *part, size_t at)
{
    const struct repeat repeat = repeats_of(&listing->session->repeats, &part->batch, at);
    struct tw_element rest = part->batch.elements[at];

    for (uint64_t i = 0; i < repeat.times && !output_is_over(listing->session->out); i++)
        for (size_t j = 0; j < repeat.count; j++)
            take(listing, part, &part->batch.elements[repeat.first + j]);
    rest.times = repeat.omitted;
    if (rest.times)
        take(listing, part, &rest);
}

void listing_take(struct listing *listing, const struct tw_part *part)
{
    attribution_part(&listing->attribution, part, listing->lines->format != LINES_TEXT);
    for (size_t i = 0; i < part->batch.count; i++) {
        if (part->batch.elements[i].type == TW_ELEMENT_REPEAT)
            take_repeat(listing, part, i);
        else
            take(listing, part, &part->batch.elements[i]);
    }
}
