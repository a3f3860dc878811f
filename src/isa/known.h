/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of A64 opcodes that were asked for before.  A program has few of them, and LLVM takes its time. */
#ifndef TW_ISA_KNOWN_H
#define TW_ISA_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* The one number in a text that is left out where it is kept, so that opcodes which differ in it alone have one text. */
enum tw_hole {
    TW_HOLE_NONE,
    TW_HOLE_TARGET,   /* of a direct branch: the address, hexadecimal */
    TW_HOLE_DISTANCE, /* of ADR: bytes, decimal */
    TW_HOLE_PAGES,    /* of ADRP: decimal, and the address as a comment */
    TW_HOLE_OFFSET /* of a load or store, and what is added or subtracted: hexadecimal, not 0 */
};

struct tw_known_key {
    uint32_t opcode; /* without the number */
    enum tw_hole hole;
    uint64_t number;
    uint64_t address; /* of all but OFFSET: where it leads to */
};

/* False: the text depends on where the instruction is, and is not kept. */
bool tw_known_key(struct tw_known_key *key, uint32_t opcode, uint64_t address);

enum { TW_KNOWN_BITS = 15 }; /* so many can be kept, each where its opcode puts it */
struct tw_known {
    uint32_t opcode;
    uint8_t hole;  /* where the number stands in the text */
    char text[59]; /* without it; empty: none */
};

static inline struct tw_known *tw_known_at(struct tw_known *table,
                                           const struct tw_known_key *key)
{
    return &table[key->opcode * 0x9e3779b1u >> (32 - TW_KNOWN_BITS)];
}

static inline bool tw_known_is(const struct tw_known *known, const struct tw_known_key *key)
{
    return known->opcode == key->opcode && known->text[0];
}

/* Keeps the text, if it is short enough and has the number where it is looked for. */
void tw_known_keep(struct tw_known *known, const struct tw_known_key *key,
                   const struct tw_text *text);
void tw_known_put(struct tw_text *out, const struct tw_known *known,
                  const struct tw_known_key *key);

#endif
