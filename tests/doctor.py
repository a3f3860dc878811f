#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Captures with one fault each, made of good ones, for `trackway doctor`: usage: doctor.py PROGRAM CORPUS.

Good captures: nothing is wrong. Broken ones: the fault is the first that is named, in all but two at most."""
import gzip
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

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


def alarms(program, corpus, names):
    """Good captures of which something is said to be wrong."""
    found = []
    for name in names:
        lines, summary = examine(program, corpus / name)
        if not summary["text"].startswith("nothing is wrong"):
            found.append(f"{name}: false alarm: {lines[0]['code']}: {lines[0]['text']}")
    return found


def missed(program, corpus, names):
    """Broken captures whose fault is not named first, and how many there were."""
    found, total = [], 0
    for name in names:
        for fault in FAULTS:
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
                lines, _ = examine(program, copy)
                first = lines[0]["code"] if lines else None
                if first not in wanted:
                    found.append(f"{name}: {fault.__name__}: {first} first, not {'/'.join(sorted(wanted))}")
    return found, total


def main():
    program, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    false = alarms(program, corpus, GOOD)
    found, total = missed(program, corpus, GOOD)
    print(*false, *found, sep="\n")
    print(f"{total} broken captures: {total - len(found)} named first; {len(false)} false alarms on {len(GOOD)} good ones")
    return 1 if len(found) * 20 > total or false else 0


if __name__ == "__main__":
    sys.exit(main())
