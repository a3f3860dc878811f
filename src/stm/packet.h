/* SPDX-License-Identifier: BSD-2-Clause */
/* STM packets: between the files of this folder. */
#ifndef STM_PACKET_H
#define STM_PACKET_H

#include <trackway/stm.h>

#include "base/bytes.h"
#include "base/text.h"
#include "protocol.h"
#include "swtrace/decode.h"

enum {
    TW_STM_ASYNC_RUN = 21,   /* nibbles F of an ASYNC, before its 0 */
    TW_STM_NIBBLES_MAX = 35, /* of a packet: D64TS with a full timestamp */
    TW_STM_PACKET_MAX = 32,  /* bytes of that, and of the run of F that may have cut it */
    TW_STM_AHEAD = 32,       /* bytes that the parser may look at */
    TW_STM_BAD_LENGTH = 0xff
};

/* Where a packet's value goes. */
enum tw_stm_use {
    TW_STM_USE_NONE, /* special, or nothing */
    TW_STM_USE_IDLE, /* NULL */
    TW_STM_USE_MASTER,
    TW_STM_USE_CHANNEL,
    TW_STM_USE_CHANNEL_LOW,
    TW_STM_USE_DATA, /* this and the following make elements; it changes nothing but the time */
    TW_STM_USE_ERROR, /* forgets master or channel */
    TW_STM_USE_EVENT
};

struct tw_stm_rule {
    uint16_t mask, match; /* of the first four nibbles, the first one highest */
    uint8_t type;
    uint8_t opcode, payload; /* nibbles */
    bool has_timestamp;
    uint8_t use;   /* enum tw_stm_use */
    uint8_t width; /* payload bits of the element */
    uint8_t flags; /* of the element: TW_SW_... */
};

extern const struct tw_stm_rule tw_stm_rules[];
const struct tw_stm_rule *tw_stm_rule_of(unsigned type);

/* The rule of the first two nibbles, made ready for the loops over what streams are made of.  All
   numbers are in bits. */
struct tw_stm_quick {
    uint64_t mask;      /* of the payload, after a shift by ... */
    uint8_t shift;      /* ... so many; WIDE and LONG: neither */
    uint8_t kind;       /* enum tw_stm_quick_kind */
    uint8_t bits;       /* opcode, payload and a timestamp's length */
    bool has_time;      /* STAMPED or LONG */
    uint8_t time;       /* STAMPED: mask of the timestamp's size ... */
    uint8_t time_at;    /* ... the place of that in the first nibbles ... */
    uint8_t time_shift; /* ... what is behind it ... */
    uint8_t time_end;   /* ... and the size from which on one may not lie within 15 nibbles */
    uint8_t label[4];   /* the element's type, flags, width and packets */
    uint8_t head[2];    /* the packet's type and trace ID */
};

enum tw_stm_quick_kind {
    TW_STM_SLOW,    /* for the careful reader */
    TW_STM_PLAIN,   /* data in the first 15 nibbles */
    TW_STM_STAMPED, /* ... and a timestamp behind it */
    TW_STM_WIDE,    /* 64 bits of data */
    TW_STM_LONG,    /* ... and a timestamp */
    TW_STM_SELECT   /* master or channel, or NULL; label[0] is the rule's use */
};

/* Of one who writes: half a byte that waits for its other half. */
struct tw_stm_half {
    bool is_open;
    uint8_t nibble;
    bool is_gray; /* timestamps, by the last VERSION */
};

struct tw_stm_reader {
    struct tw_stm_quick quick[256]; /* by the first two nibbles, the first one lowest */
    uint8_t index[256];  /* first two nibbles -> row of the rule table; 0: see the next two */
    uint8_t second[256]; /* third and fourth nibble after F0 -> row */
    uint64_t offset;     /* bytes done */
    uint64_t timestamp;
    uint16_t master, channel;
    uint8_t version; /* 0: not known */
    uint8_t has_id;  /* TW_SW_HAS_ID: the master was named */
    bool is_high;    /* the next nibble is the high one of its byte */
    bool is_synced;
    uint8_t id;
    struct tw_stm_half half;
    const struct tw_allocator *allocator;
};

/* A packet's fields in place. */
struct tw_stm_parsed {
    const struct tw_stm_rule *rule;
    uint64_t value, time;
    unsigned nibbles;      /* up to a bad timestamp length, if that is so */
    unsigned time_nibbles; /* or TW_STM_BAD_LENGTH */
};

/* 15 nibbles from a place in bits on (16 from a whole byte), the first one lowest.  Reads 8
   bytes. */
TW_INLINE uint64_t tw_stm_window(const uint8_t *data, size_t bit)
{
    return tw_load_le64(data + bit / 8) >> (bit & 4);
}

/* The nibbles of a window, the first one highest. */
TW_INLINE uint64_t tw_stm_turn(uint64_t x)
{
    const uint64_t low = UINT64_C(0x0f0f0f0f0f0f0f0f);

    x = (x & low) << 4 | (x >> 4 & low);
    return x >> 56 | (x >> 40 & 0xff00) | (x >> 24 & 0xff0000) | (x >> 8 & 0xff000000) |
           (x & 0xff000000) << 8 | (x & 0xff0000) << 24 | (x & 0xff00) << 40 | x << 56;
}

/* 15 nibbles from a place in nibbles on (16 from an even one), the first one highest. */
TW_INLINE uint64_t tw_stm_nibbles(const uint8_t *data, size_t nibble)
{
    return tw_stm_turn(tw_stm_window(data, 4 * nibble));
}

/* All 16 of them. */
TW_INLINE uint64_t tw_stm_nibbles_16(const uint8_t *data, size_t nibble)
{
    const uint64_t x = tw_stm_nibbles(data, nibble);

    return nibble & 1 ? x | (data[nibble / 2 + 8] & 0x0f) : x;
}

/* The packet at a place that is known to begin one.  Reads at most TW_STM_AHEAD bytes from the
   place on, whether they are part of the stream or not: the caller compares `nibbles`. */
TW_INLINE void tw_stm_parse(const struct tw_stm_reader *reader, struct tw_stm_parsed *out,
                            const uint8_t *data, size_t nibble)
{
    static const uint8_t lengths[16] = { 0, 1, 2,  3,  4,  5,  6,  7,
                                         8, 9, 10, 11, 12, 14, 16, TW_STM_BAD_LENGTH };
    const uint64_t head = tw_stm_nibbles(data, nibble);
    uint8_t row = reader->index[head >> 56];
    const struct tw_stm_rule *rule;

    if (TW_UNLIKELY(row == 0))
        row = reader->second[head >> 48 & 0xff];
    rule = &tw_stm_rules[row];
    out->rule = rule;
    out->nibbles = rule->opcode + rule->payload;
    if (TW_LIKELY(rule->payload < 16))
        out->value = (head << 4 * rule->opcode) >> 4 >> (60 - 4 * rule->payload);
    else
        out->value = tw_stm_nibbles_16(data, nibble + rule->opcode);
    out->time_nibbles = 0;
    out->time = 0;
    if (rule->has_timestamp) {
        const size_t at = nibble + out->nibbles;
        const uint64_t field = tw_stm_nibbles(data, at);

        out->time_nibbles = lengths[field >> 60];
        out->nibbles++;
        if (TW_LIKELY(out->time_nibbles <= 12))
            out->time = field << 4 >> 4 >> (60 - 4 * out->time_nibbles);
        else if (out->time_nibbles != TW_STM_BAD_LENGTH)
            out->time = tw_stm_nibbles_16(data, at + 1) >> (64 - 4 * out->time_nibbles);
        else
            return;
        out->nibbles += out->time_nibbles;
    }
}

/* The timestamp after a field of so many bits, fewer than 64, with anything above them. */
TW_INLINE uint64_t tw_stm_binary(uint64_t old, uint64_t field, unsigned bits)
{
    return field ^ ((old ^ field) & UINT64_MAX << bits);
}

/* The bits of a timestamp that lies where the rule says; more than can be if the stream's are not
   binary. */
TW_INLINE unsigned tw_stm_time_bits(const struct tw_stm_quick *quick, uint64_t window,
                                    bool is_binary)
{
    return is_binary ? (unsigned)(window >> quick->time_at) & quick->time : quick->time;
}

/* The timestamp after a field of `count` nibbles, in the code that the stream's version says. */
TW_INLINE uint64_t tw_stm_time(uint64_t old, uint8_t version, uint64_t field, unsigned count)
{
    if (TW_LIKELY(version != 4))
        return tw_replace_low(old, field, 4 * count);
    old = tw_replace_low(old ^ old >> 1, field, 4 * count);
    for (unsigned shift = 1; shift < 64; shift *= 2)
        old ^= old >> shift;
    return old;
}

extern const struct tw_protocol tw_stm;

/* Fills the tables; the number of places that two rows claim, which is 0. */
unsigned tw_stm_index(struct tw_stm_reader *reader);
void tw_stm_reader_init(struct tw_stm_reader *reader, const struct tw_stm_config *config);
uint8_t tw_stm_trace_id(const struct tw_stm_config *config);
/* What tw_stm_read does, without trying whether the packet is a frequent one. */
enum tw_status tw_stm_read_any(struct tw_stm_reader *reader, struct tw_stm_packet *packet,
                               const uint8_t *data, size_t size, bool is_last);
/* What a packet of kind TW_STM_SELECT does. */
void tw_stm_select(struct tw_stm_reader *reader, uint8_t use, uint64_t value);
/* Long fields and Gray code: false when the packet is for tw_stm_read_any. */
bool tw_stm_parse_long(const struct tw_stm_reader *reader, struct tw_stm_parsed *parsed,
                       uint64_t *time, const uint8_t *data, size_t at);
/* What tw_stm_write does. */
enum tw_status tw_stm_put(struct tw_stm_half *half, uint8_t *out, size_t *size,
                          const struct tw_stm_packet *packet);
extern const struct tw_packet_type tw_stm_types[TW_STM_TYPES];
extern const struct tw_member_table tw_stm_members;

struct tw_stm_decoder {
    struct tw_stm_reader reader;
    struct tw_swtrace kept;
};

void tw_stm_decoder_init(void *decoder, const void *config);
void tw_stm_decoder_reset(void *decoder);
enum tw_status tw_stm_decode(void *decoder, struct tw_follow *follow, struct tw_output *out,
                             struct tw_input *in);
enum tw_status tw_stm_end(void *decoder, struct tw_follow *follow, struct tw_output *out);
/* split.c */
void tw_stm_state(void *decoder, struct tw_follow *follow, struct tw_state *state);
void tw_stm_resume(void *decoder, struct tw_follow *follow);
bool tw_stm_split(struct tw_split *split, const void *decoder, const uint8_t *data,
                  size_t size);

/* index.c */
unsigned tw_stm_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                      const void *packet);
void tw_stm_restore(void *decoder, const uint64_t *words);

#endif
