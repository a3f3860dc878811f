#!/bin/sh
# analysis_example_run.sh PROGRAM: the tool with the command of docs/adding-an-analysis.md.
set -eu
program=$1
"$program" --help | grep -q '^  mix  '
"$program" mix --help | grep -q -- '--tid'
one=$("$program" mix tests/captures/demo --quiet --threads 1)
[ "$one" = "$("$program" mix tests/captures/demo --quiet --threads 3)" ]
instructions=$("$program" stats tests/captures/demo --format jsonl --quiet |
    sed -n 's/.*"instructions":\([0-9]*\).*/\1/p')
echo "$one" | grep -q " $instructions instructions$"
[ "$(echo "$one" | wc -l)" = 7 ]
# Two captures are added up.
two=$("$program" mix tests/captures/demo tests/captures/demo --quiet)
echo "$two" | grep -q " $((2 * instructions)) instructions$"
echo "7 kinds of $instructions instructions"
