/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the PTM trace unit model, and what its files share. */
#ifndef PTM_UNIT_H
#define PTM_UNIT_H

#include <trackway/ptm_unit.h>

#include "armv7/unit.h"
#include "ptm/packet.h"

enum {
    TW_PTM_UPDATE_BYTES = 4096, /* a waypoint update after so many bytes without a waypoint */
    TW_PTM_UNIT_ATOMS = 5
};

struct tw_ptm_unit {
    struct tw_ptm_unit_config config;
    struct tw_ptm_reader writer;
    struct tw_armv7_unit base;

    uint32_t block; /* where the decoder is: behind the last waypoint */
    uint32_t last;  /* the last instruction since, if there was one */
    bool has_last;
    bool is_linking;       /* it waits for the target of a call ... */
    uint32_t link_address; /* ... which returns here */
    uint8_t link_isa;

    uint8_t atoms, atom_count;
    uint64_t cycles; /* since the last count */

    struct {
        uint32_t address;
        uint8_t isa;
    } returns[16];
    unsigned return_count;
};

TW_INLINE void tw_ptm_unit_push(struct tw_ptm_unit *unit, uint32_t address, uint8_t isa)
{
    const unsigned depth = unit->config.return_stack_depth;

    if (!unit->writer.setup.return_stack)
        return;
    if (unit->return_count == depth) {
        for (unsigned i = 1; i < depth; i++)
            unit->returns[i - 1] = unit->returns[i];
        unit->return_count--;
    }
    unit->returns[unit->return_count].address = address;
    unit->returns[unit->return_count++].isa = isa;
}

/* unit_runs.c: as many of these runs as tell of nothing but atoms and targets. */
size_t tw_ptm_unit_pass_runs(struct tw_ptm_unit *unit, const struct tw_retired_run *runs,
                             size_t count);

#endif
