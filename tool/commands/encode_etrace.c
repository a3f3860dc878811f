/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway encode: the RISC-V trace encoder. */
#include <stdlib.h>
#include <string.h>

#include <trackway/hart.h>

#include "commands/encode_riscv.h"

enum { TEXT = 16384, STREAMS = 2 };

struct riscv {
    struct tw_etrace_config config;
    struct tw_etrace_unit_config choices;
    struct tw_etrace_unit *unit;
    struct encode_bytes bytes[STREAMS];
    bool has_enable; /* --unit says when tracing begins */
    char text[TEXT], data_text[TEXT];
};

static void keep(void *context, unsigned stream, const uint8_t *bytes, size_t size)
{
    encode_keep(&((struct riscv *)context)->bytes[stream], bytes, size);
}

/* The parameters, upon those of the preset. */
static bool read_config(struct encoding *encoding, struct riscv *riscv)
{
    const char *given = encoding->options->config, *preset = encoding->options->preset;
    const bool is_file = given && !strchr(given, '=');
    const char *text = is_file ? encode_read_text(encoding, given) : given;
    struct tw_fault fault = { TW_OK, "" };

    if (is_file && !text)
        return false;
    if (preset) {
        const size_t room = (text ? strlen(text) : 0) + strlen(preset) + sizeof "preset=\n";
        char *whole = arena_room(&encoding->arena, room);

        if (!whole)
            return false;
        (void)snprintf(whole, room, "preset=%s\n%s", preset, text ? text : "");
        text = whole;
    }
    if (tw_etrace_config_make(&riscv->config, text, TW_ETRACE_LAYOUT_NONE,
                              encode_xlen(encoding), &fault) != TW_OK) {
        say("encode: %s: %s", is_file ? given : "--config", fault.text);
        return false;
    }
    return true;
}

static bool set_choice(struct encoding *encoding, const char *name, uint64_t value)
{
    struct riscv *riscv = encoding->unit;
    struct tw_etrace_unit_config *choices = &riscv->choices;

    if (strcmp(name, "fifo") == 0 && value <= UINT32_MAX)
        choices->fifo_size = (uint32_t)value;
    else if (strcmp(name, "cycles-per-byte") == 0 && value <= UINT32_MAX)
        choices->cycles_per_byte = (uint32_t)value;
    else if (strcmp(name, "literal-returns") == 0 && value <= 1)
        choices->literal_returns = value;
    else if (strcmp(name, "always-index") == 0 && value <= 1)
        choices->always_index = value;
    else if (strcmp(name, "resync-anywhere") == 0 && value <= 1)
        choices->resync_anywhere = value;
    return true; /* the others are fields, once there is a unit */
}

static bool set_field(struct encoding *encoding, const char *name, uint64_t value)
{
    static const char *const choices[] = { "fifo", "cycles-per-byte", "literal-returns",
                                           "always-index", "resync-anywhere" };
    struct riscv *riscv = encoding->unit;

    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        if (strcmp(name, choices[i]) == 0)
            return true;
    if (strcmp(name, "iEnable") == 0 || strcmp(name, "dEnable") == 0)
        riscv->has_enable = true;
    if (tw_etrace_unit_write_field(riscv->unit, name, value) == TW_OK)
        return true;
    say("encode: --unit: %s", tw_etrace_unit_fault(riscv->unit));
    return false;
}

static bool begin(struct encoding *encoding)
{
    struct riscv *riscv = arena_room(&encoding->arena, sizeof *riscv);
    struct tw_fault fault = { TW_OK, "" };

    encoding->unit = riscv;
    if (!riscv || !read_config(encoding, riscv))
        return false;
    if (!riscv->config.id)
        riscv->config.id = 1;
    riscv->choices = (struct tw_etrace_unit_config){ .size = sizeof riscv->choices,
                                                     .trace = &riscv->config,
                                                     .write = keep,
                                                     .write_context = riscv };
    if (!encode_settings(encoding, encoding->options->unit, set_choice))
        return false;
    if (tw_etrace_unit_new(&riscv->unit, &riscv->choices, &fault) != TW_OK) {
        say("encode: %s", fault.text);
        return false;
    }
    if (!encode_settings(encoding, encoding->options->unit, set_field))
        return false;
    if (!riscv->has_enable)
        return set_field(encoding, riscv->config.is_data ? "dEnable" : "iEnable", 1);
    return true;
}

static bool run(struct encoding *encoding)
{
    const char *path = encoding->options->arguments.items[0];
    struct riscv *riscv = encoding->unit;
    struct tw_hart_options options = { .size = sizeof options,
                                       .trace = &riscv->config,
                                       .image = encoding->image,
                                       .repeats_most = encoding->options->log_repeats.value };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_hart *hart = NULL;
    bool is_good = encode_note_log(encoding, path);

    if (is_good && (tw_hart_open(&hart, path, &options, &fault) != TW_OK ||
                    tw_hart_run(hart, riscv->unit, &fault) != TW_OK)) {
        encode_say_log(path, &fault);
        is_good = false;
    }
    if (is_good)
        encoding->instructions = tw_hart_instructions(hart);
    tw_hart_free(hart);
    return is_good;
}

static bool end(struct encoding *encoding)
{
    static const char *const names[] = { "iEnable", "dEnable" };
    struct riscv *riscv = encoding->unit;
    const bool is_seed = riscv->config.layout == TW_ETRACE_LAYOUT_SEED;
    const unsigned width =
        riscv->config.xlen ? riscv->config.xlen : riscv->config.iaddress_width;
    struct tw_etrace_config data;

    for (size_t i = 0; i < 2; i++)
        if (!set_field(encoding, names[i], 0))
            return false;
    tw_etrace_unit_flush(riscv->unit);
    if (riscv->bytes[0].is_out_of_memory || riscv->bytes[1].is_out_of_memory) {
        say("encode: no memory");
        return false;
    }
    tw_etrace_unit_trace(riscv->unit, &riscv->config);
    (void)tw_etrace_config_text(riscv->text, sizeof riscv->text, &riscv->config);
    data = riscv->config;
    data.is_data = true;
    data.id++;
    (void)tw_etrace_config_text(riscv->data_text, sizeof riscv->data_text, &data);
    encoding->device = "ETRACE_0";
    encoding->device_type = is_seed ? "ETRACE1.1" : "ETRACE2.0";
    encoding->data_device_type = is_seed ? "ETRACED1.1" : "ETRACED2.0";
    encoding->core_type = width <= 32 ? "RV32" : "RV64";
    encoding->text = riscv->text;
    encoding->data_text = riscv->data_text;
    encoding->id = riscv->config.id;
    encoding->bytes = riscv->bytes[0].bytes;
    encoding->size = riscv->bytes[0].size;
    encoding->data_bytes = riscv->bytes[1].bytes;
    encoding->data_size = riscv->bytes[1].size;
    encoding->registers[0] =
        (struct tw_register){ .name = "TRACEID", .value = riscv->config.id };
    encoding->register_count = 1;
    return true;
}

static void free_unit(struct encoding *encoding)
{
    struct riscv *riscv = encoding->unit;

    if (!riscv)
        return;
    tw_etrace_unit_free(riscv->unit);
    for (unsigned i = 0; i < STREAMS; i++)
        free(riscv->bytes[i].bytes);
}

const struct encoder encoder_etrace = { .protocol = "etrace",
                                        .presets = "reference|reference-data|te_codec|siemens|"
                                                   "pulp|esp32",
                                        .takes_riscv = true,
                                        .begin = begin,
                                        .run = run,
                                        .end = end,
                                        .free = free_unit };
