/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: nibbles to elements in one pass. */
#include <string.h>

#include "stm/packet.h"

/* All but the tables. */
static void clear(struct tw_stm_decoder *d)
{
    tw_stm_reader_lost(&d->reader);
    d->kept = (struct tw_swtrace){ .has_begun = false };
}

void tw_stm_decoder_init(void *decoder, const void *config)
{
    struct tw_stm_decoder *d = decoder;

    (void)config;
    memset(d, 0, sizeof *d);
    (void)tw_stm_index(&d->reader);
    clear(d);
}

void tw_stm_decoder_reset(void *decoder)
{
    clear(decoder);
}

static void take_data(struct tw_stage *stage, const struct tw_stm_packet *packet,
                      const struct tw_stm_rule *rule)
{
    const struct tw_stm_decoder *d = stage->decoder;

    *stage->out++ =
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
static void take_event(struct tw_stage *stage, const struct tw_stm_packet *packet)
{
    const struct tw_stm_decoder *d = stage->decoder;
    struct tw_element *to;

    if (packet->has_timestamp) {
        to = tw_stage_add(stage, TW_ELEMENT_SWTRACE, packet->base.index);
        to->sw_time = packet->timestamp;
        to->master = packet->master;
        to->channel = packet->channel;
        to->flags = d->reader.has_id | TW_SW_HAS_TIME;
    }
    to = tw_stage_add(stage, TW_ELEMENT_EVENT, packet->base.index);
    to->kind = TW_EVENT_NUMBERED;
    to->count = (uint32_t)packet->value;
}

static void take(struct tw_stage *stage, const struct tw_stm_packet *packet)
{
    struct tw_stm_decoder *d = stage->decoder;
    const struct tw_stm_rule *rule = tw_stm_rule_of(packet->base.type);

    if (packet->base.type == TW_STM_NOT_SYNC) {
        tw_stage_unsynced(stage, packet->base.size - (packet->base.spare_bits != 0));
        return;
    }
    if (packet->error || rule->use >= TW_STM_USE_DATA)
        d->kept.last_index = packet->base.index;
    if (packet->error) {
        tw_stage_damage(stage, packet->error, &packet->base, packet->value);
        if (packet->error != TW_ERROR_TRUNCATED)
            d->kept.damage.reason = TW_REASON_BAD_PACKET;
    } else if (rule->use == TW_STM_USE_DATA || rule->use == TW_STM_USE_ERROR) {
        take_data(stage, packet, rule);
    } else if (rule->use == TW_STM_USE_EVENT) {
        take_event(stage, packet);
    }
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

/* The packets that streams are made of, straight into the batch, while no question arises.  It
   stops before what is not for it, which FF is: a packet holds 16 nibbles F in a row at most, so
   that of an ASYNC which cuts it at least five follow. */
/* size: hot loop */
TW_INLINE void run(struct tw_stage *stage, const bool is_marked)
{
    struct tw_stm_decoder *d = stage->decoder;
    struct tw_element *const first = stage->out, *to = first, *const limit = stage->limit;
    struct tw_stm_reader *reader = &d->reader;
    const uint8_t *const data = stage->base;
    struct tw_swtrace_place place = { 0, 0, 0 };
    const bool is_binary = reader->version == 3;
    /* In bits, like all places here. */
    size_t at = 8 * (size_t)(stage->at - data) + (reader->is_high ? 4 : 0);
    const size_t last = 8 * (size_t)(stage->end - data - TW_STM_AHEAD);
    uint64_t window = tw_stm_window(data, at);
    const struct tw_stm_quick *quick = &reader->quick[window & 0xff];
    uint64_t time = reader->timestamp;
    uint32_t ids = ids_of(reader);
    uint32_t id_label = id_label_of(reader);

    while (at <= last && to < limit) {
        const struct tw_stm_quick *next_quick;
        const uint64_t old_time = time;
        uint32_t label;
        const uint64_t turned = tw_stm_turn(window);
        unsigned time_bits;
        uint64_t value = turned >> quick->shift & quick->mask, stamp = 0;
        size_t after = at + quick->bits;

        if (TW_UNLIKELY(at >= place.stop))
            tw_swtrace_place_move(&place, stage, at, 8);
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
        to->index = place.delta + at / 8;
        to->payload = value;
        to->sw_time = stamp;
        to->source = ids;
        memcpy(&label, quick->label, sizeof label);
        label |= id_label;
        memcpy((char *)to + offsetof(struct tw_element, type), &label, sizeof label);
        quick = next_quick;
        at = after;
        if (is_marked)
            tw_swtrace_mark(stage, to, (at - 1) / 8);
        to++;
    }
    stage->out = stage->marked = to;
    stage->at = data + at / 8;
    reader->is_high = at & 4;
    reader->timestamp = time;
    if (to > first)
        d->kept.last_index = to[-1].index;
}

/* Reads and takes one packet.  False: it is cut. */
static bool one_packet(struct tw_stage *stage)
{
    struct tw_stm_decoder *d = stage->decoder;
    const uint8_t *const at = stage->at;
    struct tw_stm_packet packet;

    d->reader.offset = tw_stage_offset(stage, at);
    if (tw_stm_read_any(&d->reader, &packet, at, (size_t)(stage->end - at), stage->is_last) !=
        TW_OK)
        return false;
    packet.base.index = tw_stage_index(stage, at);
    stage->at = at + packet.base.size - (packet.base.spare_bits != 0);
    if (d->reader.is_synced && packet.base.type != TW_STM_NOT_SYNC) /* again, perhaps */
        tw_stage_report(stage, packet.base.offset);
    if (!(stage->has_gap && packet.base.type == TW_STM_INCOMPLETE))
        take(stage, &packet);
    if (d->reader.is_synced) /* still, or behind this run of bytes */
        tw_stage_report(stage, tw_stage_offset(stage, stage->at));
    tw_stage_mark(stage, stage->out, at + packet.base.size);
    return true;
}

/* Up to a gap or the end of the input.  False: the batch is full. */
static bool decode_stretch(struct tw_stage *stage)
{
    struct tw_stm_decoder *d = stage->decoder;

    tw_swtrace_start(stage, &d->kept);
    do {
        if (!tw_swtrace_has_room(stage))
            return false;
        if (d->reader.is_synced && stage->end - stage->at > TW_STM_AHEAD) {
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
    struct tw_stm_decoder *d = stage->decoder;
    const bool was_synced = d->reader.is_synced;

    tw_stm_reader_lost(&d->reader);
    if (d->kept.has_begun && was_synced)
        tw_swtrace_lose(stage, at);
}

enum tw_status tw_stm_decode(void *decoder, struct tw_follow *follow, struct tw_output *output,
                             struct tw_input *in)
{
    struct tw_stm_decoder *d = decoder;

    (void)follow;
    return tw_swtrace_decode(d, &d->kept, output, in, decode_stretch, take_gap);
}

enum tw_status tw_stm_end(void *decoder, struct tw_follow *follow, struct tw_output *output)
{
    struct tw_stm_decoder *d = decoder;

    (void)follow;
    return tw_swtrace_end(d, &d->kept, output, d->reader.offset, NULL);
}
