/* SPDX-License-Identifier: BSD-2-Clause */
/* The OpenCSD interface: ETE configuration; its packets are those of ETMv4. */
#ifndef ARM_TRC_PKT_TYPES_ETE_H_INCLUDED
#define ARM_TRC_PKT_TYPES_ETE_H_INCLUDED

#include "opencsd/etmv4/trc_pkt_types_etmv4.h"

typedef struct _ocsd_ete_cfg {
    uint32_t reg_idr0;
    uint32_t reg_idr1;
    uint32_t reg_idr2;
    uint32_t reg_idr8;
    uint32_t reg_devarch;
    uint32_t reg_configr;
    uint32_t reg_traceidr;
    ocsd_arch_version_t arch_ver;
    ocsd_core_profile_t core_prof;
} ocsd_ete_cfg;

#endif
