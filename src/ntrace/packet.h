/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace messages to packets. */
#ifndef NTRACE_PACKET_H
#define NTRACE_PACKET_H

#include <trackway/ntrace.h>

#include "base/bytes.h"
#include "base/text.h"
#include "protocol.h"

enum {
    TW_NTRACE_MSEO_MIDDLE = 0,
    TW_NTRACE_MSEO_FIELD = 1, /* ends a variable field */
    TW_NTRACE_MSEO_RESERVED = 2,
    TW_NTRACE_MSEO_END = 3 /* ends the message; outside of one: idle */
};

enum {
    TW_NTRACE_MDO_BITS = 6,
    TW_NTRACE_TCODE_BITS = 6,
    TW_NTRACE_ADDRESS_BITS = 63 /* of the longest F-ADDR */
};

/* How the last field of an address goes on above its last bit. */
enum tw_ntrace_extension {
    TW_NTRACE_EXTEND_NONE,
    TW_NTRACE_EXTEND_MSB, /* as the last bit of the last MDO: trTeInstExtendAddrMSB */
    TW_NTRACE_EXTEND_48   /* the dialect: as bit 47, where that is sent */
};

/* What the reader and the writer need of the configuration, in the form they need it. */
struct tw_ntrace_shape {
    uint8_t src_bits;
    uint8_t extension;    /* enum tw_ntrace_extension */
    uint8_t address_bits; /* of F-ADDR: 63 or 31 */
    uint8_t dialect;      /* enum tw_ntrace_dialect */
};

/* A stream being read or written. */
struct tw_ntrace_codec {
    struct tw_ntrace_config config;
    struct tw_ntrace_shape shape;
    uint8_t tcodes[TW_NTRACE_TYPES]; /* of the messages; 0: it is none */
    bool is_lost;                    /* skip to behind the next end of a message */
    uint64_t offset;                 /* bytes done */
};

/* Where a field of a message stands. */
enum tw_ntrace_role {
    TW_NTRACE_ROLE_NONE,
    TW_NTRACE_ROLE_NUMBER,
    TW_NTRACE_ROLE_ADDRESS,
    TW_NTRACE_ROLE_HIST
};

/* What follows TCODE and SRC.  The masks say which fixed fields there are. */
struct tw_ntrace_rule {
    uint8_t type;
    uint8_t fixed_bits;
    uint8_t sync_mask, code_mask, cdf_mask; /* SYNC and code are first, CDF behind the code */
    uint8_t btype_shift, btype_mask;
    uint8_t roles[3]; /* of the variable fields that are always there, then of the others */
    uint8_t fields;   /* how many are always there */
    bool is_dialect;
};

extern const struct tw_ntrace_rule tw_ntrace_rules[64];

TW_INLINE bool tw_ntrace_is_sync(unsigned type)
{
    return type == TW_NTRACE_PROG_TRACE_SYNC || type == TW_NTRACE_DIRECT_BRANCH_SYNC ||
           type == TW_NTRACE_INDIRECT_BRANCH_SYNC ||
           type == TW_NTRACE_INDIRECT_BRANCH_HIST_SYNC;
}

/* Variable fields of a message beyond those that its rule always has. */
TW_INLINE unsigned tw_ntrace_more_fields(const struct tw_ntrace_packet *packet)
{
    switch (packet->base.type) {
    case TW_NTRACE_RESOURCE_FULL:
        return packet->code == TW_NTRACE_RCODE_REPEAT;
    case TW_NTRACE_PROG_TRACE_CORRELATION:
    case TW_NTRACE_IN_CIRCUIT_TRACE:
    case TW_NTRACE_IN_CIRCUIT_TRACE_SYNC:
        return packet->cdf == 1;
    default:
        return 0;
    }
}

void tw_ntrace_shape_init(struct tw_ntrace_shape *shape, const struct tw_ntrace_config *config);
void tw_ntrace_codec_init(struct tw_ntrace_codec *codec, const struct tw_ntrace_config *config);
void tw_ntrace_codec_reset(struct tw_ntrace_codec *codec);

/* Reads the message of `size` bytes at `data`, the last of which ends it, of any length.  Sets all
   members but index, offset and id. */
void tw_ntrace_parse(const struct tw_ntrace_shape *shape, struct tw_ntrace_packet *packet,
                     const uint8_t *data, size_t size);
/* The same for what most messages are: at most 16 bytes, of which 16 may be read, and nothing
   wrong.  Returns the size; 0: it is not one of these, and nothing is said. */
size_t tw_ntrace_parse_short(const struct tw_ntrace_shape *shape,
                             struct tw_ntrace_packet *packet, const uint8_t *data);

/* The TCODE of a type of message; 0: it has none of its own. */
uint8_t tw_ntrace_tcode(unsigned type);

/* What tw_ntrace_read does, without trying whether the message is a short one. */
enum tw_status tw_ntrace_read_any(struct tw_ntrace_codec *codec,
                                  struct tw_ntrace_packet *packet, const uint8_t *data,
                                  size_t size, bool is_last);

/* Whose the next bytes of a stream are that several sources share: see struct tw_protocol. */
enum tw_status tw_ntrace_route(void *reader, struct tw_route *route, void *packet,
                               const uint8_t *data, size_t size, bool is_last);
/* Bytes are missing: the next one need not begin a message. */
void tw_ntrace_codec_lose(struct tw_ntrace_codec *codec);

/* Bytes of the run of idle bytes that `data` begins with. */
size_t tw_ntrace_idle(const uint8_t *data, size_t size);

/* In words, for JSON and people; NULL: there is none. */
const char *tw_ntrace_fault_name(unsigned fault);

extern const struct tw_packet_type tw_ntrace_types[TW_NTRACE_TYPES];
extern const struct tw_member_table tw_ntrace_members;

extern const struct tw_protocol tw_ntrace;

#endif
