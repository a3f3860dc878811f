/* SPDX-License-Identifier: BSD-2-Clause */
/* te_data payloads to packets and back, and the histories that differences are taken from. */
#ifndef ETRACED_PACKET_H
#define ETRACED_PACKET_H

#include <trackway/etrace.h>

#include "base/payload.h"
#include "base/text.h"
#include "protocol.h"

/* A value of up to 128 bits. */
struct tw_etraced_value {
    uint64_t low, high;
};

/* What the payload readers and writers need of the configuration. */
struct tw_etraced_shape {
    bool is_seed;
    bool is_quirky;      /* the reference data model's own form of the tables */
    bool is_split;       /* loads and atomics: request and data apart */
    uint8_t format;      /* bits */
    uint8_t size;        /* bits of the size field of loads and stores ... */
    uint8_t atomic_size; /* ... and of atomics */
    uint8_t lrid, diff, csr_diff, csr_len;
    bool one_bit_is_difference; /* a diff field of one bit: 1 is a difference, not XOR */
    uint8_t csr_size;           /* log2 of its bytes */
    uint8_t data_width, address_width;
    uint8_t size_max; /* log2 of the bytes of the widest access */
};

enum { TW_ETRACED_SIZES = 8, TW_ETRACED_REQUESTS = 256 };

/* The last address, as encoded, and the last value of each access size; and what is open: a split
   access's data comes without its size or kind. */
struct tw_etraced_history {
    /* Bit n: of accesses of size n the last address, or value, is not known. */
    uint8_t lost_address, lost_data;
    uint64_t address[TW_ETRACED_SIZES];
    struct tw_etraced_value data[TW_ETRACED_SIZES];
    struct {
        uint8_t size;
        uint8_t subtype;
        bool is_open;
        uint64_t address;
    } requests[TW_ETRACED_REQUESTS]; /* by transfer number */
};

void tw_etraced_shape_init(struct tw_etraced_shape *shape,
                           const struct tw_etrace_config *config);

/* Reads a loaded payload: type, has and the members of its type, as transmitted.  The history only
   tells the size of a split atomic. */
enum tw_error_code tw_etraced_parse(const struct tw_etraced_shape *shape, uint32_t options,
                                    const struct tw_etraced_history *history,
                                    struct tw_etrace_packet *out, struct tw_payload *in);
/* The same for unified loads and stores in up to TW_PAYLOAD_WINDOW bytes; members that such a packet
   does not have stay as they are.  False: it is none of these, or has errors; nothing is done. */
bool tw_etraced_parse_access(const struct tw_etraced_shape *shape, uint32_t options,
                             struct tw_etrace_packet *out, const uint8_t *bytes, unsigned size);
/* The inverse; false: there is no such payload under this configuration. */
bool tw_etraced_build(const struct tw_etraced_shape *shape, uint32_t options,
                      struct tw_payload *out, const struct tw_etrace_packet *packet);

/* Nothing was told yet. */
void tw_etraced_history_init(const struct tw_etraced_shape *shape,
                             struct tw_etraced_history *history);
/* A synchronization packet: the first access of each size is in full again (7.1.3). */
void tw_etraced_sync(const struct tw_etraced_shape *shape, struct tw_etraced_history *history);

/* Accesses are missing: what is told as a difference is not known until it is told in full. */
void tw_etraced_lose(struct tw_etraced_history *history);

/* Works out what was transmitted as a difference: address, value and operand_value. */
void tw_etraced_resolve(const struct tw_etraced_shape *shape,
                        struct tw_etraced_history *history, struct tw_etrace_packet *packet);
/* What was done: enum tw_data_kind. */
unsigned tw_etraced_kind(const struct tw_etraced_shape *shape,
                         const struct tw_etrace_packet *packet);

/* print.c */
extern const struct tw_member_table tw_etraced_members;

#endif
