/* SPDX-License-Identifier: BSD-2-Clause */
/* Skeleton packets: between the files of this folder. */
#ifndef SKELETON_PACKET_H
#define SKELETON_PACKET_H

#include <trackway/skeleton.h>

#include "base/text.h"
#include "protocol.h"

enum { TW_SKELETON_PACKET_MAX = 10 };

/* No state beyond what the wire format needs. */
struct tw_skeleton_reader {
    uint8_t index[256]; /* first byte -> row of the rule table */
    bool is_synced;
    uint64_t offset; /* bytes done */
    uint8_t id;
    const struct tw_allocator *allocator;
};

extern const struct tw_protocol tw_skeleton;

void tw_skeleton_reader_init(struct tw_skeleton_reader *reader,
                             const struct tw_skeleton_config *config);
extern const struct tw_member_table tw_skeleton_members;
extern const struct tw_packet_type tw_skeleton_types[TW_SKELETON_TYPES];

#endif
