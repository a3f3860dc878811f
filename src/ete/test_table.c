/* SPDX-License-Identifier: BSD-2-Clause */
/* ETE: every header with every kind of payload, under each configuration. */
#include "check.h"

#include "every_listing.h"

/* A-sync, Trace Info, Trace On, address with context. */
#define ASYNC "0 0 0 0 0 0 0 0 0 0 0 80 "
#define START ASYNC "01 00 04 82 00 10 00 00 31"
/* nop; b.eq; bl; cbz; ret; svc; isb; tstart */
#define CODE                                                                                   \
    "1f 20 03 d5 80 00 00 54 fd ff ff 97 60 00 00 b4 c0 03 5f d6 01 00 00 d4 df 3f 03 d5 "     \
    "60 30 23 d5"
#define ROW   .protocol = "ete", .core = "ARM-AA64", .code = CODE
#define IDS   " TRCIDR0=0x28c1cea1 TRCIDR1=0x4100fff0 TRCIDR2=0xd0001088"
#define ETE10 "TRCDEVARCH=0x47705a13" IDS
#define ETE11 "TRCDEVARCH=0x47715a13" IDS
#define ETE13 "TRCDEVARCH=0x47735a13" IDS

int main(void)
{
    static struct every_setup setups[] = {
        { "ETE 1.0", ROW, .start = START, .registers = ETE10 " TRCCONFIGR=0x1" },
        { "ETE 1.1, timestamps", ROW, .start = START, .registers = ETE11 " TRCCONFIGR=0x801" },
        { "ETE 1.3, speculation and return stack", ROW, .start = START,
          .registers = ETE13 " TRCCONFIGR=0x1001 TRCIDR8=8" },
        { "ETE 1.3, cycle counts, Q elements", ROW,
          .start = ASYNC "01 09 00 05 04 82 00 10 00 00 31",
          .registers = ETE13 " TRCCONFIGR=0x6811" },
        { "ETE 1.3, Context ID and VMID", ROW,
          .start = ASYNC "01 00 04 82 00 10 00 00 f1 44 33 22 11 78 56 34 12",
          .registers = ETE13 " TRCCONFIGR=0xc1" },
        { "COMMTRANS set, in a transaction", ROW,
          .start = ASYNC "01 01 40 04 82 00 10 00 00 31",
          .registers = "TRCDEVARCH=0x47735a13 TRCIDR0=0x68c1cea1 TRCIDR1=0x4100fff0 "
                       "TRCIDR2=0xd0001088 TRCCONFIGR=0x1" },
    };

    return every_run(setups, LENGTH(setups));
}
