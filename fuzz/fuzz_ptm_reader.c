/* SPDX-License-Identifier: BSD-2-Clause */
/* The packet reader of PTM alone (reader.h). */
#include "reader.h"

#include "ptm/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_ptm_config config = { .size = sizeof config };

    if (size < 2)
        return 0;
    /* Cycle counts, the bytes of a context ID, the width of timestamps, the version. */
    config.etmcr = (uint32_t)(data[0] & 1) << 12 | (uint32_t)(data[0] >> 1 & 3) << 14;
    config.etmccer = (uint32_t)(data[0] >> 3 & 3) << 28;
    config.etmidr = 0x411cf301 + (uint32_t)(data[0] >> 5 & 1) * 0x11;
    return reader_run(reader_target(&tw_ptm), &config, data[1], data + 2, size - 2);
}
