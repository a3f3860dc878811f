# SPDX-License-Identifier: BSD-2-Clause
"""reports.py TOOL PROGRAM: what commands of the tool print of every perf.data in the corpus, a program
prints that knows the public headers alone."""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMANDS = {
    "runs": ["decode", "--format", "runs"],
    "stats": ["stats", "--format", "jsonl"],
    "autofdo": ["branches", "--format", "autofdo"],
}


def output(words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)


def main():
    tool, program = sys.argv[1:3]
    corpus = pathlib.Path(os.environ.get("TRACKWAY_CORPUS") or ROOT.parent / "shared" / "corpus")
    files = [(path, path.parent / "root") for path in sorted(corpus.rglob("*.data"))
             if path.is_file() and path.read_bytes()[:8] == b"PERFILE2"]
    if not files:
        print("[  SKIPPED ] no corpus")
        return 0
    failed = passed = 0
    nothing = tempfile.TemporaryDirectory()  # files come from the root alone
    for path, root in files:
        for name, words in COMMANDS.items():
            want = output([tool, *words, path, "--sysroot", root, "--build-ids", nothing.name])
            got = output([program, name, path, root])
            if got.stdout == want.stdout and (got.returncode == 0) == (want.returncode < 2):
                passed += 1
            else:
                failed += 1
                print(f"[  FAILED  ] {name} of {path.name}")
    print(f"[  PASSED  ] {passed} test(s).")
    return failed != 0


sys.exit(main())
