# SPDX-License-Identifier: BSD-2-Clause
"""trackway gdb over captures of real machines: random commands, each stop compared with what decode lists."""
import os
import re

from gdb_cases import check_pairs, check_stops, COMMANDS, Model, packet, random_commands, serve, session
from harness import add_case, corpus, equal, Skip

FULL = os.environ.get("TW_TEST_FULL")
PLAIN = ("a57_single_step", "trace_cov_a15")


def text_of(answer):
    return "".join(bytes.fromhex(part.split("#")[0]).decode() for part in answer.decode().split("$O")[1:]
                   if not part.startswith("K#"))


def stops_equal_the_listing(name, seed):
    def run(tool):
        capture = corpus() / "coresight" / "snapshots" / name
        if "no instruction" in tool.run("gdb", "--serve", capture, status=None).err:
            raise Skip("its code is not there")
        said = serve(tool, packet("qRcmd," + b"threads".hex()) + packet("qRcmd," + b"gaps".hex()), capture=capture)
        if "threads: 1;" not in text_of(said) or "0 in all" not in text_of(said):
            raise Skip("several CPUs, or gaps")  # other tests have them
        lines = tool.run("decode", capture, "--format", "pcs").out.splitlines()
        log = [int(line, 16) for line in lines if line[0] != "#"]
        commands = random_commands(seed, log, COMMANDS if FULL else 100)
        stops = session(tool, capture, None, commands, "--first", "-q")
        equal((stops[0]["number"], stops[0]["pc"]), (0, log[0]), "--first")
        last = stops[1]["number"]
        assert last in (len(log) - 1, len(log)), f"the end is {last} of {len(log)}"
        check_stops(stops, Model(log, last, None, name), None)
        check_pairs(stops)
    return run


def names():
    try:
        return sorted(path.name for path in (corpus() / "coresight" / "snapshots").iterdir()
                      if re.search(r"^\[trace_buffers\]|\[trace\]", (path / "snapshot.ini").read_text(), re.M))
    except (Skip, OSError):
        return []


for number, each in enumerate(names()):
    if FULL or each in PLAIN:
        add_case(f"gdb_stops_real_{each}", stops_equal_the_listing(each, number))
