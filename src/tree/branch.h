/* SPDX-License-Identifier: BSD-2-Clause */
/* What a decode tree is made of: one branch for each source. */
#ifndef TREE_BRANCH_H
#define TREE_BRANCH_H

#include <stdatomic.h>

#include <trackway/tree.h>

#include "image/quiet.h"
#include "path/follow.h"
#include "protocol.h"
#include "stage/position.h"
#include "tree/stats.h"

enum {
    TW_BRANCH_ELEMENTS = 2048,       /* of a batch, ... */
    TW_BRANCH_ELEMENTS_LEAST = 1024, /* ... and at least: E-Trace needs that many */
    TW_BRANCH_ELEMENTS_MAX = 1 << 20,
    TW_BRANCH_SLACK = 64,       /* readable bytes behind the last */
    TW_THREADS_MAX = 256,       /* of a tree */
    TW_BRANCH_RUN_MAX = 1 << 24 /* longest run of unsynchronized bytes that is one packet */
};

struct tw_branch {
    struct tw_tree *tree;
    const struct tw_protocol *protocol;
    /* These are shown with every batch: as they lie there, they are copied by few instructions. */
    void *user;      /* of the source, and ... */
    uint32_t source; /* ... its number */
    uint32_t src;    /* shared.h: TW_NO_SRC, or which source of the ID's stream it is ... */
    uint8_t id;
    bool src_is_id; /* see struct tw_batch */
    /* ... or several share its stream, and it has no decoder; or NULL */
    struct tw_shared *shared;
    struct tw_shared_part *part; /* of one such source: its packets; or NULL */
    uint32_t order;              /* place in the tree's list */
    void *config;
    struct tw_code *code; /* may be shared with other branches */
    bool owns_code;
    struct tw_image *image;            /* made for the source's own callback; or NULL */
    struct tw_code_config code_config; /* as asked for, to know who may share */
    struct tw_stats stats;

    /* What is held of the stream. */
    struct tw_stream stream;
    size_t used; /* bytes of it that are done */
    bool has_gaps;
    struct tw_gap_ahead ahead; /* of what is decoded; what is read has its own */
    struct tw_position position;

    /* Elements. */
    void *decoder;
    struct tw_follow follow;
    struct tw_element *elements;
    struct tw_retained *retained; /* who else has the elements; NULL: nobody */
    size_t count, given;          /* in `elements`: there, and handed out already */
    struct tw_mark *marks;        /* room for one more than elements */
    const struct tw_mark *mark;   /* of the next element; the last is the end of all */
    struct tw_mark no_marks[2];   /* in their place: elements before those of other branches */
    struct tw_tally *tally;       /* of what the caller's thread counts; or NULL */
    /* offset in the stream: packets that begin before it are decoded without sums, see tw_tree_counts */
    uint64_t apart_until;
    bool is_apart; /* the last batch was */
    size_t view_size;
    struct tw_segment_list *list; /* NULL: there are no other threads */
    bool is_idle;                 /* nothing more comes from what is held */
    bool is_full;  /* the last batch was: the decoder may have more of what is done */
    bool is_ended; /* its end of trace is out */

    /* Packets. */
    void *reader;
    size_t read_used;  /* bytes of the stream that became packets */
    bool is_read_idle; /* no more packets come from what is held */
    void *packet;      /* the protocol's struct: read, but not handed out */
    bool has_packet;
    struct tw_bit_reader *bits; /* bits.c; NULL: not wanted */
    void *writer;               /* packets_in.c: of those that are fed ... */
    uint8_t *written;           /* ... and their bytes */
    const uint8_t *packet_bytes;
    uint64_t packet_end;   /* capture offset behind it */
    struct tw_packet *run; /* of unsynchronized bytes, joined: a whole struct of the protocol */
    bool has_run;
    uint8_t *run_bytes;
    size_t run_size, run_room;
    uint64_t run_end;
    uint64_t handled_gap;
    struct tw_gap_ahead read_ahead;
    bool is_understood;                   /* the last packet handed out was */
    struct tw_packet_tally *packet_tally; /* of those that are counted instead; or NULL */
};

/* A batch that says whose it is, without elements. */
static inline struct tw_batch tw_branch_batch(const struct tw_branch *branch)
{
    return (struct tw_batch){ .size = sizeof(struct tw_batch),
                              .user = branch->user,
                              .source = branch->source,
                              .src = branch->src,
                              .id = branch->id };
}

/* The branch's elements are new: so many, with so many marks. */
static inline void tw_branch_renew(struct tw_branch *branch, size_t count, size_t mark_count)
{
    struct tw_mark *marks = mark_count ? branch->marks : branch->no_marks;

    marks[mark_count ? mark_count : 1] =
        (struct tw_mark){ .released = UINT64_MAX, .first = count };
    branch->mark = marks;
    branch->count = count;
    branch->given = 0;
}

/* A branch that has elements.  The key is the capture offset at which the next of them was released,
   and below it the branch's place among all, which ascend by ID. */
enum { TW_LIVE_ORDER_BITS = 16 };
struct tw_live {
    uint64_t key;
    struct tw_branch *branch;
};

/* Memory that a tree keeps for others; theirs follows. */
struct tw_kept {
    struct tw_kept *next;
    max_align_t first;
};

/* markers.c */
struct tw_markers {
    struct tw_element *items;
    size_t given, count, room;
};

struct tw_tree {
    struct tw_tree_config config;
    struct tw_counter counter; /* config.counter leads here, or is NULL */
    tw_quiet_fn *quiet;        /* asked what may be left out; NULL: nothing */
    void *quiet_context;
    struct tw_sum_bytes *sum_bytes; /* where counts go, or NULL */
    bool is_counting;               /* elements go to it: see tw_tree_counts */
    struct tw_fault fault;
    struct tw_unframer *unframer; /* NULL: unframed */
    struct tw_branch **branches;  /* ascending by ID, then src */
    size_t branch_count, branch_room;
    uint32_t source_count;
    struct tw_branch *last; /* that something was taken from */
    /* packets.c: the branch that gave the last packet, and comes first while its packets end before
       that; NULL: not known. */
    struct tw_branch *packets_from;
    uint64_t packets_until;
    bool is_started, is_finished;
    tw_frame_run_fn *on_run; /* optional: sees the capture's bytes as they are fed */
    void *on_run_context;
    bool is_merged;       /* several branches have bytes: their elements are brought in order */
    struct tw_live *live; /* merging: a queue by key, see elements.c; none: not known yet */
    size_t live_room;
    struct tw_live *live_first, *live_end, *live_limit;
    /* While live_end is before it, elements of the queue are all that there is to hand out; the first
       of the queue: it is empty, or errors are reported, markers wait, or the tree is broken or counts. */
    const struct tw_live *quick_limit;
    enum tw_status broken;     /* sticky */
    struct tw_custom *customs; /* protocols of the caller */
    struct tw_kept *kept;      /* see tw_tree_keep */
    struct tw_pool *pool;      /* parallel.h; NULL: no other threads (yet) */
    atomic_bool is_cancelled;
    bool guesses; /* for tests: segments begin knowing nothing, also where they could */

    /* Unframed: what is held of the only stream (unframed.c). */
    uint8_t *bytes;
    size_t size, room;
    uint64_t offset;
    struct tw_place place; /* where all of it lies, unless there are `places` */
    struct tw_place *places;
    size_t place_count, place_room;
    struct tw_return *mark; /* see tw_tree_mark; or NULL */
    struct tw_markers markers;
    bool has_gaps;      /* packets_in.c: something was missing among what was fed */
    bool is_gap_next;   /* bytes are missing before those that come next */
    bool takes_packets; /* packets_in.c: what is fed are packets, not bytes */
};

/* source.c: the branch of an ID; of a stream that several sources share: that of the stream. */
struct tw_branch *tw_branch_of(const struct tw_tree *tree, unsigned id);
void tw_branch_free(struct tw_branch *branch);
/* tree.c, what feeding is made of: whether it is allowed now; what it begins with; what it ends with. */
enum tw_status tw_tree_may_feed(struct tw_tree *tree);
enum tw_status tw_tree_begin_feed(struct tw_tree *tree);
enum tw_status tw_tree_end_feed(struct tw_tree *tree, enum tw_status status);
/* Zeroed memory that lasts as long as the tree; NULL when it is out. */
void *tw_tree_keep(struct tw_tree *tree, size_t size);
/* Unframed: more bytes of the only stream, which lie where `stream` says. */
enum tw_status tw_unframed_hold(struct tw_tree *tree, const struct tw_stream *stream);
/* Where the next byte lies, if it follows on the last one. */
uint64_t tw_unframed_next(const struct tw_tree *tree);
/* The first `size` bytes held are done. */
void tw_unframed_drop(struct tw_tree *tree, size_t size);
void tw_unframed_reset(struct tw_tree *tree);
void tw_unframed_free(struct tw_tree *tree);
/* Brings the branch's view of its stream up to date; drops what is done. */
void tw_branch_refresh(struct tw_branch *branch);
/* Whether bytes of a stream wait for more, or are missing with none behind them yet: that is told at the end of the trace. */
bool tw_tree_holds(const struct tw_tree *tree, uint8_t id);
/* Nothing was fed yet, or not since a reset: the next byte fed is at offset `base`. */
void tw_tree_rebase(struct tw_tree *tree, uint64_t base);

/* bits.c: a copy of the packet reader as it was before each packet, where it is wanted. */
enum tw_status tw_bits_new(struct tw_branch *branch);
void tw_bits_free(struct tw_branch *branch);
void tw_bits_remember(struct tw_branch *branch);

/* source.c, before sources are added: quiet ranges are left out of their elements. */
void tw_tree_leave_out(struct tw_tree *tree, tw_quiet_fn *quiet, void *context);

#endif
