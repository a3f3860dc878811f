/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams of public encoders: packets, paths and data accesses equal what the corpus says, and the
   packets written again are the same bytes. */
#include "check.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/image.h>
#include <trackway/tree.h>

#include "base/text.h"
#include "etrace/packet.h"

enum { PATH_ROOM = 700, NAME_ROOM = 120 };

struct example {
    char name[NAME_ROOM];
    char program[NAME_ROOM], expected[NAME_ROOM];
    uint64_t instructions, hash, packets;
    char *text; /* of case.txt */
    uint8_t *trace;
    size_t size;
    struct tw_etrace_config config;
};

static void file_of(char path[PATH_ROOM], const char *folder, const char *name,
                    const char *file)
{
    char relative[PATH_ROOM];

    (void)snprintf(relative, sizeof relative, "riscv/%s/%s%s%s", folder, name, *file ? "/" : "",
                   file);
    check_corpus(path, PATH_ROOM, relative);
}

static bool is_there(const struct example *example, const char *file)
{
    char path[PATH_ROOM], all[PATH_ROOM + NAME_ROOM];
    FILE *found;

    file_of(path, "cases", example->name, "");
    (void)snprintf(all, sizeof all, "%s/%s", path, file);
    found = fopen(all, "rb");
    if (found)
        (void)fclose(found);
    return found != NULL;
}

/* A packed file's text. */
static struct tw_text unpack(const char *path)
{
    char command[PATH_ROOM + 40], piece[4096];
    struct tw_text text = { .chars = NULL };
    FILE *pipe;
    size_t size;

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
    char pattern[NAME_ROOM];
    const char *at;

    (void)snprintf(pattern, sizeof pattern, "\n%s=", key);
    at = strstr(example->text, pattern);
    (void)snprintf(out, NAME_ROOM, "%.*s", at ? (int)strcspn(at + strlen(pattern), "\n") : 0,
                   at ? at + strlen(pattern) : "");
}

static struct example open_example(const char *name)
{
    struct example example = { .text = NULL };
    struct tw_fault fault = { TW_OK, "" };
    char path[PATH_ROOM], value[NAME_ROOM];
    uint8_t *text;
    size_t size;

    (void)snprintf(example.name, sizeof example.name, "%.*s", NAME_ROOM - 1, name);
    file_of(path, "cases", name, "case.txt");
    text = check_load(&size, path);
    CHECK(text != NULL);
    example.text = malloc(size + 2);
    CHECK(example.text != NULL);
    example.text[0] = '\n';
    memcpy(example.text + 1, text, size);
    example.text[size + 1] = 0;
    free(text);
    value_of(example.program, &example, "program");
    value_of(example.expected, &example, "expected");
    value_of(value, &example, "instructions");
    example.instructions = strtoull(value, NULL, 10);
    value_of(value, &example, "packets");
    example.packets = strtoull(value, NULL, 10);
    value_of(value, &example, "pc_fnv64");
    example.hash = strtoull(value, NULL, 16);
    tw_etrace_config_init(&example.config, TW_ETRACE_LAYOUT_NONE);
    CHECK_EQ(tw_etrace_config_read(&example.config, example.text, &fault), TW_OK);
    tw_etrace_config_init(&example.config, (enum tw_etrace_layout)example.config.layout);
    CHECK_EQ(tw_etrace_config_read(&example.config, example.text, &fault), TW_OK);
    CHECK_EQ(tw_etrace_config_check(&example.config, &fault), TW_OK);
    file_of(path, "cases", name, "trace.bin");
    example.trace = check_load(&example.size, path);
    CHECK(example.trace != NULL);
    return example;
}

static void close_example(struct example *example)
{
    free(example->text);
    free(example->trace);
}

/* Packets. */

/* The line of the corpus's listing: hexadecimal values stand without 0x. */
static void list_packet(struct tw_text *out, const struct tw_etrace_packet *packet)
{
    char line[800];
    struct tw_text text = tw_text_in(line, sizeof line);

    tw_text_format(out, "%" PRIu64 " %u ", packet->base.offset, (unsigned)packet->payload_size);
    tw_protocol_print(&text, &tw_etrace, packet);
    for (size_t i = 0; i < text.size; i++) {
        if (line[i] == '0' && line[i + 1] == 'x' && line[i - 1] == '=')
            i++;
        else
            tw_text_char(out, line[i]);
    }
    tw_text_char(out, '\n');
}

static void check_packets(const struct example *example)
{
    struct tw_etrace_reader *reader, *writer;
    struct tw_text lines = { .chars = NULL };
    size_t at = 0;
    uint64_t count = 0;

    CHECK_EQ(tw_etrace_reader_new(&reader, &example->config, NULL, NULL), TW_OK);
    CHECK_EQ(tw_etrace_reader_new(&writer, &example->config, NULL, NULL), TW_OK);
    for (; at < example->size; count++) {
        struct tw_etrace_packet packet;
        uint8_t bytes[64];
        size_t size = sizeof bytes;

        CHECK_EQ(tw_etrace_read(reader, &packet, example->trace + at, example->size - at, true),
                 TW_OK);
        CHECK_EQ(tw_etrace_write(writer, bytes, &size, &packet), TW_OK);
        CHECK_BYTES(bytes, size, example->trace + at, packet.base.size);
        list_packet(&lines, &packet);
        at += packet.base.size;
    }
    if (!example->config.is_data)
        CHECK_EQ(count, example->packets);
    if (is_there(example, "packets.txt.gz")) {
        char path[PATH_ROOM];
        struct tw_text want;

        file_of(path, "cases", example->name, "packets.txt.gz");
        want = unpack(path);
        CHECK_TEXT(lines.chars, want.chars);
        tw_text_free(&want);
    }
    tw_text_free(&lines);
    tw_etrace_reader_free(reader);
    tw_etrace_reader_free(writer);
}

/* Paths. */

struct path {
    struct tw_text lines;
    bool is_quiet;     /* count and hash only */
    bool is_runs_only; /* no P, E or I lines, and nothing else ends a run */
    bool is_open;
    uint64_t first, last, next, count;
    int privilege;
    uint64_t instructions, hash, errors;
    struct tw_image *image;
};

static void close_run(struct path *path)
{
    if (path->is_open)
        tw_text_format(&path->lines, "R %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", path->first,
                       path->last, path->count);
    path->is_open = false;
}

static void hash_range(struct path *path, const struct tw_element *range)
{
    const struct tw_view view = { TW_SPACE_ANY, 0, 0 };
    uint64_t pc = range->start;

    for (uint32_t i = 0; i < range->count; i++) {
        uint8_t first = 3;

        for (unsigned k = 0; k < 8; k++)
            path->hash = (path->hash ^ (pc >> 8 * k & 0xff)) * 0x100000001b3u;
        CHECK_EQ(tw_image_read(path->image, &first, &view, pc, 1), 1);
        pc += (first & 3) == 3 ? 4 : 2;
    }
    CHECK_EQ(pc, tw_element_end(range));
    path->instructions += range->count;
}

static void take_range(struct path *path, const struct tw_element *range)
{
    hash_range(path, range);
    if (path->is_quiet)
        return;
    if (path->is_open && path->next != range->start)
        close_run(path);
    if (!path->is_open) {
        path->is_open = true;
        path->first = range->start;
        path->count = 0;
    }
    path->next = tw_element_end(range);
    path->last = path->next - 2u * range->last_size;
    path->count += range->count;
}

static void take(struct path *path, const struct tw_element *element)
{
    if (element->type == TW_ELEMENT_INSTR_RANGE)
        take_range(path, element);
    path->errors += element->type == TW_ELEMENT_ERROR || element->type == TW_ELEMENT_ADDR_NACC;
    if (path->is_runs_only)
        return;
    if (element->type == TW_ELEMENT_PE_CONTEXT && element->el != path->privilege) {
        close_run(path);
        path->privilege = element->el;
        tw_text_format(&path->lines, "P %d\n", path->privilege);
    } else if (element->type == TW_ELEMENT_EXCEPTION) {
        close_run(path);
        CHECK(element->flags & TW_EXCEPTION_HAS_RETURN);
        if (element->flags & TW_EXCEPTION_INTERRUPT)
            tw_text_format(&path->lines, "I %" PRIu32 " %" PRIx64 "\n", element->number,
                           element->return_address);
        else
            tw_text_format(&path->lines, "E %" PRIu32 " %" PRIx64 " %" PRIx64 "\n",
                           element->number, element->return_address, element->tval);
    }
}

static struct tw_tree *make_tree(const struct example *example, struct tw_image *image)
{
    const struct tw_tree_config config = { .size = sizeof config };
    const struct tw_tree_source source = {
        .size = sizeof source, .protocol = "etrace", .text = example->text, .image = image
    };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_tree *tree;

    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    return tree;
}

typedef void take_fn(void *context, const struct tw_batch *batch);

/* Feeds the trace in pieces of random sizes; `piece` 0: all at once. */
static void run_tree(struct tw_tree *tree, const struct example *example, size_t piece,
                     take_fn *each, void *context)
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
            each(context, &batch);
        CHECK_EQ(status, TW_MORE);
        at += size;
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        each(context, &batch);
    CHECK_EQ(status, TW_END);
}

static void take_path(void *context, const struct tw_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        take(context, &batch->elements[i]);
}

static void check_path(const struct example *example, size_t piece)
{
    const bool is_none = !strcmp(example->expected, "none");
    const struct tw_region region = { .size = sizeof region };
    struct path path = { .hash = 0xcbf29ce484222325u, .privilege = -1 };
    char file[PATH_ROOM], name[NAME_ROOM + 10];
    struct tw_tree *tree;

    path.is_quiet = path.is_runs_only = is_none;
    if (!strcmp(example->expected, "pcs-ph") || !strcmp(example->expected, "pcs-seed") ||
        !strcmp(example->expected, "pcs-win"))
        path.is_runs_only = true;
    CHECK_EQ(tw_image_new(&path.image, NULL, NULL), TW_OK);
    file_of(file, "programs", example->program, "image.txt");
    CHECK_EQ(tw_image_add_segments(path.image, &region, file), TW_OK);
    tree = make_tree(example, path.image);
    run_tree(tree, example, piece, take_path, &path);
    close_run(&path);
    CHECK_EQ(path.errors, 0);
    CHECK_EQ(path.instructions, example->instructions);
    CHECK_EQ(path.hash, example->hash);
    if (!is_none) {
        struct tw_text want;

        (void)snprintf(name, sizeof name, "%s.txt.gz", example->expected);
        file_of(file, "programs", example->program, name);
        want = unpack(file);
        CHECK_TEXT(path.lines.chars, want.chars);
        tw_text_free(&want);
    }
    tw_text_free(&path.lines);
    tw_tree_free(tree);
    tw_image_free(path.image);
}

/* Data. */

struct access {
    bool is_open, has_address, has_data;
    uint64_t index, address, data, operand;
    unsigned kind, size;
    struct tw_text rows;
};

static void close_access(struct access *access)
{
    static const uint8_t types[] = { 0, 1, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    unsigned log = access->kind >= TW_DATA_CSR_RW && access->kind <= TW_DATA_MIN;
    const unsigned bits = 8 * access->size;

    if (!access->is_open)
        return;
    for (unsigned bytes = access->size; bytes > 1; bytes /= 2)
        log++;
    tw_text_format(&access->rows, "1,%u,", (unsigned)types[access->kind]);
    if (access->has_address)
        tw_text_format(&access->rows, "%" PRIx64, access->address);
    tw_text_format(&access->rows, ",%u,", log);
    if (access->has_data && access->operand && bits == 64)
        tw_text_format(&access->rows, "%" PRIx64 "%016" PRIx64, access->operand, access->data);
    else if (access->has_data)
        tw_text_format(&access->rows, "%" PRIx64,
                       (access->operand ? access->operand << bits : 0) | access->data);
    tw_text_char(&access->rows, '\n');
    access->is_open = access->has_address = access->has_data = false;
    access->operand = 0;
}

static void take_access(void *context, const struct tw_batch *batch)
{
    struct access *access = context;

    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        CHECK(element->type != TW_ELEMENT_ERROR);
        if (element->type != TW_ELEMENT_DATA_ADDR && element->type != TW_ELEMENT_DATA_VALUE)
            continue;
        if (access->is_open && access->index != element->index)
            close_access(access);
        access->is_open = true;
        access->index = element->index;
        access->kind = element->kind;
        access->size = element->size;
        if (element->flags & TW_DATA_HAS_ADDRESS) {
            access->has_address = true;
            access->address = element->data_address;
        }
        if (element->flags & TW_DATA_HAS_VALUE) {
            access->has_data = true;
            *(element->flags & TW_DATA_OPERAND ? &access->operand : &access->data) =
                element->data_value;
        }
    }
}

/* What was traced of the expected rows: CSRs keep their address. */
static void add_expected(struct tw_text *out, uint32_t options, const char *row)
{
    const size_t type = strcspn(row, ",") + 1;
    const size_t address = type + strcspn(row + type, ",") + 1;
    const size_t size = address + strcspn(row + address, ",") + 1;
    const size_t data = size + strcspn(row + size, ",") + 1;
    const long kind = strtol(row + type, NULL, 10);

    tw_text_add_size(out, row, address);
    if (!(options & TW_ETRACE_NO_ADDRESS) || (kind >= 4 && kind <= 6))
        tw_text_add_size(out, row + address, size - 1 - address);
    tw_text_add_size(out, row + size - 1, data - size + 1);
    if (!(options & TW_ETRACE_NO_DATA))
        tw_text_add_size(out, row + data, strcspn(row + data, "\r\n"));
    tw_text_char(out, '\n');
}

static void check_data(const struct example *example, size_t piece)
{
    struct access access = { .rows = { .chars = NULL } };
    struct tw_text want = { .chars = NULL }, all;
    struct tw_tree *tree = make_tree(example, NULL);
    char path[PATH_ROOM];

    file_of(path, "cases", example->name, "accesses.csv.gz");
    all = unpack(path);
    for (char *row = strchr(all.chars, '\n'); row && row[1]; row = strchr(row + 1, '\n'))
        add_expected(&want, example->config.options, row + 1);
    run_tree(tree, example, piece, take_access, &access);
    close_access(&access);
    CHECK_TEXT(access.rows.chars, want.chars);
    tw_text_free(&access.rows);
    tw_text_free(&want);
    tw_text_free(&all);
    tw_tree_free(tree);
}

static void each_case(void (*check)(const struct example *example, size_t piece), size_t piece)
{
    char folder[PATH_ROOM];
    const bool is_full = check_scale(10) == 10;
    unsigned count = 0;
    DIR *cases;

    check_corpus(folder, sizeof folder, "riscv/cases");
    cases = opendir(folder);
    CHECK(cases != NULL);
    for (struct dirent *entry; (entry = readdir(cases));) {
        struct example example;

        if (entry->d_name[0] == '.' || (!is_full && strstr(entry->d_name, "-full-")))
            continue;
        CHECK_CASE(entry->d_name);
        example = open_example(entry->d_name);
        check(&example, piece);
        close_example(&example);
        count++;
    }
    (void)closedir(cases);
    CHECK(count > 100);
}

static void check_path_or_data(const struct example *example, size_t piece)
{
    if (example->config.is_data)
        check_data(example, piece);
    else
        check_path(example, piece);
}

static void check_listing(const struct example *example, size_t piece)
{
    (void)piece;
    check_packets(example);
}

/* [RVT 6/4] [RVT 6/5] */
static void packets_equal_the_listings_and_are_written_back(void **state)
{
    (void)state;
    each_case(check_listing, 0);
}

/* [RVT 3.1.1/1] [RVT 8.2/2] */
static void paths_and_accesses_are_as_expected(void **state)
{
    (void)state;
    each_case(check_path_or_data, 0);
}

static void paths_do_not_depend_on_how_the_trace_is_cut(void **state)
{
    (void)state;
    each_case(check_path_or_data, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_equal_the_listings_and_are_written_back),
        cmocka_unit_test(paths_and_accesses_are_as_expected),
        cmocka_unit_test(paths_do_not_depend_on_how_the_trace_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
