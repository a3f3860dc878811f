/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: every header with every kind of payload, under each configuration. */
#include "check.h"

#include "every_listing.h"

#define START "0 0 0 0 0 80 08 21 00 80 00 00 "
/* nop; ldr; beq; bl; bx lr; svc; str; ldm */
#define CODE                                                                                   \
    "00 f0 20 e3 00 10 92 e5 02 00 00 0a fa ff ff eb 1e ff 2f e1 00 00 00 ef 04 10 82 e5 "     \
    "f0 00 93 e8"
#define CODE_M "00 bf 02 d0 ff f7 fa ff 70 47 00 bd 08 68 fb e7"
#define ROW    .protocol = "etmv3", .core = "Cortex-A7", .code = CODE
#define V35    "ETMIDR=0x410cf250 "

int main(void)
{
    static struct every_setup setups[] = {
        { "ETMv3.5", ROW, .start = START, .registers = V35 "ETMCR=0 ETMCCER=0" },
        { "alternative branches", ROW, .start = START,
          .registers = "ETMIDR=0x411cf250 ETMCR=0 ETMCCER=0x4000000" },
        { "cycle accurate", ROW, .start = START, .registers = V35 "ETMCR=0x1000 ETMCCER=0" },
        { "timestamps of 64 bits", ROW, .start = START,
          .registers = V35 "ETMCR=0x10000000 ETMCCER=0x30400000" },
        { "timestamps of 48 bits in Gray code", ROW, .start = START,
          .registers = V35 "ETMCR=0x10000000 ETMCCER=0x400000" },
        { "Context ID and VMID", ROW, .start = "0 0 0 0 0 80 08 11 22 33 44 21 00 80 00 00",
          .registers = V35 "ETMCR=0x5000c000 ETMCCER=0x24400000" },
        { "Context ID of one byte", ROW, .start = "0 0 0 0 0 80 08 11 21 00 80 00 00",
          .registers = V35 "ETMCR=0x4000 ETMCCER=0" },
        { "data values and addresses", ROW, .start = START,
          .registers = V35 "ETMCR=0xc ETMCCER=0" },
        { "data values", ROW, .start = START, .registers = V35 "ETMCR=0x4 ETMCCER=0" },
        { "data addresses, cycle accurate", ROW, .start = START,
          .registers = V35 "ETMCR=0x1008 ETMCCER=0" },
        { "data alone", ROW, .start = "0 0 0 0 0 80 08 21 ",
          .registers = V35 "ETMCR=0x10000c ETMCCER=0" },
        { "ETMv3.0", ROW, .start = START, .registers = "ETMIDR=0x410cf200 ETMCR=0 ETMCCER=0" },
        { "M profile", .protocol = "etmv3", .core = "Cortex-M4", .code = CODE_M,
          .start = "0 0 0 0 0 80 08 21 01 80 00 00",
          .registers = "ETMIDR=0x4114f250 ETMCR=0 ETMCCER=0" },
    };

    return every_run(setups, LENGTH(setups));
}
