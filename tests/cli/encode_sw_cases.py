# SPDX-License-Identifier: BSD-2-Clause
"""Execution logs through the models of ITM, DWT and STM."""
import gzip
import re

from harness import case, corpus, equal

STIMULI = """trackway-log 1
profile m
context mode=thread
stimulus 1 0x41 bits=8
i 0x100 bf00
i 0x102 bf00
stimulus 33 0x4243 bits=16
watch 0 write 0x12 bits=16
exception irq300 return=0x104
i 0x200 4770 eret
exception systick chained
i 0x300 bf00
i 0x302 4770 eret 0x104
i 0x104 bf00
cycles 100
watch sample asleep
i 0x106 bf00
"""

ITM = """ITM_ASYNC
ITM_SWIT port 1: 0x41
ITM_EXTENSION stimulus page 1
ITM_SWIT port 1: 0x4243
ITM_DWT: write 0x0012, comparator 0
ITM_TS_LOCAL +2, synchronous
ITM_DWT: exception 316 (IRQ 300) entered
ITM_TS_LOCAL +12, synchronous
ITM_DWT: exception 316 (IRQ 300) exited
ITM_TS_LOCAL +1, synchronous
ITM_DWT: exception 15 (SysTick) entered
ITM_TS_LOCAL +6, synchronous
ITM_DWT: exception 15 (SysTick) exited
ITM_TS_LOCAL +2, synchronous
ITM_DWT: exception 0 (thread) returned to
ITM_TS_LOCAL +10, synchronous
ITM_DWT: PC sample, asleep
ITM_TS_LOCAL +101, synchronous
"""


def packets(tool, folder):
    """The text of each packet."""
    return [re.sub(r"^0x\w+ +0x\w+ \w+(\.\.\. \(\d+ bytes\))? +", "", line)
            for line in tool.run("packets", folder).out.splitlines()]


@case
def itm_of_a_text_log(tool):
    tool.write("run.log", STIMULI)
    tool.run("encode", "run.log", "--protocol", "itm", "-o", "snap")
    text = (tool.folder / "snap" / "device_1.ini").read_text()
    assert "type=ITM\n" in text and "ITMTCR=0x0010000f\n" in text, text
    got = packets(tool, "snap")
    equal(got, ITM.splitlines())
    for framing in ["none", "memory"]:
        tool.run("encode", "run.log", "--protocol", "itm", "-o", "more", "--force", "--framing", framing)
        equal(packets(tool, "more"), got, framing)
    tool.run("encode", "run.log", "--protocol", "itm", "-o", "less", "--config", "ITMTER=0,DWT_CTRL=0")
    assert not any("SWIT port 1: 0x41" in x or "exception" in x for x in packets(tool, "less"))
    tool.run("encode", "run.log", "--protocol", "itm", "-o", "samples", "--config",
             "DWT_CTRL=0x1001,ITMTCR=0x10000d")
    equal([x for x in packets(tool, "samples") if "0x" in x and "sample" in x],
          ["ITM_DWT: PC sample 0x00000106"] * 2)


@case
def what_an_itm_cannot_take_is_said(tool):
    for line in ["stimulus 256 1", "stimulus 1 flag", "stimulus 1 1 bits=64"]:
        tool.write("run.log", f"trackway-log 1\n{line}\n")
        done = tool.run("encode", "run.log", "--protocol", "itm", "-o", "x", status=3)
        assert "line 2: an ITM takes 8, 16 or 32 bits at ports 0 to 255" in done.err, done.err
    tool.write("run.log", "trackway-log 1\ni 0x100000000 d503201f\n")
    assert "32 bits" in tool.run("encode", "run.log", "--protocol", "itm", "--unit", "sample=1", "-o", "x",
                                 status=3).err
    assert "there is no ETMCR" in tool.run("encode", "run.log", "--protocol", "itm", "--config", "ETMCR=1",
                                           "-o", "x", status=3).err


@case
def stm_of_a_text_log(tool):
    tool.write("run.log", """trackway-log 1
time 0x1000
i 0x1000 d503201f
stimulus 3 0x41 bits=8 master=2
stimulus 3 0x42434445 master=2 marked timed
i 0x1004 d503201f
stimulus 4 0x9 bits=4 master=2
stimulus 4 0x1122334455667788 bits=64 master=5 timed
stimulus 4 flag timed master=5
stimulus 4 trigger=7 master=5
external 9
overflow
""")
    for config in ["STMTCSR=0x20002f", "STMTCSR=0x20000f"]:
        for version in "34":
            tool.run("encode", "run.log", "--protocol", "stm", "-o", "snap", "--force", "--config", config,
                     "--unit", f"version={version}")
            got = packets(tool, "snap")
            names = [line.split()[0] for line in got]
            equal(names[:4], ["ASYNC", "VERSION", "FREQ", "M8"])
            data = [x for x in got if re.match(r"(D|FLAG|TRIG)", x)]
            if config == "STMTCSR=0x20000f":  # else leading zeros are left out
                equal([x.split()[0] for x in data],
                      ["D8", "D32MTS", "D4", "D64TS", "FLAG_TS", "TRIG", "D8TS"])
            assert "0x1001" in data[1] and "0x1002" in data[3], data
            assert "GERR" in names, names
    assert "core=" not in (tool.folder / "snap" / "trace.ini").read_text()
    assert "cpu_0=" not in (tool.folder / "snap" / "trace.ini").read_text()
    tool.write("bad.log", "trackway-log 1\nexternal 256\n")
    assert "events 0 to 255" in tool.run("encode", "bad.log", "--protocol", "stm", "-o", "x", status=3).err
    assert "version is 3 or 4" in tool.run("encode", "bad.log", "--protocol", "stm", "-o", "x", "--unit",
                                           "version=2", status=3).err


def times(tool, folder, kinds):
    """Absolute times of the DWT's packets; those of one timestamp come before it."""
    found, waiting, now = [], [], 0
    for text in packets(tool, folder):
        stamp = re.match(r"ITM_TS_LOCAL \+(\d+)", text)
        if stamp:
            now += int(stamp[1])
            found += [(now, *x) for x in waiting]
            waiting = []
        event = re.match(r"ITM_DWT: exception (\d+) .*\b(entered|exited|returned)", text)
        if event and "exception" in kinds:
            waiting.append(("exception", event[1], {"entered": "enter", "exited": "exit", "returned": "return"}[event[2]]))
        sample = re.match(r"ITM_DWT: PC sample 0x(\w+)", text)
        if sample and "pc" in kinds:
            waiting.append(("pc", f"{int(sample[1], 16):x}"))
    return found


@case
def exceptions_of_real_programs_have_the_right_times(tool):
    """Against the events that were worked out apart from this model."""
    for name in ["m3-systick", "m3-nested", "m3-faults", "m4-sched", "m7-crash", "m0-systick", "m33-tz", "m55-loops"]:
        folder = corpus() / "exec-m"
        tool.run("encode", folder / "logs" / f"{name}.exlog.gz", "--protocol", "itm", "-o", "snap", "--force")
        lines = [x.split() for x in gzip.open(folder / "swo" / f"{name}-a.events.gz", "rt")]
        want = [(int(x[0]), *x[1:]) for x in lines if x[1] == "exception"]
        equal(times(tool, "snap", "exception"), want, name)
        tool.run("encode", folder / "logs" / f"{name}.exlog.gz", "--protocol", "itm", "-o", "snap", "--force",
                 "--unit", "sample=256")
        lines = [x.split() for x in gzip.open(folder / "swo" / f"{name}-b.events.gz", "rt")]
        equal([x[2] for x in times(tool, "snap", ["pc"])], [x[2] for x in lines if x[1] == "pc"], name)


@case
def instructions_take_as_long_as_the_clock_says(tool):
    """ "clock N": each instruction has N cycles from there on."""
    found = []
    for clock in ("", "clock 10\n"):
        tool.write("run.log", "trackway-log 1\nprofile m\ncontext mode=thread\nstimulus 1 0x41 bits=8\n" + clock +
                   "i 0x100 bf00\ni 0x102 bf00\nstimulus 1 0x42 bits=8\ni 0x104 bf00\n")
        tool.run("encode", "run.log", "--protocol", "itm", "-o", "snap", "--force")
        found.append([int(cycles) for cycles in re.findall(r"TS_LOCAL \+(\d+)", tool.run("packets", "snap").out)])
    assert found[0], found
    equal([10 * cycles for cycles in found[0]], found[1])
