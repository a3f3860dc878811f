/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows the program where quiet ways are left out: what the fast loop of quiet.h leaves over. */
#include "path/quiet.h"

/* A way of which the fast loop can tell where it leads: it is asked of once its link is known. */
static bool is_known(const struct tw_follow *follow, uint32_t way)
{
    struct tw_blocks *blocks = follow->blocks;
    const uint32_t next = blocks->links[way];

    if (blocks->quiet[way].to == TW_QUIET_UNKNOWN && tw_block_is_plain(next))
        tw_quiet_ask(blocks, way);
    else if (next == TW_NEXT_NEEDED && !(follow->has_return_stack && follow->pops_at_once))
        blocks->quiet[way].to = TW_QUIET_NOT;
    return blocks->quiet[way].to != TW_QUIET_UNKNOWN;
}

struct tw_element *tw_quiet_slowly(struct tw_follow *follow, struct tw_quiet_track *track,
                                   struct tw_element *out, uint64_t *atoms, uint64_t index)
{
    while (*atoms != TW_ATOMS_DONE) {
        const uint32_t taken = *atoms & 1;
        struct tw_element *const range = out;

        if (!tw_block_is_plain(track->on.at))
            out = tw_quiet_write_last(track, out, index);
        else if (is_known(follow, track->on.at * 2 + taken))
            break;
        out = tw_track_atoms(follow, &track->on, out, tw_atoms(taken, 1), index);
        if (track->passed) {
            range->count += track->passed;
            range->range_cycles = track->passed;
        }
        track->passed = 0;
        track->is_told = false;
        *atoms = follow->error ? TW_ATOMS_DONE : *atoms >> 1;
    }
    track->ways = follow->blocks ? follow->blocks->quiet : NULL;
    return out;
}
