# SPDX-License-Identifier: BSD-2-Clause
"""Programs whose truth is known, interrupted at instructions taken at random: calls, counts and stacks stay what they
are, and each handler stands on what it interrupted."""
import os
from random import Random

from calls_cases import UNITS, Truth, programs, read, rows, truth_folder
from exec_log import Log, addresses_of
from harness import add_case, equal

IS_FULL = bool(os.environ.get("TW_TEST_FULL"))
SEED = 18  # of where interrupts come
# Handlers where no program has code: the addresses and opcodes of one that calls a function, of that, and of one that
# interrupts it.  Those of A32 begin at the vectors of IRQ and FIQ, as PTM and ETMv3 take for granted.
HANDLERS = {
    "a64": [[(0x7100000, "d503201f"), (0x7100004, "9400003f"), (0x7100008, "d69f03e0")],
            [(0x7100100, "d503201f"), (0x7100104, "d65f03c0")], [(0x7200000, "d503201f"), (0x7200004, "d69f03e0")]],
    "rv64": [[(0x7100000, "00000013"), (0x7100004, "0fc000ef"), (0x7100008, "30200073")],
             [(0x7100100, "00000013"), (0x7100104, "00008067")], [(0x7200000, "00000013"), (0x7200004, "30200073")]],
    "a32": [[(0x18, "ea000038"), (0x100, "eb00003e"), (0x104, "e25ef004")], [(0x200, "e320f000"), (0x204, "e12fff1e")],
            [(0x1c, "ea0000b7"), (0x300, "e25ef004")]]}
ISAS = {0: "a64", 1: "a32", 2: "t32", 3: "rv64"}


def own_of(name):
    """The instruction set of a program's handlers."""
    return {"a64": "a64", "rv64": "rv64"}.get(name.split("-", maxsplit=1)[0], "a32")


class Text:
    """The log as text, with interrupts before some instructions."""

    def __init__(self, name, places):
        self.log, self.places, self.lines = Log(truth_folder() / f"{name}.exlog.gz"), places, ["trackway-log 1"]
        self.own = own_of(name)
        self.level, self.isa, self.number = (3 if self.own == "rv64" else 1), None, 0

    def use(self, isa):
        if isa != self.isa:
            self.lines.append(f"isa {isa}")
        self.isa = isa

    def interrupt(self, address, is_nested):
        (enter, call, leave), (inside, back), second = HANDLERS[self.own]
        isa = self.isa
        self.lines += [f"exception irq return={address:#x}", f"context el={self.level}"]
        self.use(self.own)
        self.lines += [f"i {at:#x} {opcode}" for at, opcode in (enter, call, inside)]
        if is_nested:
            self.lines += [f"exception fiq return={back[0]:#x}", f"i {second[0][0]:#x} {second[0][1]}",
                           f"i {second[1][0]:#x} {second[1][1]} taken {back[0]:#x}"]
        self.lines += [f"i {back[0]:#x} {back[1]} taken {leave[0]:#x}", f"i {leave[0]:#x} {leave[1]} taken {address:#x}",
                       "context el=0"]
        self.use(isa)

    def write(self, path):
        events, is_behind_gap = self.log.events, False
        for at, (kind, what) in enumerate(events):
            if kind != "run":
                # A system call: nothing is told of the kernel.
                back = self.log.runs[events[at + 1][1]][3] if at + 1 < len(events) else each[-1] + 4
                self.lines += [f"exception call return={back:#x}", "gap"]
                is_behind_gap = True
                continue
            isa, end, _, start, code = self.log.runs[what]
            each = addresses_of(isa, start, code)
            for address in each:
                self.use(ISAS[isa])
                if is_behind_gap:  # what is interrupted before it executed anything traced is told by no trace
                    self.places.pop(self.number, None)
                is_behind_gap = False
                if self.number in self.places:
                    self.interrupt(address, self.places[self.number])
                self.number += 1
                is_last = address == each[-1] and at + 1 < len(events)
                taken = "" if not is_last or end not in (1, 2) else " taken"
                if is_last and end == 2:
                    taken += f" {self.log.runs[events[at + 1][1]][3]:#x}"
                self.lines.append(f"i {address:#x}{taken}")
        path.write_text("\n".join(self.lines) + "\n")


def stacks_at(name, numbers):
    """The functions on the stack before each of these instructions, outermost first."""
    stack, found, wanted = [], {}, sorted(numbers, reverse=True)
    for kind, number, *rest in rows(name, "events"):
        while wanted and wanted[-1] < int(number):
            found[wanted.pop()] = list(stack)
        if kind == "S":
            stack = [rest[1]]
        elif kind == "C":
            stack = [*stack[:int(rest[3]) - 1], rest[2]]
        elif kind == "T":
            stack[-1] = rest[2]
        else:
            stack = stack[:int(rest[3])]
    return {**found, **{number: list(stack) for number in wanted}}


def add_to(table, key, count):
    table[key] = table.get(key, 0) + count


def expect(name, truth, places, stacks):
    """What the truth is with the interrupts: they change nothing but what stands above, and what it adds up to."""
    first, called, second = (f"?{handler[0][0]:x}" for handler in HANDLERS[own_of(name)])
    for number, is_nested in places.items():
        below = [truth.whole(function) for function in stacks[number]]
        chain = [(first, 3, below, "exception"), (called, 2, [*below, first], "call")]
        if is_nested:
            chain.append((second, 2, [*below, first, called], "exception"))
        for function, own, under, kind in chain:
            add_to(truth.stacks, ";".join([*under, function]), own)
            add_to(truth.calls, (under[-1], function, kind), 1)
            counts = truth.functions.setdefault(function, [0, 0, 0])
            counts[0] += 1
            counts[1] += own
            for each in {*under, function}:
                truth.functions[each][2] += own


def interrupted_equals_truth(name, unit):
    def run(tool):
        random = Random(f"{SEED} {name} {unit}")
        total = sum(row[1] for row in Truth(name).functions.values())
        for _ in range(6 if IS_FULL else 1):
            truth = Truth(name)
            places = {random.randrange(1, total): random.random() < 0.3 for _ in range(random.randint(20, 120))}
            Text(name, places).write(tool.folder / "log")
            elf = truth_folder() / f"{name}.elf"
            tool.run("encode", "log", "--elf", elf, "--protocol", unit, "-o", "capture", "--force")
            expect(name, truth, places, stacks_at(name, places))
            got = tool.run("calls", "capture", "--symbols", elf, "--format", "jsonl", "--stacks", "-q")
            functions, calls, stacks = read(got.out)
            equal({key: row[1] for key, row in functions.items()},
                  {key: row[1] for key, row in truth.functions.items()}, f"self; seed {SEED}")
            if name.endswith("coro"):  # five stacks, which branches cannot tell apart
                continue
            equal({key: count for key, count in calls.items() if truth.calls.get(key) != count},
                  {key: count for key, count in truth.calls.items() if calls.get(key) != count}, "calls")
            equal({key: row for key, row in functions.items() if truth.functions.get(key) != row},
                  {key: row for key, row in truth.functions.items() if functions.get(key) != row}, "functions")
            equal({key: count for key, count in stacks.items() if truth.stacks.get(key) != count},
                  {key: count for key, count in truth.stacks.items() if stacks.get(key) != count}, "stacks")
    return run


for each in programs():
    if each != "a64-throw" or IS_FULL:  # three million instructions
        for one in UNITS[each.split("-")[0]]:
            add_case(f"interrupted_{each}_{one}", interrupted_equals_truth(each, one))
