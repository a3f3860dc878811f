/* SPDX-License-Identifier: BSD-2-Clause */
/* Configurations of E-Trace out of a few bytes, for the fuzz targets. */
#ifndef FUZZ_ETRACE_CONFIG_H
#define FUZZ_ETRACE_CONFIG_H

#include <stdlib.h>

#include <trackway/etrace.h>

enum { ETRACE_CONFIG_BYTES = 8 };

static inline void require(bool is_true)
{
    if (!is_true)
        abort();
}

static inline struct tw_etrace_config etrace_config(const uint8_t *bytes)
{
    struct tw_etrace_config config;

    tw_etrace_config_init(&config, (enum tw_etrace_layout)(1 + (bytes[0] & 3) % 3));
    config.encapsulation = (uint8_t)((bytes[0] >> 2 & 7) % (TW_ETRACE_ENCAP_ESP32 + 1));
    config.is_data = bytes[0] & 0x20;
    config.x1_links_only = bytes[0] & 0x40;
    config.ecall_retires = bytes[0] & 0x80;
    config.iaddress_width = (uint8_t)(bytes[1] & 1 ? 64 : bytes[1] & 2 ? 32 : 40);
    config.iaddress_lsb = (uint8_t)((bytes[1] >> 2 & 3) % 3);
    config.privilege_width = (uint8_t)(1 + (bytes[1] >> 4 & 3));
    config.nocontext = bytes[1] & 0x40;
    config.notime = bytes[1] & 0x80;
    config.context_width = (uint8_t)(1 + (bytes[2] & 15));
    config.time_width = (uint8_t)(1 + (bytes[2] >> 4));
    config.f0s_width = bytes[3] & 1;
    config.cache_size = bytes[3] >> 1 & 7;
    config.bpred_size = bytes[3] >> 4 & 7;
    config.bpred_reset_on_sync = bytes[3] >> 7;
    config.return_stack_size = bytes[4] & 3;
    config.call_counter_size = bytes[4] >> 2 & 7;
    config.has_zcmp_zcmt = bytes[4] & 0x20;
    config.jvt = 0x1000;
    config.options = (uint32_t)(bytes[5] & 0x3f) | (uint32_t)(bytes[5] >> 6) << 8;
    config.tvec_mask = 0xff;
    for (unsigned i = 0; i < TW_ETRACE_PRIVILEGES; i++)
        config.tvec[i] = 0x1000 + 16 * i + (i & 1);
    config.srcid_bits = bytes[6] & 15;
    config.type_bits = bytes[6] >> 4 & 3;
    config.timestamp_bytes = bytes[6] >> 6;
    config.block_size = (uint16_t)(bytes[7] & 1 ? 64 : 0);
    config.starts_inside = bytes[7] & 2;
    config.has_srcid = bytes[7] & 4;
    config.lrid_width = (uint8_t)(bytes[7] & 8 ? 3 : 0);
    config.data_width = (uint8_t)(16u << (bytes[7] >> 4 & 3));
    config.diff_bits = (uint8_t)(1 + (bytes[7] >> 6 & 1));
    config.data_compress = (uint8_t)(1 + (bytes[7] >> 7));
    require(tw_etrace_config_check(&config, NULL) == TW_OK);
    return config;
}

#endif
