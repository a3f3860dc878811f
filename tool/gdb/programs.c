/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that a capture tells of. */
#define _XOPEN_SOURCE 700 /* strdup */
#include "gdb/programs.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { PROGRAMS_MOST = 256 }; /* what GDB loads; a recording may map thousands */

/* One more, once.  False: no memory. */
static bool add(struct gdb_programs *programs, const char *path, uint64_t bias)
{
    struct gdb_program *items = programs->items;

    for (size_t i = 0; i < programs->count; i++)
        if (strcmp(items[i].path, path) == 0)
            return true;
    if (programs->count == PROGRAMS_MOST)
        return true;
    if (programs->count == programs->room) {
        const size_t room = programs->room ? 2 * programs->room : 8;

        items = realloc(items, room * sizeof *items);
        if (!items)
            return false;
        programs->items = items;
        programs->room = room;
    }
    items[programs->count] = (struct gdb_program){ strdup(path), bias };
    return items[programs->count++].path != NULL;
}

uint64_t gdb_elf_number(const uint8_t *at, unsigned size, bool is_big)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)at[is_big ? size - 1 - i : i] << 8 * i;
    return value;
}

/* Whether a file is a whole ELF file, with its sections: memory that was dumped may begin as the file did. */
static bool is_whole(const char *path)
{
    uint8_t header[64] = { 0 };
    struct stat about;
    FILE *file = fopen(path, "rb");
    const bool is_elf = file && fread(header, 1, sizeof header, file) >= 52 &&
                        memcmp(header, "\177ELF", 4) == 0;
    const bool is_64 = header[4] == 2, is_big = header[5] == 2;
    const uint64_t at =
        is_64 ? gdb_elf_number(header + 40, 8, is_big) : gdb_elf_number(header + 32, 4, is_big);
    const uint64_t each = gdb_elf_number(header + (is_64 ? 58 : 46), 2, is_big);
    const uint64_t sections = gdb_elf_number(header + (is_64 ? 60 : 48), 2, is_big);

    if (file)
        (void)fclose(file);
    return is_elf && stat(path, &about) == 0 && at && at <= (uint64_t)about.st_size &&
           each * sections <= (uint64_t)about.st_size - at;
}

/* The address that was linked to a place of an ELF file; false: it is none, or does not load that. */
static bool link_address(const char *path, uint64_t offset, uint64_t *address)
{
    struct tw_perf_program program = { .size = sizeof program };

    if (!is_whole(path) || tw_perf_program(&program, path, NULL) != TW_OK)
        return false;
    for (uint32_t i = 0; i < program.segment_count; i++)
        if (offset - program.segments[i].offset < program.segments[i].length) {
            *address = program.segments[i].address + (offset - program.segments[i].offset);
            return true;
        }
    return false;
}

static bool add_images(struct gdb_programs *programs, const struct session *session)
{
    bool is_good = true;

    for (size_t i = 0; is_good && i < session->options->images.count; i++) {
        const struct tw_capture_image_option *image = &session->images[i];

        if (is_whole(image->path))
            is_good = add(programs, image->path, image->address);
    }
    return is_good;
}

static bool add_symbols(struct gdb_programs *programs, const struct session_wish *wish)
{
    bool is_good = true;

    for (size_t i = 0; is_good && i < wish->config.symbol_count; i++)
        if (is_whole(wish->symbols[i].path))
            is_good = add(programs, wish->symbols[i].path, wish->symbols[i].bias);
    return is_good;
}

/* A dump lies in the folder of the snapshot. */
static bool add_dump(struct gdb_programs *programs, const char *capture,
                     const struct tw_dump *dump)
{
    const char *slash = strrchr(capture, '/');
    const size_t length = strlen(capture);
    const bool is_ini = length > 4 && strcasecmp(capture + length - 4, ".ini") == 0;
    const int folder = is_ini ? slash ? (int)(slash - capture) : 0 : (int)length;
    const size_t room = length + strlen(dump->file) + 3;
    char *path = malloc(room);
    uint64_t address;
    bool is_good = path != NULL;

    if (path) {
        (void)snprintf(path, room, "%.*s%s%s", folder, capture, folder ? "/" : "", dump->file);
        if (dump->state != TW_DUMP_MISSING && link_address(path, dump->offset, &address))
            is_good = add(programs, path, dump->address - address);
    }
    free(path);
    return is_good;
}

static bool add_dumps(struct gdb_programs *programs, const struct tw_capture *capture)
{
    bool is_good = true;

    for (size_t i = 0; i < tw_capture_device_count(capture); i++) {
        const struct tw_device *device = tw_capture_device(capture, i);

        for (size_t k = 0; is_good && k < device->dump_count; k++)
            is_good = add_dump(programs, tw_capture_path(capture), &device->dumps[k]);
    }
    return is_good;
}

/* A file that is mapped in pieces is where the first of them says. */
static bool add_mappings(struct gdb_programs *programs, const struct tw_perf *perf)
{
    enum { EXECUTABLE = 4 };
    bool is_good = true;

    for (size_t i = 0; is_good && i < tw_perf_mapping_count(perf); i++) {
        const struct tw_perf_mapping *mapping = tw_perf_mapping(perf, i);
        const struct tw_perf_file *file =
            mapping->file == TW_NONE ? NULL : tw_perf_file(perf, mapping->file);
        uint64_t address;

        if (!file || file->state != TW_PERF_FILE_FOUND || !file->path ||
            (mapping->is_mmap2 && !(mapping->protection & EXECUTABLE)) ||
            !link_address(file->path, mapping->offset, &address))
            continue;
        is_good = add(programs, file->path, mapping->address - address);
    }
    return is_good;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    uint8_t ids[2][20];
    size_t size;

    if (stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
        one.st_ino == other.st_ino)
        return true;
    size = tw_perf_build_id(ids[0], a);
    return size && size == tw_perf_build_id(ids[1], b) && memcmp(ids[0], ids[1], size) == 0;
}

bool gdb_programs_find(struct gdb_programs *programs, const struct session *session,
                       const struct session_wish *wish, const char *given)
{
    struct gdb_programs all = { .count = 0 };
    bool is_good = add_images(&all, session) && add_symbols(&all, wish) &&
                   add_dumps(&all, session->capture) &&
                   (!session->perf || add_mappings(&all, session->perf));
    uint64_t bias = 0;

    *programs = all;
    if (!given || !is_good)
        return is_good;
    for (size_t i = all.count; i--;)
        if (is_same_file(given, all.items[i].path))
            bias = all.items[i].bias;
    *programs = (struct gdb_programs){ .count = 0 };
    is_good = add(programs, given, bias);
    gdb_programs_free(&all);
    return is_good;
}

void gdb_programs_free(struct gdb_programs *programs)
{
    for (size_t i = 0; i < programs->count; i++)
        free(programs->items[i].path);
    free(programs->items);
    *programs = (struct gdb_programs){ .count = 0 };
}
