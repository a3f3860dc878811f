#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every capture of the corpora without its name, its descriptions and its registers: usage: identify.py PROGRAM CORPUS.

Framing, protocol and trace IDs have to be right on all that are 1 KiB or longer."""
import configparser
import json
import pathlib
import random
import subprocess
import sys
import tempfile

LEAST = 1024
FRAMING = {"coresight": "memory", "source_data": "none", "dstream_coresight": "dstream"}
# What the types of devices in snapshots are called here.
PROTOCOLS = (("ETM4", "etmv4"), ("ETE", "ete"), ("PTM", "ptm"), ("PFT", "ptm"), ("ETM3", "etmv3"), ("ITM", "itm"),
             ("STM", "stm"))
EITHER = {"etmv4", "ete"}


def read_ini(path):
    ini = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    ini.optionxform = str
    ini.read_string("[top]\n" + path.read_text(errors="replace"))
    return {section.lower(): {key.lower(): (value or "") for key, value in ini[section].items()}
            for section in ini.sections()}


def registers(device):
    found = {}
    for key, value in device.get("regs", {}).items():
        try:
            found[key.split("(")[0].upper()] = int(value.split()[0], 0)
        except (ValueError, IndexError):
            pass
    return found


def snapshot_cases(folder):
    """(file, framing, {id: protocol}) of each buffer."""
    top = read_ini(folder / "snapshot.ini")
    trace = read_ini(folder / top["trace"]["metadata"])
    devices = {}
    for name in top["device_list"].values():
        path = folder / name
        if path.exists():
            device = read_ini(path)
            devices[device["device"]["name"]] = device
    for key, buffer in trace.items():
        if "file" not in buffer or "format" not in buffer:
            continue
        sources = {}
        for source, names in trace.get("source_buffers", {}).items():
            for name, device in devices.items():
                if name.lower() != source.split("(")[0].lower():
                    continue
                if buffer["name"] not in [word.strip() for word in names.split(",")]:
                    continue
                kind = device["device"].get("type", "").upper()
                protocol = next((value for word, value in PROTOCOLS if kind.startswith(word)), None)
                values = registers(device)
                number = values.get("TRCTRACEIDR", values.get("ETMTRACEIDR"))
                if number is None and "STMTCSR" in values:
                    number = values["STMTCSR"] >> 16 & 0x7f
                if number is None and "ITMTCR" in values:
                    number = values["ITMTCR"] >> 16 & 0x7f
                sources[number & 0x7f if number is not None else None] = protocol
        files = [word.strip() for word in buffer["file"].split(",")]
        yield folder / files[0], FRAMING[buffer["format"]], sources


def cases(corpus):
    for kind in ("coresight", "perf-real", ):
        for folder in sorted((corpus / kind / "snapshots").iterdir()):
            if (folder / "snapshot.ini").exists():
                yield from snapshot_cases(folder)
    for folder in sorted((corpus / "exec-m" / "etm").iterdir()):
        yield from snapshot_cases(folder)
    for path in sorted((corpus / "exec-m" / "swo").glob("*.swo")):
        yield path, "none", {0: "itm"}
    yield corpus / "itm" / "blinky-swo.raw", "none", {0: "itm"}
    for path in sorted((corpus / "riscv" / "cases").glob("*/trace.bin")):
        yield path, "none", {0: "etrace"}
    for path in sorted((corpus / "riscv" / "ntrace").glob("*/trace.bin")):
        yield path, "none", {0: "ntrace"}
    for path in sorted((corpus / "ntrace" / "cases").glob("*/trace.bin")):
        text = (path.parent / "case.txt").read_text()
        framed = "framing=coresight-16" in text
        yield path, "memory" if framed else "none", {} if framed else {0: "ntrace"}


def identify(program, path, *options):
    out = subprocess.run([program, "identify", "--format", "json", *options, str(path)], capture_output=True, text=True,
                         check=True).stdout
    return json.loads(out)


def is_right(found, framing, sources):
    if found["framing"] != framing:
        return False
    protocol = found["protocol"]
    given = protocol if isinstance(protocol, dict) else {f"0x{n:x}": protocol for n in found["ids"]} or {"0x0": protocol}
    if framing == "none":
        wanted = next(iter(sources.values()))
        return protocol == wanted or {protocol, wanted} <= EITHER
    # A source whose registers are in the capture need not have sent anything.
    for number, name in given.items():
        wanted = sources.get(int(number, 0), sources.get(None, sources.get(0)))
        if wanted is None and sources:
            return False
        if wanted and name != wanted and not {name, wanted} <= EITHER:
            return False
    return bool(given)


def compare(program, corpus, every=1):
    """What is wrong, a line each, and the counts as a line; only every so many captures."""
    wrong, total, certain, short, short_right = [], 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        bare = pathlib.Path(folder) / "x"
        for path, framing, sources in list(cases(corpus))[::every]:
            data = path.read_bytes()
            if not data:
                continue
            bare.write_bytes(data)
            found = identify(program, bare)
            right = is_right(found, framing, sources)
            if len(data) < LEAST:
                short += 1
                short_right += right
                if not right and found["confidence"] >= 0.95:
                    wrong.append(f"{path}: certain, and wrong")
                continue
            total += 1
            certain += found["confidence"] >= 0.95
            if not right:
                wrong.append(f"{path}: {found['framing']} {found['protocol']} {found['ids']} {found['confidence']}, "
                             f"should be {framing} {sources}")
    return wrong, (f"{total} captures of 1 KiB and more: {len(wrong)} wrong, {certain} certain; "
                   f"{short_right} of {short} shorter ones right")


def rotate(program, corpus, every=1):
    """Captures as a ring buffer holds them: what is wrong, and the counts as a line.  Nobody may say of a capture as it is
    that it is one, nor be sure of an excerpt; of others the place must be right where one is named."""
    dice = random.Random(4)
    wrong, found, total = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        bare = pathlib.Path(folder) / "x"
        for path, framing, _ in list(cases(corpus))[::every]:
            data = path.read_bytes()
            if len(data) < 4096 or framing not in ("memory", "none") or "ramwrap" in path.parent.name:
                continue
            bare.write_bytes(data)
            if "wrapped_at" in identify(program, bare):
                wrong.append(f"{path}: no ring buffer")
            unit = 16 if framing == "memory" else 4
            middle = dice.randrange(len(data) // 8, len(data) * 7 // 8) // unit * unit
            bare.write_bytes(data[middle:] + data[:middle])
            answer = identify(program, bare)
            total += 1
            first = dice.randrange(1, len(data) // 4) // unit * unit
            bare.write_bytes(data[first:first + len(data) // 2 // unit * unit])
            excerpt = identify(program, bare)
            if "wrapped_at" in excerpt and excerpt["confidence"] >= 0.95:
                wrong.append(f"{path}: an excerpt is no ring buffer")
            if "wrapped_at" in answer:
                found += 1
                # A time comes now and then: what lies between two of them cannot be told apart.
                near = 2048 if any("time goes back" in line for line in answer["evidence"]) else 64
                if abs(answer["wrapped_at"] - (len(data) - middle)) > near:
                    wrong.append(f"{path}: wrapped at {answer['wrapped_at']}, not {len(data) - middle}")
    if found * 10 < total * 7:
        wrong.append(f"only {found} of {total} turned ones found")
    return wrong, f"{total} turned as in a ring buffer: {found} found, {len(wrong)} wrong"


def main():
    failed = False
    for check in (compare, rotate):
        wrong, counts = check(sys.argv[1], pathlib.Path(sys.argv[2]))
        print(*wrong, counts, sep="\n")
        failed = failed or bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
