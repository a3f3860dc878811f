/* SPDX-License-Identifier: BSD-2-Clause */
/* Which way out of a branch leads back to it: compilers put the test of a loop wherever they like. */
#include <string.h>

#include "trbe/sequence.h"

enum { NEAR = 1024 }; /* steps on either side that are looked at */

/* Steps still to be looked at, and those that were; both from the branch less NEAR on. */
struct search {
    size_t first, end;
    uint16_t waiting[2 * NEAR];
    size_t waiting_count;
    uint8_t was_seen[2 * NEAR];
};

static void visit(struct search *search, size_t step)
{
    if (step < search->first || step >= search->end || search->was_seen[step - search->first])
        return;
    search->was_seen[step - search->first] = 1;
    search->waiting[search->waiting_count++] = (uint16_t)(step - search->first);
}

/* Whether the branch at work can be reached again from this step. */
static bool leads_back(const struct checker *c, size_t from)
{
    struct search search = { .first = c->at < NEAR ? 0 : c->at - NEAR };

    search.end = search.first + 2 * NEAR < c->count ? search.first + 2 * NEAR : c->count;
    visit(&search, from);
    while (search.waiting_count) {
        const size_t at = search.first + search.waiting[--search.waiting_count];
        const struct step *step = &c->steps[at];

        if (at == c->at)
            return true;
        if (step->kind == STEP_LEAVE || step->kind == STEP_BEGIN)
            continue;
        if (step->kind == STEP_BRANCH && step->target != NO_STEP)
            visit(&search, step->target);
        if (step->kind != STEP_BRANCH || step->op != OP_JUMP)
            visit(&search, at + 1);
    }
    return false;
}

bool tw_seq_falls_out(const struct checker *c, const struct step *branch)
{
    return branch->target != NO_STEP && leads_back(c, branch->target) &&
           !leads_back(c, c->at + 1);
}
