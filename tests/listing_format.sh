#!/bin/sh
# listing_format.sh PROGRAM: the program with the format of docs/listing-formats.md does what the page
# shows, and the page's line for the build file names the page's file.
set -u
program=$1 page=docs/listing-formats.md
passed=0 failed=0

check() { # name, got, want
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        printf '%s\ngot  %s\nwant %s\n' "$1" "$2" "$3"
        failed=$((failed + 1))
    fi
}

got=$("$program" decode tests/captures/demo --format tally -q)
check 'the output shown' "$got" "$(sed -n '/^\$ trackway/,/^```/{/^\$/d;/^```/d;p;}' "$page")"
help=$("$program" decode --help | grep -c 'perf|tally')
check 'the help' "$help" 1
"$program" packets tests/captures/demo --format tally 2>/dev/null
check 'it is none of packets' "$?" 2
"$program" decode tests/captures/demo --format tally --instructions 2>/dev/null
check 'it does not go with --instructions' "$?" 2
line=$(grep -c '^    formats/tally\.c$' "$page")
check 'the line for the build file' "$line" 1
check 'a line of that form' "$(grep -c '^    formats/jsonl\.c$' tool/CMakeLists.txt)" 1
echo "[  PASSED  ] $passed test(s)."
[ "$failed" -eq 0 ] || { echo "[  FAILED  ] $failed test(s)."; exit 1; }
