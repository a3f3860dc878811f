/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose the elements of a perf.data file are: CPU, thread, program. */
#ifndef ATTRIBUTION_H
#define ATTRIBUTION_H

#include "shared/session.h"

struct attribution {
    const struct session *session;  /* NULL: not perf.data, and there is nothing to say */
    struct tw_perf_lane lanes[128]; /* by trace ID */
    struct tw_view views[128];      /* from where each looks at memory */
    bool is_begun[128];
    uint32_t missing[128]; /* number in session->missing of what was missing last */
    char text[700];
};

/* At the start of each buffer. */
void attribution_start(struct attribution *attribution, const struct session *session);
/* Sees the next element of a trace ID; its lane, or NULL: not perf.data. */
struct tw_perf_lane *attribution_see(struct attribution *attribution,
                                     const struct tw_element *element, uint8_t id);
/* Parts of that text: CPU and thread, as of the elements seen; the file that an address is in.  The
   next of these calls writes over it. */
const char *attribution_who(struct attribution *attribution, uint8_t id, bool is_json);
const char *attribution_where(struct attribution *attribution, uint8_t id, uint64_t address,
                              bool is_json);
/* The map with a file that holds an address; NULL: none. */
const struct tw_perf_map *attribution_map(const struct attribution *attribution, uint8_t id,
                                          uint64_t address);
/* Sees every element; text to go with its line: members of a JSON object with a comma before each,
   or words.  "" where there is nothing to say. */
const char *attribution_of(struct attribution *attribution, const struct tw_element *element,
                           uint8_t id, bool is_json);

/* Counts code that no image holds, by the file that it should have come from. */
void missing_take(struct session *session, struct attribution *attribution,
                  const struct tw_batch *batch);
/* Says what was missing, each file once, and what trace the recorder lost; returns how many such
   losses there are. */
uint64_t missing_say(const struct session *session);

#endif
