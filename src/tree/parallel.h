/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallel decode inside a tree.  What is held of a stream is cut into segments at places where a
   decoder can begin.  Each is decoded by a worker that knows nothing of what was before; it says
   nothing until the place where it most likely knows all that matters, and there its state is kept.
   The decoder of the segment before goes on to the same place: if its state there is the same, what
   the worker makes is what one thread would have made; if not, the segment is decoded again from
   the true state.  So the outcome never depends on how well a place was chosen, or on time. */
#ifndef TREE_PARALLEL_H
#define TREE_PARALLEL_H

#include <pthread.h>

#include "base/state.h"
#include "tree/tally.h"

enum {
    TW_SEGMENT_SIZE = 32 * 1024,  /* bytes of a stream, unless told */
    TW_SEGMENT_COUNTED = 1 << 17, /* most, where who decodes counts elements, ... */
    TW_SEGMENT_MOST = 1 << 20,    /* ... and where decoders count themselves; ... */
    TW_SEGMENTS_EACH = 2,         /* ... but so many for each thread */
    TW_SEGMENT_CHUNKS = 48        /* that a segment may fill before someone takes them */
};

/* A batch of elements on its way from a worker to who takes it. */
struct tw_chunk {
    struct tw_chunk *next;
    struct tw_element *elements; /* tw_tree_config.batch_room */
    struct tw_mark *marks;       /* one more, or NULL */
    size_t count, mark_count;
    uint64_t unsynced; /* tw_output.unsynced */
    bool is_guess;     /* elements tell of a total that was a guess */
    bool is_callers;   /* made by the caller's thread, which is who reads it */
};

/* In the order in which they were made. */
struct tw_chunks {
    struct tw_chunk *first, *last; /* `last` is there if `first` is */
    size_t count;
};

/* Where a thread makes batches, without asking for the lock for each. */
struct tw_desk {
    struct tw_chunks made;  /* not handed over yet */
    struct tw_chunks spare; /* free */
    bool is_callers;        /* of the thread that takes what is made */
};

enum tw_segment_phase {
    TW_SEGMENT_WAITING, /* for a worker */
    TW_SEGMENT_RUNNING,
    TW_SEGMENT_PAUSED, /* it has made enough for now */
    TW_SEGMENT_DONE
};

struct tw_segment {
    uint64_t start;  /* of what is read, by stream offset ... */
    uint64_t until;  /* ... which is silent up to here, ... */
    uint64_t end;    /* ... and ends where the next one speaks up */
    uint64_t from;   /* where what it made really begins */
    bool is_last;    /* of what is held now */
    uint8_t phase;   /* enum tw_segment_phase */
    bool is_trusted; /* what it makes is what one thread would make */
    bool has_state;  /* `state` is where to go on; else it begins knowing nothing */
    bool has_begun;  /* `begin` is there */
    bool is_void;    /* running, but in vain */
    bool is_direct;  /* running on the caller's thread, straight into the branch's batch */
    bool is_handed;  /* counting: it gives its elements to who takes them after all */
    enum tw_status status;
    uint64_t by;             /* what its total lacks: see tw_protocol.rebase */
    struct tw_state begin;   /* at `until` */
    struct tw_state state;   /* at the end, or where it paused; true if is_trusted */
    struct tw_chunks chunks; /* what it made and nobody took */
    struct tw_tally *tally;  /* of the elements before the first chunk; or NULL */
    struct tw_stats stats;
};

struct tw_segment_list;
struct tw_engine;

/* A segment being worked on. */
struct tw_job {
    struct tw_segment_list *list;
    size_t number;
    struct tw_segment *segment;
    struct tw_engine *engine;
    struct tw_desk *desk; /* of who works */
    struct tw_input in;
    struct tw_gap_ahead ahead; /* of `in` */
};

/* A branch's part in it. */
struct tw_segment_list {
    struct tw_branch *branch;
    size_t number;   /* of the branch in the tree */
    bool is_able;    /* its protocol can */
    bool is_active;  /* what is held now is decoded in parallel */
    bool is_away;    /* the true state is `state`, not that of the branch's own decoder */
    unsigned misses; /* segments decoded in vain, in a row */
    struct tw_state state;
    struct tw_segment *segments;
    size_t count, room;
    size_t current;         /* the segment whose elements are taken */
    struct tw_chunks ready; /* the caller's thread took these of the current segment, ... */
    struct tw_chunks used;  /* ... and is done with these */
    struct tw_chunk *taken; /* whose elements are the branch's now ... */
    struct tw_element *own_elements; /* ... and what the branch decodes into itself */
    struct tw_mark *own_marks;       /* NULL: it kept its own */
    struct tw_engine *home;          /* the branch's own decoder ... */
    struct tw_job direct;            /* ... and what it is at */
    void *view_context;              /* what workers begin with; view_size bytes */
    struct tw_follow follow;         /* what theirs are made of */
};

/* What a thread decodes a branch with. */
struct tw_engine {
    void *decoder;
    struct tw_follow *follow; /* `own`, or that of the branch */
    struct tw_follow own;
    struct tw_code *code;
    struct tw_image *image; /* an alias, or NULL */
    bool owns_code;
    void *view_context;
};

struct tw_worker {
    struct tw_pool *pool;
    pthread_t thread;
    struct tw_desk desk;
    struct tw_engine *engines; /* by number of the branch */
};

struct tw_pool {
    struct tw_tree *tree;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t work;  /* there may be something to do */
    pthread_cond_t ready; /* there may be something to take */
    struct tw_worker *workers;
    size_t worker_count; /* that run */
    struct tw_desk desk; /* the caller's */
    struct tw_segment_list *lists;
    size_t list_count;
    struct tw_chunks free; /* for use again; the longest free first: no cache has it by now */
    struct tw_tally *tallies; /* for use again */
    size_t in_flight;         /* segments begun whose elements are not all taken */
    size_t in_flight_most, quota;
    size_t share;    /* chunks that change hands at once */
    bool leaves_one; /* see find_work in pool.c */
    size_t running;
    bool is_ending, is_aborting;
    /* Segments: guessed right, guessed wrong, begun from a known state. */
    uint64_t matched, redone, given;
    uint64_t handed; /* counting: of those done, how many handed elements over after all */
    /* Bytes that more than one thread read: before what was guessed right, all of what was not. */
    uint64_t in_vain;
};

/* A segment is decoded again. */
static inline void tw_pool_note_miss(struct tw_pool *pool, struct tw_segment_list *list,
                                     const struct tw_segment *segment)
{
    pool->in_flight--;
    pool->redone++;
    pool->in_vain += segment->end - segment->start;
    list->misses++;
}

/* chunks.c */

/* Puts all of `more` behind the others; it is empty then. */
void tw_chunks_append(struct tw_chunks *chunks, struct tw_chunks *more);
void tw_chunks_add(struct tw_chunks *chunks, struct tw_chunk *chunk);
void tw_chunks_add_first(struct tw_chunks *chunks, struct tw_chunk *chunk);
/* The first; NULL: there is none. */
struct tw_chunk *tw_chunks_take(struct tw_chunks *chunks);
/* Up to so many in `to`. */
void tw_chunks_move(struct tw_chunks *to, struct tw_chunks *from, size_t most);
void tw_chunks_free(const struct tw_tree *tree, struct tw_chunks *chunks);
/* For the next batch.  NULL: no memory. */
struct tw_chunk *tw_desk_begin(const struct tw_tree *tree, struct tw_desk *desk,
                               bool is_merged);
/* It is among what is made; if nothing is in it, it is the next again. */
void tw_desk_end(struct tw_desk *desk, struct tw_chunk *chunk);
void tw_desk_free(const struct tw_tree *tree, struct tw_desk *desk);

/* engine.c */

/* What the worker decodes the branch with, made when first needed.  NULL: no memory. */
struct tw_engine *tw_engine_of(struct tw_worker *worker, const struct tw_segment_list *list);
void tw_engine_free(struct tw_engine *engine, const struct tw_branch *branch);
/* The decoder goes on where the segment's state says.  False: no memory. */
bool tw_job_load(struct tw_job *job);
/* It knows nothing, or what seems sure, and is at the segment's start. */
bool tw_job_guess(struct tw_job *job);
/* Lets it see the stream up to here. */
void tw_job_limit(struct tw_job *job, uint64_t end, bool is_last);
enum tw_status tw_job_decode(struct tw_job *job, struct tw_chunk *chunk, bool is_merged);
void tw_job_save(struct tw_job *job, struct tw_state *state);
/* The stream offset that was reached. */
uint64_t tw_job_place(const struct tw_job *job);
/* Saves or loads a decoder with all that belongs to it. */
void tw_segment_list_visit(const struct tw_segment_list *list, void *decoder,
                           struct tw_follow *follow, struct tw_state *state);

/* counted.c: where tw_counts_apart. */

/* Where elements are counted the segment has a tally, unless memory is out. */
void tw_segment_take_tally(struct tw_pool *pool, struct tw_segment *segment);
/* Ranges are counted by the decoder as long as the segment has a tally, and elements do not have to keep
   their order with others that wait. */
void tw_job_set_sums(const struct tw_job *job);
/* Counts the chunk's elements here and now; it is empty then, or to be put with what the segment made. */
enum tw_status tw_job_count(struct tw_pool *pool, struct tw_job *job, struct tw_chunk *chunk);

/* pool.c: what workers do. */

/* Starts the workers; there is a segment list for each branch. */
enum tw_status tw_pool_start(struct tw_pool *pool, size_t threads);
/* Ends them and frees what they used. */
void tw_pool_stop(struct tw_pool *pool);
/* Stops all work at once; returns when nobody works.  With the lock. */
void tw_pool_abort(struct tw_pool *pool);
/* With the lock: does what a worker would do next, on this thread.  False: there is nothing. */
bool tw_pool_help(struct tw_pool *pool);
/* With the lock: the total that `state` has, if it was a guess, is made true. */
void tw_segment_settle(struct tw_segment *segment);
/* With the lock: the job's segment is done with. */
void tw_pool_leave(struct tw_pool *pool, struct tw_job *job, enum tw_status status);

/* parallel.c: what the tree does. */

/* After the branches know what is held: plans, and sets workers to it. */
enum tw_status tw_parallel_plan(struct tw_tree *tree);
/* True while elements wait that come from workers. */
bool tw_parallel_is_busy(const struct tw_tree *tree);
/* The branch's next elements.  False: it is not decoded in parallel now, and its own decoder is
   where it should be (or *status says why not). */
bool tw_parallel_fill(struct tw_branch *branch, enum tw_status *status, bool is_merged);
void tw_parallel_reset(struct tw_tree *tree);
/* Nothing is being decoded: decoders are where they should be, and the threads end.  They are made
   anew when there is work for them. */
enum tw_status tw_parallel_end(struct tw_tree *tree);
void tw_parallel_free(struct tw_tree *tree);

#endif
