/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM packets: between the files of this folder. */
#ifndef ITM_PACKET_H
#define ITM_PACKET_H

#include <trackway/itm.h>

#include "base/bytes.h"
#include "base/text.h"
#include "protocol.h"
#include "swtrace/decode.h"

enum {
    TW_ITM_SYNC_ZEROS = 5,       /* a synchronization packet has at least so many zeros ... */
    TW_ITM_SYNC_ZEROS_MAX = 256, /* ... and is taken to have no more than these */
    TW_ITM_START_WINDOW = 256,   /* bytes looked at to find the first packet without one */
    TW_ITM_PACKET_MAX = 272
};

struct tw_itm_rule {
    uint8_t mask, match; /* applies when (head & mask) == match */
    uint8_t type;
    /* bytes of it, where the header alone says how many: SWIT and DWT; else 0 */
    uint8_t payload;
    void (*read)(struct tw_bytes *in, uint8_t head, struct tw_itm_packet *out);
};

extern const struct tw_itm_rule tw_itm_rules[];

/* What the packets that begin with a byte have in common, as far as they are frequent. */
struct tw_itm_frequent {
    uint32_t mask;     /* SWIT and DWT: of the payload, little-endian ... */
    uint8_t size;      /* ... and the packet's; else 0 */
    bool is_local;     /* timestamp */
    uint8_t head[4];   /* the packet's type and trace ID, and no bits left over */
    uint8_t fields[4]; /* its size, source and bits, and no freq_change */
};

enum { TW_ITM_AHEAD = 8 }; /* bytes that a frequent packet's reader may look at */

struct tw_itm_reader {
    struct tw_itm_frequent frequent[256];
    uint8_t index[256]; /* first byte -> row of the rule table */
    uint64_t offset;    /* bytes done */
    bool is_synced;
    bool assumes;     /* does not wait for synchronization at the start or after a gap ... */
    bool is_start;    /* ... but has yet to find the first packet there */
    bool resumes;     /* after damage, at the next byte */
    bool is_in_zeros; /* unsynced, but any byte other than zero ends that */
    uint8_t scale;    /* log2 of clocks per count of a local timestamp */
    uint8_t id;
    const struct tw_allocator *allocator;
};

/* A local timestamp in place: its bytes, 0 when it is for the careful reader. */
TW_INLINE unsigned tw_itm_local(const uint8_t *at, uint32_t *delta)
{
    unsigned size = 1;

    if (!(at[0] & 0x80)) {
        *delta = at[0] >> 4;
        return 1;
    }
    *delta = at[1] & 0x7f;
    while (at[size] & 0x80) {
        if (++size > 4)
            return 0;
        *delta |= (uint32_t)(at[size] & 0x7f) << (7 * (size - 1));
    }
    return at[size] == 0 && at[size + 1] == 0 ? 0 : 1 + size;
}

extern const struct tw_protocol tw_itm;

/* Fills the index; the number of heads that two rows claim, which is 0. */
unsigned tw_itm_index(uint8_t index[256]);
/* Fills both tables. */
void tw_itm_tables(struct tw_itm_reader *reader);
void tw_itm_reader_init(struct tw_itm_reader *reader, const struct tw_itm_config *config);
/* The same, but the tables are there already. */
void tw_itm_reader_clear(struct tw_itm_reader *reader, const struct tw_itm_config *config);
uint8_t tw_itm_trace_id(const struct tw_itm_config *config);
/* What tw_itm_read does, without trying whether the packet is a frequent one. */
enum tw_status tw_itm_read_any(struct tw_itm_reader *reader, struct tw_itm_packet *packet,
                               const uint8_t *data, size_t size, bool is_last);
/* What tw_itm_write does. */
enum tw_status tw_itm_put(uint8_t *out, size_t *size, const struct tw_itm_packet *packet);
extern const struct tw_packet_type tw_itm_types[TW_ITM_PACKET_TYPES];
extern const struct tw_member_table tw_itm_members;

/* A first byte's rule, made ready for the loop over data and local timestamps. */
struct tw_itm_quick {
    uint32_t mask;      /* of the payload, little-endian */
    uint32_t page_mask; /* SWIT: all ones, the page counts */
    uint8_t label[4];   /* the element's type, flags, kind and size */
    uint8_t payload;    /* bytes; 0: not for that loop, or a local timestamp */
    uint8_t source;
    bool is_local;
};

struct tw_itm_decoder {
    struct tw_itm_quick quick[256];
    struct tw_itm_reader reader;
    uint64_t local;         /* sum of local timestamps since start or overflow */
    uint64_t global;        /* bits 25:0 of the last GTS_1, the rest of the last GTS_2 */
    uint32_t page;          /* stimulus port page times 32 */
    uint8_t scale;          /* log2 of clocks per count of a local timestamp */
    uint8_t overflow;       /* TW_ITM_OVERFLOW: one waits for the next element to carry it */
    bool has_low, has_high; /* of global */
    bool is_assumed;        /* synchronization, as none was met yet ... */
    bool is_doubtful;       /* ... and there was damage since */
    struct tw_itm_config config;
    struct tw_swtrace kept;
};

void tw_itm_decoder_init(void *decoder, const void *config);
void tw_itm_decoder_reset(void *decoder);
enum tw_status tw_itm_decode(void *decoder, struct tw_follow *follow, struct tw_output *out,
                             struct tw_input *in);
enum tw_status tw_itm_end(void *decoder, struct tw_follow *follow, struct tw_output *out);
/* split.c */
void tw_itm_state(void *decoder, struct tw_follow *follow, struct tw_state *state);
void tw_itm_resume(void *decoder, struct tw_follow *follow);
void tw_itm_rebase(const void *decoder, struct tw_element *elements, size_t count, uint64_t by);
bool tw_itm_split(struct tw_split *split, const void *decoder, const uint8_t *data,
                  size_t size);

/* index.c */
unsigned tw_itm_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                      const void *packet);
void tw_itm_restore(void *decoder, const uint64_t *words);

#endif
