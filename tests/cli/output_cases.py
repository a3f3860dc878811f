# SPDX-License-Identifier: BSD-2-Clause
"""Where output goes: files that are whole or not there, closed descriptors, interrupts."""
import json
import os
import re
import signal
import stat
import subprocess
import time

from channels_cases import HELLO, SYNC
from harness import ROOT, case, corpus, equal
from usage_cases import COMMANDS

DEMO = ROOT / "tests" / "captures" / "demo"


def all_commands(tool):
    """Every command that takes -o FILE, with words that make it work."""
    tool.write("swo.raw", SYNC + HELLO)
    tool.write("one.bin", b"\x01\x02\x03")
    tool.run("index", "build", DEMO, "--index", "x.twx")
    yield from (["info", DEMO, "-q"], ["frames", DEMO, "-q"], ["packets", DEMO, "-q"],
                ["decode", DEMO, "-q"], ["stats", DEMO, "-q"], ["channels", "swo.raw"],
                ["index", "show", DEMO, "--index", "x.twx"], ["pack", "--stream", "0x10:one.bin"])
    known = ["info", "frames", "packets", "decode", "stats", "channels", "index", "pack",
             "gdb"]  # which starts a debugger: it writes nothing itself
    for command in [name for name in COMMANDS if name not in known]:
        help_text = tool.run(command, "--help").out
        if "--output FILE" in help_text and "--sysroot" in help_text and "CAPTURE" in help_text.split("\n")[0]:
            if tool.run(command, DEMO, "-q", status=None).returncode < 2:
                yield [command, DEMO, "-q"]


@case
def an_output_that_cannot_be_opened_is_said_once(tool):
    tool.write("folder/file", "")
    perf = corpus() / "perf" / "p10-walk-percpu-etmv4-v1.perf.data"
    every = [*all_commands(tool), ["branches", perf, "-q"]]
    assert {"calls", "profile", "coverage", "timeline", "interrupts"} <= {words[0] for words in every}
    for words in every:
        for path, why in [("/nonexist/file", "No such file or directory"),
                          ("folder", "it is a folder"), ("folder/file/x", "Not a directory")]:
            done = tool.run(*words, "-o", path, status=3)
            equal(done.err, f"trackway: cannot write {path}: {why}\n", words)


def names(folder):
    return sorted(path.name for path in folder.rglob("*"))


@case
def outputs_are_new_files_with_the_usual_rights(tool):
    for words in all_commands(tool):
        for mask in (0o022, 0o077):
            old = os.umask(mask)
            try:
                tool.run(*words, "-o", "out")
            finally:
                os.umask(old)
            path = tool.folder / "out"
            equal(stat.S_IMODE(path.stat().st_mode), 0o666 & ~mask, words)
            path.unlink()
    equal([name for name in names(tool.folder) if name.startswith(("out", "x.twx."))], [])


@case
def a_link_stays_a_link(tool):
    tool.write("there/file", "old")
    (tool.folder / "link").symlink_to("there/file")
    tool.run("packets", DEMO, "-q", "-o", "link")
    assert (tool.folder / "link").is_symlink()
    equal((tool.folder / "there" / "file").read_text(), tool.run("packets", DEMO, "-q").out)
    equal(names(tool.folder), ["file", "link", "there"])


def big_file(tool):
    """Takes seconds to list, and no room on the disk."""
    with open(tool.folder / "big.raw", "wb") as file:
        file.truncate(1 << 30)
    return ["big.raw", "--framing", "memory", "--source", "0x10:etmv4"]


def interrupt(tool, words, number):
    """Sends the signal as soon as there is a new file; gives the exit status."""
    before = set(names(tool.folder))
    running = tool.start(*words, "-q")
    for _ in range(3000):
        if set(names(tool.folder)) - before:
            break
        assert running.poll() is None, (words, running.communicate())
        time.sleep(0.01)
    running.send_signal(number)
    running.communicate(timeout=60)
    return running.returncode


@case
def an_interrupt_leaves_no_file_behind(tool):
    capture = big_file(tool)
    tool.write("out", "old")
    tool.write("split/none.bin", "old")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for words in (["frames", *capture, "-o", "out"], ["frames", *capture, "-o", "new"],
                      ["frames", *capture, "--split", "split"]):
            equal(interrupt(tool, words, number), -number, words)
            equal(names(tool.folder), ["big.raw", "none.bin", "out", "split"], words)
    equal((tool.folder / "out").read_text(), "old")
    equal((tool.folder / "split" / "none.bin").read_text(), "old")


@case
def an_interrupt_leaves_nothing_of_standard_input(tool):
    spool = tool.folder / "spool"
    spool.mkdir()
    for number in (signal.SIGINT, signal.SIGTERM):
        running = tool.start("packets", "-", "--protocol", "ptm", stdin=subprocess.PIPE,
                             env={**os.environ, "TMPDIR": str(spool)})
        for _ in range(3000):
            if names(spool):
                break
            time.sleep(0.01)
        running.send_signal(number)
        running.communicate(timeout=60)
        equal((running.returncode, names(spool)), (-number, []))


@case
def an_ignored_interrupt_stays_ignored(tool):
    tool.write("swo.raw", SYNC + HELLO)
    shell = subprocess.Popen(["sh", "-c", 'trap "" INT; exec "$@"', "sh", tool.program, "channels",
                              "--follow", "swo.raw"], cwd=tool.folder, stdout=subprocess.PIPE)
    equal(shell.stdout.readline(), b"@32 port 0: Hello\n")
    shell.send_signal(signal.SIGINT)
    with open(tool.folder / "swo.raw", "ab") as more:
        more.write(HELLO)
    equal(shell.stdout.readline(), b"@64 port 0: Hello\n")
    shell.terminate()
    shell.communicate(timeout=60)


@case
def following_ends_in_good_order(tool):
    for number in (signal.SIGINT, signal.SIGTERM):
        tool.write("swo.raw", SYNC + HELLO + b"\x01o\x01p\x01e\x01n")
        running = tool.start("channels", "--follow", "swo.raw", "-o", "out.txt")
        for _ in range(3000):
            if [name for name in names(tool.folder) if name.startswith("out.txt.")
                    and (tool.folder / name).stat().st_size]:
                break
            time.sleep(0.01)
        running.send_signal(number)
        _, err = running.communicate(timeout=60)
        equal((running.returncode, err), (0, b""))
        equal((tool.folder / "out.txt").read_text(), "@32 port 0: Hello\n@32 port 0: open\n")
        running = tool.start("channels", "-", "--assume-sync", stdin=subprocess.PIPE)
        running.stdin.write(b"\x01a\x01b\x01c\x01\n\x01d")
        running.stdin.flush()
        equal(running.stdout.readline(), b"port 0: abc\n")
        running.send_signal(number)
        equal((running.communicate(timeout=60)[0], running.returncode), (b"port 0: d\n", 0))
        equal(names(tool.folder), ["out.txt", "swo.raw"])


def run_closed(tool, which, *words):
    return subprocess.run(["sh", "-c", f'exec "$@" {which}', "sh", tool.program, *map(str, words)],
                          cwd=tool.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=False, timeout=300)


@case
def messages_never_land_in_an_output(tool):
    """With standard error closed its number would be that of the next file opened."""
    words = ["decode", "swo.raw", "--protocol", "itm", "--format", "jsonl"]
    tool.write("swo.raw", SYNC + HELLO + b"\x04\x04" + SYNC + b"\x03a")
    want = tool.run(*words, status=1)
    assert want.err
    for which in ("2>&-", "<&- 2>&-", "<&- >&- 2>&-"):
        done = run_closed(tool, which, *words, "-o", "out")
        equal((done.returncode, done.stdout), (1, b""), which)
        equal((tool.folder / "out").read_text(), want.out, which)
    done = run_closed(tool, ">&-", *words)
    equal((done.returncode, b"cannot write standard output" in done.stderr), (3, True))
    done = run_closed(tool, "<&-", "decode", "-", *words[2:])
    equal((done.returncode, b"cannot keep standard input" in done.stderr), (3, True))


@case
def an_index_is_written_beside_its_place(tool):
    tool.write("victim", "keep me")
    (tool.folder / "demo").symlink_to(DEMO)
    (tool.folder / "demo.twx.part").symlink_to("victim")
    running = [tool.start("index", "build", "demo") for _ in range(8)]
    for one in running:
        _, err = one.communicate(timeout=60)
        equal((one.returncode, err), (0, b""))
    equal((tool.folder / "victim").read_text(), "keep me")
    equal(sorted(path.name for path in tool.folder.iterdir()),
          ["demo", "demo.twx", "demo.twx.part", "victim"])
    equal(tool.run("index", "show", "demo").err, "")
    done = tool.run("index", "build", "demo", "--index", "gone/x.twx", status=3)
    assert "No such file or directory" in done.err, done.err


EVIL = b"\x1b]0:owned\x07\xc2\x9b2J\x9b31m\xff\"\\\x7f"
SHOWN = "\x1b]0:owned\x07\x9b2J\ufffd31m\ufffd\"\\\x7f"


def evil_snapshot(tool):
    """The demo with names that a stranger thought out, and a second buffer so that they are shown."""
    for path in DEMO.iterdir():
        content = path.read_bytes()
        if path.suffix == ".ini":
            for name in (b"ETB_0", b"ETM_0", b"cpu_0"):
                content = content.replace(name, name + EVIL)
            content = content.replace(b"file=ETB_0" + EVIL, b"file=ETB_0")
            content = content.replace(b"calls itself", b"calls itself" + EVIL)
            content = content.replace(b"buffers=buffer0", b"buffers=buffer0,buffer1")
            content = content.replace(b"\n[source_buffers]", b"\n[buffer1]\nname=two" + EVIL +
                                      b"\nfile=gone\x1b[2J\nformat=coresight\n\n[source_buffers]")
        tool.write(f"evil/{path.name}", content)
    tool.write("evil/gone\x1b[2J", b"\x00" * 16)
    return "evil"


def check_clean(done, words):
    for stream in (done.stdout, done.stderr):
        text = stream.decode("utf-8")  # strictly
        bad = [c for c in text if (ord(c) < 32 and c != "\n") or 0x7f <= ord(c) < 0xa0]
        equal(bad, [], words)
    assert "owned" in done.out + done.err, (words, done.out[:500])


@case
def names_of_strangers_do_no_harm(tool):
    capture = evil_snapshot(tool)
    for words in (["info"], ["info", "-v"], ["stats"], ["packets"], ["decode"],
                  ["decode", "--instructions"], ["decode", "--format", "path"],
                  ["packets", "--format", "csv"], ["decode", "--format", "csv"]):
        check_clean(tool.run(words[0], capture, *words[1:], status=None), words)
    for words in (["info"], ["stats"], ["packets"], ["decode"], ["decode", "--instructions"]):
        done = tool.run(words[0], capture, *words[1:], "--format", "jsonl", status=None)
        check_clean(done, words)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            if "buf" in row:
                assert row["buf"] in (f"ETB_0{SHOWN}", f"two{SHOWN}"), row
    check_clean(tool.run("decode", "no" + os.fsdecode(EVIL), status=3), "decode")


@case
def colours_change_no_text(tool):
    """With and without them the same is said; what is wrong is red, what is missing yellow."""
    demo = ROOT / "tests" / "captures" / "demo"
    tool.run("encode", ROOT / "tests" / "captures" / "logs" / "a64-coro.exlog.gz", "--protocol", "etmv4", "--config",
             "TRCSYNCPR=8,TRCCONFIGR=0x811,TRCTSCTLR=0,TRCCCCTLR=4,TRCEVENTCTL1R=1", "-o", "timed")
    # Behind it an address where there is no code, an atom, and a header that is reserved.
    trace = tool.folder / "timed" / "trace.bin"
    trace.write_bytes(trace.read_bytes() + bytes(11) + bytes.fromhex("80 01 00 04 9d 00 40 00 00 12 00 00 00 f7 05 f7"))
    for capture, marks in ((demo, ()), (tool.folder / "timed", ("\x1b[31m", "\x1b[33m"))):
        for command in ("decode", "packets"):
            more = ["--errors"] if command == "decode" else []
            plain = tool.run(command, capture, "--color", "never", *more, status=None).out
            colored = tool.run(command, capture, "--color", "always", *more, status=None).out
            equal(re.sub(r"\x1b\[[0-9;]*m", "", colored), plain, command)
            assert command == "packets" or ("\x1b[" in colored and all(mark in colored for mark in marks)), command


@case
def statistics_of_several_buffers_with_a_clock(tool):
    """Spans and rates in seconds, of each buffer and of all."""
    tool.run("encode", ROOT / "tests" / "captures" / "logs" / "a64-coro.exlog.gz", "--protocol", "etmv4", "--config",
             "TRCSYNCPR=8,TRCCONFIGR=0x801,TRCTSCTLR=0", "-o", "a")
    words = ["--clock", "1000000", "--format", "jsonl"]
    one, = [row for row in map(json.loads, tool.run("stats", "a", *words).out.splitlines()) if row["t"] == "SOURCE"]
    ini = tool.folder / "a" / "trace.ini"
    plain = ini.read_text()

    def repeat(count):
        more = range(1, count)
        ini.write_text(plain.replace("buffers=buffer0", ",".join(["buffers=buffer0", *(f"buffer{i}" for i in more)])).replace(
            "ETM_0=trace", ",".join(["ETM_0=trace", *(f"more{i}" for i in more)])).replace("[source_buffers]", "".join(
                f"[buffer{i}]\nname=more{i}\nfile=trace.bin\nformat=source_data\n\n" for i in more) + "[source_buffers]"))
    repeat(2)
    rows = [json.loads(line) for line in tool.run("stats", "a", *words).out.splitlines()]
    sources = [row for row in rows if row["t"] == "SOURCE"]
    equal([(row["bytes"], row["bytes_per_second"]) for row in sources], 2 * [(one["bytes"], one["bytes_per_second"])])
    assert one["seconds"] > 0, one
    text = tool.run("stats", "a", "--clock", "1000000").out
    assert text.count(" bytes/s") == 2, text
    repeat(70)  # so many are added up
    text = tool.run("stats", "a", "--clock", "1000000").out
    equal(re.findall(r"etmv4: (\d+) bytes", text), [str(70 * one["bytes"])], text)
    assert "257 to 262 bytes apart" in text and f"{70 * one['timestamps']} timestamps" in text, text
