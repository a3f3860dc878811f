/* SPDX-License-Identifier: BSD-2-Clause */
/* What software wrote and hardware watched: between the files of trackway channels. */
#ifndef CHANNELS_H
#define CHANNELS_H

#include <trackway/itm.h>
#include <trackway/symbols.h>
#include <trackway/types.h>

#include "shared/options.h"
#include "shared/output.h"

enum channels_format { CHANNELS_TEXT, CHANNELS_JSON, CHANNELS_CSV, CHANNELS_RAW };

/* When something was: known once the timestamp that follows it has come. */
struct moment {
    bool is_known;
    uint64_t time;
};

/* One thing that waits for its timestamp. */
struct item {
    uint64_t index;
    uint8_t kind;              /* enum tw_itm_kind: SWIT or DWT */
    uint8_t size;              /* of a SWIT's payload */
    uint16_t port;             /* ... and its port */
    uint32_t value;            /* of a SWIT, or of `dwt` */
    struct tw_dwt_meaning dwt; /* a data access: VALUE, with what is known of it */
    bool has_pc, has_address, has_value;
    uint32_t pc, address;
    uint8_t address_size;
};

/* Text of one port, or of one master and channel, up to the end of its line. */
struct channel {
    uint8_t id;
    bool is_stm;
    uint16_t master, number; /* ITM: number is the port */
    struct moment when;      /* of the line */
    uint64_t index;
    char *line;
    size_t size, room;
};

/* The time of one trace ID, and what waits for it. */
struct timeline {
    uint64_t cycles;  /* sum of all local timestamps, kept over losses */
    uint64_t decoded; /* the decoder's sum, which begins again after an overflow */
    bool has_local;   /* there are local timestamps */
    struct item *items;
    size_t count, room;
    size_t open[4]; /* by comparator: the access that a packet may add to, plus one */
};

struct histogram; /* of PC samples: channels_samples.c */

struct channels {
    const struct options *options;
    struct output out;
    enum channels_format format;
    bool is_framed; /* the stream column holds the trace ID */
    bool has_failed;
    struct timeline *timelines[128];
    struct channel *channels;
    size_t count, room;
    struct histogram *histogram;
};

/* What a row says, whatever its format; texts may be NULL. */
struct row {
    uint64_t index;
    struct moment when;
    uint8_t id;
    const char *type;
    int64_t source; /* -1: none */
    bool has_value, has_pc, has_address;
    uint32_t value, pc, address;
    uint8_t value_size, address_size;
    const char *note;
};

/* channels_lines.c: rows and text to lines. */
void channels_head(struct channels *channels);
void channels_row(struct channels *channels, const struct row *row);
/* Bytes that software wrote, in the order of memory. */
void channels_write(struct channels *channels, struct channel *channel, struct moment when,
                    uint64_t index, uint64_t value, unsigned bytes);
/* Ends the line that is open. */
void channels_end_line(struct channels *channels, struct channel *channel);
/* Makes it when it is new; NULL: not wanted, or out of memory. */
struct channel *channels_find(struct channels *channels, uint8_t id, bool is_stm,
                              uint16_t master, uint16_t number);
void channels_free_lines(struct channels *channels);

/* channels_items.c: elements to rows and text. */
void channels_take(struct channels *channels, const struct tw_element *element, uint8_t id);
/* Nothing came for a while: what no timestamp will follow goes out. */
void channels_idle(struct channels *channels);
void channels_finish(struct channels *channels);
void channels_free_items(struct channels *channels);

/* channels_samples.c: PC samples by function. */
struct histogram *histogram_new(const struct options *options); /* NULL: failed, said why */
void histogram_free(struct histogram *histogram);
bool histogram_add(struct histogram *histogram, const struct tw_dwt_meaning *sample);
void histogram_print(const struct histogram *histogram, struct output *out);

/* channels_live.c: a file that grows, or a pipe. */
int channels_follow(struct channels *channels, const char *path, bool is_growing);

#endif
