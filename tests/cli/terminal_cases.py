# SPDX-License-Identifier: BSD-2-Clause
"""On a terminal: colours, and the reader that the user named; and what lines tell of perf.data and symbols."""
import json
import os
import pty
import re
import subprocess

from harness import ROOT, case, corpus, equal

DEMO = ROOT / "tests" / "captures" / "demo"


def on_terminal(tool, *words, **environment):
    """What the program writes when standard output is a terminal."""
    ours, theirs = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name not in ("PAGER", "TRACKWAY_PAGER", "NO_COLOR", "LESS")}
    with subprocess.Popen([tool.program, *map(str, words)], cwd=tool.folder, stdout=theirs, stderr=subprocess.PIPE,
                          env={**inherited, "TERM": "xterm", **environment}) as process:
        os.close(theirs)
        out = b""
        try:
            while part := os.read(ours, 1 << 16):
                out += part
        except OSError:  # Linux says so when nobody has the other end any more
            pass
        process.wait(60)
        assert process.returncode in (0, 1), process.stderr.read()
    os.close(ours)
    return out.decode().replace("\r\n", "\n")


@case
def elements_have_colour_on_a_terminal(tool):
    text = on_terminal(tool, "decode", DEMO)
    kinds = {line.split()[-1] if not line else re.sub(r"\x1b\[[0-9]*m", "", line).split()[2]: line for line in text.splitlines()
             if "0x" in line}
    assert "\x1b[1m" in kinds["PE_CONTEXT"] and "\x1b[2m" in text, text[:400]
    plain = re.sub(r"\x1b\[[0-9]*m", "", text)
    equal(plain, tool.run("decode", DEMO).out)
    assert "\x1b" not in on_terminal(tool, "decode", DEMO, NO_COLOR="1")
    assert "\x1b" not in on_terminal(tool, "decode", DEMO, "--color", "never")


@case
def listings_go_through_the_pager(tool):
    plain = tool.run("decode", DEMO).out
    # The reader gets all of it, in colour, and writes to the terminal.
    for names in ({"PAGER": "tee read; echo the end"}, {"TRACKWAY_PAGER": "tee read; echo the end", "PAGER": "false"}):
        text = on_terminal(tool, "decode", DEMO, **names)
        assert text.endswith("the end\n"), text[-200:]
        equal(re.sub(r"\x1b\[[0-9]*m", "", (tool.folder / "read").read_text()), plain)
        assert "\x1b[" in (tool.folder / "read").read_text()
    # One that goes away ends the listing.
    equal(len(on_terminal(tool, "packets", DEMO, PAGER="head -n 3").splitlines()), 3)
    assert on_terminal(tool, "decode", DEMO, PAGER="env | grep LESS; cat").startswith("LESS=FRX")
    # None: for files, for help, when none or cat is named.
    tool.write("never", "")
    for words in (["decode", DEMO, "-o", "file"], ["decode", "--help"]):
        on_terminal(tool, *words, PAGER="echo used > never")
    equal((tool.folder / "never").read_text(), "")
    equal(on_terminal(tool, "decode", DEMO, "--color", "never", PAGER="cat"), plain)
    equal(on_terminal(tool, "decode", DEMO, "--color", "never", PAGER=""), plain)
    # Without a terminal nobody reads.
    equal(subprocess.run([tool.program, "decode", str(DEMO)], env={**os.environ, "PAGER": "false"}, capture_output=True,
                         check=True).stdout.decode(), plain)


@case
def ranges_have_their_symbols(tool):
    without = tool.run("decode", DEMO).out.splitlines()
    lines = tool.run("decode", DEMO, "--symbols-in-lines").out.splitlines()
    equal(len(lines), len(without))
    for line, before in zip(lines, without):
        assert line.startswith(before), (line, before)
        if " INSTR_RANGE " in line:
            assert re.search(r"  [a-z_]\w*\+0x[0-9a-f]+$", line), line
    rows = [json.loads(line) for line in tool.run("decode", DEMO, "--symbols-in-lines", "--format", "jsonl").out.splitlines()]
    equal(next(row["sym"] for row in rows if row["t"] == "INSTR_RANGE"), "_start+0x0")
    listed = [json.loads(line) for line in tool.run("decode", DEMO, "--instructions", "--format", "jsonl").out.splitlines()]
    names = {row["pc"]: row["sym"] for row in listed if row["t"] == "INSTR"}
    for row in rows:
        if row["t"] == "INSTR_RANGE":
            equal(row["sym"], names[row["st"]])


@case
def instructions_tell_their_instruction_set(tool):
    for snapshot, sets in ((DEMO, {"A64"}), (corpus() / "coresight" / "snapshots" / "tc2-ptm-rstk-t32-part", {"A32", "T32"})):
        rows = [json.loads(line) for line in
                tool.run("decode", snapshot, "--instructions", "--format", "jsonl", "-q", status=None).out.splitlines()]
        equal({row["isa"] for row in rows if row["t"] == "INSTR"}, sets)


@case
def lines_of_perf_data_tell_time_and_targets(tool):
    perf = corpus() / "perf"
    words = ["decode", perf / "p13-walk-percpu-etmv4-v2-hwid00.perf.data", "--sysroot", perf / "root", "-q"]
    rows = [json.loads(line) for line in tool.run(*words, "--format", "jsonl").out.splitlines()]
    lines = tool.run(*words).out.splitlines()
    equal(len(lines), len(rows))
    timed = 0
    for line, row in zip(lines, rows):
        found = re.search(r"  \[(\d{3})\] (?:(\d+)\.(\d{9}) )?(-?\d+)/(-?\d+) ", line)
        equal(int(found.group(1)), row["cpu"])
        equal(int(found.group(2) + found.group(3)) if found.group(2) else None, row.get("time"), line)
        timed += "time" in row
    assert timed > 100, timed
    listed = tool.run(*words, "--instructions").out
    assert re.search(r" \[000\] 7\.\d{9} 3001/3001 alpha  0x400344 .* bl 0x4002c4 <run> ", listed), listed[:2000]
    assert re.search(r" cbz w0, 0x400330 <run\+0x6c>", listed)


@case
def packets_leave_the_program_alone(tool):
    done = tool.run("packets", DEMO, "--image", "nowhere.elf")
    assert "--image is left alone" in done.err, done.err
    equal(done.out, tool.run("packets", DEMO).out)
    equal(tool.run("packets", DEMO, "--image", "nowhere.elf", "-q").err, "")
