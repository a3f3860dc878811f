/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway encode: an execution log through the model of a trace unit into a snapshot. */
#include "commands/encode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "shared/arena.h"
#include "shared/folder.h"
#include "shared/image_option.h"
#include "shared/option_text.h"
#include "shared/settings.h"

enum { PROTOCOLS = 32, TEXT_MOST = 1 << 20 };

/* What --unit or --config says. */
struct values {
    struct tw_register *items;
    size_t count;
};

struct encoding {
    const struct options *options;
    struct arena arena;
    struct tw_image *image;
    struct values choices, registers;
    char *parameters; /* --config of RISC-V encoders */
};

static bool has_protocol(const struct options *options)
{
    const char *names[PROTOCOLS];
    const char *nearest;
    size_t count = 0;

    if (!options->protocol) {
        (void)options_wrong(options, "which protocol? give --protocol, such as ete");
        return false;
    }
    while (count < PROTOCOLS && (names[count] = tw_unit_protocol(count))) {
        if (strcmp(options->protocol, names[count]) == 0)
            return true;
        count++;
    }
    nearest = nearest_name(options->protocol, names, count);
    (void)options_wrong(options, "--protocol: \"%s\" cannot be encoded; %s%s%s",
                        options->protocol, nearest ? "did you mean \"" : "there is ",
                        nearest ? nearest : names[0], nearest ? "\"?" : ", for one");
    return false;
}

/* ---- settings ---- */

static bool values_of(struct encoding *encoding, struct values *values, const char *given)
{
    struct settings settings = { NULL, 0 };

    if (!settings_read(&settings, &encoding->arena, "encode", given))
        return false;
    if (settings.count)
        values->items = arena_room(&encoding->arena, settings.count * sizeof *values->items);
    for (size_t i = 0; values->items && i < settings.count; i++) {
        const struct setting *setting = &settings.items[i];
        struct tw_register *value = &values->items[values->count++];

        value->name = setting->name;
        if (!parse_number(&value->value, setting->value)) {
            say("encode: %s%s has a value that is no number", setting->where, setting->name);
            return false;
        }
    }
    return values->count == settings.count;
}

/* The text of --config, or of the file that it names. */
static bool read_parameters(struct encoding *encoding)
{
    const char *given = encoding->options->config;
    FILE *file;
    size_t size;

    if (!given)
        return true;
    if (strchr(given, '=')) {
        encoding->parameters = arena_copy(&encoding->arena, given);
        return encoding->parameters;
    }
    file = fopen(given, "rb");
    encoding->parameters = file ? arena_room(&encoding->arena, TEXT_MOST + 1) : NULL;
    size = encoding->parameters ? fread(encoding->parameters, 1, TEXT_MOST, file) : 0;
    if (!file || !encoding->parameters || ferror(file) || size == TEXT_MOST) {
        say("encode: cannot read %s: %s", given,
            size == TEXT_MOST ? "too large" : strerror(errno));
        encoding->parameters = NULL;
    }
    if (file)
        (void)fclose(file);
    return encoding->parameters;
}

/* ---- the program and the snapshot ---- */

struct tw_image *encode_open_image(const struct options *options)
{
    const struct list *files = &options->elfs;
    struct tw_image *image = NULL;
    bool is_good = tw_image_new(&image, NULL, NULL) == TW_OK;

    if (!is_good)
        say("%s: no memory", options->command->name);
    for (size_t i = 0; is_good && i < files->count; i++) {
        char *text = strdup(files->items[i]);
        struct tw_capture_image_option option;
        struct tw_region region = { .size = sizeof region };

        is_good = text && image_parse(options, "--elf", &option, text);
        if (is_good) {
            region.address = option.address;
            region.spaces = option.spaces;
            is_good = tw_image_add_any(image, &region, option.path) == TW_OK;
            if (!is_good)
                say("%s: %s", options->command->name, tw_image_fault(image));
        }
        free(text);
    }
    if (!is_good) {
        tw_image_free(image);
        return NULL;
    }
    return image;
}

bool encode_write(struct tw_unit *unit, const struct options *options, const char *folder)
{
    struct tw_snapshot snapshot = { .size = sizeof snapshot,
                                    .description = options->description,
                                    .overwrite = options->force };
    const bool is_framed = options->framing && strcmp(options->framing, "memory") == 0;
    struct tw_fault fault = { TW_OK, "" };

    if (tw_unit_snapshot(unit, &snapshot, is_framed) != TW_OK) {
        say("%s: %s", options->command->name, tw_unit_fault(unit));
        return false;
    }
    if (folder_snapshot(folder, &snapshot, &fault) == TW_OK)
        return true;
    say("%s: %s", options->command->name, fault.text);
    return false;
}

static bool new_unit(struct encoding *encoding, struct tw_unit **unit)
{
    const struct options *options = encoding->options;
    const bool is_file = options->config && !strchr(options->config, '=');
    const struct tw_unit_config config = {
        .size = sizeof config,
        .protocol = options->protocol,
        .preset = options->preset,
        .first = options->range.first,
        .last = options->range.end - 1,
        .registers = encoding->registers.items,
        .register_count = encoding->registers.count,
        .parameters = encoding->parameters,
        .choices = encoding->choices.items,
        .choice_count = encoding->choices.count,
        .registers_name =
            is_file && tw_unit_is_riscv(options->protocol) ? options->config : "--config",
        .choices_name = "--unit",
        .image = encoding->image,
        .repeats_most = options->log_repeats.value,
    };
    struct tw_fault fault = { TW_OK, "" };

    if (tw_unit_new(unit, &config, &fault) == TW_OK)
        return true;
    say("encode: %s", fault.text);
    return false;
}

static int encode(struct encoding *encoding)
{
    const struct options *options = encoding->options;
    struct tw_unit *unit = NULL;
    bool is_good = (encoding->image = encode_open_image(options)) &&
                   values_of(encoding, &encoding->choices, options->unit) &&
                   (tw_unit_is_riscv(options->protocol)
                        ? read_parameters(encoding)
                        : values_of(encoding, &encoding->registers, options->config)) &&
                   new_unit(encoding, &unit);

    if (is_good && (tw_unit_log(unit, options->arguments.items[0]) != TW_OK ||
                    tw_unit_finish(unit) != TW_OK)) {
        say("encode: %s", tw_unit_fault(unit));
        is_good = false;
    }
    is_good = is_good && encode_write(unit, options, options->output);
    if (is_good && options->verbose)
        say("encode: %" PRIu64 " instructions in %zu bytes of trace",
            tw_unit_trace(unit)->instructions,
            tw_unit_trace(unit)->size + tw_unit_trace(unit)->data_size);
    tw_unit_free(unit);
    tw_image_free(encoding->image);
    arena_free(&encoding->arena);
    return is_good ? DONE : NOT_DONE;
}

static int run(const struct options *options)
{
    struct encoding encoding = { .options = options };

    if (!has_protocol(options))
        return BAD_USAGE;
    if (!options->output) {
        (void)options_wrong(options, "where to? give --output FOLDER");
        return BAD_USAGE;
    }
    if (options->framing &&
        !is_choice("none|memory", options->framing, strlen(options->framing))) {
        (void)options_wrong(options, "--framing: a snapshot holds none or memory");
        return BAD_USAGE;
    }
    if (options->preset && !(tw_unit_presets(options->protocol) &&
                             is_choice(tw_unit_presets(options->protocol), options->preset,
                                       strlen(options->preset)))) {
        (void)options_wrong(options, "--preset %s is not for %s", options->preset,
                            options->protocol);
        return BAD_USAGE;
    }
    if (options->preset &&
        is_choice("exclude|include", options->preset, strlen(options->preset)) &&
        !options->range.is_given) {
        (void)options_wrong(options, "--preset %s wants --range FIRST-END", options->preset);
        return BAD_USAGE;
    }
    return encode(&encoding);
}

static const uint8_t takes[] = {
    O_PROTOCOL, O_ELF,         O_CONFIG, O_PRESET, O_RANGE,   O_UNIT, O_LOG_REPEATS,
    O_FRAMING,  O_DESCRIPTION, O_FORCE,  O_OUTPUT, O_VERBOSE, O_HELP, O_END,
};

const struct command command_encode = {
    .name = "encode",
    .arguments = "LOG --protocol NAME --output FOLDER [OPTION...]",
    .summary = "an execution log into the trace that a trace unit makes of it",
    .details =
        "LOG is an execution log: an exlog file or a text log (docs/formats.md), either of\n"
        "them compressed with gzip or not.  The snapshot that is written holds the trace,\n"
        "the unit's registers and the program's memory.\n"
        "examples:\n"
        "  trackway encode --protocol ete run.exlog.gz --elf run.elf -o snap\n"
        "  trackway decode snap\n"
        "Registers are those of the trace unit (TRCCONFIGR, TRCVICTLR ...) and TRFCR_ELx;\n"
        "without --preset everything is traced, with return stack, time and identifiers.\n"
        "For etrace and ntrace, LOG may also be what a hart reports, as CSV, or addresses;\n"
        "--config has the encoder's parameters, --unit its control fields (iFilters,\n"
        "filter0.comp1 ...; ntrace: trTeInstSyncMode, trTeFilter0Control ...), --preset\n"
        "the form of a known encoder:\n"
        "  trackway encode --protocol etrace run.csv --elf a --config core.scf -o snap\n"
        "  trackway encode --protocol ntrace run.csv --elf a --config mode=btm -o snap",
    .options = takes,
    .least = 1,
    .most = 1,
    .run = run,
};
