/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of trackway channels. */
#ifndef CHANNELS_H
#define CHANNELS_H

#include <trackway/channels.h>
#include <trackway/pc_samples.h>

#include "shared/options.h"
#include "shared/output.h"

enum channels_format { CHANNELS_TEXT, CHANNELS_JSON, CHANNELS_CSV, CHANNELS_RAW };

/* How values of a port are printed. */
struct port_format {
    uint64_t port;
    char text[64];
    char letter; /* its conversion; 0: it has none */
};

struct channels {
    const struct options *options;
    struct output out;
    enum channels_format format;
    bool is_framed; /* the stream column holds the trace ID */
    struct tw_channels *analysis;
    struct tw_pc_samples *samples; /* NULL: no ELF file was given */
    struct tw_symbols *symbols;
    struct port_format *formats; /* --port-format */
    size_t format_count;
    uint64_t taken; /* elements of software trace */
    uint64_t shown; /* samples in the histogram that was last shown ... */
    size_t lines;   /* ... and its lines */
};

/* Gives elements of one source to both analyses; false: out of memory, said so. */
bool channels_take(struct channels *channels, const struct tw_batch *batch);
/* The same of tw_channels_idle and tw_channels_finish. */
bool channels_idle(struct channels *channels);
bool channels_finish(struct channels *channels);

/* channels_lines.c: events and text to lines. */
void channels_head(struct channels *channels);
void channels_event(void *context, const struct tw_channel_event *event);
void channels_line(void *context, const struct tw_channel_line *line);
void channels_bytes(void *context, const char *bytes, size_t size);

/* channels_ports.c: --port-format.  False: said why. */
bool ports_open(struct channels *channels);
/* NULL: the port has none. */
const struct port_format *ports_find(const struct channels *channels, uint64_t port);
void ports_print(struct output *out, const struct port_format *port,
                 const struct tw_channel_event *event);

/* channels_samples.c: PC samples by function.  False: failed, said why. */
bool samples_open(struct channels *channels);
void samples_print(struct channels *channels);
/* --histogram: the same, in place of what it showed last, if there are more samples now. */
void samples_show(struct channels *channels);

/* channels_live.c: a file that grows, a pipe, a server, a serial port. */
int channels_follow(struct channels *channels, const char *name);

#endif
