/* SPDX-License-Identifier: BSD-2-Clause */
/* What software wrote to its trace ports (ITM, STM), and what the hardware watched (DWT): joined to
   events and lines of text, each with its time.  Experimental. */
#ifndef TRACKWAY_CHANNELS_H
#define TRACKWAY_CHANNELS_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* When something was, in cycles or timestamps of its trace: known once the timestamp that follows it
   has come. */
struct tw_channel_time {
    bool is_known;
    uint64_t time;
    uint64_t not_before; /* the same as `time`, or less where the timestamp was sent late */
    bool is_global;      /* it is a timestamp, not a sum of local cycles ... */
    bool has_global;     /* ... and else: ... */
    uint64_t global;     /* ... the last global timestamp before it */
};

/* Something that happened; valid during the call. */
struct tw_channel_event {
    size_t size;    /* sizeof(struct tw_channel_event) of the library */
    uint64_t index; /* offset in the capture */
    struct tw_channel_time when;
    uint8_t id; /* trace ID */
    /* "itm", "stm": software wrote (see with_values); "dwt": a data access; "pc": a sample; "exception",
       "counter", "pmu", "overflow", "frequency", "trigger", "error", "reserved". */
    const char *type;
    int64_t source; /* port, channel, comparator or exception; -1: none */
    bool has_value, has_pc, has_address;
    uint32_t value, pc, address;
    uint8_t value_size, address_size; /* in bytes */
    const char *note;                 /* for people; NULL: none */
    uint8_t action;                   /* "exception": enum tw_dwt_action */
};

/* A line of text that software wrote to one port, or to one channel of one master. */
struct tw_channel_line {
    size_t size; /* sizeof(struct tw_channel_line) of the library */
    uint64_t index;
    struct tw_channel_time when;
    uint8_t id;
    bool is_stm;
    uint16_t master, number; /* ITM: number is the port */
    const char *text;        /* without its end; any bytes, no zero behind them */
    size_t text_size;
};

struct tw_channels_config {
    size_t size; /* sizeof(struct tw_channels_config) */
    bool has_port;
    uint64_t port;    /* only this port or channel */
    bool with_values; /* each write is an event too */
    /* Each may be NULL. */
    void (*on_event)(void *context, const struct tw_channel_event *event);
    void (*on_line)(void *context, const struct tw_channel_line *line);
    void (*on_bytes)(void *context, const char *bytes, size_t size); /* as they were written */
    void *context;
    const struct tw_allocator *allocator;
};

struct tw_channels;

TW_API TW_MUST_USE enum tw_status tw_channels_new(struct tw_channels **channels,
                                                  const struct tw_channels_config *config,
                                                  struct tw_fault *fault);
TW_API void tw_channels_free(struct tw_channels *channels);
/* Elements of one source, in order: of a run's part, or of a tree. */
TW_API TW_MUST_USE enum tw_status tw_channels_take(struct tw_channels *channels,
                                                   const struct tw_batch *batch);
/* Nothing came for a while: what no timestamp will follow goes out. */
TW_API TW_MUST_USE enum tw_status tw_channels_idle(struct tw_channels *channels);
/* The end of the trace, or of a buffer: all that waits goes out, and lines that were not ended. */
TW_API TW_MUST_USE enum tw_status tw_channels_finish(struct tw_channels *channels);

#ifdef __cplusplus
}
#endif

#endif
