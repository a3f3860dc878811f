/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows the program where ranges are counted (follow->sums).
   What is written as elements makes sense alone: an indirect branch and the range at its target are
   either both written, one after the other, or the edge between them is counted. */
#ifndef PATH_COUNT_H
#define PATH_COUNT_H

#include "path/follow.h"

/* The last range was counted, and where its branch leads will be known only from elements: it is
   written after all.  Before a walk off the fast path, and when a loop ends. */
TW_INLINE struct tw_element *tw_track_write_last(struct tw_follow *follow,
                                                 struct tw_follow_track *track,
                                                 struct tw_element *out, uint64_t index)
{
    if (track->link == TW_TRACK_LED ||
        (track->link == TW_TRACK_SUMMED && track->at < TW_BLOCK_FIRST && (track->last & 1) &&
         tw_block_is_indirect(&track->blocks[track->last / 2]))) {
        tw_sums_undo(follow->blocks, track->last);
        tw_follow_emit(out++, &track->blocks[track->last / 2], TW_RANGE_EXECUTED, index);
    }
    track->link = TW_TRACK_APART;
    return out;
}

/* Atoms that lead from block to block by links that are known, the last perhaps to an indirect branch; the place is a
   plain block, and not apart.  Those that are returned are to be followed one by one. */
TW_INLINE uint64_t tw_track_sum(struct tw_follow *follow, struct tw_follow_track *track,
                                uint64_t atoms)
{
    struct tw_blocks *const blocks = follow->blocks;
    const uint64_t all = atoms;
    uint32_t at = track->at, to = 0;

    if (track->link == TW_TRACK_LED)
        tw_sums_edge(follow->sums, blocks, track->last / 2, at);
    track->link = TW_TRACK_SUMMED;
    atoms = tw_sums_steps(blocks, &at, &to, atoms);
    while (TW_UNLIKELY(atoms != TW_ATOMS_DONE)) { /* a step that is not known yet */
        const uint32_t from = at;

        to = tw_sums_step(blocks, tw_step_number(at, tw_step_first(atoms)));
        if (to < TW_BLOCK_FIRST)
            break;
        atoms = tw_step_rest(atoms);
        if (atoms == TW_ATOMS_DONE || !tw_step_passed(to)) {
            at = from;
            break;
        }
        at = tw_step_block(to);
        atoms = tw_sums_steps(blocks, &at, &to, atoms);
    }
    if (TW_LIKELY(to >= TW_BLOCK_FIRST && !tw_step_passed(to))) {
        track->last = tw_step_block(to) * 2 | 1;
        track->at = TW_NEXT_NEEDED;
    } else if (atoms == TW_ATOMS_DONE) {
        track->last = tw_sums_last(blocks, at, tw_step_end(all));
        track->at = tw_step_block(to);
    } else if (atoms != all) {
        const unsigned done = tw_atoms_count(all) - tw_atoms_count(atoms);
        const uint64_t end = (uint64_t)1 << done;

        track->last = tw_sums_last(blocks, track->at, (all & (end - 1)) | end);
        track->at = at;
    }
    return atoms;
}

/* What tw_track_sum leaves to be found out: the instruction set at an indirect branch. */
TW_INLINE void tw_track_settle(struct tw_follow *follow, const struct tw_follow_track *track)
{
    if (track->at == TW_NEXT_NEEDED && track->link == TW_TRACK_SUMMED)
        follow->isa = track->blocks[track->last / 2].isa;
}

/* The next atom: its range is written, or counted. */
TW_INLINE struct tw_element *tw_track_step(struct tw_follow *follow,
                                           struct tw_follow_track *track,
                                           struct tw_element *out, uint32_t taken,
                                           uint64_t index)
{
    const struct tw_block *block = &track->blocks[track->at];

    if (TW_UNLIKELY(track->link == TW_TRACK_APART)) {
        tw_follow_emit(out++, block, taken, index);
    } else {
        if (track->link == TW_TRACK_LED)
            tw_sums_edge(follow->sums, follow->blocks, track->last / 2, track->at);
        tw_sums_go(follow->blocks, track->at * 2 + taken);
        track->link = TW_TRACK_SUMMED;
    }
    track->last = track->at * 2 + taken;
    track->at = track->links[track->last];
    if (track->link == TW_TRACK_APART && tw_block_is_plain(track->at))
        track->link = TW_TRACK_WRITTEN;
    return out;
}

/* A block ends with a call that is made: the block that it leads to, or 0: it is not so simple. */
TW_INLINE uint32_t tw_follow_call(struct tw_follow *follow, uint32_t from)
{
    const struct tw_block *block = &follow->blocks->blocks[from];
    const struct tw_block_more *more = &follow->blocks->more[from];

    if (TW_UNLIKELY(!more->is_link || more->is_indirect || !tw_block_is_plain(more->taken) ||
                    follow->push_is_blocked))
        return 0;
    tw_follow_push(follow, block->start + block->length, block->isa);
    return more->taken;
}

/* No address comes for an indirect branch: the block that the return stack tells, or 0. */
TW_INLINE uint32_t tw_follow_return(struct tw_follow *follow)
{
    const unsigned top = follow->return_top;
    uint32_t known;

    if (TW_UNLIKELY(!follow->return_count))
        return 0;
    known = tw_blocks_known(follow->blocks, follow->returns[top].address,
                            follow->returns[top].isa, 0);
    if (TW_UNLIKELY(!tw_block_is_plain(known)))
        return 0;
    tw_follow_drop(follow);
    follow->pop_is_pending = false;
    follow->missing = TW_MISSING_NOTHING;
    return known;
}

/* The last range was counted, and the return stack tells where it leads; false: it is not so simple. */
TW_INLINE bool tw_track_return(struct tw_follow *follow, struct tw_follow_track *track)
{
    const uint32_t next = track->link == TW_TRACK_SUMMED ? tw_follow_return(follow) : 0;

    if (!next)
        return false;
    track->at = next;
    track->link = TW_TRACK_LED;
    return true;
}

/* The same, if it was just passed and calls or, where the stack is asked at once, returns. */
TW_INLINE bool tw_track_call(struct tw_follow *follow, struct tw_follow_track *track)
{
    uint32_t next = 0;

    if (track->at == TW_NEXT_NEEDED)
        return follow->pops_at_once && tw_track_return(follow, track);
    if (track->at == TW_NEXT_SPECIAL && track->link == TW_TRACK_SUMMED && (track->last & 1))
        next = tw_follow_call(follow, track->last / 2);
    if (next)
        track->at = next;
    return next != 0;
}

/* tw_track_sum with a return stack that is asked at once.  With `has_address` the last atom is that of a branch whose
   address comes next. */
TW_INLINE uint64_t tw_track_sum_calls(struct tw_follow *follow, struct tw_follow_track *track,
                                      uint64_t atoms, const bool has_address)
{
    enum { LAST = 3 }; /* a single atom, and it is taken */
    struct tw_blocks *const blocks = follow->blocks;
    const struct tw_block *const all = track->blocks;
    const uint64_t before = atoms;
    uint32_t at = track->at, last = track->last;
    bool is_led = track->link == TW_TRACK_LED, has_steps = true;

    while (atoms != TW_ATOMS_DONE) {
        const uint32_t from = at, way = from * 2 | (atoms & 1);
        uint32_t next = track->links[way];
        bool leads = false;

        if (TW_LIKELY(tw_block_is_plain(next))) {
            if (atoms >= TW_STEP_WORDS && has_steps) {
                const uint32_t to =
                    tw_sums_step(blocks, tw_step_number(from, tw_step_first(atoms)));

                has_steps = to >= TW_BLOCK_FIRST; /* else not before the next call */
                if (has_steps) {
                    if (is_led)
                        tw_sums_edge(follow->sums, blocks, last / 2, from);
                    is_led = false;
                    at = tw_step_block(to);
                    atoms >>= TW_STEP_DECISIONS;
                    continue;
                }
            }
        } else {
            if (has_address && atoms == LAST && tw_block_is_indirect(&all[from])) {
                if (next == TW_NEXT_SPECIAL)
                    tw_follow_push(follow, all[from].start + all[from].length, all[from].isa);
                next = TW_NEXT_NEEDED;
            } else if (next == TW_NEXT_SPECIAL && (atoms & 1)) {
                next = tw_follow_call(follow, from);
            } else {
                leads = next == TW_NEXT_NEEDED;
                next = leads ? tw_follow_return(follow) : 0;
            }
            if (TW_UNLIKELY(!next))
                break;
            has_steps = true;
        }
        if (is_led)
            tw_sums_edge(follow->sums, blocks, last / 2, from);
        is_led = leads;
        tw_sums_go(blocks, way);
        last = way;
        at = next;
        atoms >>= 1;
    }
    if (atoms == before)
        return atoms;
    track->at = at;
    track->last = last;
    track->link = is_led ? TW_TRACK_LED : TW_TRACK_SUMMED;
    return atoms;
}

/* tw_track_atoms. */
TW_INLINE struct tw_element *tw_track_count(struct tw_follow *follow,
                                            struct tw_follow_track *track,
                                            struct tw_element *out, uint64_t atoms,
                                            uint64_t index)
{
    for (;;) {
        if (TW_UNLIKELY(!tw_block_is_plain(track->at)) &&
            !(follow->pop_is_pending && track->at == TW_NEXT_NEEDED &&
              tw_track_return(follow, track))) {
            tw_track_settle(follow, track);
            out = tw_track_write_last(follow, track, out, index);
            out = tw_track_slowly(follow, track, out, &atoms, index);
            track->link = TW_TRACK_APART;
            if (atoms == TW_ATOMS_DONE)
                return out;
        }
        out = tw_track_step(follow, track, out, atoms & 1, index);
        atoms >>= 1;
        if (TW_LIKELY(tw_block_is_plain(track->at))) {
            if (TW_LIKELY(atoms == TW_ATOMS_DONE))
                return out;
            continue;
        }
        if (track->at == TW_NEXT_NEEDED && !follow->has_return_stack) {
            follow->isa = track->blocks[track->last / 2].isa;
        } else if (track->at == TW_NEXT_NEEDED && !follow->pops_at_once) {
            follow->isa = track->blocks[track->last / 2].isa;
            follow->pop_is_pending = true;
        } else if (follow->has_return_stack && tw_track_call(follow, track)) {
            if (atoms == TW_ATOMS_DONE)
                return out;
            continue;
        } else if (track->at < TW_BLOCK_FIRST) {
            const enum tw_track_link link = track->link;

            tw_track_end(follow, track);
            out = tw_follow_after(follow, out, track->last / 2, track->last & 1, index);
            *track = tw_track_begin(follow);
            track->link = link != TW_TRACK_APART         ? link
                          : tw_block_is_plain(track->at) ? TW_TRACK_WRITTEN
                                                         : TW_TRACK_APART;
            if (follow->error)
                return out;
        }
        if (atoms == TW_ATOMS_DONE)
            return out;
    }
}

/* The trace tells where the indirect branch leads that came last: to a block that is known, and the edge will be counted.
   False: it is not so simple. */
TW_INLINE bool tw_track_count_lead(struct tw_follow *follow, struct tw_follow_track *track,
                                   uint64_t address, uint8_t isa)
{
    uint32_t known;

    if (TW_UNLIKELY((track->link != TW_TRACK_LED &&
                     (track->link != TW_TRACK_SUMMED || track->at != TW_NEXT_NEEDED)) ||
                    !follow->blocks || follow->check_continuity))
        return false;
    known = tw_blocks_known(follow->blocks, address, isa, 0);
    if (TW_UNLIKELY(!tw_block_is_plain(known)))
        return false;
    track->at = known;
    track->link = TW_TRACK_LED;
    follow->pop_is_pending = false;
    follow->missing = TW_MISSING_NOTHING;
    return true;
}

/* tw_track_jump, where it is not so simple: what has to be written is. */
TW_INLINE struct tw_element *tw_track_count_apart(struct tw_follow *follow,
                                                  struct tw_follow_track *track,
                                                  struct tw_element *out, uint64_t address,
                                                  uint8_t isa, uint64_t index)
{
    tw_track_settle(follow, track);
    out = tw_track_write_last(follow, track, out, index);
    tw_track_jump(follow, track, address, isa);
    track->link = TW_TRACK_APART;
    return out;
}

#endif
