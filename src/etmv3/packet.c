/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: bytes to packets.  One row per packet; a header's row comes from an index that is filled
   from the rows which the configuration allows. */
#include "etmv3/payload.h"

#include <string.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

/* What a row needs of the unit. */
enum {
    ANY,
    INSTR = 0x01,   /* instructions are traced: not data-only */
    CYCLES = 0x02,  /* cycle accurate */
    VALUE = 0x04,   /* data values */
    DATA = 0x08,    /* data values or addresses */
    CONTEXT = 0x10, /* context IDs */
    V35 = 0x20,     /* ETMv3.5 */
    EXIT = 0x40,    /* exception exits: ETMv3.5, or 3.4 of an M-profile core */
    ENTRY = 0x80    /* exception entries: ETMv3.4 of an M-profile core, data traced */
};

enum { ROW_RESERVED, ROW_BAD_TRACEMODE, ROW_FIRST };

struct rule {
    uint8_t mask, match; /* applies when (head & mask) == match ... */
    uint8_t needs;       /* ... and the unit is so */
    uint8_t type;
    tw_etmv3_read_fn *read;
};

/* clang-format off */
static const struct rule rules[] = {
    /* The first two catch what no other row claims.  The rest: in the order of headers. */
    { 0x00, 0x00, ANY,          TW_ETMV3_RESERVED,        tw_etmv3_read_bad },
    { 0x00, 0x00, ANY,          TW_ETMV3_BAD_TRACEMODE,   tw_etmv3_read_bad },
    { 0xff, 0x00, ANY,          TW_ETMV3_A_SYNC,          tw_etmv3_read_async },
    { 0xd3, 0x02, DATA,         TW_ETMV3_NORM_DATA,       tw_etmv3_read_data },
    { 0xff, 0x04, CYCLES,       TW_ETMV3_CYCLE_COUNT,     tw_etmv3_read_count },
    { 0xff, 0x08, ANY,          TW_ETMV3_I_SYNC,          tw_etmv3_read_isync },
    { 0xff, 0x0c, ANY,          TW_ETMV3_TRIGGER,         tw_etmv3_read_head_only },
    { 0xf3, 0x20, VALUE,        TW_ETMV3_OOO_DATA,        tw_etmv3_read_data },
    { 0xff, 0x3c, V35,          TW_ETMV3_VMID,            tw_etmv3_read_vmid },
    { 0xf3, 0x40, VALUE,        TW_ETMV3_OOO_DATA,        tw_etmv3_read_data },
    { 0xfb, 0x42, V35,          TW_ETMV3_TIMESTAMP,       tw_etmv3_read_timestamp },
    { 0xff, 0x50, VALUE,        TW_ETMV3_STORE_FAIL,      tw_etmv3_read_head_only },
    { 0xdf, 0x54, DATA,         TW_ETMV3_OOO_ADDR_PLC,    tw_etmv3_read_data },
    { 0xdb, 0x58, DATA,         TW_ETMV3_OOO_ADDR_PLC,    tw_etmv3_read_data },
    { 0xf3, 0x60, VALUE,        TW_ETMV3_OOO_DATA,        tw_etmv3_read_data },
    { 0xff, 0x62, DATA | INSTR, TW_ETMV3_DATA_SUPPRESSED, tw_etmv3_read_head_only },
    { 0xff, 0x66, ANY,          TW_ETMV3_IGNORE,          tw_etmv3_read_head_only },
    { 0xef, 0x6a, DATA,         TW_ETMV3_VAL_NOT_TRACED,  tw_etmv3_read_data },
    { 0xff, 0x6e, CONTEXT,      TW_ETMV3_CONTEXT_ID,      tw_etmv3_read_context },
    { 0xff, 0x70, CYCLES,       TW_ETMV3_I_SYNC_CYCLE,    tw_etmv3_read_isync },
    { 0xff, 0x76, EXIT,         TW_ETMV3_EXCEPTION_EXIT,  tw_etmv3_read_head_only },
    { 0xff, 0x7e, ENTRY,        TW_ETMV3_EXCEPTION_ENTRY, tw_etmv3_read_head_only },
    { 0x81, 0x80, INSTR,        TW_ETMV3_P_HDR,           tw_etmv3_read_p_header },
    { 0x01, 0x01, INSTR,        TW_ETMV3_BRANCH_ADDRESS,  tw_etmv3_read_branch },
};
/* clang-format on */

static unsigned features(const struct tw_etmv3_setup *setup)
{
    const bool is_m = setup->profile == TW_PROFILE_M;
    unsigned has = 0;

    if (!setup->data_only)
        has |= INSTR;
    if (setup->cycle_accurate)
        has |= CYCLES;
    if (setup->data_value)
        has |= VALUE;
    if (tw_etmv3_has_data(setup))
        has |= DATA;
    if (setup->context_bytes)
        has |= CONTEXT;
    if (setup->minor >= 5)
        has |= V35 | EXIT;
    if (setup->minor >= 4 && is_m)
        has |= EXIT;
    if (setup->minor >= 4 && is_m && tw_etmv3_has_data(setup))
        has |= ENTRY;
    return has;
}

/* The row of each header, and how many rows claim it. */
static void find_rows(uint8_t rows[256], uint8_t claims[256],
                      const struct tw_etmv3_setup *setup)
{
    const unsigned has = features(setup);

    memset(rows, ROW_RESERVED, 256);
    memset(claims, 0, 256);
    for (unsigned i = ROW_FIRST; i < TW_LENGTH(rules); i++) {
        const bool is_there = !(rules[i].needs & ~has);
        unsigned rest = 0; /* bits that the row leaves open, in all ways */

        do {
            rows[rules[i].match | rest] = is_there ? (uint8_t)i : ROW_BAD_TRACEMODE;
            claims[rules[i].match | rest] += is_there;
            rest = (rest - (~rules[i].mask & 0xffu)) & ~rules[i].mask & 0xffu;
        } while (rest);
    }
}

void tw_etmv3_claims(uint8_t claims[256], const struct tw_etmv3_setup *setup)
{
    uint8_t rows[256];

    find_rows(rows, claims, setup);
}

/* size: table */
void tw_etmv3_p_header(struct tw_etmv3_atoms *out, uint8_t head, bool cycle_accurate)
{
    const unsigned count = head >> 2 & (cycle_accurate ? 7 : 15);
    const bool flag = (head & 0x40) != 0;

    *out = (struct tw_etmv3_atoms){ .is_legal = true };
    if ((head & 0xf3) == 0x82) { /* format 2 */
        out->format = 2;
        out->count = 2;
        out->bits = (uint16_t)((head & 8 ? 0 : 1) | (head & 4 ? 0 : 2));
        out->cycles = cycle_accurate;
    } else if ((head & 3) == 2) { /* format 4 */
        if (!cycle_accurate || (head & 0xfb) != 0x92) {
            out->is_legal = false;
            return;
        }
        out->format = 4;
        out->count = 1;
        out->bits = head & 4 ? 0 : 1;
    } else if (!cycle_accurate) {
        out->format = 1;
        out->count = (uint8_t)(count + flag);
        out->bits = (uint16_t)((1u << count) - 1);
    } else if (head & 0x20) {
        out->format = 3;
        out->cycles = (uint8_t)(count + 1);
        out->count = flag;
        out->bits = flag;
    } else if (head == 0x80) { /* format 0, deprecated */
        out->cycles = 1;
    } else {
        out->format = 1;
        out->count = out->cycles = (uint8_t)(count + flag);
        out->bits = (uint16_t)((1u << count) - 1);
        out->other_cycles = 1;
    }
    out->first_cycles =
        (uint8_t)(out->cycles - (out->count ? out->count - 1 : 0) * out->other_cycles);
}

/* All that is said of P-headers, in the three forms that it is wanted in. */
static void set_p_header(struct tw_etmv3_reader *reader, uint8_t head)
{
    struct tw_etmv3_atoms *atoms = &reader->atoms[head];
    struct tw_etmv3_packet packet = { .header = head };

    tw_etmv3_p_header(atoms, head, reader->setup.cycle_accurate);
    if (!atoms->is_legal)
        return;
    reader->plain[head] = (struct tw_atom_packet){ .bits = atoms->bits, .count = atoms->count };
    packet.atoms = atoms->bits;
    packet.atom_count = atoms->count;
    packet.format = atoms->format;
    packet.header_cycles = atoms->cycles;
    memcpy(&reader->p_headers[head],
           (const uint8_t *)&packet + offsetof(struct tw_etmv3_packet, atoms),
           sizeof reader->p_headers[head]);
}

void tw_etmv3_reader_init(struct tw_etmv3_reader *reader, const struct tw_etmv3_config *config)
{
    uint8_t claims[256];

    *reader = (struct tw_etmv3_reader){ .offset = 0 };
    tw_etmv3_setup_from_config(&reader->setup, config);
    find_rows(reader->rule, claims, &reader->setup);
    for (unsigned head = 0; head < 256; head++)
        if (rules[reader->rule[head]].type == TW_ETMV3_P_HDR)
            set_p_header(reader, (uint8_t)head);
    tw_etmv3_reader_lost(reader);
}

void tw_etmv3_reader_lost(struct tw_etmv3_reader *reader)
{
    reader->is_synced = reader->alt_isa = reader->ns = reader->hyp = false;
    reader->is_big_endian = false;
    reader->timestamp = 0;
    reader->address = reader->data_address = 0;
    reader->address_valid = reader->data_valid = 0;
    reader->isa = TW_ISA_UNKNOWN;
}

enum tw_status tw_etmv3_reader_new(struct tw_etmv3_reader **reader,
                                   const struct tw_etmv3_config *config,
                                   const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_etmv3_config copy;
    struct tw_etmv3_reader *made;

    *reader = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_etmv3_config", fault));
    made = tw_take(allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a packet reader");
    tw_etmv3_reader_init(made, &copy);
    made->allocator = allocator;
    *reader = made;
    return TW_OK;
}

void tw_etmv3_reader_free(struct tw_etmv3_reader *reader)
{
    if (reader)
        tw_give(reader->allocator, reader);
}

/* Bytes up to the next A-sync, or that A-sync. */
static TW_NOINLINE enum tw_status hunt(struct tw_etmv3_reader *reader, struct tw_packet *packet,
                                       const uint8_t *data, size_t size, bool is_last)
{
    static const struct tw_armv7_hunted types = { TW_ETMV3_NOT_SYNC, TW_ETMV3_A_SYNC };

    TW_TRY(tw_armv7_hunt(packet, &types, data, size, is_last));
    reader->is_synced = packet->type == TW_ETMV3_A_SYNC;
    reader->offset += packet->size;
    return TW_OK;
}

enum tw_status tw_etmv3_read(struct tw_etmv3_reader *reader, struct tw_etmv3_packet *packet,
                             const uint8_t *data, size_t size, bool is_last)
{
    struct tw_bytes in = { .at = data, .end = data + size };
    const struct rule *rule;
    uint8_t head;

    if (size == 0)
        return TW_MORE;
    *packet = (struct tw_etmv3_packet){
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
        packet->base.type = TW_ETMV3_INCOMPLETE_EOT;
    }
    packet->base.size = (uint32_t)(in.at - data);
    reader->offset += packet->base.size;
    if (tw_etmv3_type_is_bad(packet->base.type)) {
        packet->value = head;
        if (!in.short_read)
            tw_etmv3_reader_lost(reader);
    }
    return TW_OK;
}
