/* SPDX-License-Identifier: BSD-2-Clause */
/* What reading, writing and decoding ETMv3 share: the configuration worked out, and the reader. */
#ifndef ETMV3_PACKET_H
#define ETMV3_PACKET_H

#include <trackway/etmv3.h>

#include "armv7/packet.h"
#include "base/atoms.h"
#include "base/text.h"
#include "protocol.h"

enum {
    TW_ETMV3_PACKET_MAX = 64,
    TW_ETMV3_ASYNC_SIZE = 6, /* the shortest */
    TW_ETMV3_COUNT_BYTES = 5 /* of a cycle count, and of a data address */
};

/* Headers that are no P-header and no branch. */
enum {
    TW_ETMV3_HEAD_CYCLE_COUNT = 0x04,
    TW_ETMV3_HEAD_I_SYNC = 0x08,
    TW_ETMV3_HEAD_TRIGGER = 0x0c,
    TW_ETMV3_HEAD_VMID = 0x3c,
    TW_ETMV3_HEAD_TIMESTAMP = 0x42, /* and 46 */
    TW_ETMV3_HEAD_STORE_FAIL = 0x50,
    TW_ETMV3_HEAD_DATA_SUPPRESSED = 0x62,
    TW_ETMV3_HEAD_IGNORE = 0x66,
    TW_ETMV3_HEAD_VAL_NOT_TRACED = 0x6a, /* and 7a with the A bit */
    TW_ETMV3_HEAD_CONTEXT_ID = 0x6e,
    TW_ETMV3_HEAD_I_SYNC_CYCLE = 0x70,
    TW_ETMV3_HEAD_EXCEPTION_EXIT = 0x76,
    TW_ETMV3_HEAD_EXCEPTION_ENTRY = 0x7e
};

/* The configuration, worked out. */
struct tw_etmv3_setup {
    uint8_t id;
    uint8_t profile;       /* enum tw_profile */
    uint8_t minor;         /* 3.x */
    uint8_t context_bytes; /* of a context ID: 0, 1, 2 or 4 */
    uint8_t time_width;    /* 48 or 64 */
    bool cycle_accurate;
    bool branch_broadcast;
    bool alternative; /* branch encoding */
    bool wide_is_two; /* a 32-bit Thumb instruction has two atoms */
    bool data_value, data_address, data_only;
    bool pc_first; /* LDM loads pc before the other registers */
    bool has_hyp;
    bool time_is_gray;
};

void tw_etmv3_setup_from_config(struct tw_etmv3_setup *setup,
                                const struct tw_etmv3_config *config);

static inline bool tw_etmv3_has_data(const struct tw_etmv3_setup *setup)
{
    return setup->data_value || setup->data_address;
}

/* A P-header: bit n of `bits` is atom n, the oldest first; 1: E.  In cycle-accurate mode also the
   cycles right before the first atom and before each of the others. */
struct tw_etmv3_atoms {
    uint16_t bits;
    uint8_t count, cycles, format;
    bool is_legal;
    uint8_t first_cycles, other_cycles;
};
void tw_etmv3_p_header(struct tw_etmv3_atoms *out, uint8_t head, bool cycle_accurate);

static inline unsigned tw_etmv3_cycles_of(const struct tw_etmv3_atoms *atoms, unsigned number)
{
    return number == 0 ? atoms->first_cycles : atoms->other_cycles;
}

/* What the reader keeps between packets. */
struct tw_etmv3_reader {
    struct tw_etmv3_setup setup;
    uint64_t offset; /* of the next byte */
    uint64_t timestamp;
    uint32_t address; /* of the last I-sync or branch */
    uint32_t data_address;
    uint8_t address_valid, data_valid; /* bits known of them */
    uint8_t isa;                       /* enum tw_isa */
    bool alt_isa, ns, hyp;
    bool is_big_endian;
    bool is_synced;
    uint8_t rule[256]; /* row of the rule table for each header */
    struct tw_etmv3_atoms atoms[256];
    struct tw_atom_packet plain[256]; /* the same, for path/gather.h */
    /* atoms to header, as they lie in a packet; 0: no legal P-header */
    uint64_t p_headers[256];
    const struct tw_allocator *allocator;
};

/* Bytes at its beginning that reading changes: what is behind them are tables. */
enum { TW_ETMV3_READER_STATE = offsetof(struct tw_etmv3_reader, rule) };

void tw_etmv3_reader_init(struct tw_etmv3_reader *reader, const struct tw_etmv3_config *config);
void tw_etmv3_claims(uint8_t claims[256], const struct tw_etmv3_setup *setup); /* for tests */

/* The instruction set with the AltISA bit taken into account (from v3.3 on). */
static inline uint8_t tw_etmv3_isa(const struct tw_etmv3_setup *setup, uint8_t isa,
                                   bool alt_isa)
{
    if (isa == TW_ISA_T32 || isa == TW_ISA_TEE)
        return alt_isa && setup->minor >= 3 ? TW_ISA_TEE : TW_ISA_T32;
    return isa;
}

/* Exception numbers of the deprecated codes in the fifth address byte. */
extern const uint8_t tw_etmv3_deprecated[8];

/* The interrupt's number of an M-profile exception, or -1. */
static inline int tw_etmv3_irq(unsigned exception)
{
    if (exception >= 24)
        return (int)exception - 16;
    if (exception >= 1 && exception <= 8)
        return (int)(exception & 7);
    return -1;
}

/* print.c */
extern const struct tw_packet_type tw_etmv3_types[TW_ETMV3_TYPES];
extern const struct tw_member_table tw_etmv3_members;

extern const struct tw_protocol tw_etmv3;

#endif
