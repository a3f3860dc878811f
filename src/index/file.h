/* SPDX-License-Identifier: BSD-2-Clause */
/* The file form of indexes: header, pages with a checksum each, and where things are in it. */
#ifndef INDEX_FILE_H
#define INDEX_FILE_H

#include <stdio.h>

#include "image/file.h"
#include "index/index.h"

/* The header, in the first page.  All numbers are little-endian. */
enum {
    HEADER_MAGIC = 0,
    HEADER_VERSION = 8, /* 32 bits */
    HEADER_COUNT = 12,  /* indexes; 32 bits */
    HEADER_SIZE = 16,   /* of the file */
    HEADER_SUMS = 24,   /* where the pages' checksums begin; pages end there */
    HEADER_SUM_OF_SUMS = 32,
    HEADER_SUM = 40, /* of the header up to here */
    HEADER_BYTES = 48,

    /* An index: from page 1 on, one after the other. */
    INDEX_BYTES = 2048,
    INDEX_FRAMING = 0,
    INDEX_DETAIL = 1,
    INDEX_FLAGS = 2,
    INDEX_ASSUME_ID = 3,
    INDEX_BLOCK_SIZE = 4,
    INDEX_BASE = 8,
    INDEX_SIZE = 16,
    INDEX_INDEXED = 24,
    INDEX_BLOCKS = 32, /* tables: count, and where in the file */
    INDEX_EVENTS = 48,
    INDEX_PARTS = 64,
    INDEX_STREAMS = 80,
    INDEX_FRAMES = 96, /* struct tw_frame_stats but for bytes_by_id */
    INDEX_NAME_AT = 144,
    INDEX_BY_ID = 256,
    INDEX_IS_COMPLETE = 1,
    INDEX_NO_BARRIER = 2,

    /* A stream. */
    STREAM_BYTES = 256,
    STREAM_ID = 0,
    STREAM_DESCRIPTION = 8,
    STREAM_BLOCKS = 16,
    STREAM_ENTRIES = 32,
    STREAM_FIRST = 48,
    STREAM_LAST = 56,
    STREAM_MOST = 64,
    STREAM_TOTALS = 72,
    STREAM_PROTOCOL = 192,
    STREAM_PROTOCOL_SIZE = 32
};

#define TW_INDEX_MAGIC "TWINDEX\n"

struct tw_index_file {
    const struct tw_allocator *allocator;
    struct tw_file map;
    const uint8_t *bytes; /* of the map, or the caller's (tests) */
    size_t size;
    uint64_t pages; /* the header's included */
    uint8_t *seen;  /* by page: 0 not checked yet, 1 good, 2 damaged */
    struct tw_index **indexes;
    size_t count;
};

/* Whether the page that holds `at` is good. */
bool tw_index_file_is_good(const struct tw_index_file *file, const uint8_t *at);
/* The same as tw_index_open for bytes in memory, which stay the caller's. */
enum tw_status tw_index_open_bytes(struct tw_index_file **file, const uint8_t *bytes,
                                   size_t size, const struct tw_allocator *allocator,
                                   struct tw_fault *fault);
/* Writes finished indexes to a file that can be gone back in; false: that failed. */
bool tw_index_put(FILE *file, const struct tw_index *const *indexes, size_t count);

#endif
