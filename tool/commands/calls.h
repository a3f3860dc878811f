/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of trackway calls share. */
#ifndef CALLS_COMMAND_H
#define CALLS_COMMAND_H

#include <trackway/calls.h>

#include "shared/feed.h"
#include "shared/names.h"

/* calls_events.c: every call and return as it comes. */
int calls_print_events(const struct options *options, const struct tw_calls_config *config);
/* calls_before.c: how control came to a place. */
int calls_print_before(const struct options *options, const struct tw_calls_config *config);
/* calls_function.c: who calls a function, and whom it calls. */
int calls_print_function(struct output *out, const struct tw_calls *calls, struct names *names,
                         const char *function);
/* calls_tree.c: the tree of calls. */
int calls_print_tree(struct output *out, const struct tw_calls *calls, struct names *names,
                     const struct options *options);

#endif
