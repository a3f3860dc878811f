/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: every header with every kind of payload, under each configuration. */
#include "check.h"

#include "every_listing.h"

#define START   "0 0 0 0 0 80 08 00 80 00 00 21 "
#define CONTEXT "11 22 33 44"
/* nop; add; beq; bl; bx lr; svc; blx; isb */
#define CODE                                                                                   \
    "00 f0 20 e3 01 00 80 e2 02 00 00 0a fa ff ff eb 1e ff 2f e1 00 00 00 ef 04 00 00 fa "     \
    "6f f0 7f f5"
#define ROW .protocol = "ptm", .core = "Cortex-A15", .code = CODE

int main(void)
{
    static struct every_setup setups[] = {
        { "plain", ROW, .registers = "ETMCR=0 ETMIDR=0x411cf312 ETMCCER=0xc00000",
          .start = START },
        { "cycle counts", ROW, .registers = "ETMCR=0x1000 ETMIDR=0x411cf312 ETMCCER=0x34c00000",
          .start = START },
        { "context ID, return stack, Hyp", ROW,
          .registers = "ETMCR=0x2000c000 ETMIDR=0x411cf312 ETMCCER=0x24c00000",
          .start = START CONTEXT },
        { "PFTv1.0", ROW, .registers = "ETMCR=0 ETMIDR=0x411cf301 ETMCCER=0", .start = START },
    };

    return every_run(setups, LENGTH(setups));
}
