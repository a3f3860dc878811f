#!/bin/sh
# plugin.sh PLUGIN TRACKWAY: the tool decodes the made-up protocol.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# At 0x4000: nop; cbz x0, 0x4000; nop; ret.
printf '\037\040\003\325\340\377\377\264\037\040\003\325\300\003\137\326' >"$work/code.bin"
# Junk; at 0x4000; taken; taken and three more times; not taken; cut in the middle.
printf '\001G\000\100\000\000TR\003\000NG\000' >"$work/lap.bin"
said=$("$2" decode "$work/lap.bin" --plugin "$1" --protocol lap --image "$work/code.bin@0x4000" --errors) || [ $? = 1 ]
echo "$said"
[ "$said" = '0x0       0x0 NO_SYNC        init-decoder
0x6       0x0 INSTR_RANGE    0x4000-0x4008 n=2 A64 BR cond taken
0x7       0x0 INSTR_RANGE    0x4000-0x4008 n=2 A64 BR cond taken
0x7       0x0 REPEAT         the last 1 elements, 3 more times
0xa       0x0 INSTR_RANGE    0x4000-0x4008 n=2 A64 BR cond not-taken
0xb       0x0 ERROR          the trace ends inside packet 0x47; skipped 2 bytes
0xb       0x0 EO_TRACE       end-of-trace' ]
