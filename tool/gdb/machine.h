/* SPDX-License-Identifier: BSD-2-Clause */
/* Machines as GDB knows them: which registers, in which order. */
#ifndef GDB_MACHINE_H
#define GDB_MACHINE_H

#include <trackway/types.h>

#include "gdb/text.h"

/* What is known of a register. */
enum gdb_known {
    GDB_UNKNOWN,
    GDB_TRACED,  /* the trace tells it */
    GDB_DERIVED, /* it follows from what the trace tells */
    GDB_STAND_IN /* a number that the program never had: GDB cannot do without one */
};

/* What the values of a place's registers are made of. */
struct gdb_values {
    uint64_t pc;
    uint64_t returns_to; /* 0: not known */
    int32_t level;       /* of the frame in the call stack */
    uint8_t isa;         /* enum tw_isa */
    bool returns_to_t32;
    bool has_level; /* Exception level */
    uint8_t exception_level;
};

struct gdb_register {
    const char *name;
    uint8_t size;
    uint8_t known;   /* enum gdb_known */
    uint32_t number; /* in packets */
    uint64_t (*value)(const struct gdb_values *values);
};

struct gdb_machine;

const struct gdb_machine *gdb_machine_of(uint8_t isa, bool is_m);
/* The register at a place of the list, in the order of their numbers; NULL: there are no more.  `room` holds its
   name. */
const struct gdb_register *gdb_machine_register(const struct gdb_machine *machine, size_t place,
                                                struct gdb_register *room, char name[16]);
void gdb_machine_describe(const struct gdb_machine *machine, struct gdb_text *out);

/* The number that stands for a frame's level: trackway_depth. */
static inline uint32_t gdb_depth(int32_t level)
{
    return 0x100000u + (uint32_t)level;
}

/* The call stack lies in memory that no program has, for trackway-gdb.py, which can read memory while GDB looks for
   frames, and nothing else: of each frame 32 bytes, by its level.  They are its function's first address, the pc of
   its caller, and flags. */
enum { GDB_FRAME_BYTES = 32, GDB_FRAMES_MOST = 4096 };
enum {
    GDB_FRAME_IS_THERE = 1,
    GDB_FRAME_HAS_CALLER = 2,
    GDB_FRAME_CALLER_T32 = 4,
    GDB_FRAME_LATER = 8
};
/* Where the frame of level 0 is. */
uint64_t gdb_machine_frames(const struct gdb_machine *machine);

#endif
