/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads trace.ini: the buffers, and which source is in which and belongs to which core. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/text.h"
#include "capture/capture.h"

/* What the functions below work on. */
struct reading {
    struct tw_capture *capture;
    const struct tw_ini *ini;
    const struct capture_names *devices;
    uint32_t *source_of; /* a device's source, TW_NONE: it is none */
    struct capture_names buffers, locations;
};

static const struct {
    const char *format;
    enum tw_framing framing;
} formats[] = {
    { "coresight", TW_FRAMING_MEMORY },
    { "source_data", TW_FRAMING_NONE },
    { "dstream_coresight", TW_FRAMING_DSTREAM },
};

static enum tw_status read_format(struct reading *in, struct tw_buffer *buffer,
                                  const struct tw_ini_entry *entry)
{
    for (size_t i = 0; i < TW_LENGTH(formats); i++)
        if (tw_name_equal(entry->value, formats[i].format)) {
            buffer->format = entry->value;
            buffer->framing = formats[i].framing;
            return TW_OK;
        }
    return tw_fail(in->capture->fault, TW_E_UNSUPPORTED,
                   "%s:%u: format=%s: not one of coresight, source_data, dstream_coresight",
                   in->ini->path, entry->line, entry->value);
}

/* The files of a buffer, joined in order. */
static enum tw_status read_files(struct reading *in, struct capture_buffer *buffer,
                                 const struct tw_ini_entry *entry)
{
    struct tw_capture *capture = in->capture;
    char *rest = entry->value, *item;
    const char **names;
    size_t room = 1;

    for (const char *at = rest; *at; at++)
        room += *at == ',';
    names = tw_capture_keep(capture, room, sizeof *names);
    buffer->parts = tw_capture_keep(capture, room, sizeof *buffer->parts);
    if (!names || !buffer->parts)
        return TW_E_MEMORY;
    buffer->about.files = names;
    while ((item = tw_list_next(&rest))) {
        const struct capture_file *file;
        const char *path;

        TW_TRY(tw_snapshot_path(capture, &path, in->ini, entry, item));
        TW_TRY(tw_capture_load(capture, &file, path));
        if (!file->bytes)
            return tw_fail(capture->fault, TW_E_FILE, "%s:%u: file=%s: %s", in->ini->path,
                           entry->line, item, file->why);
        names[buffer->about.file_count++] = item;
        if (file->size)
            buffer->parts[buffer->part_count++] =
                (struct capture_part){ .bytes = file->bytes, .size = file->size };
    }
    if (!buffer->about.file_count)
        return tw_fail(capture->fault, TW_E_CONFIG, "%s:%u: file= names no file", in->ini->path,
                       entry->line);
    return tw_buffer_finish(capture, buffer);
}

static const char *buffer_name(const void *context, uint32_t number)
{
    const struct tw_capture *capture = context;

    return capture->buffers[number].about.name;
}

static enum tw_status read_buffer(struct reading *in, const struct tw_ini_entry *list,
                                  const char *id)
{
    static const char *const keys[] = { "name", "format", "file" };
    struct tw_capture *capture = in->capture;
    const uint32_t number = (uint32_t)capture->buffer_count;
    const size_t section = tw_ini_section(in->ini, id, 0);
    const struct tw_ini_entry *entries[TW_LENGTH(keys)];
    struct capture_buffer buffer = { 0 };
    uint32_t found;

    if (section == in->ini->section_count)
        return tw_fail(capture->fault, TW_E_CONFIG, "%s:%u: buffers=%s: has no section [%s]",
                       in->ini->path, list->line, id, id);
    TW_TRY(tw_ini_check(in->ini, section, capture->fault));
    for (size_t i = 0; i < TW_LENGTH(keys); i++) {
        entries[i] = tw_ini_key(in->ini, section, keys[i]);
        if (!entries[i] || !*entries[i]->value)
            return tw_fail(capture->fault, TW_E_CONFIG, "%s:%u: [%s] has no %s", in->ini->path,
                           in->ini->sections[section].line, id, keys[i]);
    }
    buffer.about.name = entries[0]->value;
    TW_TRY(read_format(in, &buffer.about, entries[1]));
    if (!TW_GROW(capture->allocator, &capture->buffers, &capture->buffer_room, number + 1))
        return tw_capture_no_memory(capture);
    capture->buffers[number] = buffer;
    found = tw_names_put(&in->buffers, buffer.about.name, number);
    if (found == TW_NONE)
        return tw_capture_no_memory(capture);
    if (found != number)
        return tw_fail(capture->fault, TW_E_CONFIG,
                       "%s:%u: name=%s: a second buffer of that name", in->ini->path,
                       entries[0]->line, entries[0]->value);
    TW_TRY(read_files(in, &capture->buffers[number], entries[2]));
    capture->buffer_count++;
    return TW_OK;
}

static enum tw_status read_buffers(struct reading *in)
{
    const size_t section = tw_ini_section(in->ini, "trace_buffers", 0);
    const struct tw_ini_entry *list;
    char *rest, *id;

    if (section == in->ini->section_count)
        return tw_fail(in->capture->fault, TW_E_CONFIG, "%s: has no [trace_buffers] section",
                       in->ini->path);
    TW_TRY(tw_ini_check(in->ini, section, in->capture->fault));
    list = tw_ini_key(in->ini, section, "buffers");
    if (!list)
        return tw_fail(in->capture->fault, TW_E_CONFIG, "%s:%u: [trace_buffers] has no buffers",
                       in->ini->path, in->ini->sections[section].line);
    rest = list->value;
    while ((id = tw_list_next(&rest)))
        TW_TRY(read_buffer(in, list, id));
    return TW_OK;
}

/* Whether a device may be a source: nothing says that it is something else. */
static bool may_be_source(const struct tw_device *device)
{
    return !device->class_name || (!tw_name_equal(device->class_name, "core") &&
                                   !tw_name_equal(device->class_name, "memory_space"));
}

/* A class is optional, and others than the three that are known are for people: then the type tells. */
static bool is_source(const struct tw_capture *capture, const struct tw_device *device)
{
    if (device->class_name && tw_name_equal(device->class_name, "trace_source"))
        return true;
    return may_be_source(device) && device->type && tw_type_is_known(capture, device->type);
}

static enum tw_status add_source(struct reading *in, uint32_t number)
{
    struct tw_capture *capture = in->capture;
    const struct tw_device *device = &capture->devices[number];
    struct tw_source source = { .name = device->name,
                                .type = device->type,
                                .registers = device->registers,
                                .register_count = device->register_count,
                                .text = device->text,
                                .device = number,
                                .image = TW_NONE };

    if (!TW_GROW(capture->allocator, &capture->sources, &capture->source_room,
                 capture->source_count + 1))
        return tw_capture_no_memory(capture);
    tw_source_identify(&source);
    in->source_of[number] = (uint32_t)capture->source_count;
    capture->sources[capture->source_count++] = source;
    return TW_OK;
}

static enum tw_status enter_location(struct reading *in, uint32_t number)
{
    struct tw_capture *capture = in->capture;
    const struct tw_device *device = &capture->devices[number];
    const uint32_t found = tw_names_put(&in->locations, device->location, number);

    if (found == TW_NONE)
        return tw_capture_no_memory(capture);
    if (found == number)
        return TW_OK;
    return tw_capture_warn(capture,
                           "%s%s: location=%s: %s (%s) has the same; a location is unique, so "
                           "that @%s means that one",
                           capture->folder, device->file, device->location,
                           capture->devices[found].name, capture->devices[found].file,
                           device->location);
}

static enum tw_status list_sources(struct reading *in)
{
    struct tw_capture *capture = in->capture;

    in->source_of = tw_capture_keep(capture, capture->device_count, sizeof *in->source_of);
    if (!in->source_of)
        return TW_E_MEMORY;
    for (size_t i = 0; i < capture->device_count; i++) {
        in->source_of[i] = TW_NONE;
        if (capture->devices[i].location)
            TW_TRY(enter_location(in, (uint32_t)i));
        if (is_source(capture, &capture->devices[i]))
            TW_TRY(add_source(in, (uint32_t)i));
    }
    return TW_OK;
}

static const char *device_location(const void *context, uint32_t number)
{
    const struct tw_capture *capture = context;

    return capture->devices[number].location;
}

static uint32_t find_device(const struct reading *in, const char *name)
{
    return name[0] == '@' ? tw_names_find(&in->locations, name + 1)
                          : tw_names_find(in->devices, name);
}

/* A source by name, or by "@" and its location; NULL: there is none.  A device whose file does not say
   what it is becomes one by being named so. */
static enum tw_status find_source(struct reading *in, struct tw_source **source,
                                  const char *name)
{
    const uint32_t device = find_device(in, name);

    *source = NULL;
    if (device == TW_NONE)
        return TW_OK;
    if (in->source_of[device] == TW_NONE && may_be_source(&in->capture->devices[device]))
        TW_TRY(add_source(in, device));
    if (in->source_of[device] != TW_NONE)
        *source = &in->capture->sources[in->source_of[device]];
    return TW_OK;
}

static enum tw_status warn_no_source(struct reading *in, const struct tw_ini_entry *entry,
                                     const char *name)
{
    const uint32_t device = find_device(in, name);

    if (device == TW_NONE)
        return tw_capture_warn(in->capture,
                               "%s:%u: %s=%s: no device file describes that source",
                               in->ini->path, entry->line, entry->key, entry->value);
    return tw_capture_warn(in->capture, "%s:%u: %s=%s: %s is of class %s, no trace source",
                           in->ini->path, entry->line, entry->key, entry->value, name,
                           in->capture->devices[device].class_name);
}

/* The lines of [core_trace_sources]; NULL: it is not there. */
static enum tw_status core_lines(struct reading *in, const struct tw_ini_section **list)
{
    const size_t section = tw_ini_section(in->ini, "core_trace_sources", 0);

    *list = NULL;
    if (section == in->ini->section_count)
        return TW_OK;
    TW_TRY(tw_ini_check(in->ini, section, in->capture->fault));
    *list = &in->ini->sections[section];
    return TW_OK;
}

/* Sources that nothing but their core's line makes such. */
static enum tw_status find_named(struct reading *in)
{
    const struct tw_ini_section *list;
    struct tw_source *source;

    TW_TRY(core_lines(in, &list));
    for (size_t i = 0; list && i < list->count; i++)
        TW_TRY(find_source(in, &source, in->ini->entries[list->first + i].value));
    return TW_OK;
}

static enum tw_status read_cores(struct reading *in)
{
    const struct tw_ini_section *list;

    TW_TRY(core_lines(in, &list));
    if (!list)
        return TW_OK;
    for (size_t i = list->first; i < list->first + list->count; i++) {
        const struct tw_ini_entry *entry = &in->ini->entries[i];
        const uint32_t core = tw_names_find(in->devices, entry->key);
        struct tw_source *source;

        TW_TRY(find_source(in, &source, entry->value));
        if (!source) {
            TW_TRY(warn_no_source(in, entry, entry->value));
            continue;
        }
        source->core = entry->key;
        source->core_type = core == TW_NONE ? NULL : in->capture->devices[core].type;
        if (core == TW_NONE && source->stream_count)
            TW_TRY(tw_capture_warn(in->capture,
                                   "%s:%u: %s=%s: no device file describes that core",
                                   in->ini->path, entry->line, entry->key, entry->value));
    }
    return TW_OK;
}

/* Adds a list of buffers to a source: for one stream, or (TW_NONE) for all. */
static enum tw_status add_streams(struct reading *in, struct tw_source *source, uint32_t stream,
                                  const uint32_t *buffers, size_t count)
{
    struct tw_stream_buffers *streams;
    const size_t old = source->stream_count;
    size_t place = old;

    for (size_t i = 0; i < old; i++)
        if (source->streams[i].stream == stream)
            return TW_OK; /* said before: the first counts */
    if (stream == TW_NONE)
        place = 0;
    streams = tw_capture_keep(in->capture, old + 1, sizeof *streams);
    if (!streams)
        return TW_E_MEMORY;
    for (size_t i = 0; i < old; i++)
        streams[i + (i >= place)] = source->streams[i];
    streams[place] = (struct tw_stream_buffers){ stream, buffers, count };
    source->streams = streams;
    source->stream_count++;
    return TW_OK;
}

/* Cuts "(stream:N)" off a source's name; false: what stands there is no number. */
static bool cut_stream(char *name, uint32_t *stream)
{
    char *open = strrchr(name, '(');
    char *close = open ? strchr(open, ')') : NULL;
    uint64_t value;

    *stream = TW_NONE;
    if (!close || close[1] || !tw_name_begins(open, "(stream:"))
        return true;
    *close = 0;
    if (!tw_number_parse(&value, open + 8, false) || value > 255) {
        *close = ')';
        return false;
    }
    *stream = (uint32_t)value;
    while (open != name && open[-1] == ' ')
        open--;
    *open = 0;
    return true;
}

/* One line of [source_buffers]. */
static enum tw_status read_association(struct reading *in, const struct tw_ini_entry *entry)
{
    struct tw_capture *capture = in->capture;
    char *rest = entry->value, *name;
    struct tw_source *source;
    uint32_t *buffers, stream;
    size_t room = 1, count = 0;

    for (const char *at = rest; *at; at++)
        room += *at == ',';
    stream = TW_NONE;
    TW_TRY(find_source(in, &source, entry->key)); /* a device's name may hold parentheses */
    if (!source && !cut_stream(entry->key, &stream))
        return tw_fail(capture->fault, TW_E_CONFIG, "%s:%u: %s: want (stream:NUMBER)",
                       in->ini->path, entry->line, entry->key);
    if (!source)
        TW_TRY(find_source(in, &source, entry->key));
    if (!source)
        return warn_no_source(in, entry, entry->key);
    buffers = tw_capture_keep(capture, 2 * room, sizeof *buffers);
    if (!buffers)
        return TW_E_MEMORY;
    while ((name = tw_list_next(&rest))) {
        const uint32_t buffer = tw_names_find(&in->buffers, name);

        if (buffer != TW_NONE)
            buffers[count++] = buffer;
        else
            TW_TRY(tw_capture_warn(capture, "%s:%u: %s=%s: there is no such buffer",
                                   in->ini->path, entry->line, entry->key, name));
    }
    tw_buffers_sort(buffers, count);
    return count ? add_streams(in, source, stream, buffers, count) : TW_OK;
}

static enum tw_status read_associations(struct reading *in)
{
    struct tw_capture *capture = in->capture;
    const size_t section = tw_ini_section(in->ini, "source_buffers", 0);
    const struct tw_ini_section *list;
    uint32_t *all;

    if (section < in->ini->section_count) {
        TW_TRY(tw_ini_check(in->ini, section, capture->fault));
        list = &in->ini->sections[section];
        for (size_t i = list->first; i < list->first + list->count; i++)
            TW_TRY(read_association(in, &in->ini->entries[i]));
        return TW_OK;
    }
    /* Without that section there should be but one buffer: all sources use it. */
    if (capture->buffer_count > 1)
        TW_TRY(tw_capture_warn(capture,
                               "%s: several buffers, but no [source_buffers]: each source is "
                               "looked for in all",
                               in->ini->path));
    all = tw_capture_keep(capture, 2 * capture->buffer_count, sizeof *all);
    if (!all)
        return TW_E_MEMORY;
    for (size_t i = 0; i < capture->buffer_count; i++)
        all[i] = (uint32_t)i;
    tw_buffers_sort(all, capture->buffer_count);
    for (size_t i = 0; i < capture->source_count && capture->buffer_count; i++)
        TW_TRY(add_streams(in, &capture->sources[i], TW_NONE, all, capture->buffer_count));
    return TW_OK;
}

static bool has_first_stream(const struct tw_source *source)
{
    for (size_t i = 0; i < source->stream_count; i++)
        if (source->streams[i].stream == TW_NONE || source->streams[i].stream == 0)
            return true;
    return false;
}

/* Each declared source is decoded, or it is said why not. */
static enum tw_status warn_of_lost(struct reading *in)
{
    const struct tw_capture *capture = in->capture;
    struct tw_text names = { 0 };
    enum tw_status status = TW_OK;

    for (size_t i = 0; i < capture->source_count && capture->buffer_count; i++) {
        const struct tw_source *source = &capture->sources[i];

        if (!has_first_stream(source))
            tw_text_format(&names, "%s%s%s", names.size ? ", " : "",
                           source->stream_count ? "the first stream of " : "", source->name);
    }
    if (names.failed)
        status = tw_capture_no_memory(in->capture);
    else if (names.size)
        status =
            tw_capture_warn(in->capture, "%s: in no buffer: %s", in->ini->path, names.chars);
    tw_text_free(&names);
    return status;
}

static enum tw_status read_all(struct reading *in)
{
    TW_TRY(read_buffers(in));
    TW_TRY(list_sources(in));
    TW_TRY(find_named(in));
    TW_TRY(read_associations(in));
    TW_TRY(read_cores(in));
    return warn_of_lost(in);
}

enum tw_status tw_trace_read(struct tw_capture *capture, const char *path,
                             const struct tw_ini *ini, const struct tw_ini_entry *metadata,
                             const struct capture_names *devices)
{
    struct reading in = { .capture = capture, .devices = devices };
    const struct capture_file *file;
    struct tw_ini trace;
    enum tw_status status;

    TW_TRY(tw_capture_load(capture, &file, path));
    if (!file->bytes)
        return tw_fail(capture->fault, TW_E_FILE, "%s:%u: metadata=%s: %s", ini->path,
                       metadata->line, metadata->value, file->why);
    in.ini = &trace;
    in.buffers =
        (struct capture_names){ { .allocator = capture->allocator }, buffer_name, capture };
    in.locations =
        (struct capture_names){ { .allocator = capture->allocator }, device_location, capture };
    status = tw_capture_parse(capture, &trace, file);
    if (status == TW_OK)
        status = read_all(&in);
    tw_ini_free(&trace);
    tw_map_free(&in.buffers.map);
    tw_map_free(&in.locations.map);
    return status;
}
