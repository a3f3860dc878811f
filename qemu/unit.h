/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit of one thread: steps in, bytes out, whatever its protocol. */
#ifndef QEMU_UNIT_H
#define QEMU_UNIT_H

#include <trackway/log.h>

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

struct unit;

/* On failure NULL, and `fault` says why. */
struct unit *unit_new(const struct unit_options *options, struct tw_fault *fault);
void unit_free(struct unit *unit);
bool unit_step(struct unit *unit, const struct tw_step *step);
/* Nothing follows: all bytes come out. */
bool unit_end(struct unit *unit);
const uint8_t *unit_output(struct unit *unit, size_t *size);
void unit_take(struct unit *unit);
/* The registers that a decoder needs, one after the other. */
bool unit_register(const struct unit *unit, struct tw_register *out, size_t number);
/* RISC-V: the configuration that a decoder needs, as lines; NULL: registers say all. */
const char *unit_text(struct unit *unit);

#endif
