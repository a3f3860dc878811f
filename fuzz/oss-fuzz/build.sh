#!/bin/bash -eu
# SPDX-License-Identifier: BSD-2-Clause
# Builds every fuzz target as OSS-Fuzz wants it: with its compilers and flags, the engine that it names, and beside each
# program its stored inputs and its dictionary. tests/oss_fuzz.sh runs this with the variables that the service sets.
cd "$SRC/trackway"
build=$WORK/build

# The library alone; disassembly loads LLVM, which is not on the machines that run the targets.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DTW_SHARED=OFF -DTW_TOOL=OFF -DTW_TESTS=OFF \
    -DTW_WITH_ELF=ON -DTW_WITH_DW=ON -DTW_WITH_ZSTD=ON -DTW_WITH_LLVM=OFF -DTW_WITH_HTTP=OFF \
    -DTW_OPENCSD_COMPAT=OFF -DTW_QEMU_PLUGIN=OFF -DTW_PYTHON_PACKAGE=OFF
cmake --build "$build" --target trackway_static
library=$(find "$build" -name libtrackway.a)

# Static where that is there: the targets run on other machines than they are built on.
libraries='-Wl,-Bstatic -ldw -lelf -lzstd -lbz2 -llzma -lz -Wl,-Bdynamic -lpthread -ldl -lm'
definitions='-std=c11 -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -DTW_WITH_ELF=1 -DTW_WITH_DW=1 -DTW_WITH_ZSTD=1'

# Sources of the tool and of the plug-in for QEMU that a target has beside the library.
more_of() {
    sed -n "s/^$1 //p" fuzz/sources.txt
}

for source in fuzz/fuzz_*.c; do
    name=${source#fuzz/fuzz_}
    name=${name%.c}
    case $name in opencsd*) continue ;; esac # of the drop-in, which needs OpenCSD's headers
    objects=''
    for file in "$source" $(more_of "$name"); do
        object=$WORK/$name-$(basename "$file" .c).o
        $CC $CFLAGS $definitions -Iinclude -Isrc -Itests -Itool -I. -c "$file" -o "$object"
        objects="$objects $object"
    done
    $CXX $CXXFLAGS $objects "$library" $LIB_FUZZING_ENGINE $libraries -o "$OUT/fuzz_$name"
    if [ -d "fuzz/corpus/$name" ]; then
        zip -q -j "$OUT/fuzz_${name}_seed_corpus.zip" "fuzz/corpus/$name"/*
    fi
    if [ -f "fuzz/dictionaries/$name.dict" ]; then
        cp "fuzz/dictionaries/$name.dict" "$OUT/fuzz_$name.dict"
    fi
done
