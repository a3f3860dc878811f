/* SPDX-License-Identifier: BSD-2-Clause */
/* How a basic block comes to be. */
#ifndef IMAGE_BUILD_H
#define IMAGE_BUILD_H

#include "image/blocks.h"

/* Fills both halves of a block, but for its links, from program memory.  `start`, `isa` and
   `it_open` are there already, all else is zero. */
void tw_block_build(struct tw_blocks *blocks, uint32_t number);

#endif
