# SPDX-License-Identifier: BSD-2-Clause
"""trackway profile: counts by function, line, address, thread, program, source and stack beside the truth."""
import csv
import io
import json

from calls_cases import DEMO, Truth, UNITS, plain, programs, rows, truth_folder
from harness import add_case, corpus, equal, some

KINDS = ["function", "line", "address", "thread", "program", "source"]


def lines_of(tool, *words):
    return [json.loads(line) for line in tool.run("profile", *words, "--format", "jsonl", "-q").out.splitlines()]


def of(table, kind):
    return [row for row in table if row["t"] == kind]


def encode(tool, name, unit, *more):
    log, elf = truth_folder() / f"{name}.exlog.gz", truth_folder() / f"{name}.elf"
    tool.run("encode", log, "--elf", elf, "--protocol", unit, *more, "-o", name)
    return name, "--symbols", elf


def addresses(name):
    """Every executed instruction's count by address, as the truth has runs of them."""
    return [(int(first, 16), int(last, 16), int(count)) for first, last, count in rows(name, "coverage")]


def equals_truth(name, unit):
    def run(tool):
        truth = Truth(name)
        capture = encode(tool, name, unit)
        table = lines_of(tool, *capture)
        total = of(table, "TOTAL")[0]
        own = {plain(row["name"]): row["self"] for row in of(table, "FUNCTION")}
        equal(own, {key: row[1] for key, row in truth.functions.items()}, "self")
        equal([row["self"] for row in of(table, "FUNCTION")], sorted(own.values(), reverse=True), "order")
        if not name.endswith("coro"):
            equal({plain(row["name"]): [row["entries"], row["self"], row["inclusive"]] for row in of(table, "FUNCTION")},
                  truth.functions, "functions")
        everything = sum(row[1] for row in truth.functions.values())
        equal((total["instructions"], total["known"] + total["unknown"]), (everything, everything), "known and unknown")
        fast = {row["name"]: row["self"] for row in of(lines_of(tool, *capture, "--self"), "FUNCTION")}
        named = {key: row[1] for key, row in truth.functions.items() if key[0] != "?"}
        equal({key: count for key, count in fast.items() if key[0] != "["}, named, "self, not following calls")
        equal(sum(fast.values()), everything, "all of it")
        for kind in KINDS:
            rows_of_kind = [row for row in lines_of(tool, *capture, "--by", kind) if "self" in row or "count" in row]
            equal(sum(row.get("self", row.get("count", 0)) for row in rows_of_kind if row["t"] != "TARGET"), everything, kind)
        check_addresses(tool, name, capture)
    return run


def check_addresses(tool, name, capture):
    table = lines_of(tool, *capture, "--by", "address")
    counts = {int(row["pc"], 16): row["count"] for row in of(table, "INSTR")}
    for first, last, count in addresses(name):
        here = [counts[pc] for pc in (first, last)]
        equal(here, [count, count], f"{first:#x}")
    ways = {}
    for start, _, kind, count in rows(name, "edges"):
        if kind in ("exc", "signal"):  # not where the branch went
            continue
        way = "not-taken" if kind == "not-taken" else "taken"  # conditional calls and returns, too
        counts = ways.setdefault(int(start, 16), {})
        counts[way] = counts.get(way, 0) + int(count)
    got = {int(row["pc"], 16): row for row in of(table, "BRANCH")}
    for pc, way in ways.items():
        if pc in got:  # unconditional ones are no branches in this sense
            equal((got[pc]["taken"], got[pc]["not_taken"]), (way.get("taken", 0), way.get("not-taken", 0)), f"{pc:#x}")
    targets = {(int(row["pc"], 16), int(row["to"], 16)): row["count"] for row in of(table, "TARGET")}
    for start, to, kind, count in rows(name, "edges"):
        if kind == "icall":
            equal(targets.get((int(start, 16), int(to, 16))), int(count), f"{start} to {to}")


def time_lies_between_its_bounds(tool):
    """Each instruction takes two cycles, of which the trace tells some sums."""
    for name in ("a64-recur", "a64-indirect", "a64-sorts"):
        capture = encode(tool, name, "etmv4", "--config", "TRCCONFIGR=0x18d9,TRCCCCTLR=4", "--unit", "cycles=2")
        for unit in ("cycles", "time"):
            for kind in ("function", "thread", "source", "line", "address"):
                table = lines_of(tool, *capture, "--by", kind, "--unit", unit)
                total = of(table, "TOTAL")[0]
                spent = [row for row in table if unit in row and row["t"] != "TOTAL"]
                equal(sum(row[unit] for row in spent) + total["lost_" + unit], total[unit], f"{name} {kind}: all {unit}")
                assert total["lost_" + unit] < total[unit] / 100, total
                outside = 2 * total["instructions"] - total[unit]  # before the first point, after the last
                for row in spent:
                    if unit + "_lo" in row:
                        assert row[unit + "_lo"] <= row[unit] <= row[unit + "_hi"], row
                        assert row[unit + "_lo"] <= 2 * row["self"] <= row[unit + "_hi"] + outside, row


def annotate_equals_truth(name, unit):
    def run(tool):
        capture = encode(tool, name, unit)
        table = [json.loads(line) for line in tool.run("annotate", *capture, "--format", "jsonl", "-q").out.splitlines()]
        counts = {int(row["pc"], 16): row["count"] for row in of(table, "INSTR")}
        equal(len(counts), len(of(table, "INSTR")), "each address once")
        executed = {pc: count for pc, count in counts.items() if count}
        equal(executed, {int(row["pc"], 16): row["count"] for row in
                         of(lines_of(tool, *capture, "--by", "address"), "INSTR")}, "as the profile has it")
        for first, last, count in addresses(name):
            equal((counts[first], counts[last]), (count, count), f"{first:#x}")
        equal(sum(row["count"] for row in of(table, "INSTR")), sum(row[1] for row in Truth(name).functions.values()), "all")
    return run


def annotate_shows_source_and_code(tool):
    tool.write("src/demo/recur.c", "".join(f"/* line {i} */\n" for i in range(1, 200)))
    text = tool.run("annotate", DEMO, "--function", "hanoi", "--source-root", "src").out
    assert "/* line 26 */" in text and " 50.0 % taken (16 of 32)" in text, text
    assert "\x1b[" in tool.run("annotate", DEMO, "--color", "always").out
    whole = tool.run("annotate", DEMO).out
    assert "never reached" in whole or " 0   0x" in whole, "what was not executed is shown"
    assert not any(line.endswith(" ") for line in whole.splitlines())
    assert "no function nobody" in tool.run("annotate", DEMO, "--function", "nobody", status=3).err
    twice = tool.run("annotate", DEMO, DEMO, "--function", "hanoi").out
    assert " 50.0 % taken (32 of 64)" in twice, twice


def several_captures_add_up(tool):
    for kind in KINDS:
        one = lines_of(tool, DEMO, "--by", kind)
        two = lines_of(tool, DEMO, DEMO, "--by", kind)
        for a, b in zip(one, two):
            for key in ("self", "count", "entries", "inclusive", "instructions", "taken"):
                equal(2 * a.get(key, 0), b.get(key, 0), f"{kind} {key}")


def threads_give_the_same(tool):
    for kind in KINDS + ["stack"]:
        alone = tool.run("profile", DEMO, "--by", kind, "--threads", "1").out
        for threads in ("2", "3", "8"):
            equal(tool.run("profile", DEMO, "--by", kind, "--threads", threads).out, alone, kind)


def text_shows_a_table(tool):
    lines = tool.run("profile", DEMO, "--limit", "3").out.splitlines()
    equal(lines[1].split(), ["36869", "71.7", "%", "##############......", "36869", "1", "memset"], "the first row")
    equal(len(lines), 4, "rows")
    assert "\x1b[" in tool.run("profile", DEMO, "--color", "always").out
    stacks = tool.run("profile", DEMO, "--by", "stack").out.splitlines()
    assert stacks[1].endswith("_start;rt_start;run;memset"), stacks[1]


def csv_has_all_columns(tool):
    table = list(csv.DictReader(io.StringIO(tool.run("profile", DEMO, "--format", "csv", "-q").out)))
    equal({row["name"]: int(row["self"]) for row in table},
          {row["name"]: row["self"] for row in of(lines_of(tool, DEMO), "FUNCTION")}, "self")
    assert all(None not in row and len(row) == 17 for row in table)


def no_symbols_is_said(tool):
    capture = corpus() / "coresight" / "snapshots" / "bugfix-exact-match-part"
    run = tool.run("profile", capture, "--self", "--format", "jsonl")
    total = json.loads(run.out.splitlines()[-1])
    equal((total["known"], total["unknown"]), (0, total["instructions"]), "nothing has a name")
    assert "without symbols" in run.err and "--symbols" in run.err, run.err
    assert "no timestamps" in tool.run("profile", DEMO, "--unit", "time").err


def names_are_as_written(tool):
    capture = encode(tool, "a64-throw", "etmv4")
    assert "  thrower(int, int*)\n" in tool.run("profile", *capture, "-q").out
    assert "- thrower(int, int*)\n" in tool.run("calls", *capture, "-q").out
    assert "_ZL7throweriPi" in tool.run("profile", *capture, "-q", "--no-demangle").out
    assert "_ZL7throweriPi" in tool.run("calls", *capture, "-q", "--no-demangle").out
    names = {row["name"] for row in of(lines_of(tool, *capture), "FUNCTION")}
    assert "_ZL7throweriPi" in names and "thrower(int, int*)" not in names
    names = {row["name"] for row in of(lines_of(tool, *capture, "--demangle"), "FUNCTION")}
    assert "thrower(int, int*)" in names and "_ZL7throweriPi" not in names


def inlined_functions_have_rows(tool):
    capture = encode(tool, "a64-sorts", "etmv4")
    table = of(lines_of(tool, *capture, "--inline"), "FUNCTION")
    plain_rows = {row["name"]: row["self"] for row in of(lines_of(tool, *capture), "FUNCTION")}
    equal(sum(row["self"] for row in table), sum(plain_rows.values()), "all of it")
    inlined = {row["name"]: row for row in table if row.get("inlined")}
    assert inlined["sum"]["self"] > 0, inlined
    for row in table:
        if not row.get("inlined"):
            equal(row["inclusive"], plain_rows[row["name"]], f"{row['name']} with what is inlined in it")


def stacks_have_their_formats(tool):
    for name in ("folded", "svg", "callgrind", "pprof", "speedscope", "dot"):
        a, b = (tool.run(command, DEMO, "--format", name, "-q", "-o", "out") and (tool.folder / "out").read_bytes()
                for command in ("calls", "profile"))
        equal(a, b, name)
    tool.run("profile", DEMO, "--by", "line", "--format", "folded", status=2)
    tool.run("profile", DEMO, "--by", "stack", "--format", "csv", status=2)
    tool.run("profile", DEMO, "--by", "colour", status=2)
    tool.run("profile", DEMO, "--self", "--unit", "time", status=2)


for each in some(programs()):
    for one in UNITS[each.split("-")[0]]:
        add_case(f"profile_{each}_{one}", equals_truth(each, one))
    add_case(f"annotate_{each}", annotate_equals_truth(each, UNITS[each.split("-")[0]][0]))
add_case("annotate_text", annotate_shows_source_and_code)
add_case("profile_several_captures", several_captures_add_up)
add_case("profile_time", time_lies_between_its_bounds)
add_case("profile_threads", threads_give_the_same)
add_case("profile_text", text_shows_a_table)
add_case("profile_csv", csv_has_all_columns)
add_case("profile_no_symbols", no_symbols_is_said)
add_case("profile_names", names_are_as_written)
add_case("profile_inline", inlined_functions_have_rows)
add_case("profile_formats", stacks_have_their_formats)
