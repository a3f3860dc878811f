/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks of code as QEMU translates them: what a trace unit is told when one has run. */
#ifndef QEMU_BLOCKS_H
#define QEMU_BLOCKS_H

#include <trackway/log.h>

#include "qemu/interface.h"

/* A block.  The same code at the same place is the same block, however often it is translated. */
struct block {
    struct block *next; /* of the same hash */
    uint64_t start, end;
    uint64_t hash;
    uint32_t count;
    bool is_wanted, is_partly_wanted; /* by the address filter: all of it; some of it */
    struct tw_retired instructions[]; /* conditional branches are marked as not taken */
};

enum blocks_target { TARGET_A64, TARGET_ARM, TARGET_RISCV };

/* False: a target whose code is not known here. */
bool blocks_begin(const char *target_name);
enum blocks_target blocks_target(void);
bool blocks_is_64bit(void);
/* Only instructions from `first` up to before `end` are of interest. */
void blocks_filter(uint64_t first, uint64_t end);

/* The block that QEMU is about to translate; NULL: no memory.  is_new: it was not seen before. */
struct block *blocks_take(const struct qemu_plugin_tb *translated, bool *is_new);

/* Whether other code was seen where this block is. */
bool block_replaces(const struct block *block);
/* Whether the processor goes from the end of this block to `next` by itself. */
bool block_leads_to(const struct block *block, uint64_t next);

#endif
