/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: bytes to elements in one pass. */
#include <string.h>

#include "itm/packet.h"
#include "stage/position.h"

/* All but the tables. */
static void clear(struct tw_itm_decoder *d)
{
    const struct tw_itm_config *config = &d->config;

    tw_itm_reader_clear(&d->reader, config);
    d->local = d->global = 0;
    d->page = 0;
    d->scale = d->reader.scale;
    d->overflow = 0;
    d->has_low = d->has_high = d->has_begun = d->has_ended = false;
    d->damage = (struct tw_damage){ .code = TW_ERROR_NONE };
    d->held.count = 0;
    d->gap = UINT64_MAX;
    d->last_index = d->released = 0;
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

static bool is_full(const struct tw_output *out)
{
    return out->batch->count >= out->batch->room ||
           (out->marks.marks && out->marks.count >= out->marks.room);
}

/* The next element of the batch; only when it is not full. */
TW_INLINE struct tw_element *next(struct tw_output *out, uint64_t released)
{
    if (out->marks.marks)
        out->marks.marks[out->marks.count++] =
            (struct tw_mark){ .released = released, .first = out->batch->count };
    return &out->batch->elements[out->batch->count++];
}

/* False: the batch is full. */
static bool flush(struct tw_itm_decoder *d, struct tw_output *out)
{
    unsigned done = 0;

    while (done < d->held.count && !is_full(out))
        *next(out, d->released) = d->held.elements[done++];
    for (unsigned i = done; i < d->held.count; i++)
        d->held.elements[i - done] = d->held.elements[i];
    d->held.count -= done;
    return d->held.count == 0 && !is_full(out);
}

/* An ITMTRACE element, which takes a pending overflow along. */
static void emit(struct tw_itm_decoder *d, struct tw_output *out, const struct tw_element *from)
{
    struct tw_element *to = next(out, d->released);

    *to = *from;
    to->type = TW_ELEMENT_ITMTRACE;
    to->flags |= d->overflow;
    d->overflow = 0;
}

static void take_local(struct tw_itm_decoder *d, struct tw_output *out,
                       const struct tw_itm_packet *packet)
{
    d->local += packet->value;
    emit(d, out,
         &(struct tw_element){ .index = packet->base.index,
                               .itm_time = d->local << d->scale,
                               .itm_value = (uint32_t)packet->value,
                               .flags = TW_ITM_HAS_TIME,
                               .kind = (uint8_t)(TW_ITM_TS_SYNC + packet->source),
                               .size = packet->size });
}

/* A wrap makes the upper bits unknown until they are sent. */
static void take_global(struct tw_itm_decoder *d, struct tw_output *out,
                        const struct tw_itm_packet *packet)
{
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
        emit(d, out,
             &(struct tw_element){ .index = packet->base.index,
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
static void take_bad(struct tw_itm_decoder *d, const struct tw_itm_packet *packet)
{
    static const uint8_t codes[] = {
        [TW_ITM_PACKET_RESERVED] = TW_ERROR_RESERVED_HEADER,
        [TW_ITM_PACKET_BAD_SEQUENCE] = TW_ERROR_BAD_SEQUENCE,
        [TW_ITM_PACKET_INCOMPLETE] = TW_ERROR_TRUNCATED,
    };

    d->damage = (struct tw_damage){ .code = codes[packet->base.type],
                                    .reason = TW_REASON_RESET,
                                    .index = packet->base.index,
                                    .skipped = packet->base.size,
                                    .detail = packet->value };
    if (packet->base.type == TW_ITM_PACKET_INCOMPLETE || d->reader.resumes)
        d->damage.reason = TW_REASON_UNDEFINED;
    else
        forget(d);
}

/* One packet; there is room for an element. */
static void take(struct tw_itm_decoder *d, struct tw_output *out,
                 const struct tw_itm_packet *packet)
{
    if (packet->base.type != TW_ITM_PACKET_NOT_SYNC)
        d->last_index = packet->base.index;
    switch (packet->base.type) {
    case TW_ITM_PACKET_SWIT:
    case TW_ITM_PACKET_DWT:
        emit(d, out,
             &(struct tw_element){
                 .index = packet->base.index,
                 .itm_value = (uint32_t)packet->value,
                 .source =
                     packet->source + (packet->base.type == TW_ITM_PACKET_SWIT ? d->page : 0),
                 .kind = packet->base.type == TW_ITM_PACKET_SWIT ? TW_ITM_SWIT : TW_ITM_DWT,
                 .size = packet->size });
        break;
    case TW_ITM_PACKET_TS_LOCAL:
        take_local(d, out, packet);
        break;
    case TW_ITM_PACKET_GTS_1:
    case TW_ITM_PACKET_GTS_2:
        take_global(d, out, packet);
        break;
    case TW_ITM_PACKET_EXTENSION:
        if (packet->source == 0 && packet->bits == 3)
            d->page = 32 * (uint32_t)packet->value;
        break;
    case TW_ITM_PACKET_OVERFLOW:
        d->overflow = TW_ITM_OVERFLOW;
        d->local = 0;
        break;
    case TW_ITM_PACKET_NOT_SYNC:
        d->damage.skipped += packet->base.size;
        break;
    case TW_ITM_PACKET_ASYNC:
        break;
    default:
        take_bad(d, packet);
        break;
    }
}

/* The stretch of the capture that holds the byte at `at`, in bytes of the input. */
static TW_NOINLINE struct tw_stretch stretch_at(struct tw_position *position,
                                                const struct tw_input *in, size_t at)
{
    struct tw_stretch stretch = tw_position_stretch(position, in->offset + at);

    stretch.delta += in->offset;
    stretch.stop -= in->offset;
    stretch.end -= in->offset;
    return stretch;
}

/* The packets that streams are made of, straight into the batch, while no question arises. */
/* size: hot loop */
TW_INLINE void run(struct tw_itm_decoder *d, struct tw_output *out, struct tw_input *in,
                   struct tw_position *position, size_t limit, const bool is_marked)
{
    struct tw_batch *batch = out->batch;
    struct tw_element *const first = batch->elements + batch->count, *to = first;
    struct tw_element *const end = batch->elements + batch->room;
    struct tw_marks *marks = &out->marks;
    const uint8_t *const data = in->data, *const last = data + limit - TW_ITM_AHEAD;
    const uint8_t *at = data + in->used;
    struct tw_stretch stretch = { 0, 0, 0 };
    const uint32_t page = d->page;
    uint64_t local = d->local;
    uint8_t overflow = d->overflow;

    while (to < end && at <= last && !(is_marked && marks->count == marks->room)) {
        const uint8_t head = *at;
        const struct tw_itm_quick *quick = &d->quick[head];
        const unsigned payload = quick->payload;
        const size_t offset = (size_t)(at - data);

        if (TW_UNLIKELY(offset >= stretch.stop)) {
            if (offset - stretch.stop < 15 && offset < stretch.end) {
                stretch.delta++;
                stretch.stop =
                    stretch.end - stretch.stop < 15 ? stretch.end : stretch.stop + 15;
            } else {
                stretch = stretch_at(position, in, offset);
            }
        }
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
        to->index = stretch.delta + offset;
        to->itm_pad = 0;
        if (TW_UNLIKELY(overflow)) {
            to->flags |= overflow;
            overflow = 0;
        }
        if (is_marked)
            marks->marks[marks->count++] = (struct tw_mark){
                .released = tw_position_at(position, in->offset + (size_t)(at - data) - 1) + 1,
                .first = (size_t)(to - batch->elements)
            };
        to++;
    }
    batch->count = (size_t)(to - batch->elements);
    in->used = (size_t)(at - data);
    if (to > first)
        d->last_index = to[-1].index;
    d->local = local;
    d->overflow = overflow;
}

/* Up to `limit`, where there may be a gap: then a packet that it cuts is dropped.  TW_MORE: as far
   as the bytes go; TW_OK: the batch is full. */
static enum tw_status decode_stretch(struct tw_itm_decoder *d, struct tw_output *out,
                                     struct tw_input *in, struct tw_position *position,
                                     size_t limit, bool has_gap)
{
    const bool is_end = in->is_last || has_gap;
    struct tw_itm_packet packet;

    for (;;) {
        if (d->reader.is_synced)
            tw_damage_settle(&d->damage, &d->held);
        if (!flush(d, out))
            return TW_OK;
        if (d->reader.is_synced && !d->reader.is_start && limit - in->used >= TW_ITM_AHEAD) {
            if (out->marks.marks)
                run(d, out, in, position, limit, true);
            else
                run(d, out, in, position, limit, false);
            if (is_full(out))
                return TW_OK;
        }
        if (tw_itm_read_any(&d->reader, &packet, in->data + in->used, limit - in->used,
                            is_end) != TW_OK)
            return TW_MORE;
        packet.base.index = tw_position_at(position, in->offset + in->used);
        in->used += packet.base.size;
        d->released = tw_position_at(position, in->offset + in->used - 1) + 1;
        if (!(has_gap && packet.base.type == TW_ITM_PACKET_INCOMPLETE))
            take(d, out, &packet);
    }
}

/* Bytes are missing here: what they said is not known any more. */
static void lose(struct tw_itm_decoder *d, uint64_t index)
{
    const bool was_synced = d->reader.is_synced;

    tw_itm_reader_lost(&d->reader);
    forget(d);
    if (!d->has_begun || !was_synced)
        return;
    tw_damage_settle(&d->damage, &d->held);
    d->damage = (struct tw_damage){ .code = TW_ERROR_DISCONTINUITY,
                                    .reason = TW_REASON_RESET,
                                    .index = index };
}

enum tw_status tw_itm_decode(void *decoder, struct tw_follow *follow, struct tw_output *out,
                             struct tw_input *in)
{
    struct tw_itm_decoder *d = decoder;
    struct tw_position position;

    (void)follow;
    tw_position_init(&position, in->places, in->place_count);
    for (;;) {
        const uint64_t from = in->offset + in->used;
        const uint64_t gap = in->has_gaps
                                 ? tw_position_discontinuity(in->places, in->place_count,
                                                             d->gap == from ? from + 1 : from,
                                                             in->offset + in->size)
                                 : UINT64_MAX;
        const bool has_gap = gap != UINT64_MAX;
        const size_t limit = has_gap ? (size_t)(gap - in->offset) : in->size;

        if (!d->has_begun && limit > in->used) {
            const uint64_t index = tw_position_at(&position, from);

            d->has_begun = true;
            d->released = index + 1; /* its first byte, not the beginning of the capture */
            tw_held_add(&d->held, TW_ELEMENT_NO_SYNC, index)->reason = TW_REASON_INIT;
        }
        if (decode_stretch(d, out, in, &position, limit, has_gap) == TW_OK)
            return TW_OK;
        if (!has_gap)
            return TW_MORE;
        in->used = limit;
        d->gap = gap;
        lose(d, tw_position_at(&position, gap));
    }
}

enum tw_status tw_itm_end(void *decoder, struct tw_follow *follow, struct tw_output *out)
{
    struct tw_itm_decoder *d = decoder;

    (void)follow;
    if (!d->has_ended) {
        d->has_ended = true;
        tw_damage_settle(&d->damage, &d->held);
        if (d->overflow) {
            struct tw_element *lost = tw_held_add(&d->held, TW_ELEMENT_ITMTRACE, d->last_index);

            lost->kind = TW_ITM_LOST;
            lost->flags = TW_ITM_OVERFLOW;
            d->overflow = 0;
        }
        tw_held_add(&d->held, TW_ELEMENT_EO_TRACE, d->last_index)->reason = TW_REASON_END;
    }
    (void)flush(d, out);
    return d->held.count ? TW_OK : TW_END;
}
