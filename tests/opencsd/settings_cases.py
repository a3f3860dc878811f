# SPDX-License-Identifier: BSD-2-Clause
"""What the environment changes: TRACKWAY_OPENCSD_VERSION and TRACKWAY_OPENCSD_STRICT."""
import os
import shutil
import subprocess
import sys

import differ_cases
import headers
import perf_cases
from harness import Skip, case, corpus, equal

# Error codes as text, and the answer to a packet of ETE.
ASK = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
text = ctypes.create_string_buffer(300)
for code in range(int(sys.argv[2])):
    library.ocsd_err_str(code, text, 300)
    print(code, text.value.decode())
print(library.ocsd_pkt_str(6, ctypes.create_string_buffer(1000), text, 300))
print(hex(library.ocsd_get_version()))
"""


def ask(library, codes, **settings):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRACKWAY_OPENCSD_")}
    done = subprocess.run([sys.executable, "-c", ASK, library, str(codes)], env=dict(environment, **settings),
                          capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@case
def strict_answers_are_those_of_the_original(tool):
    original = headers.system_library(tool.compiler)
    if not original:
        raise Skip("no libopencsd")
    want = ask(original, 44)
    equal(ask(tool.library, 44, TRACKWAY_OPENCSD_STRICT="1"), want)
    got = ask(tool.library, 44)
    different = [number for number, (a, b) in enumerate(zip(want, got)) if a != b]
    equal(different, [33, 34, 42, 43, 44], "codes that the original confuses, and packets of ETE")
    assert "OCSD_ERR_MEM_ACC_RANGE_INVALID" in got[33] and "OCSD_ERR_MEM_ACC_BAD_LEN" in got[34], got[33:35]
    assert "OCSD_ERR_DCDREG_TOOMANY" in got[42] and "OCSD_ERR_DCD_INTERFACE_UNUSED" in got[43], got[42:44]


@case
def strict_timestamps_are_in_gray_code(tool):
    snapshot = corpus() / "coresight" / "snapshots" / "Snowball"
    os.environ["TRACKWAY_OPENCSD_STRICT"] = "1"
    try:
        found = differ_cases.differences(tool, snapshot, 0, "full")
    finally:
        del os.environ["TRACKWAY_OPENCSD_STRICT"]
    # Cycle counts where code is missing are more than the original has, and nothing else.
    assert set(found) == {0x10, 0x11} and all(want == 0 for _, want, _ in found.values()), found


@case
def version_1_7_1_is_told(tool):
    got = ask(tool.library, 47, TRACKWAY_OPENCSD_VERSION="1.7.1")
    equal(got[-1], "0x10701")
    for code, name in ((44, "INVALID_OPCODE"), (45, "I_RANGE_LIMIT_OVERRUN"), (46, "BAD_DECODE_IMAGE")):
        assert f"OCSD_ERR_{name}" in got[code], got[code]
    equal(ask(tool.library, 0)[-1], "0x10303")


@case
def texts_of_1_7_1_tell_of_the_sync_point(tool):
    path = corpus() / "perf" / "p12-walk-percpu-ete-raw-vmid-v1.perf.data"
    if not shutil.which("perf") or not perf_cases.uses(tool.library, tool.folder):
        raise Skip("no perf")
    words = ["perf", "report", "-D", "-i", str(path), f"--symfs={path.parent / 'root'}"]
    want = perf_cases.run(words, None, tool.folder)[1].splitlines()
    got = perf_cases.run(words, tool.library, tool.folder, TRACKWAY_OPENCSD_VERSION="1.7.1")[1].splitlines()
    more = b"; Decoder Sync point TINFO"
    marked = [line for line in got if more in line]
    assert marked and all(b"I_TRACE_INFO" in line for line in marked), marked[:3]
    equal(len(marked), sum(b"I_TRACE_INFO" in line for line in want))
    assert [line.replace(more, b"") for line in got] == want
