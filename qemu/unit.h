/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit of one thread, as the recording was asked for. */
#ifndef QEMU_UNIT_H
#define QEMU_UNIT_H

#include <trackway/unit.h>

/* What was asked for, the same for all threads. */
struct unit_options {
    const char *protocol;
    const char *const *registers; /* NAME=VALUE, as for `trackway encode --config` */
    size_t register_count;
    const char *const *choices; /* NAME=VALUE, as for `trackway encode --unit` */
    size_t choice_count;
    bool is_64bit;
    bool is_system; /* all levels are traced, not one process */
    bool is_m;      /* M profile */
};

/* On failure NULL, and `fault` says why. */
struct tw_unit *unit_new(const struct unit_options *options, struct tw_fault *fault);

#endif
