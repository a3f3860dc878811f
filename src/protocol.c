/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of any protocol as words. */
#include "protocol.h"

#include "base/members.h"

/* Of the members of a packet, without its bytes. */
enum { PACKET_MOST = 8192 };

static struct tw_members *put(struct tw_members_here *here, unsigned wanted,
                              const struct tw_protocol *protocol, const void *packet)
{
    struct tw_members *list = tw_members_start(here, wanted);

    list->types = protocol->members->rows;
    protocol->members->put(list, protocol, packet);
    return list;
}

void tw_protocol_print(struct tw_text *out, const struct tw_protocol *protocol,
                       const void *packet)
{
    struct tw_members_here here;
    const struct tw_members *list = put(&here, TW_MEMBER_TOLD, protocol, packet);
    char line[PACKET_MOST];

    tw_text_add(out, tw_type_name(protocol, ((const struct tw_packet *)packet)->type));
    if (tw_members_most(list) <= PACKET_MOST)
        tw_text_add_size(out, line, (size_t)(tw_members_text(line, list) - line));
}

void tw_protocol_json(struct tw_text *out, const struct tw_protocol *protocol,
                      const void *packet)
{
    struct tw_members_here here;
    const struct tw_members *list = put(&here, TW_MEMBER_LISTED, protocol, packet);
    char line[PACKET_MOST];

    if (tw_members_most(list) <= PACKET_MOST)
        tw_text_add_size(out, line, (size_t)(tw_members_json(line, list) - line));
}
