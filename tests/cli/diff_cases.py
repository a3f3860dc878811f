# SPDX-License-Identifier: BSD-2-Clause
"""trackway diff: runs that were changed at a known place, and streams with a bit turned over."""
import gzip
import os
import random
import re
import shutil

from exec_log import Log
from harness import add_case, case, corpus, equal
from plugin_cases import go, lap, rounds as repeated

FULL = os.environ.get("TW_TEST_FULL")
MUTATIONS = 1000 if FULL else 20  # of each kind
PROGRAMS = ["a64-counts", "rv64-counts", "a64-O0-counts"]


def truth():
    return corpus() / "analysis" / "truth"


def runs_of(events):
    return [number for number, (kind, _) in enumerate(events) if kind == "run"]


class Program:
    """A log, the addresses that it executes, and the calls in it."""

    def __init__(self, name):
        self.log = Log(truth() / f"{name}.exlog.gz")
        self.addresses = self.log.addresses(self.log.events)
        starts, number = {}, 0
        for at, (kind, what) in enumerate(self.log.events):
            if kind == "run":
                starts[number] = at
                number += self.log.runs[what][2]
        self.calls = [(starts[first], starts[end]) for first, end in self.bodies(name) if first in starts and end in starts]
        assert len(self.calls) > 10, name

    @staticmethod
    def bodies(name):
        """What is executed from each call to its return."""
        with gzip.open(truth() / f"{name}.events.gz", "rt") as lines:
            events = [line.split() for line in lines if line.strip() and line[0] != "#"]
        numbers, depths = [int(words[1]) for words in events], [1 if words[0] == "S" else int(words[-1]) for words in events]
        open_calls = []
        for at, words in enumerate(events):
            while open_calls and depths[at] < depths[open_calls[-1]]:
                yield numbers[open_calls.pop()], numbers[at]
            if words[0] == "C":
                open_calls.append(at)


def change_path(log, pick):
    """One straight run in the place of another."""
    events = list(log.events)
    events[pick.choice(runs_of(events))] = ("run", pick.randrange(len(log.runs)))
    return events


def leave_out(log, pick):
    """A stretch of execution is not there: a call that was not made."""
    first = pick.choice(runs_of(log.events))
    return log.events[:first] + log.events[first + pick.randrange(1, 12):]


def add_more(log, pick):
    """Something is executed again."""
    first, at = pick.choice(runs_of(log.events)), pick.choice(runs_of(log.events))
    more = [event for event in log.events[first:first + pick.randrange(1, 9)] if event[0] == "run"]
    return log.events[:at] + more + log.events[at:]


def leave_out_call(program, pick):
    first, end = pick.choice(program.calls)
    return program.log.events[:first] + program.log.events[end:]


def first_difference(a, b):
    for number, (one, two) in enumerate(zip(a, b)):
        if one != two:
            return number
    return min(len(a), len(b))


def check_join(text, a, b):
    """Where it says that they join, both are at that address."""
    parted = re.search(r"^they part after (\d+) instructions", text, re.M)
    joined = re.search(r"they join again at 0x([0-9a-f]+).*, after (\d+) instructions in A and (\d+) in B", text)
    if joined and parted:
        place = int(parted.group(1))
        address = int(joined.group(1), 16)
        for side, log in ((2, a), (3, b)):
            at = place + int(joined.group(side))
            equal(log[at] if at < len(log) else address, address, f"join\n{text[:600]}")


def check_mutation(tool, log, plain, events):
    log.write(tool.folder / "b.exlog.gz", events)
    a, b = plain, log.addresses(events)
    if a == b:
        equal(tool.run("diff", "a.exlog.gz", "b.exlog.gz").out, f"equal: {len(a)} instructions\n")
        return
    text = tool.run("diff", "a.exlog.gz", "b.exlog.gz", status=1).out
    parted = re.search(r"^they part after (\d+) instructions", text, re.M)
    assert parted, text[:500]
    equal(int(parted.group(1)), first_difference(a, b), f"the first divergence\n{text[:600]}")
    check_join(text, a, b)


def finds_where_runs_part(change):
    def run(tool):
        for which, name in enumerate(PROGRAMS):
            program = Program(name)
            program.log.write(tool.folder / "a.exlog.gz", program.log.events)
            for number in range(which, MUTATIONS, len(PROGRAMS)):
                pick = random.Random(number)
                events = change(program, pick) if change is leave_out_call else change(program.log, pick)
                check_mutation(tool, program.log, program.addresses, events)
    return run


for each in (change_path, leave_out, leave_out_call, add_more):
    add_case(f"diff_finds_{each.__name__}", finds_where_runs_part(each))


@case
def diff_ignores_interrupts(tool):
    """A log with an interrupt more than the other, which comes back to where it came from."""
    program = Program("a64-counts")
    log, plain = program.log, program.addresses
    log.write(tool.folder / "a.exlog.gz", log.events)
    for number in range(MUTATIONS):
        pick = random.Random(number)
        at = pick.choice(runs_of(log.events)[1:])
        back = log.runs[log.events[at][1]][3]
        handler = [("run", pick.randrange(len(log.runs))) for _ in range(4)]
        handler = [event for event in handler if log.runs[event[1]][3] != back]
        events = log.events[:at] + [(2, [5, 0, 0, 1, back, 0x1000])] + handler + log.events[at:]
        log.write(tool.folder / "b.exlog.gz", events)
        equal(tool.run("diff", "a.exlog.gz", "b.exlog.gz", "--ignore", "interrupts").out,
              f"equal: {len(plain)} instructions\n", "without it")
        if handler:
            check_mutation(tool, log, plain, events)


@case
def diff_finds_the_first_bit(tool):
    tool.run("encode", truth() / "a64-counts.exlog.gz", "--elf", truth() / "a64-counts.elf", "--protocol", "ete", "-o", "a")
    shutil.copytree(tool.folder / "a", tool.folder / "b")
    trace = (tool.folder / "a" / "trace.bin").read_bytes()
    assert "equal:" in tool.run("diff", "a", "b", "--packets").out
    for number in range(MUTATIONS):
        pick = random.Random(number)
        place, bit = pick.randrange(16, len(trace)), pick.randrange(8)
        data = bytearray(trace)
        data[place] ^= 1 << bit
        (tool.folder / "b" / "trace.bin").write_bytes(data)
        text = tool.run("diff", "a", "b", "--packets", status=1).out
        found = re.search(r"in bit (\d) of its byte \d+: at 0x([0-9a-f]+) in A, 0x([0-9a-f]+) in B", text)
        assert found, text[:500]
        equal((int(found.group(1)), int(found.group(2), 16), int(found.group(3), 16)), (bit, place, place), text[:500])
        assert "\nA: " in text and "\nB: " in text and "|type" in text


@case
def diff_of_one_run_through_every_unit(tool):
    for name, units in (("a64-counts", ("ete", "etmv4")), ("t32-counts", ("etmv3", "ptm", "etmv4")),
                        ("rv64-counts", ("etrace", "ntrace"))):
        for unit in units:
            tool.run("encode", truth() / f"{name}.exlog.gz", "--elf", truth() / f"{name}.elf", "--protocol", unit,
                     "-o", f"{name}-{unit}")
            equal(tool.run("diff", f"{name}-{unit}", truth() / f"{name}.exlog.gz").out.split(":")[0], "equal", unit)
            equal(tool.run("diff", f"{name}-{unit}", f"{name}-{units[0]}").out.split(":")[0], "equal", unit)


@case
def diff_ignores_functions_and_ranges(tool):
    """One run calls a function, the other does not: all that is executed of it is left out, of logs and captures."""
    elf = truth() / "a64-counts.elf"
    first, end = 0x400180, 0x400190  # leaf
    log = Log(truth() / "a64-counts.exlog.gz")
    places, number, addresses = set(), 0, log.addresses(log.events)
    for at, (kind, what) in enumerate(log.events):
        if kind == "run":
            if first <= addresses[number] < end:
                places.add(at)
            number += log.runs[what][2]
    assert len(places) > 40, len(places)
    log.write(tool.folder / "b.exlog.gz", [event for at, event in enumerate(log.events) if at not in places])
    whole = sum(not first <= address < end for address in addresses)
    tool.run("encode", truth() / "a64-counts.exlog.gz", "--elf", elf, "--protocol", "ete", "-o", "a")
    for one in ("a", truth() / "a64-counts.exlog.gz"):
        tool.run("diff", one, "b.exlog.gz", status=1)
        for words in (("function:leaf", "--symbols", elf), (f"range:0x{first:x}-0x{end:x}",)):
            said = tool.run("diff", one, "b.exlog.gz", "--ignore", *words).out
            equal(said.splitlines()[-1], f"equal: {whole} instructions", str(words))
        tool.run("diff", one, "b.exlog.gz", "--ignore", "function:middle", "--symbols", elf, status=1)


@case
def diff_shows_source_stack_and_summary(tool):
    elf = truth() / "a64-counts.elf"
    tool.run("encode", truth() / "a64-counts.exlog.gz", "--elf", elf, "--protocol", "ete", "-o", "a")
    log = Log(truth() / "a64-counts.exlog.gz")
    cut = [event for number, event in enumerate(log.events) if not 60 <= number < 70]
    log.write(tool.folder / "b.exlog.gz", cut)
    text = tool.run("diff", "a", "b.exlog.gz", "--symbols", elf, status=1).out
    for words in ("they part after", "counts.c:", "stack in A:", "they join again", "functions (instructions",
                  "branches taken"):
        assert words in text, f"{words}\n{text[:1500]}"
    assert "no function is named" in tool.run("diff", "a", "a", "--ignore", "function:nothing", status=2).err
    assert "--ignore" in tool.run("diff", "a", "a", "--ignore", "nonsense", status=2).err
    assert "equal" in tool.run("diff", "a", "a", "--ignore", "function:leaf", "--symbols", elf).out
    assert "has no packets" in tool.run("diff", "a", "b.exlog.gz", "--packets", status=3).err


@case
def diff_of_captures_with_interrupts(tool):
    """A program of the M profile with its interrupts and without; its log goes on for the last two instructions."""
    logs = corpus() / "exec-m" / "logs"
    log = logs / "m3-nested.exlog.gz"
    tool.run("encode", log, "--elf", logs / "m3-nested.elf", "--protocol", "etmv4", "-o", "a")
    counts = []
    for words in ((), ("--ignore", "interrupts")):
        counts.append(int(re.search(r"^equal: (\d+) instructions$", tool.run("diff", "a", "a", *words).out, re.M).group(1)))
        text = tool.run("diff", "a", log, *words, status=1).out
        equal(re.findall(r"they part after (\d+) instructions|^  A: (ends)$", text, re.M), [(str(counts[-1]), ""), ("", "ends")], text[:400])
    assert counts[1] < counts[0], counts


@case
def diff_says_where_code_is_missing(tool):
    """A capture whose code is not there has gaps: nothing is said to be equal that was not seen."""
    tool.run("encode", truth() / "a64-counts.exlog.gz", "--elf", truth() / "a64-counts.elf", "--protocol", "ete", "-o", "a")
    shutil.copytree(tool.folder / "a", tool.folder / "b")
    for path in (tool.folder / "b").glob("*.ini"):
        lines = path.read_text().split("[dump")[0]
        if lines != path.read_text():
            path.write_text(lines)
    said = tool.run("diff", "a", "b", status=1)
    assert "they part after 0 instructions" in said.out and "B: ends" in said.out, said.out[:500]


@case
def diff_of_paths_that_repeat(tool):
    """A REPEAT of a plug-in's trace is as many rounds as it says."""
    def rounds(name, trace):
        return [name, *lap(tool, trace, name)[1:]]
    rest = rounds("a.bin", go(0x4000) + b"T" + repeated(3))[1:]
    rounds("b.bin", go(0x4000) + 5 * b"T")  # one, one that is repeated, and three times more
    rounds("c.bin", go(0x4000) + 6 * b"T")
    one = tool.run("diff", "a.bin", "b.bin", *rest)
    assert one.out.startswith("equal: "), one.out
    assert "they part" in tool.run("diff", "a.bin", "c.bin", *rest, status=1).out


@case
def diff_of_several_sources(tool):
    """Sources are compared one by one, by their names; one that the other lacks is told."""
    snapshots = corpus() / "coresight" / "snapshots"
    text = tool.run("diff", snapshots / "Snowball", snapshots / "Snowball").out
    pairs = re.findall(r"^(\w+) and (\w+):\nequal: (\d+) instructions$", text, re.M)
    assert len(pairs) == 2 and all(a == b for a, b, _ in pairs) and sum(int(count) for *_, count in pairs) > 3000, text
    assert re.search(r"^A has 2 sources, B \d+$", tool.run("diff", snapshots / "Snowball", snapshots / "juno_r1_1", status=1).out, re.M)
