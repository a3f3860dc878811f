/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines for people on a terminal go through the program that the user named for that: $PAGER. */
#ifndef PAGER_H
#define PAGER_H

#include "shared/options.h"

/* Before anything is written.  Nothing, unless standard output is a terminal, the command lists there, and
   $TRACKWAY_PAGER or else $PAGER names a program other than cat. */
void pager_start(const struct options *options);
/* Standard output is its input: colours are as on a terminal, and a bar would stand in its way. */
bool pager_is_on(void);
/* At the end: what was written is all, and the reader may read on. */
void pager_wait(void);

#endif
