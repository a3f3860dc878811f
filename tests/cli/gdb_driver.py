# SPDX-License-Identifier: BSD-2-Clause
"""Runs inside GDB: does the commands of $TW_GDB_COMMANDS (JSON) and writes what GDB shows after each to
$TW_GDB_RESULTS, a line of JSON each."""
import bisect
import json
import os
import re

import gdb

LOOPS = ("mem", "str", "__mem", "__str")


def real_stack(most):
    """Functions that were called: an inlined one has the name of the function around it."""
    names, frame = [], gdb.newest_frame()
    while frame is not None and len(names) < most:
        if frame.level() and frame.pc() == 0:
            break
        if frame.type() == gdb.NORMAL_FRAME:
            text = gdb.execute("info symbol 0x%x" % (frame.pc() - (1 if names else 0)), to_string=True)
            found = re.match(r"(\S+)(?: \+ \d+)? in section", text)
            names.append(found.group(1) if found else "?")
        frame = frame.older()
    return names


def state(most):
    where = gdb.execute("monitor where", to_string=True)
    number = re.search(r"instruction (\d+)", where)
    sal = gdb.newest_frame().find_sal()
    return {"pc": gdb.newest_frame().pc(), "number": int(number.group(1)) if number else None,
            "thread": gdb.selected_thread().num, "line": sal.line if sal and sal.symtab else 0,
            "is_inlined": gdb.newest_frame().type() == gdb.INLINE_FRAME, "stack": real_stack(most),
            "breakpoints": [place.address for point in gdb.breakpoints() for place in point.locations]}


def is_long(stretches, number):
    """Whether many instructions of the function came right before this one."""
    at = bisect.bisect_right(stretches, [number, number]) - 1
    return at >= 0 and number <= stretches[at][1]


def do(command, stretches, number):
    """Loops on one line, and functions without lines, are gone back through instruction by instruction by GDB: that takes
    minutes where there are many.  They are left at once then."""
    function = gdb.newest_frame().name() or ""
    if function.startswith(LOOPS) and command in ("step", "next", "until", "reverse-step", "reverse-next"):
        command = "reverse-finish" if command.startswith("reverse") else "finish"
    elif command in ("reverse-step", "reverse-next") and number is not None and is_long(stretches, number):
        command = "reverse-finish"
    try:
        return command, gdb.execute(command, to_string=True)
    except gdb.error as error:
        return command, "error: " + str(error)


def main():
    with open(os.environ["TW_GDB_COMMANDS"], encoding="utf-8") as file:
        commands = json.load(file)
    gdb.execute("set backtrace past-main on")
    gdb.execute("set backtrace past-entry on")
    gdb.execute("set print demangle off")
    gdb.execute("set confirm off")
    for name in LOOPS:
        gdb.execute(f"skip -rfunction ^{name}", to_string=True)
    with open(os.environ["TW_GDB_RESULTS"], "w", encoding="utf-8") as out:
        now = {}
        for command in [None] + commands["commands"]:
            command, said = do(command, commands["long"], now["number"]) if command else (None, "")
            now = state(commands["depth"])
            out.write(json.dumps({"command": command, "said": said, **now}) + "\n")
            out.flush()


main()
