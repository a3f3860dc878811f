/* SPDX-License-Identifier: BSD-2-Clause */
/* A side as straight lines of execution: from where a branch led to the next branch that was taken.  They are the same
   however a trace unit or a log cuts them. */
#ifndef DIFF_LINES_H
#define DIFF_LINES_H

#include "diff/side.h"

struct line_queue {
    struct side *side;
    struct stretch *lines; /* read ahead */
    size_t head, count, room;
    struct stretch pending; /* begins the line after the last one in the queue */
    bool has_pending, is_ended;
};

/* The next stretch, of those that were read ahead first. */
bool queue_next(struct line_queue *queue, struct stretch *stretch);
/* Puts back what is left of a stretch. */
bool queue_put_back(struct line_queue *queue, const struct stretch *stretch);
/* Sees to it that there are `count` lines from the head on, if the side has so many; false: no memory, said so. */
bool queue_fill(struct line_queue *queue, size_t count);
static inline size_t queue_size(const struct line_queue *queue)
{
    return queue->count - queue->head;
}
/* Nothing was read ahead. */
static inline bool queue_is_idle(const struct line_queue *queue)
{
    return queue->head == queue->count && !queue->has_pending && !queue->is_ended;
}
static inline const struct stretch *queue_at(const struct line_queue *queue, size_t number)
{
    return &queue->lines[queue->head + number];
}
static inline uint64_t stretch_end(const struct stretch *stretch)
{
    return stretch->start + stretch->length;
}
/* Drops lines, and of the next one what lies before an address. */
void queue_drop(struct line_queue *queue, size_t count, uint64_t address);
/* A stretch without its first bytes. */
struct stretch stretch_after(const struct side *side, const struct stretch *stretch,
                             uint64_t bytes);

#endif
