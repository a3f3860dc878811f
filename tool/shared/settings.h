/* SPDX-License-Identifier: BSD-2-Clause */
/* What --config and --unit hold: settings NAME=VALUE. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

#include "shared/arena.h"

enum { SETTINGS_MOST = 512 };

struct setting {
    const char *name, *value; /* without blanks around them */
    const char *where;        /* for messages: "", or "FILE, line 3: " */
};

struct settings {
    struct setting *items;
    size_t count;
};

/* "K=V,K=V", or the name of a file with a line "K=V" for each (# and ; begin comments, [ a section's name).
   NULL: no settings.  Says what is wrong when it returns false. */
bool settings_read(struct settings *settings, struct arena *arena, const char *command,
                   const char *given);

#endif
