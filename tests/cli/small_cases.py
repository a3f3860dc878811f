# SPDX-License-Identifier: BSD-2-Clause
"""What few do: strange names, other line ends, places by time, captures that end early."""
import os
import re
import shutil
import subprocess

from harness import ROOT, case, corpus, equal
from index_cases import make

DEMO = ROOT / "tests" / "captures" / "demo"
PERF = "p10-walk-percpu-etmv4-v1.perf.data"


@case
def a_slash_at_the_end_of_a_name_changes_nothing(tool):
    shutil.copytree(DEMO, tool.folder / "snap")
    tool.run("index", "build", "snap/", "-q")
    assert (tool.folder / "snap.twx").exists(), "beside the folder"
    equal(tool.run("decode", "snap/", "--at", "sync:2", "--count", "5").out, tool.run("decode", "snap", "--at", "sync:2", "--count", "5").out)
    tool.run("timeline", "snap", "--format", "ctf", "-o", "out/", "-q")
    assert (tool.folder / "out" / "metadata").exists(), "CTF"


@case
def gdb_is_started_with_any_name(tool):
    """The command that GDB gives to a shell names the capture, whatever it is called."""
    shutil.copytree(DEMO, tool.folder / "it's")
    gdb = tool.write("gdb", "#!/bin/sh\nfor word in \"$@\"; do printf '%s\\n' \"$word\"; done\n")
    gdb.chmod(0o755)
    done = subprocess.run([tool.program, "gdb", "it's", "--", "-batch"], cwd=tool.folder, env=dict(os.environ, TRACKWAY_GDB=str(gdb)),
                          capture_output=True, text=True, check=True, timeout=60)
    assert "'it'\\''s'" in done.stdout and "-batch" in done.stdout.splitlines(), done.stdout


@case
def threads_and_programs_have_their_numbers(tool):
    perf = corpus() / "perf"
    for by in ("thread", "program"):
        text = tool.run("profile", perf / PERF, "--sysroot", perf / "root", "--by", by, "-q", status=None).out
        equal(re.findall(r"(\d+) (alpha|beta)$", text, re.M), [("3002", "beta"), ("3001", "alpha")])


@case
def keys_that_are_all_one_make_one_stack(tool):
    every = {key: tool.run("calls", DEMO, "--key", key, "-q").out for key in ("core", "context")}
    equal(every["core"], every["context"])


@case
def source_lines_may_end_as_they_like(tool):
    """Lines of Windows, a file whose last line has no end, lines that are indented."""
    lines = [f"\t  /* line {i} */\n" for i in range(1, 27)]
    for end, last in (("\n", "\n"), ("\r\n", "\r\n"), ("\n", "")):
        text = "".join(lines).replace("\n", end)
        tool.write("src/demo/recur.c", text[:-len(end)] + last)
        out = tool.run("calls", DEMO, "--before", "function:hanoi", "--source-root", "src", "-q").out
        assert "| /* line 26 */\n" in out, (end, last, out)


@case
def barriers_are_counted(tool):
    trace = (DEMO / "ETB_0.bin").read_bytes()
    tool.write("trace.bin", trace[:160] + 4 * b"\xff\xff\xff\x7f" + trace[160:])
    assert re.search(r"178 frames, 16 bytes of sync, 1 barriers?\b", tool.run("info", "trace.bin", "--framing", "memory", "-q").out)


@case
def packets_of_a_trace_that_ends_early(tool):
    for path in DEMO.iterdir():
        data = path.read_bytes()
        tool.write(f"cut/{path.name}", data[:-160] if path.name == "ETB_0.bin" else data)
    out = tool.run("diff", DEMO, "cut", "--packets", status=1).out
    assert re.search(r"\bends$", out, re.M), out


@case
def a_place_by_its_time(tool):
    """The stack at a timestamp is that at the first part that is not before it."""
    make(tool)
    times = [int(value, 16) for value in re.findall(r"TIMESTAMP\s.*?(0x[0-9a-f]+)", tool.run("decode", "snap", "-q", status=None).out)]
    assert len(set(times)) > 3, times
    early, late = (tool.run("calls", "snap", "--before", f"t:{sorted(set(times))[at]}", "-q", status=None).out for at in (1, -1))
    assert early and late and early != late, early
