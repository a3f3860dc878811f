/* SPDX-License-Identifier: BSD-2-Clause */
/* A configuration, control fields and a hart's log through the encoder, and its bytes through the
   reader: every packet is one.  Three texts, each ended by a zero but the last. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/hart.h>

/* Branches, calls, returns, traps, compressed and not. */
static const uint8_t code[] = {
    0x13, 0x00, 0x00, 0x00, 0x63, 0x04, 0x05, 0x00, 0x01, 0x00, 0x01, 0x00, 0x73, 0x00,
    0x00, 0x00, 0xef, 0x00, 0x80, 0x00, 0x6f, 0x00, 0x00, 0x01, 0x17, 0x03, 0x00, 0x00,
    0x67, 0x00, 0x83, 0x00, 0x67, 0x80, 0x00, 0x00, 0x73, 0x00, 0x20, 0x30, 0x82, 0x80,
    0x67, 0x00, 0x03, 0x00, 0xe7, 0x00, 0x03, 0x00, 0x01, 0x00, 0x63, 0x04, 0x05, 0xfe,
};

struct out {
    uint8_t bytes[2][1 << 16];
    size_t size[2];
};

static void keep(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    struct out *out = context;
    const size_t room = sizeof out->bytes[0] - out->size[stream];

    if (size > room)
        size = room;
    memcpy(out->bytes[stream] + out->size[stream], bytes, size);
    out->size[stream] += size;
}

/* The next text; the last one goes to the end. */
static char *take_text(const uint8_t **data, size_t *size, bool is_last)
{
    const uint8_t *zero = is_last ? NULL : memchr(*data, 0, *size);
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

/* "name=value" lines. */
static void set_fields(struct tw_etrace_unit *unit, char *text)
{
    while (*text) {
        char *end = strchr(text, '\n'), *equals;

        if (end)
            *end = 0;
        equals = strchr(text, '=');
        if (equals) {
            *equals = 0;
            (void)!tw_etrace_unit_write_field(unit, text, strtoull(equals + 1, NULL, 0));
        }
        if (!end)
            return;
        text = end + 1;
    }
}

static void read_back(const struct out *out, const struct tw_etrace_config *config)
{
    struct tw_etrace_reader *codec;

    /* with two streams or blocks of memory the options of one are not known to the other */
    if (out->size[0] == sizeof out->bytes[0] || out->size[1] ||
        tw_etrace_reader_new(&codec, config, NULL, NULL) != TW_OK)
        return;
    for (size_t at = 0; at < out->size[0];) {
        struct tw_etrace_packet packet;

        if (tw_etrace_read(codec, &packet, out->bytes[0] + at, out->size[0] - at, true) !=
                TW_OK ||
            packet.base.type == TW_ETRACE_BAD || packet.base.type == TW_ETRACE_INCOMPLETE)
            abort();
        at += packet.base.size;
    }
    tw_etrace_reader_free(codec);
}

static bool make_config(struct tw_etrace_config *config, const char *text)
{
    struct tw_fault fault;

    tw_etrace_config_init(config, TW_ETRACE_LAYOUT_NONE);
    if (tw_etrace_config_read(config, text, &fault) != TW_OK)
        return false;
    tw_etrace_config_init(config, config->layout ? (enum tw_etrace_layout)config->layout
                                                 : TW_ETRACE_LAYOUT_V2);
    return tw_etrace_config_read(config, text, &fault) == TW_OK;
}

static void run(const struct tw_etrace_config *config, char *fields, const uint8_t *log,
                size_t size)
{
    static struct out out;
    const struct tw_region region = { .size = sizeof region,
                                      .address = 0x1000,
                                      .length = sizeof code };
    const struct tw_etrace_unit_config choices = {
        .size = sizeof choices,
        .trace = config,
        .write = keep,
        .write_context = &out,
        .fifo_size = config->comparators & 4 ? 100 : 0,
        .literal_returns = config->filters & 4,
        .always_index = config->impdef_width & 2,
        .resync_anywhere = config->impdef_width & 4,
    };
    struct tw_hart_options options = { .size = sizeof options, .trace = config };
    struct tw_fault fault;
    struct tw_etrace_unit *unit;
    struct tw_hart *hart;

    out.size[0] = out.size[1] = 0;
    if (tw_etrace_unit_new(&unit, &choices, &fault) != TW_OK)
        return;
    if (tw_image_new(&options.image, NULL, NULL) != TW_OK ||
        tw_image_add(options.image, &region, code) != TW_OK)
        abort();
    set_fields(unit, fields);
    if (tw_hart_open_memory(&hart, log, size, &options, &fault) == TW_OK)
        (void)!tw_hart_run(hart, unit, &fault);
    (void)!tw_etrace_unit_write_field(unit, "dEnable", 0);
    (void)!tw_etrace_unit_write_field(unit, "iEnable", 0);
    tw_etrace_unit_flush(unit);
    read_back(&out, config);
    tw_hart_free(hart);
    tw_etrace_unit_free(unit);
    tw_image_free(options.image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_etrace_config config;
    char *text, *fields;

    if (size == 0)
        return 0;
    text = take_text(&data, &size, false);
    fields = take_text(&data, &size, false);
    if (make_config(&config, text))
        run(&config, fields, data, size);
    free(fields);
    free(text);
    return 0;
}
