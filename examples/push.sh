#!/bin/sh
# A synchronization, then "Hello, world" in writes of one byte to port 0 and one to port 1.
set -eu
file=$(mktemp)
trap 'rm -f "$file"' EXIT
printf '\0\0\0\0\0\200\001H\001e\001l\001l\011x\001o\001,\001 \001w\001o\001r\001l\001d\001\012' >"$file"
said=$("$1" <"$file")
echo "$said"
[ "$said" = 'Hello, world' ]
