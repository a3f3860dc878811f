/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace packets from any bytes under any configuration: every byte comes out once; a good packet
   written again reads as the same packet; the way the bytes are cut does not matter; batches are what
   single reads give. */
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "etrace/packet.h"
#include "etrace_config.h"

enum { ROOM_MOST = 16 };

static void describe(char *line, size_t room, const struct tw_etrace_packet *packet)
{
    struct tw_text text = tw_text_in(line, room);

    tw_protocol_print(&text, &tw_etrace, packet);
    require(!text.failed);
}

/* The jump target cache, by far the largest part, only as far as it is used. */
static void copy_codec(struct tw_etrace_reader *copy, const struct tw_etrace_reader *codec)
{
    memcpy(copy, codec, offsetof(struct tw_etrace_reader, cache));
    memcpy(copy->cache, codec->cache, sizeof codec->cache[0] << codec->shape.index);
    copy->transport.context = copy;
}

/* What was read, written, gives a packet that says the same. */
static void check_packet(const struct tw_etrace_reader *reader,
                         const struct tw_etrace_packet *packet)
{
    static struct tw_etrace_reader copy;
    struct tw_etrace_packet again;
    uint8_t out[64];
    size_t size = sizeof out;
    char first[700], second[700];

    copy_codec(&copy, reader);
    require(tw_etrace_write(&copy, out, &size, packet) == TW_OK);
    copy_codec(&copy, reader);
    tw_etrace_transport_reset(&copy.transport);
    copy.transport.is_synced = true;
    require(tw_etrace_read(&copy, &again, out, size, true) == TW_OK);
    require(again.base.size == size && size <= packet->base.size);
    describe(first, sizeof first, packet);
    describe(second, sizeof second, &again);
    require(strcmp(first, second) == 0);
}

/* All packets, given in pieces of `piece` bytes more each time; a hash of what they say. */
static uint64_t read_all(const struct tw_etrace_config *config, const uint8_t *data,
                         size_t size, size_t piece)
{
    static struct tw_etrace_reader codec, before;
    uint64_t hash = 14695981039346656037u;
    size_t at = 0, seen = 0, hunted = 0;

    tw_etrace_reader_init(&codec, config);
    while (at < size) {
        struct tw_etrace_packet packet;
        char line[700];
        enum tw_status status;

        if (seen < size && seen < at + piece)
            seen = at + piece < size ? at + piece : size;
        copy_codec(&before, &codec);
        status = tw_etrace_read(&codec, &packet, data + at, seen - at, seen == size);
        if (status == TW_MORE) {
            require(seen < size);
            seen = seen + piece < size ? seen + piece : size;
            continue;
        }
        require(status == TW_OK && packet.base.size >= 1 && packet.base.size <= seen - at);
        at += packet.base.size;
        if (packet.base.type == TW_ETRACE_NOT_SYNC || packet.base.type == TW_ETRACE_NULL) {
            hunted += packet.base.size; /* runs may come in parts */
            continue;
        }
        if (packet.base.type <= TW_ETRACE_CSR && !codec.transport.block_size)
            check_packet(&before, &packet);
        describe(line, sizeof line, &packet);
        for (const char *c = line; *c; c++)
            hash = (hash ^ (uint8_t)*c) * 1099511628211u;
        hash = (hash ^ at) * 1099511628211u;
    }
    require(at == size);
    return hash ^ hunted;
}

/* Packets in batches of `room`, with `piece` more bytes each time, and beside them one by one. */
static void compare_batches(const struct tw_etrace_config *config, const uint8_t *data,
                            size_t size, size_t room, size_t piece)
{
    static struct tw_etrace_reader many, single, careful;
    struct tw_etrace_packet batch[ROOM_MOST], one;
    size_t at = 0;

    tw_etrace_reader_init(&many, config);
    tw_etrace_reader_init(&single, config);
    tw_etrace_reader_init(&careful, config);
    for (size_t fed = 0; fed < size;) {
        size_t count, used;

        fed = piece < size - fed ? fed + piece : size;
        do {
            count = tw_etrace_read_batch(&many, batch, room, &used, data + at, fed - at);
            require(count <= room && used <= fed - at);
            used += at;
            for (size_t i = 0; i < count; i++) {
                require(tw_etrace_read(&single, &one, data + at, fed - at, false) == TW_OK &&
                        memcmp(&one, &batch[i], sizeof one) == 0);
                require(tw_etrace_read_any(&careful, &one, data + at, fed - at, false) ==
                            TW_OK &&
                        memcmp(&one, &batch[i], sizeof one) == 0);
                at += one.base.size;
            }
            require(used == at);
        } while (count == room);
        require(tw_etrace_read_any(&careful, &one, data + at, fed - at, false) == TW_MORE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_etrace_config config;
    uint64_t whole;

    if (size < ETRACE_CONFIG_BYTES)
        return 0;
    config = etrace_config(data);
    data += ETRACE_CONFIG_BYTES;
    size -= ETRACE_CONFIG_BYTES;
    whole = read_all(&config, data, size, size + 1);
    compare_batches(&config, data, size, 1 + size % ROOM_MOST, size);
    compare_batches(&config, data, size, 1 + size % 5, 100);
    if (size < 512) {
        require(read_all(&config, data, size, 1) == whole);
        require(read_all(&config, data, size, 37) == whole);
    }
    return 0;
}
