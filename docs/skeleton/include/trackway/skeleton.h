/* SPDX-License-Identifier: BSD-2-Clause */
/* Skeleton: a made-up protocol that shows where everything goes.  Becomes include/trackway/X.h. */
#ifndef TRACKWAY_SKELETON_H
#define TRACKWAY_SKELETON_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a debugger reads from the hardware, nothing else. */
struct tw_skeleton_config {
    size_t size;      /* sizeof(struct tw_skeleton_config) */
    uint32_t control; /* CONTROL: bits 6:0 trace ID, bit 8 timestamps */
};

enum tw_skeleton_type {
    TW_SKELETON_NOT_SYNC,   /* bytes before synchronization */
    TW_SKELETON_RESERVED,   /* no packet begins with this byte */
    TW_SKELETON_INCOMPLETE, /* the trace ends inside this packet */
    TW_SKELETON_SYNC,
    TW_SKELETON_DATA,
    TW_SKELETON_TIMESTAMP,
    TW_SKELETON_OVERFLOW,
    TW_SKELETON_TYPES
};

/* A plain value: nothing to free. */
struct tw_skeleton_packet {
    struct tw_packet base;
    union {
        uint8_t data;       /* DATA */
        uint64_t timestamp; /* TIMESTAMP */
        uint8_t header;     /* RESERVED, INCOMPLETE */
    };
};

#ifdef __cplusplus
}
#endif

#endif
