# SPDX-License-Identifier: BSD-2-Clause
"""trackway gdb and a client that is no GDB: packets that make no sense, and more of everything than there is room for."""
import re

from gdb_cases import packet, serve
from harness import case, equal
from plugin_cases import go, lap

BREAKPOINTS = 4096
REMOVED = 256


def answers(tool, *words):
    """What is answered to packets, one by one."""
    opened = lap(tool, go(0x4000) + 8 * b"T" + b"N")
    out = serve(tool, b"+".join(packet(word) for word in words), *opened[1:], "-q", capture=opened[0])
    found = [answer.decode() for answer in re.findall(rb"\$([^#]*)#[0-9a-f]{2}", out)]
    equal(len(found), len(words), "answers")
    return found


@case
def gdb_refuses_what_it_cannot_read(tool):
    rows = {"vCont;C": "E22", "vCont;Czz": "E22", "vCont;r4000": "E22", "vCont;x": "E22", "vCont;": "E22", "vCont;s:63": "E22",
            "Z0,zz,4": "E22", "Z0": "E22", "Z2,4000,4": "", "qXfer:features:read:target.xml:zz": "E22",
            "qXfer:threads:read::zz": "E22", "qXfer:features:read:other.xml:0,10": "E00", "qThreadExtraInfo,zz": "E22",
            "qThreadExtraInfo,63": "E22", "x": "", "qNonsense": ""}
    equal(dict(zip(rows, answers(tool, *rows))), rows)


@case
def gdb_gives_pieces_up_to_the_end(tool):
    first, behind, whole = answers(tool, "qXfer:features:read:target.xml:0,10", "qXfer:features:read:target.xml:ffffff,10",
                                   "qXfer:features:read:target.xml:0,fffffff")
    equal((first[0], len(first)), ("m", 17))
    equal(behind, "l")
    assert whole[1:].startswith(first[1:]), whole[:40]


@case
def gdb_has_room_for_so_many_breakpoints(tool):
    """One more is refused, and has room when another goes; of many that went the last are remembered."""
    every = [f"Z0,{0x4000 + 4 * i:x},4" for i in range(BREAKPOINTS + 1)]
    gone = [f"z0,{0x4000 + 4 * i:x},4" for i in range(REMOVED + 2)]
    found = answers(tool, *every, *gone, every[-1], "c")
    equal(set(found[:BREAKPOINTS]), {"OK"})
    equal(found[BREAKPOINTS], "E28")
    equal(set(found[BREAKPOINTS + 1:-1]), {"OK"})
    assert found[-1].startswith("T05"), found[-1]
