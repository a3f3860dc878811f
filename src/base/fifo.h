/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace unit's buffer, which a sink empties at its own pace. */
#ifndef BASE_FIFO_H
#define BASE_FIFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tw_fifo {
    uint32_t size;            /* 0: without bound */
    uint32_t cycles_per_byte; /* of the sink */
    uint64_t used, drained;   /* bytes in it, and the cycle of that */
    uint64_t stalled;         /* cycles for which the processor had to wait */
};

/* What the sink has taken up to this cycle. */
static inline void tw_fifo_drain(struct tw_fifo *fifo, uint64_t cycle)
{
    const uint64_t bytes = (cycle - fifo->drained) / fifo->cycles_per_byte;

    if (bytes == 0)
        return;
    fifo->used -= bytes < fifo->used ? bytes : fifo->used;
    fifo->drained += bytes * fifo->cycles_per_byte;
}

static inline bool tw_fifo_is_empty(struct tw_fifo *fifo, uint64_t cycle)
{
    if (!fifo->size)
        return true;
    tw_fifo_drain(fifo, cycle);
    return fifo->used == 0;
}

/* Puts so many bytes in; false: there is no room.  Where the processor may be stalled it waits for
   room, and *cycle moves on. */
static inline bool tw_fifo_put(struct tw_fifo *fifo, uint64_t *cycle, size_t size,
                               bool may_stall)
{
    uint64_t excess;

    if (!fifo->size)
        return true;
    tw_fifo_drain(fifo, *cycle);
    if (fifo->used == 0)
        fifo->drained = *cycle;
    if (fifo->used + size > fifo->size) {
        if (!may_stall)
            return false;
        excess = (fifo->used + size - fifo->size) * fifo->cycles_per_byte;
        *cycle += excess;
        fifo->stalled += excess;
        tw_fifo_drain(fifo, *cycle);
    }
    fifo->used += size;
    return true;
}

#endif
