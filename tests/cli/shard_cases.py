# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a capture: what is counted of each adds up to what is counted of the whole, byte for byte."""
import os
import random

from calls_cases import truth_folder
from harness import ROOT, add_case, case, corpus, equal, some

DEMO = ROOT / "tests" / "captures" / "demo"
KINDS = {"stats": ["stats"], "coverage": ["coverage"], "self": ["profile", "--self"], "line": ["profile", "--by", "line"],
         "thread": ["profile", "--by", "thread"], "profile": ["profile"], "calls": ["calls"],
         "stack": ["profile", "--by", "stack", "--format", "callgrind"]}
MADE = [("a64-sorts", "etmv4", ["--config", "TRCSYNCPR=8"]), ("a64-sorts", "ete", ["--config", "TRCSYNCPR=8"]),
        ("a64-jumps", "etmv4", ["--config", "TRCSYNCPR=8"]), ("a64-throw", "ete", ["--config", "TRCSYNCPR=8"]),
        ("a64-coro", "etmv4", ["--config", "TRCSYNCPR=8"]), ("mix-indirect", "etmv3", []),
        ("a32-recur", "ptm", []), ("t32-counts", "etmv3", []),
        ("rv64-recur", "etrace", ["--unit", "ResyncMode=1,ResyncMax=0"]),
        ("rv64-recur", "ntrace", ["--unit", "trTeInstSyncMode=1,trTeInstSyncMax=0"])]
# ETMv3, PTM, ETE, STM, ITM, several IDs and buffers, transactions, speculation.
SNAPSHOTS = ["TC2", "Snowball", "001-ack_test", "juno_r1_1", "stm_only", "itm_only_raw", "tme_simple", "ete_spec_1",
             "maxspec0_commopt1"]
PERF = ["p03-juno-kernel-6cpu-etmv4-v1", "p04-tc2-etmv3-ptm-v1", "p10-walk-percpu-etmv4-v1", "p16-walk-snapshot-etmv4",
        "p19-walk-truncated-partial", "p20-walk-percpu-ete-raw-v2-hwid01"]
IS_FULL = bool(os.environ.get("TW_TEST_FULL"))
COUNTS = (1, 2, 3, 7, 64)


def all_add_up(tool, words, kinds=KINDS):
    """In the plain run what is cut at its seams by everyone, and of the rest a little."""
    for kind in kinds:
        add_up(tool, words, kind, COUNTS if IS_FULL else (7,) if kind in ("stats", "coverage", "calls") else (2,))


def add_up(tool, words, kind, counts, file=None):
    command = KINDS[kind]
    tool.run(*command, *words, "-q", "-o", "/dev/null", "--save", "whole", status=None)
    whole = (tool.folder / "whole").read_bytes()
    for count in counts:
        parts = [f"part{i}" for i in range(count)]
        for i, part in enumerate(parts):
            tool.run(*command, *words, "-q", "-o", "/dev/null", "--save", part,
                     *(["--parts", file, "--part", i + 1] if file else ["--part", f"{i + 1}/{count}"]), status=None)
        tool.run("merge", "-o", "sum", *reversed(parts))
        equal((tool.folder / "sum").read_bytes(), whole, f"{kind} of {count} parts")


def make(tool, name, unit, more):
    elf = truth_folder() / f"{name}.elf"
    tool.run("encode", truth_folder() / f"{name}.exlog.gz", "--elf", elf, "--protocol", unit, "-o", "made", *more)
    return tool.folder / "made"


def made_adds_up(row):
    return lambda tool: all_add_up(tool, [make(tool, *row)])


def snapshot_adds_up(name):
    def run(tool):
        all_add_up(tool, [corpus() / "coresight" / "snapshots" / name], KINDS if IS_FULL else ("stats", "coverage"))
    return run


def perf_adds_up(name):
    def run(tool):
        perf = corpus() / "perf"
        all_add_up(tool, [perf / f"{name}.perf.data", "--sysroot", perf / "root"],
                   KINDS if IS_FULL else ("stats", "coverage", "calls"))
    return run


for row in some(MADE):
    add_case(f"parts_add_up_{row[0]}_{row[1]}", made_adds_up(row))
for snapshot in some(SNAPSHOTS):
    add_case(f"parts_add_up_{snapshot}", snapshot_adds_up(snapshot))
for recording in some(PERF):
    add_case(f"parts_add_up_{recording}", perf_adds_up(recording))


def parts_anywhere(name, find):
    """Cut where it happens to be, not at sync points: in a packet, a frame, a transaction."""
    def run(tool):
        capture, numbers = find(tool), random.Random(f"18 {name}")
        tool.run("shard", capture, "--parts", "1", "-o", "whole.txt")
        head = [line for line in (tool.folder / "whole.txt").read_text().splitlines() if not line.startswith("part")]
        sizes = [int(line.split()[2]) for line in head if line.startswith("buffer")]
        for kind in ("stats", "coverage", "thread", "calls"):
            for _ in range(8 if IS_FULL else 1):
                count = numbers.randrange(2, 12)
                cuts = sorted((i, numbers.randrange(size)) for i, size in
                              (numbers.choice(list(enumerate(sizes))) for _ in range(count - 1)))
                places = [(0, 0), *cuts, (len(sizes), 0)]
                rows = [f"part {i + 1} {a[0]} {a[1]:#x} {b[0]} {b[1]:#x}" for i, (a, b) in enumerate(zip(places, places[1:]))]
                tool.write("parts.txt", "\n".join([*head, *rows, ""]))
                add_up(tool, [capture], kind, (count,), "parts.txt")
    return run


for snapshot in some(SNAPSHOTS):
    add_case(f"parts_anywhere_{snapshot}",
             parts_anywhere(snapshot, lambda tool, name=snapshot: corpus() / "coresight" / "snapshots" / name))
for row in some(MADE):
    add_case(f"parts_anywhere_{row[0]}_{row[1]}", parts_anywhere(row[0], lambda tool, row=row: make(tool, *row)))


@case
def parts_of_a_file(tool):
    capture = corpus() / "coresight" / "snapshots" / "juno_r1_1"
    tool.run("shard", capture, "--parts", "5", "-o", "parts.txt")
    lines = [line.split() for line in (tool.folder / "parts.txt").read_text().splitlines()]
    equal(lines[0], ["trackway", "parts", "1"])
    places = [line[2:] for line in lines if line[0] == "part"]
    equal([line[1] for line in lines if line[0] == "part"], list("12345"))
    equal(places[0][:2], ["0", "0x0"])
    equal(places[-1][2:], ["2", "0x0"])
    equal([place[2:] for place in places[:-1]], [place[:2] for place in places[1:]], "they follow each other")
    equal(len({tuple(place) for place in places}), 5, "none is empty")
    for i in range(1, 6):
        tool.run("coverage", capture, "--parts", "parts.txt", "--part", i, "-q", "--save", f"by-file{i}", status=None)
        tool.run("coverage", capture, "--part", f"{i}/5", "-q", "--save", f"by-number{i}", status=None)
        equal((tool.folder / f"by-file{i}").read_bytes(), (tool.folder / f"by-number{i}").read_bytes(), "the same part")


@case
def parts_of_the_ids_and_buffers_that_are_wanted(tool):
    capture = corpus() / "coresight" / "snapshots" / "juno_r1_1"
    for more in (["--id", "0x10"], ["--buffer", "ETB_1"]):
        add_up(tool, [capture, *more], "stats", (3,))
        add_up(tool, [capture, *more], "coverage", (3,))


@case
def parts_of_addresses(tool):
    capture = corpus() / "coresight" / "snapshots" / "TC2"
    for span in ("0xc0000000-0xc0010000", "0xc0010000-0xffffffff", "0-0xc0010000"):
        add_up(tool, [capture, "--range", span], "coverage", (7,))
        add_up(tool, [capture, "--range", span], "calls", (5,))


@case
def wrong_parts(tool):
    for words, text in ((["--part", "0/3"], "is no part"), (["--part", "4/3"], "is no part"), (["--part", "x"], "is no part"),
                        (["--part", "1"], "of how many"), (["--part", "1/2", "--from", "0"], "neither --from"),
                        (["--part", "1/2", "--parts", "x"], "write K"), (["--part", "1/9999999"], "is no part")):
        assert text in tool.run("stats", DEMO, *words, status=2).err, words
    tool.run("shard", DEMO, status=2)
    tool.run("shard", DEMO, "--parts", "0", status=2)
    tool.run("shard", DEMO, "--parts", "2", "-o", "parts.txt")
    good = (tool.folder / "parts.txt").read_text()
    assert "there is no part 3" in tool.run("stats", DEMO, "--parts", "parts.txt", "--part", "3", status=3).err
    for bad in ("", "hello\n", good[:-1], good.replace("part 2", "part 3"), good + "more\n", good.replace("0x0\n", "-1\n"),
                good + "\0\n", "trackway parts 1\n", good.replace("part 1 0", "part 1 9")):
        tool.write("bad.txt", bad)
        assert "is no file of parts" in tool.run("stats", DEMO, "--parts", "bad.txt", "--part", "1", status=3).err, bad
    tool.write("other.txt", good.replace("buffer 0 ", "buffer 0 1"))
    assert "of another capture" in tool.run("stats", DEMO, "--parts", "other.txt", "--part", "1", status=3).err
