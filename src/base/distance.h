/* SPDX-License-Identifier: BSD-2-Clause */
/* How far a misspelt name is from the one that was meant. */
#ifndef BASE_DISTANCE_H
#define BASE_DISTANCE_H

#include <stddef.h>

/* Edit distance without regard to case; names too long to be misspelt are far from all. */
size_t tw_name_distance(const char *a, const char *b);

#endif
