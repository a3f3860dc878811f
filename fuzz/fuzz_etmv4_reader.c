/* SPDX-License-Identifier: BSD-2-Clause */
/* The packet reader of ETMv4 and ETE alone (reader.h). */
#include "reader.h"

#include "etmv4/packet.h"
#include "etmv4_config.h"

enum { HEAD = ETMV4_CONFIG_BYTES + 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_etmv4_config config;

    if (size < HEAD)
        return 0;
    config = etmv4_config(data);
    return reader_run(reader_target(&tw_etmv4), &config, data[HEAD - 1], data + HEAD,
                      size - HEAD);
}
