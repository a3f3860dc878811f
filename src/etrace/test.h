/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of E-Trace packets have in common. */
#ifndef ETRACE_TEST_H
#define ETRACE_TEST_H

#include "check.h"

#include <stdlib.h>

#include "etrace/config.h"
#include "etrace/packet.h"

#define V2                                                                                     \
    "layout=v2,iaddress_width_p=64,iaddress_lsb_p=1,privilege_width_p=2,nocontext_p=0,"        \
    "context_width_p=32,ecause_width_p=5"
#define SEED                                                                                   \
    "layout=seed,iaddress_width_p=64,privilege_width_p=2,context_width_p=32,ecause_width_p=5"

static inline struct tw_etrace_config read_config(const char *text)
{
    struct tw_etrace_config config;
    struct tw_fault fault = { TW_OK, "" };

    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_NONE);
    CHECK_EQ(tw_etrace_config_read(&config, text, &fault), TW_OK);
    CHECK_TEXT(fault.text, "");
    tw_etrace_config_init(&config, (enum tw_etrace_layout)config.layout);
    CHECK_EQ(tw_etrace_config_read(&config, text, &fault), TW_OK);
    CHECK_EQ(tw_etrace_config_check(&config, &fault), TW_OK);
    return config;
}

static inline struct tw_etrace_reader *codec_of(const char *text)
{
    const struct tw_etrace_config config = read_config(text);
    struct tw_etrace_reader *codec;

    CHECK_EQ(tw_etrace_reader_new(&codec, &config, NULL, NULL), TW_OK);
    return codec;
}

/* From an exact-size heap block, so that one byte too far is seen. */
static inline enum tw_status read_tight(struct tw_etrace_reader *codec,
                                        struct tw_etrace_packet *packet, const uint8_t *bytes,
                                        size_t size, bool is_last)
{
    uint8_t *copy = check_copy(bytes, size);
    const enum tw_status status = tw_etrace_read(codec, packet, copy, size, is_last);

    free(copy);
    return status;
}

static inline size_t from_hex(uint8_t *out, const char *hex)
{
    size_t size = 0;
    char *end;

    for (; *hex; hex = end) {
        out[size++] = (uint8_t)strtoul(hex, &end, 16);
        while (*end == ' ')
            end++;
    }
    return size;
}

#endif
