/* SPDX-License-Identifier: BSD-2-Clause */
/* What an ETE trace unit says of itself; how it works is in etmv4/. */
#include "etmv4/unit.h"

/* ETE 1.3 with all options; TRCIDR8 (MAXSPEC) is 0 until it is written. */
const struct tw_etmv4_unit_identity tw_ete_identity = {
    .is_ete = true,
    .registers = { { TW_TRCIDR + 0, 0x28c1cea1 },
                   { TW_TRCIDR + 1, 0x4100fff0 },
                   { TW_TRCIDR + 2, 0xd0001088 },
                   { TW_TRCIDR + 3, 0x8d7f0004 },
                   { TW_TRCIDR + 4, 0x888f8008 },
                   { TW_TRCIDR + 5, 0xc84709ff },
                   { TW_TRCIDR + 6, 0x00000007 },
                   { TW_TRCOSLSR, 0x00000010 },
                   { TW_TRCDEVARCH, 0x47735a13 } },
};
