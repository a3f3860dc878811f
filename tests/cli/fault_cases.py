# SPDX-License-Identifier: BSD-2-Clause
"""Disks that are full and signals at any time: what was there stays, and nothing half is left under any name."""
import random
import resource
import shutil
import signal
import subprocess
import time

from harness import ROOT, case, equal
from hostile_cases import CONFIG, SYNC

DEMO = ROOT / "tests" / "captures" / "demo"


def outputs():
    """Commands, and the one thing that each writes."""
    return {
        "text": (["decode", DEMO, "-o", "out"], "out"),
        "jsonl": (["decode", DEMO, "--format", "jsonl", "-o", "out"], "out"),
        "csv": (["packets", DEMO, "--format", "csv", "-o", "out"], "out"),
        "stats": (["stats", DEMO, "-o", "out"], "out"),
        "profile": (["profile", DEMO, "-o", "out"], "out"),
        "saved profile": (["profile", DEMO, "--save", "out", "-o", "/dev/null"], "out"),
        "calls": (["calls", DEMO, "-o", "out"], "out"),
        "pprof": (["profile", DEMO, "--format", "pprof", "-o", "out"], "out"),
        "perfetto": (["timeline", DEMO, "--format", "perfetto", "-o", "out"], "out"),
        "coverage": (["coverage", DEMO, "--format", "lcov", "-o", "out"], "out"),
        "index": (["index", "build", "c.bin", *CONFIG, "--index", "out"], "out"),
        "snapshot": (["snapshot", "--from", "c.bin", *CONFIG, "-o", "out", "--force"], "out"),
    }


def full(limit):
    """No file may grow beyond so many bytes: the write that would is short, and the next one fails."""
    def prepare():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    return prepare


def content(path):
    if path.is_dir():
        return {name.name: name.read_bytes() for name in sorted(path.iterdir())}
    return path.read_bytes() if path.exists() else None


def size_of(path):
    return max(file.stat().st_size for file in path.iterdir()) if path.is_dir() else path.stat().st_size


def listing(tool):
    return sorted(path.name for path in tool.folder.iterdir())


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()


def check_full(tool, words, name):
    out = tool.folder / name
    tool.run(*words, status=None)
    assert out.exists(), words
    size, whole, clean = size_of(out), content(out), listing(tool)
    for is_there in (True, False):
        if not is_there:
            remove(out)
            clean = listing(tool)
        before = content(out)
        for limit in sorted({0, 1, size // 3, size // 2, size - 1}):
            done = subprocess.run([tool.program, *map(str, words)], cwd=tool.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, preexec_fn=full(limit), timeout=100, check=False)
            assert done.returncode == 3 and b"Sanitizer" not in done.stderr, (words, limit, size, done.returncode, done.stderr)
            assert b"File too large" in done.stderr, (words, limit, done.stderr)
            equal(content(out), before, (words, limit))
            equal(listing(tool), clean, (words, limit))
    tool.run(*words, status=None)
    equal(content(out), whole)


@case
def a_full_disk_leaves_what_was_there(tool):
    tool.write("c.bin", (SYNC + b"\xf7" * 200) * 200)
    for words, name in outputs().values():
        check_full(tool, words, name)
        remove(tool.folder / name)


@case
def signals_at_any_time_leave_nothing_half(tool):
    """The output is what it was, or whole."""
    tool.write("c.bin", (SYNC + b"\xf7" * 200) * 2000)
    chance = random.Random(25)
    kinds = outputs()
    for kind in ("index", "snapshot", "csv"):
        words, name = kinds[kind]
        if kind == "csv":
            words = ["packets", "c.bin", *CONFIG, "--format", "csv", "-o", "out"]
        out = tool.folder / name
        begun = time.monotonic()
        tool.run(*words, status=None)
        took, whole, clean = time.monotonic() - begun, content(out), listing(tool)
        for _ in range(12):
            process = tool.start(*words)
            time.sleep(chance.random() * took)
            process.send_signal(chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
            process.communicate()
            assert process.returncode in (0, 1, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP), process.returncode
            equal(content(out), whole)
            equal(listing(tool), clean, kind)
        remove(out)
