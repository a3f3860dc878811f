/* SPDX-License-Identifier: BSD-2-Clause */
/* QEMU's plug-in interface for translated code, version 1, as far as it is used here: the facts of the
   interface in declarations of our own, so that no header of QEMU has to be installed. */
#ifndef QEMU_INTERFACE_H
#define QEMU_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;

/* What the emulator says of itself. */
struct qemu_info {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation; /* else one process */
};

enum { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id,
                                       void (*call)(qemu_plugin_id_t id, unsigned vcpu));
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id,
                                       void (*call)(qemu_plugin_id_t id, unsigned vcpu));
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*call)(qemu_plugin_id_t id,
                                                        struct qemu_plugin_tb *block));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block,
                                          void (*call)(unsigned vcpu, void *context), int flags,
                                          void *context);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction, int op,
                                                void *word, uint64_t value);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id,
                                          void (*call)(qemu_plugin_id_t id, unsigned vcpu,
                                                       int64_t number, uint64_t a1, uint64_t a2,
                                                       uint64_t a3, uint64_t a4, uint64_t a5,
                                                       uint64_t a6, uint64_t a7, uint64_t a8));
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id,
                                              void (*call)(qemu_plugin_id_t id, unsigned vcpu,
                                                           int64_t number, int64_t result));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
                                    void (*call)(qemu_plugin_id_t id, void *context),
                                    void *context);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block,
                                                 size_t number);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *instruction);
const char *qemu_plugin_path_to_binary(void);

#endif
