/* SPDX-License-Identifier: BSD-2-Clause */
/* The ELF files that a capture itself tells of, and where their code was: for GDB, which wants them. */
#ifndef GDB_PROGRAMS_H
#define GDB_PROGRAMS_H

#include "shared/session.h"

struct gdb_program {
    char *path;
    uint64_t bias; /* between where it was linked to and where it was */
};

struct gdb_programs {
    struct gdb_program *items;
    size_t count, room;
};

/* `given` alone, where the capture had it; NULL: all that --image and --symbols name, a snapshot's dumps are of, or a
   recording of perf mapped and found.  False: no memory. */
bool gdb_programs_find(struct gdb_programs *programs, const struct session *session,
                       const struct session_wish *wish, const char *given);
/* A number of an ELF file of either byte order. */
uint64_t gdb_elf_number(const uint8_t *at, unsigned size, bool is_big);
void gdb_programs_free(struct gdb_programs *programs);

#endif
