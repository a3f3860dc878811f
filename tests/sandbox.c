/* SPDX-License-Identifier: BSD-2-Clause */
/* The tool's filter of system calls: what it refuses, and what goes on as before. */
#define _DEFAULT_SOURCE /* syscall */
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/sandbox.h"

static void *run(void *context)
{
    *(int *)context = 7;
    return NULL;
}

/* Each with arguments that it would not like: what comes back tells who answered. */
static void check_calls(void)
{
    static const struct {
        long call;
        int error;
    } cases[] = {
        { SYS_execveat, EPERM },      { SYS_socketpair, EPERM },
        { SYS_connect, EPERM },       { SYS_bind, EPERM },
        { SYS_listen, EPERM },        { SYS_accept4, EPERM },
        { SYS_sendto, EPERM },        { SYS_copy_file_range, EBADF },
        { SYS_sendmsg, EPERM },       { SYS_ptrace, EPERM },
        { SYS_tkill, EPERM },         { SYS_process_vm_readv, EPERM },
        { SYS_unshare, EPERM },       { SYS_process_vm_writev, EPERM },
        { SYS_setns, EPERM },         { SYS_mount, EPERM },
        { SYS_umount2, EPERM },       { SYS_pivot_root, EPERM },
        { SYS_chroot, EPERM },        { SYS_bpf, EPERM },
        { SYS_userfaultfd, EPERM },   { SYS_perf_event_open, EPERM },
        { SYS_add_key, EPERM },       { SYS_keyctl, EPERM },
        { SYS_init_module, EPERM },   { SYS_finit_module, EPERM },
        { SYS_kexec_load, EPERM },    { SYS_setuid, EPERM },
        { SYS_setgid, EPERM },        { SYS_read, EBADF },
        { SYS_close, EBADF },         { SYS_fstat, EBADF },
        { SYS_dup, EBADF },           { SYS_getdents64, EBADF },
        { SYS_fsync, EBADF },         { SYS_fchdir, EBADF },
        { SYS_fdatasync, EBADF },     { SYS_sched_getparam, EINVAL },
        { SYS_pipe2, EINVAL },        { SYS_lseek, EBADF },
        { SYS_memfd_create, EINVAL },
#ifdef SYS_accept /* not on every machine: accept4 does it all */
        { SYS_accept, EPERM },
#endif
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        errno = 0;
        CHECK_EQ(syscall(cases[i].call, -1L, -1L, -1L, -1L, -1L, -1L), -1);
        if (errno != cases[i].error)
            print_message("call %ld\n", cases[i].call);
        CHECK_EQ(errno, cases[i].error);
    }
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
    check_calls();
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
