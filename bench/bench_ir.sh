#!/bin/sh
# bench_ir.sh FOLDER [--check | --write]: host instructions of one pass over each subject, counted by
# callgrind in the decode call alone, per byte of trace and per traced instruction; and growth. The
# counts do not depend on the machine's load, so bench/instructions keeps them: --check fails when
# one of them is more than 3 % above what stands there, --write puts them there. They do depend on
# the compiler: with another one than that of the file nothing is compared.
set -eu
folder=$1
kept=$(dirname "$0")/instructions
mode=${2:-}
results=$folder/ir-results
about=$(cat "$folder/about")

if ! command -v valgrind >/dev/null 2>&1; then
    echo "# host instructions: skipped, no valgrind"
    exit 0
fi

# count SUBJECT STAGE [OPTION...]: prints host instructions, bytes, traced instructions.
count() {
    subject=$1 stage=$2
    shift 2
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=bench_counted \
        "$folder/bench_self" --once --stage "$stage" "$@" "$subject" \
        >"$folder/ir-out" 2>"$folder/ir-log" || { cat "$folder/ir-log" >&2; exit 1; }
    read -r bytes traced <"$folder/ir-out" || :
    case $bytes in
    '#') return 1 ;; # no corpus
    esac
    host=$(sed -n 's/.*Collected : *//p' "$folder/ir-log")
    [ "${host:-0}" -gt 0 ] || { echo "callgrind counted nothing" >&2; exit 1; }
    echo "$host $bytes $traced"
}

# NAME, SUBJECT, STAGE
cases='
frame/bugfix-exact-match-part/one-id   bugfix-exact-match-part      one-id
frame/bugfix-exact-match-part/all-ids  bugfix-exact-match-part      all-ids
frame/made/one-id                      made/etmv4,kib=128           one-id
frame/made/all-ids                     made/etmv4,kib=128           all-ids
etmv4/bugfix-exact-match-part/packets  bugfix-exact-match-part      packets
etmv4/bugfix-exact-match-part/warm     bugfix-exact-match-part      warm
etmv4/bugfix-exact-match-part/new      bugfix-exact-match-part      new
etmv4/bugfix-exact-match-part/counted  bugfix-exact-match-part      counted
etmv4/juno-uname-001/warm              juno-uname-001               warm
etmv4/juno-uname-002/warm              juno-uname-002               warm
etmv4/juno_r1_1/warm                   juno_r1_1:ETB_0              warm
etmv4/made/packets                     made/etmv4,kib=128           packets
etmv4/made/warm                        made/etmv4,kib=128           warm
etmv4/made/new                         made/etmv4,kib=128           new
ete/001-ack_test/packets               001-ack_test                 packets
ete/001-ack_test/warm                  001-ack_test                 warm
ete/001-ack_test/new                   001-ack_test                 new
ete/made/warm                          made/ete,kib=128             warm
ptm/tc2-ptm-rstk-t32-part/packets      tc2-ptm-rstk-t32-part        packets
ptm/tc2-ptm-rstk-t32-part/warm         tc2-ptm-rstk-t32-part        warm
ptm/tc2-ptm-rstk-t32-part/new          tc2-ptm-rstk-t32-part        new
ptm/Snowball/warm                      Snowball                     warm
ptm/made/packets                       made/ptm,kib=128             packets
ptm/made/warm                          made/ptm,kib=128             warm
etmv3/TC2/packets                      TC2#etmv3+ptm                packets
etmv3/TC2/warm                         TC2#etmv3+ptm                warm
etmv3/made/packets                     made/etmv3,kib=128           packets
etmv3/made/warm                        made/etmv3,kib=128           warm
stm/stm_only/packets                   stm_only                     packets
stm/stm_only/warm                      stm_only                     warm
stm/made/packets                       made/stm,kib=256             packets
stm/made/warm                          made/stm,kib=256             warm
itm/made/packets                       made/itm,kib=256             packets
itm/made/warm                          made/itm,kib=256             warm
etrace/coremark-py-itype3-basic/warm   riscv/coremark-py-itype3-basic warm
etrace/made/packets                    made/etrace,kib=64           packets
etrace/made/warm                       made/etrace,kib=64           warm
etrace-jtc/made/warm                   made/etrace-jtc,kib=64       warm
etrace-bpred/made/warm                 made/etrace-bpred,kib=64     warm
'

echo "# host instructions: per byte of trace, and per traced instruction (callgrind)"
: >"$results"
echo "$cases" | while read -r name subject stage; do
    [ -n "$name" ] || continue
    if counted=$(count "$subject" "$stage"); then
        echo "$name $counted" | awk '{ printf "%-42s %9.2f %9s\n", "ir/" $1, $2 / $3,
            $4 ? sprintf("%.2f", $2 / $4) : "-" }' | tee -a "$results"
    else
        echo "# $name: skipped, no corpus"
    fi
done

# grow NAME SUBJECT STAGE FACTOR BEFORE AFTER: how much more a pass costs with the options AFTER
# than with BEFORE, times FACTOR; per byte, or per traced instruction where IDs change the bytes.
grow() {
    if before=$(count "$2" "$3" $5) && after=$(count "$2" "$3" $6); then
        echo "$1 $4 $before $after" | awk '{
            by = $1 ~ /ids/ ? ($6 / $8) / ($3 / $5) : ($6 / $7) / ($3 / $4)
            printf "%-42s %9.3f\n", $1, $2 * by }' | tee -a "$results"
    else
        echo "# $1: skipped, no corpus"
    fi
}
# rate NAME SUBJECT: how many times more a pass to elements costs than one that counts.
rate() {
    if counted=$(count "$2" counted) && decoded=$(count "$2" warm); then
        echo "$1 $counted $decoded" | awk '{ printf "%-42s %9.3f\n", $1, $5 / $2 }' | tee -a "$results"
    else
        echo "# $1: skipped, no corpus"
    fi
}
echo "# counting without elements beside decoding to elements, in host instructions"
rate counted-ir/etmv4 bugfix-exact-match-part
rate counted-ir/etmv4-made made/etmv4,kib=128
rate counted-ir/etrace riscv/coremark-full-py-perf
rate counted-ir/etrace-made made/etrace,kib=64
rate counted-ir/ptm-made made/ptm,kib=128
rate counted-ir/ptm-rstk tc2-ptm-rstk-t32-part
rate counted-ir/etmv3-made made/etmv3,kib=128
rate counted-ir/ntrace-made made/ntrace,kib=64
rate counted-ir/missing juno-uname-001

# mode NAME SUBJECT: host instructions for each traced one beside E-Trace without options.
mode() {
    if plain=$(count made/etrace,kib=64 warm) && other=$(count "$2" warm); then
        echo "$1 $plain $other" |
            awk '{ printf "%-42s %9.3f\n", $1, ($5 / $7) / ($2 / $4) }' | tee -a "$results"
    fi
}
echo "# E-Trace with options beside E-Trace without, in host instructions for each traced one"
mode etrace-ir/jtc made/etrace-jtc,kib=64
mode etrace-ir/bpred made/etrace-bpred,kib=64

echo "# growth, in host instructions"
grow growth/copies-16 bugfix-exact-match-part warm 16 '' '--mib 8'
grow growth/copies-16-made made/etmv4,kib=64 warm 16 '' '--mib 2'
grow growth/copies-16-ptm made/ptm,kib=32 warm 16 '' '--mib 1'
grow growth/copies-16-etrace made/etrace,kib=32 warm 16 '' '--mib 1'
grow growth/regions-4096 bugfix-exact-match-part new 1 '' '--split --regions 4096'
grow growth/regions-4096-made made/etmv4,kib=128 new 1 '' '--split --regions 4096'
grow growth/ids-64 bugfix-exact-match-part warm 1 '--ids 1' '--ids 64'
grow growth/ids-64-made made/etmv4,kib=256,sync=1024 warm 1 '--ids 1' '--ids 64'

# start NAME WORD...: a whole program, from its start to its end, in thousands.
start() {
    name=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        sed -n 's/.*Collected : *//p' | awk -v name="$name" '{ printf "%-42s %9.0f\n", name, $1 / 1000 }' | tee -a "$results"
}
small=${TRACKWAY_CORPUS:-../shared/corpus}/coresight/snapshots/maxspec0_commopt1 # 4 KiB
echo "# start: thousands of host instructions of a whole command on a small capture"
if [ -d "$small" ]; then
    start start/version "${folder%/*}/trackway" --version
    start start/stats "${folder%/*}/trackway" stats "$small" -q
    start start/decode "${folder%/*}/trackway" decode "$small" -q
else
    echo "# start: skipped, no corpus"
fi

# lines NAME SNAPSHOT WORD...: a whole listing, for each of its lines.
lines() {
    name=$1 snapshot=$2
    shift 2
    [ -d "$snapshot" ] || { echo "# $name: skipped, no corpus"; return; }
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "${folder%/*}/trackway" "$@" "$snapshot" -q \
        2>"$folder/ir-log" | wc -l >"$folder/ir-out"
    echo "$(sed -n 's/.*Collected : *//p' "$folder/ir-log") $(cat "$folder/ir-out")" |
        awk -v name="$name" '{ printf "%-42s %9.1f\n", name, $1 / $2 }' | tee -a "$results"
}
part=${TRACKWAY_CORPUS:-../shared/corpus}/coresight/snapshots/bugfix-exact-match-part
echo "# lines: host instructions of a whole listing, for each line"
lines lines/elements "$part" decode
lines lines/instructions "$part" decode --instructions

case $mode in
--write)
    # What was not counted this time stays as it was.
    touch "$kept"
    awk -v about="$about" '
        list { if (("ir/" $1) in line) out = out line["ir/" $1] "\n"; next }
        $1 ~ /^ir\// { line[$1] = $0 }
        END {
            print "# Host instructions of one pass, as bench/bench_ir.sh --write counted them: per byte of trace,"
            print "# and per traced instruction. " about
            printf "%s", out
        }' "$kept" "$results" list=1 - <<TEXT >"$kept.new"
$cases
TEXT
    mv "$kept.new" "$kept"
    ;;
--check)
    if [ ! -f "$kept" ] || ! grep -qF "$about" "$kept"; then
        echo "# bench/instructions was counted with another compiler: not compared"
        exit 0
    fi
    awk 'FNR == NR { if ($1 ~ /^ir\//) kept[$1] = $2; next }
         $1 in kept && $2 > 1.03 * kept[$1] + 0.005 {
             printf "FAILED %s: %s host instructions, %s before\n", $1, $2, kept[$1]
             bad = 1
         }
         END { exit bad }' "$kept" "$results" ;;
esac
