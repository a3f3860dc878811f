/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of files that take their place when they are whole. */
#define _XOPEN_SOURCE 700 /* mkdtemp, symlink */
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beside.h"

static char folder[] = "/tmp/trackway-beside-XXXXXX", path[64], name[64 + TW_BESIDE_SIZE];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder); /* fails where anything is left */
}

static void check_content(const char *want)
{
    size_t size = 0;
    uint8_t *got = check_load(&size, path);

    CHECK(got != NULL);
    CHECK_BYTES(got, size, want, strlen(want));
    free(got);
}

static void put(const char *text)
{
    FILE *file = tw_beside_open(name, path);

    CHECK(file != NULL);
    CHECK_EQ(strncmp(name, path, strlen(path)), 0);
    CHECK_EQ(strlen(name) + 1, strlen(path) + TW_BESIDE_SIZE);
    CHECK(fputs(text, file) >= 0);
    CHECK(tw_beside_keep(file, name, path));
    CHECK_EQ(access(name, F_OK), -1);
}

static void replaces_what_was_there(void **state)
{
    (void)state;
    put("one");
    check_content("one");
    put("two");
    check_content("two");
}

static void drops_what_is_not_wanted(void **state)
{
    FILE *file;

    (void)state;
    put("old");
    file = tw_beside_open(name, path);
    CHECK(file != NULL);
    CHECK(fputs("new", file) >= 0);
    check_content("old");
    tw_beside_drop(file, name);
    CHECK_EQ(access(name, F_OK), -1);
    check_content("old");
}

static void names_differ_and_rights_are_the_usual(void **state)
{
    const mode_t mask = umask(027);
    char other[sizeof name];
    FILE *one = tw_beside_open(name, path), *two = tw_beside_open(other, path);
    struct stat about;

    (void)state;
    (void)umask(mask);
    CHECK(one && two);
    CHECK(strcmp(name, other) != 0);
    CHECK_EQ(stat(name, &about), 0);
    CHECK_EQ(about.st_mode & 0777, 0640);
    tw_beside_drop(one, name);
    tw_beside_drop(two, other);
}

static void says_why_not(void **state)
{
    char gone[sizeof path + 8], beside[sizeof gone + TW_BESIDE_SIZE];
    FILE *file;

    (void)state;
    (void)snprintf(gone, sizeof gone, "%s/no/x", folder);
    errno = 0;
    CHECK(tw_beside_open(beside, gone) == NULL);
    CHECK_EQ(errno, ENOENT);
    file = tw_beside_open(name, path);
    CHECK(file != NULL);
    errno = 0;
    CHECK(!tw_beside_keep(file, name, gone));
    CHECK_EQ(errno, ENOENT);
    CHECK_EQ(access(name, F_OK), -1);
    /* A device stays what it is. */
    errno = 0;
    CHECK(tw_beside_open(beside, "/dev/null") == NULL);
    CHECK_EQ(errno, ENOTSUP);
    CHECK(tw_beside_open(beside, "/tmp") == NULL);
    CHECK_EQ(errno, EISDIR);
    /* What cannot be written is not put in place of anything. */
    put("old");
    file = fopen("/dev/full", "wb");
    if (!file)
        return;
    CHECK(fputs("new", file) >= 0);
    CHECK(!tw_beside_keep(file, name, path));
    CHECK_EQ(errno, ENOSPC);
    check_content("old");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_what_was_there),
        cmocka_unit_test(drops_what_is_not_wanted),
        cmocka_unit_test(names_differ_and_rights_are_the_usual),
        cmocka_unit_test(says_why_not),
    };

    return cmocka_run_group_tests_name("files beside their place", tests, set_up, tear_down);
}
