/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: nibbles to elements in one pass. */
#include <string.h>

#include "stage/position.h"
#include "stm/packet.h"

/* All but the tables. */
static void clear(struct tw_stm_decoder *d)
{
    tw_stm_reader_lost(&d->reader);
    d->has_begun = d->has_ended = false;
    d->damage = (struct tw_damage){ .code = TW_ERROR_NONE };
    d->held.count = 0;
    d->gap = UINT64_MAX;
    d->last_index = d->released = 0;
}

void tw_stm_decoder_init(void *decoder, const void *config)
{
    struct tw_stm_decoder *d = decoder;

    (void)config;
    *d = (struct tw_stm_decoder){ .has_begun = false };
    (void)tw_stm_index(&d->reader);
    clear(d);
}

void tw_stm_decoder_reset(void *decoder)
{
    clear(decoder);
}

static bool is_full(const struct tw_output *out)
{
    return out->batch->count >= out->batch->room ||
           (out->marks.marks && out->marks.count >= out->marks.room);
}

/* The next element of the batch; only when it is not full. */
static struct tw_element *next(struct tw_output *out, uint64_t released)
{
    if (out->marks.marks)
        out->marks.marks[out->marks.count++] =
            (struct tw_mark){ .released = released, .first = out->batch->count };
    return &out->batch->elements[out->batch->count++];
}

/* False: the batch is full. */
static bool flush(struct tw_stm_decoder *d, struct tw_output *out)
{
    unsigned done = 0;

    while (done < d->held.count && !is_full(out))
        *next(out, d->released) = d->held.elements[done++];
    for (unsigned i = done; i < d->held.count; i++)
        d->held.elements[i - done] = d->held.elements[i];
    d->held.count -= done;
    return d->held.count == 0 && !is_full(out);
}

static void take_data(struct tw_stm_decoder *d, struct tw_output *out,
                      const struct tw_stm_packet *packet, const struct tw_stm_rule *rule)
{
    *next(out, d->released) =
        (struct tw_element){ .index = packet->base.index,
                             .payload = packet->value,
                             .sw_time = packet->timestamp,
                             .master = packet->master,
                             .channel = packet->channel,
                             .type = TW_ELEMENT_SWTRACE,
                             .flags = (uint8_t)(rule->flags | d->reader.has_id |
                                                (packet->has_timestamp ? TW_SW_HAS_TIME : 0)),
                             .width = rule->width,
                             .packets = rule->width != 0 };
}

/* A cross-synchronization event, after its time where it has one. */
static void take_event(struct tw_stm_decoder *d, const struct tw_stm_packet *packet)
{
    struct tw_element *to;

    if (packet->has_timestamp) {
        to = tw_held_add(&d->held, TW_ELEMENT_SWTRACE, packet->base.index);
        to->sw_time = packet->timestamp;
        to->master = packet->master;
        to->channel = packet->channel;
        to->flags = d->reader.has_id | TW_SW_HAS_TIME;
    }
    to = tw_held_add(&d->held, TW_ELEMENT_EVENT, packet->base.index);
    to->kind = TW_EVENT_NUMBERED;
    to->count = (uint32_t)packet->value;
}

/* One packet; there is room for an element. */
static void take(struct tw_stm_decoder *d, struct tw_output *out,
                 const struct tw_stm_packet *packet)
{
    const struct tw_stm_rule *rule = tw_stm_rule_of(packet->base.type);

    if (packet->base.type == TW_STM_NOT_SYNC) {
        d->damage.skipped += packet->base.size - (packet->base.spare_bits != 0);
        return;
    }
    if (packet->error || rule->use >= TW_STM_USE_DATA)
        d->last_index = packet->base.index;
    if (packet->error)
        d->damage =
            (struct tw_damage){ .code = packet->error,
                                .reason = packet->error == TW_ERROR_TRUNCATED
                                              ? TW_REASON_UNDEFINED
                                              : TW_REASON_BAD_PACKET,
                                .index = packet->base.index,
                                .skipped = packet->base.size - (packet->base.spare_bits != 0),
                                .detail = packet->value };
    else if (rule->use == TW_STM_USE_DATA || rule->use == TW_STM_USE_ERROR)
        take_data(d, out, packet, rule);
    else if (rule->use == TW_STM_USE_EVENT)
        take_event(d, packet);
}

/* Master and channel as they stand in an element. */
static uint32_t ids_of(const struct tw_stm_reader *reader)
{
    const struct tw_element element = { .master = reader->master, .channel = reader->channel };

    return element.source;
}

/* What an element's label gets when the master is known. */
static uint32_t id_label_of(const struct tw_stm_reader *reader)
{
    const uint8_t bytes[4] = { 0, reader->has_id, 0, 0 };
    uint32_t label;

    memcpy(&label, bytes, sizeof label);
    return label;
}

/* The stretch of the capture that holds what is at `at`, in bits of the input. */
static TW_NOINLINE struct tw_stretch stretch_at(struct tw_position *position,
                                                const struct tw_input *in, size_t at)
{
    struct tw_stretch stretch = tw_position_stretch(position, in->offset + at / 8);

    stretch.delta += in->offset;
    stretch.stop =
        stretch.stop > UINT64_MAX / 16 ? UINT64_MAX : 8 * (stretch.stop - in->offset);
    stretch.end = stretch.end > UINT64_MAX / 16 ? UINT64_MAX : 8 * (stretch.end - in->offset);
    return stretch;
}

/* The packets that streams are made of, straight into the batch, while no question arises.  It
   stops before what is not for it, which FF is: a packet holds 16 nibbles F in a row at most, so
   that of an ASYNC which cuts it at least five follow. */
/* size: hot loop */
TW_INLINE void run(struct tw_stm_decoder *d, struct tw_output *out, struct tw_input *in,
                   struct tw_position *position, size_t limit, const bool is_marked)
{
    struct tw_batch *batch = out->batch;
    struct tw_element *const first = batch->elements + batch->count, *to = first;
    struct tw_element *const end = batch->elements + batch->room;
    struct tw_marks *marks = &out->marks;
    struct tw_stm_reader *reader = &d->reader;
    const uint8_t *const data = in->data;
    struct tw_stretch stretch = { 0, 0, 0 };
    const bool is_binary = reader->version == 3;
    size_t at = 8 * in->used + (reader->is_high ? 4 : 0); /* in bits, like all places here */
    const size_t last = 8 * (limit - TW_STM_AHEAD);
    uint64_t window = tw_stm_window(data, at);
    const struct tw_stm_quick *quick = &reader->quick[window & 0xff];
    uint64_t time = reader->timestamp;
    uint32_t ids = ids_of(reader);
    uint32_t id_label = id_label_of(reader);

    while (at <= last && to < end && !(is_marked && marks->count == marks->room)) {
        const struct tw_stm_quick *next_quick;
        const uint64_t old_time = time;
        uint32_t label;
        const uint64_t turned = tw_stm_turn(window);
        unsigned time_bits;
        uint64_t value = turned >> quick->shift & quick->mask, stamp = 0;
        size_t after = at + quick->bits;

        if (TW_UNLIKELY(at >= stretch.stop)) {
            if (at - stretch.stop < 8 * 15 && at < stretch.end) {
                stretch.delta++;
                stretch.stop =
                    stretch.end - stretch.stop < 8 * 15 ? stretch.end : stretch.stop + 8 * 15;
            } else {
                stretch = stretch_at(position, in, at);
            }
        }
        if (TW_LIKELY(quick->kind == TW_STM_PLAIN)) {
            ; /* all is there */
        } else if (quick->kind == TW_STM_STAMPED &&
                   tw_stm_time_bits(quick, window, is_binary) < quick->time_end) {
            time_bits = tw_stm_time_bits(quick, window, is_binary);
            stamp = time =
                tw_stm_binary(time, turned >> (quick->time_shift - time_bits), time_bits);
            after += time_bits;
        } else if (quick->kind == TW_STM_LONG && is_binary &&
                   (tw_stm_window(data, after - 4) & 0x0f) <= 12) {
            const uint64_t field = tw_stm_window(data, after - 4);

            time_bits = (unsigned)field << 2 & 0x3c;
            value = tw_stm_nibbles_16(data, after / 4 - 17);
            stamp = time =
                tw_stm_binary(time, tw_stm_turn(field) >> (60 - time_bits), time_bits);
            after += time_bits;
        } else if (quick->kind == TW_STM_WIDE) {
            value = tw_stm_nibbles_16(data, after / 4 - 16);
        } else if (quick->kind == TW_STM_SELECT) {
            window = tw_stm_window(data, after);
            next_quick = &reader->quick[window & 0xff];
            if (TW_UNLIKELY(next_quick->kind == TW_STM_SLOW))
                break;
            tw_stm_select(reader, quick->label[0], value);
            ids = ids_of(reader);
            id_label = id_label_of(reader);
            quick = next_quick;
            at = after;
            continue;
        } else {
            struct tw_stm_parsed parsed;
            uint64_t long_time = time; /* `time` itself stays in a register */

            if (quick->kind == TW_STM_SLOW ||
                !tw_stm_parse_long(reader, &parsed, &long_time, data, at / 4))
                break;
            value = parsed.value;
            stamp = time = long_time;
            after = at + 4 * parsed.nibbles;
        }
        window = tw_stm_window(data, after);
        next_quick = &reader->quick[window & 0xff];
        if (TW_UNLIKELY(next_quick->kind == TW_STM_SLOW)) {
            time = old_time;
            break;
        }
        to->index = stretch.delta + at / 8;
        to->payload = value;
        to->sw_time = stamp;
        to->source = ids;
        memcpy(&label, quick->label, sizeof label);
        label |= id_label;
        memcpy((char *)to + offsetof(struct tw_element, type), &label, sizeof label);
        quick = next_quick;
        at = after;
        if (is_marked)
            marks->marks[marks->count++] =
                (struct tw_mark){ .released =
                                      tw_position_at(position, in->offset + (at - 1) / 8) + 1,
                                  .first = (size_t)(to - batch->elements) };
        to++;
    }
    batch->count = (size_t)(to - batch->elements);
    in->used = at / 8;
    reader->is_high = at & 4;
    reader->timestamp = time;
    if (to > first)
        d->last_index = to[-1].index;
}

/* Up to `limit`, where there may be a gap: then a packet that it cuts is dropped.  TW_MORE: as far
   as the bytes go; TW_OK: the batch is full. */
static enum tw_status decode_stretch(struct tw_stm_decoder *d, struct tw_output *out,
                                     struct tw_input *in, struct tw_position *position,
                                     size_t limit, bool has_gap)
{
    const bool is_end = in->is_last || has_gap;
    struct tw_stm_packet packet;

    for (;;) {
        if (d->reader.is_synced)
            tw_damage_settle(&d->damage, &d->held);
        if (!flush(d, out))
            return TW_OK;
        if (d->reader.is_synced && limit - in->used > TW_STM_AHEAD) {
            if (out->marks.marks)
                run(d, out, in, position, limit, true);
            else
                run(d, out, in, position, limit, false);
            if (is_full(out))
                return TW_OK;
        }
        if (tw_stm_read_any(&d->reader, &packet, in->data + in->used, limit - in->used,
                            is_end) != TW_OK)
            return TW_MORE;
        packet.base.index = tw_position_at(position, in->offset + in->used);
        d->released =
            tw_position_at(position, in->offset + in->used + packet.base.size - 1) + 1;
        in->used += packet.base.size - (packet.base.spare_bits != 0);
        if (!(has_gap && packet.base.type == TW_STM_INCOMPLETE))
            take(d, out, &packet);
    }
}

/* Bytes are missing here: what they said is not known any more. */
static void lose(struct tw_stm_decoder *d, uint64_t index)
{
    const bool was_synced = d->reader.is_synced;

    tw_stm_reader_lost(&d->reader);
    if (!d->has_begun || !was_synced)
        return;
    d->damage = (struct tw_damage){ .code = TW_ERROR_DISCONTINUITY,
                                    .reason = TW_REASON_RESET,
                                    .index = index };
}

enum tw_status tw_stm_decode(void *decoder, struct tw_follow *follow, struct tw_output *out,
                             struct tw_input *in)
{
    struct tw_stm_decoder *d = decoder;
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

enum tw_status tw_stm_end(void *decoder, struct tw_follow *follow, struct tw_output *out)
{
    struct tw_stm_decoder *d = decoder;

    (void)follow;
    if (!d->has_ended) {
        d->has_ended = true;
        tw_damage_settle(&d->damage, &d->held);
        tw_held_add(&d->held, TW_ELEMENT_EO_TRACE, d->last_index)->reason = TW_REASON_END;
    }
    (void)flush(d, out);
    return d->held.count ? TW_OK : TW_END;
}
