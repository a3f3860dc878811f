# SPDX-License-Identifier: BSD-2-Clause
"""RISC-V N-Trace: logs through the encoder and back, messages, paths of the corpus."""
import gzip
import json
import re
import struct

from encode_etrace_cases import PCS, TEXT, pcs
from harness import case, corpus, equal
from perf_file import PerfFile


@case
def a_log_comes_back_as_ntrace(tool):
    tool.write("run.log", TEXT)
    tool.write("unit.txt", "mode=btm\nimplicit_return_mode=3\ntimestamps=1\nsync_messages=2\n")
    for more in [(), ("--framing", "memory"), ("--config", "unit.txt"),
                 ("--config", "mode=htm,src_bits=4,src=9,repeat_branch=1,sync_style=exact,sync_messages=1"),
                 ("--config", "all_jumps=1,extend_addr_msb=1", "--unit", "trTeInstSyncMode=3,short-messages=1"),
                 ("--unit", "fifo=80,trTeInstStallEna=1,cycles-per-byte=9")]:
        tool.run("encode", "run.log", "--protocol", "ntrace", "-o", "snap", "--force", *more)
        equal(pcs(tool.run("decode", "snap", "--format", "pcs")), PCS, more)


@case
def filters_of_the_ntrace_encoder(tool):
    tool.write("run.log", TEXT)
    tool.run("encode", "run.log", "--protocol", "ntrace", "-o", "snap", "--unit",
             "trTeInstFilters=1,trTeFilter0Enable=1,trTeFilter0MatchComp1=1,trTeFilter0Comp1=1,"
             "trTeComp1PFunction=5,trTeComp1PMatchLow=0x100c")
    equal(pcs(tool.run("decode", "snap", "--format", "pcs")), [pc for pc in PCS if pc >= 0x100c])


@case
def what_the_ntrace_encoder_refuses(tool):
    tool.write("run.log", TEXT)
    for config, text in [("mode=other", "mode: \"other\" is no value it can have"),
                         ("hist_max_bits=1", "holds no branch"),
                         ("dialect=sifive", "dialect must be 1.0")]:
        done = tool.run("encode", "run.log", "--protocol", "ntrace", "-o", "x", "--config", config, status=3)
        assert text in done.err, done.err
    done = tool.run("encode", "run.log", "--protocol", "ntrace", "-o", "x", "--unit", "trTeNothing=1", status=3)
    assert "there is no field trTeNothing" in done.err, done.err


@case
def messages_of_ntrace(tool):
    tool.write("trace.bin", bytes.fromhex("ffff240d000b0c0fff840007"))
    done = tool.run("packets", "trace.bin", "--protocol", "ntrace", "--format", "jsonl")
    lines = [json.loads(line) for line in done.out.splitlines()]
    flow = [line for line in lines if line["t"] != "Idle"]
    equal([(line["i"], line["t"], line["b"]) for line in flow],
          [(2, "ProgTraceSync", "240d000b"), (6, "DirectBranch", "0c0f"),
           (9, "ProgTraceCorrelation", "840007")])
    equal({key: flow[0][key] for key in ("tcode", "sync", "icnt", "faddr")},
          {"tcode": 9, "sync": 3, "icnt": 0, "faddr": "0x80"})


@case
def paths_of_ntrace(tool):
    root = corpus() / "ntrace"
    for name in ("rnd64a-htm-overflow", "rnd64b-btm-ctx-hyp", "rnd32b-btm-btype1",
                 "rv64-recur-user-filter", "zc32-htm-trap", "rnd64a-htm-cut"):
        folder = root / "cases" / name
        keys = dict(line.split("=", 1) for line in (folder / "case.txt").read_text().splitlines() if "=" in line)
        done = tool.run("decode", folder / "trace.bin", "--protocol", "ntrace", "--config", folder / "case.txt",
                        "--image", root / keys["program"] / "image.txt", "--format", "path",
                        status=1 if "overflow" in name else 0)
        equal(done.out, gzip.open(folder / "expected.txt.gz", "rt").read(), name)


DUMP = """[te0 0x20000000]
trTeControl = 0x01510067
trTeImpl = 0x10101
trTeInstFeatures = 0x20010400
[ram0 0x20001000]
trRamStartLow = 0x80000000
trRamLimitLow = 0x80000ffc
trRamWPLow = 0x80000125
"""


@case
def registers_of_the_control_interface(tool):
    tool.write("dump.txt", DUMP)
    done = tool.run("info", "dump.txt")
    assert "te0: trace encoder at 0x20000000, tr??Impl 0x00010101, version 1.0" in done.out, done.out
    assert "\n    extend_addr_msb=1\n" in done.out, done.out
    lines = [json.loads(line) for line in tool.run("info", "dump.txt", "--format", "jsonl").out.splitlines()]
    equal([line["t"] for line in lines], ["COMPONENT", "COMPONENT", "CONFIG"])
    equal(lines[0]["fields"]["trTeInstMode"], 6)
    equal((lines[2]["protocol"], lines[2]["config"]["src_bits"], lines[2]["config"]["ram_wrap"]), ("ntrace", "2", "1"))
    tool.write("dump.txt", DUMP + "trTeNothing = 1\n")
    done = tool.run("info", "dump.txt")  # not a dump: some text
    assert "raw file" in done.out, done.out


@case
def fields_and_errors_of_the_control_interface(tool):
    """-v shows each field as JSON lines have it; where no configuration follows from a dump, that is said."""
    tool.write("dump.txt", DUMP)
    first = json.loads(tool.run("info", "dump.txt", "--format", "jsonl").out.splitlines()[0])
    text = tool.run("info", "dump.txt", "-v").out
    for name, value in first["fields"].items():
        assert f"        {name} = {value}\n" in text, (name, value, text)
    tool.write("ram.txt", "[ram0 0x20001000]\ntrRamStartLow = 0x80000000\n")
    told = json.loads(tool.run("info", "ram.txt", "--format", "jsonl").out.splitlines()[-1])
    equal(told["t"], "CONFIG")
    assert told["error"] and f"decoder: {told['error']}\n" in tool.run("info", "ram.txt").out, told


@case
def a_dump_orders_the_memory_of_a_sink(tool):
    tool.write("run.log", TEXT)
    tool.run("encode", "run.log", "--protocol", "ntrace", "-o", "snap", "--config", "sync_messages=2,sync_style=exact")
    trace = next(path for path in (tool.folder / "snap").iterdir() if path.suffix == ".bin" and "trace" in path.name)
    data = trace.read_bytes()
    data += b"\xff" * (-len(data) % 4)
    # Written round a buffer of its own size, from its middle on.
    middle = len(data) // 8 * 4
    tool.write("ram.bin", data[-middle:] + data[:-middle])
    settings = (f"trTeControl=0x01000067,trRamStartLow=0x1000,trRamLimitLow={0x1000 + len(data) - 4:#x},"
                f"trRamWPLow={0x1000 + middle + 1:#x}")
    said = [tool.run("packets", path, "--protocol", "ntrace", "--format", "jsonl", *more).out
            for path, more in (("ram.bin", ("--config", settings)),)][0]
    names = [json.loads(line)["t"] for line in said.splitlines()]
    whole = [json.loads(line)["t"] for line in
             tool.run("packets", str(trace), "--protocol", "ntrace", "--format", "jsonl").out.splitlines()]
    equal([name for name in names if name not in ("Idle", "NotSync")],
          [name for name in whole if name != "Idle"][-len([n for n in names if n not in ("Idle", "NotSync")]):])


@case
def sequences_of_the_control_interface(tool):
    tool.write("good.seq", "trTeActive = 1\npoll trTeActive == 1 timeout\n")
    tool.run("check-sequence", "good.seq")
    tool.write("bad.seq", "trTeActive = 1\ntrTeInstFeatures = 0\n")
    done = tool.run("check-sequence", "bad.seq", "--format", "jsonl", status=1)
    finding = json.loads(done.out.splitlines()[0])
    equal((finding["rule"], finding["line"], finding["cause"]), ("TC2", 2, 1))
    assert "TC2" in tool.run("check-sequence", "--explain", "tc2").out


@case
def pins_of_a_pib(tool):
    root = corpus() / "ntrace" / "cases" / "rnd64a-htm-overflow"
    trace = (root / "trace.bin").read_bytes()
    image = corpus() / "riscv" / "programs" / "rnd64a" / "image.txt"
    want = tool.run("decode", root / "trace.bin", "--protocol", "ntrace", "--image", image, "--format", "path", status=1).out
    for pins in (1, 2, 4, 8, 16):
        bits, edges = 0, 0
        messages, start = [], 0
        for at, byte in enumerate(trace):  # each message, then some clock edges without one
            if byte & 3 == 3:
                messages.append(trace[start:at + 1])
                start = at + 1
        for number, message in enumerate(messages):
            bits |= int.from_bytes(message, "little") << edges
            edges += 8 * len(message)
            idle = number % 7 * pins if pins < 8 else number % 3 * 8
            bits |= (1 << idle) - 1 << edges
            edges += idle
        bits |= 0xffff << edges
        tool.write("pins.bin", bits.to_bytes((edges + 23) // 8, "little"))
        done = tool.run("decode", "pins.bin", "--protocol", "ntrace", "--config", f"pib_bits={pins}", "--image", image,
                        "--format", "path", status=1)
        equal(done.out, want, pins)


def recording(tool, kind, words, traces):
    """perf.data with these words about the trace, and the trace of each CPU."""
    file = PerfFile()
    file.add(70, struct.pack("<II", kind, 0) + struct.pack(f"<{len(words)}Q", *words))
    file.comm(7, "run", 1)
    for cpu, trace in traces.items():
        file.aux(0, len(trace), 0, 7, 5, cpu)
        file.trace(trace, cpu=cpu, index=cpu)
    tool.write("perf.data", file.bytes())
    return "perf.data"


@case
def recordings_of_risc_v_in_frames(tool):
    tool.write("run.log", TEXT)
    tool.run("encode", "run.log", "--protocol", "ntrace", "-o", "snap", "--framing", "memory", "--config",
             "src_bits=3,src=5,id=0x11")
    trace = (tool.folder / "snap" / "trace.bin").read_bytes()
    image = sorted((tool.folder / "snap").glob("*.bin"))
    code = next(path for path in image if path.name != "trace.bin")
    words = [9 << 32 | 2]
    for cpu, src in ((0, 1), (3, 5)):
        words += [cpu, 5, 1, 0, 0, 3, src]
    for kind in (8, 9):
        path = recording(tool, kind, words, {3: trace})
        done = tool.run("decode", path, "--image", f"{code}@0x1000", "--format", "jsonl")
        ranges = [json.loads(line) for line in done.out.splitlines() if '"INSTR_RANGE"' in line]
        equal({(line["id"], line["src"]) for line in ranges}, {(0x11, 5)})
        equal(sum(line["n"] for line in ranges), len(PCS))
        done = tool.run("decode", path, "--image", f"{code}@0x1000", "--format", "runs")
        equal({line.split()[0] for line in done.out.splitlines() if not line.startswith("#")}, {"3"})
    words[3] = 0
    done = tool.run("decode", recording(tool, 8, words, {3: trace}), status=3)
    assert "CPU 0 traced in format 0" in done.err, done.err


@case
def recordings_of_risc_v_from_a_ram_sink(tool):
    tool.write("run.log", TEXT)
    for protocol, config in (("ntrace", "src_bits=3,src=5"), ("etrace", "layout=v2,iaddress_width_p=64")):
        tool.run("encode", "run.log", "--protocol", protocol, "-o", "snap", "--force", "--config", config)
        trace = (tool.folder / "snap" / "trace.bin").read_bytes()
        code = next(path for path in (tool.folder / "snap").glob("*.bin") if path.name != "trace.bin")
        path = recording(tool, 8, [9], {0: trace, 1: trace})
        done = tool.run("decode", path, "--protocol", protocol, "--config", config, "--image", f"{code}@0x1000",
                        "--format", "pcs")
        equal([int(line, 16) for line in done.out.splitlines() if line[0] != "#"], PCS * 2, protocol)
    for kind, name in ((1, "type 1 (Intel PT)"), (77, "type 77,")):
        done = tool.run("decode", recording(tool, kind, [9, 9, 9], {0: trace}), status=3)
        assert name in done.err, done.err


HEAD = "itype,iaddr,iretire,ilastsize,priv,context,time\n"


def loops(rows):
    """A log: each row is context and time of a jump to 0x1000 and of what follows there."""
    return HEAD + "".join(f"10,1000,4,1,0,{context},{time}\n" for context, time in rows)


def loop_code(tool):
    tool.write("loop.bin", (0x13).to_bytes(4, "little") + (0x00008067).to_bytes(4, "little"))
    return "loop.bin@0x1000"


def encoded(tool, log, config, *more):
    tool.write("harts.csv", log)
    tool.run("encode", "harts.csv", "--protocol", "ntrace", "-o", "snap", "--force", "--config", config, *more)
    return (tool.folder / "snap" / "trace.bin").read_bytes()


def threads(tool, path, *more):
    """(cpu, tid, n) of each run, in the order of time."""
    done = tool.run("decode", path, "--image", loop_code(tool), "--format", "runs", *more)
    return [(line.split()[0], line.split()[1], int(line.split()[3])) for line in done.out.splitlines()
            if not line.startswith("#")]


@case
def ownership_in_a_recording_is_its_thread(tool):
    log = loops([(100, 10), (100, 20), (200, 30), (200, 40), (100, 50)])
    trace = encoded(tool, log, "src_bits=3,src=5,id=0x11,ownership=1,mode=btm", "--framing", "memory")
    words = [9 << 32 | 1, 3, 5, 1, 1, 0, 3, 5]
    runs = threads(tool, recording(tool, 8, words, {3: trace}))
    equal([run[:2] for run in runs if run[1] != "-"][:1], [("3", "100")])
    totals = {}
    for _, tid, count in runs:
        totals[tid] = totals.get(tid, 0) + count
    equal({tid: totals.get(tid) for tid in ("100", "200")}, {"100": 6, "200": 4})
    words[4] = 0  # trTeContext is 0: what an Ownership says is no thread
    assert "100" not in {run[1] for run in threads(tool, recording(tool, 8, words, {3: trace}))}


def turns(runs):
    """Whose turn it was, one after the other."""
    return [run[:2] for n, run in enumerate(runs) if n == 0 or runs[n - 1][:2] != run[:2]]


TURNS = [("0", "100"), ("1", "200"), ("0", "100"), ("1", "200")]
FIRST = loops([(100, time) for time in (10, 20, 30, 110, 120, 130)])
SECOND = loops([(200, time) for time in (60, 70, 80, 160, 170, 180)])


@case
def harts_of_a_recording_are_merged_by_time(tool):
    config = "src_bits=2,src={},id={},ownership=1,timestamps=1,mode=btm"
    first = encoded(tool, FIRST, config.format(1, 0x11), "--framing", "memory")
    second = encoded(tool, SECOND, config.format(2, 0x12), "--framing", "memory")
    words = [9 << 32 | 2, 0, 5, 1, 1, 0, 2, 1, 1, 5, 1, 1, 0, 2, 2]
    runs = threads(tool, recording(tool, 8, words, {0: first, 1: second}), "--trust-time")
    equal(turns(runs), TURNS)
    equal([sum(run[2] for run in runs if run[0] == cpu) for cpu in "01"], [12, 12])
    # The same from RAM sinks, one for each hart.
    config = config.replace(",id={}", "")
    first, second = encoded(tool, FIRST, config.format(1)), encoded(tool, SECOND, config.format(2))
    runs = threads(tool, recording(tool, 8, [9], {0: first, 1: second}), "--trust-time", "--protocol", "ntrace",
                   "--config", "src_bits=2")
    equal(turns(runs), TURNS)


@case
def harts_that_share_frames_are_told_apart(tool):
    """Messages of two harts through a funnel into one ATB bridge: one trace ID, SRC tells whose they are."""
    streams = []
    for src, log in ((1, FIRST), (2, SECOND)):
        encoded(tool, log, f"src_bits=2,src={src},id=0x11,ownership=1,timestamps=1,mode=btm")
        trace, messages, begin = (tool.folder / "snap" / "trace.bin").read_bytes(), [], 0
        for at, byte in enumerate(trace):
            if byte & 3 == 3:
                messages.append(trace[begin:at + 1])
                begin = at + 1
        streams.append(messages)
    mixed = b""
    while any(streams):  # a funnel takes whole messages of each
        mixed += b"".join(stream.pop(0) for stream in streams if stream)
    tool.write("mixed.bin", mixed)
    tool.run("pack", "--stream", "0x11:mixed.bin", "-o", "framed.bin")
    framed = (tool.folder / "framed.bin").read_bytes()
    words = [9 << 32 | 2, 0, 5, 1, 1, 0, 2, 1, 1, 5, 1, 1, 0, 2, 2]
    runs = threads(tool, recording(tool, 8, words, {0: framed}), "--trust-time")
    equal({run[:2] for run in runs}, {("0", "100"), ("1", "200")})
    equal([sum(run[2] for run in runs if run[0] == cpu) for cpu in "01"], [12, 12])


@case
def identify_finds_dialect_and_src(tool):
    """N-Trace that says nothing of itself: how wide SRC is, and whether it is the dialect."""
    tried = 0
    for folder in sorted((corpus() / "ntrace" / "cases").iterdir()):
        trace, about = folder / "trace.bin", folder / "case.txt"
        if not trace.is_file() or not 1024 <= trace.stat().st_size < 1 << 20:
            continue
        text = about.read_text()
        want = re.search(r"src_bits\s*[= ]\s*(\d+)", text)
        found = json.loads(tool.run("identify", "--format", "json", trace, status=None).out.splitlines()[0])
        told = json.dumps(found)
        if '"ntrace"' not in told:
            continue
        tried += 1
        got = re.search(r"src_bits=(\d+)", told)
        equal(int(got.group(1)) if got else 0, int(want.group(1)) if want else 0, folder.name)
        assert "dialect=sifive" not in told, folder.name
    assert tried > 50, tried
