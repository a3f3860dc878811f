/* SPDX-License-Identifier: BSD-2-Clause */
/* A filter of system calls on Linux: those below fail with EPERM.  It names what is refused and not what is allowed,
   so that no C library and no library that is loaded later can be broken by it. */
#define _GNU_SOURCE /* syscall */
#include "shared/sandbox.h"

/* The leak checker of a sanitizer looks into its own process. */
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) &&                     \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(TW_SANITIZED)

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif
#ifdef SYS_clone3
#define CLONE3 SYS_clone3
#else
#define CLONE3 435 /* everywhere */
#endif

enum { THREAD = 0x00010000 /* CLONE_THREAD */, OTHER_ABI = 0x40000000 };

static const unsigned refused[] = {
    /* Other programs. */
    SYS_execve,
    SYS_execveat,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
    /* The network. */
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_sendmsg,
    /* Other processes, and the system. */
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kill,
    SYS_tkill,
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_add_key,
    SYS_keyctl,
    SYS_init_module,
    SYS_finit_module,
    SYS_kexec_load,
    SYS_setuid,
    SYS_setgid,
};

/* The answer changes with the first call of a run of refused ones, and behind its last. */
enum { REFUSED = sizeof refused / sizeof refused[0], CHANGES = 2 * REFUSED + 1 };

/* The filter's lines: what decides for threads and processes, a search for the call's place among the changes, and
   what the jumps of both lead to. */
enum { SEARCH = 5, ENDS = 5, LINES = SEARCH + CHANGES + ENDS };
enum end { IS_THREAD, IS_PROCESS = IS_THREAD + 2, NOT_THERE, LEAVE, REFUSE = IS_PROCESS };

struct filter {
    struct sock_filter lines[LINES];
    unsigned count, ends; /* there; where those lines begin */
};

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

static void add(struct filter *filter, struct sock_filter line)
{
    filter->lines[filter->count++] = line;
}

/* Goes on at one line or the other. */
static void test(struct filter *filter, unsigned how, unsigned word, unsigned yes, unsigned no)
{
    const unsigned next = filter->count + 1;

    add(filter,
        (struct sock_filter)BPF_JUMP(BPF_JMP | how | BPF_K, word, (unsigned char)(yes - next),
                                     (unsigned char)(no - next)));
}

/* Looks among the changes [first, end) by halves: the kernel tries a filter with each call that there is when it takes
   it, and comparing them one by one was a tenth of what a short command took.  Behind an odd number of changes calls
   are refused. */
static void search(struct filter *filter, const unsigned *changes, unsigned first, unsigned end)
{
    const unsigned middle = first + (end - first) / 2, line = filter->count;
    const unsigned before = filter->ends + (middle & 1 ? REFUSE : LEAVE);
    const unsigned behind = filter->ends + (middle & 1 ? LEAVE : REFUSE);

    test(filter, BPF_JGE, changes[middle],
         middle + 1 < end ? line + 1 + middle - first : behind,
         first < middle ? line + 1 : before);
    if (first < middle)
        search(filter, changes, first, middle);
    if (middle + 1 < end)
        search(filter, changes, middle + 1, end);
}

/* Where the answer changes, in ascending order; how often. */
static unsigned find_changes(unsigned *changes)
{
    unsigned calls[REFUSED], count = 0;

    for (unsigned i = 0; i < REFUSED; i++) {
        unsigned at = i;

        for (; at && calls[at - 1] > refused[i]; at--)
            calls[at] = calls[at - 1];
        calls[at] = refused[i];
    }
    for (unsigned i = 0; i < REFUSED; i++) {
        if (!i || calls[i] != calls[i - 1] + 1)
            changes[count++] = calls[i];
        if (i + 1 == REFUSED || calls[i + 1] != calls[i] + 1)
            changes[count++] = calls[i] + 1;
    }
    changes[count++] = OTHER_ABI;
    return count;
}

static void make(struct filter *filter)
{
    unsigned changes[CHANGES];
    const unsigned count = find_changes(changes);

    filter->count = 0;
    filter->ends = SEARCH + count;
    add(filter, (struct sock_filter)LOAD(arch));
    test(filter, BPF_JEQ, ARCHITECTURE, 2, filter->ends + REFUSE);
    add(filter, (struct sock_filter)LOAD(nr));
    test(filter, BPF_JEQ, SYS_clone, filter->ends + IS_THREAD, 4);
    test(filter, BPF_JEQ, CLONE3, filter->ends + NOT_THERE, SEARCH);
    search(filter, changes, 0, count);
    /* A process is a clone that is no thread.  Threads are made with it where clone3, whose flags no filter sees, is
       not there. */
    add(filter, (struct sock_filter)LOAD(args[0]));
    test(filter, BPF_JSET, THREAD, filter->ends + LEAVE, filter->ends + IS_PROCESS);
    add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
    add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
    add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

void sandbox_enter(void)
{
    struct filter filter;
    struct sock_fprog program;

    make(&filter);
    program = (struct sock_fprog){ (unsigned short)filter.count, filter.lines };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return;
    /* All threads, those of libraries too. */
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else

void sandbox_enter(void)
{
}

#endif
