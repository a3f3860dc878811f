# SPDX-License-Identifier: BSD-2-Clause
"""Execution logs of the M profile through ETMv4 and ETMv3 and back; what the snapshot says of the core."""
import gzip
import json
import re

from harness import case, corpus, equal

PROGRAMS = ["m0-systick", "m3-systick", "m3-nested", "m3-faults", "m4-sched", "m7-crash", "m33-tz", "m55-loops"]
CHAINED = 0xfffffffe


def leb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value, at


def wide(code, at):
    return 4 if code[at + 1] >> 3 >= 0x1d else 2


def read_log(path):
    """What was executed: ('i', address) and ('e', number, return address, chained)."""
    data = gzip.open(path).read()
    at = data.index(b"\n\n") + 2
    runs, last, out = [], 0, []

    def take():
        nonlocal at
        value, at = leb(data, at)
        return value

    while True:
        tag = take()
        if tag == 0:
            return out
        if tag == 1:
            value = take()
            last += ~(value >> 1) if value & 1 else value >> 1
            last &= 0xffffffffffffffff
            take(), take()
            count, size = take(), take()
            code, pc, run = data[at:at + size], 0, []
            at += size
            for _ in range(count):
                run.append(("i", last + pc))
                pc += wide(code, pc)
            runs.append(run)
            out += run
            newest = run
        elif tag == 2:
            number = take()
            take(), take(), take()
            address = take()
            take()
            out.append(("e", number, address, address == CHAINED))
        elif tag == 5:
            take(), take(), take(), take()
        elif tag == 6:
            out += newest * take()
        elif tag >= 16:
            newest = runs[tag - 16]
            out += newest
        else:
            raise ValueError(tag)


def pcs(done):
    return [int(line, 16) for line in done.out.split() if not line.startswith("#")]


def check_path(tool, want, what):
    """All but what runs behind the last branch."""
    got = pcs(tool.run("decode", "snap", "--format", "pcs"))
    equal(got, want[:len(got)], what)
    assert len(want) - len(got) <= 3, (what, len(want), len(got))


@case
def programs_of_the_m_profile_come_back(tool):
    for name in PROGRAMS:
        log = corpus() / "exec-m" / "logs" / f"{name}.exlog.gz"
        want = [x[1] for x in read_log(log) if x[0] == "i"]
        for protocol, *more in [("etmv4",), ("etmv3",), ("etmv4", "--config", "TRCCONFIGR=0x819,TRCCCCTLR=4"),
                                ("etmv4", "--config", "TRCCONFIGR=1,TRCSYNCPR=8", "--unit", "at-once=1"),
                                ("etmv4", "--framing", "memory"), ("etmv3", "--unit", "sync=64")]:
            if name == "m33-tz" and protocol == "etmv3":
                done = tool.run("encode", log, "--protocol", protocol, "-o", "no", status=3)
                assert "ETMv3 has no exception 7 (SecureFault)" in done.err, done.err
                continue
            tool.run("encode", log, "--protocol", protocol, "-o", "snap", "--force", *more)
            check_path(tool, want, (name, protocol, more))


TEXT = """trackway-log 1
profile m
cpu cortex-m33
context mode=thread security=secure
i 0x100 bf00
i 0x102 d0fd taken           # beq 0x100
i 0x100 bf00
exception irq300 return=0x102
context mode=handler
i 0x200 bf00
exception 24 return=0x202    # IRQ8
i 0x210 4770 eret
exception systick chained
i 0x220 4770 eret
i 0x202 4770 eret 0x102
context mode=thread
exception nmi return=0x102   # at once behind the return
context mode=handler
i 0x230 bd10 eret
context mode=thread
i 0x102 d0fd taken
i 0x100 bf00
i 0x102 d0fd
context security=nonsecure
i 0x104 4770 fret 0x300
context security=secure
i 0x300 e7fe
"""

PACKETS = """I_TRACE_ON
I_EXCEPT 0x32c IRQ300
I_EXCEPT 0x208 IRQ8
I_EXCEPT_RTN
I_EXCEPT 15 SysTick
I_EXCEPT_RTN
I_EXCEPT_RTN
I_EXCEPT 2 NMI
I_EXCEPT_RTN
I_FUNC_RET"""


@case
def what_the_m_profile_has_is_encoded(tool):
    tool.write("run.log", TEXT)
    want = [int(x[1], 0) for x in map(str.split, TEXT.splitlines()) if x and x[0] == "i"]
    for more in [(), ("--config", "TRCCONFIGR=1"), ("--config", "TRCIDR8=8")]:
        tool.run("encode", "run.log", "--protocol", "etmv4", "-o", "snap", "--force", *more)
        assert "type=Cortex-M33\n" in (tool.folder / "snap" / "device_0.ini").read_text()
        equal(pcs(tool.run("decode", "snap", "--format", "pcs")), want, more)
        listed = tool.run("packets", "snap").out
        found = [re.sub(r",.*", "", m[1]).strip() for m in re.finditer(
            r"^0x\w+ +0x\w+ \w+ +(I_(?:TRACE_ON|EXCEPT|EXCEPT_RTN|FUNC_RET)\b.*)$", listed, re.M)]
        names = [re.sub(r"^(I_EXCEPT) \S+ ", r"\1 ", x) for x in found]
        equal(names, [re.sub(r"^(I_EXCEPT) \S+ ", r"\1 ", x) for x in PACKETS.splitlines()], listed)
    # Handler mode alone, Non-secure alone.
    for victlr, kept in [("0x990201", 0), ("0x10201", 5), ("0x80201", 8)]:
        tool.run("encode", "run.log", "--protocol", "etmv4", "-o", "snap", "--force", "--config",
                 f"TRCVICTLR={victlr},TRCCONFIGR=1")
        got = pcs(tool.run("decode", "snap", "--format", "pcs", status=None))
        handlers = {0x200, 0x202, 0x210, 0x220, 0x230}
        if kept == 5:
            assert handlers <= set(got) and 0x300 not in got, got
        elif kept == 8:
            assert 0x300 in got and not handlers & set(got) - {0x200}, got


@case
def what_is_not_of_the_m_profile_is_refused(tool):
    tool.write("run.log", TEXT)
    for protocol, said in [("ete", "has no ETE"), ("ptm", "has no PTM")]:
        done = tool.run("encode", "run.log", "--protocol", protocol, "-o", "x", status=3)
        assert said in done.err, done.err
    done = tool.run("encode", "run.log", "--protocol", "etmv4", "--config", "TRFCR_EL1=3", "-o", "x", status=3)
    assert "the M profile has no such register" in done.err, done.err
    tool.write("bad.log", "trackway-log 1\nprofile m\nexception 512 return=0\n")
    done = tool.run("encode", "bad.log", "--protocol", "etmv4", "-o", "x", status=3)
    assert "a number from 1 to 511" in done.err, done.err


@case
def the_core_fits_the_program(tool):
    """Pointer authentication, later branches, cores of the M profile."""
    for opcode, protocol, core in [("d65f03c0", "etmv4", "Cortex-A57"), ("d65f0bff", "etmv4", "ARMv8.3-A"),
                                   ("d71f0841", "etmv4", "ARMv8.3-A"), ("5500001f", "etmv4", "ARM-AA64"),
                                   ("d65f0bff", "ete", "ARM-AA64")]:
        tool.write("run.log", f"trackway-log 1\ni 0x1000 {opcode} taken 0x2000\ni 0x2000 14000000\n")
        tool.run("encode", "run.log", "--protocol", protocol, "-o", "snap", "--force")
        assert f"type={core}\n" in (tool.folder / "snap" / "device_0.ini").read_text(), (opcode, core)
    for cpu, core in [("cortex-m7", "ARMv7-M"), ("cortex-m55", "Cortex-M55"), ("other", "ARMv7-M")]:
        tool.write("run.log", f"trackway-log 1\nprofile m\ncpu {cpu}\ni 0x100 e7fe\n")
        for protocol in ["etmv4", "etmv3", "itm"]:
            tool.run("encode", "run.log", "--protocol", protocol, "-o", "snap", "--force")
            assert f"type={core}\n" in (tool.folder / "snap" / "device_0.ini").read_text(), (cpu, core)


@case
def neighbouring_code_is_one_dump(tool):
    """An instruction that crosses from one page to the next can be read by all."""
    tool.write("run.log", "trackway-log 1\nisa t32\ni 0x1ffe f000b801\ni 0x2004 bf00\ni 0x2006 bf00\n"
               "i 0x2008 f7fdbffb\ni 0x2 bf00\ni 0x4 e7fe\n")
    tool.run("encode", "run.log", "--protocol", "etmv4", "-o", "snap")
    names = sorted(x.name for x in (tool.folder / "snap").glob("code_*"))
    equal(names, ["code_0.bin"], names)
    equal((tool.folder / "snap" / "code_0.bin").stat().st_size, 0x3000)
    tool.write("far.log", "trackway-log 1\ni 0x9000 d503201f\ni 0x9004 14000400\ni 0xa004 17fffbff\n"
               "i 0x9000 d503201f\ni 0x9004 15000000 \ni 0x4009004 14000000\n")
    tool.run("encode", "far.log", "--protocol", "ete", "-o", "far")
    equal(sorted(x.name for x in (tool.folder / "far").glob("code_*")), ["code_4009000.bin", "code_9000.bin"])


def small_program():
    """SVC; IRQ1; IRQ0 chained to it; an undefined instruction, HardFault."""
    lines = ["trackway-log 1", "profile m", "cpu cortex-m3", "context mode=thread", "i 0x48 f3af8000"]

    def nops(*addresses):
        lines.extend(f"i {x:#x} bf00" for x in addresses)

    nops(*range(0x4c, 0x56, 2))
    lines.extend(["i 0x56 df00", "exception svcall return=0x58", "context mode=handler", "i 0x80 b510",
                  "i 0x82 bd10 eret 0x58", "context mode=thread"])
    nops(0x58, 0x5a, 0x5c)
    lines.extend(["exception irq1 return=0x5e", "context mode=handler"])
    nops(0x8c, 0x8e, 0x90, 0x92)
    lines.extend(["i 0x94 4770 eret", "exception irq0 chained"])
    nops(0x88)
    lines.extend(["i 0x8a 4770 eret 0x5e", "context mode=thread"])
    nops(0x5e, 0x60)
    lines.extend(["exception hardfault return=0x62", "context mode=handler"])
    nops(0x78, 0x7a, 0x7c)
    lines.extend(["i 0x7e 4770 eret 0x64", "context mode=thread"])
    nops(*range(0x64, 0x72, 2))
    return "\n".join(lines) + "\n"


@case
def the_same_run_in_three_traces(tool):
    """The bytes that the rules give for ETMv3 and the DWT; the packets of ETMv4."""
    tool.write("run.log", small_program())
    for protocol, config, want in [
            ("etmv3", "ETMCR=0", "000000000080 082149000000 9c814116 8876d900 8c8d4102 9476894110 8876df00 88f9408601"
             " 907665 9c"),
            ("itm", "ITMTCR=0x100009", "0e0b10 0e0b20 0e0030 0e1110 0e1120 0e1010 0e1020 0e0030 0e0310 0e0320 0e0030"),
            ("etmv4", "TRCCONFIGR=1", "000000000000000000000080 0100 04 8100 9624 0617962c 8103 9640 f707 8100 91"
             " 0623962f 8103 9646 f707 06219b7fffffff 9b44000000 f707 8100 962f 06079631 8103 963c f707 8100 9632")]:
        tool.run("encode", "run.log", "--protocol", protocol, "--config", config, "-o", "snap", "--force")
        equal((tool.folder / "snap" / "trace.bin").read_bytes().hex(), want.replace(" ", ""), protocol)


@case
def a_failed_condition_is_no_execution(tool):
    """ETMv3 has an atom for each instruction: N where its condition failed."""
    tool.write("run.log", "trackway-log 1\nprofile m\ni 0x100 bf08\ni 0x102 2001 failed\ni 0x104 bf00\n")
    tool.run("encode", "run.log", "--protocol", "etmv3", "-o", "snap")
    assert "P_HDR EN\n" in tool.run("packets", "snap").out


def truth(name):
    """Entries as the program's truth has them: number, return address, chained."""
    found = []
    for line in gzip.open(corpus() / "exec-m" / "truth" / f"{name}.exceptions.gz", "rt"):
        field = line.split()
        if field and field[0] == "E":
            found.append((int(field[2]), int(field[3], 16), field[7] == "1"))
    return found


@case
def exceptions_have_one_number_in_every_trace(tool):
    """From ETMv4 and ETMv3 the number in IPSR, as the DWT has it; chained ones are told."""
    folder = corpus() / "exec-m" / "etm"
    for name in ["m3-systick", "m3-nested", "m3-faults", "m4-sched", "m7-crash", "m33-tz", "m55-loops"]:
        want = truth(name)
        for capture in sorted(folder.glob(f"{name}-etmv*")):
            rows = [json.loads(line) for line in tool.run("decode", capture, "--format", "jsonl").out.splitlines()
                    if '"EXCEPTION"' in line]
            equal([row["exc"] for row in rows], [x[0] for x in want], capture.name)
            tails = [row["m_tail"] for row in rows]
            if "etmv3" not in capture.name:
                equal(tails, [int(x[2]) for x in want], capture.name)
                equal([int(row["ret"], 16) for row in rows if not row["m_tail"]], [x[1] for x in want if not x[2]],
                      capture.name)
            else:  # a return that ended just before looks the same
                assert all(tail >= x[2] for tail, x in zip(tails, want)), capture.name
                assert sum(tails) - sum(x[2] for x in want) <= 1, capture.name


@case
def contexts_say_thread_and_handler(tool):
    tool.write("run.log", TEXT)
    tool.run("encode", "run.log", "--protocol", "etmv4", "-o", "snap")
    text = tool.run("decode", "snap").out
    for part in ["T32 Thread S", "T32 Handler S", "T32 Thread N", "number 0x32c IRQ300, exception 316 return 0x102",
                 "number 0x208 IRQ8, exception 24 return 0x202", "number 0xf SysTick chained",
                 "number 0x2 NMI return 0x102"]:
        assert part in text, f"{part}\n{text}"
    assert "EL0" not in text and "EL3" not in text, text
