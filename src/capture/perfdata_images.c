/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: finds the files that were mapped, and makes of them the memory that was executed. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/inside.h"
#include "base/memory.h"
#include "capture/perfdata.h"

enum {
    MACHINE_ARM = 40,
    MACHINE_AARCH64 = 183,
    TYPE_RELOCATABLE = 1,
    TYPE_CORE = 4,
    SEGMENT_LOAD = 1
};

static const char kernel_name[] = "[kernel.kallsyms]";

static bool is_kernel(const char *name)
{
    return strncmp(name, kernel_name, sizeof kernel_name - 1) == 0;
}

/* A name that is no file on any disk. */
static bool is_anonymous(const char *name)
{
    static const char *const starts[] = { "//anon",      "[heap]",  "[stack]",   "[anon",
                                          "anon_inode:", "/memfd:", "/dev/zero", "[uprobes]",
                                          "bpf_",        "/SYSV" };

    for (size_t i = 0; i < TW_LENGTH(starts); i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Where a file was looked for: how much is believed of it follows from who named the path. */
enum origin {
    GIVEN,  /* by the caller, or beside the recording */
    ROOT,   /* by the recording, below the caller's folder */
    MACHINE /* by the recording, on this machine: anything at all may have that name */
};

static bool has_jit_magic(const struct capture_file *loaded)
{
    return loaded->size >= 4 &&
           (memcmp(loaded->bytes, "JiTD", 4) == 0 || memcmp(loaded->bytes, "DTiJ", 4) == 0);
}

/* Whether these bytes may be what was mapped under that name. */
static bool is_what_was_mapped(const struct tw_perf_file *file,
                               const struct capture_file *loaded, const struct perf_elf *elf,
                               enum origin origin)
{
    uint8_t id[20];
    size_t size;

    if (!elf->is_elf)
        return origin == GIVEN || has_jit_magic(loaded) ||
               (origin == ROOT && !file->build_id_size);
    if (elf->machine != MACHINE_ARM && elf->machine != MACHINE_AARCH64)
        return false;
    size = tw_perf_elf_build_id(elf, id);
    if (!size || !file->build_id_size) /* a core has none: the memory of the kernel that ran */
        return origin == GIVEN || !file->build_id_size || elf->type == TYPE_CORE;
    /* Old records have 20 bytes of it, whatever its size. */
    return memcmp(id, file->build_id,
                  size < file->build_id_size ? size : file->build_id_size) == 0;
}

/* Takes the file at this path if it is the one that was mapped. */
static enum tw_status try_path(struct tw_perf *perf, struct tw_perf_file *file,
                               const char *path, enum origin origin)
{
    const struct capture_file *loaded;
    struct perf_elf elf;

    if (!path)
        return TW_E_MEMORY;
    TW_TRY(tw_capture_load(perf->capture, &loaded, path));
    if (!loaded->bytes || file->state == TW_PERF_FILE_FOUND)
        return TW_OK;
    tw_perf_elf_open(&elf, loaded->bytes, loaded->size);
    if (!is_what_was_mapped(file, loaded, &elf, origin)) {
        file->state = TW_PERF_FILE_WRONG;
        file->path = loaded->path;
        return TW_OK;
    }
    file->state = TW_PERF_FILE_FOUND;
    file->path = loaded->path;
    perf->found[file - perf->files] = loaded;
    if (elf.is_elf && elf.type == TYPE_CORE && is_kernel(file->name))
        perf->kcore = loaded;
    return TW_OK;
}

/* A file of the traced machine, whose root is at `root`: no name in a recording and no link there leads
   anywhere else.  NULL: no memory. */
static const char *path_below(struct tw_perf *perf, const char *root, const char *name)
{
    struct tw_text path = { .allocator = perf->capture->allocator };
    const char *kept = NULL;

    if (tw_inside(&path, root, name, true))
        kept = tw_capture_keep_text(perf->capture, path.chars, path.size);
    else if (errno != ENOMEM) /* links that lead in a circle: opening it says so */
        kept = tw_capture_format(perf->capture, "%s/", root);
    else
        (void)tw_capture_no_memory(perf->capture);
    tw_text_free(&path);
    return kept;
}

/* The cache that perf keeps by build ID. */
static enum tw_status try_build_id(struct tw_perf *perf, struct tw_perf_file *file)
{
    static const char *const ends[] = { "/elf", "/vdso", "" };
    const char *folder = perf->capture->options.build_ids;
    char hex[41];

    if (!folder || !file->build_id_size)
        return TW_OK;
    for (size_t i = 0; i < file->build_id_size; i++) {
        hex[2 * i] = "0123456789abcdef"[file->build_id[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[file->build_id[i] & 15];
    }
    hex[2 * (size_t)file->build_id_size] = 0;
    for (size_t i = 0; i < TW_LENGTH(ends) && file->state != TW_PERF_FILE_FOUND; i++)
        TW_TRY(try_path(perf, file,
                        tw_capture_format(perf->capture, "%s/.build-id/%.2s/%s%s", folder, hex,
                                          hex + 2, ends[i]),
                        GIVEN));
    return TW_OK;
}

/* The list of build IDs names the kernel without the symbol that its mapping begins at. */
static void take_kernel_build_id(const struct tw_perf *perf, struct tw_perf_file *file)
{
    const struct tw_perf_file *other =
        file->build_id_size ? NULL : tw_perf_find_file(perf, kernel_name);

    if (!other)
        return;
    file->build_id_size = other->build_id_size;
    memmove(file->build_id, other->build_id, sizeof file->build_id); /* it may be itself */
}

static enum tw_status try_kernel(struct tw_perf *perf, struct tw_perf_file *file)
{
    static const char *const places[] = { "/vmlinux", "/boot/vmlinux",
                                          "/usr/lib/debug/boot/vmlinux" };
    const char *root = perf->capture->options.sysroot;
    const char *release = tw_perf_feature(perf, "osrelease");

    take_kernel_build_id(perf, file);
    if (perf->capture->options.kernel)
        return try_path(perf, file, perf->capture->options.kernel, GIVEN);
    if (perf->directory)
        TW_TRY(try_path(perf, file,
                        tw_capture_format(perf->capture, "%skcore_dir/kcore", perf->directory),
                        GIVEN));
    for (size_t i = 0; root && i < TW_LENGTH(places); i++) {
        if (file->state != TW_PERF_FILE_FOUND)
            TW_TRY(try_path(perf, file, path_below(perf, root, places[i]), ROOT));
        if (file->state != TW_PERF_FILE_FOUND && release && *release) {
            const char *name = tw_capture_format(perf->capture, "%s-%s", places[i], release);

            if (!name)
                return TW_E_MEMORY;
            TW_TRY(try_path(perf, file, path_below(perf, root, name), ROOT));
        }
    }
    return file->state == TW_PERF_FILE_FOUND ? TW_OK : try_build_id(perf, file);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t size = strlen(text), length = strlen(end);

    return size >= length && strcmp(text + size - length, end) == 0;
}

/* "/lib/modules/.../name.ko.xz": the loader unpacks it, we do not; an unpacked one may lie beside
   it. */
static enum tw_status try_unpacked(struct tw_perf *perf, struct tw_perf_file *file,
                                   const char *path, enum origin origin)
{
    static const char *const ends[] = { ".xz", ".gz", ".zst" };

    if (!path)
        return TW_E_MEMORY;
    for (size_t i = 0; i < TW_LENGTH(ends); i++)
        if (ends_with(path, ends[i]))
            return try_path(perf, file,
                            tw_capture_format(perf->capture, "%.*s",
                                              (int)(strlen(path) - strlen(ends[i])), path),
                            origin);
    return try_path(perf, file, path, origin);
}

static bool names_module(const char *path, size_t size, const char *name, size_t length)
{
    size_t at = size;

    while (at && path[at - 1] != '/')
        at--;
    if (size - at < length + 3 || memcmp(path + at + length, ".ko", 3) != 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char is = path[at + i] == '-' ? '_' : path[at + i];

        if (is != (name[i] == '-' ? '_' : name[i]))
            return false;
    }
    return true;
}

/* "[name]": a module without its path, which the list of modules tells. */
static enum tw_status try_module(struct tw_perf *perf, struct tw_perf_file *file)
{
    const char *root = perf->capture->options.sysroot;
    const char *release = tw_perf_feature(perf, "osrelease");
    const size_t length = strlen(file->name);
    const struct capture_file *list;
    const char *folder, *path;

    if (!root || !release || !*release || length < 3 || file->name[0] != '[')
        return TW_OK;
    folder = tw_capture_format(perf->capture, "/lib/modules/%s/", release);
    path = folder ? tw_capture_format(perf->capture, "%smodules.dep", folder) : NULL;
    path = path ? path_below(perf, root, path) : NULL;
    if (!path)
        return TW_E_MEMORY;
    TW_TRY(tw_capture_load(perf->capture, &list, path));
    for (size_t at = 0; list->bytes && at < list->size;) {
        const char *line = (const char *)list->bytes + at;
        const char *end = memchr(line, '\n', list->size - at);
        const size_t size = end ? (size_t)(end - line) : list->size - at;
        const char *colon = memchr(line, ':', size);

        if (colon && names_module(line, (size_t)(colon - line), file->name + 1, length - 2)) {
            path =
                tw_capture_format(perf->capture, "%s%.*s", folder, (int)(colon - line), line);
            return path ? try_unpacked(perf, file, path_below(perf, root, path), ROOT)
                        : TW_E_MEMORY;
        }
        at += size + 1;
    }
    return TW_OK;
}

static enum tw_status try_file(struct tw_perf *perf, struct tw_perf_file *file)
{
    struct tw_capture *capture = perf->capture;
    const char *root = capture->options.sysroot, *slash = strrchr(file->name, '/');

    if (is_kernel(file->name))
        return try_kernel(perf, file);
    if (strcmp(file->name, "[vdso]") == 0 && capture->options.vdso)
        return try_path(perf, file, capture->options.vdso, GIVEN);
    if (root)
        TW_TRY(try_unpacked(perf, file, path_below(perf, root, file->name), ROOT));
    if (file->state != TW_PERF_FILE_FOUND)
        TW_TRY(try_module(perf, file));
    if (root && slash && slash != file->name && file->state != TW_PERF_FILE_FOUND)
        TW_TRY(try_unpacked(perf, file, path_below(perf, root, slash), ROOT));
    if (file->state != TW_PERF_FILE_FOUND)
        TW_TRY(try_build_id(perf, file));
    if (!root && file->name[0] == '/' && file->state != TW_PERF_FILE_FOUND)
        TW_TRY(try_unpacked(perf, file, file->name, MACHINE));
    return TW_OK;
}

enum tw_status tw_perf_find_files(struct tw_perf *perf)
{
    perf->found = tw_capture_keep(perf->capture, perf->file_count + 1, sizeof *perf->found);
    if (!perf->found)
        return TW_E_MEMORY;
    for (size_t i = 0; i < perf->event_count; i++) {
        const struct perf_event *event = &perf->events[i];
        struct tw_perf_file *file;

        if (event->type != PERF_MMAP || !event->is_exec || event->file == TW_NONE)
            continue;
        file = &perf->files[event->file];
        if (file->state != TW_PERF_FILE_UNUSED)
            continue;
        file->state = TW_PERF_FILE_MISSING;
        if (is_anonymous(file->name))
            continue;
        TW_TRY(try_file(perf, file));
        if (file->state == TW_PERF_FILE_WRONG && tw_perf_may_warn(perf))
            TW_TRY(tw_capture_warn(perf->capture,
                                   "%s is not the file that was traced as %s (another build "
                                   "ID or machine); it is not used",
                                   file->path, file->name));
    }
    return TW_OK;
}

/* Adds what a map shows of a stretch of bytes that lies at `address`. */
static enum tw_status add_region(struct tw_perf *perf, const struct tw_perf_map *map,
                                 uint64_t address, const uint8_t *bytes, uint64_t size)
{
    struct tw_image *image = perf->capture->images[0].image;
    const uint64_t map_last = map->address + (map->length - 1);
    uint64_t first = address, last;
    struct tw_region region = {
        .size = sizeof region, .context = map->space, .from = map->from, .until = map->until
    };

    if (!size || address > UINT64_MAX - (size - 1))
        return TW_OK;
    last = address + (size - 1);
    first = first > map->address ? first : map->address;
    last = last < map_last ? last : map_last;
    if (first > last)
        return TW_OK;
    region.address = first;
    region.length = last - first + 1;
    region.name = map->file == TW_NONE ? "text poke" : perf->files[map->file].name;
    if (tw_image_add(image, &region, bytes + (first - address)) == TW_E_MEMORY)
        return tw_capture_no_memory(perf->capture);
    return TW_OK;
}

/* How far the kernel was moved from where it was linked. */
static uint64_t kernel_slide(const struct tw_perf *perf, const struct perf_elf *elf)
{
    struct perf_segment segment;
    uint64_t value, lowest = UINT64_MAX;

    for (size_t i = 0; i < perf->mapping_count; i++) {
        const struct tw_perf_mapping *mapping = &perf->mappings[i];
        const char *name = perf->files[mapping->file].name;

        if (!is_kernel(name))
            continue;
        if (name[sizeof kernel_name - 1] &&
            tw_perf_elf_symbol(elf, &value, name + sizeof kernel_name - 1))
            return (mapping->offset ? mapping->offset : mapping->address) - value;
        for (uint32_t k = 0; tw_perf_elf_segment(elf, &segment, k); k++) {
            if (segment.type != SEGMENT_LOAD || !segment.file_size)
                continue;
            if (segment.address - mapping->address < mapping->length)
                return 0;
            if (segment.address < lowest)
                lowest = segment.address;
        }
        return lowest == UINT64_MAX ? 0 : mapping->address - lowest;
    }
    return 0;
}

static enum tw_status add_segments(struct tw_perf *perf, const struct tw_perf_map *map,
                                   const struct perf_elf *elf, uint64_t slide)
{
    struct perf_segment segment;

    for (uint32_t i = 0; tw_perf_elf_segment(elf, &segment, i); i++)
        if (segment.type == SEGMENT_LOAD && segment.file_size)
            TW_TRY(add_region(perf, map, segment.address + slide,
                              elf->view.bytes + segment.offset, segment.file_size));
    return TW_OK;
}

/* Whether the memory of the running kernel is there at this place. */
static bool is_in_kcore(const struct tw_perf *perf, struct perf_elf *elf,
                        const struct tw_perf_map *map)
{
    struct perf_segment segment;

    if (!perf->kcore || map->space)
        return false;
    tw_perf_elf_open(elf, perf->kcore->bytes, perf->kcore->size);
    for (uint32_t i = 0; tw_perf_elf_segment(elf, &segment, i); i++)
        if (segment.type == SEGMENT_LOAD &&
            (map->address - segment.address < segment.file_size ||
             segment.address - map->address < map->length))
            return true;
    return false;
}

static enum tw_status add_map(struct tw_perf *perf, const struct tw_perf_map *map)
{
    struct tw_perf_file *file;
    const struct capture_file *loaded;
    struct perf_elf elf;
    uint64_t offset = 0, size, place = 0;

    if (!map->is_executable)
        return TW_OK;
    file = &perf->files[map->file];
    if (is_in_kcore(perf, &elf, map)) {
        file->state = TW_PERF_FILE_FOUND;
        file->path = perf->kcore->path;
        return add_segments(perf, map, &elf, 0);
    }
    loaded = perf->found[map->file];
    if (!loaded)
        return TW_OK;
    size = loaded->size;
    tw_perf_elf_open(&elf, loaded->bytes, loaded->size);
    if (elf.is_elf && is_kernel(file->name))
        return add_segments(perf, map, &elf, kernel_slide(perf, &elf));
    if (elf.is_elf && elf.type == TYPE_RELOCATABLE && !map->space &&
        tw_perf_elf_module_text(&elf, &offset, &size, &place))
        return add_region(perf, map, map->address + place, loaded->bytes + offset, size);
    if (is_kernel(file->name))
        return add_region(perf, map, map->address, loaded->bytes, loaded->size);
    if (map->offset >= loaded->size)
        return TW_OK;
    return add_region(perf, map, map->address, loaded->bytes + map->offset,
                      loaded->size - map->offset);
}

/* What was there before the first poke at a place, which no file may know: the kernel has changed
   itself since it was loaded. */
static enum tw_status add_old_bytes(struct tw_perf *perf)
{
    for (size_t i = 0; i < perf->event_count; i++) {
        const struct perf_event *event = &perf->events[i];
        const struct tw_perf_map *map = NULL;
        struct tw_perf_map before;

        if (event->type == PERF_TEXT_POKE && event->old && event->time)
            map = tw_perf_map(perf, 0, event->address, event->time - 1);
        if (!map || map->file == TW_NONE || map->until != event->time)
            continue;
        before = *map;
        before.file = TW_NONE;
        TW_TRY(add_region(perf, &before, event->address, event->old, event->length));
    }
    return TW_OK;
}

/* Bytes that a record brought with it. */
static enum tw_status add_pokes(struct tw_perf *perf)
{
    for (size_t i = 0; i < perf->event_count; i++) {
        const struct perf_event *event = &perf->events[i];
        const struct tw_perf_map *map;

        if (event->type != PERF_TEXT_POKE)
            continue;
        map = tw_perf_map(perf, 0, event->address, event->time);
        if (map && map->file == TW_NONE && map->from == event->time)
            TW_TRY(add_region(perf, map, event->address, event->bytes, event->length));
    }
    return TW_OK;
}

static int compare_maps(const void *a, const void *b)
{
    const struct tw_perf_map *left = a, *right = b;

    if (left->space != right->space)
        return left->space < right->space ? -1 : 1;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return left->from < right->from ? -1 : left->from > right->from;
}

enum tw_status tw_perf_make_image(struct tw_perf *perf)
{
    struct tw_capture *capture = perf->capture;

    if (!TW_GROW(capture->allocator, &capture->images, &capture->image_room, 1))
        return tw_capture_no_memory(capture);
    capture->images[0] = (struct capture_image){ .device = TW_NONE, .src = TW_NO_SRC };
    if (tw_image_new(&capture->images[0].image, capture->allocator, NULL) != TW_OK)
        return tw_capture_no_memory(capture);
    tw_image_copy_files(capture->images[0].image, capture->options.copies);
    capture->image_count = 1;
    TW_TRY(tw_capture_add_images(capture, capture->images[0].image, TW_NO_SRC));
    /* In the order in which the image keeps them. */
    if (perf->past_count)
        qsort(perf->past, perf->past_count, sizeof *perf->past, compare_maps);
    TW_TRY(tw_perf_history_new(perf));
    TW_TRY(add_old_bytes(perf));
    for (size_t i = 0; i < perf->past_count; i++)
        if (perf->past[i].file != TW_NONE)
            TW_TRY(add_map(perf, &perf->past[i]));
    for (size_t i = 0; i < perf->space_count; i++)
        for (size_t k = 0; k < perf->spaces[i].count; k++)
            if (perf->spaces[i].maps[k].file != TW_NONE)
                TW_TRY(add_map(perf, &perf->spaces[i].maps[k]));
    return add_pokes(perf);
}

/* Where a kernel module's file has an offset in its memory: its .text is at 0.  False: it is elsewhere, or no module. */
static bool module_link(const struct perf_elf *elf, uint64_t *link, uint64_t offset)
{
    uint64_t at, size, place;

    if (elf->type != TYPE_RELOCATABLE || !tw_perf_elf_module_text(elf, &at, &size, &place))
        return false;
    *link = offset - place;
    return *link < size;
}

uint64_t tw_perf_link_address(const struct tw_perf *perf, uint32_t file, uint64_t offset)
{
    struct perf_segment segment;
    struct perf_elf elf;
    uint64_t link;

    if (file >= perf->file_count || !perf->found[file])
        return offset;
    tw_perf_elf_open(&elf, perf->found[file]->bytes, perf->found[file]->size);
    if (elf.is_elf && module_link(&elf, &link, offset))
        return link;
    for (uint32_t i = 0; tw_perf_elf_segment(&elf, &segment, i); i++)
        if (segment.type == SEGMENT_LOAD && offset - segment.offset < segment.file_size)
            return offset - segment.offset + segment.address;
    return offset;
}

bool tw_perf_link(const struct tw_perf *perf, uint64_t *link, const struct tw_perf_map *map,
                  uint64_t address)
{
    const struct capture_file *file = map->file == TW_NONE ? NULL : perf->found[map->file];
    struct perf_elf elf;

    if (!file)
        return false;
    tw_perf_elf_open(&elf, file->bytes, file->size);
    if (!elf.is_elf || elf.type == TYPE_CORE)
        return false;
    if (elf.type == TYPE_RELOCATABLE)
        return !map->space && module_link(&elf, link, address - map->address);
    *link = is_kernel(perf->files[map->file].name)
                ? address - kernel_slide(perf, &elf)
                : tw_perf_link_address(perf, map->file, address - map->address + map->offset);
    return true;
}

uint64_t tw_perf_link_base(const struct tw_perf *perf, uint32_t file)
{
    struct perf_segment segment;
    struct perf_elf elf;

    if (file >= perf->file_count || !perf->found[file])
        return 0;
    tw_perf_elf_open(&elf, perf->found[file]->bytes, perf->found[file]->size);
    for (uint32_t i = 0; tw_perf_elf_segment(&elf, &segment, i); i++)
        if (segment.type == SEGMENT_LOAD)
            return segment.address;
    return 0;
}
