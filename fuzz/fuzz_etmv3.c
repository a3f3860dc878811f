/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as ETMV3 trace: read one by one and in batches, printed, written again,
   decoded.  The first eight bytes are the configuration and how the rest comes in pieces. */
#include "armv7.h"
#include "kept.h"

#include "etmv3/packet.h"
#include "etmv3/test_same.h"

enum { HEAD = 8, ROOM = 7 };

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

/* A reader that has read nothing. */
static const struct tw_etmv3_reader *start(const struct tw_etmv3_config *config)
{
    static struct kept kept;

    return kept_made(&kept, tw_etmv3.reader_init, sizeof(struct tw_etmv3_reader), config,
                     sizeof *config);
}

/* Each packet, in text and back in bytes. */
static void list(const struct tw_etmv3_config *config, const uint8_t *data, size_t size)
{
    struct tw_etmv3_reader reader, before;
    struct tw_etmv3_packet packet;
    uint8_t again[64];
    char line[600];

    reader = *start(config);
    for (size_t at = 0; at < size; at += packet.base.size) {
        struct tw_text text = tw_text_in(line, sizeof line);
        size_t room = sizeof again;

        before = reader;
        if (tw_etmv3_read(&reader, &packet, data + at, size - at, true) != TW_OK ||
            packet.base.size == 0 || packet.base.size > size - at)
            abort();
        tw_protocol_print(&text, &tw_etmv3, &packet);
        tw_protocol_json(&text, &tw_etmv3, &packet);
        if (tw_etmv3_type_is_bad(packet.base.type) || packet.base.type == TW_ETMV3_NOT_SYNC ||
            packet.has_reserved)
            continue;
        if (tw_etmv3_write(&before, again, &room, &packet) != TW_OK ||
            (room == packet.base.size && memcmp(again, data + at, room) != 0))
            abort();
    }
}

/* In batches the packets are the same, whatever the pieces. */
static void list_batches(const struct tw_etmv3_config *config, const uint8_t *data, size_t size,
                         size_t piece)
{
    struct tw_etmv3_reader many, one;
    size_t at = 0, end = 0;

    many = one = *start(config);
    while (end < size) {
        struct tw_etmv3_packet batch[ROOM], packet;
        size_t count, used, next;

        end = size - end < piece ? size : end + piece;
        do {
            count = tw_etmv3_read_batch(&many, batch, ROOM, &used, data + at, end - at);
            next = at + used;
            for (size_t i = 0; i < count; i++, at += packet.base.size) {
                if (tw_etmv3_read(&one, &packet, data + at, end - at, false) != TW_OK)
                    abort();
                if (!tw_etmv3_is_same(&packet, &batch[i]))
                    abort();
            }
            if (at != next)
                abort();
        } while (count == ROOM);
        if (tw_etmv3_read(&one, &packet, data + at, end - at, false) != TW_MORE)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_etmv3_config config = { .size = sizeof config };
    struct tw_register registers[3] = { { "ETMCR", 0 }, { "ETMIDR", 0 }, { "ETMCCER", 0 } };

    if (size < HEAD)
        return 0;
    config.etmcr = word(data);
    config.etmidr =
        0x4100f200u | (uint32_t)(data[4] & 0x7) << 4 | (uint32_t)(data[6] & 0x1f) << 16;
    config.etmccer = (uint32_t)data[5] << 24;
    config.profile = data[4] & 0x80 ? TW_PROFILE_M : TW_PROFILE_R;
    registers[0].value = config.etmcr;
    registers[1].value = config.etmidr;
    registers[2].value = config.etmccer;
    if (goes_through(0, 3, data[7]))
        list(&config, data + HEAD, size - HEAD);
    if (goes_through(1, 3, data[7]))
        list_batches(&config, data + HEAD, size - HEAD, data[7] * 4 + 1u);
    if (goes_through(2, 3, data[7]))
        decode_all("etmv3", data[4] & 0x80 ? "Cortex-M3" : "Cortex-R5", registers, 3,
                   data + HEAD, size - HEAD, data[7] + 1u);
    return 0;
}
