/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes that software wrote to a port, joined to lines. */
#include "analysis/channels.h"

enum { LINE_MOST = 4096 }; /* a longer line is cut */

struct tw_channel *tw_channels_find(struct tw_channels *channels, uint8_t id, bool is_stm,
                                    uint16_t master, uint16_t number)
{
    const struct tw_channels_config *config = &channels->config;
    struct tw_channel *channel;
    uint64_t *place;

    if (config->has_port && config->port != number)
        return NULL;
    place =
        tw_map_put(&channels->by_name, (uint64_t)id << 32 | (uint32_t)master << 16 | number);
    if (place && *place)
        return &channels->channels[*place - 1];
    if (!place || !TW_GROW(channels->allocator, &channels->channels, &channels->room,
                           channels->count + 1)) {
        channels->is_out = true;
        return NULL;
    }
    channel = &channels->channels[channels->count++];
    *channel =
        (struct tw_channel){ .id = id, .is_stm = is_stm, .master = master, .number = number };
    *place = channels->count;
    return channel;
}

void tw_channels_end_line(struct tw_channels *channels, struct tw_channel *channel)
{
    const struct tw_channels_config *config = &channels->config;
    struct tw_channel_line line = { .size = sizeof line,
                                    .index = channel->index,
                                    .when = channel->when,
                                    .id = channel->id,
                                    .is_stm = channel->is_stm,
                                    .master = channel->master,
                                    .number = channel->number,
                                    .text = channel->line ? channel->line : "",
                                    .text_size = channel->size };

    if (line.text_size && line.text[line.text_size - 1] == '\r')
        line.text_size--;
    if (config->on_line)
        config->on_line(config->context, &line);
    channel->size = 0;
    channel->when = (struct tw_channel_time){ .is_known = false };
}

static void put_byte(struct tw_channels *channels, struct tw_channel *channel, char byte)
{
    if (byte == '\n' || channel->size == LINE_MOST)
        tw_channels_end_line(channels, channel);
    if (byte == '\n')
        return;
    if (!TW_GROW(channels->allocator, &channel->line, &channel->room, channel->size + 1)) {
        channels->is_out = true;
        return;
    }
    channel->line[channel->size++] = byte;
}

void tw_channels_write(struct tw_channels *channels, struct tw_channel *channel,
                       struct tw_channel_time when, uint64_t index, uint64_t value,
                       unsigned bytes)
{
    const struct tw_channels_config *config = &channels->config;

    for (unsigned i = 0; i < bytes; i++) {
        const char byte = (char)(value >> (8 * i) & 0xff);

        if (config->on_bytes)
            config->on_bytes(config->context, &byte, 1);
        if (!config->on_line)
            continue;
        if (channel->size == 0) {
            channel->when = when;
            channel->index = index;
        } else if (!channel->when.is_known) {
            channel->when = when;
        }
        put_byte(channels, channel, byte);
    }
}
