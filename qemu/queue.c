/* SPDX-License-Identifier: BSD-2-Clause */
/* Chunks that wait for the worker. */
#include "qemu/queue.h"

#include <stdlib.h>

void queue_begin(struct queue *queue)
{
    (void)pthread_mutex_init(&queue->lock, NULL);
}

static void free_list(struct chunk *first)
{
    while (first) {
        struct chunk *next = first->next;

        free(first);
        first = next;
    }
}

void queue_free(struct queue *queue)
{
    free_list(queue->unused);
    free_list(queue->waiting);
}

void queue_put(struct queue *queue, struct chunk *chunk)
{
    chunk->next = NULL;
    (void)pthread_mutex_lock(&queue->lock);
    if (queue->waiting)
        queue->newest->next = chunk;
    else
        queue->waiting = chunk;
    queue->newest = chunk;
    queue->count++;
    (void)pthread_mutex_unlock(&queue->lock);
}

struct chunk *queue_take(struct queue *queue)
{
    struct chunk *chunk;

    (void)pthread_mutex_lock(&queue->lock);
    chunk = queue->waiting;
    if (chunk) {
        queue->waiting = chunk->next;
        queue->count--;
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return chunk;
}

void queue_give_back(struct queue *queue, struct chunk *chunk)
{
    (void)pthread_mutex_lock(&queue->lock);
    chunk->next = queue->unused;
    queue->unused = chunk;
    (void)pthread_mutex_unlock(&queue->lock);
}

struct chunk *queue_unused(struct queue *queue)
{
    struct chunk *chunk;

    (void)pthread_mutex_lock(&queue->lock);
    chunk = queue->unused;
    if (chunk)
        queue->unused = chunk->next;
    (void)pthread_mutex_unlock(&queue->lock);
    return chunk ? chunk : malloc(sizeof *chunk);
}
