# SPDX-License-Identifier: BSD-2-Clause
"""Calls and profiles where trace was lost: what is left is told exactly, and nothing else is."""
import bisect
import collections
import json
import os
import shutil
from random import Random

from calls_cases import Truth, plain, programs, rows, truth_folder
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


def pcs_of(tool, capture):
    """The instructions, one after the other, by the elements alone."""
    return [int(pc, 16) for pc in tool.run("decode", capture, "--format", "pcs", "-q", status=None).out.split()]


class Instants:
    """The path of a program and the stack at every place of it."""

    def __init__(self, tool, name, truth, unit):
        tool.run("encode", truth_folder() / f"{name}.exlog.gz", "--elf", truth_folder() / f"{name}.elf", "--protocol", unit,
                 "-o", "all", "--force")
        self.pcs = pcs_of(tool, "all")
        self.bytes = as_bytes(self.pcs)
        self.places, self.stacks, stack = [], [], ()
        for row in rows(name, "events"):
            function, depth = (row[3], 1) if row[0] == "S" else (row[4], int(row[5]))
            stack = stack[:depth] if row[0] in "RU" else (*stack[:depth - 1], truth.whole(function))
            self.places.append(int(row[1]))
            self.stacks.append(stack)

    def find(self, pcs, begin):
        """Where a stretch without losses may lie.  Where it is there several times, what it says of itself is the same."""
        wanted = as_bytes(pcs)
        at = self.bytes.find(wanted, begin * 8)
        while at % 8:
            at = self.bytes.find(wanted, at + 1)
        assert at >= 0, "no such path was ever executed"
        return at // 8

    def known(self, begin, at):
        """What can be known of the stack at a place by one who looked on from `begin` on: the frames above the least depth
        since, and that one."""
        first = max(bisect.bisect_right(self.places, begin) - 1, 0)
        last = bisect.bisect_right(self.places, at)
        least = min(len(stack) for stack in self.stacks[first:last])
        return self.stacks[last - 1][least - 1:]


def as_bytes(pcs):
    return b"".join(pc.to_bytes(8, "little") for pc in pcs)


def stretches_of(lines):
    """Between gaps: its first instruction, that behind its last, and [(instruction, stack from there on)]."""
    stretches, begun, stack, states = [], 0, [], []
    for row in lines:
        if row["t"] == "LEAVE":
            stack.pop()
        else:
            stack.append(plain(row["name"]))
        if row["t"] == "LEAVE" and row["kind"] in ("gap", "end"):
            if not stack:
                stretches.append((begun, row["n"], states))
                begun, states = row["n"], []
        else:
            states.append((row["n"], tuple(stack)))
    return stretches


def check_instants(tool, instants, capture, names):
    """At random instants the stack is what can be known of the true one.  How many were looked at."""
    pcs, begin, looks, random = pcs_of(tool, capture), 0, 0, Random(SEED)
    for first, end, states in stretches_of(lines_of(tool, "calls", capture, *names, "--events")):
        if first == end:
            continue
        begin = instants.find(pcs[first:end], begin)
        places = [place for place, _ in states]
        for at in random.sample(range(first, end), min(100, end - first)):
            got = states[bisect.bisect_right(places, at) - 1][1]
            equal(got, instants.known(begin, begin + at - first), f"the stack at instruction {at}, stretch from {first}")
            looks += 1
        begin += end - first
    return looks


def path_of(tool, captures):
    """How often each instruction was executed."""
    path = collections.Counter()
    for capture in captures:
        path.update(pcs_of(tool, capture))
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
        instants = Instants(tool, name, truth, unit)
        lost = looks = 0
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
            looks += sum(check_instants(tool, instants, each, names) for each in captures)
        assert looks > 20, f"too few instants: {looks}"
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
