/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway snapshot: writes a snapshot folder from its parts. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/capture.h>

#include "base/platform.h"
#include "commands/commands.h"
#include "commands/snapshot_from.h"
#include "shared/arena.h"
#include "shared/folder.h"
#include "shared/option_text.h"

/* What is being put together.  Texts are copies in `arena`. */
struct build {
    const struct options *options;
    struct arena arena;
    struct tw_snapshot_device *devices;
    struct tw_snapshot_buffer *buffers;
    struct tw_cluster *clusters;
    struct tw_snapshot_file *files; /* of buffers, after their first */
    struct tw_snapshot_stream *streams;
    size_t device_count, buffer_count, cluster_count, file_count, stream_count;
    bool is_usage; /* the fault is in the command line */
};

static bool wrong(struct build *build, const char *format, ...) PRINTF_LIKE(2, 3);

static bool wrong(struct build *build, const char *format, ...)
{
    char text[600];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    build->is_usage = true;
    return options_wrong(build->options, "%s", text);
}

static const char *base_name(const char *path)
{
    const char *slash = tw_last_slash(path);

    return slash ? slash + 1 : path;
}

static struct tw_snapshot_device *find_device(struct build *build, const char *option,
                                              const char *name)
{
    for (size_t i = 0; i < build->device_count; i++)
        if (strcmp(build->devices[i].name, name) == 0)
            return &build->devices[i];
    (void)wrong(build, "--%s: there is no device \"%s\"; declare it with --device", option,
                name);
    return NULL;
}

/* Room for one more item of an array that grows one by one; NULL: no memory. */
static void *grow(struct build *build, const void *items, size_t count, size_t size)
{
    char *grown = arena_room(&build->arena, (count + 1) * size);

    if (grown && count)
        memcpy(grown, items, count * size);
    return grown;
}

/* One more file of a buffer. */
static bool add_file(struct build *build, const char *buffer, const char *path)
{
    struct tw_snapshot_file *files =
        grow(build, build->files, build->file_count, sizeof *files);

    if (!files)
        return false;
    files[build->file_count++] =
        (struct tw_snapshot_file){ .buffer = buffer, .file = base_name(path), .path = path };
    build->files = files;
    return true;
}

/* "NAME=FILE[,file=FILE...][,format=F]" */
static bool add_trace(struct build *build, const char *text)
{
    static const char *const keys[] = { "format", "file", NULL };
    struct tw_snapshot_buffer *buffer = &build->buffers[build->buffer_count++];
    char *name = arena_copy(&build->arena, text);
    char *path = name ? strchr(name, '=') : NULL;
    char *next;

    if (!name)
        return false;
    if (!path || path == name || !path[1] || path[1] == ',')
        return wrong(build, "--trace: \"%s\" is not NAME=FILE[,file=FILE...][,format=F]", text);
    *path++ = 0;
    *buffer = (struct tw_snapshot_buffer){ .name = name, .format = "coresight", .path = path };
    for (char *at = text_cut(path, keys); at; at = next) {
        char *value;
        const int key = text_key(at, &value, keys);

        next = text_cut(at, keys);
        if (key == 0)
            buffer->format = value;
        else if (!add_file(build, name, value))
            return false;
    }
    buffer->file = base_name(path);
    if (is_choice("coresight|source_data|dstream_coresight", buffer->format,
                  strlen(buffer->format)))
        return true;
    return wrong(build,
                 "--trace: there is no format \"%s\"; there are coresight, source_data, "
                 "dstream_coresight",
                 buffer->format);
}

/* "BUFFER(stream:N)", cut in place: one stream of the device. */
static bool add_stream(struct build *build, const char *device, char *text)
{
    char *open = strstr(text, "(stream:");
    struct tw_snapshot_stream *streams =
        grow(build, build->streams, build->stream_count, sizeof *streams);
    const char **names = arena_room(&build->arena, sizeof *names);
    char *close = open ? strchr(open, ')') : NULL;
    uint64_t number = 0;

    if (!streams || !names)
        return false;
    if (!close || close[1])
        return wrong(build, "--device %s: \"%s\" is not BUFFER(stream:N)", device, text);
    *open = *close = 0;
    names[0] = text;
    if (!parse_number(&number, open + strlen("(stream:")) || number > 255)
        return wrong(build, "--device %s: stream wants a number from 0 to 255, not \"%s\"",
                     device, open + strlen("(stream:"));
    streams[build->stream_count++] =
        (struct tw_snapshot_stream){ device, (uint32_t)number, names, 1 };
    build->streams = streams;
    return true;
}

/* "NAME[,KEY=VALUE...]"; a value may hold commas, so only a known key ends one. */
static bool add_device(struct build *build, const char *text)
{
    static const char *const keys[] = { "class", "type", "location", "core", "buffer", NULL };
    struct tw_snapshot_device *device = &build->devices[build->device_count++];
    char *name = arena_copy(&build->arena, text);
    const char **buffers;
    char *next;

    buffers = arena_room(&build->arena, (build->buffer_count + 1) * sizeof *buffers);
    if (!name || !buffers)
        return false;
    *device = (struct tw_snapshot_device){ .name = name, .buffers = buffers };
    for (char *at = text_cut(name, keys); at; at = next) {
        char *value;
        const int key = text_key(at, &value, keys);

        next = text_cut(at, keys);
        if (key == 0)
            device->class_name = value;
        else if (key == 1)
            device->type = value;
        else if (key == 2)
            device->location = value;
        else if (key == 3)
            device->core = value;
        else if (strchr(value, '(')) {
            if (!add_stream(build, name, value))
                return false;
        } else if (device->buffer_count < build->buffer_count)
            buffers[device->buffer_count++] = value;
        else
            return wrong(build, "--device %s: more buffers than there are", name);
    }
    if (!*name || strchr(name, ',') || strchr(name, '='))
        return wrong(build,
                     "--device: \"%s\" is not NAME[,KEY=VALUE...] with the keys class, type, "
                     "location, core, buffer",
                     text);
    return true;
}

/* "NAME[(id:N,size:N)]=VALUE", cut in place. */
static bool parse_register(struct build *build, struct tw_register *to,
                           struct tw_register_detail *detail, char *text)
{
    char *equals = strchr(text, '=');
    char *open = strchr(text, '(');
    const char *why = "is not NAME=VALUE";

    *detail = (struct tw_register_detail){ TW_NONE, 32 };
    if (equals) {
        *equals = 0;
        why = "has a value that is no number";
        if (open && open < equals) {
            *open = 0;
            if (!text_register_detail(detail, open + 1))
                return wrong(build, "--reg: \"%s(%s\" is not NAME(id:N,size:N)", text,
                             open + 1);
        }
        to->name = text_trim(text);
        if (*to->name && parse_number(&to->value, text_trim(equals + 1)))
            return true;
    }
    return wrong(build, "--reg: \"%s\" %s", text, why);
}

static bool append_register(struct build *build, struct tw_snapshot_device *device, char *text)
{
    const size_t count = device->register_count;
    struct tw_register *registers;
    struct tw_register_detail *details;

    registers = arena_room(&build->arena, (count + 1) * sizeof *registers);
    details = arena_room(&build->arena, (count + 1) * sizeof *details);
    if (!registers || !details)
        return false;
    if (count) {
        memcpy(registers, device->registers, count * sizeof *registers);
        memcpy(details, device->details, count * sizeof *details);
    }
    if (!parse_register(build, &registers[count], &details[count], text))
        return false;
    device->registers = registers;
    device->details = details;
    device->register_count++;
    return true;
}

/* One register a line; blank lines, comments and section heads are passed over. */
static bool add_register_file(struct build *build, struct tw_snapshot_device *device,
                              const char *path)
{
    FILE *file = fopen(path, "r");
    char line[512];
    bool is_good = true;

    if (!file) {
        say("snapshot: cannot read %s: %s", path, strerror(errno));
        return false;
    }
    while (is_good && fgets(line, sizeof line, file)) {
        char *text = text_trim(line);
        char *copy;

        if (!*text || strchr("#;[", *text))
            continue;
        copy = arena_copy(&build->arena, text);
        is_good = copy && append_register(build, device, copy);
    }
    if (is_good && ferror(file)) {
        say("snapshot: cannot read %s: %s", path, strerror(errno));
        is_good = false;
    }
    (void)fclose(file);
    return is_good;
}

/* "DEVICE:K=V,K=V" or "DEVICE:FILE" */
static bool add_registers(struct build *build, const char *text)
{
    char *name = arena_copy(&build->arena, text);
    char *at = name ? strchr(name, ':') : NULL;
    struct tw_snapshot_device *device;

    if (!name)
        return false;
    if (!at || !at[1])
        return wrong(build, "--reg: \"%s\" is neither DEVICE:NAME=VALUE,... nor DEVICE:FILE",
                     text);
    *at++ = 0;
    device = find_device(build, "reg", name);
    if (!device)
        return false;
    if (!strchr(at, '='))
        return add_register_file(build, device, at);
    while (at) {
        char *next = text_comma(at);

        if (!append_register(build, device, at))
            return false;
        at = next;
    }
    return true;
}

static bool parse_dump(struct build *build, struct tw_snapshot_dump *dump, char *path)
{
    static const char *const keys[] = { "space", "length", "offset", "name", NULL };
    char *address, *next;

    for (char *at = text_cut(path, keys); at; at = next) {
        char *value;
        const int key = text_key(at, &value, keys);
        uint64_t number = 0;

        next = text_cut(at, keys);
        if ((key == 1 || key == 2) && !parse_number(&number, value))
            return wrong(build, "--dump: %s wants a number, not \"%s\"", keys[key], value);
        if (key == 0)
            dump->space = value;
        else if (key == 1)
            dump->length = number;
        else if (key == 2)
            dump->offset = number;
        else
            dump->file = value;
    }
    address = strrchr(path, '@');
    if (!address || address == path || !parse_number(&dump->address, address + 1))
        return wrong(build, "--dump: \"%s\" is not FILE@ADDRESS", path);
    *address = 0;
    dump->path = path;
    if (!dump->file)
        dump->file = base_name(path);
    return true;
}

/* "DEVICE:FILE@ADDRESS[,KEY=VALUE...]" */
static bool add_dump(struct build *build, const char *text)
{
    char *name = arena_copy(&build->arena, text);
    char *path = name ? strchr(name, ':') : NULL;
    struct tw_snapshot_device *device;
    struct tw_snapshot_dump *dumps;

    if (!name)
        return false;
    if (!path)
        return wrong(build, "--dump: \"%s\" is not DEVICE:FILE@ADDRESS", text);
    *path++ = 0;
    device = find_device(build, "dump", name);
    if (!device)
        return false;
    dumps = arena_room(&build->arena, (device->dump_count + 1) * sizeof *dumps);
    if (!dumps)
        return false;
    if (device->dump_count)
        memcpy(dumps, device->dumps, device->dump_count * sizeof *dumps);
    dumps[device->dump_count] = (struct tw_snapshot_dump){ 0 };
    if (!parse_dump(build, &dumps[device->dump_count], path))
        return false;
    device->dumps = dumps;
    device->dump_count++;
    return true;
}

/* "NAME=DEVICE[,DEVICE...]" */
static bool add_cluster(struct build *build, const char *text)
{
    struct tw_cluster *cluster = &build->clusters[build->cluster_count++];
    char *name = arena_copy(&build->arena, text);
    char *at = name ? strchr(name, '=') : NULL;
    const char **devices;

    devices = arena_room(&build->arena, (strlen(text) / 2 + 1) * sizeof *devices);
    if (!name || !devices)
        return false;
    if (!at || at == name || !at[1])
        return wrong(build, "--cluster: \"%s\" is not NAME=DEVICE[,DEVICE...]", text);
    *at++ = 0;
    *cluster = (struct tw_cluster){ name, devices, 0 };
    while (at) {
        char *next = text_comma(at);

        devices[cluster->device_count++] = text_trim(at);
        at = next;
    }
    return true;
}

static bool add_each(struct build *build, const struct list *list,
                     bool (*add)(struct build *build, const char *text))
{
    for (size_t i = 0; i < list->count; i++)
        if (!add(build, list->items[i]))
            return false;
    return true;
}

static bool build_all(struct build *build)
{
    const struct options *options = build->options;

    build->devices =
        arena_room(&build->arena, (options->devices.count + 1) * sizeof *build->devices);
    build->buffers =
        arena_room(&build->arena, (options->traces.count + 1) * sizeof *build->buffers);
    build->clusters =
        arena_room(&build->arena, (options->clusters.count + 1) * sizeof *build->clusters);
    return build->devices && build->buffers && build->clusters &&
           add_each(build, &options->traces, add_trace) &&
           add_each(build, &options->devices, add_device) &&
           add_each(build, &options->registers, add_registers) &&
           add_each(build, &options->dumps, add_dump) &&
           add_each(build, &options->clusters, add_cluster);
}

static int write_snapshot(const struct build *build)
{
    const struct tw_snapshot snapshot = {
        .size = sizeof snapshot,
        .description = build->options->description,
        .devices = build->devices,
        .device_count = build->device_count,
        .buffers = build->buffers,
        .buffer_count = build->buffer_count,
        .clusters = build->clusters,
        .cluster_count = build->cluster_count,
        .overwrite = build->options->force,
        .files = build->files,
        .file_count = build->file_count,
        .streams = build->streams,
        .stream_count = build->stream_count,
    };
    struct tw_fault fault = { TW_OK, "" };

    if (folder_snapshot(build->options->output, &snapshot, &fault) == TW_OK)
        return DONE;
    say("snapshot: %s", fault.text);
    return NOT_DONE;
}

static int run(const struct options *options)
{
    struct build build = { .options = options };
    int status = DONE;

    if (!options->output) {
        (void)options_wrong(options, "where to? give --output FOLDER");
        return BAD_USAGE;
    }
    if (options->from_capture) {
        if (options->traces.count || options->devices.count || options->registers.count ||
            options->dumps.count || options->clusters.count) {
            (void)options_wrong(options, "--from takes all parts from the capture");
            return BAD_USAGE;
        }
        return snapshot_from(options);
    }
    if (options->devices.count == 0) {
        (void)options_wrong(options, "give at least one --device, or --from CAPTURE");
        return BAD_USAGE;
    }
    if (build_all(&build))
        status = write_snapshot(&build);
    else
        status = build.is_usage ? BAD_USAGE : NOT_DONE;
    arena_free(&build.arena);
    return status;
}

static const uint8_t takes[] = {
    G_CAPTURE,      O_TRACE,       O_DEVICE, O_REG,    O_DUMP,  O_CLUSTER,
    O_FROM_CAPTURE, O_DESCRIPTION, O_FORCE,  O_OUTPUT, O_QUIET, O_END,
};

const struct command command_snapshot = {
    .name = "snapshot",
    .arguments = "--output FOLDER [OPTION...]",
    .summary = "a snapshot folder written from its parts, or from another capture",
    .details =
        "examples:\n"
        "  trackway snapshot --output snap --trace ETB=etb.bin \\\n"
        "      --device cpu_0,class=core,type=Cortex-A57 \\\n"
        "      --dump cpu_0:code.bin@0x80000000 \\\n"
        "      --device ETM_0,class=trace_source,type=ETM4.0,core=cpu_0,buffer=ETB \\\n"
        "      --reg ETM_0:TRCTRACEIDR=0x10,TRCCONFIGR=0xc1,TRCIDR0=0x28000ea1\n"
        "  trackway snapshot --output snap --from perf.data --sysroot root\n"
        "With --from the sources, their registers, the buffers and the program memory are "
        "those\n"
        "of a perf.data or raw file, opened with the same options as for decode; of a "
        "snapshot\n"
        "all that it describes is written anew, in one folder.",
    .options = takes,
    .least = 0,
    .most = 0,
    .run = run,
};
