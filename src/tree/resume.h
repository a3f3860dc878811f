/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree that begins in the middle of a capture: what an index needs of it. */
#ifndef TREE_RESUME_H
#define TREE_RESUME_H

#include "tree/branch.h"

/* The next byte fed is at `base`, the beginning of the capture. */
void tw_tree_begin(struct tw_tree *tree, uint64_t base);
/* The next byte fed is at `base`, where a frame begins; bytes before its first ID byte are of
   `id` (TW_ID_UNKNOWN: of no known one). */
enum tw_status tw_tree_resume(struct tw_tree *tree, uint64_t base, uint8_t id);
/* What the next synchronization point of an ID does not bring back (see struct tw_protocol). */
void tw_tree_restore(struct tw_tree *tree, uint8_t id, const uint64_t *words);

#endif
