#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fuzz/oss-fuzz/build.sh with the variables that the service sets: every target is built, has its inputs, and runs them.
# oss_fuzz.sh [FOLDER]: what was built stays there.
set -eu
if [ $# = 0 ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
else
    mkdir -p "$1"
    work=$(cd "$1" && pwd)
fi
cd "$(dirname "$0")/.."
passed=0 failed=0
check() { # WHAT COMMAND...
    what=$1
    shift
    if "$@" >"$work/output" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $what"
        tail -n 20 "$work/output"
    fi
}

mkdir -p "$work/src/trackway" "$work/out" "$work/work"
git ls-files -z | xargs -0 cp --parents -t "$work/src/trackway"
cp fuzz/oss-fuzz/build.sh "$work/src/build.sh"

export SRC="$work/src" OUT="$work/out" WORK="$work/work" CC=clang CXX=clang++
export SANITIZER=address FUZZING_ENGINE=libfuzzer FUZZING_LANGUAGE=c ARCHITECTURE=x86_64
export LIB_FUZZING_ENGINE=-fsanitize=fuzzer
export CFLAGS='-O1 -fno-omit-frame-pointer -gline-tables-only -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -fsanitize=address -fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link'
export CXXFLAGS="$CFLAGS"
check "build.sh" bash -eu "$work/src/build.sh"

for source in fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    case $name in fuzz_opencsd*) continue ;; esac
    mkdir -p "$work/seeds/$name"
    check "$name is there" test -x "$work/out/$name"
    check "$name has inputs" unzip -q -o "$work/out/${name}_seed_corpus.zip" -d "$work/seeds/$name"
    dictionary=''
    [ ! -f "$work/out/$name.dict" ] || dictionary=-dict=$work/out/$name.dict
    check "$name runs its inputs" "$work/out/$name" -runs=0 -timeout=120 "-artifact_prefix=$work/" $dictionary "$work/seeds/$name"
done

# What the service asks for.
for word in homepage: language: primary_contact: main_repo: sanitizers: fuzzing_engines:; do
    check "project.yaml has $word" grep -q "^$word" fuzz/oss-fuzz/project.yaml
done
check "Dockerfile begins with the service's builder" grep -q '^FROM gcr.io/oss-fuzz-base/base-builder' fuzz/oss-fuzz/Dockerfile

echo "[  PASSED  ] $passed test(s)."
[ "$failed" = 0 ] || { echo "[  FAILED  ] $failed test(s)."; exit 1; }
