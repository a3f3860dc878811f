/* SPDX-License-Identifier: BSD-2-Clause */
/* How the program takes memory from the system. */
#ifndef SHARED_MEMORY_H
#define SHARED_MEMORY_H

/* Once, at the start. */
void keep_memory(void);

#endif
