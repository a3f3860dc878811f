/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: nibbles to elements in one pass. */
#include "base/position.h"
#include "stm/packet.h"

void tw_stm_decoder_init(void *decoder, const void *config)
{
    struct tw_stm_decoder *d = decoder;

    *d = (struct tw_stm_decoder){ .gap = UINT64_MAX };
    tw_stm_reader_init(&d->reader, config);
}

void tw_stm_decoder_reset(void *decoder)
{
    tw_stm_decoder_init(decoder, NULL);
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

TW_INLINE void fill(struct tw_element *to, const struct tw_stm_rule *rule, uint64_t index,
                    uint64_t value, uint64_t time)
{
    to->index = index;
    to->payload = value;
    to->sw_time = time;
    to->type = TW_ELEMENT_SWTRACE;
    to->width = rule->width;
    to->packets = rule->width != 0;
}

static void take_data(struct tw_stm_decoder *d, struct tw_output *out,
                      const struct tw_stm_packet *packet, const struct tw_stm_rule *rule)
{
    struct tw_element *to = next(out, d->released);

    fill(to, rule, packet->head.index, packet->value, packet->timestamp);
    to->master = packet->master;
    to->channel = packet->channel;
    to->flags = (uint8_t)(rule->flags | d->reader.has_id |
                          (packet->has_timestamp ? TW_SW_HAS_TIME : 0));
}

/* A cross-synchronization event, after its time where it has one. */
static void take_event(struct tw_stm_decoder *d, const struct tw_stm_packet *packet)
{
    struct tw_element *to;

    if (packet->has_timestamp) {
        to = tw_held_add(&d->held, TW_ELEMENT_SWTRACE, packet->head.index);
        to->sw_time = packet->timestamp;
        to->master = packet->master;
        to->channel = packet->channel;
        to->flags = d->reader.has_id | TW_SW_HAS_TIME;
    }
    to = tw_held_add(&d->held, TW_ELEMENT_EVENT, packet->head.index);
    to->kind = TW_EVENT_NUMBERED;
    to->count = (uint32_t)packet->value;
}

/* One packet; there is room for an element. */
static void take(struct tw_stm_decoder *d, struct tw_output *out,
                 const struct tw_stm_packet *packet)
{
    const struct tw_stm_rule *rule = tw_stm_rule_of(packet->head.type);

    if (packet->head.type == TW_STM_NOT_SYNC) {
        d->damage.skipped += packet->head.size - (packet->head.spare_bits != 0);
        return;
    }
    if (packet->error || rule->use >= TW_STM_USE_DATA)
        d->last_index = packet->head.index;
    if (packet->error)
        d->damage =
            (struct tw_damage){ .code = packet->error,
                                .reason = packet->error == TW_ERROR_TRUNCATED
                                              ? TW_REASON_UNDEFINED
                                              : TW_REASON_BAD_PACKET,
                                .index = packet->head.index,
                                .skipped = packet->head.size - (packet->head.spare_bits != 0),
                                .detail = packet->value };
    else if (rule->use == TW_STM_USE_DATA || rule->use == TW_STM_USE_ERROR)
        take_data(d, out, packet, rule);
    else if (rule->use == TW_STM_USE_EVENT)
        take_event(d, packet);
}

/* True when the packet ends in F and F follows: it may have been cut by an ASYNC. */
TW_INLINE bool ends_in_f(const uint8_t *data, size_t end)
{
    return ((unsigned)tw_load_le16(data + (end - 1) / 2) >> (4 * ((end - 1) & 1)) & 0xff) ==
           0xff;
}

/* The packets that streams are made of, straight into the batch, while no question arises. */
/* size: hot loop */
TW_INLINE void run(struct tw_stm_decoder *d, struct tw_output *out, struct tw_input *in,
                   struct tw_position *position, size_t limit, const bool is_marked)
{
    struct tw_batch *batch = out->batch;
    struct tw_element *to = batch->elements + batch->count;
    struct tw_element *const end = batch->elements + batch->room;
    struct tw_marks *marks = &out->marks;
    const uint8_t *const data = in->data;
    size_t at = 2 * in->used + d->reader.is_high;
    const size_t last = 2 * (limit - TW_STM_AHEAD);
    struct tw_stm_reader *reader = &d->reader;
    uint64_t index = d->last_index, time = reader->timestamp;
    uint16_t master = reader->master, channel = reader->channel;
    uint8_t has_id = reader->has_id;

    while (at <= last && to < end && !(is_marked && marks->count == marks->room)) {
        struct tw_stm_parsed parsed;
        const struct tw_stm_rule *rule;
        uint8_t flags;

        tw_stm_parse(reader, &parsed, data, at);
        rule = parsed.rule;
        if (TW_UNLIKELY(ends_in_f(data, at + parsed.nibbles)))
            break;
        if (TW_UNLIKELY(rule->use != TW_STM_USE_DATA)) {
            if (rule->use == TW_STM_USE_MASTER) {
                master = (uint16_t)parsed.value;
                channel = 0;
                has_id = TW_SW_HAS_ID;
            } else if (rule->use == TW_STM_USE_CHANNEL) {
                channel = (uint16_t)parsed.value;
            } else if (rule->use == TW_STM_USE_CHANNEL_LOW) {
                channel = (uint16_t)((channel & 0xff00) | parsed.value);
            } else if (rule->use != TW_STM_USE_IDLE) {
                break;
            }
            at += parsed.nibbles;
            continue;
        }
        index = tw_position_at(position, in->offset + at / 2);
        flags = rule->flags | has_id;
        if (rule->has_timestamp) {
            if (TW_UNLIKELY(parsed.time_nibbles == TW_STM_BAD_LENGTH || reader->version == 0))
                break;
            time = tw_stm_time(time, reader->version, parsed.time, parsed.time_nibbles);
            flags |= TW_SW_HAS_TIME;
        }
        fill(to, rule, index, parsed.value, flags & TW_SW_HAS_TIME ? time : 0);
        to->master = master;
        to->channel = channel;
        to->flags = flags;
        at += parsed.nibbles;
        if (is_marked)
            marks->marks[marks->count++] =
                (struct tw_mark){ .released =
                                      tw_position_at(position, in->offset + (at - 1) / 2) + 1,
                                  .first = (size_t)(to - batch->elements) };
        to++;
    }
    batch->count = (size_t)(to - batch->elements);
    in->used = at / 2;
    reader->is_high = at & 1;
    reader->timestamp = time;
    reader->master = master;
    reader->channel = channel;
    reader->has_id = has_id;
    d->last_index = index;
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
        if (tw_stm_read(&d->reader, &packet, in->data + in->used, limit - in->used, is_end) !=
            TW_OK)
            return TW_MORE;
        packet.head.index = tw_position_at(position, in->offset + in->used);
        d->released =
            tw_position_at(position, in->offset + in->used + packet.head.size - 1) + 1;
        in->used += packet.head.size - (packet.head.spare_bits != 0);
        if (!(has_gap && packet.head.type == TW_STM_INCOMPLETE))
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
        const uint64_t gap =
            tw_position_discontinuity(in->places, in->place_count,
                                      d->gap == from ? from + 1 : from, in->offset + in->size);
        const bool has_gap = gap != UINT64_MAX;
        const size_t limit = has_gap ? (size_t)(gap - in->offset) : in->size;

        if (!d->has_begun && limit > in->used) {
            d->has_begun = true;
            tw_held_add(&d->held, TW_ELEMENT_NO_SYNC, tw_position_at(&position, from))->reason =
                TW_REASON_INIT;
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
