# SPDX-License-Identifier: BSD-2-Clause
"""Statements of the Arm documents that show at the command line, each on a small stream made here.  The clause stands in brackets."""
import json
import re
import struct

from harness import case, corpus, equal

BASE = 0x4000
NOP, RET, TSTART = 0xd503201f, 0xd65f03c0, 0xd5233060


def b(at, to):
    return 0x14000000 | (to - at) >> 2 & 0x3ffffff


def bl(at, to):
    return 0x94000000 | (to - at) >> 2 & 0x3ffffff


def beq(at, to):
    return 0x54000000 | ((to - at) >> 2 & 0x7ffff) << 5


def program(code, size=0x2000):
    """offset -> instruction, or (function, target offset); the rest is NOPs"""
    words = [NOP] * (size // 4)
    for at, what in code.items():
        words[at // 4] = what if isinstance(what, int) else what[0](at, what[1])
    return struct.pack(f"<{len(words)}I", *words)


SYNC = bytes(11) + b"\x80" + b"\x01\x00"
ON, CONTEXT, E, N = b"\x04", b"\x81\x30", b"\xf7", b"\xf6"
START, FAIL = b"\x0a", b"\x06\x31\x70"


def address(offset, header=0x9d):
    at = BASE + offset
    return bytes([header, at >> 2 & 0x7f, at >> 9 & 0x7f]) + struct.pack("<Q", at)[2:8]


def source(offset):
    return address(offset, 0xb8)


HEAD = SYNC + ON + CONTEXT


def config(configr=1, idr0=0x28000ea1, spec=0):
    return (f"TRCIDR0={idr0:#x},TRCIDR1=0x4100fff0,TRCIDR2=0xd0001088,TRCIDR8={spec},TRCCONFIGR={configr:#x},"
            "TRCTRACEIDR=0x10,TRCDEVARCH=0x47705a13")


def ete(tool, command, stream, code, *more, status=0, **registers):
    tool.write("ete.bin", stream)
    tool.write("code.bin", program(code))
    words = ["ete.bin", "--protocol", "ete", "--config", config(**registers)]
    if command != "packets":
        words += ["--arch", "ARM-AA64", "--image", f"code.bin@{BASE:#x}"]
    return tool.run(command, *words, *more, status=status)


def rows(done):
    return [json.loads(line) for line in done.out.splitlines()]


TRANSACTION = {0x1000: TSTART, 0x1004: (b, 0x1800), 0x1800: (b, 0x1800)}
FAILED = HEAD + address(0x1000) + E + START + E + FAIL + address(0x1004) + E


@case
def what_a_failed_transaction_executed_did_not_happen(tool):
    """[K10.5.4.4] everywhere but in the list of elements"""
    pcs = ete(tool, "decode", FAILED, TRANSACTION, "--format", "pcs").out.split()
    equal([int(pc, 16) - BASE for pc in pcs], [0x1000, 0x1004])
    assert re.search(r"\b2 instructions", ete(tool, "stats", FAILED, TRANSACTION).out)
    found = rows(ete(tool, "decode", FAILED, TRANSACTION, "--format", "jsonl"))
    equal([row["t"] for row in found if row["t"] in ("INSTR_RANGE", "MEMTRANS")],
          ["INSTR_RANGE", "MEMTRANS", "INSTR_RANGE", "MEMTRANS", "INSTR_RANGE"])


# [CSD 2.1.5/6]
@case
def cycles_of_timestamps_are_no_part_of_the_total(tool):
    """[K10.5.5.17]"""
    stream = (bytes(11) + b"\x80" + b"\x01\x09\x01\x04" + ON + CONTEXT + address(0x800) + E + b"\x03\x05\x07" + b"\x11" +
              E + b"\x12")
    done = ete(tool, "stats", stream, {0x800: (b, 0x800)}, configr=0x811)
    assert re.search(r"\b11 cycles", done.out), done.out


@case
def branches_without_an_address_are_told(tool):
    """[K10.5.6.2.2] not followed, and not dropped silently"""
    stream = SYNC + ON + address(0x800) + E + CONTEXT + E + address(0) + E
    done = ete(tool, "decode", stream, {0: (b, 0), 0x800: (b, 0x800)}, "--format", "pcs")
    equal(done.out.split(), [f"{BASE:x}"])
    equal(len(done.err.splitlines()), 1)
    assert "until their address is known" in done.err
    found = rows(ete(tool, "decode", stream, {0: (b, 0)}, "--format", "jsonl", "--errors"))
    equal([row["code"] for row in found if row["t"] == "ERROR"], ["unplaced"])


@case
def an_exception_at_the_top_of_memory(tool):
    """[K10.5.5.6] the way to its return address leads around"""
    tool.write("nops.bin", struct.pack("<4I", *[0xe1a00000] * 4))
    images = ["--arch", "ARMv8-A", "--image", "nops.bin@0xfffffff0", "--image", "nops.bin@0x0"]

    def pcs(returns, stop):
        stream = SYNC + ON + b"\x81\x20" + b"\x9a\x7e\x7f\xff\xff" + b"\x06\x1d\x9a" + bytes([returns >> 2, 0, 0, 0])
        tool.write("top.bin", stream)
        done = tool.run("decode", "top.bin", "--protocol", "ete", "--config", config(), *stop, "--format", "pcs")
        return done.out.split()

    equal(pcs(4, images), ["fffffff8", "fffffffc", "0"])
    equal(pcs(0, images), ["fffffff8", "fffffffc"])
    equal(pcs(16, images), ["fffffff8", "fffffffc", "0", "4", "8", "c"])
    equal(pcs(0x40, images), [])  # what lies between is not known: nothing ran


@case
def events_and_exceptions_have_names(tool):
    """[K10.5.2.17] [K10.5.6.3.4] in decode as in packets"""
    code = {0: (b, 0)}
    stream = HEAD + address(0) + E + b"\x75" + E + b"\x06\x1d" + address(0)
    text = ete(tool, "decode", stream, code).out
    assert "numbered 0, 2" in text, text
    assert "number 0xe IRQ return" in text, text
    text = ete(tool, "packets", stream, code).out
    assert "I_EVENT 0, 2" in text, text
    found = rows(ete(tool, "decode", stream, code, "--format", "jsonl"))
    equal([row["num"] for row in found if row["t"] in ("EVENT", "EXCEPTION")], [5, 14])


@case
def reserved_bits_are_told_under_check(tool):
    """[K10.5.6.3.5]"""
    stream = SYNC + ON + b"\x9a\x80" + bytes([BASE >> 9 & 0x7f, 0, 0]) + b"\x81\x34" + E
    done = ete(tool, "decode", stream, {0: (b, 0)}, "--check", status=1)
    equal(done.err.count("should be zero"), 2, done.err)
    equal(ete(tool, "decode", stream, {0: (b, 0)}).err, "")


@case
def a_source_address_that_nothing_leads_to(tool):
    """[K10.5.5.7] is an error, and makes no range"""
    code = {0x10: (beq, 0x100), 0x20: (b, 0x800), 0x800: (b, 0)}
    for first, to in ((0x20, 0x10), (0, 0x14)):
        done = ete(tool, "decode", HEAD + address(first) + source(to) + address(0x800) + E, code, status=1)
        assert f"contradict each other at {BASE + to:#x}" in done.err, done.err
        equal(done.out.count("INSTR_RANGE"), 1)


def frames(items):
    """Formatter frames of (is_id, value) in order, padded with ID 0; an ID can stand at an even place alone."""
    out, place = b"", []
    for item in [*items, (True, 0)] + [(False, 0)] * 14:
        if item[0] and len(place) % 2:
            place.append((False, 0))
        place.append(item)
        if len(place) < 15:
            continue
        frame = bytearray(16)
        for at, (is_id, value) in enumerate(place):
            frame[at] = value << 1 | 1 if is_id else value if at % 2 else value & 0xfe
            if not is_id and not at % 2:
                frame[15] |= (value & 1) << at // 2
        out, place = out + frame, []
    return out


def bytes_of(id_, data):
    return [(True, id_), *((False, byte) for byte in data)]


@case
def markers_of_the_formatter(tool):
    """[CSD 2.1.5] triggers and flushes stand in their place, as events of an ID of their own"""
    loop = {0: (b, 0)}
    first = frames(bytes_of(0x10, HEAD + address(0) + E + E))
    marks = frames(bytes_of(0x7d, b"\x01")) + frames(bytes_of(0x7b, b"\x02"))
    later = frames(bytes_of(0x10, E * 20))
    tool.write("framed.bin", first + marks + later)
    tool.write("code.bin", program(loop))
    words = ["framed.bin", "--framing", "memory", "--source", "0x10:ete:" + config(), "--arch", "ARM-AA64", "--image",
             f"code.bin@{BASE:#x}"]
    found = rows(tool.run("decode", *words, "--format", "jsonl"))
    events = [row for row in found if row["t"] == "EVENT"]
    equal(events, [{"i": len(first) + 1, "id": 125, "t": "EVENT", "kind": "trigger", "num": 1},
                   {"i": len(first) + 17, "id": 125, "t": "EVENT", "kind": "flush", "num": 2}])
    at = found.index(events[0])
    assert all(row["i"] < len(first) for row in found[:at] if row["t"] == "INSTR_RANGE")
    assert all(row["i"] >= len(first) for row in found[at:])
    equal(rows(tool.run("decode", *words, "--format", "jsonl", "--threads", "3")), found)
    others = [row for row in found if row["t"] != "EVENT"]
    tool.write("plain.bin", first + later)
    plain = rows(tool.run("decode", "plain.bin", *words[1:], "--format", "jsonl"))
    for row in plain:
        row["i"] += 32 if row["i"] >= len(first) else 0
    equal(others, plain)
    assert "0x7d EVENT          trigger 1" in tool.run("decode", *words).out
    for command in (["stats"], ["decode", "--format", "pcs"], ["decode", "--format", "path"]):
        tool.run(command[0], *words, *command[1:])


@case
def an_index_grows_part_by_part(tool):
    """[CSD 2.3.3] what was indexed before is known still"""
    folder = corpus() / "coresight/snapshots/Snowball"
    for first, end, known in ((0x1000, 0x1800, "from 0x1000 to 0x1800"), (0x1800, 0x2000, "from 0x1000 to 0x2000")):
        tool.run("index", "build", str(folder), "--block", "512", "--index", "part.twx", "--from", hex(first), "--to", hex(end))
        assert known in tool.run("index", "show", str(folder), "--index", "part.twx").out


# [CSD 2.1.1/3] [CSD 4.3.1] [CSD 4.3.2] [CSD 4.3.3]
@case
def registers_that_decoding_needs(tool):
    """Each that is missing is named."""
    tool.write("trace.bin", bytes(32))
    for protocol, needed in [
            ("etmv3", {"ETMCR": "0x1000", "ETMCCER": "0x8541f02", "ETMIDR": "0x410cf250"}),
            ("ptm", {"ETMCR": "0x1000", "ETMCCER": "0x4541f02", "ETMIDR": "0x410cf300"}),
            ("etmv4", {"TRCCONFIGR": "0xc1", "TRCIDR0": "0x28000ea1", "TRCIDR1": "0x4100f403", "TRCIDR2": "0x488"})]:
        for missing in [None, *needed]:
            given = ",".join(f"{name}={value}" for name, value in needed.items() if name != missing)
            done = tool.run("packets", "trace.bin", "--protocol", protocol, "--config", given, status=3 if missing else 0)
            assert not missing or f"register {missing} is missing" in done.err, done.err
    # In frames, the one with the trace ID too.
    tool.run("pack", "--stream", "0x10:trace.bin", "-o", "framed.bin")
    for kind, register in [("ETM3.5", "ETMTRACEIDR"), ("PTM1.1", "ETMTRACEIDR"), ("ETM4.0", "TRCTRACEIDR")]:
        tool.run("snapshot", "-o", "snap", "--force", "--trace", "ETB=framed.bin", "--device",
                 f"unit,class=trace_source,type={kind},buffer=ETB")
        done = tool.run("packets", "snap", status=3)
        assert f"its trace ID is not known: register {register}" in done.err, done.err
