# SPDX-License-Identifier: BSD-2-Clause
"""Timelines as other programs read them: each format's own reader finds the spans that the JSON lines have."""
import csv
import io
import json
import re
import shutil
import signal
import struct
import subprocess
import time

from calls_cases import DEMO, truth_folder
from harness import Skip, add_case, corpus, equal
from timeline_cases import lines_of


def need(program):
    if not shutil.which(program):
        raise Skip(f"no {program}")
    return program


def read_with(*words, data=None):
    done = subprocess.run([str(word) for word in words], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, timeout=120)
    assert done.returncode == 0, (words, done.stderr[-2000:])
    return done.stdout


def demo(_tool):
    return [DEMO]


def nested(_tool):
    return [corpus() / "exec-m" / "etm" / "m3-nested-etmv4", "--symbols", corpus() / "exec-m" / "logs" / "m3-nested.elf"]


def timed(tool):
    folder = truth_folder()
    tool.run("encode", folder / "a64-recur.exlog.gz", "--elf", folder / "a64-recur.elf", "--protocol", "etmv4", "--config",
             "TRCCONFIGR=0x811,TRCCCCTLR=4", "--unit", "cycles=3", "-o", "capture")
    return ["capture", "--symbols", folder / "a64-recur.elf"]


def swo(_tool):
    return [corpus() / "exec-m" / "swo" / "m3-nested-b.swo", "--protocol", "itm", "--config", "ITMTCR=0x10107"]


CAPTURES = {"demo": demo, "nested": nested, "timed": timed, "swo": swo}


class Lines:
    """What the JSON lines say, in the form that readers are compared in: (track name, span name, begin, end)."""

    def __init__(self, tool, words):
        lines = lines_of(tool.run("timeline", *words, "--format", "jsonl", "-q", status=None).out)
        names = {row["track"]: row["name"] for row in lines if row["t"] == "TRACK"}
        kinds = {row["track"]: row["kind"] for row in lines if row["t"] == "TRACK"}
        self.spans, self.unfinished = [], []
        for row in lines:
            if row["t"] == "SLICE":
                at_end = "kind" not in row and row.get("open") in ("end", "both")
                (self.unfinished if at_end else self.spans).append(
                    (names[row["track"]], row["name"], row["est"], row["est_end"]))
            elif row["t"] == "GAP":
                self.spans.append((names[row["track"]], row["reason"], row["est"], row["est_end"]))
        self.spans.sort()
        self.values = sorted((names[row["track"]], row["est"], int(row["value"], 16)) for row in lines
                             if row["t"] == "MARK" and "value" in row)
        self.marks = sum(row["t"] == "MARK" and "value" not in row for row in lines)
        self.kinds = {names[track]: kind for track, kind in kinds.items()}
        self.start = min([row["est"] for row in lines if row.get("est") is not None] or [0])


def fields(data):
    """(number, value) of a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            equal(key & 7, 2, "wire type")
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size


def perfetto(capture):
    def run(tool):
        words = CAPTURES[capture](tool)
        want = Lines(tool, words)
        tool.run("timeline", *words, "--format", "perfetto", "-o", "t.perfetto", "-q", status=None)
        data = (tool.folder / "t.perfetto").read_bytes()
        read_with(need("protoc"), "--decode_raw", data=data)
        tracks, names, open_spans, spans, values, marks = {}, {}, {}, [], [], 0
        for number, packet in fields(data):
            equal(number, 1, "packet")
            packet = list(fields(packet))
            found = dict(packet)
            equal(found[10], 1, "sequence")
            if 60 in found:
                about = dict(fields(found[60]))
                label = about.get(2) or dict(fields(about.get(4, b""))).get(5, b"")
                tracks[about[1]] = label.decode()
                continue
            for _, entry in fields(found.get(12, b"")):
                entry = dict(fields(entry))
                names[entry[1]] = entry[2].decode()
            event = dict(fields(found[11]))
            stack = open_spans.setdefault(event[11], [])
            if event[9] == 1:
                stack.append((names[event[10]] if 10 in event else event[23].decode(), found[8]))
            elif event[9] == 2:
                name, begin = stack.pop()
                spans.append((tracks[event[11]], name, begin, found[8]))
            elif event[9] == 4:
                values.append((tracks[event[11]], found[8], event[30]))
            else:
                marks += event.get(23) != b"gap"
        equal(sorted(spans), [row for row in want.spans], "spans")
        equal(sorted((tracks[track], name, begin) for track, stack in open_spans.items() for name, begin in stack),
              sorted(row[:3] for row in want.unfinished), "spans that did not finish")
        equal(sorted(values), want.values, "values")
        equal(marks, want.marks, "marks")
    return run


def chrome(capture):
    def run(tool):
        words = CAPTURES[capture](tool)
        want = Lines(tool, words)
        text = tool.run("timeline", *words, "--format", "chrome", "-q", status=None).out
        names, open_spans, spans = {}, {}, []
        start = None
        for event in json.loads(text)["traceEvents"]:
            if event["ph"] == "M":
                if event["name"] == "thread_name":
                    names[event["tid"]] = event["args"]["name"]
                continue
            now = round(event["ts"] * 1000)
            start = now if start is None else start
            stack = open_spans.setdefault(event["tid"], [])
            if event["ph"] == "B":
                stack.append((event["name"], now))
            elif event["ph"] == "E":
                name, begin = stack.pop()
                spans.append((names[event["tid"]], name, begin, now))
        assert not any(open_spans.values())
        every = sorted(want.spans + want.unfinished)
        first = min((row[2] for row in every), default=0)
        least = min((row[2] for row in spans), default=0)
        equal(sorted((a, b, c - least, d - least) for a, b, c, d in spans),
              [(a, b, c - first, d - first) for a, b, c, d in every], "spans")
    return run


def ctf(capture):
    def run(tool):
        words = CAPTURES[capture](tool)
        want = Lines(tool, words)
        tool.run("timeline", *words, "--format", "ctf", "-o", "t.ctf", "-q", status=None)
        text = read_with(need("babeltrace2"), "--clock-cycles", tool.folder / "t.ctf").decode()
        stacks, spans, values = {}, [], 0
        for line in text.splitlines():
            now = int(re.search(r"\[(\d+)\]", line).group(1))
            kind = re.search(r"\) (\S+): \{|\] (\S+): \{", line)
            kind = kind.group(1) or kind.group(2)
            track = int(re.search(r"track = (\d+)", line).group(1))
            if kind.endswith("func_entry"):
                stacks.setdefault(track, []).append((re.search(r'name = "([^"]*)"', line).group(1), now))
            elif kind.endswith("func_exit"):
                name, begin = stacks[track].pop()
                spans.append((name, begin, now))
            values += kind == "value"
        functions = [row[1:] for row in want.spans + want.unfinished if want.kinds[row[0]] == "thread" and
                     not row[1].endswith("short]")]
        equal(sorted(spans), sorted(functions), "functions")
        equal(values, len(want.values), "values")
    return run


def changes(text):
    """(time, name of the signal, value) of a VCD."""
    names, now, rows = {}, 0, []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["$var"]:
            names[words[3]] = words[4]
        elif line[:1] == "#":
            now = int(line[1:])
        elif line[:1] in "sb" and len(words) == 2 and words[1] in names:
            rows.append((now, names[words[1]], words[0][1:].lstrip("0") or "0"))
        elif line[:1] in "01x" and line[1:] in names:
            rows.append((now, names[line[1:]], line[0]))
    return rows


def vcd(capture):
    def run(tool):
        words = CAPTURES[capture](tool)
        want = Lines(tool, words)
        tool.run("timeline", *words, "--format", "vcd", "-o", "t.vcd", "-q", status=None)
        ours = changes((tool.folder / "t.vcd").read_text())
        times = [row[0] for row in ours]
        equal(times, sorted(times), "times do not decrease")
        entries = [row for row in ours if row[1].endswith(".function") and row[2] not in "-x"]
        functions = [row for row in want.spans + want.unfinished if want.kinds[row[0]] == "thread"]
        if functions:
            first = {(row[0], row[2]) for row in entries}
            assert all((row[2], row[1]) in first for row in functions)
        exceptions = sum(want.kinds[row[0]] == "exception" for row in want.spans)
        equal(sum(row[2] == "1" and want.kinds.get(row[1].replace("_", " ")) == "exception" for row in ours), exceptions,
              "exceptions")
        read_with(need("vcd2fst"), tool.folder / "t.vcd", tool.folder / "t.fst")
        back = changes(read_with(need("fst2vcd"), tool.folder / "t.fst").decode())
        last = {}
        for now, name, value in ours:
            last[now, name] = value  # of several changes at one time the reader keeps what counts: the last
        seen = {}
        for now, name, value in back:
            seen[now, name] = value
        for key, value in last.items():
            if key in seen:
                equal(seen[key], value, key)
        assert len(seen) >= len(last) * 0.5, (len(seen), len(last))
    return run


def ctf_is_a_folder(tool):
    got = tool.run("timeline", DEMO, "--format", "ctf", status=3)
    assert "--output" in got.err, got.err
    tool.run("timeline", DEMO, "--format", "ctf", "-o", "t.ctf", "-q")
    got = tool.run("timeline", DEMO, "--format", "ctf", "-o", "t.ctf", "-q", status=3)
    assert "is there already" in got.err, got.err
    equal(sorted(path.name for path in tool.folder.iterdir()), ["t.ctf"], "files")
    stream = (tool.folder / "t.ctf" / "stream").read_bytes()
    at = 0
    while at < len(stream):  # packets: a magic number, and sizes in bits behind two times
        equal(stream[at:at + 4], bytes.fromhex("c11ffcc1"), "magic")
        sizes = struct.unpack_from("<QQ", stream, at + 24)
        equal(sizes[0], sizes[1], "content and packet")
        at += sizes[0] // 8
    equal(at, len(stream), "packets fill the stream")


def limit(tool):
    got = tool.run("timeline", DEMO, "--format", "chrome", "--limit", "10")
    assert "--limit" in got.err, got.err
    equal(sum(event["ph"] == "B" for event in json.loads(got.out)["traceEvents"]), 10, "spans")


def clock(tool):
    words = timed(tool)
    plain = tool.run("timeline", *words, "--format", "chrome", "-q").out
    slow = tool.run("timeline", *words, "--format", "chrome", "-q", "--clock", "1000000").out
    ends = [max(event.get("ts", 0) for event in json.loads(text)["traceEvents"]) for text in (plain, slow)]
    equal(round(ends[0] * 1000), round(ends[1]), "1 MHz: a tick is a microsecond")
    ticks, seconds = ([line.split()[0] for line in tool.run("timeline", *words, "-q", *more).out.splitlines()[1:]]
                      for more in ([], ["--clock", "1000000"]))
    equal([time if time == "?" else ("~" if time[0] == "~" else "") + f"{int(time.strip('~')) / 1000000:.9f}" for time in ticks],
          seconds, "as text")


def short_spans_in_ctf(tool):
    """Spans that are merged begin and end as one, and say how many they are."""
    words = [DEMO, "--min-duration", "40", "-q"]
    want = [(row["lo"], row["count"]) for row in map(json.loads, tool.run("timeline", *words, "--format", "jsonl").out.splitlines())
            if row.get("kind") == "short"]
    tool.run("timeline", *words, "--format", "ctf", "-o", "t.ctf")
    text = read_with(need("babeltrace2"), "--clock-cycles", tool.folder / "t.ctf").decode()
    equal([(int(at), int(count)) for at, count in re.findall(r"\[(\d+)\].* short_begin: .*spans = (\d+)", text)], sorted(want))
    equal(text.count(" short_end: "), len(want))
    assert len(want) > 100


def hostile_names_stay_text(tool):
    """Names of functions come from files that anyone may have written."""
    shutil.copytree(DEMO, tool.folder / "capture")
    elf = tool.folder / "capture" / "recur.elf"
    elf.chmod(0o644)
    data = elf.read_bytes()
    assert data.count(b"\0memset\0") >= 1
    elf.write_bytes(data.replace(b"\0memset\0", b"\0<\"\\\n\xe9,\0"))
    words = ["capture", "-q"]
    rows = lines_of(tool.run("timeline", *words, "--format", "jsonl").out)
    name = next(row["name"] for row in rows if row["t"] == "SLICE" and row["name"].startswith("<"))
    equal(name[:4], "<\"\\\n", "in JSON lines")
    events = json.loads(tool.run("timeline", *words, "--format", "chrome").out)["traceEvents"]
    assert any(event.get("name", "").startswith("<\"\\\n") for event in events)
    table = list(csv.DictReader(io.StringIO(tool.run("timeline", *words, "--format", "csv").out, newline="")))
    assert any(row["name"].startswith("<\"\\\n") for row in table)
    equal(len(table), sum(row["t"] in ("SLICE", "GAP", "MARK") for row in rows), "rows")
    assert not any(ord(char) < 32 and char != "\n" for char in tool.run("timeline", *words).out)
    for line in tool.run("timeline", *words, "--format", "vcd").out.splitlines():
        assert line[:1] != "s" or len(line.split(" ")) == 2, line
    tool.run("timeline", *words, "--format", "perfetto", "-o", "t.perfetto")
    read_with(need("protoc"), "--decode_raw", data=(tool.folder / "t.perfetto").read_bytes())
    tool.run("timeline", *words, "--format", "ctf", "-o", "t.ctf")
    read_with(need("babeltrace2"), tool.folder / "t.ctf")


for each in CAPTURES:
    add_case(f"timeline_perfetto_{each}", perfetto(each))
    add_case(f"timeline_chrome_{each}", chrome(each))
    add_case(f"timeline_ctf_{each}", ctf(each))
    add_case(f"timeline_vcd_{each}", vcd(each))
add_case("timeline_ctf_is_a_folder", ctf_is_a_folder)
add_case("timeline_hostile_names", hostile_names_stay_text)
add_case("timeline_limit", limit)
add_case("timeline_clock", clock)
add_case("timeline_short_spans_in_ctf", short_spans_in_ctf)


def interrupted_export_leaves_nothing(tool):
    """Ctrl-C while a folder is written: neither it nor what it was written to is there afterwards; one that comes when
    it is written, and the program is about to end, leaves it whole."""
    tool.run("timeline", *[DEMO] * 60, "--format", "ctf", "-q", "-o", "whole")
    whole = {path.name: path.read_bytes() for path in (tool.folder / "whole").iterdir()}
    for wait in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
        running = tool.start("timeline", *[DEMO] * 60, "--format", "ctf", "-q", "-o", "t.ctf")
        deadline = time.monotonic() + 20
        while not list(tool.folder.glob("t.ctf*")) and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(wait)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        left = [path.name for path in tool.folder.glob("t.ctf*")]
        assert running.returncode in (0, -signal.SIGINT), running.returncode
        equal(left, ["t.ctf"] if running.returncode == 0 or left else [], f"after {wait} s")
        if left:
            equal({path.name: path.read_bytes() for path in (tool.folder / "t.ctf").iterdir()}, whole, f"after {wait} s")
            shutil.rmtree(tool.folder / "t.ctf")


add_case("timeline_ctf_interrupted", interrupted_export_leaves_nothing)
