/* SPDX-License-Identifier: BSD-2-Clause */
/* te_inst payloads to packets (E-Trace chapter 6), and what a stream teaches of later ones. */
#include "etrace/packet.h"

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

void tw_etrace_shape_init(struct tw_etrace_shape *shape, const struct tw_etrace_config *config)
{
    const bool is_seed = config->layout == TW_ETRACE_LAYOUT_SEED;

    *shape = (struct tw_etrace_shape){
        .is_seed = is_seed,
        .lsb = config->iaddress_lsb,
        .address_bits = (uint8_t)(config->iaddress_width - config->iaddress_lsb),
        .address_width = config->iaddress_width,
        .privilege = config->privilege_width,
        .time = is_seed || config->notime ? 0 : config->time_width,
        .context = config->nocontext ? 0 : config->context_width,
        .ecause = config->ecause_width,
        .subformat = config->f0s_width,
        .irdepth = (uint8_t)(config->return_stack_size + (config->return_stack_size ? 1 : 0) +
                             config->call_counter_size),
        .index = config->cache_size,
        .encoder_mode = config->encoder_mode_bits,
        .ioptions = config->ioptions_bits,
        .doptions = config->doptions_bits,
        .bpred_size = config->bpred_size,
        .is_short = config->iaddress_width > 32 && config->iaddress_width < 64,
        .has_thaddr = !is_seed,
        .has_data_options = !is_seed && !config->short_support,
        .tval_of_interrupts = is_seed || config->tval_of_interrupts,
        .never_notifies = config->never_notifies,
        .compresses_addresses = config->compresses_addresses,
        .has_usual_flow = !config->compresses_addresses && !config->never_notifies &&
                          config->encapsulation != TW_ETRACE_ENCAP_PULP,
    };
    memcpy(shape->ioption_order, config->ioption_order, sizeof shape->ioption_order);
    memcpy(shape->doption_order, config->doption_order, sizeof shape->doption_order);
}

uint32_t tw_etrace_options(const struct tw_etrace_shape *shape, uint32_t options,
                           const struct tw_etrace_packet *support)
{
    for (unsigned i = 0; i < shape->ioptions; i++)
        options = support->ioptions >> i & 1 ? options | shape->ioption_order[i]
                                             : options & ~(uint32_t)shape->ioption_order[i];
    if (!shape->has_data_options)
        return options;
    for (unsigned i = 0; i < shape->doptions; i++)
        options = support->doptions >> i & 1 ? options | shape->doption_order[i]
                                             : options & ~(uint32_t)shape->doption_order[i];
    return options;
}

/* irreport and irdepth, which end many packets; `bit` is the one before them. */
TW_INLINE void take_irdepth(const struct tw_etrace_shape *shape, struct tw_etrace_packet *out,
                            struct tw_payload *in, unsigned bit)
{
    out->irreport = (unsigned)tw_payload_take(in, 1) != bit;
    out->irdepth = (uint32_t)tw_payload_take(in, shape->irdepth);
    if (shape->irdepth)
        out->has |= TW_ETRACE_HAS_IRDEPTH;
}

/* An address that was compressed alone: bytes and a sign bit, as many as the packet's size leaves with
   `behind` bits behind them. */
static uint64_t take_bytes(const struct tw_etrace_shape *shape, struct tw_payload *in,
                           unsigned behind)
{
    const unsigned left = in->size_bits > in->at + behind ? in->size_bits - in->at - behind : 0;
    const unsigned bits = left < 9 ? 0 : left / 8 * 8 + 1 < 65 ? left / 8 * 8 + 1 : 65;
    uint64_t field;

    if (bits == 0) {
        in->at = 0; /* there is no address: not all of the payload is accounted for */
        return 0;
    }
    field = tw_payload_take(in, bits < 64 ? bits : 64);
    if (bits == 65)
        in->at++; /* the sign of 64 bits and one */
    if (bits < 64)
        field = tw_sign_extend(field, bits);
    return shape->address_bits < 64 ? field & (((uint64_t)1 << shape->address_bits) - 1)
                                    : field;
}

/* An address with so many bits of other fields behind it. */
TW_INLINE uint64_t take_field(const struct tw_etrace_shape *shape, struct tw_payload *in,
                              unsigned behind)
{
    return TW_UNLIKELY(shape->compresses_addresses) ? take_bytes(shape, in, behind)
                                                    : tw_payload_take(in, shape->address_bits);
}

/* Address, notify, updiscon, irreport and irdepth: the flags are sent as differences from the bit
   before them (6.6.2). */
TW_INLINE void take_address(const struct tw_etrace_shape *shape, struct tw_etrace_packet *out,
                            struct tw_payload *in)
{
    unsigned top, bit;

    out->has |= TW_ETRACE_HAS_ADDRESS;
    out->field = take_field(shape, in, 3u + shape->irdepth);
    top = (unsigned)(out->field >> (shape->address_bits - 1)) & 1;
    bit = (unsigned)tw_payload_take(in, 1);
    out->notify = bit != top && !shape->never_notifies;
    top = bit;
    bit = (unsigned)tw_payload_take(in, 1);
    out->updiscon = bit != top;
    take_irdepth(shape, out, in, bit);
}

TW_INLINE void parse_f1(const struct tw_etrace_shape *shape, struct tw_etrace_packet *out,
                        struct tw_payload *in)
{
    out->base.type = TW_ETRACE_F1;
    out->branches = (uint8_t)tw_payload_take(in, 5);
    if (out->branches == 0) {
        out->branch_map = (uint32_t)tw_payload_take(in, 31);
        return;
    }
    out->branch_map = (uint32_t)tw_payload_take(in, tw_etrace_map_bits(out->branches));
    take_address(shape, out, in);
}

/* Which use of format 0 it is: said by the subformat, or by the one option that is on. */
static int format0_use(const struct tw_etrace_shape *shape, uint32_t options,
                       unsigned subformat)
{
    const bool predicts = options & TW_ETRACE_BRANCH_PREDICTION;
    const bool caches = options & TW_ETRACE_JUMP_TARGET_CACHE;

    if (shape->subformat)
        return subformat <= 1 ? (int)subformat : -1;
    if (predicts != caches)
        return predicts ? 0 : 1;
    return -1;
}

static enum tw_error_code parse_f0(const struct tw_etrace_shape *shape, uint32_t options,
                                   struct tw_etrace_packet *out, struct tw_payload *in)
{
    const unsigned subformat = (unsigned)tw_payload_take(in, shape->subformat);
    const int use = format0_use(shape, options, subformat);
    unsigned bit;

    out->base.type = TW_ETRACE_BAD;
    if (use < 0)
        return shape->subformat ? TW_ERROR_RESERVED_HEADER : TW_ERROR_RESERVED_CONFIG;
    if (use == 0) {
        out->branch_count = (uint32_t)tw_payload_take(in, 32);
        out->branch_fmt = (uint8_t)tw_payload_take(in, 2);
        if (out->branch_fmt == 1)
            return TW_ERROR_BAD_SEQUENCE;
        if (out->branch_fmt)
            take_address(shape, out, in);
        out->base.type = TW_ETRACE_F0S0;
        return TW_ERROR_NONE;
    }
    if (!shape->index)
        return TW_ERROR_RESERVED_CONFIG;
    out->base.type = TW_ETRACE_F0S1;
    out->index = (uint32_t)tw_payload_take(in, shape->index);
    out->branches = (uint8_t)tw_payload_take(in, 5);
    out->branch_map = (uint32_t)tw_payload_take(in, tw_etrace_map_bits(out->branches));
    bit = in->bytes[(in->at - 1) >> 3] >> ((in->at - 1) & 7) & 1;
    out->notify = out->updiscon = false;
    take_irdepth(shape, out, in, bit);
    return TW_ERROR_NONE;
}

static void parse_trap(const struct tw_etrace_shape *shape, uint32_t options,
                       struct tw_etrace_packet *out, struct tw_payload *in)
{
    bool has_address = !(options & TW_ETRACE_IMPLICIT_EXCEPTION);

    out->ecause = tw_payload_take(in, shape->ecause);
    out->interrupt = (uint8_t)tw_payload_take(in, 1);
    out->thaddr = 1;
    if (shape->has_thaddr) {
        out->thaddr = (uint8_t)tw_payload_take(in, 1);
        has_address |= !out->thaddr;
    }
    if (has_address) {
        out->field = take_field(shape, in, shape->address_width);
        out->address = tw_etrace_full(shape, out->field);
        out->has |= TW_ETRACE_HAS_ADDRESS;
    }
    if (shape->tval_of_interrupts || !out->interrupt) {
        out->tval = tw_payload_take(in, shape->address_width);
        out->has |= TW_ETRACE_HAS_TVAL;
    }
}

static void parse_support(const struct tw_etrace_shape *shape, struct tw_etrace_packet *out,
                          struct tw_payload *in)
{
    out->ienable = (uint8_t)tw_payload_take(in, 1);
    out->encoder_mode = (uint32_t)tw_payload_take(in, shape->encoder_mode);
    out->qual_status = (uint8_t)tw_payload_take(in, 2);
    out->ioptions = (uint32_t)tw_payload_take(in, shape->ioptions);
    out->has_data_options = shape->has_data_options;
    if (shape->has_data_options) {
        out->denable = (uint8_t)tw_payload_take(in, 1);
        out->dloss = (uint8_t)tw_payload_take(in, 1);
        out->doptions = (uint32_t)tw_payload_take(in, shape->doptions);
    }
}

static void parse_f3(const struct tw_etrace_shape *shape, uint32_t options,
                     struct tw_etrace_packet *out, struct tw_payload *in)
{
    const unsigned subformat = (unsigned)tw_payload_take(in, 2);

    out->base.type = (uint8_t)(TW_ETRACE_F3S0 + subformat);
    if (subformat == 3) {
        parse_support(shape, out, in);
        return;
    }
    if (subformat != 2)
        out->branch = (uint8_t)tw_payload_take(in, 1);
    out->privilege = (uint8_t)tw_payload_take(in, shape->privilege);
    out->time = tw_payload_take(in, shape->time);
    out->context = tw_payload_take(in, shape->context);
    if (subformat == 0) {
        out->field = take_field(shape, in, 0);
        out->address = tw_etrace_full(shape, out->field);
        out->has |= TW_ETRACE_HAS_ADDRESS;
    } else if (subformat == 1) {
        parse_trap(shape, options, out, in);
    }
}

enum tw_error_code tw_etrace_parse(const struct tw_etrace_shape *shape, uint32_t options,
                                   struct tw_etrace_packet *out, struct tw_payload *in)
{
    enum tw_error_code error = TW_ERROR_NONE;

    out->has = 0;
    switch (tw_payload_take(in, 2)) {
    case 0:
        error = parse_f0(shape, options, out, in);
        break;
    case 1:
        parse_f1(shape, out, in);
        break;
    case 2:
        out->base.type = TW_ETRACE_F2;
        take_address(shape, out, in);
        break;
    default:
        parse_f3(shape, options, out, in);
        if (out->base.type == TW_ETRACE_F3S3)
            return TW_ERROR_NONE; /* a vendor's own fields may follow */
    }
    /* A longer payload than the fields fill does not come from this encoder: a length that lies,
       or another configuration. */
    if (error == TW_ERROR_NONE && !tw_payload_is_used_up(in))
        error = TW_ERROR_BAD_SEQUENCE;
    if (error != TW_ERROR_NONE)
        out->base.type = TW_ETRACE_BAD;
    return error;
}

/* Streams. */

static bool is_plausible(const void *context, const struct tw_etrace_frame *frame,
                         const uint8_t *packet)
{
    const struct tw_etrace_reader *codec = context;
    struct tw_etrace_packet out;
    struct tw_payload payload;
    enum tw_error_code error;

    tw_etrace_frame_payload(&payload, frame, packet, frame->size);
    if (frame->kind == TW_ETRACE_FRAME_DATA)
        error = tw_etraced_parse(&codec->data_shape, codec->options, &codec->history, &out,
                                 &payload);
    else
        error = tw_etrace_parse(&codec->shape, codec->options, &out, &payload);
    /* The support packet that made an option known may have been lost. */
    return error == TW_ERROR_NONE || error == TW_ERROR_RESERVED_CONFIG;
}

void tw_etrace_reader_reset(struct tw_etrace_reader *codec)
{
    tw_etrace_transport_reset(&codec->transport);
    codec->options = tw_etrace_config_options(&codec->config);
    codec->address = 0;
    tw_etraced_history_init(&codec->data_shape, &codec->history);
    memset(codec->cache, 0, sizeof codec->cache[0] << codec->shape.index);
}

void tw_etrace_reader_init(struct tw_etrace_reader *codec,
                           const struct tw_etrace_config *config)
{
    codec->config = *config;
    tw_etrace_shape_init(&codec->shape, config);
    tw_etraced_shape_init(&codec->data_shape, config);
    tw_etrace_transport_init(&codec->transport, config);
    codec->transport.is_plausible = is_plausible;
    codec->transport.context = codec;
    tw_etrace_reader_reset(codec);
}

void tw_etrace_track(struct tw_etrace_reader *codec, struct tw_etrace_packet *packet)
{
    switch (packet->base.type) {
    case TW_ETRACE_F0S0:
    case TW_ETRACE_F1:
    case TW_ETRACE_F2:
        if (!(packet->has & TW_ETRACE_HAS_ADDRESS))
            break;
        packet->address =
            tw_etrace_address(&codec->shape, codec->options, codec->address, packet->field);
        tw_etrace_track_jump(codec, packet->address);
        break;
    case TW_ETRACE_F0S1:
        packet->address = codec->address = codec->cache[packet->index];
        break;
    case TW_ETRACE_F3S0:
    case TW_ETRACE_F3S1:
        if (packet->has & TW_ETRACE_HAS_ADDRESS)
            codec->address = packet->address;
        /* 7.1.3: the first access of each size is in full again */
        tw_etraced_sync(&codec->data_shape, &codec->history);
        break;
    case TW_ETRACE_F3S3:
        codec->options = tw_etrace_options(&codec->shape, codec->options, packet);
        if (packet->dloss || packet->qual_status == TW_ETRACE_TRACE_LOST)
            tw_etraced_lose(&codec->history);
        break;
    default:
        break;
    }
}

enum tw_status tw_etrace_reader_new(struct tw_etrace_reader **reader,
                                    const struct tw_etrace_config *config,
                                    const struct tw_allocator *allocator,
                                    struct tw_fault *fault)
{
    struct tw_etrace_config copy;

    *reader = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_etrace_config", fault));
    TW_TRY(tw_etrace_config_check(&copy, fault));
    *reader = tw_take(allocator, sizeof **reader);
    if (!*reader)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a packet reader");
    tw_etrace_reader_init(*reader, &copy);
    (*reader)->allocator = allocator;
    return TW_OK;
}

void tw_etrace_reader_lost(struct tw_etrace_reader *reader)
{
    tw_etrace_transport_lose(&reader->transport);
    tw_etraced_lose(&reader->history);
}

void tw_etrace_reader_free(struct tw_etrace_reader *reader)
{
    if (reader)
        tw_give(reader->allocator, reader);
}
