/* SPDX-License-Identifier: BSD-2-Clause */
/* What is listed of every header stays: digests of packets, elements and notes, kept in
   tests/vectors/listings; and the program that a protocol's table makes of it. */
#ifndef TRACKWAY_TESTS_EVERY_LISTING_H
#define TRACKWAY_TESTS_EVERY_LISTING_H

#include "every_input.h"

/* The stream of a header: a beginning, the header with its payload, a beginning again. */
static inline size_t every_make(const struct every_source *source, uint8_t *bytes,
                                unsigned head, struct check_random *random, size_t kind)
{
    size_t size = source->start_size;

    memcpy(bytes, source->start, size);
    bytes[size++] = (uint8_t)head;
    every_payload(bytes + size, random, kind);
    size += EVERY_PAYLOAD;
    memcpy(bytes + size, source->start, source->start_size);
    return size + source->start_size;
}

static inline uint64_t every_hash(uint64_t hash, const struct every_text *text)
{
    for (size_t i = 0; i < text->size; i++)
        hash = (hash ^ (uint8_t)text->chars[i]) * 0x100000001b3u;
    return hash;
}

/* Packets, notes and elements of sixteen headers. */
static inline uint64_t every_group(const struct every_source *source, unsigned first,
                                   FILE *list)
{
    const struct tw_tree_config config = { .size = sizeof config };
    struct check_random random = { 0x6c697374 + first };
    struct every_text text = { 0 };
    uint64_t hash = 0xcbf29ce484222325u;

    for (unsigned head = first; head < first + 16; head++)
        for (size_t kind = 0; kind < EVERY_KEPT; kind++) {
            struct every_text notes = { 0 };
            uint8_t bytes[EVERY_SIZE], *copy;
            size_t size = every_make(source, bytes, head, &random, kind);

            copy = check_copy(bytes, size);
            every_read(source, &text, &notes, NULL, copy, size, size);
            hash = every_hash(hash, &notes);
            every_elements(source, &text, &config, copy, size, size);
            hash = every_hash(hash, &text);
            if (list)
                fprintf(list, "%s, header 0x%02x, payload %zu\n%s%s", source->setup->name, head,
                        kind, notes.size ? notes.chars : "", text.chars);
            text.size = 0;
            free(notes.chars);
            free(copy);
        }
    free(text.chars);
    return hash;
}

/* tests/vectors/listings/<protocol>.txt holds a digest for each sixteen headers of a row.
   TW_LISTINGS=FILE writes the listings themselves there, to be compared with another build's;
   TW_LISTINGS_UPDATE=1 writes the digests again, when the change is wanted. */
static inline void every_listing(void **state)
{
    const struct every_setup *setup = *state;
    const char *list_path = getenv("TW_LISTINGS");
    FILE *list = list_path ? fopen(list_path, "a") : NULL, *kept, *updated = NULL;
    struct every_source source;
    char path[400], new_path[410], line[1000], next[1000], want[1000] = "", *end = line;

    every_source_open(&source, setup);
    source.shows_text = true;
    end += snprintf(line, sizeof line, "%s:", setup->name);
    for (unsigned first = 0; first < 256; first += 16)
        end += snprintf(end, (size_t)(line + sizeof line - end), " %016llx",
                        (unsigned long long)every_group(&source, first, list));
    if (list)
        fclose(list);
    (void)snprintf(path, sizeof path, TW_SOURCE_DIR "/tests/vectors/listings/%s.txt",
                   setup->listing ? setup->listing : setup->protocol);
    (void)snprintf(new_path, sizeof new_path, "%s.new", path);
    kept = fopen(path, "r");
    if (getenv("TW_LISTINGS_UPDATE"))
        updated = fopen(new_path, "w");
    while (kept && fgets(next, sizeof next, kept)) {
        const bool is_it = strncmp(next, line, strlen(setup->name) + 1) == 0;

        if (is_it)
            (void)snprintf(want, sizeof want, "%.*s", (int)strcspn(next, "\n"), next);
        else if (updated)
            fputs(next, updated);
    }
    if (kept)
        fclose(kept);
    if (updated) {
        fprintf(updated, "%s\n", line);
        fclose(updated);
        CHECK_EQ(rename(new_path, path), 0);
        return;
    }
    check_case("%s: TW_LISTINGS=FILE writes what is listed, TW_LISTINGS_UPDATE=1 accepts it",
               setup->name);
    CHECK_TEXT(line, want);
}

/* Three tests for each row; where TW_PROOF_BYTES asks for every input, that one alone. */
static inline int every_run(struct every_setup *setups, size_t count)
{
    struct CMUnitTest tests[96];
    size_t made = 0;

    assert_true(3 * count <= LENGTH(tests));
    for (size_t i = 0; i < count; i++) {
        tests[made++] =
            (struct CMUnitTest){ setups[i].name, every_input, NULL, NULL, &setups[i] };
        if (getenv("TW_PROOF_BYTES"))
            continue;
        tests[made++] =
            (struct CMUnitTest){ setups[i].name, every_listing, NULL, NULL, &setups[i] };
        tests[made++] =
            (struct CMUnitTest){ setups[i].name, every_header, NULL, NULL, &setups[i] };
    }
    return _cmocka_run_group_tests(setups[0].protocol, tests, made, NULL, NULL);
}

#endif
