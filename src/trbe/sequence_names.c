/* SPDX-License-Identifier: BSD-2-Clause */
/* Which system registers matter to trace, by name or by encoding. */
#include <stdio.h>
#include <string.h>

#include "trbe/sequence.h"

/* clang-format off */
/* In lower case.  A name that ends with '*' stands for all that begin so. */
static const struct row {
    const char *name;
    uint8_t class_code, el;
} rows[] = {
    { "trcprgctlr", REG_TRCPRGCTLR, 1 }, { "trcstatr", REG_TRCSTATR, 1 },
    { "trcidr*", REG_TRC_FREE, 1 }, { "trcdev*", REG_TRC_FREE, 1 }, { "trcclaim*", REG_TRC_FREE, 1 },
    { "trcauthstatus", REG_TRC_FREE, 1 }, { "trcoslsr", REG_TRC_FREE, 1 },
    { "trcsscsr*", REG_TRC_STATUS, 1 }, { "trcssccr*", REG_TRC, 1 }, { "trcseqstr", REG_TRC_STATUS, 1 }, { "trccntvr*", REG_TRC_STATUS, 1 },
    { "trcrsr", REG_TRC_STATUS, 1 },
    { "trcconfigr", REG_TRC, 1 }, { "trcauxctlr", REG_TRC, 1 }, { "trceventctl*", REG_TRC, 1 },
    { "trcstallctlr", REG_TRC, 1 }, { "trctsctlr", REG_TRC, 1 }, { "trcsyncpr", REG_TRC, 1 },
    { "trcccctlr", REG_TRC, 1 }, { "trcbbctlr", REG_TRC, 1 }, { "trctraceidr", REG_TRC, 1 },
    { "trcqctlr", REG_TRC, 1 }, { "trciteedcr", REG_TRC, 1 }, { "trcvictlr", REG_TRC, 1 },
    { "trcviiectlr", REG_TRC, 1 }, { "trcvissctlr", REG_TRC, 1 }, { "trcvipcssctlr", REG_TRC, 1 },
    { "trcseq*", REG_TRC, 1 }, { "trcextinsel*", REG_TRC, 1 }, { "trccnt*", REG_TRC, 1 },
    { "trcimspec*", REG_TRC, 1 }, { "trcrsctlr*", REG_TRC, 1 }, { "trcsspcicr*", REG_TRC, 1 },
    { "trcac*", REG_TRC, 1 }, { "trccid*", REG_TRC, 1 }, { "trcvmid*", REG_TRC, 1 },
    { "trc*", REG_BAD_NAME, 1 },
    { "trblimitr", REG_TRBLIMITR, 1 }, { "trbptr", REG_TRBPTR, 1 }, { "trbtrg", REG_TRBTRG, 1 },
    { "trbsr", REG_TRBSR, 1 }, { "trbsr_el2", REG_TRBSR, 2 }, { "trbsr_el12", REG_TRBSR, 1 },
    { "trbsr_el3", REG_TRBSR, 3 },
    { "trbbaser", REG_TRB, 1 }, { "trbmar", REG_TRB, 1 }, { "trbmpam", REG_TRB, 1 }, { "trbidr", REG_TRBIDR, 1 },
    { "trb*", REG_BAD_NAME, 1 },
    { "trfcr_el1", REG_TRFCR, 1 }, { "trfcr_el12", REG_TRFCR, 1 }, { "trfcr_el2", REG_TRFCR, 2 },
    { "ttbr0_el1", REG_VMSA, 1 }, { "ttbr1_el1", REG_VMSA, 1 }, { "tcr_el1", REG_VMSA, 1 },
    { "tcr2_el1", REG_VMSA, 1 }, { "sctlr_el1", REG_VMSA, 1 }, { "sctlr2_el1", REG_VMSA, 1 },
    { "mair_el1", REG_VMSA, 1 }, { "mair2_el1", REG_VMSA, 1 }, { "amair_el1", REG_VMSA, 1 },
    { "pir_el1", REG_VMSA, 1 }, { "pire0_el1", REG_VMSA, 1 }, { "por_el1", REG_VMSA, 1 },
    { "ttbr0_el12", REG_VMSA, 1 }, { "ttbr1_el12", REG_VMSA, 1 }, { "tcr_el12", REG_VMSA, 1 },
    { "sctlr_el12", REG_VMSA, 1 }, { "mair_el12", REG_VMSA, 1 },
    { "ttbr0_el2", REG_VMSA, 2 }, { "ttbr1_el2", REG_VMSA, 2 }, { "tcr_el2", REG_VMSA, 2 },
    { "sctlr_el2", REG_VMSA, 2 }, { "mair_el2", REG_VMSA, 2 }, { "pir_el2", REG_VMSA, 2 },
    /* Stage 2 serves the EL1&0 regime too: level 0 means either. */
    { "vttbr_el2", REG_VMSA, 0 }, { "vtcr_el2", REG_VMSA, 0 }, { "hcr_el2", REG_VMSA, 0 },
    { "vsttbr_el2", REG_VMSA, 0 }, { "vstcr_el2", REG_VMSA, 0 }, { "s2pir_el2", REG_VMSA, 0 },
    { "s2por_el1", REG_VMSA, 0 },
    { "scr_el3", REG_SCR_EL3, 3 }, { "mdcr_el3", REG_MDCR_EL3, 3 }, { "mdcr_el2", REG_MDCR_EL2, 2 },
    { "oslar_el1", REG_OSLAR, 1 }, { "oslar", REG_OSLAR, 1 },
};

/* op0, op1, CRn, CRm, op2 of those that assemblers may not know by name. */
static const struct code {
    uint8_t op0, op1, crn, crm, op2;
    const char *name;
} codes[] = {
    { 3, 0, 9, 11, 0, "trblimitr" }, { 3, 0, 9, 11, 1, "trbptr" }, { 3, 0, 9, 11, 2, "trbbaser" },
    { 3, 0, 9, 11, 3, "trbsr" },     { 3, 0, 9, 11, 4, "trbmar" }, { 3, 0, 9, 11, 5, "trbmpam" },
    { 3, 0, 9, 11, 6, "trbtrg" },    { 3, 0, 9, 11, 7, "trbidr" }, { 3, 4, 9, 11, 3, "trbsr_el2" },
    { 3, 5, 9, 11, 3, "trbsr_el12" }, { 3, 6, 9, 11, 3, "trbsr_el3" },
    { 3, 0, 1, 2, 1, "trfcr_el1" }, { 3, 4, 1, 2, 1, "trfcr_el2" }, { 3, 5, 1, 2, 1, "trfcr_el12" },
    { 2, 0, 1, 0, 4, "oslar_el1" },
};
/* clang-format on */

static bool matches(const char *pattern, const char *name)
{
    size_t i = 0;

    for (; pattern[i] && pattern[i] != '*'; i++)
        if (name[i] != pattern[i])
            return false;
    if (pattern[i] == '*')
        return true;
    /* EL1's unit registers may be written without the level. */
    return name[i] == 0 || (strcmp(name + i, "_el1") == 0 && strncmp(pattern, "trb", 3) == 0);
}

/* TRC registers: op0 2, op1 1, and the number of the word in the rest. */
static uint8_t classify_trc(unsigned crn, unsigned crm, unsigned op2)
{
    const unsigned offset = (crn << 7 | op2 << 4 | crm) * 4;

    if (offset == 0x004)
        return REG_TRCPRGCTLR;
    if (offset == 0x00c)
        return REG_TRCSTATR;
    if ((offset >= 0x180 && offset < 0x1c0) || (offset >= 0x1e0 && offset < 0x200) ||
        offset >= 0xf00 || offset == 0x304)
        return REG_TRC_FREE;
    if (offset == 0x028 || offset == 0x11c || (offset >= 0x160 && offset < 0x170) ||
        (offset >= 0x2a0 && offset < 0x2c0))
        return REG_TRC_STATUS;
    return REG_TRC;
}

static uint8_t classify_name(const char *name, uint8_t *el)
{
    for (size_t i = 0; i < TW_LENGTH(rows); i++) {
        if (matches(rows[i].name, name)) {
            *el = rows[i].el;
            return rows[i].class_code;
        }
    }
    return REG_OTHER;
}

uint8_t tw_seq_classify(const char *name, uint8_t *el)
{
    unsigned op0, op1, crn, crm, op2;

    *el = 1;
    if (sscanf(name, "s%1u_%1u_c%2u_c%2u_%1u", &op0, &op1, &crn, &crm, &op2) == 5) {
        if (op0 == 2 && op1 == 1)
            return classify_trc(crn & 15, crm & 15, op2 & 7);
        for (size_t i = 0; i < TW_LENGTH(codes); i++)
            if (codes[i].op0 == op0 && codes[i].op1 == op1 && codes[i].crn == crn &&
                codes[i].crm == crm && codes[i].op2 == op2)
                return classify_name(codes[i].name, el);
        return REG_OTHER;
    }
    return classify_name(name, el);
}
