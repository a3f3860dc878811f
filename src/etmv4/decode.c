/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE, step 1: bytes to elements in one pass.  Atoms and plain addresses drive the
   follower straight from the bytes; every other packet is read whole and goes by the queue. */
#include "etmv4/decode.h"

#include <string.h>

#include "base/memory.h"
#include "etmv4/payload.h"
#include "path/gather.h"
#include "path/quiet.h"

enum { FAST_MARGIN = 16 }; /* bytes that the fast loop may look at */

static bool has_room(const struct tw_stage *stage)
{
    return stage->limit - stage->out >= TW_ETMV4_PACKET_MOST && !stage->follow->is_stopped;
}

static struct tw_packet last_packet(const struct tw_etmv4_decoder *decoder)
{
    return (struct tw_packet){ .index = decoder->last_index, .offset = decoder->last_offset };
}

/* The path broke off at this packet, which ends at stage->at. */
static void fail(struct tw_stage *stage, const struct tw_packet *packet)
{
    struct tw_follow *follow = stage->follow;

    tw_etmv4_fail(stage, follow->error, packet, follow->error_detail);
    tw_etmv4_release(stage);
    tw_stage_mark(stage, stage->out, stage->at);
}

/* Reads and takes one packet.  False: it is cut, or there is no room for what it may make. */
static bool one_packet(struct tw_stage *stage)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    struct tw_etmv4_packet packet;
    const uint8_t *at = stage->at;

    decoder->reader.offset = tw_stage_offset(stage, at);
    if (tw_etmv4_read(&decoder->reader, &packet, at, (size_t)(stage->end - at),
                      stage->is_last) != TW_OK)
        return false;
    packet.base.index = tw_stage_index(stage, at);
    /* How a run of unsynchronized bytes is cut depends on how they were fed. */
    if (packet.base.type != TW_ETMV4_NOT_SYNC || !decoder->is_in_run)
        decoder->last_index = packet.base.index;
    decoder->is_in_run = packet.base.type == TW_ETMV4_NOT_SYNC;
    decoder->last_offset = packet.base.offset;
    stage->at = at + packet.base.size;
    tw_etmv4_take(stage, &packet, *at);
    tw_etmv4_release(stage);
    if (stage->follow->error)
        fail(stage, &packet.base);
    else /* that sync is missing is known at once, however long the run becomes */
        tw_stage_mark(stage, stage->out, decoder->is_in_run ? at + 1 : stage->at);
    return true;
}

/* True while atoms and addresses may go straight to the follower. */
static bool is_fast(const struct tw_etmv4_decoder *decoder, const struct tw_follow *follow)
{
    return decoder->sync == TW_SYNC_DONE && decoder->has_atom && decoder->count == 0 &&
           decoder->has_context && decoder->has_address && !decoder->exception_is_open &&
           !decoder->q_is_open && decoder->reader.setup.max_spec == 0 &&
           !decoder->commit_left && !decoder->drains && !decoder->source_is_open &&
           !follow->push_is_blocked && !follow->check_continuity;
}

/* Packets of atoms that have no place, up to `end` at most; the first one is one. */
TW_INLINE const uint8_t *skip_atoms(struct tw_follow *follow, const uint8_t *at,
                                    const uint8_t *end)
{
    unsigned skipped = 0, count = tw_etmv4_atoms[*at].count;

    do {
        skipped += count;
        count = ++at < end ? tw_etmv4_atoms[*at].count : 0;
    } while (count);
    (void)tw_follow_skip(follow, skipped);
    return at;
}

/* size: hot loop */
/* Atoms and plain addresses up to `end`, until something else comes or the room is used up.  Returns the
   packet at which the path broke off (stage->at is behind it), or NULL.  FAST_MARGIN bytes behind `end` may be looked at; if it
   `is_cut` they mean nothing, and what was taken may be the last packet.  Elements get marks if they are to be `is_marked`.
   Or until the place is a plain block, if it `is_lost`. */
TW_INLINE const uint8_t *take_fast(struct tw_stage *stage, const uint8_t *const end,
                                   const bool is_cut, const bool is_marked, const bool is_lost)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    struct tw_follow *follow = stage->follow;
    struct tw_follow_track track = tw_track_begin(follow);
    const uint8_t *at = stage->at;
    const uint8_t *stretch_end = at;
    struct tw_position_line position = { .delta = 0 };
    struct tw_element *out = stage->out;
    struct tw_element *const last = stage->limit - TW_ETMV4_PACKET_MOST;
    struct tw_element *before = out; /* the last packet of atoms */
    /* Elements that were written before, but not marked yet. */
    struct tw_element *unmarked = is_marked && stage->marked != out ? stage->marked : NULL;
    bool wants_mark = unmarked != NULL; /* the next elements do */
    const uint8_t *failed = NULL, *newest = NULL;
    const uint8_t isas[2] = { tw_etmv4_isa(decoder, decoder->sf, 0),
                              tw_etmv4_isa(decoder, decoder->sf, 1) };

    while (out <= last && (!is_lost || !tw_block_is_plain(track.at))) {
        struct tw_etmv4_entry entry;
        struct tw_bytes in;
        uint32_t atoms;
        uint8_t head;

        if (TW_UNLIKELY(at >= stretch_end)) {
            if (at >= end)
                break;
            /* Sources that take turns have short stretches. */
            stretch_end = tw_stage_line(stage, &position, at, end, is_marked);
            wants_mark |= is_marked && tw_stage_offset(stage, at) >= stage->marked_until;
        }
        head = *at;
        atoms = tw_etmv4_atom_words[head];
        if (TW_LIKELY(atoms)) {
            uint64_t index;

            if (is_cut)
                newest = at;
            if (TW_UNLIKELY(!tw_block_is_plain(track.at)) && track.at == TW_NEXT_NEEDED &&
                !follow->pop_is_pending) {
                if (!tw_follow_skip(follow, 0))
                    break;
                at = skip_atoms(follow, at, stretch_end); /* until an address comes */
                if (is_cut)
                    newest = at - 1;
                continue;
            }
            /* Sources that take turns have short stretches, mostly without an auxiliary byte. */
            index =
                is_marked ? tw_position_short(&position, at) : tw_position_on(&position, at);
            before = out;
            out = tw_track_atoms(follow, &track, out, atoms, index);
            at++;
            if (TW_UNLIKELY(!tw_block_is_plain(track.at)) && follow->error) {
                failed = at - 1;
                break;
            }
            if (is_marked && TW_UNLIKELY(wants_mark) && out != before) {
                tw_stage_add_mark(stage, unmarked ? unmarked : before, index);
                wants_mark = false;
                unmarked = NULL;
            }
            continue;
        }
        in = (struct tw_bytes){ .at = at + 1, .end = at + FAST_MARGIN };
        if (!tw_etmv4_get_frequent(&decoder->reader, &entry, &in, head) ||
            (is_cut && in.at > end))
            break;
        if (is_cut)
            newest = at;
        tw_etmv4_push(decoder->reader.history, entry);
        decoder->sub_isa = entry.sub_isa;
        tw_track_jump(follow, &track, entry.address, isas[entry.sub_isa]);
        at = in.at;
    }
    tw_track_end(follow, &track);
    stage->at = at;
    stage->out = out;
    if (is_marked && !unmarked)
        stage->marked = failed ? before : out;
    if (is_cut && newest) {
        decoder->last_index = tw_stage_index(stage, newest);
        decoder->last_offset = tw_stage_offset(stage, newest);
        decoder->reader.offset = decoder->last_offset + (uint64_t)(at - newest);
    }
    return failed;
}

static bool is_marked(const struct tw_stage *stage)
{
    return stage->output->marks.marks != NULL;
}

static TW_NOINLINE const uint8_t *marked_packets(struct tw_stage *stage)
{
    return take_fast(stage, stage->end - FAST_MARGIN, false, true, false);
}

static const uint8_t *fast_packets(struct tw_stage *stage)
{
    return is_marked(stage) ? marked_packets(stage)
                            : take_fast(stage, stage->end - FAST_MARGIN, false, false, false);
}

/* The last ones: many IDs, or small pieces that are fed, have many of these. */
static TW_NOINLINE const uint8_t *last_packets(struct tw_stage *stage)
{
    return take_fast(stage, stage->end, true, is_marked(stage), false);
}

/* Those of a program of which most is missing, as in kernel traces, where ranges are counted. */
static TW_NOINLINE const uint8_t *lost_packets(struct tw_stage *stage)
{
    return take_fast(stage, stage->end - FAST_MARGIN, false, is_marked(stage), true);
}

enum { ATOMS_MOST = 24 }; /* in a packet */

/* tw_gather_count, of packets before *at. */
static TW_NOINLINE struct tw_element *count_atoms(struct tw_stage *stage,
                                                  struct tw_follow_track *track,
                                                  struct tw_element *out, uint64_t atoms,
                                                  const uint8_t **at)
{
    struct tw_gather gather = { .packets = tw_etmv4_atoms,
                                .last = stage->limit - TW_ETMV4_PACKET_MOST - 2,
                                .index = tw_stage_index(stage, stage->at),
                                .at = *at };

    out = tw_gather_count(&gather, stage->follow, track, out, atoms);
    *at = gather.at;
    return out;
}

/* An address whose block is not known, or that does not follow an indirect branch. */
static TW_NOINLINE struct tw_element *count_jump(struct tw_stage *stage,
                                                 struct tw_follow_track *track,
                                                 struct tw_element *out, uint64_t address,
                                                 uint8_t isa)
{
    return tw_track_count_apart(stage->follow, track, out, address, isa,
                                tw_stage_index(stage, stage->at));
}

/* size: hot loop */
/* The same, where ranges are counted. */
static TW_NOINLINE const uint8_t *count_packets(struct tw_stage *stage)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    struct tw_follow *follow = stage->follow;
    struct tw_follow_track track = tw_track_begin(follow);
    const uint8_t *at = stage->at;
    const uint8_t *const end = stage->end - FAST_MARGIN;
    /* One range of an earlier packet may come with a packet's own, and one at the end. */
    struct tw_element *out = stage->out, *const last = stage->limit - TW_ETMV4_PACKET_MOST - 2;
    const uint8_t isas[2] = { tw_etmv4_isa(decoder, decoder->sf, 0),
                              tw_etmv4_isa(decoder, decoder->sf, 1) };

    while (at < end && out <= last) {
        struct tw_follow_track copy; /* so that the loop's own stays in registers */
        struct tw_etmv4_entry entry;
        struct tw_bytes in;

        if (tw_etmv4_is_atom(*at)) {
            uint64_t atoms;

            if (TW_LIKELY(track.link != TW_TRACK_APART && tw_block_is_plain(track.at))) {
                atoms = tw_gather_atoms(tw_etmv4_atoms, &at, end,
                                        TW_GATHERED_MOST - ATOMS_MOST + 1);
                atoms = tw_track_sum(follow, &track, atoms);
                if (TW_LIKELY(atoms == TW_ATOMS_DONE))
                    continue;
            } else if (track.link == TW_TRACK_APART && !tw_block_is_plain(track.at)) {
                const uint8_t *failed;

                tw_track_end(follow, &track);
                stage->at = at;
                stage->out = out;
                failed = lost_packets(stage);
                at = stage->at;
                out = stage->out;
                track = tw_track_begin(follow);
                if (!tw_block_is_plain(track.at))
                    return failed;
                continue;
            } else {
                atoms = tw_atoms(tw_etmv4_atoms[*at].bits, tw_etmv4_atoms[*at].count);
                at++;
            }
            copy = track;
            out = count_atoms(stage, &copy, out, atoms, &at);
            track = copy;
            if (follow->error)
                break;
            continue;
        }
        in = (struct tw_bytes){ .at = at + 1, .end = at + FAST_MARGIN };
        if (!tw_etmv4_get_frequent(&decoder->reader, &entry, &in, *at))
            break;
        at = in.at;
        tw_etmv4_push(decoder->reader.history, entry);
        decoder->sub_isa = entry.sub_isa;
        if (TW_LIKELY(tw_track_count_lead(follow, &track, entry.address, isas[entry.sub_isa])))
            continue;
        copy = track;
        out = count_jump(stage, &copy, out, entry.address, isas[entry.sub_isa]);
        track = copy;
    }
    tw_track_settle(follow, &track);
    out = tw_track_write_last(follow, &track, out, tw_stage_index(stage, stage->at));
    tw_track_end(follow, &track);
    stage->at = at;
    stage->out = out;
    return follow->error ? at - 1 : NULL;
}

/* size: hot loop */
/* The same, where quiet ways are left out. */
static TW_NOINLINE const uint8_t *quiet_packets(struct tw_stage *stage)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    struct tw_follow *follow = stage->follow;
    struct tw_quiet_track track = tw_quiet_track_begin(follow);
    const uint8_t *at = stage->at;
    const uint8_t *const end = stage->end - FAST_MARGIN;
    /* One range of an earlier packet may come with a packet's own, and one at the end. */
    struct tw_element *out = stage->out, *const last = stage->limit - TW_ETMV4_PACKET_MOST - 2;
    const uint64_t index = tw_stage_index(stage, at);
    const uint8_t isas[2] = { tw_etmv4_isa(decoder, decoder->sf, 0),
                              tw_etmv4_isa(decoder, decoder->sf, 1) };

    while (at < end) {
        const uint8_t head = *at; /* between the conditions, which are better apart */
        struct tw_etmv4_entry entry;
        struct tw_bytes in;

        if (out > last)
            break;
        if (TW_LIKELY(tw_etmv4_is_atom(head))) {
            const struct tw_atom_packet *const packet = &tw_etmv4_atoms[head];

            at++;
            if (!tw_quiet_atoms(follow, &track, &out, tw_atoms(packet->bits, packet->count),
                                index) ||
                track.passed >= TW_QUIET_PASSED_MOST)
                break;
            continue;
        }
        in = (struct tw_bytes){ .at = at + 1, .end = at + FAST_MARGIN };
        if (!tw_etmv4_get_frequent(&decoder->reader, &entry, &in, head))
            break;
        tw_etmv4_push(decoder->reader.history, entry);
        decoder->sub_isa = entry.sub_isa;
        out = tw_quiet_jump(follow, &track, out, index, entry.address, isas[entry.sub_isa]);
        at = in.at;
    }
    out = tw_quiet_write_last(&track, out, index);
    tw_track_end(follow, &track.on);
    stage->at = at;
    stage->out = out;
    return follow->error ? at - 1 : NULL;
}

/* Atoms and plain addresses, as they are wanted.  Returns the packet at which the path broke off, or NULL. */
static const uint8_t *many_packets(struct tw_stage *stage)
{
    if (stage->follow->sums)
        return count_packets(stage);
    if (stage->follow->code->quiet && !stage->output->marks.marks &&
        stage->end - stage->at > FAST_MARGIN)
        return quiet_packets(stage);
    return stage->end - stage->at > FAST_MARGIN ? fast_packets(stage) : last_packets(stage);
}

/* Atoms come next, in order: what waits for them comes out before they are looked at, as code may be
   wanted for them that only who knows of a context among it can give.  True: there was a context. */
static bool stops_before_atoms(struct tw_stage *stage)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    if (decoder->sync != TW_SYNC_DONE || decoder->reader.setup.max_spec || !decoder->count ||
        decoder->exception_is_open || !tw_etmv4_atoms[*stage->at].count)
        return false;
    decoder->has_atom = decoder->drains = true;
    tw_etmv4_release(stage);
    tw_stage_mark(stage, stage->out, stage->at + 1);
    return stage->follow->is_stopped;
}

/* A stretch of input without a gap.  False: the batch is full. */
static bool decode_stretch(struct tw_stage *stage)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    for (;;) {
        if (!has_room(stage) || !tw_etmv4_release(stage))
            return false;
        if (stage->follow->error) { /* of a packet that did not fit the last batch */
            const struct tw_packet packet = last_packet(decoder);

            fail(stage, &packet);
            continue;
        }
        if (stage->at == stage->end)
            return true;
        if (is_fast(decoder, stage->follow) &&
            (!stage->follow->sums || stage->end - stage->at > FAST_MARGIN)) {
            const uint8_t *failed = many_packets(stage);

            if (failed) {
                const struct tw_packet packet = {
                    .index = tw_stage_index(stage, failed),
                    .offset = tw_stage_offset(stage, failed),
                };

                fail(stage, &packet);
                continue;
            }
            if (!has_room(stage))
                return false;
            if (stage->at == stage->end)
                return true;
        }
        if (stage->follow->stops_at_context && stops_before_atoms(stage))
            return false;
        if (!one_packet(stage))
            return true;
    }
}

static void begin(struct tw_stage *stage, struct tw_etmv4_decoder *decoder,
                  struct tw_follow *follow, struct tw_output *output)
{
    decoder->allocator = follow->code->config.allocator;
    if (decoder->reader.setup.max_spec)
        follow->sums = NULL; /* what is counted cannot be cancelled */
    tw_stage_begin(stage, decoder, &decoder->damage, follow, output);
    follow->says_unplaced = true;
    tw_follow_enter(follow);
}

enum tw_status tw_etmv4_decode(void *state, struct tw_follow *follow, struct tw_output *output,
                               struct tw_input *in)
{
    struct tw_etmv4_decoder *decoder = state;
    struct tw_stage stage;
    bool is_used_up;

    if (output->batch->room < TW_ETMV4_PACKET_MOST)
        return TW_E_ARGUMENT;
    begin(&stage, decoder, follow, output);
    is_used_up = tw_stage_run(&stage, in, decode_stretch, tw_etmv4_take_gap);
    tw_stage_finish(&stage);
    tw_follow_leave(follow);
    if (follow->code->out_of_memory || decoder->is_out_of_memory)
        return TW_E_MEMORY;
    return is_used_up ? TW_MORE : TW_OK;
}

enum tw_status tw_etmv4_end(void *state, struct tw_follow *follow, struct tw_output *output)
{
    struct tw_etmv4_decoder *decoder = state;
    struct tw_stage stage;

    if (decoder->is_ended)
        return TW_END;
    if (output->batch->room - output->batch->count < TW_ETMV4_PACKET_MOST)
        return TW_OK;
    begin(&stage, decoder, follow, output);
    if (!decoder->is_ending) {
        decoder->is_ending = true;
        tw_etmv4_prepare_end(&stage);
    }
    tw_etmv4_release(&stage);
    if (follow->error) { /* at something that waited for the end */
        const struct tw_packet packet = last_packet(decoder);

        tw_etmv4_fail(&stage, follow->error, &packet, follow->error_detail);
        tw_etmv4_prepare_end(&stage);
        tw_etmv4_release(&stage);
    }
    tw_stage_finish(&stage);
    tw_follow_leave(follow);
    if (follow->code->out_of_memory || decoder->is_out_of_memory)
        return TW_E_MEMORY;
    return decoder->is_ended ? TW_END : TW_OK;
}

void tw_etmv4_decoder_init(void *state, const void *config)
{
    struct tw_etmv4_decoder *decoder = state;

    memset(decoder, 0, sizeof *decoder);
    tw_etmv4_reader_init(&decoder->reader, config);
    decoder->lost_reason = TW_REASON_INIT;
}

void tw_etmv4_decoder_free(void *state)
{
    struct tw_etmv4_decoder *decoder = state;

    tw_give(decoder->allocator, decoder->items);
    decoder->items = NULL;
    decoder->room = decoder->count = decoder->first = 0;
}

void tw_etmv4_decoder_reset(void *state)
{
    struct tw_etmv4_decoder *decoder = state;
    const size_t kept = offsetof(struct tw_etmv4_decoder, sync);
    struct tw_etmv4_item *items = decoder->items;
    const struct tw_allocator *allocator = decoder->allocator;
    const size_t room = decoder->room;

    memset((uint8_t *)decoder + kept, 0, sizeof *decoder - kept);
    decoder->items = items;
    decoder->room = room;
    decoder->allocator = allocator;
    decoder->lost_reason = TW_REASON_RESET;
    tw_etmv4_reader_lost(&decoder->reader);
    decoder->reader.offset = 0;
}

void tw_etmv4_code_config(struct tw_code_config *code, const void *config)
{
    struct tw_etmv4_setup setup;

    tw_etmv4_setup_from_config(&setup, config);
    code->isa.profile = setup.profile;
    code->isa.arch = (uint8_t)(setup.architecture / 10);
    code->isa.wfx_is_p0 = setup.wfx_is_p0;
    code->isa.wfet_wfit_is_p0 = setup.wfx_is_p0 && setup.is_aa64_extended;
    code->isa.tstart_is_p0 = setup.is_aa64_extended;
    code->isa.load_is_p0 = setup.loads_are_p0;
    code->isa.store_is_p0 = setup.stores_are_p0;
    code->links_are_special = setup.return_stack;
    code->exception_returns_are_special = setup.is_ete;
}
