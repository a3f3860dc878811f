/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes snapshots. */
#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "capture/capture.h"
#include "capture/folder.h"
#include "image/file.h"

/* A file of the caller's in the snapshot, and where its bytes came from. */
struct written {
    char *name;
    struct tw_file file; /* bytes NULL: copied from */
    const char *path;
};

struct writing {
    const struct tw_snapshot *snapshot;
    struct tw_fault *fault;
    struct tw_folder folder;
    struct tw_text text;        /* of the file at work */
    struct capture_names files; /* names that the caller gave, to their number below */
    struct written *written;
    size_t count, room;
};

static const char *written_name(const void *context, uint32_t number)
{
    const struct writing *out = context;

    return out->written[number].name;
}

static enum tw_status bad_name(struct writing *out, const char *what, const char *name)
{
    /* The message is one line, whatever the name holds. */
    return tw_fail(out->fault, TW_E_ARGUMENT, "%s \"%.*s\" cannot be written in a snapshot",
                   what, name ? (int)strcspn(name, "\r\n") : 0, name ? name : "");
}

/* Text that an INI reader gives back as it is; `without` lists characters that would end it. */
static bool is_plain(const char *text, const char *without)
{
    const size_t size = text ? strlen(text) : 0;

    if (size == 0 || strpbrk(text, without) || text[0] == ' ' || text[size - 1] == ' ' ||
        text[0] == '"' || text[0] == '\'')
        return false;
    for (size_t i = 0; i < size; i++)
        if ((uint8_t)text[i] < ' ' ||
            ((text[i] == ';' || text[i] == '#') && (i == 0 || text[i - 1] == ' ')))
            return false;
    return true;
}

/* Names stand as keys and in lists. */
static bool is_name(const char *text)
{
    return is_plain(text, "=,()[]@");
}

/* Files lie in the folder itself, and none is one of ours. */
static bool is_file_name(const char *text)
{
    return is_plain(text, "=,/\\:") && text[0] != '.' && !tw_name_equal(text, "snapshot.ini") &&
           !tw_name_equal(text, "trace.ini") &&
           !(tw_name_begins(text, "device_") && strstr(text, ".ini"));
}

static enum tw_status write_text(struct writing *out, const char *name)
{
    if (out->text.failed)
        return tw_fail(out->fault, TW_E_MEMORY, "no memory for %s", name);
    TW_TRY(tw_folder_write(&out->folder, name, out->text.chars, out->text.size));
    tw_text_clear(&out->text);
    return TW_OK;
}

/* Enters a file name; *is_new is false when it is there with the same bytes. */
static enum tw_status enter_name(struct writing *out, bool *is_new, const char *name,
                                 struct tw_file file, const char *path)
{
    const uint32_t number = (uint32_t)out->count;
    const struct written *there;
    uint32_t found = TW_NONE;
    char *copy = tw_copy_text(NULL, name);

    if (copy && TW_GROW(NULL, &out->written, &out->room, out->count + 1)) {
        out->written[number] = (struct written){ copy, file, path };
        found = tw_names_put(&out->files, name, number);
    }
    *is_new = found == number;
    if (*is_new)
        out->count++;
    else
        tw_give(NULL, copy);
    if (found == TW_NONE)
        return tw_fail(out->fault, TW_E_MEMORY, "no memory for %s", name);
    there = &out->written[found];
    if (!*is_new && (there->file.bytes != file.bytes || there->file.size != file.size ||
                     (!file.bytes && path && (!there->path || strcmp(there->path, path) != 0))))
        return tw_fail(out->fault, TW_E_ARGUMENT, "two files named %s", name);
    return TW_OK;
}

/* Writes bytes, or a copy of the file at `path`.  *size becomes what the file holds. */
static enum tw_status write_file(struct writing *out, size_t *size, const char *name,
                                 const uint8_t *bytes, const char *path)
{
    const bool is_copy = !bytes && path;
    struct tw_file file = { .bytes = bytes, .size = *size };
    enum tw_status status;
    bool is_new;

    if (!is_file_name(name))
        return bad_name(out, "file name", name);
    if (!bytes && !path && *size)
        return tw_fail(out->fault, TW_E_ARGUMENT, "%s: has neither bytes nor a path", name);
    if (is_copy) {
        TW_TRY(tw_file_map(&file, NULL, path, out->fault));
        *size = file.size;
    }
    status =
        enter_name(out, &is_new, name, (struct tw_file){ .bytes = bytes, .size = *size }, path);
    if (status == TW_OK && is_new)
        status = tw_folder_write(&out->folder, name, file.bytes, file.size);
    if (is_copy)
        tw_file_unmap(&file);
    return status;
}

static enum tw_status write_dump(struct writing *out, const struct tw_snapshot_dump *dump)
{
    size_t size = dump->size;
    uint32_t spaces;

    TW_TRY(write_file(out, &size, dump->file, dump->bytes, dump->path));
    if (dump->offset > size || dump->length > size - dump->offset)
        return tw_fail(out->fault, TW_E_ARGUMENT,
                       "dump %s: %" PRIu64 " bytes from offset %" PRIu64
                       " are asked for, but it has %zu",
                       dump->file, dump->length, dump->offset, size);
    if (dump->space && !tw_space_by_name(&spaces, dump->space))
        return bad_name(out, "space", dump->space);
    tw_text_format(&out->text, "\n[dump]\nfile=%s\n", dump->file);
    if (dump->space)
        tw_text_format(&out->text, "space=%s\n", dump->space);
    tw_text_format(&out->text, "address=0x%" PRIx64 "\n", dump->address);
    if (dump->length || dump->offset)
        tw_text_format(&out->text, "length=0x%" PRIx64 "\n",
                       dump->length ? dump->length : size - dump->offset);
    if (dump->offset)
        tw_text_format(&out->text, "offset=0x%" PRIx64 "\n", dump->offset);
    return TW_OK;
}

static enum tw_status write_register(struct writing *out, const struct tw_register *reg,
                                     const struct tw_register_detail *detail)
{
    const uint32_t id = detail ? detail->id : TW_NONE;
    uint32_t bits = detail ? detail->bits : 32;

    if (!is_name(reg->name))
        return bad_name(out, "register", reg->name);
    if (bits <= 32 && reg->value > UINT32_MAX)
        bits = 64;
    tw_text_add(&out->text, reg->name);
    if (id != TW_NONE && bits != 32)
        tw_text_format(&out->text, "(id:0x%" PRIx32 ",size:%" PRIu32 ")", id, bits);
    else if (id != TW_NONE)
        tw_text_format(&out->text, "(id:0x%" PRIx32 ")", id);
    else if (bits != 32)
        tw_text_format(&out->text, "(size:%" PRIu32 ")", bits);
    tw_text_format(&out->text, "=0x%0*" PRIx64 "\n", bits > 32 ? 16 : 8, reg->value);
    return TW_OK;
}

/* The section [etrace] or [ntrace]; comments and headings of a configuration file are left out. */
static enum tw_status write_lines(struct writing *out, const char *type, const char *text)
{
    const bool is_ntrace = type && tw_name_begins(type, "NTRACE");

    tw_text_add(&out->text, is_ntrace ? "\n[ntrace]\n" : "\n[etrace]\n");
    for (; *text; text += *text == '\n') {
        const size_t size = strcspn(text, "\r\n");

        for (size_t i = 0; i < size; i++)
            if ((uint8_t)text[i] < ' ' && text[i] != '\t')
                return bad_name(out, "configuration", text);
        if (size && !strchr("#[;<", *text)) {
            tw_text_add_size(&out->text, text, size);
            tw_text_char(&out->text, '\n');
        }
        text += size;
        text += *text == '\r';
    }
    return TW_OK;
}

static enum tw_status write_device(struct writing *out, size_t number)
{
    const struct tw_snapshot_device *device = &out->snapshot->devices[number];
    const struct {
        const char *key, *value;
    } lines[] = { { "name", device->name },
                  { "class", device->class_name },
                  { "type", device->type },
                  { "location", device->location } };
    char file[32];
    struct tw_text name = tw_text_in(file, sizeof file);

    tw_text_add(&out->text, "[device]\n");
    for (size_t i = 0; i < TW_LENGTH(lines); i++) {
        if (!lines[i].value && i > 0)
            continue;
        if (i == 0 ? !is_name(lines[i].value) : !is_plain(lines[i].value, ""))
            return bad_name(out, "device", lines[i].value);
        tw_text_format(&out->text, "%s=%s\n", lines[i].key, lines[i].value);
    }
    if (device->register_count)
        tw_text_add(&out->text, "\n[regs]\n");
    for (size_t i = 0; i < device->register_count; i++)
        TW_TRY(write_register(out, &device->registers[i],
                              device->details ? &device->details[i] : NULL));
    if (device->text)
        TW_TRY(write_lines(out, device->type, device->text));
    for (size_t i = 0; i < device->dump_count; i++)
        TW_TRY(write_dump(out, &device->dumps[i]));
    tw_text_format(&name, "device_%zu.ini", number);
    return write_text(out, file);
}

static enum tw_status write_clusters(struct writing *out)
{
    const struct tw_snapshot *snapshot = out->snapshot;

    if (snapshot->cluster_count)
        tw_text_add(&out->text, "\n[clusters]\n");
    for (size_t i = 0; i < snapshot->cluster_count; i++) {
        const struct tw_cluster *cluster = &snapshot->clusters[i];

        if (!is_name(cluster->name))
            return bad_name(out, "cluster", cluster->name);
        tw_text_format(&out->text, "%s=", cluster->name);
        for (size_t k = 0; k < cluster->device_count; k++) {
            if (!is_name(cluster->devices[k]))
                return bad_name(out, "device", cluster->devices[k]);
            tw_text_format(&out->text, "%s%s", k ? "," : "", cluster->devices[k]);
        }
        tw_text_char(&out->text, '\n');
    }
    return TW_OK;
}

static enum tw_status write_index(struct writing *out)
{
    const struct tw_snapshot *snapshot = out->snapshot;

    tw_text_add(&out->text, "[snapshot]\nversion=1.0\n");
    if (snapshot->description) {
        if (!is_plain(snapshot->description, ""))
            return bad_name(out, "description", snapshot->description);
        tw_text_format(&out->text, "description=%s\n", snapshot->description);
    }
    tw_text_add(&out->text, "\n[device_list]\n");
    for (size_t i = 0; i < snapshot->device_count; i++)
        tw_text_format(&out->text, "device%zu=device_%zu.ini\n", i, i);
    TW_TRY(write_clusters(out));
    if (snapshot->buffer_count)
        tw_text_add(&out->text, "\n[trace]\nmetadata=trace.ini\n");
    return write_text(out, "snapshot.ini");
}

/* The files of a buffer after the first. */
static enum tw_status write_more_files(struct writing *out, const char *buffer)
{
    for (size_t i = 0; i < out->snapshot->file_count; i++) {
        const struct tw_snapshot_file *file = &out->snapshot->files[i];
        size_t size = file->size;

        if (!file->buffer || strcmp(file->buffer, buffer) != 0)
            continue;
        TW_TRY(write_file(out, &size, file->file, file->bytes, file->path));
        tw_text_format(&out->text, ",%s", file->file);
    }
    return TW_OK;
}

static enum tw_status write_buffer(struct writing *out, size_t number)
{
    static const char *const formats[] = { "coresight", "source_data", "dstream_coresight" };
    const struct tw_snapshot_buffer *buffer = &out->snapshot->buffers[number];
    struct tw_text name = { 0 };
    size_t size = buffer->size, known = 0;
    enum tw_status status;

    if (!is_name(buffer->name))
        return bad_name(out, "buffer", buffer->name);
    while (known < TW_LENGTH(formats) && buffer->format &&
           strcmp(buffer->format, formats[known]) != 0)
        known++;
    if (!buffer->format || known == TW_LENGTH(formats))
        return bad_name(out, "format", buffer->format);
    tw_text_format(&name, "%s%s", buffer->file ? buffer->file : buffer->name,
                   buffer->file ? "" : ".bin");
    tw_text_format(&out->text, "\n[buffer%zu]\nname=%s\nfile=%s", number, buffer->name,
                   name.failed ? "" : name.chars);
    if (name.failed)
        status = tw_fail(out->fault, TW_E_MEMORY, "no memory for %s", buffer->name);
    else
        status = write_file(out, &size, name.chars, buffer->bytes, buffer->path);
    tw_text_free(&name);
    if (status == TW_OK)
        status = write_more_files(out, buffer->name);
    tw_text_format(&out->text, "\nformat=%s\n", buffer->format);
    return status;
}

static bool has_buffer(const struct tw_snapshot *snapshot, const char *name)
{
    for (size_t i = 0; i < snapshot->buffer_count; i++)
        if (name && strcmp(snapshot->buffers[i].name, name) == 0)
            return true;
    return false;
}

static bool has_device(const struct tw_snapshot *snapshot, const char *name)
{
    for (size_t i = 0; i < snapshot->device_count; i++)
        if (strcmp(snapshot->devices[i].name, name) == 0)
            return true;
    return false;
}

/* Which buffers hold a source (stream TW_NONE), or one stream of it. */
static enum tw_status write_stream(struct writing *out, const struct tw_snapshot_stream *stream)
{
    const struct tw_snapshot *snapshot = out->snapshot;

    if (!stream->buffer_count)
        return TW_OK;
    tw_text_add(&out->text, stream->device);
    if (stream->stream != TW_NONE)
        tw_text_format(&out->text, "(stream:%" PRIu32 ")", stream->stream);
    tw_text_char(&out->text, '=');
    for (size_t k = 0; k < stream->buffer_count; k++) {
        if (!has_buffer(snapshot, stream->buffers[k]))
            return tw_fail(out->fault, TW_E_ARGUMENT, "%s: there is no buffer %s",
                           stream->device, stream->buffers[k] ? stream->buffers[k] : "");
        tw_text_format(&out->text, "%s%s", k ? "," : "", stream->buffers[k]);
    }
    tw_text_char(&out->text, '\n');
    return TW_OK;
}

static enum tw_status write_streams(struct writing *out)
{
    const struct tw_snapshot *snapshot = out->snapshot;

    for (size_t i = 0; i < snapshot->device_count; i++) {
        const struct tw_snapshot_device *device = &snapshot->devices[i];
        const struct tw_snapshot_stream all = { device->name, TW_NONE, device->buffers,
                                                device->buffer_count };

        TW_TRY(write_stream(out, &all));
    }
    for (size_t i = 0; i < snapshot->stream_count; i++) {
        const struct tw_snapshot_stream *stream = &snapshot->streams[i];

        if (!stream->device || !has_device(snapshot, stream->device))
            return tw_fail(out->fault, TW_E_ARGUMENT,
                           "stream %" PRIu32 ": there is no device %s", stream->stream,
                           stream->device ? stream->device : "");
        TW_TRY(write_stream(out, stream));
    }
    return TW_OK;
}

/* Which core and which buffers each source belongs to. */
static enum tw_status write_associations(struct writing *out)
{
    const struct tw_snapshot *snapshot = out->snapshot;

    tw_text_add(&out->text, "\n[source_buffers]\n");
    TW_TRY(write_streams(out));
    tw_text_add(&out->text, "\n[core_trace_sources]\n");
    for (size_t i = 0; i < snapshot->device_count; i++) {
        const struct tw_snapshot_device *device = &snapshot->devices[i];

        if (device->core && !has_device(snapshot, device->core))
            return tw_fail(out->fault, TW_E_ARGUMENT, "%s: there is no core %s", device->name,
                           device->core);
        if (device->core)
            tw_text_format(&out->text, "%s=%s\n", device->core, device->name);
    }
    return TW_OK;
}

static enum tw_status write_trace(struct writing *out)
{
    const struct tw_snapshot *snapshot = out->snapshot;

    if (!snapshot->buffer_count)
        return TW_OK;
    tw_text_add(&out->text, "[trace_buffers]\nbuffers=");
    for (size_t i = 0; i < snapshot->buffer_count; i++)
        tw_text_format(&out->text, "%sbuffer%zu", i ? "," : "", i);
    tw_text_char(&out->text, '\n');
    for (size_t i = 0; i < snapshot->buffer_count; i++)
        TW_TRY(write_buffer(out, i));
    TW_TRY(write_associations(out));
    return write_text(out, "trace.ini");
}

/* Devices and buffers have names of their own. */
static enum tw_status check_names(struct writing *out)
{
    const struct tw_snapshot *snapshot = out->snapshot;

    for (size_t i = 0; i < snapshot->device_count; i++) {
        if (!is_name(snapshot->devices[i].name))
            return bad_name(out, "device", snapshot->devices[i].name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(snapshot->devices[i].name, snapshot->devices[k].name) == 0)
                return tw_fail(out->fault, TW_E_ARGUMENT, "two devices named %s",
                               snapshot->devices[i].name);
    }
    for (size_t i = 0; i < snapshot->buffer_count; i++) {
        if (!is_name(snapshot->buffers[i].name))
            return bad_name(out, "buffer", snapshot->buffers[i].name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(snapshot->buffers[i].name, snapshot->buffers[k].name) == 0)
                return tw_fail(out->fault, TW_E_ARGUMENT, "two buffers named %s",
                               snapshot->buffers[i].name);
    }
    for (size_t i = 0; i < snapshot->file_count; i++)
        if (!has_buffer(snapshot, snapshot->files[i].buffer))
            return tw_fail(out->fault, TW_E_ARGUMENT, "%s: there is no buffer %s",
                           snapshot->files[i].file ? snapshot->files[i].file : "",
                           snapshot->files[i].buffer ? snapshot->files[i].buffer : "");
    return TW_OK;
}

static enum tw_status write_all(struct writing *out, const char *path)
{
    TW_TRY(check_names(out));
    TW_TRY(tw_folder_create(&out->folder, path, out->fault));
    for (size_t i = 0; i < out->snapshot->device_count; i++)
        TW_TRY(write_device(out, i));
    TW_TRY(write_trace(out));
    TW_TRY(write_index(out));
    return tw_folder_commit(&out->folder, out->snapshot->overwrite, "snapshot.ini");
}

enum tw_status tw_snapshot_write(const char *path, const struct tw_snapshot *snapshot,
                                 struct tw_fault *fault)
{
    struct writing out = { .fault = fault };
    struct tw_snapshot copy;
    enum tw_status status;

    if (!path || !*path)
        return tw_fail(fault, TW_E_ARGUMENT, "there is no path");
    TW_TRY(TW_SIZED_TAKE(&copy, snapshot, "tw_snapshot", fault));
    out.snapshot = &copy;
    out.files.text = written_name;
    out.files.context = &out;
    status = write_all(&out, path);
    tw_folder_close(&out.folder);
    tw_text_free(&out.text);
    tw_map_free(&out.files.map);
    for (size_t i = 0; i < out.count; i++)
        tw_give(NULL, out.written[i].name);
    tw_give(NULL, out.written);
    return status;
}
