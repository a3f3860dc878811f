/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway info of a dump of the RISC-V Trace Control Interface's registers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/control.h>

#include "commands/info.h"

enum { CONFIG_ROOM = 16384, FIELD_ROOM = 120, DUMP_MOST = 1 << 20 };

/* What is told to a decoder, as `--config` takes it; NULL: said why not. */
static char *config_of(const struct tw_control *control, struct tw_fault *fault)
{
    char *text = malloc(CONFIG_ROOM);
    size_t size = CONFIG_ROOM;

    if (text && tw_control_config(control, text, &size, fault) == TW_OK)
        return text;
    free(text);
    return NULL;
}

static void print_component(struct output *out, const struct tw_control *control, size_t number,
                            bool is_verbose)
{
    struct tw_control_component about = { .size = sizeof about };
    char line[FIELD_ROOM];

    if (tw_control_component(control, &about, number) != TW_OK)
        return;
    output_color(out, BOLD);
    output_format(out, "%s", about.name);
    output_color(out, PLAIN);
    output_format(out, ": %s", about.type);
    if (about.has_base)
        output_format(out, " at 0x%" PRIx64, about.base);
    if (about.has_impl)
        output_format(out, ", tr??Impl 0x%08" PRIx32 ", version %u.%u", about.impl, about.major,
                      about.minor);
    output_text(out, "\n");
    if (about.note)
        output_format(out, "    %s\n", about.note);
    for (size_t i = 0; i < about.register_count; i++)
        output_format(out, "    %-24s 0x%08" PRIx64 "\n", about.registers[i].name,
                      about.registers[i].value);
    for (size_t i = 0; is_verbose && tw_control_field(line, sizeof line, control, number, i);
         i++)
        output_format(out, "        %s\n", line);
}

static void print_text(struct output *out, const struct tw_control *control,
                       const struct options *options)
{
    const char *protocol = tw_control_protocol(control);
    struct tw_fault fault = { TW_OK, "" };
    char *config = config_of(control, &fault);

    for (size_t i = 0; i < tw_control_count(control); i++)
        print_component(out, control, i, options->verbose);
    if (!config) {
        output_format(out, "decoder: %s\n", fault.text);
        return;
    }
    output_format(out, "decoder: --protocol %s --config FILE with\n", protocol);
    for (char *line = config; *line;) {
        const size_t length = strcspn(line, "\n");

        output_text(out, "    ");
        output_bytes(out, line, length);
        output_text(out, "\n");
        line += length + (line[length] != 0);
    }
    free(config);
}

static void put_hex(struct output *out, const char *key, uint64_t value, bool is_first)
{
    output_format(out, "%s\"%s\":\"0x%" PRIx64 "\"", is_first ? "" : ",", key, value);
}

static void json_component(struct output *out, const struct tw_control *control, size_t number)
{
    struct tw_control_component about = { .size = sizeof about };
    char line[FIELD_ROOM];

    if (tw_control_component(control, &about, number) != TW_OK)
        return;
    output_text(out, "{\"t\":\"COMPONENT\",\"name\":");
    output_json_text(out, about.name);
    output_text(out, ",\"type\":");
    output_json_text(out, about.type);
    if (about.has_base)
        put_hex(out, "base", about.base, false);
    if (about.has_impl) {
        put_hex(out, "impl", about.impl, false);
        output_format(out, ",\"version\":\"%u.%u\"", about.major, about.minor);
    }
    if (about.note) {
        output_text(out, ",\"note\":");
        output_json_text(out, about.note);
    }
    output_text(out, ",\"registers\":{");
    for (size_t i = 0; i < about.register_count; i++)
        put_hex(out, about.registers[i].name, about.registers[i].value, i == 0);
    output_text(out, "},\"fields\":{");
    for (size_t i = 0; tw_control_field(line, sizeof line, control, number, i); i++) {
        char *equals = strstr(line, " = ");
        const bool is_hex = equals && strncmp(equals + 3, "0x", 2) == 0;

        *equals = 0;
        output_format(out, "%s\"%s\":%s%s%s", i ? "," : "", line, is_hex ? "\"" : "",
                      equals + 3, is_hex ? "\"" : "");
    }
    output_text(out, "}}\n");
}

static void print_json(struct output *out, const struct tw_control *control)
{
    const char *protocol = tw_control_protocol(control);
    struct tw_fault fault = { TW_OK, "" };
    char *config = config_of(control, &fault);

    for (size_t i = 0; i < tw_control_count(control); i++)
        json_component(out, control, i);
    output_text(out, "{\"t\":\"CONFIG\"");
    if (!config) {
        output_text(out, ",\"error\":");
        output_json_text(out, fault.text);
        output_text(out, "}\n");
        return;
    }
    output_format(out, ",\"protocol\":\"%s\",\"config\":{", protocol);
    for (char *line = config; *line;) {
        const size_t length = strcspn(line, "\n"), key = strcspn(line, "=");

        output_text(out, line == config ? "\"" : ",\"");
        output_bytes(out, line, key);
        output_text(out, "\":\"");
        output_bytes(out, line + key + 1, length - key - 1);
        output_text(out, "\"");
        line += length + (line[length] != 0);
    }
    output_text(out, "}}\n");
    free(config);
}

bool info_is_control(const char *path, char **text, size_t *size)
{
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "rb");
    char *bytes = file ? malloc(DUMP_MOST) : NULL;

    *size = bytes ? fread(bytes, 1, DUMP_MOST, file) : 0;
    if (file)
        (void)fclose(file);
    if (*size == 0 || *size == DUMP_MOST || memchr(bytes, 0, *size) ||
        !tw_control_is_dump(bytes, *size)) {
        free(bytes);
        return false;
    }
    *text = bytes;
    return true;
}

int info_control(struct output *out, const struct options *options, const char *text,
                 size_t size)
{
    struct tw_control *control;
    struct tw_fault fault = { TW_OK, "" };

    if (tw_control_read(&control, text, size, NULL, &fault) != TW_OK) {
        say("%s: %s", options->arguments.items[0], fault.text);
        return NOT_DONE;
    }
    if (options_format_is(options, "jsonl"))
        print_json(out, control);
    else
        print_text(out, control, options);
    tw_control_free(control);
    return DONE;
}
