# SPDX-License-Identifier: BSD-2-Clause
"""Paths that repeat: a REPEAT element says what the same rounds, told one by one, say."""
import json

from gdb_cases import packet, serve
from harness import case, equal
from plugin_cases import go, lap, rounds

ROUNDS = 40


def both(tool):
    """The words that open the same path told both ways: the first with a REPEAT."""
    short = lap(tool, go(0x4000) + b"T" + rounds(ROUNDS - 1) + b"N", "short.bin")
    return short, lap(tool, go(0x4000) + (ROUNDS + 1) * b"T" + b"N", "long.bin")


def rows(done):
    return [json.loads(line) for line in done.out.splitlines()]


def counted(tool, words, *command):
    """What an analysis says, but for where and in how many elements."""
    found = rows(tool.run(command[0], *words, *command[1:], "--format", "jsonl", "-q", status=None))
    return [{key: value for key, value in row.items() if key not in ("i", "file", "capture", "elements", "from", "to", "bytes")}
            for row in found]


@case
def a_repeat_is_counted_as_its_rounds(tool):
    short, long = both(tool)
    for command in (["profile", "--by", "address"], ["coverage"], ["calls"]):
        got = counted(tool, short, *command)
        equal(got, counted(tool, long, *command), command)
        assert got, command


@case
def a_repeat_is_left_out_where_its_ranges_are(tool):
    short, long = both(tool)
    listed = {}
    for name, words in (("short", short), ("long", long)):
        for kept in ("0x4000-0x4008", "0x4008-0x4010", "0x9000-0x9010"):
            listed[name, kept] = tool.run("decode", *words, "--range", kept, "--format", "pcs", status=None).out
    for kept in ("0x4000-0x4008", "0x4008-0x4010", "0x9000-0x9010"):
        equal(listed["short", kept], listed["long", kept], kept)
    assert listed["short", "0x4000-0x4008"] and not listed["short", "0x9000-0x9010"]


@case
def gdb_steps_through_a_repeat(tool):
    """The same registers at each step, forwards and backwards, whether the rounds are told one by one or not."""
    steps = 2 * ROUNDS + 6
    words = ["qSupported", "?", *["s", "p20"] * steps, *["bs", "p20"] * (steps + 3), "c", "p20", "bc", "p20"]
    answers = []
    for opened in both(tool):
        out = serve(tool, b"+".join(packet(word) for word in words), *opened[1:], "-q", capture=opened[0])
        answers.append([answer for answer in out.split(b"$") if b"PacketSize" not in answer])
        assert len(answers[-1]) > 4 * steps, out[:300]
    equal(answers[0], answers[1])


@case
def more_analyses_count_a_repeat_as_its_rounds(tool):
    """Profiles in time, maps of edges through elements, and what the doctor and GDB's monitor count."""
    short, long = both(tool)
    for command in (["profile", "--by", "function", "--unit", "time"], ["profile", "--by", "stack"]):
        got = counted(tool, short, *command)
        equal(got, counted(tool, long, *command), command)
        assert got, command
    maps, found, places = [], [], []
    for words in (short, long):
        maps.append([tool.run("coverage", *words, "-q", "--format", "afl", *more, status=None).out
                     for more in ([], ["--range", "0x0-0xffffffff"])])
        found.append([row.get("code", row["text"].split(", ")[-1]) for row in rows(tool.run("doctor", *words, "--format", "jsonl", status=None))])
        ask = packet("qRcmd," + f"goto n:{ROUNDS + 3}".encode().hex())
        places.append(serve(tool, ask + b"+" + packet("p20"), *words[1:], "-q", capture=words[0]).split(b"$")[-1])
    equal(maps[0], maps[1])
    equal(found[0], found[1])
    equal(places[0], places[1])
