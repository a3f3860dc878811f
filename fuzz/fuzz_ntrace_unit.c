/* SPDX-License-Identifier: BSD-2-Clause */
/* A configuration, control fields and blocks through the N-Trace encoder, and its bytes through the
   reader: every message is one.  Two texts, each ended by a zero, then blocks of eight bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/ntrace_unit.h>

enum { BLOCK = 8 };

struct out {
    uint8_t bytes[1 << 17];
    size_t size;
};

static void keep(void *context, const uint8_t *bytes, size_t size)
{
    struct out *out = context;
    const size_t room = sizeof out->bytes - out->size;

    if (size > room)
        size = room;
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

static char *take_text(const uint8_t **data, size_t *size)
{
    const uint8_t *zero = memchr(*data, 0, *size);
    const size_t length = zero ? (size_t)(zero - *data) : *size;
    char *text = malloc(length + 1);

    if (!text)
        abort();
    memcpy(text, *data, length);
    text[length] = 0;
    *data += zero ? length + 1 : length;
    *size -= zero ? length + 1 : length;
    return text;
}

/* "name=value" lines; a number instead of a name is a register's offset. */
static void set_fields(struct tw_ntrace_unit *unit, char *text)
{
    while (*text) {
        char *end = strchr(text, '\n'), *equals;

        if (end)
            *end = 0;
        equals = strchr(text, '=');
        if (equals) {
            const uint64_t value = strtoull(equals + 1, NULL, 0);

            *equals = 0;
            if (*text >= '0' && *text <= '9')
                tw_ntrace_unit_write(unit, (uint32_t)strtoul(text, NULL, 0), (uint32_t)value);
            else
                (void)!tw_ntrace_unit_write_field(unit, text, value);
        }
        if (!end)
            return;
        text = end + 1;
    }
}

static void read_back(const struct out *out, const struct tw_ntrace_config *config)
{
    struct tw_ntrace_reader *reader;

    if (out->size == sizeof out->bytes ||
        tw_ntrace_reader_new(&reader, config, NULL, NULL) != TW_OK)
        return;
    for (size_t at = 0; at < out->size;) {
        struct tw_ntrace_packet packet;

        if (tw_ntrace_read(reader, &packet, out->bytes + at, out->size - at, true) != TW_OK ||
            packet.base.type >= TW_NTRACE_VENDOR)
            abort();
        at += packet.base.size;
    }
    tw_ntrace_reader_free(reader);
}

static void retire(struct tw_ntrace_unit *unit, const uint8_t *data)
{
    const struct tw_etrace_block block = {
        .iaddr = 2 * (uint64_t)(data[0] | data[1] << 8),
        .iretire = data[2] | (uint32_t)(data[3] & 0xf0) << 12,
        .itype = data[3] & 0xf,
        .ilastsize = data[4] & 1,
        .sijump = data[4] & 2,
        .trigger = data[4] >> 2 & 15,
        .priv = data[5] & 7,
        .context = data[5] >> 3,
        .time = data[6] | (uint64_t)data[7] << 8,
        .cause = data[6] & 31,
    };

    if (data[7] == 0xff)
        tw_ntrace_unit_halted(unit, data[6] & 1);
    if (data[7] == 0xfe)
        tw_ntrace_unit_reset(unit, data[6] & 1);
    if (data[7] == 0xfd)
        tw_ntrace_unit_asleep(unit, data[6] & 1);
    (void)!tw_ntrace_unit_retire(unit, &block, 1);
}

static void run(const struct tw_ntrace_config *config, char *fields, const uint8_t *data,
                size_t size)
{
    static struct out out;
    const struct tw_ntrace_unit_config choices = {
        .size = sizeof choices,
        .trace = config,
        .write = keep,
        .write_context = &out,
        .fifo_size = config->id & 1 ? 80 + config->id : 0,
        .short_messages = config->id & 2,
        .sync_when_full = config->id & 4,
        .has_hcontext = config->id & 8,
        .sparse_times = config->id & 16,
    };
    const bool has_fields = *fields; /* which are cut into lines */
    struct tw_ntrace_unit *unit;
    struct tw_fault fault;

    out.size = 0;
    if (tw_ntrace_unit_new(&unit, &choices, &fault) != TW_OK)
        return;
    set_fields(unit, fields);
    if (!strstr(fields, "trTeEnable")) {
        (void)!tw_ntrace_unit_write_field(unit, "trTeEnable", 1);
        (void)!tw_ntrace_unit_write_field(unit, "trTeInstTracing", 1);
    }
    for (; size >= BLOCK; data += BLOCK, size -= BLOCK)
        retire(unit, data);
    (void)!tw_ntrace_unit_write_field(unit, "trTeEnable", 0);
    tw_ntrace_unit_flush(unit);
    /* Fields may change what a reader has to know. */
    if (!has_fields)
        read_back(&out, config);
    tw_ntrace_unit_free(unit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_ntrace_config config;
    struct tw_fault fault;
    char *text, *fields;

    if (size == 0)
        return 0;
    text = take_text(&data, &size);
    fields = take_text(&data, &size);
    tw_ntrace_config_init(&config);
    if (tw_ntrace_config_read(&config, text, &fault) == TW_OK)
        run(&config, fields, data, size);
    free(fields);
    free(text);
    return 0;
}
