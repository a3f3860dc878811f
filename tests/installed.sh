#!/bin/sh
# installed.sh BUILD: what an installed build has for its users. Every command has a manual page with every option that
# its help names, every function of the library has one, and the documents that the pages speak of are there.
set -eu
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
bad() { echo "[  FAILED  ] $*"; exit 1; }

cmake --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; bad "it does not install"; }
tool=$work/prefix/bin/trackway
pages=$work/prefix/share/man
[ -x "$tool" ] || bad "there is no bin/trackway"
"$tool" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' | sort -u >"$work/commands"
[ "$(wc -l <"$work/commands")" -ge 20 ] || bad "the help names few commands: $(tr '\n' ' ' <"$work/commands")"
while read -r command; do
    page=$pages/man1/trackway-$command.1
    [ -f "$page" ] || bad "there is no page trackway-$command.1"
    # As a reader sees it: no backslashes before hyphens.
    sed 's/\\-/-/g' "$page" >"$work/page"
    "$tool" "$command" --help | sed -n 's/^ *\(-[a-z], \)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p' | sort -u >"$work/options"
    while read -r option; do
        grep -q -e "$option" "$work/page" || bad "trackway-$command.1 does not tell of $option"
    done <"$work/options"
    passed=$((passed + 1))
done <"$work/commands"
while read -r symbol _; do
    case $symbol in tw_*) [ -f "$pages/man3/$symbol.3" ] || bad "there is no page $symbol.3" ;; esac
done <docs/symbols.txt
[ -f "$pages/man1/trackway.1" ] || bad "there is no page trackway.1"
find "$work/prefix/share/doc" -name formats.md | grep -q . || bad "formats.md is not installed"
passed=$((passed + 2))
echo "[  PASSED  ] $passed test(s)."
