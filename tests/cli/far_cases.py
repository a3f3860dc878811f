# SPDX-License-Identifier: BSD-2-Clause
"""Places in captures of many blocks, of two sources, with an index, without one and with one whose pages are damaged."""
import json

from harness import case, equal
from hostile_cases import REGISTERS, SYNC

ROUNDS = 400


def config(number):
    return ",".join(f"{name}={value:#x}" for name, value in {**REGISTERS, "TRCCONFIGR": 0x801, "TRCTRACEIDR": number}.items())


def stamp(time):
    """ETMv4's timestamp packet, in full."""
    return b"\x02" + bytes(0x80 | time >> 7 * i & 0x7f for i in range(8)) + bytes([time >> 56])


def stream(step, seldom=1):
    """Synchronizations with the time, step by step; most of the bytes say nothing."""
    return b"".join(SYNC + (stamp(step * (n + 1)) if n % seldom == 0 else b"") + b"\xf7" * 1000 for n in range(ROUNDS))


def two(tool):
    """Two sources in frames: the second one tells the time seldom.  Words that name it."""
    tool.write("one", stream(1000))
    tool.write("two", stream(1000, 40)[:len(stream(1000)) // 2])
    tool.run("pack", "--framing", "memory", "--stream", "0x10:one", "--stream", "0x11:two", "-o", "two.bin")
    return ["two.bin", "--framing", "memory", *(word for number in (0x10, 0x11)
                                                for word in ("--source", f"{number:#x}:etmv4:{config(number)}"))]


def rows(done):
    return [json.loads(line) for line in done.out.splitlines()]


@case
def times_are_found_in_a_long_capture(tool):
    tool.write("one.bin", stream(1000))
    for words in (["one.bin", "--protocol", "etmv4", "--config", config(0x10)], two(tool)):
        times = [1, 1000, 1001, 133_333, 256_000, 399_999, 400_000, 2_000_000]
        found = {}
        for kind in ("none", "sparse", "full"):
            if kind != "none":
                tool.run("index", "build", *words, "--detail", kind)
            found[kind] = [rows(tool.run("decode", *words, "--at", time, "--count", "6", "--format", "jsonl", status=None))
                           for time in times]
        equal(found["none"], found["full"], words[0])
        equal(found["sparse"], found["full"], words[0])
        for time, got in zip(times, found["full"]):
            stamps = [int(row["ts"], 16) for row in got if row["t"] == "TIMESTAMP"]
            want = min(max(time // 1000, 1), ROUNDS) * 1000
            # The last of its source at that time; with two sources, of the one that told it first.
            assert stamps and (stamps[0] == want or (words[0] == "two.bin" and min(stamps) <= max(time, 1000))), (time, got)
        (tool.folder / (words[0] + ".twx")).unlink()


@case
def the_nth_of_two_sources_is_found(tool):
    words = two(tool)
    for only in ([], ["--id", "0x11"]):
        syncs = sorted(row["i"] for row in rows(tool.run("packets", *words, *only, "--format", "jsonl")) if row["t"] == "I_ASYNC")
        for nth in (1, 2, 7, 150, len(syncs)):
            got = rows(tool.run("index", "find", *words, *only, "--at", f"sync:{nth}", "--format", "jsonl"))
            equal(got[0]["i"], syncs[nth - 1], nth)
            got = rows(tool.run("decode", *words, *only, "--at", f"sync:{nth}", "--count", "3", "--format", "jsonl", status=None))
            assert all(row["i"] >= syncs[nth - 1] for row in got), (nth, got)
        tool.run("index", "find", *words, *only, "--at", f"sync:{len(syncs) + 1}", status=1)


@case
def damaged_pages_of_an_index_change_nothing(tool):
    words = two(tool)
    tool.run("index", "build", *words, "--detail", "full")
    path = tool.folder / "two.bin.twx"
    good = path.read_bytes()
    places = ("256000", "+300000")
    want = [tool.run("decode", *words, "--at", place, "--count", "6", status=None).out for place in places]
    said = 0
    for at in range(100, len(good), 4096):
        path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1:])
        for place, right in zip(places, want):
            done = tool.run("decode", *words, "--at", place, "--count", "6", "--index", path, status=None)
            equal(done.out, right, (at, place))
            said += "damaged" in done.err
    assert said, "no page that was looked at"
