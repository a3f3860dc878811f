/* SPDX-License-Identifier: BSD-2-Clause */
/* Which memory a program may write to, by the segments of its ELF file. */
#ifndef GDB_WRITABLE_H
#define GDB_WRITABLE_H

#include "gdb/programs.h"
#include "gdb/recording.h"

/* Adds those of a program.  False: the file cannot be read, or is no ELF file; said so. */
bool gdb_writable(struct recording *recording, const struct gdb_program *program);

#endif
