# SPDX-License-Identifier: BSD-2-Clause
"""trackway timeline: spans, exceptions and gaps of programs whose truth is known, through every trace unit."""
import csv
import gzip
import io
import json
import os
import random

from calls_cases import DEMO, UNITS, plain, programs, truth_folder
from harness import Skip, add_case, corpus, equal

FULL = os.environ.get("TW_TEST_FULL")


def truth_rows(path):
    with gzip.open(path, "rt") as lines:
        return [line.split() for line in lines if not line.startswith("#")]


def true_spans(path, total):
    """(name, depth, first, end) of every frame: the truth's events replayed."""
    stack, spans = [], []

    def leave(depth, now):
        while len(stack) > depth:
            name, begun = stack.pop()
            spans.append((name, len(stack), begun, now))

    for row in truth_rows(path):
        kind, now = row[0], int(row[1])
        if kind == "S":
            stack.append((row[3], now))
        elif kind == "C":
            leave(int(row[5]) - 1, now)
            stack.append((row[4], now))
        elif kind == "T":
            leave(int(row[5]) - 1, now)
            stack.append((row[4], now))
        elif kind in "RU":
            leave(int(row[5]), now)
        else:
            raise AssertionError(f"an event of kind {kind}")
    leave(0, total)
    return sorted(spans)


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def spans_of(lines):
    return sorted((plain(row["name"]), row["depth"], row["n0"], row["n1"]) for row in lines
                  if row["t"] == "SLICE" and "kind" not in row)


def encode(tool, name, unit, *more):
    folder = truth_folder()
    tool.run("encode", folder / f"{name}.exlog.gz", "--elf", folder / f"{name}.elf", "--protocol", unit,
             *more, "-o", "capture")


def timeline(tool, name, *more):
    got = tool.run("timeline", "capture", "--symbols", truth_folder() / f"{name}.elf", "--format", "jsonl",
                   "-q", *more)
    return lines_of(got.out)


def spans_equal_truth(name, unit):
    def run(tool):
        encode(tool, name, unit)
        lines = timeline(tool, name)
        total = lines[-1]["instructions"]
        got = spans_of(lines)
        want = true_spans(truth_folder() / f"{name}.events.gz", total)
        # Code without a symbol is listed by instruction in the truth, and is one function here.
        # System calls are seen from here alone.
        got = [row for row in got if row[0][0] != "?" and row[0] != "[kernel]"]
        want = [row for row in want if row[0][0] != "?"]
        equal(len(got), len(want), "spans")
        for one, other in zip(got, want):
            equal(one, other, "a span")
        for row in lines:  # nothing ends before it begins
            if row["t"] == "SLICE" and row["est"] is not None:
                assert row["est"] <= row["est_end"], row
    return run


def times_hold_the_truth(tool):
    """One instruction takes three ticks: the true time of every event is known."""
    encode(tool, "a64-recur", "etmv4", "--config", "TRCCONFIGR=0x811,TRCCCCTLR=4", "--unit", "cycles=3")
    for unit in "time", "cycles":
        lines = timeline(tool, "a64-recur", "--unit", unit)
        equal(lines[0]["unit"], "ticks" if unit == "time" else "cycles", "unit")
        known = 0
        for row in lines:
            if row["t"] != "SLICE" or "kind" in row:
                continue
            for true, low, high in ((row["n0"] * 3, row["lo"], row["hi_begin"]),
                                    (row["n1"] * 3, row["lo_end"], row["hi"])):
                assert low is None or low <= true, row
                if unit == "cycles" and high is not None:
                    continue  # a cycle count stands for what was committed, which may be more
                assert high is None or true <= high, row
                known += low is not None and high is not None
        assert unit == "cycles" or known > 2500, known


def short_spans_are_merged(tool):
    encode(tool, "a64-recur", "etmv4")
    every = timeline(tool, "a64-recur")
    some = timeline(tool, "a64-recur", "--min-duration", "1000")
    long = [row for row in spans_of(every) if row[3] - row[2] >= 1000]
    equal(spans_of(some), long, "spans of 1000 instructions and more")
    threads = [row["track"] for row in some if row["t"] == "TRACK" and row["kind"] == "thread"]
    merged = sum(row["count"] for row in some if row.get("kind") == "short" and row["track"] in threads)
    equal(merged + len(long), len(spans_of(every)), "merged ones are counted")
    short = [row for row in some if row.get("kind") == "short"]
    assert len(short) < len(spans_of(every)) / 4
    shallow = timeline(tool, "a64-recur", "--depth", "3")
    equal(spans_of(shallow), [row for row in spans_of(every) if row[1] < 3], "the outer ones")


def windows(tool):
    """What is in a window is said as of the whole, and nothing else is; an index finds it at once."""
    encode(tool, "a64-recur", "etmv4", "--config", "TRCCONFIGR=0x811,TRCCCCTLR=4", "--unit", "cycles=3")
    every = timeline(tool, "a64-recur")

    def whole(lines):
        return [(row["name"], row["i"], row["n1"] - row["n0"], row["est"], row["est_end"]) for row in lines
                if row["t"] == "SLICE" and "kind" not in row and "open" not in row]

    all_of_them = set(whole(every))
    tool.run("index", "build", "capture", "-q")
    for low, high in ((110000, 128184), (200000, 250000), (245000, 300000)):
        some = timeline(tool, "a64-recur", "--from", f"t:{low}", "--to", f"t:{high}")
        known = [row for row in whole(some) if row[4] < high]
        assert {row[:3] for row in known} <= {row[:3] for row in all_of_them}, (low, high)
        assert some[-1]["instructions"] < every[-1]["instructions"]
        found = timeline(tool, "a64-recur", "--at", low, "--to", f"t:{high}")
        equal(whole(found), whole(some), "by the index")
    assert any(whole(timeline(tool, "a64-recur", "--at", low, "--to", f"t:{high}")) for low, high in ((245000, 300000),))


def true_exceptions(name):
    """(number, entered, left, chained) of every exception."""
    active, done = [], []
    for row in truth_rows(corpus() / "exec-m" / "truth" / f"{name}.exceptions.gz"):
        if row[0] == "E":
            active.append((int(row[2]), int(row[1]), row[7] == "1"))
        elif row[0] == "X":
            number, entered, chained = active.pop()
            done.append((number, entered, int(row[1]), chained))
    return sorted(done + [(number, entered, None, chained) for number, entered, chained in active])


def exceptions_equal_truth(name):
    def run(tool):
        program = name.rsplit("-etm", 1)[0]
        elf = corpus() / "exec-m" / "logs" / f"{program}.elf"
        got = tool.run("timeline", corpus() / "exec-m" / "etm" / name, "--symbols", elf, "--format", "jsonl",
                       "--unit", "instructions", "-q", status=None)
        rows = [row for row in lines_of(got.out) if row.get("kind") == "exception" and row["t"] == "SLICE"]
        want = true_exceptions(program)
        equal(len(rows), len(want), "exceptions")
        mine = sorted((row["num"], row["n0"], None if row.get("open") else row["n1"], bool(row.get("tail")))
                      for row in rows)
        if "etmv3" in name:  # it cannot tell a chain from a return with an entry at once
            mine = [row[:3] for row in mine]
            want = [row[:3] for row in want]
        for one, other in zip(mine, want):
            equal(one, other, "an exception")
    return run


def nested_exceptions_of_a_profile(tool):
    """sys-el: 819 exceptions of four levels and three tasks."""
    folder = corpus() / "exec"
    log, elf = folder / "logs" / "sys-el.exlog.gz", folder / "elf" / "sys-el.elf"
    if not log.exists() or not elf.exists():
        found = list(folder.rglob("sys-el.exlog.gz")) + list(folder.rglob("sys-el.elf"))
        if len(found) < 2:
            raise Skip("no sys-el log")
        log, elf = found[:2]
    tool.run("encode", log, "--elf", elf, "--protocol", "etmv4", "-o", "capture")
    lines = lines_of(tool.run("timeline", "capture", "--symbols", elf, "--format", "jsonl", "--unit", "instructions",
                              "-q").out)
    want = []
    for row in truth_rows(truth_folder() / "sys-el.exceptions.gz"):
        if row[0] == "X" and row[6] != "-":
            want.append((int(row[1]) - int(row[6]), int(row[1])))
    got = [(row["n0"], row["n1"]) for row in lines if row["t"] == "SLICE" and
           row.get("kind") == "exception" and "open" not in row]
    equal(sorted(got), sorted(want), "exceptions")


def losses_leave_the_rest_exact(tool):
    """Bytes go missing at random: every span that is whole is one of the truth."""
    name = "a64-indirect"
    encode(tool, name, "etmv4")
    spans = {}
    for row in spans_of(timeline(tool, name)):
        spans.setdefault((row[0], row[3] - row[2]), 0)
        spans[row[0], row[3] - row[2]] += 1
    trace = next(tool.folder.rglob("*.bin"))
    for path in tool.folder.rglob("*.bin"):
        if path.stat().st_size and "trace" in path.name.lower() or "buf" in path.name.lower():
            trace = path
    whole = trace.read_bytes()
    dice = random.Random(18)
    for _ in range(20 if FULL else 4):
        damaged = bytearray(whole)
        for _ in range(3):
            at = dice.randrange(len(damaged) - 64)
            damaged[at:at + 32] = bytes(32)
        trace.write_bytes(damaged)
        got = tool.run("timeline", "capture", "--symbols", truth_folder() / f"{name}.elf", "--format", "jsonl", "-q",
                       status=None)
        lines = lines_of(got.out)
        assert lines[-1]["t"] == "STATS"
        for row in lines:
            if row["t"] == "SLICE" and "kind" not in row and "open" not in row:
                assert (plain(row["name"]), row["n1"] - row["n0"]) in spans, row
    trace.write_bytes(whole)


def text_and_csv(tool):
    lines = tool.run("timeline", DEMO).out.splitlines()
    assert lines[1].split()[-2:] == ["_start", "{"], lines[1]
    assert any(" memset" in line and "36869" in line for line in lines)
    rows = list(csv.DictReader(io.StringIO(tool.run("timeline", DEMO, "--format", "csv", "-q").out)))
    same = lines_of(tool.run("timeline", DEMO, "--format", "jsonl", "-q").out)
    slices = [(row["name"], row["n0"], row["n1"]) for row in same if row["t"] == "SLICE"]
    equal([(row["name"], int(row["n0"]), int(row["n1"])) for row in rows], slices, "rows")


def swo_has_exceptions_and_ports(tool):
    folder = corpus() / "exec-m" / "swo"
    got = tool.run("timeline", folder / "m3-nested-a.swo", "--protocol", "itm", "--format", "jsonl", "-q")
    lines = lines_of(got.out)
    equal(lines[0]["unit"], "cycles", "unit")
    counts = {}
    for row in lines:
        if row.get("kind") == "exception" and row["t"] == "SLICE":
            entry = counts.setdefault(row["num"], [0, []])
            entry[0] += 1
            entry[1].append(row["est_end"] - row["est"])
    want = {int(row[0]): [int(each) for each in row[1:5]] for row in truth_rows(folder / "m3-nested-a.stats.gz")}
    for number, (count, least, most, total) in want.items():
        equal([counts[number][0], min(counts[number][1]), max(counts[number][1]), sum(counts[number][1])],
              [count, least, most, total], f"exception {number}")
    assert any(row["t"] == "MARK" and row["kind"] == "port" for row in lines)


def lines_are_in_order(lines):
    """On a track nothing ends before it begins or before what ended there; estimates lie in their intervals."""
    last = {}
    for row in lines:
        if row["t"] not in ("SLICE", "GAP") or row["est"] is None:
            continue
        assert row["est"] <= row["est_end"], row
        for at, low, high in ((row["est"], row["lo"], row["hi_begin"]), (row["est_end"], row["lo_end"], row["hi"])):
            assert (low is None or low <= at) and (high is None or at <= high), row
        assert row["est_end"] >= last.get(row["track"], 0), row
        last[row["track"]] = row["est_end"]
    return len(last)


def captures_are_in_order(pattern):
    def run(tool):
        root = corpus()
        found = sorted(root.glob(pattern))
        if not found:
            raise Skip("no captures")
        for path in found if FULL else found[::4]:
            got = tool.run("timeline", path, "--sysroot", root / "perf" / "root", "--format", "jsonl", "-q", status=None)
            if got.out:
                lines_are_in_order(lines_of(got.out))
    return run


for each in programs():
    if each.endswith("coro"):
        continue
    for one in UNITS[each.split("-")[0]]:
        if one != "etmv4" and not FULL and each.split("-")[0] == "a64":
            continue
        add_case(f"timeline_{each}_{one}", spans_equal_truth(each, one))
try:
    for each in sorted((corpus() / "exec-m" / "etm").iterdir()):
        add_case(f"timeline_{each.name}", exceptions_equal_truth(each.name))
except Skip:
    pass
add_case("timeline_order_perf", captures_are_in_order("perf/p*.perf.data"))
add_case("timeline_order_snapshots", captures_are_in_order("coresight/snapshots/*/snapshot.ini"))
add_case("timeline_times", times_hold_the_truth)
add_case("timeline_short_spans", short_spans_are_merged)
add_case("timeline_windows", windows)
add_case("timeline_sys_el", nested_exceptions_of_a_profile)
add_case("timeline_losses", losses_leave_the_rest_exact)
add_case("timeline_text_and_csv", text_and_csv)
add_case("timeline_swo", swo_has_exceptions_and_ports)


def buffers_of_a_recorder(tool):
    """Between two buffers nothing was lost, unless the recorder says so."""
    for name, reasons in (("p10-walk-percpu-etmv4-v1", {"not-traced"}), ("p19-walk-truncated-partial", {"recorder"})):
        lines = tool.run("timeline", corpus() / "perf" / f"{name}.perf.data", "--sysroot", corpus() / "perf" / "root", "--format", "jsonl", "-q",
                         status=None).out.splitlines()
        equal({row["reason"] for row in map(json.loads, lines) if row["t"] == "GAP"}, reasons, name)


add_case("timeline_gaps_between_buffers_of_a_recorder", buffers_of_a_recorder)
