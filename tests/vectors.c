/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the .tv files of tests/vectors/<protocol>: configuration, image and bytes in, packets and path
   out; whole, byte by byte and in random pieces.  The form is in docs/vectors.md.  With
   TW_VECTORS_UPDATE=1 in the environment the files get what came out, for review in the diff. */
#include "check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

enum { REGISTERS_MAX = 40, LINES_MAX = 400, LINE_MAX_SIZE = 2000, BYTES_MAX = 8192 };

struct vector {
    char name[200], protocol[20], core[40];
    struct tw_register registers[REGISTERS_MAX];
    char names[REGISTERS_MAX][24];
    size_t register_count;
    uint8_t memory[65536]; /* addresses 0 to 0xffff */
    uint8_t known[65536];
    uint8_t bytes[BYTES_MAX];
    size_t size;
    bool splits_sources, checks_opcodes, checks_atoms, checks_continuity;
    uint32_t range_limit;
    char *packets, *elements; /* expected, a line each; NULL: not checked */
};

static size_t read_memory(void *context, uint8_t *out, const struct tw_view *view,
                          uint64_t address, size_t size)
{
    const struct vector *vector = context;
    size_t n = 0;

    (void)view;
    while (n < size && address + n < sizeof vector->memory && vector->known[address + n]) {
        out[n] = vector->memory[address + n];
        n++;
    }
    return n;
}

static void append(char **text, const char *line)
{
    const size_t old = *text ? strlen(*text) : 0;
    char *larger = realloc(*text, old + strlen(line) + 2);

    assert_non_null(larger);
    memcpy(larger + old, line, strlen(line) + 1);
    strcat(larger, "\n");
    *text = larger;
}

/* Copies text that must fit. */
static void copy_text(char *out, size_t room, const char *text)
{
    assert_true(strlen(text) < room);
    memcpy(out, text, strlen(text) + 1);
}

static void set_register(struct vector *vector, const char *name, uint64_t value)
{
    size_t i = 0;

    while (i < vector->register_count && strcmp(vector->names[i], name) != 0)
        i++;
    if (i == vector->register_count) {
        assert_true(vector->register_count < REGISTERS_MAX);
        vector->register_count++;
        copy_text(vector->names[i], sizeof vector->names[i], name);
        vector->registers[i].name = vector->names[i];
    }
    vector->registers[i].value = value;
}

/* "NAME=VALUE NAME=VALUE ..." */
static void parse_registers(struct vector *vector, char *text)
{
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        char *equals = strchr(word, '=');

        assert_non_null(equals);
        *equals = 0;
        set_register(vector, word, strtoull(equals + 1, NULL, 0));
    }
}

/* "ADDRESS VALUE[*TIMES] ...": values of 8 hex digits are words, of 4 halfwords, of 2 bytes. */
static void parse_image(struct vector *vector, char *text)
{
    char *word = strtok(text, " ");
    size_t at = strtoul(word, NULL, 16);

    while ((word = strtok(NULL, " "))) {
        const size_t size = strcspn(word, "*") / 2;
        const size_t times = strchr(word, '*') ? strtoul(strchr(word, '*') + 1, NULL, 10) : 1;
        const unsigned long value = strtoul(word, NULL, 16);

        for (size_t i = 0; i < size * times; i++, at++) {
            assert_true(at < sizeof vector->memory);
            vector->memory[at] = (uint8_t)(value >> (8 * (i % size)));
            vector->known[at] = 1;
        }
    }
}

static void parse_bytes(struct vector *vector, char *text)
{
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        if (strcmp(word, "ASYNC") == 0) {
            memset(vector->bytes + vector->size, 0, 11);
            vector->bytes[vector->size + 11] = 0x80;
            vector->size += 12;
            continue;
        }
        assert_true(vector->size < BYTES_MAX - 16);
        vector->bytes[vector->size++] = (uint8_t)strtoul(word, NULL, 16);
    }
}

/* "src-addr-n", "check-opcodes", "check-atoms", "check-continuity", "range-limit=N" */
static void parse_option(struct vector *vector, const char *text)
{
    if (strcmp(text, "src-addr-n") == 0)
        vector->splits_sources = true;
    else if (strcmp(text, "check-opcodes") == 0)
        vector->checks_opcodes = true;
    else if (strcmp(text, "check-atoms") == 0)
        vector->checks_atoms = true;
    else if (strcmp(text, "check-continuity") == 0)
        vector->checks_continuity = true;
    else if (strncmp(text, "range-limit=", 12) == 0)
        vector->range_limit = (uint32_t)strtoul(text + 12, NULL, 0);
    else
        fail_msg("unknown option '%s' in a vector", text);
}

static void parse_line(struct vector *vector, char *line)
{
    char *rest = strchr(line, ' ');

    if (!rest)
        rest = line + strlen(line);
    else
        *rest++ = 0;
    if (strcmp(line, "protocol") == 0)
        copy_text(vector->protocol, sizeof vector->protocol, rest);
    else if (strcmp(line, "core") == 0)
        copy_text(vector->core, sizeof vector->core, rest);
    else if (strcmp(line, "config") == 0)
        parse_registers(vector, rest);
    else if (strcmp(line, "image") == 0)
        parse_image(vector, rest);
    else if (strcmp(line, "bytes") == 0)
        parse_bytes(vector, rest);
    else if (strcmp(line, "option") == 0)
        parse_option(vector, rest);
    else if (strcmp(line, "packet") == 0)
        append(&vector->packets, rest);
    else if (strcmp(line, "path") == 0)
        append(&vector->elements, rest);
    else
        fail_msg("unknown word '%s' in a vector", line);
}

static struct tw_tree *make_tree(struct vector *vector, struct tw_image *image,
                                 bool packets_only)
{
    struct tw_tree_config config = { .size = sizeof config,
                                     .packets_only = packets_only,
                                     .range_limit = vector->range_limit,
                                     .source_address_n = vector->splits_sources,
                                     .check_opcodes = vector->checks_opcodes,
                                     .check_atoms = vector->checks_atoms,
                                     .check_continuity = vector->checks_continuity };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = vector->protocol,
                                     .registers = vector->registers,
                                     .register_count = vector->register_count,
                                     .core_type = vector->core[0] ? vector->core : NULL,
                                     .image = image };
    struct tw_fault fault;
    struct tw_tree *tree;
    uint8_t id;

    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_OK);
    if (tw_tree_add_source(tree, &id, &source) != TW_OK)
        fail_msg("%s: %s", vector->name, tw_tree_fault(tree));
    return tree;
}

static void take_elements(struct tw_tree *tree, char **text)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;
    char line[LINE_MAX_SIZE];

    while ((status = tw_tree_next(tree, &batch)) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            tw_element_json(line, sizeof line, &batch.elements[i], batch.id);
            append(text, line);
        }
    CHECK(status > 0);
}

static void take_packets(struct tw_tree *tree, char **text)
{
    struct tw_packet_view view = { .size = sizeof view };
    enum tw_status status;
    char line[LINE_MAX_SIZE];

    while ((status = tw_tree_next_packet(tree, &view)) == TW_OK) {
        tw_packet_json(line, sizeof line, &view);
        append(text, line);
    }
    CHECK(status > 0);
}

enum feeding { WHOLE, BYTE_BY_BYTE, RANDOM_PIECES };

static char *run(struct vector *vector, bool packets_only, enum feeding feeding,
                 struct check_random *random)
{
    struct tw_image *image;
    struct tw_tree *tree;
    uint8_t *bytes = check_copy(vector->bytes, vector->size);
    char *text = NULL;

    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_set_callback(image, read_memory, vector), TW_OK);
    tree = make_tree(vector, image, packets_only);
    for (size_t at = 0; at < vector->size;) {
        size_t piece = vector->size - at;

        if (feeding == BYTE_BY_BYTE)
            piece = 1;
        else if (feeding == RANDOM_PIECES)
            piece = 1 + (size_t)check_random_below(random, piece);
        CHECK_EQ(tw_tree_feed(tree, bytes + at, piece), TW_OK);
        at += piece;
        packets_only ? take_packets(tree, &text) : take_elements(tree, &text);
    }
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    packets_only ? take_packets(tree, &text) : take_elements(tree, &text);
    tw_tree_free(tree);
    tw_image_free(image);
    free(bytes);
    return text;
}

static void check_vector(struct vector *vector, bool packets_only, const char *want)
{
    struct check_random random = { .state = 0x7261636b77617921 };
    static const enum feeding feedings[] = { WHOLE, BYTE_BY_BYTE, RANDOM_PIECES,
                                             RANDOM_PIECES };

    for (size_t i = 0; i < LENGTH(feedings); i++) {
        char *got = run(vector, packets_only, feedings[i], &random);

        check_case("%s, %s, feeding %zu", vector->name, packets_only ? "packets" : "path", i);
        CHECK_TEXT(got ? got : "", want);
        free(got);
    }
}

static void write_lines(FILE *out, const char *word, char *text)
{
    for (char *line = text ? strtok(text, "\n") : NULL; line; line = strtok(NULL, "\n"))
        fprintf(out, "%s %s\n", word, line);
}

static void finish_case(struct vector *vector, FILE *updated)
{
    struct check_random random = { 1 };

    if (!vector->name[0])
        return;
    if (updated) {
        char *packets = run(vector, true, WHOLE, &random);
        char *elements = run(vector, false, WHOLE, &random);

        write_lines(updated, "packet", packets);
        write_lines(updated, "path", elements);
        fprintf(updated, "\n");
        free(packets);
        free(elements);
    } else {
        CHECK(vector->packets || vector->elements);
        if (vector->packets)
            check_vector(vector, true, vector->packets);
        if (vector->elements)
            check_vector(vector, false, vector->elements);
    }
    free(vector->packets);
    free(vector->elements);
    vector->packets = vector->elements = NULL;
}

/* One vector file: a list of "case" blocks; values set before the first one hold for all. */
static void run_file(const char *path)
{
    const bool updates = getenv("TW_VECTORS_UPDATE") != NULL;
    static struct vector common, vector;
    char line[LINE_MAX_SIZE], new_path[500];
    FILE *in = fopen(path, "r"), *updated = NULL;

    assert_non_null(in);
    assert_true((size_t)snprintf(new_path, sizeof new_path, "%s.new", path) < sizeof new_path);
    if (updates)
        updated = fopen(new_path, "w");
    memset(&common, 0, sizeof common);
    memset(&vector, 0, sizeof vector);
    while (fgets(line, sizeof line, in)) {
        char copy[LINE_MAX_SIZE];

        assert_true(strlen(line) < sizeof line - 1); /* else it was cut */
        line[strcspn(line, "\r\n")] = 0;
        memcpy(copy, line, strlen(line) + 1);
        if (strncmp(line, "case ", 5) == 0) {
            finish_case(&vector, updated);
            vector = common;
            copy_text(vector.name, sizeof vector.name, line + 5);
        } else if (line[0] && line[0] != '#') {
            parse_line(vector.name[0] ? &vector : &common, line);
        }
        if (updated && strncmp(copy, "packet ", 7) != 0 && strncmp(copy, "path ", 5) != 0 &&
            (copy[0] || !vector.name[0]))
            fprintf(updated, "%s\n", copy);
    }
    finish_case(&vector, updated);
    fclose(in);
    if (updated) {
        fclose(updated);
        CHECK_EQ(rename(new_path, path), 0);
    }
}

static void every_vector_gives_its_packets_and_path(void **state)
{
    const char *folder = *state;
    DIR *files = opendir(folder);
    size_t count = 0;

    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files));) {
        const size_t size = strlen(entry->d_name);
        char path[500];

        if (size < 3 || strcmp(entry->d_name + size - 3, ".tv") != 0)
            continue;
        assert_true((size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) <
                    sizeof path);
        run_file(path);
        count++;
    }
    closedir(files);
    CHECK(count > 0);
}

int main(void)
{
    static char etmv4[] = TW_SOURCE_DIR "/tests/vectors/etmv4";
    static char etmv3[] = TW_SOURCE_DIR "/tests/vectors/etmv3";
    static char ptm[] = TW_SOURCE_DIR "/tests/vectors/ptm";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(every_vector_gives_its_packets_and_path, etmv4),
        cmocka_unit_test_prestate(every_vector_gives_its_packets_and_path, etmv3),
        cmocka_unit_test_prestate(every_vector_gives_its_packets_and_path, ptm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
