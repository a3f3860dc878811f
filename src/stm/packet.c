/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: nibbles to packets. */
#include "stm/packet.h"

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

/* clang-format off */
const struct tw_stm_rule tw_stm_rules[] = {
    /* Rows 0 and 1 catch what no other row claims: after F0, and after F0F. */
    { 0x0000, 0x0000, TW_STM_RESERVED,   3,  0, false, TW_STM_USE_NONE,         0, 0 },
    { 0x0000, 0x0000, TW_STM_RESERVED,   4,  0, false, TW_STM_USE_NONE,         0, 0 },
    { 0xf000, 0x0000, TW_STM_NULL,       1,  0, false, TW_STM_USE_IDLE,         0, 0 },
    { 0xf000, 0x1000, TW_STM_M8,         1,  2, false, TW_STM_USE_MASTER,       0, 0 },
    { 0xf000, 0x2000, TW_STM_MERR,       1,  2, false, TW_STM_USE_ERROR,        8, TW_SW_MASTER_ERROR },
    { 0xf000, 0x3000, TW_STM_C8,         1,  2, false, TW_STM_USE_CHANNEL_LOW,  0, 0 },
    { 0xf000, 0x4000, TW_STM_D8,         1,  2, false, TW_STM_USE_DATA,         8, 0 },
    { 0xf000, 0x5000, TW_STM_D16,        1,  4, false, TW_STM_USE_DATA,        16, 0 },
    { 0xf000, 0x6000, TW_STM_D32,        1,  8, false, TW_STM_USE_DATA,        32, 0 },
    { 0xf000, 0x7000, TW_STM_D64,        1, 16, false, TW_STM_USE_DATA,        64, 0 },
    { 0xf000, 0x8000, TW_STM_D8MTS,      1,  2, true,  TW_STM_USE_DATA,         8, TW_SW_MARKER },
    { 0xf000, 0x9000, TW_STM_D16MTS,     1,  4, true,  TW_STM_USE_DATA,        16, TW_SW_MARKER },
    { 0xf000, 0xa000, TW_STM_D32MTS,     1,  8, true,  TW_STM_USE_DATA,        32, TW_SW_MARKER },
    { 0xf000, 0xb000, TW_STM_D64MTS,     1, 16, true,  TW_STM_USE_DATA,        64, TW_SW_MARKER },
    { 0xf000, 0xc000, TW_STM_D4,         1,  1, false, TW_STM_USE_DATA,         4, 0 },
    { 0xf000, 0xd000, TW_STM_D4MTS,      1,  1, true,  TW_STM_USE_DATA,         4, TW_SW_MARKER },
    { 0xf000, 0xe000, TW_STM_FLAG_TS,    1,  0, true,  TW_STM_USE_DATA,         0, TW_SW_MARKER },
    { 0xff00, 0xf100, TW_STM_M16,        2,  4, false, TW_STM_USE_MASTER,       0, 0 },
    { 0xff00, 0xf200, TW_STM_GERR,       2,  2, false, TW_STM_USE_ERROR,        8, TW_SW_GLOBAL_ERROR },
    { 0xff00, 0xf300, TW_STM_C16,        2,  4, false, TW_STM_USE_CHANNEL,      0, 0 },
    { 0xff00, 0xf400, TW_STM_D8TS,       2,  2, true,  TW_STM_USE_DATA,         8, 0 },
    { 0xff00, 0xf500, TW_STM_D16TS,      2,  4, true,  TW_STM_USE_DATA,        16, 0 },
    { 0xff00, 0xf600, TW_STM_D32TS,      2,  8, true,  TW_STM_USE_DATA,        32, 0 },
    { 0xff00, 0xf700, TW_STM_D64TS,      2, 16, true,  TW_STM_USE_DATA,        64, 0 },
    { 0xff00, 0xf800, TW_STM_D8M,        2,  2, false, TW_STM_USE_DATA,         8, TW_SW_MARKER },
    { 0xff00, 0xf900, TW_STM_D16M,       2,  4, false, TW_STM_USE_DATA,        16, TW_SW_MARKER },
    { 0xff00, 0xfa00, TW_STM_D32M,       2,  8, false, TW_STM_USE_DATA,        32, TW_SW_MARKER },
    { 0xff00, 0xfb00, TW_STM_D64M,       2, 16, false, TW_STM_USE_DATA,        64, TW_SW_MARKER },
    { 0xff00, 0xfc00, TW_STM_D4TS,       2,  1, true,  TW_STM_USE_DATA,         4, 0 },
    { 0xff00, 0xfd00, TW_STM_D4M,        2,  1, false, TW_STM_USE_DATA,         4, TW_SW_MARKER },
    { 0xff00, 0xfe00, TW_STM_FLAG,       2,  0, false, TW_STM_USE_DATA,         0, TW_SW_MARKER },
    { 0xff00, 0xff00, TW_STM_ASYNC,      2,  0, false, TW_STM_USE_NONE,         0, 0 },
    { 0xfff0, 0xf000, TW_STM_VERSION,    3,  1, false, TW_STM_USE_NONE,         0, 0 },
    { 0xfff0, 0xf010, TW_STM_NULL_TS,    3,  0, true,  TW_STM_USE_DATA,         0, 0 },
    { 0xfff0, 0xf060, TW_STM_TRIG,       3,  2, false, TW_STM_USE_DATA,         8, TW_SW_TRIGGER },
    { 0xfff0, 0xf070, TW_STM_TRIG_TS,    3,  2, true,  TW_STM_USE_DATA,         8, TW_SW_TRIGGER },
    { 0xfff0, 0xf080, TW_STM_FREQ,       3,  8, false, TW_STM_USE_DATA,        32, TW_SW_FREQ },
    { 0xfff0, 0xf090, TW_STM_FREQ_TS,    3,  8, true,  TW_STM_USE_DATA,        32, TW_SW_FREQ },
    { 0xfff0, 0xf0a0, TW_STM_XSYNC,      3,  2, false, TW_STM_USE_EVENT,        0, 0 },
    { 0xfff0, 0xf0b0, TW_STM_XSYNC_TS,   3,  2, true,  TW_STM_USE_EVENT,        0, 0 },
    { 0xffff, 0xf0f0, TW_STM_FREQ_40,    4, 10, false, TW_STM_USE_DATA,        40, TW_SW_FREQ },
    { 0xffff, 0xf0f1, TW_STM_FREQ_40_TS, 4, 10, true,  TW_STM_USE_DATA,        40, TW_SW_FREQ },
};
/* clang-format on */

const struct tw_stm_rule *tw_stm_rule_of(unsigned type)
{
    for (size_t row = 0; row < TW_LENGTH(tw_stm_rules); row++)
        if (tw_stm_rules[row].type == type)
            return &tw_stm_rules[row];
    return NULL;
}

static struct tw_stm_quick make_quick(const struct tw_stm_rule *rule, uint8_t id)
{
    const bool is_wide = rule->payload == 16;
    const unsigned bits = 4u * (rule->opcode + rule->payload);
    struct tw_stm_quick quick = {
        .kind = TW_STM_SLOW,
        .bits = (uint8_t)(bits + (rule->has_timestamp ? 4 : 0)),
        .has_time = rule->has_timestamp,
        .label = { TW_ELEMENT_SWTRACE,
                   (uint8_t)(rule->flags | (rule->has_timestamp ? TW_SW_HAS_TIME : 0)),
                   rule->width, rule->width != 0 },
        .head = { rule->type, id },
    };

    if (!is_wide) {
        quick.mask = ((uint64_t)1 << 4 * rule->payload) - 1;
        quick.shift = (uint8_t)(64 - bits);
    }
    if (rule->use == TW_STM_USE_DATA && is_wide) {
        quick.kind = rule->has_timestamp ? TW_STM_LONG : TW_STM_WIDE;
    } else if (rule->use == TW_STM_USE_DATA && rule->has_timestamp) {
        quick.kind = TW_STM_STAMPED;
        quick.time = 4 * 0x0f; /* its length in nibbles, two bits up */
        quick.time_at = (uint8_t)(bits - 2);
        quick.time_shift = (uint8_t)(60 - bits);
        quick.time_end = (uint8_t)(bits < 8 ? 4 * 13 : 60 - bits);
    } else if (rule->use == TW_STM_USE_DATA) {
        quick.kind = TW_STM_PLAIN;
    } else if (rule->use == TW_STM_USE_IDLE || rule->use == TW_STM_USE_MASTER ||
               rule->use == TW_STM_USE_CHANNEL || rule->use == TW_STM_USE_CHANNEL_LOW) {
        quick.kind = TW_STM_SELECT;
        quick.label[0] = rule->use;
    }
    return quick;
}

/* Rules differ in whole nibbles, so the places that one claims stand in a row. */
unsigned tw_stm_index(struct tw_stm_reader *reader)
{
    unsigned twice = 0;

    for (unsigned i = 0; i < 256; i++) {
        reader->index[i] = 0;
        reader->second[i] = i >> 4 == 0xf;
        reader->quick[i] = (struct tw_stm_quick){ .kind = TW_STM_SLOW };
    }
    for (size_t row = 2; row < TW_LENGTH(tw_stm_rules); row++) {
        const struct tw_stm_rule *rule = &tw_stm_rules[row];
        const struct tw_stm_quick quick = make_quick(rule, reader->id);
        const bool is_second = rule->mask & 0xff;
        const unsigned shift = is_second ? 0 : 8;
        const unsigned first = rule->match >> shift & 0xff;
        const unsigned last = first | (~(unsigned)rule->mask >> shift & 0xff);

        for (unsigned i = first; i <= last; i++) {
            uint8_t *place = is_second ? &reader->second[i] : &reader->index[i];

            twice += *place > 1;
            *place = (uint8_t)row;
            if (!is_second)
                reader->quick[(i >> 4 | i << 4) & 0xff] = quick;
        }
    }
    return twice;
}

uint8_t tw_stm_trace_id(const struct tw_stm_config *config)
{
    const uint8_t id = config->tcsr >> 16 & 0x7f;

    return id ? id : config->id;
}

void tw_stm_reader_init(struct tw_stm_reader *reader, const struct tw_stm_config *config)
{
    reader->offset = 0;
    reader->id = tw_stm_trace_id(config);
    (void)tw_stm_index(reader);
    tw_stm_reader_lost(reader);
}

/* The time goes on from zero again: how much of it is known is not. */
void tw_stm_reader_lost(struct tw_stm_reader *reader)
{
    reader->timestamp = 0;
    reader->master = reader->channel = 0;
    reader->version = 0;
    reader->has_id = 0;
    reader->is_high = reader->is_synced = false;
}

static unsigned nibble_at(const uint8_t *data, size_t nibble)
{
    return data[nibble / 2] >> (4 * (nibble & 1)) & 0x0f;
}

/* The place behind the nibbles F from a place on, of which no more than `most` count. */
static size_t behind_f(const uint8_t *data, size_t at, size_t end, unsigned most)
{
    const size_t limit = end - at < most ? end : at + most;

    while (at < limit && nibble_at(data, at) == 0x0f)
        at++;
    return at;
}

/* Fills in where the packet lies: `nibbles` from the reader's place on. */
static void place(struct tw_stm_reader *reader, struct tw_stm_packet *out, size_t nibbles)
{
    const size_t end = reader->is_high + nibbles;

    out->nibbles = (uint32_t)nibbles;
    out->base.index = out->base.offset = reader->offset;
    out->base.id = reader->id;
    out->base.size = (uint32_t)((end + 1) / 2);
    out->base.skip_bits = reader->is_high ? 4 : 0;
    out->base.spare_bits = end & 1 ? 4 : 0;
    reader->is_high = end & 1;
    reader->offset += end / 2;
}

/* How many nibbles come before an ASYNC; those that may be its beginning stay back, in whole
   bytes, unless nothing follows. */
static size_t before_sync(struct tw_stm_reader *reader, const uint8_t *data, size_t size,
                          bool is_last)
{
    const size_t first = reader->is_high;
    const size_t near_end =
        size < 10 ? 0 : 2 * size - 19; /* fewer than ten bytes from here on */
    size_t run = 0, keep;

    for (size_t i = first; i < 2 * size; i++) {
        /* An ASYNC fills ten bytes.  If the tenth from here is none of them, it begins in that
           one's high nibble at the earliest. */
        while (run == 0 && !(i & 1) && i < near_end && data[i / 2 + 9] != 0xff &&
               data[i / 2 + 9] >> 4 != 0x0f)
            i += 20;
        if (i >= 2 * size)
            break;
        if (!(i & 1) && data[i / 2] == 0xff) {
            run += 2;
            i++;
            continue;
        }
        if (nibble_at(data, i) == 0x0f) {
            run++;
            continue;
        }
        if (run >= TW_STM_ASYNC_RUN && nibble_at(data, i) == 0) {
            reader->is_synced = true;
            return i - TW_STM_ASYNC_RUN - first;
        }
        run = 0;
    }
    keep = is_last ? 0 : (run < TW_STM_ASYNC_RUN ? run + 1 : TW_STM_ASYNC_RUN + 1) / 2;
    return keep < size ? 2 * (size - keep) - first : 0;
}

/* 21 nibbles F and a 0 are an ASYNC wherever they stand, since no packet holds so many.  So a
   packet whose last nibbles F run on into too few of them before a 0 was cut short by it: *nibbles
   shrinks to what lies before the ASYNC.  TW_MORE: that cannot be told yet. */
static enum tw_status cut_by_sync(size_t *nibbles, const uint8_t *data, size_t first,
                                  size_t end, bool is_last)
{
    const size_t next = first + *nibbles;
    size_t from = next, at; /* of the last nibbles F, and what they run on to */

    while (from > first + 1 && nibble_at(data, from - 1) == 0x0f)
        from--;
    if (from == next)
        return TW_OK;
    at = behind_f(data, next, end, TW_STM_ASYNC_RUN);
    if (at == next + TW_STM_ASYNC_RUN)
        return TW_OK;
    if (at == end)
        return is_last ? TW_OK : TW_MORE;
    if (nibble_at(data, at) == 0 && at >= from + TW_STM_ASYNC_RUN)
        *nibbles = at - TW_STM_ASYNC_RUN - first;
    return TW_OK;
}

static void make_bad(struct tw_stm_packet *out, uint8_t type, uint8_t error, uint64_t value)
{
    out->base.type = type;
    out->error = error;
    out->value = value;
    out->has_timestamp = false;
    out->timestamp = 0;
    out->timestamp_bits = 0;
}

/* FF begins an ASYNC, or nothing that is known.  0: it is cut. */
static size_t read_async(struct tw_stm_packet *out, const uint8_t *data, size_t first,
                         size_t end)
{
    const size_t at = behind_f(data, first, end, TW_STM_ASYNC_RUN + 1);
    unsigned next;

    if (at > first + TW_STM_ASYNC_RUN) { /* an ASYNC may begin with the second nibble */
        make_bad(out, TW_STM_BAD_SEQUENCE, TW_ERROR_BAD_SEQUENCE, 0xf);
        return 1;
    }
    if (at == end)
        return 0;
    next = nibble_at(data, at);
    if (at == first + TW_STM_ASYNC_RUN && next == 0)
        out->base.type = TW_STM_ASYNC;
    else if (at == first + 2 && (next == 1 || next == 2))
        make_bad(out, TW_STM_RESERVED, TW_ERROR_RESERVED_HEADER, 0xff0 | next);
    else
        make_bad(out, TW_STM_BAD_SEQUENCE, TW_ERROR_BAD_SEQUENCE, 0xff);
    return at + 1 - first;
}

/* What the packet does to the state that later ones rely on. */
static void apply(struct tw_stm_reader *reader, const struct tw_stm_packet *packet)
{
    switch (packet->base.type) {
    case TW_STM_VERSION:
        reader->version = (uint8_t)packet->value;
        reader->master = reader->channel = 0;
        break;
    case TW_STM_M8:
    case TW_STM_M16:
        reader->master = (uint16_t)packet->value;
        reader->channel = 0;
        reader->has_id = TW_SW_HAS_ID;
        break;
    case TW_STM_C8:
        reader->channel = (uint16_t)((reader->channel & 0xff00) | packet->value);
        break;
    case TW_STM_C16:
        reader->channel = (uint16_t)packet->value;
        break;
    case TW_STM_MERR:
        reader->channel = 0;
        break;
    case TW_STM_GERR:
        reader->master = reader->channel = 0;
        reader->has_id = 0;
        break;
    default:
        break;
    }
    if (packet->has_timestamp)
        reader->timestamp = packet->timestamp;
}

/* The packet at the reader's place without regard to what follows.  0: it is cut. */
static size_t read_one(const struct tw_stm_reader *reader, struct tw_stm_packet *out,
                       const uint8_t *data, size_t size)
{
    const size_t first = reader->is_high;
    uint8_t copy[TW_STM_AHEAD];
    const uint8_t *window = data;
    struct tw_stm_parsed parsed;
    uint64_t head;

    if (size < sizeof copy) {
        memset(copy, 0, sizeof copy);
        memcpy(copy, data, size);
        window = copy;
    }
    tw_stm_parse(reader, &parsed, window, first);
    head = tw_stm_nibbles(window, first);
    out->base.type = parsed.rule->type;
    if (out->base.type == TW_STM_ASYNC)
        return read_async(out, data, first, 2 * size);
    if (first + parsed.nibbles > 2 * size)
        return 0;
    out->value = parsed.value;
    if (out->base.type == TW_STM_RESERVED) {
        make_bad(out, TW_STM_RESERVED, TW_ERROR_RESERVED_HEADER,
                 head >> (64 - 4 * parsed.rule->opcode));
    } else if (out->base.type == TW_STM_VERSION && parsed.value != 3 && parsed.value != 4) {
        make_bad(out, TW_STM_BAD_SEQUENCE, TW_ERROR_UNSUPPORTED, head >> 48);
    } else if (parsed.time_nibbles == TW_STM_BAD_LENGTH ||
               (parsed.rule->has_timestamp && reader->version == 0)) {
        make_bad(out, TW_STM_BAD_SEQUENCE, TW_ERROR_BAD_SEQUENCE,
                 head >> (64 - 4 * parsed.rule->opcode));
    } else if (parsed.rule->has_timestamp) {
        out->has_timestamp = true;
        out->timestamp_bits = (uint8_t)(4 * parsed.time_nibbles);
        out->timestamp =
            tw_stm_time(reader->timestamp, reader->version, parsed.time, parsed.time_nibbles);
    }
    return parsed.nibbles;
}

enum tw_status tw_stm_read_any(struct tw_stm_reader *reader, struct tw_stm_packet *packet,
                               const uint8_t *data, size_t size, bool is_last)
{
    const size_t first = reader->is_high;
    size_t nibbles, whole;

    if (size == 0)
        return TW_MORE;
    if (size > UINT32_MAX / 4) {
        size = UINT32_MAX / 4;
        is_last = false;
    }
    *packet = (struct tw_stm_packet){ .base = { .type = TW_STM_NOT_SYNC } };
    if (!reader->is_synced) {
        nibbles = before_sync(reader, data, size, is_last);
        if (nibbles) {
            place(reader, packet, nibbles);
            return TW_OK;
        }
        if (!reader->is_synced)
            return TW_MORE;
    }
    nibbles = read_one(reader, packet, data, size);
    if (nibbles == 0) {
        if (!is_last)
            return TW_MORE;
        make_bad(packet, TW_STM_INCOMPLETE, TW_ERROR_TRUNCATED, nibble_at(data, first));
        nibbles = 2 * size - first;
    } else {
        whole = nibbles;
        if (cut_by_sync(&nibbles, data, first, 2 * size, is_last) != TW_OK)
            return TW_MORE;
        if (nibbles != whole)
            make_bad(packet, TW_STM_BAD_SEQUENCE, TW_ERROR_BAD_SEQUENCE,
                     nibble_at(data, first));
        else if (packet->error)
            reader->is_synced = false;
    }
    if (!packet->error)
        apply(reader, packet);
    else if (packet->base.type != TW_STM_INCOMPLETE)
        reader->version = 0; /* what was lost may have changed it: wait for the next */
    packet->master = reader->master;
    packet->channel = reader->channel;
    place(reader, packet, nibbles);
    return TW_OK;
}

TW_NOINLINE bool tw_stm_parse_long(const struct tw_stm_reader *reader,
                                   struct tw_stm_parsed *parsed, uint64_t *time,
                                   const uint8_t *data, size_t at)
{
    tw_stm_parse(reader, parsed, data, at);
    if (parsed->time_nibbles == TW_STM_BAD_LENGTH || reader->version == 0)
        return false;
    *time = tw_stm_time(*time, reader->version, parsed->time, parsed->time_nibbles);
    return true;
}

void tw_stm_select(struct tw_stm_reader *reader, uint8_t use, uint64_t value)
{
    if (use == TW_STM_USE_MASTER) {
        reader->master = (uint16_t)value;
        reader->channel = 0;
        reader->has_id = TW_SW_HAS_ID;
    } else if (use == TW_STM_USE_CHANNEL) {
        reader->channel = (uint16_t)value;
    } else if (use == TW_STM_USE_CHANNEL_LOW) {
        reader->channel = (uint16_t)((reader->channel & 0xff00) | value);
    }
}

enum tw_status tw_stm_reader_new(struct tw_stm_reader **reader,
                                 const struct tw_stm_config *config,
                                 const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_stm_config copy;

    *reader = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_stm_config", fault));
    *reader = tw_take(allocator, sizeof **reader);
    if (!*reader)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a packet reader");
    tw_stm_reader_init(*reader, &copy);
    (*reader)->allocator = allocator;
    return TW_OK;
}

void tw_stm_reader_free(struct tw_stm_reader *reader)
{
    if (reader)
        tw_give(reader->allocator, reader);
}
