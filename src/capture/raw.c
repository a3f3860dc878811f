/* SPDX-License-Identifier: BSD-2-Clause */
/* Raw captures: a file of trace, described by options. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/distance.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/platform.h"
#include "capture/capture.h"
#include "protocol.h"

/* Inline configuration as lines.  A comma that no "NAME=" follows belongs to the value, as in
   "link_registers=x1,x5". */
static void split_lines(char *text)
{
    for (char *at = strchr(text, ','); at; at = strchr(at + 1, ',')) {
        const size_t item = strcspn(at + 1, ",=");

        if (at[1 + item] == '=')
            *at = '\n';
    }
}

/* Protocols whose configuration holds more than numbers read it as text. */
static bool takes_text(const char *protocol)
{
    return tw_name_begins(protocol, "etrace") || tw_name_begins(protocol, "ntrace");
}

/* Names of a family (TRCIDR3, TRCIDR8) are no slips of the fingers. */
static bool differ_by_number(const char *a, const char *b)
{
    const size_t letters = strcspn(a, "0123456789");

    return letters == strcspn(b, "0123456789") && strncmp(a, b, letters) == 0;
}

/* Registers that say nothing to the decoder, but look like one that is not given. */
static enum tw_status warn_of_misspelt(struct tw_capture *capture,
                                       const struct tw_source *source)
{
    enum { SLIP = 2 };
    const struct tw_protocol *protocol = tw_protocol_by_name(source->protocol);
    const struct tw_register_use *uses = protocol ? protocol->registers : NULL;
    const struct tw_source_info given = { .registers = source->registers,
                                          .register_count = source->register_count };

    for (size_t i = 0; uses && i < source->register_count; i++) {
        const char *name = source->registers[i].name, *nearest = NULL;
        size_t least = SLIP + 1;
        uint64_t value;

        for (const struct tw_register_use *use = uses; use->name; use++) {
            const size_t far = tw_name_distance(name, use->name);

            if (far == 0)
                least = 0;
            if (far < least && !tw_source_register(&given, &value, use->name) &&
                !differ_by_number(name, use->name)) {
                least = far;
                nearest = use->name;
            }
        }
        if (least && nearest)
            TW_TRY(tw_capture_warn(
                capture, "%s: register %s has no effect on how it is read; did you mean %s?",
                source->protocol, name, nearest));
    }
    return TW_OK;
}

/* The numbers of a configuration become registers. */
static enum tw_status read_registers(struct tw_capture *capture, struct tw_source *source,
                                     const struct tw_ini *ini)
{
    struct tw_register *registers;
    /* The description of a snapshot's device serves too: then only what is in [regs]. */
    const bool has_regs = tw_ini_section(ini, "regs", 0) < ini->section_count;
    const size_t device = tw_ini_section(ini, "device", 0);

    registers = tw_capture_keep(capture, ini->entry_count, sizeof *registers);
    if (!registers)
        return TW_E_MEMORY;
    source->registers = registers;
    if (device < ini->section_count) {
        const struct tw_ini_entry *type = tw_ini_key(ini, device, "type");

        source->type = type ? type->value : NULL;
    }
    for (size_t s = 0; s < ini->section_count; s++) {
        const struct tw_ini_section *section = &ini->sections[s];

        if (has_regs && !tw_name_equal(section->name, "regs"))
            continue;
        TW_TRY(tw_ini_check(ini, s, capture->fault));
        for (size_t i = section->first; i < section->first + section->count; i++) {
            struct tw_register_detail detail;
            uint64_t value;

            if (takes_text(source->protocol) &&
                !tw_number_parse(&value, ini->entries[i].value, true))
                continue;
            TW_TRY(tw_register_read(capture, registers, &detail, ini, &ini->entries[i]));
            registers++;
            source->register_count++;
        }
    }
    return has_regs ? TW_OK : warn_of_misspelt(capture, source);
}

/* An ipxact component is no list of keys, though keys may stand before it. */
static bool is_component(const struct capture_file *file)
{
    const char *text = (const char *)file->bytes, *line = text;

    while (line) {
        const size_t left = file->size - (size_t)(line - text);

        if (left && *line == '<')
            return true;
        line = memchr(line, '\n', left);
        line = line ? line + 1 : NULL;
    }
    return false;
}

/* The text of a configuration, after what its preset says. */
static enum tw_status keep_text(struct tw_capture *capture, struct tw_source *source,
                                const char *preset, const struct capture_file *file)
{
    const size_t before = preset ? strlen("preset=\n") + strlen(preset) : 0;
    char *text = tw_capture_keep(capture, before + file->size + 1, 1);

    source->text = text;
    if (!text)
        return TW_E_MEMORY;
    if (preset)
        (void)sprintf(text, "preset=%s\n", preset);
    if (file->size)
        memcpy(text + before, file->bytes, file->size);
    text[before + file->size] = 0;
    return TW_OK;
}

static enum tw_status read_config(struct tw_capture *capture, struct tw_source *source,
                                  const char *config, const char *preset)
{
    const struct capture_file *file;
    struct capture_file inlined = { .path = "configuration" };
    struct tw_ini ini;
    enum tw_status status;

    if (strchr(config, '=')) {
        char *text = tw_capture_keep_text(capture, config, strlen(config));

        if (!text)
            return TW_E_MEMORY;
        split_lines(text);
        inlined.bytes = (const uint8_t *)text;
        inlined.size = strlen(text);
        file = &inlined;
    } else {
        TW_TRY(tw_capture_load(capture, &file, config));
        if (!file->bytes)
            return tw_fail(capture->fault, TW_E_FILE, "%s", file->why);
    }
    if (!takes_text(source->protocol) || !is_component(file)) {
        status = tw_capture_parse(capture, &ini, file);
        if (status == TW_OK)
            status = read_registers(capture, source, &ini);
        tw_ini_free(&ini);
        TW_TRY(status);
    }
    return keep_text(capture, source, preset, file);
}

enum tw_status tw_raw_read_source(struct tw_capture *capture, struct tw_source *source,
                                  const struct tw_capture_source_option *option)
{
    struct tw_stream_buffers *stream = tw_capture_keep(capture, 1, sizeof *stream);
    uint32_t *buffer = tw_capture_keep(capture, 2, sizeof *buffer);

    if (!stream || !buffer)
        return TW_E_MEMORY;
    if (!option->protocol || !*option->protocol)
        return tw_fail(capture->fault, TW_E_ARGUMENT, "a source has no protocol");
    if (option->id > 0x7f)
        return tw_fail(capture->fault, TW_E_ARGUMENT, "0x%x is no trace ID", option->id);
    tw_buffers_sort(buffer, 1);
    *stream = (struct tw_stream_buffers){ TW_NONE, buffer, 1 };
    *source = (struct tw_source){ .protocol = tw_capture_keep_text(capture, option->protocol,
                                                                   strlen(option->protocol)),
                                  .has_id = option->id != 0,
                                  .id = option->id,
                                  .core_type = capture->options.core_type,
                                  .device = TW_NONE,
                                  .image = TW_NONE,
                                  .streams = stream,
                                  .stream_count = 1 };
    if (!source->protocol)
        return TW_E_MEMORY;
    if (source->core_type) {
        source->core_type =
            tw_capture_keep_text(capture, source->core_type, strlen(source->core_type));
        if (!source->core_type)
            return TW_E_MEMORY;
    }
    if (option->preset && !tw_name_begins(option->protocol, "etrace"))
        return tw_fail(capture->fault, TW_E_ARGUMENT, "%s has no presets; etrace has",
                       option->protocol);
    if (option->config)
        TW_TRY(read_config(capture, source, option->config, option->preset));
    else if (option->preset)
        TW_TRY(keep_text(capture, source, option->preset, &(struct capture_file){ 0 }));
    tw_source_identify(source);
    if (option->id) {
        struct tw_source as_said = *source;

        as_said.has_id = false;
        tw_source_identify(&as_said);
        if (as_said.has_id && as_said.id != option->id)
            TW_TRY(tw_capture_warn(
                capture,
                "source 0x%02x:%s: its registers say trace ID 0x%02x, and that is used",
                option->id, source->protocol, as_said.id));
    }
    source->name = source->has_id
                       ? tw_capture_format(capture, "%s-0x%02x", source->protocol, source->id)
                       : source->protocol;
    return source->name ? TW_OK : TW_E_MEMORY;
}

static enum tw_status read_sources(struct tw_capture *capture)
{
    const struct tw_capture_options *options = &capture->options;
    const size_t count = options->source_count;

    if (!count)
        return TW_OK;
    if (!TW_GROW(capture->allocator, &capture->sources, &capture->source_room, count))
        return tw_capture_no_memory(capture);
    for (size_t i = 0; i < count; i++) {
        struct tw_source *source = &capture->sources[i];

        TW_TRY(tw_raw_read_source(capture, source, &options->sources[i]));
        for (size_t k = 0; k < i && source->has_id; k++)
            if (capture->sources[k].has_id && capture->sources[k].id == source->id)
                return tw_fail(capture->fault, TW_E_ARGUMENT,
                               "two sources have trace ID 0x%02x", source->id);
        capture->source_count++;
    }
    return TW_OK;
}

/* Pins that show less than a byte at a time. */
static enum tw_status take_pins(struct tw_capture *capture, struct capture_buffer *buffer,
                                const struct tw_protocol *protocol, const void *config)
{
    struct capture_part *part = &buffer->parts[0];
    uint8_t *bytes;

    if (!protocol->align || !protocol->align(config, NULL, part->bytes, part->size))
        return TW_OK;
    bytes = tw_capture_keep(capture, part->size + 1, 1);
    if (!bytes)
        return tw_capture_no_memory(capture);
    (void)protocol->align(config, bytes, part->bytes, part->size);
    part->bytes = bytes;
    return TW_OK;
}

/* A sink's memory: which of its bytes are trace, in which order. */
static void take_extent(struct tw_capture *capture, struct capture_buffer *buffer,
                        const struct tw_protocol *protocol, const void *config)
{
    struct tw_extent extent;

    if (!protocol->extent || capture->options.has_wrapped || !protocol->extent(config, &extent))
        return;
    if (extent.size < buffer->parts[0].size)
        buffer->parts[0].size = (size_t)extent.size;
    capture->options.has_wrapped = extent.oldest != 0;
    capture->options.wrapped_at = extent.oldest;
}

/* What the source's configuration tells of how its trace lies in the file. */
static enum tw_status take_place(struct tw_capture *capture, struct capture_buffer *buffer)
{
    const struct tw_source *source = capture->source_count == 1 ? capture->sources : NULL;
    const struct tw_protocol *protocol = source ? tw_protocol_by_name(source->protocol) : NULL;
    enum tw_status status = TW_OK;
    struct tw_fault fault; /* what is wrong is said when it is decoded */
    void *config;

    if (!protocol || !(protocol->extent || protocol->align) || !buffer->part_count)
        return TW_OK;
    config = tw_take(capture->allocator, protocol->config_size);
    if (!config)
        return tw_capture_no_memory(capture);
    if (protocol->configure(config,
                            &(struct tw_source_info){ .registers = source->registers,
                                                      .register_count = source->register_count,
                                                      .core_type = source->core_type,
                                                      .text = source->text,
                                                      .id = source->id },
                            &fault) == TW_OK) {
        take_extent(capture, buffer, protocol, config);
        status = take_pins(capture, buffer, protocol, config);
    }
    tw_give(capture->allocator, config);
    return status == TW_OK ? tw_buffer_finish(capture, buffer) : status;
}

/* The file's bytes in the order, and from the place, that the options say. */
static enum tw_status take_order(struct tw_capture *capture, struct capture_buffer *buffer)
{
    const unsigned swap = capture->options.swap;
    const uint64_t skip = capture->options.skip;
    struct capture_part *part = &buffer->parts[0];
    uint8_t *bytes;

    if (swap > 1) {
        if (swap > 16 || (swap & (swap - 1)) != 0)
            return tw_fail(capture->fault, TW_E_ARGUMENT,
                           "bytes are swapped in groups of 2, 4, 8 or 16, not %u", swap);
        bytes = tw_capture_keep(capture, part->size + 1, 1);
        if (!bytes)
            return tw_capture_no_memory(capture);
        part->size -= part->size % swap;
        for (size_t i = 0; i < part->size; i++)
            bytes[i] = part->bytes[(i | (swap - 1)) - i % swap];
        part->bytes = bytes;
    }
    if (skip) {
        if (skip >= part->size)
            return tw_fail(capture->fault, TW_E_ARGUMENT,
                           "%s has %zu bytes: none is left behind the first %" PRIu64,
                           capture->path, part->size, skip);
        part->bytes += skip;
        part->size -= (size_t)skip;
        buffer->about.offset = skip;
    }
    return TW_OK;
}

enum tw_status tw_raw_read(struct tw_capture *capture)
{
    const struct tw_capture_options *options = &capture->options;
    const char *slash = tw_last_slash(capture->path);
    const struct capture_file *file;
    struct capture_buffer *buffer;
    const char **names;

    capture->kind = TW_CAPTURE_RAW;
    TW_TRY(tw_capture_load(capture, &file, capture->path));
    if (!file->bytes)
        return tw_fail(capture->fault, TW_E_FILE, "%s", file->why);
    names = tw_capture_keep(capture, 1, sizeof *names);
    if (!names)
        return TW_E_MEMORY;
    if (!TW_GROW(capture->allocator, &capture->buffers, &capture->buffer_room, 1))
        return tw_capture_no_memory(capture);
    buffer = &capture->buffers[0];
    *buffer = (struct capture_buffer){ .part_count = file->size != 0 };
    names[0] = capture->path;
    buffer->about.name = slash ? slash + 1 : capture->path;
    buffer->about.files = names;
    buffer->about.file_count = 1;
    buffer->about.framing = options->source_count > 1 ? TW_FRAMING_MEMORY : TW_FRAMING_NONE;
    if (options->has_framing)
        buffer->about.framing = options->framing;
    buffer->parts = tw_capture_keep(capture, 1, sizeof *buffer->parts);
    if (!buffer->parts)
        return TW_E_MEMORY;
    buffer->parts[0] = (struct capture_part){ .bytes = file->bytes, .size = file->size };
    if (file->size)
        TW_TRY(take_order(capture, buffer));
    TW_TRY(tw_buffer_finish(capture, buffer));
    capture->buffer_count = 1;
    TW_TRY(read_sources(capture));
    return take_place(capture, buffer);
}
