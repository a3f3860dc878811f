# SPDX-License-Identifier: BSD-2-Clause
"""Programs run in QEMU: the path of the recording is the one that QEMU logs itself."""
import json
import os
import pathlib
import re
import shutil
import subprocess

from harness import Skip, case, corpus, equal

# Calls, a loop, a system call, a status of 7.
A64 = """
        .globl _start
_start: mov x19, #5
again:  bl work
        subs x19, x19, #1
        b.ne again
        mov x8, #64
        mov x0, #1
        adr x1, text
        mov x2, #3
        svc #0
        mov x8, #93
        mov x0, #7
        svc #0
work:   adr x1, rest
        br x1
rest:   ret
text:   .ascii "ok\\n"
"""
# A handler for SIGUSR1, the signal sent to itself, a fault with a handler, then one without.
A64_SIGNALS = """
        .globl _start
_start: adr x1, action
        adr x9, handler
        str x9, [x1]
        mov x0, #10
        bl install
        mov x0, #11
        bl install
        mov x8, #172
        svc #0
        mov x1, #10
        mov x8, #129
        svc #0
        mov x20, #3
loop:   mov x1, #0
        add x20, x20, #1
fault:  ldr x2, [x1]
after:  sub x20, x20, #2
        cbnz x20, loop
        adr x1, action
        str xzr, [x1]
        mov x0, #11
        bl install
        mov x1, #0
        ldr x2, [x1]
install: adr x1, action
        mov x2, #0
        mov x3, #8
        mov x8, #134
        svc #0
        ret
handler: cmp x0, #11
        b.ne done
        ldr x9, [x2, #440]      // uc_mcontext.pc
        add x9, x9, #4
        str x9, [x2, #440]
done:   ret
        .data
        .balign 8
action: .quad 0, 4, 0, 0
"""
ARM = """
        .syntax unified
        .arm
        .globl _start
_start: mov r4, #4
1:      blx work
        subs r4, r4, #1
        bne 1b
        mov r7, #1
        mov r0, #9
        svc #0
        .thumb
        .thumb_func
work:   push {lr}
        cmp r4, #2
        it eq
        addeq r5, r5, #1
        pop {pc}
"""
# QEMU looks at the first half of an instruction that reaches into the next page when it translates the one before, and counts
# it to that one: it seems to have four bytes.
ARM_PAGES = """
        .syntax unified
        .thumb
        .globl _start
        .thumb_func
_start: mov r4, #3
1:      bl work
        bl jump
        blx plain
        subs r4, r4, #1
        bne 1b
        movs r7, #1
        movs r0, #9
        svc #0
        .balign 4096
        .space 4092
        .thumb_func
work:   movs r3, #1
        mov.w r12, #112
        adds r3, r3, #1
        bx lr
        .balign 4096
        .space 4080
        .thumb_func
jump:   cmp r4, #2
        beq 2f
        nop
        nop
        nop
        nop
2:      movs r3, #1
        ldrd r0, r1, [sp]
        bx lr
        .balign 4096
        .arm
        .space 4092
plain:  ldm sp, {r0}
        bx lr
"""
RISCV = """
        .globl _start
_start: li s0, 6
1:      jal work
        addi s0, s0, -1
        bnez s0, 1b
        li a7, 93
        li a0, 3
        ecall
work:   addi s1, s1, 1
        ret
"""
KINDS = {
    "aarch64": ("aarch64-linux-gnu-", [], "qemu-aarch64"),
    "arm": ("arm-none-eabi-", ["-march=armv7-a"], "qemu-arm"),
    "riscv64": ("riscv64-linux-gnu-", ["-march=rv64gc"], "qemu-riscv64"),
    "riscv32": ("riscv64-linux-gnu-", ["-march=rv32gc", "-mabi=ilp32d"], "qemu-riscv32"),
}


def wants(tool, machine="aarch64"):
    if not (pathlib.Path(tool.program).parent / "trackway-qemu.so").exists():
        raise Skip("this build has no plug-in for QEMU")
    prefix, _, qemu = KINDS[machine]
    for program in [prefix + "as", prefix + "ld", qemu]:
        if not shutil.which(program):
            raise Skip(f"no {program}")


def build(tool, text, machine="aarch64", name="program"):
    wants(tool, machine)
    prefix, more, _ = KINDS[machine]
    tool.write(name + ".s", text.replace("\\\\", "\\"))
    subprocess.run([prefix + "as", *more, "-o", name + ".o", name + ".s"], cwd=tool.folder, check=True)
    emulation = ["-m", "elf32lriscv"] if machine == "riscv32" else []
    subprocess.run([prefix + "ld", *emulation, "-o", name, name + ".o"], cwd=tool.folder, check=True)
    return "./" + name


def logged(tool, program, machine="aarch64"):
    """Every instruction that QEMU says it began, in another run."""
    subprocess.run([KINDS[machine][2], "-singlestep", "-d", "exec,nochain", "-D", "qemu.log", program],
                   cwd=tool.folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    text = (tool.folder / "qemu.log").read_text()
    return [int(address, 16) for address in re.findall(r"^Trace \d+: \S+ \[\w+/(\w+)/", text, re.M)]


def pcs(done):
    return [int(line, 16) for line in done.out.split() if not line.startswith("#")]


@case
def a_program_is_recorded(tool):
    program = build(tool, A64)
    want = logged(tool, program)
    for protocol in ["ete", "etmv4"]:
        done = tool.run("record", "--protocol", protocol, "--", program, status=7)
        equal(done.out, "ok\n")
        equal(pcs(tool.run("decode", "perf.data", "--format", "pcs")), want, protocol)
        tool.run("record", "--protocol", protocol, "--format", "snapshot", "-o", "snap", "--force",
                 program, status=7)
        equal(pcs(tool.run("decode", "snap", "--format", "pcs")), want, protocol)
    assert (tool.folder / "perf.data.old").exists()


@case
def a32_and_t32_are_recorded(tool):
    for text in [ARM, ARM_PAGES]:
        program = build(tool, text, "arm")
        want = logged(tool, program, "arm")
        for protocol in ["etmv4", "ptm", "etmv3"]:
            tool.run("record", "--protocol", protocol, "-o", "out.data", program, status=9)
            equal(pcs(tool.run("decode", "out.data", "--format", "pcs")), want, protocol)
            # Where code went on elsewhere than it seemed to, it was interrupted.
            equal("IRQ" in tool.run("decode", "out.data").out, False, protocol)


@case
def riscv_is_recorded(tool):
    for machine in ["riscv64", "riscv32"]:
        program = build(tool, RISCV, machine)
        want = logged(tool, program, machine)
        for protocol in ["etrace", "ntrace"]:
            tool.run("record", "--format", "snapshot", "--protocol", protocol, "-o", protocol, "--force", program,
                     status=3)
            got = pcs(tool.run("decode", protocol, "--format", "pcs"))
            # An ECALL traps: N-Trace does not count it as retired.
            equal(got, want if protocol == "etrace" else [pc for pc in want if pc in got], protocol)
        # perf has no form for this trace: a snapshot without being asked, and never a file that nothing opens.
        tool.run("record", "-o", "unasked", "--force", program, status=3)
        equal(pcs(tool.run("decode", "unasked", "--format", "pcs")), want)
        assert "snapshot" in tool.run("record", "--format", "perf", program, status=2).err


@case
def settings_of_units_come_from_files_and_presets(tool):
    program = build(tool, A64)
    want = logged(tool, program)
    (tool.folder / "registers").write_text("# cycle counts\n[registers]\nTRCCONFIGR = 0x1851\nTRCCCCTLR = 4\n")
    (tool.folder / "choices").write_text("return-stack=4\ncycles=3\n")
    tool.run("record", "--config", "registers", "--unit", "choices", "-o", "one.data", program, status=7)
    tool.run("record", "--config", "TRCCONFIGR=0x1851,TRCCCCTLR=4", "--unit", "return-stack=4,cycles=3", "-o", "two.data",
             program, status=7)
    for name in ["one.data", "two.data"]:
        equal(pcs(tool.run("decode", name, "--format", "pcs")), want)
        assert "CYCLE_COUNT" in tool.run("decode", name).out, name
    (tool.folder / "broken").write_text("TRCCONFIGR=1\nnonsense\n")
    # perf's files lead from a context ID to the process, and from there to its code.
    tool.run("record", "--config", "TRCCONFIGR=0x1801", "-o", "untold.data", program, status=7)
    said = tool.run("doctor", "untold.data", "--format", "jsonl", status=1).out.splitlines()
    equal(json.loads(said[0])["code"], "no-context")
    assert "broken, line 2" in tool.run("record", "--config", "broken", program, status=3).err
    place = f"{want[0]:#x}-{want[0] + 8:#x}"
    inside = [pc for pc in want if want[0] <= pc < want[0] + 8]
    tool.run("record", "--preset", "include", "--range", place, "-o", "in.data", program, status=7)
    equal(pcs(tool.run("decode", "in.data", "--format", "pcs")), inside)
    tool.run("record", "--preset", "exclude", "--range", place, "-o", "ex.data", program, status=7)
    equal(pcs(tool.run("decode", "ex.data", "--format", "pcs")), [pc for pc in want if pc not in inside])
    assert "--range" in tool.run("record", "--preset", "exclude", program, status=2).err
    assert "esp32" in tool.run("record", "--preset", "esp32", program, status=2).err


@case
def signals_and_faults(tool):
    program = build(tool, A64_SIGNALS)
    symbols = subprocess.run(["aarch64-linux-gnu-nm", program], cwd=tool.folder, check=True,
                             capture_output=True, text=True).stdout
    place = {name: int(address, 16) for address, _, name in map(str.split, symbols.splitlines())}
    want = logged(tool, program)
    done = tool.run("record", program, status=139)
    assert "signal 11" in done.err, done.err
    # What faults is begun, and so logged, but does not retire.
    last = want[-1]
    want = [pc for pc in want[:-1] if pc != place["fault"]]
    assert last != place["fault"]
    equal(pcs(tool.run("decode", "perf.data", "--format", "pcs")), want)


@case
def perf_reads_what_is_recorded(tool):
    if not shutil.which("perf"):
        raise Skip("no perf")
    program = build(tool, A64)
    tool.run("record", program, status=7)
    theirs = subprocess.run(["perf", "script", "-i", "perf.data", "--itrace=b", "-F", "pid,tid,cpu,ip,addr"],
                            cwd=tool.folder, check=True, capture_output=True, text=True).stdout
    ours = tool.run("branches", "perf.data").out
    equal([re.findall(r"(\w+) =>\s+(\w+)", line) for line in theirs.splitlines()],
          [re.findall(r"(\w+) => (\w+)", line) for line in ours.splitlines()])


@case
def ring_filter_strobe_and_bound(tool):
    program = build(tool, A64)
    want = logged(tool, program)
    tool.run("record", "--range", f"{want[0]:#x}-{want[0] + 8:#x}", program, status=7)
    equal(pcs(tool.run("decode", "perf.data", "--format", "pcs")),
          [pc for pc in want if want[0] <= pc < want[0] + 8])
    tool.run("record", "--strobe-on", "8", "--strobe-off", "8", program, status=7)
    some = pcs(tool.run("decode", "perf.data", "--format", "pcs"))
    assert 0 < len(some) < len(want)
    assert all(pc in want for pc in some)
    tool.run("record", "--ring", "24", program, status=7)
    assert re.search(r": 24 bytes, raw", tool.run("info", "perf.data").out)
    assert "--max-size" in tool.run("record", "--max-size", "1", program, status=7).err


# What `encode` knows of each unit: words of the command, a text that the decoded trace has, one that it has not.
OPTIONS = {
    "aarch64": [
        ("ete", [], "TIMESTAMP", "CYCLE_COUNT"), ("ete", ["--config", "TRCCONFIGR=0x1"], "INSTR_RANGE", "TIMESTAMP|cid="),
        ("ete", ["--config", "TRCCONFIGR=0x1851,TRCCCCTLR=4"], "CYCLE_COUNT", None),
        ("ete", ["--config", "TRCCONFIGR=0x1849,TRCBBCTLR=0"], "TIMESTAMP", None),
        ("ete", ["--unit", "return-stack=2"], "TIMESTAMP", None),
        ("etmv4", ["--config", "TRCCONFIGR=0x1851,TRCCCCTLR=4"], "CYCLE_COUNT", None),
        ("etmv4", ["--config", "TRCCONFIGR=0x1041"], "cid=", "TIMESTAMP")],
    "arm": [
        ("ptm", [], "cid=", "cc="), ("ptm", ["--config", "ETMCR=0x3000d000"], "cc=", None),
        ("ptm", ["--config", "ETMCR=0x100"], "INSTR_RANGE", "cid="),
        ("ptm", ["--unit", "return-stack=2,sync=64"], "cid=", None),
        ("etmv3", ["--config", "ETMCR=0x1000d000"], "cc=", None), ("etmv3", ["--unit", "sync=64"], "cid=", "cc=")],
    "riscv64": [
        ("etrace", ["--config", "implicit_return=1,return_stack_size_p=3"], "INSTR_RANGE", "TIMESTAMP"),
        ("etrace", ["--config", "notime_p=0,time_width_p=16"], "TIMESTAMP", None),
        ("etrace", ["--config", "preset=esp32"], "INSTR_RANGE", None),
        ("etrace", ["--unit", "ResyncMode=1,ResyncMax=0"], "INSTR_RANGE", None),
        ("ntrace", ["--config", "timestamps=1"], "TIMESTAMP", None),
        ("ntrace", ["--config", "mode=btm"], "INSTR_RANGE", "TIMESTAMP"),
        ("ntrace", ["--unit", "trTeInstEnAllJumps=1,short-messages=1"], "INSTR_RANGE", None)],
}
# Filters of the units' own, for what lies from {first} on; and buffers that overflow.
FILTERS = [
    ("aarch64", "ete", ["--config", "TRCVIIECTLR=1,TRCACVR0={first:#x},TRCACVR1=0xffffffff"]),
    ("riscv64", "etrace", ["--config", "retires_p=1,comparators_p=2,filters_p=2", "--unit",
                           "iFilters=1,filter0.filterEnable=1,filter0.matchComp1=1,filter0.comp1=1,"
                           "comparator1.pFunction=5,comparator1.pMatch={first:#x}"]),
    ("riscv64", "ntrace", ["--unit", "trTeInstFilters=1,trTeFilter0Enable=1,trTeFilter0MatchComp1=1,"
                           "trTeFilter0Comp1=1,trTeComp1PFunction=5,trTeComp1PMatchLow={first:#x}"]),
]
BUFFERS = [("aarch64", "ete", "fifo=48,cycles-per-byte=30"), ("aarch64", "etmv4", "fifo=40,cycles-per-byte=30"),
           ("riscv64", "etrace", "fifo=64,cycles-per-byte=500"), ("riscv64", "ntrace", "fifo=80,cycles-per-byte=500")]
SOURCES = {"aarch64": (A64, 7), "arm": (ARM, 9), "riscv64": (RISCV, 3)}


@case
def units_have_the_options_of_encode(tool):
    for machine, rows in OPTIONS.items():
        source, status = SOURCES[machine]
        program = build(tool, source, machine)
        want = logged(tool, program, machine)
        for protocol, words, has, lacks in rows:
            tool.run("record", "--format", "snapshot", "-o", "snap", "--force", "--protocol", protocol, *words, program,
                     status=status)
            got = pcs(tool.run("decode", "snap", "--format", "pcs"))
            equal(got, want if protocol != "ntrace" else [pc for pc in want if pc in got], (protocol, words))
            text = tool.run("decode", "snap", "-q").out
            assert lacks is None or not re.search(lacks, text), (protocol, words, text)
            assert re.search(has, text), (protocol, words, text)


@case
def units_have_filters_and_buffers(tool):
    def recorded(machine, protocol, words):
        source, status = SOURCES[machine]
        source = source.replace("s0, 6", "s0, 200").replace("x19, #5", "x19, #200")
        tool.run("record", "--format", "snapshot", "-o", "snap", "--force", "--protocol", protocol, *words,
                 build(tool, source, machine), status=status)
        return pcs(tool.run("decode", "snap", "--format", "pcs", status=None))  # 1: there are losses

    for machine, protocol, words in FILTERS:
        want = recorded(machine, protocol, [])
        first = sorted(set(want))[len(set(want)) // 2]
        equal(recorded(machine, protocol, [word.format(first=first) for word in words]),
              [pc for pc in want if pc >= first], (protocol, hex(first)))
    for machine, protocol, words in BUFFERS:
        want = recorded(machine, protocol, [])
        some = recorded(machine, protocol, ["--unit", words])
        assert 0 < len(some) < len(want) and set(some) <= set(want), (protocol, len(some), len(want))


@case
def functions_are_filtered(tool):
    program = build(tool, A64.replace("work:", ".type work, %function\nwork:").replace(
        "text:", ".size work, .-work\ntext:"))
    want = logged(tool, program)
    symbols = subprocess.run(["aarch64-linux-gnu-nm", program], cwd=tool.folder, check=True,
                             capture_output=True, text=True).stdout
    place = {name: int(address, 16) for address, _, name in map(str.split, symbols.splitlines())}
    inside = [pc for pc in want if place["work"] <= pc < place["text"]]
    assert inside
    tool.run("record", "--filter", "work", program, status=7)
    equal(pcs(tool.run("decode", "perf.data", "--format", "pcs")), inside)
    tool.run("record", "--filter", f"{want[0]:#x}-{want[0] + 8:#x}", "--filter", "work", program, status=7)
    equal(pcs(tool.run("decode", "perf.data", "--format", "pcs")),
          [pc for pc in want if pc in inside or want[0] <= pc < want[0] + 8])
    assert "no function" in tool.run("record", "--filter", "nothing", program, status=3).err
    subprocess.run(["aarch64-linux-gnu-strip", program], cwd=tool.folder, check=True)
    assert "no symbols" in tool.run("record", "--filter", "work", program, status=3).err
    tool.run("record", program, status=7)
    equal(pcs(tool.run("decode", "perf.data", "--format", "pcs")), want, "stripped")
    tool.run("record", "--snapshot", "24", program, status=7)
    assert re.search(r": 24 bytes, raw", tool.run("info", "perf.data").out)


@case
def what_cannot_be_recorded_is_said(tool):
    program = build(tool, A64)
    tool.write("text", "no program")
    assert "no ELF" in tool.run("record", "./text", status=3).err
    assert "no program" in tool.run("record", "./nothing", status=3).err
    assert "another kind of processor" in tool.run("record", tool.program, status=3).err
    assert "ete|etmv4" in tool.run("record", "--protocol", "ptm", program, status=2).err
    assert "apt-get install" in tool.run("record", "--qemu", "no-such-qemu", program, status=3).err
    assert "no register TRCNOTHING" in tool.run("record", "--config", "TRCNOTHING=1", program, status=3).err


@case
def logs_of_the_corpus_are_repeated(tool):
    wants(tool)
    arguments = {"a64-recur": (1, 83), "a64-indirect": (100, 67), "a64-coro": (200, 32),
                 "a64-O0-parse": (20, 7), "a32-recur": (5, 5), "mix-indirect": (100, 67)}
    logs = corpus() / "exec" / "logs"
    for name, (argument, status) in arguments.items():
        protocol = "ete" if name.startswith("a64") else "ptm"
        shutil.copy(logs / f"{name}.elf", tool.folder / name)
        os.chmod(tool.folder / name, 0o755)
        tool.run("encode", logs / f"{name}.exlog.gz", "--protocol", protocol, "--elf",
                 logs / f"{name}.elf", "-o", "snap", "--force")
        tool.run("record", "--protocol", protocol, "-o", "out.data", "./" + name, argument, status=status)
        want, got = (tool.run("decode", capture, "--format", "path").out.splitlines()[1:]
                     for capture in ["snap", "out.data"])
        assert want == got, (name, len(want), len(got))
