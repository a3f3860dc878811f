/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: atoms and plain branches, which most of a trace is, drive the follower straight from the bytes. */
#include "path/gather.h"
#include "ptm/decode.h"

/* A branch without exception information, whose taken waypoint is done: its size, or 0 when it is
   not so plain. */
TW_INLINE unsigned fast_branch(struct tw_armv7_address *address, uint32_t *cycles,
                               const struct tw_ptm_reader *reader, const uint8_t *at)
{
    struct tw_bytes in = { .at = at, .end = at + TW_PTM_FAST_MARGIN };

    tw_armv7_get_address(&in, address, reader->address, reader->isa, true);
    if (address->is_bad || (address->size > 1 && (address->last & 0x40)))
        return 0;
    address->isa = tw_ptm_isa(address->isa, reader->alt_isa);
    if (address->isa > TW_ISA_T32)
        return 0;
    if (reader->setup.cycle_accurate) {
        const uint8_t byte = tw_bytes_u8(&in);

        *cycles = tw_ptm_get_cycles(&in, byte);
    }
    return (unsigned)(in.at - at);
}

/* A branch whose taken waypoint is written, and then where it leads. */
TW_INLINE struct tw_element *
take_fast_branch(struct tw_stage *stage, struct tw_follow_track *track, struct tw_element *out,
                 const struct tw_armv7_address *address, uint64_t index)
{
    struct tw_ptm_reader *reader = &((struct tw_ptm_decoder *)stage->decoder)->reader;
    struct tw_follow *follow = stage->follow;

    if (TW_LIKELY(tw_block_is_plain(track->at) && !follow->check_continuity &&
                  track->links[2 * track->at + 1] != TW_NEXT_SPECIAL)) {
        tw_follow_emit(out++, &track->blocks[track->at], TW_RANGE_EXECUTED, index);
    } else {
        tw_track_end(follow, track);
        out = tw_follow_taken(follow, out, index);
        *track = tw_track_begin(follow);
    }
    reader->address = address->address;
    reader->isa = address->isa;
    if (TW_LIKELY(!follow->error))
        tw_track_jump(follow, track, address->address, address->isa);
    return out;
}

/* Packets up to `at` are done with, the path perhaps broke off at the last of them. */
static void end_fast(struct tw_stage *stage, const uint8_t *packet, const uint8_t *at)
{
    const struct tw_ptm_decoder *decoder = stage->decoder;
    const struct tw_follow *follow = stage->follow;

    if (TW_UNLIKELY(follow->error)) {
        const struct tw_packet failed = { .index = decoder->last_index,
                                          .offset = tw_stage_offset(stage, packet) };

        tw_ptm_fail(stage, follow->error, &failed, follow->error_detail);
        tw_stage_mark(stage, stage->out, at);
    }
    stage->at = at;
}

/* A branch packet comes at an indirect branch, which may be a call. */
TW_INLINE bool counts_branch(const struct tw_follow *follow,
                             const struct tw_follow_track *track)
{
    return tw_block_is_plain(track->at) && !follow->check_continuity &&
           tw_block_is_indirect(&track->blocks[track->at]);
}

/* size: hot loop */
/* Atoms and plain branches, until something else comes or the room is used up. */
static void fast_packets(struct tw_stage *stage)
{
    struct tw_ptm_decoder *decoder = stage->decoder;
    struct tw_ptm_reader *reader = &decoder->reader;
    struct tw_follow *follow = stage->follow;
    const bool has_cycles = reader->setup.cycle_accurate;
    const bool has_marks = stage->output->marks.marks != NULL;
    const uint8_t *at = stage->at;
    const uint8_t *const end = stage->end - TW_PTM_FAST_MARGIN;
    struct tw_follow_track track = tw_track_begin(follow);
    struct tw_element *out = stage->out, *const last = stage->limit - TW_PTM_PACKET_MOST;
    struct tw_position_line line = { .delta = 0 };
    const uint8_t *line_end = at;
    uint64_t index = decoder->last_index;

    while (at < end && out <= last) {
        const uint8_t head = *at;
        struct tw_element *const first = out;
        uint32_t cycles = 0;
        unsigned size = 1;

        if (TW_UNLIKELY(at >= line_end))
            line_end = tw_stage_line(stage, &line, at, end, false);
        stage->at = at; /* the path may break off here */
        if (head & 1) {
            struct tw_armv7_address address;

            size = fast_branch(&address, &cycles, reader, at);
            if (!size)
                break;
            index = tw_position_on(&line, at);
            out = take_fast_branch(stage, &track, out, &address, index);
        } else if (!(head & 0x80)) {
            break;
        } else if (has_cycles) {
            struct tw_bytes in = { .at = at + 1, .end = at + TW_PTM_FAST_MARGIN };

            cycles = tw_ptm_get_cycles(&in, head);
            size = (unsigned)(in.at - at);
            index = tw_position_on(&line, at);
            out = tw_track_atoms(follow, &track, out, tw_atoms(head & 2 ? 0 : 1, 1), index);
        } else {
            const uint32_t atoms = tw_ptm_atom_words[head];

            if (!atoms)
                break;
            index = tw_position_on(&line, at);
            out = tw_track_atoms(follow, &track, out, atoms, index);
        }
        at += size;
        if (has_cycles)
            out = tw_ptm_give_cycles(first, out, cycles, index);
        if (has_marks)
            tw_stage_mark(stage, out, at);
        if (TW_UNLIKELY(follow->error))
            break;
    }
    tw_track_end(follow, &track);
    stage->out = out;
    decoder->last_index = index;
    end_fast(stage, stage->at, at);
}

/* ---- the same, where ranges are counted: without cycles, which ranges tell.  With a return stack atoms are followed one
   by one, so that no call is passed over ---- */

enum { ATOMS_MOST = 5 }; /* in a packet */

/* A branch comes at an indirect branch, so that it and where it leads can be counted; or it does not. */
static TW_NOINLINE struct tw_element *
count_branch(struct tw_stage *stage, struct tw_follow_track *track, struct tw_element *out,
             const struct tw_armv7_address *address, uint64_t index)
{
    struct tw_follow *follow = stage->follow;

    if (TW_LIKELY(counts_branch(follow, track))) {
        const struct tw_block *block = &track->blocks[track->at];

        out = tw_track_step(follow, track, out, 1, index);
        if (track->at == TW_NEXT_SPECIAL)
            tw_follow_push(follow, block->start + block->length, block->isa);
        track->at = TW_NEXT_NEEDED;
        return tw_track_count_lead(follow, track, address->address, address->isa)
                   ? out
                   : tw_track_count_apart(follow, track, out, address->address, address->isa,
                                          index);
    }
    tw_track_settle(follow, track);
    out = tw_track_write_last(follow, track, out, index);
    out = take_fast_branch(stage, track, out, address, index);
    track->link = TW_TRACK_APART;
    return out;
}

/* Atoms, and what is left of them when the last of them is taken away. */
TW_INLINE uint64_t but_last(uint64_t atoms)
{
    const uint64_t end = (uint64_t)1 << (tw_atoms_count(atoms) - 1);

    return (atoms & (end - 1)) | end;
}

/* size: hot loop */
/* With a return stack atoms are followed by way of it; `has_returns` is a constant. */
TW_INLINE void count_some(struct tw_stage *stage, const bool has_returns)
{
    struct tw_ptm_decoder *decoder = stage->decoder;
    struct tw_ptm_reader *reader = &decoder->reader;
    struct tw_follow *follow = stage->follow;
    const uint8_t *const end = stage->end - TW_PTM_FAST_MARGIN, *packet = NULL;
    /* One range of an earlier packet may come with a packet's own, and one at the end. */
    struct tw_gather gather = { .packets = tw_ptm_atoms,
                                .last = stage->limit - TW_PTM_PACKET_MOST - 2,
                                .index = tw_stage_index(stage, stage->at),
                                .at = stage->at };
    /* A branch is an atom E, and then an address. */
    const bool is_atom = !follow->check_continuity;
    struct tw_follow_track track = tw_track_begin(follow);
    struct tw_element *out = stage->out;

    while (gather.at < end && out <= gather.last && !follow->error) {
        struct tw_follow_track copy; /* so that the loop's own stays in registers */
        struct tw_armv7_address address;
        unsigned size = 0;

        if (tw_ptm_atoms[*gather.at].count) {
            const bool is_summed = track.link != TW_TRACK_APART && tw_block_is_plain(track.at);
            uint64_t atoms = tw_gather_atoms(tw_ptm_atoms, &gather.at, end,
                                             is_summed ? TW_GATHERED_MOST - ATOMS_MOST : 1);

            if (is_summed && is_atom && gather.at < end && (*gather.at & 1))
                size = fast_branch(&address, NULL, reader, gather.at);
            if (is_summed && size) {
                const unsigned count = tw_atoms_count(atoms);

                atoms |= (uint64_t)2 << count;
                atoms = has_returns ? tw_track_sum_calls(follow, &track, atoms, true)
                                    : tw_track_sum(follow, &track, atoms);
                if (atoms != TW_ATOMS_DONE) {
                    atoms = but_last(atoms);
                    size = 0;
                }
            } else if (is_summed) {
                atoms = has_returns ? tw_track_sum_calls(follow, &track, atoms, false)
                                    : tw_track_sum(follow, &track, atoms);
            }
            if (TW_UNLIKELY(atoms != TW_ATOMS_DONE)) {
                copy = track;
                out = tw_gather_count(&gather, follow, &copy, out, atoms);
                track = copy;
            }
            packet = gather.at - 1;
            if (!size)
                continue;
            packet = gather.at;
            gather.at += size;
            reader->address = address.address;
            reader->isa = address.isa;
            if (TW_LIKELY(tw_track_count_lead(follow, &track, address.address, address.isa)))
                continue;
            copy = track;
            out = tw_track_count_apart(follow, &copy, out, address.address, address.isa,
                                       gather.index);
            track = copy;
            continue;
        }
        if (*gather.at & 1)
            size = fast_branch(&address, NULL, reader, gather.at);
        if (!size)
            break;
        packet = gather.at;
        gather.at += size;
        copy = track;
        out = count_branch(stage, &copy, out, &address, gather.index);
        track = copy;
        reader->address = address.address;
        reader->isa = address.isa;
    }
    tw_track_settle(follow, &track);
    out = tw_track_write_last(follow, &track, out, gather.index);
    tw_track_end(follow, &track);
    stage->out = out;
    if (!packet)
        return;
    decoder->last_index = tw_stage_index(stage, packet);
    tw_stage_mark(stage, out, gather.at);
    end_fast(stage, packet, gather.at);
}

static TW_NOINLINE void count_packets(struct tw_stage *stage)
{
    count_some(stage, false);
}

static TW_NOINLINE void count_calls(struct tw_stage *stage)
{
    count_some(stage, true);
}

void tw_ptm_fast(struct tw_stage *stage)
{
    const struct tw_ptm_decoder *decoder = stage->decoder;

    if (!stage->follow->sums || decoder->reader.setup.cycle_accurate)
        fast_packets(stage);
    else if (stage->follow->has_return_stack)
        count_calls(stage);
    else
        count_packets(stage);
}
