#!/bin/sh
# The trace begins with an A-Sync packet and holds far fewer bytes than instructions.
set -eu
file=$(mktemp)
trap 'rm -f "$file"' EXIT
said=$("$1" "$file")
echo "$said"
bytes=$(wc -c <"$file" | tr -d ' ')
[ "$said" = "301 instructions in $bytes bytes" ]
[ "$bytes" -lt 64 ]
[ "$(od -An -tx1 -N12 "$file" | tr -d ' \n')" = 000000000000000000000080 ]
