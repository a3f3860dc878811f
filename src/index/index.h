/* SPDX-License-Identifier: BSD-2-Clause */
/* What an index is made of: tables of little-endian records, the same in memory and in files. */
#ifndef INDEX_INDEX_H
#define INDEX_INDEX_H

#include <trackway/index.h>

#include "base/bytes.h"
#include "index/hash.h"
#include "protocol.h"

enum {
    TW_INDEX_VERSION = 1,
    TW_INDEX_PAGE = 4096, /* of a file: what has a checksum of its own */
    TW_INDEX_NAME = 64,   /* bytes of a buffer's name, the zero at its end included */
    TW_INDEX_BLOCK_DEFAULT = 1 << 16,
    TW_INDEX_BLOCK_LEAST = 512,
    TW_INDEX_BLOCK_MOST = 1 << 30,
    TW_INDEX_HOLD = 1 << 16, /* unframed: bytes taken at once */

    /* Sizes of records; each divides a page. */
    TW_INDEX_BLOCK_RECORD = 64,
    TW_INDEX_EVENT_RECORD = 16,
    TW_INDEX_PART_RECORD = 16,
    TW_INDEX_ENTRY_RECORD = 16,
    TW_INDEX_STREAM_BLOCK_RECORD = 128,

    /* A block record: where its members are. */
    BLOCK_IDS = 0,
    BLOCK_HASH = 16,
    BLOCK_FRAME = 24,
    BLOCK_EVENT = 32, /* number of its first event */
    BLOCK_SYNCS = 40,
    BLOCK_BYTES = 44,
    BLOCK_EVENTS = 48,
    BLOCK_ID = 52,
    BLOCK_FLAGS = 53,
    BLOCK_HAS_UNKNOWN = 1,
    BLOCK_IS_CAPPED = 2,

    /* A stream block record: counts before the block, then what is in it. */
    STREAM_COUNTS = 0,
    STREAM_FIRST_TIME = 8 * TW_INDEX_KINDS,
    STREAM_LAST_TIME = STREAM_FIRST_TIME + 8,
    STREAM_MOST_TIME = STREAM_FIRST_TIME + 16, /* the latest time up to the block's end */
    STREAM_SYNC = STREAM_FIRST_TIME + 24,
    STREAM_FLAGS = STREAM_FIRST_TIME + 32,
    STREAM_HAS_TIME = 1,
    STREAM_HAD_TIME = 2 /* here or before */
};

#define TW_INDEX_NOWHERE UINT64_MAX
#define TW_INDEX_OFFSET                                                                        \
    ((UINT64_C(1) << 56) - 1) /* of an entry's first word; above: its kind */

/* Records of one kind, of the index's own or in a mapped file. */
struct tw_index_table {
    const uint8_t *bytes;
    uint64_t count;
    uint32_t record;
    size_t room; /* bytes; 0: not its own */
    uint8_t *own;
    const struct tw_index_file *file; /* NULL: in memory */
};

/* A record, or NULL when its page of the file is damaged. */
const uint8_t *tw_index_table_at(const struct tw_index_table *table, uint64_t number);
/* A new record, zeroed; NULL: no memory.  It stays where it is until the next one. */
uint8_t *tw_index_table_add(const struct tw_allocator *allocator, struct tw_index_table *table);

/* One trace ID. */
struct tw_index_line {
    uint8_t id;
    const char *protocol_name; /* the table's or the file's */
    uint64_t description;      /* hash of what describes the source */
    uint64_t counts[TW_INDEX_KINDS];
    uint64_t first_time, last_time, most_time;
    struct tw_index_table blocks, entries;

    /* While it is built. */
    const struct tw_protocol *protocol;
    void *config, *reader, *packet;
    uint64_t state[TW_INDEX_WORDS];
    uint64_t handled_gap;
    bool is_mute; /* its packets cannot be told in this part */
    uint64_t block_first_time, block_last_time, block_sync;
    uint64_t block_counts[TW_INDEX_KINDS]; /* before the open block */
    bool block_has_time;
};

struct tw_index {
    const struct tw_allocator *allocator;
    struct tw_index_about about;
    char name[TW_INDEX_NAME];
    struct tw_index_table blocks, events, parts;
    struct tw_index_line *lines; /* by ascending ID */
    size_t line_count, line_room;

    /* While it is built. */
    struct tw_custom *customs; /* protocols of the caller */
    enum tw_status broken;
    struct tw_unframer *unframer; /* NULL: unframed */
    uint64_t at;                  /* capture offset of the next byte */
    bool is_finished, is_open;    /* a block is open */
    bool goes_on;                 /* a window: more of the capture lies behind it */
    struct tw_hash hash;
    uint8_t block[TW_INDEX_BLOCK_RECORD];
    uint64_t block_stats[TW_ID_COUNT]; /* bytes by ID before the block */
    uint64_t part_from;
    uint8_t *buffered; /* unframed: what is not done yet, and its place */
    size_t buffered_size, buffered_room;
    uint64_t buffered_offset;
    struct tw_place place;
};

/* capture.c: copies what the caller gave, whatever its size; one of its sources; and whether one of
   them can be decoded only from the beginning. */
enum tw_status tw_index_capture_take(struct tw_index_capture *ours,
                                     const struct tw_index_capture *theirs,
                                     struct tw_fault *fault);
enum tw_status tw_index_capture_source(const struct tw_index_capture *capture,
                                       struct tw_tree_source *source, size_t number,
                                       struct tw_fault *fault);
bool tw_index_adds_up(const struct tw_index_capture *capture);

/* table.c: brings what tw_index_about says up to date. */
void tw_index_tell(struct tw_index *index);

/* stream.c */
enum tw_status tw_index_line_add(struct tw_index *index, const struct tw_tree_source *source,
                                 struct tw_fault *fault);
void tw_index_line_free(struct tw_index *index, struct tw_index_line *line);
/* Reads what is held of the stream; is_last: nothing follows in this part. */
enum tw_status tw_index_line_read(struct tw_index *index, struct tw_index_line *line,
                                  bool is_last);
/* Closes blocks up to (not including) that number. */
enum tw_status tw_index_line_close(struct tw_index *index, struct tw_index_line *line,
                                   uint64_t number);
void tw_index_line_lose(struct tw_index_line *line);
uint64_t tw_index_source_hash(const struct tw_tree_source *source);

/* find.c: the first block up to whose end a time was reached. */
enum tw_status tw_index_line_block_of_time(const struct tw_index_line *line, uint64_t *block,
                                           uint64_t time);

/* build.c */
uint64_t tw_index_block_of(const struct tw_index *index, uint64_t offset);
/* A full index of a part alone: its base is where the part begins, at a multiple of the block size
   from the capture's. */
enum tw_status tw_index_window(struct tw_index **index, const struct tw_index_capture *capture,
                               uint64_t from, uint64_t to);

#endif
