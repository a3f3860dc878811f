/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a follower as bytes: by address, as block numbers mean something in one cache only. */
#ifndef PATH_STATE_H
#define PATH_STATE_H

#include "base/state.h"
#include "path/follow.h"

/* Atoms lost since the last ADDR_NACC are a total that goes on over synchronization: a follower that
   does not know it begins here, and what its elements say is put right by tw_follow_rebase. */
#define TW_LOST_GUESS ((uint32_t)1 << 30)
void tw_follow_rebase(struct tw_element *elements, size_t count, uint64_t by);

/* `keeps_isa`: the decoder asks for the instruction set also where no place is known. */
void tw_follow_state(struct tw_follow *follow, struct tw_state *state, bool keeps_isa);

#endif
