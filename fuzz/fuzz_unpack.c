/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures that come packed, or as text.  Bytes that are written in a form come back; what is unpacked of any bytes is
   the same again, and of less room its beginning.
   Input: a byte that says which form (with 0x80: packed already), then the bytes. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "capture/unpack.h"

enum { BYTES_MOST = 2048, ROW = 16, LEAST = 16, ROOM = 1 << 16, TEXT_MOST = 8 * BYTES_MOST };

struct text {
    char chars[TEXT_MOST];
    size_t size;
};

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

#define PUT(text, ...)                                                                         \
    ((text)->size += (size_t)snprintf((text)->chars + (text)->size,                            \
                                      sizeof(text)->chars - (text)->size, __VA_ARGS__))

static void put_characters(struct text *out, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        PUT(out, "%c", bytes[i] >= ' ' && bytes[i] < 0x7f ? bytes[i] : '.');
}

static void put_xxd(struct text *out, const uint8_t *row, size_t size, size_t at)
{
    PUT(out, "%08zx:", at);
    for (size_t i = 0; i < size; i++)
        PUT(out, "%s%02x", i % 2 ? "" : " ", row[i]);
    PUT(out, "  ");
    put_characters(out, row, size);
    PUT(out, "\n");
}

static void put_hexdump(struct text *out, const uint8_t *row, size_t size, size_t at)
{
    PUT(out, "%08zx ", at);
    for (size_t i = 0; i < size; i++)
        PUT(out, "%s %02x", i == 8 ? " " : "", row[i]);
    PUT(out, "  |");
    put_characters(out, row, size);
    PUT(out, "|\n");
}

static void put_gdb(struct text *out, const uint8_t *row, size_t size, size_t at)
{
    PUT(out, "0x%zx <name+%zu>:", 0x20000000 + at, at);
    for (size_t i = 0; i < size; i++)
        PUT(out, "\t0x%02x", row[i]);
    PUT(out, "\n");
}

static void put_plain(struct text *out, const uint8_t *row, size_t size, size_t at)
{
    (void)at;
    for (size_t i = 0; i < size; i++)
        PUT(out, "%02x%s", row[i], i + 1 < size ? " " : "\n");
}

static void put_ihex(struct text *out, const uint8_t *row, size_t size, size_t at)
{
    unsigned sum = (unsigned)(size + (at >> 8) + at);

    PUT(out, ":%02zX%04zX00", size, at);
    for (size_t i = 0; i < size; i++) {
        PUT(out, "%02X", row[i]);
        sum += row[i];
    }
    PUT(out, "%02X\r\n", -sum & 0xff);
}

static void put_srec(struct text *out, const uint8_t *row, size_t size, size_t at)
{
    unsigned sum = (unsigned)(size + 4 + (at >> 16) + (at >> 8) + at);

    PUT(out, "S2%02zX%06zX", size + 4, at);
    for (size_t i = 0; i < size; i++) {
        PUT(out, "%02X", row[i]);
        sum += row[i];
    }
    PUT(out, "%02X\n", ~sum & 0xff);
}

static void put_verilog(struct text *out, const uint8_t *row, size_t size, size_t at)
{
    if (at == 0)
        PUT(out, "@%08zX\n", at);
    put_plain(out, row, size, at);
}

static void (*const forms[])(struct text *, const uint8_t *, size_t,
                             size_t) = { put_xxd,  put_hexdump, put_gdb,    put_plain,
                                         put_ihex, put_srec,    put_verilog };

enum { FORMS = sizeof forms / sizeof forms[0] };

static void open(uint8_t **bytes, size_t *size, const uint8_t *data, size_t data_size,
                 const struct tw_unpacking *how)
{
    struct tw_fault fault = { .text = "" };
    const enum tw_packing packing = tw_packing_of(data, data_size);

    *bytes = NULL;
    *size = 0;
    if (packing == TW_PACKING_NONE)
        return;
    require(tw_packing_name(packing) != NULL);
    if (tw_packing_open(bytes, size, packing, data, data_size, how, &fault) != TW_OK) {
        require(fault.text[0] != 0);
        tw_give(NULL, *bytes);
        *bytes = NULL;
        *size = 0;
    }
    require(*size <= how->most);
}

/* Rows that are the row before them again are left out, as hexdump does it. */
static void do_form(unsigned form, const uint8_t *data, size_t size)
{
    static const struct tw_unpacking how = { .most = ROOM };
    static struct text text;
    const bool has_stars = form == 1 || form == 0;
    bool is_starred = false;
    uint8_t *bytes;
    size_t count;

    text.size = 0;
    for (size_t at = 0; at < size; at += ROW) {
        const size_t row = size - at < ROW ? size - at : ROW;

        if (has_stars && at && row == ROW && at + ROW < size &&
            memcmp(data + at, data + at - ROW, ROW) == 0) {
            if (!is_starred)
                PUT(&text, "*\n");
            is_starred = true;
            continue;
        }
        is_starred = false;
        forms[form](&text, data + at, row, at);
    }
    open(&bytes, &count, (const uint8_t *)text.chars, text.size, &how);
    require(count == size && memcmp(bytes, data, size) == 0);
    tw_give(NULL, bytes);
}

static void do_packed(const uint8_t *data, size_t size)
{
    static const struct tw_unpacking all = { .most = ROOM, .may_cut = 1 },
                                     some = { .most = ROOM / 512, .may_cut = 1 };
    uint8_t *bytes, *again, *first;
    size_t count, same, less;

    open(&bytes, &count, data, size, &all);
    open(&again, &same, data, size, &all);
    require(count == same && (!count || memcmp(bytes, again, count) == 0));
    open(&first, &less, data, size, &some);
    if (count) /* damage may lie behind the beginning */
        require(less <= count && (!less || memcmp(bytes, first, less) == 0));
    tw_give(NULL, bytes);
    tw_give(NULL, again);
    tw_give(NULL, first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    if (data[0] & 0x80)
        do_packed(data + 1, size - 1);
    else if (size - 1 >= LEAST && size - 1 <= BYTES_MOST)
        do_form(data[0] % FORMS, data + 1, size - 1);
    return 0;
}
