/* SPDX-License-Identifier: BSD-2-Clause */
/* What takes long to make and is the same for most inputs is made once: readers with their tables, trees with their
   sources, by configuration.  And which of its parts a target runs. */
#ifndef FUZZ_KEPT_H
#define FUZZ_KEPT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 256 };

struct kept {
    void *configs[KEPT], *made[KEPT];
};

/* Whether millions of inputs wait: what was made for one is there for others, too, and less may be enough.  Stored inputs,
   run again, begin anew and go all the way. */
static inline bool is_fuzzed(void)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return true;
#else
    return false;
#endif
}

/* What `init` makes of a configuration, over zeros or what it made before; the mutants of an input mostly have its
   configuration. */
static inline const void *kept_made(struct kept *kept, void (*init)(void *, const void *),
                                    size_t size, const void *config, size_t config_size)
{
    unsigned hash = 0;

    for (size_t i = 0; i < config_size; i++)
        hash = hash * 31 + ((const uint8_t *)config)[i];
    hash = (hash ^ hash >> 16) % KEPT;
    if (!kept->configs[hash]) {
        kept->configs[hash] = malloc(config_size);
        kept->made[hash] = calloc(1, size);
        if (!kept->configs[hash] || !kept->made[hash])
            abort();
    } else if (is_fuzzed() && memcmp(kept->configs[hash], config, config_size) == 0) {
        return kept->made[hash];
    }
    memcpy(kept->configs[hash], config, config_size);
    init(kept->made[hash], config);
    return kept->made[hash];
}

/* Whether an input goes through a part of its target: through all when stored inputs are run again; through one, which a byte of
   the input says, where millions of others wait. */
static inline bool goes_through(unsigned part, unsigned parts, unsigned choice)
{
    return !is_fuzzed() || choice % parts == part;
}

#endif
