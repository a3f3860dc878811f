#!/bin/sh
# options.sh: only what is wanted is built and installed, and works; and a cross build sees no library of this machine.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
passed=0
bad() { echo "[  FAILED  ] $*"; tail -20 "$work/log"; exit 1; }

# make NAME OPTION...: configures, builds all that is wanted, and installs to $work/NAME.
make() { make_in "build-$1" "$@"; }
# make_in FOLDER NAME OPTION...: the same, of what was built there before with other options.
make_in() {
    build=$work/$1 name=$2
    shift 2
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib -DTW_TESTS=OFF \
        -DTW_QEMU_PLUGIN=OFF -DTW_OPENCSD_COMPAT=OFF -DTW_PYTHON_PACKAGE=OFF "$@" >"$work/log" 2>&1 || bad "$name: cmake"
    cmake --build "$build" -j 2 >"$work/log" 2>&1 || bad "$name does not build"
    cmake --install "$build" --prefix "$work/$name" >"$work/log" 2>&1 || bad "$name does not install"
}
has() { # NAME GLOB: whether such a file is installed
    [ -n "$(find "$work/$1" -path "$work/$1/$2" | head -n 1)" ]
}
only() { # NAME WANTED UNWANTED: lists of globs
    for glob in $2; do has "$1" "$glob" || bad "$1: there is no $glob"; done
    for glob in $3; do ! has "$1" "$glob" || bad "$1: there is $glob"; done
    passed=$((passed + 1))
}
printf '%s\n' '#include <stdio.h>' '#include <trackway/trackway.h>' 'int main(void) { return puts(tw_version()) < 0; }' >"$work/use.c"

make shared -DTW_STATIC=OFF -DTW_TOOL=OFF
only shared 'lib/libtrackway.so lib/pkgconfig/trackway.pc include/trackway/tree.h lib/cmake/trackway/* share/man/man3/tw_tree_next.3' 'lib/libtrackway.a bin/trackway share/man/man1/* share/man/man*/commands'
make_in build-shared python -DTW_STATIC=OFF -DTW_TOOL=OFF -DTW_PYTHON_PACKAGE=ON -DPython3_EXECUTABLE=/usr/bin/python3
only python 'lib/libtrackway.so lib/python3/dist-packages/trackway/_core.abi3.so' 'lib/libtrackway.a bin/trackway lib/trackway-opencsd/*'
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    LD_LIBRARY_PATH=$work/python/lib PYTHONPATH=$work/python/lib/python3/dist-packages /usr/bin/python3 -c \
        'import sys, trackway; assert trackway.open(sys.argv[1]).profile().totals["instructions"] == 51431' \
        "$root/tests/captures/demo" >"$work/log" 2>&1 || bad "the Python package alone does not work"
    passed=$((passed + 1))
fi
make static -DTW_SHARED=OFF -DTW_TOOL=OFF -DTW_WITH_ELF=OFF -DTW_WITH_DW=OFF -DTW_WITH_ZSTD=OFF -DTW_WITH_LLVM=OFF
only static 'lib/libtrackway.a lib/pkgconfig/trackway.pc' 'lib/libtrackway.so* bin/trackway'
make_in build-static compat -DTW_SHARED=OFF -DTW_TOOL=OFF -DTW_OPENCSD_COMPAT=ON -DTW_WITH_ELF=OFF -DTW_WITH_DW=OFF -DTW_WITH_ZSTD=OFF -DTW_WITH_LLVM=OFF
only compat 'lib/trackway-opencsd/libopencsd_c_api.so* lib/trackway-opencsd/pkgconfig/libopencsd.pc include/trackway-opencsd/opencsd/*' 'lib/libtrackway.so* bin/trackway'
make tool -DTW_SHARED=OFF -DTW_STATIC=OFF
only tool 'bin/trackway share/man/man1/trackway.1 share/man/man1/trackway-decode.1 share/doc/*/formats.md' 'lib/libtrackway.* include/trackway/* lib/pkgconfig/* share/man/man*/commands'
"$work/tool/bin/trackway" stats "$root/tests/captures/demo" >/dev/null 2>&1 || bad "the tool alone does not work"
for name in shared static; do
    PKG_CONFIG_PATH=$work/$name/lib/pkgconfig
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046
    cc "$work/use.c" -o "$work/use-$name" $(pkg-config --cflags --libs trackway) >"$work/log" 2>&1 || bad "$name: pkg-config"
    LD_LIBRARY_PATH=$work/$name/lib "$work/use-$name" >"$work/log" || bad "$name: the program"
    mkdir "$work/find-$name"
    cp "$work/use.c" "$work/find-$name"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.20)' 'project(use C)' 'find_package(trackway REQUIRED)' 'add_executable(use use.c)' \
        'target_link_libraries(use PRIVATE trackway::trackway)' >"$work/find-$name/CMakeLists.txt"
    { cmake -S "$work/find-$name" -B "$work/find-$name/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/$name" &&
        cmake --build "$work/find-$name/build" && "$work/find-$name/build/use"; } >"$work/log" 2>&1 || bad "$name: find_package"
    passed=$((passed + 1))
done

# Options that exclude each other are refused.
! cmake -S "$root" -B "$work/build-none" -G Ninja -DTW_SHARED=OFF -DTW_PYTHON_PACKAGE=ON >"$work/log" 2>&1 ||
    bad "Python without a shared library was taken"
passed=$((passed + 1))

# The host's libraries are there; the target's are not. LLVM's is no part of a build: it is loaded when it is needed.
if command -v s390x-linux-gnu-gcc >/dev/null; then
    cmake -S "$root" -B "$work/build-cross" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=s390x \
        -DCMAKE_C_COMPILER=s390x-linux-gnu-gcc >"$work/log" 2>&1 || bad "the cross build cannot be configured"
    grep -q 'features \[LLVM\]' "$work/log" || bad "a cross build took libraries of the host"
    ! grep -rqE '/usr/(include|lib)/(x86_64|llvm)' "$work/build-cross/build.ninja" || bad "a cross build looks into the host's folders"
    passed=$((passed + 1))
else
    echo "skipped: no s390x-linux-gnu-gcc"
fi
echo "[  PASSED  ] $passed test(s)."
