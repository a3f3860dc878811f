# SPDX-License-Identifier: BSD-2-Clause
"""Profiles for compilers of a kernel and one of its modules: what ran where each of them lies, and offsets in its file.
Both parts are built here and run as one program; the addresses of the run are moved to where a kernel has them."""
import collections
import json
import re
import shutil
import struct
import subprocess

from feedback_cases import by_address, parse
from harness import add_case, equal
from perf_file import ETMV4, PerfFile
from profile_cases import need, run_quietly

KERNEL, MODULE = 0xffff800010080000, 0xffff800000a10000
RELEASE = "6.1.0"
PID = 100
RETURN = 0xd65f03c0
SOURCES = {
    "kern": """
typedef unsigned (*entry)(unsigned);
unsigned mod_entry(unsigned), mod_other(unsigned);
static entry volatile table[2] = { mod_entry, mod_other };
__attribute__((noinline)) static unsigned mix(unsigned x) { return x * 2654435761u ^ x >> 7; }
__attribute__((noinline)) unsigned kernel_work(unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++) {
        sum += table[i % 3 == 0](i);
        if (sum & 1)
            sum = mix(sum);
    }
    return sum;
}
void _start(void)
{
    kernel_work(20);
    __asm__ volatile("mov x8, #94\\n mov x0, #0\\n svc #0");
}
""",
    "mod": """
__attribute__((noinline)) static unsigned helper(unsigned x)
{
    unsigned y = x;
    while (y > 3)
        y -= x & 1 ? 3 : 2;
    return y + x;
}
unsigned mod_entry(unsigned x)
{
    unsigned a = helper(x);
    if (x & 1)
        a += helper(x + 5);
    return a;
}
unsigned mod_other(unsigned x) { return helper(x * 2) + 1; }
char this_module[64] __attribute__((section(".gnu.linkonce.this_module"))) = { 1 };
""",
}


def text_of(path, tool):
    """Address, file offset and size of .text."""
    names = run_quietly(["readelf", "-SW", path], tool.folder)
    found = re.search(r" \.text +PROGBITS +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)", names)
    return [int(found[n], 16) for n in (1, 2, 3)]


class Kernel:
    """The kernel, its module, and what was executed: (is it the module's, offset in .text) each."""

    def __init__(self, tool):
        need("clang", "aarch64-linux-gnu-ld", "qemu-aarch64", "readelf", "nm")
        folder = tool.folder
        for name, source in SOURCES.items():
            tool.write(f"{name}.c", source)
            run_quietly(["clang", "--target=aarch64-linux-gnu", "-O1", "-gdwarf-4", "-ffreestanding", "-fno-stack-protector",
                         "-fno-pie", "-fno-asynchronous-unwind-tables", "-c", f"{name}.c", "-o", f"{name}.o"], folder)
        self.module = folder / "root" / "lib" / "modules" / RELEASE / "kernel" / "trk.ko"
        self.module.parent.mkdir(parents=True)
        self.vmlinux = folder / "vmlinux"
        run_quietly(["aarch64-linux-gnu-ld", "-static", "-o", "run", "kern.o", "mod.o"], folder)
        run_quietly(["aarch64-linux-gnu-ld", f"-Ttext-segment=0x{KERNEL:x}", "--defsym", "_text=kernel_work", "--build-id",
                     "--unresolved-symbols=ignore-all", "-o", self.vmlinux, "kern.o"], folder)
        run_quietly(["aarch64-linux-gnu-ld", "-r", "--build-id", "-o", self.module, "mod.o"], folder)
        tool.write(f"root/lib/modules/{RELEASE}/modules.dep", "kernel/trk.ko:\n")
        start, offset, _ = text_of("run", tool)
        self.text = text_of(self.vmlinux, tool)[0]
        self.sizes = [text_of(self.vmlinux, tool)[2], text_of(self.module, tool)[2]]
        done = subprocess.run(["qemu-aarch64", "-singlestep", "-d", "exec,nochain", "-D", "exec.log", "./run"],
                              cwd=folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert not done.stderr, done.stderr
        with open(folder / "exec.log", encoding="utf-8") as lines:
            self.steps = [int(line.split("/")[1], 16) - start for line in lines if line[:5] == "Trace"]
        self.code = (folder / "run").read_bytes()[offset:]
        # What comes behind the last branch no trace tells; where that led to is the last step, which is not counted.
        last = max(n for n, step in enumerate(self.steps) if self.opcode(step) == RETURN)
        self.steps = self.steps[:last + 2]

    def opcode(self, step):
        return struct.unpack_from("<I", self.code, step)[0]

    def place(self, step):
        return self.text + step if step < self.sizes[0] else MODULE + step - self.sizes[0]

    def log(self):
        lines = ["trackway-log 1", "context el=1"]
        for step, after in zip(self.steps, self.steps[1:] + [None]):
            word = self.opcode(step)
            line = f"i 0x{self.place(step):x} {word:08x}"
            if word & 0xff9ffc1f in (0xd61f0000, 0xd63f0000, 0xd65f0000) and after is not None:
                line += f" taken 0x{self.place(after):x}"
            elif (word >> 24 == 0x54 or word >> 25 & 0x3f in (0x1a, 0x1b)) and after != step + 4:
                line += " taken"
            if after is not None:
                lines.append(line)
        return "\n".join(lines) + "\n"

    def counts(self, is_module):
        """How often each offset in its .text was executed."""
        return collections.Counter(step - (self.sizes[0] if is_module else 0) for step in self.steps[:-1]
                                   if (step >= self.sizes[0]) == is_module)


def record(tool, kernel, name):
    """perf.data of it, where the kernel calls its module so."""
    tool.write("run.log", kernel.log())
    tool.run("encode", "run.log", "--protocol", "etmv4", "-o", "snap", "--config", "TRCCONFIGR=1", "--framing", "memory")
    trace = (tool.folder / "snap" / "trace.bin").read_bytes()
    registers = {line.split("=")[0]: int(line.split("=")[1], 16)
                 for line in (tool.folder / "snap" / "device_1.ini").read_text().splitlines() if line.startswith("TRC")}
    made = PerfFile()
    made.info(ETMV4, {0: registers})
    made.map(-1 & 0xffffffff, kernel.text, 0x10000, kernel.text, "[kernel.kallsyms]_text", 1, mode=1)
    made.map(-1 & 0xffffffff, MODULE, 0x1000, 0, name, 2, mode=1)
    made.comm(PID, "worker", 5)
    made.start(PID, 8)
    made.aux(0, len(trace), 0, PID, 20)
    made.trace(trace, cpu=0)
    tool.write("perf.data", made.bytes())


def symbols(path, tool):
    lines = run_quietly(["nm", path], tool.folder).splitlines()
    return {line.split()[2]: int(line.split()[0], 16) for line in lines
            if line.split()[1] in "tT" and line.split()[2][0] not in "$_" or line.endswith(" _start")}


def check(tool, kernel, words, binary, is_module):
    """All forms, of the kernel or of its module: counts at offsets in the file, and names."""
    def form(name):
        return tool.run("branches", *words, "--format", name, "--binary", binary).out
    base = 0 if is_module else kernel.text - KERNEL
    counts = {base + at: count for at, count in kernel.counts(is_module).items()}
    equal(by_address(parse(form("unsymbolized"))[0]), counts, "unsymbolized")
    equal(by_address(parse(form("autofdo"))[0]), counts, "autofdo")
    names = symbols(kernel.module if is_module else kernel.vmlinux, tool)
    link = 0 if is_module else KERNEL
    text = form("llvm")
    entered = {name: counts.get(at - link) for name, at in names.items() if counts.get(at - link)}
    heads = {found[1]: int(found[2]) for found in re.finditer(r"^(\w+):\d+:(\d+)", text, re.M)}
    heads.setdefault("_start", 0)
    for name, count in entered.items():
        # Nobody is seen to call where trace begins.
        equal(heads[name], 0 if name == "_start" else count, f"how often {name} was entered")
    name, size = ("helper", 6) if is_module else ("kernel_work", 9)
    body = re.search(rf"^{name}:.*\n((?: .*\n)+)", text, re.M)[1]
    lines = {int(found) for found in re.findall(r"^ (\d+)", body, re.M)}
    assert len(lines) > 2 and all(0 <= line <= size for line in lines), f"lines of {name}: {body}"
    tool.write("text.prof", text)
    if shutil.which("llvm-profdata-19"):
        shown = run_quietly(["llvm-profdata-19", "show", "--sample", "--all-functions", "text.prof"], tool.folder)
        equal(len(re.findall("^Function: ", shown, re.M)), len(entered), shown)
    called = collections.Counter()
    for found in re.finditer(r"^1 (\S+) [0-9a-f]+ 1 (\S+) 0 \d+ (\d+)$", form("fdata"), re.M):
        called[found[2].removesuffix("/1")] += int(found[3])
    for name in ("helper",) if is_module else ("mix", "kernel_work"):
        equal(called[name], entered[name], f"calls of {name}")
    branches = re.findall(r"^B ([0-9a-f]+) [0-9a-f]+ (\d+)", form("bolt"), re.M)
    for at, count in branches:
        assert at == "0" or counts[int(at, 16) - link] >= int(count), (at, count)


def other_builds(tool, kernel, words):
    """Results of another build of the module are not added to those of this one, wherever the files lie."""
    shutil.copytree(tool.folder / "root", tool.folder / "other")
    run_quietly(["aarch64-linux-gnu-ld", "-r", "--build-id=0x0102030405060708", "-o",
                 tool.folder / "other" / kernel.module.relative_to(tool.folder / "root"), "mod.o"], tool.folder)
    for command in ("profile", "calls"):
        for root in ("root", "other"):
            tool.run(command, words[0], "--sysroot", root, *words[3:], "--save", f"{command}-{root}.twr")
        tool.run("merge", "-o", "sum.twr", f"{command}-root.twr", f"{command}-root.twr")
        said = tool.run("merge", "-o", "sum.twr", f"{command}-root.twr", f"{command}-other.twr", status=3).err
        assert "is of another build there" in said, said


def feedback_of_a_module(name):
    def run(tool):
        kernel = Kernel(tool)
        record(tool, kernel, name)
        words = ["perf.data", "--sysroot", "root", "--kernel", kernel.vmlinux, "-q"]
        pcs = tool.run("decode", *words, "--format", "pcs").out.split()
        equal([int(pc, 16) for pc in pcs if pc[0] in "0123456789abcdef"],
              [kernel.place(step) for step in kernel.steps[:-1]])
        check(tool, kernel, words, "[kernel.kallsyms]_text", False)
        check(tool, kernel, words, name if name[0] == "[" else "trk.ko", True)
        objects = {line["name"]: line.get("build_id") for line in
                   map(json.loads, tool.run("coverage", *words, "--format", "jsonl").out.splitlines())
                   if line["t"] == "OBJECT"}
        notes = run_quietly(["readelf", "-n", kernel.module], tool.folder)
        build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
        equal([one for one in objects if objects[one] == build_id], [name])
        check(tool, kernel, words, build_id, True)
        other_builds(tool, kernel, words)
    return run


add_case("feedback_of_a_module", feedback_of_a_module("[trk]"))
add_case("feedback_of_a_module_by_its_path", feedback_of_a_module(f"/lib/modules/{RELEASE}/kernel/trk.ko"))
