/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4: every header with every kind of payload, under each configuration. */
#include "check.h"

#include "every_listing.h"

/* A-sync, Trace Info, Trace On, address with context. */
#define ASYNC "0 0 0 0 0 0 0 0 0 0 0 80 "
#define START ASYNC "01 00 04 82 00 10 00 00 31"
/* With a Context ID and a VMID of four bytes, one and two. */
#define START_IDS  ASYNC "01 00 04 82 00 10 00 00 f1 44 33 22 11 78 56 34 12"
#define START_ID   ASYNC "01 00 04 82 00 10 00 00 f1 44 78 56 34 12"
#define START_IDS2 ASYNC "01 00 04 82 00 10 00 00 f1 44 33 78 56 34 12"
/* nop; b.eq; bl; cbz; ret; svc; isb; b */
#define CODE                                                                                   \
    "1f 20 03 d5 80 00 00 54 fd ff ff 97 60 00 00 b4 c0 03 5f d6 01 00 00 d4 df 3f 03 d5 "     \
    "fe ff ff 17"
/* T32: nop; beq; bl; bx lr; pop {pc} */
#define CODE_M "00 bf 02 d0 ff f7 fa ff 70 47 00 bd 00 bf fb e7"
#define A      .protocol = "etmv4", .core = "Cortex-A57", .code = CODE
#define M      .protocol = "etmv4", .core = "Cortex-M33", .code = CODE_M

int main(void)
{
    static struct every_setup setups[] = {
        { "ETMv4.0", A, .start = START,
          .registers = "TRCCONFIGR=0x1 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f403 TRCIDR2=0x488" },
        { "ETMv4.6 with cycle counts and timestamps", A,
          .start = ASYNC "01 09 00 05 04 82 00 10 00 00 31",
          .registers = "TRCCONFIGR=0x811 TRCIDR0=0x28800ea1 TRCIDR1=0x4100f463 TRCIDR2=0x488" },
        { "speculation, COMMOPT 1", A, .start = START,
          .registers = "TRCCONFIGR=0x811 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f443 TRCIDR2=0x488 "
                       "TRCIDR8=6" },
        { "speculation, COMMOPT 0, return stack", A, .start = START,
          .registers = "TRCCONFIGR=0x1011 TRCIDR0=0x8000ea1 TRCIDR1=0x4100f443 TRCIDR2=0x488 "
                       "TRCIDR8=3" },
        { "Context ID and VMID of four bytes", A, .start = START_IDS,
          .registers = "TRCCONFIGR=0xc1 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f413 TRCIDR2=0x1088" },
        { "VMID of one byte", A, .start = START_ID,
          .registers = "TRCCONFIGR=0xc1 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f413 TRCIDR2=0x488" },
        { "VMID of two bytes", A, .start = START_IDS2,
          .registers = "TRCCONFIGR=0xc1 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f413 TRCIDR2=0x888" },
        { "Q elements", A, .start = START,
          .registers =
              "TRCCONFIGR=0x6001 TRCIDR0=0x28018ea1 TRCIDR1=0x4100f423 TRCIDR2=0x488" },
        { "conditional instructions and data", A, .start = START,
          .registers = "TRCCONFIGR=0x30707 TRCIDR0=0x28003efd TRCIDR1=0x4100f423 TRCIDR2=0x488 "
                       "TRCIDR9=4 TRCIDR12=5 TRCIDR13=3" },
        { "M profile", M, .start = ASYNC "01 00 04 83 20 80 00 00 20",
          .registers = "TRCCONFIGR=0x1 TRCIDR0=0x28000ea1 TRCIDR1=0x4100f420 TRCIDR2=0x4 "
                       "TRCIDR8=4" },
        { "data stream", .listing = "etmv4", .protocol = "etmv4d", .core = "Cortex-R7",
          .start = ASYNC "01 00",
          .registers =
              "TRCCONFIGR=0x30003 TRCIDR0=0x28000ebd TRCIDR1=0x4100f403 TRCIDR2=0x488" },
    };

    return every_run(setups, LENGTH(setups));
}
