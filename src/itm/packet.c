/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: bytes to packets. */
#include "itm/packet.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

static void read_head_only(struct tw_bytes *in, uint8_t head, struct tw_itm_packet *out)
{
    (void)in;
    out->value = head;
}

static void read_overflow(struct tw_bytes *in, uint8_t head, struct tw_itm_packet *out)
{
    (void)in;
    (void)head;
    (void)out;
}

/* At least 47 zero bits, then a one.  More zeros than can be meant are not one packet: only the
   first of them is given up here, the search for synchronization deals with the rest. */
static void read_sync(struct tw_bytes *in, uint8_t head, struct tw_itm_packet *out)
{
    const uint8_t *first = in->at;
    size_t zeros = 1;

    (void)head;
    while (in->at < in->end && *in->at == 0 && zeros <= TW_ITM_SYNC_ZEROS_MAX) {
        in->at++;
        zeros++;
    }
    if (zeros > TW_ITM_SYNC_ZEROS_MAX) {
        in->at = first;
        out->base.type = TW_ITM_PACKET_BAD_SEQUENCE;
        return;
    }
    if (tw_bytes_u8(in) != 0x80 || zeros < TW_ITM_SYNC_ZEROS)
        out->base.type = TW_ITM_PACKET_BAD_SEQUENCE;
}

static void read_local_2(struct tw_bytes *in, uint8_t head, struct tw_itm_packet *out)
{
    (void)in;
    out->size = 1;
    out->value = head >> 4;
}

/* Bytes of seven bits, least significant first, until one without the continuation bit or `most`
   of them; false when that last one has it too. */
static bool read_sevens(struct tw_bytes *in, struct tw_itm_packet *out, unsigned most)
{
    for (out->size = 0; out->size < most;) {
        const uint8_t byte = tw_bytes_u8(in);

        out->value |= (uint64_t)(byte & 0x7f) << (7 * out->size++);
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static void read_local_1(struct tw_bytes *in, uint8_t head, struct tw_itm_packet *out)
{
    out->source = head >> 4 & 3;
    if (!read_sevens(in, out, 4))
        out->base.type = TW_ITM_PACKET_BAD_SEQUENCE;
}

static void read_global_1(struct tw_bytes *in, uint8_t head, struct tw_itm_packet *out)
{
    (void)head;
    if (!read_sevens(in, out, 4)) {
        out->base.type = TW_ITM_PACKET_BAD_SEQUENCE;
    } else if (out->size == 4) {
        out->freq_change = out->value >> 26 & 1;
        out->wrap = out->value >> 27 & 1;
        out->value &= 0x3ffffff;
    }
}

/* Bits 47:26 in four bytes or 63:26 in six. */
static void read_global_2(struct tw_bytes *in, uint8_t head, struct tw_itm_packet *out)
{
    (void)head;
    if (!read_sevens(in, out, 6) || (out->size != 4 && out->size != 6)) {
        out->base.type = TW_ITM_PACKET_BAD_SEQUENCE;
        return;
    }
    out->value &= out->size == 4 ? 0x3fffff : 0x3fffffffff;
    out->size = out->size == 4 ? 4 : 5;
}

static void read_extension(struct tw_bytes *in, uint8_t head, struct tw_itm_packet *out)
{
    unsigned bits = 0;

    out->source = head >> 2 & 1;
    out->value = head >> 4 & 7;
    if (head & 0x80)
        out->value |= tw_bytes_uleb(in, 4, &bits) << 3;
    out->value &= UINT32_MAX;
    out->bits = (uint8_t)(bits >= 29 ? 32 : bits + 3);
}

static void read_payload(struct tw_bytes *in, uint8_t head, struct tw_itm_packet *out)
{
    out->source = head >> 3;
    out->size = (uint8_t)((head & 3) == 3 ? 4 : head & 3);
    out->value = tw_bytes_le(in, out->size);
}

/* clang-format off */
const struct tw_itm_rule tw_itm_rules[] = {
    /* Row 0 catches what no other row claims. */
    { 0x00, 0x00, TW_ITM_PACKET_RESERVED,  0, read_head_only },
    { 0xff, 0x00, TW_ITM_PACKET_ASYNC,     0, read_sync      },
    { 0xff, 0x70, TW_ITM_PACKET_OVERFLOW,  0, read_overflow  },
    { 0xff, 0x10, TW_ITM_PACKET_TS_LOCAL,  0, read_local_2   },
    { 0xef, 0x20, TW_ITM_PACKET_TS_LOCAL,  0, read_local_2   }, /* 20 30 */
    { 0xef, 0x40, TW_ITM_PACKET_TS_LOCAL,  0, read_local_2   }, /* 40 50 */
    { 0xff, 0x60, TW_ITM_PACKET_TS_LOCAL,  0, read_local_2   },
    { 0xcf, 0xc0, TW_ITM_PACKET_TS_LOCAL,  0, read_local_1   },
    { 0xff, 0x94, TW_ITM_PACKET_GTS_1,     0, read_global_1  },
    { 0xff, 0xb4, TW_ITM_PACKET_GTS_2,     0, read_global_2  },
    { 0x0b, 0x08, TW_ITM_PACKET_EXTENSION, 0, read_extension },
    { 0x07, 0x01, TW_ITM_PACKET_SWIT,      1, read_payload   },
    { 0x07, 0x02, TW_ITM_PACKET_SWIT,      2, read_payload   },
    { 0x07, 0x03, TW_ITM_PACKET_SWIT,      4, read_payload   },
    { 0x07, 0x05, TW_ITM_PACKET_DWT,       1, read_payload   },
    { 0x07, 0x06, TW_ITM_PACKET_DWT,       2, read_payload   },
    { 0x07, 0x07, TW_ITM_PACKET_DWT,       4, read_payload   },
};
/* clang-format on */

unsigned tw_itm_index(uint8_t index[256])
{
    unsigned twice = 0;

    memset(index, 0, 256);
    for (size_t row = 1; row < TW_LENGTH(tw_itm_rules); row++) {
        const unsigned open = ~(unsigned)tw_itm_rules[row].mask & 0xff;
        unsigned rest = 0; /* bits that the row leaves open, in all ways */

        do {
            uint8_t *place = &index[tw_itm_rules[row].match | rest];

            twice += *place != 0;
            *place = (uint8_t)row;
            rest = (rest - open) & open;
        } while (rest);
    }
    return twice;
}

/* Of the packets that a rule's header begins. */
static struct tw_itm_frequent frequent_of(const struct tw_itm_rule *rule, unsigned head,
                                          uint8_t id)
{
    const bool is_long = head & 0x80; /* local timestamp */
    struct tw_itm_frequent out = { .head = { rule->type, id } };

    if (rule->payload) {
        out.mask = UINT32_MAX >> (32 - 8 * rule->payload);
        out.size = 1 + rule->payload;
        out.fields[0] = rule->payload;
        out.fields[1] = (uint8_t)(head >> 3);
    } else if (rule->type == TW_ITM_PACKET_TS_LOCAL) {
        out.is_local = true;
        out.fields[1] = is_long ? head >> 4 & 3 : 0;
    }
    return out;
}

void tw_itm_tables(struct tw_itm_reader *reader)
{
    (void)tw_itm_index(reader->index);
    for (unsigned head = 0; head < 256; head++)
        reader->frequent[head] =
            frequent_of(&tw_itm_rules[reader->index[head]], head, reader->id);
}

void tw_itm_reader_clear(struct tw_itm_reader *reader, const struct tw_itm_config *config)
{
    reader->assumes = config->assume_sync;
    reader->resumes = config->on_error == TW_ITM_RESUME;
    reader->scale = 0;
    if (!config->scale_as_swo || config->tcr & TW_ITM_TCR_SWO)
        reader->scale = (uint8_t)(2 * (config->tcr >> 8 & 3));
    tw_itm_reader_lost(reader);
}

uint8_t tw_itm_trace_id(const struct tw_itm_config *config)
{
    const uint8_t id = config->tcr >> 16 & 0x7f;

    return id ? id : config->id;
}

void tw_itm_reader_init(struct tw_itm_reader *reader, const struct tw_itm_config *config)
{
    reader->offset = 0;
    reader->id = tw_itm_trace_id(config);
    tw_itm_tables(reader);
    tw_itm_reader_clear(reader, config);
}

void tw_itm_reader_lost(struct tw_itm_reader *reader)
{
    reader->is_synced = reader->is_start = reader->assumes;
    reader->is_in_zeros = false;
}

/* One packet without regard to what surrounds it.  TW_MORE: it is cut. */
static enum tw_status read_one(const uint8_t index[256], struct tw_itm_packet *out,
                               const uint8_t *data, size_t size)
{
    struct tw_bytes in = { .at = data, .end = data + size };
    const uint8_t head = tw_bytes_u8(&in);
    const struct tw_itm_rule *rule = &tw_itm_rules[index[head]];

    *out = (struct tw_itm_packet){ .base = { .type = rule->type } };
    rule->read(&in, head, out);
    if (in.short_read)
        return TW_MORE;
    if (out->base.type == TW_ITM_PACKET_BAD_SEQUENCE)
        out->value = head;
    out->base.size = (uint32_t)(in.at - data);
    return TW_OK;
}

/* Five zeros and 0x80 are synchronization wherever they stand, since a packet ends in four zeros
   at most and none begins with one.  So a packet whose last zeros run on into too few of them
   before an 0x80 was cut short by it: *size shrinks to what lies before the five.  TW_MORE: that
   cannot be told yet. */
static enum tw_status cut_by_sync(uint32_t *size, bool *is_cut, const uint8_t *data,
                                  size_t available, bool is_last)
{
    const uint32_t end = *size;
    uint32_t first = end; /* of the last zeros ... */
    size_t at = end;      /* ... and what they run on to */

    *is_cut = false;
    while (first > 1 && data[first - 1] == 0)
        first--;
    if (first == end)
        return TW_OK;
    while (at < available && at < (size_t)end + TW_ITM_SYNC_ZEROS && data[at] == 0)
        at++;
    if (at == (size_t)end + TW_ITM_SYNC_ZEROS)
        return TW_OK;
    if (at == available)
        return is_last ? TW_OK : TW_MORE;
    if (at > end && data[at] == 0x80 && at >= (size_t)first + TW_ITM_SYNC_ZEROS) {
        *size = (uint32_t)(at - TW_ITM_SYNC_ZEROS);
        *is_cut = true;
    }
    return TW_OK;
}

/* How many bytes come before synchronization (or, in zeros, before anything else); those that may
   be its beginning stay back unless nothing follows. */
static size_t before_sync(struct tw_itm_reader *reader, const uint8_t *data, size_t size,
                          bool is_last)
{
    size_t zeros = 0;

    for (size_t i = 0; i < size; i++) {
        if (data[i] == 0) {
            zeros++;
            continue;
        }
        if (data[i] == 0x80 && zeros >= TW_ITM_SYNC_ZEROS) {
            reader->is_synced = true;
            return i - (zeros < TW_ITM_SYNC_ZEROS_MAX ? zeros : TW_ITM_SYNC_ZEROS_MAX);
        }
        if (reader->is_in_zeros) {
            reader->is_synced = true;
            return i;
        }
        zeros = 0;
    }
    if (is_last)
        return size;
    return size - (zeros < TW_ITM_SYNC_ZEROS_MAX ? zeros : TW_ITM_SYNC_ZEROS_MAX);
}

enum { CLEAN_PACKETS = 4, START_OFFSETS = 7, DAMAGE = 16 };

/* How unlikely it is that a packet begins at data[0]: damage counts most, DWT packets that no
   unit sends a little.  Ends at the first synchronization, at `most` packets (then *is_enough) or
   where the data ends. */
static unsigned doubt(const uint8_t index[256], bool *is_enough, const uint8_t *data,
                      size_t size, unsigned most)
{
    struct tw_itm_packet packet;
    unsigned sum = 0;

    *is_enough = true;
    for (unsigned i = 0; i < most; i++) {
        if (size == 0 || read_one(index, &packet, data, size) != TW_OK) {
            *is_enough = false;
            return sum;
        }
        if (packet.base.type == TW_ITM_PACKET_ASYNC)
            return sum;
        if (packet.base.type == TW_ITM_PACKET_RESERVED ||
            packet.base.type == TW_ITM_PACKET_BAD_SEQUENCE)
            sum += DAMAGE;
        if (packet.base.type == TW_ITM_PACKET_DWT &&
            tw_dwt_meaning(packet.source, packet.size, (uint32_t)packet.value).kind ==
                TW_DWT_RESERVED)
            sum++;
        data += packet.base.size;
        size -= packet.base.size;
    }
    return sum;
}

/* A capture cut out of a running stream may begin inside a packet: the offset at which the first
   whole one seems to begin.  TW_MORE: too little is seen to tell. */
static enum tw_status find_start(const struct tw_itm_reader *reader, size_t *offset,
                                 const uint8_t *data, size_t size, bool is_last)
{
    unsigned least = UINT32_MAX;
    bool is_enough;
    unsigned sum = doubt(reader->index, &is_enough, data, size, CLEAN_PACKETS);

    *offset = 0;
    if (is_enough && sum == 0)
        return TW_OK;
    if (size < TW_ITM_START_WINDOW && !is_last)
        return TW_MORE;
    if (size > TW_ITM_START_WINDOW)
        size = TW_ITM_START_WINDOW;
    for (size_t i = 0; i < START_OFFSETS && i < size; i++) {
        sum = doubt(reader->index, &is_enough, data + i, size - i, TW_ITM_START_WINDOW);
        if (sum < least) {
            least = sum;
            *offset = i;
        }
    }
    return TW_OK;
}

/* Bytes that come before the first packet: true when *out holds them; else *status says whether
   there is a packet to read. */
static bool read_before(struct tw_itm_reader *reader, struct tw_itm_packet *out,
                        enum tw_status *status, const uint8_t *data, size_t size, bool is_last)
{
    size_t skip = 0;

    *status = TW_OK;
    if (reader->is_start) {
        *status = find_start(reader, &skip, data, size, is_last);
        if (*status != TW_OK)
            return false;
    } else if (!reader->is_synced) {
        skip = before_sync(reader, data, size, is_last);
        if (reader->is_synced)
            reader->is_in_zeros = false;
        else if (skip == 0)
            *status = TW_MORE;
    }
    *out = (struct tw_itm_packet){ .base = { .type = TW_ITM_PACKET_NOT_SYNC,
                                             .size = (uint32_t)skip } };
    return skip != 0;
}

/* Fills in where the packet lies; it is the first, or behind the first. */
static void place(struct tw_itm_reader *reader, struct tw_itm_packet *packet)
{
    reader->is_start = false;
    packet->base.index = packet->base.offset = reader->offset;
    packet->base.id = reader->id;
    reader->offset += packet->base.size;
}

enum tw_status tw_itm_read_any(struct tw_itm_reader *reader, struct tw_itm_packet *packet,
                               const uint8_t *data, size_t size, bool is_last)
{
    enum tw_status status;
    bool is_cut = false;

    if (size == 0)
        return TW_MORE;
    if (size > UINT32_MAX) {
        size = UINT32_MAX;
        is_last = false;
    }
    if (read_before(reader, packet, &status, data, size, is_last)) {
        place(reader, packet);
        return TW_OK;
    }
    if (status != TW_OK)
        return status;
    if (read_one(reader->index, packet, data, size) != TW_OK) {
        if (!is_last)
            return TW_MORE;
        *packet = (struct tw_itm_packet){ .base = { .type = TW_ITM_PACKET_INCOMPLETE,
                                                    .size = (uint32_t)size },
                                          .value = data[0] };
    } else {
        if (cut_by_sync(&packet->base.size, &is_cut, data, size, is_last) != TW_OK)
            return TW_MORE;
        if (is_cut) {
            packet->base.type = TW_ITM_PACKET_BAD_SEQUENCE;
            packet->value = data[0];
        } else if (packet->base.type == TW_ITM_PACKET_RESERVED ||
                   packet->base.type == TW_ITM_PACKET_BAD_SEQUENCE) {
            reader->is_in_zeros = reader->resumes && data[0] == 0 && packet->base.size == 1;
            reader->is_synced = reader->resumes && !reader->is_in_zeros;
        }
    }
    place(reader, packet);
    return TW_OK;
}

enum tw_status tw_itm_reader_new(struct tw_itm_reader **reader,
                                 const struct tw_itm_config *config,
                                 const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_itm_config copy;

    *reader = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_itm_config", fault));
    if (copy.on_error > TW_ITM_WAIT)
        return tw_fail(fault, TW_E_ARGUMENT, "on_error is none of enum tw_itm_on_error");
    *reader = tw_take(allocator, sizeof **reader);
    if (!*reader)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a packet reader");
    tw_itm_reader_init(*reader, &copy);
    (*reader)->allocator = allocator;
    return TW_OK;
}

void tw_itm_reader_free(struct tw_itm_reader *reader)
{
    if (reader)
        tw_give(reader->allocator, reader);
}

struct tw_dwt_meaning tw_dwt_meaning(unsigned discriminator, unsigned size, uint32_t value)
{
    struct tw_dwt_meaning out = { .kind = TW_DWT_RESERVED,
                                  .size = (uint8_t)size,
                                  .value = value };

    if (discriminator == 0 && size == 1) {
        out.kind = TW_DWT_COUNTERS;
        out.mask = value & 0x3f;
    } else if (discriminator == 1 && size == 2) {
        out.kind = TW_DWT_EXCEPTION;
        out.number = value & 0x1ff;
        out.action = value >> 12 & 3;
    } else if (discriminator == 2 && size == 4) {
        out.kind = TW_DWT_PC_SAMPLE;
    } else if (discriminator == 2 && size == 1 && (value == 0 || value == 0xff)) {
        out.kind = value ? TW_DWT_PROHIBITED : TW_DWT_ASLEEP;
    } else if (discriminator == 3 && size == 1) {
        out.kind = TW_DWT_PMU;
        out.mask = (uint8_t)value;
    } else if (discriminator >= 8 && discriminator < 16) {
        out.comparator = discriminator >> 1 & 3;
        if (discriminator & 1)
            out.kind = TW_DWT_ADDRESS;
        else if (size == 4)
            out.kind = TW_DWT_PC;
        else if (size == 1)
            out.kind = TW_DWT_MATCH;
    } else if (discriminator >= 16 && discriminator < 24) {
        out.kind = TW_DWT_VALUE;
        out.comparator = discriminator >> 1 & 3;
        out.is_write = discriminator & 1;
    }
    return out;
}

bool tw_dwt_packet(struct tw_itm_packet *packet, const struct tw_dwt_meaning *meaning)
{
    const unsigned comparator = 2 * (meaning->comparator & 3u);
    unsigned discriminator, size = meaning->size;
    uint32_t value = meaning->value;

    switch (meaning->kind) {
    case TW_DWT_COUNTERS:
        discriminator = 0, size = 1, value = meaning->mask & 0x3f;
        break;
    case TW_DWT_EXCEPTION:
        discriminator = 1, size = 2;
        value = (meaning->number & 0x1ffu) | (uint32_t)(meaning->action & 3) << 12;
        break;
    case TW_DWT_PC_SAMPLE:
        discriminator = 2, size = 4;
        break;
    case TW_DWT_ASLEEP:
    case TW_DWT_PROHIBITED:
        discriminator = 2, size = 1, value = meaning->kind == TW_DWT_ASLEEP ? 0 : 0xff;
        break;
    case TW_DWT_PMU:
        discriminator = 3, size = 1, value = meaning->mask;
        break;
    case TW_DWT_PC:
        discriminator = 8 + comparator, size = 4;
        break;
    case TW_DWT_MATCH:
        discriminator = 8 + comparator, size = 1, value = 1;
        break;
    case TW_DWT_ADDRESS:
        discriminator = 9 + comparator;
        break;
    case TW_DWT_VALUE:
        discriminator = 16 + comparator + meaning->is_write;
        break;
    default:
        return false;
    }
    if (size != 1 && size != 2 && size != 4)
        return false;
    *packet = (struct tw_itm_packet){ .base = { .type = TW_ITM_PACKET_DWT, .size = 1 + size },
                                      .value = value & (UINT32_MAX >> (32 - 8 * size)),
                                      .size = (uint8_t)size,
                                      .source = (uint8_t)discriminator };
    return true;
}
