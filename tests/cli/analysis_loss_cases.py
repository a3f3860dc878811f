# SPDX-License-Identifier: BSD-2-Clause
"""Calls and profiles where trace was lost, and as the programs they are written for read them."""
import collections
import json
import os
import re
import shutil
import subprocess
from random import Random

from calls_cases import DEMO, Truth, plain, programs, truth_folder
from harness import Skip, add_case, equal

UNKNOWN = "[callers unknown]"
SEED = 18  # of how small and how slow the trace unit's buffer is


def lines_of(tool, command, *words):
    return [json.loads(line) for line in tool.run(command, *words, "--format", "jsonl", "-q", status=None).out.splitlines()]


def encode_with_losses(tool, name, unit, losses):
    log, elf = truth_folder() / f"{name}.exlog.gz", truth_folder() / f"{name}.elf"
    tool.run("encode", log, "--elf", elf, "--protocol", unit, "--unit", losses, "-o", f"{name}-{losses}", "--force")
    return f"{name}-{losses}", "--symbols", elf


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
        for _ in range(20 if os.environ.get("TW_TEST_FULL") else 5):
            losses = f"fifo={random.randint(16, 48)},cycles-per-byte={random.randint(8, 60)}"
            capture = encode_with_losses(tool, name, unit, losses)
            path = collections.Counter(int(pc, 16) for pc in
                                       tool.run("decode", capture[0], "--format", "pcs", "-q", status=None).out.split())
            counts = {int(row["pc"], 16): row["count"] for row in lines_of(tool, "profile", *capture, "--by", "address")
                      if row["t"] == "INSTR"}
            equal(counts, dict(path), "each instruction of the path")
            table = lines_of(tool, "calls", *capture, "--stacks")
            stats = table[-1]
            lost += stats["gaps"]
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


def callgrind_annotate_shows_the_same(tool):
    if not shutil.which("callgrind_annotate"):
        raise Skip("no callgrind_annotate")
    tool.run("profile", DEMO, "--format", "callgrind", "-q", "-o", "out")
    text = subprocess.run(["callgrind_annotate", "--auto=no", "--threshold=100", "out"], cwd=tool.folder, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    own = {row["name"]: row["self"] for row in lines_of(tool, "profile", DEMO) if row["t"] == "FUNCTION"}
    total = int(re.search(r"^ *([\d,]+).*PROGRAM TOTALS", text, re.M)[1].replace(",", ""))
    equal(total, sum(own.values()), "totals")
    shown = {name: int(count.replace(",", "")) for count, name in
             re.findall(r"^ *([\d,]+) \([^)]*\)  [^:\n]*:([\w.]+)", text, re.M)}
    for name in sorted(own, key=own.get, reverse=True)[:8]:
        equal(shown.get(name), own[name], name)


def pprof_shows_the_same(tool):
    if not shutil.which("go"):
        raise Skip("no go tool pprof")
    tool.run("profile", DEMO, "--format", "pprof", "-q", "-o", "out.pb.gz")
    text = subprocess.run(["go", "tool", "pprof", "-top", "-sample_index=instructions", "out.pb.gz"], cwd=tool.folder,
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    assert "51431" in text and re.search(r"^ *36869 .* memset$", text, re.M), text


for each in programs():
    if each in ("a64-recur", "a64-indirect", "a64-sorts"):
        for one in ("etmv4", "ete"):
            add_case(f"losses_{each}_{one}", nothing_is_made_up(each, one))
add_case("analysis_callgrind_annotate", callgrind_annotate_shows_the_same)
add_case("analysis_pprof", pprof_shows_the_same)
