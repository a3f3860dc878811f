/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory in large pages, kept for as long as the program runs. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise, sbrk */
#endif

#include "shared/memory.h"

#include <stdint.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/platform.h"

static void *volatile first; /* so that it is not left out */

/* Memory that was given back is used again, not taken from the system anew; and what is taken comes in large
   pages where there are any.  Tables grow by doubling, and each new page of theirs costs more than what is
   written there.  Threads take theirs from the same heap: they ask seldom, and a heap of their own would have small
   pages and grow by a call for each table. */
void keep_memory(void)
{
#if defined __GLIBC__ && defined MADV_HUGEPAGE
    enum { MOST = 32 << 20, FIRST = 24 << 20, LARGE_PAGE = 2 << 20, SMALL = 512 << 10 };
    const uintptr_t begin = (uintptr_t)sbrk(0);
    const uintptr_t large = (begin + SMALL + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);

    (void)mallopt(M_MMAP_THRESHOLD, MOST);
    (void)mallopt(M_TRIM_THRESHOLD, 2 * MOST);
    (void)mallopt(M_ARENA_MAX, 1);
    /* Where the heap begins is chance: what lies before the small pages is left alone.  No page of the heap is
       touched for all this, but the one that is used first anyway. */
    if (sbrk((intptr_t)(large - SMALL - begin)) == (void *)-1)
        return;
    (void)mallopt(M_TOP_PAD, FIRST);
    first = malloc(1);
    free(first);
    (void)mallopt(M_TOP_PAD, 1 << 17); /* as it was */
    (void)madvise((void *)large, FIRST - LARGE_PAGE, MADV_HUGEPAGE);
#endif
}
