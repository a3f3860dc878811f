/* SPDX-License-Identifier: BSD-2-Clause */
/* calls LIBRARY [CASE]: calls that no one should make, and what they answer; without a case the names of
   them all.  Two libraries are held against each other by what this prints.  A case is short: one may
   be the library's last. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

const struct library *lib;

static const struct call_case *const groups[] = { tree_cases, memory_cases, packet_cases,
                                                  log_cases, custom_cases };

/* ---- A small trace: ETMv4, ID 0x10 */

/* A loop of four instructions at 0x1000. */
const uint8_t small_code[16] = { 0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5,
                                 0x1f, 0x20, 0x03, 0xd5, 0xfd, 0xff, 0xff, 0x17 };

/* A-Sync, Trace Info, Trace On, address and context, atoms, a timestamp, a reserved header, and it all
   again. */
const uint8_t small_trace[SMALL_TRACE] = {
    0,    0,    0,    0,    0, 0, 0, 0, 0, 0,    0,    0x80, 0x01, 0x01, 0x00, 0x04,
    0x85, 0x00, 0x10, 0x00, 0, 0, 0, 0, 0, 0x31, 0xf7, 0xf7, 0x02, 0x11, 0xff, 0xf7,
    0,    0,    0,    0,    0, 0, 0, 0, 0, 0,    0,    0x80, 0x01, 0x01, 0x00, 0x04,
    0x85, 0x00, 0x10, 0x00, 0, 0, 0, 0, 0, 0x31, 0xf7, 0xf7, 0x06, 0x07, 0x95, 0x02
};

ocsd_etmv4_cfg small_config(uint8_t id)
{
    return (ocsd_etmv4_cfg){ .reg_idr0 = 0x28000ea1,
                             .reg_idr1 = 0x4100f403,
                             .reg_idr2 = 0x488,
                             .reg_configr = 0xc1,
                             .reg_traceidr = id,
                             .arch_ver = ARCH_V8,
                             .core_prof = profile_CortexA };
}

dcd_tree_handle_t raw_tree(int flags)
{
    const ocsd_etmv4_cfg config = small_config(0x10);
    dcd_tree_handle_t tree = lib->ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    unsigned char id;

    if (flags)
        (void)lib->ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, flags, &config, &id);
    return tree;
}

dcd_tree_handle_t framed_tree(int flags)
{
    const ocsd_etmv4_cfg config = small_config(0x10);
    dcd_tree_handle_t tree =
        lib->ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN);
    unsigned char id;

    if (flags)
        (void)lib->ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, flags, &config, &id);
    return tree;
}

void say(const char *what, long long result)
{
    (void)printf("%s %lld\n", what, result);
    (void)fflush(stdout);
}

ocsd_datapath_resp_t feed(dcd_tree_handle_t tree, size_t from, size_t size)
{
    uint32_t used = 99;
    const ocsd_datapath_resp_t answer = lib->ocsd_dt_process_data(
        tree, OCSD_OP_DATA, (ocsd_trc_index_t)from, (uint32_t)size, small_trace + from, &used);

    (void)printf("data %zu %zu used %" PRIu32 " -> %d\n", from, size, used, (int)answer);
    (void)fflush(stdout);
    return answer;
}

/* ---- Running one */

static const struct call_case *find(const char *name)
{
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        for (const struct call_case *at = groups[i]; at->name; at++)
            if (strcmp(at->name, name) == 0)
                return at;
    return NULL;
}

int main(int count, char **words)
{
    static struct library library;
    const struct call_case *found;

    if (count == 2) {
        for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
            for (const struct call_case *at = groups[i]; at->name; at++)
                (void)puts(at->name);
        return 0;
    }
    found = count == 3 ? find(words[2]) : NULL;
    if (!found || !library_open(&library, "library", words[1]))
        return 2;
    lib = &library;
    found->run();
    return 0;
}
