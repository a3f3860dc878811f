/* SPDX-License-Identifier: BSD-2-Clause */
/* Configurations of ETMv4 and ETE out of a few bytes, for the fuzz targets. */
#ifndef FUZZ_ETMV4_CONFIG_H
#define FUZZ_ETMV4_CONFIG_H

#include <trackway/etmv4.h>

enum { ETMV4_CONFIG_BYTES = 6 };

static inline struct tw_etmv4_config etmv4_config(const uint8_t *bytes)
{
    static const uint8_t cores[8][2] = { { TW_PROFILE_A, 80 }, { TW_PROFILE_A, 70 },
                                         { TW_PROFILE_R, 70 }, { TW_PROFILE_R, 80 },
                                         { TW_PROFILE_M, 60 }, { TW_PROFILE_M, 70 },
                                         { TW_PROFILE_M, 80 }, { TW_PROFILE_M, 81 } };
    struct tw_etmv4_config config = { .size = sizeof config };

    config.is_ete = bytes[0] & 1;
    config.is_data_stream = (bytes[0] & 0x0e) == 0x0e;
    config.profile = cores[bytes[0] >> 5][0];
    config.architecture = cores[bytes[0] >> 5][1];
    config.trcidr[0] = 0x08000e01 | (uint32_t)(bytes[1] & 0x3f) << 3 |
                       (uint32_t)(bytes[1] >> 6) << 15 | (uint32_t)(bytes[2] & 7) << 29;
    config.trcidr[1] = 0x4100f400 | (uint32_t)(bytes[2] >> 4 & 7) << 4;
    config.trcdevarch = 0x47705a13 | (uint32_t)(bytes[2] >> 4 & 3) << 16;
    config.trcidr[2] = (uint32_t)(bytes[3] & 0x1f) << 10 | (bytes[3] & 0x20 ? 0x88 : 0x08);
    config.trcidr[8] = bytes[4];
    config.trcconfigr = 1 | (uint32_t)bytes[5] << 1 | (uint32_t)bytes[5] << 9;
    return config;
}

#endif
