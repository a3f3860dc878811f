# SPDX-License-Identifier: BSD-2-Clause
"""check-sequence and sim, run as a user does."""
import json
import shutil

from harness import ROOT, case, equal

SEQUENCES = ROOT / "tests" / "sequences"


@case
def sequences_of_the_architecture_are_clean(tool):
    for path in sorted(SEQUENCES.glob("*.seq")):
        if path.stem == "enable-printed":
            continue
        done = tool.run("check-sequence", path)
        equal((done.out, done.err), ("", ""), path.name)


# [K10.5.7.1.1]
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


# [K10.5.7.1.3/I_DHQGM]
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


# [K10.5.11/1] [K10.5.11/3]
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


LOGS = ROOT / "tests" / "captures" / "logs"
BUFFER = """memory 0x10000 0x{size:x}
preset minimal
TRCSYNCPR = 8
TRFCR_EL1 = 0
isb
TRBBASER = 0x10000
TRBPTR = 0x10000
TRBSR = 0
TRBLIMITR.LIMIT = 0x{limit:x}
TRBLIMITR.FM = {mode}
TRBLIMITR.TM = ignore
TRBLIMITR.E = 1
isb
TRCPRGCTLR = 1
TRFCR_EL1 = 1
eret EL0
run {run}
exception EL1
TRFCR_EL1 = 0
isb
tsb
isb
dsb
TRCPRGCTLR = 0
isb
TRBLIMITR.E = 0
isb
capture snap 0x10000 align 16
"""


def pcs(tool, folder):
    lines = tool.run("decode", folder, "--format", "pcs").out.split()
    return [int(line, 16) for line in lines if not line.startswith("#")]


# [K10.5.11/1] [K10.5.11/3]
@case
def both_watermark_recipes_trace_a_program(tool):
    log = LOGS / "a64-coro.exlog.gz"
    tool.run("encode", log, "--protocol", "ete", "--preset", "minimal", "-o", "whole")
    whole = pcs(tool, "whole")
    for name, ran in [("wrap", 26234), ("trigger", 85610)]:
        shutil.copy(ROOT / "examples" / f"watermark-{name}.sim", tool.folder)
        done = tool.run("sim", "trbe", f"watermark-{name}.sim", log, "--format", "jsonl")
        lines = [json.loads(line) for line in done.out.splitlines()]
        equal(sum(line["n"] for line in lines if line["t"] == "RAN"), ran)
        got = pcs(tool, f"watermark-{name}.snap")
        assert ran - 32 < len(got) <= ran, (name, len(got))
        equal(got, whole[:len(got)], name)


# [D6.1/8]
@case
def a_program_through_the_buffer_in_each_mode(tool):
    log = LOGS / "a64-coro.exlog.gz"
    tool.run("encode", log, "--protocol", "ete", "--preset", "minimal", "-o", "whole")
    whole = pcs(tool, "whole")
    for mode in ["fill", "wrap", "circular"]:
        for pages in [1, 2, 8]:
            tool.write("s.txt", BUFFER.format(size=pages << 12, limit=16 + pages, mode=mode, run="all"))
            tool.run("sim", "trbe", "s.txt", log, "--force")
            trace = (tool.folder / "snap" / "trace.bin").read_bytes()
            equal(len(trace) % 16, 0)
            got = pcs(tool, "snap")
            if pages == 8:  # all of it fits
                equal(got, whole, mode)
            elif mode == "fill":
                assert len(got) > 1000
                equal(got, whole[:len(got)], mode)
            else:
                assert len(got) > 1000
                equal(got, whole[-len(got):], mode)


def instructions_by_level(tool, folder):
    """How many instructions a capture shows at each Exception level."""
    level, counts = None, {}
    for line in tool.run("decode", folder, "--format", "jsonl").out.splitlines():
        line = json.loads(line)
        if line["t"] == "PE_CONTEXT":
            level = line["el"]
        if line["t"] == "INSTR_RANGE":
            counts[level] = counts.get(level, 0) + line["n"]
    return counts


# [D6.1/6]
@case
def exception_levels_of_a_log(tool):
    script = ("config features=el2,el3,secure\nmemory 0x10000 0x40000\nunit ete\nTRCVICTLR = 0x201\n"
              "TRCCONFIGR = 0xc1\nTRFCR_EL1 = {el1}\nTRFCR_EL2 = {el2}\nMDCR_EL2.E2TB = {owner}\nisb\nTRBBASER = 0x10000\n"
              "TRBPTR = 0x10000\nTRBLIMITR = 0x5001f\nisb\nTRCPRGCTLR = 1\nrun\n"
              "TRCPRGCTLR = 0\nexpect discarded 0\ncapture snap 0x10000\n")
    tool.run("encode", LOGS / "sys-el.exlog.gz", "--protocol", "ete", "-o", "whole")
    whole = instructions_by_level(tool, "whole")
    equal(set(whole), {0, 1, 2, 3})
    # The last two: EL2 owns the buffer (MDCR_EL2.E2TB 0); else EL1, and EL2 is prohibited.
    for el1, el2, owner, levels in [(1, 0, 3, [0]), (2, 0, 3, [1]), (3, 2, 3, [0, 1]),
                                    (0, 2, 0, [2]), (3, 2, 0, [0, 1, 2])]:
        tool.write("s.txt", script.format(el1=el1, el2=el2, owner=owner))
        tool.run("sim", "trbe", "s.txt", LOGS / "sys-el.exlog.gz", "--force")
        equal(instructions_by_level(tool, "snap"), {el: whole[el] for el in levels})


# A program in Non-secure state, whose monitor calls lead through Root into a Realm and back.
WORLDS = """trackway-log 1
context el=1 security=nonsecure
i 0x1000 14000001
i 0x1004 d4000003
exception call return=0x1008
context el=3 security=root
i 0x4000 14000001
i 0x4004 14000001
i 0x4008 d69f03e0 taken 0x2000
context el=2 security=realm
i 0x2000 14000001
i 0x2004 14000001
i 0x2008 14000001
i 0x200c d69f03e0 taken 0x3000
context el=1 security=realm
i 0x3000 14000001
i 0x3004 14000001
i 0x3008 14000001
i 0x300c 14000001
i 0x3010 d69f03e0 taken 0x5000
context el=0 security=realm
i 0x5000 14000001
i 0x5004 14000001
i 0x5008 14000001
i 0x500c 14000001
i 0x5010 14000001
i 0x5014 d4000001
exception call return=0x5018
context el=1 security=realm
i 0x3014 d4000003
exception call return=0x3018
context el=3 security=root
i 0x4010 d69f03e0 taken 0x1008
context el=1 security=nonsecure
i 0x1008 14000001
i 0x100c 14000001
"""
WORLD_COUNTS = {"N1": 4, "Root3": 4, "Realm2": 4, "Realm1": 6, "Realm0": 6}


def instructions_by_world(tool, folder):
    """How many instructions a capture shows in each Security state, at each Exception level."""
    world, counts = None, {}
    for line in tool.run("decode", folder).out.splitlines():
        words = line.split()
        if words[2] == "PE_CONTEXT":
            world = words[4][3:] + words[4][2]
        if words[2] == "INSTR_RANGE":
            counts[world] = counts.get(world, 0) + int(words[4][2:])
    return counts


# [D6.6.2/I_GFJWK]
@case
def realm_and_root_are_prohibited_as_they_should_be(tool):
    script = ("config features=el2,el3,secure,sel2,rme\nmemory 0x10000 0x40000\nunit ete\nTRCVICTLR = {view}\n"
              "TRCCONFIGR = 0xc1\nTRFCR_EL1 = {el1}\nTRFCR_EL2 = {el2}\nMDCR_EL2.E2TB = {owner}\n"
              "SCR_EL3.NS = 1\nSCR_EL3.NSE = {realm}\nMDCR_EL3.NSTB = 3\nMDCR_EL3.NSTBE = {realm}\nMDCR_EL3.RLTE = {allowed}\n"
              "MDCR_EL3.STE = 1\nisb\nTRBBASER = 0x10000\nTRBPTR = 0x10000\nTRBLIMITR = 0x5001f\nisb\nTRCPRGCTLR = 1\n"
              "run\nTRCPRGCTLR = 0\nexpect discarded 0\nexpect misuses 0\ncapture snap 0x10000\n")
    every = dict(view=0x201, el1=3, el2=2, owner=0, realm=1, allowed=1)
    tool.write("worlds.log", WORLDS)
    tool.run("encode", "worlds.log", "--protocol", "ete", "-o", "whole")
    equal(instructions_by_world(tool, "whole"), WORLD_COUNTS)
    for keys, worlds in [({}, ["Realm0", "Realm1", "Realm2"]),
                         (dict(allowed=0), []),                         # MDCR_EL3.RLTE
                         (dict(realm=0), ["N1"]),                       # the buffer is Non-secure state's ...
                         (dict(realm=0, allowed=0), ["N1"]),            # ... which RLTE says nothing about
                         (dict(owner=3), ["Realm0", "Realm1"]),         # and here Realm EL1's
                         (dict(el1=2), ["Realm1", "Realm2"]),           # TRFCR_EL1.E0TRE
                         (dict(el1=1, el2=0), ["Realm0"]),              # E1TRE, TRFCR_EL2.E2TRE
                         (dict(view=0x02000201), ["Realm0", "Realm2"]),  # EXLEVEL_RL_EL1
                         (dict(view=0x02200201), ["Realm0", "Realm1", "Realm2"]),  # with EXLEVEL_NS_EL1: turned round
                         (dict(view=0x00200201), ["Realm0", "Realm2"])]:
        tool.write("s.txt", script.format(**dict(every, **keys)))
        tool.run("sim", "trbe", "s.txt", "worlds.log", "--force")
        equal(instructions_by_world(tool, "snap") if worlds else {}, {name: WORLD_COUNTS[name] for name in worlds}, keys)
        if not worlds:
            equal([p.stat().st_size for p in (tool.folder / "snap").glob("*.bin") if "code" not in p.name], [0], keys)


@case
def captures_are_not_written_over(tool):
    tool.write("run.log", "trackway-log 1\ni 0x1000 14000001\n")
    tool.write("s.txt", "preset minimal\nTRCPRGCTLR = 1\nlog run.log\nrun\ncapture snap 0\n")
    tool.run("sim", "trbe", "s.txt")
    done = tool.run("sim", "trbe", "s.txt", status=3)
    assert "snap" in done.err and "exists" in done.err, done.err
    tool.run("sim", "trbe", "s.txt", "--force")
    done = tool.run("sim", "trbe", "s.txt", "s.txt", status=3)
    tool.write("bad.log", "trackway-log 2\n")
    assert "bad.log: no execution log" in tool.run("sim", "trbe", "s.txt", "bad.log", status=3).err


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
