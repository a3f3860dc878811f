/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway snapshot --from SNAPSHOT: its devices, buffers and associations, written anew. */
#include <string.h>

#include "commands/commands.h"
#include "commands/snapshot_from.h"
#include "shared/arena.h"
#include "shared/folder.h"

/* A file of the new snapshot; bytes that are written once have one name. */
struct copied {
    const char *name;
    const uint8_t *bytes;
    size_t size;
};

struct copy {
    const struct tw_capture *capture;
    const struct options *options;
    struct arena arena;
    struct copied *copied;
    size_t copied_count;
    struct tw_snapshot_device *devices;
    struct tw_snapshot_buffer *buffers;
    struct tw_snapshot_file *files;
    struct tw_snapshot_stream *streams;
    struct tw_cluster *clusters;
    size_t file_count, stream_count;
};

static const char *base_name(const char *path)
{
    const char *last = path;

    for (; *path; path++)
        if (*path == '/' || *path == '\\' || *path == ':')
            last = path + 1;
    return last;
}

/* Files lie in one folder now: a name that other bytes have taken gets a number. */
static const char *file_name(struct copy *copy, const char *path, const uint8_t *bytes,
                             size_t size)
{
    const char *wanted = base_name(path);
    const size_t room = strlen(wanted) + 24;
    char *name = arena_room(&copy->arena, room);

    if (!name)
        return NULL;
    for (size_t i = 0; i < copy->copied_count; i++)
        if (copy->copied[i].bytes == bytes && copy->copied[i].size == size)
            return copy->copied[i].name;
    (void)snprintf(name, room, "%s", *wanted ? wanted : "data");
    for (size_t i = 0, next = copy->copied_count + 1; i < copy->copied_count; i++)
        if (strcmp(copy->copied[i].name, name) == 0) {
            (void)snprintf(name, room, "%zu_%s", next++, wanted);
            i = SIZE_MAX; /* all of them again */
        }
    copy->copied[copy->copied_count++] = (struct copied){ name, bytes, size };
    return name;
}

static bool copy_dumps(struct copy *copy, struct tw_snapshot_device *to,
                       const struct tw_device *device)
{
    struct tw_snapshot_dump *dumps =
        arena_room(&copy->arena, (device->dump_count + 1) * sizeof *dumps);

    to->dumps = dumps;
    for (size_t i = 0; dumps && i < device->dump_count; i++) {
        const struct tw_dump *dump = &device->dumps[i];
        struct tw_snapshot_dump *made = &dumps[to->dump_count];
        uint32_t spaces;

        if (!dump->length) /* its file is missing: said when it was opened */
            continue;
        *made = (struct tw_snapshot_dump){
            .file = file_name(copy, dump->file, dump->bytes, (size_t)dump->length),
            .bytes = dump->bytes,
            .size = (size_t)dump->length,
            .address = dump->address,
        };
        if (!made->file)
            return false;
        if (dump->space && tw_space_by_name(&spaces, dump->space))
            made->space = dump->space;
        to->dump_count++;
    }
    return dumps;
}

static const char *const *buffer_names(struct copy *copy,
                                       const struct tw_stream_buffers *stream)
{
    const char **names = arena_room(&copy->arena, (stream->buffer_count + 1) * sizeof *names);

    for (size_t i = 0; names && i < stream->buffer_count; i++)
        names[i] = tw_capture_buffer(copy->capture, stream->buffers[i])->name;
    return names;
}

static bool has_device(const struct tw_capture *capture, const char *name)
{
    for (size_t i = 0; i < tw_capture_device_count(capture); i++)
        if (strcmp(tw_capture_device(capture, i)->name, name) == 0)
            return true;
    return false;
}

/* Its core and its buffers. */
static bool copy_source(struct copy *copy, struct tw_snapshot_device *to,
                        const struct tw_source *source)
{
    if (source->core && has_device(copy->capture, source->core))
        to->core = source->core;
    for (size_t i = 0; i < source->stream_count; i++) {
        const struct tw_stream_buffers *stream = &source->streams[i];
        const char *const *names = buffer_names(copy, stream);

        if (!names)
            return false;
        if (stream->stream == TW_NONE) {
            to->buffers = names;
            to->buffer_count = stream->buffer_count;
        } else {
            copy->streams[copy->stream_count++] =
                (struct tw_snapshot_stream){ to->name, stream->stream, names,
                                             stream->buffer_count };
        }
    }
    return true;
}

static bool copy_device(struct copy *copy, size_t number)
{
    const struct tw_device *device = tw_capture_device(copy->capture, number);
    struct tw_snapshot_device *to = &copy->devices[number];

    *to = (struct tw_snapshot_device){
        .name = device->name,
        .class_name = device->class_name,
        .type = device->type,
        .location = device->location,
        .registers = device->registers,
        .details = device->details,
        .register_count = device->register_count,
        .text = device->text,
    };
    for (size_t i = 0; i < device->register_count && !copy->options->quiet; i++)
        if (device->details[i].bits > 64)
            say("warning: %s: %s: the low 64 of %u bits are kept", device->name,
                device->registers[i].name, (unsigned)device->details[i].bits);
    for (size_t i = 0; i < tw_capture_source_count(copy->capture); i++)
        if (tw_capture_source(copy->capture, i)->device == number &&
            !copy_source(copy, to, tw_capture_source(copy->capture, i)))
            return false;
    return copy_dumps(copy, to, device);
}

/* One file for each stretch of bytes that lies together: those of the snapshot, unless they are
   put in order or cut. */
static bool copy_buffer(struct copy *copy, size_t number)
{
    const struct tw_buffer *about = tw_capture_buffer(copy->capture, number);
    struct tw_snapshot_buffer *to = &copy->buffers[number];
    const uint8_t *bytes;
    size_t size, part = 0;

    *to = (struct tw_snapshot_buffer){ .name = about->name, .format = about->format };
    for (uint64_t at = 0; at < about->size; at += size) {
        const char *name = about->files[part < about->file_count ? part : 0];

        if (tw_capture_read(copy->capture, &bytes, &size, number, at) != TW_OK)
            break;
        name = file_name(copy, name, bytes, size);
        if (!name)
            return false;
        if (part++ == 0) {
            to->file = name;
            to->bytes = bytes;
            to->size = size;
        } else {
            copy->files[copy->file_count++] =
                (struct tw_snapshot_file){ about->name, name, bytes, size, NULL };
        }
    }
    return true;
}

/* How many stretches the buffers consist of. */
static size_t count_parts(const struct tw_capture *capture)
{
    size_t count = 0, size;
    const uint8_t *bytes;

    for (size_t i = 0; i < tw_capture_buffer_count(capture); i++)
        for (uint64_t at = 0; tw_capture_read(capture, &bytes, &size, i, at) == TW_OK;
             at += size)
            count++;
    return count;
}

static bool make_room(struct copy *copy)
{
    const struct tw_capture *capture = copy->capture;
    const size_t devices = tw_capture_device_count(capture);
    const size_t parts = count_parts(capture);
    size_t files = parts, streams = 0;

    for (size_t i = 0; i < devices; i++)
        files += tw_capture_device(capture, i)->dump_count;
    for (size_t i = 0; i < tw_capture_source_count(capture); i++)
        streams += tw_capture_source(capture, i)->stream_count;
    copy->copied = arena_room(&copy->arena, (files + 1) * sizeof *copy->copied);
    copy->files = arena_room(&copy->arena, (parts + 1) * sizeof *copy->files);
    copy->streams = arena_room(&copy->arena, (streams + 1) * sizeof *copy->streams);
    copy->devices = arena_room(&copy->arena, (devices + 1) * sizeof *copy->devices);
    copy->buffers = arena_room(&copy->arena,
                               (tw_capture_buffer_count(capture) + 1) * sizeof *copy->buffers);
    copy->clusters = arena_room(&copy->arena, (tw_capture_cluster_count(capture) + 1) *
                                                  sizeof *copy->clusters);
    return copy->copied && copy->files && copy->streams && copy->devices && copy->buffers &&
           copy->clusters;
}

static bool copy_all(struct copy *copy)
{
    if (!make_room(copy))
        return false;
    for (size_t i = 0; i < tw_capture_buffer_count(copy->capture); i++)
        if (!copy_buffer(copy, i))
            return false;
    for (size_t i = 0; i < tw_capture_device_count(copy->capture); i++)
        if (!copy_device(copy, i))
            return false;
    for (size_t i = 0; i < tw_capture_cluster_count(copy->capture); i++)
        copy->clusters[i] = *tw_capture_cluster(copy->capture, i);
    return true;
}

static int write_copy(const struct copy *copy)
{
    const struct tw_snapshot snapshot = {
        .size = sizeof snapshot,
        .description = copy->options->description ? copy->options->description
                                                  : tw_capture_description(copy->capture),
        .devices = copy->devices,
        .device_count = tw_capture_device_count(copy->capture),
        .buffers = copy->buffers,
        .buffer_count = tw_capture_buffer_count(copy->capture),
        .clusters = copy->clusters,
        .cluster_count = tw_capture_cluster_count(copy->capture),
        .overwrite = copy->options->force,
        .files = copy->files,
        .file_count = copy->file_count,
        .streams = copy->streams,
        .stream_count = copy->stream_count,
    };
    struct tw_fault fault = { TW_OK, "" };

    if (folder_snapshot(copy->options->output, &snapshot, &fault) == TW_OK)
        return DONE;
    say("snapshot: %s", fault.text);
    return NOT_DONE;
}

int snapshot_copy(const struct options *options, const struct tw_capture *capture)
{
    struct copy copy = { .capture = capture, .options = options };
    int status = NOT_DONE;

    if (options->images.count) {
        (void)options_wrong(options, "--image: the memory of a snapshot is copied as it is");
        return BAD_USAGE;
    }
    if (copy_all(&copy))
        status = write_copy(&copy);
    arena_free(&copy.arena);
    return status;
}
