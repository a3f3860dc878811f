/* SPDX-License-Identifier: BSD-2-Clause */
/* A large capture from afar: its pyramid, read from beside it or made behind the first picture. */
#ifndef SERVE_TILES_H
#define SERVE_TILES_H

#include <stdatomic.h>

#include <pthread.h>

#include <trackway/pyramid.h>

#include "base/text.h"
#include "shared/session.h"

struct serve_views;

struct serve_tiles;

enum { TILES_WORKERS = 16 }; /* threads that make them, at most */

struct tiles_worker {
    struct serve_tiles *tiles;
    struct session own;
    struct session *session; /* its own, or the one of the views, under their lock */
    bool has_session;
    struct tw_pyramid *pyramid; /* of the stretch at work */
    pthread_t thread;
};

struct serve_tiles {
    struct serve_views *views;
    size_t capture;
    pthread_mutex_t lock;       /* of the pyramid, done and is_changed */
    struct tw_pyramid *pyramid; /* NULL: there is none */
    struct tiles_worker workers[TILES_WORKERS];
    size_t worker_count;
    _Atomic uint64_t next;    /* stretch */
    _Atomic unsigned at_work; /* workers */
    bool is_whole;            /* it was read: nothing is left to be made */
    uint64_t done;            /* bytes that it knows of */
    bool is_changed;          /* levels are to be made again */
};

/* Reads CAPTURE.twp, or starts to make it: stretches from all over the capture come first.  is_kept: it is
   written beside the capture when it is whole. */
void serve_tiles_start(struct serve_tiles *tiles, struct serve_views *views, size_t capture);
void serve_tiles_stop(struct serve_tiles *tiles);
/* Tiles of the level that has no more than about a thousand between two offsets, as JSON. */
bool serve_tiles_text(struct serve_tiles *tiles, struct tw_text *out, uint64_t from,
                      uint64_t to);

#endif
