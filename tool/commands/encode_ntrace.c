/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway encode: the N-Trace encoder. */
#include <stdlib.h>
#include <string.h>

#include "commands/encode_riscv.h"

enum { TEXT = 4096 };

struct ntrace {
    struct tw_ntrace_config config;
    struct tw_ntrace_unit_config choices;
    struct tw_ntrace_unit *unit;
    struct encode_bytes bytes;
    bool has_tracing; /* --unit says when tracing begins */
    char text[TEXT];
};

static void keep(void *context, const uint8_t *bytes, size_t size)
{
    encode_keep(&((struct ntrace *)context)->bytes, bytes, size);
}

static bool read_config(struct encoding *encoding, struct ntrace *ntrace)
{
    const char *given = encoding->options->config;
    const bool is_file = given && !strchr(given, '=');
    const char *text = is_file ? encode_read_text(encoding, given) : given;
    struct tw_fault fault = { TW_OK, "" };

    if (is_file && !text)
        return false;
    tw_ntrace_config_init(&ntrace->config);
    if (text && tw_ntrace_config_read(&ntrace->config, text, &fault) != TW_OK) {
        say("encode: %s: %s", is_file ? given : "--config", fault.text);
        return false;
    }
    if (ntrace->config.dialect == TW_NTRACE_AUTO)
        ntrace->config.dialect = TW_NTRACE_1_0;
    if (!ntrace->config.mode)
        ntrace->config.mode = TW_NTRACE_MODE_HTM;
    if (!ntrace->config.id)
        ntrace->config.id = 1;
    return true;
}

/* What is chosen when the unit is made; NULL: it is a field. */
static bool *choice_of(struct ntrace *ntrace, const char *name)
{
    struct tw_ntrace_unit_config *choices = &ntrace->choices;

    return strcmp(name, "short-messages") == 0   ? &choices->short_messages
           : strcmp(name, "sync-when-full") == 0 ? &choices->sync_when_full
           : strcmp(name, "hcontext") == 0       ? &choices->has_hcontext
           : strcmp(name, "sparse-times") == 0   ? &choices->sparse_times
                                                 : NULL;
}

static bool set_choice(struct encoding *encoding, const char *name, uint64_t value)
{
    struct ntrace *ntrace = encoding->unit;
    bool *flag = choice_of(ntrace, name);

    if (strcmp(name, "fifo") == 0 && value <= UINT32_MAX)
        ntrace->choices.fifo_size = (uint32_t)value;
    else if (strcmp(name, "cycles-per-byte") == 0 && value <= UINT32_MAX)
        ntrace->choices.cycles_per_byte = (uint32_t)value;
    else if (flag)
        *flag = value != 0;
    return true; /* the others are fields, once there is a unit */
}

static bool set_field(struct encoding *encoding, const char *name, uint64_t value)
{
    struct ntrace *ntrace = encoding->unit;

    if (strcmp(name, "fifo") == 0 || strcmp(name, "cycles-per-byte") == 0 ||
        choice_of(ntrace, name))
        return true;
    if (strcmp(name, "trTeInstTracing") == 0)
        ntrace->has_tracing = true;
    if (tw_ntrace_unit_write_field(ntrace->unit, name, value) == TW_OK)
        return true;
    say("encode: --unit: %s", tw_ntrace_unit_fault(ntrace->unit));
    return false;
}

static bool begin(struct encoding *encoding)
{
    struct ntrace *ntrace = arena_room(&encoding->arena, sizeof *ntrace);
    struct tw_fault fault = { TW_OK, "" };

    encoding->unit = ntrace;
    if (!ntrace || !read_config(encoding, ntrace))
        return false;
    ntrace->choices = (struct tw_ntrace_unit_config){ .size = sizeof ntrace->choices,
                                                      .trace = &ntrace->config,
                                                      .write = keep,
                                                      .write_context = ntrace };
    if (!encode_settings(encoding, encoding->options->unit, set_choice))
        return false;
    if (tw_ntrace_unit_new(&ntrace->unit, &ntrace->choices, &fault) != TW_OK) {
        say("encode: %s", fault.text);
        return false;
    }
    if (!encode_settings(encoding, encoding->options->unit, set_field) ||
        !set_field(encoding, "trTeEnable", 1))
        return false;
    return ntrace->has_tracing || set_field(encoding, "trTeInstTracing", 1);
}

static bool run(struct encoding *encoding)
{
    const char *path = encoding->options->arguments.items[0];
    struct ntrace *ntrace = encoding->unit;
    struct tw_hart_options options = { .size = sizeof options,
                                       .ntrace = &ntrace->config,
                                       .image = encoding->image,
                                       .repeats_most = encoding->options->log_repeats.value };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_hart *hart = NULL;
    bool is_good = encode_note_log(encoding, path);

    if (is_good && (tw_hart_open(&hart, path, &options, &fault) != TW_OK ||
                    tw_hart_run_ntrace(hart, ntrace->unit, &fault) != TW_OK)) {
        encode_say_log(path, &fault);
        is_good = false;
    }
    if (is_good)
        encoding->instructions = tw_hart_instructions(hart);
    tw_hart_free(hart);
    return is_good;
}

/* What a decoder has to know of the fields that --unit set. */
static void note_fields(struct ntrace *ntrace)
{
    struct tw_ntrace_config *config = &ntrace->config;
    uint64_t value;

    if (tw_ntrace_unit_read_field(ntrace->unit, "trTeSrcBits", &value) == TW_OK)
        config->src_bits = (uint8_t)value;
    if (tw_ntrace_unit_read_field(ntrace->unit, "trTeSrcID", &value) == TW_OK)
        config->src = (uint16_t)(value & ((1u << config->src_bits) - 1));
    if (tw_ntrace_unit_read_field(ntrace->unit, "trTeInhibitSrc", &value) == TW_OK)
        config->inhibit_src = value;
    if (tw_ntrace_unit_read_field(ntrace->unit, "trTeInstExtendAddrMSB", &value) == TW_OK)
        config->extend_addr = value;
    if (tw_ntrace_unit_read_field(ntrace->unit, "trTeInstEnAllJumps", &value) == TW_OK)
        config->all_jumps = value;
}

static bool end(struct encoding *encoding)
{
    struct ntrace *ntrace = encoding->unit;

    if (!set_field(encoding, "trTeEnable", 0))
        return false;
    tw_ntrace_unit_flush(ntrace->unit);
    if (ntrace->bytes.is_out_of_memory) {
        say("encode: no memory");
        return false;
    }
    note_fields(ntrace);
    (void)tw_ntrace_config_text(ntrace->text, sizeof ntrace->text, &ntrace->config);
    encoding->device = "NTRACE_0";
    encoding->device_type = "NTRACE1.0";
    encoding->core_type = ntrace->config.xlen == 32 ? "RV32" : "RV64";
    encoding->text = ntrace->text;
    encoding->id = ntrace->config.id;
    encoding->bytes = ntrace->bytes.bytes;
    encoding->size = ntrace->bytes.size;
    encoding->registers[0] =
        (struct tw_register){ .name = "TRACEID", .value = ntrace->config.id };
    encoding->register_count = 1;
    return true;
}

static void free_unit(struct encoding *encoding)
{
    struct ntrace *ntrace = encoding->unit;

    if (!ntrace)
        return;
    tw_ntrace_unit_free(ntrace->unit);
    free(ntrace->bytes.bytes);
}

const struct encoder encoder_ntrace = { .protocol = "ntrace",
                                        .takes_riscv = true,
                                        .begin = begin,
                                        .run = run,
                                        .end = end,
                                        .free = free_unit };
