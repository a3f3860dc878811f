/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams of public encoders and of the specification: messages and paths equal what the corpus says,
   and messages written again are the same bytes. */
#include "check.h"

#include <dirent.h>
#include <stdio.h>

#include <trackway/image.h>
#include <trackway/tree.h>

#include "ntrace/test.h"
#include "ntrace/test_path.h"

enum { PATH_ROOM = 700, NAME_ROOM = 120 };

struct example {
    char name[NAME_ROOM];
    char *text; /* of case.txt */
    uint8_t *trace;
    size_t size;
    struct tw_ntrace_config config;
};

static void file_of(char path[PATH_ROOM], const struct example *example, const char *file)
{
    char relative[PATH_ROOM];

    (void)snprintf(relative, sizeof relative, "ntrace/cases/%s%s%s", example->name,
                   *file ? "/" : "", file);
    check_corpus(path, PATH_ROOM, relative);
}

static bool is_there(const struct example *example, const char *file)
{
    char path[PATH_ROOM], all[PATH_ROOM + NAME_ROOM];
    FILE *found;

    file_of(path, example, "");
    (void)snprintf(all, sizeof all, "%s/%s", path, file);
    found = fopen(all, "rb");
    if (found)
        (void)fclose(found);
    return found != NULL;
}

/* A packed file's text. */
static struct tw_text unpack(const struct example *example, const char *file)
{
    char path[PATH_ROOM], command[PATH_ROOM + 40], piece[4096];
    struct tw_text text = { .chars = NULL };
    FILE *pipe;
    size_t size;

    file_of(path, example, file);
    (void)snprintf(command, sizeof command, "gzip -dc '%s'", path);
    pipe = popen(command, "r");
    CHECK(pipe != NULL);
    while ((size = fread(piece, 1, sizeof piece, pipe)) > 0)
        tw_text_add_size(&text, piece, size);
    CHECK_EQ(pclose(pipe), 0);
    CHECK(text.size > 0 && !text.failed);
    return text;
}

static void value_of(char *out, const struct example *example, const char *key)
{
    char pattern[NAME_ROOM + 4];
    const char *at;

    (void)snprintf(pattern, sizeof pattern, "\n%s=", key);
    at = strstr(example->text, pattern);
    (void)snprintf(out, NAME_ROOM, "%.*s", at ? (int)strcspn(at + strlen(pattern), "\n") : 0,
                   at ? at + strlen(pattern) : "");
}

/* A RAM sink's bytes in the order in which they were written. */
static void unwrap(struct example *example)
{
    const struct tw_ntrace_config *config = &example->config;
    const size_t at = (size_t)(config->ram_wp - config->ram_start);
    uint8_t *turned;

    if (!config->has_ram || !config->ram_wrapped)
        return;
    turned = malloc(example->size);
    CHECK(turned != NULL && at < example->size);
    memcpy(turned, example->trace + at, example->size - at);
    memcpy(turned + example->size - at, example->trace, at);
    free(example->trace);
    example->trace = turned;
    example->config.starts_inside = true;
}

static struct example open_example(const char *name)
{
    struct example example = { .text = NULL };
    char path[PATH_ROOM];
    uint8_t *text;
    size_t size;

    (void)snprintf(example.name, sizeof example.name, "%.*s", NAME_ROOM - 1, name);
    file_of(path, &example, "case.txt");
    text = check_load(&size, path);
    CHECK(text != NULL);
    example.text = malloc(size + 2);
    CHECK(example.text != NULL);
    example.text[0] = '\n';
    memcpy(example.text + 1, text, size);
    example.text[size + 1] = 0;
    free(text);
    example.config = read_config(example.text);
    file_of(path, &example, "trace.bin");
    example.trace = check_load(&example.size, path);
    CHECK(example.trace != NULL);
    unwrap(&example);
    return example;
}

static void close_example(struct example *example)
{
    free(example->text);
    free(example->trace);
}

/* Drops " time=..." of the corpus's listing, which are no field of the message. */
static void drop_times(struct tw_text *text)
{
    char *to = text->chars;

    for (const char *at = text->chars; *at;) {
        if (!strncmp(at, " time=", 6))
            at += strcspn(at, "\n");
        else
            *to++ = *at++;
    }
    *to = 0;
}

/* Messages that a writer can make otherwise: shorter fields, no empty ones. */
static void check_written(struct tw_ntrace_reader *codec, const struct tw_ntrace_packet *packet,
                          const uint8_t *bytes)
{
    uint8_t back[100];
    size_t written = sizeof back;

    if (packet->base.type >= TW_NTRACE_VENDOR)
        return;
    CHECK_EQ(tw_ntrace_write(codec, back, &written, packet), TW_OK);
    CHECK_BYTES(back, written, bytes, packet->base.size);
}

static void check_messages(const struct example *example)
{
    struct tw_ntrace_reader *codec;
    struct tw_text lines = { .chars = NULL }, want;
    struct tw_ntrace_packet packet;
    uint64_t first = UINT64_MAX;

    if (!is_there(example, "messages.txt.gz"))
        return;
    CHECK_EQ(tw_ntrace_reader_new(&codec, &example->config, NULL, NULL), TW_OK);
    for (size_t at = 0; at < example->size; at += packet.base.size) {
        CHECK_EQ(tw_ntrace_read(codec, &packet, example->trace + at, example->size - at, true),
                 TW_OK);
        check_written(codec, &packet, example->trace + at);
        if (packet.base.type == TW_NTRACE_IDLE || packet.base.type == TW_NTRACE_NOT_SYNC)
            continue;
        if (first == UINT64_MAX)
            first = example->config.starts_inside ? packet.base.offset : 0;
        tw_text_format(&lines, "%" PRIu64 " %u ", packet.base.offset - first,
                       (unsigned)packet.base.size);
        list_message(&lines, &packet);
        tw_text_char(&lines, '\n');
    }
    want = unpack(example, "messages.txt.gz");
    drop_times(&want);
    CHECK_TEXT(lines.chars, want.chars);
    tw_text_free(&want);
    tw_text_free(&lines);
    tw_ntrace_reader_free(codec);
}

/* ---- paths ---- */

enum { PARTS_MAX = 8 };

/* One source of a case: that of the whole stream, of an SRC or of a trace ID. */
struct part {
    char prefix[20]; /* "src2_", "id10_" or nothing */
    uint32_t number;
    struct tw_image *image;
    struct path path;
};

struct parts {
    struct part parts[PARTS_MAX];
    size_t count;
    bool by_id;
};

static struct tw_image *open_image(const struct example *example, const struct part *part)
{
    const struct tw_region region = { .size = sizeof region };
    char key[NAME_ROOM], program[NAME_ROOM], relative[PATH_ROOM], path[PATH_ROOM];
    struct tw_image *image;

    (void)snprintf(key, sizeof key, "%sprogram", part->prefix);
    value_of(program, example, key);
    (void)snprintf(relative, sizeof relative, "ntrace/%s/image.txt", program);
    check_corpus(path, sizeof path, relative);
    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add_segments(image, &region, path), TW_OK);
    return image;
}

static void add_part(struct parts *parts, const struct example *example, const char *prefix,
                     uint32_t number)
{
    struct part *part = &parts->parts[parts->count++];

    CHECK(parts->count <= PARTS_MAX);
    (void)snprintf(part->prefix, sizeof part->prefix, "%s", prefix);
    part->number = number;
    part->image = open_image(example, part);
    part->path = path_of(part->image);
}

static struct parts open_parts(const struct example *example)
{
    struct parts parts = { .count = 0 };
    char prefix[20];

    if (strstr(example->text, "\nprogram=")) {
        add_part(&parts, example, "", TW_NO_SRC);
        return parts;
    }
    parts.by_id = strstr(example->text, "\nids=") != NULL;
    for (uint32_t number = 0; number < 4096; number++) {
        char pattern[40];

        (void)snprintf(prefix, sizeof prefix,
                       parts.by_id ? "id%" PRIx32 "_" : "src%" PRIu32 "_", number);
        (void)snprintf(pattern, sizeof pattern, "\n%sprogram=", prefix);
        if (strstr(example->text, pattern))
            add_part(&parts, example, prefix, number);
    }
    CHECK(parts.count > 1);
    return parts;
}

static void close_parts(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        path_free(&parts->parts[i].path);
        tw_image_free(parts->parts[i].image);
    }
}

static struct part *part_of(struct parts *parts, const struct tw_batch *batch)
{
    const uint32_t number = parts->by_id ? batch->id : batch->src;

    if (parts->count == 1)
        return &parts->parts[0];
    for (size_t i = 0; i < parts->count; i++)
        if (parts->parts[i].number == number)
            return &parts->parts[i];
    CHECK(false);
    return NULL;
}

static struct tw_tree *make_tree(const struct example *example, const struct parts *parts)
{
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = parts->by_id ? TW_FRAMING_MEMORY
                                                                   : TW_FRAMING_NONE };
    struct tw_src_image images[PARTS_MAX];
    struct tw_fault fault = { TW_OK, "" };
    char text[4096];
    struct tw_tree *tree;

    CHECK(tw_ntrace_config_text(text, sizeof text, &example->config) < sizeof text);
    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_OK);
    for (size_t i = 0; i < (parts->by_id ? parts->count : 1); i++) {
        struct tw_tree_source source = { .size = sizeof source,
                                         .protocol = "ntrace",
                                         .text = text,
                                         .image = parts->parts[i].image,
                                         .id = parts->by_id ? (uint8_t)parts->parts[i].number
                                                            : 0 };

        if (!parts->by_id && parts->count > 1) {
            for (size_t k = 0; k < parts->count; k++)
                images[k] = (struct tw_src_image){ .src = parts->parts[k].number,
                                                   .image = parts->parts[k].image };
            source.src_images = images;
            source.src_image_count = parts->count;
        }
        CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    }
    return tree;
}

static void take_batch(struct parts *parts, const struct tw_batch *batch)
{
    struct part *part = part_of(parts, batch);

    for (size_t i = 0; i < batch->count; i++)
        path_take(&part->path, &batch->elements[i]);
}

/* Feeds the trace in pieces of random sizes; `piece` 0: all at once. */
static void run_tree(struct tw_tree *tree, const struct example *example, size_t piece,
                     struct parts *parts)
{
    struct check_random random = { example->size };
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status = TW_OK;

    for (size_t at = 0; at < example->size;) {
        size_t size = piece ? (size_t)check_random_below(&random, piece) + 1 : example->size;

        if (size > example->size - at)
            size = example->size - at;
        CHECK_EQ(tw_tree_feed(tree, example->trace + at, size), TW_OK);
        while ((status = tw_tree_next(tree, &batch)) == TW_OK)
            take_batch(parts, &batch);
        CHECK_EQ(status, TW_MORE);
        at += size;
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        take_batch(parts, &batch);
    CHECK_EQ(status, TW_END);
}

/* "offset time" of the messages that have one, as the corpus has worked it out. */
static void check_times(const struct example *example, const struct parts *parts)
{
    struct tw_text messages, want = { .chars = NULL };

    if (parts->count != 1 || !example->config.timestamps || example->config.starts_inside ||
        !is_there(example, "messages.txt.gz"))
        return;
    messages = unpack(example, "messages.txt.gz");
    for (const char *line = messages.chars; *line; line = strchr(line, '\n') + 1) {
        const char *time = strstr(line, " time=");

        if (time && time < strchr(line, '\n'))
            tw_text_format(&want, "%.*s%.*s\n", (int)strcspn(line, " ") + 1, line,
                           (int)strcspn(time + 6, "\n"), time + 6);
    }
    CHECK(want.size > 0);
    CHECK_TEXT(parts->parts[0].path.times.chars, want.chars);
    tw_text_free(&want);
    tw_text_free(&messages);
}

static void check_part(const struct example *example, struct part *part)
{
    char key[NAME_ROOM], value[NAME_ROOM], name[NAME_ROOM];
    const size_t word = strcspn(part->prefix, "_");
    struct tw_text want;

    path_close(&part->path);
    CHECK_EQ(part->path.errors, 0);
    (void)snprintf(key, sizeof key, "%sinstructions", part->prefix);
    value_of(value, example, key);
    CHECK_EQ(part->path.instructions, strtoull(value, NULL, 10));
    (void)snprintf(key, sizeof key, "%spc_fnv64", part->prefix);
    value_of(value, example, key);
    CHECK_EQ(part->path.hash, strtoull(value, NULL, 16));
    (void)snprintf(name, sizeof name, "expected%s%.*s.txt.gz", word ? "." : "", (int)word,
                   part->prefix);
    want = unpack(example, name);
    CHECK_TEXT(part->path.lines.chars, want.chars);
    tw_text_free(&want);
}

static void check_paths(const struct example *example, size_t piece)
{
    struct parts parts = open_parts(example);
    struct tw_tree *tree = make_tree(example, &parts);

    run_tree(tree, example, piece, &parts);
    for (size_t i = 0; i < parts.count; i++)
        check_part(example, &parts.parts[i]);
    check_times(example, &parts);
    tw_tree_free(tree);
    close_parts(&parts);
}

/* A message that the RAM sink's write pointer or the beginning cut is no error. */
static void cases_agree(void **state)
{
    char path[PATH_ROOM];
    struct dirent *entry;
    size_t count = 0;
    DIR *folder;

    (void)state;
    check_corpus(path, sizeof path, "ntrace/cases");
    folder = opendir(path);
    CHECK(folder != NULL);
    while ((entry = readdir(folder))) {
        struct example example;

        if (entry->d_name[0] == '.')
            continue;
        CHECK_CASE(entry->d_name);
        example = open_example(entry->d_name);
        check_messages(&example);
        check_paths(&example, 0);
        check_paths(&example, example.size / 20 + 3);
        close_example(&example);
        count++;
    }
    (void)closedir(folder);
    CHECK(count >= 115);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
