/* SPDX-License-Identifier: BSD-2-Clause */
/* A manual page for each command, of the tables that its help is made of. */
#ifndef MANUAL_H
#define MANUAL_H

#include "shared/options.h"

/* Writes FOLDER/trackway-NAME.1 of each command.  `more`: a folder where NAME.man, if it is there, is what the
   page tells beside that; or NULL.  False: said why. */
bool manual_write(const struct command *const *commands, size_t count, const char *folder,
                  const char *more);

#endif
