/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a run, decoded ahead on a thread of their own.  What is asked about their code goes to another handle of
   the capture: one handle is one thread's. */
#ifndef SERVE_AHEAD_H
#define SERVE_AHEAD_H

#include <stdbool.h>

#include <trackway/run.h>

struct serve_ahead;

/* The run is the other thread's until serve_ahead_end.  NULL: no memory, or no thread. */
struct serve_ahead *serve_ahead_new(struct tw_run *run, uint64_t to);
/* As tw_run_next; elements last until the next call.  is_inside: all lie before `to`. */
enum tw_status serve_ahead_next(struct serve_ahead *ahead, struct tw_part *part,
                                bool *is_inside);
/* How many elements from the first on lie before an offset. */
size_t serve_count_before(const struct tw_element *elements, size_t count, uint64_t to);
/* No more is wanted: the thread ends.  Milliseconds of processor time that it took; of NULL: 0. */
double serve_ahead_end(struct serve_ahead *ahead);
/* Milliseconds of processor time of the thread that asks. */
double serve_thread_time(void);

#endif
