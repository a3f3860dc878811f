/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: messages out of a stream, one or many at a time. */
#include "ntrace/packet.h"

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

enum { AHEAD = 16 }; /* bytes that tw_ntrace_parse_short may look at */

void tw_ntrace_reader_reset(struct tw_ntrace_reader *codec)
{
    codec->is_lost = codec->config.starts_inside;
    codec->offset = 0;
}

void tw_ntrace_reader_lost(struct tw_ntrace_reader *codec)
{
    codec->is_lost = !codec->config.comes_apart;
}

void tw_ntrace_reader_init(struct tw_ntrace_reader *codec,
                           const struct tw_ntrace_config *config)
{
    if (config != &codec->config)
        codec->config = *config;
    tw_ntrace_shape_init(&codec->shape, config);
    tw_ntrace_tcodes(codec->tcodes);
    tw_ntrace_reader_reset(codec);
}

enum tw_status tw_ntrace_reader_new(struct tw_ntrace_reader **reader,
                                    const struct tw_ntrace_config *config,
                                    const struct tw_allocator *allocator,
                                    struct tw_fault *fault)
{
    struct tw_ntrace_config copy;

    *reader = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_ntrace_config", fault));
    TW_TRY(tw_ntrace_config_check(&copy, fault));
    *reader = tw_take(allocator, sizeof **reader);
    if (!*reader)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a reader");
    tw_ntrace_reader_init(*reader, &copy);
    (*reader)->allocator = allocator;
    return TW_OK;
}

void tw_ntrace_reader_free(struct tw_ntrace_reader *reader)
{
    if (reader)
        tw_give(reader->allocator, reader);
}

TW_INLINE bool is_end(uint8_t byte)
{
    return (byte & 3) == TW_NTRACE_MSEO_END;
}

size_t tw_ntrace_idle(const uint8_t *data, size_t size)
{
    size_t at = 0;

    while (at < size && is_end(data[at]))
        at++;
    return at;
}

/* Bytes up to the end of a message, that included; 0: it is not there. */
static size_t find_end(const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size; at++)
        if (is_end(data[at]))
            return at + 1;
    return 0;
}

TW_INLINE void place(struct tw_ntrace_reader *codec, struct tw_ntrace_packet *packet)
{
    packet->base.index = packet->base.offset = codec->offset;
    packet->base.id = codec->config.id;
    codec->offset += packet->base.size;
}

/* A packet that is no message. */
static void set_other(struct tw_ntrace_packet *packet, uint8_t type, size_t size)
{
    memset(packet, 0, sizeof *packet);
    packet->base.type = type;
    packet->base.size = (uint32_t)size;
}

/* Idle bytes are one packet, but not endless ones. */
static bool read_idle(struct tw_ntrace_packet *packet, const uint8_t *data, size_t size,
                      bool is_last)
{
    const size_t most = size < TW_NTRACE_PACKET_MAX ? size : TW_NTRACE_PACKET_MAX;
    const size_t run = tw_ntrace_idle(data, most);

    if (run == size && size < TW_NTRACE_PACKET_MAX && !is_last)
        return false; /* it may go on */
    set_other(packet, TW_NTRACE_IDLE, run);
    for (size_t i = 0; i < run; i++)
        if (data[i] != 0xff)
            packet->odd = TW_NTRACE_ODD_IDLE;
    return true;
}

static enum tw_status read_message(struct tw_ntrace_reader *codec,
                                   struct tw_ntrace_packet *packet, const uint8_t *data,
                                   size_t size, bool is_last)
{
    const size_t most = size < TW_NTRACE_PACKET_MAX ? size : TW_NTRACE_PACKET_MAX;
    const size_t found = find_end(data, most);

    if (found) {
        tw_ntrace_parse(&codec->shape, packet, data, found);
        return TW_OK;
    }
    if (size >= TW_NTRACE_PACKET_MAX) {
        set_other(packet, TW_NTRACE_BAD, most);
        packet->fault = TW_NTRACE_FAULT_LONG;
        packet->error = TW_ERROR_BAD_SEQUENCE;
        packet->tcode = data[0] >> 2;
        codec->is_lost = true;
        return TW_OK;
    }
    if (!is_last)
        return TW_MORE;
    set_other(packet, TW_NTRACE_INCOMPLETE, size);
    packet->error = TW_ERROR_TRUNCATED;
    packet->tcode = data[0] >> 2;
    return TW_OK;
}

enum tw_status tw_ntrace_read_any(struct tw_ntrace_reader *codec,
                                  struct tw_ntrace_packet *packet, const uint8_t *data,
                                  size_t size, bool is_last)
{
    enum tw_status status = TW_OK;

    if (size == 0)
        return TW_MORE;
    if (codec->is_lost) {
        const size_t found = find_end(data, size);

        codec->is_lost = !found;
        set_other(packet, TW_NTRACE_NOT_SYNC, found ? found : size);
    } else if (!is_end(data[0])) {
        status = read_message(codec, packet, data, size, is_last);
    } else if (!read_idle(packet, data, size, is_last)) {
        status = TW_MORE;
    }
    if (status == TW_OK)
        place(codec, packet);
    return status;
}

/* A message of the usual kind, with AHEAD bytes to look at. */
TW_INLINE bool read_usual(struct tw_ntrace_reader *codec, struct tw_ntrace_packet *packet,
                          const uint8_t *data)
{
    if (!tw_ntrace_parse_direct(&codec->shape, packet, data) &&
        !tw_ntrace_parse_short(&codec->shape, packet, data))
        return false;
    place(codec, packet);
    return true;
}

enum tw_status tw_ntrace_read(struct tw_ntrace_reader *codec, struct tw_ntrace_packet *packet,
                              const uint8_t *data, size_t size, bool is_last)
{
    if (TW_LIKELY(size >= AHEAD && !codec->is_lost) && read_usual(codec, packet, data))
        return TW_OK;
    return tw_ntrace_read_any(codec, packet, data, size, is_last);
}

/* Damage inside a message whose SRC could be read is that source's own. */
static bool has_source(const struct tw_ntrace_packet *packet)
{
    return (packet->has & TW_NTRACE_HAS_SRC) && packet->base.type != TW_NTRACE_INCOMPLETE;
}

enum tw_status tw_ntrace_route(void *reader, struct tw_route *route, void *packet,
                               const uint8_t *data, size_t size, bool is_last)
{
    struct tw_ntrace_packet read;

    if (tw_ntrace_read(reader, &read, data, size, is_last) != TW_OK)
        return TW_MORE;
    *route = (struct tw_route){ .size = read.base.size, .src = TW_NO_SRC };
    if (has_source(&read)) {
        route->src = read.src;
        return TW_OK;
    }
    route->error = read.error;
    route->is_hunt = read.base.type == TW_NTRACE_NOT_SYNC;
    if (packet)
        *(struct tw_ntrace_packet *)packet = read;
    return TW_OK;
}

size_t tw_ntrace_read_batch(struct tw_ntrace_reader *codec, struct tw_ntrace_packet *packets,
                            size_t room, size_t *used, const uint8_t *data, size_t size)
{
    struct tw_ntrace_packet *packet = packets, *const end = packets + room;
    const uint8_t *at = data, *const last = size >= AHEAD ? data + size - AHEAD : data;

    for (;;) {
        while (packet != end && at < last && !codec->is_lost && read_usual(codec, packet, at)) {
            at += packet->base.size;
            packet++;
        }
        if (packet == end ||
            tw_ntrace_read_any(codec, packet, at, size - (size_t)(at - data), false) != TW_OK)
            break;
        at += packet->base.size;
        packet++;
    }
    *used = (size_t)(at - data);
    return (size_t)(packet - packets);
}
