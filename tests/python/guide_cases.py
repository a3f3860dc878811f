# SPDX-License-Identifier: BSD-2-Clause
"""The code of docs/python.md runs, in order."""
import contextlib
import io
import os
import re

from harness import ROOT, case


@case
def the_guide_runs(tool):
    text = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    assert len(blocks) > 6
    names, before = {}, os.getcwd()
    os.chdir(ROOT)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            for block in blocks:
                exec(compile(block, "docs/python.md", "exec"), names)  # pylint: disable=exec-used
    finally:
        os.chdir(before)
