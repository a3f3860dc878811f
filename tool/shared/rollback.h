/* SPDX-License-Identifier: BSD-2-Clause */
/* Transactional memory: what a failed transaction executed did not happen. */
#ifndef ROLLBACK_H
#define ROLLBACK_H

#include <trackway/types.h>

typedef void rollback_fn(void *context, const struct tw_element *element, uint8_t id);

struct rollback {
    rollback_fn *take; /* gets what counts, in order, without the marks of transactions */
    void *context;
    struct {
        struct tw_element *items;
        size_t count, room;
        bool is_open; /* inside a transaction */
    } lanes[128];
};

void rollback_free(struct rollback *rollback);
void rollback_element(struct rollback *rollback, const struct tw_element *element, uint8_t id);
/* The end of a buffer: open transactions are taken as done. */
void rollback_end(struct rollback *rollback);

#endif
