/* SPDX-License-Identifier: BSD-2-Clause */
/* What `trackway info` counts in a buffer, and the two forms it prints. */
#ifndef INFO_H
#define INFO_H

#include <trackway/frame.h>

#include "shared/output.h"
#include "shared/session.h"

struct scan {
    struct tw_frame_stats stats;
    uint64_t barriers, triggers, losses, bad_ids;
    uint64_t incomplete; /* bytes of a last frame that is cut */
};

void info_text(struct output *out, const struct session *session, const struct scan *scans);
void info_json(struct output *out, const struct session *session, const struct scan *scans);

/* The source of a trace ID in a buffer, or NULL. */
const struct tw_source *info_source(const struct session *session, size_t buffer, unsigned id);
/* What only perf.data has. */
void info_perf_text(struct output *out, const struct tw_perf *perf);
void info_perf_json(struct output *out, const struct tw_perf *perf);

/* A dump of trace control registers: its text, to be freed; and what it tells, an exit status. */
bool info_is_control(const char *path, char **text, size_t *size);
int info_control(struct output *out, const struct options *options, const char *text,
                 size_t size);

#endif
