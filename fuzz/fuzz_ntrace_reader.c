/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of N-Trace messages alone (reader.h); its short ways give what the careful way gives, too. */
#include "reader.h"

#include "ntrace/packet.h"
#include "ntrace_config.h"

enum { HEAD = NTRACE_CONFIG_BYTES + 1, BATCH = 8 };

static void careful(const void *config, const uint8_t *data, size_t size)
{
    struct tw_ntrace_packet batch[BATCH], one;
    struct tw_ntrace_reader many, single;
    size_t at = 0, used, count;

    tw_ntrace_reader_init(&many, config);
    single = many;
    do {
        const size_t first = at;

        count = tw_ntrace_read_batch(&many, batch, BATCH, &used, data + at, size - at);
        require(count <= BATCH && used <= size - at);
        for (size_t i = 0; i < count; i++) {
            require(tw_ntrace_read_any(&single, &one, data + at, size - at, false) == TW_OK);
            require(memcmp(&one, &batch[i], sizeof one) == 0);
            require(one.base.offset == at && one.base.size >= 1 &&
                    one.base.type < TW_NTRACE_TYPES);
            require((one.base.type == TW_NTRACE_BAD) == (one.fault != 0));
            at += one.base.size;
        }
        require(at - first == used);
    } while (count == BATCH);
    while (at < size) {
        require(tw_ntrace_read_any(&single, &one, data + at, size - at, true) == TW_OK);
        require(one.base.size >= 1 && one.base.size <= size - at);
        at += one.base.size;
    }
}

static void plain(void *packet)
{
    struct tw_ntrace_packet *typed = packet;

    typed->odd = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reader_target *target = reader_target(&tw_ntrace);
    struct tw_ntrace_config config;

    if (size < HEAD || size > READER_MOST)
        return 0;
    config = ntrace_config(data);
    target->also = careful;
    target->plain = plain;
    return reader_run(target, &config, data[HEAD - 1], data + HEAD, size - HEAD);
}
