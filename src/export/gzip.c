/* SPDX-License-Identifier: BSD-2-Clause */
/* gzip (RFC 1952) with stored blocks (RFC 1951, 3.2.4). */
#include "export/gzip.h"

#include <string.h>

static uint32_t crc32_of(uint32_t crc, const unsigned char *bytes, size_t size)
{
    crc = ~crc;
    while (size--) {
        crc ^= *bytes++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void put_u32(struct tw_sink *sink, uint32_t value)
{
    const unsigned char bytes[] = { value & 0xff, value >> 8 & 0xff, value >> 16 & 0xff,
                                    (unsigned char)(value >> 24) };

    tw_sink_bytes(sink, bytes, sizeof bytes);
}

static void put_block(struct tw_gzip *gzip, bool is_last)
{
    const size_t size = gzip->used;
    const unsigned char head[] = { is_last, size & 0xff, (unsigned char)(size >> 8),
                                   ~size & 0xff, (unsigned char)(~size >> 8) };

    tw_sink_bytes(gzip->sink, head, sizeof head);
    tw_sink_bytes(gzip->sink, gzip->block, size);
    gzip->crc = crc32_of(gzip->crc, gzip->block, size);
    gzip->size += (uint32_t)size;
    gzip->used = 0;
}

void tw_gzip_begin(struct tw_gzip *gzip, struct tw_sink *sink)
{
    /* deflate, no name and no time (the same result gives the same file), system not known */
    static const unsigned char head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };

    gzip->sink = sink;
    gzip->crc = gzip->size = 0;
    gzip->used = 0;
    tw_sink_bytes(sink, head, sizeof head);
}

void tw_gzip_bytes(struct tw_gzip *gzip, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;

    while (size) {
        size_t part = sizeof gzip->block - gzip->used;

        if (part > size)
            part = size;
        memcpy(gzip->block + gzip->used, from, part);
        gzip->used += part;
        from += part;
        size -= part;
        if (gzip->used == sizeof gzip->block)
            put_block(gzip, false);
    }
}

void tw_gzip_end(struct tw_gzip *gzip)
{
    put_block(gzip, true);
    put_u32(gzip->sink, gzip->crc);
    put_u32(gzip->sink, gzip->size);
}
