/* SPDX-License-Identifier: BSD-2-Clause */
/* The packet reader of E-Trace alone (reader.h), of the flow and of data accesses. */
#include "reader.h"

#include "etrace/packet.h"
#include "etrace_config.h"
#include "etrace_used.h"

enum { HEAD = ETRACE_CONFIG_BYTES + 1 };

static void moved(void *reader)
{
    struct tw_etrace_reader *codec = reader;

    codec->transport.context = codec;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reader_target *target = reader_target(&tw_etrace);
    struct tw_etrace_config config;

    if (size < HEAD)
        return 0;
    config = etrace_config(data);
    target->moved = moved;
    target->get_used = etrace_used;
    return reader_run(target, &config, data[HEAD - 1], data + HEAD, size - HEAD);
}
