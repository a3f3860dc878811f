/* SPDX-License-Identifier: BSD-2-Clause */
/* Data trace as a table: one row for each access. */
#ifndef ACCESSES_H
#define ACCESSES_H

#include "shared/session.h"

struct accesses;

/* Every source of the capture is RISC-V data trace alone. */
bool accesses_fit(const struct session *session);
/* Writes the head; NULL: out of memory, said so. */
struct accesses *accesses_new(struct session *session);
/* Writes the last row, too. */
void accesses_free(struct accesses *accesses);
void accesses_take(struct accesses *accesses, const struct tw_part *part);

#endif
