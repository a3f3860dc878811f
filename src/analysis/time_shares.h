/* SPDX-License-Identifier: BSD-2-Clause */
/* Time between two points where the trace tells it, shared out among what was executed there. */
#ifndef ANALYSIS_TIME_SHARES_H
#define ANALYSIS_TIME_SHARES_H

#include <trackway/profile.h>

#include "base/map.h"

/* What was executed since the last such point: keys are small numbers of the caller's. */
struct tw_touched {
    uint32_t key;
    uint64_t instructions, cycles;
};

struct tw_touched_list {
    struct tw_touched *items;
    size_t count, room;
    struct tw_map by_key; /* to the place in `items` + 1 */
    size_t recent;        /* place of the last one */
    bool has_gap;         /* trace went missing among them */
};

/* What each key had of it. */
struct tw_shares {
    struct tw_spent *items; /* by key */
    size_t count, room;
    uint64_t all, lost; /* lost: trace went missing between the two points */
    bool is_there;      /* there were two points */
};

void tw_touched_release(struct tw_touched_list *list, const struct tw_allocator *allocator);
void tw_touched_clear(struct tw_touched_list *list);
/* False: no memory. */
bool tw_touched_add(struct tw_touched_list *list, const struct tw_touched *more,
                    const struct tw_allocator *allocator);

/* `amount` was spent on all that is in the list, which is empty then.  The shares go to `on`, too: as
   cycles, by which a longer time can be shared; NULL: to none. */
bool tw_shares_give(struct tw_shares *shares, struct tw_touched_list *list, uint64_t amount,
                    struct tw_touched_list *on, const struct tw_allocator *allocator);

#endif
