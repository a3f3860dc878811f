/* SPDX-License-Identifier: BSD-2-Clause */
/* The tool's filter of system calls: what it refuses, and what goes on as before. */
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/sandbox.h"

static void *run(void *context)
{
    *(int *)context = 7;
    return NULL;
}

static void refuses_what_is_not_needed(void **state)
{
    char *const words[] = { NULL };
    pthread_t thread;
    int value = 0;
    FILE *file;

    (void)state;
    sandbox_enter();
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0) {
        print_message("skipped: no filter here\n");
        skip();
    }
    CHECK_EQ(errno, EPERM);
    CHECK_EQ(execve("/bin/true", words, words), -1);
    CHECK_EQ(errno, EPERM);
    CHECK_EQ(fork(), -1);
    CHECK_EQ(errno, EPERM);
    CHECK_EQ(kill(getppid(), 0), -1);
    CHECK_EQ(errno, EPERM);
    CHECK_EQ(pthread_create(&thread, NULL, run, &value), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(value, 7);
    file = tmpfile();
    CHECK(file != NULL);
    CHECK(fputs("text", file) >= 0);
    CHECK_EQ(fclose(file), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(refuses_what_is_not_needed) };

    return cmocka_run_group_tests_name("the filter of system calls", tests, NULL, NULL);
}
