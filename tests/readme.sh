#!/bin/sh
# readme.sh TOOL CC: every "$ trackway ..." of README.md prints what README.md says, and its C program
# compiles. A line "..." there stands for any number of lines.
set -eu
tool=$1 cc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# Splits the console blocks: commands into N.command, what follows into N.want.
awk -v work="$work" '
/^```console/ { inside = 1; next }
/^```/ { inside = 0 }
inside && /^\$ / { n++; print substr($0, 3) > (work "/" n ".command"); printf "" > (work "/" n ".want"); next }
inside && n { print > (work "/" n ".want") }
/^```c$/ { program = 1; next }
/^```/ { program = 0 }
program { print > (work "/program.c") }' README.md

mkdir "$work/bin"
ln -s "$(cd "$(dirname "$tool")" && pwd)/$(basename "$tool")" "$work/bin/trackway"
PATH=$work/bin:$PATH
export PATH

# The same lines in order; "..." in the first file passes over lines of the second.
matches() {
    awk 'FNR == NR { want[++w] = $0; next } { got[++g] = $0 }
        END {
            for (i = j = 1; i <= w; i++) {
                if (want[i] == "...") {
                    while (j <= g && got[j] != want[i + 1]) j++
                    if (i == w) j = g + 1
                } else if (got[j++] != want[i]) {
                    printf "line %d: got \"%s\", README says \"%s\"\n", j - 1, got[j - 1], want[i]
                    exit 1
                }
            }
            if (j <= g) { print "there is more, from: " got[j]; exit 1 }
        }' "$1" "$2"
}

for command in "$work"/*.command; do
    [ -f "$command" ] || continue
    # Disassembly and source lines are not in every build.
    case $(cat "$command") in
    *--instructions*)
        case " $(trackway --version | sed -n 2p) " in
        *' dw '*' llvm '*) ;;
        *) continue ;;
        esac ;;
    esac
    sh "$command" >"$work/got" 2>&1 || :
    # awk cannot tell an empty first file from none
    if [ ! -s "${command%.command}.want" ] || matches "${command%.command}.want" "$work/got"; then
        passed=$((passed + 1))
    else
        echo "in README.md: $(cat "$command")"
        failed=$((failed + 1))
    fi
done
if "$cc" -std=c11 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$work/program.c"; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
fi
echo "[  PASSED  ] $passed test(s)."
[ $failed = 0 ] || { echo "[  FAILED  ] $failed test(s)."; exit 1; }
