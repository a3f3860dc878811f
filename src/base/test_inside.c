/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of names that are looked up below a folder. */
#define _XOPEN_SOURCE 700 /* mkdtemp, symlink */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/inside.h"
#include "failing.h"

static const struct {
    const char *name, *target;
} links[] = {
    { "here", "sub/deep" },
    { "up", ".." },
    { "sub/up", "../.." },
    { "sub/top", "/sub" },
    { "loop", "loop" },
    { "a", "b" },
    { "b", "a" },
    { "dots", "./sub/." },
    { "sub/beside", "../sub/file" },
    { "sub/deep/out", "../../../x" },
};

static char folder[] = "/tmp/trackway-inside-XXXXXX";

static void path_of(char path[128], const char *name)
{
    (void)snprintf(path, 128, "%s/%s", folder, name);
}

static int set_up(void **state)
{
    char path[128];

    (void)state;
    if (!mkdtemp(folder))
        return -1;
    path_of(path, "sub");
    if (mkdir(path, 0777) != 0)
        return -1;
    path_of(path, "sub/deep");
    if (mkdir(path, 0777) != 0)
        return -1;
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        path_of(path, links[i].name);
        if (symlink(links[i].target, path) != 0)
            return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    char path[128];

    (void)state;
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        path_of(path, links[i].name);
        (void)unlink(path);
    }
    path_of(path, "sub/deep");
    (void)rmdir(path);
    path_of(path, "sub");
    (void)rmdir(path);
    return rmdir(folder);
}

/* What a name becomes in a folder and in a root; a number is errno. */
static const struct {
    const char *name, *in_folder;
    int why;
    const char *in_root;
    int root_why;
} cases[] = {
    { "x", "x", 0, "x", 0 },
    { "x/y//z/", "x/y/z", 0, "x/y/z", 0 },
    { "./x/.", "x", 0, "x", 0 },
    { "", "", 0, "", 0 },
    { "/x", NULL, EXDEV, "x", 0 },
    { "..", NULL, EXDEV, "", 0 },
    { "x/../y", "y", 0, "y", 0 },
    { "x/../../y", NULL, EXDEV, "y", 0 },
    { "../../etc/passwd", NULL, EXDEV, "etc/passwd", 0 },
    { "here/x", "sub/deep/x", 0, "sub/deep/x", 0 },
    { "here/..", "sub", 0, "sub", 0 },
    { "here/../..", "", 0, "", 0 },
    { "here/../../..", NULL, EXDEV, "", 0 },
    { "up/x", NULL, EXDEV, "x", 0 },
    { "sub/up/x", NULL, EXDEV, "x", 0 },
    { "sub/top/x", NULL, EXDEV, "sub/x", 0 },
    { "sub/beside", "sub/file", 0, "sub/file", 0 },
    { "sub/beside/x", "sub/file/x", 0, "sub/file/x", 0 },
    { "dots/deep", "sub/deep", 0, "sub/deep", 0 },
    { "sub/deep/out", NULL, EXDEV, "x", 0 },
    { "loop", NULL, ELOOP, NULL, ELOOP },
    { "a/x", NULL, ELOOP, NULL, ELOOP },
};

static void check_name(const char *top, const char *name, bool is_root, const char *want,
                       int why)
{
    struct tw_text path = { 0 };
    char whole[256];
    const bool is_good = tw_inside(&path, top, name, is_root);
    const int got = errno;

    CHECK_EQ(is_good, want != NULL);
    if (want) {
        (void)snprintf(whole, sizeof whole, "%s/%s", folder, want);
        CHECK_TEXT(path.chars, whole);
    } else {
        CHECK_EQ(got, why);
    }
    tw_text_free(&path);
}

static void names_stay_inside(void **state)
{
    char with_slash[64];

    (void)state;
    (void)snprintf(with_slash, sizeof with_slash, "%s/", folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_CASE(cases[i].name);
        check_name(folder, cases[i].name, false, cases[i].in_folder, cases[i].why);
        check_name(with_slash, cases[i].name, false, cases[i].in_folder, cases[i].why);
        check_name(folder, cases[i].name, true, cases[i].in_root, cases[i].root_why);
    }
}

static void the_current_folder_has_no_name(void **state)
{
    struct tw_text path = { 0 };

    (void)state;
    CHECK(tw_inside(&path, "", "no/such/../file", false));
    CHECK_TEXT(path.chars, "no/file");
    CHECK(!tw_inside(&path, "", "no/../../file", false));
    tw_text_free(&path);
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (size_t n = 0;; n++) {
        struct failing failing = { .left = n };
        const struct tw_allocator allocator = { failing_resize, &failing };
        struct tw_text path = { .allocator = &allocator };
        const bool is_good = tw_inside(&path, folder, "here/../beside/x", true);

        if (!is_good)
            CHECK_EQ(errno, ENOMEM);
        tw_text_free(&path);
        CHECK_EQ(failing.live, 0);
        if (is_good)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stay_inside),
        cmocka_unit_test(the_current_folder_has_no_name),
        cmocka_unit_test(memory_runs_out),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
