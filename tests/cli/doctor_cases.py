# SPDX-License-Identifier: BSD-2-Clause
"""doctor: faults that are made, and captures that are good."""
import json
import os
import re
import xml.etree.ElementTree

import doctor
import doctor_faults
import identify
import identify_settings
import strange_files
from harness import ROOT, case, corpus, equal

FULL = os.environ.get("TW_TEST_FULL") == "1"


@case
def doctor_names_the_fault_first(tool):
    """At least 40 broken captures, and all but one in twenty named first; a sample of them in the plain run."""
    found, total = doctor.missed(tool.program, corpus(), doctor.GOOD if FULL else doctor.GOOD[1:2], 1 if FULL else 4)
    faults = [*doctor_faults.ALL, *doctor.more_faults()] if FULL else [*doctor_faults.SAMPLE, *doctor.more_faults()[::7]]
    more, count = doctor.missed_more(tool.program, corpus(), faults)
    assert total + count >= (40 if FULL else 12), (total, count)
    assert len(found + more) * 20 <= total + count, found + more


@case
def doctor_finds_nothing_wrong_with_the_corpora(tool):
    found, count = doctor.alarms(tool.program, corpus(), 1 if FULL else 7)
    equal(found, [])
    assert count >= (600 if FULL else 80), count


@case
def doctor_tells_what_a_trace_unit_needed_and_had(tool):
    """The port takes a byte in twelve cycles, and the unit's time counts cycles."""
    log = corpus() / "analysis" / "truth" / "a64-throw.exlog.gz"
    words = ["encode", log, "--elf", log.with_name("a64-throw.elf"), "--protocol", "ete", "--unit", "fifo=100,cycles-per-byte=12"]
    tool.run(*words, "-o", "rs")
    found = first_finding(tool, "rs")
    equal(found["code"], "overflow")
    had, needed = (float(word) for word in re.search(r"it had ([0-9.]+) bytes per tick of its timestamps, and needed ([0-9.]+)",
                                                     found["text"]).groups())
    assert abs(had - 1 / 12) < 0.002 and needed > 1.2 * had, found["text"]
    assert "return stack on" not in found["remedy"] and "timestamps rarer" in found["remedy"], found["remedy"]
    # How much is lost: not less than is said, and about as much as the time tells.
    tool.run(*words[:-2], "-o", "whole")
    whole, known = (int(re.search(r"(\d+) instructions", json.loads(tool.run("doctor", name, "--format", "jsonl", status=status)
                                                                    .out.splitlines()[-1])["text"]).group(1))
                    for name, status in (("whole", 0), ("rs", 1)))
    least, about = (int(re.search(pattern, found["text"]).group(1)) for pattern in (r"at least (\d+)", r"about (\d+)"))
    assert found["count"] < least <= whole - known and abs(about - (whole - known)) * 10 < whole - known, (found["text"], whole, known)
    # What is off could be on, and the other way round.
    tool.run(*words, "--config", "TRCCONFIGR=0xd9,TRCCCCTLR=4", "-o", "plain")
    remedy = first_finding(tool, "plain")["remedy"]
    for setting in ("return stack on", "cycle counting off", "branch broadcast off"):
        assert setting in remedy, remedy
    assert "timestamps" not in remedy, remedy


@case
def doctor_tells_where_two_harts_meet(tool):
    """Count and place of what shows it: the first timestamp that is less than the one before."""
    make = next(fault for fault in doctor_faults.ALL if fault.__name__ == "two_harts_ntrace")
    words, _ = make(doctor_faults.Bench(tool.program, corpus(), tool.folder))
    found = first_finding(tool, *words)
    lines = [json.loads(line) for line in tool.run("decode", *words, "--format", "jsonl", "-q", status=None).out.splitlines()]
    times = [(line["i"], int(str(line["ts"]), 0)) for line in lines if line["t"] == "TIMESTAMP"]
    back = [second[0] for first, second in zip(times, times[1:]) if second[1] < first[1]]
    equal((found["code"], found["count"], found["i"]), ("two-harts", len(back), back[0]))


@case
def doctor_tells_what_makes_less_n_trace(tool):
    log = corpus() / "exec" / "logs" / "rv64-recur.exlog.gz"
    words = ["encode", log, "--elf", log.with_name("rv64-recur.elf"), "--protocol", "ntrace", "--unit", "fifo=200,cycles-per-byte=24"]
    tool.run(*words, "--config", "mode=btm,timestamps=1", "-o", "btm")
    remedy = first_finding(tool, "btm")["remedy"]
    for setting in ("branch history instead", "implicit return on", "timestamps off"):
        assert setting in remedy, remedy
    tool.run(*words, "--config", "mode=htm,implicit_return_mode=3,repeat_history=1", "-o", "htm")
    remedy = first_finding(tool, "htm")["remedy"]
    for setting in ("branch history", "implicit return", "repeated history", "timestamps", "all jumps"):
        assert setting not in remedy, remedy
    assert "filters" in remedy, remedy


@case
def doctor_says_the_summary_first_and_draws_a_strip(tool):
    good = corpus() / "coresight" / "snapshots" / "trace_file_vmid"
    text = tool.run("doctor", good).out
    assert text.startswith("nothing is wrong: "), text
    assert "|====" in text and "= decoded" in text, text
    assert re.search(r"\|\x1b\[0m\x1b\[32m=+\x1b\[0m\|", tool.run("doctor", good, "--color", "always").out)
    done = tool.run("doctor", good, "--format", "jsonl")
    last = json.loads(done.out.splitlines()[-1])
    equal([last["t"], last["whole"]], ["SUMMARY", True])
    picture = xml.etree.ElementTree.fromstring(tool.run("doctor", good, "--format", "svg").out)
    assert picture.tag.endswith("svg") and len(picture) > 5


def unsynced(tool, *words):
    """What each command says of bytes before synchronization: packets, decode, doctor."""
    listed = [json.loads(line) for line in tool.run("packets", *words, "--format", "jsonl", status=None).out.splitlines()]
    counted = re.search(r"(\d+) bytes without sync$", tool.run("decode", *words, "--stats", status=None).err, re.M)
    found = [json.loads(line) for line in tool.run("doctor", *words, "--format", "jsonl", status=None).out.splitlines()]
    return (sum(len(line["b"]) // 2 for line in listed if re.fullmatch("(I_|ITM_)?NOT_?SYNC|not_sync", line["t"])),
            int(counted.group(1)), sum(line["count"] for line in found if line.get("code") in ("unsynced-head", "sync-period")))


@case
def bytes_before_synchronization_are_counted_alike(tool):
    """The same of all commands, whatever the protocol."""
    for protocol, name in (("etmv4", "a64-throw"), ("ete", "a64-throw"), ("ptm", "a32-recur"), ("etmv3", "a32-recur")):
        log = corpus() / "analysis" / "truth" / f"{name}.exlog.gz"
        tool.run("encode", log, "--elf", log.with_name(f"{name}.elf"), "--protocol", protocol, "-o", protocol)
        trace = tool.folder / protocol / "trace.bin"
        trace.write_bytes(trace.read_bytes()[30:])
        listed, counted, found = unsynced(tool, protocol)
        assert listed > 800, (protocol, listed)
        equal((counted, found), (listed, listed), protocol)
    sync = bytes(5) + b"\x80"
    tool.write("port.swo", b"\x01A" * 50 + sync + b"\x01B" * 100)
    equal(unsynced(tool, "port.swo", "--protocol", "itm"), (100, 100, 100))
    sync = b"\xff" * 10 + b"\x0f\x0f\x30"
    tool.write("stm.bin", b"\xa4\x45\x5a" * 30 + sync + b"\xa4\x45\x5a" * 60)
    equal(unsynced(tool, "stm.bin", "--protocol", "stm"), (90, 90, 90))


@case
def messages_before_the_first_address_are_counted(tool):
    """N-Trace: they are whole, and nobody knows where they lead."""
    ntrace = corpus() / "ntrace"
    config = ntrace / "cases" / "rnd32b-htm-ts" / "case.txt"
    program = re.search(r"^program=(.*)$", config.read_text(), re.M).group(1)
    data = config.with_name("trace.bin").read_bytes()
    words = ["--protocol", "ntrace", "--config", config, "--image", ntrace / program / "image.txt"]
    lines = [json.loads(line) for line in tool.run("packets", config.with_name("trace.bin"), *words[:-2], "--format", "jsonl").out.splitlines()]
    second, later = [line["i"] for line in lines if "Sync" in line["t"]][:2]
    cut = next(line["i"] for line in lines if line["i"] > second)
    tool.write("n.bin", data[cut:])
    flow = sum(len(line["b"]) // 2 for line in lines if cut <= line["i"] < later and line["t"] != "Ownership")
    equal(unsynced(tool, "n.bin", *words)[1], flow)


@case
def doctor_takes_symbols_and_sync_as_decode_does(tool):
    log = corpus() / "exec" / "logs" / "a64-recur.exlog.gz"
    elf = log.with_name("a64-recur.elf")
    tool.run("encode", log, "--elf", elf, "--protocol", "ete", "-o", "snap")
    assert "no-symbols" in tool.run("doctor", "snap").out
    assert "no-symbols" not in tool.run("doctor", "snap", "--symbols", elf).out
    # Instrumentation without a synchronization: four values of port 0.
    tool.write("port.swo", b"\x01A\x01B\x01C\x01\n" * 8)
    assert "no-sync" in tool.run("doctor", "port.swo", "--protocol", "itm", status=1).out
    assert tool.run("doctor", "port.swo", "--protocol", "itm", "--assume-sync").out.startswith("nothing is wrong")
    assert '"done"' in tool.run("doctor", "snap", "--progress", "json").err


@case
def doctor_explains_what_was_lost(tool):
    lost = corpus() / "coresight" / "snapshots" / "juno-uname-002"
    lines = [json.loads(line) for line in tool.run("doctor", lost, "--format", "jsonl", status=1).out.splitlines()]
    equal([lines[0]["t"], lines[0]["severity"], lines[0]["code"], lines[0]["count"]], ["FINDING", "error", "overflow", 43])
    assert "return stack" in lines[0]["remedy"], lines[0]
    assert "!" in tool.run("doctor", lost, "-q", status=1).out


def faults_of(tool, log):
    tool.write("x.log", "\n".join(log) + "\n")
    tool.run("encode", "x.log", "--protocol", "etmv4", "--config", "TRCCONFIGR=0x8c9", "-o", "made", "--force")
    lines = [json.loads(line) for line in tool.run("doctor", "made", "--format", "jsonl").out.splitlines()]
    return [line for line in lines if line.get("code") == "faults"]


@case
def doctor_tells_faults_from_pages_that_are_brought_in(tool):
    """A profile: aborts from which the program comes back are the system's daily work."""
    back, skipped, once_more = ([0, 0x1050], [0, 0x1054], [1, 0x1050])
    for level, to in (back, skipped, once_more):
        equal(faults_of(tool, doctor_faults.aborted(level, to)), [], hex(to))
    equal(faults_of(tool, doctor_faults.aborted(0, 0x1050, times=3)), [])
    found, = faults_of(tool, doctor_faults.aborted(0, 0x8000))
    assert found["severity"] == "note" and "data fault at 0x1050" in found["text"] and "went on elsewhere" in found["text"], found
    place = re.search(r"--before (0x[0-9a-f]+)", found["remedy"]).group(1)
    assert tool.run("calls", "made", "--before", place).out.startswith("after 0x104c\n")
    found, = faults_of(tool, doctor_faults.aborted(1))
    assert "nothing goes on there in the 50 instructions" in found["text"], found
    found, = faults_of(tool, doctor_faults.aborted(1, 0x2000, times=12))
    assert "12 times on this spot" in found["text"], found
    # The program may wait for the page: nobody knows yet.
    equal(faults_of(tool, doctor_faults.aborted(0)), [])


@case
def identify_knows_the_corpora(tool):
    wrong, counts = identify.compare(tool.program, corpus(), 1 if FULL else 40)
    equal(wrong, [], counts)


@case
def identify_finds_widths_with_the_image(tool):
    """RISC-V E-Trace: field widths that make every address one of the program."""
    cases = corpus() / "riscv" / "cases"
    for name, wanted in (("embench-slre-py-sijump", {"iaddress_width_p": "32", "context_width_p": "32"}),
                         ("zc32-py-noctx-p3-e6", {"nocontext_p": "1", "privilege_width_p": "3"})):
        program = corpus() / "riscv" / "programs" / name.split("-py-")[0] / "image.txt"
        found, = [json.loads(line) for line in
                  tool.run("identify", "--format", "json", "--image", program, cases / name / "trace.bin").out.splitlines()]
        equal({key: found["config"].get(key) for key in wanted}, wanted, name)


@case
def identify_finds_where_ring_buffers_begin(tool):
    wrong, counts = identify.rotate(tool.program, corpus(), 1 if FULL else 50)
    equal(wrong, [], counts)


@case
def identify_finds_settings_with_the_image(tool):
    for results in (identify_settings.coresight(tool.program, corpus(), 1 if FULL else 3),
                    identify_settings.etrace(tool.program, corpus(), 1 if FULL else 50)):
        wrong, total = identify_settings.compare(results)
        assert total >= 5 and len(wrong) * 10 <= total + (0 if FULL else 9), (wrong, total)


@case
def identify_names_the_widths_that_fit(tool):
    wrong, total = identify_settings.compare(identify_settings.etrace_alone(tool.program, corpus(), 1 if FULL else 60))
    assert not wrong and total >= 5, (wrong, total)
    found = identify.identify(tool.program, corpus() / "riscv" / "cases" / "coremark-c-seed-all" / "trace.bin")
    open_ones, = [line for line in found["evidence"] if "fit as well" in line]
    # The encoder has the first layout, and a jump target cache and branch prediction whose widths only make sense together.
    assert "layout=seed" in open_ones and "--image" in open_ones and found["confidence"] < 0.95, found
    equal(found["config"]["f0s_width_p"], "1")


@case
def identify_is_not_sure_of_files_that_are_no_trace(tool):
    found, total = strange_files.sure(tool.program, 1000 if FULL else 25)
    equal(found, [], total)


def first_finding(tool, *words):
    lines = tool.run("doctor", *words, "--format", "jsonl", "-q", status=1).out.splitlines()
    return json.loads(lines[0])


@case
def doctor_names_other_builds_and_code_made_at_run_time(tool):
    perf = corpus() / "perf"
    name = "p10-walk-percpu-etmv4-v1.perf.data"
    for one, other in (("walk_a", "walk_b"), ("walk_b", "walk_a")):
        tool.write(f"wrong/usr/bin/{one}", (perf / "root" / "usr" / "bin" / other).read_bytes())
    found = first_finding(tool, perf / name, "--sysroot", "wrong")
    equal([found["code"], found["count"]], ["wrong-build", 2])
    assert "/usr/bin/walk_" in found["text"] and "--build-ids" in found["remedy"], found
    content = (perf / name).read_bytes()
    assert b"/usr/bin/walk_a\0" in content
    tool.write("jit.perf.data", content.replace(b"/usr/bin/walk_a\0", b"//anon\0".ljust(16, b"\0")))
    found = first_finding(tool, "jit.perf.data", "--sysroot", perf / "root")
    equal(found["code"], "jit-without-map")
    assert "perf inject --jit" in found["remedy"].replace("\n", " "), found


@case
def timestamps_that_stand_still_are_named(tool):
    steps = "time 0x5000\ni 0x1000 d503201f\ni 0x1004 17ffffff taken\nsync\n"
    for times, wanted in ((12, ["no-timestamps"]), (1, [])):
        tool.write("run.log", "trackway-log 1\nisa a64\ncontext el=0\n" + times * steps)
        tool.run("encode", "run.log", "--protocol", "etmv4", "--config", "TRCCONFIGR=0x801,TRCTSCTLR=0,TRCSYNCPR=8", "-o", "snap", "--force")
        found = [json.loads(line) for line in tool.run("doctor", "snap", "--format", "jsonl").out.splitlines()]
        equal([row["code"] for row in found if row.get("severity") == "warning"], wanted)


@case
def names_in_a_picture_are_text(tool):
    for path in (ROOT / "tests" / "captures" / "demo").iterdir():
        data = path.read_bytes()
        tool.write(f"snap/{path.name}", data.replace(b"ETM_0", b"E<T>&M") if path.suffix == ".ini" else data)
    picture = xml.etree.ElementTree.fromstring(tool.run("doctor", "snap", "--format", "svg").out)
    assert "E<T>&M" in "".join(picture.itertext()), "the source's name"
