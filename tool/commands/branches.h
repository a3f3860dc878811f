/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches, instructions and branch stacks as `perf script` prints them. */
#ifndef BRANCHES_H
#define BRANCHES_H

#include "shared/session.h"

enum branches_kind { EACH_BRANCH, EACH_INSTRUCTION, STACKS, STACKS_WITH_MAPPINGS };

/* The exit status; session->out is open. */
int branches_print(struct session *session, enum branches_kind kind);

#endif
