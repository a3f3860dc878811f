/* SPDX-License-Identifier: BSD-2-Clause */
/* Indexes: where in a capture the trace IDs, synchronization points, timestamps, triggers
   and events are; built once, kept in memory or in a file, searched, and used to decode from
   there.  Stable. */
#ifndef TRACKWAY_INDEX_H
#define TRACKWAY_INDEX_H

#include <trackway/frame.h>
#include <trackway/protocol.h>
#include <trackway/tree.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a stream index notes.  docs/formats.md says which packets of each protocol. */
enum tw_index_kind {
    TW_INDEX_SYNC,     /* value 1: a decoder may begin here; 0: only a reader of packets */
    TW_INDEX_TIME,     /* value: the whole timestamp */
    TW_INDEX_EVENT,    /* value: number, or mask of numbers */
    TW_INDEX_TRIGGER,  /* value: of the trigger, where it has one */
    TW_INDEX_TRACE_ON, /* value: enum tw_trace_on */
    TW_INDEX_LOSS,     /* value: enum tw_reason: overflow or discard */
    TW_INDEX_BAD,      /* value: enum of the protocol's packet types */
    TW_INDEX_CONTEXT,  /* value: context ID */
    TW_INDEX_INFO,     /* value: by protocol */
    TW_INDEX_STATE,    /* value: a word of what the synchronization point before does not say */
    TW_INDEX_KINDS
};

#define TW_INDEX_COUNTS 16 /* numbers by kind, with room for kinds to come */

enum tw_index_detail {
    TW_INDEX_SOURCE, /* the capture alone */
    TW_INDEX_SPARSE, /* and for each stream and block, how many entries, first and last time */
    TW_INDEX_FULL    /* and each entry */
};

/* All offsets are offsets in the capture. */
struct tw_index_entry {
    uint64_t offset, value;
    uint8_t kind; /* enum tw_index_kind */
    uint8_t id;
};

/* Points `bytes` at the capture's bytes from `offset` on and tells how many lie together; they stay
   valid as long as the index is built or compared.  TW_END: there are none. */
typedef enum tw_status tw_index_read_fn(void *context, const uint8_t **bytes, size_t *size,
                                        uint64_t offset);

/* The capture (or one of its buffers) that an index is of. */
struct tw_index_capture {
    size_t size; /* sizeof(struct tw_index_capture) */
    enum tw_framing framing;
    bool no_barrier;
    uint8_t assume_id;
    uint64_t base;  /* offset of the first byte ... */
    uint64_t bytes; /* ... and how many there are */
    tw_index_read_fn *read;
    void *read_context;
    const struct tw_tree_source *sources; /* each as large as the first says */
    size_t source_count;
    const struct tw_allocator *allocator;
    /* Protocols of the caller's own that sources may name; borrowed as long as the index. */
    const struct tw_custom_protocol *const *protocols;
    size_t protocol_count;
};

struct tw_index_config {
    size_t size; /* sizeof(struct tw_index_config) */
    enum tw_index_detail detail;
    uint32_t block_bytes; /* a power of two from 512 to 2^30; 0: 65,536 */
    const char *name;     /* of the buffer; may be NULL */
};

/* What an index is of, and how much of it there is. */
struct tw_index_about {
    const char *name; /* of the buffer; "" if it was not given */
    enum tw_framing framing;
    enum tw_index_detail detail;
    bool no_barrier;
    bool is_complete; /* every byte is indexed */
    uint8_t assume_id;
    uint32_t block_bytes;
    uint64_t base, bytes;
    uint64_t indexed; /* of them */
    uint64_t blocks, parts, events, streams;
    struct tw_frame_stats frames; /* of what is indexed */
};

/* A block of the source index.  With detail SOURCE and an unframed capture it says no more than
   what is indexed. */
struct tw_index_block {
    size_t size; /* sizeof(struct tw_index_block): set by the caller, as in those below */
    uint64_t offset;
    uint32_t bytes; /* indexed, from `offset` on; 0: none */
    uint64_t ids[2];
    bool has_unknown; /* bytes before the first ID byte, or after damage */
    bool is_capped;   /* more happened than there is room for: `events` are the first of them */
    uint32_t frame_syncs;
    uint64_t first_event; /* number for tw_index_event */
    uint32_t events;
    /* Where unpacking may begin so that all of this block comes out, and with what ID; UINT64_MAX:
       nowhere, synchronization is missing. */
    uint64_t frame;
    uint8_t id; /* TW_ID_UNKNOWN: not known there */
};

struct tw_index_stream {
    size_t size; /* sizeof(struct tw_index_stream) */
    uint8_t id;
    const char *protocol;
    uint64_t counts[TW_INDEX_COUNTS]; /* by enum tw_index_kind */
    uint64_t first_time, last_time;   /* when counts[TW_INDEX_TIME] */
};

/* A block of a stream index. */
struct tw_index_stream_block {
    size_t size; /* sizeof(struct tw_index_stream_block) */
    uint64_t offset;
    uint64_t counts[TW_INDEX_COUNTS]; /* by enum tw_index_kind */
    uint64_t first_time, last_time;   /* when counts[TW_INDEX_TIME] */
    uint64_t first_sync;              /* a TW_INDEX_SYNC of value 1; UINT64_MAX: none */
};

struct tw_index;

/* Builds the index of a capture in one call; or new, then add_source for each, feed, finish.
   On failure *index is NULL and `fault`, if not NULL, says why. */
TW_API TW_MUST_USE enum tw_status tw_index_build(struct tw_index **index,
                                                 const struct tw_index_capture *capture,
                                                 const struct tw_index_config *config,
                                                 struct tw_fault *fault);
/* The same of a part: from the block that holds `from` to `to`. */
TW_API TW_MUST_USE enum tw_status tw_index_build_part(struct tw_index **index,
                                                      const struct tw_index_capture *capture,
                                                      const struct tw_index_config *config,
                                                      uint64_t from, uint64_t to,
                                                      struct tw_fault *fault);
/* The same of a part and of all parts that another index of the same capture has: what an index knows
   grows part by part.  Parts that touch become one. */
TW_API TW_MUST_USE enum tw_status
tw_index_extend(struct tw_index **index, const struct tw_index *known,
                const struct tw_index_capture *capture, const struct tw_index_config *config,
                uint64_t from, uint64_t to, struct tw_fault *fault);
/* Adds the sources of `capture` too; its `read` is not used. */
TW_API TW_MUST_USE enum tw_status tw_index_new(struct tw_index **index,
                                               const struct tw_index_capture *capture,
                                               const struct tw_index_config *config,
                                               struct tw_fault *fault);
TW_API void tw_index_free(struct tw_index *index);
/* The next bytes of the capture, in pieces of any size. */
TW_API TW_MUST_USE enum tw_status tw_index_feed(struct tw_index *index, const uint8_t *data,
                                                size_t size);
/* Leaves out what lies before `offset`, which is a multiple of the block size from the base: a new
   part begins there. */
TW_API TW_MUST_USE enum tw_status tw_index_skip(struct tw_index *index, uint64_t offset);
TW_API TW_MUST_USE enum tw_status tw_index_finish(struct tw_index *index);

/* Files.  One holds the indexes of all buffers of a capture. */
struct tw_index_file;
/* Writes beside the path and renames: the file is whole or not there. */
TW_API TW_MUST_USE enum tw_status tw_index_write(const char *path,
                                                 const struct tw_index *const *indexes,
                                                 size_t count, struct tw_fault *fault);
/* Maps the file.  TW_E_FILE: there is none, it is damaged, cut, or of another version.  Pages that
   are not looked at yet are checked when they are. */
TW_API TW_MUST_USE enum tw_status tw_index_open(struct tw_index_file **file, const char *path,
                                                const struct tw_allocator *allocator,
                                                struct tw_fault *fault);
TW_API void tw_index_close(struct tw_index_file *file);
TW_API size_t tw_index_file_count(const struct tw_index_file *file);
/* Belongs to the file. */
TW_API const struct tw_index *tw_index_file_get(const struct tw_index_file *file,
                                                size_t number);
/* Looks at every page: TW_E_FILE when one is damaged. */
TW_API TW_MUST_USE enum tw_status tw_index_file_check(const struct tw_index_file *file,
                                                      struct tw_fault *fault);

/* Whether the index is of this capture, framing and sources: TW_OK, or TW_E_CONFIG (another
   capture, or the same one changed since; `fault` says what differs).  Compares size and the
   content of some blocks, with is_thorough of all. */
TW_API TW_MUST_USE enum tw_status tw_index_matches(const struct tw_index *index,
                                                   const struct tw_index_capture *capture,
                                                   bool is_thorough, struct tw_fault *fault);

/* Looking.  TW_END: there is no such thing; TW_E_FILE: that page of the file is damaged;
   TW_E_ARGUMENT: the size of what is to be filled is not set. */
/* Belongs to the index, and tells of what was indexed up to now. */
TW_API const struct tw_index_about *tw_index_about(const struct tw_index *index);
/* Part `number` of what is indexed: from an offset to before another. */
TW_API TW_MUST_USE enum tw_status tw_index_part(const struct tw_index *index, uint64_t *from,
                                                uint64_t *to, uint64_t number);
TW_API TW_MUST_USE enum tw_status tw_index_block(const struct tw_index *index,
                                                 struct tw_index_block *block, uint64_t number);
TW_API TW_MUST_USE enum tw_status tw_index_event(const struct tw_index *index,
                                                 struct tw_frame_event *event, uint64_t number);
TW_API TW_MUST_USE enum tw_status
tw_index_stream(const struct tw_index *index, struct tw_index_stream *stream, size_t number);
/* The number of an ID's stream; TW_END: it has none. */
TW_API TW_MUST_USE enum tw_status tw_index_stream_of(const struct tw_index *index,
                                                     size_t *number, uint8_t id);
TW_API TW_MUST_USE enum tw_status tw_index_stream_block(const struct tw_index *index,
                                                        struct tw_index_stream_block *block,
                                                        size_t stream, uint64_t number);
/* FULL: entries of a stream in the order of the capture. */
TW_API TW_MUST_USE enum tw_status tw_index_entry(const struct tw_index *index,
                                                 struct tw_index_entry *entry, size_t stream,
                                                 uint64_t number);

/* Searching a full index.  Numbers count from 0. */
/* The first entry at or after an offset. */
TW_API TW_MUST_USE enum tw_status tw_index_find_offset(const struct tw_index *index,
                                                       uint64_t *number, size_t stream,
                                                       uint64_t offset);
/* The entry of a kind with this number of its kind. */
TW_API TW_MUST_USE enum tw_status tw_index_find_nth(const struct tw_index *index,
                                                    struct tw_index_entry *entry, size_t stream,
                                                    enum tw_index_kind kind, uint64_t nth);
/* The first entry of a kind at or after an offset, and the last one before it. */
TW_API TW_MUST_USE enum tw_status tw_index_find_next(const struct tw_index *index,
                                                     struct tw_index_entry *entry,
                                                     size_t stream, enum tw_index_kind kind,
                                                     uint64_t offset);
TW_API TW_MUST_USE enum tw_status tw_index_find_before(const struct tw_index *index,
                                                       struct tw_index_entry *entry,
                                                       size_t stream, enum tw_index_kind kind,
                                                       uint64_t offset);
/* The timestamp that holds at `time`: the first entry that is not before it, or if that is later,
   the one before (the first of all for an earlier time, the last of all for a later one).  The
   same time in another stream tells what that one did then. */
TW_API TW_MUST_USE enum tw_status tw_index_find_time(const struct tw_index *index,
                                                     struct tw_index_entry *entry,
                                                     size_t stream, uint64_t time);
/* Triggers of the frames and of all streams together, in the order of the capture. */
TW_API TW_MUST_USE enum tw_status
tw_index_find_trigger(const struct tw_index *index, struct tw_index_entry *entry, uint64_t nth);

/* Where to begin, with an index of any detail, or none (NULL): then the capture is searched by
   halves, as times in it grow.  `ids`, 128 bits or NULL for all, tells which streams count. */
TW_API TW_MUST_USE enum tw_status tw_index_locate(const struct tw_index_capture *capture,
                                                  const struct tw_index *index,
                                                  uint64_t *offset, const uint64_t *ids,
                                                  uint64_t time);
/* Resets a tree made for this capture so that it may be fed from *from on, and gives the elements
   of `offset` and later as when it is fed from the beginning.  `back`: how many synchronization
   points of each stream lie between the two; with more, less is left to faith in the trace. */
TW_API TW_MUST_USE enum tw_status tw_index_seek(const struct tw_index_capture *capture,
                                                const struct tw_index *index,
                                                struct tw_tree *tree, uint64_t *from,
                                                uint64_t offset, unsigned back);

/* "SYNC", "TIME" ...; never NULL. */
TW_API const char *tw_index_kind_name(unsigned kind);

#ifdef __cplusplus
}
#endif

#endif
