/* SPDX-License-Identifier: BSD-2-Clause */
/* Ctrl-C and the like: files that are not whole go away, and work that has no end of its own ends. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdbool.h>

/* At the very beginning of the program. */
void interrupt_start(void);

/* Between the two, an interrupt waits.  They do not nest. */
void interrupt_hold(void);
void interrupt_release(void);

/* An interrupt removes the file that is at this path (which is copied), until it is kept; or the folder,
   once its files are gone, which are to be named after it.  False: no memory for that. */
bool interrupt_removes(const char *path);
void interrupt_keeps(const char *path);

/* Removes them now: the program ends in the middle of its work. */
void interrupt_clean(void);

/* From now on the first interrupt is but a wish to end. */
void interrupt_is_a_wish(void);
/* Waits until there is something to read (or nothing more), or such a wish: then true. */
bool interrupt_is_wished_before(int fd);

#endif
