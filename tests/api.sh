#!/bin/sh
# api.sh CC: every block of C in docs/api.md compiles as it stands there.
set -eu
cc=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -v work="$work" '
    /^```c$/ { block++; file = sprintf("%s/%02d.c", work, block)
               print "#include <stdio.h>\n#include <trackway/trackway.h>\n#include <trackway/experimental.h>" > file; next }
    /^```$/ { if (file) close(file); file = "" }
    file { print > file }' docs/api.md
count=0
for file in "$work"/*.c; do
    $cc -std=c11 -Wall -Wextra -Werror -Wno-unused-function -Iinclude -fsyntax-only "$file"
    count=$((count + 1))
done
[ $count -ge 8 ]
# The whole program is the example.
sed -n '/^static enum tw_status print_all/,$p' examples/decode.c >"$work/example"
sed -n '/^static enum tw_status print_all/,$p' "$work/01.c" | cmp - "$work/example"
echo "$count blocks of docs/api.md compile"
