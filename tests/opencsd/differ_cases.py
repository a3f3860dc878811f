# SPDX-License-Identifier: BSD-2-Clause
"""One client, the original and the drop-in: every callback with all that it is given, over the whole corpus.
Where they differ there is a row of kind "opencsd" in docs/known-differences.jsonl.  Its want and got are how
many events of a trace ID the original and the drop-in have alone, the first of them at `line`; with none on
either side only the order between IDs, or between packets, elements and answers, or an answer is another.
What a rule excuses everywhere is masked by the client (client.h) where a row of kind "opencsd-mask" names the
mask; without it `plan` differs on `run`.  Where there are frames they are also made anew as a TPIU sends
them, with FSYNCs alone or with HSYNCs too."""
import difflib
import json
import os
import re
import subprocess
import zlib

import headers
from harness import ROOT, Skip, add_case, corpus

# Pieces, waits and operations at random places; %d is the seed.
RANDOM = ["full,monitor,cut,wait=50,flush=50,reset=10,end=10,log=3,seed=%d",
          "packets,monitor,cut,wait=50,flush=50,reset=10,end=10,log=3,seed=%d",
          "full,cut,reset=50,log=3,seed=%d",
          "full,hsync,cut,wait=20,flush=20,reset=5,end=5,log=3,seed=%d",
          "packets,monitor,hsync,cut,wait=20,flush=20,reset=5,end=5,log=3,seed=%d",
          "full,print,tpiu,cut,reset=2,end=2,log=3,seed=%d",
          "packets,print,tpiu,cut,flush=20,log=3,seed=%d",
          "full,callback,cut,wait=200,flush=200,log=3,seed=%d",
          "packets,print,cut,flush=20,reset=20,end=20,log=3,seed=%d",
          "full,print,cut,reset=5,end=5,log=3,seed=%d"]
PLAIN = 4  # of them, without TW_TEST_FULL
SEEDS, SEEDS_OF_LARGE, LARGE = 8, 2, 1 << 18  # with TW_TEST_FULL=1; bytes of trace


def known():
    rows = {}
    for line in (ROOT / "docs" / "known-differences.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["kind"] in ("opencsd", "opencsd-packets"):
            rows.setdefault((row["run"], row["kind"]), []).append(row)
    return rows


def masks():
    """The rows that name one."""
    rows = (ROOT / "docs" / "known-differences.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, rows) if row["kind"] == "opencsd-mask"]


def run(tool, snapshot, buffer, *plans, unmasked=None):
    """With the masks that have a row, except one."""
    masked = "".join(f",mask={row['mask']}" for row in masks() if row["mask"] != unmasked)
    original = headers.system_library(tool.compiler)
    if not original:
        raise Skip("no libopencsd")
    done = subprocess.run([tool.differ, original, tool.library, snapshot, str(buffer),
                           *(plan + masked for plan in plans)],
                          capture_output=True, text=True, errors="replace", check=False, timeout=3600)
    assert done.returncode in (0, 1), f"{snapshot.name}:{buffer} {plans}: status {done.returncode}\n{done.stderr}"
    return done.stdout


def trace_id(words):
    """Of an event that a row can tell of, or None."""
    if words[:1] == ["text"]:
        return next((int(w.strip("ID:;"), 16) for w in words if w.startswith("ID:")), None)
    if words[:1] in (["element"], ["packet"], ["monitor"]) and "id" in words:
        return int(words[words.index("id") + 1], 16)
    return None


def differences(tool, snapshot, buffer, plan):
    """Of each stream: the first event that differs, how many there are on either side alone."""
    streams = {}
    for line in run(tool, snapshot, buffer, plan + ",loose,dump").splitlines():
        mark, _, event = line.partition(" ")
        number = trace_id(event.split()) if mark in ("<", ">") else None
        if number is not None:
            streams.setdefault(number, ([], []))[mark == ">"].append(event)
    found = {}
    for number, (want, got) in sorted(streams.items()):
        blocks = [b for b in difflib.SequenceMatcher(None, want, got, autojunk=False).get_opcodes()
                  if b[0] != "equal"]
        if blocks:
            found[number] = (blocks[0][1], sum(b[2] - b[1] for b in blocks), sum(b[4] - b[3] for b in blocks))
    return found


def trace_size(snapshot):
    """Of its largest buffer."""
    text = "".join(path.read_text(errors="replace") for path in snapshot.glob("trace.ini"))
    files = [snapshot / name for name in re.findall(r"^file\s*=\s*([^\s,]+)", text, re.M)]
    return max((path.stat().st_size for path in files if path.exists()), default=0)


def check(snapshot, buffer):
    name = f"{snapshot.name}:{buffer}"
    rows = known()

    def compare(tool):
        full = os.environ.get("TW_TEST_FULL") == "1"
        count = SEEDS_OF_LARGE if trace_size(snapshot) > LARGE else SEEDS
        seeds = range(1, 1 + count) if full else [zlib.crc32(name.encode()) % 1000]
        plans = RANDOM if full else RANDOM[:PLAIN]
        strict = []
        for kind, plan in (("opencsd", "full"), ("opencsd-packets", "packets,monitor")):
            of_plan = [p % s for s in seeds for p in plans if p.startswith(plan.split(",", maxsplit=1)[0])]
            wanted = {r["id"]: (r["line"], r["want"], r["got"]) for r in rows.get((name, kind), [])
                      if r["want"] or r["got"]}
            if (name, kind) not in rows:
                strict += [plan, *of_plan]
                continue
            got = differences(tool, snapshot, buffer, plan)
            assert got == wanted, f"{name} {plan}: {got}, not {wanted}"
            # However it is fed there is this difference and no other.
            for number in seeds:
                fed = f"{plan},cut,wait=50,flush=50,seed={number}"
                got = differences(tool, snapshot, buffer, fed)
                assert got == wanted, f"{name} {fed}: {got}, not {wanted}"
            # Where it begins anew, only sources with a row may differ.
            for random in of_plan:
                got = differences(tool, snapshot, buffer, random)
                excused = {r["id"] for r in rows[name, kind]}
                assert set(got) <= excused, f"{name} {random}: {got}, not only {excused}"
        if not strict:
            return
        printed = run(tool, snapshot, buffer, *strict)
        assert "DIFFERS" not in printed, f"{name}\n{printed[:6000]}"
    return compare


def check_mask(folder, row):
    """Something differs without it: a mask that nothing needs goes."""
    name, _, buffer = row["run"].rpartition(":")

    def compare(tool):
        printed = run(tool, folder / name, buffer, row["plan"])
        assert "DIFFERS" not in printed, printed[:6000]
        printed = run(tool, folder / name, buffer, row["plan"], unmasked=row["mask"])
        assert "DIFFERS" in printed, f"{row['mask']} is not needed for {row['run']} {row['plan']}"
    return compare


def add_cases():
    try:
        folder = corpus() / "coresight" / "snapshots"
    except Skip:
        return
    for row in masks():
        add_case(f"differ-masks/{row['mask']}", check_mask(folder, row))
    for snapshot in sorted([*folder.iterdir(), *(corpus() / "perf-real" / "snapshots").glob("*")]):
        text = "".join(p.read_text(errors="replace") for p in snapshot.glob("trace.ini"))
        for buffer in range(max(1, text.lower().count("[buffer"))):
            add_case(f"differ/{snapshot.name}:{buffer}", check(snapshot, buffer))


add_cases()
