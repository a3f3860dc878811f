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

enum { THREAD = 0x00010000 /* CLONE_THREAD */, OTHER_ABI = 0x40000000 };

#define LOAD(field)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(answer) BPF_STMT(BPF_RET | BPF_K, (answer))
#define REFUSAL(why)   (SECCOMP_RET_ERRNO | (why))
/* Refuses one call and goes on with the next line. */
#define REFUSE(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), RETURN(REFUSAL(EPERM))

static struct sock_filter filter[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
    RETURN(REFUSAL(EPERM)),
    LOAD(nr),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_ABI, 0, 1),
    RETURN(REFUSAL(EPERM)),
    /* Other programs.  Threads are made with clone where clone3, whose flags no filter sees, is not there. */
    REFUSE(SYS_execve),
    REFUSE(SYS_execveat),
#ifdef SYS_fork
    REFUSE(SYS_fork),
    REFUSE(SYS_vfork),
#endif
#ifdef SYS_clone3
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
    RETURN(REFUSAL(ENOSYS)),
#endif
    /* The network. */
    REFUSE(SYS_socket),
    REFUSE(SYS_socketpair),
    REFUSE(SYS_connect),
    REFUSE(SYS_bind),
    REFUSE(SYS_listen),
    REFUSE(SYS_accept),
    REFUSE(SYS_accept4),
    REFUSE(SYS_sendto),
    REFUSE(SYS_sendmsg),
    /* Other processes, and the system. */
    REFUSE(SYS_ptrace),
    REFUSE(SYS_process_vm_readv),
    REFUSE(SYS_process_vm_writev),
    REFUSE(SYS_kill),
    REFUSE(SYS_tkill),
    REFUSE(SYS_unshare),
    REFUSE(SYS_setns),
    REFUSE(SYS_mount),
    REFUSE(SYS_umount2),
    REFUSE(SYS_pivot_root),
    REFUSE(SYS_chroot),
    REFUSE(SYS_bpf),
    REFUSE(SYS_perf_event_open),
    REFUSE(SYS_userfaultfd),
    REFUSE(SYS_add_key),
    REFUSE(SYS_keyctl),
    REFUSE(SYS_init_module),
    REFUSE(SYS_finit_module),
    REFUSE(SYS_kexec_load),
    REFUSE(SYS_setuid),
    REFUSE(SYS_setgid),
    /* A process is a clone that is no thread. */
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
    LOAD(args[0]),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, THREAD, 1, 0),
    RETURN(REFUSAL(EPERM)),
    RETURN(SECCOMP_RET_ALLOW),
};

void sandbox_enter(void)
{
    const struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };

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
