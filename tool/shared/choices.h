/* SPDX-License-Identifier: BSD-2-Clause */
/* Words of options as the library's numbers. */
#ifndef CHOICES_H
#define CHOICES_H

#include <string.h>

#include <trackway/calls.h>
#include <trackway/timeline.h>

#include "shared/options.h"

/* --key: what a stack of calls belongs to. */
static inline enum tw_call_key call_key_of(const struct options *options)
{
    const char *key = options->key;

    return !key                          ? TW_CALL_KEY_AUTO
           : strcmp(key, "tid") == 0     ? TW_CALL_KEY_THREAD
           : strcmp(key, "context") == 0 ? TW_CALL_KEY_CONTEXT
                                         : TW_CALL_KEY_CORE;
}

/* --time-unit: what times count. */
static inline enum tw_time_unit time_unit_of(const struct options *options)
{
    const char *unit = options->time_unit;

    return !unit                         ? TW_UNIT_AUTO
           : strcmp(unit, "time") == 0   ? TW_UNIT_TIME
           : strcmp(unit, "cycles") == 0 ? TW_UNIT_CYCLES
                                         : TW_UNIT_INSTRUCTIONS;
}

#endif
