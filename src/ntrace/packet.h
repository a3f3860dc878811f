/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace messages to packets. */
#ifndef NTRACE_PACKET_H
#define NTRACE_PACKET_H

#include <trackway/ntrace.h>

#include "base/bytes.h"
#include "base/text.h"
#include "protocol.h"

/* Formats of an Ownership message's PROCESS, its lowest two bits. */
enum { TW_NTRACE_PRIVILEGE = 0, TW_NTRACE_SCONTEXT = 2, TW_NTRACE_HCONTEXT = 3 };

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
struct tw_ntrace_reader {
    struct tw_ntrace_config config;
    struct tw_ntrace_shape shape;
    const struct tw_allocator *allocator; /* that it is from; or NULL */
    uint8_t tcodes[TW_NTRACE_TYPES];      /* of the messages; 0: it is none */
    bool is_lost;                         /* skip to behind the next end of a message */
    uint64_t offset;                      /* bytes done */
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
    uint8_t more;     /* one more follows if the code is this; NEVER: or if CDF is 1 */
    bool is_dialect;
    uint16_t reserved; /* bit n: value n of SYNC or the code, which a message may still have */
};

enum { TW_NTRACE_NEVER = 0xff };

extern const struct tw_ntrace_rule tw_ntrace_rules[64];

TW_INLINE bool tw_ntrace_is_sync(unsigned type)
{
    return type == TW_NTRACE_PROG_TRACE_SYNC || type == TW_NTRACE_DIRECT_BRANCH_SYNC ||
           type == TW_NTRACE_INDIRECT_BRANCH_SYNC ||
           type == TW_NTRACE_INDIRECT_BRANCH_HIST_SYNC;
}

/* Only the dialect has such messages. */
static inline bool tw_ntrace_shows_dialect(const struct tw_ntrace_packet *packet)
{
    return tw_ntrace_rules[packet->tcode & 0x3f].is_dialect ||
           (packet->base.type == TW_NTRACE_RESOURCE_FULL &&
            (packet->code == TW_NTRACE_RCODE_NOT_TAKEN ||
             packet->code == TW_NTRACE_RCODE_TAKEN));
}

/* Variable fields of a message. */
TW_INLINE unsigned tw_ntrace_fields(const struct tw_ntrace_rule *rule,
                                    const struct tw_ntrace_packet *packet)
{
    return rule->fields + (packet->code == rule->more ? 1u : 0) + (packet->cdf & 1u);
}

void tw_ntrace_shape_init(struct tw_ntrace_shape *shape, const struct tw_ntrace_config *config);
void tw_ntrace_reader_init(struct tw_ntrace_reader *codec,
                           const struct tw_ntrace_config *config);
void tw_ntrace_reader_reset(struct tw_ntrace_reader *codec);

/* Reads the message of `size` bytes at `data`, the last of which ends it, of any length.  Sets all
   members but index, offset and id. */
void tw_ntrace_parse(const struct tw_ntrace_shape *shape, struct tw_ntrace_packet *packet,
                     const uint8_t *data, size_t size);
/* The same for what most messages are: at most 16 bytes, of which 16 may be read, and nothing
   wrong.  Returns the size; 0: it is not one of these, and nothing is said. */
size_t tw_ntrace_parse_short(const struct tw_ntrace_shape *shape,
                             struct tw_ntrace_packet *packet, const uint8_t *data);

/* The TCODE of each type of message; 0: it has none of its own. */
void tw_ntrace_tcodes(uint8_t tcodes[TW_NTRACE_TYPES]);

/* Most messages of BTM: DirectBranch of two bytes without SRC and timestamp.  False: it is none; 8 bytes
   may be read. */
TW_INLINE bool tw_ntrace_parse_direct(const struct tw_ntrace_shape *shape,
                                      struct tw_ntrace_packet *packet, const uint8_t *data)
{
    enum { HEAD = 3 << 2, END = TW_NTRACE_MSEO_END << 8, LOOKED_AT = 0x3ff };
    const unsigned bytes = tw_load_le16(data);

    if ((bytes & LOOKED_AT) != (HEAD | END) || shape->src_bits)
        return false;
    memset(packet, 0, sizeof *packet);
    packet->base.size = 2;
    packet->base.type = TW_NTRACE_DIRECT_BRANCH;
    packet->tcode = HEAD >> 2;
    packet->icnt = bytes >> 10;
    return true;
}

/* What tw_ntrace_read does, without trying whether the message is a short one. */
enum tw_status tw_ntrace_read_any(struct tw_ntrace_reader *codec,
                                  struct tw_ntrace_packet *packet, const uint8_t *data,
                                  size_t size, bool is_last);

/* Whose the next bytes of a stream are that several sources share: see struct tw_protocol. */
enum tw_status tw_ntrace_route(void *reader, struct tw_route *route, void *packet,
                               const uint8_t *data, size_t size, bool is_last);

/* Bytes of the run of idle bytes that `data` begins with. */
size_t tw_ntrace_idle(const uint8_t *data, size_t size);

/* What 1, 2 or 4 pins showed, as bytes: each message begins in the byte that its first bit lies in, and
   what is none becomes idle.  `out` has room for `size` bytes.  starts_inside: the first bit need
   not begin a message. */
void tw_ntrace_pib_align(uint8_t *out, const uint8_t *data, size_t size, unsigned pins,
                         bool starts_inside);

/* In words, for JSON and people; NULL: there is none. */
const char *tw_ntrace_fault_name(unsigned fault);

extern const struct tw_packet_type tw_ntrace_types[TW_NTRACE_TYPES];
extern const struct tw_member_table tw_ntrace_members;

extern const struct tw_protocol tw_ntrace;

#endif
