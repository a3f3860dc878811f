/* SPDX-License-Identifier: BSD-2-Clause */
/* One file for each trace ID, in a folder. */
#ifndef SPLIT_H
#define SPLIT_H

#include <trackway/frame.h>

#include "shared/output.h"

struct split {
    char *folder;
    bool is_new;                       /* it was not there before */
    struct output *files[TW_ID_COUNT]; /* NULL: nothing of that ID yet */
};

/* The folder DIR, or DIR/SUB, is made if need be.  False: said why. */
bool split_open(struct split *split, const char *folder, const char *sub);
bool split_write(struct split *split, uint8_t id, const uint8_t *bytes, size_t size);
/* The files appear when `keep` is true, else none of them. */
bool split_close(struct split *split, bool keep);

#endif
