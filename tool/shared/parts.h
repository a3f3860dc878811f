/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a capture, for several machines: the file that "trackway shard" writes, and --part K/N. */
#ifndef PARTS_H
#define PARTS_H

#include "shared/session.h"

enum { PARTS_MOST = 1 << 20 };

/* A capture cut into so many parts, all of them (number 0) or one: DONE and `extents`, or the exit status. */
int parts_cut(struct session *session, const struct session_wish *wish,
              struct tw_run_extent *extents, size_t number, size_t count);
/* The file that --parts takes. */
void parts_print(struct output *out, const struct session *session,
                 const struct tw_run_extent *extents, size_t count);
/* --part K/N, or --part K of the file that --parts names: which number of how many (0: the file says so).
   False: it is wrong, said so. */
bool parts_number(const struct options *options, uint64_t *number, uint64_t *count);
/* Sets what of the session's capture that is: DONE, or the exit status. */
int parts_take(struct session *session, struct session_wish *wish);

#endif
