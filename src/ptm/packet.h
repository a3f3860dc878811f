/* SPDX-License-Identifier: BSD-2-Clause */
/* What reading, writing and decoding PTM share: the configuration worked out, and the reader. */
#ifndef PTM_PACKET_H
#define PTM_PACKET_H

#include <trackway/ptm.h>

#include "armv7/packet.h"
#include "base/atoms.h"
#include "base/text.h"
#include "protocol.h"

enum {
    TW_PTM_PACKET_MAX = 64,
    TW_PTM_ASYNC_SIZE = 6, /* the shortest */
    TW_PTM_CYCLE_BYTES = 5
};

/* Headers that are no atom and no branch. */
enum {
    TW_PTM_HEAD_ASYNC = 0x00,
    TW_PTM_HEAD_ISYNC = 0x08,
    TW_PTM_HEAD_TRIGGER = 0x0c,
    TW_PTM_HEAD_VMID = 0x3c,
    TW_PTM_HEAD_TIMESTAMP = 0x42, /* and 46 */
    TW_PTM_HEAD_IGNORE = 0x66,
    TW_PTM_HEAD_CONTEXT_ID = 0x6e,
    TW_PTM_HEAD_WP_UPDATE = 0x72,
    TW_PTM_HEAD_EXCEPTION_RETURN = 0x76
};

/* The configuration, worked out. */
struct tw_ptm_setup {
    uint8_t id;
    uint8_t context_bytes; /* of a context ID: 0, 1, 2 or 4 */
    uint8_t time_width;    /* 48 or 64 */
    bool cycle_accurate;
    bool branch_broadcast;
    bool return_stack;
    bool barriers_are_waypoints;
    bool has_hyp;
    bool time_is_gray;
    bool is_v11;
    bool timestamps, vmid; /* enabled: for the unit's model */
};

void tw_ptm_setup_from_config(struct tw_ptm_setup *setup, const struct tw_ptm_config *config);

/* Atoms of a header without cycle counts: bit n is atom n, the oldest first; 1: E. */
extern const struct tw_atom_packet tw_ptm_atoms[256];
/* The same in one word, as tw_atoms has them: a 1 above the last.  0: no atom packet. */
extern const uint8_t tw_ptm_atom_words[256];
/* The header of 1 to 5 of them: a 1 for N, the oldest one on top. */
TW_INLINE uint8_t tw_ptm_atom_header(unsigned atoms, unsigned count)
{
    static const uint8_t turned[32] = { 0,  16, 8,  24, 4,  20, 12, 28, 2,  18, 10,
                                        26, 6,  22, 14, 30, 1,  17, 9,  25, 5,  21,
                                        13, 29, 3,  19, 11, 27, 7,  23, 15, 31 };

    return (uint8_t)(0x80u | 1u << (count + 1) |
                     (unsigned)turned[~atoms & ((1u << count) - 1)] << 1 >> (5 - count));
}

/* What the reader keeps between packets. */
struct tw_ptm_reader {
    struct tw_ptm_setup setup;
    uint64_t offset; /* of the next byte */
    uint64_t timestamp;
    uint32_t address; /* the last one traced */
    uint8_t address_valid;
    uint8_t isa; /* enum tw_isa */
    bool alt_isa, ns, hyp;
    bool is_synced;
    uint8_t rule[256]; /* row of the rule table for each header */
    const struct tw_allocator *allocator;
};

void tw_ptm_reader_init(struct tw_ptm_reader *reader, const struct tw_ptm_config *config);
void tw_ptm_claims(uint8_t claims[256], const struct tw_ptm_setup *setup); /* for tests */

/* The instruction set with the AltISA bit taken into account. */
static inline uint8_t tw_ptm_isa(uint8_t isa, bool alt_isa)
{
    if (isa == TW_ISA_T32 || isa == TW_ISA_TEE)
        return alt_isa ? TW_ISA_TEE : TW_ISA_T32;
    return isa;
}

/* Cycle count: four bits in the first byte, where bit 6 tells that more follow. */
static inline uint32_t tw_ptm_get_cycles(struct tw_bytes *in, uint8_t first)
{
    uint32_t value = (uint32_t)first >> 2 & 0xf;
    bool more = (first & 0x40) != 0;

    for (unsigned i = 1; more && i < TW_PTM_CYCLE_BYTES; i++) {
        const uint8_t byte = tw_bytes_u8(in);

        value |= (uint32_t)(byte & 0x7f) << (7 * i - 3);
        more = (byte & 0x80) != 0;
    }
    return value;
}

/* print.c */
extern const struct tw_packet_type tw_ptm_types[TW_PTM_TYPES];
extern const struct tw_member_table tw_ptm_members;

extern const struct tw_protocol tw_ptm;

#endif
