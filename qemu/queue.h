/* SPDX-License-Identifier: BSD-2-Clause */
/* Chunks that wait for the worker, and those that were used up. */
#ifndef QEMU_QUEUE_H
#define QEMU_QUEUE_H

#include <pthread.h>

#include "qemu/chunk.h"

struct queue {
    pthread_mutex_t lock;
    struct chunk *waiting, *newest; /* the oldest first */
    struct chunk *unused;
    unsigned count; /* that wait */
};

void queue_begin(struct queue *queue);
void queue_free(struct queue *queue);
void queue_put(struct queue *queue, struct chunk *chunk);
/* The oldest that waits; NULL: none does. */
struct chunk *queue_take(struct queue *queue);
/* One that is done with, and one to be filled; NULL: no memory. */
void queue_give_back(struct queue *queue, struct chunk *chunk);
struct chunk *queue_unused(struct queue *queue);

#endif
