# SPDX-License-Identifier: BSD-2-Clause
"""Functions that were inlined are frames of calls: what they executed is what a profile by inlined functions says."""
import json
import subprocess

from gcov_program import need_recorder
from harness import Skip, add_case, equal

SOURCE = r"""
static inline __attribute__((always_inline)) int mix(int a) { return a * 31 ^ a >> 3; }
static inline __attribute__((always_inline)) int both(int a, int b) { return mix(a) + 3 * mix(b); }
__attribute__((noipa)) static int sum(int n)
{
    int all = 0;

    for (int i = 0; i < n; i++)
        all += both(i, n);
    return all;
}
__attribute__((noipa)) static int other(int n) { return mix(n) + sum(n / 2); }
int main(int count, char **words)
{
    static volatile int kept;

    (void)words;
    kept = sum(20 + count) + other(30);
    return 0;
}
"""


def frames_of_inlined_functions(tool):
    need_recorder(tool)
    if "dw" not in tool.run("--version").out.splitlines()[1].split():
        raise Skip("this build has no dw")
    tool.write("it.c", SOURCE)
    subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-O2", "-static", "it.c", "-o", "it.elf"], cwd=tool.folder, check=True)
    tool.run("record", "-o", "perf.data", "--", "./it.elf")

    def rows(*words):
        return [json.loads(line) for line in tool.run(*words, "perf.data", "--format", "jsonl", "-q").out.splitlines()]

    plain = {row["name"]: row for row in rows("calls") if row["t"] == "FUNCTION"}
    calls = rows("calls", "--inline", "--stacks")
    want = {row["name"]: (row["self"], row["inclusive"]) for row in rows("profile", "--inline") if row.get("inlined")}
    got = {row["name"]: (row["self"], row["inclusive"]) for row in calls if row["t"] == "FUNCTION" and row.get("inlined")}
    assert {"mix", "both"} <= got.keys(), got.keys()
    equal(got, want, "inlined functions")
    equal(calls[-1]["instructions"], sum(row["self"] for row in plain.values()), "nothing is lost, nothing counts twice")
    for row in calls:
        if row["t"] == "FUNCTION" and not row.get("inlined"):
            equal((row["entries"], row["inclusive"]), (plain[row["name"]]["entries"], plain[row["name"]]["inclusive"]), row["name"])
    stacks = [row["frames"] for row in calls if row["t"] == "STACK"]
    assert any(frames[-3:] == ["sum", "both", "mix"] for frames in stacks), stacks[:5]
    assert any(frames[-2:] == ["other", "mix"] for frames in stacks)
    assert "mix (inlined)" in tool.run("calls", "perf.data", "--inline", "-q").out
    tool.run("calls", "perf.data", "--inline", "-q", "--save", "a.twr")
    tool.run("merge", "-o", "b.twr", "a.twr")
    equal((tool.folder / "a.twr").read_bytes(), (tool.folder / "b.twr").read_bytes())


add_case("calls_inline", frames_of_inlined_functions)
