/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the ETMv3 trace unit model, and what its files share. */
#ifndef ETMV3_UNIT_H
#define ETMV3_UNIT_H

#include <trackway/etmv3_unit.h>

#include "armv7/unit.h"
#include "base/compiler.h"
#include "etmv3/packet.h"

enum { TW_ETMV3_UNIT_ATOMS = 16 };

struct tw_etmv3_unit {
    struct tw_etmv3_unit_config config;
    struct tw_etmv3_reader writer;
    struct tw_armv7_unit base;
    uint16_t entered; /* M profile: an exception whose handler's address comes next; 0: none */

    uint32_t atoms; /* bit n: atom n, the oldest first, is E */
    unsigned atom_count;
    uint32_t atom_cycles[TW_ETMV3_UNIT_ATOMS]; /* before each; cycle-accurate trace only */
    uint32_t cycles;                           /* since the last instruction */
};

enum tw_status tw_etmv3_unit_put(struct tw_etmv3_unit *unit,
                                 const struct tw_etmv3_packet *packet);
/* A packet that is nothing but its header. */
enum tw_status tw_etmv3_unit_put_simple(struct tw_etmv3_unit *unit, uint8_t type);

/* unit_runs.c: as many of these runs as tell of nothing but atoms and targets. */
size_t tw_etmv3_unit_pass_runs(struct tw_etmv3_unit *unit, const struct tw_retired_run *runs,
                               size_t count);

/* unit_header.c: atoms and time as P-headers. */
/* Without cycles: the header of the first of these atoms, as many E as there are and one N, or two of any kind.
   Returns how many. */
TW_INLINE unsigned tw_etmv3_plain_header(uint32_t atoms, unsigned count, uint8_t *head)
{
    const unsigned first = tw_lowest_bit(~atoms), most = count < 15 ? count : 15;
    const unsigned taken = first < most ? first : most;

    if (taken == 0 && count >= 2) {
        *head = (uint8_t)(0x8a | (atoms & 2 ? 0 : 4));
        return 2;
    }
    *head = (uint8_t)(0x80 | taken << 2);
    if (taken < count && !(atoms >> taken & 1)) {
        *head |= 0x40;
        return taken + 1;
    }
    return taken;
}
enum tw_status tw_etmv3_unit_put_atoms(struct tw_etmv3_unit *unit);
/* So many instructions that were executed; without cycles and with one atom each. */
enum tw_status tw_etmv3_unit_add_taken(struct tw_etmv3_unit *unit, size_t count);
/* Cycles that no atom's header can tell. */
enum tw_status tw_etmv3_unit_put_time(struct tw_etmv3_unit *unit, uint32_t cycles);

#endif
