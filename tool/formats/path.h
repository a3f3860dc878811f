/* SPDX-License-Identifier: BSD-2-Clause */
/* The executed path alone: straight runs, or one address for each instruction. */
#ifndef PATH_H
#define PATH_H

#include <trackway/tree.h>

#include "shared/names.h"
#include "shared/output.h"
#include "shared/session.h"

struct path;

/* NULL: out of memory, said so. */
struct path *path_new(struct output *out, const struct names *names, bool is_pcs);
void path_free(struct path *path);
void path_start(struct path *path, const struct session *session);
/* Elements of one ID, in order.  What a failed transaction undid is left out. */
void path_take(struct path *path, const struct tw_batch *batch);
/* The end of a buffer: prints what is still held. */
void path_end(struct path *path);

#endif
