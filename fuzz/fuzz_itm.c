/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM from any bytes: packets take each byte once, good ones give their bytes again; elements do not
   depend on how the bytes are cut; what is encoded from packets decodes to the same elements; batches of
   packets are what single reads give. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "itm/packet.h"
#include "kept.h"

enum { ROOM = TW_SWTRACE_MOST + 2, ROOM_MOST = 16, SLACK = 64, SIZE_MOST = 4096 };

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static uint64_t mix(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * 0x9e3779b97f4a7c15 + (sum >> 29);
}

static uint64_t mix_element(uint64_t sum, const struct tw_element *element)
{
    sum = mix(sum, element->index);
    sum = mix(sum, element->type | (uint64_t)element->flags << 8 |
                       (uint64_t)element->kind << 16 | (uint64_t)element->size << 24);
    return mix(mix(mix(sum, element->source), element->payload), element->sw_time);
}

/* A reader that has read nothing. */
static const struct tw_itm_reader *start(const struct tw_itm_config *config)
{
    static struct kept kept;

    return kept_made(&kept, tw_itm.reader_init, sizeof(struct tw_itm_reader), config,
                     sizeof *config);
}

/* All elements of the bytes as one number. */
static uint64_t decode(const void *config, const uint8_t *data, size_t size, size_t piece)
{
    static struct tw_itm_decoder decoder;
    static struct kept kept;
    struct tw_element elements[ROOM];
    struct tw_batch batch = { .elements = elements, .room = ROOM };
    struct tw_output out = { .batch = &batch };
    uint8_t *buffered = malloc(size + SLACK);
    uint64_t sum = 0;
    size_t at = 0, fed = 0;
    enum tw_status status;

    require(buffered != NULL);
    memcpy(&decoder,
           kept_made(&kept, tw_itm.decoder_init, sizeof decoder, config,
                     sizeof(struct tw_itm_config)),
           sizeof decoder);
    do {
        struct tw_input in = { .data = buffered, .offset = at };

        fed = piece < size - fed ? fed + piece : size;
        in.size = fed - at;
        in.is_last = fed == size;
        if (in.size)
            memcpy(buffered, data + at, in.size);
        memset(buffered + in.size, 0xa5, SLACK);
        do {
            batch.count = 0;
            status = tw_itm.decode(&decoder, NULL, &out, &in);
            for (size_t i = 0; i < batch.count; i++)
                sum = mix_element(sum, &elements[i]);
        } while (status == TW_OK);
        require(status == TW_MORE && in.size - in.used <= tw_itm.packet_max);
        at += in.used;
    } while (fed < size);
    require(at == size);
    do {
        batch.count = 0;
        status = tw_itm.end(&decoder, NULL, &out);
        for (size_t i = 0; i < batch.count; i++)
            if (elements[i].type != TW_ELEMENT_EO_TRACE)
                sum = mix_element(sum, &elements[i]);
    } while (status == TW_OK);
    require(status == TW_END);
    free(buffered);
    return sum;
}

/* Reads all packets; writes the good ones to `out`.  Returns the bytes written. */
static size_t recode(uint8_t *out, size_t room, const void *config, const uint8_t *data,
                     size_t size, bool *is_whole)
{
    struct tw_itm_reader reader;
    size_t written = 0;

    *is_whole = true;
    reader = *start(config);
    for (size_t at = 0; at < size;) {
        struct tw_itm_packet packet;
        char chars[300];
        struct tw_text text = tw_text_in(chars, sizeof chars);
        uint8_t bytes[TW_ITM_PACKET_MAX];
        size_t count = sizeof bytes;

        require(tw_itm.read(&reader, &packet, data + at, size - at, true) == TW_OK);
        require(packet.base.size > 0 && packet.base.size <= size - at);
        tw_protocol_print(&text, &tw_itm, &packet);
        tw_text_clear(&text);
        tw_protocol_json(&text, &tw_itm, &packet);
        if (!tw_kind_is_understood(tw_type_kind(&tw_itm, packet.base.type))) {
            require(tw_itm.write(NULL, bytes, &count, &packet) == TW_E_ARGUMENT);
            *is_whole = false;
        } else {
            require(tw_itm.write(NULL, bytes, &count, &packet) == TW_OK);
            require(count == packet.base.size && count <= room - written);
            /* Bits of global timestamps that mean nothing are written as zeros. */
            if (packet.base.type != TW_ITM_PACKET_GTS_2)
                require(memcmp(bytes, data + at, count) == 0);
            memcpy(out + written, bytes, count);
            written += count;
        }
        at += packet.base.size;
    }
    return written;
}

static bool is_same(const struct tw_itm_packet *a, const struct tw_itm_packet *b)
{
    return a->base.index == b->base.index && a->base.offset == b->base.offset &&
           a->base.size == b->base.size && a->base.type == b->base.type &&
           a->base.id == b->base.id && a->base.skip_bits == b->base.skip_bits &&
           a->base.spare_bits == b->base.spare_bits && a->value == b->value &&
           a->size == b->size && a->source == b->source && a->bits == b->bits &&
           a->freq_change == b->freq_change && a->wrap == b->wrap;
}

/* Packets in batches of `room`, with `piece` more bytes each time, and beside them one by one. */
static void compare_batches(const struct tw_itm_config *config, const uint8_t *data,
                            size_t size, size_t room, size_t piece)
{
    static struct tw_itm_reader many, single, careful;
    struct tw_itm_packet batch[ROOM_MOST], one;
    size_t at = 0;

    many = *start(config);
    single = careful = many;
    for (size_t fed = 0; fed < size;) {
        size_t count, used;

        fed = piece < size - fed ? fed + piece : size;
        do {
            count = tw_itm_read_batch(&many, batch, room, &used, data + at, fed - at);
            require(count <= room && used <= fed - at);
            used += at;
            for (size_t i = 0; i < count; i++) {
                require(tw_itm_read(&single, &one, data + at, fed - at, false) == TW_OK &&
                        is_same(&one, &batch[i]));
                require(tw_itm_read_any(&careful, &one, data + at, fed - at, false) == TW_OK &&
                        is_same(&one, &batch[i]));
                at += one.base.size;
            }
            require(used == at);
        } while (count == room);
        require(tw_itm_read_any(&careful, &one, data + at, fed - at, false) == TW_MORE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t choice = size ? data[0] : 0;
    const struct tw_itm_config config = { .size = sizeof config,
                                          .tcr = (uint32_t)(choice & 0x30) << 4,
                                          .on_error = (uint8_t)((choice & 3) % 3),
                                          .assume_sync = choice & 4,
                                          .is_framed = choice & 8 };
    static uint8_t again[SIZE_MOST];
    uint64_t whole;
    unsigned part;
    size_t written;
    bool is_whole;

    if (size < 2 || size > SIZE_MOST)
        return 0;
    data++;
    size--;
    part = data[size - 1];
    whole = decode(&config, data, size, size);
    if (goes_through(0, 3, part))
        require(decode(&config, data, size, 1) == whole);
    if (goes_through(1, 3, part))
        require(decode(&config, data, size, 1 + choice % 13) == whole);
    if (goes_through(2, 3, part))
        compare_batches(&config, data, size, 1 + choice % ROOM_MOST, size);
    if (goes_through(1, 3, part))
        compare_batches(&config, data, size, 1 + choice % 5, 1 + choice % 41);
    if (!goes_through(2, 3, part))
        return 0;
    written = recode(again, sizeof again, &config, data, size, &is_whole);
    if (!is_whole)
        return 0;
    require(written == size);
    /* Who looks for a beginning goes by all bits, those too that mean nothing in a packet and are written as zeros. */
    if (!config.assume_sync || memcmp(again, data, size) == 0)
        require(decode(&config, again, written, written) == whole);
    return 0;
}
