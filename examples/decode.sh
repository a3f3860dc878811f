#!/bin/sh
# The bundled capture: it begins unsynchronized, runs from the program's entry, and ends.
set -eu
said=$("$1" tests/captures/demo)
echo "$said" | head -n 3
echo "$said" | head -n 1 | grep -q 'NO_SYNC'
[ "$(echo "$said" | grep -c INSTR_RANGE)" -gt 1000 ]
echo "$said" | tail -n 1 | grep -q 'EO_TRACE'
! "$1" docs 2>/dev/null
