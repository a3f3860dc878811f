/* SPDX-License-Identifier: BSD-2-Clause */
/* The decode tree: a capture's bytes in, packets or elements of every source out.  Stable. */
#ifndef TRACKWAY_TREE_H
#define TRACKWAY_TREE_H

#include <trackway/errors.h>
#include <trackway/frame.h>
#include <trackway/image.h>
#include <trackway/instruction.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_tree;
struct tw_protocol;

/* Counts elements where they are made instead of handing them out: for profiles, coverage,
   statistics.  Threads count at the same time, each into a tally of its own; what was decoded in vain
   is in none that is merged, so the sum is that of one thread. */
struct tw_counter {
    size_t size;       /* sizeof(struct tw_counter) */
    size_t tally_size; /* bytes of a tally: zeros when it is new */
    void *context;
    /* On any thread: adds elements of one ID, in order, to a tally.  It changes nothing else. */
    void (*count)(void *context, void *tally, const struct tw_batch *batch);
    /* On the caller's thread, inside tw_tree_next: adds a tally to the whole.  `whose` is a batch
       without elements that says of which source it is.  The tallies of a source come in the order
       of its trace; at TW_MORE and TW_END all have come. */
    void (*merge)(void *context, void *tally, const struct tw_batch *whose);
    /* On any thread: empties a tally, which may keep its memory.  NULL: it is set to zeros. */
    void (*clear)(void *context, void *tally);
    /* Frees what a tally keeps; NULL: nothing. */
    void (*release)(void *context, void *tally);
    /* On any thread; NULL: there is no such thing.  Where it is, most ranges are not written down as
       elements but counted by the decoder, which is faster, and come here: ranges whose branches lead
       where the program's code says, and edges from one to the next where the trace did.  They were
       executed in the context and address space of the last PE_CONTEXT that `count` was given for this
       source.  `count` gets all else, in order; an indirect branch among it led to the start of the
       range after it, as ever. */
    void (*sum)(void *context, void *tally, const struct tw_range_sum *sums, size_t count,
                const struct tw_batch *whose);
    /* The functions do not look at tw_element.itm_time of local timestamps, which add up through the whole trace: where
       several threads decode ITM, `count` may get them without what came before.  Else ITM's elements are not counted
       where they are made. */
    bool ignores_local_time;
};

struct tw_tree_config {
    size_t size; /* sizeof(struct tw_tree_config) */
    enum tw_framing framing;
    bool no_barrier;
    uint8_t assume_id;     /* frames: give bytes of unknown ID to this one; 0: drop them */
    bool packets_only;     /* no elements: tw_tree_next_packet instead of tw_tree_next */
    bool with_packets;     /* both: tw_tree_next_packet beside tw_tree_next */
    bool unmerged;         /* several IDs: do not interleave, each feed gives ID after ID */
    bool counts_elements;  /* keep struct tw_source_stats of elements (costs some speed) */
    uint32_t range_limit;  /* instructions without a waypoint; 0: 1,048,576 */
    bool source_address_n; /* ETE: a source-address range is split at each not-taken waypoint */
    bool check_opcodes, check_atoms, check_continuity;
    uint64_t base; /* capture offset of the first byte */
    const struct tw_allocator *allocator;
    struct tw_errors *errors; /* borrowed: gets what is amiss, in order; NULL: none */
    uint8_t verbosity; /* enum tw_severity: up to which it does; 0: errors and warnings */
    /* Decode on so many threads, the caller's among them, 256 at most; 0: on that alone.  What comes
       out is the same.  It pays when bytes are fed by the megabyte.  The allocator is called from all of them,
       images must not change before TW_MORE, and bytes are fed only after TW_MORE. */
    uint32_t threads;
    size_t segment_size; /* bytes of a stream that one thread decodes at a time; 0: chosen */
    const struct tw_counter *counter; /* borrowed: gets the elements, tw_tree_next gives none */
    /* A batch ends behind each PE_CONTEXT, before code is looked for in that context: for callbacks
       that are asked for code and go by the elements that the caller was given. */
    bool stops_at_context;
    /* Triggers and flushes that the formatter marks in its frames come too, in their place: EVENTs of
       ID TW_ID_TRIGGER, whose number is the marker's byte, in batches of source UINT32_MAX.  Not with
       a counter. */
    bool markers;
    bool keeps_bits;   /* of packets: tw_packet_bits can be asked, which costs some speed */
    size_t batch_room; /* elements that a batch has room for, at least 1,024; 0: 2,048 */
};

/* Sources that share a stream and are told apart: of more than this the first ones are decoded, and an
   error element (TW_ERROR_UNSUPPORTED) names the next. */
enum { TW_SRC_MOST = 1024 };

/* The program of one of the sources that share a stream. */
struct tw_src_image {
    uint32_t src;
    struct tw_image *image; /* borrowed */
};

/* A trace source of the capture.  Where several share a stream, one describes them all. */
struct tw_tree_source {
    size_t size;          /* sizeof(struct tw_tree_source) */
    const char *protocol; /* "etmv4", "ete", "ptm", "etmv3", "itm", "stm", "etrace" ... */
    const struct tw_register *registers;
    size_t register_count;
    const char *type;       /* as a snapshot says it, "ETM4.0"; may be NULL */
    const char *core_type;  /* "Cortex-A57", "ARM-AA64" ...; may be NULL */
    const char *text;       /* configuration that is no list of numbers; may be NULL */
    uint8_t id;             /* used when the registers name no trace ID */
    struct tw_image *image; /* borrowed; may be NULL */
    tw_view_fn *view;       /* NULL: the image has no address spaces (context 0, time 0) */
    void *view_context;
    /* Several threads: the bytes at view_context that are all `view` reads and writes.  Each thread
       gets a copy.  0: they are not known, and the source is decoded on the caller's thread. */
    size_t view_size;
    tw_classify_fn *classify; /* tells of instructions; may be NULL */
    void *classify_context;
    /* Without an image: asks for the program's bytes, and keeps the answers; NULL: there are none.
       Each source may have its own.  For memory that changes, use an image (tw_image_set_callback). */
    tw_memory_fn *memory;
    void *memory_context;
    void *user; /* the caller's own, given back with all that comes from the source */
    /* Of which instruction sets `classify` is asked: bits 1 << enum tw_isa of A32, T32, A64, TEE and
       CUSTOM; 0: of TW_ISA_CUSTOM alone.  For the others it may leave the answer to the library. */
    uint32_t classify_isas;
    /* Streams that several sources share: those whose program is not `image`; and which are to be
       decoded, none given: all. */
    const struct tw_src_image *src_images;
    size_t src_image_count;
    const uint32_t *srcs;
    size_t src_count;
};

/* Per trace ID; owned by the tree.  What a REPEAT repeats is counted so many times. */
struct tw_source_stats {
    uint64_t bytes;           /* of this ID */
    uint64_t unsynced_bytes;  /* before the first synchronization, and after each loss */
    const uint64_t *elements; /* element_types numbers, by enum tw_element_type */
    const uint64_t *errors;   /* error_codes numbers, by enum tw_error_code */
    size_t element_types, error_codes;
    uint64_t instructions;
    uint64_t overflows, discards;
    uint64_t losses;       /* times that synchronization was lost, or reset */
    uint64_t missing_code; /* ADDR_NACC elements */

    /* Of packets_only and with_packets. */
    uint64_t packets, bad_packets;
    uint64_t syncs;               /* packets of TW_PACKET_SYNC */
    const uint64_t *packet_types; /* 256 numbers, by the protocol's type; tw_packet_type_name */
};

/* One packet, its bytes, and whose it is; valid until the next call. */
struct tw_packet_view {
    size_t size;                    /* sizeof(struct tw_packet_view): set by the caller */
    const struct tw_packet *packet; /* the protocol's struct begins with this */
    const uint8_t *bytes;           /* packet->size of them; NULL for a run that was not kept */
    const char *protocol;
    uint8_t kind;                    /* enum tw_packet_kind */
    bool is_bad;                     /* of it: TW_PACKET_BAD or TW_PACKET_CUT */
    bool is_not_sync;                /* of it: TW_PACKET_NOT_SYNC */
    uint32_t source, src;            /* as in struct tw_batch */
    void *user;                      /* tw_tree_source.user */
    const struct tw_protocol *about; /* for the functions below */
    struct tw_bit_reader *bits;      /* for tw_packet_bits; NULL: it cannot be asked */
};

/* Bits of a packet that stand for one thing, counted from the lowest bit of its first byte on.  The name is
   the key of a member, as JSON has it; "type": which packet it is; "more": whether and how it goes on;
   "fixed": no such packet has another value there; "-": nothing. */
struct tw_packet_bit_run {
    const char *name;
    uint32_t first, count;
};

/* What the bits of a packet stand for, in their order: the packet is read again with each of them turned over.
   Returns how many runs there are, at most `room`; 0: the tree does not keep bits, or it is a run of bytes that
   are no packet. */
TW_API size_t tw_packet_bits(const struct tw_packet_view *view, struct tw_packet_bit_run *runs,
                             size_t room);

/* A packet that outlives the next call: what `view` points at is copied to `memory`, of `room` bytes and aligned for any
   type, and `copy`, whose size is set, points there.  `bits` stays behind.  Returns how many bytes it takes, a multiple
   of 16; if that is more than `room`, nothing is copied.  0: `copy->size` cannot be. */
TW_API size_t tw_packet_copy(struct tw_packet_view *copy, void *memory, size_t room,
                             const struct tw_packet_view *view);

TW_API TW_MUST_USE enum tw_status
tw_tree_new(struct tw_tree **tree, const struct tw_tree_config *config, struct tw_fault *fault);
TW_API void tw_tree_free(struct tw_tree *tree);
TW_API const char *tw_tree_fault(const struct tw_tree *tree);

/* Before the first byte.  `id` gets the trace ID that the source has. */
TW_API TW_MUST_USE enum tw_status tw_tree_add_source(struct tw_tree *tree, uint8_t *id,
                                                     const struct tw_tree_source *source);

/* Pull: feed bytes, then take what they give until TW_MORE; at the end of the capture call
   tw_tree_finish, then take until TW_END.  Bytes fed are borrowed only during the call. */
TW_API TW_MUST_USE enum tw_status tw_tree_feed(struct tw_tree *tree, const uint8_t *data,
                                               size_t size);
/* Unframed captures: the same, of bytes that lie at several places of the capture, in pieces that are
   whole there (`first` and `is_discontinuity` are 0).  They go on where the last ones ended, wherever
   those lay; stream->offset may count from anywhere. */
TW_API TW_MUST_USE enum tw_status tw_tree_feed_stream(struct tw_tree *tree,
                                                      const struct tw_stream *stream);
/* Unframed captures: packets instead of bytes, for those who have a source of packets of their own.  An
   array of the source's packet struct (struct tw_ptm_packet, that of a custom protocol ...), each with
   its type, its own members and `base.index`; bad packets, and those before synchronization, stand for
   trace that is missing.  A tree takes either packets or bytes until it is reset.  TW_E_ARGUMENT: a packet
   cannot be, or is a vendor's own of N-Trace (the fault says which); those before it are taken. */
TW_API TW_MUST_USE enum tw_status
tw_tree_feed_packets(struct tw_tree *tree, const struct tw_packet *packets, size_t count);
TW_API TW_MUST_USE enum tw_status tw_tree_finish(struct tw_tree *tree);
/* Points `batch`, whose size is set, at elements of one ID; they stay valid until the next call. */
TW_API TW_MUST_USE enum tw_status tw_tree_next(struct tw_tree *tree, struct tw_batch *batch);

/* Memory with elements that stay where they are. */
struct tw_retained;
/* Keeps the elements of the last batch beyond the next call: the tree takes other memory for what comes.
   `elements` is one of them; more than one part of a batch may be kept, each has a handle of its
   own.  They are given back to the tree's allocator with tw_retained_free, on any thread, before or after the
   tree is freed.  TW_END: they are not the tree's to keep (markers); copy them. */
TW_API TW_MUST_USE enum tw_status tw_tree_retain(struct tw_retained **retained,
                                                 struct tw_tree *tree,
                                                 const struct tw_element *elements);
TW_API void tw_retained_free(struct tw_retained *retained);
TW_API TW_MUST_USE enum tw_status tw_tree_next_packet(struct tw_tree *tree,
                                                      struct tw_packet_view *view);
/* From any thread: work stops soon, and tw_tree_next gives TW_E_CANCELLED until tw_tree_reset. */
TW_API void tw_tree_cancel(struct tw_tree *tree);
/* Forgets all decode state, keeps sources, images and statistics; the next byte fed is at offset
   `base`.  The first NO_SYNC after it gives the reason TW_REASON_RESET. */
TW_API void tw_tree_reset(struct tw_tree *tree, uint64_t base);

/* Unframed captures: how many bytes fed since new or reset are done.  What is held of the rest begins
   a packet that is cut, or was not decoded yet. */
TW_API uint64_t tw_tree_done(const struct tw_tree *tree);
/* Unframed captures, on one thread: whether damage was met in what is done whose end is not known yet,
   so that the error element, and perhaps what else tells of it, is still to come. */
TW_API bool tw_tree_is_damaged(const struct tw_tree *tree);
/* Unframed captures without packets, on one thread, when all elements of the last batch are taken:
   notes how far decoding has come; and goes back to there, as if nothing had been fed or finished
   since.  Feed the bytes from tw_tree_done on again.  A reset forgets the note. */
TW_API TW_MUST_USE enum tw_status tw_tree_mark(struct tw_tree *tree);
TW_API TW_MUST_USE enum tw_status tw_tree_return(struct tw_tree *tree);

/* A line for a packet, without its end; see tw_element_json for the rules on `room`.  1024 bytes
   are always enough for text.  JSON wants twice the packet's size more, or four times where nibbles are listed too
   (STM); where `room` is less nothing is written, and what is enough is returned. */
TW_API size_t tw_packet_json(char *out, size_t room, const struct tw_packet_view *view);
TW_API size_t tw_packet_text(char *out, size_t room, const struct tw_packet_view *view);
TW_API const char *tw_packet_type_name(const struct tw_packet_view *view);

/* What the frames held; NULL when the capture is unframed. */
TW_API const struct tw_frame_stats *tw_tree_frame_stats(const struct tw_tree *tree);
/* All that came under a trace ID; NULL: it is no source's. */
TW_API const struct tw_source_stats *tw_tree_source_stats(const struct tw_tree *tree,
                                                          uint8_t id);
/* The sources that share the stream of a trace ID, as far as they have been met: the number of them,
   and of each, by ascending src, what came of it.  NULL: there are fewer. */
TW_API size_t tw_tree_src_count(const struct tw_tree *tree, uint8_t id);
TW_API const struct tw_source_stats *tw_tree_src_stats(const struct tw_tree *tree, uint8_t id,
                                                       size_t number, uint32_t *src);

/* Names of the protocols that this build knows, NULL at the end of the list. */
TW_API const char *tw_protocol_name(size_t number);
TW_API const char *tw_protocol_title(const char *name);

#ifdef __cplusplus
}
#endif

#endif
