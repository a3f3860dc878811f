/* SPDX-License-Identifier: BSD-2-Clause */
/* The packet reader of ITM alone (reader.h). */
#include "reader.h"

#include "itm/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_itm_config config = { .size = sizeof config };

    if (size < 2)
        return 0;
    config.tcr = (uint32_t)(data[0] & 0x30) << 4;
    config.on_error = (uint8_t)((data[0] & 3) % 3);
    config.assume_sync = data[0] & 4;
    config.is_framed = data[0] & 8;
    return reader_run(reader_target(&tw_itm), &config, data[1], data + 2, size - 2);
}
