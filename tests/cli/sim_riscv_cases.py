# SPDX-License-Identifier: BSD-2-Clause
"""sim riscv: scripts on the components of the Trace Control Interface, and decoders of what they give."""
import json
import pathlib
import shutil

from encode_etrace_cases import PCS, TEXT, pcs
from harness import case, equal

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = {0x1000: 0x13, 0x1004: 0x50463, 0x1008: 0x13, 0x100c: 0x8000ef, 0x1010: 0x13, 0x1014: 0x8067}


def write_program(tool):
    tool.write("run.log", TEXT)
    tool.write("code.bin", b"".join(word.to_bytes(4, "little") for _, word in sorted(CODE.items())))


def script_of(sink, start, stop, features="0", control="0x01110061"):
    return f"""{sink}
component te0 encoder feeds s
{start}
trTeActive = 1
poll trTeActive == 1 timeout
trTeInstFeatures = {features}
read trTeInstFeatures
trTeInstFilters = 0
trTeDataControl = 0
trTeDataFilters = 0
trTsControl = 0
trTeTrigDbgControl = 0
trTeTrigExtInControl = 0
trTeTrigExtOutControl = 0
trTeControl = {control}
trTeEnable = 1
poll trTeEnable == 1 timeout
trTeInstTracing = 1
run
trTeEnable = 0
poll trTeEnable == 0 timeout
poll trTeEmpty == 1 timeout
{stop}
dump to dump.txt
expect misuses 0
"""


def ram(control):
    return script_of("memory 0x80000000 0x100\ncomponent s ram",
                     "trRamActive = 1\npoll trRamActive == 1\ntrRamControl = 0x11\ntrRamStartLow = 0x80000000\n"
                     "trRamStartHigh = 0\ntrRamLimitLow = 0x800000fc\ntrRamLimitHigh = 0\ntrRamWPLow = 0x80000000\n"
                     "trRamWPHigh = 0\ntrRamEnable = 1\npoll trRamEnable == 1",
                     "trRamEnable = 0\npoll trRamEnable == 0\npoll trRamEmpty == 1\nread memory\n"
                     "buffer s to trace.bin", control=control)


@case
def a_program_through_each_sink(tool):
    write_program(tool)
    image = ("--image", "code.bin@0x1000", "--format", "pcs")
    tool.write("s.txt", ram("0x01110061"))
    tool.run("sim", "riscv", "s.txt", "run.log", "--force")
    equal(pcs(tool.run("decode", "trace.bin", "--protocol", "ntrace", "--config", "dump.txt", *image)), PCS)
    for bits, mode in [(1, 8), (2, 9), (4, 10), (8, 11), (16, 12)]:
        tool.write("s.txt", script_of(
            "component s pib", "trPibActive = 1\npoll trPibActive == 1\n"
            f"trPibControl = {mode * 16 + 1}\nprobe start\ntrPibEnable = 1\npoll trPibEnable == 1",
            "trPibEnable = 0\npoll trPibEnable == 0\npoll trPibEmpty == 1\nprobe stop\npins s to trace.bin"))
        tool.run("sim", "riscv", "s.txt", "run.log", "--force")
        equal(pcs(tool.run("decode", "trace.bin", "--protocol", "ntrace", "--config", f"pib_bits={bits}", *image)),
              PCS, bits)
    tool.write("s.txt", script_of(
        "component s atb", "trAtbBridgeActive = 1\npoll trAtbBridgeActive == 1\ntrAtbBridgeID = 0x21\n"
        "trAtbBridgeEnable = 1\npoll trAtbBridgeEnable == 1",
        "trAtbBridgeEnable = 0\npoll trAtbBridgeEnable == 0\npoll trAtbBridgeEmpty == 1\nframes to trace.bin"))
    tool.run("sim", "riscv", "s.txt", "run.log", "--force")
    equal(pcs(tool.run("decode", "trace.bin", "--protocol", "ntrace", "--framing", "memory", "--config", "id=33",
                       *image)), PCS)


@case
def what_happens_to_the_hart_is_in_the_trace(tool):
    write_program(tool)
    tool.write("run.log", TEXT + "i 0x1014 00008067 taken 0x1010\ni 0x1010 00000013\n" * 9)
    tool.write("s.txt", ram("0x01110031").replace(
        "\nrun\n", "\nrun 2\nhart te0 halted\nrun 1\nhart te0 resumed\nrun 1\nhart te0 asleep\nrun 1\n"
        "hart te0 awake\nrun 1\nhart te0 reset\nrun 1\nhart te0 released\nrun 1\ntrigger te0 notify\nrun 2\n"))
    tool.run("sim", "riscv", "s.txt", "run.log", "--force")
    lines = [json.loads(line) for line in
             tool.run("packets", "trace.bin", "--protocol", "ntrace", "--config", "dump.txt", "--format",
                      "jsonl").out.splitlines()]
    equal([line["sync"] for line in lines if "sync" in line][:4], [5, 3, 9, 1])
    equal([line["evcode"] for line in lines if "evcode" in line][:2], [0, 1])
    assert 6 in [line.get("sync") for line in lines], lines


@case
def the_example_of_a_ram_sink(tool):
    write_program(tool)
    shutil.copy(ROOT / "examples" / "riscv-ram.sim", tool.folder)
    done = tool.run("sim", "riscv", "riscv-ram.sim", "run.log", "--format", "jsonl")
    lines = [json.loads(line) for line in done.out.splitlines()]
    equal([line["n"] for line in lines if line["t"] == "RAN"], [len(PCS)])
    done = tool.run("decode", "riscv-ram.bin", "--protocol", "ntrace", "--config", "riscv-ram.txt", "--image",
                    "code.bin@0x1000", "--format", "pcs")
    equal(pcs(done), PCS)


@case
def rules_of_the_interface_are_held(tool):
    write_program(tool)
    tool.write("s.txt", ram("0x01110061").replace("trRamEnable = 1\n", "").replace("poll trRamEnable == 1\n", ""))
    done = tool.run("sim", "riscv", "s.txt", "run.log", "--format", "jsonl", status=1)
    events = [json.loads(line) for line in done.out.splitlines() if '"MISUSE"' in line]
    equal(events[0]["rule"], "TC3")
    assert "the interface was misused" in done.err, done.err
    tool.write("s.txt", "frob\n")
    assert 'line 1: "frob" is no command and no register' in tool.run("sim", "riscv", "s.txt", status=3).err


@case
def lines_and_objects_say_the_same(tool):
    """What a component holds and counts, and what happens to it, as text and as JSON."""
    write_program(tool)
    tool.write("s.txt", ram("0x01110061").replace("trRamLimitLow = 0x800000fc", "trRamLimitLow = 0x80000000") + "show s\nshow te0\n")
    text = tool.run("sim", "riscv", "s.txt", "run.log", "--force", status=None).out
    lines = [json.loads(line) for line in
             tool.run("sim", "riscv", "s.txt", "run.log", "--force", "--format", "jsonl", status=None).out.splitlines()]
    events = [line for line in lines if line["t"] == "EVENT" and "component" in line]
    assert any(event["name"] == "WRAP" for event in events), lines
    for event in events:
        assert f"event {event['name']} of {event['component']} at {event['now']}" in text, event
    counts = {line["component"]: line for line in lines if line["t"] == "COUNTS"}
    equal(sorted(counts), ["s", "te0"])
    for name, line in counts.items():
        assert f"{name}: {line['messages']} messages, {line['bytes']} bytes, {line['lost']} bytes dropped" in text, text
