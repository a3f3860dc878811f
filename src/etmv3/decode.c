/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: bytes to elements in one pass.  P-headers drive the follower straight from the bytes;
   every other packet is read whole. */
#include "etmv3/decode.h"

#include <string.h>

static bool has_room(const struct tw_stage *stage)
{
    return stage->limit - stage->out >= 2 * TW_ETMV3_PACKET_MOST;
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

    decoder->reader.offset = stage->offset + (uint64_t)(at - stage->base);
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
    mark(stage, stage->at);
    return true;
}

/* Follows the link that the last atom took, if it is not followed yet. */
static TW_NOINLINE uint32_t follow_link(struct tw_follow *follow, uint32_t place, uint32_t from,
                                        unsigned taken)
{
    struct tw_element none[TW_FOLLOW_MOST];

    if (place != TW_NEXT_UNKNOWN && place != TW_NEXT_SPECIAL)
        return place;
    follow->at = place;
    (void)tw_follow_after(follow, none, from, taken, 0);
    return follow->at;
}

/* What the fast loop changed is put back. */
TW_INLINE void leave_fast(struct tw_stage *stage, struct tw_element *out, uint32_t place,
                          struct tw_element *waiting)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    stage->follow->at = place;
    stage->out = out;
    decoder->waiting = waiting;
    decoder->has_instruction = waiting != NULL;
}

/* size: hot loop */
/* P-headers from stage->at up to `end`, which all lie together in the capture from `index` on; until
   something else comes or the path leaves the plain blocks.  `has_cycles` is a constant. */
TW_INLINE const uint8_t *fast_headers(struct tw_stage *stage, const uint8_t *end,
                                      uint64_t index, const unsigned has_cycles)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    const struct tw_etmv3_atoms *table = decoder->reader.atoms;
    struct tw_follow *follow = stage->follow;
    const struct tw_block *blocks = follow->blocks->blocks;
    struct tw_element *out = stage->out, *waiting = decoder->waiting;
    const uint8_t *at = stage->at;
    const uint64_t shift = index - (uint64_t)(uintptr_t)at;
    uint32_t place = follow->at;
    unsigned left = 0;

    for (; at < end; at++) {
        const struct tw_etmv3_atoms *atoms = &table[*at];
        unsigned bits = atoms->bits;
        uint32_t cycles = atoms->first_cycles;

        left = atoms->count;
        if (has_cycles && !left) {
            if (TW_UNLIKELY(!cycles)) /* no P-header, or one that says nothing */
                break;
            *out = (struct tw_element){ .index = shift + (uint64_t)(uintptr_t)at,
                                        .type = TW_ELEMENT_CYCLE_COUNT,
                                        .flags = TW_FLAG_HAS_CYCLES,
                                        .cycles = cycles };
            out++;
            continue;
        }
        if (TW_UNLIKELY(!atoms->is_legal || !left || !tw_block_is_plain(place)))
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
                if (!tw_block_is_plain(place)) {
                    if (--left)
                        goto not_plain;
                    break;
                }
            }
        } while (--left);
        continue;
    not_plain: /* some of the header's atoms are not done */
        leave_fast(stage, out, place, waiting);
        if (!follow->error)
            tw_etmv3_go_on(stage, atoms, atoms->count - left, shift + (uint64_t)(uintptr_t)at);
        return at + 1;
    }
    leave_fast(stage, out, place, waiting);
    return at;
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
    decoder->unknown_is_said = false;
    known = tw_blocks_known(follow->blocks, address.address, address.isa);
    if (TW_LIKELY(known != 0)) {
        follow->at = known;
        follow->pop_is_pending = follow->code_is_missing = false;
    } else {
        tw_follow_jump(follow, address.address, address.isa);
    }
    return address.size;
}

static void find_place(struct tw_follow *follow)
{
    const uint32_t found = tw_blocks_find(follow->blocks, follow->address, follow->isa, 0);

    if (found)
        follow->at = found;
}

/* P-headers and plain branches, until something else comes or the room is used up. */
static TW_NOINLINE void fast_packets(struct tw_stage *stage)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_follow *follow = stage->follow;

    while (stage->at < stage->end && stage->limit - stage->out >= 2 * TW_ETMV3_PACKET_MOST) {
        /* A header makes up to 16 elements. */
        const size_t room = (size_t)(stage->limit - stage->out - TW_ETMV3_PACKET_MOST) / 16;
        const uint8_t *const at = stage->at;
        uint64_t index;
        const uint8_t *end = tw_stage_together(stage, &index);

        if (TW_UNLIKELY((size_t)(end - at) > room))
            end = at + room;
        if (follow->at == TW_NEXT_AT_ADDRESS && !follow->it_open)
            find_place(follow);
        stage->at = decoder->reader.setup.cycle_accurate
                        ? fast_headers(stage, end, index, TW_FLAG_HAS_CYCLES)
                        : fast_headers(stage, end, index, 0);
        if (stage->at != at) {
            const uint64_t offset = stage->offset + (uint64_t)(stage->at - 1 - stage->base);

            decoder->last_index = index + (uint64_t)(stage->at - at) - 1;
            if (TW_UNLIKELY(stage->follow->error)) {
                const struct tw_packet packet = { .index = decoder->last_index,
                                                  .offset = offset };

                tw_etmv3_fail(stage, stage->follow->error, &packet,
                              stage->follow->error_detail);
                mark(stage, stage->at);
                return;
            }
            tw_stage_mark_at(stage, decoder->waiting ? decoder->waiting : stage->out, offset,
                             decoder->last_index);
        }
        if (stage->at < end) {
            const unsigned size = (*stage->at & 1) && stage->end - stage->at > 8
                                      ? fast_branch(stage, stage->at)
                                      : 0;

            if (!size) {
                if (stage->at == at || !decoder->reader.atoms[*stage->at].is_legal)
                    return;
                continue;
            }
            decoder->last_index = tw_stage_index(stage, stage->at);
            stage->at += size;
        }
    }
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
            fast_packets(stage);
            if (!has_room(stage))
                return false;
        }
        if (stage->at == stage->end || !one_packet(stage))
            return true;
    }
}

static void begin(struct tw_stage *stage, struct tw_etmv3_decoder *decoder,
                  struct tw_follow *follow, struct tw_output *output)
{
    tw_stage_begin(stage, decoder, &decoder->trouble, follow, output);
    if (decoder->held_count) {
        memcpy(stage->out, decoder->held, decoder->held_count * sizeof *decoder->held);
        decoder->waiting = stage->out;
        stage->out += decoder->held_count;
        decoder->held_count = 0;
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
        decoder->held_count = (unsigned)(stage->out - decoder->waiting);
        memcpy(decoder->held, decoder->waiting, decoder->held_count * sizeof *decoder->held);
        stage->out = decoder->waiting;
        decoder->waiting = NULL;
    }
    tw_stage_finish(stage);
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
    memset((char *)decoder + offsetof(struct tw_etmv3_decoder, trouble), 0,
           sizeof *decoder - offsetof(struct tw_etmv3_decoder, trouble));
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
