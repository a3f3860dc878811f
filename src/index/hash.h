/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash of bytes that come in pieces: tells contents apart, guards against damage, not against
   malice.  Four lanes, so that it runs at the speed of memory. */
#ifndef INDEX_HASH_H
#define INDEX_HASH_H

#include "base/bytes.h"

enum { TW_HASH_STRIPE = 32, TW_HASH_LANES = 4 };

struct tw_hash {
    uint64_t lanes[TW_HASH_LANES];
    uint64_t size;
    uint8_t tail[TW_HASH_STRIPE];
    unsigned fill;
};

void tw_hash_begin(struct tw_hash *hash);
void tw_hash_add(struct tw_hash *hash, const uint8_t *data, size_t size);
uint64_t tw_hash_end(struct tw_hash *hash);
/* All at once. */
uint64_t tw_hash_of(const uint8_t *data, size_t size);

#endif
