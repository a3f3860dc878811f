# SPDX-License-Identifier: BSD-2-Clause
"""trackway coverage: counts of instructions, branches, targets and lines of programs whose truth is known."""
import json
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree

from calls_cases import DEMO, UNITS, programs, rows, truth_folder
from harness import Skip, add_case, corpus, equal


def lines_of(text, kind):
    return [row for row in map(json.loads, text.splitlines()) if row["t"] == kind]


def check_code(text, name):
    got = [(int(row["st"], 16), int(row["en"], 16), row["count"])
           for row in lines_of(text, "CODE") if row["count"]]
    want = [(int(first, 16), int(last, 16), int(count))
            for first, last, count in rows(name, "coverage")]
    # Either may cut a run in two where the other does not.
    firsts = {first for first, _, _ in want}
    equal([hex(first) for first, _, _ in got if first not in firsts], [], "begins inside a run")
    for first, last, count in want:
        for address in (first, last):
            equal([of for start, end, of in got if start <= address < end], [count], hex(address))
    ends = sorted(last for _, last, _ in want)
    for first, end, _ in got:  # nothing behind the last instruction that was executed
        last = max(last for last in ends if last < end)
        assert first <= last and end - last <= 4, (hex(first), hex(end))


def check_edges(text, name):
    branches, targets = {}, {}
    for row in lines_of(text, "BRANCH"):
        if row["taken"] or row["not_taken"]:
            branches[int(row["pc"], 16)] = (row["taken"], row["not_taken"])
    for row in lines_of(text, "TARGET"):
        targets[int(row["pc"], 16), int(row["to"], 16)] = row["count"]
    want_branches, want_targets = {}, {}
    for start, to, kind, count in rows(name, "edges"):
        start, to, count = int(start, 16), int(to, 16), int(count)
        if kind in ("icall", "jump"):
            want_targets[start, to] = count
        # A jump without a condition is taken, too: it is no branch here; a return may have one.
        if start in branches or kind == "not-taken":
            taken, not_taken = want_branches.get(start, (0, 0))
            want_branches[start] = ((taken, not_taken + count) if kind == "not-taken" else
                                    (taken + count, not_taken))
    equal(targets, want_targets, "targets")
    equal(branches, want_branches, "branches")


def equals_truth(name, unit):
    def run(tool):
        elf = truth_folder() / f"{name}.elf"
        tool.run("encode", truth_folder() / f"{name}.exlog.gz", "--elf", elf, "--protocol", unit,
                 "-o", "capture")
        text = tool.run("coverage", "capture", "--symbols", elf, "--format", "jsonl", "-q").out
        check_code(text, name)
        check_edges(text, name)
    return run


def info_lines(text):
    found, name = {}, None
    for line in text.splitlines():
        if line.startswith("SF:"):
            name = line.rsplit("/", 1)[-1].replace("SF:", "")
        elif line.startswith("DA:"):
            number, count = line[3:].split(",")[:2]
            found[name, int(number)] = int(count)
    return found


def lines_equal_gcov(tool):
    elf = truth_folder() / "a64-O0-counts.elf"
    tool.run("encode", truth_folder() / "a64-O0-counts.exlog.gz", "--elf", elf, "--protocol", "etmv4",
             "-o", "capture")
    got = info_lines(tool.run("coverage", "capture", "--symbols", elf, "--format", "lcov", "-q").out)
    want = info_lines((corpus() / "analysis" / "examples" / "counts-gcov.info").read_text())
    common = [key for key in want if key in got]
    assert len(common) > 20, common
    equal({key: got[key] for key in common}, {key: want[key] for key in common}, "lines")


def lcov_reads_it(tool):
    if not shutil.which("lcov"):
        raise Skip("no lcov")
    tool.run("coverage", DEMO, "--format", "lcov", "-q", "-o", "demo.info")
    done = subprocess.run(["lcov", "--rc", "lcov_branch_coverage=1", "--summary", "demo.info"],
                          cwd=tool.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    text = done.stdout.decode()
    assert done.returncode == 0 and "lines......:" in text, text


def genhtml_draws_it(tool):
    if not shutil.which("genhtml"):
        raise Skip("no genhtml")
    elf = truth_folder() / "a64-O0-counts.elf"
    tool.run("encode", truth_folder() / "a64-O0-counts.exlog.gz", "--elf", elf, "--protocol", "etmv4", "-o", "capture")
    text = tool.run("coverage", "capture", "--symbols", elf, "--format", "lcov", "-q").out
    sources = corpus() / "analysis" / "src"
    tool.write("it.info", re.sub(r"^SF:.*/(\w+\.c)$", lambda found: f"SF:{sources / found[1]}", text, flags=re.M))
    done = subprocess.run(["genhtml", "--branch-coverage", "--ignore-errors", "source", "it.info", "-o", "html"],
                          cwd=tool.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    said = done.stdout.decode()
    totals = {kind: (int(hit), int(found)) for kind, hit, found in
              re.findall(r"(lines|functions|branches)\.*: [\d.]+% \((\d+) of (\d+)", said)}
    assert done.returncode == 0, said
    for kind, mark in (("lines", "L"), ("functions", "FN"), ("branches", "BR")):
        sums = [sum(map(int, re.findall(rf"^{mark}{end}:(\d+)$", text, re.M))) for end in "HF"]
        equal(totals[kind], tuple(sums), kind)
    page = next((tool.folder / "html").rglob("counts.c.gcov.html")).read_text()
    assert "lineCov" in page and "lineNoCov" in page


def twice_is_twice(tool):
    one = lines_of(tool.run("coverage", DEMO, "--format", "jsonl", "-q").out, "CODE")
    two = lines_of(tool.run("coverage", DEMO, DEMO, "--format", "jsonl", "-q").out, "CODE")
    equal([[row["st"], 2 * row["count"]] for row in one], [[row["st"], row["count"]] for row in two], "twice")


def cobertura_is_valid(tool):
    if not shutil.which("xmllint"):
        raise Skip("no xmllint")
    elf = truth_folder() / "a64-O0-counts.elf"
    tool.run("encode", truth_folder() / "a64-O0-counts.exlog.gz", "--elf", elf, "--protocol", "etmv4",
             "-o", "capture")
    tool.run("coverage", "capture", "--symbols", elf, "--format", "cobertura", "-q", "-o", "got.xml")
    schema = corpus() / "analysis" / "examples" / "cobertura.dtd"
    done = subprocess.run(["xmllint", "--nonet", "--noout", "--dtdvalid", schema, "got.xml"],
                          cwd=tool.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout.decode()
    lines = {}
    for file in xml.etree.ElementTree.parse(tool.folder / "got.xml").iter("class"):
        for line in file.iter("line"):
            lines[file.get("filename").rsplit("/")[-1], int(line.get("number"))] = int(line.get("hits"))
    want = info_lines(tool.run("coverage", "capture", "--symbols", elf, "--format", "lcov", "-q").out)
    equal(lines, want, "lines as lcov has them")


def diff_cover_reads_it(tool):
    """A reader of Cobertura finds the lines that were not executed in a file that is new in a repository."""
    if not shutil.which("diff-cover") or not shutil.which("git"):
        raise Skip("no diff-cover or no git")
    elf = truth_folder() / "a64-O0-counts.elf"
    tool.run("encode", truth_folder() / "a64-O0-counts.exlog.gz", "--elf", elf, "--protocol", "etmv4", "-o", "capture")
    text = tool.run("coverage", "capture", "--symbols", elf, "--format", "cobertura", "-q").out
    want = info_lines(tool.run("coverage", "capture", "--symbols", elf, "--format", "lcov", "-q").out)
    tool.write("got.xml", re.sub(r'filename="[^"]*/(\w+\.c)"', r'filename="\1"', text))
    tool.write("counts.c", (corpus() / "analysis" / "src" / "counts.c").read_text())
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"], ["branch", "first"],
                  ["add", "counts.c"], ["commit", "-q", "-m", "second"]):
        subprocess.run(git + words, cwd=tool.folder, check=True)
    done = subprocess.run(["diff-cover", "got.xml", "--compare-branch=first", "--json-report", "report.json"],
                          cwd=tool.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout.decode()
    found = json.loads((tool.folder / "report.json").read_text())["src_stats"]["counts.c"]["violation_lines"]
    missed = [number for (name, number), count in want.items() if name == "counts.c" and count == 0]
    assert missed
    equal(sorted(found), sorted(missed), "lines that were not executed")


def drcov_has_what_was_executed(tool):
    text = lines_of(tool.run("coverage", DEMO, "--format", "jsonl", "-q").out, "CODE")
    want = {(int(row["st"], 16), int(row["en"], 16)) for row in text if row["count"]}
    tool.run("coverage", DEMO, "--format", "drcov", "-q", "-o", "got.drcov")
    head, _, rest = (tool.folder / "got.drcov").read_bytes().partition(b"BB Table: ")
    number, _, table = rest.partition(b" bbs\n")
    bases = {int(row.split(", ")[0]): int(row.split(", ")[1], 16)
             for row in head.decode().splitlines() if row.startswith(" ")}
    equal(len(table), 8 * int(number), "size of the table")
    got = set()
    for offset, size, module in struct.iter_unpack("<IHH", table):
        got.add((bases[module] + offset, bases[module] + offset + size))
    equal(got, want, "stretches")


def raw_parts(tool, name, unit):
    """A program's trace as a raw file, with the words that tell what it is."""
    elf = truth_folder() / f"{name}.elf"
    tool.run("encode", truth_folder() / f"{name}.exlog.gz", "--elf", elf, "--protocol", unit, "-o", "capture")
    device = (tool.folder / "capture" / "device_1.ini").read_text()
    head, _, registers = device.partition("[etrace]" if "[etrace]" in device else "[regs]")
    core = (tool.folder / "capture" / "device_0.ini").read_text().partition("type=")[2].split()[0]
    tool.write("registers", registers)
    assert head
    words = ["--protocol", unit, "--config", "registers", "--image", elf]
    return words + ([] if unit == "etrace" else ["--arch", core])


def map_of(text):
    rows_of = [line.split(":") for line in text.splitlines() if not line.startswith("#")]
    return {int(index): int(count) for index, count in rows_of}


def edge_maps(name, unit):
    def run(tool):
        words = raw_parts(tool, name, unit)
        trace = (tool.folder / "capture" / "trace.bin").read_bytes()
        whole = map_of(tool.run("coverage", "capture", "--format", "afl", "-q", status=None).out)
        # Direct edges, and indirect ones that the truth has; a hash may make one of two.
        edges = {(start, to) for start, to, _, _ in rows(name, "edges")}
        assert 0.9 * len(edges) <= len(whole) <= len(edges) + 2, (len(whole), len(edges))
        half = tool.write("half.bin", trace[:len(trace) // 2])
        empty, bad = tool.write("empty.bin", b""), tool.write("bad.bin", bytes(range(256)) * 8)
        files = [tool.write(f"a{number}.bin", trace) for number in range(20)]
        every = [*files[:10], half, empty, bad, *files[10:]]
        tool.run("coverage", "--each", "--format", "afl", *words, "-q", "-o", "maps", *every, status=None)
        for path in files:
            equal(map_of((tool.folder / "maps" / path.name).read_text()), whole, path.name)
        equal(map_of((tool.folder / "maps" / "empty.bin").read_text()), {}, "of nothing")
        part = map_of((tool.folder / "maps" / "half.bin").read_text())
        assert set(part) <= set(whole) and part != whole, "the first half"
        text = tool.run("coverage", "--each", "--format", "afl", *words, "-q", files[0], half, status=None).out
        first, _, second = text.partition(f"# {half}\n")
        equal((map_of(first), map_of(second)), (whole, part), "one after the other")
        twice = map_of(tool.run("coverage", "--format", "afl", *words, "-q", *files[:2], status=None).out)
        equal(twice, {index: min(255, 2 * count) for index, count in whole.items()}, "twice")
        tool.run("coverage", "--format", "afl-map", *words, "-q", "-o", "map", files[0], status=None)
        raw = (tool.folder / "map").read_bytes()
        equal((len(raw), {i: count for i, count in enumerate(raw) if count}), (65536, whole), "bytes")
        filtered = map_of(tool.run("coverage", "--format", "afl", *words, "-q", "--range", "0x0-0xffffffffffff",
                                   files[0], status=None).out)
        equal(filtered, whole, "through a run")
    return run


def edge_map_usage(tool):
    for words in (["--each"], ["--each", "--format", "lcov"], ["--format", "afl", "--save", "x"],
                  ["--format", "afl", "--add", "x"]):
        tool.run("coverage", DEMO, *words, status=2)
    said = tool.run("coverage", "--each", "--format", "afl", "-o", "maps", DEMO, DEMO, status=3).err
    assert "one file" in said, said


def saved_results_add_up(tool):
    for number in (1, 2, 3):
        tool.run("coverage", *[DEMO] * number, "-q", "--save", f"{number}.twr")
    tool.run("merge", "-o", "sum.twr", "1.twr", "2.twr")
    tool.run("merge", "-o", "mus.twr", "2.twr", "1.twr")
    want = (tool.folder / "3.twr").read_bytes()
    equal((tool.folder / "sum.twr").read_bytes() == want, True, "sum")
    equal((tool.folder / "mus.twr").read_bytes() == want, True, "the other way round")
    added = tool.run("coverage", DEMO, "--add", "2.twr", "--format", "jsonl", "-q").out
    equal(added, tool.run("coverage", DEMO, DEMO, DEMO, "--format", "jsonl", "-q").out, "added")
    tool.run("stats", DEMO, "-q", "--save", "stats.twr")
    tool.run("merge", "-o", "twice.twr", "stats.twr", "stats.twr")
    said = tool.run("merge", "-o", "bad.twr", "1.twr", "stats.twr", status=3)
    assert "another kind of result" in said.err, said.err
    assert not (tool.folder / "bad.twr").exists()
    tool.run("merge", "1.twr", status=2)


for each in programs():
    for one in UNITS[each.split("-")[0]]:
        add_case(f"coverage_{each}_{one}", equals_truth(each, one))
add_case("coverage_lines_gcov", lines_equal_gcov)
add_case("coverage_lcov", lcov_reads_it)
add_case("coverage_genhtml", genhtml_draws_it)
add_case("coverage_several_captures", twice_is_twice)
add_case("coverage_merge", saved_results_add_up)
add_case("coverage_cobertura", cobertura_is_valid)
add_case("coverage_diff_cover", diff_cover_reads_it)
add_case("coverage_drcov", drcov_has_what_was_executed)
for each, one in (("a64-counts", "etmv4"), ("a64-jumps", "ete"), ("a32-recur", "ptm"), ("t32-counts", "etmv3"),
                  ("rv64-counts", "etrace")):
    if each in programs():
        add_case(f"coverage_edge_maps_{one}", edge_maps(each, one))
add_case("coverage_edge_map_usage", edge_map_usage)
