# SPDX-License-Identifier: BSD-2-Clause
"""The texts of 1.7.1: those that the corpus has of it, packet by packet and element by element."""
import gzip
import json
import os
import re
import subprocess

from harness import ROOT, Skip, add_case, corpus

PACKET = re.compile(r"^< text \d+ Idx:(\d+); ID:([0-9a-f]+);\t(.*)$")
ELEMENT = re.compile(r"^< text \d+ Idx:(\d+); ID:([0-9a-f]+); OCSD_GEN_TRC_ELEM_(\w+)\((.*)\)$")
UNSYNCED = {"NOTSYNC", "I_NOT_SYNC", "ITM_NOTSYNC"}  # cut otherwise: see the row of mask notsync


def printed(tool, snapshot, buffer, plan):
    """What the printers write, a line each."""
    environment = dict(os.environ, TRACKWAY_OPENCSD_VERSION="1.7.1")
    done = subprocess.run([tool.differ, tool.library, tool.library, snapshot, str(buffer), plan + ",print,dump"],
                          env=environment, capture_output=True, text=True, errors="replace", check=False,
                          timeout=600)
    assert done.returncode == 0, f"{snapshot.name}: status {done.returncode}\n{done.stderr}"
    lines = done.stdout.splitlines()
    if lines == ["nothing to decode"]:
        raise Skip(f"{snapshot.name}:{buffer}: no source")
    return lines


def plain(text):
    """Without what the end and the spaces of a line are."""
    return " ".join(text.split()).rstrip("; ")


def check_packets(snapshot, buffer, folder):
    def compare(tool):
        found = {}
        for line in printed(tool, snapshot, buffer, "packets"):
            match = PACKET.match(line)
            if match:
                found.setdefault(int(match[2], 16), []).append(plain(match[3]))
        for path in sorted(folder.glob("pkts-*.gz")):
            rows = [json.loads(line) for line in gzip.open(path, "rt")]
            rows = [row for row in rows if "t" in row and row["t"] not in UNSYNCED]
            if not rows:
                continue
            number = rows[0]["id"]
            got = [text for text in found.get(number, found.get(0, []))
                   if re.match(r"\w+", text)[0] not in UNSYNCED]
            where = f"{snapshot.name} {folder.name} ID {number:#x}"
            for at, (row, text) in enumerate(zip(rows, got)):
                assert re.match(r"\w+", text)[0] == row["t"] and plain(row.get("s", "")) in text, \
                    f"{where}, packet {at}: {text!r}, not {row}"
            has_more = is_fatal(folder) and len(got) > len(rows)
            assert len(got) == len(rows) or has_more, f"{where}: {len(got)} packets, not {len(rows)}"
    return compare


def is_fatal(folder):
    """1.7.1 stopped there."""
    return any(buffer.get("fatal") for buffer in json.loads((folder / "run.json").read_text())["buffers"])


def says(row):
    """What the text of an element has, by its row."""
    kind = row["t"]
    if kind == "INSTR_RANGE":
        return f"exec range={row['st']}:[{row['en']}] num_i({row['n']})"
    if kind == "ADDR_NACC":
        return f" {row['st']}; Memspace [{row['space']}:{row['space_name']}]"
    if kind == "INSTRUMENTATION":
        return f"EL{row['el']}; {int(row['value'], 16):#018x}"
    if kind == "EXCEPTION" and row["has_ret"]:
        return f"pref ret addr:{row['ret']}"
    return ""


def without_known(run, number, rows, got):
    """What is the same on both sides: rows of kind "elements" in docs/known-differences.jsonl tell of the rest."""
    known = map(json.loads, (ROOT / "docs" / "known-differences.jsonl").read_text().splitlines())
    known = [row for row in known if (row["run"], row["kind"], row["id"]) == (run, "elements", number)]
    more = 0
    rows, got = list(rows), list(got)
    for row in sorted(known, key=lambda row: row["line"]):
        at = row["line"]
        rows[at:at + row["want"]] = [None] * row["want"]
        got[at + more:at + more + row["got"]] = [None] * row["got"]
        more += row["got"] - row["want"]
    return [row for row in rows if row], [row for row in got if row]


def check_elements(snapshot, buffer, folder):
    def compare(tool):
        found = {}
        for line in printed(tool, snapshot, buffer, "full"):
            match = ELEMENT.match(line)
            if match:
                found.setdefault(int(match[2], 16), []).append((int(match[1]), match[3], match[4]))
        for path in sorted(folder.glob("elems-*.gz")):
            rows = [json.loads(line) for line in gzip.open(path, "rt")]
            rows = [row for row in rows if "t" in row]
            where = f"{snapshot.name} {folder.name} ID {rows[0]['id']:#x}"
            rows, got = without_known(f"{snapshot.name}/{folder.name}", rows[0]["id"], rows,
                                      found.get(rows[0]["id"], []))
            for at, (row, (index, kind, text)) in enumerate(zip(rows, got)):
                assert (index, kind) == (row["i"], row["t"]) and says(row) in text, \
                    f"{where}, element {at}: {index} {kind} {text!r}, not {row}"
            has_more = is_fatal(folder) and len(got) > len(rows)
            assert len(got) == len(rows) or has_more, f"{where}: {len(got)} elements, not {len(rows)}"
    return compare


def add_cases():
    try:
        folder = corpus() / "coresight"
    except Skip:
        return
    for expected in sorted((folder / "expected").iterdir()):
        runs = [run for run in ("default", "dstream") if (expected / run).is_dir()]
        runs += sorted(run.name for run in expected.glob("src-*"))
        for buffer, run in enumerate(runs):
            for kind, check in (("packets", check_packets), ("elements", check_elements)):
                add_case(f"later/{kind}/{expected.name}/{run}",
                         check(folder / "snapshots" / expected.name, buffer, expected / run))


add_cases()
