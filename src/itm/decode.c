/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: bytes to elements in one pass. */
#include <string.h>

#include "itm/packet.h"

/* All but the tables. */
static void clear(struct tw_itm_decoder *d)
{
    const struct tw_itm_config *config = &d->config;

    tw_itm_reader_clear(&d->reader, config);
    d->local = d->global = 0;
    d->page = 0;
    d->scale = d->reader.scale;
    d->overflow = 0;
    d->has_low = d->has_high = false;
    d->is_assumed = config->assume_sync;
    d->is_doubtful = false;
    d->kept = (struct tw_swtrace){ .has_begun = false };
}

void tw_itm_decoder_init(void *decoder, const void *config)
{
    struct tw_itm_decoder *d = decoder;

    *d = (struct tw_itm_decoder){ .config = *(const struct tw_itm_config *)config };
    if (d->config.on_error == TW_ITM_ON_ERROR_USUAL)
        d->config.on_error = d->config.is_framed ? TW_ITM_WAIT : TW_ITM_RESUME;
    tw_itm_tables(&d->reader);
    for (unsigned head = 0; head < 256; head++) {
        const struct tw_itm_rule *rule = &tw_itm_rules[d->reader.index[head]];
        const bool is_swit = rule->type == TW_ITM_PACKET_SWIT;
        const bool is_local = rule->type == TW_ITM_PACKET_TS_LOCAL;
        uint8_t kind = is_swit ? TW_ITM_SWIT : TW_ITM_DWT;

        if (is_local)
            kind = (uint8_t)(TW_ITM_TS_SYNC + (head & 0x80 ? head >> 4 & 3 : 0));

        d->quick[head] = (struct tw_itm_quick){
            .mask = rule->payload ? UINT32_MAX >> (32 - 8 * rule->payload) : 0,
            .page_mask = is_swit ? UINT32_MAX : 0,
            .label = { TW_ELEMENT_ITMTRACE, 0, kind, rule->payload },
            .payload = rule->payload,
            .source = (uint8_t)(head >> 3),
            .is_local = is_local
        };
    }
    clear(d);
}

void tw_itm_decoder_reset(void *decoder)
{
    clear(decoder);
}

/* An ITMTRACE element, which takes a pending overflow along. */
static void emit(struct tw_stage *stage, const struct tw_element *from)
{
    struct tw_itm_decoder *d = stage->decoder;
    struct tw_element *to = stage->out++;

    *to = *from;
    to->type = TW_ELEMENT_ITMTRACE;
    to->flags |= d->overflow;
    d->overflow = 0;
}

static void take_local(struct tw_stage *stage, const struct tw_itm_packet *packet)
{
    struct tw_itm_decoder *d = stage->decoder;

    d->local += packet->value;
    emit(stage, &(struct tw_element){ .index = packet->base.index,
                                      .itm_time = d->local << d->scale,
                                      .itm_value = (uint32_t)packet->value,
                                      .flags = TW_ITM_HAS_TIME,
                                      .kind = (uint8_t)(TW_ITM_TS_SYNC + packet->source),
                                      .size = packet->size });
}

/* A wrap makes the upper bits unknown until they are sent. */
static void take_global(struct tw_stage *stage, const struct tw_itm_packet *packet)
{
    struct tw_itm_decoder *d = stage->decoder;
    uint8_t flags = TW_ITM_HAS_TIME;

    if (packet->base.type == TW_ITM_PACKET_GTS_1) {
        d->global = tw_replace_low(d->global, packet->value,
                                   packet->size == 4 ? 26 : 7u * packet->size);
        d->has_low = true;
        if (packet->wrap)
            d->has_high = false;
        if (packet->freq_change)
            flags |= TW_ITM_FREQ_CHANGE;
    } else {
        d->global = packet->value << 26 | (d->global & 0x3ffffff);
        d->has_high = true;
    }
    if (d->has_low && d->has_high)
        emit(stage, &(struct tw_element){ .index = packet->base.index,
                                          .itm_time = d->global,
                                          .flags = flags,
                                          .kind = TW_ITM_TS_GLOBAL,
                                          .size = packet->size });
}

/* What was said before is not known any more. */
static void forget(struct tw_itm_decoder *d)
{
    d->page = 0;
    d->local = d->global = 0;
    d->has_low = d->has_high = false;
}

/* Damage lasts until the next synchronization, where all begins anew, unless decoding just goes
   on. */
static void take_bad(struct tw_stage *stage, const struct tw_itm_packet *packet)
{
    struct tw_itm_decoder *d = stage->decoder;
    static const uint8_t codes[] = {
        [TW_ITM_PACKET_RESERVED] = TW_ERROR_RESERVED_HEADER,
        [TW_ITM_PACKET_BAD_SEQUENCE] = TW_ERROR_BAD_SEQUENCE,
        [TW_ITM_PACKET_INCOMPLETE] = TW_ERROR_TRUNCATED,
    };

    tw_stage_damage(stage, codes[packet->base.type], &packet->base, packet->value);
    if (packet->base.type == TW_ITM_PACKET_INCOMPLETE)
        return;
    if (d->reader.resumes) {
        d->kept.damage.flags = TW_SKIP_RESUMED;
        d->is_doubtful = d->is_assumed;
        return;
    }
    d->kept.damage.reason = TW_REASON_RESET;
    forget(d);
}

/* The first synchronization after damage where it was only assumed: what was read up to here may
   never have been packets, so it must not go into the times (and page) of those that follow. */
static void take_sync(struct tw_stage *stage, const struct tw_itm_packet *packet)
{
    struct tw_itm_decoder *d = stage->decoder;

    if (d->is_doubtful) {
        forget(d);
        d->overflow = 0;
        tw_stage_add(stage, TW_ELEMENT_NO_SYNC, packet->base.index)->reason = TW_REASON_RESET;
    }
    d->is_assumed = d->is_doubtful = false;
}

static void take(struct tw_stage *stage, const struct tw_itm_packet *packet)
{
    struct tw_itm_decoder *d = stage->decoder;

    if (packet->base.type != TW_ITM_PACKET_NOT_SYNC)
        d->kept.last_index = packet->base.index;
    switch (packet->base.type) {
    case TW_ITM_PACKET_SWIT:
    case TW_ITM_PACKET_DWT:
        emit(stage,
             &(struct tw_element){
                 .index = packet->base.index,
                 .itm_value = (uint32_t)packet->value,
                 .source =
                     packet->source + (packet->base.type == TW_ITM_PACKET_SWIT ? d->page : 0),
                 .kind = packet->base.type == TW_ITM_PACKET_SWIT ? TW_ITM_SWIT : TW_ITM_DWT,
                 .size = packet->size });
        break;
    case TW_ITM_PACKET_TS_LOCAL:
        take_local(stage, packet);
        break;
    case TW_ITM_PACKET_GTS_1:
    case TW_ITM_PACKET_GTS_2:
        take_global(stage, packet);
        break;
    case TW_ITM_PACKET_EXTENSION:
        if (packet->source == 0 && packet->bits == 3)
            d->page = 32 * (uint32_t)packet->value;
        break;
    case TW_ITM_PACKET_OVERFLOW:
        d->overflow = TW_ITM_OVERFLOW;
        d->local = 0;
        break;
    case TW_ITM_PACKET_ASYNC:
        take_sync(stage, packet);
        break;
    case TW_ITM_PACKET_NOT_SYNC:
        tw_stage_unsynced(stage, packet->base.size);
        break;
    default:
        take_bad(stage, packet);
        break;
    }
}

/* The packets that streams are made of, straight into the batch, while no question arises. */
/* size: hot loop */
TW_INLINE void run(struct tw_stage *stage, const bool is_marked)
{
    struct tw_itm_decoder *d = stage->decoder;
    struct tw_element *const first = stage->out, *to = first, *const limit = stage->limit;
    const uint8_t *const data = stage->base, *const last = stage->end - TW_ITM_AHEAD;
    const uint8_t *at = stage->at;
    struct tw_swtrace_place place = { 0, 0, 0 };
    const uint32_t page = d->page;
    uint64_t local = d->local;
    uint8_t overflow = d->overflow;

    while (to < limit && at <= last) {
        const uint8_t head = *at;
        const struct tw_itm_quick *quick = &d->quick[head];
        const unsigned payload = quick->payload;
        const size_t offset = (size_t)(at - data);

        if (TW_UNLIKELY(offset >= place.stop))
            tw_swtrace_place_move(&place, stage, offset, 1);
        if (TW_LIKELY(payload)) {
            if (TW_UNLIKELY(tw_load_le16(at + payload) == 0))
                break; /* zeros that may be synchronization */
            to->itm_time = 0;
            to->itm_value = tw_load_le32(at + 1) & quick->mask;
            to->source = quick->source + (page & quick->page_mask);
            memcpy((char *)to + offsetof(struct tw_element, type), quick->label, 4);
            at += 1 + payload;
        } else {
            uint32_t delta;
            const unsigned size = quick->is_local ? tw_itm_local(at, &delta) : 0;

            if (TW_UNLIKELY(!size))
                break;
            local += delta;
            to->itm_time = local << d->scale;
            to->itm_value = delta;
            to->source = 0;
            to->type = TW_ELEMENT_ITMTRACE;
            to->flags = TW_ITM_HAS_TIME;
            to->kind = quick->label[2];
            to->size = (uint8_t)(size > 1 ? size - 1 : 1);
            at += size;
        }
        to->index = place.delta + offset;
        to->itm_pad = 0;
        if (TW_UNLIKELY(overflow)) {
            to->flags |= overflow;
            overflow = 0;
        }
        if (is_marked)
            tw_swtrace_mark(stage, to, (size_t)(at - data) - 1);
        to++;
    }
    stage->out = stage->marked = to;
    stage->at = at;
    if (to > first)
        d->kept.last_index = to[-1].index;
    d->local = local;
    d->overflow = overflow;
}

/* Reads and takes one packet.  False: it is cut. */
static bool one_packet(struct tw_stage *stage)
{
    struct tw_itm_decoder *d = stage->decoder;
    struct tw_itm_packet packet;

    d->reader.offset = tw_stage_offset(stage, stage->at);
    if (tw_itm_read_any(&d->reader, &packet, stage->at, (size_t)(stage->end - stage->at),
                        stage->is_last) != TW_OK)
        return false;
    packet.base.index = tw_stage_index(stage, stage->at);
    stage->at += packet.base.size;
    if (d->reader.is_synced && packet.base.type != TW_ITM_PACKET_NOT_SYNC) /* again, perhaps */
        tw_stage_report(stage, packet.base.offset);
    if (!(stage->has_gap && packet.base.type == TW_ITM_PACKET_INCOMPLETE))
        take(stage, &packet);
    if (d->reader.is_synced) /* still, or behind this run of bytes */
        tw_stage_report(stage, tw_stage_offset(stage, stage->at));
    tw_stage_mark(stage, stage->out, stage->at);
    return true;
}

/* Up to a gap or the end of the input.  False: the batch is full. */
static bool decode_stretch(struct tw_stage *stage)
{
    struct tw_itm_decoder *d = stage->decoder;

    tw_swtrace_start(stage, &d->kept);
    do {
        if (!tw_swtrace_has_room(stage))
            return false;
        if (d->reader.is_synced && !d->reader.is_start &&
            stage->end - stage->at >= TW_ITM_AHEAD) {
            if (stage->output->marks.marks)
                run(stage, true);
            else
                run(stage, false);
            if (!tw_swtrace_has_room(stage))
                return false;
        }
    } while (one_packet(stage));
    return true;
}

/* What the missing bytes said is not known any more. */
static void take_gap(struct tw_stage *stage, const struct tw_packet *at)
{
    struct tw_itm_decoder *d = stage->decoder;
    const bool was_synced = d->reader.is_synced;

    tw_itm_reader_lost(&d->reader);
    forget(d);
    d->is_assumed = d->config.assume_sync;
    d->is_doubtful = false;
    if (d->kept.has_begun && was_synced)
        tw_swtrace_lose(stage, at);
}

enum tw_status tw_itm_decode(void *decoder, struct tw_follow *follow, struct tw_output *output,
                             struct tw_input *in)
{
    struct tw_itm_decoder *d = decoder;

    (void)follow;
    return tw_swtrace_decode(d, &d->kept, output, in, decode_stretch, take_gap);
}

/* An overflow that no element carries. */
static void add_overflow(struct tw_stage *stage)
{
    struct tw_itm_decoder *d = stage->decoder;
    struct tw_element *lost;

    if (!d->overflow)
        return;
    lost = tw_stage_add(stage, TW_ELEMENT_ITMTRACE, d->kept.last_index);
    lost->kind = TW_ITM_LOST;
    lost->flags = TW_ITM_OVERFLOW;
    d->overflow = 0;
}

enum tw_status tw_itm_end(void *decoder, struct tw_follow *follow, struct tw_output *output)
{
    struct tw_itm_decoder *d = decoder;

    (void)follow;
    return tw_swtrace_end(d, &d->kept, output, d->reader.offset, add_overflow);
}
