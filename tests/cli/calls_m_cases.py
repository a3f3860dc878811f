# SPDX-License-Identifier: BSD-2-Clause
"""Call stacks of programs of the M profile, whose truth is known: chained and nested handlers, faults that are stepped over, a
return address that was overwritten, calls between Secure and Non-secure code."""
import collections
import gzip
import re

from harness import add_case, corpus

# Tasks that wait at the same address cannot be told apart by branches (m4-sched).  ETMv3 does not tell where a branch had led that an
# exception follows at once, nor a chain from a return with an entry at once.
PROGRAMS = ["m3-systick", "m3-nested", "m3-faults", "m7-crash", "m33-tz", "m55-loops"]
UNTRACED = 3  # instructions behind the last branch, of which no trace tells


def stacks(lines):
    """Labels inside a function, which are functions for us, belong to it; code without a name has its address."""
    found = collections.Counter()
    for line in lines:
        stack, count = line.rsplit(" ", 1)
        stack = re.sub(r"(itm\d+)_at\b", r"\1", stack)
        found[re.sub(r"\[0x([0-9a-f]+)\]", r"?\1", stack)] += int(count)
    return found


def check(program, form, *options):
    def run(tool):
        folder = corpus() / "exec-m"
        symbols = [word for path in sorted((folder / "logs").glob(f"{program}*.elf")) for word in ("--symbols", path)]
        mine = stacks(tool.run("calls", folder / "etm" / f"{program}-{form}", *symbols, "--format", "folded", "-q",
                               *options).out.splitlines())
        truth = stacks(gzip.open(folder / "truth" / f"{program}.folded.gz", "rt").read().splitlines())
        wrong = {stack: (mine[stack], truth[stack]) for stack in mine.keys() | truth.keys() if mine[stack] != truth[stack]}
        assert len(wrong) == 1, wrong
        (stack, (got, want)), = wrong.items()
        assert stack.endswith("quit") and 0 < want - got <= UNTRACED, wrong
    return run


for name in PROGRAMS:
    add_case(f"calls_m_{name}", check(name, "etmv4"))
for name in ("m3-nested", "m33-tz"):
    add_case(f"calls_m_{name}_return_stack", check(name, "etmv4-rs"))
add_case("calls_m_m3-nested_threads", check("m3-nested", "etmv4", "--threads", "3"))
