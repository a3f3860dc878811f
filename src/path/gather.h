/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting ranges: the atoms of several packets, each of one byte, are followed as one word. */
#ifndef PATH_GATHER_H
#define PATH_GATHER_H

#include "base/atoms.h"
#include "path/count.h"

enum { TW_GATHERED_MOST = 63 }; /* atoms in a word */

/* Packets whose atoms are followed one by one. */
struct tw_gather {
    const struct tw_atom_packet *packets; /* by their byte */
    struct tw_element *last;              /* behind it no packet may begin to be written */
    uint64_t index;                       /* of what is written */
    const uint8_t *at;                    /* behind those whose atoms are taken */
};

/* The atoms of the packets from *at on in one word, until there are `enough` or something else comes; `is_near`: or the end does. */
TW_INLINE uint64_t tw_gather_some(const struct tw_atom_packet *packets, const uint8_t **at,
                                  const uint8_t *end, unsigned enough, const bool is_near)
{
    const uint8_t *next = *at;
    uint64_t bits = 0;
    unsigned count = 0;

    do {
        const struct tw_atom_packet *atoms = &packets[*next];

        if (!atoms->count)
            break;
        bits |= (uint64_t)atoms->bits << count;
        count += atoms->count;
        next++;
    } while (count < enough && (!is_near || next < end));
    *at = next;
    return bits | (uint64_t)1 << count;
}

/* The same, wherever the end is: each packet has an atom at least. */
TW_INLINE uint64_t tw_gather_atoms(const struct tw_atom_packet *packets, const uint8_t **at,
                                   const uint8_t *end, unsigned enough)
{
    return TW_LIKELY(end - *at >= TW_GATHERED_MOST)
               ? tw_gather_some(packets, at, end, enough, false)
               : tw_gather_some(packets, at, end, enough, true);
}

/* The last so many atoms before *at are left: *at becomes the end of the packet that has the first of them; how
   many of them are in it. */
TW_INLINE unsigned tw_gather_find(const struct tw_gather *gather, const uint8_t **at,
                                  unsigned left)
{
    while (left > gather->packets[(*at)[-1]].count)
        left -= gather->packets[*--*at].count;
    return left;
}

/* Atoms of packets before gather->at that are followed one by one, packet by packet; behind a packet at which there is no more
   room, or the path breaks off, gather->at is. */
TW_INLINE struct tw_element *tw_gather_count(struct tw_gather *gather, struct tw_follow *follow,
                                             struct tw_follow_track *track,
                                             struct tw_element *out, uint64_t atoms)
{
    while (atoms != TW_ATOMS_DONE) {
        const uint8_t *packet = gather->at;
        const unsigned left = tw_gather_find(gather, &packet, tw_atoms_count(atoms));

        out = tw_track_count(follow, track, out,
                             tw_atoms((uint32_t)(atoms & (((uint64_t)1 << left) - 1)), left),
                             gather->index);
        atoms >>= left;
        if (TW_UNLIKELY(follow->error || out > gather->last)) {
            gather->at = packet; /* what comes after it was not looked at */
            break;
        }
        if (atoms != TW_ATOMS_DONE && track->link != TW_TRACK_APART &&
            tw_block_is_plain(track->at))
            atoms = tw_track_sum(follow, track, atoms);
    }
    return out;
}

#endif
