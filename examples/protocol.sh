#!/bin/sh
# The made-up protocol: its elements, and what is said of the damaged spot and of the cut end.
set -eu
said=$("$1")
echo "$said"
[ "$said" = '0x0       0x1 NO_SYNC        init-decoder
0x3       0x1 BUS_TRANSFER   store 1 bytes at 0x2010 value 0x99
0x7       0x1 TIMESTAMP      0x7
0x9       0x1 ERROR          bad bytes in packet 0x77; skipped 3 bytes
0x9       0x1 NO_SYNC        bad-packet
0xe       0x1 BUS_TRANSFER   load 1 bytes at 0x2010 value 0x99
0x12      0x1 TIMESTAMP      0xa
0x14      0x1 CUSTOM         5 0x2a
0x17      0x1 ERROR          the trace ends inside packet 0x57; skipped 2 bytes
0x17      0x1 EO_TRACE       end-of-trace' ]
