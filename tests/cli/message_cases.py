# SPDX-License-Identifier: BSD-2-Clause
"""Messages name the thing, the reason and the next step."""
import json
import re
import shutil
import subprocess

from harness import ROOT, case, corpus, equal
from perf_file import ETMV4, RAW, PerfFile
from usage_cases import COMMANDS

REGISTERS = "TRCIDR0=0x28000ea1,TRCIDR1=0x4100f403,TRCIDR2=0x488,TRCCONFIGR=1"


def said(tool, *words, status=None, has=()):
    err = tool.run(*words, status=status).err
    for word in has:
        assert word in err, f"{words}: {word!r} is not in {err!r}"
    return err


@case
def missing_registers_are_named_all_at_once(tool):
    tool.write("raw", bytes(2000))
    said(tool, "packets", "raw", "--protocol", "etmv4", "--config", "TRCIDR1=1",
         has=["registers TRCIDR0, TRCIDR2, TRCCONFIGR are missing"])
    said(tool, "packets", "raw", "--protocol", "ete", "--config", REGISTERS, has=["register TRCDEVARCH is missing"])
    said(tool, "packets", "raw", "--protocol", "ptm", has=["registers ETMCR, ETMIDR, ETMCCER are missing"])


@case
def code_that_is_missing_can_be_given(tool):
    said(tool, "decode", corpus() / "coresight" / "snapshots" / "init-short-addr", has=["not in the image", "--image FILE"])
    said(tool, "decode", corpus() / "perf" / "p10-walk-percpu-etmv4-v1.perf.data", "-o", "out", has=["--sysroot DIR", "--kernel FILE"])


@case
def a_time_that_is_not_there(tool):
    said(tool, "decode", corpus() / "coresight" / "snapshots" / "trace_file_vmid", "--at", "5", status=3,
         has=["there is no 5", "timestamp", "+OFFSET"])


@case
def what_exists_can_be_replaced(tool):
    tool.write("etb.bin", bytes(64))
    words = ["snapshot", "--trace", "ETB=etb.bin", "--device", "cpu_0,class=core,type=Cortex-A57", "-o", "snap"]
    tool.run(*words)
    said(tool, *words, status=3, has=["snap", "exists already", "--force"])
    tool.run(*words, "--force")


@case
def options_without_effect_are_told_of(tool):
    tool.write("flat", bytes(range(1, 200)))
    perf = corpus() / "perf" / "p10-walk-percpu-etmv4-v1.perf.data"
    snapshot = corpus() / "coresight" / "snapshots" / "trace_file_vmid"
    said(tool, "decode", perf, "--kernel", "/nonexist", status=3, has=["--kernel /nonexist", "no such file", "vmlinux"])
    said(tool, "decode", perf, "--sysroot", "/nonexist", status=3, has=["--sysroot /nonexist", "no such folder"])
    said(tool, "decode", snapshot, "--symbols", "flat", status=3, has=["--symbols flat", "no ELF file"])
    said(tool, "decode", snapshot, "--image", "flat", "-o", "out", has=["--image flat", "FILE@ADDRESS"])
    tool.write("raw", bytes(2000))
    said(tool, "packets", "raw", "--framing", "memory", "--source", f"0x10:etmv4:{REGISTERS},TRCTRACEIDR=0x12",
         has=["source 0x10", "trace ID 0x12"])


@case
def channels_of_other_trace(tool):
    said(tool, "channels", corpus() / "coresight" / "snapshots" / "trace_file_vmid", status=1,
         has=["no ITM or STM packet", "--assume-sync"])
    # Software trace without synchronization: said the same, and heard with the option that is named.
    silent = corpus() / "exec-m" / "swo" / "m0-systick-c.swo"
    said(tool, "channels", silent, status=1, has=["no ITM or STM packet", "--assume-sync"])
    assert tool.run("channels", silent, "--assume-sync", status=None).out


@case
def info_sums_up_many_buffers(tool):
    many_buffers(tool)
    short = tool.run("info", "many.perf.data", status=None).out
    assert "200 buffers: 3200 bytes" in short and "-v lists each" in short, short
    assert len(short.splitlines()) < 40, short
    assert tool.run("info", "many.perf.data", "-v", status=None).out.count("framing") == 200


@case
def a_misspelt_register_is_told_of(tool):
    tool.write("raw", bytes(11) + b"\x80" + bytes(2000))
    words = ["packets", "raw", "--protocol", "etmv4", "-o", "out", "--config"]
    said(tool, *words, REGISTERS.replace("TRCCONFIGR", "TRCCONFIRG"),
         has=["register TRCCONFIRG has no effect", "did you mean TRCCONFIGR?", "register TRCCONFIGR is missing"])
    said(tool, *words, REGISTERS + ",TRCDEVACH=0", has=["register TRCDEVACH", "did you mean TRCDEVARCH?"])
    # Others of its kind are none: real registers, in any case of letters, given beside the right one.
    for more in ["TRCVICTLR=1", "trcidr8=0", "TRCIDR30=1", "TRCIDR0=1"]:
        assert "did you mean" not in said(tool, *words, f"{REGISTERS},{more}"), more
    said(tool, "packets", "raw", "--protocol", "ptm", "--config", "ETMCR=0,ETMIRD=0x4111f310,ETMCCER=0",
         has=["did you mean ETMIDR?"])


@case
def missing_registers_come_with_what_may_be_left_out(tool):
    tool.write("raw", bytes(2000))
    said(tool, "packets", "raw", "--protocol", "etmv4", "--config", "TRCIDR1=1,TRCIDR8=4",
         has=["TRCIDR3 to TRCIDR7 may be left out (0)", "TRCTRACEIDR may be left out (the source's trace ID)"])
    said(tool, "packets", "raw", "--protocol", "etmv3", has=["ETMTRACEIDR may be left out"])


def many_buffers(tool):
    made = PerfFile()
    made.info(ETMV4, {0: {"TRCCONFIGR": 0x41, "TRCTRACEIDR": 0x10, "TRCIDR0": 0x28000ea1, "TRCIDR1": 0x4100f403,
                          "TRCIDR2": 0x488}})
    for n in range(200):
        made.aux(n * 16, 16, RAW, 100, 10 + n)
    made.trace((bytes(11) + b"\x80\x01\x00\x04\xf7") * 200, cpu=0)
    tool.write("many.perf.data", made.bytes())


@case
def stats_sum_up_many_buffers(tool):
    many_buffers(tool)
    short = tool.run("stats", "many.perf.data", status=None).out
    assert "200 buffers, summed up; -v lists each" in short, short
    assert "3200 bytes" in short and "200 syncs" in short, short
    assert len(short.splitlines()) < 40, short
    long = tool.run("stats", "many.perf.data", "-v", status=None).out
    equal(long.count("buffer "), 200)
    # The sums are those of the single lines.
    for name in ["A_SYNC", "ASYNC"]:
        each = [int(line.split()[1]) for line in long.splitlines() if line.split()[0] == name]
        total = [int(line.split()[1]) for line in short.splitlines() if line.split()[0] == name]
        equal(total, [sum(each)] if each else [])


@case
def progress_lines_have_one_shape(tool):
    many_buffers(tool)
    for command in ["stats", "decode", "packets"]:
        lines = tool.run(command, "many.perf.data", "--progress", "json", "-q", "-o", "out", status=None).err.splitlines()
        lines = [json.loads(line) for line in lines]
        assert len(lines) >= 2, lines
        for line in lines:
            equal(list(line), ["t", "done", "total", "seconds", "rate", "left", "end"])
            equal(line["t"], "PROGRESS")
        equal([line["end"] for line in lines], [False] * (len(lines) - 1) + [True])
        equal((lines[0]["done"], lines[0]["left"]), (0, None))


@case
def help_has_examples(tool):
    for command in COMMANDS:
        text = tool.run(command, "--help").out
        assert "\nexamples:\n  " in text, command


@case
def every_command_has_a_manual_page(tool):
    """Made of the tables that the help is made of: every option of the one is in the other."""
    (tool.folder / "pages").mkdir()
    tool.run("--manual", "pages", ROOT / "docs" / "man" / "commands")
    for command in COMMANDS:
        path = tool.folder / "pages" / f"trackway-{command}.1"
        page = path.read_text()
        help_text = tool.run(command, "--help").out
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"):
            assert f"\n.SH {section}\n" in page, (command, section)
        plain = page.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "").replace("\\fI", "")
        options = set(re.findall(r"^(?:      |  -\w, )(--[a-z-]+)", help_text, re.M))
        assert options
        equal({option for option in options if not re.search(rf"^(?:-\w, )?{option}\b", plain, re.M)}, set(), command)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-P-c", path], capture_output=True, text=True, check=False)
            equal([line for line in done.stderr.splitlines() if "adjust" not in line and "break" not in line], [], command)
    assert ".SH MORE ON OPTIONS" in (tool.folder / "pages" / "trackway-channels.1").read_text()
    assert "no such" in tool.run("--manual", "nowhere", status=3).err.lower()


def readme_table():
    """Rows of README's table of protocols, by name: the last column."""
    rows = re.findall(r"^\|[^|]*\| `(\w+)` \|.*\|([^|]*)\|$", (ROOT / "README.md").read_text(), re.M)
    return {name: last.strip() for name, last in rows}


@case
def readme_tells_what_can_be_encoded(tool):
    table = readme_table()
    equal(sorted(table), sorted(tool.run("--version").out.splitlines()[2].split()[1:]))
    tool.write("arm.log", "trackway-log 1\nisa a32\ni 0x1000 eafffffe\n")
    tool.write("riscv.log", "trackway-log 1\nisa rv64\ni 0x1000 0000006f\n")
    for name, encodes in table.items():
        words = ["encode", "riscv.log" if name.startswith(("etrace", "ntrace")) else "arm.log", "--protocol", name, "-o", f"of-{name}"]
        if encodes == "yes":
            tool.run(*words)
        else:
            said(tool, *words, status=2, has=[f'"{name}" cannot be encoded', "did you mean"])
    tool.write("a64.log", "trackway-log 1\ni 0x1000 14000000\n")
    for name in ("ptm", "etmv3"):
        said(tool, "encode", "a64.log", "--protocol", name, "-o", "x", status=3, has=["line 2: ", "A32 and T32 only", "take etmv4 or ete"])


@case
def readme_tells_which_formats_have_instructions(tool):
    sentence = re.search(r"`decode --instructions` works with `--format` ([^,]*(?:, [^,]*?)*), of perf.data files also with ([^.]*)\.",
                         (ROOT / "README.md").read_text())
    everywhere, perf = (set(re.findall(r"[a-z]+", text)) - {"and"} for text in sentence.groups())
    every = re.search(r"--format FORMAT +(\S+)", tool.run("decode", "--help").out).group(1).split("|")
    root = corpus() / "perf"
    recording = [root / "p10-walk-percpu-etmv4-v1.perf.data", "--sysroot", root / "root"]
    for words, works in (([ROOT / "tests" / "captures" / "demo"], everywhere), (recording, everywhere | perf)):
        for name in every:
            done = tool.run("decode", *words, "--instructions", "--format", name, "-q", "-o", "out", status=None)
            equal((name, done.returncode == 2), (name, name not in works))
            assert name in works or f"--format {name}" in done.err, done.err
