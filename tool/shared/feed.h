/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures given to an analysis: each is opened as the options say and run from beginning to end. */
#ifndef FEED_H
#define FEED_H

#include <trackway/run.h>

#include "shared/session.h"

/* Takes a part; anything but TW_OK ends the work. */
typedef enum tw_status feed_fn(void *context, struct tw_run *run, const struct tw_part *part);

/* Sessions and runs stay open until feed_close: names in results are theirs. */
struct feed {
    const struct options *options;
    struct options *each; /* the options as each session sees them */
    struct session *sessions;
    size_t count;
    struct progress progress;
    enum tw_order order;
    bool with_not_after; /* parts know the timestamp after them */
    bool is_done;        /* set by `take`: no more is wanted */
    /* --part: what is asked cannot be cut, and is done with the first part ... */
    bool is_whole;
    bool is_cut; /* ... unless all that a thread did lies in one buffer: no perf.data */
    const struct tw_run_counter *counter; /* gets the elements in place of `take`; or NULL */
    /* of calls: the same, where the capture and what is wanted of it allow that; or NULL */
    const struct tw_run_counter *calls_counter;
    void (*begin)(void *context,
                  struct tw_run *run); /* before the first part of a run; or NULL */
};

/* Runs every capture of the command line through `take`.  DONE, or the exit status that says why not
   (said in words too). */
int feed_run(struct feed *feed, const struct options *options, feed_fn *take, void *context);
/* After results were printed, whose names are looked up then: false, said why, when there was no memory for them. */
bool feed_is_sound(const struct feed *feed);
void feed_close(struct feed *feed);
/* What a result is called: the name of the capture, and how many more there are. */
const char *feed_title(const struct feed *feed);

#endif
