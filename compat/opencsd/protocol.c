/* SPDX-License-Identifier: BSD-2-Clause */
/* The protocols, and what their configurations share. */
#include "opencsd/protocol.h"

#include <string.h>

#include "opencsd/settings.h"

static const struct oc_protocol *const protocols[] = { &oc_etmv4, &oc_etmv3, &oc_ptm,
                                                       &oc_stm,   &oc_ete,   &oc_itm };

/* ITM came with 1.7. */
static bool is_there(const struct oc_protocol *protocol)
{
    return protocol != &oc_itm || oc_settings()->is_1_7;
}

const struct oc_protocol *oc_protocol_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++)
        if (is_there(protocols[i]) && strcmp(protocols[i]->name, name) == 0)
            return protocols[i];
    return NULL;
}

const struct oc_protocol *oc_protocol_by_number(unsigned number)
{
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++)
        if (is_there(protocols[i]) && protocols[i]->number == number)
            return protocols[i];
    return NULL;
}

void oc_setup_add(struct oc_setup *setup, const char *name, uint32_t value)
{
    setup->registers[setup->count++] = (struct tw_register){ name, value };
}

const char *oc_core_name(ocsd_arch_version_t arch, ocsd_core_profile_t profile)
{
    static const char *const names[2][3] = { { "ARMv7-A", "ARMv7-R", "ARMv7-M" },
                                             { "ARMv8-A", "ARMv8-R", "ARMv8-M" } };
    const unsigned column = profile == profile_CortexM ? 2 : profile == profile_CortexR ? 1 : 0;

    if (arch == ARCH_AA64 && column == 0)
        return "ARM-AA64";
    return names[OCSD_IS_V8_ARCH(arch)][column];
}
