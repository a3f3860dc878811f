/* SPDX-License-Identifier: BSD-2-Clause */
/* Two streams of packets, bit by bit. */
#ifndef DIFF_PACKETS_H
#define DIFF_PACKETS_H

#include "diff/side.h"

/* Prints the first difference; *status: DONE or 1.  False: it could not be done, said why. */
bool packets_compare(struct side sides[2], struct output *out, int *status);

#endif
