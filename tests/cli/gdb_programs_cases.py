# SPDX-License-Identifier: BSD-2-Clause
"""trackway gdb: which programs GDB is given, and where they were loaded."""
import os
import re
import subprocess

from gdb_cases import folder_of, gdb_program, packet, serve
from harness import case, corpus, equal, ROOT
from perf_cases import CODE
from perf_file import ETMV4, RAW, PerfFile


def batch(tool, *arguments, commands=()):
    """What GDB says."""
    env = dict(os.environ, TRACKWAY_GDB=gdb_program(), HOME=str(tool.folder))
    given = [word for command in commands for word in ("-ex", command)]
    done = subprocess.run([tool.program, "gdb", *map(str, arguments), "--", "-nx", "-batch", *given], env=env,
                          cwd=tool.folder, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode()


@case
def gdb_takes_the_program_of_a_snapshot(tool):
    said = batch(tool, ROOT / "tests" / "captures" / "demo", commands=["bt", "info source"])
    assert "rt_start (" in said and "rt.c" in said and "_start ()" in said, said
    assert "warning" not in said, said


@case
def gdb_takes_the_image(tool):
    """A snapshot whose code is flat files tells of no program; --symbols does, or without them --image."""
    folder = folder_of("truth")
    elf = folder / "a64-counts.elf"
    tool.run("encode", folder / "a64-counts.exlog.gz", "--elf", elf, "--protocol", "ete", "-o", "flat")
    said = batch(tool, "flat", "--first", commands=["info symbol $pc"])
    assert "no program is known" in said and "No symbol" in said, said
    assert "no program is known" not in batch(tool, "flat", "-q", commands=[])
    said = batch(tool, "flat", "--symbols", elf, "--first", commands=["info symbol $pc"])
    assert "_start in section .text" in said and "no program" not in said, said
    for device in (tool.folder / "flat").glob("device_*.ini"):
        device.write_text(re.sub(r"\[dump.*?(?=\n\[|\Z)", "", device.read_text(), flags=re.S))
    said = batch(tool, "flat", "--image", elf, "--first", commands=["info symbol $pc"])
    assert "_start in section .text" in said and "no program" not in said, said


@case
def gdb_loads_programs_of_perf_where_they_were(tool):
    """Of a recording of two programs one is position independent: both have their names."""
    folder = corpus() / "perf"
    capture, root = folder / "p10-walk-percpu-etmv4-v1.perf.data", folder / "root"
    said = batch(tool, capture, "--sysroot", root, commands=["info threads", "info symbol 0x5507000410"])
    assert "0x0000000000400358 in _start ()" in said and "0x0000005507000410 in _start ()" in said, said
    assert "warning" not in said, said
    said = batch(tool, capture, root / "usr" / "bin" / "walk_b", "--sysroot", root, commands=["thread 2"])
    assert "0x0000005507000410 in _start ()" in said, said
    # data of the program that was loaded elsewhere is not known either
    text = subprocess.run(["readelf", "-lW", root / "usr" / "bin" / "walk_b"], stdout=subprocess.PIPE, check=True).stdout
    written = [line.split() for line in text.decode().splitlines() if line.split()[:1] == ["LOAD"] and " RW " in line]
    for words in written:
        at = int(words[2], 16) + 0x5507000410 - 0x410
        assert b"E14" in serve(tool, packet(f"m{at:x},4"), "--sysroot", root, capture=capture), hex(at)


@case
def gdb_says_what_is_wrong_before_it_starts(tool):
    demo = ROOT / "tests" / "captures" / "demo"
    assert "No such file" in tool.run("gdb", "nothing-here", status=3).err
    assert "cannot read nothing-here" in tool.run("gdb", demo, "nothing-here", status=3).err
    assert "no option -o" in tool.run("gdb", demo, "-o", "out", status=2).err


def path_of(tool, capture, thread, steps, *options):
    """The addresses that a thread comes to, step by step from its first instruction."""
    go = packet("qRcmd," + f"thread:{thread} goto first".encode().hex()) + packet(f"Hg{thread}") + packet(f"Hc{thread}")
    said = serve(tool, go + packet("p20") + (packet("s") + packet("p20")) * steps, *options, capture=capture)
    stops = re.findall(rb"\$(T[^#]*)#", said)
    found = [int.from_bytes(bytes.fromhex(digits.decode()), "little") for digits in re.findall(rb"\$([0-9a-f]{16})#", said)]
    ends = [number for number, stop in enumerate(stops) if b"replaylog" in stop]
    return found[:ends[0] + 1] if ends else found


@case
def gdb_steps_through_threads_that_move(tool):
    """Two threads that a scheduler moves between two CPUs: each goes on where it was moved to."""
    folder = corpus() / "perf"
    name = "p15-walk-percpu-etmv4-barriers"
    want = {}
    for line in (folder / "expected" / f"{name}.truth.txt").read_text().splitlines():
        words = line.split()
        if len(words) == 4 and words[0] != "#":
            first = int(words[2], 16)
            want.setdefault(int(words[1]), []).extend(range(first, first + 4 * int(words[3]), 4))
    options = ("--sysroot", folder / "root")
    capture = folder / f"{name}.perf.data"
    threads = serve(tool, packet("qXfer:threads:read::0,fff"), *options, capture=capture).decode()
    found = re.findall(r'id="(\d+)" name="\w+ \((\d+)\)"', threads)
    equal(sorted(int(tid) for _, tid in found), sorted(want), "threads")
    for thread, tid in found:
        equal(path_of(tool, capture, thread, len(want[int(tid)]) + 3, *options), want[int(tid)], tid)


@case
def gdb_moves_all_threads_to_one_time(tool):
    """monitor time: each thread stands at its first instruction that is not before that time; its last, if there is none."""
    tc2 = corpus() / "coresight" / "snapshots" / "TC2"

    def places(*lines):
        """The number of the instruction and its time, by thread."""
        asked = ["threads", *lines, *(f"thread:{thread} where" for thread in range(1, 5))]
        said = serve(tool, b"".join(packet("qRcmd," + line.encode().hex()) for line in asked), capture=tc2).decode()
        text = "".join(bytes.fromhex(part.split("#")[0]).decode() for part in said.split("$O")[1:] if not part.startswith("K#"))
        return [(int(number), int(time or 0)) for number, time in re.findall(r"instruction (\d+)(?:, not before (\d+))?", text)[-4:]]

    last = places()
    earlier = places("thread:1 goto n:3000")
    equal(earlier[1:], last[1:], "only one is moved")
    number, moment = earlier[0]
    assert number == 3000 and moment < last[0][1], earlier
    together = places("thread:1 goto n:3000", "thread:1 time")
    equal(together[0], earlier[0], "the one that is asked stays")
    assert together[1:] != last[1:], together
    for time in (moment, last[0][1], last[3][1], last[3][1] + 1, 0):
        for thread, (number, found) in enumerate(places(f"time {time}"), 1):
            if found < time:
                equal((number, found), last[thread - 1], f"thread {thread} was over at {time}")
            elif number:
                before = places(f"thread:{thread} goto n:{number - 1}")[thread - 1]
                assert before[0] == number - 1 and before[1] < time, f"thread {thread} at {time}: {number} and {before}"


@case
def gdb_stops_where_the_recorder_lost(tool):
    """perf.data: a block that was truncated, and one whose bytes are not in the file."""
    block = bytes(11) + b"\x80\x01\x00\x04" + bytes.fromhex("81b064000000" "9d0020000000000000" "f7f7")
    made = PerfFile()
    made.info(ETMV4, {0: {"TRCCONFIGR": 0x41, "TRCTRACEIDR": 0x10, "TRCIDR0": 0x28000ea1, "TRCIDR1": 0x4100f403, "TRCIDR2": 0x488}})
    made.comm(100, "one", 5)
    made.map(100, 0x4000, 16, 0, "/bin/one", 6)
    block += bytes(-len(block) % 8)
    size = len(block)
    made.aux(0, size, RAW | 1, 100, 9)
    made.aux(size, size, RAW, 100, 10)
    made.aux(2 * size, 64, RAW, 100, 11)
    made.aux(2 * size + 64, size, RAW, 100, 12)
    made.trace(block + block, cpu=0)
    made.trace(block, offset=2 * size + 64, cpu=0)
    tool.write("perf.data", made.bytes())
    tool.write("root/bin/one", CODE)
    answer = serve(tool, packet("qRcmd," + b"gaps".hex()), "--sysroot", "root", "-q", capture="perf.data").decode()
    said = "".join(bytes.fromhex(part.split("#")[0]).decode() for part in answer.split("$O")[1:] if not part.startswith("K#"))
    assert said.count("the recorder could not keep up") == 2, said
    assert said.count("could not keep up (bytes are missing in the file)") == 1, said
    forwards = serve(tool, 4 * packet("c"), "--first", "--sysroot", "root", "-q", capture="perf.data")
    backwards = serve(tool, 4 * packet("bc"), "--sysroot", "root", "-q", capture="perf.data")
    equal([forwards.count(b"T00thread"), backwards.count(b"T00thread")], [2, 2])
