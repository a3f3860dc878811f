# SPDX-License-Identifier: BSD-2-Clause
"""Profiles for compilers: a program is built, run, traced by our trace unit and recorded as perf
would; what existing tools make of our text equals what they make of perf's."""
import collections
import json
import shutil
import struct
import subprocess

from channels_cases import elf
from harness import ROOT, Skip, add_case, case, equal
from perf_file import ETE, ETMV4, RAW, PerfFile
from plugin_cases import go, lap

SOURCES = ROOT / "tests" / "captures" / "src"
PID = 100
STACK = 16


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"no {program}")


def run_quietly(words, folder):
    done = subprocess.run([str(word) for word in words], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, (words, done.stderr.decode("utf-8", "replace")[-2000:])
    return done.stdout.decode()


class Program:
    """An AArch64 program with DWARF 4, built here, and the addresses it executed."""

    def __init__(self, tool, name, argument, is_pie, link=(), options=()):
        need("clang", "aarch64-linux-gnu-ld", "qemu-aarch64")
        self.name = name
        self.root = tool.folder / "root"
        self.path = self.root / "bin" / name
        self.path.parent.mkdir(parents=True)
        objects = []
        # create_llvm_prof 0.19 loses the names of functions that were inlined.
        for source in (name, "rt"):
            objects.append(f"{source}.o")
            run_quietly(["clang", "--target=aarch64-linux-gnu", "-O2", "-gdwarf-4",
                         "-fno-inline", "-ffreestanding", "-fno-stack-protector", "-fPIE" if is_pie else "-fno-pie",
                         *options, "-c", SOURCES / f"{source}.c", "-o", objects[-1]], tool.folder)
        run_quietly(["aarch64-linux-gnu-ld", "--build-id", "-z", "max-page-size=4096",
                     *(["-pie", "--no-dynamic-linker"] if is_pie else ["-static"]), *link,
                     "-o", self.path, *objects], tool.folder)
        done = subprocess.run(["qemu-aarch64", "-singlestep", "-d", "exec,nochain", "-D", "exec.log",
                               self.path, str(argument)], cwd=tool.folder, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert not done.stderr, done.stderr
        with open(tool.folder / "exec.log", encoding="utf-8") as lines:
            self.pcs = [int(line.split("/")[1], 16) for line in lines if line[:5] == "Trace"]
        self.read_elf()

    def read_elf(self):
        self.elf = self.path.read_bytes()
        entry, table = struct.unpack_from("<QQ", self.elf, 24)
        count, = struct.unpack_from("<H", self.elf, 56)
        loads = []
        for number in range(count):
            kind, flags, offset, address, _, size = struct.unpack_from("<IIQQQQ", self.elf,
                                                                       table + 56 * number)
            if kind == 1:
                loads.append((flags, offset, address, size))
        self.base = loads[0][2]
        _, self.offset, self.address, self.size = next(load for load in loads if load[0] & 1)
        self.bias = self.pcs[0] - entry

    def opcode(self, pc):
        place = pc - self.bias - self.address + self.offset
        return struct.unpack_from("<I", self.elf, place)[0]

    def log(self):
        lines = ["trackway-log 1", "context el=0"]
        for pc, after in zip(self.pcs, self.pcs[1:] + [0]):
            word = self.opcode(pc)
            line = f"i 0x{pc:x} {word:08x}"
            if word & 0xff9ffc1f in (0xd61f0000, 0xd60f0000, 0xd63f0000, 0xd65f0000) and after:
                line += f" taken 0x{after:x}"
            elif (word >> 24 == 0x54 or word >> 25 & 0x3f in (0x1a, 0x1b)) and after != pc + 4:
                line += " taken"
            lines.append(line)
            if word & 0xffe0001f == 0xd4000001:
                lines.append(f"exception call return=0x{pc + 4:x}")
        return "\n".join(lines) + "\n"


def recording(tool, program, protocol):
    """perf.data with the trace of the program's run, as `perf record --per-thread` writes it."""
    tool.write("run.log", program.log())
    tool.run("encode", "run.log", "--protocol", protocol, "-o", "snap", "--config", "TRCCONFIGR=1",
             "--framing", "none" if protocol == "ete" else "memory")
    trace = (tool.folder / "snap" / "trace.bin").read_bytes()
    lines = (tool.folder / "snap" / "device_1.ini").read_text().splitlines()
    registers = {line.split("=")[0]: int(line.split("=")[1], 16)
                 for line in lines if line.startswith("TRC")}
    page = 0xfff
    first = program.address & ~page
    made = PerfFile(has_cpu=False)
    made.info(ETE if protocol == "ete" else ETMV4, {0: registers})
    made.comm(PID, "perf", 5)
    made.comm(PID, program.name, 6, is_exec=True)
    made.map(PID, first + program.bias, program.address + program.size - first + page & ~page,
             program.offset & ~page, f"/bin/{program.name}", 7)
    made.start(PID, 8)
    made.aux(0, len(trace), RAW if protocol == "ete" else 0, PID, 20)
    made.trace(trace, tid=PID)
    tool.write("perf.data", made.bytes())


def perf_script(tool, *words):
    return run_quietly(["perf", "script", "-i", "perf.data", f"--symfs={tool.folder / 'root'}",
                        *words], tool.folder).splitlines()


def squeezed(lines):
    return [" ".join(line.split()) for line in lines]


def profile_of(tool, text, words):
    tool.write("text", text)
    run_quietly([*words, "--output=profile" if "profgen" in words[0] else "--out=profile"],
                tool.folder)
    return (tool.folder / "profile").read_text()


def autofdo_of_perf(tool, program):
    """AutoFDO's text made of what perf prints: every instruction, and every branch."""
    relative = program.bias + program.base
    pcs = [int(line, 16) for line in perf_script(tool, "--itrace=i1i", "-F", "ip")]
    rows = [line.split() for line in perf_script(tool, "--itrace=b", "-F", "ip,addr")]
    branches = collections.Counter((int(row[0], 16), int(row[2], 16)) for row in rows)
    taken = {pair[0] for pair in branches}
    ranges = collections.Counter()
    first = pcs[0]
    for pc, after in zip(pcs, pcs[1:] + [None]):
        if after != pc + 4 or (pc in taken and (pc, after) in branches):
            ranges[(first, pc)] += 1
            first = after
    lines = [f"{len(ranges)}"]
    lines += [f"{a - relative:x}-{b - relative:x}:{n}" for (a, b), n in ranges.items()]
    pairs = {pair: n for pair, n in branches.items() if pair[0] and pair[1] and
             program.opcode(pair[0]) & 0xffe0001f != 0xd4000001}
    lines += ["0", f"{len(pairs)}"]
    lines += [f"{a - relative:x}->{b - relative:x}:{n}" for (a, b), n in pairs.items()]
    return "\n".join(lines) + "\n"


def profiles_case(name, argument, is_pie, protocol):
    def run(tool):
        need("perf", "llvm-profgen-19", "create_llvm_prof")
        program = Program(tool, name, argument, is_pie)
        recording(tool, program, protocol)
        words = ["perf.data", "--sysroot", "root", "--perf-style", "6.1"]
        pcs = tool.run("decode", "perf.data", "--sysroot", "root", "--format", "pcs").out.split()
        equal([int(pc, 16) for pc in pcs if pc[0] in "0123456789abcdef"], program.pcs)
        equal(squeezed(tool.run("branches", *words).out.splitlines()),
              squeezed(perf_script(tool, "--itrace=b", "-F", "comm,pid,tid,cpu,ip,addr,flags")))
        # llvm-profgen
        ours = tool.run("branches", *words, "--format", "profgen", "--brstack", STACK, "--period",
                        "50").out
        theirs = perf_script(tool, f"--itrace=i50il{STACK}", "--show-mmap-events", "-F",
                             "ip,brstack")
        equal(squeezed(ours.splitlines()), squeezed(theirs))
        profgen = ["llvm-profgen-19", "--perfscript=text", f"--binary={program.path}",
                   "--format=text"]
        made = profile_of(tool, ours, profgen)
        equal(made, profile_of(tool, "\n".join(theirs) + "\n", profgen))
        assert len(made.splitlines()) > 20, made
        new = tool.run("branches", *words[:3], "--format", "profgen", "--brstack", STACK,
                       "--period", "50").out
        equal(profile_of(tool, new, profgen), made)
        # AutoFDO
        autofdo = ["create_llvm_prof", "--profiler=text", "--profile=text",
                   f"--binary={program.path}", "--format=text"]
        made = profile_of(tool, tool.run("branches", *words[:3], "--format", "autofdo").out,
                          autofdo)
        equal(made, profile_of(tool, autofdo_of_perf(tool, program), autofdo))
        assert len(made.splitlines()) > 20 and "run:" in made, made
    return run


add_case("profiles_of_a_fixed_program", profiles_case("indirect", 3, False, "etmv4"))
add_case("profiles_of_a_position_independent_program", profiles_case("recur", 1, True, "etmv4"))
add_case("profiles_of_ete_trace", profiles_case("indirect", 2, False, "ete"))


@case
def cold_parts_belong_to_their_function(tool):
    """A compiler moves code away: what "f.cold" executes counts for "f"."""
    words = lap(tool, go(0x8000) + 8 * b"T" + b"N" + 3 * b"T")
    words[-1] = "code.bin@0x8000"
    for names, wanted in ((("lap", "lap.cold"), {"lap": 20}), (("lap", "nap.cold"), {"lap": 18, "nap.cold": 2})):
        tool.write("fw.elf", elf([(names[0], 0x8000, 8), (names[1], 0x8008, 8)]))
        rows = [json.loads(line) for line in tool.run("profile", *words, "--symbols", "fw.elf", "--format", "jsonl", "-q").out.splitlines()]
        equal({row["name"]: row["self"] for row in rows if "name" in row}, wanted)
