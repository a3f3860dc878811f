/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of what the system gives: the same on each. */
#define _XOPEN_SOURCE 700 /* mkdtemp, realpath */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/platform.h"

static char folder[64];

static const char *in_folder(const char *name)
{
    static char paths[4][128];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "trackway-platform-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(folder); /* fails where anything is left */
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    CHECK_EQ(fwrite(text, 1, strlen(text), file), strlen(text));
    CHECK_EQ(fsync(fileno(file)), 0);
    CHECK_EQ(fclose(file), 0);
}

static void a_file_is_mapped_as_it_is(void **state)
{
    static const char text[] = "one\r\ntwo\x1a\n";
    const char *path = in_folder("mapped");
    struct stat about;
    void *map;
    int fd;

    (void)state;
    put(path, text);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && fstat(fd, &about) == 0);
    CHECK_EQ(about.st_size, strlen(text));
    map = mmap(NULL, strlen(text), PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK_EQ(close(fd), 0);
    CHECK(map != MAP_FAILED);
    CHECK_BYTES(map, strlen(text), text, strlen(text));
    CHECK_EQ(munmap(map, strlen(text)), 0);
    CHECK_EQ(unlink(path), 0);
}

static void renaming_replaces(void **state)
{
    const char *one = in_folder("one"), *two = in_folder("two");
    uint8_t *bytes;
    size_t size;

    (void)state;
    put(one, "new");
    put(two, "old");
    CHECK_EQ(rename(one, two), 0);
    bytes = check_load(&size, two);
    CHECK_BYTES(bytes, size, "new", 3);
    free(bytes);
    CHECK(rename(one, two) != 0);
    CHECK_EQ(errno, ENOENT);
    CHECK_EQ(unlink(two), 0);
}

static void temporary_names_are_new(void **state)
{
    char path[2][128];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        int fd;

        strcpy(path[i], in_folder("file-XXXXXX"));
        fd = mkstemp(path[i]);
        CHECK(fd >= 0);
        CHECK_EQ(write(fd, "\n", 1), 1);
        CHECK_EQ(close(fd), 0);
    }
    CHECK(strcmp(path[0], path[1]) != 0);
    for (unsigned i = 0; i < 2; i++) {
        struct stat about;

        CHECK_EQ(stat(path[i], &about), 0);
        CHECK_EQ(about.st_size, 1);
        CHECK_EQ(unlink(path[i]), 0);
    }
    CHECK_EQ(mkdir(in_folder("inner"), 0777), 0);
    CHECK(mkdir(in_folder("inner"), 0777) != 0 && errno == EEXIST);
    CHECK_EQ(rmdir(in_folder("inner")), 0);
    strcpy(path[0], in_folder("nowhere/XXXXXX"));
    CHECK(!mkdtemp(path[0]));
}

static void paths_have_names(void **state)
{
    static const char *const rows[][2] = {
        { "name", NULL }, { "a/b", "/b" }, { "/", "/" }, { "a/b/", "/" }, { "", NULL },
    };
    char *real;

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const char *slash = tw_last_slash(rows[i][0]);

        CHECK_CASE(rows[i][0]);
        if (rows[i][1])
            CHECK_TEXT(slash, rows[i][1]);
        else
            CHECK(!slash);
    }
#ifdef _WIN32
    CHECK_TEXT(tw_last_slash("C:\\x/y\\z"), "\\z");
    CHECK_TEXT(tw_last_slash("C:x"), ":x");
#else
    CHECK_TEXT(tw_last_slash("a/b\\c"), "/b\\c");
#endif
    real = realpath(folder, NULL);
    assert_non_null(real);
    CHECK_TEXT(tw_last_slash(real) + 1, folder);
    free(real);
    CHECK(!realpath(in_folder("nothing"), NULL));
    real = strndup("abc", 2);
    CHECK_TEXT(real, "ab");
    free(real);
    real = strndup("abc", 9);
    CHECK_TEXT(real, "abc");
    free(real);
    CHECK(sysconf(_SC_PAGESIZE) >= 4096 && sysconf(_SC_NPROCESSORS_ONLN) >= 1);
}

static void what_is_no_library_is_not_loaded(void **state)
{
    (void)state;
    CHECK(!dlopen(in_folder("nothing.so"), RTLD_NOW | RTLD_LOCAL));
    assert_non_null(dlerror());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_mapped_as_it_is),        cmocka_unit_test(renaming_replaces),
        cmocka_unit_test(temporary_names_are_new),          cmocka_unit_test(paths_have_names),
        cmocka_unit_test(what_is_no_library_is_not_loaded),
    };

    return cmocka_run_group_tests_name("platform", tests, set_up, tear_down);
}
