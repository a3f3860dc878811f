/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: packets to bytes, the exact inverse of packet.c. */
#include "itm/packet.h"

/* Exactly `count` bytes of seven bits. */
static void write_sevens(struct tw_writer *to, uint64_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        tw_write_u8(to, (uint8_t)((value >> (7 * i) & 0x7f) | (i + 1 < count ? 0x80 : 0)));
}

static bool write_sync(struct tw_writer *to, const struct tw_itm_packet *from)
{
    uint32_t zeros = TW_ITM_SYNC_ZEROS;

    if (from->base.size > TW_ITM_SYNC_ZEROS)
        zeros = from->base.size - 1;
    if (zeros > TW_ITM_SYNC_ZEROS_MAX)
        return false;
    for (uint32_t i = 0; i < zeros; i++)
        tw_write_u8(to, 0);
    tw_write_u8(to, 0x80);
    return true;
}

static bool write_payload(struct tw_writer *to, const struct tw_itm_packet *from,
                          uint8_t hardware)
{
    const uint8_t code = from->size == 4 ? 3 : from->size;

    if (code < 1 || code > 3 || from->size == 3 || from->source > 31 ||
        from->value >> (8 * from->size))
        return false;
    tw_write_u8(to, (uint8_t)(from->source << 3 | hardware | code));
    tw_write_le(to, from->value, from->size);
    return true;
}

/* base.size says which format; when it does not (0), the shortest is taken. */
static bool write_local(struct tw_writer *to, const struct tw_itm_packet *from)
{
    const bool fits_head = from->source == 0 && from->value >= 1 && from->value <= 6;
    unsigned count = from->size;

    if (from->value >> 28 || from->source > 3)
        return false;
    if (fits_head && from->base.size < 2) {
        tw_write_u8(to, (uint8_t)(from->value << 4));
        return true;
    }
    if (count == 0)
        for (count = 1; from->value >> (7 * count);)
            count++;
    if (count > 4 || from->value >> (7 * count))
        return false;
    tw_write_u8(to, (uint8_t)(0xc0 | from->source << 4));
    write_sevens(to, from->value, count);
    return true;
}

static bool write_global_1(struct tw_writer *to, const struct tw_itm_packet *from)
{
    const uint64_t value =
        from->value | (uint64_t)from->freq_change << 26 | (uint64_t)from->wrap << 27;

    if (from->size < 1 || from->size > 4 || from->value >> 26 || value >> (7 * from->size))
        return false;
    tw_write_u8(to, 0x94);
    write_sevens(to, value, from->size);
    return true;
}

static bool write_global_2(struct tw_writer *to, const struct tw_itm_packet *from)
{
    if ((from->size != 4 && from->size != 5) || from->value >> (from->size == 4 ? 22 : 38))
        return false;
    tw_write_u8(to, 0xb4);
    write_sevens(to, from->value, from->size == 4 ? 4 : 6);
    return true;
}

static bool write_extension(struct tw_writer *to, const struct tw_itm_packet *from)
{
    const unsigned low = from->value & 7;
    const unsigned head = 0x08u | (from->source & 1u) << 2 | low << 4;
    const unsigned more = from->bits == 32 ? 4 : (from->bits - 3u) / 7;

    if ((from->bits != 32 && (from->bits < 3 || (from->bits - 3) % 7 || more > 3)) ||
        from->value >> from->bits)
        return false;
    tw_write_u8(to, (uint8_t)(more ? head | 0x80 : head));
    if (more == 4) {
        for (unsigned i = 0; i < 3; i++)
            tw_write_u8(to, (uint8_t)((from->value >> (3 + 7 * i) & 0x7f) | 0x80));
        tw_write_u8(to, (uint8_t)(from->value >> 24));
    } else {
        write_sevens(to, from->value >> 3, more);
    }
    return true;
}

enum tw_status tw_itm_put(uint8_t *out, size_t *size, const struct tw_itm_packet *packet)
{
    struct tw_writer to = { .at = out, .end = out + *size };
    bool fits = false;

    switch (packet->base.type) {
    case TW_ITM_PACKET_ASYNC:
        fits = write_sync(&to, packet);
        break;
    case TW_ITM_PACKET_OVERFLOW:
        tw_write_u8(&to, 0x70);
        fits = true;
        break;
    case TW_ITM_PACKET_SWIT:
        fits = write_payload(&to, packet, 0);
        break;
    case TW_ITM_PACKET_DWT:
        fits = write_payload(&to, packet, 4);
        break;
    case TW_ITM_PACKET_TS_LOCAL:
        fits = write_local(&to, packet);
        break;
    case TW_ITM_PACKET_GTS_1:
        fits = write_global_1(&to, packet);
        break;
    case TW_ITM_PACKET_GTS_2:
        fits = write_global_2(&to, packet);
        break;
    case TW_ITM_PACKET_EXTENSION:
        fits = write_extension(&to, packet);
        break;
    default:
        break;
    }
    if (!fits)
        return TW_E_ARGUMENT;
    *size = (size_t)(to.at - out) + to.missing;
    return to.missing ? TW_E_ROOM : TW_OK;
}

enum tw_status tw_itm_write(struct tw_itm_reader *writer, uint8_t *out, size_t *size,
                            const struct tw_itm_packet *packet)
{
    (void)writer; /* no packet's bytes depend on the one before it */
    return tw_itm_put(out, size, packet);
}
