# SPDX-License-Identifier: BSD-2-Clause
"""trackway calls: functions, calls and stacks of programs whose truth is known, through every trace unit."""
import gzip
import json

from harness import ROOT, Skip, add_case, corpus, equal

DEMO = ROOT / "tests" / "captures" / "demo"
ARMV7 = ["etmv4", "ptm", "etmv3"]
UNITS = {"a64": ["etmv4", "ete"], "a32": ARMV7, "t32": ARMV7, "mix": ARMV7,
         "rv64": ["etrace", "ntrace"]}


def truth_folder():
    return corpus() / "analysis" / "truth"


def programs():
    try:
        return sorted(path.stem for path in truth_folder().glob("*.elf"))
    except Skip:
        return []


def rows(name, kind):
    with gzip.open(truth_folder() / f"{name}.{kind}.gz", "rt") as lines:
        return [line.split() for line in lines if not line.startswith("#")]


def add(table, key, count):
    table[key] = table.get(key, 0) + count


class Truth:
    """What a correct analysis says.  Code without a symbol is listed by instruction there: those that
    control did not enter belong to the one before."""

    def __init__(self, name):
        self.functions, entered, self.part_of = {}, None, {}
        for function, entries, own, inclusive in rows(name, "functions"):
            counts = [int(entries), int(own), int(inclusive)]
            if function[0] == "?" and not counts[0] and entered:
                self.part_of[function] = entered
                self.functions[entered] = [a + b for a, b in zip(self.functions[entered], counts)]
                continue
            self.functions[function] = counts
            entered = function if function[0] == "?" else None
        self.calls, self.stacks = {}, {}
        for caller, callee, kind, count in rows(name, "calls"):
            add(self.calls, (self.whole(caller), self.whole(callee), kind), int(count))
        for stack, count in rows(name, "folded"):
            add(self.stacks, ";".join(map(self.whole, stack.split(";"))), int(count))

    def whole(self, function):
        return self.part_of.get(function, function)


def plain(name):
    """As the truth names code without a symbol."""
    return "?" + name[3:-1] if name.startswith("[0x") else name


def read(text):
    functions, calls, stacks = {}, {}, {}
    for line in text.splitlines():
        row = json.loads(line)
        if row["t"] == "FUNCTION":
            functions[plain(row["name"])] = [row["entries"], row["self"], row["inclusive"]]
        elif row["t"] == "CALL":
            add(calls, (plain(row["from"]), plain(row["to"]), row["kind"]), row["count"])
        elif row["t"] == "STACK":
            add(stacks, ";".join(map(plain, row["frames"])), row["count"])
    return functions, calls, stacks


def equals_truth(name, unit):
    def run(tool):
        truth = Truth(name)
        log, elf = truth_folder() / f"{name}.exlog.gz", truth_folder() / f"{name}.elf"
        tool.run("encode", log, "--elf", elf, "--protocol", unit, "-o", "capture")
        got = tool.run("calls", "capture", "--symbols", elf, "--format", "jsonl", "--stacks", "-q")
        functions, calls, stacks = read(got.out)
        equal(calls, truth.calls, "calls")
        if name.endswith("coro"):  # five stacks, which branches cannot tell apart
            equal({key: row[1] for key, row in functions.items()},
                  {key: row[1] for key, row in truth.functions.items()}, "self")
            return
        equal(functions, truth.functions, "functions")
        equal(stacks, truth.stacks, "stacks")
        folded = tool.run("calls", "capture", "--symbols", elf, "--format", "folded", "-q").out
        equal(sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()),
              sum(row[1] for row in truth.functions.values()), "sum of the stacks")
    return run


def several_captures_add_up(tool):
    capture = DEMO
    one = read(tool.run("calls", capture, "--format", "jsonl", "-q").out)[0]
    two = read(tool.run("calls", capture, capture, "--format", "jsonl", "-q").out)[0]
    equal({key: [2 * count for count in row] for key, row in one.items()}, two, "twice")


def demo_shows_a_tree(tool):
    lines = tool.run("calls", DEMO).out.splitlines()
    equal(lines[1].split(), ["100.0", "%", "51431", "5", "1", "_start"], "the root")
    assert any(line.endswith("|- fib") for line in lines)


for each in programs():
    for one in UNITS[each.split("-")[0]]:
        add_case(f"calls_{each}_{one}", equals_truth(each, one))
add_case("calls_several_captures", several_captures_add_up)
add_case("calls_text", demo_shows_a_tree)
