#!/bin/sh
# page_elf.sh CC: what src/image asks of libelf, web/wasm/gelf.h declares and web/wasm/libelf.js defines, so that the page without a
# server builds, which is done with emscripten and not in every test run.
set -eu
cc=$1
cd "$(dirname "$0")/.."
files=$(grep -l '"image/libelf\.h"' src/*/*.c)
[ -n "$files" ]
for file in $files; do
    grep -q '"image/libdw\.h"' "$file" && continue # the page is built without
    $cc -std=c11 -D_GNU_SOURCE -DTW_WITH_ELF=1 -Wall -Werror=implicit-function-declaration -Iweb/wasm -Iinclude -Isrc -fsyntax-only "$file"
done
declared=$(grep -oE '\b(g?elf_[a-z]+)\(' web/wasm/gelf.h | tr -d '(' | sort -u)
[ "$(echo "$declared" | wc -l)" -ge 15 ]
missing=$(for name in $declared; do grep -qE "^  $name: function" web/wasm/libelf.js || echo "$name"; done)
[ -z "$missing" ] || { echo "web/wasm/libelf.js has no" $missing; exit 1; }
