#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench_growth.py FOLDER: perf.data files of a hundred processes, a thousand mappings and ten CPUs beside those of 10,000, 100,000 and
1,000 (with PTM: of ETMv4 800 fit the 64 KiB that perf.data has for what it says of them): host instructions of a whole decode for each byte of the file, over those of the small one."""
import pathlib
import shutil
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from perf_file import ETMV3, ETMV4, PerfFile, RAW, WORDS, record  # noqa: E402

REGISTERS = {"TRCCONFIGR": 0x41, "TRCIDR0": 0x28000ea1, "TRCIDR1": 0x4100f403, "TRCIDR2": 0x488}
# At 0x4000: nop, cbz x0 0x400c, nop, b 0x4000.
CODE = struct.pack("<4I", 0xd503201f, 0xb4000040, 0xd503201f, 0x17fffffd)
PTM = {"ETMCR": 0xc000, "ETMCCER": 0x00c00000, "ETMIDR": 0x411cf312}
# At 0x4000 of A32: nop, beq 0x4000, nop, b 0x4000.
CODE_A32 = struct.pack("<4I", 0xe320f000, 0x0afffffd, 0xe320f000, 0xeafffffb)
SYNC = bytes(11) + b"\x80\x01\x00\x04"


class Long(PerfFile):
    """The same, of many records: they are put together once."""

    def __init__(self):
        super().__init__()
        self.parts, self.size = [], 0

    def add(self, kind, body, misc=0):
        self.parts.append(record(kind, body, misc))
        self.size += len(self.parts[-1])

    def trace(self, data, offset=0, tid=0xffffffff, cpu=0xffffffff, index=0):
        data += bytes(-len(data) % 8)
        self.pieces.append(self.size)
        self.add(71, struct.pack("<QQQIIII", len(data), offset, 0, index, tid, cpu, 0))
        self.parts.append(data)
        self.size += len(data)

    def bytes(self):
        self.records = b"".join(self.parts)
        return super().bytes()


def context(pid, atoms=40):
    """A process goes on at 0x4000: its context, the address, atoms."""
    return b"\x81\xb0" + struct.pack("<I", pid) + b"\x9d\0\x20" + bytes(6) + b"\xf7" * atoms


def processes(count):
    """So many, one after the other on one CPU, each with a mapping of its own."""
    made = Long()
    made.info(ETMV4, {0: {**REGISTERS, "TRCTRACEIDR": 0x10}})
    for pid in range(1000, 1000 + count):
        made.comm(pid, f"p{pid}", 5)
        made.map(pid, 0x4000, 16, 0, "/bin/one", 6)
    trace = b"".join(SYNC + context(pid) for pid in range(1000, 1000 + count))
    made.aux(0, len(trace), RAW, 1000, 9)
    made.trace(trace, cpu=0)
    return made.bytes()


def mappings(count):
    """So many of one process, of which the trace visits one; and a trace that grows with them."""
    made = Long()
    made.info(ETMV4, {0: {**REGISTERS, "TRCTRACEIDR": 0x10}})
    made.comm(100, "one", 5)
    made.map(100, 0x4000, 16, 0, "/bin/one", 6)
    for number in range(count):
        made.map(100, 0x10000 + 0x1000 * number, 0x1000, 0, "/bin/two", 7 + number)
    trace = SYNC + context(100, 40 * (count // 10))
    made.aux(0, len(trace), RAW, 100, 9 + count)
    made.trace(trace, cpu=0)
    return made.bytes()


def each_cpu(count, magic, registers, program, trace):
    """So many, each with its own stream."""
    made = Long()
    made.arch = "aarch64" if magic == ETMV4 else "arm"
    made.info(magic, {cpu: {**registers, WORDS[magic][1]: 0x10 + cpu % 100} for cpu in range(count)})
    made.comm(100, "one", 5)
    made.map(100, 0x4000, 16, 0, program, 6)
    for cpu in range(count):
        made.aux(0, len(trace), RAW, 100, 9 + cpu, cpu)
        made.trace(trace, cpu=cpu, index=cpu)
    return made.bytes()


def cpus(count):
    return each_cpu(count, ETMV4, REGISTERS, "/bin/one", SYNC + context(100, 2000))


def cpus_of_ptm(count):
    """Synchronization, the address with the context, groups of three atoms."""
    return each_cpu(count, ETMV3, PTM, "/bin/three", bytes(5) + b"\x80\x08" + struct.pack("<IBI", 0x4000, 0x21, 100) + b"\x94" * 2000)


def host_instructions(tool, work, data):
    """Of a whole decode, its start and its lines too."""
    (work / "perf.data").write_bytes(data)
    out = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", tool, "decode", "perf.data",
                          "--sysroot", "root", "-q", "--threads", "1"], cwd=work, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, check=False)
    if out.stdout.count(b"INSTR_RANGE") < 30:
        sys.exit("bench: nothing was decoded")
    return next(int(line.split()[-1]) for line in out.stderr.splitlines() if b"Collected" in line)


def per_byte(tool, work, make, count):
    """What is more than for a tenth of that, which a start has no part in."""
    less, more = make(count // 10), make(count)
    return (host_instructions(tool, work, more) - host_instructions(tool, work, less)) / (len(more) - len(less))


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    tool, work = folder.parent / "trackway", folder / "growth-work"
    if not shutil.which("valgrind"):
        print("# growth of perf.data: skipped, no valgrind")
        return
    shutil.rmtree(work, ignore_errors=True)
    (work / "root" / "bin").mkdir(parents=True)
    (work / "root" / "bin" / "one").write_bytes(CODE)
    (work / "root" / "bin" / "three").write_bytes(CODE_A32)
    (work / "root" / "bin" / "two").write_bytes(bytes(4096))
    print("# growth of perf.data: host instructions for each byte, over those of a hundredth of it")
    for name, make, small, many in (("processes-10000", processes, 100, 10000), ("mmaps-100000", mappings, 1000, 100000),
                                    ("cpus-800", cpus, 10, 800), ("cpus-1000", cpus_of_ptm, 10, 1000)):
        before, after = (per_byte(tool, work, make, count) for count in (small, many))
        print(f"growth/{name} {after / before:.3f}  {before:.0f} and {after:.0f} host instructions for each byte")
        sys.stdout.flush()
    shutil.rmtree(work)


main()
