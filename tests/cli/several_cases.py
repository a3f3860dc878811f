# SPDX-License-Identifier: BSD-2-Clause
"""Commands that list one capture list several, one after the other: what they say of each is what they say of it alone."""
import json
import subprocess

from harness import ROOT, case, corpus, equal

from decode_cases import raw

DEMO = ROOT / "tests" / "captures" / "demo"
LISTING = ["info", "frames", "packets", "decode", "stats"]


@case
def each_capture_stands_under_its_name(tool):
    tool.run("snapshot", "--from", DEMO, "--output", "copy", "-q")
    for command in LISTING:
        for names in ([DEMO, "copy"], ["copy", DEMO, "copy"]):
            alone = {name: tool.run(command, name, "-q").out for name in names}
            done = tool.run(command, *names, "-q")
            equal(done.out, "\n".join(f"==> {name} <==\n{alone[name]}" for name in names), command)


@case
def each_capture_has_a_line_of_json_in_front(tool):
    tool.run("snapshot", "--from", DEMO, "--output", 'a "copy"', "-q")
    for command in LISTING:
        want = []
        for name in (str(DEMO), 'a "copy"'):
            want += [{"t": "CAPTURE", "path": name}]
            want += map(json.loads, tool.run(command, name, "-q", "--format", "jsonl").out.splitlines())
        done = tool.run(command, DEMO, 'a "copy"', "-q", "--format", "jsonl")
        equal(list(map(json.loads, done.out.splitlines())), want, command)


@case
def the_worst_status_counts_and_the_rest_is_listed(tool):
    words = raw(tool)[1:]
    good, nothing = "etm.bin", "not-there.bin"
    tool.write("bad.bin", (tool.folder / good).read_bytes() + b"\x08\xff\x00\x01\x02")
    alone = tool.run("decode", good, *words).out
    for names, status in [([good, good], 0), ([good, "bad.bin", good], 1), ([good, "bad.bin", nothing, good], 3)]:
        done = tool.run("decode", *names, *words, status=status)
        assert done.out.startswith(f"==> {good} <==\n{alone}\n==> "), done.out
        assert done.out.endswith(f"\n==> {good} <==\n{alone}"), done.out
        lines = done.err.splitlines()
        equal([line for line in lines if not line.startswith(("trackway: bad.bin: ", "bad.bin+0x", f"trackway: {nothing}: "))], [])
        equal(f"trackway: {nothing}: No such file or directory" in lines, nothing in names, done.err)
        equal(any(line.startswith("bad.bin+0x1e ") for line in lines), "bad.bin" in names, done.err)


@case
def wrong_usage_is_said_once(tool):
    for command, *words in [("decode", "-o", "x"), ("stats", "--save", "x"), ("frames", "--split", "x"),
                            ("decode", "--index", "x"), ("decode", "--format", "csv"), ("packets", "--format", "csv"),
                            ("stats", "--from", "insn:5")]:
        done = tool.run(command, DEMO, DEMO, *words, status=2)
        equal(len(done.err.splitlines()), 1, done.err)
        assert not (tool.folder / "x").exists()


@case
def a_reader_that_went_away_ends_it(tool):
    listing = subprocess.Popen([tool.program, "decode", *[DEMO] * 3000], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal(listing.stdout.readline(), f"==> {DEMO} <==\n".encode())
    listing.stdout.close()
    equal(listing.stderr.read(), b"")
    listing.stderr.close()
    assert listing.wait(60) in (0, 3)


@case
def captures_of_the_corpus_one_after_the_other(tool):
    snapshots = corpus() / "coresight" / "snapshots"
    names = [snapshots / name for name in ("TC2", "juno_r1_1", "event_test", "itm_only_raw", "stm_only", "Snowball")]
    names = [name for name in names if name.is_dir()]
    assert len(names) > 3
    for command in ("packets", "decode", "stats"):
        done = tool.run(command, *names, "-q", status=None)
        equal(done.out, "\n".join(f"==> {name} <==\n" + tool.run(command, name, "-q", status=None).out for name in names),
              command)
