/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: packets to bytes, the exact inverse of packet.c. */
#include "etmv3/packet.h"

/* A number in `size` bytes of at most five, or as few as can be when `size` is 0. */
static bool put_count(struct tw_writer *out, uint32_t value, unsigned size)
{
    if (size > TW_ETMV3_COUNT_BYTES ||
        (size && size < TW_ETMV3_COUNT_BYTES && (uint64_t)value >> (7 * size)))
        return false;
    if (size)
        tw_write_uleb_bits(out, value, 7 * size, TW_ETMV3_COUNT_BYTES);
    else
        tw_write_uleb(out, value, TW_ETMV3_COUNT_BYTES);
    return true;
}

static bool is_thumb(uint8_t isa)
{
    return isa == TW_ISA_T32 || isa == TW_ISA_TEE;
}

static bool can_carry(const struct tw_etmv3_packet *packet, uint32_t address, unsigned size)
{
    return size >= 1 && size <= TW_ARMV7_ADDRESS_MAX &&
           !(address & ((1u << tw_armv7_shift(packet->isa)) - 1)) &&
           (packet->isa == TW_ISA_A32 || is_thumb(packet->isa) ||
            packet->isa == TW_ISA_JAZELLE ||
            (packet->isa == TW_ISA_UNKNOWN && size < TW_ARMV7_ADDRESS_MAX));
}

static bool put_isync_address(struct tw_writer *out, const struct tw_etmv3_reader *writer,
                              const struct tw_etmv3_packet *packet)
{
    const bool alternative = writer->setup.alternative;
    unsigned size = packet->address_size;

    if (!(is_thumb(packet->isa) || packet->isa == TW_ISA_A32 ||
          packet->isa == TW_ISA_JAZELLE) ||
        (packet->isa != TW_ISA_JAZELLE && packet->address & 1))
        return false;
    tw_write_le(out, packet->address | (is_thumb(packet->isa) ? 1u : 0), 4);
    if (!packet->is_in_progress)
        return true;
    if (!size)
        size = tw_armv7_address_size(packet->next_address, packet->address, packet->isa,
                                     packet->isa, alternative);
    if (!can_carry(packet, packet->next_address, size))
        return false;
    tw_armv7_put_address(out, packet->next_address, packet->isa, size, alternative, false);
    return true;
}

static bool put_isync(struct tw_writer *out, const struct tw_etmv3_reader *writer,
                      const struct tw_etmv3_packet *packet)
{
    const bool has_cycles = packet->base.type == TW_ETMV3_I_SYNC_CYCLE;

    if (packet->reason > TW_ETMV3_DEBUG_EXIT ||
        !tw_armv7_fits(packet->context_id, writer->setup.context_bytes) ||
        packet->has_address == writer->setup.data_only ||
        (has_cycles && !writer->setup.cycle_accurate) ||
        (packet->is_in_progress && !packet->has_address))
        return false;
    tw_write_u8(out, has_cycles ? TW_ETMV3_HEAD_I_SYNC_CYCLE : TW_ETMV3_HEAD_I_SYNC);
    if (has_cycles && !put_count(out, packet->cycles, packet->cycle_size))
        return false;
    tw_write_le(out, packet->context_id, writer->setup.context_bytes);
    tw_write_u8(out,
                (uint8_t)(0x01u | (packet->is_in_progress ? 0x80u : 0) |
                          (unsigned)packet->reason << 5 |
                          (packet->isa == TW_ISA_JAZELLE ? 0x10u : 0) | (packet->ns ? 8u : 0) |
                          (packet->alt_isa ? 4u : 0) | (packet->hyp ? 2u : 0)));
    return !packet->has_address || put_isync_address(out, writer, packet);
}

static void put_info(struct tw_writer *out, const struct tw_etmv3_packet *packet)
{
    tw_write_u8(out, (uint8_t)((packet->has_second || packet->has_resume ? 0x80u : 0) |
                               (packet->alt_isa ? 0x40u : 0) | (packet->cancels ? 0x20u : 0) |
                               (packet->exception & 0xfu) << 1 | (packet->ns ? 1u : 0)));
    if (packet->has_second)
        tw_write_u8(out,
                    (uint8_t)((packet->has_resume ? 0x80u : 0) | (packet->hyp ? 0x20u : 0) |
                              (packet->exception >> 4 & 0x1f)));
    if (packet->has_resume)
        tw_write_u8(out, (uint8_t)(0x40u | packet->resume));
}

/* The fifth byte holds the exception. */
static bool put_deprecated(struct tw_writer *out, const struct tw_etmv3_reader *writer,
                           const struct tw_etmv3_packet *packet)
{
    unsigned code = 0;

    while (code < 8 && tw_etmv3_deprecated[code] != packet->exception)
        code++;
    if (code == 8 || writer->setup.alternative || packet->isa != TW_ISA_A32 ||
        packet->address & 3)
        return false;
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t bits = i == 0 ? (packet->address >> 2 & 0x3f) << 1 | 1
                                     : packet->address >> (1 + 7 * i) & 0x7f;

        tw_write_u8(out, (uint8_t)(bits | 0x80));
    }
    tw_write_u8(out, (uint8_t)(0x80u | (packet->cancels ? 0x40u : 0) | code << 3 |
                               packet->address >> 29));
    return true;
}

static bool put_branch(struct tw_writer *out, const struct tw_etmv3_reader *writer,
                       const struct tw_etmv3_packet *packet)
{
    const bool alternative = writer->setup.alternative;
    unsigned size = packet->address_size;

    if (packet->is_deprecated)
        return put_deprecated(out, writer, packet);
    if (!size) {
        size = tw_armv7_address_size(packet->address, writer->address, packet->isa, writer->isa,
                                     alternative);
        if (packet->has_info && !alternative)
            size = TW_ARMV7_ADDRESS_MAX;
        else if (packet->has_info && size == 1)
            size = 2; /* one byte has no room to tell of more */
    }
    if (!can_carry(packet, packet->address, size) ||
        (packet->has_info && size < (alternative ? 2 : TW_ARMV7_ADDRESS_MAX)) ||
        packet->exception >> (packet->has_second ? 9 : 4) || packet->resume > 15)
        return false;
    tw_armv7_put_address(out, packet->address, packet->isa, size, alternative,
                         packet->has_info);
    if (packet->has_info)
        put_info(out, packet);
    return true;
}

/* `header` when it says what the members say; else the one that does. */
static bool put_p_header(struct tw_writer *out, const struct tw_etmv3_reader *writer,
                         const struct tw_etmv3_packet *packet)
{
    for (unsigned i = 0; i < 128; i++) {
        const uint8_t head = i == 0 && packet->header ? packet->header : (uint8_t)(0x80 | i);
        const struct tw_etmv3_atoms *atoms = &writer->atoms[head];

        if (atoms->is_legal && atoms->count == packet->atom_count &&
            atoms->bits == packet->atoms && atoms->cycles == packet->header_cycles &&
            atoms->format == packet->format) {
            tw_write_u8(out, head);
            return true;
        }
    }
    return false;
}

static void put_data_address(struct tw_writer *out, const struct tw_etmv3_reader *writer,
                             const struct tw_etmv3_packet *packet)
{
    const uint32_t change = packet->data_address ^ writer->data_address;
    unsigned size = packet->data_size;

    if (!size) {
        for (size = 1; size < TW_ETMV3_COUNT_BYTES && change >> (7 * size);)
            size++;
        /* Only all five bytes make it known, or change how transfers are ordered. */
        if (writer->data_valid < 32 || packet->is_big_endian != writer->is_big_endian)
            size = TW_ETMV3_COUNT_BYTES;
    }
    for (unsigned i = 0; i < size; i++) {
        const unsigned low = packet->data_address >> (7 * i) & 0x7f;

        if (i + 1 == TW_ETMV3_COUNT_BYTES)
            tw_write_u8(out, (uint8_t)(packet->data_address >> 28 |
                                       (packet->is_big_endian ? 0x10u : 0)));
        else
            tw_write_u8(out, (uint8_t)(low | (i + 1 < size ? 0x80u : 0)));
    }
}

static bool put_data(struct tw_writer *out, const struct tw_etmv3_reader *writer,
                     const struct tw_etmv3_packet *packet)
{
    const uint8_t type = packet->base.type;
    const bool has_value = type == TW_ETMV3_NORM_DATA || type == TW_ETMV3_OOO_DATA;
    const bool has_tag = type == TW_ETMV3_OOO_DATA || type == TW_ETMV3_OOO_ADDR_PLC;
    const unsigned size = packet->value_size, code = size == 4 ? 3 : size;
    unsigned head;

    if (code > 3 || (size < 4 && packet->data_value >> (8 * size)) ||
        (has_value && packet->has_value != writer->setup.data_value) ||
        (!has_value && (packet->has_value || size)) || (has_tag && !packet->tag) ||
        packet->tag > 3 || packet->data_size > TW_ETMV3_COUNT_BYTES ||
        packet->has_data_address != (packet->is_first && writer->setup.data_address) ||
        (packet->is_first && type == TW_ETMV3_OOO_DATA))
        return false;
    switch (type) {
    case TW_ETMV3_NORM_DATA:
        head = 0x02 | code << 2 | (packet->is_first ? 0x20u : 0);
        break;
    case TW_ETMV3_OOO_DATA:
        head = (unsigned)packet->tag << 5 | code << 2;
        break;
    case TW_ETMV3_OOO_ADDR_PLC:
        head = 0x50 | (unsigned)packet->tag << 2 | (packet->is_first ? 0x20u : 0);
        break;
    default:
        head = TW_ETMV3_HEAD_VAL_NOT_TRACED | (packet->is_first ? 0x10u : 0);
    }
    tw_write_u8(out, (uint8_t)head);
    if (packet->has_data_address)
        put_data_address(out, writer, packet);
    tw_write_le(out, packet->data_value, size);
    return true;
}

static bool put_timestamp(struct tw_writer *out, const struct tw_etmv3_reader *writer,
                          const struct tw_etmv3_packet *packet)
{
    const uint8_t head =
        packet->freq_changed ? TW_ETMV3_HEAD_TIMESTAMP | 4 : TW_ETMV3_HEAD_TIMESTAMP;

    return tw_armv7_put_timestamp(out, head, packet->timestamp, writer->timestamp,
                                  packet->timestamp_bits, writer->setup.time_width);
}

static bool put_small(struct tw_writer *out, const struct tw_etmv3_reader *writer,
                      const struct tw_etmv3_packet *packet)
{
    static const uint8_t heads[TW_ETMV3_TYPES] = {
        [TW_ETMV3_TRIGGER] = TW_ETMV3_HEAD_TRIGGER,
        [TW_ETMV3_STORE_FAIL] = TW_ETMV3_HEAD_STORE_FAIL,
        [TW_ETMV3_DATA_SUPPRESSED] = TW_ETMV3_HEAD_DATA_SUPPRESSED,
        [TW_ETMV3_IGNORE] = TW_ETMV3_HEAD_IGNORE,
        [TW_ETMV3_CONTEXT_ID] = TW_ETMV3_HEAD_CONTEXT_ID,
        [TW_ETMV3_VMID] = TW_ETMV3_HEAD_VMID,
        [TW_ETMV3_EXCEPTION_ENTRY] = TW_ETMV3_HEAD_EXCEPTION_ENTRY,
        [TW_ETMV3_EXCEPTION_EXIT] = TW_ETMV3_HEAD_EXCEPTION_EXIT,
        [TW_ETMV3_CYCLE_COUNT] = TW_ETMV3_HEAD_CYCLE_COUNT,
    };
    const uint8_t type = packet->base.type;

    if (type >= TW_ETMV3_TYPES || !heads[type])
        return false;
    tw_write_u8(out, heads[type]);
    if (type == TW_ETMV3_CYCLE_COUNT)
        return put_count(out, packet->count, packet->count_size);
    if (type == TW_ETMV3_VMID)
        tw_write_u8(out, (uint8_t)packet->value);
    if (type == TW_ETMV3_CONTEXT_ID)
        tw_write_le(out, packet->value, writer->setup.context_bytes);
    return tw_armv7_fits(packet->value, type == TW_ETMV3_VMID ? 1
                                        : type == TW_ETMV3_CONTEXT_ID
                                            ? writer->setup.context_bytes
                                            : 4);
}

static bool put(struct tw_writer *out, const struct tw_etmv3_reader *writer,
                const struct tw_etmv3_packet *packet)
{
    switch (packet->base.type) {
    case TW_ETMV3_A_SYNC:
        return tw_armv7_put_async(out, packet->base.size);
    case TW_ETMV3_I_SYNC:
    case TW_ETMV3_I_SYNC_CYCLE:
        return put_isync(out, writer, packet);
    case TW_ETMV3_BRANCH_ADDRESS:
        return put_branch(out, writer, packet);
    case TW_ETMV3_P_HDR:
        return put_p_header(out, writer, packet);
    case TW_ETMV3_NORM_DATA:
    case TW_ETMV3_OOO_DATA:
    case TW_ETMV3_OOO_ADDR_PLC:
    case TW_ETMV3_VAL_NOT_TRACED:
        return put_data(out, writer, packet);
    case TW_ETMV3_TIMESTAMP:
        return put_timestamp(out, writer, packet);
    default:
        return put_small(out, writer, packet);
    }
}

/* What of an address is not sent is that of the one before, as is the instruction set. */
static bool is_same_place(const struct tw_etmv3_packet *written,
                          const struct tw_etmv3_packet *packet)
{
    switch (packet->base.type) {
    case TW_ETMV3_I_SYNC:
    case TW_ETMV3_I_SYNC_CYCLE:
        return !packet->has_address ||
               (written->address == packet->address && written->isa == packet->isa &&
                (!packet->is_in_progress || written->next_address == packet->next_address));
    case TW_ETMV3_BRANCH_ADDRESS:
        return written->address == packet->address && written->isa == packet->isa;
    case TW_ETMV3_NORM_DATA:
    case TW_ETMV3_OOO_ADDR_PLC:
    case TW_ETMV3_VAL_NOT_TRACED:
        return !packet->has_data_address || written->data_address == packet->data_address;
    default:
        return true;
    }
}

enum tw_status tw_etmv3_write(struct tw_etmv3_reader *writer, uint8_t *out, size_t *size,
                              const struct tw_etmv3_packet *packet)
{
    struct tw_writer to = { .at = out, .end = out + *size };
    uint8_t before[TW_ETMV3_READER_STATE];
    struct tw_etmv3_packet written;

    if (!put(&to, writer, packet))
        return TW_E_ARGUMENT;
    *size = (size_t)(to.at - out) + to.missing;
    if (to.missing)
        return TW_E_ROOM;
    /* Reading it back moves the state on, and tells whether the configuration allows it. */
    memcpy(before, writer, sizeof before);
    writer->is_synced = true;
    if (tw_etmv3_read(writer, &written, out, *size, true) != TW_OK ||
        written.base.type != packet->base.type || !is_same_place(&written, packet)) {
        memcpy(writer, before, sizeof before);
        return TW_E_ARGUMENT;
    }
    return TW_OK;
}
