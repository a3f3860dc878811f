#!/bin/sh
# packages.sh: builds the Debian packages of what is committed, without network, and holds them to lintian; in a
# bare Debian (debootstrap, root) they install, work, and leave nothing when they are removed. Then autopkgtest, where it is
# installed, runs their own tests there, with what each says that it needs.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
passed=0 failed=0 skipped=0

for tool in dpkg-buildpackage lintian git; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; echo "[  SKIPPED ] 1 test(s)."; exit 0; }
done
# Always the same place, so that a compiler cache knows what it has compiled there.
work=$root/build/packages
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

ok() { # ok NAME COMMAND...
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        echo "[  FAILED  ] $name"
        tail -40 "$work/log"
        failed=$((failed + 1))
    fi
}

builds() {
    mkdir "$work/trackway"
    git -C "$root" archive HEAD | tar x -C "$work/trackway"
    # A name space without network, where one can be made.
    alone=
    unshare -n true 2>/dev/null && alone="unshare -n"
    (cd "$work/trackway" && DEB_BUILD_OPTIONS=nocheck $alone dpkg-buildpackage -b -us -uc)
}

is_clean() { lintian --allow-root --fail-on error,warning "$work"/trackway_*.changes; }

# The bare system's own files, to see that nothing stays.
files() { find "$work/bare" -xdev \( -path '*/var/*' -o -path '*/etc/ld.so.cache' -o -path '*/proc/*' \) -prune -o -print | sort; }

bare() {
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    debootstrap --variant=minbase "$suite" "$work/bare" || return 1
    # Where this machine gets packages from, each place once: autopkgtest takes apt's warnings for errors.
    : >"$work/bare/etc/apt/sources.list"
    cp /etc/apt/sources.list "$work/bare/etc/apt/" 2>/dev/null || :
    cp -r /etc/apt/sources.list.d /etc/apt/apt.conf.d "$work/bare/etc/apt/" 2>/dev/null || :
    cp /etc/resolv.conf "$work/bare/etc/" 2>/dev/null || :
    chroot "$work/bare" apt-get update
    # Optional things, and what the test of the headers wants; none of them is ours.
    chroot "$work/bare" apt-get install -y --no-install-recommends python3-numpy libllvm19 gcc libc6-dev pkg-config
    files >"$work/before"
    mkdir "$work/bare/debs"
    cp "$work"/*.deb "$work/bare/debs/"
    rm -f "$work"/bare/debs/*-dbgsym_*
    chroot "$work/bare" sh -c 'apt-get install -y --no-install-recommends /debs/*.deb'
}

works() {
    mkdir -p "$work/bare/demo"
    cp -r "$root/tests/captures" "$work/bare/demo/"
    chroot "$work/bare" trackway --version | tee "$work/version"
    for feature in elf dw zstd llvm http; do grep -q "^features:.* $feature" "$work/version" || return 1; done
    # What QEMU and gdb load.
    for file in lib/trackway/trackway-qemu.so share/trackway/trackway-gdb.py share/bash-completion/completions/trackway; do
        [ -s "$work/bare/usr/$file" ] || { echo "no /usr/$file"; return 1; }
    done
    chroot "$work/bare" trackway stats /demo/captures/demo --format jsonl | grep -q '"instructions":51431'
    # The tests that the packages bring, as autopkgtest runs them: in a folder of the source.
    mkdir -p "$work/bare/demo/tests"
    mv "$work/bare/demo/captures" "$work/bare/demo/tests/"
    cp -r "$root/debian" "$work/bare/demo/"
    for name in demo python build; do
        chroot "$work/bare" sh -c "cd /demo && sh debian/tests/$name" || return 1
    done
}

leaves_nothing() {
    chroot "$work/bare" apt-get purge -y trackway libtrackway0 libtrackway-dev python3-trackway trackway-opencsd-compat
    # What came with them; apt would keep what anything else recommends or suggests.
    chroot "$work/bare" apt-get -o APT::AutoRemove::RecommendsImportant=false -o APT::AutoRemove::SuggestsImportant=false \
        autoremove --purge -y
    rm -rf "$work/bare/demo" "$work/bare/debs"
    files >"$work/after"
    diff "$work/before" "$work/after"
}

runs_autopkgtest() {
    rm -f "$work"/*-dbgsym_*.deb
    autopkgtest --no-built-binaries "$work"/*.deb "$work/trackway/" -- chroot "$work/bare"
}

ok "the packages build" builds
[ $failed = 0 ] && ok "lintian finds neither errors nor warnings" is_clean
if [ $failed != 0 ]; then
    :
elif [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null; then
    ok "they install in a bare Debian" bare
    [ $failed = 0 ] && ok "tool and Python package work there" works
    [ $failed = 0 ] && ok "nothing is left when they are removed" leaves_nothing
    if ! command -v autopkgtest >/dev/null; then
        echo "skipped: no autopkgtest"
        skipped=1
    elif [ $failed = 0 ]; then
        ok "autopkgtest runs the tests of the packages" runs_autopkgtest
    fi
else
    echo "skipped: the bare Debian wants root and debootstrap"
    skipped=1
fi
echo "[  PASSED  ] $passed test(s)."
[ $skipped = 0 ] || echo "[  SKIPPED ] $skipped test(s)."
[ $failed = 0 ] || { echo "[  FAILED  ] $failed test(s)."; exit 1; }
