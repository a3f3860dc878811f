# SPDX-License-Identifier: BSD-2-Clause
"""run.py LIBRARY [NAME...]: the drop-in for OpenCSD, from outside; $CC is the compiler."""
import os
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parent.parent)]

import abi_cases  # noqa: E402, F401
import calls_cases  # noqa: E402
import differ_cases  # noqa: E402, F401
import later_cases  # noqa: E402, F401
import perf_cases  # noqa: E402, F401
import settings_cases  # noqa: E402, F401
from harness import Tool, main  # noqa: E402


class DropIn(Tool):
    """The built library."""

    def __init__(self, program, folder):
        super().__init__(program, folder)
        self.library = pathlib.Path(program).resolve()
        self.compiler = os.environ.get("CC", "cc").split()
        self.calls = programs() / "opencsd_calls"
        self.differ = programs() / "opencsd_differ"


def programs():
    """Where the C programs of these tests are."""
    folder = os.environ.get("TW_OPENCSD_PROGRAMS")
    return pathlib.Path(folder) if folder else pathlib.Path(sys.argv[1]).resolve().parents[3] / "tests"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        calls_cases.add_cases(programs() / "opencsd_calls")
    sys.exit(main(DropIn))
