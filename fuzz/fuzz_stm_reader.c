/* SPDX-License-Identifier: BSD-2-Clause */
/* The packet reader of STM alone (reader.h). */
#include "reader.h"

#include "stm/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_stm_config config = { .size = sizeof config };

    if (size < 2)
        return 0;
    config.tcsr = data[0];
    return reader_run(reader_target(&tw_stm), &config, data[1], data + 2, size - 2);
}
