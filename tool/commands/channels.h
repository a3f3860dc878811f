/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of trackway channels. */
#ifndef CHANNELS_H
#define CHANNELS_H

#include <trackway/channels.h>
#include <trackway/pc_samples.h>

#include "shared/options.h"
#include "shared/output.h"

enum channels_format { CHANNELS_TEXT, CHANNELS_JSON, CHANNELS_CSV, CHANNELS_RAW };

struct channels {
    const struct options *options;
    struct output out;
    enum channels_format format;
    bool is_framed; /* the stream column holds the trace ID */
    struct tw_channels *analysis;
    struct tw_pc_samples *samples; /* NULL: no ELF file was given */
    struct tw_symbols *symbols;
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

/* channels_samples.c: PC samples by function.  False: failed, said why. */
bool samples_open(struct channels *channels);
void samples_print(struct channels *channels);

/* channels_live.c: a file that grows, or a pipe. */
int channels_follow(struct channels *channels, const char *path, bool is_growing);

#endif
