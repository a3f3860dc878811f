#!/bin/sh
# install.sh BUILD CC: installs into a temporary folder and uses the library from there, as others do.
set -eu
build=$1 cc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >"$work/log" || { cat "$work/log"; exit 1; }

cat >"$work/use.c" <<'TEXT'
#include <stdio.h>
#include <trackway/trackway.h>
int main(void)
{
    printf("%s [%s]\n", tw_version(), tw_features());
    return 0;
}
TEXT
cat >"$work/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.20)
project(use C)
find_package(trackway 0.2 REQUIRED)
add_executable(use_shared use.c)
target_link_libraries(use_shared PRIVATE trackway::trackway)
add_executable(use_static use.c)
target_link_libraries(use_static PRIVATE trackway::trackway_static)
add_executable(push push.c)
target_link_libraries(push PRIVATE trackway::trackway)
add_executable(protocol protocol.c)
target_link_libraries(protocol PRIVATE trackway::trackway_static)
TEXT
cp examples/push.c examples/protocol.c "$work"

library=$(dirname "$(find "$prefix" -name libtrackway.so)")
PKG_CONFIG_PATH=$library/pkgconfig
LD_LIBRARY_PATH=$library
export PKG_CONFIG_PATH LD_LIBRARY_PATH

check() { # what, program
    said=$("$2")
    case $said in
    0.*) echo "$1: $said" ;;
    *) echo "$1 said: $said"; exit 1 ;;
    esac
}

$cc -o "$work/pc_shared" "$work/use.c" $(pkg-config --cflags --libs trackway)
check 'pkg-config, shared' "$work/pc_shared"
$cc -o "$work/pc_static" "$work/use.c" $(pkg-config --cflags trackway) "$library/libtrackway.a" \
    $(pkg-config --static --libs-only-l --libs-only-other trackway | sed 's/-ltrackway//')
check 'pkg-config, static' "$work/pc_static"
cmake -G Ninja -S "$work" -B "$work/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
    cmake --build "$work/build" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
check 'find_package, shared' "$work/build/use_shared"
check 'find_package, static' "$work/build/use_static"

# The drop-in for OpenCSD: all of it is in a directory of its own.
if [ -d "$library/trackway-opencsd" ]; then
    cat >"$work/drop_in.c" <<'TEXT'
#include <stdio.h>
#include <opencsd/c_api/opencsd_c_api.h>
int main(void)
{
    return puts(ocsd_get_version_str()) < 0;
}
TEXT
    $cc -o "$work/drop_in" "$work/drop_in.c" \
        $(PKG_CONFIG_PATH=$library/trackway-opencsd/pkgconfig pkg-config --cflags --libs libopencsd)
    said=$(LD_LIBRARY_PATH=$library/trackway-opencsd "$work/drop_in")
    [ "$said" = 1.3.3 ] || { echo "the drop-in said: $said"; exit 1; }
    outside=$(find "$prefix" -name '*opencsd*' ! -path '*/trackway-opencsd*' ! -path '*/share/*')
    [ -z "$outside" ] || { echo "outside of its directory: $outside"; exit 1; }
    for name in libopencsd_c_api.so libopencsd_c_api.so.1 libopencsd.so.1; do
        [ -e "$library/trackway-opencsd/$name" ] || { echo "there is no $name"; exit 1; }
    done
    echo "pkg-config, drop-in: $said"
fi

# The examples, as a stranger builds them.
sh examples/push.sh "$work/build/push" >/dev/null
sh examples/protocol.sh "$work/build/protocol" >/dev/null
$cc -o "$work/decode" examples/decode.c $(pkg-config --cflags --libs trackway)
sh examples/decode.sh "$work/decode" >/dev/null
echo 'examples: built against the installed library'

# The shared library offers what the headers mark TW_API, all of it and nothing else.
cat "$prefix"/include/trackway/*.h | awk '
    /^TW_API/ { open = 1 }
    open && match($0, /tw_[a-z0-9_]+\(/) { print substr($0, RSTART, RLENGTH - 1); open = 0 }' |
    sort -u >"$work/promised"
nm -D --defined-only "$library/libtrackway.so" | awk '{ print $3 }' | sort -u >"$work/offered"
diff "$work/promised" "$work/offered" >"$work/diff" || {
    echo "headers (<) and the library's symbols (>) differ:"
    grep '^[<>]' "$work/diff"
    exit 1
}
[ -L "$library/libtrackway.so.0.2" ] || { echo "no soname link libtrackway.so.0.2"; exit 1; }
if [ -x "$prefix/bin/trackway" ]; then
    "$prefix/bin/trackway" --version
fi
