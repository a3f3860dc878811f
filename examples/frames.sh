#!/bin/sh
# One frame by hand: ID 0x10, seven bytes, ID 0x20, six bytes.
set -eu
file=$(mktemp)
trap 'rm -f "$file"' EXIT
printf '\041\002\004\006\010\012\014\016\101\022\024\026\030\032\034\000' >"$file"
said=$("$1" "$file")
echo "$said"
[ "$said" = 'ID 0x10: 7 bytes
ID 0x20: 6 bytes' ]
