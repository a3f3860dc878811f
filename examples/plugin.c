/* SPDX-License-Identifier: BSD-2-Clause */
/* A plug-in for the tool: "lap", the trace of a made-up A64 core that counts how often it goes round.
     47 AAAA       the program is at address AAAA (four bytes, little-endian): synchronization
     54, 4e        the next branch was taken, or not
     52 NN         the next branch was taken, and NN more times (two bytes, little-endian)
   cc -shared -fPIC -o lap.so plugin.c; trackway decode FILE --plugin lap.so --protocol lap --image ... */
#include <trackway/plugin.h>

enum { NOT_SYNC, BAD, GO, TAKEN, NOT_TAKEN, ROUND, TYPES };

static const char *const names[TYPES] = {
    "NOTSYNC", "BAD", "GO", "TAKEN", "NOT_TAKEN", "ROUND"
};
static const enum tw_packet_kind kinds[TYPES] = { TW_PACKET_NOT_SYNC, TW_PACKET_BAD,
                                                  TW_PACKET_SYNC,     TW_PACKET_FLOW,
                                                  TW_PACKET_FLOW,     TW_PACKET_FLOW };

struct lap_packet {
    struct tw_packet base;
    uint32_t value;
};

static enum tw_status lap_read(void *reader, void *packet, const uint8_t *data, size_t size,
                               bool is_last)
{
    const uint8_t type = data[0] == 0x47   ? GO
                         : data[0] == 0x54 ? TAKEN
                         : data[0] == 0x4e ? NOT_TAKEN
                         : data[0] == 0x52 ? ROUND
                                           : BAD;
    const uint32_t length = type == GO ? 5 : type == ROUND ? 3 : 1;
    struct lap_packet *to = packet;
    bool *is_synced = reader;

    to->base.size = 1;
    if (!*is_synced && type != GO)
        return TW_OK; /* its type is NOT_SYNC, which is 0 */
    if (size < length && !is_last)
        return TW_MORE;
    to->base.type = size < length ? BAD : type;
    to->base.size = size < length ? (uint32_t)size : length;
    for (uint32_t i = 1; i < to->base.size; i++)
        to->value |= (uint32_t)data[i] << 8 * (i - 1);
    *is_synced = to->base.type != BAD;
    return TW_OK;
}

static void lap_lost(void *reader)
{
    *(bool *)reader = false;
}

static const char *lap_name(unsigned type)
{
    return type < TYPES ? names[type] : "?";
}

static enum tw_packet_kind lap_kind(unsigned type)
{
    return type < TYPES ? kinds[type] : TW_PACKET_OTHER;
}

static void lap_decode(void *decoder, struct tw_emitter *out, const void *packet)
{
    const struct lap_packet *from = packet;

    (void)decoder; /* the library knows where the program is */
    if (from->base.type == GO)
        tw_flow_go(out, from->value, TW_ISA_A64);
    else
        tw_flow_atoms(out, from->base.type != NOT_TAKEN, 1);
    if (from->base.type == ROUND) {
        struct tw_element *repeat = tw_emit(out, TW_ELEMENT_REPEAT);

        repeat->count = 1; /* the range that has just been emitted */
        repeat->times = from->value;
    }
}

static const struct tw_custom_protocol lap = {
    .size = sizeof lap,
    .name = "lap",
    .title = "laps of a made-up core",
    .reader_size = sizeof(bool),
    .packet_size = sizeof(struct lap_packet),
    .packet_max = 5,
    .follows = true,
    .read = lap_read,
    .reader_lost = lap_lost,
    .type_name = lap_name,
    .type_kind = lap_kind,
    .decode = lap_decode,
};

static const struct tw_custom_protocol *const protocols[] = { &lap };

const struct tw_plugin *trackway_plugin(void)
{
    static const struct tw_plugin plugin = { .size = sizeof plugin,
                                             .interface = TW_PLUGIN_INTERFACE,
                                             .name = "lap 1.0",
                                             .protocols = protocols,
                                             .protocol_count = 1 };

    return &plugin;
}
