/* SPDX-License-Identifier: BSD-2-Clause */
/* --at: a place in a capture. */
#ifndef AT_H
#define AT_H

#include <trackway/run.h>

#include "shared/options.h"

/* The value of --at; false: it is none, said so. */
bool place_parse(struct tw_run_place *place, const struct options *options);

/* Why a place of --at may not be there, to end a message with. */
const char *place_hint(const struct options *options);

#endif
