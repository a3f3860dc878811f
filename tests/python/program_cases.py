# SPDX-License-Identifier: BSD-2-Clause
"""Files, programs and units: what the program says of them, and what comes back when it goes there and back."""
import json

import trackway
from captures import DEMO, some
from harness import Skip, case, corpus, equal


def refused(function, *kinds):
    try:
        function()
    except kinds:
        return
    raise AssertionError("was taken")


@case
def files_are_identified(tool):
    raw = tool.write("what.bin", (DEMO / "ETB_0.bin").read_bytes())
    got = trackway.identify(raw)
    line = json.loads(tool.run("identify", raw, "--format", "jsonl").out.splitlines()[0])
    equal(got["what"], line["what"])
    equal(got["framing"], "memory")
    equal(got["sources"][0]["protocol"], "etmv4")
    equal(trackway.identify(raw.read_bytes())["sources"], got["sources"])
    equal(trackway.identify(DEMO)["format"], "snapshot")
    assert "%" in str(got)
    refused(lambda: trackway.identify(tool.folder / "nothing"), trackway.Error)
    refused(lambda: trackway.identify(3), TypeError)


@case
def doctors_agree(tool):
    for path, options in some()[:4]:
        if options:
            continue
        with trackway.open(path) as capture:
            found = capture.doctor()
        svg = tool.run("doctor", path, "--format", "svg", status=None).out
        equal(found.svg.strip(), svg.strip(), str(path))
        assert "<svg" in found._repr_html_() and found.summary in str(found)
        equal(bool(found), all(one["severity"] in ("note", "warning") for one in found.findings))
        assert all(len(strip["states"]) == 100 for strip in found.strips)


@case
def indexes_are_made(tool):
    with trackway.open(DEMO) as capture:
        made = capture.index(path=tool.folder / "demo.twx", entries=True)
        equal([one["name"] for one in made], ["ETB_0"])
        stream = made[0]["streams"][0]
        equal(stream["id"], 0x10)
        equal(sum(stream["counts"].values()), len(stream["entries"]))
        equal(capture.index()[0]["streams"][0]["entries"], None)
        offset = next(at for at, kind, _ in reversed(stream["entries"]) if kind == "SYNC")
        run = capture.run(index=tool.folder / "demo.twx")
        run.seek(offset=offset)
        first = next(part for part in run if len(part))
        assert int(first.elements["index"][0]) >= offset - 64
        refused(lambda: capture.index(wrong=1), TypeError)


@case
def programs_are_read(tool):
    symbols = trackway.Symbols(DEMO / "recur.elf")
    assert len(symbols) > 0
    with trackway.open(DEMO) as capture:
        rows = [row for row in capture.profile(calls=False).rows if row["name"]]
        name = rows[0]["name"]
        found = symbols.by_name(name)
        equal(symbols.find(found["address"])["name"], name)
        moved = trackway.Symbols((DEMO / "recur.elf", 0x1000))
        equal(moved.by_name(name)["address"], found["address"] + 0x1000)
        image = trackway.Image()
        equal(image.read(found["address"], 4), b"")
        image.add(DEMO / "recur.elf")
        code = image.read(found["address"], 16)
        equal(len(code), 16)
        equal(capture.memory(0, found["address"], 16), code)
        assert any(one["address"] <= found["address"] < one["address"] + one["length"] for one in image.regions)
        refused(lambda: capture.memory(7, 0, 1), IndexError)
    equal(symbols.find(3), None)
    equal(symbols.by_name("no such name"), None)
    symbols.line(found["address"]), symbols.frames(found["address"])
    refused(lambda: trackway.Symbols(tool.folder / "nothing"), trackway.Error)
    refused(lambda: trackway.Image().add(tool.folder / "nothing"), trackway.Error)
    refused(lambda: image.read(0, -1), ValueError)


@case
def frames_go_there_and_back(tool):
    streams = {0x10: bytes(range(200)), 0x22: b"other" * 9}
    for framing in ("memory", "tpiu", "tpiu-hsync"):
        back = trackway.unframe(trackway.frame(streams, framing), framing)
        equal({key: value for key, value in back.items() if key in streams}, streams, framing)
    refused(lambda: trackway.frame({0x7f: b"x"}), ValueError)
    refused(lambda: trackway.frame({1000: b"x"}), ValueError)
    refused(lambda: trackway.frame({1: 3}), TypeError)
    refused(lambda: trackway.frame({}, "none such"), ValueError)


@case
def units_make_trace(tool):
    itm = trackway.ItmUnit()
    for byte in b"hello":
        itm.write(0, byte, 1)
        itm.advance(10)
    path = tool.write("itm.bin", itm.take())
    with trackway.open(path, framing="none", sources=[(0, "itm", None)]) as capture:
        payload = [packet for packet in capture.packets()]
        assert len(payload) >= 5, payload
    equal(itm.take(), b"")
    refused(lambda: itm.write(0, 1, 3), ValueError)
    stm = trackway.StmUnit()
    stm.write(0x1234, 16, master=2, channel=3, marked=True, time=77)
    path = tool.write("stm.bin", stm.take())
    with trackway.open(path, framing="none", sources=[(0, "stm", None)]) as capture:
        elements = capture.elements()
        swt = elements[elements["payload"] == 0x1234]
        equal((int(swt["master"][0]), int(swt["channel"][0])), (2, 3))
    refused(lambda: stm.write(1, 5), ValueError)


@case
def logs_are_encoded(tool):
    """What the unit made is decoded to what the log says; the bytes are those of the program."""
    folder = corpus() / "analysis" / "truth"
    log, elf = folder / "a64-recur.exlog.gz", folder / "a64-recur.elf"
    if not log.exists():
        raise Skip("no log in the corpus")
    image = trackway.Image()
    image.add(elf)
    for protocol in ("etmv4", "ete"):
        made = trackway.encode(log, protocol, image=image)
        tool.run("encode", log, "--elf", elf, "--protocol", protocol, "-o", f"made-{protocol}")
        with trackway.open(tool.folder / f"made-{protocol}") as capture:
            theirs = bytes(capture.read(0))
            if capture.buffers[0]["framing"] != "none":
                theirs = max(trackway.unframe(theirs, capture.buffers[0]["framing"]).values(), key=len)
        equal(made["data"], theirs[:len(made["data"])], protocol)
        assert made["registers"]["TRCCONFIGR"] is not None
    refused(lambda: trackway.encode(log, "none"), ValueError)
    refused(lambda: trackway.encode(log, image=3), TypeError)
    refused(lambda: trackway.encode(tool.folder / "nothing"), trackway.Error)
    refused(lambda: trackway.encode(log, registers={"NONESUCH": 1}), trackway.Error)
