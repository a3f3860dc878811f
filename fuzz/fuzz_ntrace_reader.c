/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of N-Trace messages alone, as fast as it goes: any bytes under any configuration give each
   byte once, and the short ways give what the careful way gives. */
#include <string.h>

#include "ntrace/packet.h"
#include "ntrace_config.h"

enum { BATCH = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_ntrace_packet batch[BATCH], one;
    struct tw_ntrace_reader many, careful;
    struct tw_ntrace_config config;
    size_t at = 0, used, count;

    if (size < NTRACE_CONFIG_BYTES)
        return 0;
    config = ntrace_config(data);
    data += NTRACE_CONFIG_BYTES;
    size -= NTRACE_CONFIG_BYTES;
    tw_ntrace_reader_init(&many, &config);
    careful = many;
    do {
        const size_t first = at;

        count = tw_ntrace_read_batch(&many, batch, BATCH, &used, data + at, size - at);
        require(count <= BATCH && used <= size - at);
        for (size_t i = 0; i < count; i++) {
            require(tw_ntrace_read_any(&careful, &one, data + at, size - at, false) == TW_OK);
            require(memcmp(&one, &batch[i], sizeof one) == 0);
            require(one.base.offset == at && one.base.size >= 1 &&
                    one.base.type < TW_NTRACE_TYPES);
            require((one.base.type == TW_NTRACE_BAD) == (one.fault != 0));
            at += one.base.size;
        }
        require(at - first == used);
    } while (count == BATCH);
    while (at < size) {
        require(tw_ntrace_read_any(&careful, &one, data + at, size - at, true) == TW_OK);
        require(one.base.size >= 1 && one.base.size <= size - at);
        at += one.base.size;
    }
    return 0;
}
