/* SPDX-License-Identifier: BSD-2-Clause */
/* What a shell offers for the word that is being typed, from the tables of commands and options. */
#ifndef COMPLETE_H
#define COMPLETE_H

#include "shared/options.h"

/* Prints how the last of `words`, the command's name first, may go on: one candidate a line, with a
   tabulator and an explanation behind those that have one.  A line ":files" or ":folders" stands for the
   names of files or folders, which the shell knows better. */
void complete(struct output *out, const struct command *const *commands, size_t count,
              char **words);

#endif
