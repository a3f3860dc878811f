/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks of code as QEMU translates them: what a trace unit is told when one has run. */
#ifndef QEMU_BLOCKS_H
#define QEMU_BLOCKS_H

#include <trackway/log.h>

#include "qemu/interface.h"

/* A block.  The same code at the same place is the same block, however often it is translated.  What
   is known when it is translated is not worked out again when it runs. */
struct block {
    uint64_t start;
    /* Where it goes on: to the first of these, and `follows_flags` are added to the flags of its last
       instruction; or to the second; or to anywhere, and that is the last instruction's target: then these are
       `other_flags`. */
    uint64_t follows, other;
    uint32_t count;
    uint8_t flags, follows_flags, other_flags; /* a condition is marked as failed */
    bool is_anywhere;
    /* none but the last is anything to the flow of control; `follows` says all */
    bool is_simple;
    bool is_wanted, is_partly_wanted; /* by the address filter: all of it; some of it */
    uint64_t end;
    bool is_known, is_handler; /* of a machine: it ran before; an exception came here */
    uint64_t hash;
    bool *wanted;                     /* each instruction, where only some are */
    struct block *next;               /* of the same hash */
    struct tw_retired instructions[]; /* conditional branches are marked as not taken */
};

enum blocks_target { TARGET_A64, TARGET_ARM, TARGET_RISCV };

/* False: a target whose code is not known here. */
bool blocks_begin(const char *target_name);
enum blocks_target blocks_target(void);
bool blocks_is_64bit(void);
/* Code is of the M profile: all of it T32. */
void blocks_profile(bool is_m);
/* Only instructions from `first` up to before `end` are of interest, and those of other calls; with an inode
   these are offsets in that file.  False: there are too many. */
bool blocks_filter(uint64_t first, uint64_t end, uint64_t inode);
/* Which instructions of a new block are of interest; it begins at this offset of the file. */
void block_mark(struct block *block, uint64_t inode, uint64_t offset);

/* The block that QEMU is about to translate; NULL: no memory.  `last` is the one that ran before, NULL if that is not
   known.  is_new: it was not seen before. */
struct block *blocks_take(const struct qemu_plugin_tb *translated, const struct block *last,
                          bool *is_new);

/* Whether other code was seen where this block is. */
bool block_replaces(const struct block *block);
/* Whether the processor goes from the end of this block to `next` by itself. */
bool block_leads_to(const struct block *block, uint64_t next);

#endif
