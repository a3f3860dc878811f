/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening a capture of any kind, and what can be asked of it. */
#include "capture/capture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/sized.h"
#include "capture/perfdata.h"
#include "capture/unpack.h"
#include "image/file.h"
#include "tree/custom.h"

/* Memory in large blocks: what is read from small files is many small things. */
struct capture_block {
    struct capture_block *next;
    size_t used, room;
    max_align_t memory[];
};

enum {
    BLOCK_FIRST = 4096,
    BLOCK_MOST = 1 << 18,
    INI_SIZE_MAX = 64 << 20,
    UNPACKED_MAX = 1 << 30
};

enum tw_status tw_capture_no_memory(struct tw_capture *capture)
{
    return tw_fail(capture->fault, TW_E_MEMORY, "no memory for %s",
                   capture->path ? capture->path : "the capture");
}

void *tw_capture_keep(struct tw_capture *capture, size_t count, size_t size)
{
    const size_t align = sizeof(max_align_t);
    struct capture_block *block = capture->blocks;
    char *memory;

    if (count > (SIZE_MAX / 2 - align) / size) {
        (void)tw_capture_no_memory(capture);
        return NULL;
    }
    size = (count * size + align - 1) / align * align;
    if (!block || block->room - block->used < size) {
        /* Most captures need little, and what is taken is cleared. */
        const size_t usual = !block                         ? BLOCK_FIRST
                             : block->room < BLOCK_MOST / 2 ? 2 * block->room
                                                            : BLOCK_MOST;
        const size_t room = size < usual ? usual : size;

        block = tw_take(capture->allocator, sizeof *block + room);
        if (!block) {
            (void)tw_capture_no_memory(capture);
            return NULL;
        }
        block->room = room;
        block->next = capture->blocks;
        capture->blocks = block;
    }
    memory = (char *)block->memory + block->used;
    block->used += size;
    return memory;
}

char *tw_capture_keep_text(struct tw_capture *capture, const char *text, size_t size)
{
    char *copy = tw_capture_keep(capture, size + 1, 1);

    if (copy && size)
        memcpy(copy, text, size);
    return copy;
}

static char *format_text(struct tw_capture *capture, const char *format, va_list arguments)
{
    va_list again;
    int size;
    char *text = NULL;

    va_copy(again, arguments);
    size = vsnprintf(NULL, 0, format, arguments);
    if (size >= 0)
        text = tw_capture_keep(capture, (size_t)size + 1, 1);
    if (text)
        (void)vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    return text;
}

char *tw_capture_format(struct tw_capture *capture, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = format_text(capture, format, arguments);
    va_end(arguments);
    return text;
}

enum tw_status tw_capture_warn(struct tw_capture *capture, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = format_text(capture, format, arguments);
    va_end(arguments);
    if (!text || !TW_GROW(capture->allocator, &capture->warnings, &capture->warning_room,
                          capture->warning_count + 1))
        return tw_capture_no_memory(capture);
    capture->warnings[capture->warning_count++] = text;
    if (capture->options.warn)
        capture->options.warn(capture->options.warn_context, text);
    return TW_OK;
}

/* FNV-1a; equal hashes are told apart by taking the next free key. */
static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    return hash;
}

uint32_t tw_names_put(struct capture_names *names, const char *name, uint32_t number)
{
    for (uint64_t key = hash_text(name);; key++) {
        uint64_t *value = tw_map_put(&names->map, key);

        if (!value)
            return TW_NONE;
        if (*value == 0) {
            *value = (uint64_t)number + 1;
            return number;
        }
        if (strcmp(names->text(names->context, (uint32_t)(*value - 1)), name) == 0)
            return (uint32_t)(*value - 1);
    }
}

uint32_t tw_names_find(const struct capture_names *names, const char *name)
{
    for (uint64_t key = hash_text(name);; key++) {
        const uint64_t *value = tw_map_find(&names->map, key);

        if (!value)
            return TW_NONE;
        if (strcmp(names->text(names->context, (uint32_t)(*value - 1)), name) == 0)
            return (uint32_t)(*value - 1);
    }
}

static enum tw_status load_from_disk(void *context, const uint8_t **bytes, size_t *size,
                                     const char *path, struct tw_fault *fault)
{
    const struct tw_capture *capture = context;
    struct tw_file file;

    TW_TRY(capture->options.copies ? tw_file_copy(&file, capture->allocator, path, fault)
                                   : tw_file_map(&file, capture->allocator, path, fault));
    *bytes = file.bytes;
    *size = file.size;
    return TW_OK;
}

static void drop_from_disk(void *context, const uint8_t *bytes, size_t size)
{
    const struct tw_capture *capture = context;
    struct tw_file file = { bytes, size, capture->allocator };

    tw_file_unmap(&file);
}

const struct tw_files tw_files_on_disk = { load_from_disk, drop_from_disk, NULL };

static const char *loaded_path(const void *context, uint32_t number)
{
    const struct tw_capture *capture = context;

    return capture->loaded[number]->path;
}

enum tw_status tw_capture_load(struct tw_capture *capture, const struct capture_file **file,
                               const char *path)
{
    struct capture_names names = { capture->loaded_by_path, loaded_path, capture };
    const uint32_t number = (uint32_t)capture->loaded_count;
    struct capture_file *made = tw_capture_keep(capture, 1, sizeof *made);
    enum tw_status status;
    struct tw_fault fault;
    uint32_t found;

    *file = made;
    if (!made || !(made->path = tw_capture_keep_text(capture, path, strlen(path))))
        return TW_E_MEMORY;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    if (!TW_GROW(capture->allocator, &capture->loaded, &capture->loaded_room, number + 1))
        return tw_capture_no_memory(capture);
    capture->loaded[number] = made;
    found = tw_names_put(&names, path, number);
    capture->loaded_by_path = names.map;
    if (found == TW_NONE)
        return tw_capture_no_memory(capture);
    *file = capture->loaded[found];
    if (found != number)
        return TW_OK;
    capture->loaded_count++;
    fault.text[0] = 0;
    status =
        capture->files.load(capture->files.context, &made->bytes, &made->size, path, &fault);
    if (status == TW_OK)
        return TW_OK;
    made->bytes = NULL;
    made->size = 0;
    if (status == TW_E_MEMORY)
        return tw_capture_no_memory(capture);
    made->why = tw_capture_keep_text(capture, fault.text, strlen(fault.text));
    return made->why ? TW_OK : TW_E_MEMORY;
}

enum tw_status tw_capture_parse(struct tw_capture *capture, struct tw_ini *ini,
                                const struct capture_file *file)
{
    char *text;

    *ini = (struct tw_ini){ .path = file->path, .allocator = capture->allocator };
    if (file->size > INI_SIZE_MAX)
        return tw_fail(capture->fault, TW_E_CONFIG, "%s: too large for an INI file",
                       file->path);
    text = tw_capture_keep_text(capture, (const char *)file->bytes, file->size);
    if (!text)
        return TW_E_MEMORY;
    return tw_ini_parse(ini, text, file->size, capture->fault);
}

static bool is_folder(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* The path's last name; what is before it, slash included, is its folder. */
static const char *last_name(const char *path)
{
    const char *slash = tw_last_slash(path);

    return slash ? slash + 1 : path;
}

static enum tw_status open_snapshot(struct tw_capture *capture, const char *path, bool is_dir)
{
    const size_t size = is_dir ? strlen(path) : (size_t)(last_name(path) - path);
    const bool has_slash = size == 0 || tw_is_slash(path[size - 1]);

    capture->kind = TW_CAPTURE_SNAPSHOT;
    capture->folder =
        tw_capture_format(capture, "%.*s%s", (int)size, path, has_slash ? "" : "/");
    if (!capture->folder)
        return TW_E_MEMORY;
    return tw_snapshot_read(capture);
}

/* The file that was given, packed with something: what is in it takes its place. */
static enum tw_status unpack_file(struct tw_capture *capture, struct capture_file *file)
{
    const struct tw_unpacking how = { .most = UNPACKED_MAX, .allocator = capture->allocator };
    const enum tw_packing packing = tw_packing_of(file->bytes, file->size);
    struct tw_fault why;
    enum tw_status status;
    size_t size;

    if (packing == TW_PACKING_NONE)
        return TW_OK;
    status =
        tw_packing_open(&file->unpacked, &size, packing, file->bytes, file->size, &how, &why);
    if (status != TW_OK)
        return tw_fail(capture->fault, status, "%s: %s", file->path, why.text);
    capture->files.drop(capture->files.context, file->bytes, file->size);
    file->bytes = file->unpacked;
    file->size = size;
    return tw_capture_warn(capture, "%s: %s, unpacked: offsets count the bytes in it",
                           file->path, tw_packing_name(packing));
}

/* The directory form of perf.data holds a file "data"; *file is NULL when that is not what it is. */
static enum tw_status find_perf(struct tw_capture *capture, const struct capture_file **file,
                                const char **directory, bool is_dir)
{
    const char *path = capture->path;

    *directory = NULL;
    if (is_dir) {
        *directory = tw_capture_format(capture, "%s/", path);
        path = tw_capture_format(capture, "%s/data", path);
        if (!path || !*directory)
            return TW_E_MEMORY;
    }
    TW_TRY(tw_capture_load(capture, file, path));
    if (!is_dir && (*file)->bytes && !tw_name_equal(last_name(path), "snapshot.ini"))
        TW_TRY(unpack_file(capture, capture->loaded[0]));
    if (!(*file)->bytes || !tw_perf_is((*file)->bytes, (*file)->size))
        *file = NULL;
    return TW_OK;
}

static enum tw_status open_any(struct tw_capture *capture, const char *path, bool on_disk)
{
    const bool is_dir = !on_disk || is_folder(path);
    const struct capture_file *perf;
    const char *directory;

    capture->path = tw_capture_keep_text(capture, path, strlen(path));
    if (!capture->path)
        return TW_E_MEMORY;
    if (strlen(path) > 1 << 20)
        return tw_fail(capture->fault, TW_E_ARGUMENT, "the path is too long");
    TW_TRY(find_perf(capture, &perf, &directory, is_dir));
    if (perf)
        return tw_perf_read(capture, perf, directory);
    if (is_dir || tw_name_equal(last_name(path), "snapshot.ini"))
        TW_TRY(open_snapshot(capture, path, is_dir));
    else
        TW_TRY(tw_raw_read(capture));
    return tw_capture_make_images(capture);
}

/* Whether the caller's protocols are such as a tree will take. */
static enum tw_status check_protocols(const struct tw_capture *capture)
{
    const struct tw_capture_options *options = &capture->options;
    struct tw_custom *customs = NULL;
    enum tw_status status = TW_OK;

    if (options->protocol_count && !options->protocols)
        return tw_fail(capture->fault, TW_E_ARGUMENT, "there are no protocols, but a count");
    for (size_t i = 0; i < options->protocol_count && status == TW_OK; i++)
        status =
            tw_custom_add(&customs, options->protocols[i], capture->allocator, capture->fault);
    tw_custom_free(customs, capture->allocator);
    return status;
}

/* Sources whose type is that of a protocol of the caller's. */
static void name_protocols(struct tw_capture *capture)
{
    const struct tw_capture_options *options = &capture->options;

    for (size_t i = 0; i < capture->source_count; i++)
        for (size_t j = 0; j < options->protocol_count; j++)
            if (!capture->sources[i].protocol && capture->sources[i].type &&
                tw_name_equal(capture->sources[i].type, options->protocols[j]->name))
                capture->sources[i].protocol = options->protocols[j]->name;
}

/* Their symbols are wanted later. */
static enum tw_status keep_image_files(struct tw_capture *capture)
{
    const struct tw_capture_options *options = &capture->options;
    struct tw_capture_image_option *files;

    if (!options->image_count)
        return TW_OK;
    files = tw_capture_keep(capture, options->image_count, sizeof *files);
    if (!files)
        return TW_E_MEMORY;
    for (size_t i = 0; i < options->image_count; i++) {
        files[i] = options->images[i];
        files[i].path = tw_capture_keep_text(capture, files[i].path, strlen(files[i].path));
        if (!files[i].path)
            return TW_E_MEMORY;
    }
    capture->image_files = files;
    capture->image_file_count = options->image_count;
    return TW_OK;
}

enum tw_status tw_capture_open_files(struct tw_capture **capture, const char *path,
                                     const struct tw_capture_options *options,
                                     const struct tw_files *files, struct tw_fault *fault)
{
    struct tw_capture_options copy = { .size = sizeof copy };
    const struct tw_allocator *allocator;
    struct tw_capture *made;
    enum tw_status status;

    *capture = NULL;
    if (!path)
        return tw_fail(fault, TW_E_ARGUMENT, "there is no path");
    if (options)
        TW_TRY(TW_SIZED_TAKE(&copy, options, "tw_capture_options", fault));
    allocator = copy.allocator;
    made = tw_take(allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for %s", path);
    if (allocator) {
        made->allocator_copy = *allocator;
        made->allocator = &made->allocator_copy;
    }
    made->loaded_by_path.allocator = made->allocator;
    made->files = files ? *files : tw_files_on_disk;
    if (!files)
        made->files.context = made;
    made->fault = fault;
    made->options = copy;
    status = check_protocols(made);
    if (status == TW_OK)
        status = open_any(made, path, !files);
    if (status == TW_OK)
        name_protocols(made);
    if (status == TW_OK)
        status = keep_image_files(made);
    /* What was only lent for the call is forgotten. */
    made->fault = NULL;
    made->options.sources = NULL;
    made->options.images = NULL;
    made->options.core_type = NULL;
    made->options.sysroot = made->options.kernel = NULL;
    made->options.vdso = made->options.build_ids = NULL;
    if (status != TW_OK) {
        tw_capture_free(made);
        return status;
    }
    *capture = made;
    return TW_OK;
}

enum tw_status tw_capture_open(struct tw_capture **capture, const char *path,
                               const struct tw_capture_options *options, struct tw_fault *fault)
{
    return tw_capture_open_files(capture, path, options, NULL, fault);
}

void tw_capture_free(struct tw_capture *capture)
{
    struct tw_allocator allocator;
    bool has_allocator;

    if (!capture)
        return;
    tw_perf_free(capture->perf);
    for (size_t i = 0; i < capture->image_count; i++)
        tw_image_free(capture->images[i].image);
    for (size_t i = 0; i < capture->loaded_count; i++)
        if (capture->loaded[i]->unpacked)
            tw_give(capture->allocator, capture->loaded[i]->unpacked);
        else if (capture->loaded[i]->bytes)
            capture->files.drop(capture->files.context, capture->loaded[i]->bytes,
                                capture->loaded[i]->size);
    while (capture->blocks) {
        struct capture_block *block = capture->blocks;

        capture->blocks = block->next;
        tw_give(capture->allocator, block);
    }
    tw_map_free(&capture->loaded_by_path);
    tw_give(capture->allocator, capture->devices);
    tw_give(capture->allocator, capture->buffers);
    tw_give(capture->allocator, capture->sources);
    tw_give(capture->allocator, capture->images);
    tw_give(capture->allocator, capture->loaded);
    tw_give(capture->allocator, capture->warnings);
    has_allocator = capture->allocator != NULL;
    allocator = capture->allocator_copy; /* the capture itself holds it */
    tw_give(has_allocator ? &allocator : NULL, capture);
}
