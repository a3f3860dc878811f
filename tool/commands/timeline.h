/* SPDX-License-Identifier: BSD-2-Clause */
/* A timeline for people: a line for each function entered and left, in the manner of ftrace. */
#ifndef COMMANDS_TIMELINE_H
#define COMMANDS_TIMELINE_H

#include <trackway/timeline.h>

#include "shared/output.h"

struct timeline_text {
    struct output *out;
    struct tw_timeline *timeline;
    uint64_t clock; /* Hz; 0: times are shown as they count */
    bool has_head;
    bool has_waiting; /* a beginning that may turn out to be a leaf */
    struct tw_timeline_event waiting;
};

void timeline_text_take(struct timeline_text *text, const struct tw_timeline_event *event);
void timeline_text_end(struct timeline_text *text);

#endif
