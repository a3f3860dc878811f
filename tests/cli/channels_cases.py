# SPDX-License-Identifier: BSD-2-Clause
"""channels: text, data trace and PC samples of small ITM and STM streams made here."""
import csv
import io
import json
import os
import re
import socket
import struct
import termios
import time

from harness import Skip, case, corpus, equal

SYNC = bytes(5) + b"\x80"
HELLO = b"\x01H\x01e\x02ll\x01o\x01\n" + b"\xc0\x20"       # port 0 in pieces, then 32 counts
OTHER = b"\x09x\x0a\x01\x02" + b"\x30"                      # port 1, 3 counts
ACCESS = b"\x47\xaa\xb8\x00\x08\x4e\x34\x12\x8d\x05" + b"\x10"  # PC, address, write; 1 count
EVENTS = b"\x0e\x0f\x10\x05\x21\x17\x04\x80\x00\x00\x15\x00" + b"\x20"
HEAD = "cycles,stream,type,source,value,pc,offset,note"
# ITM on ID 1, STM on ID 0x20.
FRAMES = bytes.fromhex(
    "03 00 00 00 00 00 80 01 41 48 FE FF FE FF FE F0 FE FF FE FF FE 0F 0E 30 03 01 68 C0 8A 01 41 2F "
    "0E 08 20 F4 08 10 03 17 34 12 00 08 41 04 02 83 F0 66 6C 6C 44 38 20 43 F6 EF 01 00 00 00 00 2D")
TWO = ["--source", "1:itm", "--source", "0x20:stm"]


def elf(functions):
    """A 32-bit Arm ELF file with nothing but symbols of functions: (name, address, size)."""
    names, symbols = b"\0", bytes(16)
    for name, address, size in functions:
        symbols += struct.pack("<IIIBBH", len(names), address, size, 0x12, 0, 1)
        names += name.encode() + b"\0"
    sections = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    text = bytes(0x100)
    parts = [text, symbols, names, sections]
    at, offsets = 52, []
    for part in parts:
        offsets.append(at)
        at += len(part)
    table = bytes(40)
    rows = [(1, 1, 6, 0x8000, 0, 0, 0), (7, 2, 0, 0, 3, 1, 16), (15, 3, 0, 0, 0, 0, 0),
            (23, 3, 0, 0, 0, 0, 0)]
    for (name, kind, flags, address, link, info, entry), offset, part in zip(rows, offsets, parts):
        table += struct.pack("<10I", name, kind, flags, address, offset, len(part), link, info, 4,
                             entry)
    head = b"\x7fELF\x01\x01\x01" + bytes(9)
    head += struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, 0x8000, 0, at, 0x5000000, 52, 32, 0, 40, 5, 4)
    return head + b"".join(parts) + table


@case
def text_is_put_together_by_port(tool):
    tool.write("swo.raw", SYNC + HELLO + OTHER)
    equal(tool.run("channels", "swo.raw").out, "@32 port 0: Hello\n@35 port 1: x\\x01\\x02\n")
    equal(tool.run("channels", "swo.raw", "--port", "1").out, "@35 port 1: x\\x01\\x02\n")
    equal(tool.run("channels", "swo.raw", "--clock", "1000").out.splitlines()[0],
          "@0.032000000s port 0: Hello")
    equal(tool.run("channels", "swo.raw", "--raw").stdout, b"Hello\nx\x01\x02")
    equal(tool.run("channels", "swo.raw", "--raw", "--port", "0").stdout, b"Hello\n")


@case
def lines_of_json_are_json(tool):
    tool.write("swo.raw", SYNC + b"\x01\"\x01\\\x02\xc3\xa9\x01\xff\x01\n" + b"\x10" + ACCESS)
    rows = [json.loads(line) for line in
            tool.run("channels", "swo.raw", "--format", "jsonl", "--clock", "2").out.splitlines()]
    equal(rows[0], {"i": 6, "id": 0, "t": "TEXT", "time": 1, "seconds": 0.5, "port": 0,
                    "text": "\"\\\u00e9\u00ff"})
    equal(rows[1], {"i": 18, "id": 0, "t": "dwt", "time": 2, "seconds": 1.0, "source": 0,
                    "value": "0x5", "size": 1, "pc": "0x800b8aa", "offset": "0x1234"})


@case
def accesses_are_joined_in_csv(tool):
    tool.write("swo.raw", SYNC + OTHER + ACCESS + EVENTS)
    equal(tool.run("channels", "swo.raw", "--format", "csv").out.splitlines(), [
        HEAD, "3,,itm,1,0x78,,,", "3,,itm,1,0x0201,,,", "4,,dwt,0,0x05,0x0800b8aa,0x1234,",
        "6,,exception,15,,,,SysTick entered", "6,,counter,,0x21,,,CPI Cyc", "6,,pc,,,0x00008004,,",
        "6,,pc,,,,,asleep"])


@case
def packets_of_two_accesses_are_not_joined(tool):
    # Value, then PC of the next one; another comparator between does not part them.
    tool.write("swo.raw", SYNC + b"\x8d\x01\x47\x04\0\0\x08\x9d\x02\x8d\x03\x4e\x08\x01\x10")
    equal(tool.run("channels", "swo.raw", "--format", "csv").out.splitlines()[1:], [
        "1,,dwt,0,0x01,,,", "1,,dwt,0,0x03,0x08000004,,", "1,,dwt,1,0x02,,,",
        "1,,dwt,0,,,0x0108,"])


# [CSD 2.3.1.3]
@case
def cycles_are_kept_over_losses(tool):
    tool.write("swo.raw", SYNC + OTHER + b"\x70" + OTHER + b"\x04\x01" + SYNC + OTHER)
    out = tool.run("channels", "swo.raw", "--format", "csv", "--on-error", "wait", status=1).out
    rows = list(csv.DictReader(io.StringIO(out)))
    equal([(r["cycles"], r["type"]) for r in rows],
          [("3", "itm"), ("3", "itm"), ("3", "overflow"), ("6", "itm"), ("6", "itm"),
           ("6", "error"), ("9", "itm"), ("9", "itm")])


@case
def bad_bytes_where_decoding_goes_on_at_the_next_byte(tool):
    words = ["swo.raw", "--protocol", "itm"]
    tool.write("swo.raw", SYNC + OTHER + b"\x04" + OTHER)
    equal(tool.run("decode", *words, status=1).err.splitlines()[0].partition("; ")[2],
          "skipped 1 byte, resumed at the next byte")
    err = tool.run("decode", *words, "--on-error", "wait", status=1).err
    equal(err.splitlines()[0].partition("; ")[2], f"skipped {1 + len(OTHER)} bytes to the next sync")
    # Those before the first sync say nothing about the time after it.
    tool.write("swo.raw", b"\x50\x20" + b"\x04" * 8 + b"\x60" + SYNC + OTHER + OTHER)
    rows = [json.loads(line) for line in
            tool.run("decode", *words, "--assume-sync", "--format", "jsonl", status=1).out.splitlines()]
    after = [row for row in rows if row["i"] >= 11]
    equal(after[0]["t"], "NO_SYNC")
    equal([row["ts"] for row in after if "ts" in row], ["0x3", "0x6"])


@case
def samples_are_counted_by_function(tool):
    samples = b"".join(b"\x17" + pc.to_bytes(4, "little") for pc in
                       (0x8004, 0x8006, 0x8010, 0x9000))
    tool.write("swo.raw", SYNC + samples + b"\x15\x00" + b"\x10")
    tool.write("fw.elf", elf([("main", 0x8001, 0x10), ("tick", 0x8011, 8)]))
    equal(tool.run("channels", "swo.raw", "--symbols", "fw.elf").out,
          "5 PC samples\n 40.00%        2  main\n 20.00%        1  tick\n"
          " 20.00%        1  0x00009000\n 20.00%        1  (asleep)\n")
    equal(tool.run("channels", "swo.raw").out.splitlines()[-2:], ["@1 pc 0x00009000", "@1 pc: asleep"])
    tool.write("secret.raw", SYNC + samples + b"\x15\xff" + b"\x10")
    equal(tool.run("channels", "secret.raw", "--symbols", "fw.elf").out.splitlines()[-1], " 20.00%        1  (prohibited)")
    text = tool.run("profile", "secret.raw", "--protocol", "itm", "--symbols", "fw.elf", "--by", "address", "-q").out
    assert re.search(r"1  20\.0 %  \[prohibited\]", text) and re.search(r"0x00008010 tick", text), text
    equal(tool.run("channels", "swo.raw", "--symbols", "fw.elf", "-v").out.splitlines()[:3],
          ["@1 pc 0x00008004 main+0x4", "@1 pc 0x00008006 main+0x6", "@1 pc 0x00008010 tick"])


@case
def every_kind_of_event_is_text(tool):
    access = b"\x47\x02\x80\x00\x00" + ACCESS[5:]
    tool.write("swo.raw", SYNC + access + EVENTS + b"\x70" + HELLO)
    tool.write("fw.elf", elf([("main", 0x8001, 0x10)]))
    equal(tool.run("channels", "swo.raw", "--symbols", "fw.elf", status=None).out.splitlines()[:4], [
        "@1 watch 0: write 0x05 at offset 0x1234 by 0x00008002 main+0x2", "@3 exception 15: SysTick entered",
        "@3 counter: CPI Cyc", "@3 overflow: packets were lost before this"])
    equal(tool.run("channels", "swo.raw", "--port", "0", status=None).out.splitlines(), ["@35 port 0: Hello"])


@case
def values_have_formats(tool):
    tool.write("swo.raw", SYNC + b"\x09\xfe\x0a\xfe\xff\x13\x00\x00\xc0\x3f\x1b\xef\xbe\xad\xde\x01a\x01\n" + b"\x30")
    equal(tool.run("channels", "swo.raw", "--port-format", "1=%d,2=x is %.2f, y,3=%08X").out.splitlines(),
          ["@3 port 1: -2", "@3 port 1: -2", "@3 port 2: x is 1.50, y", "@3 port 3: DEADBEEF", "@3 port 0: a"])
    equal(tool.run("channels", "swo.raw", "--port-format", "1=[%5u] 100%%", "--port", "1").out.splitlines(),
          ["@3 port 1: [  254] 100%", "@3 port 1: [65534] 100%"])
    equal(tool.run("channels", "swo.raw", "--port-format", "0=<%c>", "--port", "0").out.splitlines(), ["@3 port 0: <a>", "@3 port 0: <\\x0a>"])
    for wrong in "1", "x=%d", "1=%s", "1=%d %d", "1=%n", "1=%", "1=%ld", "1=%*d", "1=%100d", "1=%.9999999999f", "70000=%d", "1=" + "x" * 80:
        tool.run("channels", "swo.raw", "--port-format", wrong, status=2)


@case
def a_server_is_read(tool):
    with socket.create_server(("127.0.0.1", 0)) as server:
        name = f"tcp:127.0.0.1:{server.getsockname()[1]}"
        for words in ([name], ["--follow", name]):
            running = tool.start("channels", *words)
            server.settimeout(60)
            client, _ = server.accept()
            with client:
                client.sendall(SYNC + HELLO)
                equal(running.stdout.readline(), b"@32 port 0: Hello\n")
                client.sendall(OTHER)
            out, _ = running.communicate(timeout=60)
            equal((out, running.returncode), (b"@35 port 1: x\\x01\\x02\n", 0))
    assert "tcp:127.0.0.1" in tool.run("channels", name, status=3).err
    for wrong in "tcp:", "tcp:host", "tcp::1", "tcp:host:":
        tool.run("channels", wrong, status=3)


@case
def a_server_may_have_an_address_in_brackets(tool):
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        raise Skip("no IPv6 here") from None
    with server:
        server.settimeout(60)
        running = tool.start("channels", f"tcp:[::1]:{server.getsockname()[1]}")
        client, _ = server.accept()
        with client:
            client.sendall(SYNC + HELLO)
        out, err = running.communicate(timeout=60)
        equal((out, running.returncode), (b"@32 port 0: Hello\n", 0), err)


@case
def global_timestamps_alone_tell_the_time(tool):
    tool.write("swo.raw", SYNC + b"\x01a\x01\n\x94\xd0\x80\x80\x00\xb4\x80\x80\x80\x00\x01b\x01\n\x94\x60")
    equal(tool.run("channels", "swo.raw").out, "@80 port 0: a\n@96 port 0: b\n")


@case
def rows_of_frames_have_a_stream(tool):
    tool.write("both.raw", FRAMES)
    table = list(csv.DictReader(io.StringIO(tool.run("channels", "both.raw", "--format", "csv", "--framing", "memory", *TWO).out)))
    equal({row["stream"] for row in table}, {"1", "32"})


@case
def a_serial_port_is_read(tool):
    ours, theirs = os.openpty()
    name = f"serial:{os.ttyname(theirs)}:115200"
    running = tool.start("channels", name)
    end = time.monotonic() + 60
    while termios.tcgetattr(theirs)[3] & termios.ICANON:  # until the program has the line as it wants it
        assert time.monotonic() < end and running.poll() is None
        time.sleep(0.01)
    os.write(ours, SYNC + HELLO + b"\x01\x0d\x01\x03\x01\x0a\x10")  # nothing is a control character
    equal(running.stdout.readline(), b"@32 port 0: Hello\n")
    equal(running.stdout.readline(), b"@33 port 0: \\x0d\\x03\n")
    running.terminate()
    running.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    tool.run("channels", "serial:/dev/null:115200", status=3)
    tool.run("channels", f"serial:{tool.folder}/none:115200", status=3)


@case
def samples_are_shown_live(tool):
    tool.write("fw.elf", elf([("main", 0x8001, 0x10), ("tick", 0x8011, 8)]))
    path = tool.write("swo.raw", SYNC + b"\x17\x04\x80\x00\x00\x10")
    running = tool.start("channels", "--follow", "swo.raw", "--symbols", "fw.elf", "--histogram")
    equal(running.stdout.readline(), b"1 PC samples\n")
    equal(running.stdout.readline(), b"100.00%        1  main\n")
    time.sleep(1.1)
    with open(path, "ab") as more:
        more.write(b"\x17\x10\x80\x00\x00\x10")
    equal(running.stdout.readline(), b"2 PC samples\n")
    equal(running.stdout.readline(), b" 50.00%        1  main\n")
    running.terminate()
    running.communicate(timeout=60)


@case
def samples_alone_make_a_profile(tool):
    folder = corpus() / "exec-m"
    words = [folder / "swo" / "m3-nested-b.swo", "--protocol", "itm", "--config", "ITMTCR=0x10107", "--symbols",
             folder / "logs" / "m3-nested.elf", "--format", "jsonl"]
    got = tool.run("profile", *words)
    assert "PC samples" in got.err and "estimates" in got.err, got.err
    rows = [json.loads(line) for line in got.out.splitlines()]
    equal(rows[-1]["t"], "TOTAL")
    equal(sum(row["samples"] for row in rows[:-1]), rows[-1]["samples"], "samples add up")
    exact = [json.loads(line) for line in tool.run(
        "profile", folder / "etm" / "m3-nested-etmv4", "--symbols", folder / "logs" / "m3-nested.elf", "--format", "jsonl",
        "-q").out.splitlines()]
    shares = {row["name"]: row["self"] / exact[-1]["instructions"] for row in exact[:-1] if "name" in row}
    for row in rows[:2]:
        assert abs(row["samples"] / rows[-1]["samples"] - shares[row["name"]]) < 0.03, row
    lines = [json.loads(line) for line in tool.run("profile", *words, "--by", "address").out.splitlines()]
    equal(lines[-1]["samples"], rows[-1]["samples"], "by address")
    assert "work_round" in tool.run("profile", *words[:-2]).out.splitlines()[1]
    tool.run("profile", *words[:-1], "csv", status=2)


# [CSD 2.1.5/7] [CSD 2.3.1.3]
@case
def frames_of_itm_and_stm(tool):
    tool.write("two.bin", FRAMES)
    want = {"@138 id 0x01 port 0: Hi", "@291 id 0x20 master 0x40 channel 1: Hello", "@138 id 0x01 pc 0x08001234",
            "id 0x20 frequency: 19200000 Hz"}
    equal(set(tool.run("channels", "two.bin", *TWO).out.splitlines()), want)
    equal(tool.run("channels", "two.bin", *TWO, "--port", "1", "--raw").stdout, b"Hello")
    rows = [json.loads(line) for line in tool.run(
        "packets", "two.bin", *TWO, "--format", "jsonl").out.splitlines()]
    equal([(r["t"], r["i"]) for r in rows if r["id"] == 1],
          [("ITM_ASYNC", 1), ("ITM_SWIT", 7), ("ITM_SWIT", 25), ("ITM_TS_LOCAL", 27),
           ("ITM_DWT", 39)])
    equal([(r["t"], r["i"]) for r in rows if r["id"] == 0x20][:6],
          [("ASYNC", 10), ("VERSION", 22), ("FREQ", 32), ("M8", 37), ("C8", 46), ("D32TS", 48)])


@case
def standard_input_is_shown_as_it_comes(tool):
    running = tool.start("channels", "-", stdin=-1)
    running.stdin.write(SYNC + HELLO)
    running.stdin.flush()
    equal(running.stdout.readline(), b"@32 port 0: Hello\n")
    running.stdin.write(OTHER)
    out, _ = running.communicate(timeout=60)
    equal((out, running.returncode), (b"@35 port 1: x\\x01\\x02\n", 0))


@case
def without_timestamps_nothing_is_held_back(tool):
    running = tool.start("channels", "-", "--assume-sync", stdin=-1)
    running.stdin.write(b"\x01a\x01b\x01c\x01\n")
    running.stdin.flush()
    equal(running.stdout.readline(), b"port 0: abc\n")
    running.communicate(timeout=60)


@case
def a_growing_file_is_followed(tool):
    path = tool.write("swo.raw", SYNC + HELLO)
    running = tool.start("channels", "--follow", "swo.raw")
    equal(running.stdout.readline(), b"@32 port 0: Hello\n")
    with open(path, "ab") as more:
        more.write(HELLO)
    equal(running.stdout.readline(), b"@64 port 0: Hello\n")
    running.terminate()
    running.communicate(timeout=60)


@case
def sources_of_a_growing_file(tool):
    """A live input has the sources that are named, in frames where there are several: what the file whole has, comes."""
    tool.write("itm.bin", SYNC + HELLO + OTHER)
    tool.write("other.bin", SYNC + OTHER)
    tool.run("pack", "--stream", "0x11:itm.bin", "--stream", "0x12:other.bin", "--align", "16", "-o", "framed.bin")
    for words in (["--source", "0x11:itm", "--source", "0x12:itm:TCR=0"],
                  ["--source", "0x11:itm:TCR=0", "--framing", "memory", "--on-error", "resume"],
                  ["--source", "0x12:itm", "--framing", "memory", "--on-error", "wait", "--assume-sync"]):
        want = tool.run("channels", "framed.bin", *words).out
        assert "port" in want, words
        running = tool.start("channels", "-", *words, stdin=-1)
        out, err = running.communicate((tool.folder / "framed.bin").read_bytes(), timeout=60)
        equal(sorted(out.decode().splitlines()), sorted(want.splitlines()), f"{words} {err}")
    for words, said in ((["--source", "0x11:" + "x" * 40], "there is no protocol"), (["--source", "0x11:nothing"], "nothing"),
                        (["--source", "0x11:itm:TCR"], "is no configuration")):
        running = tool.start("channels", "-", *words, stdin=-1)
        _, err = running.communicate(b"", timeout=60)
        assert said in err.decode() and running.returncode in (2, 3), (words, err)


@case
def wrong_uses_of_channels(tool):
    tool.write("swo.raw", SYNC)
    tool.run("channels", status=2)
    tool.run("channels", "swo.raw", "--follow", "swo.raw", status=2)
    tool.run("channels", "no.raw", status=3)
    tool.run("channels", "--follow", "no.raw", status=3)
    tool.run("channels", "--follow", "swo.raw", "--protocol", "itm", "--config", "x", status=2)


@case
def the_publishers_rows_of_a_real_board(tool):
    folder = corpus() / "itm"
    raw = folder / "blinky-swo.raw"
    done = tool.run("channels", raw, "--format", "csv", "--on-error", "wait", status=1)
    want = [line for line in (folder / "blinky-swo.csv").read_text().splitlines()
            if ",dwt," in line]
    equal(len(want), 528)
    equal([line for line in done.out.splitlines() if ",dwt," in line], want)
    done = tool.run("channels", raw, "--format", "csv", "--on-error", "wait", "--assume-sync",
                    status=1)
    rows = [r for r in csv.DictReader(io.StringIO(done.out)) if r["type"] == "dwt"]
    equal([int(r["value"], 16) for r in rows[:0xc1]], list(range(1, 0xc2)))
    equal(len(rows), 528 + 0xc1)
