# SPDX-License-Identifier: BSD-2-Clause
"""run.py LIBRARY [NAME...]: the drop-in for OpenCSD, from outside; $CC is the compiler."""
import os
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parent.parent)]

import abi_cases  # noqa: E402, F401
import perf_cases  # noqa: E402, F401
from harness import Tool, main  # noqa: E402


class DropIn(Tool):
    """The built library."""

    def __init__(self, program, folder):
        super().__init__(program, folder)
        self.library = pathlib.Path(program).resolve()
        self.compiler = os.environ.get("CC", "cc").split()


if __name__ == "__main__":
    sys.exit(main(DropIn))
