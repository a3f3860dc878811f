/* SPDX-License-Identifier: BSD-2-Clause */
/* The packet reader of ETMv3 alone (reader.h). */
#include "reader.h"

#include "etmv3/packet.h"

enum { HEAD = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_etmv3_config config = { .size = sizeof config };

    if (size < HEAD)
        return 0;
    config.etmcr = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16;
    config.etmidr =
        0x4100f200u | (uint32_t)(data[3] & 0x7) << 4 | (uint32_t)(data[4] & 0x1f) << 16;
    config.etmccer = (uint32_t)(data[3] >> 3 & 3) << 28;
    config.profile = data[3] & 0x80 ? TW_PROFILE_M : TW_PROFILE_R;
    return reader_run(reader_target(&tw_etmv3), &config, data[5], data + HEAD, size - HEAD);
}
