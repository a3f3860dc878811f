# SPDX-License-Identifier: BSD-2-Clause
"""Machines without operating system in QEMU: exceptions, levels, several processors."""
import re
import shutil
import subprocess

from harness import Skip, case, corpus, equal
from record_cases import wants

# From EL3 down to EL0, a system call, a fault and an undefined instruction there, and out by semihosting.
A64 = """
        .globl _start
_start: mrs x0, CurrentEL
        lsr x0, x0, #2
        cmp x0, #3
        b.ne at2
        adr x1, vectors
        msr vbar_el3, x1
        mov x1, #0x531
        msr scr_el3, x1
        mov x1, #0x3c9
        msr spsr_el3, x1
        adr x1, at2
        msr elr_el3, x1
        eret
at2:    adr x1, vectors
        msr vbar_el1, x1
        msr cptr_el2, xzr
        mov x1, #1 << 31
        msr hcr_el2, x1
        mov x1, #0x3c5
        msr spsr_el2, x1
        adr x1, at1
        msr elr_el2, x1
        eret
at1:    mov x1, #0x3c0
        msr spsr_el1, x1
        adr x1, at0
        msr elr_el1, x1
        eret
at0:    mov x5, #3
1:      sub x5, x5, #1
        cbnz x5, 1b
        svc #0
        mov x1, #1
        lsl x1, x1, #44
fault1: ldr x2, [x1]
fault2: .inst 0
        svc #1
        .balign 2048
vectors:
        .space 0x400
        add x9, x9, #1
        mrs x1, esr_el1
        lsr x2, x1, #26
        cmp x2, #0x15
        b.ne skip
        tbnz x1, #0, out
        eret
skip:   mrs x1, elr_el1
        add x1, x1, #4
        msr elr_el1, x1
        eret
out:    adr x1, block
        mov x0, #0x18
        hlt #0xf000
        b .
        .balign 8
block:  .quad 0x20026, 0
"""
# Supervisor and User mode; a call, an undefined instruction, an abort.
A32 = """
        .syntax unified
        .arm
        .globl _start
_start: ldr r0, =vectors
        mcr p15, 0, r0, c12, c0, 0
        isb
        ldr r1, =0x40010000
        mov sp, r1
        cps #0x10
        mov r4, #2
1:      svc #0
        subs r4, r4, #1
        bne 1b
fault1: .inst 0xe7f000f0
        mov r0, #0x18
        ldr r1, =0x20026
        svc #1
        .balign 32
vectors:
        b .
        b undef
        b call
        b .
        b .
call:   push {r0, r1}
        ldr r0, [lr, #-4]
        tst r0, #1
        pop {r0, r1}
        bne out
        movs pc, lr
undef:  movs pc, lr
out:    mov r0, #0x18
        ldr r1, =0x20026
        svc #0x123456
        b .
"""
M = """
        .syntax unified
        .cpu cortex-m3
        .thumb
        .section .vectors, "a"
        .word 0x20001000
        .word start + 1
        .word 0, hard + 1, 0, 0, 0, 0, 0, 0, 0
        .word svc + 1, 0, 0, pend + 1, 0
        .text
        .thumb_func
        .globl start
start:  movs r4, #3
loop:   svc #0
        subs r4, #1
        bne loop
        ldr r0, =0xe000ed04
        ldr r1, =1 << 28
        cpsid i
        str r1, [r0]
        cpsie i
        nop
fault1: .inst.n 0xde00
        ldr r1, =0x20026
        movs r0, #0x18
        bkpt #0xab
        b .
        .thumb_func
svc:    adds r7, #1
        bx lr
        .thumb_func
pend:   push {r4, lr}
        nop
        pop {r4, pc}
        .thumb_func
hard:   ldr r0, [sp, #24]
        adds r0, #2
        str r0, [sp, #24]
        bx lr
"""
# Machine and User mode; calls, a fault, an illegal instruction; the other hart counts and waits.
RISCV = """
        .globl _start
_start: csrr t0, mhartid
        bnez t0, second
        la t0, handler
        csrw mtvec, t0
        la t0, user
        csrw mepc, t0
        li t1, 0x1800
        csrc mstatus, t1
        li t0, -1
        csrw pmpaddr0, t0
        li t0, 31
        csrw pmpcfg0, t0
        mret
        .balign 4
handler: csrr t1, mepc
        addi t1, t1, 4
        csrw mepc, t1
        addi s1, s1, 1
        li t2, 4
        beq s1, t2, out
        mret
out:    la t0, flag
4:      lw t1, 0(t0)
        beqz t1, 4b
        li t0, 0x100000
        li t1, 0x5555
        sw t1, 0(t0)
end:    j end
user:   li s0, 3
1:      addi s0, s0, -1
        bnez s0, 1b
        ecall
fault1: lw t3, 0(zero)
fault2: .word 0
        nop
        ecall
second: li s0, 50
2:      jal work
        addi s0, s0, -1
        bnez s0, 2b
        la t0, flag
        sw s1, 0(t0)
3:      wfi
        j 3b
work:   addi s1, s1, 1
        ret
        .data
flag:   .word 0
"""
SEMIHOSTING = ["-semihosting-config", "enable=on,target=native"]
NO_NETWORK = ["-nic", "none"]  # its boot ROM is in a package of its own
KINDS = {
    "aarch64": ("aarch64-linux-gnu-", [], ["-Ttext=0x40080000"], "qemu-system-aarch64",
                ["-M", "virt,secure=on,virtualization=on", "-cpu", "cortex-a72", *NO_NETWORK, *SEMIHOSTING]),
    "arm": ("arm-none-eabi-", ["-march=armv7-a"], ["-Ttext=0x40008000"], "qemu-system-arm",
            ["-M", "virt", "-cpu", "cortex-a15", *NO_NETWORK, *SEMIHOSTING]),
    "m": ("arm-none-eabi-", [], ["-Ttext=0x100", "--section-start=.vectors=0", "-e", "start"], "qemu-system-arm",
          ["-M", "lm3s6965evb", *SEMIHOSTING]),
    "riscv64": ("riscv64-linux-gnu-", ["-march=rv64g"], ["-Ttext=0x80000000"], "qemu-system-riscv64",
                ["-M", "virt", "-bios", "none"]),
    "riscv32": ("riscv64-linux-gnu-", ["-march=rv32g", "-mabi=ilp32"], ["-melf32lriscv", "-Ttext=0x80000000"],
                "qemu-system-riscv32", ["-M", "virt", "-bios", "none"]),
}


def build(tool, text, kind):
    wants(tool)
    prefix, assemble, link, qemu, _ = KINDS[kind]
    for program in [prefix + "as", prefix + "ld", qemu]:
        if not shutil.which(program):
            raise Skip(f"no {program}")
    tool.write("program.s", text)
    subprocess.run([prefix + "as", *assemble, "-o", "program.o", "program.s"], cwd=tool.folder, check=True)
    subprocess.run([prefix + "ld", *link, "-o", "program", "program.o"], cwd=tool.folder, check=True)
    symbols = subprocess.run([prefix + "nm", "program"], cwd=tool.folder, check=True, capture_output=True,
                             text=True).stdout
    return {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines()}


def logged(tool, kind, *more):
    """What QEMU says that each processor began, in another run."""
    _, _, _, qemu, machine = KINDS[kind]
    subprocess.run([qemu, "-accel", "tcg,thread=single", "-display", "none", *machine, *more, "-kernel", "program",
                    "-singlestep", "-d", "exec,nochain", "-D", "qemu.log"],
                   cwd=tool.folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    cpus = {}
    for cpu, address in re.findall(r"^Trace (\d+): \S+ \[\w+/(\w+)/", (tool.folder / "qemu.log").read_text(), re.M):
        cpus.setdefault(int(cpu), []).append(int(address, 16))
    return cpus


def record(tool, kind, protocol, *more):
    tool.run("record", "--system", "--protocol", protocol, "--force", "-o", "snap", "--", "./program",
             *KINDS[kind][4], *more)


def path(tool):
    out = tool.run("decode", "snap", "--format", "pcs").out
    return [int(line, 16) for line in out.splitlines() if re.fullmatch(r"(0x)?[0-9a-f]+", line)]


def without_faults(place, addresses):
    faults = {address for name, address in place.items() if name.startswith("fault")}
    return [address for address in addresses if address not in faults]


def ends_alike(got, want, protocol):
    """No packet tells of what is straight code behind the last branch, where the machine ends."""
    equal(got, want[:len(got)], protocol)
    assert len(want) - len(got) <= 4, (protocol, len(want), len(got))


@case
def exception_levels_of_a64(tool):
    place = build(tool, A64, "aarch64")
    want = without_faults(place, logged(tool, "aarch64")[0])
    for protocol in ["ete", "etmv4"]:
        record(tool, "aarch64", protocol)
        got = path(tool)
        ends_alike(got, want, protocol)
        text = tool.run("decode", "snap").out
        for level in ["EL3", "EL2", "EL1", "EL0"]:
            assert level in text, (level, text)


@case
def modes_of_a32(tool):
    place = build(tool, A32, "arm")
    want = without_faults(place, logged(tool, "arm")[0])
    for protocol in ["etmv4", "ptm", "etmv3"]:
        record(tool, "arm", protocol)
        got = path(tool)
        ends_alike(got, want, protocol)


@case
def exceptions_of_the_m_profile(tool):
    place = build(tool, M, "m")
    want = without_faults(place, logged(tool, "m")[0])
    for protocol in ["etmv4", "etmv3"]:
        record(tool, "m", protocol)
        got = path(tool)
        ends_alike(got, want, protocol)


@case
def traps_and_harts_of_riscv(tool):
    for kind in ["riscv64", "riscv32"]:
        place = build(tool, RISCV, kind)
        logs = logged(tool, kind, "-smp", "2")
        want = without_faults(place, logs[0])
        want = want[:want.index(place["out"])]
        calls = {place["fault1"] - 4, place["second"] - 4}
        second = [address for address in logs[1] if address >= place["second"]][:150]
        for protocol in ["etrace", "ntrace"]:
            record(tool, kind, protocol, "-smp", "2")
            text = " ".join(f"{address:x}" for address in path(tool))
            # N-Trace does not count what traps as retired.
            first = [address for address in want if protocol == "etrace" or address not in calls]
            assert " ".join(f"{address:x}" for address in first) in text, (kind, protocol, text[:2000])
            assert " ".join(f"{address:x}" for address in second) in text, (kind, protocol, text[:2000])


@case
def security_states_of_the_m_profile(tool):
    wants(tool)
    if not shutil.which("qemu-system-arm"):
        raise Skip("no qemu-system-arm")
    logs = corpus() / "exec-m" / "logs"
    for name in ["m33-tz", "m33-tz-ns"]:
        shutil.copy(logs / f"{name}.elf", tool.folder)
    tool.run("record", "--system", "-o", "snap", "--", "./m33-tz.elf", "-semihosting", "-icount", "shift=5,sleep=off",
             "-device", "loader,file=m33-tz-ns.elf", status=None)
    tool.run("encode", logs / "m33-tz.exlog.gz", "--protocol", "etmv4", "--elf", "m33-tz.elf", "--elf", "m33-tz-ns.elf",
             "-o", "log")
    texts = [tool.run("decode", each, "-q").out for each in ["snap", "log"]]
    paths = [tool.run("decode", each, "--format", "pcs", "-q").out.split() for each in ["snap", "log"]]
    assert "bad-packet" not in texts[0] and "ADDR_NACC" not in texts[0]
    # Entries to Secure code by SG, returns to it, calls of Non-secure code: as often as the log has them.
    gates = [sum(pc.startswith(("100f0", "0x100f0")) for pc in path) for path in paths]
    equal(gates[0], gates[1])
    changes = [len(re.findall(r"PE_CONTEXT +T32 Thread N", text)) for text in texts]
    assert gates[1] > 100 and abs(changes[0] - changes[1]) < 10, (gates, changes)
    equal(paths[0], paths[1])
    # Where an exception returns to whose frame lies on another stack is not always known, but which it is.
    numbers = [re.findall(r"EXCEPTION +number (\S+)", text) for text in texts]
    assert len(numbers[1]) > 100
    equal(numbers[0], numbers[1])
