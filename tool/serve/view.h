/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures that are looked at: the data of each as a whole, and of windows that are decoded when they are
   asked for. */
#ifndef SERVE_VIEW_H
#define SERVE_VIEW_H

#include <stdatomic.h>

#include <pthread.h>

#include "base/text.h"
#include "report/make.h"
#include "serve/tiles.h"
#include "shared/session.h"

enum {
    SERVE_VIEWS = 64,            /* that are told apart */
    SERVE_WINDOW_MOST = 8 << 20, /* bytes of trace in a window */
    SERVE_WHOLE_MOST = 64 << 20, /* captures up to here are decoded as a whole */
    SERVE_SAMPLES = 64,          /* of larger ones: so many stretches ... */
    SERVE_SAMPLE = 64 << 10,     /* ... of so many bytes ... */
    SERVE_SAMPLES_LESS = 24,     /* ... or these, where the map of all of it is there at once */
    SERVE_SAMPLE_LESS = 4 << 10
};

struct serve_capture {
    struct options options; /* this capture's alone */
    struct session session;
    struct session other; /* a second handle, if has_other: of windows that are decoded ahead */
    bool has_other, is_alone; /* is_alone: there can be no second one */
    /* Runs of each that are asked about code and never decode: symbols are read once.  NULL: not needed yet. */
    struct tw_run *names, *other_names;
    struct tw_text words;
    struct tw_text data;      /* of the whole, once it was asked for */
    struct serve_tiles tiles; /* of a large one */
    uint64_t bytes;
};

struct serve_views {
    const struct options *options;
    struct serve_capture *captures;
    size_t count;
    pthread_mutex_t lock; /* one decodes at a time */
    _Atomic uint64_t newest[SERVE_VIEWS];
    _Atomic unsigned asking; /* requests that decode, or wait for it */
    atomic_bool is_over;
};

/* DONE, or the exit status (said why). */
int serve_views_open(struct serve_views *views, const struct options *options);
void serve_views_close(struct serve_views *views);

/* So large that the first picture is not of all of it. */
bool serve_is_large(const struct serve_capture *capture);
/* Stretches of its first picture, and bytes of one. */
size_t serve_samples(const struct serve_capture *capture);
uint64_t serve_sample(const struct serve_capture *capture);

/* Takes elements; false: no more are wanted. */
typedef bool serve_fn(void *context, struct tw_run *run, const struct tw_part *part);
struct serve_range {
    uint64_t from, to;
};

/* A stretch of whole tiles of a capture, read by a handle that nobody else uses now; false: it could not be, or all is over. */
bool serve_stretch(struct serve_views *views, size_t capture, struct session *session,
                   const struct serve_range *range, struct tw_pyramid *pyramid);

/* Tables of a capture; a pointer into memory that stays, or NULL. */
const struct tw_text *serve_data(struct serve_views *views, size_t capture);

struct serve_window {
    size_t capture;
    uint64_t from, to;
    uint64_t view;
    bool is_time; /* from and to are: all sources, in one clock; else offsets in the capture */
    bool is_perfetto;
};

/* Milliseconds of processor time: of the thread that answers, and of the one that decodes ahead (0: none does). */
struct serve_spent {
    double answering, decoding;
};

enum serve_done { SERVE_OK, SERVE_TOO_LARGE, SERVE_CANCELLED, SERVE_FAILED };

/* Tables, or a trace for Perfetto, of part of a capture. */
enum serve_done serve_window(struct serve_views *views, const struct serve_window *window,
                             struct tw_text *out, struct serve_spent *spent);

#endif
