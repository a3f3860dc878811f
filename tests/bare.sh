#!/bin/sh
# bare.sh: README's first steps on a machine that has nothing: "./dev demo" and "./dev install" fetch what they need, and
# README's examples come out literally. Wants bare-debian (of the shared tools), root and a mirror; BARE_DIR keeps the base.
set -eu
bare=${BARE_DEBIAN:-../shared/tools/bare-debian}
skip() { echo "skipped: $*"; echo "[  SKIPPED ] 1 test(s)."; exit 0; }

[ -x "$bare" ] || skip "there is no bare-debian ($bare)"
[ "$(id -u)" = 0 ] || skip "a bare machine wants root"
command -v debootstrap >/dev/null || skip "there is no debootstrap"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
"$bare" ${BARE_DIR:+--dir "$BARE_DIR"} \
    './dev demo && ./dev install /opt/trackway && sh tests/readme.sh /opt/trackway/bin/trackway cc' \
    >"$work/log" 2>&1 || status=$?
tail -40 "$work/log"
# It says 125 when it could not make the machine.
[ "$status" != 125 ] || skip "the bare machine could not be made"
[ "$status" = 0 ] || { echo "[  FAILED  ] 1 test(s): README on a bare machine"; exit 1; }
echo "[  PASSED  ] 1 test(s)."
