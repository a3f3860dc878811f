/* SPDX-License-Identifier: BSD-2-Clause */
/* Atoms as packets of one byte tell them: ETMv4, ETE, ETMv3 and PTM have a table of these by the byte. */
#ifndef BASE_ATOMS_H
#define BASE_ATOMS_H

#include <stdint.h>

struct tw_atom_packet {
    uint32_t bits; /* bit n is atom n, 1 is E */
    uint8_t count; /* 0: it is no such packet */
    uint8_t type;  /* the protocol's, where there are several */
};

#endif
