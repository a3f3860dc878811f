/* SPDX-License-Identifier: BSD-2-Clause */
/* See tables.h. */
#include "report/tables.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

enum { TABLES_ALIGN = 8 };
/* Numbers up to here are exact in a double. */
static const uint64_t exact_most = UINT64_C(1) << 53;

void tw_tables_init(struct tw_tables *tables, const struct tw_allocator *allocator)
{
    *tables = (struct tw_tables){ .allocator = allocator,
                                  .directory.allocator = allocator,
                                  .info.allocator = allocator,
                                  .bytes.allocator = allocator,
                                  .texts.allocator = allocator,
                                  .text_numbers.allocator = allocator };
    (void)tw_tables_text(tables, "");
}

void tw_tables_free(struct tw_tables *tables)
{
    tw_text_free(&tables->directory);
    tw_text_free(&tables->info);
    tw_text_free(&tables->bytes);
    tw_text_free(&tables->texts);
    tw_map_free(&tables->text_numbers);
    tw_give(tables->allocator, tables->text_ends);
}

uint32_t tw_tables_text(struct tw_tables *tables, const char *text)
{
    return tw_tables_text_size(tables, text, strlen(text));
}

static uint64_t hash_text(const char *text, size_t size)
{
    uint64_t hash = 14695981039346656037u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return hash;
}

static bool is_text(const struct tw_tables *tables, uint64_t number, const char *text,
                    size_t size)
{
    const uint64_t first = number ? tables->text_ends[number - 1] : 0;

    return tables->text_ends[number] - first == size &&
           (!size || memcmp(tables->texts.chars + first, text, size) == 0);
}

uint32_t tw_tables_text_size(struct tw_tables *tables, const char *text, size_t size)
{
    uint64_t hash = hash_text(text, size);
    uint64_t *number;

    /* the value is the number + 1; another text of the same hash takes the next free key */
    while ((number = tw_map_put(&tables->text_numbers, hash)) != NULL && *number) {
        if (is_text(tables, *number - 1, text, size))
            return (uint32_t)(*number - 1);
        hash++;
    }
    if (!number || tables->text_count >= UINT32_MAX ||
        !TW_GROW(tables->allocator, &tables->text_ends, &tables->text_room,
                 tables->text_count + 1)) {
        tables->is_out = true;
        return 0;
    }
    tw_text_add_size(&tables->texts, text, size);
    tables->text_ends[tables->text_count++] = tables->texts.size;
    *number = tables->text_count;
    return (uint32_t)(tables->text_count - 1);
}

static uint64_t cell(const unsigned char *at, uint8_t size)
{
    uint8_t small;
    uint16_t half;
    uint32_t word;
    uint64_t wide;

    switch (size) {
    case 1:
        memcpy(&small, at, 1);
        return small;
    case 2:
        memcpy(&half, at, 2);
        return half;
    case 4:
        memcpy(&word, at, 4);
        return word;
    default:
        memcpy(&wide, at, 8);
        return wide;
    }
}

static void align_bytes(struct tw_text *bytes)
{
    static const char zeros[TABLES_ALIGN];

    if (bytes->size % TABLES_ALIGN)
        tw_text_add_size(bytes, zeros, TABLES_ALIGN - bytes->size % TABLES_ALIGN);
}

/* Little-endian, whatever this machine is: "f" is a double, which holds such numbers exactly.  Writes eight bytes,
   of which the next cell takes back what is not its own. */
static inline void put_cell(char *out, uint64_t value, char type)
{
    if (type == 'f') {
        const double number = (double)value;

        memcpy(&value, &number, sizeof value);
    }
    tw_store_le64((uint8_t *)out, value);
}

/* Cells go out by the block. */
static void put_cells(struct tw_text *bytes, struct tw_table_rows rows,
                      const struct tw_table_column *column, char type, unsigned width)
{
    const unsigned char *at =
        rows.count ? (const unsigned char *)rows.rows + column->offset : NULL;
    enum { BLOCK = 4096 };
    char block[BLOCK + sizeof(uint64_t)];
    size_t used = 0;

    for (size_t i = 0; i < rows.count; i++, at += rows.row_size) {
        put_cell(block + used, cell(at, column->size), type);
        used += width;
        if (used == BLOCK || i + 1 == rows.count) {
            tw_text_add_size(bytes, block, used);
            used = 0;
        }
    }
}

static void add_column(struct tw_tables *tables, struct tw_table_rows rows,
                       const struct tw_table_column *column)
{
    const unsigned char *first =
        rows.count ? (const unsigned char *)rows.rows + column->offset : NULL;
    uint64_t most = 0;
    unsigned width;
    char type = column->kind == TW_CELL_TEXT ? 's' : 'u';

    for (size_t i = 0; i < rows.count; i++) {
        const uint64_t value = cell(first + i * rows.row_size, column->size);

        most = value > most ? value : most;
    }
    width = most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
    if (width == 8 && most <= exact_most)
        type = 'f';
    align_bytes(&tables->bytes);
    tw_json_key(&tables->directory, column->name);
    tw_text_format(&tables->directory, "[\"%c%u\",%zu]", type, width * 8, tables->bytes.size);
    put_cells(&tables->bytes, rows, column, type, width);
}

void tw_tables_add(struct tw_tables *tables, const char *name, struct tw_table_rows rows,
                   const struct tw_table_column *columns)
{
    if (!tables->directory.size)
        tw_text_char(&tables->directory, '{');
    tw_json_key(&tables->directory, name);
    tw_text_format(&tables->directory, "{\"rows\":%zu,\"columns\":{", rows.count);
    for (; columns->name; columns++)
        add_column(tables, rows, columns);
    tw_text_add(&tables->directory, "}}");
}

void tw_tables_number(struct tw_tables *tables, const char *key, uint64_t value)
{
    if (!tables->info.size)
        tw_text_char(&tables->info, '{');
    if (value <= exact_most) {
        tw_json_u64(&tables->info, key, value);
        return;
    }
    tw_json_key(&tables->info, key);
    tw_text_format(&tables->info, "\"%" PRIu64 "\"", value);
}

void tw_tables_fact(struct tw_tables *tables, const char *key, const char *text)
{
    if (!tables->info.size)
        tw_text_char(&tables->info, '{');
    tw_json_text(&tables->info, key, text);
}

/* The texts: where each ends, and all of them one after the other. */
static void add_texts(struct tw_tables *tables)
{
    static const struct tw_table_column ends[] = { { "end", 0, 8, TW_CELL_NUMBER },
                                                   { .name = NULL } };

    tw_tables_add(tables, "texts",
                  (struct tw_table_rows){ tables->text_ends, tables->text_count, 8 }, ends);
    align_bytes(&tables->bytes);
    tw_json_u64(&tables->directory, "textsAt", tables->bytes.size);
    tw_text_add_size(&tables->bytes, tables->texts.chars ? tables->texts.chars : "",
                     tables->texts.size);
}

/* "TWVIEW1\n", the size of the directory (32 bits), the directory, blanks up to a multiple of 8, the
   columns: offsets in the directory count from the first of them. */
enum tw_status tw_tables_write(struct tw_tables *tables, tw_write_fn *write, void *context)
{
    struct tw_text head = { .allocator = tables->allocator };
    enum { SIZE_BYTES = 4 };
    char size[sizeof(uint64_t)];
    enum tw_status status = TW_OK;

    add_texts(tables);
    tw_json_key(&tables->directory, "info");
    tw_text_add(&tables->directory, tables->info.size ? tables->info.chars : "{");
    tw_text_add(&tables->directory, "}}");
    while ((12 + tables->directory.size) % TABLES_ALIGN && !tables->directory.failed)
        tw_text_char(&tables->directory, ' ');
    put_cell(size, tables->directory.size, 'u');
    tw_text_add(&head, "TWVIEW1\n");
    tw_text_add_size(&head, size, SIZE_BYTES);
    if (tables->is_out || tables->directory.failed || tables->info.failed ||
        tables->bytes.failed || tables->texts.failed || head.failed)
        status = TW_E_MEMORY;
    else if (!write(context, head.chars, head.size) ||
             !write(context, tables->directory.chars, tables->directory.size) ||
             !write(context, tables->bytes.chars ? tables->bytes.chars : "",
                    tables->bytes.size))
        status = TW_E_CANCELLED;
    tw_text_free(&head);
    return status;
}
