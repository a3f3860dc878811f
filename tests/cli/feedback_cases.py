# SPDX-License-Identifier: BSD-2-Clause
"""What compilers and linkers read: each text is given to the program that it is for, and must say there what it says
by another road."""
import collections
import json
import pathlib
import re
import shutil
import subprocess

from calls_cases import programs, truth_folder
from coverage_cases import raw_parts
from harness import Skip, add_case, corpus, equal
from profile_cases import Program, need, recording, run_quietly

# Debian's perf2bolt-19 takes itself for llvm-bolt, by its name.
BOLT = pathlib.Path("/usr/lib/llvm-19/bin")


def bolt(name):
    if not (BOLT / name).exists():
        raise Skip(f"no {name} of bolt-19")
    return BOLT / name


def capture_of(tool, name, unit="etmv4"):
    elf = truth_folder() / f"{name}.elf"
    tool.run("encode", truth_folder() / f"{name}.exlog.gz", "--elf", elf, "--protocol", unit, "-o", "capture")
    return ["capture", "--symbols", elf, "-q"], elf


def parse(text):
    """Ranges and branches of AutoFDO's text or an unsymbolized profile."""
    ranges, branches = {}, {}
    for line in text.splitlines():
        found = re.fullmatch(r"([0-9a-f]+)(-|->)([0-9a-f]+):(\d+)", line)
        if found:
            to = ranges if found[2] == "-" else branches
            key = int(found[1], 16), int(found[3], 16)
            assert key not in to, line
            to[key] = int(found[4])
    return ranges, branches


def by_address(ranges):
    """How often each instruction was executed (of 4 bytes each)."""
    counts = collections.Counter()
    for (first, last), count in ranges.items():
        for address in range(first, last + 4, 4):
            counts[address] += count
    return counts


def profile_is_that_of_profgen(name, unit):
    def run(tool):
        need("llvm-profgen-19", "llvm-profdata-19")
        words, elf = capture_of(tool, name, unit)
        tool.run("branches", *words, "--format", "unsymbolized", "-o", "unsymbolized")
        run_quietly(["llvm-profgen-19", "--unsymbolized-profile=unsymbolized", f"--binary={elf}",
                     "--output=theirs", "--format=text"], tool.folder)
        ours = tool.run("coverage", *words, "--format", "llvm", "-o", "ours")
        equal(ours.out, "")
        text = (tool.folder / "ours").read_text()
        equal(text, (tool.folder / "theirs").read_text(), "the profile")
        assert len(text.splitlines()) > 20, text
        run_quietly(["llvm-profdata-19", "merge", "--sample", "--text", "ours", "-o", "merged"], tool.folder)
        heads = re.findall(r"^(\w+):(\d+):(\d+)$", text, re.M)
        equal(sorted(re.findall(r"^(\w+):(\d+):(\d+)$", (tool.folder / "merged").read_text(), re.M)),
              sorted(heads), "counts of llvm-profdata")
    return run


def bolt_reads_both(name, is_equal):
    def run(tool):
        words, elf = capture_of(tool, name)
        tool.run("branches", *words, "--format", "bolt", "-o", "preagg")
        tool.run("branches", *words, "--format", "fdata", "-o", "fdata")
        said = run_quietly([bolt("perf2bolt"), elf, "-p", "preagg", "-pa", "-o", "theirs"], tool.folder)
        read = re.search(r"read (\d+) aggregated LBR entries", said)
        equal(int(read[1]), len((tool.folder / "preagg").read_text().splitlines()), "entries")
        assert "mismatching disassembled function contents: 0 (" in said, said
        ours = set((tool.folder / "fdata").read_text().splitlines())
        theirs = set((tool.folder / "theirs").read_text().splitlines())
        # Where a block is cut that only code cuts which was never executed, theirs tells so; and where
        # a return leads into a block, ours does.
        assert len(ours & theirs) >= 0.95 * len(theirs) and len(theirs) > 20, ours ^ theirs
        if is_equal:
            equal(ours, theirs, "fdata")
    return run


def autofdo_of_snapshots(tool):
    """create_llvm_prof makes of a snapshot what it makes of perf.data; a raw file says the same."""
    need("create_llvm_prof")
    program = Program(tool, "indirect", 3, False)
    recording(tool, program, "etmv4")
    profiles = {}
    for kind, words in (("perf", ["perf.data", "--sysroot", "root"]),
                        ("snapshot", ["snap", "--symbols", program.path])):
        tool.run("branches", *words, "--format", "autofdo", "-q", "-o", f"{kind}.text")
        run_quietly(["create_llvm_prof", "--profiler=text", f"--profile={kind}.text", "--format=text",
                     f"--binary={program.path}", f"--out={kind}.profile"], tool.folder)
        # A function's total depends on how its code is cut into ranges: their last instruction counts once more.
        profiles[kind] = sorted(re.sub(r"^(\w+):\d+:", r"\1:", (tool.folder / f"{kind}.profile").read_text(),
                                       flags=re.M).split("\n"))
    # Ranges of one instruction, which create_llvm_prof passes over, are joined with others.
    equal(profiles["snapshot"], profiles["perf"], "profiles")
    assert "run:1" in profiles["perf"], profiles["perf"]
    ranges, branches = parse((tool.folder / "snapshot.text").read_text())
    want, wanted = parse((tool.folder / "perf.text").read_text())
    equal(by_address(ranges), by_address(want), "instructions")
    # perf.data ends inside of an exception there: a branch that leads nowhere may be said or not.
    equal({key: count for key, count in branches.items() if key[1]},
          {key: count for key, count in wanted.items() if key[1]}, "branches")


def feedback_of_perf_data(tool):
    """Counts of perf.data are those of the profile that has the ranges of perf."""
    folder = corpus() / "perf"
    words = [folder / "p06-cc1-perthread-etmv4-v1.perf.data", "--sysroot", folder / "root", "-q"]
    for binary in ("cc1", "libc.so.6"):
        old = tool.run("branches", *words, "--format", "autofdo", "--binary", binary, status=None)
        if old.returncode > 1:
            continue
        new = tool.run("branches", *words, "--format", "unsymbolized", "--binary", binary, status=None).out
        ranges, branches = parse(new)
        want, wanted = parse(old.out)
        equal(by_address(ranges) == by_address(want), True, f"{binary}: instructions")
        equal({key: count for key, count in branches.items() if key[1]} ==
              {key: count for key, count in wanted.items() if key[1]}, True, f"{binary}: branches")


def programs_by_build_id(tool):
    """A program is chosen by its build ID, or the beginning of it, as by its name."""
    need("clang", "aarch64-linux-gnu-ld", "qemu-aarch64")
    program = Program(tool, "hot", 5, False)
    tool.run("record", "-o", "perf.data", "--", program.path, "5", status=None)
    if not (tool.folder / "perf.data").exists():
        raise Skip("this build has no plug-in for QEMU")
    words = ["perf.data", "-q"]
    objects = [json.loads(line) for line in tool.run("coverage", *words, "--format", "jsonl").out.splitlines()
               if '"OBJECT"' in line]
    build_id = next(one["build_id"] for one in objects if one["name"].endswith("hot"))
    notes = run_quietly(["readelf", "-n", program.path], tool.folder)
    equal(re.search(r"Build ID: ([0-9a-f]+)", notes)[1], build_id, "the file's build ID")
    for form in ("autofdo", "unsymbolized", "llvm", "bolt", "fdata"):
        want = tool.run("branches", *words, "--format", form, "--binary", "hot").out
        assert want, form
        for name in (build_id, build_id[:8], build_id[:11].upper()):
            equal(tool.run("branches", *words, "--format", form, "--binary", name).out, want, f"{form} of {name}")
        tool.run("branches", *words, "--format", form, "--binary", build_id[:7], status=3)
        tool.run("branches", *words, "--format", form, "--binary", build_id + "00", status=3)


def feedback_of_the_kernel(tool):
    folder = corpus() / "perf"
    words = [folder / "p03-juno-kernel-6cpu-etmv4-v1.perf.data", "--sysroot", folder / "root", "-q",
             "--binary", "[kernel.kallsyms]_text"]
    ranges, branches = parse(tool.run("branches", *words, "--format", "unsymbolized", status=None).out)
    want, wanted = parse(tool.run("branches", *words, "--format", "autofdo", status=None).out)
    equal(by_address(ranges) == by_address(want), True, "instructions")
    # Of branches behind which an interrupt came perf does not tell where they led; the code does.
    known = [key for key in wanted if key[1] and branches.get(key, 0) >= wanted[key]]
    assert len(known) > 0.6 * len([key for key in wanted if key[1]]) > 100, (branches, wanted)
    assert tool.run("branches", *words, "--format", "bolt", status=None).out.startswith("B ffffff")


def raw_and_saved(tool):
    parts = raw_parts(tool, "a64-indirect", "etmv4")
    elf = truth_folder() / "a64-indirect.elf"
    words = ["capture", "--symbols", elf, "-q"]
    want = {form: tool.run("branches", *words, "--format", form).out
            for form in ("autofdo", "unsymbolized", "llvm", "bolt", "fdata")}
    tool.run("coverage", *words, "--save", "one.twr")
    for form, text in want.items():
        equal(tool.run("branches", "capture/trace.bin", *parts, "--symbols", elf, "-q", "--format", form).out,
              text, f"raw: {form}")
        twice = tool.run("coverage", *words, "--add", "one.twr", "--format", form).out
        equal(twice, tool.run("coverage", "capture", *words, "--format", form).out, f"added: {form}")
        assert twice != text and len(twice.splitlines()) == len(text.splitlines())
    said = tool.run("coverage", *words, "--format", "bolt", "--binary", "nobody", status=3).err
    assert "nobody" in said, said
    said = tool.run("branches", *words, status=2).err
    assert "perf.data" in said, said


def indirect_calls(tool):
    """Targets of indirect calls stand at their line, with their counts."""
    words, _ = capture_of(tool, "a64-indirect")
    text = tool.run("branches", *words, "--format", "llvm").out
    several = [line for line in text.splitlines() if len(re.findall(r" [a-z_0-9]+:\d+", line)) >= 3]
    assert several, text
    for line in several:
        counts = list(map(int, re.findall(r"[a-z_0-9]+:(\d+)", line)))
        equal(counts, sorted(counts, reverse=True), line)


def stacks_of_snapshots(tool):
    need("llvm-profgen-19")
    words, elf = capture_of(tool, "a64-counts")
    text = tool.run("branches", *words, "--format", "profgen", "--brstack", "16", "--period", "20",
                    "-o", "script").out
    equal(text, "")
    run_quietly(["llvm-profgen-19", "--perfscript=script", f"--binary={elf}", "--output=made", "--format=text"],
                tool.folder)
    names = re.findall(r"^(\w+):\d+:\d+$", (tool.folder / "made").read_text(), re.M)
    assert {"leaf", "down", "middle", "run", "put_num"} <= set(names), names
    lines = (tool.folder / "script").read_text().splitlines()
    _, branches = parse(tool.run("branches", *words, "--format", "unsymbolized").out)
    for line in lines:
        if not line.startswith("PERF_RECORD"):
            for start, to in re.findall(r"0x([0-9a-f]+)/0x([0-9a-f]+)/P", line):
                assert (int(start, 16) - 0x400000, int(to, 16) - 0x400000) in branches, line


def dwarf_5_is_told(tool):
    need("clang", "aarch64-linux-gnu-ld")
    words, elf = capture_of(tool, "a64-counts")
    said = tool.run("coverage", *words[:3], "--format", "autofdo").err
    done = subprocess.run(["readelf", "--debug-dump=info", elf], stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.DEVNULL)
    equal("DWARF 5" in said, b"Version:       5" in done.stdout, "the warning")


def llvm_bolt_reorders(tool):
    """llvm-bolt takes our fdata and lays the program out anew; it does what it did."""
    program = bolt("llvm-bolt")
    need("clang", "aarch64-linux-gnu-ld", "qemu-aarch64")
    made = Program(tool, "indirect", 3, False, link=["-q"])
    tool.write("run.log", made.log())
    tool.run("encode", "run.log", "--protocol", "etmv4", "-o", "snap")
    tool.run("branches", "snap", "--symbols", made.path, "-q", "--format", "fdata", "-o", "fdata")
    said = run_quietly([program, made.path, "-data", "fdata", "-o", "bolted", "-reorder-blocks=ext-tsp",
                        "-reorder-functions=hfsort"], tool.folder)
    done = re.search(r"(\d+) out of (\d+) functions in the binary \([\d.]+%\) have non-empty execution profile", said)
    assert done and int(done[1]) > 5, said
    assert not re.search(r"[1-9]\d* functions? .* have invalid", said) and "BOLT-ERROR" not in said, said
    outputs = [subprocess.run(["qemu-aarch64", path, "3"], cwd=tool.folder, stdout=subprocess.PIPE,
                              check=False) for path in (made.path, tool.folder / "bolted")]
    equal(outputs[1].stdout, outputs[0].stdout, "what it prints")
    equal(outputs[1].returncode, outputs[0].returncode, "how it ends")
    order = [[line.split()[2] for line in sorted(run_quietly(["nm", path], tool.folder).splitlines())
              if " t " in line.lower()] for path in (made.path, tool.folder / "bolted")]
    assert order[0] != order[1], order


for each in programs():
    if each.startswith("a64-") and each not in ("a64-jumps", "a64-throw"):  # these have all of a C library
        add_case(f"feedback_llvm_{each}", profile_is_that_of_profgen(each, "etmv4"))
add_case("feedback_llvm_ete", profile_is_that_of_profgen("a64-recur", "ete"))
for each, one in (("a64-counts", True), ("a64-coro", True), ("a64-recur", False), ("a64-sorts", False)):
    add_case(f"feedback_bolt_{each}", bolt_reads_both(each, one))
add_case("feedback_autofdo_of_snapshots", autofdo_of_snapshots)
add_case("feedback_of_perf_data", feedback_of_perf_data)
add_case("feedback_by_build_id", programs_by_build_id)
add_case("feedback_of_the_kernel", feedback_of_the_kernel)
add_case("feedback_raw_and_saved", raw_and_saved)
add_case("feedback_indirect_calls", indirect_calls)
add_case("feedback_stacks_of_snapshots", stacks_of_snapshots)
add_case("feedback_dwarf_5", dwarf_5_is_told)
add_case("feedback_llvm_bolt", llvm_bolt_reorders)
