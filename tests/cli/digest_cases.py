# SPDX-License-Identifier: BSD-2-Clause
"""What every analysis says of many captures, held by a digest of each whole output.

Whether it is right, the cases with a truth of their own say; this one sees that nothing else changes: order, names,
lines, sums, what is said behind a loss. After a wanted change: TW_WRITE_DIGESTS=1 run.py PROGRAM digest
writes tests/golden/digests.txt anew; read the difference before it is committed.
"""
import hashlib
import os
import re
import shutil

from harness import ROOT, Skip, add_case, corpus

TABLE = ROOT / "tests" / "golden" / "digests.txt"
CAPTURES = ROOT / "tests" / "captures"
ANALYSES = [
    ["stats", "--format", "jsonl"],
    ["calls"], ["calls", "--format", "jsonl"], ["calls", "--format", "csv"],
    ["calls", "--format", "folded"], ["calls", "--format", "callgrind"],
    ["calls", "--format", "speedscope"], ["calls", "--format", "dot"], ["calls", "--format", "svg"],
    ["calls", "--format", "pprof"], ["calls", "--events", "--format", "jsonl"],
    ["calls", "--events", "--format", "csv"], ["calls", "--last", "30"],
    ["calls", "--last", "40", "--instructions"],
    ["profile", "--format", "jsonl"], ["profile"], ["profile", "--format", "csv"],
    ["profile", "--by", "line", "--format", "jsonl"],
    ["profile", "--by", "address", "--format", "jsonl"],
    ["profile", "--by", "thread", "--format", "jsonl"],
    ["profile", "--by", "program", "--format", "jsonl"],
    ["profile", "--by", "source", "--format", "jsonl"],
    ["profile", "--by", "stack", "--format", "folded"],
    ["profile", "--unit", "cycles", "--unit", "time", "--format", "jsonl"],
    ["annotate", "--format", "jsonl"],
    ["coverage"], ["coverage", "--format", "jsonl"], ["coverage", "--format", "lcov"],
    ["coverage", "--format", "cobertura"], ["coverage", "--format", "drcov"],
    ["coverage", "--format", "outcomes"], ["coverage", "--format", "autofdo"],
    ["coverage", "--format", "fdata"],
    ["branches"], ["branches", "--format", "autofdo"], ["branches", "--format", "unsymbolized"],
    ["timeline"], ["timeline", "--format", "jsonl"], ["timeline", "--format", "csv"],
    ["timeline", "--format", "chrome"], ["timeline", "--format", "vcd"],
    ["timeline", "--format", "perfetto"], ["timeline", "--format", "svg"],
    ["timeline", "--format", "jsonl", "--min-duration", "40"],
    ["interrupts", "--format", "jsonl"], ["interrupts", "--events", "--format", "jsonl"],
    ["channels"], ["channels", "--format", "jsonl"],
    ["packets"], ["packets", "--format", "jsonl"], ["packets", "--format", "csv"],
    ["decode", "--format", "jsonl"], ["decode", "--format", "csv"], ["decode", "--format", "runs"],
    ["decode", "--instructions"], ["decode", "--from", "0x180", "--to", "0x900"],
    ["profile", "--from", "0x180", "--to", "0x900", "--format", "jsonl"],
    ["calls", "--from", "0x180", "--threads", "2", "--format", "jsonl"],
    ["coverage", "--to", "0x900", "--threads", "2", "--format", "jsonl"],
    ["info", "--format", "jsonl"],
]
# What is saved, added to itself, and shown.
SAVED = [
    ["profile", "--inline"], ["profile", "--by", "line"], ["profile", "--by", "stack"],
    ["profile", "--unit", "cycles"], ["calls"], ["calls", "--inline"],
]
# Through which trace units a log goes.
LOGS = {"a32-recur": ["ptm", "etmv3", "etmv4"], "a64-coro": ["ete", "etmv4"],
        "mix-indirect": ["etmv4", "ptm"], "sys-el": ["ete", "etmv4"]}
TRUTH = [("a64-O0-counts", "ete"), ("a64-throw", "etmv4"), ("a64-jumps", "ete"), ("rv64-counts", "etrace"),
         ("rv64-recur", "ntrace"), ("mix-indirect", "etmv3"), ("t32-counts", "ptm")]
M_LOGS = ["m3-nested", "m4-sched", "m33-tz", "m7-crash"]
PERF = ["p01-uname-perthread-etmv4-v1", "p03-juno-kernel-6cpu-etmv4-v1", "p04-tc2-etmv3-ptm-v1",
        "p10-walk-percpu-etmv4-v1", "p12-walk-percpu-ete-raw-vmid-v1",
        "p14-walk-percpu-etmv4-v2-hwid01-two-sinks", "p16-walk-snapshot-etmv4",
        "p19-walk-truncated-partial"]
SNAPSHOTS = ["a55-test-tpiu-part", "juno_r1_1", "ete_spec_1", "tme_simple", "stm_only",
             "itm_only_raw", "trace_cov_a15", "armv8_1m_branches"]


def bundled(tool):
    shutil.copytree(CAPTURES / "demo", tool.folder / "capture")
    return ["capture"]


def damaged(tool):
    """The demo with a byte changed here and there: losses that every analysis must show alike."""
    bundled(tool)
    path = tool.folder / "capture" / "ETB_0.bin"
    content = bytearray(path.read_bytes())
    for at in range(97, len(content), 509):
        content[at] ^= 0x5a
    path.write_bytes(content)
    return ["capture"]


def encoded(log, unit):
    def make(tool):
        shutil.copy(CAPTURES / "logs" / f"{log}.exlog.gz", tool.folder / "log.exlog.gz")
        tool.run("encode", "log.exlog.gz", "--protocol", unit, "-o", "capture")
        return ["capture"]
    return make


def executed(folder, name, unit):
    """A log of the corpus, with its program's own lines and names."""
    def make(tool):
        logs = corpus() / folder
        shutil.copy(logs / f"{name}.exlog.gz", tool.folder / "log.exlog.gz")
        shutil.copy(logs / f"{name}.elf", tool.folder / "program.elf")
        tool.run("encode", "log.exlog.gz", "--elf", "program.elf", "--protocol", unit, "-o", "capture")
        return ["capture", "--symbols", "program.elf"]
    return make


def recorded(name):
    def make(tool):
        shutil.copy(corpus() / "perf" / f"{name}.perf.data", tool.folder / "perf.data")
        shutil.copytree(corpus() / "perf" / "root", tool.folder / "root", dirs_exist_ok=True)
        return ["perf.data", "--sysroot", "root"]
    return make


def snapshot(name):
    def make(tool):
        shutil.copytree(corpus() / "coresight" / "snapshots" / name, tool.folder / "capture")
        return ["capture"]
    return make


def table():
    rows = {}
    for line in TABLE.read_text().splitlines() if TABLE.exists() else []:
        digest, capture, words = line.split(" ", 2)
        rows[capture, words] = digest
    return rows


def write(rows):
    TABLE.write_text("".join(f"{digest} {capture} {words}\n"
                             for (capture, words), digest in sorted(rows.items())))


def digest_of(done):
    """Of what was written and the status; a version that grows changes nothing."""
    content = re.sub(rb"trackway \d+\.\d+\.\d+", b"trackway", done.stdout)
    return f"{done.returncode}:{hashlib.sha256(content).hexdigest()[:16]}"


def taken(words, command):
    """Those that the command has: listings of packets know no symbols."""
    return words[:1] if command in ("info", "packets", "stats") and "--symbols" in words else words


def saved(tool, words, analysis):
    """The file, and what is read from it twice."""
    command, *more = analysis
    done = tool.run(command, *words, *more, "--save", "part.twr", "-q", "-o", "shown", status=None)
    path = tool.folder / "part.twr"
    if not path.exists():
        return digest_of(done)
    done = tool.run(command, "--add", "part.twr", "--add", "part.twr", *more, "--format", "jsonl", "-q",
                    status=None)
    done.stdout += path.read_bytes()
    path.unlink()
    return digest_of(done)


def check(name, make):
    def run(tool):
        words, rows = make(tool), table()
        found = {(name, " ".join(analysis)):
                 digest_of(tool.run(*analysis[:1], *taken(words, analysis[0]), *analysis[1:], "-q",
                                    status=None))
                 for analysis in ANALYSES}
        found |= {(name, f"{' '.join(analysis)} --save"): saved(tool, words, analysis)
                  for analysis in SAVED}
        if os.environ.get("TW_WRITE_DIGESTS"):
            write(rows | found)
            return
        wrong = [words for (_, words), digest in found.items()
                 if rows.get((name, words)) != digest]
        assert not wrong, f"{name}: other output than before: {'; '.join(wrong)}"
    return run


def has_corpus():
    try:
        return bool(corpus())
    except Skip:
        return False


def add_cases():
    makers = {"demo": bundled, "demo-damaged": damaged}
    for log, units in LOGS.items():
        makers |= {f"{log}-{unit}": encoded(log, unit) for unit in units}
    if has_corpus() and not os.environ.get("TW_SANITIZED"):
        makers |= {f"{name}-{unit}-lines": executed("analysis/truth", name, unit)
                   for name, unit in TRUTH}
        makers |= {name: executed("exec-m/logs", name, "etmv4") for name in M_LOGS}
        makers |= {name: recorded(name) for name in PERF}
        makers |= {name: snapshot(name) for name in SNAPSHOTS}
    for name, make in makers.items():
        add_case(f"digests_{name.replace('-', '_')}", check(name, make))


add_cases()
