/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread of our own beside the program's: takes from them the work for their trace units. */
#ifndef QEMU_WORKER_H
#define QEMU_WORKER_H

#include <stdbool.h>

struct work {
    struct work *next; /* that waits */
    bool is_waiting;
};

/* `run` will be called for this, once for any number of calls until it begins.  It may be that no one
   runs it, where the system gives no thread: who needs it done does it. */
void worker_add(struct work *work, void (*run)(struct work *work));
/* It will not be called any more, unless it is added again. */
void worker_drop(struct work *work);
/* This is the child of a fork, where the thread is not: begins anew. */
void worker_forked(void);

#endif
