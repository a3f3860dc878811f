/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches, instructions and branch stacks as `perf script` prints them. */
#ifndef BRANCHES_H
#define BRANCHES_H

#include "shared/session.h"

enum branches_kind { EACH_BRANCH, EACH_INSTRUCTION, STACKS, STACKS_WITH_MAPPINGS };

struct branches;

/* Printed to session->out, which is open, as parts come in the order of time.  NULL: said why. */
struct branches *branches_new(struct session *session, enum branches_kind kind);
/* False: out of memory, said so. */
bool branches_take(struct branches *branches, const struct tw_part *part);
void branches_free(struct branches *branches);

/* Of captures that tell no threads: samples after each `period` instructions with the last `depth` branches; the exit
   status. */
int branches_stacks(struct session *session, size_t depth, uint64_t period);

#endif
