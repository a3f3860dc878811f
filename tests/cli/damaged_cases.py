# SPDX-License-Identifier: BSD-2-Clause
"""Captures damaged at random: what stats counts is what packets lists."""
import collections
import json
import os
import re
import shutil
from random import Random

from harness import ROOT, Skip, case, corpus, equal

SEED = 26
TRIES = 400 if os.environ.get("TW_TEST_FULL") else 12
SIZE_MOST = 100000


def snapshots():
    """Folders of snapshots that are not large."""
    folders = [ROOT / "tests" / "captures"]
    try:
        folders.append(corpus())
    except Skip:
        pass
    found = sorted(path.parent for folder in folders for path in folder.rglob("snapshot.ini"))
    return [path for path in found if sum(each.stat().st_size for each in path.rglob("*") if each.is_file()) < 6000000]


def damage(content, random):
    """Bits that are others, bytes that are gone or too many."""
    content = bytearray(content[:SIZE_MOST])
    for _ in range(random.randint(0, 40) if content else 0):
        at, kind = random.randrange(len(content)), random.random()
        if kind < 0.6:
            content[at] ^= 1 << random.randrange(8)
        elif kind < 0.8 and len(content) > 50:
            del content[at:at + random.randint(1, 40)]
        else:
            content[at:at] = bytes(random.randint(1, 30))
    return bytes(content)


def copy_damaged(source, folder, random):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, copy_function=shutil.copyfile)
    for each in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        each.chmod(0o755)
    for ini in sorted(folder.glob("*.ini")):
        text = ini.read_text(errors="replace")
        if "trace_buffers" not in text:
            continue
        for line in re.findall(r"(?im)^file *= *(.+)$", text):
            for name in line.split(","):
                path = folder / name.strip()
                if path.is_file():
                    path.write_bytes(damage(path.read_bytes(), random))


@case
def stats_counts_what_packets_lists(tool):
    random, sources, seen = Random(SEED), snapshots(), 0
    for number in range(TRIES):
        source = random.choice(sources)
        copy_damaged(source, tool.folder / "capture", random)
        listed, counted = collections.Counter(), collections.Counter()
        for line in tool.run("packets", "capture", "-q", "--format", "jsonl", status=None).out.splitlines():
            row = json.loads(line)
            listed[(row.get("buf"), row["id"], row["t"])] += 1
        threads = random.choice("12")
        for line in tool.run("stats", "capture", "-q", "--format", "jsonl", "--threads", threads, status=None).out.splitlines():
            row = json.loads(line)
            if row["t"] == "PACKETS":
                counted[(row.get("buf"), row["id"], row["type"])] += row["packets"]
        equal(counted, listed, f"seed {SEED}, try {number}: {source}, {threads} threads")
        seen += sum(listed.values())
    assert seen > 100 * TRIES, seen
