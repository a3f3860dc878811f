#!/bin/sh
# The source checks and the counting of test cases, each shown something good and something bad.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# expect NAME STATUS TEXT COMMAND...: the command ends with that status and says TEXT.
expect() {
    name=$1 status=$2 text=$3
    shift 3
    got=0
    "$@" >"$work/output" 2>&1 || got=$?
    if [ "$got" = "$status" ] && { [ -z "$text" ] || grep -qF -- "$text" "$work/output"; }; then
        passed=$((passed + 1))
    else
        echo "$name: status $got, wanted $status and \"$text\"; it said:"
        cat "$work/output"
        failed=$((failed + 1))
    fi
}

# include FILE LINE: a tree with this one file in it.
include() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/$(dirname "$1")"
    printf '%s\n' "$2" >"$work/tree/$1"
}
good() { include "$1" "$2"; expect "$1 $2" 0 '' scripts/check-includes "$work/tree"; }
bad() { include "$1" "$2"; expect "$1 $2" 1 "$1:1:" scripts/check-includes "$work/tree"; }

good src/etmv4/decode.c '#include "path/follow.h"'
good src/ete/protocol.c '#include "etmv4/packet.h"'
good src/frame/test.c '#include "check.h"'
good src/path/follow.c '#include "image/image.h"'
good tool/commands/info.c '#include <trackway/capture.h>'
good tool/commands/info.c '#include "base/text.h"'
good src/capture/snapshot.c '#include "base/text.h"'
bad src/base/text.c '#include "frame/unpack.h"'
bad src/etmv4/decode.c '#include "path/other.h"'
bad src/etmv4/decode.c '#include "image/image.h"'
bad src/ptm/decode.c '#include "etmv4/packet.h"'
bad src/frame/unpack.c '#include "unpack.h"'
bad src/frame/unpack.c '#include "../base/text.h"'
bad src/frame/unpack.c '# include "check.h"'
bad src/newroom/x.c '#include "base/text.h"'
bad tool/commands/info.c '#include "tree/tree.h"'
bad examples/packets.c '#include "tree/tree.h"'
bad include/trackway/frame.h '#include "trackway/types.h"'
bad include/trackway/frame.h '#include <libelf.h>'

# interface LINE TEXT: a header with this line, and what is said of it.
interface() {
    include include/trackway/x.h "$1"
    expect "$1" "${3:-1}" "$2" scripts/check-interface "$work/tree"
}
free='TW_API void tw_x_free(struct tw_x *x);'
new='TW_API TW_MUST_USE enum tw_status tw_x_new(struct tw_x **x'
interface "$new, const struct tw_allocator *a, struct tw_fault *fault); $free" '2 functions' 0
interface "$new, const struct tw_allocator *a, struct tw_fault *fault);" 'no tw_x_free'
interface "$new, struct tw_fault *fault); $free" 'takes no allocator'
interface "$new, const struct tw_allocator *a); $free" 'the fault is not its last'
interface "$(printf 'enum tw_x_kind { TW_A, TW_KINDS };\nstruct tw_y {\n    int counts[TW_KINDS];\n};')" 'an array of TW_KINDS'
interface "$(printf 'struct tw_y {\n    int a;\n};\nTW_API void tw_y_get(struct tw_y *y);')" 'fills struct tw_y'
interface "$(printf 'struct tw_y {\n    size_t size;\n};')" 'no test of sizes tries struct tw_y'

# lines N FIRST LAST: FIRST, N - 2 lines, LAST
lines() { printf '%s\n' "$2"; yes '    x();' | head -n $(($1 - 2)); printf '%s\n' "$3"; }
include src/a.c ''
lines 69 '{' '}' >"$work/tree/src/a.c"
expect 'a function of 69 lines' 0 '' scripts/check-sizes "$work/tree"
lines 70 '{' '}' >"$work/tree/src/a.c"
expect 'a function of 70 lines' 1 'src/a.c:1: function of 70' scripts/check-sizes "$work/tree"
printf 'struct x {\n    const char\n        *name; /* why */\n};\n' >"$work/tree/src/a.c"
expect 'a torn declaration' 1 'src/a.c:2: declaration torn' scripts/check-sizes "$work/tree"
printf 'struct x {\n    /* why */\n    const char *name; /* and more */\n};\n' >"$work/tree/src/a.c"
expect 'a declaration in one line' 0 '' scripts/check-sizes "$work/tree"
{ printf '\n\n\n\n\n\n/* size: hot loop */\n'; lines 70 '{' '}'; } >"$work/tree/src/a.c"
expect 'a hot loop' 0 '' scripts/check-sizes "$work/tree"
lines 600 '' '' >"$work/tree/src/a.c"
expect 'a file of 600 lines' 1 'src/a.c: 600 lines' scripts/check-sizes "$work/tree"
{ echo '/* size: table */'; lines 600 '' ''; } >"$work/tree/src/a.c"
expect 'a table' 0 '' scripts/check-sizes "$work/tree"

include include/trackway/a.h 'TW_API int tw_a_do(int x);'
expect 'a function without a page' 1 'tw_a_do()' scripts/check-manpages "$work/tree"
mkdir -p "$work/tree/docs/man"
printf '.TH A 3\n.SH NAME\na \\- b\n.PP\ntw_a_do\n' >"$work/tree/docs/man/a.3"
expect 'a function with a page' 0 '' scripts/check-manpages "$work/tree"

# abi NAME STATUS TEXT SED: a released list and headers that were changed since.
abi() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/docs"
    cp -r include "$work/tree"
    sed '1s/ not released//' docs/abi.txt >"$work/tree/docs/abi.txt"
    sed -i "$4" "$work"/tree/include/trackway/*.h
    expect "$1" "$2" "$3" scripts/abi --check "$work/tree"
}
if [ "$(uname -m)" = x86_64 ]; then
    abi 'the interface as it was' 0 '' ''
    abi 'a function more' 0 '' 's/^TW_API unsigned tw_version_number/TW_API int tw_new(void);\n&/'
    abi 'a function less' 1 'gone: function tw_version_number' '/tw_version_number/d'
    abi 'another parameter' 1 'changed: function tw_tree_free' 's/tw_tree_free(struct tw_tree \*tree)/tw_tree_free(struct tw_tree *tree, int how)/'
    abi 'a struct with its size grows' 0 '' 's/^    bool src_is_id;/&\n    uint64_t more;/'
    abi 'a member is put in before' 1 'changed: member tw_batch.count' 's/^    size_t room;/    size_t more, room;/'
    abi 'a struct without its size grows' 1 'changed: struct tw_element 32' 's/^struct tw_element {/&\n    uint64_t more;/'
    abi 'a constant more' 0 '' 's/^    TW_ELEMENT_TYPES/    TW_ELEMENT_NEW,\n&/'
    abi 'a constant is put in before' 1 'changed: constant TW_ELEMENT_ERROR' 's/^    TW_ELEMENT_ERROR,/    TW_ELEMENT_NEW,\n&/'
    abi 'bits of another width' 1 'changed: member tw_element.last_kind' 's/last_kind : 3/last_kind : 2/; s/last_size : 2/last_size : 3/'
    abi 'another soname' 1 'new: function tw_new' 's/TW_VERSION_MINOR 2/TW_VERSION_MINOR 3/; s/^TW_API unsigned tw_version_number/TW_API int tw_new(void);\n&/'
fi

# count LOG: counts one log of "ctest -V"
count() { rm -f "$work/totals"; printf '%b' "$1" | scripts/count-tests "$work/totals" && cat "$work/totals"; }
expect 'cmocka totals' 0 '7 0 2' count '1: [  PASSED  ] 7 test(s).\n1: [  SKIPPED ] 2 test(s), listed below:\n1/1 Test #1: a ....   Passed    0.0 sec\n'
expect 'failed cases' 0 '5 2 0' count '1: [  PASSED  ] 5 test(s).\n1: [  FAILED  ] 2 test(s), listed below:\n1: [  FAILED  ] x\n1/1 Test #1: a ....***Failed    0.0 sec\n'
expect 'a crash after a good group' 0 '5 1 0' count '1: [  PASSED  ] 5 test(s).\n1/1 Test #1: a ....***Exception: SegFault  0.1 sec\n'
expect 'a crash at once' 0 '0 1 0' count '1: hello\n1/1 Test #1: a ....***Timeout  0.1 sec\n'
expect 'plain programs' 0 '1 0 1' count '1/2 Test #1: a ....   Passed    0.0 sec\n2/2 Test #2: b ....***Skipped    0.0 sec\n'
expect 'no test at all' 0 '0 1 0' count 'No tests were found!!!\n'
printf '3 0 1\n4 0 0\n' >"$work/totals"
expect 'the sum' 0 '7 passed, 0 failed, 1 skipped' scripts/count-tests --sum "$work/totals"
printf '3 1 0\n' >"$work/totals"
expect 'a sum with failures' 1 '3 passed, 1 failed, 0 skipped' scripts/count-tests --sum "$work/totals"

expect 'an unknown command of ./dev' 2 'usage: ./dev' ./dev frobnicate

echo "[  PASSED  ] $passed test(s)."
[ $failed = 0 ] || { echo "[  FAILED  ] $failed test(s)."; exit 1; }
