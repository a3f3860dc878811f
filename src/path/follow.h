/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows the program: taken and not-taken decisions in, executed ranges out.  Shared by every
   program-flow protocol; the loop over atoms is inline so that it fuses with their packet loops. */
#ifndef PATH_FOLLOW_H
#define PATH_FOLLOW_H

#include <string.h>

#include <trackway/types.h>

#include "base/compiler.h"
#include "image/blocks.h"
#include "image/sums.h"

enum { TW_RETURN_STACK_MAX = 16 };

/* Why nothing can be said of atoms: `address` is not in the image, or there is none, and that has
   been said. */
enum tw_follow_missing { TW_MISSING_NOTHING, TW_MISSING_CODE, TW_MISSING_ADDRESS };

struct tw_follow {
    struct tw_code *code;
    struct tw_blocks *blocks; /* of the current address space */
    uint32_t at;              /* a block, or one of TW_NEXT_NEEDED and TW_NEXT_AT_ADDRESS */

    /* Where we are when `at` is TW_NEXT_AT_ADDRESS. */
    uint64_t address;
    uint8_t isa;
    uint8_t it_open;

    bool has_return_stack;
    bool push_is_blocked; /* until an address and a context have come after synchronization */
    bool pop_is_pending;  /* at TW_NEXT_NEEDED: the top of the return stack is the address */
    bool says_unplaced;   /* atoms that have no place are told of; else the decoder does */
    bool pops_at_once;    /* PTM: an atom never waits for the address of its branch */
    uint8_t missing;      /* at TW_NEXT_NEEDED: enum tw_follow_missing */
    uint32_t lost_atoms;  /* that came while code was missing, since the last ADDR_NACC */
    bool check_continuity;
    bool splits_sources;   /* a source address's range is split at each not-taken waypoint */
    bool stops_at_context; /* a batch ends behind a PE_CONTEXT ... */
    /* ... and one has come in this run over the input; or, with sums, another */
    bool is_stopped;
    uint8_t return_depth; /* entries that the protocol's analyzer keeps */
    uint8_t error;        /* enum tw_error_code: what stopped the path; the decoder clears it */
    uint64_t error_detail;

    struct {
        uint64_t address;
        uint8_t isa;
    } returns[TW_RETURN_STACK_MAX];
    unsigned return_top, return_count;

    uint64_t epoch; /* of the code, when `at` was set */
    struct tw_view view;
    tw_view_fn *look; /* NULL: there is but one address space */
    void *look_context;
    uint32_t walked;     /* what was passed so far on the way to a source address counts */
    uint32_t last_block; /* the block of the last atom, and whether it was taken */
    bool last_taken;
    /* ranges are counted here where that will do; NULL: all are written */
    struct tw_sums *sums;
    struct tw_element context; /* with sums: the last PE_CONTEXT */
};

/* `code` is borrowed, and may serve several followers of one thread. */
void tw_follow_init(struct tw_follow *follow, struct tw_code *code);

/* Nothing is known of the place: address, context, return stack. */
void tw_follow_reset(struct tw_follow *follow);

/* The address space to look in from now on. */
void tw_follow_view(struct tw_follow *follow, uint32_t space, uint32_t context);

/* The same, where the trace told so by this PE_CONTEXT: the space is asked of follow->look. */
void tw_follow_context(struct tw_follow *follow, uint32_t space,
                       const struct tw_element *context);
/* A PE_CONTEXT has come, and its address space is set.  What is counted is that of one context: the
   batch ends behind the element where it is another than before. */
void tw_follow_owner(struct tw_follow *follow, const struct tw_element *context);
/* A TIMESTAMP has come: memory may look different from now on. */
void tw_follow_time(struct tw_follow *follow, const struct tw_element *timestamp);

/* The program goes on at this address, where the walk ends that found it. */
void tw_follow_go(struct tw_follow *follow, uint64_t address, uint8_t isa, uint8_t it_open);
/* The trace says that it goes on at this address. */
void tw_follow_jump(struct tw_follow *follow, uint64_t address, uint8_t isa);

/* Only an address in the trace can tell where the program goes on; the instruction set is taken to
   stay as it is. */
static inline void tw_follow_lose(struct tw_follow *follow)
{
    if (follow->at >= TW_BLOCK_FIRST)
        follow->isa = follow->blocks->blocks[follow->at & ~TW_BLOCK_BROKEN].isa;
    follow->at = TW_NEXT_NEEDED;
    follow->pop_is_pending = false;
    follow->missing = TW_MISSING_NOTHING;
}

/* The return stack: a call is made; the last one is returned from. */
TW_INLINE void tw_follow_push(struct tw_follow *follow, uint64_t address, uint8_t isa)
{
    follow->return_top = (follow->return_top + 1) % TW_RETURN_STACK_MAX;
    follow->returns[follow->return_top].address = address;
    follow->returns[follow->return_top].isa = isa;
    if (follow->return_count < follow->return_depth)
        follow->return_count++;
}

TW_INLINE void tw_follow_drop(struct tw_follow *follow)
{
    follow->return_count--;
    follow->return_top = (follow->return_top + TW_RETURN_STACK_MAX - 1) % TW_RETURN_STACK_MAX;
}

/* Call on entering and leaving a run over the input: the code may change in between. */
void tw_follow_enter(struct tw_follow *follow);
void tw_follow_leave(struct tw_follow *follow);

/* True when the place is known (an address pending on the return stack is fetched first). */
bool tw_follow_is_placed(struct tw_follow *follow);
/* The address of the next instruction; only when placed. */
uint64_t tw_follow_address(const struct tw_follow *follow);
/* Its instruction set; the last one known when not placed. */
uint8_t tw_follow_isa(const struct tw_follow *follow);

/* Memory ends at this address: says so, and the place is lost. */
TW_INLINE struct tw_element *tw_follow_put_missing(struct tw_follow *follow,
                                                   struct tw_element *out, uint64_t address,
                                                   uint64_t index)
{
    follow->at = TW_NEXT_NEEDED;
    follow->pop_is_pending = false;
    follow->address = address;
    follow->missing = TW_MISSING_CODE;
    *out = (struct tw_element){ .index = index,
                                .address = address,
                                .count = follow->lost_atoms,
                                .type = TW_ELEMENT_ADDR_NACC,
                                .space = follow->view.space };
    follow->lost_atoms = 0;
    return out + 1;
}

/* The same, for those who seldom need it. */
struct tw_element *tw_follow_emit_missing(struct tw_follow *follow, struct tw_element *out,
                                          uint64_t address, uint64_t index);

/* One atom off the fast path: the place is not a plain block, or what follows is special. */
struct tw_element *tw_follow_slow(struct tw_follow *follow, struct tw_element *out, bool taken,
                                  uint64_t index);
struct tw_element *tw_follow_after(struct tw_follow *follow, struct tw_element *out,
                                   uint32_t block, bool taken, uint64_t index);

/* A block without a waypoint: what can be said of it; then an address is needed. */
struct tw_element *tw_follow_broken(struct tw_follow *follow, struct tw_element *out,
                                    uint32_t block, uint64_t index);

/* The most elements that one atom can make. */
enum { TW_FOLLOW_MOST = 3 };

TW_INLINE void tw_follow_emit(struct tw_element *out, const struct tw_block *block,
                              uint64_t taken, uint64_t index)
{
    tw_block_range(out, block, taken, index);
}

/* How the next range hangs together with the last one, where ranges are counted. */
enum tw_track_link {
    TW_TRACK_APART,   /* whoever gets the elements has to see it: it is written */
    TW_TRACK_WRITTEN, /* the last one was, and leads to it */
    TW_TRACK_SUMMED,  /* the last one was counted */
    TW_TRACK_LED      /* ... and the trace told where its branch leads: here */
};

/* The part of a follower that changes with each atom: a loop keeps it in registers. */
struct tw_follow_track {
    uint32_t at;
    uint32_t last; /* last_block * 2 + last_taken */
    const struct tw_block *blocks;
    const uint32_t *links;
    enum tw_track_link link; /* for the functions below that count */
};

TW_INLINE struct tw_follow_track tw_track_begin(const struct tw_follow *follow)
{
    return (struct tw_follow_track){ .at = follow->at,
                                     .last = follow->last_block * 2 + follow->last_taken,
                                     .blocks = follow->blocks ? follow->blocks->blocks : NULL,
                                     .links = follow->blocks ? follow->blocks->links : NULL };
}

TW_INLINE void tw_track_end(struct tw_follow *follow, const struct tw_follow_track *track)
{
    follow->at = track->at;
    follow->last_block = track->last / 2;
    follow->last_taken = track->last & 1;
}

/* Atoms in one word: bit n is atom n, 1 is taken; a 1 above the last one ends them.  At most 32. */
TW_INLINE uint64_t tw_atoms(uint32_t bits, unsigned count)
{
    return bits | (uint64_t)1 << count;
}

enum { TW_ATOMS_DONE = 1 };

/* Atoms of which nothing can be said.  False: that has to be said first, by tw_follow_unknown. */
TW_INLINE bool tw_follow_skip(struct tw_follow *follow, unsigned count)
{
    if (follow->missing == TW_MISSING_CODE)
        follow->lost_atoms += count;
    return follow->missing != TW_MISSING_NOTHING || !follow->says_unplaced;
}

/* A P0 element comes, and where it belongs is not known: TW_ERROR_UNPLACED, once
   until an address comes. */
struct tw_element *tw_follow_unknown(struct tw_follow *follow, struct tw_element *out,
                                     uint64_t index);

TW_INLINE unsigned tw_atoms_count(uint64_t atoms)
{
    return tw_highest_bit(atoms);
}

/* Atoms off the fast path, until the place is a plain block again or they are used up; returns
   the place behind the last element written, and in *atoms those that are left. */
struct tw_element *tw_follow_slowly(struct tw_follow *follow, struct tw_element *out,
                                    uint64_t *atoms, uint64_t index);

/* The same for a track. */
TW_INLINE struct tw_element *tw_track_slowly(struct tw_follow *follow,
                                             struct tw_follow_track *track,
                                             struct tw_element *out, uint64_t *atoms,
                                             uint64_t index)
{
    uint64_t left = *atoms;

    *atoms = TW_ATOMS_DONE;
    if (track->at & TW_BLOCK_BROKEN) { /* code is missing: often so in kernel traces */
        const uint32_t number = track->at & ~TW_BLOCK_BROKEN;
        const struct tw_block *block = &track->blocks[number];

        if (TW_LIKELY(!block->count &&
                      follow->blocks->more[number].end == TW_BLOCK_UNREADABLE)) {
            follow->isa = block->isa;
            out = tw_follow_put_missing(follow, out, block->start, index);
        } else {
            out = tw_follow_broken(follow, out, track->at, index);
        }
        track->at = TW_NEXT_NEEDED;
        track->last = 0; /* as tw_follow_broken says */
        (void)tw_follow_skip(follow, tw_atoms_count(left) - 1);
        return out;
    }
    tw_track_end(follow, track);
    out = tw_follow_slowly(follow, out, &left, index);
    *track = tw_track_begin(follow);
    *atoms = left;
    return out;
}

/* Follows atoms, each to the next waypoint.  Returns the place behind the last element written.
   When the path breaks off (follow->error) the remaining atoms are dropped; so are atoms while an
   address is needed.  The address of `track` must not leave the inline functions, or it would live
   in memory. */
TW_INLINE struct tw_element *tw_track_atoms(struct tw_follow *follow,
                                            struct tw_follow_track *track,
                                            struct tw_element *out, uint64_t atoms,
                                            uint64_t index)
{
    for (;;) {
        if (TW_UNLIKELY(!tw_block_is_plain(track->at))) {
            out = tw_track_slowly(follow, track, out, &atoms, index);
            if (atoms == TW_ATOMS_DONE)
                return out;
        }
        do {
            const struct tw_block *block = &track->blocks[track->at];
            const size_t taken = atoms & 1;

            atoms >>= 1;
            tw_follow_emit(out++, block, taken, index);
            track->last = track->at * 2 + (uint32_t)taken;
            track->at = track->links[track->last];
            if (TW_LIKELY(tw_block_is_plain(track->at)))
                continue;
            if (track->at == TW_NEXT_NEEDED && !follow->has_return_stack) {
                follow->isa = block->isa;
            } else if (track->at < TW_BLOCK_FIRST) {
                tw_track_end(follow, track);
                out = tw_follow_after(follow, out, track->last / 2, taken, index);
                *track = tw_track_begin(follow);
                if (follow->error)
                    return out;
            }
            break;
        } while (atoms != TW_ATOMS_DONE);
        if (atoms == TW_ATOMS_DONE)
            return out;
    }
}

TW_INLINE struct tw_element *tw_follow_atoms(struct tw_follow *follow, struct tw_element *out,
                                             uint32_t bits, unsigned count, uint64_t index)
{
    struct tw_follow_track track = tw_track_begin(follow);

    out = tw_track_atoms(follow, &track, out, tw_atoms(bits, count), index);
    tw_track_end(follow, &track);
    return out;
}

/* The trace says that the program goes on at this address: its block at once if it is known,
   else as tw_follow_jump. */
TW_INLINE void tw_track_jump(struct tw_follow *follow, struct tw_follow_track *track,
                             uint64_t address, uint8_t isa)
{
    const uint32_t known =
        TW_LIKELY(follow->blocks) ? tw_blocks_known(follow->blocks, address, isa, 0) : 0;

    if (TW_LIKELY(known && !follow->check_continuity)) {
        track->at = known;
        follow->pop_is_pending = false;
        follow->missing = TW_MISSING_NOTHING;
        return;
    }
    tw_track_end(follow, track);
    tw_follow_jump(follow, address, isa);
    *track = tw_track_begin(follow);
}

/* A copy of the return stack, oldest entry first. */
struct tw_returns {
    uint64_t address[TW_RETURN_STACK_MAX];
    uint8_t isa[TW_RETURN_STACK_MAX];
    uint8_t count;
};

void tw_follow_save_returns(const struct tw_follow *follow, struct tw_returns *returns);
void tw_follow_restore_returns(struct tw_follow *follow, const struct tw_returns *returns);
/* The trace unit empties its return stack: what it left out until now is on its top, what comes
   after is not [K10.5.5.9]. */
void tw_follow_empty_returns(struct tw_follow *follow);

/* One taken waypoint, where the trace tells next where it leads to: nothing is taken from the
   return stack, and the place is not known until tw_follow_jump. */
struct tw_element *tw_follow_taken(struct tw_follow *follow, struct tw_element *out,
                                   uint64_t index);

/* Walks from the place up to, not including, `stop`, passing waypoints as not taken: what ran
   before an exception.  At most one range, and an inaccessible element where memory ends (again,
   when it had ended before); two ranges where the way leads over the top of memory.  Then the place
   is `stop`.  Does nothing when there is no place or it is not before `stop`. */
struct tw_element *tw_follow_to_exception(struct tw_follow *follow, struct tw_element *out,
                                          uint64_t stop, uint64_t index);

/* Walks up to and including the instruction at `stop`, which was taken: a source address.  Only that
   instruction when there is no place.  Where no way leads there, or it is no branch, the place is
   lost and follow->error is TW_ERROR_IMAGE_MISMATCH.  One range;
   or, when `split`, one for each not-taken waypoint passed: then *done tells whether all fitted
   between `out` and `end`, else call again. */
struct tw_element *tw_follow_to_source(struct tw_follow *follow, struct tw_element *out,
                                       struct tw_element *end, uint64_t stop, bool split,
                                       uint64_t index, bool *done);

/* Walks up to and including the instruction at `stop`, which lies before the next waypoint or is
   it, and goes on behind it: a waypoint update.  One range.  Where that is not so, the place is
   lost and follow->error is TW_ERROR_IMAGE_MISMATCH.  Does nothing when there is no place. */
struct tw_element *tw_follow_to_update(struct tw_follow *follow, struct tw_element *out,
                                       uint64_t stop, uint64_t index);

/* How `count` instructions can have led to an address. */
enum tw_ways { TW_WAYS_NONE, TW_WAYS_ONE, TW_WAYS_MANY };
enum { TW_WAY_BRANCHES = 60 }; /* more are not followed */

struct tw_way {
    uint64_t stop;
    uint64_t taken; /* bit n: branch n on the way */
    uint32_t count;
};

/* Looks for the ways from the place, which must be known, to `stop`: none, as the branches that end
   them lead elsewhere; one; or many, which also means that it cannot be told, as code is missing, the
   way leads over an indirect branch or ends at none. */
enum tw_ways tw_follow_find_way(struct tw_follow *follow, struct tw_way *way, uint32_t count,
                                uint64_t stop);
/* The ranges of the only way, directly after it was found: at most TW_WAY_BRANCHES + 1.  The place is
   not moved. */
struct tw_element *tw_follow_way(struct tw_follow *follow, struct tw_element *out,
                                 const struct tw_way *way, uint64_t index);

/* Undoes the last atom's decision: the program went the other way, whatever address came since. */
void tw_follow_flip(struct tw_follow *follow);
/* Pushes what the last atom's branch would have pushed had it been taken. */
void tw_follow_push_last(struct tw_follow *follow);

#endif
