# SPDX-License-Identifier: BSD-2-Clause
"""check-sequence and sim, run as a user does."""
import json

from harness import ROOT, case, equal

SEQUENCES = ROOT / "tests" / "sequences"


@case
def sequences_of_the_architecture_are_clean(tool):
    for path in sorted(SEQUENCES.glob("*.seq")):
        if path.stem == "enable-printed":
            continue
        done = tool.run("check-sequence", path)
        equal((done.out, done.err), ("", ""), path.name)


@case
def the_printed_enable_loop_has_one_finding(tool):
    path = SEQUENCES / "enable-printed.seq"
    text = tool.run("check-sequence", path, status=1).out
    assert text.startswith(f"{path}:11: EN4: the loop waits for TRCSTATR.PMSTABLE"), text
    assert "    fix: test bit 0 of TRCSTATR" in text, text
    line, = tool.run("check-sequence", path, "--format", "jsonl", status=1).out.splitlines()
    finding = json.loads(line)
    equal((finding["line"], finding["rule"], finding["also"]), (11, "EN4", []))
    equal(finding["file"], str(path))


@case
def findings_name_line_cause_and_other_rules(tool):
    tool.write("bad.s", "mrs x0, TRFCR_EL1\nbic x0, x0, #3\nmsr TRFCR_EL1, x0\ntsb csync\n")
    line, = tool.run("check-sequence", "bad.s", "--format", "jsonl", status=1).out.splitlines()
    finding = json.loads(line)
    equal((finding["line"], finding["rule"], finding["cause"]), (4, "TS6", 3))
    equal(finding["also"], ["TS7", "TS8"])
    equal(set(finding), {"file", "line", "rule", "also", "cause", "what", "hazard", "fix"})


@case
def several_files_and_no_trace_in_one(tool):
    tool.write("a.s", "mrs x0, TRBPTR_EL1\n")
    tool.write("b.s", "add x0, x0, #1\n")
    done = tool.run("check-sequence", "a.s", "b.s", status=1)
    assert done.out.startswith("a.s:1: TS3: "), done.out
    equal(tool.run("check-sequence", "b.s").err, "")
    tool.write("c.s", "ret\n")
    assert "nothing in its 1 lines has to do with trace" in tool.run("check-sequence", "c.s").err
    tool.run("check-sequence", "gone.s", status=3)
    tool.run("check-sequence", status=2)


@case
def strict_reports_loops_without_a_bound(tool):
    path = SEQUENCES / "disable.seq"
    assert ": POLL: " in tool.run("check-sequence", path, "--strict", status=1).out


@case
def rules_are_explained(tool):
    text = tool.run("check-sequence", "--explain", "ts5").out
    assert text.startswith("TS5: ") and "R_JPPZZ" in text, text
    rules = [json.loads(line)["rule"] for line in
             tool.run("check-sequence", "--explain", "all", "--format", "jsonl").out.splitlines()]
    equal(rules[:19], [f"TS{n}" for n in range(1, 20)])
    assert 'no rule "TS20"' in tool.run("check-sequence", "--explain", "TS20", status=2).err


@case
def both_watermark_recipes(tool):
    for method, level, pointer in [("wrap", 0x600, 0x10000), ("trigger", 0x1800, 0x11800)]:
        tool.write("s.txt", f"memory 0x10000 0x2000\nwatermark {method} 0x10000 0x12000 {level}\n"
                            f"fill {level - 1}\nexpect irq 0\nfill 1\nexpect irq 1\n"
                            f"expect running 1\nexpect TRBPTR {pointer}\n")
        lines = [json.loads(line) for line in
                 tool.run("sim", "trbe", "s.txt", "--format", "jsonl").out.splitlines()]
        irq, = [line for line in lines if line.get("name") == "TRBIRQ"]
        equal((irq["line"], irq["accepted"]), (5, level))


@case
def trace_from_a_file_and_drained_to_one(tool):
    trace = bytes(range(256)) * 20
    tool.write("trace.bin", trace)
    tool.write("s.txt", "memory 0x10000 0x1000\nTRBBASER = 0x10000\nTRBPTR = 0x10000\nisb\n"
                        "TRBLIMITR = 0x11007\nisb\nsource all\ndrain 0x10000 to out.bin\n")
    out = tool.run("sim", "trbe", "s.txt", "trace.bin").out
    assert "drained 4096 bytes to out.bin" in out, out
    equal((tool.folder / "out.bin").read_bytes(), trace[-4096:])


@case
def scripts_that_fail(tool):
    tool.write("s.txt", "isb\nexpect TRBTRG 5\n")
    done = tool.run("sim", "trbe", "s.txt", status=1)
    equal(done.out, "2: failed: TRBTRG is 0x0, expected 0x5\n")
    assert "1 of 1 expectations failed" in done.err, done.err
    tool.write("s.txt", "isb\n\nfrob\n")
    equal(tool.run("sim", "trbe", "s.txt", status=3).err,
          'trackway: s.txt: line 3: "frob" is no command and no register\n')
    assert 'no model "etr"' in tool.run("sim", "etr", "s.txt", status=2).err
    tool.run("sim", "trbe", status=2)
