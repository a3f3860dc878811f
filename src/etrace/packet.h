/* SPDX-License-Identifier: BSD-2-Clause */
/* te_inst payloads to packets, and the state that the wire format needs on both sides. */
#ifndef ETRACE_PACKET_H
#define ETRACE_PACKET_H

#include <stddef.h>

#include <trackway/etrace.h>

#include "base/payload.h"
#include "base/text.h"
#include "etrace/transport.h"
#include "etraced/packet.h"
#include "protocol.h"

enum { TW_ETRACE_CACHE_MAX = 1 << 15 };

/* What the payload readers and writers need of the configuration, in the form they need it. */
struct tw_etrace_shape {
    bool is_seed;
    uint8_t lsb;
    uint8_t address_bits;  /* iaddress_width - iaddress_lsb */
    uint8_t address_width; /* iaddress_width */
    uint8_t privilege, time, context, ecause;
    uint8_t subformat; /* f0s_width */
    uint8_t irdepth;
    uint8_t index; /* cache_size */
    uint8_t encoder_mode, ioptions, doptions;
    uint8_t bpred_size;
    bool is_short; /* addresses of fewer than 64 but more than 32 bits are sign-extended */
    /* What versions and encoders do differently. */
    bool has_thaddr, has_data_options, tval_of_interrupts, never_notifies;
    bool compresses_addresses;
    bool has_usual_flow; /* tw_etrace_parse_flow reads its packets of formats 1 and 2 */
    uint16_t ioption_order[TW_ETRACE_OPTION_BITS], doption_order[TW_ETRACE_OPTION_BITS];
};

void tw_etrace_shape_init(struct tw_etrace_shape *shape, const struct tw_etrace_config *config);

/* Reads a payload that tw_payload_load has loaded.  Sets type, has and every member that the type
   has; `address` only where it is given in full.  TW_ERROR_NONE, or what is wrong. */
enum tw_error_code tw_etrace_parse(const struct tw_etrace_shape *shape, uint32_t options,
                                   struct tw_etrace_packet *out, struct tw_payload *in);
/* The inverse; false: the packet has no such payload under this configuration. */
bool tw_etrace_build(const struct tw_etrace_shape *shape, uint32_t options,
                     struct tw_payload *out, const struct tw_etrace_packet *packet);

/* The options that a support packet sets. */
uint32_t tw_etrace_options(const struct tw_etrace_shape *shape, uint32_t options,
                           const struct tw_etrace_packet *support);

/* An address as the packet's field gives it, all bits in place. */
TW_INLINE uint64_t tw_etrace_extend(const struct tw_etrace_shape *shape, uint64_t address)
{
    if (shape->address_width >= 64)
        return address;
    return shape->is_short ? tw_sign_extend(address, shape->address_width)
                           : address & (((uint64_t)1 << shape->address_width) - 1);
}

TW_INLINE uint64_t tw_etrace_full(const struct tw_etrace_shape *shape, uint64_t field)
{
    return tw_etrace_extend(shape, field << shape->lsb);
}

/* The address of a packet of formats 0 to 2, after `base`. */
TW_INLINE uint64_t tw_etrace_address(const struct tw_etrace_shape *shape, uint32_t options,
                                     uint64_t base, uint64_t field)
{
    if (options & TW_ETRACE_FULL_ADDRESS)
        return tw_etrace_full(shape, field);
    /* modulo 2^iaddress_width, so the field's sign needs no care */
    return tw_etrace_extend(shape, base + (field << shape->lsb));
}

/* Bits of branch_map for a number of branches. */
TW_INLINE unsigned tw_etrace_map_bits(unsigned branches)
{
    return branches == 0    ? 0
           : branches == 1  ? 1
           : branches <= 3  ? 3
           : branches <= 7  ? 7
           : branches <= 15 ? 15
                            : 31;
}

/* A stream being read or written. */
struct tw_etrace_reader {
    struct tw_etrace_config config;
    struct tw_etrace_shape shape;
    struct tw_etraced_shape data_shape;
    struct tw_etrace_transport transport;
    uint32_t options;
    uint64_t address;
    const struct tw_allocator *allocator;
    struct tw_etraced_history history;
    uint64_t cache[TW_ETRACE_CACHE_MAX]; /* last: most configurations have little of it */
};

/* A packet of format 1 or 2, which most are. */
struct tw_etrace_flow {
    uint32_t branch_map;
    uint32_t irdepth;
    uint64_t field;
    uint8_t format;
    uint8_t branches;
    bool has_address;
    uint8_t told; /* with an address alone: */
};

enum { TW_ETRACE_TOLD_NOTIFY = 1, TW_ETRACE_TOLD_UPDISCON = 2, TW_ETRACE_TOLD_IRREPORT = 4 };

/* Reads a payload of at most 16 bytes, all of which may be read.  False: it is none of these, or has errors.  Only
   where the shape has_usual_flow. */
TW_INLINE bool tw_etrace_read_flow(const struct tw_etrace_shape *shape,
                                   struct tw_etrace_flow *out, const uint8_t *bytes,
                                   unsigned size)
{
    static const uint8_t map_bits[32] = { 31, 1,  3,  3,  7,  7,  7,  7,  15, 15, 15,
                                          15, 15, 15, 15, 15, 31, 31, 31, 31, 31, 31,
                                          31, 31, 31, 31, 31, 31, 31, 31, 31, 31 };
    const unsigned width = shape->address_bits, depth = shape->irdepth;
    const struct tw_payload_window in = tw_payload_window(bytes, size);
    const unsigned format = in.low & 3;
    unsigned branches = 0, bits = 0, at = 2;
    uint64_t flags, change;

    *out = (struct tw_etrace_flow){ .format = (uint8_t)format };
    if (TW_UNLIKELY(format != 1 && format != 2))
        return false;
    if (format == 1) {
        branches = in.low >> 2 & 31;
        bits = map_bits[branches];
        at = 7 + bits;
    }
    out->has_address = format == 2 || branches;
    out->branches = (uint8_t)branches;
    out->branch_map = (uint32_t)(in.low >> 7 & (((uint64_t)1 << bits) - 1));
    if (TW_LIKELY(out->has_address && size <= 8 && at + width >= 64)) {
        /* The address reaches the end of what was sent: all behind it is its sign. */
        out->field = ((in.low ^ in.fill) >> at ^ in.fill) & UINT64_MAX >> (64 - width);
        if (TW_UNLIKELY(depth))
            out->irdepth = (uint32_t)(in.fill & (((uint64_t)1 << depth) - 1));
        return true;
    }
    if (TW_UNLIKELY(
            !tw_payload_is_done(in, size, out->has_address ? at + width + 3 + depth : at)))
        return false;
    if (!out->has_address)
        return true;
    out->field = tw_payload_bits(in, at) & UINT64_MAX >> (64 - width);
    flags = tw_payload_bits(in, at + width);
    change = flags ^ (flags << 1 | out->field >> (width - 1));
    out->told = change & 7; /* each by a change: TW_ETRACE_TOLD_... */
    out->irdepth = (uint32_t)(flags >> 3 & (((uint64_t)1 << depth) - 1));
    return true;
}

/* The members of a packet that tw_etrace_parse sets for it. */
TW_INLINE void tw_etrace_set_flow(const struct tw_etrace_shape *shape,
                                  struct tw_etrace_packet *out,
                                  const struct tw_etrace_flow *flow)
{
    out->base.type = flow->format == 1 ? TW_ETRACE_F1 : TW_ETRACE_F2;
    if (flow->format == 1) {
        out->branches = flow->branches;
        out->branch_map = flow->branch_map;
    }
    out->has = 0;
    if (!flow->has_address)
        return;
    out->has = TW_ETRACE_HAS_ADDRESS;
    out->notify = flow->told & TW_ETRACE_TOLD_NOTIFY;
    out->updiscon = flow->told & TW_ETRACE_TOLD_UPDISCON;
    out->irreport = flow->told & TW_ETRACE_TOLD_IRREPORT;
    if (shape->irdepth) {
        out->irdepth = flow->irdepth;
        out->has = TW_ETRACE_HAS_ADDRESS | TW_ETRACE_HAS_IRDEPTH;
    }
    out->field = flow->field;
}

/* What tw_etrace_parse does, for these.  False: nothing is done. */
TW_INLINE bool tw_etrace_parse_flow(const struct tw_etrace_shape *shape,
                                    struct tw_etrace_packet *out, const uint8_t *bytes,
                                    unsigned size)
{
    struct tw_etrace_flow flow;

    if (!tw_etrace_read_flow(shape, &flow, bytes, size))
        return false;
    tw_etrace_set_flow(shape, out, &flow);
    return true;
}

/* A jump to an address, which later packets may refer to. */
TW_INLINE void tw_etrace_track_jump(struct tw_etrace_reader *codec, uint64_t address)
{
    codec->address = address;
    if (TW_UNLIKELY(codec->shape.index)) {
        const uint64_t mask = ((uint64_t)1 << codec->shape.index) - 1;

        codec->cache[address >> codec->shape.lsb & mask] = address;
    }
}

void tw_etrace_reader_init(struct tw_etrace_reader *codec,
                           const struct tw_etrace_config *config);
/* What tw_etrace_read does, without trying whether the packet is a frequent one. */
enum tw_status tw_etrace_read_any(struct tw_etrace_reader *codec,
                                  struct tw_etrace_packet *packet, const uint8_t *data,
                                  size_t size, bool is_last);
/* What the next bytes of a stream are that several sources share: see struct tw_protocol. */
struct tw_route;
enum tw_status tw_etrace_route(void *reader, struct tw_route *route, void *packet,
                               const uint8_t *data, size_t size, bool is_last);
/* Keeps up with what a te_inst packet says of later ones, and completes it from earlier ones. */
void tw_etrace_track(struct tw_etrace_reader *codec, struct tw_etrace_packet *packet);
/* Forgets what the stream has taught. */
void tw_etrace_reader_reset(struct tw_etrace_reader *codec);

extern const struct tw_packet_type tw_etrace_types[TW_ETRACE_TYPES];
/* "f2 address=0x1000 ...", and without the type. */
extern const struct tw_member_table tw_etrace_members;

extern const struct tw_protocol tw_etrace, tw_etraced;

#endif
