/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE packets from any bytes under any configuration: every byte comes out once, good
   packets give their bytes again, batches and single reads agree. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "etmv4/packet.h"
#include "etmv4_config.h"

enum { ROOM = 5 };

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static void check_packet(struct tw_etmv4_reader *reader, const struct tw_etmv4_packet *packet,
                         const uint8_t *bytes)
{
    char chars[400];
    struct tw_text text = tw_text_in(chars, sizeof chars);
    uint8_t out[TW_ETMV4_PACKET_MAX];
    size_t size = sizeof out;
    const enum tw_status status = tw_etmv4_write(reader, out, &size, packet);

    tw_protocol_json(&text, &tw_etmv4, packet);
    tw_text_clear(&text);
    tw_protocol_print(&text, &tw_etmv4, packet);
    if (tw_etmv4_type_is_bad(packet->base.type) || packet->base.type == TW_ETMV4_NOT_SYNC ||
        packet->base.type == TW_ETMV4_DATA) {
        require(status == TW_E_ARGUMENT);
        return;
    }
    require(status == TW_OK);
    if (!packet->has_reserved)
        require(size == packet->base.size && memcmp(out, bytes, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_etmv4_config config;
    struct tw_etmv4_reader one, many;
    struct tw_etmv4_packet packet, batch[ROOM];
    size_t at = 0, count = 0, next = 0, used;

    if (size < ETMV4_CONFIG_BYTES)
        return 0;
    config = etmv4_config(data);
    data += ETMV4_CONFIG_BYTES;
    size -= ETMV4_CONFIG_BYTES;
    tw_etmv4_reader_init(&one, &config);
    tw_etmv4_reader_init(&many, &config);
    while (at < size) {
        enum tw_status status;

        if (next == count) {
            next = 0;
            count = tw_etmv4_read_batch(&many, batch, ROOM, &used, data + at, size - at);
            require(used <= size - at);
        }
        status = tw_etmv4_read(&one, &packet, data + at, size - at, false);
        require((status == TW_OK) == (next < count));
        if (status != TW_OK) { /* the end of the trace, then */
            require(one.is_synced == many.is_synced &&
                    (!one.is_synced || size - at < TW_ETMV4_PACKET_MAX));
            status = tw_etmv4_read(&one, &packet, data + at, size - at, true);
            require(status == TW_OK);
            count = next = ROOM; /* batches stop here */
            check_packet(&one, &packet, data + at);
            at += packet.base.size;
            while (at < size) {
                require(tw_etmv4_read(&one, &packet, data + at, size - at, true) == TW_OK);
                require(packet.base.size > 0 && packet.base.size <= size - at);
                at += packet.base.size;
            }
            break;
        }
        require(packet.base.size > 0 && packet.base.size <= size - at);
        require(packet.base.type == batch[next].base.type &&
                packet.base.size == batch[next].base.size &&
                packet.base.offset == batch[next].base.offset && packet.base.offset == at);
        check_packet(&one, &packet, data + at);
        check_packet(&many, &batch[next], data + at);
        next++;
        at += packet.base.size;
    }
    require(at == size);
    return 0;
}
