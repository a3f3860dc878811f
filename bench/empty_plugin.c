/* SPDX-License-Identifier: BSD-2-Clause */
/* A plug-in for QEMU that asks to be told what trackway-qemu.so asks for, and does nothing with it: what
   bench_record compares a recording with. */
#include <trackway/types.h>

#include "qemu/interface.h"

TW_API extern int qemu_plugin_version;
TW_API int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
                               char **argv);

int qemu_plugin_version = 1;

static uint64_t counter;

static void on_block(unsigned vcpu, void *context)
{
    (void)vcpu, (void)context;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    const size_t count = qemu_plugin_tb_n_insns(block);

    (void)id;
    for (size_t i = 0; i < count; i++)
        qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_tb_get_insn(block, i),
                                                   QEMU_PLUGIN_INLINE_ADD_U64, &counter, 1);
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
                        char **argv)
{
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    return 0;
}
