/* SPDX-License-Identifier: BSD-2-Clause */
/* Data trace as a table: one row for each access. */
#ifndef ACCESSES_H
#define ACCESSES_H

#include <trackway/tree.h>

#include "shared/output.h"
#include "shared/session.h"

/* The row being put together: the elements of one packet. */
struct accesses {
    bool is_open, has_address, has_data;
    uint64_t index;
    unsigned kind; /* enum tw_data_kind */
    unsigned size; /* bytes */
    uint64_t address;
    uint64_t data[2], operand[2]; /* the low 8 bytes, and those above */
    unsigned parts, operand_parts;
};

/* Every source of the capture is RISC-V data trace alone. */
bool accesses_fit(const struct session *session);
void accesses_head(struct output *out);
void accesses_take(struct accesses *accesses, struct output *out, const struct session *session,
                   const struct tw_batch *batch);
void accesses_end(struct accesses *accesses, struct output *out);

#endif
