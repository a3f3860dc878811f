/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace messages from any bytes under any configuration: every byte comes out once; a good message
   written again reads as the same message; the way the bytes are cut does not matter; batches are what
   single reads give; and so are routes to the sources that share a stream. */
#include <string.h>

#include "base/text.h"
#include "ntrace/packet.h"
#include "ntrace_config.h"

enum { ROOM_MOST = 16 };

static void describe(char *line, size_t room, const struct tw_ntrace_packet *packet)
{
    struct tw_text text = tw_text_in(line, room);

    tw_protocol_print(&text, &tw_ntrace, packet);
    require(!text.failed);
}

/* What was read, written, gives a message that says the same. */
static void check_message(const struct tw_ntrace_reader *reader,
                          const struct tw_ntrace_packet *packet)
{
    struct tw_ntrace_reader copy = *reader;
    struct tw_ntrace_packet again;
    uint8_t out[80];
    size_t size = sizeof out;
    char first[600], second[600];

    require(tw_ntrace_write(&copy, out, &size, packet) == TW_OK);
    /* A field without bits gets some, and so may an address that would be extended. */
    require(size <= packet->base.size + 2);
    copy.is_lost = false;
    require(tw_ntrace_read(&copy, &again, out, size, true) == TW_OK);
    require(again.base.size == size);
    again.odd = packet->odd;
    describe(first, sizeof first, packet);
    describe(second, sizeof second, &again);
    require(strcmp(first, second) == 0);
}

/* All packets, given in pieces of `piece` bytes more each time; a hash of what they say. */
static uint64_t read_all(const struct tw_ntrace_config *config, const uint8_t *data,
                         size_t size, size_t piece)
{
    struct tw_ntrace_reader reader;
    uint64_t hash = 14695981039346656037u;
    size_t at = 0, seen = 0, hunted = 0;

    tw_ntrace_reader_init(&reader, config);
    while (at < size) {
        struct tw_ntrace_packet packet;
        char line[600];
        enum tw_status status;

        if (seen < size && seen < at + piece)
            seen = at + piece < size ? at + piece : size;
        status = tw_ntrace_read(&reader, &packet, data + at, seen - at, seen == size);
        if (status == TW_MORE) {
            require(seen < size && seen - at <= TW_NTRACE_PACKET_MAX);
            seen = seen + piece < size ? seen + piece : size;
            continue;
        }
        require(status == TW_OK && packet.base.size >= 1 && packet.base.size <= seen - at);
        require(packet.base.offset == at);
        at += packet.base.size;
        if (packet.base.type == TW_NTRACE_NOT_SYNC) {
            hunted += packet.base.size; /* runs may come in parts */
            continue;
        }
        if (packet.base.type < TW_NTRACE_VENDOR)
            check_message(&reader, &packet);
        describe(line, sizeof line, &packet);
        for (const char *c = line; *c; c++)
            hash = (hash ^ (uint8_t)*c) * 1099511628211u;
        hash = (hash ^ at) * 1099511628211u;
    }
    return hash ^ hunted;
}

/* Packets in batches of `room`, with `piece` more bytes each time, and beside them one by one, by the
   careful way, and as routes. */
static void compare_batches(const struct tw_ntrace_config *config, const uint8_t *data,
                            size_t size, size_t room, size_t piece)
{
    struct tw_ntrace_reader many, single, careful, router;
    struct tw_ntrace_packet batch[ROOM_MOST], one;
    struct tw_route route;
    size_t at = 0;

    tw_ntrace_reader_init(&many, config);
    tw_ntrace_reader_init(&single, config);
    tw_ntrace_reader_init(&careful, config);
    tw_ntrace_reader_init(&router, config);
    for (size_t fed = 0; fed < size;) {
        size_t count, used;

        fed = piece < size - fed ? fed + piece : size;
        do {
            count = tw_ntrace_read_batch(&many, batch, room, &used, data + at, fed - at);
            require(count <= room && used <= fed - at);
            used += at;
            for (size_t i = 0; i < count; i++) {
                require(tw_ntrace_read(&single, &one, data + at, fed - at, false) == TW_OK &&
                        memcmp(&one, &batch[i], sizeof one) == 0);
                require(tw_ntrace_read_any(&careful, &one, data + at, fed - at, false) ==
                            TW_OK &&
                        memcmp(&one, &batch[i], sizeof one) == 0);
                require(tw_ntrace_route(&router, &route, &one, data + at, fed - at, false) ==
                        TW_OK);
                require(route.size == batch[i].base.size);
                at += route.size;
            }
            require(used == at);
        } while (count == room);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_ntrace_config config;
    uint64_t whole;

    if (size < NTRACE_CONFIG_BYTES)
        return 0;
    config = ntrace_config(data);
    data += NTRACE_CONFIG_BYTES;
    size -= NTRACE_CONFIG_BYTES;
    whole = read_all(&config, data, size, size + 1);
    compare_batches(&config, data, size, 1 + size % ROOM_MOST, size);
    compare_batches(&config, data, size, 1 + size % 5, 100);
    if (size < 512) {
        require(read_all(&config, data, size, 1) == whole);
        require(read_all(&config, data, size, 37) == whole);
    }
    return 0;
}
