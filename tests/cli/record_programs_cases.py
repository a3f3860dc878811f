# SPDX-License-Identifier: BSD-2-Clause
"""Whole programs in QEMU: threads, forks, signals, full disks; lines as gcov counts them."""
import json
import os
import re
import resource
import shutil
import subprocess

from gcov_program import COMPILER, record
from harness import Skip, case, equal
from record_cases import wants

THREADS = """
#include <pthread.h>
#include <stdio.h>
static __thread unsigned counts[2];
static unsigned sums[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) unsigned odd(unsigned n) { counts[0]++; return n * 3 + 1; }
__attribute__((noinline)) unsigned even(unsigned n) { counts[1]++; return n / 2; }
static void *work(void *seed)
{
    unsigned n = 27 + (unsigned)(unsigned long)seed;
    for (int i = 0; i < 4000; i++)
        n = n == 1 ? 27 + (unsigned)i : n & 1 ? odd(n) : even(n);
    pthread_mutex_lock(&lock);
    sums[0] += counts[0];
    sums[1] += counts[1];
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void)
{
    pthread_t threads[6];
    for (unsigned long i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    printf("%u %u\\n", sums[0], sums[1]);
    return 0;
}
"""
FORKS = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void child(void) { _exit(3); }
int main(int count, char **words)
{
    int good = 0, status;
    for (int i = atoi(words[count - 1]); i; i--) {
        if (fork() == 0)
            child();
        wait(&status);
        good += WEXITSTATUS(status) == 3;
    }
    printf("%d\\n", good);
    return 0;
}
"""
EXEC = """
#include <unistd.h>
extern char **environ;
int main(int count, char **words)
{
    (void)count;
    execve(words[1], words + 1, environ);
    return 9;
}
"""
# Writes much trace: an indirect call each time.
LONG = """
#include <stdlib.h>
#include <signal.h>
static unsigned one(unsigned n) { return n * 1664525u + 1013904223u; }
static unsigned two(unsigned n) { return n ^ n >> 7; }
int main(int count, char **words)
{
    unsigned (*const calls[2])(unsigned) = { one, two };
    unsigned n = 1;
    for (long i = atol(words[1]); i; i--)
        n = calls[n >> 13 & 1](n);
    if (count > 2)
        raise(atoi(words[2]));
    return n == 0;
}
"""
LINES = """
#include <stdio.h>
static int twice(int n) {
    if (n > 5)
        return n + n;
    return -n;
}
int main(void) {
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        sum += twice(i);
        if (i == 20)
            sum = 0;
    }
    printf("%d\\n", sum);
    return 0;
}
"""


def build(tool, source, *options):
    wants(tool)
    if not shutil.which(COMPILER):
        raise Skip(f"no {COMPILER}")
    tool.write("it.c", source)
    subprocess.run([COMPILER, "-O1", "-g", "-static", *options, "it.c", "-o", "it"], cwd=tool.folder, check=True)
    symbols = subprocess.run(["aarch64-linux-gnu-nm", "it"], cwd=tool.folder, check=True, capture_output=True,
                             text=True).stdout
    return {line.split()[-1]: int(line.split()[0], 16) for line in symbols.splitlines() if len(line.split()) == 3}


def times(tool, address, capture="perf.data"):
    """How often the instruction at an address was executed, by whomever."""
    out = tool.run("decode", capture, "--format", "pcs", "-q").out
    return len(re.findall(rf"^(?:0x)?0*{address:x}$", out, re.M))


@case
def functions_of_threads_are_counted(tool):
    place = build(tool, THREADS, "-pthread")
    done = tool.run("record", "./it")
    want = [int(word) for word in done.out.split()]
    equal([times(tool, place["odd"]), times(tool, place["even"])], want)
    # The path of each thread is legal: nothing in it is an error.
    assert "error" not in tool.run("decode", "perf.data", "--errors").out.lower()


@case
def forks_are_processes(tool):
    count = 1000 if os.environ.get("TW_TEST_FULL") else 60
    place = build(tool, FORKS)
    equal(tool.run("record", "./it", count).out, f"{count}\n")
    equal(times(tool, place["child"]), count)


@case
def what_a_program_becomes_is_traced(tool):
    # The system runs QEMU for a program that is for another processor; here the program asks for it itself.
    build(tool, EXEC)
    os.rename(tool.folder / "it", tool.folder / "first")
    build(tool, LONG)
    emulator = shutil.which("qemu-aarch64")
    tool.run("record", "./first", emulator, "./it", "500")
    rows = [json.loads(line) for line in tool.run("calls", "perf.data", "--format", "jsonl", "-q").out.splitlines()]
    equal(sum(row["entries"] for row in rows if row["t"] == "FUNCTION" and row["name"] in ("one", "two")), 500)
    comms = tool.run("info", "perf.data").out
    assert "COMM 2" in comms, comms
    # A call that fails does not end anything.
    equal(tool.run("record", "./first", "/nowhere/at/all", "./it", "500", status=9).out, "")


@case
def a_signal_keeps_what_ran(tool):
    place = build(tool, LONG)
    for number in [11, 9]:
        done = tool.run("record", "./it", "20000", number, status=128 + number)
        assert f"signal {number}" in done.err, done.err
        # Nothing can be done once the kernel ends a process: then what was not yet written is missing.
        got = times(tool, place["one"]) + times(tool, place["two"])
        assert got == 20000 if number == 11 else got <= 20000, (number, got)


@case
def a_full_disk_keeps_what_was_written(tool):
    place = build(tool, LONG)
    tool.write("limited", "#!/bin/sh\nulimit -f 600\nexec qemu-aarch64 \"$@\"\n")
    os.chmod(tool.folder / "limited", 0o755)
    done = tool.run("record", "--qemu", "./limited", "./it", "3000000")
    assert "writing trace failed" in done.err, done.err
    got = times(tool, place["one"]) + times(tool, place["two"])
    assert 1000 < got < 3000000, got


@case
def lines_of_a_recording_equal_gcov(tool):
    wants(tool)
    files = record(tool, LINES, "-O0")
    want = {line["line_number"]: line["count"] for each in files for line in each["lines"]}
    text = tool.run("coverage", "perf.data", "--format", "lcov", "-q").out
    lines = text[text.index("it.c"):].split("end_of_record")[0]
    got = {int(number): int(count) for number, count in re.findall(r"^DA:(\d+),(\d+)", lines, re.M)}
    assert len(want) > 10, want  # the compiler's lines begin functions at their brace
    equal({number: got.get(number) for number in want}, want)


@case
def memory_does_not_grow(tool):
    """Neither QEMU's nor ours; with --full a thousand million instructions, all of them decoded."""
    build(tool, LONG)
    grown = []
    for rounds in [200000, 4000000]:
        tool.run("record", "--snapshot", "100000", "./it", rounds)
        grown.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    assert grown[1] < grown[0] + 20000, grown
    if not os.environ.get("TW_TEST_FULL"):
        return
    done = tool.run("record", "./it", 115000000)
    count = int(re.search(r"(\d+) instructions", done.err).group(1))
    assert count > 1000000000, done.err
    text = tool.run("stats", "perf.data").out
    got = int(re.search(r"(\d+) instructions", text).group(1))
    # What is straight code behind the last branch no packet tells.
    assert count - 8 <= got <= count, (count, got)
