/* SPDX-License-Identifier: BSD-2-Clause */
/* gzip files (RFC 1952) and the deflate data in them (RFC 1951). */
#include "base/gunzip.h"

#include "base/bytes.h"
#include "base/memory.h"

enum { LONGEST_CODE = 15, LITERALS = 288, DISTANCES = 32 };

struct codes {
    uint16_t counts[LONGEST_CODE + 1]; /* of each length */
    uint16_t symbols[LITERALS];        /* in order of their codes */
};

struct inflater {
    struct tw_bytes in;
    uint32_t bits;
    unsigned bit_count;
    uint8_t *out;
    size_t size, room, most;
    size_t begin; /* of this member: distances do not reach before it */
    const struct tw_allocator *allocator;
    bool no_memory, is_bad;
};

static uint32_t take_bits(struct inflater *inflater, unsigned count)
{
    uint32_t value;

    while (inflater->bit_count < count) {
        inflater->bits |= (uint32_t)tw_bytes_u8(&inflater->in) << inflater->bit_count;
        inflater->bit_count += 8;
    }
    value = inflater->bits & ((1u << count) - 1);
    inflater->bits >>= count;
    inflater->bit_count -= count;
    if (inflater->in.short_read)
        inflater->is_bad = true;
    return value;
}

/* The canonical code; false: the lengths make none. */
static bool make_codes(struct codes *codes, const uint8_t *lengths, unsigned count)
{
    uint16_t offsets[LONGEST_CODE + 1] = { 0 };
    int left = 1;

    memset(codes->counts, 0, sizeof codes->counts);
    for (unsigned i = 0; i < count; i++)
        codes->counts[lengths[i]]++;
    codes->counts[0] = 0;
    for (unsigned i = 1; i <= LONGEST_CODE; i++) {
        left = 2 * left - codes->counts[i];
        if (left < 0)
            return false;
    }
    for (unsigned i = 1; i < LONGEST_CODE; i++)
        offsets[i + 1] = (uint16_t)(offsets[i] + codes->counts[i]);
    for (unsigned i = 0; i < count; i++)
        if (lengths[i])
            codes->symbols[offsets[lengths[i]]++] = (uint16_t)i;
    return true;
}

static unsigned take_symbol(struct inflater *inflater, const struct codes *codes)
{
    int code = 0, first = 0, index = 0;

    for (unsigned length = 1; length <= LONGEST_CODE; length++) {
        const int count = codes->counts[length];

        code |= (int)take_bits(inflater, 1);
        if (code - count < first)
            return codes->symbols[index + (code - first)];
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    inflater->is_bad = true;
    return 0;
}

static void put(struct inflater *inflater, uint8_t byte)
{
    if (inflater->size == inflater->most) {
        inflater->is_bad = true;
        return;
    }
    if (inflater->size == inflater->room &&
        !TW_GROW(inflater->allocator, &inflater->out, &inflater->room, inflater->size + 1)) {
        inflater->no_memory = inflater->is_bad = true;
        return;
    }
    inflater->out[inflater->size++] = byte;
}

static void copy(struct inflater *inflater, size_t distance, size_t length)
{
    if (distance > inflater->size - inflater->begin) {
        inflater->is_bad = true;
        return;
    }
    while (length-- && !inflater->is_bad)
        put(inflater, inflater->out[inflater->size - distance]);
}

static void take_block(struct inflater *inflater, const struct codes *literals,
                       const struct codes *distances)
{
    static const uint16_t lengths[] = { 3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                        15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                        67, 83, 99, 115, 131, 163, 195, 227, 258 };
    static const uint8_t length_bits[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                           2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
    static const uint16_t bases[] = { 1,    2,    3,    4,     5,     7,    9,    13,
                                      17,   25,   33,   49,    65,    97,   129,  193,
                                      257,  385,  513,  769,   1025,  1537, 2049, 3073,
                                      4097, 6145, 8193, 12289, 16385, 24577 };

    while (!inflater->is_bad) {
        unsigned symbol = take_symbol(inflater, literals);
        size_t length;

        if (symbol == 256)
            return;
        if (symbol < 256) {
            put(inflater, (uint8_t)symbol);
            continue;
        }
        symbol -= 257;
        if (symbol >= TW_LENGTH(lengths)) {
            inflater->is_bad = true;
            return;
        }
        length = lengths[symbol] + take_bits(inflater, length_bits[symbol]);
        symbol = take_symbol(inflater, distances);
        if (symbol >= TW_LENGTH(bases)) {
            inflater->is_bad = true;
            return;
        }
        copy(inflater, bases[symbol] + take_bits(inflater, symbol < 2 ? 0 : symbol / 2 - 1),
             length);
    }
}

static void take_fixed(struct inflater *inflater)
{
    uint8_t lengths[LITERALS];
    struct codes literals, distances;

    for (unsigned i = 0; i < LITERALS; i++)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    (void)make_codes(&literals, lengths, LITERALS);
    memset(lengths, 5, DISTANCES);
    (void)make_codes(&distances, lengths, DISTANCES);
    take_block(inflater, &literals, &distances);
}

/* Code lengths, themselves coded; false: they are damaged. */
static bool take_lengths(struct inflater *inflater, uint8_t *lengths, unsigned count,
                         const struct codes *codes)
{
    unsigned done = 0;

    while (done < count) {
        const unsigned symbol = take_symbol(inflater, codes);
        unsigned times = 1;
        uint8_t length = (uint8_t)symbol;

        if (symbol >= 16) {
            if (symbol == 16 && done == 0)
                return false;
            length = symbol == 16 ? lengths[done - 1] : 0;
            times = symbol == 16   ? 3 + take_bits(inflater, 2)
                    : symbol == 17 ? 3 + take_bits(inflater, 3)
                                   : 11 + take_bits(inflater, 7);
        }
        if (inflater->is_bad || times > count - done)
            return false;
        memset(lengths + done, length, times);
        done += times;
    }
    return true;
}

static void take_dynamic(struct inflater *inflater)
{
    static const uint8_t order[] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                     11, 4,  12, 3, 13, 2, 14, 1, 15 };
    uint8_t lengths[LITERALS + DISTANCES] = { 0 };
    const unsigned literal_count = 257 + take_bits(inflater, 5);
    const unsigned distance_count = 1 + take_bits(inflater, 5);
    const unsigned count = 4 + take_bits(inflater, 4);
    struct codes literals, distances;

    for (unsigned i = 0; i < count; i++)
        lengths[order[i]] = (uint8_t)take_bits(inflater, 3);
    if (literal_count > LITERALS || !make_codes(&literals, lengths, TW_LENGTH(order)) ||
        !take_lengths(inflater, lengths, literal_count + distance_count, &literals) ||
        !make_codes(&literals, lengths, literal_count) ||
        !make_codes(&distances, lengths + literal_count, distance_count)) {
        inflater->is_bad = true;
        return;
    }
    take_block(inflater, &literals, &distances);
}

static void take_stored(struct inflater *inflater)
{
    unsigned size, check;

    inflater->bits = 0; /* the rest of the byte */
    inflater->bit_count = 0;
    size = (unsigned)tw_bytes_le(&inflater->in, 2);
    check = (unsigned)tw_bytes_le(&inflater->in, 2);
    if (inflater->in.short_read || (size ^ check) != 0xffff ||
        tw_bytes_left(&inflater->in) < size) {
        inflater->is_bad = true;
        return;
    }
    while (size-- && !inflater->is_bad)
        put(inflater, *inflater->in.at++);
}

static void inflate(struct inflater *inflater)
{
    bool is_last = false;

    inflater->bits = 0;
    inflater->bit_count = 0;
    while (!is_last && !inflater->is_bad) {
        is_last = take_bits(inflater, 1);
        switch (take_bits(inflater, 2)) {
        case 0:
            take_stored(inflater);
            break;
        case 1:
            take_fixed(inflater);
            break;
        case 2:
            take_dynamic(inflater);
            break;
        default:
            inflater->is_bad = true;
        }
    }
}

static void skip_text(struct tw_bytes *in)
{
    while (!in->short_read && tw_bytes_u8(in) != 0)
        ;
}

/* The head of a member; false: it is none. */
static bool take_head(struct tw_bytes *in)
{
    enum { HEAD_CRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16 };
    const uint32_t magic = (uint32_t)tw_bytes_le(in, 3);
    const uint8_t flags = tw_bytes_u8(in);

    (void)tw_bytes_le(in, 6);
    if (magic != 0x088b1f || flags & 0xe0)
        return false;
    if (flags & EXTRA) {
        const size_t size = (size_t)tw_bytes_le(in, 2);

        if (size > tw_bytes_left(in))
            return false;
        in->at += size;
    }
    if (flags & NAME)
        skip_text(in);
    if (flags & COMMENT)
        skip_text(in);
    if (flags & HEAD_CRC)
        (void)tw_bytes_le(in, 2);
    return !in->short_read;
}

static uint32_t checksum(const uint8_t *bytes, size_t size)
{
    uint32_t table[256], crc = UINT32_MAX;

    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (unsigned bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
    while (size--)
        crc = table[(crc ^ *bytes++) & 0xff] ^ crc >> 8;
    return ~crc;
}

enum tw_status tw_gunzip(uint8_t **out, size_t *out_size, const uint8_t *data, size_t size,
                         size_t most, const struct tw_allocator *allocator)
{
    struct inflater inflater = { .in = { .at = data, .end = data + size },
                                 .most = most,
                                 .allocator = allocator };

    /* Even what is empty has a place. */
    inflater.no_memory = inflater.is_bad =
        !TW_GROW(allocator, &inflater.out, &inflater.room, 1);
    while (!inflater.is_bad && tw_bytes_left(&inflater.in)) {
        inflater.begin = inflater.size;
        if (!take_head(&inflater.in)) {
            inflater.is_bad = true;
            break;
        }
        inflate(&inflater);
        if (inflater.is_bad)
            break;
        if ((uint32_t)tw_bytes_le(&inflater.in, 4) !=
                checksum(inflater.out + inflater.begin, inflater.size - inflater.begin) ||
            (uint32_t)tw_bytes_le(&inflater.in, 4) !=
                (uint32_t)(inflater.size - inflater.begin) ||
            inflater.in.short_read)
            inflater.is_bad = true;
    }
    *out = inflater.out;
    *out_size = inflater.size;
    if (inflater.no_memory)
        return TW_E_MEMORY;
    return inflater.is_bad || !size ? TW_E_CONFIG : TW_OK;
}
