/* SPDX-License-Identifier: BSD-2-Clause */
/* The plug-in for QEMU that records hardware trace: what the emulator calls. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <trackway/types.h>

#include "qemu/process.h"
#include "qemu/system.h"
#include "qemu/thread.h"

/* QEMU looks these up by name. */
TW_API extern int qemu_plugin_version;
TW_API int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
                               char **argv);
TW_API int kill(pid_t pid, int number);

int qemu_plugin_version = 1;

static bool is_recording, is_system;
static uint32_t caller_pid, caller_tid; /* of the system call under way, before a fork */

/* ---- system calls ---- */

enum call { CALL_OTHER, CALL_EXEC, CALL_CLONE, CALL_FORK, CALL_MEMORY };

/* Numbers of the calls that matter here: AArch64 and RISC-V have the same, Arm its own. */
static enum call call_of(int64_t number)
{
    static const struct {
        int16_t modern, arm;
        uint8_t call;
    } calls[] = {
        { 221, 11, CALL_EXEC },    /* execve */
        { 281, 387, CALL_EXEC },   /* execveat */
        { 220, 120, CALL_CLONE },  /* clone */
        { 435, 435, CALL_CLONE },  /* clone3 */
        { -1, 2, CALL_FORK },      /* fork */
        { -1, 190, CALL_FORK },    /* vfork */
        { 222, 192, CALL_MEMORY }, /* mmap */
        { -1, 90, CALL_MEMORY },   /* old mmap */
        { 215, 91, CALL_MEMORY },  /* munmap */
        { 216, 163, CALL_MEMORY }, /* mremap */
        { 226, 125, CALL_MEMORY }, /* mprotect */
    };
    const bool is_arm = blocks_target() == TARGET_ARM;

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (number == (is_arm ? calls[i].arm : calls[i].modern))
            return calls[i].call;
    return CALL_OTHER;
}

static void on_call(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1,
                    uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                    uint64_t a7, uint64_t a8)
{
    enum { CLONE_VM_FLAG = 0x100, CLONE_VFORK_FLAG = 0x4000 };

    (void)id, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    thread_call(vcpu);
    caller_pid = (uint32_t)getpid();
    caller_tid = (uint32_t)gettid();
    switch (call_of(number)) {
    case CALL_EXEC: /* this process may be gone in a moment */
        thread_flush(vcpu);
        break;
    case CALL_CLONE:
        if (a1 & CLONE_VM_FLAG && !(a1 & CLONE_VFORK_FLAG))
            thread_several();
        else
            thread_before_fork();
        break;
    case CALL_FORK:
        thread_before_fork();
        break;
    default:
        break;
    }
}

static void on_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result)
{
    (void)id, (void)vcpu, (void)result;
    if (call_of(number) == CALL_MEMORY)
        maps_forget();
    if (process_is_new()) {
        maps_forked();
        thread_forked(caller_pid, caller_tid);
    }
}

/* ---- code ---- */

/* Code that is in no file is kept, so that the trace can be followed through it. */
static void keep_code(const struct block *block)
{
    uint8_t bytes[4 * 512];
    size_t size = 0;

    for (uint32_t i = 0; i < block->count && size + 4 <= sizeof bytes; i++) {
        const struct tw_retired *at = &block->instructions[i];
        const bool is_wide = at->isa == TW_ISA_T32 && at->size == 4;
        const uint32_t code = is_wide ? at->opcode >> 16 | at->opcode << 16 : at->opcode;

        for (unsigned byte = 0; byte < at->size; byte++)
            bytes[size++] = (uint8_t)(code >> 8 * byte);
    }
    process_say(&(struct spool_event){ .kind = SPOOL_CODE,
                                       .size = sizeof block->start,
                                       .time = block_replaces(block) ? 0 : process_start(),
                                       .tid = (uint32_t)gettid() },
                &block->start, bytes, size);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *translated)
{
    const size_t count = qemu_plugin_tb_n_insns(translated);
    static bool is_begun;
    const uint64_t said = maps_said();
    bool is_new, is_file;
    struct block *block;

    (void)id;
    if (!count)
        return;
    if (!is_begun) {
        is_begun = true;
        if (!is_system)
            thread_program();
    }
    block =
        blocks_take(translated, blocks_target() == TARGET_ARM ? thread_last() : NULL, &is_new);
    if (!block)
        return;
    is_file =
        !is_system &&
        maps_note(block->start, qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(translated, 0)));
    if (is_new) {
        uint64_t offset = 0;
        const uint64_t inode = is_file ? maps_file(&offset, block->start) : 0;

        block_mark(block, inode, offset);
    }
    if (!is_file && is_new)
        keep_code(block);
    if ((is_new && !is_file) || maps_said() != said)
        thread_news++;
    if (thread_is_alone())
        for (size_t i = 0; i < count; i++)
            qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_tb_get_insn(translated, i),
                                                       QEMU_PLUGIN_INLINE_ADD_U64,
                                                       &thread_counter, 1);
    qemu_plugin_register_vcpu_tb_exec_cb(translated,
                                         is_system ? thread_block_system : thread_block,
                                         QEMU_PLUGIN_CB_NO_REGS, block);
}

/* ---- ends ---- */

static void on_vcpu_exit(qemu_plugin_id_t id, unsigned vcpu)
{
    (void)id;
    thread_end(vcpu);
}

static void on_exit_(qemu_plugin_id_t id, void *context)
{
    (void)id, (void)context;
    is_recording = false;
    thread_end_all(false);
}

/* A program that dies of a signal takes QEMU with it: the emulator sets the signal to its default and
   sends it to itself.  This file is loaded before the C library, so that call comes here first. */
int kill(pid_t pid, int number)
{
    struct sigaction now;

    if (is_recording && pid == getpid() && sigaction(number, NULL, &now) == 0 &&
        now.sa_handler == SIG_DFL && number != SIGCHLD && number != SIGCONT &&
        number != SIGURG && number != SIGWINCH && number) {
        is_recording = false;
        thread_end_all(true);
    }
    return (int)syscall(SYS_kill, pid, number);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
                        char **argv)
{
    const char *folder = NULL;

    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "folder=", 7) == 0)
            folder = argv[i] + 7;
    if (!folder || !blocks_begin(info->target_name)) {
        (void)fprintf(stderr, "trackway record: %s\n",
                      folder ? "this QEMU emulates no processor whose trace is known"
                             : "the plug-in wants folder=PATH");
        return 1;
    }
    if (!process_begin(folder))
        return 1;
    is_recording = true;
    is_system = info->system_emulation;
    if (is_system) {
        blocks_profile(process_options()->is_m);
        system_begin(folder, process_options()->is_m);
        thread_system();
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    if (!info->system_emulation) {
        qemu_plugin_register_vcpu_syscall_cb(id, on_call);
        qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
    }
    qemu_plugin_register_vcpu_exit_cb(id, on_vcpu_exit);
    qemu_plugin_register_atexit_cb(id, on_exit_, NULL);
    return 0;
}
