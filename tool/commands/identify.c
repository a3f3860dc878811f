/* SPDX-License-Identifier: BSD-2-Clause */
/* `trackway identify`: what files are that say nothing of themselves. */
#include <stdlib.h>
#include <string.h>

#include <trackway/identify.h>

#include "base/text.h"
#include "commands/commands.h"
#include "shared/image_option.h"
#include "shared/options.h"

static void json_protocols(struct tw_text *out, const struct tw_identity *about)
{
    const bool is_framed = about->has_framing && about->framing != TW_FRAMING_NONE;
    const char *only = about->source_count ? about->sources[0].protocol : NULL;
    bool is_first = true;

    for (size_t i = 1; i < about->source_count; i++)
        if (!only || !about->sources[i].protocol ||
            strcmp(only, about->sources[i].protocol) != 0)
            only = NULL;
    tw_json_key(out, "protocol");
    if (only || !is_framed || !about->source_count) {
        if (only)
            tw_text_format(out, "\"%s\"", only);
        else
            tw_text_add(out, "null");
        return;
    }
    tw_text_char(out, '{');
    for (size_t i = 0; i < about->source_count; i++) {
        const struct tw_identified_source *source = &about->sources[i];

        if (!source->protocol)
            continue;
        tw_text_format(out, "%s\"0x%x\":\"%s\"", is_first ? "" : ",", source->id,
                       source->protocol);
        is_first = false;
    }
    tw_text_char(out, '}');
}

/* "NAME=VALUE,NAME=VALUE" as members. */
static void json_settings(struct tw_text *out, const char *config)
{
    tw_text_char(out, '{');
    for (bool is_first = true; config && *config; is_first = false) {
        const size_t size = strcspn(config, ",");
        const size_t name = strcspn(config, "=");

        tw_text_format(out, "%s\"%.*s\":\"%.*s\"", is_first ? "" : ",", (int)name, config,
                       (int)(size > name ? size - name - 1 : 0), config + name + 1);
        config += size + (config[size] == ',');
    }
    tw_text_char(out, '}');
}

static void json_config(struct tw_text *out, const struct tw_identity *about)
{
    const char *only = about->source_count ? about->sources[0].config : NULL;
    bool is_first = true;

    for (size_t i = 1; i < about->source_count; i++)
        if (!only || !about->sources[i].config || strcmp(only, about->sources[i].config) != 0)
            only = NULL;
    tw_json_key(out, "config");
    if (only || !about->source_count) {
        json_settings(out, only);
        return;
    }
    tw_text_char(out, '{');
    for (size_t i = 0; i < about->source_count; i++) {
        if (!about->sources[i].config)
            continue;
        tw_text_format(out, "%s\"0x%x\":", is_first ? "" : ",", about->sources[i].id);
        json_settings(out, about->sources[i].config);
        is_first = false;
    }
    tw_text_char(out, '}');
}

static void json_or_null(struct tw_text *out, const char *key, const char *value)
{
    if (value) {
        tw_json_text(out, key, value);
        return;
    }
    tw_json_key(out, key);
    tw_text_add(out, "null");
}

static void print_json(struct output *to, const char *path, const struct tw_identity *about)
{
    struct tw_text out = { .chars = NULL };
    const bool is_perf = about->format && strcmp(about->format, "perf.data") == 0;
    bool is_first = true;

    tw_text_char(&out, '{');
    tw_json_text(&out, "file", path);
    json_or_null(&out, "framing",
                 is_perf              ? "perf.data"
                 : about->has_framing ? tw_framing_name(about->framing)
                                      : NULL);
    json_protocols(&out, about);
    tw_json_key(&out, "ids");
    tw_text_char(&out, '[');
    for (size_t i = 0; i < about->source_count; i++)
        if (about->sources[i].id) {
            tw_text_format(&out, "%s%u", is_first ? "" : ",", about->sources[i].id);
            is_first = false;
        }
    tw_text_char(&out, ']');
    json_config(&out, about);
    tw_json_key(&out, "confidence");
    tw_text_format(&out, "%.3f", about->confidence);
    tw_json_key(&out, "evidence");
    tw_text_char(&out, '[');
    for (size_t i = 0; i < about->evidence_count; i++) {
        struct tw_text one = { .chars = NULL };

        /* As a member, whose value is what is wanted. */
        tw_text_char(&one, '{');
        tw_json_text(&one, "", about->evidence[i]);
        tw_text_format(&out, "%s%s", i ? "," : "", one.chars ? one.chars + 4 : "\"\"");
        tw_text_free(&one);
    }
    tw_text_char(&out, ']');
    json_or_null(&out, "command", about->command);
    json_or_null(&out, "format", about->format);
    tw_json_text(&out, "what", about->what);
    if (about->container)
        tw_json_text(&out, "container", about->container);
    if (about->swap)
        tw_json_u64(&out, "swap", about->swap);
    if (about->skip)
        tw_json_u64(&out, "offset", about->skip);
    if (about->has_wrapped)
        tw_json_u64(&out, "wrapped_at", about->wrapped_at);
    tw_text_add(&out, "}\n");
    output_text(to, out.chars);
    tw_text_free(&out);
}

static const char *certainty(double confidence)
{
    return confidence >= TW_IDENTITY_CERTAIN ? "certain"
           : confidence >= 0.7               ? "likely"
           : confidence >= 0.3               ? "perhaps"
                                             : "hardly more than a guess";
}

static void print_text(struct output *to, const char *path, const struct tw_identity *about)
{
    output_format(to, "%s: %s%s%s", path, about->container ? about->container : "",
                  about->container ? ": " : "", about->what ? about->what : "not known");
    if (about->confidence > 0)
        output_format(to, " (%s: %.2f)", certainty(about->confidence), about->confidence);
    output_text(to, "\n");
    for (size_t i = 0; i < about->source_count; i++) {
        const struct tw_identified_source *source = &about->sources[i];

        if (about->has_framing && about->framing != TW_FRAMING_NONE)
            output_format(to, "  ID 0x%02x: %s", source->id,
                          source->protocol ? source->protocol : "no protocol fits");
        else
            output_format(to, "  %s", source->protocol ? source->protocol : "no protocol fits");
        if (source->config && *source->config)
            output_format(to, "  %s", source->config);
        output_text(to, "\n");
    }
    for (size_t i = 0; i < about->evidence_count; i++)
        output_format(to, "  because: %s\n", about->evidence[i]);
    if (about->command)
        output_format(to, "  open it: %s\n", about->command);
}

static int identify_one(struct output *out, const struct options *options, const char *path,
                        struct tw_image *image)
{
    const struct tw_identify_options how = { .size = sizeof how, .image = image };
    struct tw_identified *identified;
    struct tw_fault fault = { TW_OK, "" };

    if (tw_identify(&identified, path, &how, &fault) != TW_OK) {
        if (fault.status == TW_E_MEMORY)
            out_of_memory();
        say("%s", fault.text);
        return NOT_DONE;
    }
    if (options_format_is(options, "json") || options_format_is(options, "jsonl"))
        print_json(out, path, tw_identified_about(identified));
    else
        print_text(out, path, tw_identified_about(identified));
    tw_identified_free(identified);
    return DONE;
}

/* --image: all of them make one memory. */
static bool open_image(struct tw_image **image, const struct options *options)
{
    struct tw_fault fault = { TW_OK, "" };

    *image = NULL;
    if (!options->images.count)
        return true;
    if (tw_image_new(image, NULL, &fault) != TW_OK) {
        say("%s", fault.text);
        return false;
    }
    for (size_t i = 0; i < options->images.count; i++) {
        struct tw_capture_image_option option;
        char *text = strdup(options->images.items[i]);
        bool is_good = text && image_parse(options, "--image", &option, text);

        if (is_good) {
            const struct tw_region region = { .size = sizeof region,
                                              .address = option.address,
                                              .spaces = option.spaces };

            is_good = tw_image_add_any(*image, &region, option.path) == TW_OK;
            if (!is_good)
                say("%s", tw_image_fault(*image));
        }
        free(text);
        if (!is_good)
            return false;
    }
    return true;
}

static int run(const struct options *options)
{
    struct tw_image *image;
    struct output out;
    int status = DONE;

    if (!open_image(&image, options)) {
        tw_image_free(image);
        return NOT_DONE;
    }
    if (!output_open(&out, options->output, options->color)) {
        tw_image_free(image);
        return NOT_DONE;
    }
    for (size_t i = 0; i < options->arguments.count; i++) {
        const int one = identify_one(&out, options, options->arguments.items[i], image);

        status = one > status ? one : status;
    }
    tw_image_free(image);
    return output_close(&out, true) ? status : NOT_DONE;
}

static const uint8_t taken[] = { O_IMAGE, O_FORMAT, O_OUTPUT, O_COLOR, O_HELP, O_END };

const struct command command_identify = {
    .name = "identify",
    .arguments = "FILE...",
    .summary = "what a file is, and the command that opens it",
    .details =
        "Tells what files are that say nothing of themselves: trace of which protocol,\n"
        "in which frames, of which trace IDs, and the settings that change how it is\n"
        "read, found by trying on samples; or what else they are. Each answer comes with\n"
        "its evidence and how sure it is: from 0.95 on every command opens the file by\n"
        "it without being told. With --image settings are found too that only show when\n"
        "the program is followed.\n"
        "\n"
        "examples:\n"
        "  trackway identify dump.bin\n"
        "  trackway identify --image prog.elf trace.bin\n"
        "  trackway identify --format json *.bin\n",
    .formats = "text|json|jsonl",
    .options = taken,
    .least = 1,
    .most = 65535,
    .run = run,
};
