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
};

extern const struct tw_protocol tw_skeleton;

void tw_skeleton_reader_init(void *reader, const void *config);
void tw_skeleton_reader_lost(void *reader);
enum tw_status tw_skeleton_read(void *reader, void *packet, const uint8_t *data, size_t size,
                                bool is_last);
enum tw_status tw_skeleton_write(void *writer, uint8_t *out, size_t *size, const void *packet);
extern const struct tw_member_table tw_skeleton_members;
extern const struct tw_packet_type tw_skeleton_types[TW_SKELETON_TYPES];
const char *tw_skeleton_type_name(unsigned type);

#endif
