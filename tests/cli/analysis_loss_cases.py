# SPDX-License-Identifier: BSD-2-Clause
"""Calls and profiles where trace was lost: what is left is told exactly, and nothing else is."""
import collections
import json
import os
import shutil
from random import Random

from calls_cases import Truth, plain, programs, truth_folder
from harness import add_case, equal

UNKNOWN = "[callers unknown]"
SEED = 18  # of how small and how slow the trace unit's buffer is


def lines_of(tool, command, *words):
    return [json.loads(line) for line in tool.run(command, *words, "--format", "jsonl", "-q", status=None).out.splitlines()]


# Least and most bytes of the trace unit's buffer, and cycles that each takes to leave it.
BUFFERS = {"etmv4": (16, 48, 8, 60), "ete": (16, 48, 8, 60), "etrace": (64, 128, 8, 60), "ntrace": (80, 160, 8, 60)}


def encode_with_losses(tool, name, unit, random):
    """Captures that hold some of what a program did: its trace unit's buffer overflows; the units that have none lose
    bytes behind it, so that pieces are left."""
    log, elf = truth_folder() / f"{name}.exlog.gz", truth_folder() / f"{name}.elf"
    words = ["encode", log, "--elf", elf, "--protocol", unit, "-o", "some", "--force"]
    if unit in BUFFERS:
        least, most, fast, slow = BUFFERS[unit]
        tool.run(*words, "--unit", f"fifo={random.randint(least, most)},cycles-per-byte={random.randint(fast, slow)}")
        return ["some"], ["--symbols", elf]
    tool.run(*words, "--unit", f"sync={random.randint(100, 600)}")
    (trace,) = (tool.folder / "some").glob("*trace*.bin")
    data, at, pieces = trace.read_bytes(), 0, []
    while at < len(data):
        end = at + random.randint(300, 6000)
        shutil.rmtree(tool.folder / f"piece{len(pieces)}", ignore_errors=True)
        shutil.copytree(tool.folder / "some", tool.folder / f"piece{len(pieces)}")
        (tool.folder / f"piece{len(pieces)}" / trace.name).write_bytes(data[at:end])
        pieces.append(f"piece{len(pieces)}")
        at = end + random.randint(1, 2000)
    return pieces, ["--symbols", elf]


def path_of(tool, captures):
    """How often each instruction was executed, by the elements alone."""
    path = collections.Counter()
    for capture in captures:
        text = tool.run("decode", capture, "--format", "pcs", "-q", status=None).out
        path.update(int(pc, 16) for pc in text.split())
    return path


def suffixes(stacks):
    ends = set()
    for stack in stacks:
        frames = stack.split(";")
        ends.update(";".join(frames[i:]) for i in range(len(frames)))
    return ends


def nothing_is_made_up(name, unit):
    """What was decoded is counted exactly; no call and no stack is told that never was."""
    def run(tool):
        truth = Truth(name)
        ends = suffixes(truth.stacks)
        lost = 0
        random = Random(f"{SEED} {name} {unit}")
        for _ in range(20 if os.environ.get("TW_TEST_FULL") else 4):
            captures, names = encode_with_losses(tool, name, unit, random)
            path = path_of(tool, captures)
            capture = [*captures, *names]
            counts = {int(row["pc"], 16): row["count"] for row in lines_of(tool, "profile", *capture, "--by", "address")
                      if row["t"] == "INSTR"}
            equal(counts, dict(path), "each instruction of the path")
            table = lines_of(tool, "calls", *capture, "--stacks")
            stats = table[-1]
            lost += stats["gaps"] + len(captures) - 1
            equal(stats["instructions"], sum(path.values()), "all instructions")
            check_calls(truth, table)
            check_stacks(truth, ends, table, stats["instructions"])
            profile = lines_of(tool, "profile", *capture)
            equal(sum(row["self"] for row in profile if row["t"] == "FUNCTION"), stats["instructions"], "the profile")
        assert lost > 0, f"nothing was lost; seed {SEED}"
    return run


def check_calls(truth, table):
    for row in table:
        if row["t"] == "FUNCTION":
            entries, own, inclusive = truth.functions[plain(row["name"])]
            assert row["self"] <= own and row["inclusive"] <= inclusive and row["entries"] <= entries, (row, entries, own)
        elif row["t"] == "CALL":
            key = (plain(row["from"]), plain(row["to"]), row["kind"])
            assert row["count"] <= truth.calls.get(key, 0), (row, truth.calls.get(key))


def check_stacks(truth, ends, table, instructions):
    stacks = [row for row in table if row["t"] == "STACK"]
    equal(sum(row["count"] for row in stacks), instructions, "the stacks")
    for row in stacks:
        frames = [plain(frame) for frame in row["frames"]]
        if frames[0] == UNKNOWN:
            assert ";".join(frames[1:]) in ends, frames
        else:
            assert row["count"] <= truth.stacks.get(";".join(frames), 0), frames


UNITS = {"a64": ["etmv4", "ete"], "a32": ["ptm", "etmv3"], "mix": ["ptm", "etmv3"], "rv64": ["etrace", "ntrace"]}

for each in programs():
    if each in ("a64-recur", "a64-indirect", "a64-sorts", "a32-recur", "mix-indirect", "rv64-recur"):
        for one in UNITS[each.split("-")[0]]:
            add_case(f"losses_{each}_{one}", nothing_is_made_up(each, one))
