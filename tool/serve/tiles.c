/* SPDX-License-Identifier: BSD-2-Clause */
/* See tiles.h. */
#include "serve/tiles.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "serve/view.h"

enum {
    TILE = 64 << 10,
    STRETCH = 64,     /* one tile of so many comes first */
    PIECES = 3,       /* the others follow in so many */
    TILES_MOST = 1024 /* in an answer */
};

/* What tells this capture from another of its size: some of its bytes. */
static uint64_t identity_of(const struct serve_capture *capture)
{
    uint64_t hash = 14695981039346656037u;

    for (uint64_t i = 0; i < 64; i++) {
        const uint8_t *bytes;
        size_t size;

        if (tw_capture_read(capture->session.capture, &bytes, &size, 0,
                            capture->bytes / 64 * i) != TW_OK)
            continue;
        for (size_t k = 0; k < size && k < 4096; k++)
            hash = (hash ^ bytes[k]) * 1099511628211u;
    }
    return hash;
}

static char *path_beside(const struct serve_capture *capture)
{
    struct tw_text path = { .chars = NULL };
    const char *name = capture->options.arguments.items[0];
    size_t size = strlen(name);

    while (size > 1 && name[size - 1] == '/')
        size--;
    tw_text_add_size(&path, name, size);
    tw_text_add(&path, ".twp");
    return path.failed ? NULL : path.chars;
}

/* ---- who makes them ---- */

/* A stretch by its number: single tiles from all over the capture come first.  False: there is no such one. */
static bool stretch_of(uint64_t bytes, uint64_t number, uint64_t *from, uint64_t *to)
{
    const uint64_t step = (uint64_t)TILE * STRETCH, count = (bytes + step - 1) / step;
    const uint64_t rest = number < count ? 0 : number - count;
    const uint64_t piece = ((uint64_t)STRETCH - 1) / PIECES * TILE;

    if (number < count) {
        *from = number * step;
        *to = *from + TILE;
    } else {
        *from = rest / PIECES * step + TILE + rest % PIECES * piece;
        *to = *from + piece;
    }
    if (*to > bytes)
        *to = bytes;
    return rest / PIECES < count;
}

/* Requests of the page come before: the next stretch waits for them. */
static void wait_for_requests(const struct serve_views *views)
{
    const struct timespec moment = { .tv_nsec = 2000000 };

    while (atomic_load(&views->asking) && !atomic_load(&views->is_over))
        (void)nanosleep(&moment, NULL);
}

static bool add_stretch(struct serve_tiles *tiles, const struct tiles_worker *worker,
                        uint64_t from, uint64_t to)
{
    struct serve_views *views = tiles->views;
    bool is_good;

    if (!worker->has_session)
        (void)pthread_mutex_lock(&views->lock);
    is_good = serve_stretch(views, tiles->capture, worker->session,
                            &(struct serve_range){ from, to }, worker->pyramid);
    if (!worker->has_session)
        (void)pthread_mutex_unlock(&views->lock);
    (void)pthread_mutex_lock(&tiles->lock);
    is_good = is_good && tw_pyramid_give(tiles->pyramid, worker->pyramid) == TW_OK;
    tiles->done += is_good ? to - from : 0;
    tiles->is_changed = true;
    (void)pthread_mutex_unlock(&tiles->lock);
    return is_good;
}

static void save(struct serve_tiles *tiles)
{
    const struct serve_capture *capture = &tiles->views->captures[tiles->capture];
    struct tw_fault fault;
    char *path;

    if (!capture->options.build_index || tiles->done != capture->bytes)
        return;
    path = path_beside(capture);
    (void)pthread_mutex_lock(&tiles->lock);
    if (path && (tw_pyramid_finish(tiles->pyramid) != TW_OK ||
                 tw_pyramid_save(tiles->pyramid, path, &fault) != TW_OK))
        say("%s could not be written", path);
    (void)pthread_mutex_unlock(&tiles->lock);
    free(path);
}

static void *build(void *context)
{
    struct tiles_worker *worker = context;
    struct serve_tiles *tiles = worker->tiles;
    struct serve_views *views = tiles->views;
    const uint64_t bytes = views->captures[tiles->capture].bytes;
    uint64_t from, to;
    bool is_good = true;

    while (is_good && !atomic_load(&views->is_over) &&
           stretch_of(bytes, atomic_fetch_add(&tiles->next, 1), &from, &to)) {
        wait_for_requests(views);
        if (from < to)
            is_good = add_stretch(tiles, worker, from, to);
    }
    if (atomic_fetch_sub(&tiles->at_work, 1) == 1)
        save(tiles);
    return NULL;
}

/* A thread with a handle of the capture of its own; the first may share the one that is there, under its lock. */
static bool start_worker(struct serve_tiles *tiles, const struct tw_pyramid_config *config)
{
    struct serve_capture *capture = &tiles->views->captures[tiles->capture];
    struct tiles_worker *worker = &tiles->workers[tiles->worker_count];
    struct tw_fault fault;

    *worker = (struct tiles_worker){ .tiles = tiles, .session = &capture->session };
    if (!capture->session.spooled) {
        worker->has_session = session_open(&worker->own, &capture->options) == DONE;
        if (worker->has_session)
            worker->session = &worker->own;
        else
            session_close(&worker->own);
    }
    if ((worker->has_session || !tiles->worker_count) &&
        tw_pyramid_new(&worker->pyramid, config, &fault) == TW_OK) {
        atomic_fetch_add(&tiles->at_work, 1);
        if (pthread_create(&worker->thread, NULL, build, worker) == 0) {
            tiles->worker_count++;
            return true;
        }
        atomic_fetch_sub(&tiles->at_work, 1);
        tw_pyramid_free(worker->pyramid);
    }
    if (worker->has_session)
        session_close(&worker->own);
    return false;
}

static bool read_beside(struct serve_tiles *tiles, const struct serve_capture *capture,
                        uint64_t identity)
{
    struct tw_fault fault;
    char *path = path_beside(capture);
    bool is_good = path && tw_pyramid_load(&tiles->pyramid, path, NULL, &fault) == TW_OK;

    if (is_good && !tw_pyramid_is_of(tiles->pyramid, capture->bytes, identity)) {
        tw_pyramid_free(tiles->pyramid);
        tiles->pyramid = NULL;
        is_good = false;
    }
    free(path);
    return is_good;
}

static size_t worker_count(const struct serve_capture *capture)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = processors > 0 ? (size_t)processors : 1;

    if (capture->options.threads.is_given && capture->options.threads.value < count)
        count = (size_t)capture->options.threads.value;
    return count < TILES_WORKERS ? count : TILES_WORKERS;
}

void serve_tiles_start(struct serve_tiles *tiles, struct serve_views *views, size_t number)
{
    const struct serve_capture *capture = &views->captures[number];
    struct tw_pyramid_config config = { .size = sizeof config,
                                        .bytes = capture->bytes,
                                        .block = TILE };
    struct tw_fault fault;

    *tiles = (struct serve_tiles){ .views = views, .capture = number };
    (void)pthread_mutex_init(&tiles->lock, NULL);
    if (!serve_is_large(capture))
        return;
    config.identity = identity_of(capture);
    if (read_beside(tiles, capture, config.identity)) {
        tiles->done = capture->bytes;
        tiles->is_whole = true;
        return;
    }
    if (tw_pyramid_new(&tiles->pyramid, &config, &fault) != TW_OK) {
        tiles->pyramid = NULL;
        return;
    }
    for (size_t i = 0; i < worker_count(capture) && start_worker(tiles, &config); i++)
        continue;
}

void serve_tiles_stop(struct serve_tiles *tiles)
{
    for (size_t i = 0; i < tiles->worker_count; i++)
        (void)pthread_join(tiles->workers[i].thread, NULL);
    for (size_t i = 0; i < tiles->worker_count; i++) {
        tw_pyramid_free(tiles->workers[i].pyramid);
        if (tiles->workers[i].has_session)
            session_close(&tiles->workers[i].own);
    }
    tw_pyramid_free(tiles->pyramid);
    (void)pthread_mutex_destroy(&tiles->lock);
    *tiles = (struct serve_tiles){ .views = NULL };
}

static void put_tile(struct tw_text *out, const struct tw_pyramid *pyramid,
                     const struct tw_tile *tile)
{
    tw_text_char(out, '{');
    tw_json_u64(out, "from", tile->from);
    tw_json_u64(out, "to", tile->to);
    if (tile->is_seen) {
        tw_json_u64(out, "instructions", tile->instructions);
        tw_json_u64(out, "calls", tile->calls);
        tw_json_u64(out, "exceptions", tile->exceptions);
        tw_json_u64(out, "lost", tile->overflows + tile->discards + tile->errors + tile->gaps);
        tw_json_u64(out, "missing", tile->missing_code);
    }
    if (tile->has_time) {
        tw_json_u64(out, "first", tile->first);
        tw_json_u64(out, "last", tile->last);
    }
    if (tile->function_count) { /* that executed most in it, the first most of all */
        tw_json_text(out, "name", tw_pyramid_name(pyramid, tile->functions[0].function));
        tw_json_u64(out, "self", tile->functions[0].self);
        tw_json_key(out, "functions");
        for (size_t i = 0; i < tile->function_count; i++) {
            tw_text_add(out, i ? ",{" : "[{");
            tw_json_text(out, "name", tw_pyramid_name(pyramid, tile->functions[i].function));
            tw_json_u64(out, "self", tile->functions[i].self);
            tw_text_char(out, '}');
        }
        tw_text_char(out, ']');
    }
    tw_text_char(out, '}');
}

static void put_level(struct tw_text *out, const struct tw_pyramid *pyramid, uint64_t from,
                      uint64_t to)
{
    struct tw_tile tile = { .size = sizeof tile };
    uint64_t size = TILE;
    size_t level = 0;
    bool is_any = false;

    while ((to - from) / size > TILES_MOST && level + 1 < tw_pyramid_levels(pyramid)) {
        size *= TW_TILE_MERGES;
        level++;
    }
    tw_json_u64(out, "level", level);
    tw_json_key(out, "tiles");
    tw_text_char(out, '[');
    for (size_t i = (size_t)(from / size);
         tw_pyramid_tile(pyramid, &tile, level, i) && tile.from < to; i++) {
        if (is_any)
            tw_text_char(out, ',');
        put_tile(out, pyramid, &tile);
        is_any = true;
    }
    tw_text_char(out, ']');
}

bool serve_tiles_text(struct serve_tiles *tiles, struct tw_text *out, uint64_t from,
                      uint64_t to)
{
    const struct serve_views *views = tiles->views;
    bool is_good;

    (void)pthread_mutex_lock(&tiles->lock);
    is_good = tiles->pyramid != NULL;
    if (is_good && tiles->is_changed) {
        is_good = tw_pyramid_finish(tiles->pyramid) == TW_OK;
        tiles->is_changed = false;
    }
    if (is_good) {
        tw_text_char(out, '{');
        tw_json_u64(out, "done", tiles->done);
        tw_json_u64(out, "bytes", views->captures[tiles->capture].bytes);
        put_level(out, tiles->pyramid, from, to);
        tw_text_add(out, "}\n");
    }
    (void)pthread_mutex_unlock(&tiles->lock);
    return is_good && !out->failed;
}
