/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run is made of.  Elements go from the readers, one for each sequence of buffers, through
   rollback, order, attribution and filters to the caller: slices of the decoder's own batch, which
   are not copied unless they have to wait. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include <trackway/run.h>

#include "base/elements.h"
#include "base/map.h"
#include "base/memory.h"
#include "image/quiet.h"
#include "tree/packet_tally.h"

enum { TW_RUN_IDS = 128 };

/* ---- rollback.c ---- */

/* Holds the elements of a transaction until it is known whether it failed. */
struct tw_rollback {
    struct tw_element *items;
    size_t count, room;
    bool is_open;     /* inside a transaction */
    bool is_released; /* `items` were given out: they are free again */
    /* The batch at work. */
    struct tw_batch batch;
    size_t at;
};

/* A new batch, of which all that was before has been taken. */
void tw_rollback_take(struct tw_rollback *rollback, const struct tw_batch *batch);
/* The next elements that count; false: there are none for now. */
bool tw_rollback_next(struct tw_rollback *rollback, struct tw_batch *batch,
                      const struct tw_allocator *allocator);
/* The trace ends: an open transaction is taken as done.  False: there was nothing in it. */
bool tw_rollback_end(struct tw_rollback *rollback, struct tw_batch *batch);
/* Whether a batch passes as it is. */
bool tw_rollback_is_idle(const struct tw_rollback *rollback, const struct tw_batch *batch);

/* ---- who.c ---- */

/* What is known of a source in a ring while its elements go by. */
struct tw_run_stream {
    uint32_t number, source_number, ring, buffer;
    uint8_t id;
    uint32_t src; /* as in tw_batch */
    bool src_is_id;
    const struct tw_source *source;
    struct tw_image *image;
    struct tw_rollback rollback;

    struct tw_perf_cursor cursor; /* perf.data */
    struct tw_element context;    /* the last PE_CONTEXT, if has_context */
    bool has_context;
    uint64_t timestamp; /* the last; 0: none */
    struct tw_who who;
    struct tw_when when;

    bool is_resumed;       /* something was left out since the last part */
    uint32_t missing_file; /* where code was missing last: number in run->missing */
    uint32_t last_total;   /* counting: where its last elements went; TW_NONE */
    size_t waiting;        /* look-ahead: its oldest part without next timestamp + 1; 0: none */
    size_t newest;         /* ... and the newest */
};

/* A buffer begins: nothing is known. */
void tw_who_begin(struct tw_run *run, struct tw_run_stream *stream, uint32_t buffer);
/* What a PE_CONTEXT tells. */
void tw_who_take_context(struct tw_who *who, const struct tw_element *context);
/* An element comes; only PE_CONTEXT and TIMESTAMP change anything. */
void tw_who_see(struct tw_run_stream *stream, const struct tw_element *element);
/* How many elements belong together, from the first on, which has not been seen: it is, now.
   has_missing: some tell of code that is not there. */
size_t tw_who_cut(struct tw_run_stream *stream, const struct tw_element *elements, size_t count,
                  bool *has_missing);

/* ---- losses.c ---- */

struct tw_run_missing {
    uint64_t times, branches;
};

struct tw_losses {
    uint64_t errors, truncated, overflows, discards, gaps, unsynced_bytes, missing_code;
};

/* The recorder's losses in the order of rings and of places in them: a ring is a CPU's, or a thread's. */
struct tw_ring_losses {
    struct tw_ring_loss *items;
    size_t *passed; /* by the first item of each ring: how many of it were told of */
};

/* Puts the recorder's losses into order.  TW_E_MEMORY or TW_OK. */
enum tw_status tw_losses_new(struct tw_run *run);
/* The next loss to tell of before this buffer begins (NULL: of all that are left), or NULL. */
const struct tw_perf_loss *tw_losses_next(struct tw_run *run, const uint32_t *buffer);

void tw_losses_add_stats(struct tw_losses *losses, const struct tw_source_stats *stats);
void tw_losses_add_packet(struct tw_run *run, const struct tw_packet_view *view);
/* The number in run->missing of the file that should hold an address; the last: none. */
uint32_t tw_losses_file(const struct tw_run *run, const struct tw_run_stream *stream,
                        uint64_t address);
/* Counts code that no image holds. */
void tw_losses_see(struct tw_run *run, struct tw_run_stream *stream,
                   const struct tw_element *elements, size_t count);

/* ---- reader.c ---- */

/* Decodes buffers one after the other. */
/* What was seen of an ID: nothing yet, something, or what lies behind all that is wanted. */
enum tw_progress { TW_UNSEEN, TW_SEEN, TW_BEHIND };

struct tw_reader {
    struct tw_run *run;
    struct tw_tree *tree; /* of the buffer at work; kept for the next where it serves */
    struct tw_perf_cursor *cursors; /* perf.data: of the decoders, by source number */
    uint32_t next, end;             /* buffers that are still to come */
    uint32_t only;                  /* the only source; TW_NONE: all that are wanted */
    uint32_t buffer, ring;
    bool is_open;     /* a buffer is at work */
    bool is_ended;    /* ... and at its end, but for what a rollback holds */
    bool is_finished; /* all its bytes were fed */
    bool is_over;     /* what comes lies behind the extent */
    uint64_t fed;
    uint64_t bytes; /* of all its buffers */
    size_t source_count;
    uint32_t source_of[TW_RUN_IDS]; /* by trace ID; TW_NONE: none */
    uint32_t owner_of[TW_RUN_IDS];  /* the same, with second streams of a unit */
    struct tw_run_stream **streams; /* that gave elements */
    size_t stream_count, stream_room;
    struct tw_run_stream *by_id[TW_RUN_IDS]; /* the last of each ID */
    struct tw_map by_src;                    /* of each ID and src: number in `streams` + 1 */
    struct tw_rollback *rolling;             /* has more of its batch to give */
    size_t flushed;                          /* streams whose rollback was asked for its rest */
    struct tw_index *index;                  /* that is built beside; or NULL */
    uint8_t progress[TW_RUN_IDS];            /* packets, by ID: enum tw_progress */

    /* Time order. */
    struct tw_batch batch;
    size_t given;
    size_t next_time; /* in the batch: the next timestamp behind `given`, if it is greater */
    bool has_key;
    bool is_done;
    uint64_t key; /* all that is given next happened after this timestamp */
};

/* Begins a buffer.  TW_END: it holds nothing that is wanted. */
enum tw_status tw_reader_open(struct tw_reader *reader, uint32_t buffer);
/* The next elements of one source that count.  TW_END: the buffer is done. */
enum tw_status tw_reader_next(struct tw_reader *reader, struct tw_batch *batch);
enum tw_status tw_reader_next_packet(struct tw_reader *reader, struct tw_packet_view *view);
/* The stream of an ID and src that has just given elements; NULL: no memory. */
struct tw_run_stream *tw_reader_stream(struct tw_reader *reader, uint8_t id, uint32_t src);
/* indexes.c, with builds_index: the buffer's index is begun; has more of its bytes; is finished. */
void tw_reader_index_begin(struct tw_reader *reader);
void tw_reader_index_feed(struct tw_reader *reader, const uint8_t *bytes, size_t size);
void tw_reader_index_end(struct tw_reader *reader);
/* Counts what was lost, frees the tree. */
void tw_reader_close_tree(struct tw_reader *reader);
void tw_reader_free(struct tw_reader *reader);
/* Whether the tree of one buffer serves another: the same framing and the same sources. */
bool tw_reader_serves(const struct tw_reader *reader, uint32_t buffer);

/* ---- count.c: counting on threads ---- */

struct tw_run_count;
enum tw_status tw_count_new(struct tw_run *run);
void tw_count_free(struct tw_run *run);
/* For the tree's config. */
const struct tw_counter *tw_count_counter(const struct tw_run *run);
void tw_count_begin(struct tw_run *run, struct tw_reader *reader);
/* The buffer is at its end: hands out what was counted.  TW_MORE: a transaction failed, and the buffer
   is to be counted again by tw_count_part. */
enum tw_status tw_count_end(struct tw_run *run);
enum tw_status tw_count_part(struct tw_run *run, const struct tw_part *part);
/* Elements that come right before the run's extent: what they leave matters to what follows. */
enum tw_status tw_count_lead(struct tw_run *run, const struct tw_part *part);

/* ---- sums.c: ranges summed by blocks of the capture ---- */

struct tw_run_summing;
enum tw_status tw_summing_new(struct tw_run *run, const struct tw_run_sums *sums);
void tw_summing_free(struct tw_run *run);
/* For the tree's config; NULL: nothing is summed. */
const struct tw_counter *tw_summing_counter(const struct tw_run *run);
/* Before bytes are fed: how many may be, of so many; 0 at the end.  What the tree gives of them is summed, or not. */
size_t tw_summing_feed(struct tw_run *run, struct tw_reader *reader, size_t size);
/* Behind what the tree gave: its status; or where what was summed is not what happened, of beginning again. */
enum tw_status tw_summing_check(struct tw_run *run, struct tw_reader *reader,
                                enum tw_status status);
/* All comes again. */
void tw_summing_forget(struct tw_run *run);

/* ---- bounds.c: the next timestamp ---- */

struct tw_bounds;

enum tw_status tw_bounds_new(struct tw_run *run);
void tw_bounds_free(struct tw_run *run);
enum tw_status tw_bounds_next(struct tw_run *run, struct tw_part *part);
/* Elements of a stream come, of which the first has been seen; `before`: its timestamp until then. */
void tw_bounds_see(struct tw_run *run, struct tw_run_stream *stream, uint64_t before,
                   size_t count);

/* ---- names.c ---- */

struct tw_run_names;

enum tw_status tw_names_new(struct tw_run *run, const struct tw_run_config *config);
void tw_names_free(struct tw_run *run);
/* Names of the images are loaded now, not when they are asked for. */
void tw_names_load(struct tw_run *run);
/* The build ID of the file that an address lies in, as it was recorded or as the file has it that was found; its size,
   0: not known. */
size_t tw_run_build_id(struct tw_run *run, uint8_t id[20], const struct tw_part *part,
                       uint64_t address);
/* The same of a file of perf.data; and of one by its name, which is looked for at that path where none is mapped that is named so. */
size_t tw_run_file_id(uint8_t id[20], const struct tw_perf_file *file);
size_t tw_run_object_id(const struct tw_run *run, uint8_t id[20], const char *object);
/* From where up to where around an address tw_run_symbols gives the same symbols. */
void tw_names_reach(struct tw_run *run, uint64_t *first, uint64_t *end,
                    const struct tw_part *part, uint64_t address);

/* ---- filter.c ---- */

struct tw_run_filter {
    struct tw_filter about; /* what it points at is the run's own */
    bool *has_buffer;       /* by number; NULL: all */
    bool *has_source;
    bool has_who;      /* asks for cpu, pid, tid, comm, level */
    bool has_code;     /* asks for addresses */
    bool has_count;    /* asks for instructions by number */
    bool has_element;  /* asks of single elements */
    uint64_t executed; /* instructions so far */
};

enum tw_status tw_filter_new(struct tw_run *run, const struct tw_filter *filter);
bool tw_filter_has_buffer(const struct tw_run *run, uint32_t buffer);
bool tw_filter_has_source(const struct tw_run *run, uint32_t source);
bool tw_filter_has_who(const struct tw_run *run, const struct tw_who *who);
bool tw_filter_has_when(const struct tw_run *run, const struct tw_when *when);
bool tw_filter_has_id(const struct tw_run *run, uint8_t id);
bool tw_filter_has_stream(const struct tw_run *run, uint8_t id, uint32_t src);
bool tw_filter_has_offset(const struct tw_run *run, uint64_t index);
/* Asks of packets where they lie or whose they are. */
bool tw_filter_has_packets(const struct tw_run *run);
/* Nothing at this place or behind it is wanted. */
bool tw_filter_is_behind(const struct tw_run *run, uint64_t index);
/* Whether an element of a part tells of code that is wanted. */
bool tw_filter_has_code(struct tw_run *run, const struct tw_part *part, size_t element);
/* Whether what is said of a part is wanted. */
bool tw_filter_has_part(const struct tw_run *run, const struct tw_part *part);
/* The first stretch of elements that are wanted, from *next on: begins at *first, returns its length, 0:
   none; *next: where to go on. */
size_t tw_filter_cut(struct tw_run *run, const struct tw_part *part, size_t *first,
                     size_t *next);

/* ---- extent.c ---- */

/* The stretch of a capture that a run is of, and what of it lies in the buffer at work. */
struct tw_extent_state {
    struct tw_run_extent about; /* if is_given */
    bool is_given;
    bool is_cut; /* it begins or ends inside a buffer */
    uint64_t from, to;
    bool is_past[TW_RUN_IDS]; /* by ID: all of it before `to` has come */
};

/* Copies the caller's; and, after the readers were made, begins where it does. */
enum tw_status tw_extent_take(struct tw_run *run, const struct tw_run_extent *extent);
enum tw_status tw_extent_start(struct tw_run *run);
bool tw_extent_has_buffer(const struct tw_run *run, uint32_t buffer);
/* A buffer is opened. */
void tw_extent_open(struct tw_run *run, uint32_t buffer);
/* Which part of a capture a run is of. */
struct tw_run_stretch {
    uint64_t capture; /* a number made of its bytes: the same for everyone who opens it */
    struct tw_run_extent extent;
    bool is_first, is_last; /* nothing that is wanted lies before it, behind it */
};

void tw_run_stretch(const struct tw_run *run, struct tw_run_stretch *stretch);
/* Something of an ID came, that lies there in the capture.  True: nothing more can come that lies in the extent. */
bool tw_extent_is_over(struct tw_run *run, const struct tw_reader *reader, uint8_t id,
                       uint64_t index);
/* The same of elements: damage is told late, with the place where it begins. */
bool tw_extent_is_behind(struct tw_run *run, const struct tw_reader *reader,
                         const struct tw_batch *batch);

/* ---- seek.c, indexes.c ---- */

struct tw_run_seek;
struct tw_indexes;
void tw_seek_free(struct tw_run *run);
void tw_indexes_free(struct tw_run *run);
/* After the reader opened the buffer that holds the place: feeding begins there. */
enum tw_status tw_seek_begin(struct tw_run *run, struct tw_reader *reader);
/* Looks at what a decoder that began in the middle made.  TW_MORE: it may not know all, and begins
   again earlier. */
enum tw_status tw_seek_check(struct tw_run *run, struct tw_reader *reader,
                             const struct tw_batch *batch);
/* Whether it may not. */
bool tw_seek_doubts(struct tw_run *run, const struct tw_batch *batch);
/* Begins the buffer again, earlier where it was begun in the middle; TW_MORE, or why not. */
enum tw_status tw_seek_again(struct tw_run *run, struct tw_reader *reader);
/* Whether all elements of a part, from `first` on, lie there: they are given then.  False: each has to be asked. */
bool tw_seek_has_all(struct tw_run *run, const struct tw_part *part, size_t first);
/* Whether an element lies at or behind the place, and was not given before. */
bool tw_seek_has(struct tw_run *run, const struct tw_part *part,
                 const struct tw_element *element);
/* How many elements of a part lie before the place where a run with an extent begins. */
size_t tw_seek_lead(const struct tw_run *run, const struct tw_part *part);
/* The timestamp of a stream that was last before decoding begins, as the index has it; 0: not known. */
uint64_t tw_seek_time(const struct tw_run *run, const struct tw_run_stream *stream);
/* The buffer that holds the place was given: those behind it are decoded from their start. */
void tw_seek_end(struct tw_run *run);
void tw_warn(struct tw_run *run, const char *format, ...) TW_PRINTF(2, 3);
void tw_note_that(struct tw_run *run, const char *format, ...) TW_PRINTF(2, 3);

/* ---- quiet.c ---- */

/* Whether the way from the first range of a part to its second is quiet (image/quiet.h): on any thread, once
   for each way.  `image` is the part's, but the thread's own. */
typedef enum tw_quiet_kind tw_run_quiet_fn(void *context, const struct tw_part *two,
                                           struct tw_image *image);

/* Quiet ranges are left out of the run's parts, if they have to be complete for nobody.  Before the first part. */
void tw_run_leave_out(struct tw_run *run, tw_run_quiet_fn *quiet, void *context);
/* To a reader's new tree. */
void tw_reader_leave_out(struct tw_reader *reader);

/* ---- run.c ---- */

struct tw_run {
    struct tw_capture *capture;
    const struct tw_perf *perf;  /* NULL: it is no perf.data */
    struct tw_run_config config; /* what it borrows is the run's own, or gone */
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
    struct tw_run_counter counter;
    tw_run_quiet_fn *quiet; /* quiet.c: asked what may be left out; NULL: nothing */
    void *quiet_context;
    struct tw_run_kept *kept;
    struct tw_fault fault;
    enum tw_status broken; /* sticky */

    struct tw_reader **readers; /* capture order: one */
    size_t reader_count;
    bool is_started;
    struct tw_reader *at_work; /* whose slice is being given out, or whose buffer ended */

    struct tw_run_stream **streams; /* by number */
    size_t stream_count, stream_room;

    /* Elements on their way out. */
    struct tw_run_stream *stream;
    struct tw_batch slice;      /* of one stream ... */
    size_t cut;                 /* elements before this are given, or left out */
    struct tw_part part;        /* the part at work ... */
    size_t part_next;           /* ... from here on still to come */
    bool tallies_packets;       /* see tw_run_tally_packets */
    struct tw_part packet_part; /* packets only: whose the last one was; size 0: none was */
    bool has_skipped;           /* code was left out since the last part */
    bool *is_told;              /* recorder's losses, by number: their part was given ... */
    size_t told_next;           /* ... to all before this one */
    struct tw_ring_losses by_cpu, by_tid;

    struct tw_losses losses; /* of trees that are gone, and of packets */
    struct tw_run_missing *missing;
    bool is_synced[TW_RUN_IDS]; /* packets: something of this ID was understood */

    struct tw_run_filter filter;
    struct tw_extent_state extent;
    struct tw_run_names *names;
    struct tw_run_count *count;
    struct tw_run_summing *summing; /* or NULL */
    struct tw_run_seek *seek;
    struct tw_indexes *indexes;
    struct tw_bounds *bounds;
};

/* Zeroed memory that lasts as long as the run; NULL when it is out. */
void *tw_run_keep(struct tw_run *run, size_t size);
char *tw_run_keep_text(struct tw_run *run, const char *text);
/* One reader for each sequence of buffers that is merged. */
enum tw_status tw_order_start(struct tw_run *run);
/* TW_OK and TW_PART_ELEMENTS: the next slice, in run->stream and run->slice; or another kind of part,
   filled in.  TW_END: there is no more. */
enum tw_status tw_order_next(struct tw_run *run, struct tw_part *part);
/* The buffer at work is at its end, or there is none: the event that follows. */
enum tw_status tw_order_event(struct tw_run *run, struct tw_part *part);
/* The next part, without look-ahead. */
enum tw_status tw_run_part(struct tw_run *run, struct tw_part *part);
/* As tw_run_next_packet, without a copy: *part is the run's own until the next call, or `event`. */
enum tw_status tw_run_packet(struct tw_run *run, struct tw_part *event,
                             const struct tw_part **part, struct tw_packet_view *view);
/* A run of packets gives those alone that tell more than what they are, and counts the others (tree/packet_tally.h), if nothing
   is asked of single ones.  Before the first. */
void tw_run_tally_packets(struct tw_run *run);
/* What was counted of each type since, where a buffer has ended or the run has: with a packet of that type. */
typedef void tw_run_packet_sum_fn(void *context, const struct tw_part *part,
                                  const struct tw_packet_view *view,
                                  const struct tw_packet_sum *sum);
void tw_run_take_packets(struct tw_run *run, tw_run_packet_sum_fn *take, void *context);
/* What a stream tells of its elements now. */
void tw_part_of(struct tw_part *part, const struct tw_run_stream *stream);

#endif
