/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of code: the symbols of each image and of each file that perf.data maps; and the functions that
   a filter asks for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fault.h"
#include "base/platform.h"
#include "base/sized.h"
#include "capture/capture.h"
#include "capture/perfdata.h"
#include "image/symbols.h"
#include "run/run.h"

/* The symbols of an image or file, and the code in it that the filter wants. */
struct named {
    struct tw_symbols *symbols;
    bool is_loaded;
    bool is_asked, is_jitdump; /* whether its code was made at run time was asked; it was */
    struct tw_address_range *ranges; /* of functions; end 0: none */
    size_t range_count, range_room;
};

struct tw_run_names {
    struct tw_symbol_file *files; /* of the config */
    size_t file_count;
    struct named *images; /* by number; the last one stands for code of no image */
    size_t image_count;
    struct named *objects; /* perf.data: by file number */
    size_t object_count;
    /* The map that held the last address: code does not often leave it. */
    const struct tw_perf_map *map;
    uint32_t space;
    uint64_t time;
};

/* Names would be missing without a reason that can be seen: the run ends. */
static enum tw_status lack_memory(struct tw_run *run)
{
    run->broken = tw_fail(&run->fault, TW_E_MEMORY, "no memory for symbols");
    return TW_E_MEMORY;
}

static bool is_elf(struct tw_run *run, const char *path)
{
    FILE *file = fopen(path, "rb");
    char magic[4] = "";
    const bool is_it = file && fread(magic, 1, sizeof magic, file) == sizeof magic &&
                       memcmp(magic, "\177ELF", sizeof magic) == 0;

    if (file)
        (void)fclose(file);
    else if (errno == ENOMEM)
        (void)lack_memory(run);
    return is_it;
}

/* Names are an extra here: what cannot be read is only told of. */
static void check(struct tw_run *run, const struct tw_symbols *symbols, enum tw_status status)
{
    if (status == TW_E_MEMORY)
        (void)lack_memory(run);
    else if (status != TW_OK)
        tw_warn(run, "no symbols: %s", tw_symbols_fault(symbols));
}

/* A snapshot's dump may be a piece of an ELF file that lies in its folder. */
static void add_dump(struct tw_run *run, struct tw_symbols *symbols, const struct tw_dump *dump)
{
    const char *capture = tw_capture_path(run->capture);
    const char *slash = tw_last_slash(capture);
    const size_t length = strlen(capture);
    const bool is_ini = length > 4 && strcasecmp(capture + length - 4, ".ini") == 0;
    const int folder = is_ini ? slash ? (int)(slash - capture) : 0 : (int)length;
    const size_t room = length + strlen(dump->file) + 3;
    char *path;

    if (dump->state == TW_DUMP_MISSING)
        return;
    path = tw_take(run->allocator, room);
    if (!path) {
        (void)lack_memory(run);
        return;
    }
    (void)snprintf(path, room, "%.*s%s%s", folder, capture, folder ? "/" : "", dump->file);
    if (is_elf(run, path))
        check(run, symbols, tw_symbols_add_loaded(symbols, path, dump->offset, dump->address));
    tw_give(run->allocator, path);
}

static bool is_memory_space(const struct tw_device *device)
{
    return device->class_name && strcasecmp(device->class_name, "memory_space") == 0;
}

/* The dumps that a source's image is made of: its core's, or all memory spaces'. */
static void add_dumps(struct tw_run *run, struct tw_symbols *symbols,
                      const struct tw_source *source)
{
    bool has_own = false;

    for (unsigned pass = 0; pass < 2 && !has_own; pass++) {
        for (size_t i = 0; i < tw_capture_device_count(run->capture); i++) {
            const struct tw_device *device = tw_capture_device(run->capture, i);

            if (pass ? !is_memory_space(device)
                     : !source->core || strcmp(device->name, source->core) != 0)
                continue;
            has_own |= device->dump_count != 0;
            for (size_t k = 0; k < device->dump_count; k++)
                add_dump(run, symbols, &device->dumps[k]);
        }
    }
}

/* The files that the caller names must be good, those of the capture need not. */
static enum tw_status load_image(struct tw_run *run, size_t number)
{
    struct tw_run_names *names = run->names;
    struct named *image = &names->images[number];
    const struct tw_capture *capture = run->capture;

    if (image->is_loaded)
        return TW_OK;
    image->is_loaded = true;
    if (tw_symbols_new(&image->symbols, run->allocator, NULL) != TW_OK)
        return lack_memory(run);
    for (size_t i = 0; i < names->file_count; i++) {
        const enum tw_status status =
            tw_symbols_add_elf(image->symbols, names->files[i].path, names->files[i].bias);

        if (status == TW_E_MEMORY)
            return lack_memory(run);
        if (status != TW_OK)
            return tw_fail(&run->fault, TW_E_FILE, "%s", tw_symbols_fault(image->symbols));
    }
    for (size_t i = 0; i < capture->image_file_count; i++) {
        const struct tw_capture_image_option *file = &capture->image_files[i];

        if (file->has_src &&
            (number >= capture->image_count || capture->images[number].src != file->src))
            continue;
        if (is_elf(run, file->path))
            check(run, image->symbols,
                  tw_symbols_add_elf(image->symbols, file->path, file->address));
    }
    for (size_t i = 0; i < tw_capture_source_count(capture); i++) {
        const struct tw_source *source = tw_capture_source(capture, i);

        if (source->image == number ||
            (number < capture->image_count &&
             tw_capture_image_of(capture, i, capture->images[number].src) == number))
            add_dumps(run, image->symbols, source);
    }
    return TW_OK;
}

static void load_object(struct tw_run *run, uint32_t file)
{
    struct named *object = &run->names->objects[file];
    const struct tw_perf_file *about = tw_perf_file(run->perf, file);

    if (object->is_loaded)
        return;
    object->is_loaded = true;
    if (tw_symbols_new(&object->symbols, run->allocator, NULL) != TW_OK) {
        (void)lack_memory(run);
        return;
    }
    if (about->state != TW_PERF_FILE_FOUND)
        return;
    if (tw_perf_is_jitdump(run->perf, file))
        check(run, object->symbols, tw_perf_jit_names(run->perf, file, object->symbols));
    else if (is_elf(run, about->path))
        check(run, object->symbols, tw_symbols_add_elf(object->symbols, about->path, 0));
}

/* Where the file's symbols have what lies at an address; false: it can have none.  Code that was made at run time is
   named by where it was. */
static bool link_of(const struct tw_run *run, uint64_t *link, const struct tw_perf_map *map,
                    uint64_t address)
{
    struct named *object = &run->names->objects[map->file];

    if (tw_perf_link(run->perf, link, map, address))
        return true;
    if (!object->is_asked)
        object->is_jitdump = tw_perf_is_jitdump(run->perf, map->file);
    object->is_asked = true;
    return object->is_jitdump;
}

static bool add_range(struct tw_run *run, struct named *named, const struct tw_symbol *symbol)
{
    if (!TW_GROW(run->allocator, &named->ranges, &named->range_room, named->range_count + 1))
        return false;
    named->ranges[named->range_count++] =
        (struct tw_address_range){ symbol->address, symbol->address + symbol->size };
    return true;
}

/* Every symbol of this name; how many there are in all goes to `*found`, and whether there are any
   symbols to `*has_any`. */
static enum tw_status add_function(struct tw_run *run, struct named *named, const char *name,
                                   bool *is_found, bool *has_any)
{
    struct tw_symbol symbol;

    if (!named->symbols)
        return TW_OK;
    *has_any |= tw_symbols_count(named->symbols) != 0;
    for (size_t n = 0; tw_symbols_by_name(named->symbols, &symbol, name, n); n++) {
        *is_found = true;
        if (!add_range(run, named, &symbol))
            return TW_E_MEMORY;
    }
    return TW_OK;
}

static enum tw_status find_functions(struct tw_run *run)
{
    struct tw_run_names *names = run->names;
    const struct tw_filter *filter = &run->filter.about;

    for (size_t i = 0; i < names->image_count; i++)
        TW_TRY(load_image(run, i));
    for (size_t i = 0; i < names->object_count; i++)
        load_object(run, (uint32_t)i);
    for (size_t i = 0; i < filter->function_count; i++) {
        bool is_found = false, has_any = false;

        for (size_t k = 0; k < names->image_count; k++)
            TW_TRY(add_function(run, &names->images[k], filter->functions[i], &is_found,
                                &has_any));
        for (size_t k = 0; k < names->object_count; k++)
            TW_TRY(add_function(run, &names->objects[k], filter->functions[i], &is_found,
                                &has_any));
        if (!is_found)
            return tw_fail(&run->fault, has_any ? TW_E_ARGUMENT : TW_E_CONFIG,
                           has_any ? "no function is named \"%s\""
                                   : "nothing tells where function \"%s\" is",
                           filter->functions[i]);
    }
    return TW_OK;
}

enum tw_status tw_names_new(struct tw_run *run, const struct tw_run_config *config)
{
    struct tw_run_names *names = tw_run_keep(run, sizeof *names);

    run->names = names;
    if (!names)
        return TW_E_MEMORY;
    names->image_count = tw_capture_image_count(run->capture) + 1;
    names->images = tw_run_keep(run, names->image_count * sizeof *names->images);
    names->files = tw_run_keep(run, (config->symbol_count + 1) * sizeof *names->files);
    if (!names->images || !names->files)
        return TW_E_MEMORY;
    for (size_t i = 0; i < config->symbol_count; i++) {
        names->files[i] = config->symbols[i];
        names->files[i].path = tw_run_keep_text(run, config->symbols[i].path);
        names->file_count++;
        if (!names->files[i].path)
            return TW_E_MEMORY;
    }
    if (run->perf) {
        const size_t count = tw_perf_file_count(run->perf);

        names->objects = tw_run_keep(run, (count + 1) * sizeof *names->objects);
        if (!names->objects)
            return TW_E_MEMORY;
        names->object_count = count;
    }
    for (size_t i = 0; config->loads_names && i < names->image_count; i++)
        TW_TRY(load_image(run, i));
    return run->filter.about.function_count ? find_functions(run) : TW_OK;
}

static void free_named(struct tw_run *run, struct named *named, size_t count)
{
    for (size_t i = 0; named && i < count; i++) {
        tw_symbols_free(named[i].symbols);
        tw_give(run->allocator, named[i].ranges);
    }
}

void tw_names_free(struct tw_run *run)
{
    struct tw_run_names *names = run->names;

    if (!names)
        return;
    free_named(run, names->images, names->image_count);
    free_named(run, names->objects, names->object_count);
}

void tw_names_load(struct tw_run *run)
{
    for (size_t i = 0; i < run->names->image_count; i++)
        (void)load_image(run, i);
}

/* ---- asking ---- */

static struct named *image_of(struct tw_run *run, const struct tw_part *part)
{
    struct tw_run_names *names = run->names;
    const uint32_t number =
        part->source ? tw_capture_image_of(run->capture, part->source_number, part->batch.src)
                     : TW_NONE;

    return &names->images[number < names->image_count - 1 ? number : names->image_count - 1];
}

/* perf.data: the map with a file that holds an address; NULL: none. */
static const struct tw_perf_map *map_of(struct tw_run *run, const struct tw_part *part,
                                        uint64_t address)
{
    struct tw_run_names *names = run->names;
    const uint32_t space = part->who.thread ? part->who.thread->space : 0;
    const uint64_t time = part->who.view.time;

    if (!run->perf)
        return NULL;
    if (!names->map || names->space != space || names->time != time ||
        address - names->map->address >= names->map->length)
        names->map = tw_perf_map(run->perf, space, address, time);
    names->space = space;
    names->time = time;
    return names->map && names->map->file != TW_NONE ? names->map : NULL;
}

/* Lines are read when they are first asked for. */
static void check_lines(struct tw_run *run, const struct tw_symbols *symbols)
{
    if (symbols && symbols->lacks_lines)
        (void)lack_memory(run);
}

struct tw_symbols *tw_run_symbols(struct tw_run *run, uint64_t *link,
                                  const struct tw_part *part, uint64_t address)
{
    struct named *image = image_of(run, part);
    const struct tw_perf_map *map;

    *link = address;
    if (load_image(run, (size_t)(image - run->names->images)) != TW_OK)
        return NULL;
    check_lines(run, image->symbols);
    if (image->symbols && tw_symbols_count(image->symbols))
        return image->symbols;
    map = map_of(run, part, address);
    if (!map || !link_of(run, link, map, address))
        return image->symbols;
    load_object(run, map->file);
    return run->names->objects[map->file].symbols;
}

void tw_names_reach(struct tw_run *run, uint64_t *first, uint64_t *end,
                    const struct tw_part *part, uint64_t address)
{
    const struct named *image = image_of(run, part);
    const struct tw_perf_map *map = NULL;

    *first = 0;
    *end = UINT64_MAX;
    if (!run->perf || (image->symbols && tw_symbols_count(image->symbols)))
        return;
    map = map_of(run, part, address);
    *first = map ? map->address : address;
    *end = map ? map->address + map->length : address;
}

const char *tw_run_object(struct tw_run *run, uint64_t *offset, const struct tw_part *part,
                          uint64_t address)
{
    const struct tw_perf_map *map = map_of(run, part, address);

    if (!map)
        return NULL;
    if (offset)
        *offset = address - map->address + map->offset;
    return tw_perf_file(run->perf, map->file)->name;
}

size_t tw_run_file_id(uint8_t id[20], const struct tw_perf_file *file)
{
    if (!file->build_id_size)
        return file->state == TW_PERF_FILE_FOUND ? tw_perf_build_id(id, file->path) : 0;
    memcpy(id, file->build_id, file->build_id_size);
    return file->build_id_size;
}

size_t tw_run_object_id(const struct tw_run *run, uint8_t id[20], const char *object)
{
    const struct tw_perf_file *file =
        run && run->perf ? tw_perf_find_file(run->perf, object) : NULL;

    return file ? tw_run_file_id(id, file) : tw_perf_build_id(id, object);
}

size_t tw_run_build_id(struct tw_run *run, uint8_t id[20], const struct tw_part *part,
                       uint64_t address)
{
    const struct tw_perf_map *map = map_of(run, part, address);
    const struct tw_perf_file *file = map ? tw_perf_file(run->perf, map->file) : NULL;

    return file ? tw_run_file_id(id, file) : 0;
}

size_t tw_run_frames(struct tw_run *run, struct tw_source_frame *frames, size_t room,
                     const struct tw_part *part, uint64_t address)
{
    uint64_t link;
    struct tw_symbols *symbols = tw_run_symbols(run, &link, part, address);

    room = symbols ? tw_symbols_frames(symbols, frames, room, link) : 0;
    check_lines(run, symbols);
    return room;
}

bool tw_run_name(struct tw_run *run, struct tw_name *name, const struct tw_part *part,
                 uint64_t address)
{
    struct tw_name told = { .size = sizeof told };
    uint64_t link;
    struct tw_symbols *symbols = tw_run_symbols(run, &link, part, address);

    told.object = tw_run_object(run, &told.offset, part, address);
    if (symbols) {
        told.has_symbol = tw_symbols_find(symbols, &told.symbol, link);
        told.symbol.address += address - link;
        told.has_line = tw_symbols_line(symbols, &told.line, link);
        check_lines(run, symbols);
    }
    return TW_SIZED_GIVE(name, &told) && (told.has_symbol || told.has_line || told.object);
}

static bool is_in(const struct tw_address_range *ranges, size_t count, uint64_t first,
                  uint64_t end)
{
    for (size_t i = 0; i < count; i++)
        if ((first < ranges[i].end || !ranges[i].end) && (end > ranges[i].first || end < first))
            return true;
    return false;
}

bool tw_run_keeps(struct tw_run *run, const struct tw_part *part, uint64_t first, uint64_t end)
{
    const struct tw_filter *filter = &run->filter.about;
    const struct named *image = image_of(run, part);
    const struct tw_perf_map *map;
    uint64_t link = first;

    if (!run->filter.has_code)
        return true;
    if (is_in(filter->ranges, filter->range_count, first, end) ||
        is_in(image->ranges, image->range_count, first, end))
        return true;
    if (!filter->function_count || !(map = map_of(run, part, first)) ||
        !link_of(run, &link, map, first))
        return false;
    return is_in(run->names->objects[map->file].ranges,
                 run->names->objects[map->file].range_count, link, link + (end - first));
}
