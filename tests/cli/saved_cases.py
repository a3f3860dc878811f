# SPDX-License-Identifier: BSD-2-Clause
"""Calls and profiles that are kept, and added up: in any order and grouping, the same bytes as one run of all."""
import random

from calls_cases import truth_folder
from harness import ROOT, add_case, equal

DEMO = ROOT / "tests" / "captures" / "demo"
PROGRAMS = [("a64-counts", "etmv4"), ("a64-recur", "ete"), ("rv64-counts", "etrace"), ("a32-recur", "ptm")]
# Snapshots name no files: one program alone can be looked at by address.
ONE = [("a64-recur", "etmv4"), ("a64-recur", "ete")]
KINDS = {"calls": [], "profile": [], "profile-line": ["--by", "line"], "profile-address": ["--by", "address"],
         "profile-thread": ["--by", "thread"], "profile-inline": ["--inline"],
         "profile-cycles": ["--unit", "cycles"]}


def captures(tool, programs):
    made = []
    for name, unit in programs:
        log, elf = truth_folder() / f"{name}.exlog.gz", truth_folder() / f"{name}.elf"
        tool.run("encode", log, "--elf", elf, "--protocol", unit, "-o", f"{name}-{unit}")
        made.append(f"{name}-{unit}")
    return made


def merged(tool, parts, numbers):
    """Two at a time, until one is left."""
    parts, count = list(parts), 0
    while len(parts) > 1:
        numbers.shuffle(parts)
        tool.run("merge", "-o", f"sum{count}", parts.pop(), parts.pop())
        parts.append(f"sum{count}")
        count += 1
    return (tool.folder / parts[0]).read_bytes()


def sums_are_those_of_one_run(kind):
    def run(tool):
        command, numbers, parts = kind.split("-")[0], random.Random(18), []
        names = captures(tool, ONE if kind == "profile-address" else PROGRAMS)
        for name in names:
            tool.run(command, name, *KINDS[kind], "-q", "--save", name + ".twr")
            parts.append(name + ".twr")
        whole = tool.run(command, *names, *KINDS[kind], "-q", "--format", "jsonl", "--save", "all.twr").out
        for _ in range(4):
            equal(merged(tool, parts, numbers), (tool.folder / "all.twr").read_bytes(), "the sum of parts")
        adds = [word for part in parts for word in ("--add", part)]
        equal(tool.run(command, *adds, "-q", "--format", "jsonl").out, whole, "shown without a capture")
        equal(tool.run(command, names[0], *adds[2:], *KINDS[kind], "-q", "--format", "jsonl").out, whole,
              "added to a capture's")
    return run


def every_format_of_a_sum(tool):
    tool.run("calls", DEMO, "-q", "--save", "demo.twr")
    tool.run("merge", "-o", "twice.twr", "demo.twr", "demo.twr")
    for name in ("jsonl", "csv", "folded", "speedscope", "svg", "text"):
        whole = tool.run("calls", DEMO, DEMO, "-q", "--format", name).out
        kept = tool.run("calls", "--add", "twice.twr", "-q", "--format", name).out
        equal(kept.replace("twice.twr", "demo"), whole, name)


def coverage_without_a_capture(tool):
    """The sum of parts is shown with the program alone, as the captures give it."""
    names = captures(tool, ONE)
    program = truth_folder() / "a64-recur.elf"
    for name in names:
        tool.run("coverage", name, "-q", "--save", name + ".twr")
    tool.run("merge", "-o", "all.twr", *(name + ".twr" for name in names))
    for form in ("jsonl", "lcov", "outcomes", "text"):
        equal(tool.run("coverage", "--add", "all.twr", "--symbols", program, "-q", "--format", form).out,
              tool.run("coverage", *names, "--symbols", program, "-q", "--format", form).out, form)
    said = tool.run("coverage", "--add", "all.twr", "--symbols", truth_folder() / "rv64-counts.elf", status=3)
    assert "nothing that was counted is of this file" in said.err, said.err
    said = tool.run("coverage", "--add", "all.twr", "--symbols", "none.elf", status=3)
    assert "none.elf" in said.err, said.err
    assert "--symbols FILE" in tool.run("coverage", "--add", "all.twr").err
    assert "needs a CAPTURE" in tool.run("coverage", status=2).err
    assert "needs a CAPTURE" in tool.run("coverage", "--add", "all.twr", "--format", "afl", status=2).err


def what_does_not_fit_is_refused(tool):
    tool.run("calls", DEMO, "-q", "--save", "physical.twr")
    tool.run("calls", DEMO, "-q", "--tail-calls", "logical", "--save", "logical.twr")
    said = tool.run("merge", "-o", "sum.twr", "physical.twr", "logical.twr", status=3)
    equal("tail calls are counted in another way" in said.err, True, said.err)
    tool.run("profile", DEMO, "-q", "--save", "profile.twr")
    tool.run("profile", DEMO, "--by", "line", "-q", "--save", "lines.twr")
    said = tool.run("merge", "-o", "sum.twr", "profile.twr", "lines.twr", status=3)
    equal("rows are of another kind" in said.err, True, said.err)
    said = tool.run("profile", DEMO, "--add", "physical.twr", status=3)
    equal("another kind of result" in said.err, True, said.err)
    for command in ("calls", "profile"):
        equal("needs a CAPTURE" in tool.run(command, status=2).err, True, "nothing to show")
    tool.run("calls", DEMO, "--events", "--save", "x.twr", status=2)
    tool.run("calls", DEMO, "--last", "3", "--add", "x.twr", status=2)


for each in KINDS:
    add_case(f"saved_{each}", sums_are_those_of_one_run(each))
add_case("saved_formats", every_format_of_a_sum)
add_case("saved_refused", what_does_not_fit_is_refused)
add_case("coverage_without_a_capture", coverage_without_a_capture)
