/* SPDX-License-Identifier: BSD-2-Clause */
/* What channels are made of: lines that are being written, and what waits for its time. */
#ifndef ANALYSIS_CHANNELS_H
#define ANALYSIS_CHANNELS_H

#include <trackway/channels.h>

#include "analysis/streams.h"
#include "base/map.h"

/* Text of one port, or of one master and channel, up to the end of its line. */
struct tw_channel {
    uint8_t id;
    bool is_stm;
    uint16_t master, number;     /* ITM: number is the port */
    struct tw_channel_time when; /* of the line */
    uint64_t index;
    char *line;
    size_t size, room;
};

struct tw_channels {
    struct tw_channels_config config;
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
    bool is_out;                 /* of memory */
    struct tw_streams timelines; /* by trace ID */
    struct tw_channel *channels;
    size_t count, room;
    struct tw_map by_name; /* trace ID, master, number: channel + 1 */
};

/* channel_lines.c.  Makes a channel when it is new; NULL: not wanted, or out of memory. */
struct tw_channel *tw_channels_find(struct tw_channels *channels, uint8_t id, bool is_stm,
                                    uint16_t master, uint16_t number);
/* Bytes that software wrote, in the order of memory. */
void tw_channels_write(struct tw_channels *channels, struct tw_channel *channel,
                       struct tw_channel_time when, uint64_t index, uint64_t value,
                       unsigned bytes);
/* Ends the line that is open. */
void tw_channels_end_line(struct tw_channels *channels, struct tw_channel *channel);

#endif
