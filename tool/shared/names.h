/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of functions as they are to be shown. */
#ifndef NAMES_H
#define NAMES_H

#include <trackway/demangle.h>

#include "shared/options.h"

struct names {
    struct tw_demangler *demangler; /* NULL: they are shown as they are */
};

/* Whether the format is read by people: they get names as they were written. */
bool names_are_for_people(const struct options *options);
void names_open(struct names *names, const struct options *options, bool is_for_people);
void names_close(struct names *names);
/* A name as it is to be shown; context: the struct names. */
const char *names_show(void *context, const char *name);

#endif
