/* SPDX-License-Identifier: BSD-2-Clause */
/* A configuration of N-Trace out of a few bytes of the input. */
#ifndef FUZZ_NTRACE_CONFIG_H
#define FUZZ_NTRACE_CONFIG_H

#include <stdlib.h>

#include <trackway/ntrace.h>

enum { NTRACE_CONFIG_BYTES = 3 };

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static struct tw_ntrace_config ntrace_config(const uint8_t *data)
{
    struct tw_ntrace_config config;

    tw_ntrace_config_init(&config);
    config.src_bits = data[0] % (TW_NTRACE_SRC_BITS_MAX + 1);
    config.dialect = data[0] / 16 % 3;
    config.inhibit_src = data[0] >> 7;
    config.extend_addr = data[1] & 1;
    config.all_jumps = data[1] >> 1 & 1;
    config.xlen = data[1] & 4 ? 32 : 64;
    config.has_zcmp_zcmt = data[1] >> 3 & 1;
    config.starts_inside = data[1] >> 4 & 1;
    config.jvt = data[1] & 0x20 ? 0x1040 : 0;
    config.time_width = data[2] % 65;
    return config;
}

#endif
