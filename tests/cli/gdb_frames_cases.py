# SPDX-License-Identifier: BSD-2-Clause
"""trackway gdb: commands at frames that are not the innermost, on the console and over GDB's machine interface."""
import os
import re
import subprocess

from exec_log import executed
from gdb_cases import gdb_program, folder_of, session, Symbols, Truth, UNITS
from harness import add_case, case, equal


def encoded(tool, name):
    folder = folder_of("truth")
    elf = folder / f"{name}.elf"
    tool.run("encode", folder / f"{name}.exlog.gz", "--elf", elf, "--protocol", UNITS[name.split("-")[0]], "-o", "capture")
    return elf, executed(folder / f"{name}.exlog.gz"), Truth(name)


def deep_place(truth, depth):
    """An instruction inside a call where the stack has this depth at least, and every frame returns later."""
    for number, stack in zip(truth.numbers, truth.stacks):
        if len(stack) >= depth:
            return number + 1
    raise AssertionError(f"the stack is never {depth} deep")


def info_frame_tells_of_every_level(name):
    def run(tool):
        elf, log, truth = encoded(tool, name)
        place = deep_place(truth, 4)
        stack, symbols = truth.at(place)[::-1], Symbols(elf)
        levels = range(len(stack))
        commands = [f"trackway goto n:{place}"] + [f"info frame level {level}" for level in levels]
        for _ in levels[1:]:
            commands += ["up", "info frame"]
        commands += ["info registers sp", "down", "info frame", f"info frame function {stack[1]}", "info frame level 99",
                     "info frame"]
        stops = session(tool, "capture", elf, commands)[1:]
        said = [(stop["command"], stop["said"]) for stop in stops]
        at_level = [text for _, text in said[1:1 + len(stack)]]
        walked = [text for command, text in said[1 + len(stack):] if command == "info frame"]
        for level in levels:
            for text in [at_level[level]] + ([walked[level - 1]] if level else []):
                found = re.search(r"^ pc = 0x([0-9a-f]+) in (\S+?)(?: \(.*)?; saved pc", text, re.M)
                assert found and symbols.same(found.group(2), stack[level]), (level, stack, text)
                assert ("caller of frame" in text) == (level > 0), (level, text)
                assert "called by frame" in text, (level, text)
                assert "not saved" not in text, text
        equal(int(re.search(r"pc = 0x([0-9a-f]+)", at_level[0]).group(1), 16), log[place], "the pc")
        for text in walked:
            assert re.match(r"Stack level \d+, frame at", text), text
        told = dict(said)
        if "a64" in name or "rv" in name:
            assert "not saved" in told["info registers sp"], "a stand-in stays"
        assert "No frame at level 99" in told["info frame level 99"], told["info frame level 99"]
        equal(walked[-1], walked[-2], "the selected frame stays selected")
    return run


def finish_leaves_outer_frames(name):
    """finish leaves the frame that is selected; reverse-finish goes back to the call of the function that runs."""
    def run(tool):
        elf, log, truth = encoded(tool, name)
        depth = 4
        place = deep_place(truth, depth)
        want = next(number for number in range(place, len(log)) if len(truth.at(number)) < depth - 1)
        back = next(number for number in range(place, 0, -1) if len(truth.at(number)) < len(truth.at(place)))
        stops = session(tool, "capture", elf, [f"trackway goto n:{place}", "up", "finish", f"trackway goto n:{place}", "up",
                                               "reverse-finish"])
        equal(stops[3]["number"], want, stops[3]["said"])
        equal(stops[6]["number"], back, stops[6]["said"])
        equal(stops[6]["pc"], log[back], "the call")
    return run


for each in ("a64-recur", "a32-recur", "t32-counts", "mix-indirect", "rv64-recur"):
    add_case(f"gdb_info_frame_{each}", info_frame_tells_of_every_level(each))
    add_case(f"gdb_finish_outer_{each}", finish_leaves_outer_frames(each))


def mi(tool, capture, elf, commands, *options):
    """What GDB's machine interface answers to each command."""
    env = dict(os.environ, TRACKWAY_GDB=gdb_program(), HOME=str(tool.folder))
    sent = "".join(f"{number}{command}\n" for number, command in enumerate(commands, 1))
    done = subprocess.run([tool.program, "gdb", str(capture), str(elf), *options, "--", "-nx", "--interpreter=mi3"],
                          input=sent.encode(), cwd=tool.folder, env=env, timeout=120, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    text = done.stdout.decode()
    return [re.search(rf"^{number}\^.*$", text, re.M).group(0) for number in range(1, len(commands) + 1)]


@case
def gdb_machine_interface_shows_the_stack(tool):
    """What IDEs ask: the frames, one of them, how deep it is."""
    elf, _, truth = encoded(tool, "a64-recur")
    place = deep_place(truth, 4)
    stack = truth.at(place)[::-1]
    frames, depth, one, bad = mi(tool, "capture", elf, [
        "-stack-list-frames", "-stack-info-depth", "-stack-info-frame --thread 1 --frame 2",
        "-stack-info-frame --thread 1 --frame 99"], "--at", f"n:{place}")
    equal(re.findall(r'level="(\d+)",addr="[^"]*",func="([^"]*)"', frames),
          [(str(level), function) for level, function in enumerate(stack)], "frames")
    assert f'depth="{len(stack)}"' in depth, depth
    assert f'level="2"' in one and f'func="{stack[2]}"' in one, one
    assert "^error" in bad, bad
