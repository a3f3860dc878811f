# SPDX-License-Identifier: BSD-2-Clause
"""Faults of recordings, programs, trace units and RISC-V encoders, one each, for doctor.py.

Each takes a Bench and gives the words for `trackway doctor`, and the codes that name the fault."""
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess

PERF = "p10-walk-percpu-etmv4-v1.perf.data"
MMAP, LOST, COMM, AUX, AUXTRACE, MMAP2 = 1, 2, 3, 11, 71, 10
TRUNCATED = 1


class Bench:
    def __init__(self, program, corpus, folder):
        self.program, self.corpus, self.folder = program, corpus, pathlib.Path(folder)

    def run(self, *words):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    def packets(self, *words):
        return [json.loads(line) for line in self.run("packets", *words, "--format", "jsonl").splitlines()]

    def write(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def perf(self, name=PERF):
        return bytearray((self.corpus / "perf" / name).read_bytes())

    def open_perf(self, data, root=None):
        return [self.write("perf.data", bytes(data)), "--sysroot", root or self.corpus / "perf" / "root"]

    def log(self, name):
        for folder in (self.corpus / "analysis" / "truth", self.corpus / "exec" / "logs"):
            if (folder / f"{name}.exlog.gz").exists():
                return folder / f"{name}.exlog.gz", folder / f"{name}.elf"
        raise AssertionError(name)

    def encode(self, name, protocol, *words):
        """A snapshot of a log of the corpus through a trace unit."""
        log, elf = self.log(name)
        self.run("encode", log, "--elf", elf, "--protocol", protocol, "-o", self.folder / "snap", *words)
        return self.folder / "snap"


def records(data):
    """(offset, type) of each record of a perf.data file."""
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        yield at, kind
        at += length + (struct.unpack_from("<Q", data, at + 8)[0] if kind == AUXTRACE else 0)


# ---- perf.data

def no_mmap(bench):
    data = bench.perf()
    for at, kind in records(data):
        if kind in (MMAP, MMAP2):
            struct.pack_into("<I", data, at, COMM)
            data[at + 16:at + 24] = b"unknown\0"
    return bench.open_perf(data), {"no-mmap"}


def lost_records(bench):
    data = bench.perf()
    at = [at for at, kind in records(data) if kind == COMM][-1]
    struct.pack_into("<I", data, at, LOST)
    return bench.open_perf(data), {"lost-records"}


def aux_full(bench):
    data = bench.perf()
    at = [at for at, kind in records(data) if kind == AUX][0]
    flags = struct.unpack_from("<Q", data, at + 24)[0]
    struct.pack_into("<Q", data, at + 24, flags | TRUNCATED)
    return bench.open_perf(data), {"aux-truncated"}


def jit(bench):
    data = bytes(bench.perf()).replace(b"/usr/bin/walk_a\0", b"//anon\0".ljust(16, b"\0"))
    return bench.open_perf(data), {"jit-without-map"}


def root_without(bench, change):
    root = bench.folder / "root"
    shutil.copytree(bench.corpus / "perf" / "root", root)
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755)
    for name in ("walk_a", "walk_b"):
        change(root / "usr" / "bin" / name)
    return root


def strip(path):
    """Sections are gone, and symbols with them."""
    data = bytearray(path.read_bytes())
    struct.pack_into("<Q", data, 0x28, 0)
    struct.pack_into("<HHH", data, 0x3a, 0, 0, 0)
    path.write_bytes(data)


def stripped(bench):
    return bench.open_perf(bench.perf(), root_without(bench, strip)), {"no-symbols"}


def other_build(bench):
    def change(path):
        data = path.read_bytes()
        note = data.index(b"GNU\0", data.index(b"\x03\0\0\0GNU\0"))
        path.write_bytes(data[:note + 4] + bytes(byte ^ 0x55 for byte in data[note + 4:note + 8]) + data[note + 8:])
    return bench.open_perf(bench.perf(), root_without(bench, change)), {"wrong-build"}


def no_programs(bench):
    root = bench.folder / "empty"
    root.mkdir()
    return bench.open_perf(bench.perf(), root), {"missing-image", "missing-code", "missing-kernel"}


def foreign_clocks(bench):
    """The second CPU counts from elsewhere."""
    data = bench.perf("p12-walk-percpu-ete-raw-vmid-v1.perf.data")
    path = bench.write("before.perf.data", bytes(data))
    changed = 0
    for packet in bench.packets(path):
        if packet["t"] == "I_TIMESTAMP" and packet["buf"].startswith("cpu1"):
            last = packet["i"] + len(packet["b"]) // 2 - 1
            assert data[last] == int(packet["b"][-2:], 16)
            data[last] = 0x7f
            changed += 1
    assert changed > 3
    return bench.open_perf(data), {"foreign-clocks"}


# ---- trace units that lose trace

def overflow(protocol, name, unit, *words):
    def make(bench):
        return [bench.encode(name, protocol, "--unit", unit, *words)], {"overflow"}
    make.__name__ = f"overflow_{protocol}"
    return make


# ---- trace units that do not tell all

def untold(protocol, name, config, code):
    """The program has its symbols: nothing else is worth a word."""
    def make(bench):
        return [bench.encode(name, protocol, "--config", config), "--symbols", bench.log(name)[1]], {code}
    make.__name__ = f"{code}_{protocol}".replace("-", "_")
    return make


# ---- code

def dumps_of(snap):
    """(device file, dump file, address) of each dump."""
    for path in sorted(snap.glob("*.ini")):
        for text in re.findall(r"^\[dump[^\]]*\][^\[]*", path.read_text(), re.M | re.I):
            yield path, snap / re.search(r"^file\s*=\s*(\S+)", text, re.M).group(1), \
                int(re.search(r"^address\s*=\s*(\w+)", text, re.M).group(1), 0)


def changed_code(is_late):
    """Branches that ran only in one half of the trace are others in the image."""
    def make(bench):
        snap = bench.encode("a64-jumps", "etmv4", "--config", "TRCCONFIGR=0x8c9")
        lines = [json.loads(line) for line in bench.run("decode", snap, "--format", "jsonl").splitlines()]
        ends = [(number, int(line["en"], 0) - 4) for number, line in enumerate(lines) if line["t"] == "INSTR_RANGE"]
        middle = len(lines) * (9 if is_late else 1) // 10
        here = {end for number, end in ends if (number >= middle) == is_late}
        there = {end for number, end in ends if (number >= middle) != is_late}
        for _, file, address in dumps_of(snap):
            data = bytearray(file.read_bytes())
            for end in here - there:
                if 0 <= end - address < len(data):
                    data[end - address:end - address + 4] = bytes.fromhex("1f2003d5")  # nop
            file.write_bytes(data)
        return [snap], {"modified-code"}
    make.__name__ = "changed_code_late" if is_late else "changed_code_early"
    return make


def wrong_space(name):
    def make(bench):
        snap = bench.folder / "snap"
        shutil.copytree(bench.corpus / name, snap)
        for path in [snap, *snap.rglob("*")]:
            path.chmod(0o755)
        for path, _, _ in list(dumps_of(snap)):
            text = re.sub(r"^space\s*=.*\n", "", path.read_text(), flags=re.M)
            path.write_text(re.sub(r"^(address\s*=.*)$", r"\1\nspace=EL3", text, flags=re.M))
        return [snap], {"wrong-space"}
    make.__name__ = "wrong_space"
    return make


# ---- RISC-V

def keys(path):
    return dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)


def riscv(bench, kind, name):
    case = bench.corpus / kind / "cases" / name
    image = (bench.corpus / kind / "programs" / keys(case / "case.txt")["program"]).resolve() if kind == "riscv" else \
        (bench.corpus / "ntrace" / keys(case / "case.txt")["program"]).resolve()
    return case, image / "image.txt"


def opened(protocol, trace, config, image):
    return [trace, "--protocol", protocol, "--config", config, "--image", image]


def wrong_setting(kind, name, key, value):
    """A width that is not the encoder's."""
    def make(bench):
        case, image = riscv(bench, kind, name)
        text, count = re.subn(rf"^{key}=.*$", f"{key}={value}", (case / "case.txt").read_text(), flags=re.M)
        assert count
        config = bench.write("case.txt", text.encode())
        return opened("etrace" if kind == "riscv" else "ntrace", case / "trace.bin", config, image), {"wrong-registers"}
    make.__name__ = f"wrong_{key}"
    return make


def mixed(protocol, kind, one, other):
    """The packets of two harts in one stream, some of one, some of the other."""
    def make(bench):
        dice = random.Random(6)
        streams = []
        for name in (one, other):
            case, image = riscv(bench, kind, name)
            data = (case / "trace.bin").read_bytes()
            starts = [packet["i"] for packet in
                      bench.packets(case / "trace.bin", "--protocol", protocol, "--config", case / "case.txt")] + [len(data)]
            streams.append([data[a:b] for a, b in zip(starts, starts[1:])])
        case, image = riscv(bench, kind, one)
        out = []
        while all(streams):
            stream, count = streams[dice.randrange(2)], dice.randrange(1, 12)
            out += stream[:count]
            del stream[:count]
        return opened(protocol, bench.write("mixed.bin", b"".join(out)), case / "case.txt", image), {"two-harts"}
    make.__name__ = f"two_harts_{protocol}"
    return make


def other_program(kind, protocol, name, other):
    def make(bench):
        case, _ = riscv(bench, kind, name)
        _, image = riscv(bench, kind, other)
        return opened(protocol, case / "trace.bin", case / "case.txt", image), {"wrong-image", "missing-image"}
    make.__name__ = f"other_program_{protocol}"
    return make


def no_image(bench):
    case, _ = riscv(bench, "riscv", "dhrystone-py-sijump")
    return [case / "trace.bin", "--protocol", "etrace", "--config", case / "case.txt"], {"missing-image"}


# ---- buffers

def sync_period(bench):
    """What lies between the second half of one sync period and the first of the next."""
    snap = bench.encode("a64-throw", "etmv4", "--config", "TRCCONFIGR=0xc9,TRCSYNCPR=12")
    data = (snap / "trace.bin").read_bytes()
    sync = bytes(11) + b"\x80"
    first = data.index(sync, 64)
    (snap / "trace.bin").write_bytes(data[first + 400:data.index(sync, first + 400) + 900])
    return [snap], {"sync-period"}


def faults(bench):
    """A program that ends in a HardFault: nothing is wrong with its trace."""
    return [bench.corpus / "exec-m" / "etm" / "m7-crash-etmv4"], {"faults"}


def aborted(level, to=None, times=1):
    """The log of a program that a data fault meets, so many times on one spot: it goes on at `to`, or never."""
    nop, loop = "d503201f", "14000000"  # b .
    handler = 0xffff000000080000
    lines = ["trackway-log 1", f"context el={level} cid=0x55", *(f"i {0x1000 + 4 * i:#x} {nop}" for i in range(20))]
    for left in reversed(range(times)):
        lines += ["exception data-fault return=0x1050", "context el=1"]
        if to is None:
            return lines + [f"i {handler:#x} {loop}"] * 50
        lines += [f"i {handler:#x} {nop}", f"i {handler + 4:#x} d69f03e0 taken {0x1050 if left else to:#x}", f"context el={level}"]
    return lines + [f"i {to:#x} {nop}"] + [f"i {to + 4:#x} {loop}"] * 50


def fault_of_a(name, protocol, *how, **more):
    """A profile: nothing is wrong with the trace, but with the program."""
    def make(bench):
        log = bench.write("x.log", ("\n".join(aborted(*how, **more)) + "\n").encode())
        bench.run("encode", log, "--protocol", protocol, "--config", "TRCCONFIGR=0x8c9", "-o", bench.folder / "snap")
        return [bench.folder / "snap"], {"faults"}
    make.__name__ = f"fault_{name}_{protocol}"
    return make


ALL = [no_mmap, lost_records, aux_full, jit, stripped, other_build, no_programs, foreign_clocks,
       overflow("etmv4", "a64-jumps", "fifo=100,cycles-per-byte=12"), overflow("ete", "a64-throw", "fifo=100,cycles-per-byte=12"),
       overflow("etrace", "rv64-counts", "fifo=200,cycles-per-byte=24"),
       overflow("ntrace", "rv64-recur", "fifo=200,cycles-per-byte=24"),
       untold("etmv4", "sys-el", "TRCCONFIGR=0x801", "no-context"), untold("ete", "sys-el", "TRCCONFIGR=0x801", "no-context"),
       untold("ete", "a64-recur", "TRCCONFIGR=0x1", "no-timestamps"), untold("ptm", "a32-recur", "ETMCR=0x20000000", "no-timestamps"),
       changed_code(False), changed_code(True),
       wrong_space("coresight/snapshots/trace_file_vmid"),
       wrong_setting("riscv", "embench-slre-py-sijump", "privilege_width_p", 3),
       wrong_setting("riscv", "embench-slre-py-sijump", "iaddress_lsb_p", 0),
       wrong_setting("riscv", "embench-slre-py-sijump", "nocontext_p", 1),
       wrong_setting("riscv", "embench-slre-py-sijump", "context_width_p", 16),
       wrong_setting("ntrace", "rnd32a-btm-src12-ts", "src_bits", 0),
       mixed("etrace", "riscv", "rnd64a-py-irdepth8-time", "stress64-py-irdepth8-time"),
       mixed("ntrace", "ntrace", "rnd32b-htm-ts", "rnd32a-btm-windows-ts"),
       other_program("riscv", "etrace", "dhrystone-py-sijump", "embench-slre-py-sijump"),
       no_image, sync_period, faults,
       fault_of_a("signal", "etmv4", 0, to=0x8000), fault_of_a("signal", "ete", 0, to=0x8000),
       fault_of_a("bare", "etmv4", 1), fault_of_a("again", "ete", 1, to=0x2000, times=12)]

# Those that cost little, one of each kind: the plain run.
SAMPLE = [fault for fault in ALL if fault.__name__ in
          {"no_mmap", "aux_full", "jit", "other_build", "foreign_clocks", "overflow_etmv4", "no_context_etmv4", "no_timestamps_ptm",
           "wrong_space", "wrong_nocontext_p", "two_harts_ntrace", "faults",
           "fault_signal_etmv4", "fault_bare_etmv4", "fault_again_ete"}]
