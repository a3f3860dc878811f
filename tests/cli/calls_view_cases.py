# SPDX-License-Identifier: BSD-2-Clause
"""trackway calls: events in order, one function's calls, and how control came to a place."""
import csv
import io
import json

from calls_cases import DEMO, UNITS, programs, rows, truth_folder
from harness import add_case, case, equal


def encode(tool, name, unit, *more):
    log, elf = truth_folder() / f"{name}.exlog.gz", truth_folder() / f"{name}.elf"
    tool.run("encode", log, "--elf", elf, "--protocol", unit, *more, "-o", name)
    return name, "--symbols", elf


def events_of(tool, *words):
    return [json.loads(line) for line in tool.run("calls", *words, "--events", "-q").out.splitlines()]


def truth_events(name):
    """Calls, tail calls and returns: (kind, instructions before, from, to, depth)."""
    kinds = {"C": "call", "T": "tail", "R": "return"}
    return [(kinds[row[0]], int(row[1]), int(row[2], 16), int(row[3], 16), int(row[5]))
            for row in rows(name, "events") if row[0] in kinds]


def seen_events(events):
    return [(row["kind"], row["n"], int(row["from"], 16), int(row["to"], 16), row["depth"]) for row in events
            if (row["t"], row["kind"]) in (("ENTER", "call"), ("ENTER", "tail"), ("LEAVE", "return"))]


def events_equal_truth(name, unit):
    def run(tool):
        got = seen_events(events_of(tool, *encode(tool, name, unit)))
        equal(len(got), len(truth_events(name)), "events")
        for a, b in zip(got, truth_events(name)):
            equal(a, b, "an event")
    return run


def true_times_are_in_their_intervals(tool):
    """Each instruction takes two ticks."""
    for name in ("a64-recur", "a64-indirect"):
        capture = encode(tool, name, "etmv4", "--config", "TRCCONFIGR=0x18d9,TRCCCCTLR=4", "--unit", "cycles=2")
        events = events_of(tool, *capture)
        known = [row for row in events if "lo" in row and "hi" in row]
        assert len(known) > len(events) * 0.9, (len(known), len(events))
        for row in events:
            assert row.get("lo", 0) <= 2 * row["n"] <= row.get("hi", 1 << 64), row


def events_nest(tool):
    for words in ([DEMO], [DEMO, "--tail-calls", "logical"]):
        stack = []
        for row in events_of(tool, *words):
            if row["t"] == "ENTER":
                stack.append(row["name"])
            else:
                equal(stack.pop(), row["name"], "what is left was entered last")
            equal(len(stack), row["depth"], "depth")
        equal(stack, [], "all are left in the end")
    table = list(csv.DictReader(io.StringIO(tool.run("calls", DEMO, "--events", "--format", "csv", "-q").out)))
    equal([(row["t"], row["name"], row["n"]) for row in table],
          [(row["t"], row["name"], str(row["n"])) for row in events_of(tool, DEMO)], "csv")


def a_function_has_callers_and_callees(tool):
    text = tool.run("calls", DEMO, "--function", "insert", "-q").out
    assert text.startswith("insert at demo/recur.c:"), text
    callers, callees = text.split("called by\n")[1].split("calls\n")
    equal([line.split() for line in callers.splitlines()[1:]], [["6144", "60", "call", "run"], ["5184", "324", "call", "insert"]])
    equal([line.split() for line in callees.splitlines()[1:]], [["5184", "324", "call", "insert"]])
    lines = [json.loads(line) for line in
             tool.run("calls", DEMO, "--function", "run", "--format", "jsonl", "-q").out.splitlines()]
    equal([row["name"] for row in lines if row["t"] == "FUNCTION"], ["run"])
    assert all("run" in (row["from"], row["to"]) for row in lines if row["t"] == "CALL")
    table = list(csv.DictReader(io.StringIO(tool.run("calls", DEMO, "--format", "csv", "-q").out)))
    rows_of_all = [json.loads(line) for line in tool.run("calls", DEMO, "--format", "jsonl", "-q").out.splitlines()]
    equal([(row["name"], row["self"]) for row in table if row["t"] == "FUNCTION"],
          [(row["name"], str(row["self"])) for row in rows_of_all if row["t"] == "FUNCTION"], "functions")
    equal([(row["from"], row["to"], row["count"]) for row in table if row["t"] == "CALL"],
          [(row["from"], row["to"], str(row["count"])) for row in rows_of_all if row["t"] == "CALL"], "calls")
    assert "was not executed" in tool.run("calls", DEMO, "--function", "nobody", status=3).err


def stack_of(text):
    """Functions of the stack that is shown, the outermost first."""
    lines = text.split("the innermost first\n")[1].split("the last ")[0].splitlines()
    return [line.split()[1].rstrip(",") for line in lines if line.startswith("  #")][::-1]


def how_did_i_get_here(tool):
    events = events_of(tool, DEMO)
    nth, stack = 0, []
    for row in events:
        if row["t"] == "LEAVE":
            stack.pop()
            continue
        stack.append(row["name"])
        nth += row["name"] == "hanoi"
        if row["name"] == "hanoi" and nth in (1, 3, 20):
            got = tool.run("calls", DEMO, "--before", f"function:hanoi:{nth}", "-q").out
            equal(stack_of(got), stack, f"hanoi {nth}")
            newest = got.split("the newest first\n")[1].splitlines()[0]
            equal(newest.split()[:4], [f"n={row['n']}", "entered", "hanoi", "(call)"], "the newest")
    for count in (1, 7, 50):
        text = tool.run("calls", DEMO, "--last", str(count), "-q").out
        equal(len(text.split("the newest first\n")[1].splitlines()), count, "as many as asked for")
        text = tool.run("calls", DEMO, "--last", str(count), "--instructions", "-q").out
        equal(len(text.split("the newest first\n")[1].splitlines()), count, "instructions")


def every_place_is_found(tool):
    path = tool.run("decode", DEMO, "--format", "pcs", "-q").out.split()
    for n in (1, 100, 40000, len(path) - 1):
        text = tool.run("calls", DEMO, "--before", f"n:{n}", "--last", "3", "--instructions", "-q").out
        shown = [word for line in text.split("the newest first\n")[1].splitlines()
                 for word in line.split("  ")[-3:] for word in word.split() if word.startswith("0x")]
        wanted = [f"0x{int(pc, 16):x}" for pc in path[max(0, n - 3):n]][::-1]
        for pc in wanted:
            assert pc in shown, (n, pc, text)
    text = tool.run("calls", DEMO, "--before", "exception:1", "--last", "1", "--instructions", "-q").out
    assert "svc" in text.splitlines()[-1] or "0x4004f8" in text.splitlines()[-1], text
    pc = path[1000]
    nth = path[:1001].count(pc)
    text = tool.run("calls", DEMO, "--before", f"pc:0x{int(pc, 16):x}:{nth}", "--last", "1", "--instructions", "-q").out
    assert f"0x{int(pc, 16):x} " in text.splitlines()[0], text
    tool.write("src/demo/recur.c", "".join(f"/* line {i} */\n" for i in range(1, 200)))
    text = tool.run("calls", DEMO, "--before", "function:hanoi", "--source-root", "src", "-q").out
    assert "| /* line 26 */" in text, text
    for wrong in ("nowhere", "t:x", "exception:0", "pc:", "function:"):
        tool.run("calls", DEMO, "--before", wrong, status=2)
    tool.run("calls", DEMO, "--last", "0", status=2)
    tool.run("calls", DEMO, "--last", "5", "--format", "jsonl", status=2)
    assert "does not come there" in tool.run("calls", DEMO, "--before", "trigger:1", status=3).err
    assert "does not come there" in tool.run("calls", DEMO, "--before", "function:nobody", status=3).err


for each in programs():
    if each.split("-")[1] not in ("coro", "jumps", "throw"):
        for one in UNITS[each.split("-")[0]]:
            add_case(f"calls_events_{each}_{one}", events_equal_truth(each, one))
add_case("calls_events_time", true_times_are_in_their_intervals)
add_case("calls_events_nest", events_nest)
add_case("calls_function", a_function_has_callers_and_callees)
add_case("calls_before_function", how_did_i_get_here)
add_case("calls_before_places", every_place_is_found)


@case
def large_trees_are_cut_and_say_so(tool):
    """The lines with the most instructions, callers with them; what is left out adds up."""
    def lines(*words):
        return [line for line in tool.run("calls", DEMO, "-q", *words).out.splitlines()[1:]]

    whole = lines("--limit", 100000, "--depth", 100000)
    equal(lines(), whole, "a small tree")
    total = int(whole[0].split()[2])
    for words in (["--limit", 3], ["--depth", 2], ["--limit", 1, "--depth", 1], ["--limit", 0]):
        some = lines(*words)
        assert f"[{len(whole) - len(some) + 1} more lines" in some[-1], some
        assert [line for line in whole if line in some[:-1]] == some[:-1], some
        left_out = int(some[-1].split()[2])
        equal(sum(int(line.split()[3]) for line in some[:-1]) + left_out, total, "shown and left out")
    assert all("|  |- " not in line for line in lines("--depth", 2)), "two deep"


@case
def a_function_is_no_capture(tool):
    for command in ("annotate", "calls"):
        said = tool.run(command, DEMO, "fib", status=3).err
        assert "--function fib" in said, said
