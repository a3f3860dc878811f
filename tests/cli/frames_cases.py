# SPDX-License-Identifier: BSD-2-Clause
"""pack and frames: what goes in comes out."""
import json
import random

from harness import ROOT, case, equal

SYNC = bytes([0xff, 0xff, 0xff, 0x7f])


def lines(done):
    return [json.loads(line) for line in done.out.splitlines()]


def joined(rows):
    """The bytes of each ID; checks that the stream offsets have no gaps."""
    streams = {}
    for row in rows:
        if "b" in row:
            stream = streams.setdefault(row["id"], bytearray())
            equal(row["o"], len(stream), row)
            stream += bytes.fromhex(row["b"])
    return {k: bytes(v) for k, v in streams.items()}


def streams_for(tool, seed, count=3, most=3000):
    dice = random.Random(seed)
    streams = {dice.randrange(1, 0x70): dice.randbytes(dice.randrange(1, most))
               for _ in range(count)}
    words = []
    for ident, content in streams.items():
        words += ["--stream", f"0x{ident:02x}:{tool.write(f'{ident}.bin', content).name}"]
    return streams, words


def without_padding(found):
    return {k: v for k, v in found.items() if k}


# [CSD 2.1.2/1]
@case
def pack_then_frames_gives_the_streams_back(tool):
    for seed in range(6):
        streams, words = streams_for(tool, seed)
        for turn in ["0", "1", "7", "64"]:
            tool.run("pack", *words, "--interleave", turn, "-o", "packed.bin")
            done = tool.run("frames", "packed.bin", "--framing", "memory", "--format", "jsonl")
            equal(without_padding(joined(lines(done))), streams, f"seed {seed} turn {turn}")


# [CSD 2.3.2/2]
@case
def pack_for_a_trace_port(tool):
    streams, words = streams_for(tool, 11)
    for framing, more in [("tpiu", ["--fsync", "4"]), ("tpiu-hsync", ["--idle", "100"])]:
        tool.run("pack", *words, "--framing", framing, *more, "-o", "packed.bin")
        done = tool.run("frames", "packed.bin", "--framing", framing, "--format", "jsonl", "--all")
        rows = lines(done)
        equal(without_padding(joined(rows)), streams, framing)
        assert any(row.get("t") == "FSYNC" for row in rows)
    assert any(row.get("t") == "HSYNC" for row in rows)
    assert SYNC in (tool.folder / "packed.bin").read_bytes()


@case
def markers_and_barriers_are_events(tool):
    streams, words = streams_for(tool, 5, count=1)
    (ident, content), = streams.items()
    tool.run("pack", *words, "--trigger", "100:0x07", "--flush", "200", "--barrier", "300",
             "-o", "packed.bin")
    rows = lines(tool.run("frames", "packed.bin", "--framing", "memory", "--all",
                          "--format", "jsonl"))
    events = [(row["t"], row.get("value")) for row in rows if "t" in row]
    equal(events, [("TRIGGER", 7), ("FLUSH", 0), ("BARRIER", None)])
    equal([row["i"] for row in rows], sorted(row["i"] for row in rows))
    equal(b"".join(bytes.fromhex(r["b"]) for r in rows if r.get("id") == ident), content)
    text = tool.run("frames", "packed.bin", "--framing", "memory", "--all").out
    assert " TRIGGER 0x07\n" in text and " BARRIER\n" in text, text


# [CSD 2.1.4/1]
@case
def offsets_are_true(tool):
    _, words = streams_for(tool, 8)
    tool.run("pack", *words, "--interleave", "5", "-o", "packed.bin")
    packed = (tool.folder / "packed.bin").read_bytes()
    for row in lines(tool.run("frames", "packed.bin", "--framing", "memory",
                              "--format", "jsonl")):
        content = bytes.fromhex(row["b"])
        for k, byte in enumerate(content):
            # Bit 0 of the bytes at even places lies in the frame's last byte.
            place = row["i"] + k
            mask = 0xfe if place % 2 == 0 else 0xff
            equal(packed[place] & mask, byte & mask, row)


@case
def split_writes_one_file_for_each_id(tool):
    streams, words = streams_for(tool, 3)
    tool.run("pack", *words, "-o", "packed.bin")
    equal(tool.run("frames", "packed.bin", "--framing", "memory", "--split", "out").out, "")
    for ident, content in streams.items():
        equal((tool.folder / "out" / f"0x{ident:02x}.bin").read_bytes(), content)
    names = {p.name for p in (tool.folder / "out").iterdir()} - {"0x00.bin"}
    equal(names, {f"0x{ident:02x}.bin" for ident in streams})
    tool.run("frames", "packed.bin", "--framing", "memory", "--split", "out", "-o", "x", status=2)
    tool.run("frames", "packed.bin", "--framing", "memory", "--split", "packed.bin", status=3)


@case
def ids_and_offsets_are_selected(tool):
    streams, words = streams_for(tool, 4)
    tool.run("pack", *words, "-o", "packed.bin")
    every = lines(tool.run("frames", "packed.bin", "--framing", "memory", "--format", "jsonl"))
    wanted = sorted(streams)[:2]
    some = lines(tool.run("frames", "packed.bin", "--framing", "memory", "--format", "jsonl",
                          "--id", ",".join(map(str, wanted))))
    equal(some, [row for row in every if row["id"] in wanted])
    some = lines(tool.run("frames", "packed.bin", "--framing", "memory", "--format", "jsonl",
                          "--from", "64", "--to", "0x80"))
    equal(some, [row for row in every if 64 <= row["i"] < 128])


# [CSD 2.3.2/1]
@case
def text_lines_of_frames(tool):
    tool.write("a.bin", bytes.fromhex("a1b2c3"))
    tool.run("pack", "--stream", "0x10:a.bin", "-o", "packed.bin")
    first = tool.run("frames", "packed.bin", "--framing", "memory").out.splitlines()[0]
    equal(first, "0x1 id 0x10 +0x0 a1b2c3")


@case
def an_unframed_file_is_one_stream(tool):
    content = random.Random(1).randbytes(10000)
    tool.write("raw.bin", content)
    found = joined(lines(tool.run("frames", "raw.bin", "--format", "jsonl")))
    equal(found, {None: content})


@case
def a_cut_capture_ends_with_status_one(tool):
    streams, words = streams_for(tool, 9, count=1, most=200)
    tool.run("pack", *words, "-o", "packed.bin")
    packed = (tool.folder / "packed.bin").read_bytes()
    tool.write("cut.bin", packed[:-3])
    done = tool.run("frames", "cut.bin", "--framing", "memory", status=1)
    assert "the last frame is cut" in done.err, done.err
    equal(tool.run("frames", "cut.bin", "--framing", "memory", "-q", status=1).err, "")


@case
def damage_never_stops_it(tool):
    _, words = streams_for(tool, 12, most=300)
    for framing in ["memory", "tpiu", "tpiu-hsync"]:
        tool.run("pack", *words, "--framing", framing, "-o", "packed.bin")
        packed = bytearray((tool.folder / "packed.bin").read_bytes())
        dice = random.Random(2)
        for _ in range(8):
            bad = bytearray(packed[:dice.randrange(len(packed))])
            for _ in range(4):
                if bad:
                    bad[dice.randrange(len(bad))] ^= 1 << dice.randrange(8)
            tool.write("bad.bin", bytes(bad))
            for form in ["memory", "tpiu", "tpiu-hsync", "dstream"]:
                tool.run("frames", "bad.bin", "--framing", form, "--all", status=None)
                tool.run("info", "bad.bin", "--framing", form, status=None)


def two_buffers(tool, change=lambda bytes_: bytes_):
    """A snapshot "snap" with the buffer of the demo and the same, changed, behind it; the demo's folder."""
    demo = ROOT / "tests" / "captures" / "demo"
    for path in demo.iterdir():
        tool.write(f"snap/{path.name}", path.read_bytes())
    tool.write("snap/trace.ini", (demo / "trace.ini").read_text().replace("buffers=buffer0", "buffers=buffer0,buffer1").replace(
        "[source_buffers]", "[buffer1]\nname=ETB_1\nformat=coresight\nfile=again.bin\n\n[source_buffers]").replace(
            "=ETB_0\n\n[core", "=ETB_0,ETB_1\n\n[core"))
    tool.write("snap/again.bin", change((demo / "ETB_0.bin").read_bytes()))
    return demo


@case
def frames_of_a_part(tool):
    """--from and --to cut runs where they stand; --source names an ID; several buffers are told apart."""
    streams, words = streams_for(tool, 5, count=2)
    tool.run("pack", *words, "--interleave", "7", "-o", "packed.bin")
    whole = {}
    for row in lines(tool.run("frames", "packed.bin", "--framing", "memory", "--format", "jsonl")):
        if "b" in row:
            whole.update({(row["id"], row["o"] + i): byte for i, byte in enumerate(bytes.fromhex(row["b"]))})
    parts = {}
    for first, end in ((0, 0x35), (0x35, 0x97), (0x97, 0x1000000)):
        for row in lines(tool.run("frames", "packed.bin", "--framing", "memory", "--format", "jsonl", "--from", hex(first),
                                  "--to", hex(end))):
            if "b" in row:
                assert first <= row["i"] < end, row
                parts.update({(row["id"], row["o"] + i): byte for i, byte in enumerate(bytes.fromhex(row["b"]))})
    equal(parts, whole, "the parts together")
    ident = min(streams)
    rows = lines(tool.run("frames", "packed.bin", "--framing", "memory", "--format", "jsonl", "--id", hex(ident)))
    equal({row["id"] for row in rows if "b" in row}, {ident})


@case
def frames_of_several_buffers(tool):
    """Each line says which buffer it is of, of a source that is named nothing else comes, and what was lost is told."""
    snapshot = two_buffers(tool, lambda bytes_: bytes_[:160] + bytes([0xff] * 16) + bytes(7))
    rows = lines(tool.run("frames", "snap", "--format", "jsonl", "--all", status=1))
    equal({row["buf"] for row in rows if "buf" in row}, {"ETB_0", "ETB_1"})
    equal([(row["buf"], row["why"], row["n"]) for row in rows if row.get("t") == "LOST"],
          [("ETB_1", "lost-sync", 16), ("ETB_1", "incomplete", 7)], "lost")
    plain = lines(tool.run("frames", snapshot, "--format", "jsonl"))
    name = next(json.loads(line)["name"] for line in tool.run("info", "snap", "--format", "jsonl").out.splitlines() if '"SOURCE"' in line)
    named = lines(tool.run("frames", "snap", "--format", "jsonl", "--source", name, "--buffer", "ETB_0"))
    equal([row["b"] for row in named if "b" in row], [row["b"] for row in plain if "b" in row and row["id"]], "of the source")
    tool.run("frames", "snap", "--split", "streams", status=1)
    assert (tool.folder / "streams" / "ETB_0").is_dir() and (tool.folder / "streams" / "ETB_1").is_dir()


@case
def frames_begin_behind_what_a_file_has_first(tool):
    trace = (ROOT / "tests" / "captures" / "demo" / "ETB_0.bin").read_bytes()
    tool.write("trace.bin", trace)
    tool.write("late.bin", b"1234567" + trace)
    words = ["--framing", "memory", "-q"]
    equal(tool.run("frames", "late.bin", "--offset", "7", "--format", "jsonl", *words).out,
          tool.run("frames", "trace.bin", "--format", "jsonl", *words).out)
    err = tool.run("frames", "late.bin", "--offset", len(trace) + 7, *words, status=3).err
    assert f"has {len(trace) + 7} bytes: none is left behind the first {len(trace) + 7}" in err, err
