/* SPDX-License-Identifier: BSD-2-Clause */
/* Protocol buffers, written: varints and fields with a length. */
#ifndef EXPORT_PROTOBUF_H
#define EXPORT_PROTOBUF_H

#include <string.h>

#include "base/text.h"

static inline void tw_protobuf_varint(struct tw_text *out, uint64_t value)
{
    char bytes[10];
    size_t size = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (char)(value | 0x80);
    bytes[size++] = (char)value;
    tw_text_add_size(out, bytes, size);
}

static inline void tw_protobuf_number(struct tw_text *out, unsigned field, uint64_t value)
{
    tw_protobuf_varint(out, (uint64_t)field << 3);
    tw_protobuf_varint(out, value);
}

static inline void tw_protobuf_bytes(struct tw_text *out, unsigned field, const void *bytes,
                                     size_t size)
{
    tw_protobuf_varint(out, (uint64_t)field << 3 | 2);
    tw_protobuf_varint(out, size);
    tw_text_add_size(out, bytes, size);
}

static inline void tw_protobuf_text(struct tw_text *out, unsigned field, const char *text)
{
    tw_protobuf_bytes(out, field, text, strlen(text));
}

/* A message inside another; `inner` is empty afterwards. */
static inline void tw_protobuf_message(struct tw_text *out, unsigned field,
                                       struct tw_text *inner)
{
    tw_protobuf_bytes(out, field, inner->chars ? inner->chars : "", inner->size);
    out->failed |= inner->failed;
    tw_text_clear(inner);
}

#endif
