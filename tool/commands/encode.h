/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway encode: what `trackway sim` does likewise. */
#ifndef ENCODE_H
#define ENCODE_H

#include <trackway/unit.h>

#include "shared/options.h"

/* The program files of --elf; NULL: said why not. */
struct tw_image *encode_open_image(const struct options *options);
/* What a unit made, as a snapshot; false: said why not. */
bool encode_write(struct tw_unit *unit, const struct options *options, const char *folder);

#endif
