/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of numbers and names in one block of bytes, which a page reads as typed arrays: a directory in JSON,
   then the columns, each as narrow as its greatest number allows. */
#ifndef REPORT_TABLES_H
#define REPORT_TABLES_H

#include <stddef.h>

#include <trackway/formats.h>

#include "base/map.h"
#include "base/text.h"

/* Texts have numbers: 0 is "". */
struct tw_tables {
    const struct tw_allocator *allocator;
    struct tw_text directory, info, bytes;
    struct tw_text texts;
    uint64_t *text_ends;
    size_t text_count, text_room;
    struct tw_map text_numbers; /* by hash */
    bool is_out;                /* of memory */
};

enum tw_cell_kind { TW_CELL_NUMBER, TW_CELL_TEXT };

/* A member of a row's struct. */
struct tw_table_column {
    const char *name;
    size_t offset;
    uint8_t size;
    uint8_t kind; /* enum tw_cell_kind; texts are uint32_t, of tw_tables_text */
};

#define TW_NUMBER_COLUMN(type, member)                                                         \
    {                                                                                          \
#member, offsetof(type, member), sizeof(((type *)0)->member), TW_CELL_NUMBER           \
    }
#define TW_TEXT_COLUMN(type, member)                                                           \
    {                                                                                          \
#member, offsetof(type, member), sizeof(((type *)0)->member), TW_CELL_TEXT             \
    }

/* Rows of a table: an array of structs. */
struct tw_table_rows {
    const void *rows;
    size_t count, row_size;
};

void tw_tables_init(struct tw_tables *tables, const struct tw_allocator *allocator);
void tw_tables_free(struct tw_tables *tables);
uint32_t tw_tables_text(struct tw_tables *tables, const char *text);
uint32_t tw_tables_text_size(struct tw_tables *tables, const char *text, size_t size);
/* `columns` ends with one that has no name. */
void tw_tables_add(struct tw_tables *tables, const char *name, struct tw_table_rows rows,
                   const struct tw_table_column *columns);
/* Single facts. */
void tw_tables_number(struct tw_tables *tables, const char *key, uint64_t value);
void tw_tables_fact(struct tw_tables *tables, const char *key, const char *text);
enum tw_status tw_tables_write(struct tw_tables *tables, tw_write_fn *write, void *context);

#endif
