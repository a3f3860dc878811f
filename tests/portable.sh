#!/bin/sh
# portable.sh: the library and tool for 32-bit x86 and for a big-endian machine (s390x, under QEMU), with optional features
# off, decode what this machine decodes: the demo, its listings, and the expected runs of the corpus.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
passed=0 failed=0 skipped=0

# try NAME COMPILER PROCESSOR RUNNER...
try() {
    name=$1 compiler=$2 processor=$3
    shift 3
    if ! command -v "$compiler" >/dev/null || ! command -v "${1:-sh}" >/dev/null; then
        echo "skipped: $name: no $compiler or no ${1:-sh}"
        skipped=$((skipped + 1))
        return 0
    fi
    build=$root/build/portable-$name
    if ! { cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux \
            -DCMAKE_SYSTEM_PROCESSOR="$processor" -DCMAKE_C_COMPILER="$compiler" -DTW_WERROR=ON \
            -DTW_WITH_ELF=OFF -DTW_WITH_DW=OFF -DTW_WITH_ZSTD=OFF -DTW_WITH_LLVM=OFF -DTW_TESTS=OFF \
            -DTW_PYTHON_PACKAGE=OFF -DTW_QEMU_PLUGIN=OFF -DTW_OPENCSD_COMPAT=OFF &&
        cmake --build "$build" --target trackway_tool -j 2; } >"$work/log" 2>&1; then
        tail -30 "$work/log"
        echo "[  FAILED  ] $name does not build"
        failed=$((failed + 1))
        return 0
    fi
    passed=$((passed + 1))
    printf '#!/bin/sh\nexec %s "%s/trackway" "$@"\n' "$*" "$build" >"$work/trackway-$name"
    chmod +x "$work/trackway-$name"
    # What the tests of the program print is counted with the rest.
    python3 "$root/tests/golden/run.py" "$work/trackway-$name" || :
    python3 "$root/tests/cli/run.py" "$work/trackway-$name" decode_cases frames_cases index_cases '!perf' || :
}

try i686 i686-linux-gnu-gcc i686
try s390x s390x-linux-gnu-gcc s390x qemu-s390x -L /usr/s390x-linux-gnu
echo "[  PASSED  ] $passed test(s)."
[ $skipped = 0 ] || echo "[  SKIPPED ] $skipped test(s)."
[ $failed = 0 ] || { echo "[  FAILED  ] $failed test(s)."; exit 1; }
