/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads snapshot.ini and the device files that it lists. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/inside.h"
#include "base/memory.h"
#include "capture/capture.h"

static bool is_absolute(const char *path)
{
    const char c = path[0];
    const bool has_drive = ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) && path[1] == ':';

    return c == '/' || has_drive;
}

/* No name, and no link on its way, leads above the folder. */
static enum tw_status look_inside(struct tw_capture *capture, bool *is_inside, const char *name)
{
    struct tw_text path = { .allocator = capture->allocator };
    const int why = tw_inside(&path, capture->folder, name, false) ? 0 : errno;

    tw_text_free(&path);
    *is_inside = why != EXDEV;
    return why == ENOMEM ? tw_capture_no_memory(capture) : TW_OK;
}

enum tw_status tw_snapshot_path(struct tw_capture *capture, const char **path,
                                const struct tw_ini *ini, const struct tw_ini_entry *entry,
                                const char *item)
{
    char *full = tw_capture_format(capture, "%s%s", capture->folder, item);
    bool is_inside = true;
    char *name;

    *path = full;
    if (!full)
        return TW_E_MEMORY;
    name = full + strlen(capture->folder);
    for (char *at = name; *at; at++)
        if (*at == '\\')
            *at = '/'; /* written on Windows */
    if (!*name)
        return tw_fail(capture->fault, TW_E_CONFIG, "%s:%u: %s= names no file", ini->path,
                       entry->line, entry->key);
    if (is_absolute(name))
        return tw_fail(capture->fault, TW_E_CONFIG,
                       "%s:%u: %s=%s: absolute paths are not allowed in a snapshot", ini->path,
                       entry->line, entry->key, item);
    if (!capture->options.allow_outside)
        TW_TRY(look_inside(capture, &is_inside, name));
    if (!is_inside)
        return tw_fail(capture->fault, TW_E_CONFIG,
                       "%s:%u: %s=%s: leads out of the snapshot's folder", ini->path,
                       entry->line, entry->key, item);
    return TW_OK;
}

/* A number that stands alone; NULL entry: *value stays as it is. */
static enum tw_status read_number(struct tw_capture *capture, uint64_t *value,
                                  const struct tw_ini *ini, const struct tw_ini_entry *entry)
{
    if (entry && !tw_number_parse(value, entry->value, false))
        return tw_fail(capture->fault, TW_E_CONFIG, "%s:%u: %s=%s: not a number", ini->path,
                       entry->line, entry->key, entry->value);
    return TW_OK;
}

/* How much of the dump its file holds. */
static enum tw_status measure_dump(struct tw_capture *capture, struct tw_dump *dump,
                                   const struct tw_ini *ini, const struct tw_ini_entry *entry,
                                   const struct capture_file *file)
{
    const uint64_t there = dump->offset < file->size ? file->size - dump->offset : 0;

    dump->length = dump->claimed && dump->claimed < there ? dump->claimed : there;
    dump->state = TW_DUMP_WHOLE;
    if (dump->length - 1 > UINT64_MAX - dump->address && dump->length)
        return tw_fail(capture->fault, TW_E_CONFIG,
                       "%s:%u: file=%s: at 0x%" PRIx64 " it passes the end of memory",
                       ini->path, entry->line, dump->file, dump->address);
    if (file->bytes)
        dump->bytes = file->bytes + (dump->length ? dump->offset : 0);
    if (dump->length && dump->length >= dump->claimed)
        return TW_OK;
    dump->state = dump->length ? TW_DUMP_SHORT : TW_DUMP_MISSING;
    if (!file->bytes)
        return tw_capture_warn(capture, "%s:%u: file=%s: missing (%s)", ini->path, entry->line,
                               dump->file, file->why);
    if (dump->claimed)
        return tw_capture_warn(capture,
                               "%s:%u: file=%s: %" PRIu64 " of %" PRIu64 " bytes are there",
                               ini->path, entry->line, dump->file, dump->length, dump->claimed);
    return tw_capture_warn(capture, "%s:%u: file=%s: holds nothing", ini->path, entry->line,
                           dump->file);
}

static enum tw_status read_dump(struct tw_capture *capture, struct tw_dump *dump,
                                const struct tw_ini *ini, size_t section)
{
    const struct tw_ini_entry *file = tw_ini_key(ini, section, "file");
    const struct tw_ini_entry *address = tw_ini_key(ini, section, "address");
    const struct tw_ini_entry *space = tw_ini_key(ini, section, "space");
    const struct tw_ini_section *at = &ini->sections[section];
    const struct capture_file *loaded;
    const char *path;

    TW_TRY(tw_ini_check(ini, section, capture->fault));
    if (!file || !address)
        return tw_fail(capture->fault, TW_E_CONFIG, "%s:%u: [%s] has no %s", ini->path,
                       at->line, at->name, file ? "address" : "file");
    dump->file = file->value;
    TW_TRY(read_number(capture, &dump->address, ini, address));
    TW_TRY(read_number(capture, &dump->claimed, ini, tw_ini_key(ini, section, "length")));
    TW_TRY(read_number(capture, &dump->offset, ini, tw_ini_key(ini, section, "offset")));
    dump->spaces = TW_SPACE_ANY;
    if (space && *space->value) {
        dump->space = space->value;
        if (!tw_space_by_name(&dump->spaces, space->value))
            TW_TRY(tw_capture_warn(capture, "%s:%u: space=%s: unknown; taken as all spaces",
                                   ini->path, space->line, space->value));
    }
    TW_TRY(tw_snapshot_path(capture, &path, ini, file, file->value));
    TW_TRY(tw_capture_load(capture, &loaded, path));
    return measure_dump(capture, dump, ini, file, loaded);
}

static enum tw_status read_registers(struct tw_capture *capture, struct tw_device *device,
                                     const struct tw_ini *ini)
{
    struct tw_register_detail *details;
    struct tw_register *registers;
    size_t count = 0;

    for (size_t s = tw_ini_section(ini, "regs", 0); s < ini->section_count;
         s = tw_ini_section(ini, "regs", s + 1))
        count += ini->sections[s].count;
    registers = tw_capture_keep(capture, count, sizeof *registers);
    details = tw_capture_keep(capture, count, sizeof *details);
    if (!registers || !details)
        return TW_E_MEMORY;
    device->registers = registers;
    device->details = details;
    for (size_t s = tw_ini_section(ini, "regs", 0); s < ini->section_count;
         s = tw_ini_section(ini, "regs", s + 1)) {
        const struct tw_ini_section *section = &ini->sections[s];

        TW_TRY(tw_ini_check(ini, s, capture->fault));
        for (size_t i = section->first; i < section->first + section->count; i++) {
            TW_TRY(tw_register_read(capture, registers, details, ini, &ini->entries[i]));
            registers++;
            details++;
        }
    }
    device->register_count = count;
    return TW_OK;
}

static enum tw_status read_dumps(struct tw_capture *capture, struct tw_device *device,
                                 const struct tw_ini *ini)
{
    struct tw_dump *dumps;
    size_t count = 0;

    for (size_t s = 0; s < ini->section_count; s++)
        count += tw_name_begins(ini->sections[s].name, "dump");
    dumps = tw_capture_keep(capture, count, sizeof *dumps);
    if (!dumps)
        return TW_E_MEMORY;
    device->dumps = dumps;
    for (size_t s = 0; s < ini->section_count; s++)
        if (tw_name_begins(ini->sections[s].name, "dump"))
            TW_TRY(read_dump(capture, dumps++, ini, s));
    device->dump_count = count;
    return TW_OK;
}

static const char *value_of(const struct tw_ini *ini, size_t section, const char *key)
{
    const struct tw_ini_entry *entry = tw_ini_key(ini, section, key);

    return entry && *entry->value ? entry->value : NULL;
}

/* RISC-V trace units are described by more than numbers: the section's lines, as they are. */
static enum tw_status read_lines(struct tw_capture *capture, struct tw_device *device,
                                 const struct tw_ini *ini)
{
    const size_t etrace = tw_ini_section(ini, "etrace", 0);
    const size_t section =
        etrace < ini->section_count ? etrace : tw_ini_section(ini, "ntrace", 0);
    const struct tw_ini_section *lines;
    size_t size = 1;
    char *text;

    if (section == ini->section_count)
        return TW_OK;
    TW_TRY(tw_ini_check(ini, section, capture->fault));
    lines = &ini->sections[section];
    for (size_t i = lines->first; i < lines->first + lines->count; i++)
        size += strlen(ini->entries[i].key) + strlen(ini->entries[i].value) + 2;
    device->text = text = tw_capture_keep(capture, size, 1);
    if (!text)
        return TW_E_MEMORY;
    for (size_t i = lines->first; i < lines->first + lines->count; i++)
        text += sprintf(text, "%s=%s\n", ini->entries[i].key, ini->entries[i].value);
    return TW_OK;
}

static enum tw_status read_device(struct tw_capture *capture, const char *listed,
                                  const struct tw_ini *ini)
{
    const size_t section = tw_ini_section(ini, "device", 0);
    struct tw_device device = { .file = listed };

    if (section == ini->section_count)
        return tw_fail(capture->fault, TW_E_CONFIG, "%s: has no [device] section", ini->path);
    TW_TRY(tw_ini_check(ini, section, capture->fault));
    device.name = value_of(ini, section, "name");
    if (!device.name)
        return tw_fail(capture->fault, TW_E_CONFIG, "%s:%u: [device] has no name", ini->path,
                       ini->sections[section].line);
    device.class_name = value_of(ini, section, "class");
    device.type = value_of(ini, section, "type");
    device.location = value_of(ini, section, "location");
    TW_TRY(read_registers(capture, &device, ini));
    TW_TRY(read_dumps(capture, &device, ini));
    TW_TRY(read_lines(capture, &device, ini));
    if (!TW_GROW(capture->allocator, &capture->devices, &capture->device_room,
                 capture->device_count + 1))
        return tw_capture_no_memory(capture);
    capture->devices[capture->device_count++] = device;
    return TW_OK;
}

enum tw_status tw_device_read(struct tw_capture *capture, const char *name,
                              const struct capture_file *file)
{
    struct tw_ini ini;
    enum tw_status status = tw_capture_parse(capture, &ini, file);

    if (status == TW_OK)
        status = read_device(capture, name, &ini);
    tw_ini_free(&ini);
    return status;
}

static const char *entry_key(const void *context, uint32_t number)
{
    const struct tw_ini *ini = context;

    return ini->entries[number].key;
}

static const char *device_name(const void *context, uint32_t number)
{
    const struct tw_capture *capture = context;

    return capture->devices[number].name;
}

/* One line of [device_list]. */
static enum tw_status read_listed(struct tw_capture *capture, struct capture_names *names,
                                  const struct tw_ini *ini, const struct tw_ini_entry *entry)
{
    const uint32_t number = (uint32_t)capture->device_count;
    const struct capture_file *file;
    const char *path;
    uint32_t found;

    TW_TRY(tw_snapshot_path(capture, &path, ini, entry, entry->value));
    TW_TRY(tw_capture_load(capture, &file, path));
    if (!file->bytes)
        return tw_capture_warn(capture, "%s:%u: %s=%s: missing (%s)", ini->path, entry->line,
                               entry->key, entry->value, file->why);
    TW_TRY(tw_device_read(capture, entry->value, file));
    found = tw_names_put(names, capture->devices[number].name, number);
    if (found == TW_NONE)
        return tw_capture_no_memory(capture);
    if (found != number)
        return tw_fail(capture->fault, TW_E_CONFIG,
                       "%s:%u: %s=%s: a second device with name=%s (the first is in %s)",
                       ini->path, entry->line, entry->key, entry->value,
                       capture->devices[number].name, capture->devices[found].file);
    return TW_OK;
}

static enum tw_status read_list(struct tw_capture *capture, struct capture_names *names,
                                struct capture_names *keys, const struct tw_ini *ini,
                                size_t section)
{
    const struct tw_ini_section *list = &ini->sections[section];

    TW_TRY(tw_ini_check(ini, section, capture->fault));
    for (size_t i = list->first; i < list->first + list->count; i++) {
        const uint32_t found = tw_names_put(keys, ini->entries[i].key, (uint32_t)i);

        if (found == TW_NONE)
            return tw_capture_no_memory(capture);
        if (found != i)
            return tw_fail(capture->fault, TW_E_CONFIG,
                           "%s:%u: [%s] a second key %s (the first is in line %u)", ini->path,
                           ini->entries[i].line, list->name, ini->entries[i].key,
                           ini->entries[found].line);
        TW_TRY(read_listed(capture, names, ini, &ini->entries[i]));
    }
    return TW_OK;
}

static enum tw_status read_clusters(struct tw_capture *capture,
                                    const struct capture_names *names, const struct tw_ini *ini)
{
    const size_t section = tw_ini_section(ini, "clusters", 0);
    const struct tw_ini_section *list;

    if (section == ini->section_count)
        return TW_OK;
    TW_TRY(tw_ini_check(ini, section, capture->fault));
    list = &ini->sections[section];
    capture->clusters = tw_capture_keep(capture, list->count, sizeof *capture->clusters);
    if (!capture->clusters)
        return TW_E_MEMORY;
    for (size_t i = 0; i < list->count; i++) {
        const struct tw_ini_entry *entry = &ini->entries[list->first + i];
        struct tw_cluster *cluster = &capture->clusters[i];
        const char **devices;
        size_t room = 1;
        char *rest = entry->value, *name;

        for (const char *at = rest; *at; at++)
            room += *at == ',';
        devices = tw_capture_keep(capture, room, sizeof *devices);
        if (!devices)
            return TW_E_MEMORY;
        cluster->name = entry->key;
        cluster->devices = devices;
        while ((name = tw_list_next(&rest))) {
            const uint32_t device = tw_names_find(names, name);

            devices[cluster->device_count++] = name;
            if (device != TW_NONE)
                capture->devices[device].cluster = cluster->name;
        }
        capture->cluster_count++;
    }
    return TW_OK;
}

static enum tw_status check_version(struct tw_capture *capture, const struct tw_ini *ini)
{
    const size_t section = tw_ini_section(ini, "snapshot", 0);
    const struct tw_ini_entry *version;

    if (section == ini->section_count)
        return tw_fail(capture->fault, TW_E_CONFIG, "%s: has no [snapshot] section", ini->path);
    TW_TRY(tw_ini_check(ini, section, capture->fault));
    version = tw_ini_key(ini, section, "version");
    if (!version)
        return tw_fail(capture->fault, TW_E_CONFIG, "%s:%u: [snapshot] has no version",
                       ini->path, ini->sections[section].line);
    if (strcmp(version->value, "1.0") != 0)
        return tw_fail(capture->fault, TW_E_CONFIG, "%s:%u: version=%s: only 1.0 is known",
                       ini->path, version->line, version->value);
    capture->description = value_of(ini, section, "description");
    return TW_OK;
}

static enum tw_status read_all(struct tw_capture *capture, struct capture_names *names,
                               struct capture_names *keys, const struct tw_ini *ini)
{
    const size_t trace = tw_ini_section(ini, "trace", 0);
    size_t list = tw_ini_section(ini, "device_list", 0);
    const struct tw_ini_entry *metadata;
    const char *path;

    TW_TRY(check_version(capture, ini));
    if (list == ini->section_count)
        return tw_fail(capture->fault, TW_E_CONFIG, "%s: has no [device_list] section",
                       ini->path);
    for (; list < ini->section_count; list = tw_ini_section(ini, "device_list", list + 1))
        TW_TRY(read_list(capture, names, keys, ini, list));
    TW_TRY(read_clusters(capture, names, ini));
    if (trace == ini->section_count)
        return TW_OK; /* a snapshot of memory and registers alone */
    TW_TRY(tw_ini_check(ini, trace, capture->fault));
    metadata = tw_ini_key(ini, trace, "metadata");
    if (!metadata)
        return tw_fail(capture->fault, TW_E_CONFIG, "%s:%u: [trace] has no metadata", ini->path,
                       ini->sections[trace].line);
    TW_TRY(tw_snapshot_path(capture, &path, ini, metadata, metadata->value));
    return tw_trace_read(capture, path, ini, metadata, names);
}

enum tw_status tw_snapshot_read(struct tw_capture *capture)
{
    struct capture_names names = { .text = device_name, .context = capture };
    struct capture_names keys = { .text = entry_key };
    const char *path = tw_capture_format(capture, "%ssnapshot.ini", capture->folder);
    const struct capture_file *file;
    struct tw_ini ini;
    enum tw_status status;
    bool is_inside = true;

    if (!path)
        return TW_E_MEMORY;
    if (!capture->options.allow_outside)
        TW_TRY(look_inside(capture, &is_inside, "snapshot.ini"));
    if (!is_inside)
        return tw_fail(capture->fault, TW_E_CONFIG, "%s: leads out of the snapshot's folder",
                       path);
    TW_TRY(tw_capture_load(capture, &file, path));
    if (!file->bytes)
        return tw_fail(capture->fault, TW_E_FILE, "%s", file->why);
    names.map.allocator = keys.map.allocator = capture->allocator;
    keys.context = &ini;
    status = tw_capture_parse(capture, &ini, file);
    if (status == TW_OK)
        status = read_all(capture, &names, &keys, &ini);
    tw_ini_free(&ini);
    tw_map_free(&names.map);
    tw_map_free(&keys.map);
    return status;
}
