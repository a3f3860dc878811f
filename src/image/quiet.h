/* SPDX-License-Identifier: BSD-2-Clause */
/* Ways out of blocks that nobody wants to be told of one by one: where they lead is known, and what is made of the
   elements does not change there.  A range between two such ways is not written; the next one that is counts its
   instructions too, and has in range_cycles how many of them are not its own. */
#ifndef IMAGE_QUIET_H
#define IMAGE_QUIET_H

#include "image/blocks.h"

/* A way out of a block (block * 2 + taken). */
struct tw_quiet_way {
    uint32_t to;    /* the block that it leads to quietly; or enum tw_quiet_kind */
    uint32_t count; /* instructions of its block */
};
enum tw_quiet_kind {
    TW_QUIET_UNKNOWN, /* it was not asked */
    TW_QUIET_NOT,
    TW_QUIET_TOLD, /* its own range tells where it leads: that one is written, the next one need not be */
    TW_QUIET /* only as an answer */
};
enum {
    TW_QUIET_BLOCK_MOST = UINT16_MAX, /* instructions of a block with quiet ways */
    TW_QUIET_PASSED_MOST = 1 << 30    /* that are left out before a range is written */
};

/* How quiet the way from one range to the next is: on any thread, once for each way.  `image` is the
   thread's own. */
typedef enum tw_quiet_kind tw_quiet_fn(void *context, const struct tw_batch *two,
                                       const struct tw_view *view, struct tw_image *image);

struct tw_quiet {
    tw_quiet_fn *ask;
    void *context;
    struct tw_batch whose; /* a source that executes this code; its elements are `ranges` */
    struct tw_element ranges[2];
};

/* Quiet ways are left out from now on; false: no memory.  Before there are blocks. */
bool tw_quiet_begin(struct tw_code *code, const struct tw_quiet *quiet);
/* Asks of a way whose link is known. */
void tw_quiet_ask(struct tw_blocks *blocks, uint32_t way);

#endif
