# SPDX-License-Identifier: BSD-2-Clause
"""Calls that no one should make: the drop-in answers as the original does, and does not crash where that
one does."""
import os
import subprocess

import headers
from harness import Skip, add_case, equal

# The original crashes; this is what the drop-in says (docs/opencsd.md has them too).
CRASHES = {
    "data_no_decoder": "data 0 16 used 0 -> 6|data 0 16 used 16 -> 0" + 3 * "|raw 6|framed 0",
    "create_null_handle": "create 6",
    "create_null_name": "create 6",
    "create_null_config": "create 6",
    "create_null_id": "create 6",
    "remove_null_handle": "remove 6",
    "destroy_twice": "data 0 16 used 99 -> 6|data 6",
    "foreign_handle": "data 6",
    "output_null_handle": "outfn 6",
    "output_null_function": "outfn 0|data 0 64 used 12 -> 6",
    "memory_null_path": "null 6",
    "attach_null_handle": "attach 4",
    "attach_null_function": "attach 0|data 0 32 used 32 -> 0",
    "stats_null_handle": "get 6",
    "stats_null_block": "get 6",
    "packet_text_null": "null 6",
    "element_text_null": "null 6",
    "element_init_null": "init 0",
    "frame_printer_without_frames": "frames 29",
    "error_text_null": "text 0",
    "error_text_size_0": "text 120",
    "message_null": "message 0",
    "last_error_null": "last 6",
    "custom_register_null": "name 6",
    "custom_register_null_factory": "factory 6",
    "custom_create_odd": "create 4|id 238|create 5 0|create 1|id 238|deregister 0|gone 40",
}
# It answers otherwise, for a reason: the lines that differ, the original's and the drop-in's.
DIFFERENT = {
    # The original tells of bytes that an earlier call took.
    "data_odd_framed": [("data 16 16 used 32 -> 9", "data 16 16 used 0 -> 9")],
    # A removed decoder of the original stays connected to its frames.
    "create_odd": [("once more 10", "once more 0")],
    # More bytes than were wanted: the original gives up, for the drop-in there is no memory.
    "memory_reads_too_much": [("element 26 16 1", "element 26 16 7")],
    # The original knows its own names only after the first tree, and so gives a number too few.
    "custom_registering": [("built in 0", "built in 39"),
                           *((f"number {n}", f"number {n - 1}") for n in range(101, 110)),
                           ("B8 42", "B8 0"), ("number 110", "number 109")],
    # Four bytes are left: the original's cache gives none of them.
    "custom_library_memory": [("count 0", "count 4")],
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
            assert status != 0, f"the original does not crash\n{want}"
            equal(got.split("\n")[:-1], CRASHES[name].split("|"))
            return
        assert status == 0, f"the original: status {status}\n{want}"
        want, got = want.splitlines(), got.splitlines()
        equal(len(got), len(want), "lines")
        equal([pair for pair in zip(want, got) if pair[0] != pair[1]], DIFFERENT.get(name, []))
    return compare


def add_cases(program):
    done = subprocess.run([program, "-"], capture_output=True, text=True, check=True)
    for name in done.stdout.split():
        add_case(f"calls/{name}", check(name))
