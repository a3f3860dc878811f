/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: packets to bytes, the exact inverse of packet.c. */
#include "ptm/packet.h"

/* `first` holds the bits of the first byte that are not the count's. */
static void put_cycles(struct tw_writer *out, uint8_t first, uint32_t cycles)
{
    uint32_t rest = cycles >> 4;

    tw_write_u8(out, (uint8_t)(first | (cycles & 0xf) << 2 | (rest ? 0x40 : 0)));
    for (unsigned i = 1; rest && i < TW_PTM_CYCLE_BYTES; i++) {
        const uint8_t low = rest & 0x7f;

        rest >>= 7;
        tw_write_u8(out, rest ? low | 0x80 : low);
    }
}

static bool put_atoms(struct tw_writer *out, const struct tw_ptm_reader *writer,
                      const struct tw_ptm_packet *packet)
{
    if (writer->setup.cycle_accurate) {
        if (packet->atom_count != 1 || packet->atoms > 1 || !packet->has_cycles)
            return false;
        put_cycles(out, packet->atoms & 1 ? 0x80 : 0x82, packet->cycles);
        return true;
    }
    if (packet->has_cycles || packet->atom_count < 1 || packet->atom_count > 5 ||
        packet->atoms >> packet->atom_count)
        return false;
    tw_write_u8(out, tw_ptm_atom_header(packet->atoms, packet->atom_count));
    return true;
}

static bool is_thumb(uint8_t isa)
{
    return isa == TW_ISA_T32 || isa == TW_ISA_TEE;
}

static bool put_isync(struct tw_writer *out, const struct tw_ptm_reader *writer,
                      const struct tw_ptm_packet *packet)
{
    const bool has_cycles = writer->setup.cycle_accurate && packet->reason != TW_PTM_PERIODIC;

    if (packet->reason > TW_PTM_DEBUG_EXIT || packet->has_cycles != has_cycles ||
        packet->address & 1 || (!is_thumb(packet->isa) && packet->isa != TW_ISA_A32) ||
        packet->isa != tw_ptm_isa(packet->isa, packet->alt_isa) ||
        !tw_armv7_fits(packet->context_id, writer->setup.context_bytes))
        return false;
    tw_write_u8(out, TW_PTM_HEAD_ISYNC);
    tw_write_le(out, packet->address | (is_thumb(packet->isa) ? 1u : 0), 4);
    tw_write_u8(out, (uint8_t)(0x01u | (unsigned)packet->reason << 5 | (packet->ns ? 8u : 0) |
                               (packet->alt_isa ? 4u : 0) | (packet->hyp ? 2u : 0)));
    if (has_cycles)
        put_cycles(out, 0, packet->cycles);
    tw_write_le(out, packet->context_id, writer->setup.context_bytes);
    return true;
}

/* How many bytes the address takes: as asked for, or as few as can be. */
static unsigned address_size(const struct tw_ptm_reader *writer,
                             const struct tw_ptm_packet *packet)
{
    const unsigned least =
        tw_armv7_address_size(packet->address, writer->address, packet->isa, writer->isa, true);

    if (!packet->address_size)
        return least;
    return packet->address_size;
}

static bool can_carry(const struct tw_ptm_packet *packet, unsigned size)
{
    return size >= 1 && size <= TW_ARMV7_ADDRESS_MAX &&
           !(packet->address & ((1u << tw_armv7_shift(packet->isa)) - 1)) &&
           (packet->isa <= TW_ISA_T32 || packet->isa == TW_ISA_TEE ||
            packet->isa == TW_ISA_JAZELLE ||
            (packet->isa == TW_ISA_UNKNOWN && size < TW_ARMV7_ADDRESS_MAX));
}

static bool put_branch(struct tw_writer *out, const struct tw_ptm_reader *writer,
                       const struct tw_ptm_packet *packet)
{
    unsigned size = address_size(writer, packet);

    if (packet->has_info && size == 1 && !packet->address_size)
        size = 2; /* one byte has no room to tell of more */
    if (!can_carry(packet, size) || (packet->has_info && size == 1) ||
        packet->has_info != (packet->info_size > 0) || packet->info_size > 2 ||
        packet->exception >> (packet->info_size == 2 ? 9 : 4) ||
        packet->has_cycles != writer->setup.cycle_accurate)
        return false;
    tw_armv7_put_address(out, packet->address, packet->isa, size, true, packet->has_info);
    if (packet->has_info)
        tw_write_u8(out, (uint8_t)((packet->info_size == 2 ? 0x80u : 0) |
                                   (packet->alt_isa ? 0x40u : 0) |
                                   (packet->exception & 0xfu) << 1 | (packet->ns ? 1u : 0)));
    if (packet->info_size == 2)
        tw_write_u8(out,
                    (uint8_t)((packet->hyp ? 0x20u : 0) | (packet->exception >> 4 & 0x1f)));
    if (packet->has_cycles)
        put_cycles(out, 0, packet->cycles);
    return true;
}

static bool put_update(struct tw_writer *out, const struct tw_ptm_reader *writer,
                       const struct tw_ptm_packet *packet)
{
    unsigned size = address_size(writer, packet);

    if (packet->has_info && !packet->address_size)
        size = TW_ARMV7_ADDRESS_MAX;
    if (!can_carry(packet, size) || (packet->has_info && size != TW_ARMV7_ADDRESS_MAX))
        return false;
    tw_write_u8(out, TW_PTM_HEAD_WP_UPDATE);
    tw_armv7_put_address(out, packet->address, packet->isa, size, true, packet->has_info);
    if (packet->has_info)
        tw_write_u8(out, packet->alt_isa ? 0x40 : 0);
    return true;
}

static bool put_timestamp(struct tw_writer *out, const struct tw_ptm_reader *writer,
                          const struct tw_ptm_packet *packet)
{
    const uint8_t head =
        packet->freq_changed ? TW_PTM_HEAD_TIMESTAMP | 4 : TW_PTM_HEAD_TIMESTAMP;

    if (packet->has_cycles != writer->setup.cycle_accurate ||
        !tw_armv7_put_timestamp(out, head, packet->timestamp, writer->timestamp,
                                packet->timestamp_bits, writer->setup.time_width))
        return false;
    if (packet->has_cycles)
        put_cycles(out, 0, packet->cycles);
    return true;
}

static bool put_small(struct tw_writer *out, const struct tw_ptm_reader *writer,
                      const struct tw_ptm_packet *packet)
{
    switch (packet->base.type) {
    case TW_PTM_TRIGGER:
        tw_write_u8(out, TW_PTM_HEAD_TRIGGER);
        return true;
    case TW_PTM_IGNORE:
        tw_write_u8(out, TW_PTM_HEAD_IGNORE);
        return true;
    case TW_PTM_EXCEPTION_RETURN:
        tw_write_u8(out, TW_PTM_HEAD_EXCEPTION_RETURN);
        return true;
    case TW_PTM_VMID:
        tw_write_u8(out, TW_PTM_HEAD_VMID);
        tw_write_u8(out, (uint8_t)packet->value);
        return packet->value <= 0xff && writer->setup.is_v11;
    case TW_PTM_CONTEXT_ID:
        tw_write_u8(out, TW_PTM_HEAD_CONTEXT_ID);
        tw_write_le(out, packet->value, writer->setup.context_bytes);
        return writer->setup.context_bytes != 0 &&
               tw_armv7_fits(packet->value, writer->setup.context_bytes);
    default:
        return false;
    }
}

/* What of an address is not sent is that of the one before, as is the instruction set. */
static bool is_place(const struct tw_ptm_packet *packet)
{
    return packet->base.type == TW_PTM_BRANCH_ADDRESS || packet->base.type == TW_PTM_WP_UPDATE;
}

enum tw_status tw_ptm_write(struct tw_ptm_reader *writer, uint8_t *out, size_t *size,
                            const struct tw_ptm_packet *packet)
{
    struct tw_writer to = { .at = out, .end = out + *size };
    uint8_t before[offsetof(struct tw_ptm_reader, rule)];
    struct tw_ptm_packet written;
    bool fits;

    switch (packet->base.type) {
    case TW_PTM_ASYNC:
        fits = tw_armv7_put_async(&to, packet->base.size);
        break;
    case TW_PTM_ISYNC:
        fits = put_isync(&to, writer, packet);
        break;
    case TW_PTM_ATOM:
        fits = put_atoms(&to, writer, packet);
        break;
    case TW_PTM_BRANCH_ADDRESS:
        fits = put_branch(&to, writer, packet);
        break;
    case TW_PTM_WP_UPDATE:
        fits = put_update(&to, writer, packet);
        break;
    case TW_PTM_TIMESTAMP:
        fits = put_timestamp(&to, writer, packet);
        break;
    default:
        fits = put_small(&to, writer, packet);
    }
    if (!fits)
        return TW_E_ARGUMENT;
    *size = (size_t)(to.at - out) + to.missing;
    if (to.missing)
        return TW_E_ROOM;
    /* Reading it back moves the state on, and tells whether it says all that it should. */
    memcpy(before, writer, sizeof before);
    writer->is_synced = true;
    if (tw_ptm_read(writer, &written, out, *size, true) != TW_OK ||
        (is_place(packet) &&
         (written.address != packet->address || written.isa != packet->isa))) {
        memcpy(writer, before, sizeof before);
        return TW_E_ARGUMENT;
    }
    return TW_OK;
}
