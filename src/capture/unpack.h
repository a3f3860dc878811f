/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures that come packed: gzip, xz, zstd, and dumps as text. */
#ifndef CAPTURE_UNPACK_H
#define CAPTURE_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include <trackway/status.h>

enum tw_packing {
    TW_PACKING_NONE,
    TW_PACKING_GZIP,
    TW_PACKING_XZ,
    TW_PACKING_ZSTD,
    TW_PACKING_HEX, /* bytes as text: capture/hex.h */
    TW_PACKING_COUNT
};

enum tw_packing tw_packing_of(const uint8_t *bytes, size_t size);
/* "gzip", "xz", "zstd", "hex"; NULL for none. */
const char *tw_packing_name(enum tw_packing packing);
/* The bytes in it, the caller's to give back; not more than `most`, which is a fault unless `may_cut`. */
struct tw_unpacking {
    size_t most;
    int may_cut;
    const struct tw_allocator *allocator;
};
enum tw_status tw_packing_open(uint8_t **out, size_t *out_size, enum tw_packing packing,
                               const uint8_t *bytes, size_t size,
                               const struct tw_unpacking *how, struct tw_fault *fault);

#endif
