#!/bin/sh
# portable.sh [NAME...]: the library and tool with another C library (static, as ./dev static builds it), for 32-bit x86, for a
# big-endian machine (s390x, under QEMU) and for Windows (under wine), without warnings, optional features off, pass the
# unit tests and decode what this machine decodes: the demo, its listings, and the expected runs of the corpus. Random tests
# run at the short count. Left out under QEMU, where a program takes some twenty times as long: five unit tests that are
# 40 % of the time of all (SLOW).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
names=${*:-static i686 s390x windows}
passed=0 failed=0 skipped=0 bad=0
SLOW='^test_(etmv4_unit_corpus|etrace_corpus|etrace_table|etraced_table|index_runs)$'

# quietly NAME WHAT COMMAND...: its output only where it fails.
quietly() {
    name=$1 what=$2
    shift 2
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
        return 0
    fi
    tail -30 "$work/log"
    echo "[  FAILED  ] $name $what"
    failed=$((failed + 1))
    return 1
}

# try NAME SYSTEM PROCESSOR COMPILER PROGRAM [RUNNER...]
try() {
    name=$1 system=$2 processor=$3 compiler=$4 program=$5
    shift 5
    case " $names " in
    *" $name "*) ;;
    *) return 0 ;;
    esac
    if ! command -v "$compiler" >/dev/null || ! command -v "${1:-sh}" >/dev/null; then
        echo "skipped: $name: no $compiler or no ${1:-sh}"
        skipped=$((skipped + 1))
        return 0
    fi
    build=$root/build/portable-$name without=''
    [ "$name" != windows ] || without='!stats_count !verbose_names' # which write to /dev/null
    emulator=$(echo "$*" | tr ' ' ';')
    toolchain=-DCMAKE_C_COMPILER=$compiler
    [ "$name" != static ] || toolchain=-DCMAKE_TOOLCHAIN_FILE=$root/cmake/static.cmake
    quietly "$name" "cannot be configured" cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_SYSTEM_NAME="$system" -DCMAKE_SYSTEM_PROCESSOR="$processor" "$toolchain" -DTW_WERROR=ON \
        -DTW_WITH_ELF=OFF -DTW_WITH_DW=OFF -DTW_WITH_ZSTD=OFF -DTW_WITH_LLVM=OFF -DTW_TESTS=ON \
        ${emulator:+"-DCMAKE_CROSSCOMPILING_EMULATOR=$emulator"} \
        -DTW_PYTHON_PACKAGE=OFF -DTW_QEMU_PLUGIN=OFF -DTW_OPENCSD_COMPAT=OFF || return 0
    quietly "$name" "does not build" \
        cmake --build "$build" --target trackway_tool trackway_shared tw_unit_tests -j 2 || return 0
    # What the programs print is counted with the rest.
    slow='^$'
    [ "$name" != s390x ] || slow=$SLOW
    (cd "$build" && TW_TEST_FULL=0 ctest -R '^test_' -E "$slow" -V -j 2 --timeout 1200 --no-tests=error) >"$work/unit" 2>&1 || bad=1
    grep -hoE '\[  (PASSED|FAILED|SKIPPED) *\] [0-9]+ test\(s\)\.' "$work/unit" || :
    grep -aE -B12 '\[  FAILED  \] [a-z]|\*\*\*(Timeout|Exception)' "$work/unit" | head -300 || :
    printf '#!/bin/sh\nexec %s "%s/%s" "$@"\n' "$*" "$build" "$program" >"$work/trackway-$name"
    chmod +x "$work/trackway-$name"
    python3 "$root/tests/golden/run.py" "$work/trackway-$name" || bad=1
    python3 "$root/tests/cli/run.py" "$work/trackway-$name" decode_cases frames_cases index_cases '!perf' '!gdb' $without || bad=1
}

# Wine wants a folder for itself, made before many ask for it at a time; and says much.
WINEPREFIX=$work/wine WINEDEBUG=-all WINEDLLOVERRIDES=winemenubuilder.exe=d
export WINEPREFIX WINEDEBUG WINEDLLOVERRIDES
try static Linux "$(uname -m)" musl-gcc trackway
try i686 Linux i686 i686-linux-gnu-gcc trackway
try s390x Linux s390x s390x-linux-gnu-gcc trackway qemu-s390x -L /usr/s390x-linux-gnu
case " $names " in
*" windows "*)
    if command -v wine >/dev/null && ! wine cmd /c exit >/dev/null 2>&1; then
        echo "skipped: windows: wine does not start here"
        skipped=$((skipped + 1))
    else
        # One program stays, so that not every start of another starts all of Windows.
        mkfifo "$work/stays"
        wine cmd <"$work/stays" >/dev/null 2>&1 &
        exec 9>"$work/stays"
        wine cmd /c exit >/dev/null 2>&1
        trap 'exec 9>&-; wait; rm -rf "$work"' EXIT
        try windows Windows x86_64 x86_64-w64-mingw32-gcc-posix trackway.exe wine
    fi ;;
esac
echo "[  PASSED  ] $passed test(s)."
[ $skipped = 0 ] || echo "[  SKIPPED ] $skipped test(s)."
[ $failed = 0 ] || { echo "[  FAILED  ] $failed test(s)."; exit 1; }
exit $bad
