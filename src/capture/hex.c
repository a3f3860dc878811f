/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory as text. */
#include "capture/hex.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

enum {
    ROW_BYTES = 512,   /* of a line; a longer one of plain digits comes in parts */
    LINES_SEEN = 48,   /* to tell the form */
    LEAST_BYTES = 16,  /* in them */
    ADDRESS_DIGITS = 7 /* of one that no colon follows */
};

/* What a line holds. */
struct row {
    uint8_t bytes[ROW_BYTES];
    size_t count;
    bool has_address, is_star;
    bool has_colon, has_prefix; /* of the address: "0x10:" */
    uint64_t hex, octal;        /* the address, read in either way */
};

static int digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const uint8_t *skip_spaces(const uint8_t *at, const uint8_t *end)
{
    while (at < end && is_space(*at))
        at++;
    return at;
}

static size_t count_digits(const uint8_t *at, const uint8_t *end)
{
    size_t count = 0;

    while (at + count < end && digit(at[count]) >= 0)
        count++;
    return count;
}

static bool put(struct row *row, uint8_t byte)
{
    if (row->count == ROW_BYTES)
        return false;
    row->bytes[row->count++] = byte;
    return true;
}

/* An even number of digits: bytes in order, or a word whose lowest byte comes first in memory. */
static bool put_digits(struct row *row, const uint8_t *at, size_t count, bool is_word)
{
    if (!count || count % 2 || (is_word && count > 16))
        return false;
    for (size_t i = 0; i < count; i += 2) {
        const uint8_t *pair = is_word ? at + count - 2 - i : at + i;

        if (!put(row, (uint8_t)(digit(pair[0]) << 4 | digit(pair[1]))))
            return false;
    }
    return true;
}

/* "00000010:", "0x20000010 <name+16>:", "00000010 ".  NULL: the line begins otherwise. */
static const uint8_t *read_address(struct row *row, const uint8_t *at, const uint8_t *end)
{
    size_t count;

    row->has_prefix = end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x';
    if (row->has_prefix)
        at += 2;
    count = count_digits(at, end);
    if (count < 4 || count > 16)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        row->hex = row->hex << 4 | (uint64_t)digit(at[i]);
        row->octal = row->octal << 3 | (uint64_t)(digit(at[i]) & 7);
    }
    at += count;
    row->has_address = true;
    if (end - at > 2 && at[0] == ' ' && at[1] == '<') {
        while (at < end && *at != '>')
            at++;
        at += at < end;
    }
    row->has_colon = at < end && *at == ':';
    if (row->has_colon)
        return at + 1;
    return count >= ADDRESS_DIGITS && (at == end || is_space(*at)) ? at : NULL;
}

static bool read_dump(struct row *row, const uint8_t *at, const uint8_t *end)
{
    if (at == end)
        return true;
    if (*at == '*' && skip_spaces(at + 1, end) == end) {
        row->is_star = true;
        return true;
    }
    at = read_address(row, at, end);
    if (!at)
        return false;
    while (at < end) {
        const uint8_t *next = skip_spaces(at, end);
        size_t count;
        bool has_prefix;

        /* The same bytes as characters follow: "|...|", or behind two blanks after a colon. */
        if (next == end || *next == '|' || *next == '>')
            break;
        if (row->has_colon && row->count && next - at >= 2 && *at == ' ')
            break;
        has_prefix = end - next > 2 && next[0] == '0' && (next[1] | 0x20) == 'x';
        next += has_prefix ? 2 : 0;
        count = count_digits(next, end);
        if (next + count < end && !is_space(next[count]))
            return false;
        if (!put_digits(row, next, count,
                        count > 2 && (has_prefix || row->has_prefix || !row->has_colon)))
            return false;
        at = next + count;
    }
    return true;
}

static bool read_plain(struct row *row, const uint8_t *at, const uint8_t *end)
{
    /* Lines of a program around the numbers. */
    if (memchr(at, '=', (size_t)(end - at)) || memchr(at, ';', (size_t)(end - at)) ||
        (at < end && (*at == '#' || *at == '/' || *at == '@')))
        return true;
    while (at < end) {
        const uint8_t *next = at;
        size_t count;
        bool has_prefix;

        while (next < end && (is_space(*next) || *next == ',' || *next == '{' || *next == '}'))
            next++;
        if (next == end)
            break;
        has_prefix = end - next > 2 && next[0] == '0' && (next[1] | 0x20) == 'x';
        next += has_prefix ? 2 : 0;
        count = count_digits(next, end);
        if (next + count < end && !is_space(next[count]) && next[count] != ',' &&
            next[count] != '}')
            return false;
        if (!put_digits(row, next, count, has_prefix && count > 2))
            return false;
        at = next + count;
    }
    return true;
}

/* Records of pairs of digits that begin with a letter: length, address, data, checksum. */
static bool read_record(struct row *row, enum tw_hex_form form, const uint8_t *at,
                        const uint8_t *end)
{
    struct row all = { .count = 0 };
    size_t address = 2, sum = 0, head;
    uint8_t type;

    if (at == end)
        return true;
    if (*at != (form == TW_HEX_IHEX ? ':' : 'S'))
        return false;
    at++;
    type = form == TW_HEX_SREC && at < end ? *at++ : 0;
    if (!put_digits(&all, at, count_digits(at, end), false) || all.count < 4)
        return false;
    for (size_t i = 0; i < all.count; i++)
        sum += all.bytes[i];
    if (form == TW_HEX_IHEX) {
        head = 4;
        if ((sum & 0xff) != 0 || all.count != all.bytes[0] + (size_t)5)
            return false;
        if (all.bytes[3] != 0)
            return true;
    } else {
        if (type < '1' || type > '3')
            return (sum & 0xff) == 0xff;
        address = (size_t)(type - '0') + 1;
        head = 1 + address;
        if ((sum & 0xff) != 0xff || all.count != all.bytes[0] + (size_t)1)
            return false;
    }
    for (size_t i = head; i + 1 < all.count; i++)
        (void)put(row, all.bytes[i]);
    return true;
}

static bool read_row(struct row *row, enum tw_hex_form form, const uint8_t *at,
                     const uint8_t *end)
{
    row->count = 0;
    row->has_address = row->is_star = row->has_colon = row->has_prefix = false;
    row->hex = row->octal = 0;
    at = skip_spaces(at, end);
    while (end > at && is_space(end[-1]))
        end--;
    switch (form) {
    case TW_HEX_DUMP:
        return read_dump(row, at, end);
    case TW_HEX_PLAIN:
    case TW_HEX_VERILOG:
        return read_plain(row, at, end);
    case TW_HEX_IHEX:
    case TW_HEX_SREC:
        return read_record(row, form, at, end);
    default:
        return false;
    }
}

/* The end of a line; one of plain digits may be cut before it, behind a pair. */
static const uint8_t *line_end(const uint8_t *at, const uint8_t *end)
{
    const size_t most = ROW_BYTES * 2;
    const size_t left = (size_t)(end - at);
    const uint8_t *found = memchr(at, '\n', left < most ? left : most);

    if (found)
        return found;
    if (left <= most)
        return end;
    return count_digits(at, at + most) == most ? at + most : memchr(at, '\n', left);
}

static bool fits(enum tw_hex_form form, const uint8_t *text, size_t size)
{
    const uint8_t *at = text, *end = text + size;
    size_t bytes = 0;
    unsigned lines = 0;
    struct row row;

    for (; at < end && lines < LINES_SEEN; lines++) {
        const uint8_t *stop = line_end(at, end);

        if (!stop) /* cut by the end of what is looked at */
            stop = end;
        if (form == TW_HEX_VERILOG && lines == 0 && *at != '@')
            return false;
        if (!read_row(&row, form, at, stop)) {
            if (stop == end && lines)
                break;
            return false;
        }
        bytes += row.count;
        at = stop < end && *stop == '\n' ? stop + 1 : stop;
    }
    return bytes >= LEAST_BYTES;
}

enum tw_hex_form tw_hex_form(const uint8_t *text, size_t size)
{
    static const enum tw_hex_form forms[] = { TW_HEX_IHEX, TW_HEX_SREC, TW_HEX_VERILOG,
                                              TW_HEX_DUMP, TW_HEX_PLAIN };
    const size_t seen = size < 16384 ? size : 16384;

    /* Most files are none: their first bytes tell. */
    for (size_t i = 0; i < seen && i < 64; i++)
        if (text[i] >= 0x7f || (text[i] < ' ' && !is_space(text[i])))
            return TW_HEX_NONE;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (fits(forms[i], text, seen))
            return forms[i];
    return TW_HEX_NONE;
}

const char *tw_hex_form_name(enum tw_hex_form form)
{
    static const char *const names[] = { "none",      "hex dump",  "hex digits",
                                         "Intel HEX", "S-records", "Verilog hex" };

    return names[form];
}

struct dump {
    uint8_t *bytes;
    size_t size, room, most;
    const struct tw_allocator *allocator;
    struct row last;
    bool has_last, is_octal, is_starred;
    uint64_t end; /* address behind the last row */
};

static enum tw_status add(struct dump *dump, const struct row *row)
{
    if (row->count > dump->most - dump->size)
        return TW_E_CONFIG;
    if (!TW_GROW(dump->allocator, &dump->bytes, &dump->room, dump->size + row->count + 1))
        return TW_E_MEMORY;
    memcpy(dump->bytes + dump->size, row->bytes, row->count);
    dump->size += row->count;
    return TW_OK;
}

/* A row with its address; after "*" the row before it is repeated up to there. */
static enum tw_status add_addressed(struct dump *dump, const struct row *row)
{
    /* Behind "*" no address is the next one. */
    if (dump->has_last && dump->last.count && !dump->is_octal && !dump->is_starred &&
        row->hex - dump->last.hex != dump->last.count &&
        row->octal - dump->last.octal == dump->last.count)
        dump->is_octal = true;
    if (dump->is_starred && dump->has_last && dump->last.count) {
        const uint64_t here = dump->is_octal ? row->octal : row->hex;
        uint64_t at = (dump->is_octal ? dump->last.octal : dump->last.hex) + dump->last.count;

        for (; at < here; at += dump->last.count) {
            const enum tw_status status = add(dump, &dump->last);

            if (status != TW_OK)
                return status;
        }
    }
    dump->is_starred = false;
    if (row->count) {
        dump->last = *row;
        dump->has_last = true;
    }
    return add(dump, row);
}

enum tw_status tw_hex_read(uint8_t **out, size_t *out_size, enum tw_hex_form form,
                           const uint8_t *text, size_t size, size_t most,
                           const struct tw_allocator *allocator)
{
    struct dump dump = { .most = most, .allocator = allocator };
    const uint8_t *at = text, *end = text + size;
    enum tw_status status = TW_OK;
    struct row row;

    if (!TW_GROW(allocator, &dump.bytes, &dump.room, 1))
        status = TW_E_MEMORY;
    while (at < end && status == TW_OK) {
        const uint8_t *stop = line_end(at, end);

        if (!stop)
            stop = end;
        if (!read_row(&row, form, at, stop))
            break; /* what comes after is no part of the dump */
        if (row.is_star)
            dump.is_starred = true;
        else if (row.has_address)
            status = add_addressed(&dump, &row);
        else
            status = add(&dump, &row);
        at = stop < end && *stop == '\n' ? stop + 1 : stop;
    }
    *out = dump.bytes;
    *out_size = dump.size;
    return status;
}
