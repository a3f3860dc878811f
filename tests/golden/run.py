#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every expected run of the corpus against the built program: usage: run.py PROGRAM [NAME...].

One case for each run and kind (packets, elements). What is accepted as different stands in
docs/known-differences.jsonl.
"""
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import harness  # noqa: E402
from compare import compare  # noqa: E402

KNOWN = harness.ROOT / "docs" / "known-differences.jsonl"
PROTOCOLS = {"ETMV4I": "etmv4", "ETE": "ete", "PTM": "ptm", "ETMV3": "etmv3", "STM": "stm",
             "ITM": "itm"}
# Beyond --buffer, which every run with a buffer of its own gets.
OPTIONS = {
    "src_addr_n": ["--opt", "src-addr-n"],
    "rangelimit": ["--opt", "range-limit=100"],
    "badopcode": ["--check", "opcodes"],
    "resync": ["--on-error", "wait"],
    "multi_session": ["--opt", "multi-session"],
}
SHOWN = 5


def options_of(run, about, is_several):
    words = list(OPTIONS.get(run, []))
    if run.startswith("src-"):
        words += ["--buffer", run[len("src-"):]]
    elif run != "multi_session" and is_several:
        words += ["--buffer", about["buffers"][0]["name"]]
    return words


def known_rows(run, kind):
    if not KNOWN.exists():
        return []
    rows = [json.loads(line) for line in KNOWN.read_text().splitlines() if line.strip()]
    return [row for row in rows if row["run"] == run and row["kind"] == kind]


def buffer_count(tool, capture):
    text = tool.run("info", capture, "--format", "jsonl", "-q").out
    return sum(json.loads(line)["t"] == "BUFFER" for line in text.splitlines())


def check(folder, kind):
    about = json.loads((folder / "run.json").read_text())
    capture = folder.parents[2] / "snapshots" / folder.parent.name
    command = "packets" if kind == "packets" else "decode"

    def run(tool):
        known_protocols = tool.run("--version").out.splitlines()[2].split()
        for name in {row["protocol"] for row in about["decoders"]}:
            if PROTOCOLS.get(name) not in known_protocols:
                raise harness.Skip(f"this build knows no {name}")
        words = options_of(folder.name, about, buffer_count(tool, capture) > 1)
        if kind == "packets":  # what only the path has a use for
            words = [w for i, w in enumerate(words)
                     if "--check" not in (w, words[i - 1] if i else "")]
        done = tool.run(command, capture, "--format", "jsonl", "-q", *words, status=None)
        assert done.returncode < 2, done.err
        total, said = compare(folder, kind, done.out, known_rows(
            f"{folder.parent.name}/{folder.name}", kind))
        assert not said, "\n".join(said[:SHOWN] + [f"{len(said)} of {total} lines differ"])

    return run


def the_list_of_known_differences_is_up_to_date(tool):
    done = subprocess.run([harness.ROOT / "scripts" / "make-known-differences", "--check"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    harness.equal(done.returncode, 0, done.stdout.decode())


def no_corpus(tool):
    harness.corpus()


def add_cases():
    harness.add_case("known_differences", the_list_of_known_differences_is_up_to_date)
    try:
        root = harness.corpus()
    except harness.Skip:
        harness.add_case("golden", no_corpus)
        return
    for group in ["coresight", "perf-real"]:
        for folder in sorted((root / group / "expected").glob("*/*")):
            for kind, prefix in [("packets", "pkts-"), ("elements", "elems-")]:
                if list(folder.glob(prefix + "*.jsonl.gz")):
                    harness.add_case(f"{folder.parent.name}/{folder.name}/{kind}",
                                     check(folder, kind))


add_cases()
if __name__ == "__main__":
    sys.exit(harness.main())
