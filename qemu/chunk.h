/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks that a thread ran, some thousands at a time: what is handed from the thread that runs to the one
   that gives it to the trace unit. */
#ifndef QEMU_CHUNK_H
#define QEMU_CHUNK_H

#include "qemu/system.h"

enum { CHUNK_ENTRIES = 8192, CHUNK_NOTES = 256 };

/* An entry is a block, or an odd number: the block before it ran n / 2 times more.  Programs are mostly in
   loops, and many of them are one block. */
typedef uintptr_t chunk_entry;

static inline bool entry_is_repeat(chunk_entry entry)
{
    return entry & 1;
}

static inline const struct block *entry_block(chunk_entry entry)
{
    return (const struct block *)entry;
}

/* What happened behind a block. */
enum { AFTER_NOTHING, AFTER_CALL };

/* Something about a block that most have nothing of. */
struct note {
    uint32_t at;                  /* which entry; it has no repeats */
    uint16_t count;               /* instructions begun */
    uint8_t after;                /* AFTER_... */
    bool is_left;                 /* ... and left there: the last of them faulted */
    uint64_t time;                /* before it; 0: not looked at */
    struct system_events *events; /* behind it; to be freed; NULL: none */
};

struct chunk {
    struct chunk *next; /* of the same thread */
    uint64_t began;     /* time of the first block */
    uint32_t count, note_count;
    /* Nothing follows; else the last block is only there to say where the one before it went. */
    bool is_end;
    struct note notes[CHUNK_NOTES]; /* in the order of entries */
    chunk_entry entries[CHUNK_ENTRIES];
};

#endif
