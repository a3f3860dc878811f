# SPDX-License-Identifier: BSD-2-Clause
"""packets, decode and stats on a small ETMv4 trace made here."""
import csv
import io
import json

from harness import ROOT, case, corpus, equal

# At 0x4000: nop; cbz x0, 0x400c; nop; b 0x4000.
CODE = b"".join(word.to_bytes(4, "little") for word in
                (0xd503201f, 0xb4000040, 0xd503201f, 0x17fffffd))
SYNC = bytes(11) + b"\x80" + b"\x01\x00"            # A-sync, trace info
START = b"\x04" + bytes.fromhex("8131") + bytes.fromhex("9d0020000000000000")
ATOMS = bytes.fromhex("f7f7f6f7")                   # E E N E
STAMP = b"\x02\xc0\x3e"                             # timestamp 0x1f40 = 8000
TRACE = SYNC + START + ATOMS
CONFIG = ("TRCCONFIGR=0x801,TRCTRACEIDR=0x10,TRCIDR0=0x28000ea1,TRCIDR1=0x4100f403,TRCIDR2=0x488,"
          "TRCIDR8=0,TRCIDR9=0,TRCIDR10=0,TRCIDR11=0,TRCIDR12=0,TRCIDR13=0,TRCAUTHSTATUS=0xcc")
PATH = "P 1\nR 4000 4004 2\nR 400c 400c 1\nR 4000 400c 4\n"


def raw(tool, trace=TRACE):
    """A raw file; the words that open it."""
    tool.write("code.bin", CODE)
    tool.write("etm.bin", trace)
    return ["etm.bin", "--protocol", "etmv4", "--config", CONFIG, "--image", "code.bin@0x4000"]


def rows(done):
    return [json.loads(line) for line in done.out.splitlines()]


def ranges(found):
    return [(r["st"], r["en"], r["n"], r["ex"]) for r in found if r["t"] == "INSTR_RANGE"]


RANGES = [("0x4000", "0x4008", 2, 1), ("0x400c", "0x4010", 1, 1),
          ("0x4000", "0x4008", 2, 0), ("0x4008", "0x4010", 2, 1)]


# [CSD 2.1.1/2] [CSD 2.1.4/1] [CSD 2.3.1.1/4]
@case
def packets_of_a_raw_file(tool):
    words = raw(tool)
    del words[-2:]  # no image needed
    found = rows(tool.run("packets", *words, "--format", "jsonl"))
    equal([(r["i"], r["o"], r["id"], r["t"]) for r in found],
          [(0, 0, 16, "I_ASYNC"), (12, 12, 16, "I_TRACE_INFO"), (14, 14, 16, "I_TRACE_ON"),
           (15, 15, 16, "I_CTXT"), (17, 17, 16, "I_ADDR_L_64IS0")] +
          [(26 + n, 26 + n, 16, "I_ATOM_F1") for n in range(4)])
    equal("".join(r["b"] for r in found), TRACE.hex())
    text = tool.run("packets", *words).out
    equal(len(text.splitlines()), len(found))
    assert "I_TRACE_ON" in text


# [CSD 2.1.1/1] [CSD 2.1.5/1] [CSD 2.1.5/2] [CSD 2.1.5/9]
@case
def decode_of_a_raw_file(tool):
    done = tool.run("decode", *raw(tool), "--format", "jsonl")
    equal(done.err, "")
    found = rows(done)
    equal(ranges(found), RANGES)
    context, = [r for r in found if r["t"] == "PE_CONTEXT"]
    equal((context["el"], context["sec"], context["isa"]), (1, "N", "A64"))
    equal(found[-1]["t"], "EO_TRACE")
    equal(len(tool.run("decode", *raw(tool)).out.splitlines()), len(found))


# [CSD 2.1.1/4] [CSD 2.3.1.2]
@case
def path_and_addresses(tool):
    equal(tool.run("decode", *raw(tool), "--format", "path").out, PATH)
    equal(tool.run("decode", *raw(tool), "--format", "pcs").out.split(),
          ["4000", "4004", "400c", "4000", "4004", "4008", "400c"])


@case
def csv_has_the_members_of_jsonl(tool):
    every = raw(tool)
    for command in ["packets", "decode"]:
        words = every if command == "decode" else every[:-2]
        want = rows(tool.run(command, *words, "--format", "jsonl"))
        text = tool.run(command, *words, "--format", "csv").out
        got = list(csv.DictReader(io.StringIO(text)))
        equal(len(got), len(want))
        for one, other in zip(got, want):
            equal({k: v for k, v in one.items() if v != ""},
                  {k: str(v) for k, v in other.items() if v != ""})
        text = tool.run(command, *words, "--format", "csv", "--columns", "t,i").out
        equal(text.splitlines()[0], "t,i")
        equal(text.splitlines()[-1], f"{want[-1]['t']},{want[-1]['i']}")


# [CSD 2.1.2/1]
@case
def framed_gives_the_same(tool):
    raw(tool)
    tool.run("pack", "--stream", "0x10:etm.bin", "-o", "etb.bin")
    done = tool.run("decode", "etb.bin", "--framing", "memory", "--protocol", "etmv4",
                    "--config", CONFIG, "--image", "code.bin@0x4000", "--format", "jsonl")
    equal(ranges(rows(done)), RANGES)
    tool.write("regs.txt", CONFIG.replace(",", "\n"))
    done = tool.run("decode", "etb.bin", "--framing", "memory", "--source",
                    "0x10:etmv4:regs.txt", "--image", "code.bin@0x4000", "--format", "jsonl")
    equal(ranges(rows(done)), RANGES)


# [CSD 2.1.2/2]
@case
def two_sources_are_told_apart(tool):
    raw(tool)
    tool.run("pack", "--stream", "0x10:etm.bin", "--stream", "0x11:etm.bin", "-o", "etb.bin")
    words = ["decode", "etb.bin", "--image", "code.bin@0x4000",
             "--source", f"0x10:etmv4:{CONFIG}",
             "--source", f"0x11:etmv4:{CONFIG.replace('IDR=0x10', 'IDR=0x11')}"]
    found = rows(tool.run(*words, "--format", "jsonl"))
    for ident in (16, 17):
        equal(ranges(r for r in found if r["id"] == ident), RANGES)
    one = tool.run(*words, "--id", "0x11", "--format", "path").out
    equal(one, PATH)
    both = tool.run(*words, "--format", "path").out
    equal(sorted(set(both.splitlines()) - set(PATH.splitlines())), ["# id 0x10", "# id 0x11"])


@case
def offsets_and_addresses_select(tool):
    words = raw(tool)
    every = rows(tool.run("decode", *words, "--format", "jsonl"))
    some = rows(tool.run("decode", *words, "--format", "jsonl", "--from", "27", "--to", "29"))
    equal(some, [r for r in every if 27 <= r["i"] < 29])
    some = rows(tool.run("decode", *words, "--format", "jsonl", "--range", "0x400c-0x4010"))
    equal(ranges(some), [RANGES[1], RANGES[3]])
    equal(len(some), 2)
    for keep, path, pcs in [("0x400c-0x4010", "R 400c 400c 1\n" * 2, "400c\n" * 2),
                            ("0x4004-0x400b", "R 4004 4004 1\nR 4004 4008 2\n",
                             "4004\n4004\n4008\n"), ("0-1", "", "")]:
        equal(tool.run("decode", *words, "--format", "path", "--range", keep).out, path)
        equal(tool.run("decode", *words, "--format", "pcs", "--range", keep).out, pcs)


# [CSD 2.1.5/5]
@case
def seconds_with_a_clock(tool):
    words = raw(tool, TRACE + STAMP)
    found = rows(tool.run("decode", *words, "--format", "jsonl", "--clock", "1000"))
    stamp, = [r for r in found if r["t"] == "TIMESTAMP"]
    equal((stamp["ts"], stamp["seconds"]), ("0x1f40", 8.0))
    assert "8.000000000 s" in tool.run("decode", *words, "--clock", "1000").out


# [CSD 2.3.3.4/2]
@case
def bad_trace_is_told_and_passed_over(tool):
    words = raw(tool, TRACE + b"\xb8\xf7\xf7" + TRACE)
    done = tool.run("decode", *words, "--format", "jsonl", status=1)
    equal(ranges(rows(done)), RANGES + RANGES)
    lines = done.err.splitlines()
    assert lines[0].startswith("etm.bin+0x1e id 0x10: ") and "skipped" in lines[0], lines
    assert lines[-1].startswith("trackway: etm.bin: 1 error in the trace"), lines
    equal(tool.run("decode", *words, "-q", status=1).err, "")
    done = tool.run("decode", *words, "--format", "jsonl", "--errors", status=1)
    error, = [r for r in rows(done) if r["t"] == "ERROR"]
    equal((error["i"], error["id"]), (30, 16))
    assert error["msg"] and error["code"] and error["skipped"] > 0, error
    equal(len(done.err.splitlines()), 1, done.err)
    tool.run("packets", *words[:-2], status=1)


# [CSD 2.3.1.1/3]
@case
def cut_anywhere_it_never_fails(tool):
    for size in range(len(TRACE)):
        words = raw(tool, TRACE[:size])
        for command in ["packets", "decode"]:
            only = words if command == "decode" else words[:-2]
            assert tool.run(command, *only, status=None).returncode < 2


# [CSD 2.1.5/3] [CSD 3.1.4]
@case
def missing_code_is_no_error(tool):
    words = raw(tool)
    done = tool.run("decode", *words[:-2], "--format", "jsonl")
    assert any(r["t"] == "ADDR_NACC" for r in rows(done))
    assert "not in the image" in done.err, done.err


@case
def what_trace_is_it(tool):
    raw(tool)
    done = tool.run("decode", "etm.bin", status=3)
    assert "give --protocol" in done.err, done.err
    done = tool.run("decode", "etm.bin", "--protocol", "etmv4", status=3)
    equal(done.out, "")
    assert "TRC" in done.err, done.err


def snapshot_of_two(tool):
    raw(tool)
    tool.write("second.bin", SYNC + START + b"\xf7")
    tool.run("snapshot", "-o", "snap", "--trace", "one=etm.bin,format=source_data",
             "--trace", "two=second.bin,format=source_data",
             "--device", "cpu_0,class=core,type=Cortex-A53", "--dump", "cpu_0:code.bin@0x4000",
             "--device", "ETM_0,class=trace_source,type=ETM4.0,core=cpu_0,buffer=one",
             "--device", "ETM_1,class=trace_source,type=ETM4.0,core=cpu_0,buffer=two",
             "--reg", f"ETM_0:{CONFIG}", "--reg", f"ETM_1:{CONFIG}")


# [CSD 4.2.3.4/1]
@case
def several_buffers(tool):
    snapshot_of_two(tool)
    found = rows(tool.run("decode", "snap", "--format", "jsonl"))
    equal({r["buf"] for r in found}, {"one", "two"})
    equal(list(found[0])[:4], ["i", "id", "t", "buf"])
    equal(ranges(r for r in found if r["buf"] == "one"), RANGES)
    equal(ranges(r for r in found if r["buf"] == "two"), RANGES[:1])
    only = rows(tool.run("decode", "snap", "--format", "jsonl", "--buffer", "two"))
    equal(only, [r for r in found if r["buf"] == "two"])
    named = rows(tool.run("decode", "snap", "--format", "jsonl", "--source", "ETM_1"))
    equal(named, only)
    done = tool.run("decode", "snap", "--buffer", "three", status=3)
    assert 'no buffer is named "three"' in done.err, done.err
    tool.run("decode", "snap", "--source", "nobody", status=3)
    both = rows(tool.run("decode", "snap", "--format", "jsonl", "--opt", "multi-session"))
    equal(ranges(both), RANGES + RANGES[:1])
    text = tool.run("decode", "snap", "--format", "path").out
    equal([line for line in text.splitlines() if line[0] == "#"], ["# buffer one", "# buffer two"])
    assert tool.run("packets", "snap").out.startswith("one: ")


@case
def stats_count(tool):
    words = raw(tool, TRACE + STAMP)
    found = rows(tool.run("stats", *words, "--format", "jsonl"))
    kinds = {r["type"]: (r["packets"], r["bytes"]) for r in found if r["t"] == "PACKETS"}
    equal(kinds["I_ATOM_F1"], (4, 4))
    equal(sum(size for _, size in kinds.values()), len(TRACE + STAMP))
    source, = [r for r in found if r["t"] == "SOURCE"]
    equal([source[k] for k in ("id", "protocol", "bytes", "packets", "syncs", "instructions")],
          [16, "etmv4", len(TRACE + STAMP), 10, 1, 7])
    text = tool.run("stats", *words).out
    assert "7 instructions" in text and "I_ADDR_L_64IS0" in text, text
    done = tool.run("decode", *words, "--stats", "-o", "/dev/null")
    assert "7 instructions" in done.err, done.err


@case
def verbose_names_the_sources(tool):
    done = tool.run("decode", *raw(tool), "-v", "-o", "/dev/null")
    assert "id 0x10, etmv4" in done.err, done.err


@case
def columns_hold_every_member_of_the_corpus(tool):
    folder = corpus() / "coresight" / "snapshots"
    for command in ["packets", "decode"]:
        names = set(tool.run(command, folder / "a57_single_step", "--format", "csv").out
                    .splitlines()[0].split(","))
        for name in ["juno_r1_1", "ete_ip", "maxspec0_commopt1", "q_elem-part", "ts_marker",
                     "tme_simple", "ete-ite-instr-part", "itm_only_raw", "TC2", "stm_only"]:
            text = tool.run(command, folder / name, "--format", "jsonl", "-q", status=None).out
            for line in text.splitlines()[::7]:
                missing = set(json.loads(line)) - names
                assert not missing, f"{name}: {missing}"


# [CSD 4.2.3.4/2]
@case
def a_source_that_names_two_buffers_is_decoded_in_both(tool):
    folder = ROOT / "tests" / "captures" / "demo"
    for path in folder.iterdir():
        tool.write(f"snap/{path.name}", path.read_bytes())
    tool.write("snap/second.bin", (folder / "ETB_0.bin").read_bytes())
    ini = (folder / "trace.ini").read_text()
    tool.write("snap/trace.ini", ini.replace("buffers=buffer0", "buffers=buffer0,buffer1").replace(
        "[source_buffers]", "[buffer1]\nname=ETB_1\nfile=second.bin\nformat=coresight\n\n"
        "[source_buffers]").replace("=ETB_0\n", "=ETB_0,ETB_1\n", 2).replace(
            "name=ETB_0,ETB_1", "name=ETB_0"))
    done = tool.run("decode", "snap", "--format", "jsonl", status=None)
    assert "holds no source" not in done.err, done.err
    found = rows(done)
    first = [dict(row, buf="") for row in found if row["buf"] == "ETB_0"]
    second = [dict(row, buf="") for row in found if row["buf"] == "ETB_1"]
    assert first, found[:2]
    equal(second, first)
    for command in ("stats", "packets"):
        told = rows(tool.run(command, "snap", "--format", "jsonl", status=None))
        equal({row["buf"] for row in told}, {"ETB_0", "ETB_1"})
