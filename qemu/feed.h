/* SPDX-License-Identifier: BSD-2-Clause */
/* What feeds a trace unit with the blocks that a thread ran. */
#ifndef QEMU_FEED_H
#define QEMU_FEED_H

#include "qemu/chunk.h"
#include "qemu/unit.h"

struct feed;

/* NULL: no memory. */
struct feed *feed_new(struct tw_unit *unit, uint32_t tid, uint32_t cpu);
void feed_free(struct feed *feed);
/* Gives the unit a chunk, and writes what it made if that is much. */
void feed_chunk(struct feed *feed, const struct chunk *chunk);
void feed_context(struct feed *feed, const struct tw_step_context *context);
/* Writes all that the unit made so far. */
void feed_write(struct feed *feed);
/* Nothing follows. */
void feed_end(struct feed *feed);

#endif
