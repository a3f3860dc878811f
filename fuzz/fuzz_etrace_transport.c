/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace encapsulations: packets of any payload, written and read again; then damaged, where every
   byte must still be accounted for. */
#include <string.h>

#include "etrace/packet.h"
#include "etrace_config.h"

enum { PACKETS = 40, ROOM = 4096 };

/* Payloads as the input gives them: one to eight bytes of it each. */
static size_t write_all(const struct tw_etrace_config *config, uint8_t *out, size_t *starts,
                        const uint8_t *data, size_t size)
{
    struct tw_etrace_transport transport;
    size_t at = 0, used = 0;

    tw_etrace_transport_init(&transport, config);
    for (unsigned i = 0; i < PACKETS; i++) {
        const struct tw_etrace_frame frame = { .kind = TW_ETRACE_FRAME_INST,
                                               .flow = i & 3,
                                               .source = config->srcid,
                                               .has_stamp = i % 5 == 0,
                                               .stamp = i };
        struct tw_payload payload = { .at = 0 };
        size_t room = ROOM - at;
        uint64_t value = 0x57;

        for (unsigned k = 0; k < 8 && used < size; k++)
            value = value << 8 | data[used++];
        tw_payload_put(&payload, 2, 2); /* an address packet, so that it is plausible */
        tw_payload_put(&payload, value, 60);
        starts[i] = at;
        require(tw_etrace_frame_write(&transport, out + at, &room, &frame, &payload) == TW_OK);
        at += room;
    }
    return at;
}

/* Reads all, marks in `found` which packets' beginnings were met. */
static void read_all(const struct tw_etrace_config *config, bool *found, const size_t *starts,
                     const uint8_t *data, size_t size)
{
    static struct tw_etrace_reader codec;
    size_t at = 0;
    unsigned next = 0;

    tw_etrace_reader_init(&codec, config);
    memset(found, 0, PACKETS * sizeof *found);
    while (at < size) {
        struct tw_etrace_packet packet;

        require(tw_etrace_read(&codec, &packet, data + at, size - at, true) == TW_OK);
        require(packet.base.size >= 1 && packet.base.size <= size - at);
        while (next < PACKETS && starts[next] < at)
            next++;
        if (next < PACKETS && starts[next] == at && packet.base.type == TW_ETRACE_F2)
            found[next] = true;
        at += packet.base.size;
    }
    require(at == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[ROOM];
    size_t starts[PACKETS], written, from, count;
    bool found[PACKETS];
    struct tw_etrace_config config;

    if (size < ETRACE_CONFIG_BYTES + 4)
        return 0;
    config = etrace_config(data);
    config.is_data = false;
    config.block_size = 0;
    config.starts_inside = false;
    config.iaddress_width = 64;
    config.iaddress_lsb = 1;
    config.return_stack_size = config.call_counter_size = 0;
    from = data[ETRACE_CONFIG_BYTES];
    count = data[ETRACE_CONFIG_BYTES + 1] & 7;
    data += ETRACE_CONFIG_BYTES + 2;
    size -= ETRACE_CONFIG_BYTES + 2;
    written = write_all(&config, bytes, starts, data, size);
    read_all(&config, found, starts, bytes, written);
    for (unsigned i = 0; i < PACKETS; i++)
        require(found[i]);
    /* Damage near the beginning. */
    for (size_t i = 0; i < count; i++)
        bytes[(from + i) % (starts[4] + 1)] ^= size ? data[i % size] : 0xff;
    read_all(&config, found, starts, bytes, written);
    /* Whether the packets behind the damage are met again is for tests with real payloads: there
       are payloads that look like headers, all the way to the end. */
    return 0;
}
