# SPDX-License-Identifier: BSD-2-Clause
"""Captures for the tests of the Python package."""
import json

import harness

DEMO = harness.ROOT / "tests" / "captures" / "demo"


def some():
    """Captures of several protocols and forms, with the options that they need: the demo, and the corpus
    where it is there."""
    found = [(DEMO, {})]
    try:
        corpus = harness.corpus()
    except harness.Skip:
        return found
    for name in ("juno_r1_1", "Snowball", "TC2", "stm_only", "a57_single_step"):
        folder = corpus / "coresight" / "snapshots" / name
        if folder.is_dir():
            found.append((folder, {}))
    root = corpus / "perf" / "root"
    for path in sorted((corpus / "perf").glob("*.perf.data"))[:6]:
        found.append((path, {"sysroot": root}))
    return found


def lines(tool, *words, status=0):
    """Lines of JSON that the program prints."""
    return [json.loads(line) for line in tool.run(*words, status=status).out.splitlines()]


def words_of(options):
    """The options as the program has them."""
    return [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
