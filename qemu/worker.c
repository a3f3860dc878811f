/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread of our own beside the program's. */
#include "qemu/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    struct work *first, *running;
    void (*run)(struct work *work);
    bool is_begun, is_there;
} worker = { .lock = PTHREAD_MUTEX_INITIALIZER,
             .wake = PTHREAD_COND_INITIALIZER,
             .idle = PTHREAD_COND_INITIALIZER };

static void *work(void *context)
{
    (void)context;
    (void)pthread_mutex_lock(&worker.lock);
    for (;;) {
        struct work *next = worker.first;

        if (!next) {
            (void)pthread_cond_wait(&worker.wake, &worker.lock);
            continue;
        }
        worker.first = next->next;
        next->is_waiting = false;
        worker.running = next;
        (void)pthread_mutex_unlock(&worker.lock);
        worker.run(next);
        (void)pthread_mutex_lock(&worker.lock);
        worker.running = NULL;
        (void)pthread_cond_broadcast(&worker.idle);
    }
    return NULL;
}

/* The program's signals are none of this thread's business. */
static void begin(void)
{
    enum { STACK = 1 << 18 };
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;

    worker.is_begun = true;
    (void)sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return;
    (void)pthread_attr_setstacksize(&attributes, STACK);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    worker.is_there = pthread_create(&thread, &attributes, work, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
}

void worker_add(struct work *added, void (*run)(struct work *work))
{
    struct work **at = &worker.first;

    (void)pthread_mutex_lock(&worker.lock);
    worker.run = run;
    if (!worker.is_begun)
        begin();
    if (worker.is_there && !added->is_waiting) {
        while (*at)
            at = &(*at)->next;
        added->is_waiting = true;
        added->next = NULL;
        *at = added;
        (void)pthread_cond_signal(&worker.wake);
    }
    (void)pthread_mutex_unlock(&worker.lock);
}

void worker_drop(struct work *dropped)
{
    struct work **at = &worker.first;

    (void)pthread_mutex_lock(&worker.lock);
    while (*at && *at != dropped)
        at = &(*at)->next;
    if (*at)
        *at = dropped->next;
    dropped->is_waiting = false;
    while (worker.running == dropped)
        (void)pthread_cond_wait(&worker.idle, &worker.lock);
    (void)pthread_mutex_unlock(&worker.lock);
}

void worker_forked(void)
{
    (void)pthread_mutex_init(&worker.lock, NULL);
    (void)pthread_cond_init(&worker.wake, NULL);
    (void)pthread_cond_init(&worker.idle, NULL);
    worker.first = worker.running = NULL;
    worker.is_begun = worker.is_there = false;
}
