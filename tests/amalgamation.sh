#!/bin/sh
# amalgamation.sh CC: the library as two files, built with nothing but a compiler, runs the examples and
# says what the library says.
set -eu
cc=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v python3 >/dev/null 2>&1 || { echo 'skipped: no python3'; exit 77; }
scripts/amalgamate "$work"
$cc -std=c11 -Wall -Wextra -Werror -c -o "$work/trackway.o" "$work/trackway.c"
if command -v c++ >/dev/null 2>&1; then
    echo '#include "trackway.h"' | c++ -x c++ -std=c++17 -Wall -Wextra -Werror -I"$work" -fsyntax-only -
fi
for name in frames decode push protocol sources; do
    # Its only header is trackway.h.
    sed 's|#include <trackway/.*>|#include "trackway.h"|' "examples/$name.c" >"$work/$name.c"
    $cc -std=c11 -Wall -Wextra -Werror -I"$work" -o "$work/$name" "$work/$name.c" "$work/trackway.o" -pthread
    sh "examples/$name.sh" "$work/$name" >"$work/$name.said" || {
        cat "$work/$name.said"
        echo "examples/$name.c says something else"
        exit 1
    }
done
# Element by element what the library itself says (which may have more parts).
if [ -n "${2:-}" ]; then
    "$work/decode" tests/captures/demo >"$work/mine"
    "$2" tests/captures/demo >"$work/theirs"
    cmp "$work/mine" "$work/theirs"
fi
wc -l "$work/trackway.c" "$work/trackway.h" | sed "s|$work/||"
