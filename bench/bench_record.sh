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

# took COMMAND...: sets wall and cpu, nanoseconds; the second is processor time of all threads.
took() {
    times >"$work/before"
    begun=$(date +%s%N)
    "$@" >/dev/null 2>&1 || :
    wall=$(($(date +%s%N) - begun))
    times >"$work/after"
    cpu=$(awk 'FNR == 2 { split($1, part, /[ms]/); split($2, more, /[ms]/)
                          time[FILENAME] = 60 * (part[1] + more[1]) + part[2] + more[2] }
               END { printf "%d", 1e9 * (time[ARGV[2]] - time[ARGV[1]]) }' "$work/before" "$work/after")
}

# least OLD NEW: the smaller one; 0 stands for none.
least() {
    if [ "$1" -eq 0 ] || [ "$2" -lt "$1" ]; then echo "$2"; else echo "$1"; fi
}

# compare NAME QEMU PROGRAM ARGUMENT OPTION...
compare() {
    name=$1 qemu=$2 program=$work/$3 argument=$4
    shift 4
    cp "$corpus/${program##*/}.elf" "$program"
    chmod +x "$program"
    alone=0 recorded=0 alone_cpu=0 recorded_cpu=0
    for round in 1 2 3 4 5; do
        took "$qemu" -plugin "$folder/empty_plugin.so" "$program" "$argument"
        alone=$(least $alone "$wall") alone_cpu=$(least $alone_cpu "$cpu")
        took "$tool" record --quiet -o "$work/out" --force "$@" "$program" "$argument"
        recorded=$(least $recorded "$wall") recorded_cpu=$(least $recorded_cpu "$cpu")
        rm -rf "$work/out"
    done
    echo "$name $alone $recorded $alone_cpu $recorded_cpu" |
        awk '{ printf "record/%s %.2f of QEMU with an empty plug-in (%.2f s, %.2f s; %.2f of its processor time)\n",
               $1, $2 / $3, $2 / 1e9, $3 / 1e9, $4 / $5 }'
}

compare ete/interp qemu-aarch64 a64-interp 6000
compare ete/indirect qemu-aarch64 a64-indirect 100000
compare etmv4/t32-interp qemu-arm t32-interp 3000
compare ptm/t32-interp qemu-arm t32-interp 3000 --protocol ptm
compare etmv3/t32-interp qemu-arm t32-interp 3000 --protocol etmv3
compare etrace/rv64-interp qemu-riscv64 rv64-interp 3000 --format snapshot
compare ntrace/rv64-interp qemu-riscv64 rv64-interp 3000 --format snapshot --protocol ntrace
# Little but calls and returns: recursion, most of it deeper than a return stack.
compare ete/recur qemu-aarch64 a64-recur 6000
compare etmv4/recur qemu-arm a32-recur 6000
compare ptm/recur qemu-arm a32-recur 6000 --protocol ptm
compare etmv3/recur qemu-arm a32-recur 6000 --protocol etmv3
compare etrace/recur qemu-riscv64 rv64-recur 6000 --format snapshot
compare ntrace/recur qemu-riscv64 rv64-recur 6000 --format snapshot --protocol ntrace
rm -rf "$work"
