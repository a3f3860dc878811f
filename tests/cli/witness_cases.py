# SPDX-License-Identifier: BSD-2-Clause
"""Function entries from trace equal those that a program counts itself: gcov of the same run."""
import json

from gcov_program import record
from harness import add_case, equal

# Recursion, tail calls, callbacks, calls through tables, longjmp, many small functions and one that is never called.
SOURCE = r"""
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf place;
static unsigned state = 1;

__attribute__((noinline)) static unsigned next(void) { return state = state * 1103515245u + 12345u; }
__attribute__((noinline)) static int even(unsigned n);
__attribute__((noinline)) static int odd(unsigned n) { return n ? even(n - 1) : 0; }
__attribute__((noinline)) static int even(unsigned n) { return n ? odd(n - 1) : 1; }
__attribute__((noinline)) static unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}
__attribute__((noinline)) static int add(int a) { return a + 3; }
__attribute__((noinline)) static int twice(int a) { return add(add(a)); }
__attribute__((noinline)) static int negate(int a) { return -a; }
__attribute__((noinline)) static void deep(int n)
{
    char room[64];

    memset(room, n, sizeof room);
    if (!n)
        longjmp(place, 1);
    deep(n - 1);
    if (room[3] == 99)
        puts("never");
}
__attribute__((noinline)) static int tries(int n)
{
    if (setjmp(place) == 0)
        deep(n);
    return n;
}
__attribute__((noinline)) static int never(int a) { return a / 2; }

int main(int count, char **words)
{
    int (*const table[])(int) = { add, twice, negate };
    int values[200], sum = 0;
    const int rounds = count > 1 ? atoi(words[1]) : 10;

    for (int i = 0; i < 200; i++)
        values[i] = (int)(next() >> 8);
    qsort(values, 200, sizeof *values, compare);
    for (int i = 0; i < rounds; i++) {
        sum += table[next() >> 16 & 3 ? (next() >> 16) % 3 : 1](i);
        sum += even((unsigned)i % 7) + tries(i % 5);
    }
    sum += (int)fib(12);
    if (sum == 123456789)
        sum = never(sum);
    printf("%d\n", sum & 1);
    return 0;
}
"""


def entries_equal_gcov(options, rounds):
    def run(tool):
        files = record(tool, SOURCE, *options, arguments=[rounds])
        want = {function["name"]: function["execution_count"] for each in files for function in each["functions"]}
        assert want["main"] == 1 and want["never"] == 0 and want["fib"] > 200, want
        for command in (["calls"], ["profile"], ["profile", "--self"]):
            text = tool.run(*command, "perf.data", "--format", "jsonl", "-q").out
            rows = [json.loads(line) for line in text.splitlines()]
            got = {row["name"].split(".")[0]: row["entries"] for row in rows if row["t"] == "FUNCTION"}
            equal({name: got.get(name, 0) for name in want}, want, f"{command}, {options}")
    return run


for level in ("-O0", "-O1", "-O2", "-Os"):
    add_case(f"witness_entries_{level[1:]}", entries_equal_gcov([level, "-fno-ipa-cp", "-fno-ipa-sra", "-fno-partial-inlining"], 60))
