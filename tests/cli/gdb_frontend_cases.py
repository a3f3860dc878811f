# SPDX-License-Identifier: BSD-2-Clause
"""trackway gdb below front ends: GDB's TUI on a terminal, and its machine interface, as IDEs use it."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from exec_log import executed
from gdb_cases import Symbols, Truth, UNITS, folder_of, gdb_program, read_until
from harness import Skip, case, equal

ROWS, COLUMNS = 48, 160


class Program:
    """A capture of a program of the corpus, and a place in it that is deep in calls."""

    def __init__(self, tool, name):
        folder = folder_of("truth")
        log_path, self.elf = folder / f"{name}.exlog.gz", folder / f"{name}.elf"
        tool.run("encode", log_path, "--elf", self.elf, "--protocol", UNITS[name.split("-")[0]], "-o", name)
        self.capture, self.log, self.truth, self.symbols = tool.folder / name, executed(log_path), Truth(name), Symbols(self.elf)
        at = max(range(len(self.truth.stacks)), key=lambda i: min(len(self.truth.stacks[i]), 6))
        self.deep = self.truth.numbers[at] + 1

    def stack(self, number):
        """The innermost function first."""
        return self.truth.at(number)[::-1]

    def returned(self, number):
        """Where the function has come back to its caller."""
        depth = len(self.truth.at(number))
        while len(self.truth.at(number)) >= depth:
            number += 1
        return number

    def called(self, number):
        """The call of the function."""
        depth = len(self.truth.at(number))
        while len(self.truth.at(number)) >= depth:
            number -= 1
        return number


def environment(tool, **more):
    return dict(os.environ, TRACKWAY_GDB=gdb_program(), HOME=str(tool.folder), **more)


# ---- the TUI ----


class Screen:
    """What a VT52 shows: few things are to be known of it, and curses works with it."""

    def __init__(self):
        self.cells = [[" "] * COLUMNS for _ in range(ROWS)]
        self.row = self.column = 0
        self.escape = ""

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.cells)

    def line(self):
        """That of the cursor."""
        return "".join(self.cells[self.row]).strip()

    def take(self, data):
        for one in data.decode("latin-1"):
            if self.escape:
                self.take_escape(one)
            elif one == "\x1b":
                self.escape = one
            elif one == "\n":
                self.down()
            elif one == "\r":
                self.column = 0
            elif one == "\b":
                self.column = max(0, self.column - 1)
            elif one == "\t":
                self.column = min(COLUMNS - 1, self.column // 8 * 8 + 8)
            elif one >= " ":
                self.cells[self.row][self.column] = one
                self.column = min(COLUMNS - 1, self.column + 1)

    def down(self):
        if self.row == ROWS - 1:
            self.cells = self.cells[1:] + [[" "] * COLUMNS]
        else:
            self.row += 1

    def take_escape(self, one):
        self.escape += one
        if self.escape[1] == "[":  # colours of ANSI, which are not for this terminal
            if len(self.escape) < 3 or not "@" <= one <= "~":
                return
        elif self.escape[1] == "Y":
            if len(self.escape) < 4:
                return
            self.row, self.column = min(ROWS - 1, ord(self.escape[2]) - 32), min(COLUMNS - 1, ord(self.escape[3]) - 32)
        elif one == "A":
            self.row = max(0, self.row - 1)
        elif one == "B":
            self.row = min(ROWS - 1, self.row + 1)
        elif one == "C":
            self.column = min(COLUMNS - 1, self.column + 1)
        elif one == "D":
            self.column = max(0, self.column - 1)
        elif one == "H":
            self.row = self.column = 0
        elif one == "I" and self.row:
            self.row -= 1
        elif one == "I":
            self.cells = [[" "] * COLUMNS] + self.cells[:-1]
        elif one in "JK":
            self.cells[self.row][self.column:] = [" "] * (COLUMNS - self.column)
            if one == "J":
                self.cells[self.row + 1:] = [[" "] * COLUMNS for _ in range(ROWS - 1 - self.row)]
        self.escape = ""


class Terminal:
    """GDB on a terminal."""

    def __init__(self, tool, *words):
        self.screen = Screen()
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        more = {"TERM": "vt52", "LC_ALL": "C", "LINES": str(ROWS), "COLUMNS": str(COLUMNS)}
        self.process = subprocess.Popen([tool.program, "gdb", *map(str, words), "--", "-nx", "-q"], cwd=tool.folder, stdin=theirs,
                                        stdout=theirs, stderr=theirs, env=environment(tool, **more), start_new_session=True)
        os.close(theirs)
        self.ours = ours

    def wait(self, before):
        """What the screen shows when it shows something else than before, and GDB asks for a command."""
        end = time.monotonic() + 120
        while self.screen.text() == before or self.screen.line() != "(gdb)":
            ready, _, _ = select.select([self.ours], [], [], max(0, end - time.monotonic()))
            assert ready, f"GDB does not come back:\n{self.screen.text()}"
            try:
                self.screen.take(os.read(self.ours, 65536))
            except OSError:
                raise AssertionError(f"GDB ended:\n{self.screen.text()}") from None
        return self.screen.text()

    def do(self, command):
        """Types a command, when there is a prompt: what is typed before is echoed by the terminal, unknown to curses."""
        before = self.screen.text()
        os.write(self.ours, f"{command}\n".encode())
        return self.wait(before)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.ours)


def status(text):
    """The function of the TUI's status line."""
    found = re.findall(r"In: (\S+)", text)
    assert found, text
    return found[-1]


@case
def gdb_shows_the_traced_stack_in_its_tui(tool):
    """bt, up, down, finish, reverse-finish and reverse-stepi in the TUI: the status line has the function of the trace."""
    program = Program(tool, "a64-counts")
    stack, same = program.stack(program.deep), program.symbols.same
    assert len(stack) > 2, stack
    terminal = Terminal(tool, program.capture, program.elf)
    try:
        terminal.wait("")
        said = terminal.do("tui enable")
        if "Cannot enable the TUI" in said:
            raise Skip("this GDB has no TUI")
        terminal.do("layout asm")
        terminal.do(f"trackway goto n:{program.deep}")
        said = terminal.do("bt")
        shown = re.findall(r"#(\d+) +(?:0x[0-9a-f]+ in )?(\S+) \(", said[said.rindex("#0"):])
        assert [int(level) for level, _ in shown[:len(stack)]] == list(range(len(stack))), said
        assert all(same(name, want) for (_, name), want in zip(shown, stack)), (shown, stack)
        assert f"0x{program.log[program.deep]:x} <{stack[0]}" in said, said  # the window with the code stands there
        for command, level in (("up", 1), ("up", 2), ("down", 1), ("down", 0)):
            assert same(status(terminal.do(command)), stack[level]), (command, stack, terminal.screen.text())
        back = program.returned(program.deep)
        assert same(status(terminal.do("finish")), program.stack(back)[0]), terminal.screen.text()
        said = terminal.do("trackway where")
        assert re.search(rf"instruction {back}\b", said), said
        terminal.do(f"trackway goto n:{program.deep}")
        call = program.called(program.deep)
        assert same(status(terminal.do("reverse-finish")), program.stack(call)[0]), terminal.screen.text()
        said = terminal.do("trackway where")
        assert re.search(rf"instruction {call}\b", said), said
        said = terminal.do("reverse-stepi")
        assert f"PC: 0x{program.log[call - 1]:x}" in said, said
    finally:
        terminal.close()


# ---- the machine interface ----


class Machine:
    """GDB as an IDE starts it."""

    def __init__(self, tool, *words):
        self.count = 0
        self.process = subprocess.Popen([tool.program, "gdb", *map(str, words), "--", "-nx", "-q", "--interpreter=mi3"],
                                        env=environment(tool), cwd=tool.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        read_until(self.process.stdout, rb"\(gdb\)", 120)

    def do(self, command, stops=False):
        """The answer, and behind it the stop if it is one that runs."""
        self.count += 1
        self.process.stdin.write(f"{self.count}-{command}\n".encode())
        self.process.stdin.flush()
        pattern = rb"(?s)\n?%d\^(error[^\n]*\n|%s)" % (self.count, rb"running.*\*stopped[^\n]*\n" if stops else rb"done[^\n]*\n")
        said = read_until(self.process.stdout, pattern, 120).decode()
        assert f"{self.count}^error" not in said, said
        return said

    def close(self):
        self.process.kill()
        self.process.communicate()


def frames(said):
    return [(int(level), int(address, 16), name)
            for level, address, name in re.findall(r'frame=\{level="(\d+)",addr="(0x[0-9a-f]+)",func="([^"]*)"', said)]


def stopped(said):
    """Where a move ended."""
    found = re.search(r'\*stopped.*?frame=\{addr="(0x[0-9a-f]+)",func="([^"]*)"', said, re.S)
    assert found, said
    return int(found.group(1), 16), found.group(2)


def front_end(tool, name):
    """Stacks, selected frames, moves in both directions, threads and breakpoints over MI."""
    program = Program(tool, name)
    log, same, stack = program.log, program.symbols.same, program.stack(program.deep)
    machine = Machine(tool, program.capture, program.elf)

    def stands_at(said, number):
        address, function = stopped(said)
        equal(address, log[number], said)
        assert same(function, program.stack(number)[0]), (function, program.stack(number))

    try:
        machine.do('interpreter-exec console "set backtrace past-main on"')
        said = machine.do(f'interpreter-exec console "trackway goto n:{program.deep}"')
        assert '=thread-selected,id="1",frame={level="0"' in said, said  # it is known without a question
        shown = frames(machine.do("stack-list-frames"))
        equal(shown[0][:2], (0, log[program.deep]))
        assert len(shown) >= len(stack) and all(same(got[2], want) for got, want in zip(shown, stack)), (shown, stack)
        assert 'depth="' in machine.do("stack-info-depth")
        for level in (1, 2, 1, 0):
            machine.do(f"stack-select-frame {level}")
            equal(frames(machine.do("stack-info-frame"))[0], shown[level], "selected")
        assert 'current-thread-id="1"' in machine.do("thread-info")
        stands_at(machine.do("exec-step-instruction", stops=True), program.deep + 1)
        stands_at(machine.do("exec-step-instruction --reverse", stops=True), program.deep)
        back, call = program.returned(program.deep), program.called(program.deep)
        stands_at(machine.do("exec-finish", stops=True), back)
        machine.do(f'interpreter-exec console "trackway goto n:{program.deep}"')
        stands_at(machine.do("exec-finish --reverse", stops=True), call)
        machine.do(f"break-insert *0x{log[program.deep]:x}")
        on = next(number for number in range(call + 1, len(log)) if log[number] == log[program.deep])
        said = machine.do("exec-continue", stops=True)
        assert 'reason="breakpoint-hit"' in said, said
        stands_at(said, on)
        machine.do("break-delete")
        said = machine.do("exec-continue --reverse", stops=True)
        assert "No more reverse-execution history" in said, said
        stands_at(said, 0)
    finally:
        machine.close()


@case
def gdb_serves_front_ends_over_mi(tool):
    front_end(tool, "a64-counts")


@case
def gdb_serves_front_ends_over_mi_on_arm_and_riscv(tool):
    for name in ("t32-counts", "rv64-counts"):
        front_end(tool, name)
