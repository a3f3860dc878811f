#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Captures with one fault each, made of good ones, for `trackway doctor`: usage: doctor.py PROGRAM CORPUS.

Captures of the corpora: nothing is wrong, but for what is. Broken ones: the fault is the first that is named, in all but one in twenty."""
import gzip
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import doctor_faults
import doctor_more_faults
from doctor_faults import keys

# Snapshots that decode whole.
GOOD = ["coresight/snapshots/001-ack_test", "coresight/snapshots/tc2-ptm-rstk-t32-part",
        "coresight/snapshots/bugfix-exact-match-part", "coresight/snapshots/trace_file_vmid",
        "coresight/snapshots/ete_mem", "exec-m/etm/m33-tz-etmv4", "exec-m/etm/m4-sched-etmv3", "exec-m/etm/m3-nested-etmv4"]
FRAMED = {"bugfix-exact-match-part"}


class Snapshot:
    def __init__(self, folder):
        self.folder = folder
        trace = (folder / "trace.ini").read_text()
        self.trace = folder / re.search(r"^file\s*=\s*([^\s,]+)", trace, re.M).group(1)

    def devices(self):
        return [path for path in sorted(self.folder.glob("*.ini")) if path.name not in ("snapshot.ini", "trace.ini")]

    def edit(self, pattern, replacement, files=None):
        count = 0
        for path in files or self.devices():
            text, n = re.subn(pattern, replacement, path.read_text(), flags=re.M | re.I)
            path.write_text(text)
            count += n
        return count

    def write(self, data):
        self.trace.write_bytes(data)


def image_gone(snap, data):
    snap.edit(r"^\[dump[^\]]*\][^\[]*", "")
    return {"missing-image", "missing-kernel"}


def image_moved(snap, data):
    def move(match):
        return f"{match.group(1)}{int(match.group(2), 0) + 0x40000:#x}"
    assert snap.edit(r"^(address\s*=\s*)(\w+)", move)
    return {"wrong-bias"}


def image_other(snap, data):
    dice = random.Random(1)
    for path in snap.devices():
        for name in re.findall(r"^file\s*=\s*(\S+)", path.read_text(), re.M):
            dump = snap.folder / name
            if dump.exists():
                content = bytearray(dump.read_bytes())
                # Another build: the same code, some way further on.
                shift = 4 * dice.randrange(3, 9)
                dump.write_bytes(content[shift:] + content[:shift])
    return {"wrong-image"}


def registers_gone(snap, data):
    assert snap.edit(r"^(TRCIDR[0-9]+|ETMIDR|ETMCCER|TRCDEVARCH|TRCCONFIGR|ETMCR)\b.*$", "")
    return {"missing-registers"}


def registers_wrong(snap, data):
    def flip(match):
        return f"{match.group(1)}{int(match.group(2), 0) ^ 0x1000:#x}"
    def flip_alternative(match):
        return f"{match.group(1)}{int(match.group(2), 0) ^ 0x100000:#x}"
    if snap.edit(r"^(ETMIDR\b[^=]*=\s*)(0x4114\w+)", flip_alternative) or snap.edit(r"^(ETMCR\b[^=]*=\s*)(\w+)", flip):
        return {"wrong-registers"}
    return None


def framing_wrong(snap, data):
    trace = [snap.folder / "trace.ini"]
    if snap.folder.name in FRAMED:
        snap.edit(r"^format\s*=.*$", "format=source_data", trace)
    else:
        snap.edit(r"^format\s*=.*$", "format=coresight", trace)
    return {"wrong-framing"}


def type_wrong(snap, data):
    assert snap.edit(r"^type\s*=\s*(ETE|ETM|PTM|PFT).*$", "type=STM")
    return {"wrong-protocol"}


def id_wrong(snap, data):
    if snap.folder.name not in FRAMED:
        return None
    snap.edit(r"^(TRCTRACEIDR\b[^=]*=\s*)(\w+)", lambda match: f"{match.group(1)}{int(match.group(2), 0) + 0x20:#x}")
    return {"id-without-source"}


def damaged(snap, data):
    dice = random.Random(5)
    content = bytearray(data)
    for _ in range(12):
        at = dice.randrange(len(content) // 4, len(content) * 3 // 4)
        content[at:at + 8] = dice.randbytes(8)
    snap.write(bytes(content))
    return {"damaged-trace", "gap", "wrong-image"}


def swapped(snap, data):
    snap.write(b"".join(data[i:i + 4][::-1] for i in range(0, len(data) - 3, 4)))
    return {"swapped-bytes"}


def offset(snap, data):
    if snap.folder.name not in FRAMED:
        return None
    snap.write(b"\x35\x00\x21\x07\x00" + data)
    return {"offset"}


def empty(snap, data):
    snap.write(b"")
    return {"empty"}


def erased(snap, data):
    snap.write(bytes(len(data)))
    return {"no-trace"}


def text(snap, data):
    snap.write(b"this is no trace, but somebody's notes about one\n" * 60)
    return {"no-trace"}


def noise(snap, data):
    snap.write(random.Random(9).randbytes(max(len(data), 4096)))
    return {"no-sync"}


def packed(snap, data):
    snap.write(gzip.compress(data))
    return {"packed"}


def no_sync(snap, data):
    """Only what lies before the second synchronization, without the first one."""
    if snap.folder.name in FRAMED:
        return None
    snap.write(data[64:64 + 900])
    return {"no-sync"}


FAULTS = [image_gone, image_moved, image_other, registers_gone, registers_wrong, framing_wrong, type_wrong, id_wrong, damaged,
          swapped, offset, empty, erased, text, noise, packed, no_sync]


def examine(program, path, *options):
    done = subprocess.run([program, "doctor", str(path), "--format", "jsonl", "-q", *options], capture_output=True, text=True,
                          check=False)
    assert done.returncode in (0, 1), done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    summary = lines.pop()
    assert summary["whole"] == (done.returncode == 0)
    return lines, summary


# Captures of the corpora with a fault of their own: the first finding.
FAULTY = {
    "Snowball": "missing-code",               # the dump holds only part of the kernel
    "a55-test-tpiu-part": "missing-image",    # its only dump is left out
    "ete_ip": "wrong-image",                  # the snapshot's code is not quite what ran
    "infrastructure": "gap",                  # behind the STM's trace the sink held other memory; a kernel that
    "juno_r1_1": "gap",                       # changed its code
    "stm_only-juno": "gap",
    "p03-juno-kernel-6cpu-etmv4-v1": "modified-code",
    "init-short-addr": "missing-image",       # no code
    "juno-uname-001": "missing-image",
    "juno-uname-002": "overflow",             # the trace unit lost trace
    "p01-uname-perthread-etmv4-v1": "overflow",
    "p02-uname-perthread-etmv4-v0": "overflow",
    "rnd64a-htm-overflow": "overflow",
    "rnd64b-btm-overflow-ts": "overflow",
    "itm-blinky-swo": "damaged-trace",        # a packet that no rule knows
    "blinky-swo": "damaged-trace",
    "perf-etm4-etr": "no-sync",               # buffers shorter than the sync period
    "perf-etm4-kernel": "no-sync",
    "p19-walk-truncated-partial": "aux-truncated",
    # SWO without a synchronization packet
    **{f"{name}-c": "no-sync" for name in ("m0-systick", "m3-faults", "m3-nested", "m3-systick", "m33-tz", "m4-sched",
                                           "m55-loops", "m7-crash")},
}


def whole_corpus(corpus):
    """(name, words for the command) of every capture."""
    for kind in ("coresight", "perf-real"):
        yield from ((path.parent.name, [path.parent]) for path in sorted((corpus / kind / "snapshots").glob("*/snapshot.ini")))
    yield from ((path.name, [path]) for path in sorted((corpus / "exec-m" / "etm").iterdir()))
    for path in sorted((corpus / "perf").glob("*.perf.data")):
        yield path.name.removesuffix(".perf.data"), [path, "--sysroot", corpus / "perf" / "root"]
    for path in [*sorted((corpus / "exec-m" / "swo").glob("*.swo")), corpus / "itm" / "blinky-swo.raw"]:
        yield path.stem, [path, "--protocol", "itm"]
    for kind, protocol in (("riscv", "etrace"), ("ntrace", "ntrace")):
        for case in sorted((corpus / kind / "cases").iterdir()):
            program = keys(case / "case.txt").get("program")
            if program is None:  # several
                continue
            image = (corpus / "ntrace" / program if kind == "ntrace" else corpus / "riscv" / "programs" / program) / "image.txt"
            yield case.name, [case / "trace.bin", "--protocol", protocol, "--config", case / "case.txt",
                              *(["--image", image] if image.exists() else [])]


def alarms(program, corpus, every=1):
    """What is said of the captures of the corpora that is not so; only of every so many; how many there are."""
    found, count = [], 0
    for name, words in list(whole_corpus(corpus))[::every]:
        lines, summary = examine(program, *words)
        count += 1
        if name in FAULTY:
            if not lines or lines[0]["code"] != FAULTY[name]:
                found.append(f"{name}: not {FAULTY[name]}: {lines[:1]}")
        elif not summary["text"].startswith("nothing is wrong"):
            found.append(f"{name}: false alarm: {lines[0]['code']}: {lines[0]['text']}")
    return found, count


def missed(program, corpus, names, every=1):
    """Broken captures whose fault is not named first, and how many there were; only every so many."""
    found, total = [], 0
    for name in names:
        for fault in FAULTS[::every]:
            with tempfile.TemporaryDirectory() as folder:
                copy = pathlib.Path(folder) / pathlib.Path(name).name
                shutil.copytree(corpus / name, copy)
                for path in (copy, *copy.rglob("*")):
                    path.chmod(0o755)
                snap = Snapshot(copy)
                wanted = fault(snap, snap.trace.read_bytes())
                if not wanted:
                    continue
                total += 1
                found += judge(program, f"{name}: {fault.__name__}", [copy], wanted)
    return found, total


def judge(program, what, words, wanted):
    lines, _ = examine(program, *words)
    first = lines[0]["code"] if lines else None
    return [] if first in wanted else [f"{what}: {first} first, not {'/'.join(sorted(wanted))}"]


def missed_more(program, corpus, faults=tuple(doctor_faults.ALL)):
    """The same of recordings, programs, trace units and RISC-V encoders."""
    found = []
    for fault in faults:
        with tempfile.TemporaryDirectory() as folder:
            words, wanted = fault(doctor_faults.Bench(program, corpus, folder))
            found += judge(program, fault.__name__, words, wanted)
    return found, len(faults)


def more_faults():
    return doctor_more_faults.all_of(sys.modules[__name__])


def main():
    program, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    false, good = alarms(program, corpus)
    found, total = missed(program, corpus, GOOD)
    more, count = missed_more(program, corpus, [*doctor_faults.ALL, *more_faults()])
    found += more
    total += count
    print(*false, *found, sep="\n")
    print(f"{total} broken captures: {total - len(found)} named first; {len(false)} false alarms on {good} captures of the corpora")
    return 1 if len(found) * 20 > total or false else 0


if __name__ == "__main__":
    sys.exit(main())
