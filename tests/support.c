/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions behind check.h. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char label[256]; /* of the row at work, see CHECK_CASE */

static void show_case(void)
{
    if (label[0])
        print_error("case: %s\n", label);
}

void check_case(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(label, sizeof label, format, arguments);
    va_end(arguments);
}

void check_eq(uint64_t got, uint64_t want, const char *text, const char *file, int line)
{
    if (got == want)
        return;
    show_case();
    print_error("%s\ngot  %" PRId64 " (0x%" PRIx64 ")\nwant %" PRId64 " (0x%" PRIx64 ")\n",
                text, (int64_t)got, got, (int64_t)want, want);
    _fail(file, line);
}

void check_true(bool is_true, const char *text, const char *file, int line)
{
    if (is_true)
        return;
    show_case();
    print_error("not true: %s\n", text);
    _fail(file, line);
}

static void show_bytes(const char *name, const uint8_t *bytes, size_t size, size_t around)
{
    const size_t from = around > 8 ? around - 8 : 0;

    print_error("%s %zu bytes, from %zu:", name, size, from);
    for (size_t i = from; i < size && i < from + 24; i++)
        print_error(i == around ? " [%02x]" : " %02x", bytes[i]);
    print_error("\n");
}

void check_bytes(const void *got, size_t got_size, const void *want, size_t want_size,
                 const char *file, int line)
{
    const uint8_t *a = got, *b = want;
    size_t same = 0;

    while (same < got_size && same < want_size && a[same] == b[same])
        same++;
    if (same == got_size && same == want_size)
        return;
    show_case();
    print_error("bytes differ at %zu\n", same);
    show_bytes("got ", a, got_size, same);
    show_bytes("want", b, want_size, same);
    _fail(file, line);
}

void check_text(const char *got, const char *want, const char *file, int line)
{
    if (got && strcmp(got, want) == 0)
        return;
    show_case();
    print_error("got  \"%s\"\nwant \"%s\"\n", got ? got : "(null)", want);
    _fail(file, line);
}

uint8_t *check_copy(const void *bytes, size_t size)
{
    /* malloc(0) may give NULL, and ASan guards its one byte anyway. */
    uint8_t *copy = malloc(size);

    if (size) {
        if (!copy)
            abort();
        memcpy(copy, bytes, size);
    }
    return copy;
}

uint8_t *check_load(size_t *size, const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    struct stat about;

    *size = 0;
    if (!file)
        return NULL;
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
        *size = (size_t)about.st_size;
        data = malloc(*size ? *size : 1);
        if (data && fread(data, 1, *size, file) != *size) {
            free(data);
            data = NULL;
        }
    }
    (void)fclose(file);
    return data;
}

struct check_random check_random_start(uint64_t seed)
{
    const char *other = getenv("TW_TEST_SEED");

    if (other)
        seed = strtoull(other, NULL, 0);
    print_message("seed 0x%" PRIx64 "\n", seed);
    return (struct check_random){ seed };
}

/* SplitMix64: every seed is a good one. */
uint64_t check_random_next(struct check_random *random)
{
    uint64_t x = random->state += 0x9e3779b97f4a7c15;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

uint64_t check_random_below(struct check_random *random, uint64_t limit)
{
    const uint64_t fair = UINT64_MAX - UINT64_MAX % limit;
    uint64_t x;

    do
        x = check_random_next(random);
    while (x >= fair);
    return x % limit;
}

void check_random_fill(struct check_random *random, void *bytes, size_t size)
{
    uint8_t *at = bytes;

    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)check_random_next(random);
}

size_t check_scale(size_t full)
{
    const char *wish = getenv("TW_TEST_FULL");

    if (wish && strcmp(wish, "1") == 0)
        return full;
    return full < 10 ? 1 : full / 10;
}

static bool exists(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0;
}

void check_corpus(char *out, size_t room, const char *relative)
{
    const char *corpus = getenv("TRACKWAY_CORPUS");
    int length;

    if (!corpus || !*corpus)
        corpus = TW_SOURCE_DIR "/../shared/corpus";
    if (!exists(corpus)) {
        print_message("skipped: no corpus\n");
        skip();
    }
    length = snprintf(out, room, "%s/%s", corpus, relative);
    if (length < 0 || (size_t)length >= room || !exists(out)) {
        print_error("the corpus lacks %s\n", relative);
        fail();
    }
}
