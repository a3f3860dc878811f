# SPDX-License-Identifier: BSD-2-Clause
"""Programs as compilers make them, in QEMU: position-independent with shared libraries and signals, threads that count
for themselves, code made at run time.  What perf and QEMU's own log say of them."""
import json
import os
import pathlib
import re
import shutil
import subprocess

from harness import Skip, case, equal

# Calls into libraries, through their tables; a handler that is called three times.
SIGNALS = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile sig_atomic_t seen;
static void on_signal(int number) { seen += number; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
    int values[40];
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 40; i++)
        values[i] = i * 7919 % 101;
    qsort(values, 40, sizeof values[0], compare);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
    printf("%d %d\\n", values[20], (int)seen);
    return 5;
}
"""
THREADS = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static __thread unsigned counts[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) unsigned odd(unsigned n) { counts[0]++; return n * 3 + 1; }
__attribute__((noinline)) unsigned even(unsigned n) { counts[1]++; return n / 2; }
static void *work(void *seed)
{
    unsigned n = 27 + 2 * (unsigned)(unsigned long)seed;
    for (int i = 0; i < 3000 + (int)(unsigned long)seed; i++)
        n = n == 1 ? 27 + (unsigned)i : n & 1 ? odd(n) : even(n);
    pthread_mutex_lock(&lock);
    printf("%ld %u %u\\n", (long)syscall(SYS_gettid), counts[0], counts[1]);
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void)
{
    pthread_t threads[5];
    for (unsigned long i = 0; i < 5; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"""
# Two functions of two instructions each, and what run-time compilers leave for perf.
MADE = """
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static void put(FILE *file, uint64_t value, int size)
{
    for (; size; size--, value >>= 8)
        fputc((int)(value & 0xff), file);
}
int main(void)
{
    static const uint32_t code[] = { 0x11000400, 0xd65f03c0, 0x11000800, 0xd65f03c0 };
    uint32_t *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char name[64];
    int n = 0;
    FILE *file;
    memcpy(at, code, 8);
    memcpy(at + 1024, code + 2, 8); /* perf mixes up what lies close together */
    __builtin___clear_cache((char *)at, (char *)(at + 1026));
    snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
    file = fopen(name, "w");
    fprintf(file, "%lx 8 made_one\\n%lx 8 made_two\\n", (unsigned long)at, (unsigned long)(at + 1024));
    fclose(file);
    snprintf(name, sizeof name, "jit-%d.dump", (int)getpid());
    file = fopen(name, "w+");
    put(file, 0x4a695444, 4), put(file, 1, 4), put(file, 40, 4), put(file, 183, 4), put(file, 0, 4);
    put(file, (uint64_t)getpid(), 4), put(file, 0, 8), put(file, 0, 8);
    fflush(file);
    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0);
    for (int i = 0; i < 5; i++) {
        n = ((int (*)(int))at)(n);
        n = ((int (*)(int))(at + 1024))(n);
    }
    printf("%d %d\\n", n, (int)getpid());
    return 0;
}
"""
MACHINES = {
    "aarch64": ("aarch64-linux-gnu", ["ete", "etmv4"]),
    "arm": ("arm-linux-gnueabihf", ["etmv4", "ptm", "etmv3"]),
    "riscv64": ("riscv64-linux-gnu", ["etrace", "ntrace"]),
}


def build(tool, source, *options, machine="aarch64"):
    compiler = MACHINES[machine][0] + "-gcc"
    for program in [compiler, f"qemu-{machine}"]:
        if not shutil.which(program):
            raise Skip(f"no {program}")
    if not (pathlib.Path(tool.program).parent / "trackway-qemu.so").exists():
        raise Skip("this build has no plug-in for QEMU")
    tool.write("it.c", source)
    subprocess.run([compiler, "-O1", "-g", *options, "it.c", "-o", "it"], cwd=tool.folder, check=True)


def emulator(tool, machine, *options):
    """QEMU with options, at addresses that are the same each time."""
    tool.write("emulator", f'#!/bin/sh\nexec setarch -R qemu-{machine} {" ".join(options)} "$@"\n')
    os.chmod(tool.folder / "emulator", 0o755)


def pcs(text):
    return [int(line, 16) for line in text.split() if not line.startswith("#")]


def logged(tool, machine, *words, status):
    """Every instruction that QEMU says it began, in another run with the same environment."""
    emulator(tool, machine, "-singlestep", "-d", "exec,nochain", "-D", "qemu.log")
    tool.run("record", "--qemu", "./emulator", *words, status=status)
    emulator(tool, machine)
    text = (tool.folder / "qemu.log").read_text()
    return [int(address, 16) for address in re.findall(r"^Trace \d+: \S+ \[\w+/(\w+)/", text, re.M)]


def check_dynamic(tool, machine):
    protocols = MACHINES[machine][1]
    form = "snapshot" if machine == "riscv64" else "perf"
    build(tool, SIGNALS, "-fPIE", "-pie", machine=machine)
    emulator(tool, machine)
    for protocol in protocols if os.environ.get("TW_TEST_FULL") else protocols[-1:]:
        words = ["--quiet", "--protocol", protocol, "--format", form, "-o", protocol, "--force", "./it"]
        equal(tool.run("record", "--qemu", "./emulator", *words, status=5).out, "50 30\n")
        got = pcs(tool.run("decode", protocol, "--format", "pcs", "-q").out)
        subprocess.run(["rm", "-rf", protocol], cwd=tool.folder, check=True)
        want = logged(tool, machine, *words, status=5)
        assert len(want) > 50000, len(want)
        first = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), None)
        assert got == want, (protocol, first, len(got), len(want))


@case
def a64_with_libraries_and_signals(tool):
    check_dynamic(tool, "aarch64")


@case
def arm_with_libraries_and_signals(tool):
    check_dynamic(tool, "arm")


@case
def riscv_with_libraries_and_signals(tool):
    check_dynamic(tool, "riscv64")


@case
def perf_reports_and_knows_the_files(tool):
    if not shutil.which("perf"):
        raise Skip("no perf")
    build(tool, SIGNALS, "-fPIE", "-pie")
    tool.run("record", "./it", status=5)
    listed = subprocess.run(["perf", "buildid-list", "-i", "perf.data"], cwd=tool.folder, check=True,
                            capture_output=True, text=True).stdout.splitlines()
    names = [line.split(None, 1) for line in listed]
    assert {os.path.basename(name) for _, name in names} >= {"it", "libc.so.6", "ld-linux-aarch64.so.1"}, listed
    for identifier, name in names:
        notes = subprocess.run(["readelf", "-n", name], check=True, capture_output=True, text=True).stdout
        assert re.search(rf"Build ID: {identifier}$", notes, re.M), (identifier, name)
    report = subprocess.run(["perf", "report", "-i", "perf.data", "--itrace=i100i", "--stdio"], cwd=tool.folder,
                            check=True, capture_output=True, text=True).stdout
    assert "libc.so.6" in report and "compare" in report, report[:2000]


@case
def functions_of_each_thread_are_counted(tool):
    build(tool, THREADS, "-pthread")
    for line in tool.run("record", "./it").out.splitlines():
        tid, odd, even = (int(word) for word in line.split())
        out = tool.run("profile", "perf.data", "--tid", tid, "--format", "jsonl", "-q").out
        rows = {row["name"]: row for row in map(json.loads, out.splitlines()) if row["t"] == "FUNCTION"}
        equal([rows["odd"]["entries"], rows["even"]["entries"]], [odd, even], tid)
    # The path of each of them is legal.
    equal(tool.run("decode", "perf.data", "--errors", "-q").out.count("ERROR"), 0)


@case
def profile_equals_the_log(tool):
    build(tool, SIGNALS, "-static")
    emulator(tool, "aarch64")
    tool.run("record", "--quiet", "--qemu", "./emulator", "./it", status=5)
    out = tool.run("profile", "perf.data", "--format", "jsonl", "-q").out
    got = {row["name"]: row["self"] for row in map(json.loads, out.splitlines()) if row["t"] == "FUNCTION"}
    subprocess.run(["./emulator", "-singlestep", "-d", "exec,nochain", "-D", "qemu.log", "./it"], cwd=tool.folder,
                   check=False, stdout=subprocess.DEVNULL)
    text = (tool.folder / "qemu.log").read_text()
    want = [int(address, 16) for address in re.findall(r"^Trace \d+: \S+ \[\w+/(\w+)/", text, re.M)]
    symbols = subprocess.run(["aarch64-linux-gnu-nm", "-S", "it"], cwd=tool.folder, check=True, capture_output=True,
                             text=True).stdout
    for name in ["main", "compare", "on_signal", "qsort", "raise", "msort_with_tmp.part.0"]:
        found = re.search(rf"^(\w+) (\w+) \w {re.escape(name)}$", symbols, re.M)
        if not found:
            continue
        first, size = int(found[1], 16), int(found[2], 16)
        equal(got.get(name, 0), sum(first <= pc < first + size for pc in want), name)
    assert got["compare"] > 500, got


@case
def code_made_at_run_time(tool):
    build(tool, MADE, "-static")
    done = tool.run("record", "./it")
    total, pid = done.out.split()
    equal(total, "15")
    try:
        out = tool.run("decode", "perf.data", "--format", "pcs", "-q").out
        place = int((pathlib.Path("/tmp") / f"perf-{pid}.map").read_text().split()[0], 16)
        equal([pcs(out).count(place + i) for i in [0, 4, 4096, 4100]], [5] * 4)
        dump = (tool.folder / "perf.data.code" / f"jit-{pid}.dump").read_bytes()
        assert b"made_one\0" in dump and b"made_two\0" in dump
        rows = [line.split() for line in tool.run("profile", "perf.data", "-q").out.splitlines()]
        found = {row[6]: row[0] for row in rows if len(row) > 7 and row[7].endswith(f"/jit-{pid}.dump)")}
        equal(found, {"made_one": "10", "made_two": "10"})
        equal(pcs(tool.run("decode", "perf.data", "--format", "pcs", "--function", "made_two", "-q").out),
              [place + 4096, place + 4100] * 5)
        if not shutil.which("perf"):
            return
        subprocess.run(["perf", "inject", "--jit", "-i", "perf.data", "-o", "with.data"], cwd=tool.folder, check=True,
                       capture_output=True)
        text = subprocess.run(["perf", "script", "-i", "with.data", "--itrace=b", "-F", "ip,sym,addr"],
                              cwd=tool.folder, check=True, capture_output=True, text=True).stdout
        equal([len(re.findall(rf"=> +\w+ {name}\b", text)) for name in ["made_one", "made_two"]], [5, 5])
    finally:
        (pathlib.Path("/tmp") / f"perf-{pid}.map").unlink(missing_ok=True)


@case
def the_plug_in_has_no_faults(tool):
    """Every protocol with a plug-in that AddressSanitizer and UBSan watch: whatever they say ends QEMU."""
    plugin = pathlib.Path(tool.program).resolve().parent / "sanitized" / "trackway-qemu.so"
    if not plugin.exists():
        raise Skip("only in builds with sanitizers")
    libraries = [subprocess.run(["gcc", "-print-file-name=" + name], check=True, capture_output=True,
                                text=True).stdout.strip() for name in ["libasan.so", "libubsan.so"]]
    options = {"ASAN_OPTIONS": "detect_leaks=0:handle_segv=0:allow_user_segv_handler=1:use_sigaltstack=0:"
                               "verify_asan_link_order=0", "UBSAN_OPTIONS": "halt_on_error=1"}
    before = {name: os.environ.get(name) for name in options}
    os.environ.update(options)
    try:
        for machine, (prefix, protocols) in MACHINES.items():
            if not shutil.which(prefix + "-gcc") or not shutil.which(f"qemu-{machine}"):
                continue
            tool.write("emulator", f'#!/bin/sh\nexport LD_PRELOAD="{":".join(libraries)}:$LD_PRELOAD"\n'
                                   f'exec qemu-{machine} "$@"\n')
            os.chmod(tool.folder / "emulator", 0o755)
            form = "snapshot" if machine == "riscv64" else "perf"
            for source, status in [(SIGNALS, 5), (THREADS, 0)]:
                tool.write("it.c", source)
                subprocess.run([prefix + "-gcc", "-O1", "-g", "-pthread", "it.c", "-o", "it"], cwd=tool.folder, check=True)
                for protocol in protocols:
                    tool.run("record", "--plugin", plugin, "--qemu", "./emulator", "--protocol", protocol, "--format",
                             form, "-o", protocol, "--force", "./it", status=status)
                    assert "ERROR" not in tool.run("decode", protocol, "--errors", "-q").out, (machine, protocol)
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
