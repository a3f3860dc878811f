/* SPDX-License-Identifier: BSD-2-Clause */
/* What cmocka lacks: labels for table rows, byte and text comparison, tight copies, random
   numbers with a printed seed, and the corpus.  Include it first, before any other header. */
#ifndef TRACKWAY_TESTS_CHECK_H
#define TRACKWAY_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Names the row at work.  A failure further down prints it; it lasts until the next CHECK_CASE or
   the end of the test program. */
#define CHECK_CASE(name) check_case("%s", name)
void check_case(const char *format, ...);

/* Integers of any kind, enums too; both are shown in decimal and hexadecimal. */
#define CHECK_EQ(got, want)                                                                    \
    check_eq((uint64_t)(got), (uint64_t)(want), #got " == " #want, __FILE__, __LINE__)
#define CHECK(condition) check_true((condition) ? true : false, #condition, __FILE__, __LINE__)
#define CHECK_BYTES(got, got_size, want, want_size)                                            \
    check_bytes(got, got_size, want, want_size, __FILE__, __LINE__)
#define CHECK_TEXT(got, want) check_text(got, want, __FILE__, __LINE__)

void check_eq(uint64_t got, uint64_t want, const char *text, const char *file, int line);
void check_true(bool is_true, const char *text, const char *file, int line);
void check_bytes(const void *got, size_t got_size, const void *want, size_t want_size,
                 const char *file, int line);
void check_text(const char *got, const char *want, const char *file, int line);

/* A heap block of exactly `size` bytes, so that ASan sees a read of one byte too far; free() it.
   The size may be 0. */
uint8_t *check_copy(const void *bytes, size_t size);

/* A file as a tight heap block, NULL if it cannot be read. */
uint8_t *check_load(size_t *size, const char *path);

/* Random numbers, the same in each run.  check_random_start prints the seed; the variable
   TW_TEST_SEED replaces it, to try others. */
struct check_random {
    uint64_t state;
};
struct check_random check_random_start(uint64_t seed);
uint64_t check_random_next(struct check_random *random);
/* Evenly from 0 to limit - 1; limit must not be 0. */
uint64_t check_random_below(struct check_random *random, uint64_t limit);
void check_random_fill(struct check_random *random, void *bytes, size_t size);

/* How many of `full` random cases to run: all with TW_TEST_FULL=1 in the environment, else a
   tenth, never less than one. */
size_t check_scale(size_t full);

/* Writes "<corpus>/<relative>" to `out`.  Skips the test with "skipped: no corpus" when there is
   no corpus; a file that the corpus lacks fails it. */
void check_corpus(char *out, size_t room, const char *relative);

#endif
