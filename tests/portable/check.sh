#!/bin/sh
# check.sh: the stand-in for cmocka has all that unit tests use of it, so that what is built here builds for other machines.
set -eu
cd "$(dirname "$0")/../.."
missing=$(grep -rhoE '\b(cmocka_[a-z_]+|assert_[a-z_]+|fail_msg|print_(message|error))\(' src tests/*.h tests/*.c --include='*.[ch]' |
    tr -d '(' | sort -u | while read -r name; do
    grep -qE "^#define $name\(" tests/portable/cmocka.h || echo "$name"
done)
[ -z "$missing" ] || { echo "tests/portable/cmocka.h has no" $missing; exit 1; }
