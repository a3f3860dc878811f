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

    struct {
        uint32_t cycles; /* before it */
        bool is_taken;
    } atoms[TW_ETMV3_UNIT_ATOMS];
    unsigned atom_count;
    uint32_t cycles; /* since the last instruction */
};

enum tw_status tw_etmv3_unit_put(struct tw_etmv3_unit *unit,
                                 const struct tw_etmv3_packet *packet);

/* unit_header.c: atoms and time as P-headers. */
enum tw_status tw_etmv3_unit_put_atoms(struct tw_etmv3_unit *unit);
/* So many instructions that were executed; without cycles and with one atom each. */
enum tw_status tw_etmv3_unit_add_taken(struct tw_etmv3_unit *unit, size_t count);
/* Cycles that no atom's header can tell. */
enum tw_status tw_etmv3_unit_put_time(struct tw_etmv3_unit *unit, uint32_t cycles);

#endif
