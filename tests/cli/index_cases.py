# SPDX-License-Identifier: BSD-2-Clause
"""Indexes: built, shown, searched, found out when they are of no use; decoding from the middle."""
import json
import re
import shutil

from frames_cases import two_buffers
from harness import ROOT, case, equal, some

LOG = ROOT / "tests" / "captures" / "logs" / "a64-coro.exlog.gz"
REGISTERS = "TRCSYNCPR=8,TRCCONFIGR=0x801,TRCTSCTLR=0"


def make(tool, framing="none", protocol="etmv4"):
    tool.run("encode", LOG, "--protocol", protocol, "--config", REGISTERS, "--framing", framing,
             "-o", "snap", "--force")
    return tool.folder / "snap"


def rows(done):
    return [json.loads(line) for line in done.out.splitlines()]


def elements(tool, *words):
    return rows(tool.run("decode", "snap", "--format", "jsonl", "--errors", *words, status=None))


def packets(tool):
    return rows(tool.run("packets", "snap", "--format", "jsonl"))


# [CSD 2.3.3.1/2] [CSD 2.3.3.2/1] [CSD 2.3.3.2/2] [CSD 2.3.3.2/3] [CSD 2.3.3.2/4]
@case
def an_index_holds_what_the_listing_holds(tool):
    for framing in ["none", "memory"]:
        make(tool, framing)
        tool.run("index", "build", "snap", "--block", "512")
        shown = rows(tool.run("index", "show", "snap", "--format", "jsonl", "--all"))
        listed = packets(tool)
        for kind, name, key in [("SYNC", "I_ASYNC", None), ("TIME", "I_TIMESTAMP", "ts"),
                                ("TRACE_ON", "I_TRACE_ON", None)]:
            got = [(row["i"], row["value"] if key else 0) for row in shown
                   if row["t"] == kind and "value" in row]
            want = [(row["i"], row[key] if key else 0) for row in listed if row["t"] == name]
            equal(got, want, (framing, kind))
            assert want, kind
        head = shown[0]
        equal((head["t"], head["detail"], head["block"]), ("INDEX", "full", 512))
        equal(head["indexed"], head["bytes"])
        text = tool.run("index", "show", "snap").out
        assert "id 0x10 etmv4: " in text and "full index" in text, text


# [CSD 2.3.3.2/5]
@case
def decoding_from_the_middle_gives_the_same(tool):
    for framing in ["none", "memory"]:
        make(tool, framing)
        whole = elements(tool)
        size = (tool.folder / "snap" / "trace.bin").stat().st_size
        times = [row for row in packets(tool) if row["t"] == "I_TIMESTAMP"]
        for detail in ["full", "sparse", "source", None]:
            if detail:
                tool.run("index", "build", "snap", "--detail", detail, "--block", "1024")
            else:
                (tool.folder / "snap.twx").unlink()
            for at in some(range(1, size, size // 7)):
                want = [row for row in whole if row["i"] >= at]
                equal(elements(tool, "--at", f"+{at}"), want, (framing, detail, at))
                equal(elements(tool, "--at", f"offset:{at}", "--count", "9"), want[:9])
            for row in some(times[3:120:40]):
                now = int(row["ts"], 16)
                want = [other for other in whole if other["i"] >= row["i"]][:5]
                for place in [now, now + 1, f"time:{now:#x}"]:
                    equal(elements(tool, "--at", place, "--count", "5"), want, (detail, place))
    equal(elements(tool, "--count", "3"), whole[:3])


# [CSD 2.3.3.3/2]
@case
def places_are_found(tool):
    make(tool)
    listed = packets(tool)
    times = [row for row in listed if row["t"] == "I_TIMESTAMP"]
    syncs = [row for row in listed if row["t"] == "I_ASYNC"]

    def find(*words):
        return rows(tool.run("index", "find", "snap", "--format", "jsonl", *words))

    for indexed in [False, True]:
        if indexed:
            tool.run("index", "build", "snap")
        got = find("--at", int(times[5]["ts"], 16) + 1)
        equal([(row["i"], row["value"]) for row in got], [(times[5]["i"], times[5]["ts"])])
        equal(find("--at", "0")[0]["i"], times[0]["i"])
        equal(find("--at", "0xffffffffffffffff")[0]["i"], times[-1]["i"])
        equal([row["i"] for row in find("--at", "sync:4", "--count", "3")],
              [row["i"] for row in syncs[3:6]])
        equal(find("--at", f"+{syncs[2]['i']}")[0]["i"], syncs[2]["i"])
        equal(find("--at", "1.5s", "--clock", int(times[9]["ts"], 16) * 2 // 3 + 1)[0]["i"],
              times[9]["i"])
    tool.run("index", "find", "snap", "--at", "sync:100000", status=1)
    assert "no trigger:1" in tool.run("decode", "snap", "--at", "trigger:1", status=3).err


# [CSD 2.3.3.1/3]
@case
def triggers_of_frames_are_places(tool):
    tool.write("stream", bytes(4000))
    tool.run("pack", "--framing", "memory", "--stream", "0x10:stream", "--trigger", "1000:7",
             "--trigger", "3000:8", "--flush", "2000:9", "-o", "raw.bin")
    words = ["raw.bin", "--framing", "memory", "--source", "0x10:stm", "--format", "jsonl"]
    marks = [row["i"] for row in rows(tool.run("frames", *words[:3], "--all", "--format", "jsonl"))
             if row.get("t") == "TRIGGER"]
    found = rows(tool.run("index", "find", *words, "--at", "trigger:1", "--count", "5"))
    equal([row["i"] for row in found], marks)
    equal([row["value"] for row in found], ["0x7", "0x8"])
    tool.run("index", "build", *words)
    shown = rows(tool.run("index", "show", *words))
    equal([row["value"] for row in shown if row["t"] in ("TRIGGER", "FLUSH")], [7, 9, 8])


# [CSD 2.3.3.1/4]
@case
def syncs_of_a_trace_port_are_counted(tool):
    tool.write("stream", bytes(4000))
    for framing, more in [("tpiu", ["--fsync", "4"]), ("memory", [])]:
        tool.run("pack", "--framing", framing, *more, "--stream", "0x10:stream", "-o", "raw.bin")
        data = (tool.folder / "raw.bin").read_bytes()
        words = ["raw.bin", "--framing", framing, "--source", "0x10:stm"]
        tool.run("index", "build", *words)
        head = rows(tool.run("index", "show", *words, "--format", "jsonl"))[0]
        equal((head["bytes"], head["sync_bytes"]), (len(data), 4 * data.count(b"\xff\xff\xff\x7f")))
        equal(head["sync_bytes"] > 0, framing == "tpiu")


# [CSD 2.3.3.1/6]
@case
def a_part_is_said_to_be_one(tool):
    make(tool)
    tool.run("index", "build", "snap", "--block", "4096", "--from", "5000", "--to", "20000")
    shown = rows(tool.run("index", "show", "snap", "--format", "jsonl"))
    part = [row for row in shown if row["t"] == "PART"]
    equal([(row["from"], row["to"]) for row in part], [(4096, 20000)])
    equal(shown[0]["indexed"], 20000 - 4096)
    whole = elements(tool)
    equal(elements(tool, "--at", "+15000", "--count", "20"),
          [row for row in whole if row["i"] >= 15000][:20])


# [CSD 2.3.3.3/1]
@case
def bad_indexes_are_noticed_and_replaced(tool):
    snap = make(tool)
    tool.run("index", "build", "snap")
    path = tool.folder / "snap.twx"
    good = path.read_bytes()
    trace = (snap / "trace.bin").read_bytes()
    whole = elements(tool)
    want = [row for row in whole if row["i"] >= 12345][:7]

    def check(said):
        done = tool.run("decode", "snap", "--at", "+12345", "--count", "7", "--format", "jsonl",
                        status=None)
        equal(rows(done), want, said)
        assert said in done.err, (said, done.err)
        kept = path.read_bytes()
        shown = tool.run("index", "show", "snap")
        assert said in shown.err, (said, shown.err)
        assert path.read_bytes() != kept
        equal(tool.run("index", "show", "snap").err, "")
        equal(path.read_bytes(), good if trace == (snap / "trace.bin").read_bytes()
              else path.read_bytes())
        path.write_bytes(good)

    for at, said in [(0, "no index"), (8, "version"), (20, "damaged"), (4096, "damaged")]:
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1:])
        check(said)
    for size in [0, 10, 4096, len(good) - 1]:
        path.write_bytes(good[:size])
        check("is not used")
    # Every page is seen to, when all is looked at.
    for at in range(4096, len(good), 1000):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
        assert "damaged" in tool.run("index", "show", "snap").err
    path.write_bytes(good)
    # Of another capture, or of this one before it was changed.
    tool.run("encode", LOG, "--protocol", "ete", "-o", "other")
    done = tool.run("decode", "other", "--index", "snap.twx", "--at", "+500", "--count", "2")
    assert "not used" in done.err
    (snap / "trace.bin").write_bytes(trace[:9000] + bytes([trace[9000] ^ 1]) + trace[9001:])
    done = tool.run("decode", "snap", "--at", "+12345", "--count", "2", status=None)
    assert "was changed" in done.err, done.err
    assert "was changed" in tool.run("index", "show", "snap").err
    equal(tool.run("index", "show", "snap").err, "")
    # Registers that are others now.
    (snap / "trace.bin").write_bytes(trace)
    path.write_bytes(good)
    ini = snap / "device_1.ini"
    ini.write_text(ini.read_text().replace("TRCIDR8=0x00000000", "TRCIDR8=0x00000001"))
    done = tool.run("decode", "snap", "--at", "+12345", "--count", "2", status=None)
    assert "another source" in done.err, done.err


@case
def wrong_words_of_index_are_told(tool):
    make(tool)
    for words, status, said in [
            (["index", "frob", "snap"], 2, "there are build, show and find"),
            (["index", "find", "snap"], 2, "find wants --at"),
            (["index", "find", "snap", "--at", "frob"], 2, "is no place"),
            (["index", "find", "snap", "--at", "frobs"], 2, "is no place"), (["index", "find", "snap", "--at", "1e99s", "--clock", "1k"], 2, "is no place"),
            (["index", "find", "snap", "--at", "sync:0"], 2, "is no place"),
            (["index", "find", "snap", "--at", "1.5s"], 2, "want --clock"),
            (["index", "build", "snap", "--block", "1000"], 2, "power of two"),
            (["index", "show", "snap"], 3, "is not there"),
            (["index", "build", "-"], 2, "give --index"),
            (["decode", "snap", "--at", "+1", "--opt", "multi-session"], 2, "does not go with"),
            (["decode", "snap", "--at", "+99999999"], 3, "there is no +99999999")]:
        assert said in tool.run(*words, status=status).err, said


@case
def what_is_not_there_is_said(tool):
    make(tool)
    for at in ["trigger:7", "sync:100000", "+0xffffffff"]:
        done = tool.run("index", "find", "snap", "--at", at, status=1)
        equal((done.out, f"there is no {at} in it" in done.err), ("", True), done.err)


@case
def a_part_that_ends_inside_a_packet_has_no_error(tool):
    for framing in ["none", "memory"]:
        make(tool, framing)
        size = (tool.folder / "snap" / "trace.bin").stat().st_size
        for end in range(512, min(size, 512 * 24), 512):
            tool.run("index", "build", "snap", "--block", "512", "--from", "0", "--to", str(end))
            shown = rows(tool.run("index", "show", "snap", "--format", "jsonl", "--all"))
            equal([row for row in shown if row["t"] == "BAD" and "i" in row], [], (framing, end))


@case
def an_index_grows_part_by_part(tool):
    """Parts in any order, touching, apart and over one another; in the end it is that of the whole."""
    capture = tool.folder / "demo"
    shutil.copytree(ROOT / "tests" / "captures" / "demo", capture)
    size = (capture / "ETB_0.bin").stat().st_size
    tool.run("index", "build", capture, "--block", "512")
    whole = tool.run("index", "show", capture).out
    for path in tool.folder.rglob("*.twx"):
        path.unlink()
    tool.run("index", "build", capture, "--block", "512", "--from", "0", "--to", "512")
    tool.run("index", "build", capture, "--block", "512", "--from", "1024", "--to", size)
    text = tool.run("index", "show", capture).out
    assert "indexed from 0x0 to 0x200" in text and "indexed from 0x400" in text, text
    tool.run("index", "build", capture, "--block", "512", "--from", "256", "--to", "1100")
    equal(tool.run("index", "show", capture).out, whole)


@case
def decoding_builds_an_index_beside(tool):
    index = tool.folder / "snap.twx"
    for framing, another in [("none", "memory"), ("memory", "none")]:
        make(tool, another)
        tool.run("index", "build", "snap")
        other = index.read_bytes()
        make(tool, framing)
        tool.run("index", "build", "snap")
        built = index.read_bytes()
        index.unlink()
        listed = tool.run("decode", "snap", "--format", "jsonl", "--build-index").out
        equal(index.read_bytes(), built)
        equal(tool.run("decode", "snap", "--format", "jsonl").out, listed)
        # It is there: nothing is written, and that is said.
        done = tool.run("decode", "snap", "--format", "jsonl", "--build-index")
        equal(done.out, listed)
        assert "is there already" in done.err, done.err
        # One of a part, and one of other bytes, are not enough.
        tool.run("index", "build", "snap", "--block", "512", "--from", "0", "--to", "512")
        equal(tool.run("decode", "snap", "--format", "jsonl", "--build-index").out, listed)
        equal(index.read_bytes(), built)
        index.write_bytes(other)
        done = tool.run("decode", "snap", "--format", "jsonl", "--build-index")
        assert "it is not used" in done.err, done.err
        equal((done.out, index.read_bytes()), (listed, built))
        index.unlink()
        # A part alone gives no index.
        done = tool.run("decode", "snap", "--build-index", "--count", "3", status=3)
        assert "there is no index to write" in done.err, done.err
        assert not index.exists()
        # Looking for a sync point has made one.
        tool.run("decode", "snap", "--build-index", "--at", "sync:2")
        equal(index.read_bytes(), built)


@case
def index_of_several_buffers(tool):
    """Rows say which buffer they are of; each buffer has the rows that the same one has alone."""
    demo = two_buffers(tool)
    shutil.copytree(demo, tool.folder / "alone")
    tool.run("index", "build", "alone")
    tool.run("index", "build", "snap")
    alone, both = ([json.loads(line) for line in tool.run("index", "show", name, "--all", "--format", "jsonl").out.splitlines()]
                   for name in ("alone", "snap"))

    def rows(lines, buffer=None):
        return [{key: value for key, value in row.items() if key != "buf"} for row in lines
                if "value" in row and row.get("buf") == buffer]
    assert rows(alone), alone
    for name in ("ETB_0", "ETB_1"):
        equal(rows(both, name), rows(alone), name)
    text = tool.run("index", "show", "snap", "--all").out
    equal([text.count(f"{name}: 0x") for name in ("ETB_0", "ETB_1")], 2 * [len(rows(alone))], text[:600])
    found = tool.run("index", "find", "snap", "--at", "sync:1").out
    assert "ETB_0" in found, found


@case
def what_is_not_asked_for_is_not_shown(tool):
    """--buffer and --id hold for info and for each way to look at an index."""
    two_buffers(tool)
    tool.run("index", "build", "snap", "--block", "512")
    for command in (["info", "snap"], ["index", "show", "snap"], ["index", "show", "snap", "--all"], ["index", "find", "snap", "--at", "sync:2"]):
        heads = [re.findall(r"^ *(ETB_\d)\b", tool.run(*command, *more, "-q").out, re.M)
                 for more in ([], ["--buffer", "ETB_0"], ["--buffer", "ETB_1"])]
        equal([sorted(set(found)) for found in heads], [["ETB_0", "ETB_1"], ["ETB_0"], ["ETB_1"]], command)
    make(tool, "memory")
    tool.run("index", "build", "snap", "--block", "512")
    shown, other = (tool.run("index", "show", "snap", "--all", "-q", *more).out for more in ([], ["--id", "0x6f"]))
    assert len(other) < len(shown) / 2, other
