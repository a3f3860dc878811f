/* SPDX-License-Identifier: BSD-2-Clause */
/* A run: a capture as one sequence of events, in the order of its bytes or of time, with who
   executed, when, and what was lost.  Experimental. */
#ifndef TRACKWAY_RUN_H
#define TRACKWAY_RUN_H

#include <trackway/capture.h>
#include <trackway/index.h>
#include <trackway/perfdata.h>
#include <trackway/symbols.h>
#include <trackway/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_run;

/* ---- who and when ---- */

/* What `when` counts in. */
enum tw_clock {
    TW_CLOCK_NONE,  /* there is no time */
    TW_CLOCK_TRACE, /* ticks of the timestamps in the trace */
    TW_CLOCK_RECORD /* ns of the recorder's clock: perf.data that says how the two compare */
};

/* An interval.  What is not known is 0 and UINT64_MAX. */
struct tw_when {
    uint64_t not_before; /* the last timestamp in the trace of this source */
    uint64_t not_after;  /* the next one (see tw_run_config.with_not_after) */
    uint8_t clock;       /* enum tw_clock */
};

/* Bits of tw_who.known, beside those that TW_NONE tells. */
enum { TW_WHO_LEVEL = 1, TW_WHO_CONTEXT = 2, TW_WHO_VMID = 4, TW_WHO_64BIT = 8 };

struct tw_who {
    uint32_t cpu;      /* perf.data: of the source; TW_NONE: not known */
    uint32_t pid, tid; /* TW_NONE: not known */
    const char *comm;  /* name of the thread, "" if not known; lasts as long as the capture */
    const char *core;  /* as the capture names it; NULL: not known */
    uint32_t context_id, vmid; /* as traced, where `known` says so ... */
    uint32_t context_high;     /* ... N-Trace: bits 63:32 of the one that was sent */
    uint8_t known;
    uint8_t level;    /* Exception level, or RISC-V privilege */
    uint8_t security; /* enum tw_security, with the level */
    /* from where it looks at memory: the address space, for tw_image_read */
    struct tw_view view;
    const struct tw_perf_thread *thread; /* perf.data; NULL: no record speaks of it */
};

/* ---- parts ---- */

enum tw_part_kind {
    TW_PART_ELEMENTS, /* `batch`: at least one */
    TW_PART_BEGIN,    /* a buffer begins (in time order: of its ring buffer) */
    TW_PART_END,      /* that buffer is at its end */
    TW_PART_NOTHING,  /* a buffer that holds no source that is wanted and can be decoded */
    TW_PART_LOSS      /* the recorder lost trace: `loss` */
};

/* What tw_run_next gives.  The elements of a part are of one source, one thread, one context and
   address space, and no timestamp lies between them: one may stand first, as may the PE_CONTEXT
   that brought these about. */
struct tw_part {
    size_t size; /* sizeof(struct tw_part), set by the caller */
    uint8_t kind;
    bool is_resumed;       /* elements of this stream were left out since its last part */
    bool has_skipped;      /* code of whatever stream that was left out executed before it */
    struct tw_batch batch; /* valid until the next call; its source is source_number */
    const struct tw_source *source; /* NULL: there are no elements, or they are markers of the
                                       formatter's frames */
    uint32_t source_number;         /* for tw_capture_source */
    uint32_t buffer;                /* for tw_capture_buffer */
    /* buffers that follow each other have the same: those of a perf.data ring buffer */
    uint32_t ring;
    /* a source in a ring: numbered from 0 as they come, see tw_run_stream_count */
    uint32_t stream;
    struct tw_image *image; /* of the source; or NULL */
    struct tw_who who;
    struct tw_when when;
    const struct tw_perf_loss *loss; /* TW_PART_LOSS */
    /* packets of a run with an extent: it lies before it, for those who count distances */
    bool is_lead;
};

/* ---- what part of a capture, and how ---- */

enum tw_order {
    TW_ORDER_CAPTURE, /* one buffer after the other, as the bytes lie */
    TW_ORDER_TIME /* by the timestamps in the trace, over all buffers and sources (of perf.data:
                         all ring buffers); what has none stands where the bytes have it */
};

/* An address from `first` to before `end`; end 0: to the last address. */
struct tw_address_range {
    uint64_t first, end;
};

/* What is wanted.  A list of none means all.  What is left is said as if nothing was left out. */
struct tw_filter {
    size_t size;                /* sizeof(struct tw_filter) */
    const char *const *buffers; /* by name */
    size_t buffer_count;
    const char *const *sources; /* by name */
    size_t source_count;
    bool has_ids;
    uint64_t ids[2];      /* trace IDs, 128 bits */
    const uint32_t *srcs; /* of sources that share a stream: tw_batch.src */
    size_t src_count;
    const uint32_t *cpus;
    size_t cpu_count;
    const uint32_t *pids;
    size_t pid_count;
    const uint32_t *tids;
    size_t tid_count;
    const char *const *comms;
    size_t comm_count;
    /* bit n: Exception level or privilege n; 0: all, and where it is not known */
    uint8_t levels;
    /* Elements that tell of code there: ranges, and addresses that no image holds. */
    const struct tw_address_range *ranges;
    size_t range_count;
    const char *const *functions; /* by symbol name, in the address space of the part */
    size_t function_count;
    /* From an offset in the capture to before another; from a time on to before another, in the clock
       of the part: what may have happened then. */
    bool has_from, has_to, has_from_time, has_to_time;
    uint64_t from, to, from_time, to_time;
    /* From an instruction on to before another: of all that the members above but the offsets, ranges
       and functions leave, in the order of the run, counted from 0. */
    bool has_from_instruction, has_to_instruction;
    uint64_t from_instruction, to_instruction;
};

/* A stretch of a capture: packets that begin at or behind an offset of a buffer and before one of the
   same or a later buffer.  Stretches that follow each other make the whole. */
struct tw_run_extent {
    uint32_t buffer;     /* that it begins in ... */
    uint32_t end_buffer; /* ... and ends in; the number of buffers: it goes up to the end */
    uint64_t offset, end_offset; /* in the capture */
};

/* An ELF file with names, beside those that the capture's own files have. */
struct tw_symbol_file {
    const char *path;
    uint64_t bias;
};

/* Counts elements on the threads that decode them, by source and thread of execution: for profiles,
   coverage, statistics.  A tally holds what one source and one context (with its thread and
   address space) executed. */
struct tw_run_counter {
    size_t size;       /* sizeof(struct tw_run_counter) */
    size_t tally_size; /* bytes of a tally: zeros when it is new */
    void *context;
    /* one tally for all threads and contexts of a source: `who` does not matter */
    bool is_anyones;
    /* On any thread: adds elements, in the order of the trace.  is_resumed: those given to this tally
       before do not directly precede.  Of the part only `batch`, `source`, `source_number`, `buffer`
       and `image` are set. */
    void (*count)(void *context, void *tally, const struct tw_part *part);
    /* On the caller's thread: adds what came later of the same source and context.  is_resumed: not
       directly after it. */
    void (*add)(void *context, void *tally, void *later, bool is_resumed);
    /* On the caller's thread, inside tw_run_next, before the TW_PART_END of each buffer: a tally that
       is done.  Of the part all but `batch` and `when` is set. */
    void (*merge)(void *context, void *tally, const struct tw_part *whose);
    /* Empties a tally, which may keep its memory; NULL: it is set to zeros.  Any thread. */
    void (*clear)(void *context, void *tally);
    /* Frees what a tally keeps; NULL: nothing. */
    void (*release)(void *context, void *tally);
    /* On any thread: as in struct tw_counter; NULL: all ranges come to `count`.  Where it is there, two
       threads of one address space may be told apart less well.  It is not called where parts are
       filtered, or transactions failed. */
    void (*sum)(void *context, void *tally, const struct tw_range_sum *sums, size_t count);
    /* On the caller's thread, of a run with an extent: a tally was given what came right before it, which is
       to be forgotten but for what matters to what comes next.  NULL: nothing does. */
    void (*keep_end)(void *context, void *tally);
    /* as in struct tw_counter */
    bool ignores_local_time;
};

/* Ranges are summed where they are decoded, by blocks of the capture's bytes: for pictures of all of a large one.  Most of them come
   to `sum` and the elements between to `take`, both inside tw_run_next; some, and all where they cannot be summed, come as parts.
   Capture order, one thread, no perf.data, no filter of code, time or number. */
struct tw_run_sums {
    size_t size;    /* sizeof(struct tw_run_sums) */
    uint64_t block; /* bytes; blocks lie at its multiples */
    /* offsets in the capture: what packets tell that begin elsewhere comes as parts */
    uint64_t from, to;
    void *context;
    /* Executed as packets of the block tell that begins at an offset.  Of the part all but `batch` and `when` is set. */
    void (*sum)(void *context, struct tw_run *run, const struct tw_part *part, uint64_t at,
                const struct tw_range_sum *sums, size_t count);
    void (*take)(void *context, struct tw_run *run, const struct tw_part *part);
    /* Whatever came so far of this run, parts too, is to be forgotten: all comes again. */
    void (*forget)(void *context);
};

/* A source that is about to be decoded, or is left out. */
struct tw_run_source {
    uint32_t buffer, source; /* numbers in the capture */
    uint8_t id;              /* as decoded */
    const char *core_type;   /* as decoded; or NULL */
    const char *left_out;    /* why; NULL: it is decoded */
};

struct tw_run_config {
    size_t size;                    /* sizeof(struct tw_run_config) */
    const struct tw_filter *filter; /* borrowed during the call; NULL: all */
    enum tw_order order;
    bool keeps_failed;   /* elements of transactions that failed, and MEMTRANS, are given too */
    bool with_not_after; /* looks ahead for the next timestamp: costs a copy of each element */
    bool is_joined; /* all buffers, in order, go through the decoders of the first: with end of
                            trace and reset between them */
    bool packets_only; /* tw_run_next_packet instead of tw_run_next */
    bool keeps_bits;   /* ... and tw_packet_bits can be asked of each */
    bool leaves_stats; /* tw_run_source_stats tells nothing of elements: somewhat faster */
    uint32_t threads;  /* that decode; 0: one for each core where the capture is large */
    /* Borrowed: gets the elements, but no markers of frames; capture order. */
    const struct tw_run_counter *counter;

    /* How sources are decoded. */
    const char *core_type; /* of all traced cores, "Cortex-A57"; NULL: as the capture says */
    /* after bad trace; neither: as is usual for the protocol */
    bool waits_on_error, resumes_on_error;
    bool assumes_sync;    /* ITM: the first byte begins a packet */
    uint32_t range_limit; /* the rest: as in struct tw_tree_config */
    bool source_address_n;
    size_t batch_room; /* elements that are decoded at once, as in struct tw_tree_config */
    bool check_opcodes, check_atoms, check_continuity;

    /* Names of code.  loads_names: they are loaded now, so that what is wrong shows at once. */
    bool loads_names;
    const struct tw_symbol_file *symbols; /* borrowed during the call */
    size_t symbol_count;

    /* file with the capture's index, used when there is one; NULL: beside it */
    const char *index;
    /* Decoding all of a buffer makes its index beside, with all entries, unless the index file has such a
       one: from the buffer's end on tw_run_index gives it. */
    bool builds_index;

    /* Optional, on the caller's thread. */
    void (*on_source)(void *context, const struct tw_run_source *source);
    void (*on_bytes)(void *context, uint64_t bytes); /* so many more of the capture are read */
    void (*on_warning)(void *context, const char *text);
    void (*on_note)(void *context, const char *text); /* what is done meanwhile */
    void *context;
    const struct tw_allocator *allocator;

    /* only this stretch, said as if all was decoded; borrowed during the call; capture order; NULL: all */
    const struct tw_run_extent *extent;

    /* borrowed during the call; NULL: all elements are parts */
    const struct tw_run_sums *sums;
};

/* The capture must outlive the run.  Of several runs of one capture, one at a time may decode elements;
   those of packets may work beside it, each on a thread of its own. */
TW_API TW_MUST_USE enum tw_status tw_run_new(struct tw_run **run, struct tw_capture *capture,
                                             const struct tw_run_config *config,
                                             struct tw_fault *fault);
TW_API void tw_run_free(struct tw_run *run);
TW_API const char *tw_run_fault(const struct tw_run *run);

/* The next part; TW_END: there is none. */
TW_API TW_MUST_USE enum tw_status tw_run_next(struct tw_run *run, struct tw_part *part);

/* Keeps the elements of the part that tw_run_next gave last beyond the next call; the part may point
   elsewhere then.  Free the handle with tw_retained_free, before or after the run is. */
TW_API TW_MUST_USE enum tw_status tw_run_retain(struct tw_retained **retained,
                                                struct tw_run *run, struct tw_part *part);

/* packets_only: the next packet, in capture order.  `part`: as for elements, without who and when;
   only where its kind is TW_PART_ELEMENTS there is a packet. */
TW_API TW_MUST_USE enum tw_status tw_run_next_packet(struct tw_run *run, struct tw_part *part,
                                                     struct tw_packet_view *view);

/* Calls tw_run_next until the end: for a run with a counter. */
TW_API TW_MUST_USE enum tw_status tw_run_all(struct tw_run *run);

/* Cuts what the run's filter leaves into so many stretches with about equally many bytes, one behind the
   other, at synchronization points (perf.data: between its blocks).  A stretch may be empty: its begin is its end.
   Nothing is decoded: some bytes at each place are looked at, or the index is.  Whoever cuts the same capture,
   with the same filter, gets the same. */
TW_API TW_MUST_USE enum tw_status tw_run_cut(struct tw_run *run, struct tw_run_extent *extents,
                                             size_t count);
/* The same, of one of them alone, by its number from 0: the other places are not looked for. */
TW_API TW_MUST_USE enum tw_status
tw_run_cut_part(struct tw_run *run, struct tw_run_extent *extent, size_t number, size_t count);

/* Sources of rings that gave parts so far: tw_part.stream is less than this. */
TW_API size_t tw_run_stream_count(const struct tw_run *run);
/* How many sources of the buffer at work are decoded. */
TW_API size_t tw_run_source_count(const struct tw_run *run);
/* How many threads decode the buffer at work; of packets, which one thread reads: that the caller may use for them. */
TW_API uint32_t tw_run_threads(const struct tw_run *run);
/* At TW_PART_END, in capture order: counts of a trace ID of the buffer that ended; NULL: no source of
   that ID was decoded. */
TW_API const struct tw_source_stats *tw_run_source_stats(const struct tw_run *run, uint8_t id);

/* ---- what was lost ---- */

struct tw_run_losses {
    size_t size;        /* sizeof(struct tw_run_losses), set by the caller */
    uint64_t recorder;  /* stretches of trace that the recorder lost, or may have lost */
    uint64_t errors;    /* packets that fit no rule, and other bad trace */
    uint64_t truncated; /* the trace ends inside a packet or a frame */
    uint64_t overflows, discards;
    uint64_t gaps;           /* times that frame sync or bytes went missing */
    uint64_t unsynced_bytes; /* before the first synchronization, and after each loss */
    uint64_t missing_code;   /* addresses that no image holds */
};

/* Of the buffers that are at their end.  False: the size cannot be. */
TW_API bool tw_run_losses(const struct tw_run *run, struct tw_run_losses *losses);

/* Code that was executed and is not there, by the file that it should have come from. */
struct tw_missing {
    uint32_t file;     /* for tw_perf_file; TW_NONE: nothing is mapped there, or no perf.data */
    uint64_t times;    /* that the path led there */
    uint64_t branches; /* that came then, of which nothing could be said */
};

/* False: there is no such number. */
TW_API bool tw_run_missing(const struct tw_run *run, struct tw_missing *missing, size_t number);

/* ---- places ---- */

enum tw_place_kind {
    TW_PLACE_TIME,   /* value: a timestamp of the trace */
    TW_PLACE_OFFSET, /* value: an offset in the capture */
    TW_PLACE_NTH     /* value: the number, from 1, of an entry of kind `of` */
};

struct tw_run_place {
    enum tw_place_kind kind;
    enum tw_index_kind of;
    uint64_t value;
};

/* Before the first tw_run_next: parts begin at the place (which elements the packet there made), and
   tell what they would tell if all was decoded.  With an index it is found at once; the n-th of a
   kind has one made in memory.  TW_END: there is no such place.  Capture order, elements. */
TW_API TW_MUST_USE enum tw_status tw_run_seek(struct tw_run *run,
                                              const struct tw_run_place *place);

/* The capture's buffer as tw_index_build wants it: with the same sources as this run decodes, but for
   the filter, which an index does not know in framed buffers.  Lasts until the next such call. */
TW_API TW_MUST_USE enum tw_status tw_run_index_capture(struct tw_run *run,
                                                       const struct tw_index_capture **capture,
                                                       uint32_t buffer);
/* The index of a buffer in the index file, if it is of this capture; NULL: there is none.
   is_thorough: all of the capture is compared with it. */
TW_API const struct tw_index *tw_run_index(struct tw_run *run, uint32_t buffer,
                                           bool is_thorough);
/* The same, made in memory if there is none with all entries; NULL: it could not be. */
TW_API const struct tw_index *tw_run_index_need(struct tw_run *run, uint32_t buffer,
                                                bool is_thorough);
/* Looks at every page of the index file now, not when it is needed; one that is damaged is not used. */
TW_API void tw_run_index_check(struct tw_run *run);
/* Where the index file is, or would be; *is_there: it has all that tw_run_index gives. */
TW_API const char *tw_run_index_path(struct tw_run *run, bool *is_there);
/* How many entries of a kind the IDs that are wanted have; and the one with this number, from 0. */
TW_API uint64_t tw_run_place_count(const struct tw_run *run, const struct tw_index *index,
                                   enum tw_index_kind kind);
TW_API TW_MUST_USE enum tw_status tw_run_place_nth(const struct tw_run *run,
                                                   const struct tw_index *index,
                                                   struct tw_index_entry *entry,
                                                   enum tw_index_kind kind, uint64_t nth);

/* ---- names ---- */

/* What is known of an address. */
struct tw_name {
    size_t size; /* sizeof(struct tw_name), set by the caller */
    bool has_symbol, has_line;
    struct tw_symbol symbol; /* addresses as executed */
    struct tw_source_line line;
    const char *object; /* file that the code is from; NULL: not known */
    uint64_t offset;    /* in that file */
};

/* In the address space and at the time of the part.  False: nothing is known of it. */
TW_API bool tw_run_name(struct tw_run *run, struct tw_name *name, const struct tw_part *part,
                        uint64_t address);
/* The functions that the code at an address is from, as tw_symbols_frames has them. */
TW_API size_t tw_run_frames(struct tw_run *run, struct tw_source_frame *frames, size_t room,
                            const struct tw_part *part, uint64_t address);
/* The symbols that name a part's code at an address, and that address as they have it; NULL: none. */
TW_API struct tw_symbols *tw_run_symbols(struct tw_run *run, uint64_t *link,
                                         const struct tw_part *part, uint64_t address);
/* The file that the code at an address is from, as the capture names it, and the offset in it (if not
   NULL); NULL: not known. */
TW_API const char *tw_run_object(struct tw_run *run, uint64_t *offset,
                                 const struct tw_part *part, uint64_t address);
/* Whether the filter's ranges and functions keep anything from `first` to before `end`. */
TW_API bool tw_run_keeps(struct tw_run *run, const struct tw_part *part, uint64_t first,
                         uint64_t end);

#ifdef __cplusplus
}
#endif

#endif
