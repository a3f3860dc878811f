/* SPDX-License-Identifier: BSD-2-Clause */
/* The executed path alone: straight runs, or one address for each instruction. */
#ifndef PATH_H
#define PATH_H

#include "shared/session.h"

struct path;

/* NULL: out of memory, said so. */
struct path *path_new(struct session *session, bool is_pcs);
void path_free(struct path *path);
/* A part without what failed transactions undid; false: out of memory, said so. */
bool path_take(struct path *path, const struct tw_part *part);
/* The end of a buffer: prints what is under way. */
void path_end(struct path *path);

#endif
