# SPDX-License-Identifier: BSD-2-Clause
"""The whole way round: a program is traced, its profile given to the compiler, and the new program is laid out as
it runs.  And what programs count themselves: lines and functions of gcov."""
import json
import re
import subprocess

from coverage_cases import info_lines
from feedback_cases import bolt
from gcov_program import record
from harness import add_case, equal
from profile_cases import SOURCES, Program, need, recording, run_quietly
from witness_cases import SOURCE


def falls_through_to(program, folder):
    """Which function is called first behind the branch in choose that decides between the two."""
    text = run_quietly(["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", program], folder)
    body = text[text.index("<choose>:"):].split("\n\n")[0].splitlines()
    for number, line in enumerate(body):
        if re.search(r"\tcbn?z\tw", line):
            called = [re.search(r"bl\t\w+ <(often|seldom)>", later) for later in body[number + 1:]]
            called = [one[1] for one in called if one]
            if len(called) == 2:
                return called[0]
    raise AssertionError(text[text.index("<choose>:"):][:3000])


def build(tool, name, *options):
    words = ["clang", "--target=aarch64-linux-gnu", "-O2", "-gdwarf-4", "-fdebug-info-for-profiling", "-ffreestanding",
             "-fno-stack-protector", "-fno-pie", *options]
    for source in ("hot", "rt"):
        run_quietly([*words, "-c", SOURCES / f"{source}.c", "-o", f"{source}-{name}.o"], tool.folder)
    run_quietly(["aarch64-linux-gnu-ld", "-static", "--build-id", "-z", "max-page-size=4096", "-q", "-o", name,
                 f"hot-{name}.o", f"rt-{name}.o"], tool.folder)


def hot_path_falls_through(tool):
    need("clang", "aarch64-linux-gnu-ld", "aarch64-linux-gnu-objdump", "qemu-aarch64", "llvm-profdata-19")
    build(tool, "before", "-fno-inline")
    equal(falls_through_to("before", tool.folder), "seldom", "as the compiler guesses")
    # Traced three ways: by our unit in QEMU as perf.data, from QEMU's log as a snapshot and as perf.data.
    program = Program(tool, "hot", 5, False, options=["-fdebug-info-for-profiling"])
    recording(tool, program, "etmv4")
    tool.run("record", "-o", "recorded.data", "--", program.path, "5", status=None)
    roads = [("snapshot", ["snap", "--symbols", program.path]), ("perf.data", ["perf.data", "--sysroot", "root"])]
    if (tool.folder / "recorded.data").exists():  # not every build has a plug-in for QEMU
        roads.append(("record", ["recorded.data"]))
    texts = {}
    for kind, words in roads:
        texts[kind] = tool.run("branches", *words, "--format", "llvm", "--binary", "hot", "-q", status=None).out
        assert re.search(r"^choose:\d+:1$", texts[kind], re.M), texts[kind]
        assert re.search(r"often:469\b", texts[kind]) and re.search(r"seldom:31\b", texts[kind]), texts[kind]
    equal(texts["perf.data"], texts["snapshot"], "perf.data and snapshot")
    equal(texts.get("record", texts["snapshot"]), texts["snapshot"], "record and snapshot")
    tool.write("hot.prof", texts["snapshot"])
    shown = run_quietly(["llvm-profdata-19", "show", "--sample", "--function=choose", "hot.prof"], tool.folder)
    assert re.search(r"often:469", shown) and re.search(r"seldom:31", shown), shown
    build(tool, "after", "-fno-inline", f"-fprofile-sample-use={tool.folder / 'hot.prof'}")
    equal(falls_through_to("after", tool.folder), "often", "with the profile")


def bolt_moves_the_hot_path(tool):
    """The same with llvm-bolt, which needs no compiler: it reads fdata."""
    program = bolt("llvm-bolt")
    made = Program(tool, "hot", 5, False, link=["-q"])
    tool.write("run.log", made.log())
    tool.run("encode", "run.log", "--protocol", "etmv4", "-o", "snap")
    tool.run("branches", "snap", "--symbols", made.path, "-q", "--format", "fdata", "-o", "fdata")
    equal(falls_through_to(made.path, tool.folder), "seldom", "before")
    said = run_quietly([program, made.path, "-data", "fdata", "-o", "bolted", "-reorder-blocks=ext-tsp"], tool.folder)
    assert "BOLT-ERROR" not in said, said
    equal(falls_through_to("bolted", tool.folder), "often", "after")
    equal(run_status(tool, "bolted"), run_status(tool, made.path), "what it does")


def run_status(tool, path):
    done = subprocess.run(["qemu-aarch64", path, "5"], cwd=tool.folder, stdout=subprocess.PIPE, check=False)
    return done.returncode, done.stdout


def lines_equal_gcov(rounds):
    def run(tool):
        files = record(tool, SOURCE, "-O0", arguments=[rounds])
        want = {line["line_number"]: line["count"] for each in files for line in each["lines"]
                if each["file"].endswith("it.c")}
        tool.run("coverage", "perf.data", "--binary", "it.elf", "--format", "lcov", "-q", "-o", "it.info")
        text = (tool.folder / "it.info").read_text()
        got = {line: count for (name, line), count in info_lines(text).items() if name == "it.c"}
        # DWARF has a function's beginning at its opening brace, gcov at its name.
        starts = {function["start_line"] for each in files for function in each["functions"]}
        equal(sorted(set(want) - set(got) - starts), [], "lines that we do not know")
        want = {line: count for line, count in want.items() if line in got}
        assert len(want) > 30 and 0 in want.values(), want
        equal({line for line in want if got[line]}, {line for line in want if want[line]}, "covered lines")
        # What follows setjmp is executed once more for each longjmp, which gcov does not see.
        twice = 1 + [number for number, text_of in enumerate(SOURCE.splitlines()) if "if (setjmp" in text_of][0]
        want[twice] *= 2
        equal({line: got[line] for line in want}, want, "counts of lines")
        functions = {function["name"]: function["execution_count"] for each in files for function in each["functions"]}
        entries = {name: int(count) for count, name in re.findall(r"^FNDA:(\d+),(\w+)$", text, re.M)}
        equal({name: entries[name] for name in functions}, functions, "functions")
    return run


INLINED = r"""
#include <stdio.h>
static inline __attribute__((always_inline)) unsigned mix(unsigned a, unsigned b)
{
    return (a ^ b) * 2654435761u;
}
__attribute__((noinline)) static unsigned both(unsigned n, volatile unsigned *seed)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += mix(i, *seed);
    for (unsigned i = 0; i < 3 * n; i++)
        sum ^= mix(sum, *seed + i);
    return sum;
}
int main(void)
{
    unsigned seed = 7;

    printf("%u\n", both(10, &seed) & 1);
    return 0;
}
"""


def inlined_copies_add_up(tool):
    """A line that was inlined twice into one function counts for both; gcov, which counts in the source, says so."""
    files = record(tool, INLINED, "-O1", "-fno-tree-vectorize", "-fno-unroll-loops")
    want = {line["line_number"]: line["count"] for each in files for line in each["lines"]}
    tool.run("coverage", "perf.data", "--format", "lcov", "-q", "-o", "it.info")
    got = {line: count for (name, line), count in info_lines((tool.folder / "it.info").read_text()).items()
           if name == "it.c"}
    equal((want[5], got[5]), (40, 40), "the line of mix")


def outcomes_of_branches(tool):
    """Every conditional branch, reached or not, as JSON lines have them; and code without lines."""
    record(tool, SOURCE, "-O0", arguments=[5])
    text = tool.run("coverage", "perf.data", "--format", "outcomes", "-q").out
    rows = [json.loads(line) for line in tool.run("coverage", "perf.data", "--format", "jsonl", "-q").out.splitlines()]
    want = sorted((int(row["pc"], 16), row["taken"], row["not_taken"]) for row in rows if row["t"] == "BRANCH")
    table = [line.split(",") for line in text.splitlines()[1:]]
    branches = [row for row in table if row[0] == "branch"]
    equal(sorted((int(row[1], 16), int(row[4]), int(row[5])) for row in branches) == want, True, "branches")
    for row in branches:
        way = {(True, True): "both", (True, False): "taken", (False, True): "not taken",
               (False, False): "never reached"}[row[4] != "0", row[5] != "0"]
        equal(row[3], way, row)
    assert {row[3] for row in branches} == {"both", "taken", "not taken", "never reached"}
    totals = tool.run("coverage", "perf.data", "-q").out
    unexplained = sum((int(row[2], 16) - int(row[1], 16)) // 4 for row in table if row[0] == "unexplained")
    equal(unexplained, int(re.search(r"(\d+) instructions come from no source line", totals)[1]), "without a line")
    assert "lines that were never executed\n" in totals and "branches that were never reached" in totals
    assert any(row[7] == "main" and row[8].endswith("it.c") for row in branches)


add_case("loop_hot_path_falls_through", hot_path_falls_through)
add_case("loop_bolt_moves_the_hot_path", bolt_moves_the_hot_path)
for each in (5, 60):
    add_case(f"witness_lines_{each}", lines_equal_gcov(each))
add_case("witness_inlined_copies", inlined_copies_add_up)
add_case("witness_outcomes", outcomes_of_branches)
