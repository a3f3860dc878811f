# SPDX-License-Identifier: BSD-2-Clause
"""Execution logs through the models of trace units, and back."""
import gzip
import json
import re
import shutil
import subprocess
import sys

from exec_log import CALL_LOOP_INTERRUPT
from harness import ROOT, Skip, case, corpus, equal, some

PCS = [0x1000, 0x2000, 0x2004, 0x2000, 0x2004, 0x2008, 0x1004, 0x3000, 0x1008]


def pcs(done):
    return [int(line, 16) for line in done.out.split() if not line.startswith("#")]


@case
def a_text_log_comes_back(tool):
    tool.write("run.log", CALL_LOOP_INTERRUPT)
    for protocol in ["ete", "etmv4"]:
        for more in [(), ("--framing", "memory"), ("--config", "TRCCONFIGR=0x1"),
                     ("--config", "TRCCONFIGR=0x19,TRCCCCTLR=4"), ("--unit", "source-addresses=1")]:
            tool.run("encode", "run.log", "--protocol", protocol, "-o", "snap", "--force", *more)
            equal(pcs(tool.run("decode", "snap", "--format", "pcs")), PCS, (protocol, more))


@case
def a_compressed_log_is_the_same(tool):
    tool.write("run.log", CALL_LOOP_INTERRUPT)
    tool.write("run.log.gz", gzip.compress(CALL_LOOP_INTERRUPT.encode()))
    tool.run("encode", "run.log", "--protocol", "ete", "-o", "plain")
    tool.run("encode", "run.log.gz", "--protocol", "ete", "-o", "packed")
    equal((tool.folder / "plain" / "trace.bin").read_bytes(),
          (tool.folder / "packed" / "trace.bin").read_bytes())
    tool.write("cut.gz", gzip.compress(CALL_LOOP_INTERRUPT.encode())[:-20])
    assert "damaged" in tool.run("encode", "cut.gz", "--protocol", "ete", "-o", "no", status=3).err


# [K10.5.7.2/I_PDMBT] [K10.5.7.4] [K10.5.7.5]
@case
def presets_filter(tool):
    tool.write("run.log", CALL_LOOP_INTERRUPT)
    tool.run("encode", "run.log", "--protocol", "ete", "-o", "all", "--preset", "minimal")
    equal(pcs(tool.run("decode", "all", "--format", "pcs")), [pc for pc in PCS if pc != 0x3000])
    for preset in ["exclude", "include"]:
        tool.run("encode", "run.log", "--protocol", "ete", "-o", preset, "--preset", preset,
                 "--range", "0x2000-0x200c")
    inside = [pc for pc in PCS if pc >> 12 == 2]
    equal(pcs(tool.run("decode", "include", "--format", "pcs")), inside)
    equal(pcs(tool.run("decode", "exclude", "--format", "pcs")),
          [pc for pc in PCS if pc >> 12 == 1])


@case
def what_is_wrong_is_told(tool):
    tool.write("run.log", CALL_LOOP_INTERRUPT)
    tool.write("bad.log", "trackway-log 1\ni 0x1000 14000400\nfrobnicate\n")
    tool.write("no.log", "hello\n")
    tool.write("certain.log", "trackway-log 1\ni 0x1000 14000001\n\ncancel 1\n")
    tool.write("bad.regs", "# registers\nTRCCONFIGR=0x1\nTRCVICTLR 0x201\n")
    tool.write("long.regs", "TRCCONFIGR=0x1\n# " + "x" * 600 + " TRCVICTLR=0\n")
    for words, status, said in [
            (["run.log", "--protocol", "ete", "-o", "x", "--config", "bad.regs"], 3,
             'bad.regs, line 3: "TRCVICTLR 0x201" is not NAME=VALUE'),
            (["run.log", "--protocol", "ete", "-o", "x", "--config", "long.regs"], 3, "long.regs, line 2: it is too long"),
            (["run.log", "-o", "x"], 2, "which protocol? give --protocol"),
            (["run.log", "--protocol", "et", "-o", "x"], 2, 'did you mean "ete"?'),
            (["run.log", "--protocol", "ete"], 2, "where to? give --output FOLDER"),
            (["run.log", "--protocol", "ete", "-o", "x", "--preset", "include"], 2,
             "--preset include wants --range"),
            (["run.log", "--protocol", "ete", "-o", "x", "--framing", "tpiu"], 2,
             "a snapshot holds none or memory"),
            (["run.log", "--protocol", "ete", "-o", "x", "--config", "TRCFOO=1"], 3,
             "there is no register TRCFOO"),
            (["run.log", "--protocol", "ete", "-o", "x", "--config", "TRCSYNCPR=3"], 3,
             "TRCSYNCPR is 3"),
            (["run.log", "--protocol", "ete", "-o", "x", "--unit", "speed=3"], 3,
             "--unit: speed is none of"),
            (["gone.log", "--protocol", "ete", "-o", "x"], 3, "gone.log"),
            (["bad.log", "--protocol", "ete", "-o", "x"], 3,
             'bad.log: log, line 3: "frobnicate" is no statement'),
            (["no.log", "--protocol", "ete", "-o", "x"], 3, "no.log: no execution log"),
            (["certain.log", "--protocol", "ete", "-o", "x"], 3,
             "certain.log: line 4: cancels instructions that are certain already"),
            (["run.log", "--protocol", "ete", "-o", "x", "--elf", "nowhere.elf"], 3, "nowhere.elf"),
    ]:
        done = tool.run("encode", *words, status=status)
        equal(done.out, "")
        assert said in done.err, done.err
        equal(done.err.count("\n"), 1, done.err)
    assert not (tool.folder / "x").exists()


@case
def programs_of_the_corpus_come_back(tool):
    folder = corpus() / "exec"
    for name, protocol, more in some([("sys-el", "ete", ("--framing", "memory")), ("a32-recur", "etmv4", ()),
                                      ("a64-recur", "ete", ()), ("a64-signals", "etmv4", ())], 4):
        log = folder / "logs" / f"{name}.exlog.gz"
        want = subprocess.run([sys.executable, folder / "tools" / "exlog.py", "pcs", log],
                              stdout=subprocess.PIPE, check=True).stdout.split()
        tool.run("encode", log, "--protocol", protocol, "--elf", folder / "logs" / f"{name}.elf",
                 "-o", name, *more)
        got = tool.run("decode", name, "--format", "pcs").out.split()
        want = [int(word, 16) for word in want]
        got = [int(word, 16) for word in got]
        assert len(want) - len(got) < 32, (name, len(want), len(got))
        equal(got, want[:len(got)], name)


@case
def a_peer_reads_the_snapshots(tool):
    """OpenCSD's own program, where it is installed, finds the same ranges in them."""
    lister = shutil.which("trc_pkt_lister")
    if not lister:
        raise Skip("no trc_pkt_lister")
    logs = ROOT / "tests" / "captures" / "logs"
    for name, protocol, more in [("a64-coro", "ete", ("--framing", "memory")),
                                 ("a64-coro", "ete", ("--preset", "minimal")),
                                 ("sys-el", "etmv4", ()),
                                 ("mix-indirect", "etmv4", ("--framing", "memory"))]:
        tool.run("encode", logs / f"{name}.exlog.gz", "--protocol", protocol, "-o", "snap", "--force",
                 *more)
        (tool.folder / "list.ppl").unlink(missing_ok=True)  # else it writes behind what is there
        subprocess.run([lister, "-ss_dir", "snap", "-decode", "-logfilename", "list.ppl"],
                       cwd=tool.folder, stdout=subprocess.DEVNULL, check=True)
        peer = [(int(first, 16), int(end, 16)) for first, end in re.findall(
            r"ELEM_INSTR_RANGE\(exec range=(0x[0-9a-f]+):\[(0x[0-9a-f]+)\]",
            (tool.folder / "list.ppl").read_text())]
        ours = [json.loads(line) for line in tool.run(
            "decode", "snap", "--format", "jsonl").out.splitlines()]
        ours = [(int(line["st"], 16), int(line["en"], 16)) for line in ours
                if line["t"] == "INSTR_RANGE"]
        assert len(ours) > 1000
        equal(peer, ours, (name, protocol, more))


# [K10.5.9/25]
@case
def tsb_csync_asks_for_the_time(tool):
    """As ISB does, of an ETE; an ETMv4 knows nothing of it."""
    for protocol, opcode, want in [("ete", "d5033fdf", 2), ("ete", "d503225f", 2), ("ete", "d503201f", 1),
                                   ("etmv4", "d503225f", 1)]:
        for config in ["TRCCONFIGR=0x801", "TRCCONFIGR=0x809"]:  # the second: branch broadcast, the slow path
            tool.write("t.log", "trackway-log 1\ncontext el=0\ntime 0x1000\n" + "i 0x1000 14000000\n" * 2
                       + f"i 0x1000 54000000\ni 0x1004 {opcode}\n" + "i 0x1008 14000000\n" * 3)
            tool.run("encode", "--protocol", protocol, "t.log", "--config", config, "-o", "t", "--force")
            equal(tool.run("packets", "t").out.count("I_TIMESTAMP"), want, (protocol, opcode, config))


@case
def a_flush_changes_no_path(tool):
    """What a unit holds back is sent where the log says so: more packets, the same instructions."""
    steps = ["i 0x100 e1a00000", *["i 0x104 1afffffe taken"] * 3, "i 0x104 1afffffe", "i 0x108 eafffffc taken"] * 4
    for protocol in ("ptm", "etmv3"):
        listed = []
        for name, lines in (("plain", steps), ("flushed", [line for step in steps for line in (step, "flush")])):
            tool.write(f"{name}.log", "\n".join(["trackway-log 1", "isa a32", *lines, ""]))
            tool.run("encode", f"{name}.log", "--protocol", protocol, "-o", name, "--force")
            listed.append((tool.run("decode", name, "--format", "pcs").out, len(tool.run("packets", name).out.splitlines())))
        equal(listed[0][0], listed[1][0], protocol)
        equal(len(listed[0][0].splitlines()), len(steps))
        assert listed[0][1] < listed[1][1], (protocol, listed)
