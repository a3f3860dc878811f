# SPDX-License-Identifier: BSD-2-Clause
"""More faults for doctor.py: the same ones in recordings of other kinds, in trace of every unit, in instrumentation and RISC-V."""
import random
import struct

from doctor_faults import AUX, AUXTRACE, COMM, LOST, MMAP, MMAP2, TRUNCATED, opened, records, riscv

PERFS = ["p05-ete-raw-perthread-v1", "p13-walk-percpu-etmv4-v2-hwid00", "p20-walk-percpu-ete-raw-v2-hwid01", "p11-walk-percpu-etmv4-v0"]
UNITS = [("ptm", "a32-recur"), ("etmv3", "a32-recur"), ("etmv4", "a64-recur"), ("ete", "a64-recur")]
SWO = "m4-sched-a.swo"


def named(name, make):
    make.__name__ = name
    return make


def spoil(data, first, end, seed=3):
    """Some bytes are others."""
    dice = random.Random(seed)
    for _ in range(10):
        at = dice.randrange(first, end - 8)
        data[at:at + 8] = dice.randbytes(8)
    return data


# ---- perf.data

def no_mmap(data):
    for at, kind in records(data):
        if kind in (MMAP, MMAP2):
            struct.pack_into("<I", data, at, COMM)
            data[at + 16:at + 24] = b"unknown\0"


def aux_full(data):
    at = [at for at, kind in records(data) if kind == AUX][0]
    struct.pack_into("<Q", data, at + 24, struct.unpack_from("<Q", data, at + 24)[0] | TRUNCATED)


def lost_records(data):
    struct.pack_into("<I", data, [at for at, kind in records(data) if kind == COMM][-1], LOST)


def damaged(data):
    for at, kind in list(records(data)):
        if kind == AUXTRACE:
            first = at + struct.unpack_from("<H", data, at + 6)[0]
            size = struct.unpack_from("<Q", data, at + 8)[0]
            spoil(data, first + size // 4, first + size * 3 // 4)


def recording(change, name, wanted):
    def make(bench):
        data = bench.perf(f"{name}.perf.data")
        change(data)
        return bench.open_perf(data), wanted
    return named(f"{change.__name__}_{name}", make)


def no_programs(name):
    def make(bench):
        root = bench.folder / "empty"
        root.mkdir()
        return bench.open_perf(bench.perf(f"{name}.perf.data"), root), {"missing-image", "missing-code", "missing-kernel"}
    return named(f"no_programs_{name}", make)


# ---- trace units: the faults of doctor.py in snapshots that are made

def unit(fault, snapshot, protocol, name):
    def make(bench):
        snap = snapshot(bench.encode(name, protocol))
        return [snap.folder], fault(snap, snap.trace.read_bytes())
    return named(f"{fault.__name__}_{protocol}", make)


# ---- instrumentation, RISC-V: bytes

def bytes_of(change, wanted, protocol, kind=None, name=None):
    def make(bench):
        if kind:
            case, image = riscv(bench, kind, name)
            path = bench.write("trace.bin", change((case / "trace.bin").read_bytes()))
            return opened(protocol, path, case / "case.txt", image), wanted
        return [bench.write("x.swo", change((bench.corpus / "exec-m" / "swo" / SWO).read_bytes())), "--protocol", protocol], wanted
    return named(f"{change.__name__}_{protocol}", make)


def spoilt(data):
    return bytes(spoil(bytearray(data), 0, len(data)))


def empty(_):
    return b""


def notes(_):
    return b"notes about trace, and no trace\n" * 300


def noise(_):
    return random.Random(3).randbytes(8000)


def without_sync(data):
    return data[20:180]


def turned(data):
    return b"".join(data[i:i + 4][::-1] for i in range(0, len(data) - 3, 4))


def zeros(data):
    return bytes(len(data))


DAMAGE = {"damaged-trace", "gap", "wrong-image"}
RISCV = [("etrace", "riscv", "embench-slre-py-sijump"), ("ntrace", "ntrace", "rnd32b-htm-ts")]


def all_of(doctor):
    """The whole list; `doctor` has the faults of snapshots."""
    found = []
    for name in PERFS:
        found += [recording(no_mmap, name, {"no-mmap"}), recording(aux_full, name, {"aux-truncated"}), no_programs(name)]
    for name in PERFS[1:3]:
        found += [recording(lost_records, name, {"lost-records"}), recording(damaged, name, DAMAGE)]
    for protocol, name in UNITS:
        found += [unit(fault, doctor.Snapshot, protocol, name) for fault in
                  (doctor.image_gone, doctor.image_moved, doctor.image_other, doctor.registers_gone, doctor.type_wrong,
                   doctor.damaged, doctor.swapped, doctor.erased)]
    found += [bytes_of(spoilt, DAMAGE, "itm"), bytes_of(empty, {"empty"}, "itm"), bytes_of(notes, {"no-trace"}, "itm"),
              bytes_of(noise, {"no-sync", "no-trace", "damaged-trace"}, "itm"), bytes_of(without_sync, {"no-sync"}, "itm")]
    for words in RISCV:
        found += [bytes_of(spoilt, DAMAGE, *words), bytes_of(turned, {"swapped-bytes"}, *words), bytes_of(zeros, {"no-trace"}, *words),
                  bytes_of(notes, {"no-trace"}, *words)]
    return found
