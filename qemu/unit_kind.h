/* SPDX-License-Identifier: BSD-2-Clause */
/* Kinds of trace units: one row for each protocol. */
#ifndef QEMU_UNIT_KIND_H
#define QEMU_UNIT_KIND_H

#include "qemu/unit.h"

struct unit_kind {
    const char *protocol;
    size_t size; /* of its state */
    bool (*begin)(void *state, const struct unit_options *options, struct tw_fault *fault);
    enum tw_status (*step)(void *state, const struct tw_step *step);
    enum tw_status (*end)(void *state);
    const uint8_t *(*output)(void *state, size_t *size);
    void (*take)(void *state);
    enum tw_status (*get)(const void *state, struct tw_register *out, size_t number);
    const char *(*text)(void *state); /* NULL: registers say all */
    void (*free)(void *state);
};

extern const struct unit_kind unit_kind_ete, unit_kind_etmv4, unit_kind_ptm, unit_kind_etmv3,
    unit_kind_etrace, unit_kind_ntrace;

/* "NAME=VALUE" into its two parts. */
bool unit_split(const char *text, char *name, size_t room, uint64_t *value);
/* Says what was not understood; always false. */
bool unit_bad(struct tw_fault *fault, const char *what, const char *text);

#endif
