/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: bytes to elements in one pass.  P-headers drive the follower straight from the bytes;
   every other packet is read whole. */
#include "etmv3/decode.h"

#include <string.h>

static bool has_room(const struct tw_stage *stage)
{
    return stage->limit - stage->out >= 2 * TW_ETMV3_PACKET_MOST && !stage->follow->is_stopped;
}

static void mark(struct tw_stage *stage, const uint8_t *packet_end)
{
    const struct tw_etmv3_decoder *decoder = stage->decoder;

    tw_stage_mark(stage, decoder->waiting ? decoder->waiting : stage->out, packet_end);
}

/* Reads and takes one packet.  False: it is cut. */
static bool one_packet(struct tw_stage *stage)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_etmv3_packet packet;
    const uint8_t *at = stage->at;

    decoder->reader.offset = tw_stage_offset(stage, at);
    if (tw_etmv3_read(&decoder->reader, &packet, at, (size_t)(stage->end - at),
                      stage->is_last) != TW_OK)
        return false;
    packet.base.index = tw_stage_index(stage, at);
    if (packet.base.type != TW_ETMV3_NOT_SYNC || !decoder->is_in_run)
        decoder->last_index = packet.base.index;
    decoder->is_in_run = packet.base.type == TW_ETMV3_NOT_SYNC;
    stage->at = at + packet.base.size;
    tw_etmv3_take(stage, &packet);
    if (stage->follow->error)
        tw_etmv3_fail(stage, stage->follow->error, &packet.base, stage->follow->error_detail);
    /* That sync is missing is known at once, however long the run becomes. */
    mark(stage, decoder->is_in_run ? at + 1 : stage->at);
    return true;
}

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
static unsigned fast_branch(struct tw_stage *stage, const uint8_t *at)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_etmv3_reader *reader = &decoder->reader;
    struct tw_follow *follow = stage->follow;
    struct tw_bytes in = { .at = at, .end = at + TW_ARMV7_ADDRESS_MAX };
    struct tw_armv7_address address;
    uint32_t known;

    tw_armv7_get_address(&in, &address, reader->address, reader->isa,
                         reader->setup.alternative);
    if (address.size == TW_ARMV7_ADDRESS_MAX ||
        (reader->setup.alternative && address.size > 1 && (address.last & 0x40)) ||
        address.isa > TW_ISA_T32 || follow->check_continuity)
        return 0;
    reader->address = address.address;
    decoder->unknown_is_said = decoder->is_returning = false;
    known =
        follow->blocks ? tw_blocks_known(follow->blocks, address.address, address.isa, 0) : 0;
    if (TW_LIKELY(known != 0)) {
        follow->at = known;
        follow->pop_is_pending = false;
        follow->missing = TW_MISSING_NOTHING;
    } else {
        tw_follow_jump(follow, address.address, address.isa);
    }
    return address.size;
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

enum {
    STRETCH_MOST = 16, /* P-headers looked at in a row ... */
    STRETCH_ROOM =
        16 * STRETCH_MOST + TW_ETMV3_PACKET_MOST /* ... and the elements they may make */
};

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
    struct tw_element *out = stage->out, *waiting = decoder->waiting;
    uint32_t place;

    find_place(follow);
    place = follow->at;
    blocks = follow->blocks->blocks; /* where it lies now */
    while (stage->at < stage->end && stage->limit - out >= STRETCH_ROOM) {
        const uint8_t *at = stage->at;
        uint64_t index;
        const uint8_t *end = tw_stage_together(stage, &index);
        const uint64_t shift = index - (uint64_t)(uintptr_t)at;
        unsigned left = 0;

        if (end - at > STRETCH_MOST)
            end = at + STRETCH_MOST;
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
                place = blocks[place].next[taken];
                if (TW_UNLIKELY(!tw_block_is_plain(place))) {
                    place = follow_link(follow, place, from, taken);
                    blocks = follow->blocks->blocks;
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
            const unsigned size = (*at & 1) && stage->end - at > 8 ? fast_branch(stage, at) : 0;

            if (!size)
                break;
            decoder->last_index = shift + (uint64_t)(uintptr_t)at;
            stage->at = at + size;
            find_place(follow);
            place = follow->at;
            blocks = follow->blocks->blocks;
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
        mark(stage, stage->at);
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

/* One of its two forms; then tells what broke off the path. */
static TW_NOINLINE void run_fast(struct tw_stage *stage)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_follow *follow = stage->follow;
    struct tw_packet packet;

    if (decoder->reader.setup.cycle_accurate)
        fast_packets(stage, TW_FLAG_HAS_CYCLES);
    else
        fast_packets(stage, 0);
    if (TW_LIKELY(!follow->error))
        return;
    packet = (struct tw_packet){ .index = decoder->last_index,
                                 .offset = tw_stage_offset(stage, stage->at - 1) };
    tw_etmv3_fail(stage, follow->error, &packet, follow->error_detail);
    mark(stage, stage->at);
}

/* A stretch of input without a gap.  False: the batch is full. */
static bool decode_stretch(struct tw_stage *stage)
{
    const struct tw_etmv3_decoder *decoder = stage->decoder;
    const struct tw_etmv3_setup *setup = &decoder->reader.setup;
    const bool is_plain = !setup->wide_is_two && !tw_etmv3_has_data(setup);

    for (;;) {
        if (!has_room(stage))
            return false;
        if (is_plain && decoder->sync == TW_ETMV3_SYNC_DONE && stage->follow->blocks) {
            run_fast(stage);
            /* The rest of a large batch is not worth going on slowly. */
            if (!has_room(stage) ||
                (stage->limit - stage->out < STRETCH_ROOM &&
                 stage->out - stage->output->batch->elements > 2 * STRETCH_ROOM))
                return false;
        }
        if (stage->at == stage->end || !one_packet(stage))
            return true;
    }
}

static void begin(struct tw_stage *stage, struct tw_etmv3_decoder *decoder,
                  struct tw_follow *follow, struct tw_output *output)
{
    tw_stage_begin(stage, decoder, &decoder->damage, follow, output);
    tw_follow_enter(follow);
    if (decoder->buffered_count) {
        memcpy(stage->out, decoder->buffered,
               decoder->buffered_count * sizeof *decoder->buffered);
        decoder->waiting = stage->out;
        stage->out += decoder->buffered_count;
        decoder->buffered_count = 0;
    }
}

static void finish(struct tw_stage *stage)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    if (decoder->waiting && stage->out - decoder->waiting > TW_ETMV3_HELD_MAX) {
        tw_etmv3_release(decoder);
        mark(stage, stage->at);
    }
    if (decoder->waiting) {
        decoder->buffered_count = (unsigned)(stage->out - decoder->waiting);
        memcpy(decoder->buffered, decoder->waiting,
               decoder->buffered_count * sizeof *decoder->buffered);
        stage->out = decoder->waiting;
        decoder->waiting = NULL;
    }
    tw_stage_finish(stage);
    tw_follow_leave(stage->follow);
}

enum tw_status tw_etmv3_decode(void *state, struct tw_follow *follow, struct tw_output *output,
                               struct tw_input *in)
{
    struct tw_etmv3_decoder *decoder = state;
    struct tw_stage stage;
    bool is_used_up;

    if (output->batch->room < TW_ETMV3_ROOM)
        return TW_E_ARGUMENT;
    if (output->batch->room - output->batch->count < TW_ETMV3_ROOM)
        return TW_OK;
    begin(&stage, decoder, follow, output);
    is_used_up = tw_stage_run(&stage, in, decode_stretch, tw_etmv3_take_gap);
    finish(&stage);
    if (follow->code->out_of_memory)
        return TW_E_MEMORY;
    return is_used_up ? TW_MORE : TW_OK;
}

enum tw_status tw_etmv3_end(void *state, struct tw_follow *follow, struct tw_output *output)
{
    struct tw_etmv3_decoder *decoder = state;
    struct tw_stage stage;

    if (decoder->is_ended)
        return TW_END;
    if (output->batch->room - output->batch->count < TW_ETMV3_ROOM)
        return TW_OK;
    begin(&stage, decoder, follow, output);
    tw_etmv3_release(decoder);
    tw_stage_report(&stage, decoder->reader.offset);
    tw_stage_add(&stage, TW_ELEMENT_EO_TRACE, decoder->last_index)->reason = TW_REASON_END;
    decoder->is_ended = true;
    finish(&stage);
    return TW_END;
}

void tw_etmv3_decoder_init(void *state, const void *config)
{
    struct tw_etmv3_decoder *decoder = state;

    memset(decoder, 0, sizeof *decoder);
    decoder->config = *(const struct tw_etmv3_config *)config;
    tw_etmv3_reader_init(&decoder->reader, &decoder->config);
    decoder->lost_reason = TW_REASON_INIT;
}

void tw_etmv3_decoder_reset(void *state)
{
    struct tw_etmv3_decoder *decoder = state;

    tw_etmv3_reader_lost(&decoder->reader); /* its tables stay */
    decoder->reader.offset = 0;
    memset((char *)decoder + offsetof(struct tw_etmv3_decoder, damage), 0,
           sizeof *decoder - offsetof(struct tw_etmv3_decoder, damage));
    decoder->lost_reason = TW_REASON_RESET;
}

void tw_etmv3_code_config(struct tw_code_config *code, const void *config)
{
    struct tw_etmv3_setup setup;

    tw_etmv3_setup_from_config(&setup, config);
    code->isa.profile = setup.profile;
    code->isa.arch = 7;
    code->ignores_it = true;
    code->single_steps = true;
    code->has_transfers = tw_etmv3_has_data(&setup);
}
