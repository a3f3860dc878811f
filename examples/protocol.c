/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace protocol of one's own, from bytes to elements: "blip", the trace of a made-up bus monitor.
     5a a5         synchronization
     57 AA DD      DD was written to address AA (two bytes, little-endian) ... 52 AA DD: read
     54 TT         TT ticks have gone by
     4e NN VV      the monitor's own note NN with value VV
   All else is bad: the reader waits for synchronization then. */
#include <stdio.h>

#include <trackway/protocol.h>

enum blip_type { NOT_SYNC, BAD, SYNC, WRITE, READ, TICKS, NOTE, TYPES };

static const char *const names[TYPES] = { "NOTSYNC", "BAD",   "SYNC", "WRITE",
                                          "READ",    "TICKS", "NOTE" };

struct blip_packet {
    struct tw_packet base; /* comes first in every packet */
    unsigned address, value;
};

struct blip_reader {
    bool is_synced;
};

struct blip_decoder {
    uint64_t time;
};

static enum tw_status blip_read(void *reader, void *packet, const uint8_t *data, size_t size,
                                bool is_last)
{
    static const struct {
        uint8_t first, type, size;
    } rows[] = { { 0x5a, SYNC, 2 },
                 { 0x57, WRITE, 4 },
                 { 0x52, READ, 4 },
                 { 0x54, TICKS, 2 },
                 { 0x4e, NOTE, 3 } };
    struct blip_reader *state = reader;
    struct blip_packet *to = packet;

    to->base.size = 1;
    if (!state->is_synced && data[0] != 0x5a)
        return TW_OK; /* its type is NOT_SYNC, which is 0 */
    to->base.type = BAD;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (data[0] != rows[i].first)
            continue;
        if (size < rows[i].size && !is_last)
            return TW_MORE;
        if (size < rows[i].size)
            to->base.size = (uint32_t)size; /* the trace ends inside it */
        if (size < rows[i].size || (rows[i].type == SYNC && data[1] != 0xa5))
            break;
        to->base.type = rows[i].type;
        to->base.size = rows[i].size;
        to->value = data[rows[i].size - 1];
        to->address = rows[i].size > 2 ? data[1] : 0;
        if (rows[i].size == 4)
            to->address |= (unsigned)data[2] << 8;
    }
    state->is_synced = to->base.type != BAD;
    return TW_OK;
}

static void blip_lost(void *reader)
{
    ((struct blip_reader *)reader)->is_synced = false;
}

static const char *blip_name(unsigned type)
{
    return type < TYPES ? names[type] : "UNKNOWN";
}

static enum tw_packet_kind blip_kind(unsigned type)
{
    return type == BAD        ? TW_PACKET_BAD
           : type == NOT_SYNC ? TW_PACKET_NOT_SYNC
           : type == TICKS    ? TW_PACKET_TIME
                              : TW_PACKET_DATA;
}

static void blip_decode(void *decoder, struct tw_emitter *out, const void *packet)
{
    struct blip_decoder *state = decoder;
    const struct blip_packet *from = packet;
    struct tw_element *element;

    if (from->base.type == WRITE || from->base.type == READ) {
        element = tw_emit(out, TW_ELEMENT_BUS_TRANSFER);
        element->kind = from->base.type == WRITE ? TW_DATA_STORE : TW_DATA_LOAD;
        element->flags = TW_DATA_HAS_ADDRESS | TW_DATA_HAS_VALUE;
        element->size = 1;
        element->data_address = from->address;
        element->data_value = from->value;
    } else if (from->base.type == TICKS) {
        state->time += from->value;
        tw_emit(out, TW_ELEMENT_TIMESTAMP)->timestamp = state->time;
    } else if (from->base.type == NOTE) {
        element = tw_emit(out, TW_ELEMENT_CUSTOM);
        element->number = from->address;
        element->value = from->value;
    }
}

int main(void)
{
    static const uint8_t trace[] = { 0x00, 0x5a, 0xa5, 0x57, 0x10, 0x20, 0x99, 0x54, 0x07,
                                     0x77, 0x01, 0x02, 0x5a, 0xa5, 0x52, 0x10, 0x20, 0x99,
                                     0x54, 0x03, 0x4e, 0x05, 0x2a, 0x57, 0x11 };
    const struct tw_custom_protocol blip = { .size = sizeof blip,
                                             .name = "blip",
                                             .reader_size = sizeof(struct blip_reader),
                                             .decoder_size = sizeof(struct blip_decoder),
                                             .packet_size = sizeof(struct blip_packet),
                                             .packet_max = 4,
                                             .read = blip_read,
                                             .reader_lost = blip_lost,
                                             .type_name = blip_name,
                                             .type_kind = blip_kind,
                                             .decode = blip_decode };
    const struct tw_tree_config config = { .size = sizeof config };
    const struct tw_tree_source source = { .size = sizeof source, .protocol = "blip", .id = 1 };
    struct tw_tree *tree;
    struct tw_batch batch = { .size = sizeof batch };
    char line[512];

    if (tw_tree_new(&tree, &config, NULL) != TW_OK ||
        tw_tree_add_protocol(tree, &blip) != TW_OK ||
        tw_tree_add_source(tree, NULL, &source) != TW_OK ||
        tw_tree_feed(tree, trace, sizeof trace) != TW_OK || tw_tree_finish(tree) != TW_OK)
        return 3;
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            (void)tw_element_text(line, sizeof line, &batch.elements[i], batch.id);
            puts(line);
        }
    tw_tree_free(tree);
    return 0;
}
