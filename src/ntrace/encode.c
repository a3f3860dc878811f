/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: packets to bytes, the inverse of packet.c. */
#include "ntrace/packet.h"

/* A message being written: MDO that wait for their byte. */
struct sender {
    struct tw_writer out;
    uint32_t bits;
    unsigned count; /* fewer than 6 of them */
};

/* Fixed fields: no more bits than fill whole MDO are written. */
TW_INLINE void put_fixed(struct sender *sender, uint64_t value, unsigned width)
{
    sender->bits |= (uint32_t)(value & (((uint64_t)1 << width) - 1)) << sender->count;
    for (sender->count += width; sender->count >= 6; sender->count -= 6) {
        tw_write_u8(&sender->out, (uint8_t)(sender->bits << 2));
        sender->bits >>= 6;
    }
}

/* A variable field: takes one bit at least, and ends its byte. */
TW_INLINE void put_variable(struct sender *sender, uint64_t value, unsigned least)
{
    unsigned sent = 0;
    bool is_done;

    do {
        const unsigned room = 6 - sender->count;
        const unsigned bits = sender->bits | (unsigned)(value << sender->count & 0x3f);

        value >>= room;
        sent += room;
        is_done = value == 0 && sent >= least;
        tw_write_u8(&sender->out, (uint8_t)(bits << 2 | (is_done ? TW_NTRACE_MSEO_FIELD : 0)));
        sender->bits = 0;
        sender->count = 0;
    } while (!is_done);
}

/* Bits of an address to send, and in *value what they are: all up to the last 1; where top bits may be
   left out, as few MDO as give them again, the first of which has room for `first` bits. */
static unsigned shorten(const struct tw_ntrace_shape *shape, uint64_t *value, unsigned first)
{
    const uint64_t most = ((uint64_t)1 << TW_NTRACE_ADDRESS_BITS) - 1;
    const uint64_t all = tw_sign_extend(*value, shape->address_bits) & most;

    if (shape->extension == TW_NTRACE_EXTEND_NONE)
        return 0;
    if (*value >> shape->address_bits) /* wider than an address: nothing is left out of it */
        return tw_highest_bit(*value) + 2;
    if (shape->extension == TW_NTRACE_EXTEND_48) {
        if (all >> 47 == most >> 47)
            *value &= ((uint64_t)1 << 48) - 1;
        else if (*value >> 47 == 1)
            return 48 + 1; /* that it is not extended */
        return 0;
    }
    for (unsigned bits = first; bits < TW_NTRACE_ADDRESS_BITS; bits += 6) {
        const uint64_t upper = all >> (bits - 1);

        if (upper == 0 || upper == most >> (bits - 1)) {
            *value = all & (((uint64_t)1 << bits) - 1);
            return bits;
        }
    }
    return TW_NTRACE_ADDRESS_BITS;
}

static void put_address(struct sender *sender, const struct tw_ntrace_shape *shape,
                        uint64_t value)
{
    const unsigned least = shorten(shape, &value, 6 - sender->count);

    put_variable(sender, value, least);
}

static enum tw_status write_idle(uint8_t *out, size_t *size, size_t wanted)
{
    const bool fits = wanted <= *size;

    *size = wanted;
    if (!fits)
        return TW_E_ROOM;
    memset(out, 0xff, wanted);
    return TW_OK;
}

static void put_field(struct sender *sender, const struct tw_ntrace_shape *shape, uint8_t role,
                      unsigned number, const struct tw_ntrace_packet *packet)
{
    const uint64_t value = role == TW_NTRACE_ROLE_HIST ? packet->hist
                           : number == 0               ? packet->icnt
                                                       : packet->address;

    /* A control code, not an address (CKSRC 0 without a second field). */
    if (role == TW_NTRACE_ROLE_ADDRESS && (number || packet->code || packet->cdf))
        put_address(sender, shape, value);
    else
        put_variable(sender, value, 0);
}

/* Whether the fixed fields hold what the packet says, and a history is one. */
static bool fits(const struct tw_ntrace_rule *rule, const struct tw_ntrace_shape *shape,
                 const struct tw_ntrace_packet *packet)
{
    if (packet->cdf > 1 || packet->src >> shape->src_bits || packet->sync & ~rule->sync_mask ||
        packet->code & ~rule->code_mask || packet->cdf & ~rule->cdf_mask ||
        packet->btype & ~rule->btype_mask)
        return false;
    return packet->hist ||
           rule->roles[tw_ntrace_fields(rule, packet) - 1] != TW_NTRACE_ROLE_HIST;
}

enum tw_status tw_ntrace_write(struct tw_ntrace_reader *codec, uint8_t *out, size_t *size,
                               const struct tw_ntrace_packet *packet)
{
    const struct tw_ntrace_shape *shape = &codec->shape;
    const uint8_t tcode =
        packet->base.type < TW_NTRACE_VENDOR ? codec->tcodes[packet->base.type] : 0;
    const struct tw_ntrace_rule *rule = &tw_ntrace_rules[tcode];
    struct sender sender = { .out = { .at = out, .end = out + *size } };
    unsigned fields;

    if (packet->base.type == TW_NTRACE_IDLE)
        return write_idle(out, size, packet->base.size);
    if (!tcode || !fits(rule, shape, packet))
        return TW_E_ARGUMENT;
    put_fixed(&sender, tcode, TW_NTRACE_TCODE_BITS);
    put_fixed(&sender, packet->src, shape->src_bits);
    put_fixed(&sender,
              (packet->sync & rule->sync_mask) | (packet->code & rule->code_mask) |
                  (uint64_t)(packet->cdf & rule->cdf_mask) << 4 |
                  (uint64_t)(packet->btype & rule->btype_mask) << rule->btype_shift,
              rule->fixed_bits);
    fields = tw_ntrace_fields(rule, packet);
    for (unsigned i = 0; i < fields; i++)
        put_field(&sender, shape, rule->roles[i], i, packet);
    if (packet->has & TW_NTRACE_HAS_TSTAMP)
        put_variable(&sender, packet->tstamp, 0);
    *size = (size_t)(sender.out.at - out) + sender.out.missing;
    if (sender.out.missing)
        return TW_E_ROOM;
    out[*size - 1] |= TW_NTRACE_MSEO_END;
    return TW_OK;
}
