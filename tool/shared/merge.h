/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace of all CPUs of a perf.data file, merged in time order. */
#ifndef MERGE_H
#define MERGE_H

#include "shared/session.h"

/* One source in one ring buffer. */
struct merge_lane {
    struct tw_perf_lane at; /* whose thread; as of the elements given so far */
    struct tw_view view;
    uint32_t cpu;
    uint8_t id;
    const char *protocol;
    struct tw_image *image;
    void *state; /* the taker's: state_size bytes, zeroed when the lane begins */
};

/* Whether the lanes of a ring buffer have one state for all. */
enum merge_share {
    SHARE_NEVER,
    SHARE_IN_THREADS /* in the buffers of threads */,
    SHARE_ALWAYS
};

/* Who takes the elements. */
struct merge_sink {
    size_t state_size;
    enum merge_share share;
    /* Elements of one lane, in order.  It gives those that are no ranges to merge_look. */
    void (*take)(void *context, struct merge_lane *lane, const struct tw_element *elements,
                 size_t count);
    void (*end_block)(void *context, struct merge_lane *lane); /* may be NULL */
    void *context;
};

static inline void merge_look(struct merge_lane *lane, const struct tw_element *element)
{
    if (element->type == TW_ELEMENT_PE_CONTEXT)
        lane->view.space = tw_element_view(element).space;
    if (element->type == TW_ELEMENT_PE_CONTEXT || element->type == TW_ELEMENT_TIMESTAMP)
        tw_perf_look(&lane->at, &lane->view, element);
}

/* Runs the whole capture through a sink; the exit status, with the summary said. */
int merge_run(struct session *session, const struct merge_sink *sink);

/* pid, tid, comm of a lane as perf prints them. */
const char *merge_comm(const struct merge_lane *lane);
uint32_t merge_pid(const struct merge_lane *lane);

#endif
