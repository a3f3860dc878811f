/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: P-headers and plain branches, which most of a trace is, drive the follower straight from the bytes. */
#include "etmv3/decode.h"
#include "path/gather.h"

enum { BRANCH_MARGIN = 8 }; /* bytes there must be behind a branch, too */

/* Follows the link that the last atom took, if it is not followed yet. */
static TW_NOINLINE uint32_t follow_link(struct tw_follow *follow, uint32_t place, uint32_t from,
                                        unsigned taken)
{
    struct tw_element none[TW_FOLLOW_MOST];

    if (place == TW_NEXT_NEEDED)
        follow->isa = follow->blocks->blocks[from].isa;
    if (place != TW_NEXT_UNKNOWN && place != TW_NEXT_SPECIAL)
        return place;
    follow->at = place;
    (void)tw_follow_after(follow, none, from, taken, 0);
    return follow->at;
}

/* A branch without exception information: its size, or 0 when it is not so plain. */
TW_INLINE unsigned read_branch(const struct tw_stage *stage, struct tw_armv7_address *address,
                               const uint8_t *at)
{
    const struct tw_etmv3_decoder *decoder = stage->decoder;
    const struct tw_etmv3_reader *reader = &decoder->reader;
    struct tw_bytes in = { .at = at, .end = at + TW_ARMV7_ADDRESS_MAX };

    if (!(*at & 1) || stage->end - at <= BRANCH_MARGIN)
        return 0;
    tw_armv7_get_address(&in, address, reader->address, reader->isa, reader->setup.alternative);
    if (address->size == TW_ARMV7_ADDRESS_MAX ||
        (reader->setup.alternative && address->size > 1 && (address->last & 0x40)) ||
        address->isa > TW_ISA_T32 || stage->follow->check_continuity)
        return 0;
    return address->size;
}

/* It leads there. */
TW_INLINE void arrive(struct tw_stage *stage, const struct tw_armv7_address *address)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    decoder->reader.address = address->address;
    decoder->unknown_is_said = decoder->is_returning = false;
}

TW_INLINE uint32_t known_at(const struct tw_follow *follow,
                            const struct tw_armv7_address *address)
{
    return follow->blocks ? tw_blocks_known(follow->blocks, address->address, address->isa, 0)
                          : 0;
}

/* The same as a follower's step; its size, or 0. */
static unsigned fast_branch(struct tw_stage *stage, const uint8_t *at)
{
    struct tw_follow *follow = stage->follow;
    struct tw_armv7_address address;
    const unsigned size = read_branch(stage, &address, at);
    uint32_t known;

    if (!size)
        return 0;
    arrive(stage, &address);
    known = known_at(follow, &address);
    if (TW_LIKELY(known != 0)) {
        follow->at = known;
        follow->pop_is_pending = false;
        follow->missing = TW_MISSING_NOTHING;
    } else {
        tw_follow_jump(follow, address.address, address.isa);
    }
    return size;
}

/* The block at the place, where only an address is known. */
static TW_NOINLINE void find_place(struct tw_follow *follow)
{
    uint32_t found;

    if (follow->at != TW_NEXT_AT_ADDRESS || follow->it_open)
        return;
    found = tw_blocks_find(follow->blocks, follow->address, follow->isa, 0);
    if (found)
        follow->at = found;
}

/* size: hot loop */
/* P-headers and plain branches, until something else comes, the room is used up or the path
   breaks off (follow->error).  In stretches that lie together in the capture.  `has_cycles` is a
   constant. */
TW_INLINE void fast_packets(struct tw_stage *stage, const unsigned has_cycles)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    const struct tw_etmv3_atoms *table = decoder->reader.atoms;
    struct tw_follow *follow = stage->follow;
    const struct tw_block *blocks;
    const uint32_t *links;
    struct tw_element *out = stage->out, *waiting = decoder->waiting;
    uint32_t place;

    find_place(follow);
    place = follow->at;
    blocks = follow->blocks->blocks; /* where it lies now */
    links = follow->blocks->links;
    while (stage->at < stage->end && stage->limit - out >= TW_ETMV3_STRETCH_ROOM) {
        const uint8_t *at = stage->at;
        uint64_t index;
        const uint8_t *end = tw_stage_together(stage, &index);
        const uint64_t shift = index - (uint64_t)(uintptr_t)at;
        unsigned left = 0;

        if (end - at > TW_ETMV3_STRETCH_MOST)
            end = at + TW_ETMV3_STRETCH_MOST;
        for (; at < end; at++) {
            const struct tw_etmv3_atoms *atoms = &table[*at];
            unsigned bits = atoms->bits;
            uint32_t cycles = atoms->first_cycles;

            left = atoms->count;
            if (has_cycles && !left) {
                if (TW_UNLIKELY(!cycles)) /* no P-header */
                    break;
                *out = (struct tw_element){ .index = shift + (uint64_t)(uintptr_t)at,
                                            .type = TW_ELEMENT_CYCLE_COUNT,
                                            .flags = TW_FLAG_HAS_CYCLES,
                                            .cycles = cycles };
                out++;
                continue;
            }
            if (TW_UNLIKELY(!left || !tw_block_is_plain(place)))
                break;
            do {
                const uint32_t from = place;
                const unsigned taken = bits & 1;

                bits >>= 1;
                tw_follow_emit(out, &blocks[place], taken | has_cycles,
                               shift + (uint64_t)(uintptr_t)at);
                out->range_cycles = cycles;
                cycles = atoms->other_cycles;
                waiting = out++;
                place = links[2 * place + taken];
                if (TW_UNLIKELY(!tw_block_is_plain(place))) {
                    place = follow_link(follow, place, from, taken);
                    blocks = follow->blocks->blocks;
                    links = follow->blocks->links;
                    if (!tw_block_is_plain(place) && (left > 1 || follow->error)) {
                        left--;
                        goto broken;
                    }
                }
            } while (--left);
        }
        if (at > stage->at) {
            decoder->last_index = shift + (uint64_t)(uintptr_t)at - 1;
            tw_stage_mark_at(stage, waiting ? waiting : out, tw_stage_offset(stage, at - 1),
                             decoder->last_index);
            stage->at = at;
        }
        if (at < end) { /* no P-header, or none that is plain */
            const unsigned size = fast_branch(stage, at);

            if (!size)
                break;
            decoder->last_index = shift + (uint64_t)(uintptr_t)at;
            stage->at = at + size;
            find_place(follow);
            place = follow->at;
            blocks = follow->blocks->blocks;
            links = follow->blocks->links;
        }
        continue;
    broken: /* some of the header's atoms are not done */
        follow->at = place;
        stage->out = out;
        decoder->waiting = waiting;
        decoder->has_instruction = true;
        decoder->last_index = shift + (uint64_t)(uintptr_t)at;
        if (!follow->error)
            tw_etmv3_go_on(stage, &table[*at], table[*at].count - left, decoder->last_index);
        stage->at = at + 1;
        tw_etmv3_mark(stage, stage->at);
        out = stage->out;
        waiting = decoder->waiting;
        place = follow->at;
        if (follow->error)
            break;
    }
    follow->at = place;
    stage->out = out;
    decoder->waiting = waiting;
    decoder->has_instruction = waiting != NULL;
}

/* ---- the same, where ranges are counted: without cycles, which ranges tell ----
   The last instruction may still be withdrawn: when the loop ends, it is taken back from what was counted and
   written, and so is the indirect branch that led to it by an edge that was counted. */

enum {
    ATOMS_MOST = 16, /* in a packet */
    UNWOUND_MOST = 2 /* ranges */
};

/* Where the loop that counts is. */
struct counting {
    struct tw_follow_track track;
    uint32_t entry;    /* the way from which an edge led to track.last, and was counted; or 0 */
    const uint8_t *at; /* behind the packets that are done */
    const uint8_t *own; /* the P-header of the last atom that was counted */
};

/* The last instruction is written, if it was counted. */
static void unwind(struct tw_stage *stage, struct counting *counting)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_follow *follow = stage->follow;
    struct tw_follow_track *track = &counting->track;

    tw_track_settle(follow, track);
    if (track->link == TW_TRACK_SUMMED || track->link == TW_TRACK_LED) {
        const uint64_t index = tw_stage_index(stage, counting->own);

        if (counting->entry) {
            tw_sums_undo_edge(follow->blocks, counting->entry / 2, track->last / 2);
            tw_sums_undo(follow->blocks, counting->entry);
            tw_follow_emit(stage->out++, &track->blocks[counting->entry / 2], TW_RANGE_EXECUTED,
                           index);
        }
        tw_sums_undo(follow->blocks, track->last);
        tw_follow_emit(stage->out, &track->blocks[track->last / 2], track->last & 1, index);
        decoder->waiting = stage->out++;
        decoder->has_instruction = true;
    }
    track->link = TW_TRACK_APART;
    counting->entry = 0;
    follow->at = track->at;
}

/* The last `left` atoms of the P-header before counting->at are written. */
static TW_NOINLINE void write_atoms(struct tw_stage *stage, struct counting *counting,
                                    unsigned left)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_follow *follow = stage->follow;
    const uint8_t *const header = counting->at - 1;
    const struct tw_etmv3_atoms *const atoms = &decoder->reader.atoms[*header];

    unwind(stage, counting);
    decoder->last_index = tw_stage_index(stage, header);
    tw_etmv3_go_on(stage, atoms, atoms->count - left, decoder->last_index);
    stage->at = counting->at; /* the path may have broken off here */
    tw_etmv3_mark(stage, stage->at);
    counting->track = tw_track_begin(follow);
    if (tw_block_is_plain(follow->at) && decoder->waiting == stage->out - 1)
        counting->track.link = TW_TRACK_WRITTEN;
}

/* Not all of the atoms before counting->at could be counted: the first that are left come from the packet behind which it is then. */
static TW_NOINLINE void leave_atoms(struct tw_stage *stage, struct counting *counting,
                                    uint64_t left, bool has_counted)
{
    const struct tw_etmv3_decoder *decoder = stage->decoder;
    const struct tw_gather gather = { .packets = decoder->reader.plain };
    const unsigned own = tw_gather_find(&gather, &counting->at, tw_atoms_count(left));

    if (has_counted)
        counting->own = counting->at - (own < gather.packets[counting->at[-1]].count ? 1 : 2);
    write_atoms(stage, counting, own);
}

/* A branch to a block that is not known, or not behind an indirect branch. */
static TW_NOINLINE void count_jump(struct tw_stage *stage, struct counting *counting,
                                   const struct tw_armv7_address *address)
{
    struct tw_follow *follow = stage->follow;
    struct tw_follow_track *track = &counting->track;
    const uint32_t known = known_at(follow, address);

    if (tw_block_is_plain(known) && track->at != TW_NEXT_NEEDED) {
        track->at = known; /* no edge: it is told of direct branches, too */
        follow->missing = TW_MISSING_NOTHING;
        return;
    }
    unwind(stage, counting);
    tw_follow_jump(follow, address->address, address->isa);
    find_place(follow);
    *track = tw_track_begin(follow);
}

/* Atoms from counting->at on; the place is a plain block, and not apart. */
TW_INLINE void count_atoms(struct tw_stage *stage, struct counting *counting,
                           const struct tw_atom_packet *packets)
{
    struct tw_follow *follow = stage->follow;
    const struct tw_follow_track before = counting->track;
    const uint64_t atoms =
        tw_gather_atoms(packets, &counting->at, stage->end, TW_GATHERED_MOST - ATOMS_MOST + 1);
    const uint64_t left = tw_track_sum(follow, &counting->track, atoms);

    counting->own = counting->at - 1;
    if (TW_UNLIKELY(left == atoms)) {
        if (before.link == TW_TRACK_LED)
            tw_sums_undo_edge(follow->blocks, before.last / 2, before.at);
        counting->track.link = before.link;
        leave_atoms(stage, counting, left, false);
        return;
    }
    counting->entry = 0;
    if (TW_UNLIKELY(before.link == TW_TRACK_LED &&
                    tw_atoms_count(atoms) == tw_atoms_count(left) + 1))
        counting->entry = before.last;
    if (TW_UNLIKELY(left != TW_ATOMS_DONE))
        leave_atoms(stage, counting, left, true);
}

/* size: hot loop */
static void count_packets(struct tw_stage *stage)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    const struct tw_atom_packet *const packets = decoder->reader.plain;
    struct tw_follow *follow = stage->follow;
    /* Those unwound before a packet, its own, and those unwound at the end. */
    const struct tw_element *const last =
        stage->limit - TW_ETMV3_PACKET_MOST - 2 * UNWOUND_MOST;
    struct counting counting = { .at = stage->at };
    const uint8_t *packet = NULL;

    find_place(follow);
    counting.track = tw_track_begin(follow);
    while (counting.at < stage->end && stage->out <= last && !follow->error) {
        struct tw_armv7_address address;
        unsigned size;

        if (TW_LIKELY(packets[*counting.at].count)) {
            if (TW_LIKELY(counting.track.link != TW_TRACK_APART &&
                          tw_block_is_plain(counting.track.at))) {
                count_atoms(stage, &counting, packets);
            } else {
                counting.at++;
                write_atoms(stage, &counting, packets[counting.at[-1]].count);
            }
            packet = counting.at - 1;
            continue;
        }
        size = read_branch(stage, &address, counting.at);
        if (!size)
            break;
        packet = counting.at;
        counting.at += size;
        arrive(stage, &address);
        if (TW_UNLIKELY(
                !tw_track_count_lead(follow, &counting.track, address.address, address.isa)))
            count_jump(stage, &counting, &address);
    }
    unwind(stage, &counting);
    stage->at = counting.at;
    if (!packet)
        return;
    decoder->last_index = tw_stage_index(stage, packet);
    tw_etmv3_mark(stage, stage->at);
}

/* One of its forms; then tells what broke off the path. */
void tw_etmv3_fast(struct tw_stage *stage)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_follow *follow = stage->follow;
    struct tw_packet packet;

    if (decoder->holds_context)
        find_place(follow);
    else if (decoder->reader.setup.cycle_accurate)
        fast_packets(stage, TW_FLAG_HAS_CYCLES);
    else if (follow->sums)
        count_packets(stage);
    else
        fast_packets(stage, 0);
    if (TW_LIKELY(!follow->error))
        return;
    packet = (struct tw_packet){ .index = decoder->last_index,
                                 .offset = tw_stage_offset(stage, stage->at - 1) };
    tw_etmv3_fail(stage, follow->error, &packet, follow->error_detail);
    tw_etmv3_mark(stage, stage->at);
}
