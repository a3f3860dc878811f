/* SPDX-License-Identifier: BSD-2-Clause */
/* Where packets go: their bytes, a buffer that the sink empties at its own pace, blocks of memory. */
#include "etrace/unit.h"

static bool is_data_packet(unsigned type)
{
    return type >= TW_ETRACE_LOAD && type <= TW_ETRACE_CSR;
}

bool tw_etrace_has_room(struct tw_etrace_unit *unit)
{
    return tw_fifo_is_empty(&unit->fifo, unit->cycle);
}

void tw_etrace_sink_give(struct tw_etrace_unit *unit, unsigned stream)
{
    if (unit->used[stream] && unit->user.write)
        unit->user.write(unit->user.write_context, stream, unit->bytes[stream],
                         unit->used[stream]);
    unit->written[stream] += unit->used[stream];
    unit->used[stream] = 0;
}

/* No packet crosses the end of a block of memory. */
static void pad(struct tw_etrace_unit *unit, unsigned stream, size_t size)
{
    const size_t block = unit->config.block_size;
    size_t left;

    if (block == 0)
        return;
    left = block - (size_t)((unit->written[stream] + unit->used[stream]) % block);
    if (left == block || size <= left)
        return;
    if (unit->used[stream] + left > TW_ETRACE_SINK)
        tw_etrace_sink_give(unit, stream);
    memset(unit->bytes[stream] + unit->used[stream], 0, left);
    unit->used[stream] += left;
}

/* A packet that stands behind what is used. */
static void put(struct tw_etrace_unit *unit, unsigned stream, size_t size)
{
    uint8_t packet[TW_ETRACE_PACKET_ROOM];

    if (unit->config.block_size) {
        memcpy(packet, unit->bytes[stream] + unit->used[stream], size);
        pad(unit, stream, size);
        if (unit->used[stream] + size > TW_ETRACE_SINK)
            tw_etrace_sink_give(unit, stream);
        memcpy(unit->bytes[stream] + unit->used[stream], packet, size);
    }
    unit->used[stream] += size;
}

bool tw_etrace_send(struct tw_etrace_unit *unit, struct tw_etrace_packet *packet)
{
    const bool is_data = is_data_packet(packet->base.type);
    const unsigned stream = is_data && !unit->one_stream;
    const struct tw_etrace_frame frame = {
        .kind = is_data ? TW_ETRACE_FRAME_DATA : TW_ETRACE_FRAME_INST,
        .source = unit->config.encapsulation == TW_ETRACE_ENCAP_ESP32
                      ? (uint16_t)unit->esp32_number
                      : unit->config.srcid,
    };
    struct tw_payload payload;
    size_t size = TW_ETRACE_PACKET_ROOM;
    uint8_t *bytes;

    if (is_data ? unit->data_is_lost : unit->is_lost) {
        unit->counts.lost++;
        return false;
    }
    if (!(is_data ? tw_etraced_build(&unit->data_shape, unit->options, &payload, packet)
                  : tw_etrace_build(&unit->shape, unit->options, &payload, packet)))
        return false;
    packet->payload_size = (uint8_t)tw_payload_finish(&payload);
    tw_etrace_sink_reserve(unit, stream);
    bytes = unit->bytes[stream] + unit->used[stream];
    if (tw_etrace_frame_write(&unit->transport, bytes, &size, &frame, &payload) != TW_OK) {
        unit->is_too_long = true;
        return false;
    }
    if (!tw_fifo_put(&unit->fifo, &unit->cycle, size, unit->stall_enabled)) {
        if (is_data)
            unit->data_is_lost = true;
        else
            unit->is_lost = true;
        unit->counts.lost++;
        return false;
    }
    put(unit, stream, size);
    if (!unit->has_begun)
        unit->first_options = unit->options;
    unit->has_begun = true;
    unit->esp32_number++;
    packet->base.offset = unit->written[stream] + unit->used[stream] - size;
    packet->base.size = (uint32_t)size;
    packet->header_size = (uint8_t)(size - packet->payload_size);
    *(is_data ? &unit->counts.data_packets : &unit->counts.packets) += 1;
    *(is_data ? &unit->counts.data_bytes : &unit->counts.bytes) += packet->payload_size;
    if (unit->user.on_packet)
        unit->user.on_packet(unit->user.packet_context, packet);
    return true;
}

void tw_etrace_sink_flush(struct tw_etrace_unit *unit)
{
    for (unsigned i = 0; i < 2; i++) {
        if (unit->config.block_size)
            pad(unit, i, unit->config.block_size);
        tw_etrace_sink_give(unit, i);
    }
}
