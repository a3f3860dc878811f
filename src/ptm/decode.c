/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: bytes to elements in one pass.  Atoms and plain branches drive the follower straight from
   the bytes; every other packet is read whole. */
#include "ptm/decode.h"

#include <string.h>

enum { FAST_MARGIN = 16 }; /* bytes that the fast loop may look at */

static bool has_room(const struct tw_stage *stage)
{
    return stage->limit - stage->out >= TW_PTM_PACKET_MOST && !stage->follow->is_stopped;
}

static void set_cycles(struct tw_element *element, uint32_t cycles)
{
    element->cycles = cycles;
    element->flags |= TW_FLAG_HAS_CYCLES;
}

/* What the waypoint took is its range's; where there is no whole range it stands alone.  Returns
   where the next element goes. */
TW_INLINE struct tw_element *give_cycles(struct tw_element *first, struct tw_element *out,
                                         uint32_t cycles, uint64_t index)
{
    if (TW_LIKELY(out == first + 1 && first->type == TW_ELEMENT_INSTR_RANGE)) {
        set_cycles(first, cycles);
        return out;
    }
    *out = (struct tw_element){ .type = TW_ELEMENT_CYCLE_COUNT, .index = index };
    set_cycles(out, cycles);
    return out + 1;
}

static void forget(struct tw_stage *stage)
{
    struct tw_ptm_decoder *decoder = stage->decoder;

    tw_follow_lose(stage->follow);
    stage->follow->return_count = 0;
    stage->follow->error = TW_ERROR_NONE;
    decoder->context.has_context_id = decoder->context.has_vmid = false;
}

/* The packets contradict the image or each other; bytes are still in step. */
static void fail(struct tw_stage *stage, uint8_t code, const struct tw_packet *packet,
                 uint64_t detail)
{
    struct tw_ptm_decoder *decoder = stage->decoder;

    forget(stage);
    tw_stage_damage(stage, code, packet, detail);
    decoder->sync = TW_PTM_SYNC_ISYNC;
    tw_armv7_add_no_sync(stage,
                         code == TW_ERROR_BAD_OPCODE || code == TW_ERROR_RANGE_LIMIT
                             ? TW_REASON_BAD_IMAGE
                             : TW_REASON_BAD_PACKET,
                         packet->index);
}

/* Takes over security state and Hyp mode; true when they are new. */
static bool take_state(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_ptm_decoder *decoder = stage->decoder;

    return tw_armv7_take_state(stage, &decoder->context, packet->ns,
                               packet->hyp && decoder->reader.setup.has_hyp);
}

static void take_isync(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_ptm_decoder *decoder = stage->decoder;
    const bool is_first = decoder->sync != TW_PTM_SYNC_DONE;
    bool is_new =
        take_state(stage, packet) || is_first || tw_follow_isa(stage->follow) != packet->isa;

    if (packet->has_context_id && (!decoder->context.has_context_id ||
                                   decoder->context.context_id != packet->context_id)) {
        decoder->context.has_context_id = is_new = true;
        decoder->context.context_id = packet->context_id;
    }
    if (is_first)
        tw_stage_report(stage, packet->base.offset);
    decoder->sync = TW_PTM_SYNC_DONE;
    if (is_first || packet->reason != TW_PTM_PERIODIC) {
        struct tw_element *on = tw_stage_add(stage, TW_ELEMENT_TRACE_ON, packet->base.index);

        on->reason = tw_armv7_trace_on[packet->reason & 3];
        if (packet->has_cycles)
            set_cycles(on, packet->cycles);
        tw_follow_lose(stage->follow);
    }
    if (is_new)
        (void)tw_armv7_add_context(stage, &decoder->context, packet->isa, packet->base.index);
    stage->follow->return_count = 0;
    tw_armv7_jump(stage, packet->address, packet->isa, packet->base.index);
}

static void take_exception(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    const struct tw_ptm_decoder *decoder = stage->decoder;
    enum { DEBUG_ENTRY = 1, RESET = 8 };
    struct tw_element *element = tw_stage_add(stage, TW_ELEMENT_EXCEPTION, packet->base.index);

    element->number = packet->exception & 15;
    element->kind = TW_NUMBERS_ARMV7;
    if (element->number != RESET && tw_follow_is_placed(stage->follow)) {
        element->flags |= TW_EXCEPTION_HAS_RETURN;
        element->return_address = tw_follow_address(stage->follow);
    }
    if (packet->has_cycles) {
        element->exception_cycles = packet->cycles;
        element->flags |= TW_FLAG_HAS_CYCLES;
    }
    tw_follow_lose(stage->follow);
    if (take_state(stage, packet))
        (void)tw_armv7_add_context(stage, &decoder->context, packet->isa, packet->base.index);
    if (element->number != DEBUG_ENTRY)
        tw_armv7_jump(stage, packet->address, packet->isa, packet->base.index);
    else
        stage->follow->isa = packet->isa; /* its address means nothing */
}

static void take_branch(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    const struct tw_ptm_decoder *decoder = stage->decoder;
    struct tw_element *first = stage->out;

    if (packet->has_info && packet->exception & 15) {
        take_exception(stage, packet);
        return;
    }
    stage->out = tw_follow_taken(stage->follow, stage->out, packet->base.index);
    if (packet->has_cycles)
        stage->out = give_cycles(first, stage->out, packet->cycles, packet->base.index);
    if (stage->follow->error)
        return;
    if (packet->has_info && take_state(stage, packet))
        (void)tw_armv7_add_context(stage, &decoder->context, packet->isa, packet->base.index);
    tw_armv7_jump(stage, packet->address, packet->isa, packet->base.index);
}

static void take_update(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_follow *follow = stage->follow;

    stage->out = tw_follow_to_update(follow, stage->out, packet->address, packet->base.index);
    if (follow->error != TW_ERROR_IMAGE_MISMATCH)
        return;
    follow->error = TW_ERROR_NONE;
    tw_stage_add_error(stage, TW_ERROR_IMAGE_MISMATCH, packet->base.index, packet->address, 0);
}

static void take_number(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_ptm_decoder *decoder = stage->decoder;
    const bool is_context = packet->base.type == TW_PTM_CONTEXT_ID;
    bool *has = is_context ? &decoder->context.has_context_id : &decoder->context.has_vmid;
    uint32_t *value = is_context ? &decoder->context.context_id : &decoder->context.vmid;

    if (*has && *value == packet->value)
        return;
    *has = true;
    *value = packet->value;
    (void)tw_armv7_add_context(stage, &decoder->context, tw_follow_isa(stage->follow),
                               packet->base.index);
}

static void take_timestamp(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_element *element =
        tw_armv7_add_time(stage, packet->time, packet->freq_changed, packet->base.index);

    if (packet->has_cycles)
        set_cycles(element, packet->cycles);
    tw_follow_time(stage->follow, element);
}

static void take_packet(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_element *first = stage->out;

    switch (packet->base.type) {
    case TW_PTM_ISYNC:
        take_isync(stage, packet);
        break;
    case TW_PTM_ATOM:
        stage->out = tw_follow_atoms(stage->follow, stage->out, packet->atoms,
                                     packet->atom_count, packet->base.index);
        if (packet->has_cycles)
            stage->out = give_cycles(first, stage->out, packet->cycles, packet->base.index);
        break;
    case TW_PTM_BRANCH_ADDRESS:
        take_branch(stage, packet);
        break;
    case TW_PTM_WP_UPDATE:
        take_update(stage, packet);
        break;
    case TW_PTM_CONTEXT_ID:
    case TW_PTM_VMID:
        take_number(stage, packet);
        break;
    case TW_PTM_TIMESTAMP:
        take_timestamp(stage, packet);
        break;
    case TW_PTM_EXCEPTION_RETURN:
        tw_stage_add(stage, TW_ELEMENT_EXCEPTION_RET, packet->base.index);
        break;
    case TW_PTM_TRIGGER:
        tw_stage_add(stage, TW_ELEMENT_EVENT, packet->base.index)->kind = TW_EVENT_TRIGGER;
        break;
    default: /* ASYNC, IGNORE */
        break;
    }
}

static void take_bad(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_ptm_decoder *decoder = stage->decoder;
    const uint8_t code = packet->base.type == TW_PTM_RESERVED         ? TW_ERROR_RESERVED_HEADER
                         : packet->base.type == TW_PTM_INCOMPLETE_EOT ? TW_ERROR_TRUNCATED
                                                                      : TW_ERROR_BAD_SEQUENCE;

    tw_stage_damage(stage, code, &packet->base, packet->value);
    if (code == TW_ERROR_TRUNCATED)
        return;
    forget(stage);
    if (decoder->sync == TW_PTM_SYNC_DONE)
        tw_armv7_add_no_sync(stage, TW_REASON_BAD_PACKET, packet->base.index);
    decoder->sync = TW_PTM_SYNC_ASYNC;
}

/* Reads and takes one packet.  False: it is cut. */
static bool one_packet(struct tw_stage *stage)
{
    struct tw_ptm_decoder *decoder = stage->decoder;
    struct tw_ptm_packet packet;
    const uint8_t *at = stage->at;

    decoder->reader.offset = tw_stage_offset(stage, at);
    if (tw_ptm_read(&decoder->reader, &packet, at, (size_t)(stage->end - at), stage->is_last) !=
        TW_OK)
        return false;
    packet.base.index = tw_stage_index(stage, at);
    if (packet.base.type != TW_PTM_NOT_SYNC || !decoder->is_in_run)
        decoder->last_index = packet.base.index;
    decoder->is_in_run = packet.base.type == TW_PTM_NOT_SYNC;
    stage->at = at + packet.base.size;
    if (decoder->sync == TW_PTM_SYNC_START) {
        decoder->sync = TW_PTM_SYNC_ASYNC;
        tw_armv7_add_no_sync(stage, decoder->lost_reason, packet.base.index);
    }
    if (tw_ptm_type_is_bad(packet.base.type))
        take_bad(stage, &packet);
    else if (decoder->sync == TW_PTM_SYNC_DONE || packet.base.type == TW_PTM_ISYNC)
        take_packet(stage, &packet);
    else if (packet.base.type == TW_PTM_ASYNC)
        decoder->sync = TW_PTM_SYNC_ISYNC;
    else if (decoder->is_in_run)
        tw_stage_unsynced(stage, packet.base.size);
    if (stage->follow->error)
        fail(stage, stage->follow->error, &packet.base, stage->follow->error_detail);
    /* That sync is missing is known at once, however long the run becomes. */
    tw_stage_mark(stage, stage->out, decoder->is_in_run ? at + 1 : stage->at);
    return true;
}

/* A branch without exception information, whose taken waypoint is done: its size, or 0 when it is
   not so plain. */
TW_INLINE unsigned fast_branch(struct tw_armv7_address *address, uint32_t *cycles,
                               const struct tw_ptm_reader *reader, const uint8_t *at)
{
    struct tw_bytes in = { .at = at, .end = at + FAST_MARGIN };

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

/* A branch packet comes at an indirect branch, so that it and where it leads can be counted. */
TW_INLINE bool counts_branch(const struct tw_follow *follow,
                             const struct tw_follow_track *track)
{
    return tw_block_is_plain(track->at) && !follow->check_continuity &&
           track->blocks[track->at].next[1] == TW_NEXT_NEEDED &&
           tw_block_is_indirect(&track->blocks[track->at]);
}

TW_INLINE struct tw_element *count_atoms(struct tw_follow *follow,
                                         struct tw_follow_track *track, struct tw_element *out,
                                         const struct tw_ptm_atoms *packet, uint64_t index)
{
    uint64_t atoms = tw_atoms(packet->bits, packet->count);

    if (TW_LIKELY(track->link != TW_TRACK_APART && tw_block_is_plain(track->at)))
        atoms = tw_track_sum(follow, track, atoms);
    return TW_LIKELY(atoms == TW_ATOMS_DONE) ? out
                                             : tw_track_count(follow, track, out, atoms, index);
}

/* size: hot loop */
/* Atoms and plain branches, until something else comes or the room is used up.  `counts`: ranges are
   counted where that will do; those with cycles are not. */
TW_INLINE void fast_packets(struct tw_stage *stage, const bool counts)
{
    struct tw_ptm_decoder *decoder = stage->decoder;
    struct tw_ptm_reader *reader = &decoder->reader;
    struct tw_follow *follow = stage->follow;
    const bool has_cycles = reader->setup.cycle_accurate;
    const bool has_marks = stage->output->marks.marks != NULL;
    const uint8_t *at = stage->at;
    const uint8_t *const end = stage->end - FAST_MARGIN;
    struct tw_follow_track track = tw_track_begin(follow);
    /* Counting: one range of an earlier packet may come with a packet's own, and one at the end. */
    struct tw_element *out = stage->out, *const last = stage->limit - TW_PTM_PACKET_MOST -
                                                       (counts ? 2 : 0);
    uint64_t index = decoder->last_index;

    while (at < end && out <= last) {
        const uint8_t head = *at;
        struct tw_element *const first = out;
        uint32_t cycles = 0;
        unsigned size = 1;

        stage->at = at; /* the path may break off here */
        if (head & 1) {
            struct tw_armv7_address address;

            size = fast_branch(&address, &cycles, reader, at);
            if (!size)
                break;
            index = tw_stage_index(stage, at);
            if (counts && TW_LIKELY(counts_branch(follow, &track))) {
                out = tw_track_step(follow, &track, out, 1, index);
                reader->address = address.address;
                reader->isa = address.isa;
                out = tw_track_count_jump(follow, &track, out, address.address, address.isa,
                                          index);
                at += size;
                if (has_marks)
                    tw_stage_mark(stage, out, at);
                continue;
            }
            if (counts) {
                tw_track_settle(follow, &track);
                out = tw_track_write_last(follow, &track, out, index);
            }
            if (TW_LIKELY(tw_block_is_plain(track.at) && !follow->check_continuity &&
                          track.blocks[track.at].next[1] != TW_NEXT_SPECIAL)) {
                tw_follow_emit(out++, &track.blocks[track.at], TW_RANGE_EXECUTED, index);
            } else {
                tw_track_end(follow, &track);
                out = tw_follow_taken(follow, out, index);
                track = tw_track_begin(follow);
            }
            reader->address = address.address;
            reader->isa = address.isa;
            if (TW_LIKELY(!follow->error))
                tw_track_jump(follow, &track, address.address, address.isa);
            track.link = TW_TRACK_APART;
        } else if (!(head & 0x80)) {
            break;
        } else if (has_cycles) {
            struct tw_bytes in = { .at = at + 1, .end = at + FAST_MARGIN };

            cycles = tw_ptm_get_cycles(&in, head);
            size = (unsigned)(in.at - at);
            index = tw_stage_index(stage, at);
            out = tw_track_atoms(follow, &track, out, tw_atoms(head & 2 ? 0 : 1, 1), index);
        } else {
            if (!tw_ptm_atoms[head].count)
                break;
            index = tw_stage_index(stage, at);
            if (counts)
                out = count_atoms(follow, &track, out, &tw_ptm_atoms[head], index);
            else
                out = tw_track_atoms(
                    follow, &track, out,
                    tw_atoms(tw_ptm_atoms[head].bits, tw_ptm_atoms[head].count), index);
        }
        at += size;
        if (has_cycles)
            out = give_cycles(first, out, cycles, index);
        if (has_marks)
            tw_stage_mark(stage, out, at);
        if (TW_UNLIKELY(follow->error))
            break;
    }
    if (counts) {
        tw_track_settle(follow, &track);
        out = tw_track_write_last(follow, &track, out, index);
    }
    tw_track_end(follow, &track);
    stage->out = out;
    decoder->last_index = index;
    if (TW_UNLIKELY(follow->error)) {
        const struct tw_packet packet = { .index = index,
                                          .offset = tw_stage_offset(stage, stage->at) };

        fail(stage, follow->error, &packet, follow->error_detail);
        tw_stage_mark(stage, stage->out, at);
    }
    stage->at = at;
}

static TW_NOINLINE void fast_written(struct tw_stage *stage)
{
    fast_packets(stage, false);
}

static TW_NOINLINE void fast_counted(struct tw_stage *stage)
{
    fast_packets(stage, true);
}

/* A stretch of input without a gap.  False: the batch is full. */
static bool decode_stretch(struct tw_stage *stage)
{
    const struct tw_ptm_decoder *decoder = stage->decoder;

    for (;;) {
        if (!has_room(stage))
            return false;
        if (decoder->sync == TW_PTM_SYNC_DONE && stage->end - stage->at > FAST_MARGIN) {
            if (stage->follow->sums && !decoder->reader.setup.cycle_accurate)
                fast_counted(stage);
            else
                fast_written(stage);
            if (!has_room(stage))
                return false;
        }
        if (stage->at == stage->end || !one_packet(stage))
            return true;
    }
}

static void take_gap(struct tw_stage *stage, const struct tw_packet *at)
{
    struct tw_ptm_decoder *decoder = stage->decoder;

    tw_stage_damage(stage, TW_ERROR_DISCONTINUITY, at, 0);
    forget(stage);
    tw_ptm_reader_lost(&decoder->reader);
    if (decoder->sync == TW_PTM_SYNC_DONE)
        tw_armv7_add_no_sync(stage, TW_REASON_RESET, at->index);
    if (decoder->sync != TW_PTM_SYNC_START)
        decoder->sync = TW_PTM_SYNC_ASYNC;
}

enum tw_status tw_ptm_decode(void *state, struct tw_follow *follow, struct tw_output *output,
                             struct tw_input *in)
{
    struct tw_ptm_decoder *decoder = state;
    struct tw_stage stage;
    bool is_used_up;

    if (output->batch->room < TW_PTM_PACKET_MOST)
        return TW_E_ARGUMENT;
    follow->pops_at_once = follow->says_unplaced = true;
    tw_stage_begin(&stage, decoder, &decoder->damage, follow, output);
    tw_follow_enter(follow);
    is_used_up = tw_stage_run(&stage, in, decode_stretch, take_gap);
    tw_stage_finish(&stage);
    tw_follow_leave(follow);
    if (follow->code->out_of_memory)
        return TW_E_MEMORY;
    return is_used_up ? TW_MORE : TW_OK;
}

enum tw_status tw_ptm_end(void *state, struct tw_follow *follow, struct tw_output *output)
{
    struct tw_ptm_decoder *decoder = state;
    struct tw_stage stage;

    if (decoder->is_ended)
        return TW_END;
    tw_stage_begin(&stage, decoder, &decoder->damage, follow, output);
    tw_follow_enter(follow);
    if (has_room(&stage)) {
        tw_stage_report(&stage, decoder->reader.offset);
        tw_stage_add(&stage, TW_ELEMENT_EO_TRACE, decoder->last_index)->reason = TW_REASON_END;
        decoder->is_ended = true;
    }
    tw_stage_finish(&stage);
    tw_follow_leave(follow);
    return decoder->is_ended ? TW_END : TW_OK;
}

void tw_ptm_decoder_init(void *state, const void *config)
{
    struct tw_ptm_decoder *decoder = state;

    memset(decoder, 0, sizeof *decoder);
    decoder->config = *(const struct tw_ptm_config *)config;
    tw_ptm_reader_init(&decoder->reader, &decoder->config);
    decoder->lost_reason = TW_REASON_INIT;
}

void tw_ptm_decoder_reset(void *state)
{
    struct tw_ptm_decoder *decoder = state;

    tw_ptm_reader_lost(&decoder->reader); /* its tables stay */
    decoder->reader.offset = 0;
    memset((char *)decoder + offsetof(struct tw_ptm_decoder, damage), 0,
           sizeof *decoder - offsetof(struct tw_ptm_decoder, damage));
    decoder->lost_reason = TW_REASON_RESET;
}

void tw_ptm_code_config(struct tw_code_config *code, const void *config)
{
    struct tw_ptm_setup setup;

    tw_ptm_setup_from_config(&setup, config);
    code->isa.profile = TW_PROFILE_A;
    code->isa.arch = 7;
    code->isa.dsb_dmb_is_waypoint = setup.barriers_are_waypoints;
    code->ignores_it = true;
    code->links_are_special = setup.return_stack;
}
