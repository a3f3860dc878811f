# SPDX-License-Identifier: BSD-2-Clause
"""What is refused, word for word and with the right status: options that do not go together, values that cannot be, files that are not
there."""
from harness import ROOT, case, equal

DEMO = ROOT / "tests" / "captures" / "demo"
USAGE, FAILED = 2, 3

# What is said, the status, and the words. "c.bin" are a few bytes, "no" is nothing, "dir" a folder.
ROWS = [
    ("--events: there is jsonl (default) and csv of it", USAGE, "calls", DEMO, "--events", "--format", "svg"),
    ("neither --events nor --function with it", USAGE, "calls", DEMO, "--last", "3", "--function", "fib"),
    ("--function: there is text, jsonl and csv of it", USAGE, "calls", DEMO, "--function", "fib", "--format", "svg"),
    ("no/no.elf: cannot be opened", USAGE, "diff", DEMO, DEMO, "--ignore", "function:fib", "--symbols", "no/no.elf"),
    ("is not AT", USAGE, "pack", "--stream", "0x10:c.bin", "--trigger", "x", "-o", "out"),
    ("is too much", USAGE, "pack", "--stream", "0x10:c.bin", "--align", "99999999999", "-o", "out"),
    ("cannot read no.bin", FAILED, "pack", "--stream", "0x10:no.bin", "-o", "out"),
    ("only memory framing has barrier frames", USAGE, "pack", "--stream", "0x10:c.bin", "--framing", "tpiu", "--barrier", "16", "-o", "out"),
    ("--inline: rows have to be functions", USAGE, "profile", DEMO, "--inline", "--by", "line"),
    ("no option --nothing before the command", USAGE, "--nothing"),
    ("is not FILE@ADDRESS", USAGE, "snapshot", "-o", "out", "--trace", "T=c.bin", "--device", "d", "--dump", "d:c.bin"),
    ("cannot read no.txt", FAILED, "snapshot", "-o", "out", "--trace", "T=c.bin", "--device", "d", "--reg", "d:no.txt"),
    ("more buffers than there are", USAGE, "snapshot", "-o", "out", "--trace", "T=c.bin", "--device", "d,buffer=T,buffer=T"),
    ("--protocol is for one source", USAGE, "decode", "c.bin", "--protocol", "itm", "--source", "1:itm"),
    ("seconds want --clock HZ with them", USAGE, "decode", DEMO, "--from", "1s"),
    ("are for perf.data, which tells CPUs and threads", USAGE, "decode", DEMO, "--cpu", "0"),
    ("no such folder; give the one that holds .build-id", FAILED, "decode", DEMO, "--build-ids", "no"),
    ("src wants a number", USAGE, "decode", "c.bin", "--protocol", "etrace", "--image", "c.bin@0,src=x"),
    ("there is no \"index frob\"", USAGE, "index", "frob", DEMO),
    ("give --index FILE", USAGE, "index", "build", "-"),
    ("cannot read no.cfg", FAILED, "encode", ROOT / "tests/captures/logs/a32-recur.exlog.gz", "--protocol", "ptm", "--config", "no.cfg", "-o", "out"),
    ("is too long", FAILED, "--manual", "x" * 5000),
    ("only --framing tpiu-hsync has HSYNCs", USAGE, "pack", "--stream", "0x10:c.bin", "--framing", "tpiu", "--idle", "2", "-o", "out"),
    ("neither DEVICE:NAME=VALUE,... nor DEVICE:FILE", USAGE, "snapshot", "-o", "out", "--trace", "T=c.bin", "--device", "d", "--reg", "d"),
    ("--preset is for one source", USAGE, "decode", "c.bin", "--preset", "pulp", "--source", "1:itm"),
    ("no such time", USAGE, "decode", DEMO, "--from", "99999999999999999999s", "--clock", "1000"),
    ("no ELF program", FAILED, "gdb", "--serve", DEMO, "c.bin"),
    ("no.elf", FAILED, "gdb", "--serve", DEMO, "no.elf"),
    ("no.elf", FAILED, "channels", "itm.bin", "--protocol", "itm", "--symbols", "no.elf"),
    ("too many settings", FAILED, "encode", ROOT / "tests/captures/logs/a32-recur.exlog.gz", "--protocol", "ptm",
     "--config", ",".join(f"R{i}=1" for i in range(600)), "-o", "out"),
    ("Inappropriate ioctl", FAILED, "channels", "--follow", "serial:/dev/null:115200"),
    ("no.such.host.invalid", FAILED, "channels", "--follow", "tcp:no.such.host.invalid:1"),
    ("no instruction can be decoded of it", FAILED, "gdb", "--serve", "c.bin", "--protocol", "ptm", "--config", "ETMCR=0,ETMIDR=0x411cf312"),
    ("a line break in an argument", FAILED, "gdb", DEMO, "--at", "a\nb"),
]


@case
def what_is_refused_is_told(tool):
    tool.write("c.bin", bytes(64))
    tool.write("itm.bin", bytes(5) + b"\x80\x17\x00\x10\x00\x00")
    (tool.folder / "dir").mkdir()
    wrong = []
    for said, status, *words in ROWS:
        done = tool.run(*words, status=None)
        if said not in done.err or done.returncode != status:
            wrong.append(f"{' '.join(map(str, words))[:160]}: status {done.returncode}, {done.err.strip()[:200]!r}; wanted {status}, {said!r}")
        assert not (tool.folder / "out").exists(), words
    equal(wrong, [], "\n" + "\n".join(wrong))
