/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: the fields of a message (chapters 4 and 5), whatever its length. */
#include "ntrace/packet.h"

#define NUMBER  TW_NTRACE_ROLE_NUMBER
#define ADDRESS TW_NTRACE_ROLE_ADDRESS
#define HIST    TW_NTRACE_ROLE_HIST
#define NO      0
#define NEVER   TW_NTRACE_NEVER
#define REPEAT  TW_NTRACE_RCODE_REPEAT

/* clang-format off */
const struct tw_ntrace_rule tw_ntrace_rules[64] = {
    /* TCODE, type                            bits, SYNC, code, CDF, B-TYPE; variable fields; how many, one more;
       dialect; reserved values */
    [2]  = { TW_NTRACE_OWNERSHIP,                  0, NO, NO, NO, 0, NO, { NUMBER },                       1, NEVER, false, 0 },
    [3]  = { TW_NTRACE_DIRECT_BRANCH,              0, NO, NO, NO, 0, NO, { NUMBER },                       1, NEVER, false, 0 },
    [4]  = { TW_NTRACE_INDIRECT_BRANCH,            2, NO, NO, NO, 0, 3, { NUMBER, ADDRESS },               2, NEVER, false, 0 },
    [7]  = { TW_NTRACE_DATA_ACQUISITION,           0, NO, NO, NO, 0, NO, { NUMBER, NUMBER },               2, NEVER, true, 0 },
    [8]  = { TW_NTRACE_ERROR,                      4, NO, 0xf, NO, 0, NO, { NUMBER },                      1, NEVER, false, 0x00fe },
    [9]  = { TW_NTRACE_PROG_TRACE_SYNC,            4, 0xf, NO, NO, 0, NO, { NUMBER, ADDRESS },             2, NEVER, false, 0x3d00 },
    [11] = { TW_NTRACE_DIRECT_BRANCH_SYNC,         4, 0xf, NO, NO, 0, NO, { NUMBER, ADDRESS },             2, NEVER, false, 0x3d00 },
    [12] = { TW_NTRACE_INDIRECT_BRANCH_SYNC,       6, 0xf, NO, NO, 4, 3, { NUMBER, ADDRESS },              2, NEVER, false, 0x3d00 },
    [23] = { TW_NTRACE_AUX_ACCESS_WRITE,           0, NO, NO, NO, 0, NO, { NUMBER, NUMBER },               2, NEVER, true, 0 },
    [27] = { TW_NTRACE_RESOURCE_FULL,              4, NO, 0xf, NO, 0, NO, { NUMBER, NUMBER },              1, REPEAT, false, 0x00f8 },
    [28] = { TW_NTRACE_INDIRECT_BRANCH_HIST,       2, NO, NO, NO, 0, 3, { NUMBER, ADDRESS, HIST },         3, NEVER, false, 0 },
    [29] = { TW_NTRACE_INDIRECT_BRANCH_HIST_SYNC,  6, 0xf, NO, NO, 4, 3, { NUMBER, ADDRESS, HIST },        3, NEVER, false, 0x3d00 },
    [30] = { TW_NTRACE_REPEAT_BRANCH,              0, NO, NO, NO, 0, NO, { NUMBER },                       1, NEVER, false, 0 },
    [33] = { TW_NTRACE_PROG_TRACE_CORRELATION,     6, NO, 0xf, 3, 0, NO, { NUMBER, HIST },                 1, NEVER, false, 0x00ec },
    [34] = { TW_NTRACE_IN_CIRCUIT_TRACE,           6, NO, 0xf, 3, 0, NO, { ADDRESS, NUMBER },              1, NEVER, true, 0 },
    [35] = { TW_NTRACE_IN_CIRCUIT_TRACE_SYNC,      6, NO, 0xf, 3, 0, NO, { ADDRESS, NUMBER },              1, NEVER, true, 0 },
    [56] = { TW_NTRACE_VENDOR,                     0, NO, NO, NO, 0, NO, { NO },                           0, NEVER, false, 0 },
    [57] = { TW_NTRACE_VENDOR,                     0, NO, NO, NO, 0, NO, { NO },                           0, NEVER, false, 0 },
    [58] = { TW_NTRACE_VENDOR,                     0, NO, NO, NO, 0, NO, { NO },                           0, NEVER, false, 0 },
    [59] = { TW_NTRACE_VENDOR,                     0, NO, NO, NO, 0, NO, { NO },                           0, NEVER, false, 0 },
    [60] = { TW_NTRACE_VENDOR,                     0, NO, NO, NO, 0, NO, { NO },                           0, NEVER, false, 0 },
    [61] = { TW_NTRACE_VENDOR,                     0, NO, NO, NO, 0, NO, { NO },                           0, NEVER, false, 0 },
    [62] = { TW_NTRACE_VENDOR,                     0, NO, NO, NO, 0, NO, { NO },                           0, NEVER, false, 0 },
};
/* clang-format on */

enum { FIELDS_MAX = 5, NOTHING = 0 };

void tw_ntrace_tcodes(uint8_t tcodes[TW_NTRACE_TYPES])
{
    memset(tcodes, 0, TW_NTRACE_TYPES);
    for (unsigned tcode = 0; tcode < TW_LENGTH(tw_ntrace_rules); tcode++)
        if (tw_ntrace_rules[tcode].fields)
            tcodes[tw_ntrace_rules[tcode].type] = (uint8_t)tcode;
}

void tw_ntrace_shape_init(struct tw_ntrace_shape *shape, const struct tw_ntrace_config *config)
{
    *shape = (struct tw_ntrace_shape){
        .src_bits = config->inhibit_src ? 0 : config->src_bits,
        .extension = config->extend_addr                   ? TW_NTRACE_EXTEND_MSB
                     : config->dialect == TW_NTRACE_SIFIVE ? TW_NTRACE_EXTEND_48
                                                           : TW_NTRACE_EXTEND_NONE,
        .address_bits = config->xlen == 32 ? 31 : 63,
        .dialect = config->dialect,
    };
}

TW_INLINE uint64_t low_bits(uint64_t value, unsigned width)
{
    return width >= 64 ? value : value & (((uint64_t)1 << width) - 1);
}

/* The 6 upper bits of each byte, next to each other. */
TW_INLINE uint64_t squeeze(uint64_t word)
{
    word = word >> 2 & 0x3f3f3f3f3f3f3f3f;
    word = (word & 0x003f003f003f003f) | (word >> 2 & 0x0fc00fc00fc00fc0);
    word = (word & 0x00000fff00000fff) | (word >> 4 & 0x00fff00000fff000);
    return (word & 0xffffff) | (word >> 8 & 0xffffff000000);
}

/* The lowest bit of each byte, next to each other; the others are 0. */
TW_INLINE unsigned gather(uint64_t word)
{
    return (unsigned)(word * 0x0102040810204080 >> 56);
}

/* The MDO of a message of at most 16 bytes, and which of them end a field. */
struct message {
    uint64_t low, high;
    unsigned ends, size;
};

TW_INLINE uint64_t bits_at(const struct message *message, unsigned at)
{
    if (at >= 64)
        return at - 64 < 64 ? message->high >> (at - 64) : 0;
    return message->low >> at | (at ? message->high << (64 - at) : 0);
}

#define EACH 0x0101010101010101u

/* Of 9 to 16 bytes.  False: it is longer, or has a reserved MSEO. */
static bool load_long(struct message *message, const uint8_t *data)
{
    const uint64_t first = tw_load_le64(data), second = tw_load_le64(data + 8);
    const uint64_t last = second & second >> 1 & EACH;
    const uint64_t within = last ^ (last - 1);
    uint64_t rest;

    if (!last || (~first & first >> 1 & EACH) || (~second & second >> 1 & within & EACH))
        return false;
    message->size = 8 + tw_lowest_bit(last) / 8 + 1;
    message->ends = gather(first & EACH) | gather(second & within & EACH) << 8;
    rest = low_bits(squeeze(second), 6 * (message->size - 8));
    message->low = squeeze(first) | rest << 48;
    message->high = rest >> 16;
    return true;
}

/* An address, `width` bits of which were sent, the last of them ending an MDO.  Those of RV32 may be
   sent with more bits than they have, all equal. */
TW_INLINE uint64_t extend(const struct tw_ntrace_shape *shape, uint64_t value, unsigned width)
{
    if (shape->extension == TW_NTRACE_EXTEND_NONE)
        return value;
    if (shape->extension == TW_NTRACE_EXTEND_48) {
        if (width != 48 || !(value >> 47 & 1))
            return value;
    } else if (width == 0 || width >= TW_NTRACE_ADDRESS_BITS || !(value >> (width - 1) & 1)) {
        return value;
    }
    return (value | ~low_bits(UINT64_MAX, width)) & low_bits(UINT64_MAX, shape->address_bits);
}

/* What stands in the fixed fields, the first of which is bit 0. */
TW_INLINE void take_fixed(struct tw_ntrace_packet *packet, const struct tw_ntrace_rule *rule,
                          uint64_t fixed)
{
    packet->sync = (uint8_t)(fixed & rule->sync_mask);
    packet->code = (uint8_t)(fixed & rule->code_mask);
    packet->cdf = (uint8_t)(fixed >> 4 & rule->cdf_mask);
    packet->btype = (uint8_t)(fixed >> rule->btype_shift & rule->btype_mask);
}

/* Reserved values that do not keep a message from being read. */
TW_INLINE uint8_t odd_codes(const struct tw_ntrace_rule *rule,
                            const struct tw_ntrace_packet *packet)
{
    return rule->reserved >> (packet->sync | packet->code) & 1 ? TW_NTRACE_ODD_CODE : 0;
}

static uint8_t missing(uint8_t role)
{
    return role == TW_NTRACE_ROLE_ADDRESS ? TW_NTRACE_FAULT_ADDRESS
           : role == TW_NTRACE_ROLE_HIST  ? TW_NTRACE_FAULT_HIST
                                          : TW_NTRACE_FAULT_FIELD;
}

/* Where the fields of a message are read and what they are. */
struct fields {
    unsigned count; /* that there are, of which FIELDS_MAX are kept */
    uint64_t values[FIELDS_MAX];
    uint8_t width; /* of the address */
};

/* Puts the fields where they belong.  Returns what is wrong. */
TW_INLINE uint8_t finish(const struct tw_ntrace_shape *shape, struct tw_ntrace_packet *packet,
                         const struct tw_ntrace_rule *rule, const struct fields *fields)
{
    const unsigned needed = tw_ntrace_fields(rule, packet);

    if (TW_UNLIKELY(packet->cdf > 1))
        return TW_NTRACE_FAULT_CDF;
    if (TW_UNLIKELY(fields->count < needed))
        return missing(rule->roles[fields->count]);
    packet->icnt = fields->values[0];
    if (needed > 1)
        packet->address = fields->values[1];
    if (needed > 2)
        packet->hist = fields->values[2];
    if (rule->roles[1] == TW_NTRACE_ROLE_ADDRESS) {
        packet->address = extend(shape, packet->address, fields->width);
    } else if (rule->roles[1] == TW_NTRACE_ROLE_HIST) {
        packet->hist = packet->address;
        packet->address = 0;
    } else if (rule->roles[0] == TW_NTRACE_ROLE_ADDRESS && (packet->code || packet->cdf)) {
        packet->icnt = extend(shape, packet->icnt, fields->width);
    }
    if (rule->roles[needed - 1] == TW_NTRACE_ROLE_HIST) {
        if (TW_UNLIKELY(packet->hist == 0))
            return TW_NTRACE_FAULT_HIST;
        packet->has |= TW_NTRACE_HAS_HIST;
    }
    if (fields->count > needed) {
        packet->tstamp = fields->values[needed];
        packet->has |= TW_NTRACE_HAS_TSTAMP;
        if (TW_UNLIKELY(fields->count > needed + 1))
            packet->odd |= TW_NTRACE_ODD_EXTRA;
    }
    if (packet->base.type == TW_NTRACE_OWNERSHIP && (packet->process & 3) == 1)
        packet->odd |= TW_NTRACE_ODD_FORMAT;
    packet->odd |= odd_codes(rule, packet);
    return TW_NTRACE_FAULT_NONE;
}

/* Whether messages of the dialect are read. */
TW_INLINE bool is_known(const struct tw_ntrace_shape *shape, const struct tw_ntrace_rule *rule)
{
    return !rule->is_dialect || shape->dialect != TW_NTRACE_1_0;
}

/* TCODE, SRC and the fixed fields.  NULL: the short ways do not read such a message. */
TW_INLINE const struct tw_ntrace_rule *take_head(const struct tw_ntrace_shape *shape,
                                                 struct tw_ntrace_packet *packet, uint64_t mdo)
{
    const unsigned tcode = mdo & 0x3f;
    const struct tw_ntrace_rule *rule = &tw_ntrace_rules[tcode];

    if (TW_UNLIKELY(rule->fields == 0 || !is_known(shape, rule)))
        return NULL; /* vendor and reserved */
    memset(packet, 0, sizeof *packet);
    packet->tcode = (uint8_t)tcode;
    packet->base.type = rule->type;
    mdo >>= TW_NTRACE_TCODE_BITS;
    if (shape->src_bits) {
        packet->src = (uint16_t)low_bits(mdo, shape->src_bits);
        packet->has = TW_NTRACE_HAS_SRC;
        mdo >>= shape->src_bits;
    }
    take_fixed(packet, rule, mdo);
    return rule;
}

static TW_NOINLINE size_t parse_long(const struct tw_ntrace_shape *shape,
                                     struct tw_ntrace_packet *packet, const uint8_t *data)
{
    struct fields fields = { .count = 0 };
    const struct tw_ntrace_rule *rule;
    struct message message;
    unsigned at;

    if (!load_long(&message, data) || !(rule = take_head(shape, packet, message.low)))
        return NOTHING;
    at = (unsigned)TW_NTRACE_TCODE_BITS + shape->src_bits + rule->fixed_bits;
    for (unsigned ends = message.ends; ends; ends &= ends - 1) {
        const unsigned end = 6 * tw_lowest_bit(ends) + 6;

        if (TW_UNLIKELY(end <= at || fields.count == FIELDS_MAX ||
                        (end - at > 64 && low_bits(bits_at(&message, at + 64), end - at - 64))))
            return NOTHING; /* cut, empty, too many or (perhaps) too wide */
        fields.values[fields.count] = low_bits(bits_at(&message, at), end - at);
        if (rule->roles[fields.count < 2 ? fields.count : 2] == TW_NTRACE_ROLE_ADDRESS)
            fields.width = (uint8_t)(end - at);
        fields.count++;
        at = end;
    }
    packet->base.size = message.size;
    return finish(shape, packet, rule, &fields) == TW_NTRACE_FAULT_NONE ? message.size
                                                                        : NOTHING;
}

/* The next field of a message of at most 8 bytes: *ends has a bit for each byte that ends one. */
TW_INLINE uint64_t next_field(uint64_t mdo, unsigned *at, uint64_t *ends)
{
    const unsigned byte = tw_lowest_bit(*ends);
    const unsigned end = byte - byte / 4 + 6;
    const uint64_t value = (mdo & (((uint64_t)1 << end) - 1)) >> *at;

    *ends &= *ends - 1;
    *at = end;
    return value;
}

/* The variable fields, all at once.  False: there are too few or too many, or something is odd about
   them. */
TW_INLINE bool take_short(const struct tw_ntrace_shape *shape, struct tw_ntrace_packet *packet,
                          const struct tw_ntrace_rule *rule, uint64_t mdo, uint64_t ends)
{
    const unsigned needed = tw_ntrace_fields(rule, packet);
    unsigned at = (unsigned)TW_NTRACE_TCODE_BITS + shape->src_bits + rule->fixed_bits;
    unsigned before;

    if (TW_UNLIKELY(tw_lowest_bit(ends) * 3 / 4 + 6 <= at || packet->cdf > 1))
        return false; /* cut, or empty */
    packet->icnt = next_field(mdo, &at, &ends);
    if (needed > 1) {
        if (TW_UNLIKELY(!ends))
            return false;
        before = at;
        packet->address = next_field(mdo, &at, &ends);
        if (rule->roles[1] == TW_NTRACE_ROLE_ADDRESS) {
            packet->address = extend(shape, packet->address, at - before);
        } else if (rule->roles[1] == TW_NTRACE_ROLE_HIST) {
            packet->hist = packet->address;
            packet->address = 0;
        }
    }
    if (needed > 2) {
        if (TW_UNLIKELY(!ends))
            return false;
        packet->hist = next_field(mdo, &at, &ends);
    }
    if (rule->roles[needed - 1] == TW_NTRACE_ROLE_HIST) {
        if (TW_UNLIKELY(packet->hist == 0))
            return false;
        packet->has |= TW_NTRACE_HAS_HIST;
    }
    if (ends) {
        packet->tstamp = next_field(mdo, &at, &ends);
        packet->has |= TW_NTRACE_HAS_TSTAMP;
    }
    packet->odd = odd_codes(rule, packet);
    return !ends;
}

/* Most messages of HTM: IndirectBranchHist without SRC and timestamp, its address sent in full.  False: it
   is none, or something is odd about it. */
TW_INLINE bool take_hist(const struct tw_ntrace_shape *shape, struct tw_ntrace_packet *packet,
                         uint64_t mdo, uint64_t ends)
{
    enum { TCODE = 28, BTYPE = TW_NTRACE_TCODE_BITS, ICNT = BTYPE + 2 };
    const uint64_t second = ends & (ends - 1), third = second & (second - 1);
    unsigned byte, icnt, address;

    /* Three fields: no fewer, no more. */
    if ((mdo & 0x3f) != TCODE || shape->src_bits || shape->extension || !third ||
        third & (third - 1))
        return false;
    byte = tw_lowest_bit(ends);
    icnt = byte - byte / 4 + 6;
    byte = tw_lowest_bit(second);
    address = byte - byte / 4 + 6;
    if (TW_UNLIKELY(icnt <= ICNT || !(mdo >> address)))
        return false;
    memset(packet, 0, sizeof *packet);
    packet->base.type = TW_NTRACE_INDIRECT_BRANCH_HIST;
    packet->tcode = TCODE;
    packet->has = TW_NTRACE_HAS_HIST;
    packet->btype = (uint8_t)(mdo >> BTYPE & 3);
    packet->icnt = low_bits(mdo, icnt) >> ICNT;
    packet->address = low_bits(mdo, address) >> icnt;
    packet->hist = mdo >> address;
    return true;
}

size_t tw_ntrace_parse_short(const struct tw_ntrace_shape *shape,
                             struct tw_ntrace_packet *packet, const uint8_t *data)
{
    const uint64_t first = tw_load_le64(data);
    const uint64_t stop = first & first >> 1 & EACH;
    const uint64_t within = stop ^ (stop - 1);
    const struct tw_ntrace_rule *rule;
    unsigned size;
    uint64_t mdo;

    if (TW_UNLIKELY((first & 3) != TW_NTRACE_MSEO_MIDDLE))
        return NOTHING;
    if (TW_UNLIKELY(!stop))
        return parse_long(shape, packet, data);
    if (TW_UNLIKELY(~first & first >> 1 & within & EACH))
        return NOTHING; /* a reserved MSEO */
    size = tw_lowest_bit(stop) / 8 + 1;
    mdo = low_bits(squeeze(first), 6 * size);
    if (take_hist(shape, packet, mdo, first & within & EACH)) {
        packet->base.size = size;
        return size;
    }
    rule = take_head(shape, packet, mdo);
    if (TW_UNLIKELY(!rule || !take_short(shape, packet, rule, mdo, first & within & EACH)))
        return NOTHING;
    if (TW_UNLIKELY(rule->roles[0] == TW_NTRACE_ROLE_ADDRESS))
        return NOTHING; /* it may have to be extended */
    if (TW_UNLIKELY(rule->type == TW_NTRACE_OWNERSHIP && (packet->process & 3) == 1))
        packet->odd |= TW_NTRACE_ODD_FORMAT;
    packet->base.size = size;
    return size;
}

/* Bits of any number, first those that come first. */
struct sink {
    uint64_t value;
    unsigned width;
    bool is_wide; /* there are significant bits beyond 64 */
};

static void add_bits(struct sink *sink, unsigned bits, unsigned count)
{
    if (sink->width < 64)
        sink->value |= (uint64_t)bits << sink->width;
    if (bits && (sink->width >= 64 || bits >> (64 - sink->width < 6 ? 64 - sink->width : 6)))
        sink->is_wide = true;
    sink->width += count;
}

/* The variable fields from byte `from` on, `spare` bits of which are the first field's. */
static uint8_t take_fields(struct fields *fields, struct tw_ntrace_packet *packet,
                           const struct tw_ntrace_rule *rule, const uint8_t *data, size_t size,
                           size_t from, unsigned spare)
{
    struct sink sink = { .value = 0 };

    for (size_t i = from; i < size; i++) {
        const unsigned count = i == from ? spare : 6;

        add_bits(&sink, data[i] >> 2 >> (6 - count), count);
        if ((data[i] & 1) == 0)
            continue;
        if (sink.is_wide && fields->count < FIELDS_MAX) {
            packet->fault_at = (uint32_t)i;
            return TW_NTRACE_FAULT_WIDE;
        }
        if (sink.width == 0)
            packet->odd |= TW_NTRACE_ODD_EMPTY;
        if (fields->count < FIELDS_MAX)
            fields->values[fields->count] = sink.value;
        if (fields->count < 3 && rule->roles[fields->count] == TW_NTRACE_ROLE_ADDRESS)
            fields->width = (uint8_t)(sink.width < 255 ? sink.width : 255);
        fields->count++;
        sink = (struct sink){ .value = 0 };
    }
    return TW_NTRACE_FAULT_NONE;
}

static uint8_t read_fields(const struct tw_ntrace_shape *shape, struct tw_ntrace_packet *packet,
                           const uint8_t *data, size_t size)
{
    struct fields fields = { .count = 0 };
    const struct tw_ntrace_rule *rule;
    struct sink head = { .value = 0 };
    unsigned head_bits, spare; /* bits of the last byte of it that are the first field's */
    size_t bytes, at = 0;
    uint8_t fault;

    packet->tcode = data[0] >> 2;
    rule = &tw_ntrace_rules[packet->tcode];
    packet->base.type = rule->fields && is_known(shape, rule) ? rule->type
                        : rule->type == TW_NTRACE_VENDOR      ? TW_NTRACE_VENDOR
                                                              : TW_NTRACE_RESERVED;
    if (packet->base.type >= TW_NTRACE_VENDOR)
        head_bits = (unsigned)TW_NTRACE_TCODE_BITS + shape->src_bits;
    else
        head_bits = (unsigned)TW_NTRACE_TCODE_BITS + shape->src_bits + rule->fixed_bits;
    bytes = (head_bits + 5) / 6;
    spare = (6 - head_bits % 6) % 6;
    for (; at < size && at < bytes; at++) {
        add_bits(&head, data[at] >> 2, 6);
        if ((data[at] & 1) && at + 1 < bytes)
            break;
    }
    if (shape->src_bits && head.width >= (unsigned)TW_NTRACE_TCODE_BITS + shape->src_bits) {
        packet->src = (uint16_t)low_bits(head.value >> TW_NTRACE_TCODE_BITS, shape->src_bits);
        packet->has = TW_NTRACE_HAS_SRC;
    }
    if (packet->base.type >= TW_NTRACE_VENDOR)
        return TW_NTRACE_FAULT_NONE;
    if (head.width < head_bits) {
        packet->fault_at = (uint32_t)at;
        return TW_NTRACE_FAULT_CUT;
    }
    take_fixed(packet, rule, head.value >> (TW_NTRACE_TCODE_BITS + shape->src_bits));
    if (spare == 0 && !(data[at - 1] & 1))
        fault = take_fields(&fields, packet, rule, data, size, at, 6);
    else
        fault = take_fields(&fields, packet, rule, data, size, at - 1, spare);
    return fault ? fault : finish(shape, packet, rule, &fields);
}

static uint8_t error_of(uint8_t fault)
{
    return fault == TW_NTRACE_FAULT_NONE ? TW_ERROR_NONE
           : fault == TW_NTRACE_FAULT_MSEO || fault == TW_NTRACE_FAULT_START
               ? TW_ERROR_RESERVED_HEADER
               : TW_ERROR_BAD_SEQUENCE;
}

/* Makes a packet of what fits no message. */
static void set_bad(struct tw_ntrace_packet *packet, uint8_t fault)
{
    const struct tw_ntrace_packet was = *packet;

    memset(packet, 0, sizeof *packet);
    packet->base.type = TW_NTRACE_BAD;
    packet->base.size = was.base.size;
    packet->tcode = was.tcode;
    packet->has = was.has & TW_NTRACE_HAS_SRC;
    packet->src = was.src;
    packet->fault = fault;
    packet->error = error_of(fault);
    packet->fault_at = was.fault_at;
}

void tw_ntrace_parse(const struct tw_ntrace_shape *shape, struct tw_ntrace_packet *packet,
                     const uint8_t *data, size_t size)
{
    uint8_t fault = TW_NTRACE_FAULT_NONE;

    memset(packet, 0, sizeof *packet);
    packet->base.size = (uint32_t)size;
    if ((data[0] & 3) != TW_NTRACE_MSEO_MIDDLE)
        fault = (data[0] & 3) == TW_NTRACE_MSEO_FIELD ? TW_NTRACE_FAULT_START
                                                      : TW_NTRACE_FAULT_MSEO;
    for (size_t i = 1; i < size && !fault; i++)
        if ((data[i] & 3) == TW_NTRACE_MSEO_RESERVED) {
            fault = TW_NTRACE_FAULT_MSEO;
            packet->fault_at = (uint32_t)i;
        }
    if (!fault)
        fault = read_fields(shape, packet, data, size);
    if (fault)
        set_bad(packet, fault);
    else if (packet->base.type == TW_NTRACE_RESERVED)
        packet->error = TW_ERROR_RESERVED_HEADER;
}
