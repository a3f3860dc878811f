# SPDX-License-Identifier: BSD-2-Clause
"""Several threads print what one prints; progress is for terminals and for programs."""
import json
import os
import pty
import subprocess
import time

from calls_cases import truth_folder
from harness import IS_SAMPLED, add_case, case, equal

LARGE = 6 << 20 if IS_SAMPLED else 48 << 20  # bytes that take a second or more
A_SYNC = bytes(11) + b"\x80"
START = A_SYNC + b"\x01\x00" + b"\x85" + b"\x00" * 8 + b"\x31"


def large(tool, size):
    """An ETMv4 stream without code: one place after the other, damage now and then."""
    step = START + b"\xf7\x9a\x40\x08\x00\x00\xf6" * 40 + b"\x95\x04\xf7" * 100
    bad = step[:300] + b"\x0f\x20" + step[300:]
    stream = (step * 9 + bad) * (size // (10 * len(step)) + 1)
    (tool.folder / "large.bin").write_bytes(stream[:size])


OPTIONS = ["--protocol", "etmv4", "--config",
           "TRCIDR0=0x28000ea1,TRCIDR1=0x4100f402,TRCIDR2=0x488,TRCCONFIGR=0xc1,TRCTRACEIDR=0x10"]


@case
def threads_change_nothing(tool):
    large(tool, 3 << 20)
    for how in [["decode"], ["decode", "--format", "jsonl", "--errors"],
                ["decode", "--format", "csv", "--clock", "1000000"], ["stats"],
                ["stats", "--format", "jsonl", "--from", "100000", "--to", "2000000"]]:
        one = tool.run(*how, "large.bin", *OPTIONS, "--threads", "1", status=1)
        for threads in ["2", "3", "8"]:
            many = tool.run(*how, "large.bin", *OPTIONS, "--threads", threads, status=1)
            equal(many.out, one.out, how)
            equal(many.err, one.err, how)


@case
def packets_on_threads(tool):
    """Lines in order, bad packets and long runs before synchronization among them."""
    large(tool, 300 << 10)
    stream = tool.folder / "large.bin"
    stream.write_bytes(b"\xf7" * (2 << 20) + stream.read_bytes())
    for how in [[], ["--format", "jsonl"], ["--format", "csv"], ["--color", "always"]]:
        one = tool.run("packets", "large.bin", *OPTIONS, *how, "--threads", "1", status=1)
        for threads in ["2", "5"]:
            many = tool.run("packets", "large.bin", *OPTIONS, *how, "--threads", threads, status=1)
            equal((many.out, many.err), (one.out, one.err), how)
    assert one.out.count("\n") > 50000


def calls_on_threads(name, unit, times):
    """A trace that comes again and again, as a recorder that is read out many times makes it."""
    def run(tool):
        elf = truth_folder() / f"{name}.elf"
        tool.run("encode", truth_folder() / f"{name}.exlog.gz", "--elf", elf, "--protocol", unit, "-o", "made")
        trace = tool.folder / "made" / "trace.bin"
        trace.write_bytes(trace.read_bytes() * times)
        for how in [["calls", "--format", "folded"], ["calls", "--format", "callgrind"], ["profile"]]:
            one = tool.run(*how, "made", "--symbols", elf, "--threads", "1", status=None)
            for threads in ["2", "3", "8"]:
                many = tool.run(*how, "made", "--symbols", elf, "--threads", threads, status=None)
                equal((many.returncode, many.err), (one.returncode, one.err), how)
                equal(many.out, one.out, how)
    return run


for row in [("a64-throw", "ete", 4), ("a64-coro", "etmv4", 40), ("rv64-recur", "etrace", 60), ("mix-indirect", "ptm", 20)]:
    add_case(f"calls_on_threads_{row[0]}", calls_on_threads(*row))


@case
def progress_for_programs(tool):
    large(tool, 3 << 20)
    run = tool.run("decode", "large.bin", *OPTIONS, "--progress", "json", "-q", "-o", "x",
                   status=1)
    lines = [json.loads(line) for line in run.err.splitlines()]
    assert lines[-1]["end"] and lines[-1]["done"] == lines[-1]["total"] == 3 << 20, lines
    run = tool.run("decode", "large.bin", *OPTIONS, "--progress=never", "-q", "-o", "x", status=1)
    equal(run.err, "")


@case
def no_bar_where_no_terminal_is(tool):
    large(tool, 1 << 20)
    run = tool.run("decode", "large.bin", *OPTIONS, "-o", "x", status=1)
    assert "\r" not in run.err and "\033" not in run.err, run.err


def on_a_terminal(tool, *words, **streams):
    """What a program prints to a terminal, and how long it took."""
    reader, writer = pty.openpty()
    began = time.monotonic()
    process = subprocess.Popen([tool.program, *words], cwd=tool.folder, stderr=writer,
                               stdout=streams.get("stdout", writer))
    os.close(writer)
    text = b""
    while True:
        try:
            piece = os.read(reader, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
    process.wait()
    os.close(reader)
    return text, time.monotonic() - began


@case
def a_bar_on_a_terminal(tool):
    large(tool, LARGE)
    text, _ = on_a_terminal(tool, "packets", "large.bin", *OPTIONS, "-o", os.devnull, stdout=subprocess.DEVNULL)
    if b"%" in text:  # it took longer than a second
        assert b"/s  " in text and b" left" in text, text[:200]
        assert text.rstrip().startswith(b"\r["), text[:80]


@case
def a_bar_before_what_is_printed_at_the_end(tool):
    """stats prints nothing while it works: its bar is for the same terminal."""
    large(tool, LARGE)
    text, seconds = on_a_terminal(tool, "stats", "large.bin", *OPTIONS, "--threads", "1")
    assert b"packets" in text, text[-200:]
    if seconds > 12:  # elements alone took more than a second
        assert b"\r[" in text and b" left" in text, text[:200]
    text, _ = on_a_terminal(tool, "stats", "large.bin", *OPTIONS, "--progress", "never", "--to", "1000000")
    assert b"\r[" not in text, text[:200]
