/* SPDX-License-Identifier: BSD-2-Clause */
/* STM from any bytes: packets take each byte once, good ones give their bytes again; elements do not
   depend on how the bytes are cut; what is encoded from packets decodes to the same elements; batches of
   packets are what single reads give. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kept.h"
#include "stm/packet.h"

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
static const struct tw_stm_reader *start(const struct tw_stm_config *config)
{
    static struct kept kept;

    return kept_made(&kept, tw_stm.reader_init, sizeof(struct tw_stm_reader), config,
                     sizeof *config);
}

/* All elements of the bytes as one number. */
static uint64_t decode(const void *config, const uint8_t *data, size_t size, size_t piece)
{
    static struct tw_stm_decoder decoder;
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
           kept_made(&kept, tw_stm.decoder_init, sizeof decoder, config,
                     sizeof(struct tw_stm_config)),
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
            status = tw_stm.decode(&decoder, NULL, &out, &in);
            for (size_t i = 0; i < batch.count; i++)
                sum = mix_element(sum, &elements[i]);
        } while (status == TW_OK);
        require(status == TW_MORE && in.size - in.used <= tw_stm.packet_max);
        at += in.used;
    } while (fed < size);
    require(at == size);
    do {
        batch.count = 0;
        status = tw_stm.end(&decoder, NULL, &out);
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
    struct tw_stm_reader writer = { .version = 0 };
    struct tw_stm_reader reader;
    size_t written = 0, left, nibble = 0;

    *is_whole = true;
    reader = *start(config);
    for (size_t at = 0; at < size;) {
        struct tw_stm_packet packet;
        char chars[300];
        struct tw_text text = tw_text_in(chars, sizeof chars);

        require(tw_stm.read(&reader, &packet, data + at, size - at, true) == TW_OK);
        require(packet.nibbles > 0 && packet.base.size <= size - at);
        require(nibble == 2 * at + packet.base.skip_bits / 4);
        tw_protocol_print(&text, &tw_stm, &packet);
        tw_text_clear(&text);
        tw_protocol_json(&text, &tw_stm, &packet);
        left = room - written;
        if (!tw_kind_is_understood(tw_type_kind(&tw_stm, packet.base.type))) {
            require(tw_stm.write(&writer, out + written, &left, &packet) == TW_E_ARGUMENT);
            *is_whole = false;
        } else {
            require(tw_stm.write(&writer, out + written, &left, &packet) == TW_OK);
            written += left;
        }
        nibble += packet.nibbles;
        at += packet.base.size - (packet.base.spare_bits != 0);
    }
    require(nibble == 2 * size);
    left = room - written;
    require(tw_stm_write_flush(&writer, out + written, &left) == TW_OK);
    return written + left;
}

static bool is_same(const struct tw_stm_packet *a, const struct tw_stm_packet *b)
{
    return a->base.index == b->base.index && a->base.offset == b->base.offset &&
           a->base.size == b->base.size && a->base.type == b->base.type &&
           a->base.id == b->base.id && a->base.skip_bits == b->base.skip_bits &&
           a->base.spare_bits == b->base.spare_bits && a->value == b->value &&
           a->timestamp == b->timestamp && a->nibbles == b->nibbles && a->master == b->master &&
           a->channel == b->channel && a->timestamp_bits == b->timestamp_bits &&
           a->has_timestamp == b->has_timestamp && a->error == b->error;
}

/* Packets in batches of `room`, with `piece` more bytes each time, and beside them one by one. */
static void compare_batches(const struct tw_stm_config *config, const uint8_t *data,
                            size_t size, size_t room, size_t piece)
{
    static struct tw_stm_reader many, single, careful;
    struct tw_stm_packet batch[ROOM_MOST], one;
    size_t at = 0;

    many = *start(config);
    single = careful = many;
    for (size_t fed = 0; fed < size;) {
        size_t count, used;

        fed = piece < size - fed ? fed + piece : size;
        do {
            count = tw_stm_read_batch(&many, batch, room, &used, data + at, fed - at);
            require(count <= room && used <= fed - at);
            used += at;
            for (size_t i = 0; i < count; i++) {
                require(tw_stm_read(&single, &one, data + at, fed - at, false) == TW_OK &&
                        is_same(&one, &batch[i]));
                require(tw_stm_read_any(&careful, &one, data + at, fed - at, false) == TW_OK &&
                        is_same(&one, &batch[i]));
                at += one.base.size - (one.base.spare_bits != 0);
            }
            require(used == at);
        } while (count == room);
        require(tw_stm_read_any(&careful, &one, data + at, fed - at, false) == TW_MORE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t choice = size ? data[0] : 0;
    const struct tw_stm_config config = { .size = sizeof config, .tcsr = choice };
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
        require(decode(&config, data, size, 1 + choice % 37) == whole);
    if (goes_through(2, 3, part))
        compare_batches(&config, data, size, 1 + choice % ROOM_MOST, size);
    if (goes_through(1, 3, part))
        compare_batches(&config, data, size, 1 + choice % 5, 1 + choice % 41);
    if (!goes_through(2, 3, part))
        return 0;
    written = recode(again, sizeof again, &config, data, size, &is_whole);
    if (is_whole)
        require(written == size && memcmp(again, data, size) == 0);
    else /* good packets alone, without what was damaged, are a good stream */
        (void)decode(&config, again, written, written);
    return 0;
}
