#!/bin/sh
# skeleton.sh CC LIBRARY OPTIONS...: does literally what docs/architecture.md says of adding a protocol, in a copy of
# the tree, and runs the tests that come with it. Everything else is taken from the library that is built already.
set -eu
cc=$1 library=$2
shift 2
for program in git cmake clang-format python3; do
    command -v $program >/dev/null 2>&1 || { echo "skipped: no $program"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Not the build folders, nor what is large and has no part in it.
tar cf - --exclude=./build --exclude=./.git --exclude=./fuzz/corpus --exclude=./tests/captures . | tar xf - -C "$work"
cd "$work"

awk '/^## Adding a protocol/ { there = 1 } there && /^   ```$/ { if (inside) exit; inside = 1; next } inside' docs/architecture.md |
    sed 's/^   //' >steps
[ "$(wc -l <steps)" -ge 10 ]
# ./dev would install what is missing: only what it does then is wanted here.
sed -i 's/^\.\/dev manual$/scripts\/manpages >\/dev\/null; scripts\/symbols; scripts\/abi; scripts\/architecture/' steps
sh -eu steps

# Each line is where it belongs.
grep -q 'USE(tw_foo)' src/registry.c
cmake -G Ninja -S . -B build -DCMAKE_C_COMPILER="$cc" "$@" >log 2>&1 || { cat log; exit 1; }
ninja -C build -t targets all >targets
for target in test_foo test_vectors; do
    grep -q "$target:" targets || { echo "no target $target"; exit 1; }
done
for check in check-includes check-sizes check-format check-manpages 'symbols --check' 'abi --check' 'architecture --check'; do
    # shellcheck disable=SC2086  # a command and its option
    scripts/$check >log 2>&1 || { echo "scripts/$check:"; cat log; exit 1; }
done

# The protocol and all that names it, and the tests; the rest is in the library.
flags='-std=c11 -g -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64'
for file in src/registry.c src/foo/[!t]*.c tests/support.c; do
    # shellcheck disable=SC2086
    $cc $flags -DTW_SOURCE_DIR="\"$work\"" -Iinclude -Isrc -Itests -c -o "$(echo "$file" | tr / _).o" "$file"
done
for test in src/foo/test.c tests/vectors.c; do
    # shellcheck disable=SC2046,SC2086
    $cc $flags -DTW_SOURCE_DIR="\"$work\"" -Iinclude -Isrc -Itests -o program "$test" ./*.o "$library" \
        -lcmocka $(pkg-config --libs libelf libdw libzstd 2>/dev/null) -ldl -pthread
    ./program >log 2>&1 || { cat log; exit 1; }
    tail -n 1 log
done
grep -q 'tests/vectors/foo\|packets.tv' log || cat log
