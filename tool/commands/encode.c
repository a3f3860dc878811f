/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway encode: an execution log through the model of a trace unit into a snapshot. */
#include "commands/encode.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <trackway/capture.h>

#include "commands/commands.h"
#include "shared/folder.h"

/* A new kind of trace unit is one line here. */
static const struct encoder *const encoders[] = { &encoder_ete,    &encoder_etmv4, &encoder_ptm,
                                                  &encoder_etmv3,  &encoder_itm,   &encoder_stm,
                                                  &encoder_etrace, &encoder_ntrace };

enum { ENCODERS = sizeof encoders / sizeof encoders[0] };

static const struct encoder *find_encoder(const struct options *options)
{
    const char *names[ENCODERS];
    const char *nearest;

    if (!options->protocol) {
        (void)options_wrong(options, "which protocol? give --protocol, such as ete");
        return NULL;
    }
    for (size_t i = 0; i < ENCODERS; i++) {
        names[i] = encoders[i]->protocol;
        if (strcmp(options->protocol, names[i]) == 0)
            return encoders[i];
    }
    nearest = nearest_name(options->protocol, names, ENCODERS);
    (void)options_wrong(options, "--protocol: \"%s\" cannot be encoded; %s%s%s",
                        options->protocol, nearest ? "did you mean \"" : "there is ",
                        nearest ? nearest : names[0], nearest ? "\"?" : ", for one");
    return NULL;
}

/* `where` is "" or "FILE, line 3: ". */
static bool set_one(struct encoding *encoding, char *text, const char *where,
                    bool (*set)(struct encoding *encoding, const char *name, uint64_t value))
{
    char *equals = strchr(text, '=');
    uint64_t value;

    if (!equals) {
        say("encode: %s\"%s\" is not NAME=VALUE", where, text);
        return false;
    }
    *equals = 0;
    if (!parse_number(&value, text_trim(equals + 1))) {
        say("encode: %s%s has a value that is no number", where, text);
        return false;
    }
    return set(encoding, text_trim(text), value);
}

static bool settings_file(struct encoding *encoding, const char *path,
                          bool (*set)(struct encoding *encoding, const char *name,
                                      uint64_t value))
{
    FILE *file = fopen(path, "r");
    char line[512], where[600];
    unsigned number = 0;
    bool is_good = true;

    if (!file) {
        say("encode: cannot read %s: %s", path, strerror(errno));
        return false;
    }
    while (is_good && fgets(line, sizeof line, file)) {
        char *text = text_trim(line);

        (void)snprintf(where, sizeof where, "%s, line %u: ", path, ++number);
        if (*text && !strchr("#;[", *text))
            is_good = set_one(encoding, text, where, set);
    }
    if (is_good && ferror(file)) {
        say("encode: cannot read %s: %s", path, strerror(errno));
        is_good = false;
    }
    (void)fclose(file);
    return is_good;
}

bool encode_settings(struct encoding *encoding, const char *text,
                     bool (*set)(struct encoding *encoding, const char *name, uint64_t value))
{
    char *at;

    if (!text)
        return true;
    if (!strchr(text, '='))
        return settings_file(encoding, text, set);
    at = arena_copy(&encoding->arena, text);
    while (at) {
        char *next = text_comma(at);

        if (!set_one(encoding, at, "", set))
            return false;
        at = next;
    }
    return true;
}

static bool read_log(struct encoding *encoding, struct tw_log *log)
{
    struct tw_step step;
    enum tw_status status;

    if (tw_log_is_riscv(log) != encoding->encoder->takes_riscv) {
        say("encode: the log is of %s processor, which %s does not trace",
            tw_log_is_riscv(log) ? "a RISC-V" : "an Arm", encoding->encoder->protocol);
        return false;
    }
    while ((status = tw_log_next(log, &step)) == TW_OK) {
        encoding->line = tw_log_line(log);
        if (step.kind == TW_STEP_CONTEXT && step.context.security == TW_NONSECURE)
            encoding->has_nonsecure = true;
        if (step.kind == TW_STEP_INSTRUCTIONS) {
            encoding->instructions += step.count;
            if (!encode_note_code(encoding, &step))
                return false;
        }
        if (!encoding->encoder->step(encoding, &step))
            return false;
    }
    if (status != TW_END)
        say("encode: %s: %s", encoding->options->arguments.items[0], tw_log_fault(log));
    return status == TW_END;
}

static bool frame(struct encoding *encoding, struct tw_framer *framer,
                  struct tw_snapshot_buffer *buffer)
{
    if (tw_framer_write(framer, encoding->id, encoding->bytes, encoding->size) != TW_OK ||
        (encoding->data_size &&
         tw_framer_write(framer, (uint8_t)(encoding->id + 1), encoding->data_bytes,
                         encoding->data_size) != TW_OK) ||
        tw_framer_finish(framer) != TW_OK) {
        say("encode: the frames could not be made");
        return false;
    }
    buffer->format = "coresight";
    buffer->bytes = tw_framer_output(framer, &buffer->size);
    return true;
}

bool encode_write(struct encoding *encoding, const char *folder)
{
    static const char *const names[] = { "trace", "data" };
    const struct tw_register data_id = { "TRACEID", encoding->id + 1u };
    const struct tw_framer_config framing = { .size = sizeof framing,
                                              .framing = TW_FRAMING_MEMORY };
    struct tw_snapshot_buffer buffers[2] = { { .name = "trace",
                                               .format = "source_data",
                                               .bytes = encoding->bytes,
                                               .size = encoding->size },
                                             { .name = "data",
                                               .format = "source_data",
                                               .bytes = encoding->data_bytes,
                                               .size = encoding->data_size } };
    struct tw_snapshot_dump *dumps = NULL;
    struct tw_snapshot_device devices[3] = {
        { .name = "cpu_0", .class_name = "core", .type = encoding->core_type },
        { .name = encoding->device,
          .class_name = "trace_source",
          .type = encoding->device_type,
          .registers = encoding->registers,
          .register_count = encoding->register_count,
          .core = encoding->is_of_no_core ? NULL : "cpu_0",
          .buffers = names,
          .buffer_count = 1,
          .text = encoding->text },
        { .name = "ETRACED_0",
          .class_name = "trace_source",
          .type = encoding->data_device_type,
          .registers = &data_id,
          .register_count = 1,
          .core = "cpu_0",
          .buffers = names + 1,
          .buffer_count = 1,
          .text = encoding->data_text },
    };
    const bool is_framed =
        encoding->options->framing && strcmp(encoding->options->framing, "memory") == 0;
    const size_t streams = encoding->data_size ? 2 : 1;
    const struct tw_snapshot snapshot = { .size = sizeof snapshot,
                                          .description = encoding->options->description,
                                          .devices = devices,
                                          .device_count = 1 + streams,
                                          .buffers = buffers,
                                          .buffer_count = is_framed ? 1 : streams,
                                          .overwrite = encoding->options->force };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_framer *framer = NULL;
    bool is_good = encode_dumps(encoding, &dumps, &devices[0].dump_count);

    devices[0].dumps = dumps;
    if (is_good && is_framed) {
        is_good =
            tw_framer_new(&framer, &framing, NULL) == TW_OK && frame(encoding, framer, buffers);
        devices[2].buffers = names; /* all in one */
    }
    if (is_good && folder_snapshot(folder, &snapshot, &fault) != TW_OK) {
        say("%s: %s", encoding->options->command->name, fault.text);
        is_good = false;
    }
    tw_framer_free(framer);
    return is_good;
}

static int encode(struct encoding *encoding)
{
    struct tw_log_options options = { .size = sizeof options,
                                      .repeats_most = encoding->options->log_repeats.value };
    const char *path = encoding->options->arguments.items[0];
    struct tw_fault fault = { TW_OK, "" };
    struct tw_log *log = NULL;
    bool is_good = encode_open_image(encoding);

    options.image = encoding->image;
    if (is_good && !encoding->encoder->run &&
        tw_log_open(&log, path, &options, &fault) != TW_OK) {
        say("encode: %s%s%s", strncmp(fault.text, path, strlen(path)) ? path : "",
            strncmp(fault.text, path, strlen(path)) ? ": " : "", fault.text);
        is_good = false;
    }
    if (log) {
        encoding->is_m = tw_log_is_m(log);
        encoding->cpu = tw_log_cpu(log);
    }
    is_good =
        is_good && encoding->encoder->begin(encoding) &&
        (encoding->encoder->run ? encoding->encoder->run(encoding) : read_log(encoding, log)) &&
        encoding->encoder->end(encoding) && encode_write(encoding, encoding->options->output);
    if (is_good && encoding->options->verbose)
        say("encode: %" PRIu64 " instructions in %zu bytes of trace", encoding->instructions,
            encoding->size + encoding->data_size);
    encoding->encoder->free(encoding);
    tw_log_free(log);
    encode_free_memory(encoding);
    arena_free(&encoding->arena);
    return is_good ? DONE : NOT_DONE;
}

static int run(const struct options *options)
{
    struct encoding encoding = { .options = options, .encoder = find_encoder(options) };

    if (!encoding.encoder)
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
    if (options->preset &&
        !(encoding.encoder->presets &&
          is_choice(encoding.encoder->presets, options->preset, strlen(options->preset)))) {
        (void)options_wrong(options, "--preset %s is not for %s", options->preset,
                            encoding.encoder->protocol);
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
