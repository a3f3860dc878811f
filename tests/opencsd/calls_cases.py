# SPDX-License-Identifier: BSD-2-Clause
"""Calls that no one should make: the drop-in answers as the original does, and does not crash where that
one does."""
import os
import subprocess

import headers
from harness import Skip, add_case

# The original crashes, hangs or reads what is not its own; the drop-in answers.
CRASHES = {
}
# It answers otherwise, for a reason.
DIFFERENT = {
}


def run(program, library, name, folder):
    folder.mkdir(exist_ok=True)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRACKWAY_")}
    done = subprocess.run([program, library, name], cwd=folder, env=environment, capture_output=True,
                          text=True, errors="replace", check=False, timeout=60)
    return done.returncode, done.stdout


def check(name):
    def compare(tool):
        original = headers.system_library(tool.compiler)
        if not original:
            raise Skip("no libopencsd")
        status, got = run(tool.calls, tool.library, name, tool.folder / "got")
        assert status == 0, f"the drop-in: status {status}\n{got}"
        status, want = run(tool.calls, original, name, tool.folder / "want")
        if name in CRASHES:
            return
        assert status == 0, f"the original: status {status}\n{want}"
        if name in DIFFERENT:
            assert got != want
            return
        assert got == want, "\n".join(f"{a} / {b}" for a, b in zip(want.splitlines(), got.splitlines())
                                      if a != b) + f"\n{len(want)} {len(got)}"
    return compare


def add_cases(program):
    done = subprocess.run([program, "-"], capture_output=True, text=True, check=True)
    for name in done.stdout.split():
        add_case(f"calls/{name}", check(name))
