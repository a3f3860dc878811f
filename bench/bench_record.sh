#!/bin/sh
# bench_record.sh FOLDER: programs of the corpus in QEMU, once with a plug-in that is told what ours is told and does
# nothing, once recorded; in turns. The result is how much of the first one's speed the second has.
set -eu
folder=$(cd "$1" && pwd)
tool=${folder%/*}/trackway
corpus=${TRACKWAY_CORPUS:-../shared/corpus}/exec/logs
work=$folder/record-work

if ! command -v qemu-aarch64 >/dev/null 2>&1 || [ ! -d "$corpus" ]; then
    echo "# record: skipped, no QEMU or no corpus"
    exit 0
fi
mkdir -p "$work"

# took COMMAND...: nanoseconds.
took() {
    begun=$(date +%s%N)
    "$@" >/dev/null 2>&1 || :
    echo $(($(date +%s%N) - begun))
}

# compare NAME QEMU PROGRAM ARGUMENT OPTION...
compare() {
    name=$1 qemu=$2 program=$work/$3 argument=$4
    shift 4
    cp "$corpus/${program##*/}.elf" "$program"
    chmod +x "$program"
    alone=0 recorded=0
    for round in 1 2 3 4 5; do
        time=$(took "$qemu" -plugin "$folder/empty_plugin.so" "$program" "$argument")
        { [ $alone -gt 0 ] && [ "$time" -gt $alone ]; } || alone=$time
        time=$(took "$tool" record --quiet -o "$work/out" --force "$@" "$program" "$argument")
        { [ $recorded -gt 0 ] && [ "$time" -gt $recorded ]; } || recorded=$time
        rm -rf "$work/out"
    done
    echo "$name $alone $recorded" |
        awk '{ printf "record/%s %.2f of QEMU with an empty plug-in (%.2f s, %.2f s)\n", $1, $2 / $3, $2 / 1e9, $3 / 1e9 }'
}

compare ete/interp qemu-aarch64 a64-interp 6000
compare ete/indirect qemu-aarch64 a64-indirect 100000
compare etmv4/t32-interp qemu-arm t32-interp 3000
compare ptm/t32-interp qemu-arm t32-interp 3000 --protocol ptm
compare etmv3/t32-interp qemu-arm t32-interp 3000 --protocol etmv3
compare etrace/rv64-interp qemu-riscv64 rv64-interp 3000 --format snapshot
compare ntrace/rv64-interp qemu-riscv64 rv64-interp 3000 --format snapshot --protocol ntrace
rm -rf "$work"
