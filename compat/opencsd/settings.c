/* SPDX-License-Identifier: BSD-2-Clause */
/* What the environment asks for. */
#include "opencsd/settings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct oc_settings settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Element and packet structs changed with 1.4 and 1.5: who was built for those wants 1.7.1's. */
static bool is_later(const char *version)
{
    return version && strncmp(version, "1.", 2) == 0 && version[2] >= '4' && version[2] <= '9';
}

static void read_environment(void)
{
    const char *strict = getenv("TRACKWAY_OPENCSD_STRICT");

    settings.is_1_7 = is_later(getenv("TRACKWAY_OPENCSD_VERSION"));
    settings.is_strict = strict && strcmp(strict, "1") == 0;
}

const struct oc_settings *oc_settings(void)
{
    (void)pthread_once(&once, read_environment);
    return &settings;
}
