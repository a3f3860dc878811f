/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory in large pages, kept for as long as the program runs. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif

#include "shared/memory.h"

#include <stdint.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/platform.h"

static void *volatile left_alone; /* so that it is neither left out nor taken for a leak */

/* Memory that was given back is used again, not taken from the system anew; and what is taken comes in large
   pages where there are any.  Tables grow by doubling, and each new page of theirs costs more than what is
   written there.  Threads take theirs from the same heap: they ask seldom, and a heap of their own would have small
   pages and grow by a call for each table. */
void keep_memory(void)
{
#if defined __GLIBC__ && defined MADV_HUGEPAGE
    enum { MOST = 32 << 20, FIRST = 24 << 20, LARGE_PAGE = 2 << 20, SMALL = 512 << 10 };
    uintptr_t begin, large;
    void *memory;

    (void)mallopt(M_MMAP_THRESHOLD, MOST);
    (void)mallopt(M_TRIM_THRESHOLD, 2 * MOST);
    (void)mallopt(M_ARENA_MAX, 1);
    memory = malloc(FIRST); /* of the system's: none of it is touched here */
    begin = (uintptr_t)memory;
    large = (begin + SMALL + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
    if (memory)
        (void)madvise((void *)large, FIRST - 2 * LARGE_PAGE, MADV_HUGEPAGE);
    free(memory);
    /* Where the heap begins is chance: what lies before the small pages is left alone. */
    if (memory && large - SMALL - begin > 64)
        left_alone = malloc(large - SMALL - begin - 64);
#endif
}
