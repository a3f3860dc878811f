# SPDX-License-Identifier: BSD-2-Clause
"""perf.data files: the corpus decoded, printed as perf does, and files made here."""
import collections
import csv
import hashlib
import json
import lzma
import re
import shutil
import struct
import subprocess

from harness import ROOT, Skip, add_case, case, corpus, equal
from perf_file import ETMV4, RAW, PerfFile, record

TRUTH = ["p10", "p11", "p12", "p13", "p14", "p15", "p16", "p17", "p18", "p19", "p20", "p21"]
OLD = ["p01", "p02", "p03", "p05"]
NEW = ["p10", "p12", "p13", "p14", "p15", "p16", "p19", "p20"]
SAME_AS = {"p02": "p01", "p11": "p10"}  # only the version of the metadata differs


def perf(name):
    folder = corpus() / "perf"
    return next(folder.glob(name + "-*.perf.data")), folder / "root"


def expected(name, suffix):
    name = SAME_AS.get(name, name)
    return next((corpus() / "perf" / "expected").glob(f"{name}-*.{suffix}")).read_text()


def runs_case(name, suffix):
    def run(tool):
        path, root = perf(name)
        done = tool.run("decode", path, "--sysroot", root, "--format", "runs", status=None)
        equal(done.out, expected(name, suffix))
    return run


def branches_case(name, style):
    def run(tool):
        path, root = perf(name)
        want = expected(name, "branches.txt")
        for words in (["branches"], ["decode", "--format", "perf"]):
            done = tool.run(*words, path, "--symfs", root, "--perf-style", style, status=None)
            equal(done.out, want)
    return run


for number in TRUTH:
    add_case(f"perf_truth_{number}", runs_case(number, "truth.txt"))
for number in ["p01", "p02", "p03", "p05"]:
    add_case(f"perf_runs_{number}", runs_case(number, "runs.txt"))
for number in OLD:
    add_case(f"perf_branches_{number}", branches_case(number, "6.1"))
for number in NEW:
    add_case(f"perf_branches_{number}", branches_case(number, "7.2"))


def known_rows(run, kind):
    rows = (ROOT / "docs" / "known-differences.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, rows) if (row["run"], row["kind"]) == (run, kind)]


def branches_by_place(text):
    """How often each branch was seen: its kind and address, wherever it was said to lead."""
    return collections.Counter(
        (found[1], found[2]) for found in
        re.finditer(r"(call|return|jcc|jmp|iret|int|syscall|sysret|hw int) (\w+) => ", text))


@case
def perf_branches_p04_but_for_what_perf_loses(tool):
    """perf mixes five sources into one list, and loses those of the PTM with most of its path."""
    path, root = perf("p04")
    words = ["branches", path, "--sysroot", root, "--perf-style", "6.1"]
    want = expected("p04", "branches.txt").splitlines()
    got = tool.run(*words, status=None).out.splitlines()
    for row in reversed(known_rows("p04-tc2-etmv3-ptm-v1", "branches")):
        del want[row["line"]:row["line"] + row["want"]]
        del got[row["line"]:row["line"] + row["got"]]
    equal(got, want)
    # The sources that perf does decode: each branch as often, but for those that a mixed list shows
    # although they were not taken, where trace of another source begins.
    got = branches_by_place(tool.run(*words, *[w for i in (0x10, 0x11, 0x12)
                                               for w in ("--id", hex(i))], status=None).out)
    want = branches_by_place(expected("p04", "branches.txt"))
    assert sum(want.values()) > 1500 and sum(((got - want) + (want - got)).values()) <= 13, want


@case
def perf_p04_has_all_four_sources(tool):
    path, root = perf("p04")
    want = collections.defaultdict(list)
    packed = next((corpus() / "perf" / "expected").glob("p04-*.ranges-opencsd.txt.xz"))
    for line in lzma.open(packed, "rt"):
        if not line.startswith("#"):
            cpu, start, end, count, _isa = line.split()
            want[int(cpu)].append((int(start, 16), int(end, 16), int(count)))
    got = collections.defaultdict(list)
    done = tool.run("decode", path, "--sysroot", root, "--format", "jsonl", status=None)
    for line in done.out.splitlines():
        row = json.loads(line)
        if row["t"] == "INSTR_RANGE":
            equal((row["pid"], row["tid"], row["comm"]), (777, 777, "tc2"))
            got[row["cpu"]].append((int(row["st"], 16), int(row["en"], 16), row["n"]))
    equal({cpu: sum(r[2] for r in rows) for cpu, rows in got.items()},
          {0: 7205, 1: 7471, 2: 1947, 3: 9548})
    for cpu, rows in want.items():
        equal(got[cpu], rows, f"cpu {cpu}")


@case
def threads_change_nothing_of_recordings(tool):
    for name in ["p01", "p03", "p06"]:
        path, root = perf(name)
        for words in (["decode", "--format", "runs"], ["branches"], ["stats"],
                      ["branches", "--format", "autofdo"], ["branches", "--format", "profgen"]):
            one = tool.run(*words, path, "--sysroot", root, "--threads", "1", status=None)
            for threads in ["2", "3", "8"]:
                many = tool.run(*words, path, "--sysroot", root, "--threads", threads, status=None)
                equal(many.out, one.out, words)
                equal(many.err, one.err, words)


@case
def perf_p06_equals_both_checksums(tool):
    path, root = perf("p06")
    digest = hashlib.sha256()
    for line in tool.run("branches", path, "--sysroot", root, status=None).stdout.splitlines():
        words = line.split()
        digest.update(words[-3] + b" " + words[-1] + b"\n")
    equal(digest.hexdigest(), "f3047da1e41307d097cca38c297a53660a3fdf5bcf251da88c3681f94ad5194c")
    done = tool.run("decode", path, "--sysroot", root, "--format", "pcs", status=None)
    pcs = b"".join(line for line in done.stdout.splitlines(True) if line[:1] != b"#")
    equal(hashlib.sha256(pcs).hexdigest(),
          "7e39b682930241222a28e16a5b583b0f014ed6cbbe02fa7649733a1429ef1b2f")


@case
def perf_p13_has_times(tool):
    path, root = perf("p13")
    want = expected("p13", "branches-time.txt").splitlines()
    times = {int(line.split()[2].rstrip(":").replace(".", "")) for line in want}
    done = tool.run("decode", path, "--sysroot", root, "--format", "jsonl")
    got = {json.loads(line)["time"] for line in done.out.splitlines() if '"time"' in line}
    first = min(times)
    assert first in got and got <= set(range(first, max(times) + 1000000)), (first, min(got))
    assert len(times & got) > 50, len(times & got)


@case
def perf_time_on_trust(tool):
    """p10 has the conversion, but does not say that it holds for the trace's timestamps."""
    path, root = perf("p10")
    words = ["decode", path, "--sysroot", root]
    assert '"time"' not in tool.run(*words, "--format", "jsonl").out
    rows = [json.loads(line) for line in
            tool.run(*words, "--format", "jsonl", "--trust-time").out.splitlines()]
    for row in rows:
        if row["t"] == "TIMESTAMP":
            equal(row["time"], 7000000000 + int(row["ts"], 16) * 40)
    assert any("time" in row for row in rows if row["t"] == "INSTR_RANGE")
    equal(tool.run(*words, "--format", "runs", "--trust-time").out, expected("p10", "truth.txt"))


@case
def perf_brstack_p01(tool):
    path, root = perf("p01")
    done = tool.run("branches", path, "--sysroot", root, "--perf-style", "6.1", "--brstack", "16",
                    "--period", "1000", status=None)
    equal(done.out, expected("p01", "brstack16.txt"))


@case
def simpleperf_files_decode(tool):
    folder = corpus() / "perf" / "simpleperf"
    for name in ["perf_etm", "perf_with_unformatted_trace"]:
        done = tool.run("decode", folder / f"{name}.data", "--sysroot", folder / "root",
                        "--format", "runs", status=None)
        equal(done.out, (folder / f"{name}.runs.txt").read_text())
    done = tool.run("decode", folder / "perf_with_missing_aux_data.data", "--format", "runs",
                    status=1)
    assert "the data is not in the file" in done.err, done.err
    done = tool.run("decode", folder / "perf_kernel.data", "--sysroot", folder / "root",
                    "--format", "runs", status=None)
    equal(done.out.splitlines()[1], "6 15320 0xffffff99f5897000 30")  # in a kernel module
    for name in ["perf_etm", "perf_with_unformatted_trace"]:
        done = tool.run("branches", folder / f"{name}.data", "--sysroot", folder / "root",
                        "--format", "autofdo", status=None)
        equal(done.out, (folder / "perf_inject.data").read_text())


@case
def perf_profile_is_read_by_profgen(tool):
    program = shutil.which("llvm-profgen-19")
    if not program:
        raise Skip("no llvm-profgen-19")
    for name in ["p10", "p19"]:  # p19: mappings with build IDs
        path, root = perf(name)
        done = tool.run("branches", path, "--sysroot", root, "--format", "profgen", "--period",
                        "50", "--quiet", status=None)
        tool.write("script", done.out)
        made = subprocess.run([program, "--perfscript=script", f"--binary={root}/usr/bin/walk_a",
                               "--output=profile", "--skip-symbolization"], cwd=tool.folder,
                              stderr=subprocess.PIPE, check=False)
        assert made.returncode == 0, made.stderr
        ranges = (tool.folder / "profile").read_text().splitlines()
        assert int(ranges[0], 16 if ranges[0][:2] == "0x" else 10) > 5, ranges[:3]


def made_here():
    """A pipe stream: one CPU, one process, a raw block of ETMv4 trace."""
    trace = (bytes(11) + b"\x80\x01\x00\x04" + bytes.fromhex("81b064000000") +
             bytes.fromhex("9d0020000000000000") + b"\xf7\xf7")
    attr = struct.pack("<IIQQQQQ", 8, 64, 0, 0, 1 << 1 | 1 << 2 | 1 << 7, 0, 1 << 18) + bytes(16)
    tail = struct.pack("<IIQII", 100, 100, 9, 0, 0)
    words = [1, 1, 0, 0x4040404040404040, 0, 7, 0x41, 0x10, 0x28000ea1, 0x4100f403, 0x488, 0, 0xcc]
    return b"".join([
        struct.pack("<8sQ", b"PERFILE2", 16), record(64, attr),
        record(70, struct.pack("<II", 3, 0) + struct.pack("<13Q", *words)),
        record(3, struct.pack("<II8s", 100, 100, b"made") + tail),
        record(10, struct.pack("<IIQQQIIQQII", 100, 100, 0x4000, 16, 0, 8, 1, 7, 0, 5, 2) +
               b"/bin/made\0\0\0\0\0\0\0" + tail),
        record(11, struct.pack("<QQQ", 0, len(trace), 0x100) + tail),
        record(71, struct.pack("<QQQIIII", len(trace) + 7 & ~7, 0, 0, 0, 0xffffffff, 0, 0)),
        trace, bytes(-len(trace) % 8)])


CODE = struct.pack("<4I", 0xd503201f, 0xb4000040, 0xd503201f, 0x17fffffd)


@case
def perf_file_made_here(tool):
    tool.write("perf.data", made_here())
    tool.write("root/bin/made", CODE)
    words = ["perf.data", "--sysroot", "root"]
    equal(tool.run("decode", *words, "--format", "runs").out,
          "# cpu tid first_pc instructions\n0 100 0x4000 2\n0 100 0x400c 1\n")
    equal(tool.run("branches", *words).out,
          "made 100/100 [000] tr strt jmp 0 => 4000\nmade 100/100 [000] jcc 4004 => 400c\n")
    equal(tool.run("branches", *words, "--perf-style", "6.1").out.splitlines()[0],
          "made 100/100 [000] tr strt 0 => 4000")
    equal(tool.run("decode", *words, "--format", "perf", "--instructions").out,
          "".join(f"made 100/100 [000] {pc}\n" for pc in ["4000", "4004", "400c"]))
    equal(tool.run("branches", *words, "--format", "autofdo").out,
          "2\n0-4:1\nc-c:1\n0\n2\n4->c:1\nc->0:1\n// /bin/made\n")
    equal(tool.run("branches", *words, "--format", "profgen", "--period", "3").out.splitlines(),
          ["PERF_RECORD_MMAP2 100/100: [0x4000(0x10) @ 0 08:01 7 0]: r-xp /bin/made",
           "            400c 0x4004/0x400c/P/-/-/0//- ", "            400c 0x4004/0x400c/P/-/-/0//- "])
    rows = [json.loads(line) for line in
            tool.run("decode", *words, "--format", "jsonl").out.splitlines()]
    ranges = [r for r in rows if r["t"] == "INSTR_RANGE"]
    equal([(r["cpu"], r["pid"], r["tid"], r["comm"], r["dso"], r["off"]) for r in ranges],
          [(0, 100, 100, "made", "/bin/made", "0x0"), (0, 100, 100, "made", "/bin/made", "0xc")])
    piped = subprocess.run([tool.program, "decode", "-", "--sysroot", "root", "--format", "runs"],
                           cwd=tool.folder, input=made_here(), stdout=subprocess.PIPE, check=True)
    equal(piped.stdout.decode(), tool.run("decode", *words, "--format", "runs").out)
    text = tool.run("info", *words).out
    assert "perf.data file" in text and "/bin/made: found root/bin/made" in text, text
    assert "ADDR" in tool.run("packets", "perf.data").out
    tool.run("stats", *words)


def two_processes():
    """Two processes with other code at the same address, on one CPU."""
    trace = bytes(11) + b"\x80\x01\x00\x04" + b"".join(
        bytes.fromhex("81b0%02x000000" "9d0020000000000000" "f7f7" % pid) for pid in (100, 101, 100))
    made = PerfFile()
    made.info(ETMV4, {0: {"TRCCONFIGR": 0x41, "TRCTRACEIDR": 0x10, "TRCIDR0": 0x28000ea1,
                          "TRCIDR1": 0x4100f403, "TRCIDR2": 0x488}})
    for pid, name in ((100, "one"), (101, "two")):
        made.comm(pid, name, 5)
        made.map(pid, 0x4000, 16, 0, f"/bin/{name}", 6)
    made.aux(0, len(trace), RAW, 100, 9)
    made.trace(trace, cpu=0)
    return made.bytes()


@case
def perf_instructions_are_those_of_their_process(tool):
    tool.write("perf.data", two_processes())
    tool.write("root/bin/one", CODE)
    tool.write("root/bin/two", struct.pack("<4I", 0x14000002, 0xd503201f, 0xd503201f, 0x17fffffe))
    words = ["decode", "perf.data", "--sysroot", "root", "--instructions"]
    rows = [json.loads(line) for line in tool.run(*words, "--format", "jsonl").out.splitlines()]
    got = [(r["comm"], r["tid"], r["pc"], r["op"], r["dso"], r["off"]) for r in rows
           if r["t"] == "INSTR"]
    one = [("one", 100, pc, op, "/bin/one", off) for pc, op, off in
           (("0x4000", "0xd503201f", "0x0"), ("0x4004", "0xb4000040", "0x4"),
            ("0x400c", "0x17fffffd", "0xc"))]
    two = [("two", 101, pc, op, "/bin/two", off) for pc, op, off in
           (("0x4000", "0x14000002", "0x0"), ("0x4008", "0xd503201f", "0x8"),
            ("0x400c", "0x17fffffe", "0xc"))]
    equal(got, one + two + one)
    assert all("cpu" in row for row in rows), rows
    assert "[000] 101/101 two  0x4008" in tool.run(*words).out
    table = list(csv.DictReader(tool.run(*words[:4], "--format", "csv").out.splitlines()))
    equal([(r["tid"], r["comm"], r["dso"], r["off"]) for r in table if r["t"] == "INSTR_RANGE"][2],
          ("101", "two", "/bin/two", "0x0"))


@case
def perf_stats_of_several_buffers(tool):
    path, root = perf("p13")
    rows = [json.loads(line) for line in tool.run("stats", path, "--sysroot", root, "--format",
                                                  "jsonl").out.splitlines()]
    equal(sum(row["instructions"] for row in rows if row["t"] == "SOURCE"), 7903)
    equal(sum(row["errors"] + row["bad"] for row in rows if row["t"] == "SOURCE"), 0)


@case
def perf_file_without_its_program(tool):
    tool.write("perf.data", made_here())
    (tool.folder / "empty").mkdir()
    done = tool.run("decode", "perf.data", "--sysroot", "empty", "--format", "runs")
    assert ("missing code: /bin/made (not found): the path was lost there 1 time, at least 2 "
            "instructions" in done.err), done.err


@case
def perf_formats_want_perf_data(tool):
    tool.write("raw.bin", b"\0" * 16)
    for words in (["branches", "raw.bin"], ["decode", "raw.bin", "--format", "runs"]):
        assert "perf.data" in tool.run(*words, "--protocol", "itm", status=2).err
    tool.write("perf.data", made_here())
    assert "--brstack" in tool.run("branches", "perf.data", "--brstack", "0", status=2).err
    assert "--period" in tool.run("branches", "perf.data", "--period", "0", status=2).err


def selected(tool, *words):
    path, root = perf("p10")
    done = tool.run("decode", path, "--sysroot", root, "--format", "jsonl", "--quiet", *words,
                    status=None)
    return done.out.splitlines()


@case
def selecting_a_part_changes_nothing_of_what_is_said(tool):
    everything = selected(tool)
    rows = [json.loads(line) for line in everything]
    middle = rows[len(rows) // 2]["i"]

    def where(test):
        return [line for line, row in zip(everything, rows) if test(row)]

    def overlaps(row, first, end):
        at = row.get("st") or (row["t"] == "ADDR_NACC" and row["addr"])
        return at and int(at, 16) < end and int(row.get("en", at), 16) > first

    assert any(row["tid"] == 3001 for row in rows) and any(row["tid"] == 3002 for row in rows)
    for words, want in [
            (["--from", middle, "--to", middle + 3000],
             where(lambda row: middle <= row["i"] < middle + 3000)),
            (["--tid", "3001"], where(lambda row: row["tid"] == 3001)),
            (["--pid", "3002", "--cpu", "1"],
             where(lambda row: row["pid"] == 3002 and row["cpu"] == 1)),
            (["--comm", "alpha"], where(lambda row: row["comm"] == "alpha")),
            (["--cpu", "0,7"], where(lambda row: row["cpu"] == 0)),
            (["--range", "0x400240-0x400244"],
             where(lambda row: overlaps(row, 0x400240, 0x400244)))]:
        assert want, words
        equal(selected(tool, *words), want, words)
    first = next(i for i, row in enumerate(rows) if row["i"] == middle)
    buffer = rows[first]["buf"]
    want = [line for line, row in zip(everything[first:], rows[first:])
            if row["buf"] != buffer or row["i"] >= middle]
    equal(selected(tool, "--at", f"+{middle}"), want)
    equal(selected(tool, "--at", f"+{middle}", "--count", "5"), want[:5])


def small_recordings():
    """Of every kind: per thread and per CPU, of each protocol, with several sinks, a ring, a pipe."""
    for name in ("p04", "p05", "p11", "p12", "p14", "p15", "p16", "p18", "p19", "p20", "p21"):
        yield perf(name)


@case
def a_part_of_any_recording_keeps_thread_program_and_time(tool):
    for path, root in small_recordings():
        def decode(*words):
            return tool.run("decode", path, "--sysroot", root, "--format", "jsonl", "--quiet",
                            *words, status=None).out.splitlines()

        everything = decode()
        rows = [json.loads(line) for line in everything]
        first = len(rows) // 3
        middle, buffer = rows[first]["i"], rows[first].get("buf")
        first = next(i for i, row in enumerate(rows) if row["i"] == middle)
        equal(decode("--from", middle, "--to", middle + 2000),
              [line for line, row in zip(everything, rows) if middle <= row["i"] < middle + 2000],
              path)
        equal(decode("--at", f"+{middle}"),
              [line for line, row in zip(everything[first:], rows[first:])
               if row.get("buf") != buffer or row["i"] >= middle], path)


@case
def functions_of_perf_data_are_known_by_name(tool):
    def places(row):
        return range(int(row["st"], 16), int(row["en"], 16), 4) if row["t"] == "INSTR_RANGE" else ()

    fib = {(row["dso"], int(row["pc"], 16)) for row in
           map(json.loads, selected(tool, "--instructions"))
           if row.get("sym", "").split("+")[0] == "fib"}
    want = [line for line in selected(tool)
            if any((row.get("dso"), at) in fib for row in [json.loads(line)] for at in places(row))]
    assert len({dso for dso, _ in fib}) == 2 and want, fib
    equal(selected(tool, "--function", "fib"), want)
    path, root = perf("p10")
    done = tool.run("decode", path, "--sysroot", root, "--function", "nosuch", status=3)
    assert 'no function is named "nosuch"' in done.err, done.err


@case
def filters_of_runs_join_nothing(tool):
    path, root = perf("p10")

    def runs(*words):
        done = tool.run("decode", path, "--sysroot", root, "--format", "runs", "--quiet", *words,
                        status=None)
        return done.out.splitlines()[1:]

    everything = runs()
    for words, column, value in [(["--tid", "3001"], 1, "3001"), (["--cpu", "1"], 0, "1")]:
        equal(runs(*words), [line for line in everything if line.split()[column] == value])


@case
def windows_count_time_and_instructions(tool):
    everything = selected(tool, "--id", "0x10")
    rows = [json.loads(line) for line in everything]
    counted, want = 0, []
    for line, row in zip(everything, rows):
        count = row.get("n", 0) if row["t"] == "INSTR_RANGE" else 0
        if counted < 1500 and (counted + count > 1000 if count else counted >= 1000):
            want.append(line)
        counted += count
    equal(selected(tool, "--id", "0x10", "--from", "n:1000", "--to", "n:1500"), want)
    times = [int(row["ts"], 16) for row in rows if row["t"] == "TIMESTAMP"]
    low, high = times[len(times) // 3], times[len(times) // 2]
    got = [json.loads(line) for line in
           selected(tool, "--id", "0x10", "--from", f"t:{low}", "--to", f"t:{high}")]
    stamps = [int(row["ts"], 16) for row in got if row["t"] == "TIMESTAMP"]
    assert low in stamps and high not in stamps and len(got) < len(rows), stamps
    equal(stamps, [time for i, time in enumerate(times)
                   if time < high and (i + 1 == len(times) or times[i + 1] >= low)])
    done = tool.run("decode", perf("p10")[0], "--from", "1s", status=2)
    assert "want --clock" in done.err, done.err
    done = tool.run("packets", perf("p10")[0], "--from", "t:5", status=2)
    assert "offsets" in done.err, done.err
    done = tool.run("decode", perf("p10")[0], "--tid", "x", status=2)
    assert "is no number" in done.err, done.err
