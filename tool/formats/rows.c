/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of instructions: each is made once and kept. */
#include "formats/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/memory.h"
#include "shared/interrupt.h"

enum { TEXT_ROOM = 256, NAME_ROOM = 512 };

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
    const struct rows *rows = context;
    uint64_t link;
    const struct tw_symbols *symbols =
        tw_run_symbols(rows->session->run, &link, rows->part, address);

    if (!symbols || !tw_symbols_find(symbols, symbol, link))
        return false;
    symbol->address += address - link;
    return true;
}

static void make_disassembler(struct rows *rows, const struct tw_part *part, uint64_t address)
{
    const struct session *session = rows->session;
    struct tw_fault fault = { TW_OK, "" };
    const struct tw_disassembler_config config = {
        .size = sizeof config,
        .core_type = arch_of(session, part->source),
        .symbols = given_symbols(session, part, address),
        .find = session->perf ? find_target : NULL,
        .context = rows,
    };

    if (tw_disassembler_new(&rows->disassemblers[part->source_number], &config, &fault) ==
        TW_OK)
        return;
    rows->has_no_text = true;
    if (fault.status == TW_E_MEMORY)
        out_of_memory();
    if (!session->options->quiet)
        say("%s", fault.text);
}

/* NULL: there is no disassembly; said so once. */
static struct tw_disassembler *disassembler(struct rows *rows, const struct tw_part *part,
                                            uint64_t address)
{
    const uint32_t number = part->source_number;

    if (rows->has_no_text || number >= rows->source_count)
        return NULL;
    if (!rows->disassemblers[number])
        make_disassembler(rows, part, address);
    return rows->disassemblers[number];
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

static void put_members(struct rows *rows, struct tw_members *out, const struct tw_part *part,
                        const struct about *about)
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
    lines_put_where(out, rows->session->run, part, code->address);
}

static size_t text_size(const struct tw_member *member)
{
    return member->type->kind == TW_MEMBER_TEXT ? strlen(member->text) + 1 : 0;
}

/* Copies of the members, with their texts. */
static void keep_members(struct rows *rows, struct row *row, const struct tw_members *members)
{
    size_t size = members->count * sizeof members->items[0];
    struct tw_member *kept;
    char *text;

    for (size_t i = 0; i < members->count; i++)
        size += text_size(&members->items[i]);
    kept = arena_room(&rows->members, size);
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
    rows->members_size += size;
}

/* The members of an object behind those that stand at its beginning. */
static void add_json(struct rows *rows, const struct tw_members *members)
{
    char *at;

    if (!TW_GROW(NULL, &rows->text, &rows->text_room,
                 rows->text_size + tw_members_most(members)))
        out_of_memory();
    at = rows->text + rows->text_size;
    rows->text_size = (size_t)(tw_members_json(at, members) - rows->text);
    at[0] = ',';
}

static char *put_blanks(char *out, const char *until)
{
    while (out < until)
        *out++ = ' ';
    return out;
}

/* A name in a column of at least `width` characters. */
static char *put_column(char *out, const char *name, size_t width)
{
    return put_blanks(out + tw_escape_text(out, name, strlen(name)), out + width);
}

/* The opcode, with all digits that `size` bytes have; "?": it is not known. */
static char *put_opcode(char *out, const struct tw_code_bytes *code, size_t size)
{
    const uint32_t opcode = tw_instruction_opcode(code);

    if (!code->size)
        *out++ = '?';
    for (size_t digit = code->size ? 2 * size : 0; digit-- > 0;)
        *out++ = "0123456789abcdef"[opcode >> (4 * digit & 31) & 15];
    return out;
}

/* Columns; the source line is put behind them only when it changes.  Returns the blanks before it. */
static uint32_t add_columns(struct rows *rows, const struct about *about)
{
    enum {
        ADDRESS_WIDTH = 15,
        OPCODE_WIDTH = 8,
        ASM_WIDTH = 32,
        SYMBOL_WIDTH = 20,
        MOST = 64 + ASM_WIDTH + SYMBOL_WIDTH + 2 * TW_ESCAPE_TEXT_MOST * TEXT_ROOM
    };
    const bool has_more = about->symbol[0] || about->source[0];
    uint32_t padding = 0;
    char *start, *at;

    if (!TW_GROW(NULL, &rows->text, &rows->text_room, rows->text_size + MOST + ROWS_COPY))
        out_of_memory();
    start = at = rows->text + rows->text_size;
    at = tw_write_hex(at, about->code.address);
    *at++ = ' ';
    at = put_blanks(at, start + ADDRESS_WIDTH);
    start = at;
    at = put_blanks(put_opcode(at, &about->code, about->size), start + OPCODE_WIDTH);
    *at++ = ' ';
    at = put_column(at, about->text, has_more ? ASM_WIDTH : 0);
    if (has_more)
        *at++ = ' ';
    at = put_column(at, about->symbol, about->source[0] ? SYMBOL_WIDTH : 0);
    for (; at[-1] == ' '; at--)
        padding++;
    rows->text_size = (size_t)(at - rows->text);
    return padding;
}

static void keep_row(struct rows *rows, struct row *row, const struct tw_part *part,
                     const struct about *about)
{
    struct tw_members_here here;
    struct tw_members *members;

    if (rows_are_text(rows)) {
        row->padding = add_columns(rows, about);
    } else {
        members = tw_members_start(&here, TW_MEMBER_LISTED);
        put_members(rows, members, part, about);
        if (rows->lines->columns)
            keep_members(rows, row, members);
        else
            add_json(rows, members);
    }
    row->size = (uint32_t)(rows->text_size - row->text);
    if (!TW_GROW(NULL, &rows->items, &rows->room, rows->count + 1))
        out_of_memory();
    rows->items[rows->count++] = *row;
}

void rows_add(struct rows *rows, const struct tw_part *part, const struct tw_code_bytes *code,
              size_t size)
{
    struct tw_run *run = rows->session->run;
    struct tw_disassembler *with = code->size ? disassembler(rows, part, code->address) : NULL;
    struct row row = { .text = rows->text_size };
    struct tw_symbols *symbols;
    struct about about;
    uint64_t pc;

    about.code = *code;
    about.size = size;
    about.text[0] = about.symbol[0] = about.source[0] = 0;
    rows->part = part;
    if (with)
        (void)tw_disassemble(with, about.text, sizeof about.text, code);
    if (!tw_run_keeps(run, part, code->address, code->address + size))
        return;
    symbols = tw_run_symbols(run, &pc, part, code->address);
    find_symbol(&about, symbols, pc);
    find_line(&about, &row, symbols, pc);
    keep_row(rows, &row, part, &about);
}

void rows_forget(struct rows *rows)
{
    rows->count = rows->text_size = rows->members_size = 0;
    arena_free(&rows->members);
}

bool rows_start(struct rows *rows, struct lines *lines, struct session *session)
{
    rows->lines = lines;
    rows->session = session;
    rows->source_count = tw_capture_source_count(session->capture);
    rows->disassemblers = calloc(rows->source_count + 1, sizeof(struct tw_disassembler *));
    return rows->disassemblers != NULL;
}

void rows_end(struct rows *rows)
{
    for (size_t i = 0; rows->disassemblers && i < rows->source_count; i++)
        tw_disassembler_free(rows->disassemblers[i]);
    free(rows->disassemblers);
    arena_free(&rows->members);
    free(rows->items);
    free(rows->text);
}
