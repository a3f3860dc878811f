/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: packets in batches.  What most of a trace is made of is read here, with all that it takes
   in registers and few branches that cannot be foretold; the rest by packet.c. */
#include "etmv3/packet.h"

#include <string.h>

/* An address of 1 to 4 bytes without exception information: what the packet says of it, as its
   members lie there, then what it replaces of the address before, and the bit that would tell of
   the information. */
struct form {
    uint16_t exception;
    uint8_t address_bits, address_valid, address_size, info_size, cycle_size, isa, reason,
        resume;
    bool isa_changed, has_info, has_state, has_second, has_resume, is_deprecated;
    uint32_t low, info;
};

/* The state of the processor, as it lies in a packet. */
struct state {
    bool is_m_profile, cancels, ns, hyp, alt_isa, has_context_id, has_address, is_in_progress;
};

enum {
    COMMON_AT = offsetof(struct tw_etmv3_packet, base.size),
    FORM_AT = offsetof(struct tw_etmv3_packet, exception),
    FORM_PART = offsetof(struct form, low),
    STATE_AT = offsetof(struct tw_etmv3_packet, is_m_profile),
    UNION_AT = offsetof(struct tw_etmv3_packet, address),
    LONGEST = 16 /* of the packets that are read here, and what is loaded with them */
};

/* What is the same in many packets, as it lies in them: from the size to has_reserved. */
struct common {
    uint8_t bytes[UNION_AT - COMMON_AT];
};

_Static_assert(offsetof(struct tw_etmv3_packet, header) -
                       offsetof(struct tw_etmv3_packet, atoms) ==
                   sizeof(uint64_t) - 1,
               "what a P-header says is a word");
_Static_assert(offsetof(struct tw_etmv3_packet, is_deprecated) - FORM_AT ==
                       offsetof(struct form, is_deprecated) &&
                   offsetof(struct tw_etmv3_packet, is_in_progress) - STATE_AT ==
                       offsetof(struct state, is_in_progress) &&
                   sizeof(struct state) == sizeof(uint64_t),
               "members lie as those of a packet");

/* clang-format off */
#define FORM(isa, shift, size, bits, info) \
    { 0, (bits) + (shift), 32, size, 0, 0, isa, 0, 0, 0, 0, 0, 0, 0, 0, \
      (1u << ((bits) + (shift))) - 1, info }
#define LONG(isa, shift) \
    [isa] = { FORM(isa, shift, 1, 6, 0), FORM(isa, shift, 2, 13, 0), \
              FORM(isa, shift, 3, 20, 0), FORM(isa, shift, 4, 27, 0) }
#define SHORT(isa, shift) \
    [isa] = { FORM(isa, shift, 1, 6, 0), FORM(isa, shift, 2, 12, 0x4000), \
              FORM(isa, shift, 3, 19, 0x400000), FORM(isa, shift, 4, 26, 0x40000000) }
/* The alternative encoding has a bit less in the last byte. */
static const struct form forms[2][TW_ISA_UNKNOWN + 1][4] = {
    { LONG(TW_ISA_A32, 2), LONG(TW_ISA_T32, 1), LONG(TW_ISA_A64, 1), LONG(TW_ISA_TEE, 1),
      LONG(TW_ISA_JAZELLE, 0), LONG(TW_ISA_CUSTOM, 1), LONG(TW_ISA_UNKNOWN, 1) },
    { SHORT(TW_ISA_A32, 2), SHORT(TW_ISA_T32, 1), SHORT(TW_ISA_A64, 1), SHORT(TW_ISA_TEE, 1),
      SHORT(TW_ISA_JAZELLE, 0), SHORT(TW_ISA_CUSTOM, 1), SHORT(TW_ISA_UNKNOWN, 1) },
};
#undef FORM
#undef LONG
#undef SHORT
/* clang-format on */

/* Of so many bytes. */
static const uint32_t masks[5] = { 0, 0xff, 0xffff, 0xffffff, UINT32_MAX };

/* All that a run of packets works with. */
struct run {
    const uint8_t *at;
    uint64_t bias; /* `at` and this: the offset */
    uint32_t address;
    uint8_t isa;
    unsigned shift;
    const struct form *forms; /* of the instruction set */
    uint64_t state;           /* struct state */
};

TW_INLINE void set_isa(struct run *run, const struct tw_etmv3_reader *reader, uint8_t isa)
{
    run->isa = isa;
    run->shift = tw_armv7_shift(isa);
    run->forms = forms[reader->setup.alternative][isa];
}

TW_INLINE struct common common_of(const struct tw_etmv3_reader *reader, uint8_t type)
{
    const struct tw_etmv3_packet packet = {
        .base = { .size = 1, .type = type, .id = reader->setup.id }
    };
    struct common common;

    memcpy(&common, (const uint8_t *)&packet + COMMON_AT, sizeof common);
    return common;
}

TW_INLINE uint64_t state_of(const struct tw_etmv3_reader *reader)
{
    const struct state state = { .is_m_profile = reader->setup.profile == TW_PROFILE_M,
                                 .ns = reader->ns,
                                 .hyp = reader->hyp,
                                 .alt_isa = reader->alt_isa };
    uint64_t word;

    memcpy(&word, &state, sizeof word);
    return word;
}

TW_INLINE void begin(struct tw_etmv3_packet *packet, const struct run *run,
                     const struct common *common)
{
    const uint64_t offset = run->bias + (uintptr_t)run->at;

    packet->base.index = offset;
    packet->base.offset = offset;
    memcpy((uint8_t *)packet + COMMON_AT, common, sizeof *common);
}

TW_INLINE void end(struct tw_etmv3_packet *packet, struct run *run, const uint8_t *at)
{
    packet->base.size = (uint32_t)(at - run->at);
    run->at = at;
}

/* Seven bits of each byte up to the one of the lowest stop bit. */
TW_INLINE uint32_t number_of(uint32_t bytes, uint32_t stops)
{
    const uint32_t kept = bytes & (stops ^ (stops - 1));

    return (kept & 0x7f) | (kept >> 1 & 0x3f80) | (kept >> 2 & 0x1fc000) |
           (kept >> 3 & 0xfe00000);
}

TW_INLINE void put_address(struct tw_etmv3_packet *packet, const struct run *run,
                           const struct form *form)
{
    packet->address = run->address;
    packet->context_id = packet->cycles = packet->next_address = 0;
    memcpy((uint8_t *)packet + FORM_AT, form, FORM_PART);
    memcpy((uint8_t *)packet + STATE_AT, &run->state, sizeof run->state);
}

/* A branch of five bytes with no exception; false: it is for tw_etmv3_read. */
TW_INLINE bool take_long(struct tw_etmv3_packet *packet, struct run *run,
                         const struct tw_etmv3_reader *reader, uint64_t word)
{
    struct tw_armv7_address fifth = { .address = 0 };
    const uint32_t high = tw_armv7_fifth(&fifth, (uint8_t)(word >> 32));
    bool is_changed;

    if (fifth.is_bad || word & (uint64_t)0xc0 << 32)
        return false;
    fifth.isa = tw_etmv3_isa(&reader->setup, fifth.isa, reader->alt_isa);
    is_changed = fifth.isa != run->isa;
    if (is_changed)
        set_isa(run, reader, fifth.isa);
    run->address = (tw_armv7_payload((uint32_t)word) | high << 27) << run->shift;
    put_address(packet, run, run->forms);
    packet->address_bits = 32;
    packet->address_size = TW_ARMV7_ADDRESS_MAX;
    packet->isa_changed = is_changed;
    packet->base.size = TW_ARMV7_ADDRESS_MAX;
    run->at += TW_ARMV7_ADDRESS_MAX;
    return true;
}

TW_INLINE bool is_isync(const struct tw_etmv3_reader *reader, uint8_t head)
{
    return head == TW_ETMV3_HEAD_I_SYNC ||
           (head == TW_ETMV3_HEAD_I_SYNC_CYCLE && reader->setup.cycle_accurate);
}

/* An I-sync; false: it is for tw_etmv3_read. */
TW_INLINE bool take_isync(struct tw_etmv3_packet *packet, struct run *run,
                          const struct common *common, struct tw_etmv3_reader *reader)
{
    const unsigned context_bytes = reader->setup.context_bytes;
    const bool is_plain = *run->at == TW_ETMV3_HEAD_I_SYNC;
    const uint8_t *at = run->at + 1;
    uint32_t count = 0, address;
    uint8_t count_size = 0, info, isa;

    if (!is_plain) {
        const uint32_t bytes = tw_load_le32(at), stops = ~bytes & 0x80808080;

        if (!stops)
            return false;
        count = number_of(bytes, stops);
        count_size = (uint8_t)(tw_lowest_bit(stops) / 8 + 1);
        at += count_size;
    }
    info = at[context_bytes];
    if (info & 0x90) /* a load or store is in progress, or Jazelle */
        return false;
    address = tw_load_le32(at + context_bytes + 1);
    begin(packet, run, common);
    packet->base.type = is_plain ? TW_ETMV3_I_SYNC : TW_ETMV3_I_SYNC_CYCLE;
    memset((uint8_t *)packet + UNION_AT, 0, sizeof *packet - UNION_AT);
    packet->has_reserved = !(info & 1);
    packet->cycles = count;
    packet->cycle_size = count_size;
    packet->context_id = tw_load_le32(at) & masks[context_bytes];
    packet->has_context_id = context_bytes != 0;
    packet->reason = info >> 5 & 3;
    packet->ns = reader->ns = (info & 0x08) != 0;
    packet->alt_isa = reader->alt_isa = (info & 0x04) != 0;
    packet->hyp = reader->hyp = (info & 0x02) != 0;
    isa = tw_etmv3_isa(&reader->setup, address & 1 ? TW_ISA_T32 : TW_ISA_A32, reader->alt_isa);
    packet->isa = isa;
    packet->isa_changed = isa != run->isa;
    packet->has_address = true;
    packet->address_bits = packet->address_valid = 32;
    packet->address = run->address = address & ~1u;
    set_isa(run, reader, isa);
    run->state = state_of(reader);
    /* Tracing (re)starts: the data address is compressed against nothing known any more. */
    if (packet->reason != TW_ETMV3_PERIODIC)
        reader->data_valid = 0;
    end(packet, run, at + context_bytes + 5);
    return true;
}

/* A data packet in order, with an address of at most four bytes; false: it is for tw_etmv3_read. */
TW_INLINE bool take_data(struct tw_etmv3_packet *packet, struct run *run,
                         const struct common *common, struct tw_etmv3_reader *reader)
{
    static const uint8_t sizes[4] = { 0, 1, 2, 4 };
    const uint8_t head = *run->at, *at = run->at + 1;
    const bool is_first = (head & 0x20) != 0, has_value = reader->setup.data_value,
               has_address = is_first && reader->setup.data_address;
    const uint8_t value_size = has_value ? sizes[head >> 2 & 3] : 0;
    uint32_t address = 0;
    uint8_t size = 0;

    if (has_address) {
        const uint32_t bytes = tw_load_le32(at), stops = ~bytes & 0x80808080;

        if (!stops)
            return false;
        size = (uint8_t)(tw_lowest_bit(stops) / 8 + 1);
        address =
            (uint32_t)tw_replace_low(reader->data_address, number_of(bytes, stops), 7u * size);
        reader->data_address = address;
        if (reader->data_valid < 7 * size)
            reader->data_valid = (uint8_t)(7 * size);
        at += size;
    }
    begin(packet, run, common);
    packet->base.type = TW_ETMV3_NORM_DATA;
    packet->has_reserved = !has_value && (head & 0x0c); /* a size, but no values are traced */
    packet->data_address = address;
    packet->data_value = tw_load_le32(at) & masks[value_size];
    packet->data_bits = (uint8_t)(7 * size);
    packet->data_valid = reader->data_valid;
    packet->data_size = size;
    packet->value_size = value_size;
    packet->tag = 0;
    packet->is_first = is_first;
    packet->has_data_address = has_address;
    packet->has_value = has_value;
    packet->is_big_endian = reader->is_big_endian;
    end(packet, run, at + value_size);
    return true;
}

/* P-headers, I-syncs, data in order, and branches without exception information, for as long as they come, there is room,
   and bytes before `limit`.  Returns where the next packet goes; *bytes and the reader move on.  A
   function of its own, so that all it works with stays in registers. */
static TW_NOINLINE struct tw_etmv3_packet *
read_frequent(struct tw_etmv3_reader *reader, struct tw_etmv3_packet *packet,
              const struct tw_etmv3_packet *last, const uint8_t **bytes, const uint8_t *limit)
{
    const struct common p_header = common_of(reader, TW_ETMV3_P_HDR),
                        branch = common_of(reader, TW_ETMV3_BRANCH_ADDRESS);
    struct run run = { .at = *bytes,
                       .bias = reader->offset - (uintptr_t)*bytes,
                       .address = reader->address,
                       .state = state_of(reader) };
    const bool has_data = tw_etmv3_has_data(&reader->setup);

    set_isa(&run, reader, reader->isa);
    for (; packet != last && run.at < limit; packet++) {
        const uint64_t atoms = reader->p_headers[*run.at];
        uint64_t word;
        uint32_t stops;

        if (TW_LIKELY(atoms)) {
            begin(packet, &run, &p_header);
            memcpy((uint8_t *)packet + offsetof(struct tw_etmv3_packet, atoms), &atoms,
                   sizeof atoms);
            run.at++;
            continue;
        }
        word = tw_load_le64(run.at);
        if (!(word & 1)) {
            if ((word & 0xd3) == 0x02 && has_data && take_data(packet, &run, &branch, reader))
                continue;
            if (is_isync(reader, (uint8_t)word) && take_isync(packet, &run, &branch, reader))
                continue;
            break;
        }
        stops = ~(uint32_t)word & 0x80808080;
        begin(packet, &run, &branch);
        if (TW_LIKELY(stops)) {
            const unsigned more = tw_lowest_bit(stops) / 8;
            const struct form *form = run.forms + more;

            if (TW_UNLIKELY(word & form->info))
                break;
            run.address = (run.address & ~form->low) |
                          (tw_armv7_payload((uint32_t)word) << run.shift & form->low);
            put_address(packet, &run, form);
            packet->base.size = more + 1;
            run.at += more + 1;
        } else if (!take_long(packet, &run, reader, word)) {
            break;
        }
    }
    *bytes = run.at;
    reader->offset = run.bias + (uintptr_t)run.at;
    reader->address = run.address;
    reader->isa = run.isa;
    return packet;
}

size_t tw_etmv3_read_batch(struct tw_etmv3_reader *reader, struct tw_etmv3_packet *packets,
                           size_t room, size_t *used, const uint8_t *data, size_t size)
{
    const uint8_t *at = data, *const data_end = data + size;
    const uint8_t *const limit = size > LONGEST ? data_end - LONGEST : data;
    struct tw_etmv3_packet *packet = packets, *const last = packets + room;

    for (;;) {
        if (TW_LIKELY(reader->is_synced && reader->address_valid == 32 &&
                      !reader->setup.data_only))
            packet = read_frequent(reader, packet, last, &at, limit);
        if (packet == last ||
            tw_etmv3_read(reader, packet, at, (size_t)(data_end - at), false) != TW_OK)
            break;
        at += packet->base.size;
        packet++;
    }
    *used = (size_t)(at - data);
    return (size_t)(packet - packets);
}
