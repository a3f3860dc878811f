/* SPDX-License-Identifier: BSD-2-Clause */
/* What reading, writing and decoding ETMv4 and ETE share: configuration worked out once, tables,
   and the number formats. */
#ifndef ETMV4_PACKET_H
#define ETMV4_PACKET_H

#include <trackway/etmv4.h>

#include "base/atoms.h"
#include "base/bytes.h"
#include "base/text.h"
#include "protocol.h"

enum {
    TW_ETMV4_ASYNC_ZEROS = 11,   /* at least so many before the 80 */
    TW_ETMV4_ASYNC_SIZE = 12,    /* the shortest A-sync */
    TW_ETMV4_ASYNC_LONGEST = 64, /* longest that is read as one packet */
    TW_ETMV4_PACKET_MAX = 64,
    TW_ETMV4_HISTORY = 3,
    TW_ETMV4_COUNT32 = 5, /* bytes of the longest ULEB of 32 ... */
    TW_ETMV4_COUNT20 = 3, /* ... 20 ... */
    TW_ETMV4_COUNT12 = 2, /* ... and 12 bits */
    TW_ETMV4_TIMESTAMP_BYTES = 9
};

/* The configuration, worked out. */
struct tw_etmv4_setup {
    uint32_t max_spec;
    uint32_t cond_keys, cond_special_keys; /* TRCIDR12, TRCIDR13 */
    uint32_t p0_keys;                      /* TRCIDR9 */
    uint8_t version;                       /* 0x40 ... 0x46; ETE 0x50 ... 0x53 */
    uint8_t id;                            /* trace ID */
    uint8_t profile;                       /* enum tw_profile */
    uint8_t architecture;                  /* as in the config */
    uint8_t vmid_bytes, cid_bytes;
    uint8_t timestamp_bits; /* 0, 48 or 64 */
    uint8_t cycle_bits;
    bool is_ete, is_data_stream, is_aa64_extended;
    bool has_cci;     /* cycle counting is implemented ... */
    bool cci;         /* ... and on */
    bool commopt;     /* effective: cycle counts carry no commit */
    bool start_is_p0; /* COMMTRANS is 0: Transaction Start is a P0 element */
    bool has_q;       /* Q packets exist */
    bool q_enabled;
    bool cond; /* conditional tracing is implemented and on */
    bool data; /* data trace is implemented and on */
    bool loads_are_p0, stores_are_p0;
    bool tsmark; /* Timestamp Markers are sent */
    bool wfx_is_p0;
    bool return_stack; /* addresses may be left out */
    bool timestamps, cid, vmid, branch_broadcast;
};

void tw_etmv4_setup_from_config(struct tw_etmv4_setup *setup,
                                const struct tw_etmv4_config *config);

/* enum tw_etmv4_type of each header; 00 is TW_ETMV4_EXTENSION, 06 TW_ETMV4_EXCEPT. */
void tw_etmv4_header_types(uint8_t types[256], const struct tw_etmv4_setup *setup);

/* Atoms of a header byte: bit n is atom n, the oldest first; 1: E.  count 0: no atom packet. */
extern const struct tw_atom_packet tw_etmv4_atoms[256];
/* The same in one word, as tw_atoms has them: a 1 above the last.  0: no atom packet. */
extern const uint32_t tw_etmv4_atom_words[256];

/* The last three addresses, [0] the newest. */
struct tw_etmv4_entry {
    uint64_t address;
    uint8_t sub_isa;
    uint8_t bits, width; /* for listings: carried by the packet, 32 or 64 */
};

TW_INLINE void tw_etmv4_push(struct tw_etmv4_entry history[TW_ETMV4_HISTORY],
                             struct tw_etmv4_entry entry)
{
    history[2] = history[1];
    history[1] = history[0];
    history[0] = entry;
}

/* After Trace Info; the width is what listings show for it. */
static inline void tw_etmv4_history_clear(struct tw_etmv4_entry history[TW_ETMV4_HISTORY])
{
    for (unsigned i = 0; i < TW_ETMV4_HISTORY; i++)
        history[i] = (struct tw_etmv4_entry){ .width = 64 };
}

/* One or two bytes; the address bits that they carry, and in *bits how many are replaced. */
TW_INLINE uint32_t tw_etmv4_get_short(struct tw_bytes *in, unsigned *bits, unsigned sub_isa)
{
    const unsigned shift = 2 - sub_isa;
    const uint32_t first = tw_bytes_u8(in);
    uint32_t low = (first & 0x7f) << shift;

    *bits = 7 + shift;
    if (first & 0x80) {
        low |= (uint32_t)tw_bytes_u8(in) << (7 + shift);
        *bits += 8;
    }
    return low;
}

/* The low 32 address bits from the four bytes that begin every long form; in *reserved whether
   their spare bits are set. */
TW_INLINE uint32_t tw_etmv4_long_low(uint32_t bytes, unsigned sub_isa, bool *reserved)
{
    if (sub_isa) {
        *reserved = (bytes & 0x80) != 0;
        return (bytes & 0xffffff00) | (bytes & 0x7f) << 1;
    }
    *reserved = (bytes & 0x8080) != 0;
    return (bytes & 0xffff0000) | (bytes & 0x7f00) << 1 | (bytes & 0x7f) << 2;
}

/* Four or eight bytes; of four, the upper half is 0. */
TW_INLINE uint64_t tw_etmv4_get_long(struct tw_bytes *in, unsigned size, unsigned sub_isa,
                                     bool *reserved)
{
    uint64_t bytes;

    if (TW_UNLIKELY(tw_bytes_left(in) < size)) {
        *reserved = false;
        in->short_read = true;
        return 0;
    }
    bytes = size == 4 ? tw_load_le32(in->at) : tw_load_le64(in->at);
    in->at += size;
    return (bytes & ~(uint64_t)UINT32_MAX) |
           tw_etmv4_long_low((uint32_t)bytes, sub_isa, reserved);
}

/* The payload of a context: information byte, VMID, Context ID. */
struct tw_etmv4_context {
    uint32_t cid, vmid; /* 0 unless has_... */
    uint8_t el;
    bool sf, ns, nse, has_cid, has_vmid, has_reserved;
};

static inline void tw_etmv4_get_context(struct tw_bytes *in, struct tw_etmv4_context *context,
                                        const struct tw_etmv4_setup *setup)
{
    const uint8_t info = tw_bytes_u8(in);

    context->el = info & 3;
    context->has_reserved = (info & 4) != 0;
    context->nse = (info & 8) != 0;
    context->sf = (info & 0x10) != 0;
    context->ns = (info & 0x20) != 0;
    context->has_vmid = (info & 0x40) != 0;
    context->has_cid = (info & 0x80) != 0;
    context->vmid = context->has_vmid ? (uint32_t)tw_bytes_le(in, setup->vmid_bytes) : 0;
    context->cid = context->has_cid ? (uint32_t)tw_bytes_le(in, setup->cid_bytes) : 0;
}

/* What the reader keeps between packets. */
struct tw_etmv4_reader {
    struct tw_etmv4_entry history[TW_ETMV4_HISTORY];
    uint64_t offset; /* of the next byte */
    uint64_t timestamp;
    uint32_t threshold;
    bool is_synced;
    bool has_trace_info; /* seen since synchronization was lost */
    bool has_timestamp;  /* seen since Trace Info */
    bool sf;             /* of the last context: width of 32-bit addresses in listings */
    uint8_t rule[256];   /* row of the rule table for each header */
    /* Of each header: the length of packets that an index passes over; else 0. */
    uint8_t lengths[256];
    bool has[TW_ETMV4_TYPES]; /* types that can be read, so written, under this configuration */
    struct tw_etmv4_setup setup;
    const struct tw_allocator *allocator;
};

void tw_etmv4_reader_init(struct tw_etmv4_reader *reader, const struct tw_etmv4_config *config);

/* How many rows of the rule table claim each header (for tests: 0 or 1). */
void tw_etmv4_claims(uint8_t claims[256], const struct tw_etmv4_setup *setup);

/* print.c */
extern const struct tw_packet_type tw_etmv4_types[TW_ETMV4_TYPES];
extern const struct tw_member_table tw_etmv4_members;

/* index.c: shared with ETE too. */
unsigned tw_etmv4_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                        const void *packet);
size_t tw_etmv4_pass(void *reader, const uint8_t *data, size_t size);

/* protocol.c: shared with ETE. */
extern const struct tw_register_use tw_etmv4_registers[], tw_ete_registers[];
enum tw_status tw_etmv4_configure(struct tw_etmv4_config *config,
                                  const struct tw_source_info *source, bool is_ete,
                                  struct tw_fault *fault);
uint8_t tw_etmv4_config_id(const void *config);
void tw_etmv4_any_init(void *reader, const void *config);
enum tw_status tw_etmv4_any_read(void *reader, void *packet, const uint8_t *data, size_t size,
                                 bool is_last);
size_t tw_etmv4_any_read_batch(void *reader, void *packets, size_t room, size_t *used,
                               const uint8_t *data, size_t size);
void tw_etmv4_any_lost(void *reader);
enum tw_status tw_etmv4_any_write(void *writer, uint8_t *out, size_t *size, const void *packet);

extern const struct tw_protocol tw_etmv4, tw_ete;

#endif
