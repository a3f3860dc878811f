# SPDX-License-Identifier: BSD-2-Clause
"""run.py PROGRAM [NAME...]: the Python package beside the program: the same captures, the same answers.

$TW_PYTHON_PACKAGE is the folder that holds the package.
"""
import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parent.parent)]
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
if os.environ.get("TW_PYTHON_PACKAGE"):
    sys.path.insert(0, os.environ["TW_PYTHON_PACKAGE"])

import harness  # noqa: E402

try:
    import numpy  # noqa: E402, F401
except ImportError:
    print("skipped: no NumPy (python3-numpy)")
    print("[  PASSED  ] 0 test(s).\n[  SKIPPED ] 1 test(s).")
    sys.exit(0)

import analysis_cases  # noqa: E402, F401
import dask_cases  # noqa: E402, F401
import encode_cases  # noqa: E402, F401
import guide_cases  # noqa: E402, F401
import element_cases  # noqa: E402, F401
import hint_cases  # noqa: E402, F401
import program_cases  # noqa: E402, F401
import random_cases  # noqa: E402, F401

sys.exit(harness.main())
