#!/bin/sh
# analysis_example.sh FOLDER: the steps of docs/adding-an-analysis.md, taken as they stand there, put mix.c,
# commands/commands.h and main.c into FOLDER.
set -eu
folder=$1
mkdir -p "$folder/commands"
block() { # number: the block of that number
    awk -v wanted="$1" '/^```/ { inside = !inside; block += inside; next } inside && block == wanted' \
        docs/adding-an-analysis.md
}
block 1 >"$folder/mix.c"
block 2 >"$folder/row"
[ "$(block 3)" = '    commands/mix.c' ]
grep -q '^    commands/coverage.c$' tool/CMakeLists.txt # such lines stand there
sed "/COMMAND(coverage)/r $folder/row" tool/commands/commands.h >"$folder/commands/commands.h"
cp tool/main.c "$folder/main.c"
