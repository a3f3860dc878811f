/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the ETMv3 trace unit model, and what its files share. */
#ifndef ETMV3_UNIT_H
#define ETMV3_UNIT_H

#include <trackway/etmv3_unit.h>

#include "base/compiler.h"
#include "etmv3/packet.h"
#include "path/follow.h"

enum {
    TW_ETMV3_UNIT_ATOMS = 16,
    TW_ETMV3_UNIT_CODES = 512 /* instructions that are kept classified */
};

struct tw_etmv3_unit {
    struct tw_etmv3_unit_config config;
    struct tw_etmv3_reader writer;
    struct tw_isa_options isa;
    uint8_t *bytes;
    size_t size, room;
    size_t synced_at; /* bytes made since the last A-sync: size less this */

    bool has_begun;  /* an A-sync was made */
    bool is_tracing; /* an I-sync told where we are */
    uint8_t reason;  /* of the next I-sync */
    uint32_t next;   /* the instruction that comes next if nothing happens ... */
    uint8_t next_isa;
    bool is_waiting; /* the last one is a taken branch whose packet needs its target */
    bool is_exception_return;
    uint16_t entered; /* M profile: an exception whose handler's address comes next; 0: none */

    struct {
        uint32_t cycles; /* before it */
        bool is_taken;
    } atoms[TW_ETMV3_UNIT_ATOMS];
    unsigned atom_count;
    uint32_t cycles; /* since the last instruction */

    struct tw_step_context context;
    bool told_ns, told_hyp;
    uint32_t told_context_id, told_vmid;

    struct {
        uint32_t address, opcode;
        uint8_t isa;
        struct tw_instruction what;
    } codes[TW_ETMV3_UNIT_CODES];
};

enum tw_status tw_etmv3_unit_put(struct tw_etmv3_unit *unit,
                                 const struct tw_etmv3_packet *packet);

/* unit_header.c: atoms and time as P-headers. */
enum tw_status tw_etmv3_unit_put_atoms(struct tw_etmv3_unit *unit);
/* Cycles that no atom's header can tell. */
enum tw_status tw_etmv3_unit_put_time(struct tw_etmv3_unit *unit, uint32_t cycles);

#endif
