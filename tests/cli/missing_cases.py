# SPDX-License-Identifier: BSD-2-Clause
"""Calls and profiles where something is missing: a line says what, and what to give; known and unknown are all."""
import json
import re
import shutil
import subprocess

from calls_cases import truth_folder
from harness import Skip, add_case, corpus, equal
from saved_cases import captures

NAME = "a64-counts"
ALL = 2589  # instructions


def capture(tool):
    return captures(tool, [(NAME, "etmv4")])[0]


def elf():
    return truth_folder() / f"{NAME}.elf"


def asked(tool, *words):
    """What calls and profile say of the same, on standard error; and that their sums are right."""
    said = []
    for command in ("calls", "profile"):
        done = tool.run(command, *words, "--format", "jsonl", status=None)
        rows = [json.loads(line) for line in done.out.splitlines()]
        lines = done.err.splitlines()
        equal(sorted(set(lines)), sorted(lines), f"{command}: nothing is said twice")
        own = sum(row["self"] for row in rows if row["t"] == "FUNCTION")
        total = rows[-1]
        equal(own, total["instructions"], f"{command}: functions add up to all")
        if command == "profile":
            equal(total["known"] + total["unknown"], total["instructions"], "known and unknown are all")
        said.append((done.err, total))
    return said


def says(tool, words, pattern, instructions=None):
    for err, total in asked(tool, *words):
        assert re.search(pattern, err), (pattern, err)
        if instructions is not None:
            equal(total["instructions"], instructions)


def lines_of_others(tool, words, patterns):
    """annotate, timeline and interrupts say it too; -q says nothing."""
    for command, pattern in patterns.items():
        err = tool.run(command, *words, status=None).err
        assert re.search(pattern, err), (command, pattern, err)
        assert not re.search(pattern, tool.run(command, *words, "-q", status=None).err), command


def no_symbols(tool):
    functions = r"\d+ of \d+ functions have no symbols, and are shown by their addresses: give files"
    name = capture(tool)
    lines_of_others(tool, [name], {"annotate": r"100\.0 % of the instructions are in code without symbols: give files",
                                   "timeline": functions, "interrupts": functions})
    words = [name, "--symbols", elf()]
    for command in ("annotate", "timeline", "interrupts"):
        assert "symbols" not in tool.run(command, *words, status=None).err, command
    says(tool, [name], r"100\.0 % of the instructions are in code without symbols: give files .*--symbols", ALL)


def stripped_file(tool):
    if not shutil.which("aarch64-linux-gnu-strip"):
        raise Skip("no aarch64-linux-gnu-strip")
    subprocess.run(["aarch64-linux-gnu-strip", "-o", "stripped.elf", elf()], cwd=tool.folder, check=True)
    says(tool, [capture(tool), "--symbols", "stripped.elf"], r"100\.0 % .* without symbols: give files that have them", ALL)


def no_symbols_file(tool):
    """A file that was asked for and is not there, or is no program, is not passed over."""
    name = capture(tool)
    tool.write("no.elf", "no program")
    for command in ("profile", "calls", "coverage", "timeline", "annotate", "interrupts", "report", "decode"):
        for file in ("nowhere.elf", "no.elf"):
            run = tool.run(command, name, "--symbols", file, "-o", "result", status=3)
            assert file in run.err and not (tool.folder / "result").exists(), (command, run.err)


def symbols_of_another_program(tool):
    """They name other code: what they do not name is unknown."""
    for _err, total in asked(tool, capture(tool), "--symbols", truth_folder() / "a64-recur.elf"):
        equal(total["instructions"], ALL)


def missing_code(tool):
    name = capture(tool)
    for path in (tool.folder / name).glob("code_*.bin"):
        path.unlink()
    line = r"\d+ times the path led to code that is not there: give it \(--image"
    lines_of_others(tool, [name, "--symbols", elf()], {"annotate": line, "timeline": line, "interrupts": line})
    says(tool, [name, "--symbols", elf()], r"\d+ times the path led to code that is not there: give it \(--image", 0)


def some_code_is_missing(tool):
    """A perf.data file without its programs names them."""
    name = corpus() / "perf" / "p10-walk-percpu-etmv4-v1.perf.data"
    says(tool, [name], r"missing code: /usr/bin/walk_a \(not found\)")
    says(tool, [name], r"led to code that is not there: give it \(--image, --sysroot\)")


def wrong_build_id(tool):
    shutil.copytree(corpus() / "perf" / "root", tool.folder / "root", copy_function=shutil.copyfile)
    path = tool.folder / "root" / "usr" / "bin" / "walk_a"
    data = bytearray(path.read_bytes())
    at = data.find(b"GNU\0")
    if at < 0:
        raise Skip("walk_a has no build ID")
    data[at + 4] ^= 0xff
    path.chmod(0o644)
    path.write_bytes(data)
    says(tool, [corpus() / "perf" / "p10-walk-percpu-etmv4-v1.perf.data", "--sysroot", "root"], r"walk_a.*build ID")


def half_a_capture(tool):
    """The first half is told exactly; the second, which has no synchronization point, not at all, and that is said."""
    name = capture(tool)
    trace = tool.folder / name / "trace.bin"
    data = trace.read_bytes()
    trace.write_bytes(data[:len(data) // 2])
    first = [total["instructions"] for _, total in asked(tool, name, "--symbols", elf())]
    assert 0 < first[0] < ALL and first[0] == first[1], first
    trace.write_bytes(data[len(data) // 2:])
    says(tool, [name, "--symbols", elf()], r"no instruction could be told: give the capture from a synchronization point", 0)


def software_trace(tool):
    """An ITM tells of no instruction, and what it is good for is said."""
    swo = tool.write("it.swo", bytes(5) + b"\x80" + b"\x01a\x09b" * 20)
    says(tool, [swo, "--protocol", "itm"], r"software trace, which tells of no instruction: \"trackway channels\"", 0)


def half_a_file(tool):
    data = (corpus() / "perf" / "p10-walk-percpu-etmv4-v1.perf.data").read_bytes()
    tool.write("half.data", data[:len(data) // 2])
    says(tool, ["half.data", "--sysroot", corpus() / "perf" / "root"], r"half\.data: is shorter than its header says; the end is missing")


add_case("missing_symbols", no_symbols)
add_case("missing_symbols_stripped", stripped_file)
add_case("missing_symbols_file", no_symbols_file)
add_case("missing_symbols_of_another", symbols_of_another_program)
add_case("missing_code", missing_code)
add_case("missing_code_of_perf", some_code_is_missing)
add_case("missing_build_id", wrong_build_id)
add_case("missing_half", half_a_capture)
add_case("missing_program_flow", software_trace)
add_case("missing_half_file", half_a_file)
