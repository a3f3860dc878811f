/* SPDX-License-Identifier: BSD-2-Clause */
/* What the environment asks for, read once. */
#ifndef OPENCSD_SETTINGS_H
#define OPENCSD_SETTINGS_H

#include <stdbool.h>

struct oc_settings {
    bool is_1_7; /* TRACKWAY_OPENCSD_VERSION=1.7.1 (or 1.4 and later): its numbers and texts */
    /* TRACKWAY_OPENCSD_STRICT=1: answers like the original also where it errs */
    bool is_strict;
};

const struct oc_settings *oc_settings(void);

#endif
