/* SPDX-License-Identifier: BSD-2-Clause */
/* Readable memory with none behind it: who reads beyond its end crashes, with and without sanitizers. */
#ifndef TRACKWAY_TESTS_GUARDED_H
#define TRACKWAY_TESTS_GUARDED_H

#include <stdint.h>
#include <stdlib.h>

#ifndef _WIN32
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

enum { GUARDED_SIZE = 65536 }; /* pages of any host */

/* The end of it; NULL: there is no memory. */
static inline uint8_t *guarded_new(void)
{
#ifdef _WIN32
    uint8_t *bytes = calloc(1, GUARDED_SIZE);

    return bytes ? bytes + GUARDED_SIZE : NULL;
#else
    const int zeros = open("/dev/zero", O_RDWR);
    uint8_t *bytes =
        mmap(NULL, (size_t)2 * GUARDED_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, zeros, 0);

    (void)close(zeros);
    if (bytes == MAP_FAILED || mprotect(bytes + GUARDED_SIZE, GUARDED_SIZE, PROT_NONE) != 0)
        return NULL;
    return bytes + GUARDED_SIZE;
#endif
}

static inline void guarded_free(uint8_t *end)
{
#ifdef _WIN32
    free(end - GUARDED_SIZE);
#else
    (void)munmap(end - GUARDED_SIZE, (size_t)2 * GUARDED_SIZE);
#endif
}

#endif
