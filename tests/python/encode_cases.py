# SPDX-License-Identifier: BSD-2-Clause
"""Trace units of all protocols: what they make of a log is decoded to the path that the log tells, and is what the
program makes of it."""
import os
import threading

import numpy
import trackway
from captures import DEMO
from exec_log import CALL_LOOP_INTERRUPT, executed
from harness import Skip, case, corpus, equal
from program_cases import refused

A32 = """trackway-log 1
isa a32
i 0x1000 e1a00000
i 0x1004 eb000001           # bl 0x1010
i 0x1010 e12fff1e taken 0x1008
i 0x1008 e1a00000
"""
M = """trackway-log 1
profile m
cpu cortex-m4
i 0x1000 bf00
exception systick return=0x1002
context mode=handler
stimulus 0 0x68 bits=8
i 0x2000 4770 eret 0x1002
i 0x1002 bf00
"""
RV = """trackway-log 1
isa rv64
i 0x1000 00000013
i 0x1004 00050463 taken     # beqz a0, 0x100c
i 0x100c 008000ef           # jal ra, 0x1014
i 0x1014 00008067 taken 0x1010
i 0x1010 00000013
"""
OWN = {"ete": CALL_LOOP_INTERRUPT, "etmv4": CALL_LOOP_INTERRUPT, "ptm": A32, "etmv3": A32, "etrace": RV, "ntrace": RV}


def addresses(text):
    return [int(line.split()[1], 16) for line in text.splitlines() if line.startswith("i ")]


def executed_of(capture):
    """Start, length and count of each range, in order."""
    elements = capture.elements()
    assert not (elements["type"] == trackway.ERROR).any()
    ranges = elements[elements["type"] == trackway.INSTR_RANGE]
    return ranges["start"], ranges["length"].astype("u8"), ranges["count"].astype("i8")


def path_of(capture, known):
    """The address of each instruction that a capture shows; `known` are all that there are, in order."""
    start, length, count = executed_of(capture)
    first = numpy.searchsorted(known, start)
    equal((numpy.searchsorted(known, start + length) - first == count).all(), True, "instructions in ranges")
    steps = numpy.arange(count.sum()) - numpy.repeat(numpy.cumsum(count) - count, count)
    return known[numpy.repeat(first, count) + steps]


def comes_back(made, capture, path, what):
    want = numpy.array(path, dtype="u8")
    equal(made["instructions"], len(want), what)
    got = path_of(capture, numpy.unique(want))
    equal(len(got), len(want), what)
    equal(bool((got == want).all()), True, what)


@case
def every_protocol_makes_trace_that_comes_back(tool):
    equal(sorted(trackway.protocols()), sorted([*OWN, "itm", "stm"]))
    for protocol, text in OWN.items():
        for framed in (False, True):
            folder = tool.folder / f"own-{protocol}-{framed}"
            made = trackway.encode(text.encode(), protocol, output=folder, framed=framed)
            with trackway.open(folder) as capture:
                equal(capture.sources[0]["protocol"], protocol)
                equal(capture.sources[0]["core_type"], made["core_type"])
                equal(capture.buffers[0]["framing"], "memory" if framed else "none")
                comes_back(made, capture, addresses(text), (protocol, framed))


@case
def software_trace_is_made_of_logs(tool):
    for protocol in ("itm", "stm"):
        folder = tool.folder / f"own-{protocol}"
        made = trackway.encode(M.encode(), protocol, output=folder)
        assert made["data"] and made["registers"]
        with trackway.open(folder) as capture:
            elements = capture.elements()
            assert (elements["itm_value" if protocol == "itm" else "payload"] == 0x68).any(), protocol


@case
def raw_bytes_need_what_finish_says(tool):
    """data, id, registers and parameters are all that a decoder of raw bytes wants."""
    for protocol, text in OWN.items():
        made = trackway.encode(text.encode(), protocol)
        folder = tool.folder / f"code-{protocol}"
        trackway.encode(text.encode(), protocol, output=folder)
        code = sorted(folder.glob("code_*.bin"))
        images = [(path, int(path.stem[5:], 16)) for path in code]
        text_of = made["parameters"] or "".join(f"{name}={value:#x}\n" for name, value in made["registers"].items())
        config = tool.write(f"{protocol}.conf", text_of)
        path = tool.write(f"{protocol}.bin", made["data"])
        with trackway.open(path, framing="none", core_type=made["core_type"], images=images,
                           sources=[(0, protocol, config)]) as capture:
            comes_back(made, capture, addresses(text), protocol)


@case
def logs_of_programs_come_back(tool):
    """Real programs (corpus/exec), through every unit that traces their processor."""
    folder = corpus() / "exec" / "logs"
    logs = sorted((path for path in folder.glob("*.exlog.gz") if "-big" not in path.name),
                  key=lambda path: path.stat().st_size)
    if not logs:
        raise Skip("no logs in the corpus")
    units = {"a64": ("ete", "etmv4"), "a32": ("ptm", "etmv3"), "t32": ("ptm", "etmv3"), "rv64": ("etrace", "ntrace")}
    seen = set()
    for log in logs if os.environ.get("TW_TEST_FULL") else logs[:8]:
        name = log.name.split(".")[0]
        path = None
        for protocol in units.get(name.split("-")[0], ()):
            if path is None:
                path = executed(log)
            image = trackway.Image()
            image.add(folder / f"{name}.elf")
            out = tool.folder / f"{name}-{protocol}"
            made = trackway.encode(log, protocol, image=image, output=out)
            with trackway.open(out) as capture:
                comes_back(made, capture, path, (name, protocol))
            seen.add(protocol)
    equal(seen, set(OWN))


@case
def the_program_makes_the_same(tool):
    """The same snapshot, to the byte, as trackway encode, with settings of all kinds."""
    for number, (protocol, text, words, options) in enumerate([
            ("ete", CALL_LOOP_INTERRUPT, ["--config", "TRCCONFIGR=0x19,TRCCCCTLR=4", "--unit", "source-addresses=1"],
             {"registers": {"TRCCONFIGR": 0x19, "TRCCCCTLR": 4}, "choices": {"source-addresses": 1}}),
            ("ete", CALL_LOOP_INTERRUPT, ["--preset", "include", "--range", "0x2000-0x200c"],
             {"preset": "include", "range": (0x2000, 0x200b)}),
            ("etmv4", M, [], {}),
            ("ptm", A32, ["--config", "ETMCR=0x20001000", "--unit", "sync=16"],
             {"registers": {"ETMCR": 0x20001000}, "choices": {"sync": 16}}),
            ("etmv3", M, [], {}),
            ("itm", M, ["--unit", "sample=2"], {"choices": {"sample": 2}}),
            ("stm", M, ["--config", "STMTSFREQR=1000"], {"registers": {"STMTSFREQR": 1000}}),
            ("etrace", RV, ["--preset", "siemens"], {"preset": "siemens"}),
            ("ntrace", RV, ["--config", "mode=btm", "--unit", "trTeInstSyncMode=1"],
             {"parameters": "mode=btm", "choices": {"trTeInstSyncMode": 1}})]):
        log = tool.write("run.log", text)
        tool.run("encode", log, "--protocol", protocol, "-o", f"theirs{number}", *words)
        trackway.encode(log, protocol, output=tool.folder / f"ours{number}", **options)
        theirs = {path.name: path.read_bytes() for path in (tool.folder / f"theirs{number}").iterdir()}
        ours = {path.name: path.read_bytes() for path in (tool.folder / f"ours{number}").iterdir()}
        equal(sorted(ours), sorted(theirs), protocol)
        for name, data in theirs.items():
            equal(ours[name], data, (protocol, name))


@case
def units_go_on_from_log_to_log(tool):
    unit = trackway.Unit("etmv4")
    refused(unit.finish, trackway.Error)
    text = CALL_LOOP_INTERRUPT.replace("i 0x1008 14000000", "i 0x1008 17fffffe")  # to the first instruction
    unit.log(text.encode())
    unit.log(bytearray(text.encode()))
    unit.save(tool.folder / "twice", description="twice")
    with trackway.open(tool.folder / "twice") as capture:
        comes_back(unit.finish(), capture, 2 * addresses(CALL_LOOP_INTERRUPT), "twice")
    refused(lambda: unit.log(CALL_LOOP_INTERRUPT.encode()), trackway.Error)
    refused(lambda: unit.save(tool.folder / "twice"), trackway.Error)
    unit.save(tool.folder / "twice", overwrite=True)


@case
def wrong_units_are_refused(tool):
    refused(lambda: trackway.Unit("none"), ValueError)
    refused(lambda: trackway.Unit("ptm", preset="minimal"), ValueError)
    refused(lambda: trackway.Unit("ptm", image=3), TypeError)
    refused(lambda: trackway.Unit("ptm", registers=[1]), TypeError)
    refused(lambda: trackway.Unit("ptm", registers={1: 1}), TypeError)
    refused(lambda: trackway.Unit("ptm", choices={"sync": "x"}), TypeError)
    refused(lambda: trackway.Unit("ptm", choices={"sync": -1}), OverflowError)
    refused(lambda: trackway.Unit("ptm").log(3), TypeError)
    refused(lambda: trackway.Unit("ptm").log(tool.folder / "nothing"), trackway.Error)
    refused(lambda: trackway.Unit.__new__(trackway.Unit).log(b""), ValueError)
    refused(lambda: trackway.encode(CALL_LOOP_INTERRUPT.encode(), "etrace"), trackway.Error)
    for options in ({"registers": {"NONESUCH": 1}}, {"choices": {"none": 1}}):
        try:
            trackway.encode(CALL_LOOP_INTERRUPT.encode(), "ete", **options)
            raise AssertionError("was taken")
        except trackway.Error as error:
            assert list(*options.values())[0] in str(error), error
    unit = trackway.Unit("ptm")
    refused(lambda: unit.log(CALL_LOOP_INTERRUPT.encode()), trackway.Error)
    refused(unit.finish, trackway.Error)  # it has failed
    refused(lambda: unit.__init__("ptm"), RuntimeError)


@case
def units_of_one_image_work_on_threads(tool):
    image = trackway.Image()
    image.add(DEMO / "recur.elf")
    made, folder = {}, corpus() / "exec" / "logs"
    log = folder / "a64-recur.exlog.gz"
    if not log.exists():
        raise Skip("no log in the corpus")

    def work(number):
        made[number] = trackway.encode(log, "ete", image=image)["data"]
        image.read(0x400000, 64)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(len(made), 4)
    equal(len(set(made.values())), 1)
