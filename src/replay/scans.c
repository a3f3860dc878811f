/* SPDX-License-Identifier: BSD-2-Clause */
/* Scans of groups of windows at the same time, each on a thread, with a handle of the capture, a run and decoders of its
   own: they share nothing but what none changes.  The caller's thread waits, and asks whether to go on. */
#define _XOPEN_SOURCE 700 /* clock_gettime, sysconf */
#include <pthread.h>
#include <time.h>

#include "base/fault.h"
#include "base/platform.h"
#include "replay/replay.h"

enum { ASK_NS = 5000000 };

struct tw_scans {
    const struct tw_replay *replay;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t one_done;
    size_t done;
    size_t nearest; /* group that is hit; those behind it are over */
    bool is_cancelled;
};

size_t tw_scans_room(struct tw_replay *replay)
{
    const struct tw_replay_config *config = &replay->config;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = replay->run_config.threads ? replay->run_config.threads
                    : cores > 0                ? (size_t)cores
                                               : 1;

    if (replay->has_handles)
        return replay->handle_count;
    replay->has_handles = true;
    if (wanted > TW_SCANS_MOST)
        wanted = TW_SCANS_MOST;
    if (!TW_GROW(replay->allocator, &replay->handles, &replay->handle_room, wanted))
        return 1;
    replay->handles[replay->handle_count++] = replay->capture;
    while (config->open_again && replay->handle_count < wanted) {
        struct tw_capture *handle = config->open_again(config->context);

        if (!handle)
            break;
        replay->handles[replay->handle_count++] = handle;
    }
    return replay->handle_count;
}

static bool is_over(void *context)
{
    struct tw_scan_group *group = context;
    struct tw_scans *scans = group->scans;
    bool is_over;

    (void)pthread_mutex_lock(&scans->lock);
    if (group->is_hit && group->number < scans->nearest)
        scans->nearest = group->number;
    is_over = scans->is_cancelled || scans->nearest < group->number;
    (void)pthread_mutex_unlock(&scans->lock);
    return is_over;
}

static void *work(void *context)
{
    struct tw_scan_group *group = context;
    struct tw_scans *scans = group->scans;

    for (uint32_t at = group->first, next; at < group->end && group->status == TW_OK;
         at = next) {
        if (group->is_hit && !group->wants_last)
            break;
        next = tw_windows_together(scans->replay, at, group->end - at);
        group->scanned = at;
        group->status = tw_windows_scan_apart(scans->replay, &group->apart, at, next);
    }
    (void)pthread_mutex_lock(&scans->lock);
    if (group->is_hit && group->number < scans->nearest)
        scans->nearest = group->number;
    scans->done++;
    (void)pthread_cond_signal(&scans->one_done);
    (void)pthread_mutex_unlock(&scans->lock);
    return NULL;
}

/* Until all are done; now and then the caller is asked. */
static void wait_for(struct tw_replay *replay, struct tw_scans *scans, size_t count)
{
    (void)pthread_mutex_lock(&scans->lock);
    while (scans->done < count) {
        struct timespec until;

        scans->is_cancelled |= tw_replay_is_cancelled(replay);
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += ASK_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        (void)pthread_cond_timedwait(&scans->one_done, &scans->lock, &until);
    }
    (void)pthread_mutex_unlock(&scans->lock);
}

static void run_all(struct tw_replay *replay, struct tw_scans *scans,
                    struct tw_scan_group *groups, size_t count)
{
    pthread_t threads[TW_SCANS_MOST];
    bool is_started[TW_SCANS_MOST];

    /* At least once, however soon they are done. */
    scans->is_cancelled = tw_replay_is_cancelled(replay);
    for (size_t i = 0; i < count; i++)
        is_started[i] = pthread_create(&threads[i], NULL, work, &groups[i]) == 0;
    for (size_t i = 0; i < count; i++)
        if (!is_started[i])
            (void)work(&groups[i]);
    wait_for(replay, scans, count);
    for (size_t i = 0; i < count; i++)
        if (is_started[i])
            (void)pthread_join(threads[i], NULL);
}

/* What came of it, up to the first group that is hit. */
static enum tw_status settle(struct tw_replay *replay, const struct tw_scans *scans,
                             struct tw_scan_group *groups, size_t count)
{
    if (scans->is_cancelled)
        return tw_fail(&replay->fault, TW_E_CANCELLED, "interrupted");
    for (size_t i = 0; i < count; i++) {
        if (groups[i].status != TW_OK)
            return tw_fail(&replay->fault, groups[i].status, "%s", groups[i].apart.fault.text);
        if (groups[i].is_hit)
            break;
    }
    return TW_OK;
}

enum tw_status tw_scans_run(struct tw_replay *replay, struct tw_scan_group *groups,
                            size_t count, tw_scan_fn *take)
{
    struct tw_scans scans = { .replay = replay, .nearest = SIZE_MAX };
    enum tw_status status;

    if (pthread_mutex_init(&scans.lock, NULL) != 0)
        return tw_fail(&replay->fault, TW_E_MEMORY, "out of memory");
    if (pthread_cond_init(&scans.one_done, NULL) != 0) {
        (void)pthread_mutex_destroy(&scans.lock);
        return tw_fail(&replay->fault, TW_E_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        groups[i].scans = &scans;
        groups[i].number = i;
        groups[i].apart =
            (struct tw_scan_apart){ .capture = i ? replay->handles[i] : replay->capture,
                                    .take = take,
                                    .context = &groups[i],
                                    .is_over = is_over };
    }
    run_all(replay, &scans, groups, count);
    status = settle(replay, &scans, groups, count);
    (void)pthread_cond_destroy(&scans.one_done);
    (void)pthread_mutex_destroy(&scans.lock);
    return status;
}
