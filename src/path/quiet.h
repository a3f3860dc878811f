/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows the program where quiet ways are left out (image/quiet.h): what is written makes sense alone.  Of a way that
   is not quiet the ranges at both ends are written, or that at its beginning alone if it tells enough; and the
   last one before anything that is no range. */
#ifndef PATH_QUIET_H
#define PATH_QUIET_H

#include "image/quiet.h"
#include "path/follow.h"

struct tw_quiet_track {
    struct tw_follow_track on;
    uint32_t passed; /* instructions of ranges that were left out since the last element */
    bool is_told;    /* a range was written since the last way that was not quiet */
    const struct tw_quiet_way *ways; /* follow->blocks->quiet */
};

TW_INLINE struct tw_quiet_track tw_quiet_track_begin(const struct tw_follow *follow)
{
    return (struct tw_quiet_track){ .on = tw_track_begin(follow),
                                    .ways = follow->blocks ? follow->blocks->quiet : NULL };
}

/* The last range was left out, and what comes next is none that follows on it: it is written after all. */
TW_INLINE struct tw_element *tw_quiet_write_last(struct tw_quiet_track *track,
                                                 struct tw_element *out, uint64_t index)
{
    if (track->passed) {
        tw_follow_emit(out, &track->on.blocks[track->on.last / 2], track->on.last & 1, index);
        out->range_cycles = track->passed - out->count;
        out++->count = track->passed;
    }
    track->passed = 0;
    track->is_told = false;
    return out;
}

/* The trace says that the program goes on at this address. */
TW_INLINE struct tw_element *tw_quiet_jump(struct tw_follow *follow,
                                           struct tw_quiet_track *track, struct tw_element *out,
                                           uint64_t index, uint64_t address, uint8_t isa)
{
    out = tw_quiet_write_last(track, out, index);
    tw_track_jump(follow, &track->on, address, isa);
    track->ways = TW_LIKELY(follow->blocks) ? follow->blocks->quiet : NULL;
    return out;
}

/* Atoms off the fast path, until the place is a plain block again and the next way was asked of, or they are used up; in
   *atoms those that are left. */
struct tw_element *tw_quiet_slowly(struct tw_follow *follow, struct tw_quiet_track *track,
                                   struct tw_element *out, uint64_t *atoms, uint64_t index);

/* Atoms that lead from block to block by quiet ways, behind a range that was written; those that are left. */
TW_INLINE uint64_t tw_quiet_pass(struct tw_quiet_track *track, uint64_t atoms)
{
    uint32_t at = track->on.at, last = track->on.last, passed = track->passed;

    do {
        const uint32_t way = at * 2 + (atoms & 1);
        const uint32_t to = track->ways[way].to;

        if (TW_UNLIKELY(to < TW_BLOCK_FIRST))
            break;
        passed += track->ways[way].count;
        last = way;
        at = to;
        atoms >>= 1;
    } while (atoms != TW_ATOMS_DONE);
    track->on.at = at;
    track->on.last = last;
    track->passed = passed;
    return atoms;
}

/* tw_track_atoms; false: the path broke off (follow->error). */
TW_INLINE bool tw_quiet_atoms(struct tw_follow *follow, struct tw_quiet_track *track,
                              struct tw_element **out, uint64_t atoms, uint64_t index)
{
    for (;;) {
        const struct tw_block *block;
        uint32_t taken, to;

        if (track->is_told) {
            atoms = tw_quiet_pass(track, atoms);
            if (atoms == TW_ATOMS_DONE)
                return true;
        }
        taken = atoms & 1;
        if (TW_UNLIKELY(!tw_block_is_plain(track->on.at) ||
                        track->ways[track->on.at * 2 + taken].to == TW_QUIET_UNKNOWN)) {
            struct tw_quiet_track copy = *track; /* so that the loop's own stays in registers */
            uint64_t left = atoms;

            *out = tw_quiet_slowly(follow, &copy, *out, &left, index);
            *track = copy;
            atoms = left;
            if (follow->error)
                return false;
            if (atoms == TW_ATOMS_DONE)
                return true;
            continue;
        }
        block = &track->on.blocks[track->on.at];
        track->on.last = track->on.at * 2 + taken;
        to = track->ways[track->on.last].to;
        tw_follow_emit(*out, block, taken, index);
        (*out)->range_cycles = track->passed;
        (*out)++->count += track->passed;
        track->passed = 0;
        track->is_told = to >= TW_QUIET_TOLD;
        track->on.at = track->on.links[track->on.last];
        if (track->on.at == TW_NEXT_NEEDED) {
            follow->isa = block->isa;
            if (follow->has_return_stack)
                follow->pop_is_pending = true;
        }
        atoms >>= 1;
        if (atoms == TW_ATOMS_DONE)
            return true;
    }
}

#endif
