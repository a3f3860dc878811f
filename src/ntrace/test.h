/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of N-Trace have in common. */
#ifndef NTRACE_TEST_H
#define NTRACE_TEST_H

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "ntrace/packet.h"

static inline struct tw_ntrace_config read_config(const char *text)
{
    struct tw_ntrace_config config;
    struct tw_fault fault = { TW_OK, "" };

    tw_ntrace_config_init(&config);
    CHECK_EQ(tw_ntrace_config_read(&config, text, &fault), TW_OK);
    CHECK_TEXT(fault.text, "");
    CHECK_EQ(tw_ntrace_config_check(&config, &fault), TW_OK);
    return config;
}

static inline struct tw_ntrace_codec *codec_of(const char *text)
{
    const struct tw_ntrace_config config = read_config(text);
    struct tw_ntrace_codec *codec;

    CHECK_EQ(tw_ntrace_codec_new(&codec, &config, NULL), TW_OK);
    return codec;
}

/* From an exact-size heap block, so that one byte too far is seen. */
static inline enum tw_status read_tight(struct tw_ntrace_codec *codec,
                                        struct tw_ntrace_packet *packet, const uint8_t *bytes,
                                        size_t size, bool is_last)
{
    uint8_t *copy = check_copy(bytes, size);
    const enum tw_status status = tw_ntrace_read(codec, packet, copy, size, is_last);

    free(copy);
    return status;
}

/* Bytes in hexadecimal, blanks between them or not. */
static inline size_t from_hex(uint8_t *out, const char *hex)
{
    size_t size = 0;

    for (; *hex; hex += hex[2] == ' ' ? 3 : 2) {
        const char digits[3] = { hex[0], hex[1], 0 };

        out[size++] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return size;
}

#endif
