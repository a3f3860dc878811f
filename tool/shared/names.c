/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the ELF files of a capture and of the options, and takes their symbols. */
#include "shared/names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/code.h"

static bool is_elf(const char *path)
{
    FILE *file = fopen(path, "rb");
    char magic[4] = "";
    const bool is_it = file && fread(magic, 1, sizeof magic, file) == sizeof magic &&
                       memcmp(magic, "\177ELF", sizeof magic) == 0;

    if (file)
        (void)fclose(file);
    return is_it;
}

/* "FILE[@BIAS]"; only a number after the last @ is a bias. */
static bool add_option(struct tw_symbols *symbols, const char *text)
{
    const char *at = strrchr(text, '@');
    uint64_t bias = 0;
    char *path = strdup(text);
    bool is_good = path != NULL;

    if (path && at && parse_number(&bias, at + 1))
        path[at - text] = 0;
    if (path && tw_symbols_add_elf(symbols, path, bias) != TW_OK) {
        say("--symbols: %s", tw_symbols_fault(symbols));
        is_good = false;
    }
    free(path);
    return is_good;
}

/* Names are an extra here: what cannot be read is only told of. */
static void warn(const struct names *names, const struct tw_symbols *symbols)
{
    if (!names->session->options->quiet)
        say("warning: no symbols: %s", tw_symbols_fault(symbols));
}

static void add_image(struct names *names, struct tw_symbols *symbols,
                      const struct tw_capture_image_option *image)
{
    if (is_elf(image->path) &&
        tw_symbols_add_elf(symbols, image->path, image->address) != TW_OK)
        warn(names, symbols);
}

/* A snapshot's dump may be a piece of an ELF file that lies in its folder. */
static void add_dump(struct names *names, struct tw_symbols *symbols,
                     const struct tw_dump *dump)
{
    const char *capture = tw_capture_path(names->session->capture);
    const char *slash = strrchr(capture, '/');
    const size_t length = strlen(capture);
    const bool is_ini = length > 4 && strcasecmp(capture + length - 4, ".ini") == 0;
    const int folder = is_ini ? slash ? (int)(slash - capture) : 0 : (int)length;
    const size_t room = length + strlen(dump->file) + 3;
    char *path;

    if (dump->state == TW_DUMP_MISSING || !(path = malloc(room)))
        return;
    (void)snprintf(path, room, "%.*s%s%s", folder, capture, folder ? "/" : "", dump->file);
    if (is_elf(path) &&
        tw_symbols_add_loaded(symbols, path, dump->offset, dump->address) != TW_OK)
        warn(names, symbols);
    free(path);
}

static bool is_memory_space(const struct tw_device *device)
{
    return device->class_name && strcasecmp(device->class_name, "memory_space") == 0;
}

/* The dumps that a source's image is made of: its core's, or all memory spaces'. */
static void add_dumps(struct names *names, struct tw_symbols *symbols,
                      const struct tw_source *source)
{
    const struct tw_capture *capture = names->session->capture;
    bool has_own = false;

    for (unsigned pass = 0; pass < 2 && !has_own; pass++) {
        for (size_t i = 0; i < tw_capture_device_count(capture); i++) {
            const struct tw_device *device = tw_capture_device(capture, i);

            if (pass ? !is_memory_space(device)
                     : !source->core || strcmp(device->name, source->core) != 0)
                continue;
            has_own |= device->dump_count != 0;
            for (size_t k = 0; k < device->dump_count; k++)
                add_dump(names, symbols, &device->dumps[k]);
        }
    }
}

static int load(struct names *names, size_t number)
{
    const struct session *session = names->session;
    struct tw_symbols **symbols = &names->images[number].symbols;

    if (tw_symbols_new(symbols, NULL, NULL) != TW_OK) {
        say("out of memory");
        return NOT_DONE;
    }
    for (size_t i = 0; i < session->options->symbols.count; i++)
        if (!add_option(*symbols, session->options->symbols.items[i]))
            return NOT_DONE;
    for (size_t i = 0; i < session->options->images.count; i++)
        add_image(names, *symbols, &session->images[i]);
    for (size_t i = 0; i < tw_capture_source_count(session->capture); i++) {
        const struct tw_source *source = tw_capture_source(session->capture, i);

        if (source->image == number)
            add_dumps(names, *symbols, source);
    }
    return DONE;
}

static bool add_range(struct image_names *image, uint64_t first, uint64_t end)
{
    struct address_range *bigger =
        realloc(image->ranges, (image->range_count + 1) * sizeof *bigger);

    if (!bigger) {
        say("out of memory");
        return false;
    }
    image->ranges = bigger;
    bigger[image->range_count++] = (struct address_range){ true, first, end };
    return true;
}

static int add_function(struct names *names, const char *name)
{
    bool is_found = false, has_any = false;

    for (size_t i = 0; i < names->count; i++) {
        struct image_names *image = &names->images[i];
        struct tw_symbol found;

        has_any |= tw_symbols_count(image->symbols) != 0;
        for (size_t n = 0; tw_symbols_by_name(image->symbols, &found, name, n); n++) {
            is_found = true;
            if (!add_range(image, found.address, found.address + found.size))
                return NOT_DONE;
        }
    }
    if (is_found)
        return DONE;
    if (has_any)
        say("no function is named \"%s\"", name);
    else
        say("nothing tells where function \"%s\" is; give --symbols FILE or --image FILE with "
            "an ELF file",
            name);
    return NOT_DONE;
}

int names_open(struct names *names, const struct session *session)
{
    const struct options *options = session->options;
    const bool wants_names = options->instructions || options->functions.count;
    int status = DONE;

    *names = (struct names){ .session = session };
    names->is_filtered = options->range.is_given || options->functions.count;
    names->count = tw_capture_image_count(session->capture) + 1;
    names->images = calloc(names->count, sizeof *names->images);
    if (session->perf && options->instructions)
        names->files = calloc(tw_perf_file_count(session->perf) + 1, sizeof *names->files);
    if (!names->images) {
        say("out of memory");
        return NOT_DONE;
    }
    for (size_t i = 0; i < names->count && status == DONE; i++) {
        if (wants_names)
            status = load(names, i);
        if (status == DONE && options->range.is_given &&
            !add_range(&names->images[i], options->range.first, options->range.end))
            status = NOT_DONE;
    }
    for (size_t i = 0; i < options->functions.count && status == DONE; i++)
        status = add_function(names, options->functions.items[i]);
    return status;
}

void names_close(struct names *names)
{
    for (size_t i = 0; names->files && i < tw_perf_file_count(names->session->perf); i++)
        tw_symbols_free(names->files[i]);
    free(names->files);
    for (size_t i = 0; names->images && i < names->count; i++) {
        tw_symbols_free(names->images[i].symbols);
        free(names->images[i].ranges);
    }
    free(names->images);
    *names = (struct names){ 0 };
}

static const struct image_names *image_of(const struct names *names, uint8_t id)
{
    const uint32_t number = code_image(names->session, id);

    return &names->images[number == TW_NONE ? names->count - 1 : number];
}

struct tw_symbols *names_of(const struct names *names, uint8_t id)
{
    return image_of(names, id)->symbols;
}

struct tw_symbols *names_of_file(const struct names *names, uint32_t file)
{
    const struct tw_perf_file *about = tw_perf_file(names->session->perf, file);

    if (!names->files || !about)
        return NULL;
    if (!names->files[file] && tw_symbols_new(&names->files[file], NULL, NULL) == TW_OK &&
        about->state == TW_PERF_FILE_FOUND && is_elf(about->path) &&
        tw_symbols_add_elf(names->files[file], about->path, 0) != TW_OK)
        warn(names, names->files[file]);
    return names->files[file];
}

bool names_keep(const struct names *names, uint8_t id, uint64_t first, uint64_t end)
{
    const struct image_names *image = image_of(names, id);

    if (!names->is_filtered)
        return true;
    for (size_t i = 0; i < image->range_count; i++)
        if (first < image->ranges[i].end && (end > image->ranges[i].first || end < first))
            return true;
    return false;
}
