/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a fuzz target once on each file named on the command line, without libFuzzer; after --changed N also on N texts that
   each file becomes when a word or a byte of it changes, or it is cut.  Which they are depends on the file alone. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What becomes of a word. */
static const char *const words[] = {
    "", "0", "1", "0xffffffffffffffff", "-1", "x", "99999", "="
};

enum { WORDS = sizeof words / sizeof words[0], CHANGES = WORDS + 7 };

struct word {
    size_t at, size;
};

/* Exactly as large as the file, so that ASan sees a read of one byte too far. */
static uint8_t *load(size_t *size, const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long length;

    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 &&
        fseek(file, 0, SEEK_SET) == 0) {
        *size = (size_t)length;
        data = malloc(*size ? *size : 1);
        if (data && fread(data, 1, *size, file) != *size) {
            free(data);
            data = NULL;
        }
    }
    (void)fclose(file);
    return data;
}

/* A word, or what stands between two: letters, digits, '_' and '.' hold together. */
static bool is_word(uint8_t byte)
{
    return isalnum(byte) || byte == '_' || byte == '.' || byte >= 0x80;
}

/* The n-th word or character that is none, counted around. */
static struct word find(const uint8_t *data, size_t size, size_t n)
{
    struct word word = { .at = 0 };
    size_t count = 0;

    for (int round = 0; round < 2; round++) {
        n %= count ? count : SIZE_MAX;
        count = 0;
        for (size_t at = 0; at < size; at += word.size) {
            word = (struct word){ .at = at, .size = 1 };
            while (is_word(data[at]) && at + word.size < size && is_word(data[at + word.size]))
                word.size++;
            if (!isspace(data[at]) && count++ == n && (round || n < count))
                return word;
        }
        if (!count)
            break;
    }
    return (struct word){ .at = size };
}

/* The change with this number; the bytes are freed by the caller. */
static uint8_t *change(size_t *out, const uint8_t *data, size_t size, size_t number)
{
    static const uint8_t bytes[] = { 0x00, 0xff, 0x7f, 0x80 };
    const size_t kind = number % CHANGES, n = number / CHANGES * 7919;
    const struct word word = find(data, size, n), other = find(data, size, n + 1 + number % 5);
    const uint8_t *put = kind < WORDS ? (const uint8_t *)words[kind] : data + other.at;
    size_t room = kind < WORDS ? strlen(words[kind]) : other.size;
    size_t from = word.at, to = word.at + word.size;
    uint8_t *made;

    if (kind == WORDS) { /* twice */
        put = data + word.at;
        room = word.size;
        to = from;
    } else if (kind > WORDS + 2) { /* a byte, or all behind it */
        from = size ? n % size : 0;
        to = kind == WORDS + 3 ? size : from + (size > 0);
        put = &bytes[number % sizeof bytes];
        room = kind == WORDS + 3 ? 0 : 1;
    } else if (kind == WORDS + 2) { /* up to the next line */
        while (to < size && data[to] != '\n')
            to++;
        room = 0;
    }
    *out = size - (to - from) + room;
    made = malloc(*out ? *out : 1);
    if (!made)
        abort();
    memcpy(made, data, from);
    memcpy(made + from, put, room);
    memcpy(made + from + room, data + to, size - to);
    if (kind == WORDS + 5 && size)
        made[from] = data[from] ^ 1;
    return made;
}

static void run_changed(const char *path, const uint8_t *data, size_t size, unsigned long most)
{
    const char *only = getenv("TW_REPLAY_CHANGE"); /* the one to look at */

    for (unsigned long i = 0; i < most; i++) {
        size_t changed;
        uint8_t *made;

        if (only && strtoul(only, NULL, 10) != i)
            continue;
        made = change(&changed, data, size, i);
        if (getenv("TW_REPLAY_SAY"))
            (void)fprintf(stderr, "%s: change %lu, %zu bytes\n", path, i, changed);
        (void)LLVMFuzzerTestOneInput(made, changed);
        free(made);
    }
}

int main(int argc, char **argv)
{
    const bool is_changed = argc > 2 && strcmp(argv[1], "--changed") == 0;
    const unsigned long most = is_changed ? strtoul(argv[2], NULL, 10) : 0;
    const int first = is_changed ? 3 : 1;

    for (int i = first; i < argc; i++) {
        size_t size = 0;
        uint8_t *data = load(&size, argv[i]);

        if (!data) {
            (void)fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
        if (!is_changed)
            (void)LLVMFuzzerTestOneInput(data, size);
        run_changed(argv[i], data, size, most);
        free(data);
    }
    printf("[  PASSED  ] %d test(s).\n", argc - first);
    return 0;
}
