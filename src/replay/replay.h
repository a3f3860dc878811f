/* SPDX-License-Identifier: BSD-2-Clause */
/* What a replay is made of: windows of the capture, the elements of each thread in those that are decoded, and call
   stacks at the beginning of windows. */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include <trackway/replay.h>
#include <trackway/walk.h>

#include "base/map.h"
#include "base/memory.h"

/* Elements of one thread in a window, in the order of the trace. */
struct tw_replay_track {
    struct tw_element *elements;
    uint64_t *before; /* by element: instructions of the track before it */
    size_t count, room, before_room;
    uint64_t instructions;
    struct tw_replay_stretch *stretches;
    size_t stretch_count, stretch_room;
};

/* What a run's part says of its elements. */
struct tw_replay_stretch {
    size_t first; /* element */
    struct tw_part part;
};

struct tw_replay_data {
    struct tw_replay_track *tracks; /* by thread number */
    size_t count, room;
    uint64_t bytes; /* memory of all tracks */
};

struct tw_replay_window {
    uint32_t buffer;
    uint64_t from, to; /* offsets in the capture */
    uint64_t bytes;
    uint32_t end_block;          /* is_timed: blocks up to before this one end in it */
    struct tw_replay_data *data; /* NULL: not decoded, or forgotten */
    uint64_t used;               /* when it was asked for last */
};

/* A buffer, in the order in which they are gone through. */
struct tw_replay_block {
    uint32_t buffer;
    uint32_t stream; /* perf.data: whose ring buffer */
    uint64_t time;   /* perf.data: of its record */
};

/* Call stacks of a thread before an element of a window. */
struct tw_replay_mark {
    uint32_t window;
    size_t element;
    bool is_whole; /* nothing that the trace tells of callers is left out */
    struct tw_calls_mark *stacks;
};

struct tw_replay_about {
    uint64_t key;
    uint64_t scan;                /* the last that met it */
    struct tw_replay_mark *marks; /* in order; those inside a window are of the one at work */
    size_t mark_count, mark_room;
    char name[80];
    struct tw_replay_thread thread;
    struct tw_replay_place first, last; /* once they were asked for */
    bool has_first, has_last;
};

/* What the recorder lost before a place in the stream of a CPU or a thread. */
struct tw_replay_lost {
    uint64_t end;
    uint32_t ring; /* the CPU's number, or the thread's */
    uint32_t number;
    bool has_data; /* else the file lacks the whole block */
};

struct tw_replay {
    struct tw_capture *capture;
    const struct tw_perf *perf;
    struct tw_replay_config config;
    struct tw_run_config run_config; /* of each run */
    struct tw_filter filter;         /* of each run */
    struct tw_run *names;
    struct tw_walk *walk;
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
    struct tw_fault fault;

    struct tw_replay_window *windows; /* in the order in which they are gone through */
    size_t window_count, window_room;
    uint64_t clock, bytes, scans;
    struct tw_replay_block *blocks;
    size_t block_count;
    bool is_timed; /* windows are merged by time, see timed.c: their `from` and `to` hold all */
    uint32_t *ranks; /* then: of buffers in `blocks` */
    /* By their ends, and of each by CPU, then the same by thread. */
    struct tw_replay_lost *lost;
    size_t lost_count; /* of either */

    struct tw_replay_about **threads;
    size_t thread_count, thread_room;
    struct tw_map by_key;

    struct tw_calls *calls;

    /* Handles of the capture, one for each thread that may look for places: the first is `capture`. */
    struct tw_capture **handles;
    size_t handle_count, handle_room;
    bool has_handles;
};

/* ---- lost.c ---- */

enum tw_status tw_lost_list(struct tw_replay *replay);
/* What was lost right before a block: how many, one after the other from *first on. */
size_t tw_lost_before(const struct tw_replay *replay, uint32_t buffer,
                      const struct tw_replay_lost **first);

/* ---- windows.c ---- */

enum tw_status tw_windows_list(struct tw_replay *replay);
/* The decoded elements of a window; they stay until the next but one call. */
enum tw_status tw_windows_load(struct tw_replay *replay, struct tw_replay_data **data,
                               uint32_t window);
void tw_windows_free(struct tw_replay *replay);
/* The track of a thread; NULL: it is not in the window. */
struct tw_replay_track *tw_windows_track(const struct tw_replay_data *data, uint32_t thread);

/* Gives the parts of windows [first, end) that are next to each other in a buffer; `take` returns false to end. */
typedef bool tw_scan_fn(void *context, uint32_t thread, const struct tw_part *part);
enum tw_status tw_windows_scan(struct tw_replay *replay, uint32_t first, uint32_t end,
                               tw_scan_fn *take, void *context);
/* A scan that changes nothing of the replay: several may run at a time, each with a handle of its own. */
struct tw_scan_apart {
    struct tw_capture *capture;
    tw_scan_fn *take; /* is given the parts of threads that the replay knows */
    void *context;
    bool (*is_over)(void *context);
    struct tw_fault fault;
};

/* TW_E_CANCELLED: is_over. */
enum tw_status tw_windows_scan_apart(const struct tw_replay *replay,
                                     struct tw_scan_apart *apart, uint32_t first, uint32_t end);
/* The last window, from `first` on, that a scan may go through at once, of `most`; behind it. */
uint32_t tw_windows_together(const struct tw_replay *replay, uint32_t first, uint32_t most);

/* The number of the thread that a part belongs to, made when it is new; TW_NONE: it has executed nothing
   yet, or there is no memory (*is_out). */
uint32_t tw_replay_thread_of(struct tw_replay *replay, const struct tw_part *part,
                             bool *is_out);
/* The number of a thread that is known; TW_NONE: it is not. */
uint32_t tw_replay_known_thread(const struct tw_replay *replay, const struct tw_part *part);
bool tw_replay_is_cancelled(struct tw_replay *replay);

/* ---- timed.c ---- */

/* The blocks that are decoded for windows, and how many of them are not at their end. */
struct tw_timed_cut {
    const char **names;
    size_t count;
    size_t before, end;       /* blocks that end before the windows, and with them */
    size_t open_before, open; /* those of them that go on */
};

/* Lists windows of about `each` bytes.  TW_END: the capture is none that is merged by time. */
enum tw_status tw_timed_list(struct tw_replay *replay, uint64_t each);
enum tw_status tw_timed_begin(const struct tw_replay *replay, struct tw_timed_cut *cut,
                              uint32_t first, uint32_t end);
/* A buffer is at its end.  True: the windows are. */
bool tw_timed_end(const struct tw_replay *replay, struct tw_timed_cut *cut, uint32_t buffer);

/* ---- track.c ---- */

bool tw_track_add(struct tw_replay *replay, struct tw_replay_track *track,
                  const struct tw_part *part, const struct tw_element *elements, size_t count);
void tw_track_release(const struct tw_replay *replay, struct tw_replay_track *track);

/* Where an instruction of a track is. */
struct tw_track_spot {
    size_t element;       /* the range, or a REPEAT ... */
    size_t range;         /* ... and the range that it repeats */
    uint64_t times;       /* that all it repeats was executed before, by this REPEAT */
    uint32_t instruction; /* of the range */
};

/* False: the track has not so many. */
bool tw_track_find(const struct tw_replay_track *track, struct tw_track_spot *spot,
                   uint64_t instruction);
const struct tw_part *tw_track_part(const struct tw_replay_track *track, size_t element);
/* Address and size of an instruction of a range. */
uint64_t tw_track_address(struct tw_replay *replay, const struct tw_part *part,
                          const struct tw_element *range, uint32_t instruction, uint32_t *size);
/* What an element tells of missing trace or code; false: nothing. */
bool tw_track_loss(struct tw_replay_loss *loss, const struct tw_element *element);

/* ---- scans.c ---- */

struct tw_scans;

/* Scans of several groups of windows, at the same time.  The groups stand in the order of the search: where one is hit,
   those behind it need not go on. */
struct tw_scan_group {
    uint32_t first, end; /* windows */
    bool wants_last;     /* hit, not the first */
    bool is_hit;         /* set by `take` */
    uint64_t index;      /* of the hit in the capture */
    const void *search;  /* what `take` looks for */
    uint32_t scanned;    /* the first window of those that are gone through together */
    uint32_t at;         /* ... when it was hit */
    /* Private. */
    struct tw_scans *scans;
    size_t number;
    struct tw_scan_apart apart;
    enum tw_status status;
};

enum { TW_SCANS_MOST = 16 };

/* How many groups go at the same time, at most TW_SCANS_MOST. */
size_t tw_scans_room(struct tw_replay *replay);
/* `take` gets a group as its context. */
enum tw_status tw_scans_run(struct tw_replay *replay, struct tw_scan_group *groups,
                            size_t count, tw_scan_fn *take);

/* ---- stack.c ---- */

void tw_replay_stacks_free(struct tw_replay *replay);

#endif
