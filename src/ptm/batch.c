/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: packets in batches.  What most of a trace is made of is read here, with all that it takes in
   registers and few branches that cannot be foretold; the rest by packet.c. */
#include "ptm/packet.h"

#include <string.h>

/* An address of 1 to 4 bytes without exception information: what the packet says of it, as its
   members lie there, then what it replaces of the address before, and the bit that would tell of
   the information. */
struct form {
    uint16_t exception;
    uint8_t address_bits, address_valid, address_size, info_size, isa, reason;
    uint32_t low, info;
};

/* The state of the processor, as it lies in a packet. */
struct state {
    bool isa_changed, has_info, ns, hyp, alt_isa, has_context_id, none[2];
};

enum {
    COMMON_AT = offsetof(struct tw_ptm_packet, base.size),
    FORM_AT = offsetof(struct tw_ptm_packet, exception),
    FORM_PART = offsetof(struct form, low),
    STATE_AT = offsetof(struct tw_ptm_packet, isa_changed),
    UNION_AT = offsetof(struct tw_ptm_packet, address),
    LONGEST = 16 /* of the packets that are read here, and what is loaded with them */
};

/* What is the same in many packets, as it lies in them: from the size to has_reserved. */
struct common {
    uint8_t bytes[UNION_AT - COMMON_AT];
};

_Static_assert(STATE_AT + sizeof(struct state) <= sizeof(struct tw_ptm_packet), "it fits");
_Static_assert(offsetof(struct tw_ptm_packet, reason) - FORM_AT ==
                       offsetof(struct form, reason) &&
                   offsetof(struct tw_ptm_packet, has_context_id) - STATE_AT ==
                       offsetof(struct state, has_context_id),
               "members lie as those of a packet");

/* clang-format off */
#define FORM(isa, shift, size, bits, info) \
    { 0, (bits) + (shift), 32, size, 0, isa, 0, (1u << ((bits) + (shift))) - 1, info }
#define FORMS(isa, shift) \
    [isa] = { FORM(isa, shift, 1, 6, 0), FORM(isa, shift, 2, 12, 0x4000), \
              FORM(isa, shift, 3, 19, 0x400000), FORM(isa, shift, 4, 26, 0x40000000) }
/* By bits 3 to 1 of an I-sync's information. */
#define STATE(ns, alt_isa, hyp) { false, false, ns, hyp, alt_isa, false, { false, false } }
static const struct state states[8] = {
    STATE(0, 0, 0), STATE(0, 0, 1), STATE(0, 1, 0), STATE(0, 1, 1),
    STATE(1, 0, 0), STATE(1, 0, 1), STATE(1, 1, 0), STATE(1, 1, 1),
};
#undef STATE

static const struct form forms[][4] = {
    FORMS(TW_ISA_A32, 2), FORMS(TW_ISA_T32, 1), FORMS(TW_ISA_A64, 1), FORMS(TW_ISA_TEE, 1),
    FORMS(TW_ISA_JAZELLE, 0), FORMS(TW_ISA_CUSTOM, 1), FORMS(TW_ISA_UNKNOWN, 1),
};
#undef FORM
#undef FORMS
/* clang-format on */

/* All that a run of packets works with. */
struct run {
    const uint8_t *at;
    uint64_t bias; /* `at` and this: the offset */
    uint32_t address;
    uint8_t isa;
    unsigned shift;
    const struct form *forms; /* of the instruction set */
    unsigned flags;           /* number of the state */
    uint64_t state;           /* struct state */
};

enum { FLAG_HYP = 1, FLAG_ALT_ISA = 2, FLAG_NS = 4, FLAGS = 7 };

TW_INLINE void set_flags(struct run *run, unsigned flags)
{
    run->flags = flags;
    memcpy(&run->state, &states[flags], sizeof run->state);
}

TW_INLINE void set_isa(struct run *run, uint8_t isa)
{
    run->isa = isa;
    run->shift = tw_armv7_shift(isa);
    run->forms = forms[isa];
}

static struct common common_of(uint8_t id, uint8_t type, bool has_cycles)
{
    const struct tw_ptm_packet packet = { .base = { .size = 1, .type = type, .id = id },
                                          .has_cycles = has_cycles };
    struct common common;

    memcpy(&common, (const uint8_t *)&packet + COMMON_AT, sizeof common);
    return common;
}

TW_INLINE void begin(struct tw_ptm_packet *packet, const struct run *run,
                     const struct common *common)
{
    const uint64_t offset = run->bias + (uintptr_t)run->at;

    packet->base.index = offset;
    packet->base.offset = offset;
    memcpy((uint8_t *)packet + COMMON_AT, common, sizeof *common);
}

TW_INLINE void end(struct tw_ptm_packet *packet, struct run *run, const uint8_t *at)
{
    packet->base.size = (uint32_t)(at - run->at);
    run->at = at;
}

TW_INLINE void put_address(struct tw_ptm_packet *packet, const struct run *run,
                           const struct form *form)
{
    packet->address = run->address;
    packet->context_id = 0;
    memcpy((uint8_t *)packet + FORM_AT, form, FORM_PART);
    memcpy((uint8_t *)packet + STATE_AT, &run->state, sizeof run->state);
}

/* A cycle count; returns where it ends.  `reserved` are the bits of its first byte that should not
   be set. */
TW_INLINE const uint8_t *take_cycles(struct tw_ptm_packet *packet, const uint8_t *at,
                                     uint8_t reserved)
{
    const uint64_t word = tw_load_le64(at);
    uint64_t more, stops, count;

    if (!(word & 0x40)) {
        packet->cycles = word >> 2 & 0xf;
        packet->has_reserved = (word & reserved) != 0;
        return at + 1;
    }
    more = ~(~word & 0x8080808000);
    stops = ~more | (uint64_t)1 << 39; /* the fifth byte is the last */
    count = word & (stops ^ (stops - 1));
    packet->cycles =
        (uint32_t)((count >> 2 & 0xf) | (count >> 4 & 0x7f0) | (count >> 5 & 0x3f800) |
                   (count >> 6 & 0x1fc0000) | (count >> 7 & 0xfe000000));
    packet->has_reserved = word & reserved || more == UINT64_MAX;
    return at + tw_lowest_bit(stops) / 8 + 1;
}

/* A branch with no exception information; its cycle count is still to come.  Returns where the
   address ends; NULL: it is for tw_ptm_read. */
TW_INLINE const uint8_t *take_branch(struct tw_ptm_packet *packet, struct run *run,
                                     const struct common *common)
{
    const uint64_t word = tw_load_le64(run->at);
    const uint32_t stops = ~(uint32_t)word & 0x80808080,
                   payload = tw_armv7_payload((uint32_t)word);
    struct tw_armv7_address fifth = { .address = 0 };
    uint32_t high;
    bool is_changed;

    if (TW_LIKELY(stops)) {
        const unsigned more = tw_lowest_bit(stops) / 8;
        const struct form *form = run->forms + more;

        if (TW_UNLIKELY(word & form->info))
            return NULL;
        begin(packet, run, common);
        run->address = (run->address & ~form->low) | ((payload << run->shift) & form->low);
        put_address(packet, run, form);
        return run->at + more + 1; /* known before the form is loaded */
    }
    high = tw_armv7_fifth(&fifth, (uint8_t)(word >> 32));
    if (TW_UNLIKELY(fifth.is_bad || word & (uint64_t)0xc0 << 32))
        return NULL;
    fifth.isa = tw_ptm_isa(fifth.isa, (run->flags & FLAG_ALT_ISA) != 0);
    is_changed = fifth.isa != run->isa;
    if (is_changed)
        set_isa(run, fifth.isa);
    run->address = (payload | high << 27) << run->shift;
    begin(packet, run, common);
    put_address(packet, run, run->forms);
    packet->isa_changed = is_changed;
    packet->address_bits = 32;
    packet->address_size = TW_ARMV7_ADDRESS_MAX;
    return run->at + TW_ARMV7_ADDRESS_MAX;
}

/* An I-sync. */
TW_INLINE void take_isync(struct tw_ptm_packet *packet, struct run *run,
                          const struct common *common, const struct tw_ptm_setup *setup,
                          bool cycle_accurate)
{
    static const uint32_t masks[5] = { 0, 0xff, 0xffff, 0xffffff, UINT32_MAX };
    const uint64_t word = tw_load_le64(run->at);
    const uint32_t address = (uint32_t)(word >> 8);
    const uint8_t info = (uint8_t)(word >> 40);
    const uint8_t *at = run->at + 6;
    const uint8_t isa = tw_ptm_isa(address & 1 ? TW_ISA_T32 : TW_ISA_A32, (info & 4) != 0);
    const bool isa_changed = isa != run->isa;

    begin(packet, run, common);
    packet->base.type = TW_PTM_ISYNC;
    packet->has_cycles = cycle_accurate && info & 0x60;
    if (packet->has_cycles)
        at = take_cycles(packet, at, 0x83);
    packet->has_reserved |= (info & 0x91) != 0x01;
    set_isa(run, isa);
    set_flags(run, info >> 1 & FLAGS);
    run->address = address & ~1u;
    put_address(packet, run, run->forms);
    packet->context_id = tw_load_le32(at) & masks[setup->context_bytes];
    packet->address_bits = 32;
    packet->address_size = 4;
    packet->reason = info >> 5 & 3;
    packet->isa_changed = isa_changed;
    packet->has_context_id = setup->context_bytes != 0;
    end(packet, run, at + setup->context_bytes);
}

/* Atoms, I-syncs, and branches without exception information, for as long as they come, there is
   room, and bytes before `limit`.  Returns where the next packet goes; *bytes and the reader move
   on. */
TW_INLINE struct tw_ptm_packet *read_frequent(struct tw_ptm_reader *reader,
                                              struct tw_ptm_packet *packet,
                                              const struct tw_ptm_packet *last,
                                              const uint8_t **bytes, const uint8_t *limit,
                                              bool cycle_accurate)
{
    const uint8_t id = reader->setup.id;
    const struct common atom = common_of(id, TW_PTM_ATOM, cycle_accurate),
                        branch = common_of(id, TW_PTM_BRANCH_ADDRESS, cycle_accurate);
    struct run run = { .at = *bytes,
                       .bias = reader->offset - (uintptr_t)*bytes,
                       .address = reader->address };

    set_isa(&run, reader->isa);
    set_flags(&run, (reader->hyp ? FLAG_HYP : 0) | (reader->alt_isa ? FLAG_ALT_ISA : 0) |
                        (reader->ns ? FLAG_NS : 0));
    for (; packet != last && run.at < limit; packet++) {
        const uint8_t head = *run.at, *at;

        if (!cycle_accurate && tw_ptm_atoms[head].count) {
            begin(packet, &run, &atom);
            packet->atoms = (uint8_t)tw_ptm_atoms[head].bits;
            packet->atom_count = tw_ptm_atoms[head].count;
            run.at++;
        } else if (cycle_accurate && (head & 0x81) == 0x80) {
            begin(packet, &run, &atom);
            packet->atoms = (head >> 1 & 1) ^ 1;
            packet->atom_count = 1;
            end(packet, &run, take_cycles(packet, run.at, 0));
        } else if (head & 1) {
            at = take_branch(packet, &run, &branch);
            if (TW_UNLIKELY(!at))
                break;
            end(packet, &run, cycle_accurate ? take_cycles(packet, at, 0x83) : at);
        } else if (head == TW_PTM_HEAD_ISYNC) {
            take_isync(packet, &run, &branch, &reader->setup, cycle_accurate);
        } else {
            break;
        }
    }
    *bytes = run.at;
    reader->offset = run.bias + (uintptr_t)run.at;
    reader->address = run.address;
    reader->isa = run.isa;
    reader->hyp = (run.flags & FLAG_HYP) != 0;
    reader->alt_isa = (run.flags & FLAG_ALT_ISA) != 0;
    reader->ns = (run.flags & FLAG_NS) != 0;
    return packet;
}

/* Functions of their own, so that all they work with stays in registers. */
static TW_NOINLINE struct tw_ptm_packet *read_plain(struct tw_ptm_reader *reader,
                                                    struct tw_ptm_packet *packet,
                                                    const struct tw_ptm_packet *last,
                                                    const uint8_t **bytes, const uint8_t *limit)
{
    return read_frequent(reader, packet, last, bytes, limit, false);
}

static TW_NOINLINE struct tw_ptm_packet *
read_with_cycles(struct tw_ptm_reader *reader, struct tw_ptm_packet *packet,
                 const struct tw_ptm_packet *last, const uint8_t **bytes, const uint8_t *limit)
{
    return read_frequent(reader, packet, last, bytes, limit, true);
}

size_t tw_ptm_read_batch(struct tw_ptm_reader *reader, struct tw_ptm_packet *packets,
                         size_t room, size_t *used, const uint8_t *data, size_t size)
{
    const uint8_t *at = data, *const data_end = data + size;
    const uint8_t *const limit = size > LONGEST ? data_end - LONGEST : data;
    struct tw_ptm_packet *packet = packets, *const last = packets + room;

    for (;;) {
        if (TW_LIKELY(reader->is_synced && reader->address_valid == 32))
            packet = (reader->setup.cycle_accurate ? read_with_cycles : read_plain)(
                reader, packet, last, &at, limit);
        if (packet == last ||
            tw_ptm_read(reader, packet, at, (size_t)(data_end - at), false) != TW_OK)
            break;
        at += packet->base.size;
        packet++;
    }
    *used = (size_t)(at - data);
    return (size_t)(packet - packets);
}
