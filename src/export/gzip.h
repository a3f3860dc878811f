/* SPDX-License-Identifier: BSD-2-Clause */
/* A gzip file as a stream of stored blocks: every reader takes it, and it needs no library. */
#ifndef EXPORT_GZIP_H
#define EXPORT_GZIP_H

#include "export/sink.h"

struct tw_gzip {
    struct tw_sink *sink;
    uint32_t crc, size;
    size_t used;
    unsigned char block[0x8000];
};

void tw_gzip_begin(struct tw_gzip *gzip, struct tw_sink *sink);
void tw_gzip_bytes(struct tw_gzip *gzip, const void *bytes, size_t size);
void tw_gzip_end(struct tw_gzip *gzip);

#endif
