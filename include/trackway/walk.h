/* SPDX-License-Identifier: BSD-2-Clause */
/* The instructions of a range that was executed, one after the other, as its thread saw
   them.  Experimental. */
#ifndef TRACKWAY_WALK_H
#define TRACKWAY_WALK_H

#include <trackway/disassembly.h>
#include <trackway/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_walk;

/* One handle serves any number of ranges. */
TW_API TW_MUST_USE enum tw_status tw_walk_new(struct tw_walk **walk,
                                              const struct tw_allocator *allocator,
                                              struct tw_fault *fault);
TW_API void tw_walk_free(struct tw_walk *walk);

/* Begins with the first instruction of an INSTR_RANGE of the part.  Both must last until the last
   tw_walk_next. */
TW_API void tw_walk_start(struct tw_walk *walk, const struct tw_part *part,
                          const struct tw_element *range);
/* The next instruction: its bytes (code->size 0: they are not there) and how many it has.  False: that
   was the last. */
TW_API bool tw_walk_next(struct tw_walk *walk, struct tw_code_bytes *code, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
