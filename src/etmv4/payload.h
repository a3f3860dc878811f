/* SPDX-License-Identifier: BSD-2-Clause */
/* The readers of payloads that the rule table of packet.c names.  Each fills the members of its
   packet and leaves the reader as it was when the bytes are too few (in->short_read). */
#ifndef ETMV4_PAYLOAD_H
#define ETMV4_PAYLOAD_H

#include "etmv4/packet.h"

/* Bits of an address packet's form, by type. */
enum {
    TW_ETMV4_FORM_IS1 = 1,
    TW_ETMV4_FORM_64 = 2,
    TW_ETMV4_FORM_CONTEXT = 4,
    TW_ETMV4_FORM_LONG = 8,
    TW_ETMV4_FORM_SHORT = 16
};
extern const uint8_t tw_etmv4_forms[TW_ETMV4_TYPES];

/* Branch futures are Armv8.1-M's. */
TW_INLINE bool tw_etmv4_has_flush(const struct tw_etmv4_setup *setup)
{
    return setup->architecture == 81 && setup->version >= 0x45;
}

/* The packet's address is `entry`, which becomes the newest of the history. */
TW_INLINE void tw_etmv4_take_entry(struct tw_etmv4_reader *reader, struct tw_etmv4_packet *out,
                                   struct tw_etmv4_entry entry)
{
    out->address = entry.address;
    out->address_bits = entry.bits;
    out->address_width = entry.width;
    out->sub_isa = entry.sub_isa;
    tw_etmv4_push(reader->history, entry);
}

TW_INLINE void tw_etmv4_take_match(struct tw_etmv4_reader *reader, struct tw_etmv4_packet *out,
                                   unsigned match)
{
    out->match = (uint8_t)match;
    tw_etmv4_take_entry(reader, out, reader->history[match]);
}

/* What a short address does not carry comes from the newest entry. */
TW_INLINE struct tw_etmv4_entry tw_etmv4_short_entry(const struct tw_etmv4_reader *reader,
                                                     struct tw_bytes *in, unsigned sub_isa)
{
    unsigned bits;
    const uint32_t low = tw_etmv4_get_short(in, &bits, sub_isa);
    const struct tw_etmv4_entry *last = &reader->history[0];

    return (struct tw_etmv4_entry){ tw_replace_low(last->address, low, bits), (uint8_t)sub_isa,
                                    (uint8_t)bits, last->width };
}

/* A long one keeps the upper half when it carries 32 bits. */
TW_INLINE struct tw_etmv4_entry tw_etmv4_long_entry(const struct tw_etmv4_reader *reader,
                                                    struct tw_bytes *in, unsigned form,
                                                    bool *has_reserved)
{
    const bool is_64 = (form & TW_ETMV4_FORM_64) != 0;
    const unsigned bits = is_64 ? 64 : 32;
    const uint64_t low =
        tw_etmv4_get_long(in, is_64 ? 8 : 4, form & TW_ETMV4_FORM_IS1, has_reserved);

    return (struct tw_etmv4_entry){ tw_replace_low(reader->history[0].address, low, bits),
                                    form & TW_ETMV4_FORM_IS1, (uint8_t)bits,
                                    is_64 || reader->sf ? 64 : 32 };
}

/* Packets that most of a trace is made of, by their headers: the same under every configuration. */

enum {
    TW_ETMV4_FREQUENT_LONGEST = 5, /* bytes, header included */
    TW_ETMV4_HEAD_MATCH = 0x90,    /* of the newest address; behind it those of older ones */
    TW_ETMV4_HEAD_SHORT = 0x95,    /* IS0; behind it IS1 */
    TW_ETMV4_HEAD_LONG_32 = 0x9a,  /* IS0; behind it IS1 */
    TW_ETMV4_HEAD_ATOM = 0xc0      /* and all behind it */
};

TW_INLINE bool tw_etmv4_is_atom(size_t head)
{
    return head >= TW_ETMV4_HEAD_ATOM;
}

TW_INLINE bool tw_etmv4_is_short(size_t head)
{
    return head - TW_ETMV4_HEAD_SHORT <= 1;
}

TW_INLINE bool tw_etmv4_is_match(size_t head)
{
    return head - TW_ETMV4_HEAD_MATCH < TW_ETMV4_HISTORY;
}

TW_INLINE bool tw_etmv4_is_long_32(size_t head)
{
    return head - TW_ETMV4_HEAD_LONG_32 <= 1;
}

/* The address of such a packet, whose header was read and whose bytes are there; false: the packet is
   another one, or has reserved bits set.  The history is as it was. */
TW_INLINE bool tw_etmv4_get_frequent(const struct tw_etmv4_reader *reader,
                                     struct tw_etmv4_entry *out, struct tw_bytes *in,
                                     unsigned head)
{
    bool has_reserved = false;

    if (tw_etmv4_is_short(head))
        *out = tw_etmv4_short_entry(reader, in, head - TW_ETMV4_HEAD_SHORT);
    else if (tw_etmv4_is_match(head))
        *out = reader->history[head - TW_ETMV4_HEAD_MATCH];
    else if (tw_etmv4_is_long_32(head))
        *out = tw_etmv4_long_entry(
            reader, in, TW_ETMV4_FORM_LONG | (head - TW_ETMV4_HEAD_LONG_32), &has_reserved);
    else
        return false;
    return !has_reserved;
}

void tw_etmv4_read_resync(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                          struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_extension(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                             struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_trace_info(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                              struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_timestamp(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                             struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_exception(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                             struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_instrumentation(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                                   struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cycles_1(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cycles_2(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cycles_3(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_commit(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                          struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cancel_1(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_mispredict(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                              struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cancel_3(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_number(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                          struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cond_instruction(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                                    struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cond_result(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                               struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_context(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                           struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_match(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                         struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_short(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                         struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_long(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                        struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_q(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                     struct tw_etmv4_packet *out, uint8_t head);

#endif
