/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that strangers wrote, looked up below a folder and nowhere else. */
#ifndef BASE_INSIDE_H
#define BASE_INSIDE_H

#include <stdbool.h>

#include "base/text.h"

/* The path of `name` below `folder` (empty: the current one), with every link in it and every ".." followed.
   is_root: the folder is the root of a machine's files, so that "/" and ".." at the top mean the folder
   itself; else what would leave it is refused.  What is not there is taken as it is written.
   False: errno says why, EXDEV: it leads outside.  A folder that is changed meanwhile by someone else is
   not guarded against. */
bool tw_inside(struct tw_text *path, const char *folder, const char *name, bool is_root);

#endif
