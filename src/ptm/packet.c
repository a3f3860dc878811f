/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: bytes to packets.  One row per packet; a header's row comes from an index that is filled
   from the rows which the configuration allows. */
#include "ptm/packet.h"

#include "base/compiler.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

/* What a row needs of the unit. */
enum { ANY, PLAIN = 1, CYCLES = 2, CONTEXT = 4, V11 = 8 };

struct rule {
    uint8_t mask, match; /* applies when (head & mask) == match ... */
    uint8_t needs;       /* ... and the unit is so */
    uint8_t type;
    void (*read)(struct tw_ptm_reader *reader, struct tw_bytes *in, struct tw_ptm_packet *out,
                 uint8_t head);
};

static void read_reserved(struct tw_ptm_reader *reader, struct tw_bytes *in,
                          struct tw_ptm_packet *out, uint8_t head);
static void read_head_only(struct tw_ptm_reader *reader, struct tw_bytes *in,
                           struct tw_ptm_packet *out, uint8_t head);
static void read_async(struct tw_ptm_reader *reader, struct tw_bytes *in,
                       struct tw_ptm_packet *out, uint8_t head);
static void read_isync(struct tw_ptm_reader *reader, struct tw_bytes *in,
                       struct tw_ptm_packet *out, uint8_t head);
static void read_vmid(struct tw_ptm_reader *reader, struct tw_bytes *in,
                      struct tw_ptm_packet *out, uint8_t head);
static void read_timestamp(struct tw_ptm_reader *reader, struct tw_bytes *in,
                           struct tw_ptm_packet *out, uint8_t head);
static void read_context(struct tw_ptm_reader *reader, struct tw_bytes *in,
                         struct tw_ptm_packet *out, uint8_t head);
static void read_update(struct tw_ptm_reader *reader, struct tw_bytes *in,
                        struct tw_ptm_packet *out, uint8_t head);
static void read_atoms(struct tw_ptm_reader *reader, struct tw_bytes *in,
                       struct tw_ptm_packet *out, uint8_t head);
static void read_atom_cycles(struct tw_ptm_reader *reader, struct tw_bytes *in,
                             struct tw_ptm_packet *out, uint8_t head);
static void read_branch(struct tw_ptm_reader *reader, struct tw_bytes *in,
                        struct tw_ptm_packet *out, uint8_t head);

/* clang-format off */
static const struct rule rules[] = {
    /* Row 0 catches what no other row claims.  The rest: in the order of headers. */
    { 0x00, 0x00, ANY,     TW_PTM_RESERVED,         read_reserved },
    { 0xff, 0x00, ANY,     TW_PTM_ASYNC,            read_async },
    { 0xff, 0x08, ANY,     TW_PTM_ISYNC,            read_isync },
    { 0xff, 0x0c, ANY,     TW_PTM_TRIGGER,          read_head_only },
    { 0xff, 0x3c, V11,     TW_PTM_VMID,             read_vmid },
    { 0xfb, 0x42, ANY,     TW_PTM_TIMESTAMP,        read_timestamp },
    { 0xff, 0x66, ANY,     TW_PTM_IGNORE,           read_head_only },
    { 0xff, 0x6e, CONTEXT, TW_PTM_CONTEXT_ID,       read_context },
    { 0xff, 0x72, ANY,     TW_PTM_WP_UPDATE,        read_update },
    { 0xff, 0x76, ANY,     TW_PTM_EXCEPTION_RETURN, read_head_only },
    { 0xfd, 0x84, PLAIN,   TW_PTM_ATOM,             read_atoms }, /* 80 and 82 are reserved */
    { 0xf9, 0x88, PLAIN,   TW_PTM_ATOM,             read_atoms },
    { 0xf1, 0x90, PLAIN,   TW_PTM_ATOM,             read_atoms },
    { 0xe1, 0xa0, PLAIN,   TW_PTM_ATOM,             read_atoms },
    { 0xc1, 0xc0, PLAIN,   TW_PTM_ATOM,             read_atoms },
    { 0x81, 0x80, CYCLES,  TW_PTM_ATOM,             read_atom_cycles },
    { 0x01, 0x01, ANY,     TW_PTM_BRANCH_ADDRESS,   read_branch },
};

/* Bits of a header that mean E, oldest in the highest: from the left the first atom. */
#define E(head, bit) ((head) >> (bit) & 1 ? 0 : 1)
#define A1(USE, h) USE(h, E(h, 1), 1)
#define A2(USE, h) USE(h, E(h, 2) | E(h, 1) << 1, 2)
#define A3(USE, h) USE(h, E(h, 3) | E(h, 2) << 1 | E(h, 1) << 2, 3)
#define A4(USE, h) USE(h, E(h, 4) | E(h, 3) << 1 | E(h, 2) << 2 | E(h, 1) << 3, 4)
#define A5(USE, h) USE(h, E(h, 5) | E(h, 4) << 1 | E(h, 3) << 2 | E(h, 2) << 3 | E(h, 1) << 4, 5)
#define ATOMS(USE) \
    A1(USE, 0x84) A1(USE, 0x86) \
    A2(USE, 0x88) A2(USE, 0x8a) A2(USE, 0x8c) A2(USE, 0x8e) \
    A3(USE, 0x90) A3(USE, 0x92) A3(USE, 0x94) A3(USE, 0x96) A3(USE, 0x98) A3(USE, 0x9a) A3(USE, 0x9c) A3(USE, 0x9e) \
    A4(USE, 0xa0) A4(USE, 0xa2) A4(USE, 0xa4) A4(USE, 0xa6) A4(USE, 0xa8) A4(USE, 0xaa) A4(USE, 0xac) A4(USE, 0xae) \
    A4(USE, 0xb0) A4(USE, 0xb2) A4(USE, 0xb4) A4(USE, 0xb6) A4(USE, 0xb8) A4(USE, 0xba) A4(USE, 0xbc) A4(USE, 0xbe) \
    A5(USE, 0xc0) A5(USE, 0xc2) A5(USE, 0xc4) A5(USE, 0xc6) A5(USE, 0xc8) A5(USE, 0xca) A5(USE, 0xcc) A5(USE, 0xce) \
    A5(USE, 0xd0) A5(USE, 0xd2) A5(USE, 0xd4) A5(USE, 0xd6) A5(USE, 0xd8) A5(USE, 0xda) A5(USE, 0xdc) A5(USE, 0xde) \
    A5(USE, 0xe0) A5(USE, 0xe2) A5(USE, 0xe4) A5(USE, 0xe6) A5(USE, 0xe8) A5(USE, 0xea) A5(USE, 0xec) A5(USE, 0xee) \
    A5(USE, 0xf0) A5(USE, 0xf2) A5(USE, 0xf4) A5(USE, 0xf6) A5(USE, 0xf8) A5(USE, 0xfa) A5(USE, 0xfc) A5(USE, 0xfe)
#define ROW(head, bits, count)  [head] = { bits, count, TW_PTM_ATOM },
#define WORD(head, bits, count) [head] = (bits) | 1 << (count),
const struct tw_atom_packet tw_ptm_atoms[256] = { ATOMS(ROW) };
const uint8_t tw_ptm_atom_words[256] = { ATOMS(WORD) };
#undef WORD
#undef ROW
#undef ATOMS
#undef E
#undef A1
#undef A2
#undef A3
#undef A4
#undef A5
/* clang-format on */

static void read_reserved(struct tw_ptm_reader *reader, struct tw_bytes *in,
                          struct tw_ptm_packet *out, uint8_t head)
{
    (void)reader;
    (void)in;
    out->value = head;
}

static void read_head_only(struct tw_ptm_reader *reader, struct tw_bytes *in,
                           struct tw_ptm_packet *out, uint8_t head)
{
    (void)reader;
    (void)in;
    (void)out;
    (void)head;
}

static void read_async(struct tw_ptm_reader *reader, struct tw_bytes *in,
                       struct tw_ptm_packet *out, uint8_t head)
{
    (void)reader;
    if (!tw_armv7_get_async(in, head)) {
        out->base.type = TW_PTM_BAD_SEQUENCE;
        out->value = head;
    }
}

static void get_cycles(struct tw_bytes *in, struct tw_ptm_packet *out)
{
    const uint8_t first = tw_bytes_u8(in);

    out->has_cycles = true;
    out->cycles = tw_ptm_get_cycles(in, first);
    out->has_reserved |= (first & 0x83) || ((first & 0x40) && (in->at[-1] & 0x80));
}

static void set_address(struct tw_ptm_reader *reader, struct tw_ptm_packet *out,
                        const struct tw_armv7_address *address)
{
    out->address = address->address;
    out->address_bits = address->bits;
    out->address_size = address->size;
    out->address_valid =
        reader->address_valid > address->bits ? reader->address_valid : address->bits;
}

/* The packet is whole: what it says goes for the next ones. */
static void keep(struct tw_ptm_reader *reader, const struct tw_ptm_packet *packet)
{
    reader->address = packet->address;
    reader->address_valid = packet->address_valid;
    reader->isa = packet->isa;
    reader->alt_isa = packet->alt_isa;
    reader->ns = packet->ns;
    reader->hyp = packet->hyp;
}

static void read_isync(struct tw_ptm_reader *reader, struct tw_bytes *in,
                       struct tw_ptm_packet *out, uint8_t head)
{
    const uint32_t address = (uint32_t)tw_bytes_le(in, 4);
    const uint8_t info = tw_bytes_u8(in);

    (void)head;
    out->reason = info >> 5 & 3;
    out->ns = (info & 0x08) != 0;
    out->alt_isa = (info & 0x04) != 0;
    out->hyp = (info & 0x02) != 0;
    out->has_reserved = (info & 0x91) != 0x01;
    out->address = address & ~1u;
    out->address_bits = out->address_valid = 32;
    out->address_size = 4;
    out->isa = tw_ptm_isa(address & 1 ? TW_ISA_T32 : TW_ISA_A32, out->alt_isa);
    out->isa_changed = out->isa != reader->isa;
    if (reader->setup.cycle_accurate && out->reason != TW_PTM_PERIODIC)
        get_cycles(in, out);
    out->has_context_id = reader->setup.context_bytes != 0;
    out->context_id = (uint32_t)tw_bytes_le(in, reader->setup.context_bytes);
    if (!in->short_read)
        keep(reader, out);
}

static void read_vmid(struct tw_ptm_reader *reader, struct tw_bytes *in,
                      struct tw_ptm_packet *out, uint8_t head)
{
    (void)reader;
    (void)head;
    out->value = tw_bytes_u8(in);
}

static void read_context(struct tw_ptm_reader *reader, struct tw_bytes *in,
                         struct tw_ptm_packet *out, uint8_t head)
{
    (void)head;
    out->value = (uint32_t)tw_bytes_le(in, reader->setup.context_bytes);
}

static void read_timestamp(struct tw_ptm_reader *reader, struct tw_bytes *in,
                           struct tw_ptm_packet *out, uint8_t head)
{
    unsigned bits = 0;

    out->freq_changed = (head & 4) != 0;
    out->timestamp = tw_armv7_get_time(in, reader->timestamp, reader->setup.time_width, &bits);
    out->timestamp_bits = (uint8_t)bits;
    out->has_reserved = bits == 48 && (in->at[-1] & 0xc0);
    out->time = reader->setup.time_is_gray ? tw_gray_to_binary(out->timestamp) : out->timestamp;
    if (reader->setup.cycle_accurate)
        get_cycles(in, out);
    if (!in->short_read)
        reader->timestamp = out->timestamp;
}

static void read_atoms(struct tw_ptm_reader *reader, struct tw_bytes *in,
                       struct tw_ptm_packet *out, uint8_t head)
{
    (void)reader;
    (void)in;
    out->atoms = (uint8_t)tw_ptm_atoms[head].bits;
    out->atom_count = tw_ptm_atoms[head].count;
}

static void read_atom_cycles(struct tw_ptm_reader *reader, struct tw_bytes *in,
                             struct tw_ptm_packet *out, uint8_t head)
{
    (void)reader;
    out->atoms = head & 2 ? 0 : 1;
    out->atom_count = 1;
    out->has_cycles = true;
    out->cycles = tw_ptm_get_cycles(in, head);
    out->has_reserved = (head & 0x40) && (in->at[-1] & 0x80); /* a fifth byte has seven bits */
}

static void read_branch(struct tw_ptm_reader *reader, struct tw_bytes *in,
                        struct tw_ptm_packet *out, uint8_t head)
{
    struct tw_armv7_address address;

    in->at--; /* the header is the first byte of the address */
    (void)head;
    tw_armv7_get_address(in, &address, reader->address, reader->isa, true);
    set_address(reader, out, &address);
    out->ns = reader->ns;
    out->hyp = reader->hyp;
    out->alt_isa = reader->alt_isa;
    out->has_reserved = address.size == 5 && (address.last & 0x80);
    out->has_info = address.size > 1 && (address.last & 0x40);
    if (out->has_info) {
        const uint8_t first = tw_bytes_u8(in);

        out->info_size = 1;
        out->alt_isa = (first & 0x40) != 0;
        out->exception = first >> 1 & 0xf;
        out->ns = first & 1;
        out->has_reserved |= (first & 0x20) != 0;
        if (first & 0x80) {
            const uint8_t second = tw_bytes_u8(in);

            out->info_size = 2;
            out->hyp = (second & 0x20) != 0;
            out->exception |= (uint16_t)((second & 0x1f) << 4);
            out->has_reserved |= (second & 0xc0) != 0;
        }
    }
    out->isa = tw_ptm_isa(address.isa, out->alt_isa);
    out->isa_changed = out->isa != reader->isa;
    if (reader->setup.cycle_accurate)
        get_cycles(in, out);
    if (in->short_read)
        return;
    if (address.is_bad) {
        out->base.type = TW_PTM_BAD_SEQUENCE;
        out->value = head;
    } else {
        keep(reader, out);
    }
}

static void read_update(struct tw_ptm_reader *reader, struct tw_bytes *in,
                        struct tw_ptm_packet *out, uint8_t head)
{
    const bool has_bit_0 = tw_bytes_left(in) && (*in->at & 1);
    struct tw_armv7_address address;

    tw_armv7_get_address(in, &address, reader->address, reader->isa, true);
    set_address(reader, out, &address);
    out->ns = reader->ns;
    out->hyp = reader->hyp;
    out->alt_isa = reader->alt_isa;
    out->has_reserved = !has_bit_0 || (address.size == 5 && (address.last & 0x80));
    if (address.size == 5 && (address.last & 0x40)) {
        const uint8_t info = tw_bytes_u8(in);

        out->info_size = 1;
        out->has_info = true;
        out->alt_isa = (info & 0x40) != 0;
        out->has_reserved |= (info & 0xbf) != 0;
    } else if (address.size > 1 && (address.last & 0x40)) {
        out->has_reserved = true;
    }
    out->isa = tw_ptm_isa(address.isa, out->alt_isa);
    out->isa_changed = out->isa != reader->isa;
    if (in->short_read)
        return;
    if (address.is_bad) {
        out->base.type = TW_PTM_BAD_SEQUENCE;
        out->value = head;
    } else {
        keep(reader, out);
    }
}

static unsigned features(const struct tw_ptm_setup *setup)
{
    return (setup->cycle_accurate ? CYCLES : PLAIN) | (setup->context_bytes ? CONTEXT : 0u) |
           (setup->is_v11 ? V11 : 0u);
}

/* The row of each header, and how many rows claim it. */
static void find_rows(uint8_t rows[256], uint8_t claims[256], const struct tw_ptm_setup *setup)
{
    const unsigned has = features(setup);

    memset(rows, 0, 256);
    memset(claims, 0, 256);
    for (unsigned i = 1; i < TW_LENGTH(rules); i++) {
        unsigned rest = 0; /* bits that the row leaves open, in all ways */

        if (rules[i].needs & ~has)
            continue;
        do {
            rows[rules[i].match | rest] = (uint8_t)i;
            claims[rules[i].match | rest]++;
            rest = (rest - (~rules[i].mask & 0xffu)) & ~rules[i].mask & 0xffu;
        } while (rest);
    }
}

void tw_ptm_claims(uint8_t claims[256], const struct tw_ptm_setup *setup)
{
    uint8_t rows[256];

    find_rows(rows, claims, setup);
}

void tw_ptm_reader_init(struct tw_ptm_reader *reader, const struct tw_ptm_config *config)
{
    uint8_t claims[256];

    *reader = (struct tw_ptm_reader){ .offset = 0 };
    tw_ptm_setup_from_config(&reader->setup, config);
    find_rows(reader->rule, claims, &reader->setup);
    tw_ptm_reader_lost(reader);
}

void tw_ptm_reader_lost(struct tw_ptm_reader *reader)
{
    reader->is_synced = reader->alt_isa = reader->ns = reader->hyp = false;
    reader->timestamp = 0;
    reader->address = 0;
    reader->address_valid = 0;
    reader->isa = TW_ISA_UNKNOWN;
}

enum tw_status tw_ptm_reader_new(struct tw_ptm_reader **reader,
                                 const struct tw_ptm_config *config,
                                 const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_ptm_config copy;
    struct tw_ptm_reader *made;

    *reader = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_ptm_config", fault));
    made = tw_take(allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a packet reader");
    tw_ptm_reader_init(made, &copy);
    made->allocator = allocator;
    *reader = made;
    return TW_OK;
}

void tw_ptm_reader_free(struct tw_ptm_reader *reader)
{
    if (reader)
        tw_give(reader->allocator, reader);
}

/* Bytes up to the next ASYNC, or that ASYNC. */
static TW_NOINLINE enum tw_status hunt(struct tw_ptm_reader *reader, struct tw_packet *packet,
                                       const uint8_t *data, size_t size, bool is_last)
{
    static const struct tw_armv7_hunted types = { TW_PTM_NOT_SYNC, TW_PTM_ASYNC };

    TW_TRY(tw_armv7_hunt(packet, &types, data, size, is_last));
    reader->is_synced = packet->type == TW_PTM_ASYNC;
    reader->offset += packet->size;
    return TW_OK;
}

enum tw_status tw_ptm_read(struct tw_ptm_reader *reader, struct tw_ptm_packet *packet,
                           const uint8_t *data, size_t size, bool is_last)
{
    struct tw_bytes in = { .at = data, .end = data + size };
    const struct rule *rule;
    uint8_t head;

    if (size == 0)
        return TW_MORE;
    *packet = (struct tw_ptm_packet){
        .base = { .index = reader->offset, .offset = reader->offset, .id = reader->setup.id }
    };
    if (!reader->is_synced)
        return hunt(reader, &packet->base, data, size, is_last);
    head = *in.at++;
    rule = &rules[reader->rule[head]];
    packet->base.type = rule->type;
    rule->read(reader, &in, packet, head);
    if (in.short_read) {
        if (!is_last)
            return TW_MORE;
        packet->base.type = TW_PTM_INCOMPLETE_EOT;
        packet->value = head;
    }
    packet->base.size = (uint32_t)(in.at - data);
    reader->offset += packet->base.size;
    if (packet->base.type == TW_PTM_RESERVED || packet->base.type == TW_PTM_BAD_SEQUENCE)
        tw_ptm_reader_lost(reader);
    return TW_OK;
}
