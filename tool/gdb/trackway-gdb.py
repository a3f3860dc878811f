# SPDX-License-Identifier: BSD-2-Clause
"""For GDB, beside `trackway gdb --serve`: the traced call stack as GDB's frames, and `trackway` commands.

A trace tells which instructions ran, not what memory or registers held.  So frames cannot be unwound; the server
knows them from the traced calls.  The register trackway_depth says which of them a frame is."""
import gdb
from gdb.unwinder import Unwinder

DEPTH = "trackway_depth"
UNKNOWN = 0  # the depth of what stands for callers that are not known ...
NOT_YET = 1  # ... or not yet: much would have to be decoded for them


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


# Where the server keeps the frame of level 0, and how much of each frame: see the server's machine.h.
FRAMES_64, FRAMES_32, EACH = 0x0070747261636B00, 0xFFFA0000, 32
IS_THERE, HAS_CALLER, CALLER_T32, LATER = 1, 2, 4, 8
ZERO = 0x100000  # the depth of level 0
FRAME_POINTERS = {"x29", "r7", "r11"}  # of A64, T32, A32


class Caller:
    """What calls a frame."""

    def __init__(self, architecture, depth):
        base = FRAMES_32 if architecture.integer_type(8).pointer().sizeof == 4 else FRAMES_64
        # All at once: GDB unwinds after each step of its own, and each read is a packet.
        record = bytes(gdb.selected_inferior().read_memory(base + (depth - ZERO) * EACH, 24))
        self.entry, self.pc, flags = (int.from_bytes(record[at:at + 8], "little") for at in (0, 8, 16))
        self.is_there = flags & IS_THERE != 0
        self.is_known = flags & HAS_CALLER != 0
        self.is_t32 = flags & CALLER_T32 != 0
        self.outer = NOT_YET if flags & LATER else UNKNOWN


class TracedFrames(Unwinder):
    def __init__(self):
        super().__init__("trackway")
        self.is_told = False  # see InfoFrame

    @staticmethod
    def save(info, pending, name, value):
        kind = pending.read_register(name).type
        bits = kind.sizeof * 8
        if kind.code == gdb.TYPE_CODE_PTR or not kind.is_signed:
            value &= (1 << bits) - 1
        info.add_saved_register(name, gdb.Value(value).cast(kind))

    def __call__(self, pending):
        while True:
            try:
                return self.unwind(pending)
            except KeyboardInterrupt:  # Ctrl-C met us, and is not for us: GDB is to stop the program
                gdb.post_event(interrupt)

    def unwind(self, pending):
        try:
            depth = int(pending.read_register(DEPTH)) & 0xFFFFFFFF
        except (ValueError, gdb.error):
            return None
        if depth in (UNKNOWN, NOT_YET):
            info = pending.create_unwind_info(FrameId(gdb.Value(0xFFFFFFF0), gdb.Value(0)))
            self.save(info, pending, "pc", 0)
            self.save(info, pending, DEPTH, depth)
            return info
        try:
            caller = Caller(pending.architecture(), depth)
        except gdb.error:
            return None
        if not caller.is_there:
            return None
        top = 0x80000000 - 16 * (depth - ZERO)
        info = pending.create_unwind_info(FrameId(gdb.Value(top), gdb.Value(caller.entry)))
        self.save(info, pending, "pc", caller.pc)
        self.save(info, pending, DEPTH, depth - 1 if caller.is_known else caller.outer)
        for name, value in self.others(pending.architecture(), caller, top):
            self.save(info, pending, name, value)
        return info

    def others(self, architecture, caller, top):
        """What GDB cannot do without on 32-bit Arm, and for info frame."""
        names = {register.name for register in architecture.registers()}
        if self.is_told:
            for pointer in FRAME_POINTERS & names:
                yield pointer, top + 16
        if self.is_told and "x29" in names:
            yield "sp", top + 16
        if "cpsr" in names and "r0" in names:
            yield "cpsr", 0x30 if caller.is_t32 else 0x10
        elif "xpsr" in names:
            yield "xpsr", 0x01000000
        else:
            return
        yield "sp", top + 16
        yield "lr", 0


def interrupt():
    try:
        gdb.execute("interrupt")
    except gdb.error:  # it stands still
        pass


class InfoFrame:
    """On Arm GDB's info frame asks the frame pointer and the stack pointer of an outer frame where its locals are, and
    gives up if they were not saved.  While it runs, and no longer, they are stand-ins."""

    def __init__(self, frames):
        self.frames = frames
        # GDB leaves out the hook behind a command that fails.
        gdb.events.before_prompt.connect(lambda: self.tell(False))
        for command in ("info %s-frame", "info frame %s-level", "info frame %s-function", "info frame %s-address"):
            for hook, value in (("hook", True), ("hookpost", False)):
                gdb.execute("define " + command % hook + "\npython trackway_info_frame.tell(%s)\nend" % value,
                            to_string=True)

    def tell(self, value):
        if self.frames.is_told == value:
            return
        try:
            level = gdb.selected_frame().level()
            self.frames.is_told = value
            gdb.invalidate_cached_frames()
            frame = gdb.newest_frame()
            while frame.level() < level:
                frame = frame.older()
            frame.select()
        except gdb.error:  # there are no frames: GDB will say so
            self.frames.is_told = False


class UnknownCallers:
    """Names the last frame for what it is."""

    def __init__(self):
        self.name = "trackway"
        self.priority = 100
        self.enabled = True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        for frame in frames:
            inner = frame.inferior_frame()
            if depth_of(inner) in (UNKNOWN, NOT_YET):
                yield CallersNotKnown(frame)
            else:
                yield frame if inner.name() else NoName(frame)


def depth_of(frame):
    """What trackway_depth says of a frame; None: nothing."""
    try:
        return int(frame.read_register(DEPTH)) if frame.level() else None
    except (ValueError, gdb.error):
        return None


class NoName(gdb.FrameDecorator.FrameDecorator):
    def function(self):
        return "??"


class CallersNotKnown(gdb.FrameDecorator.FrameDecorator):
    def function(self):
        if depth_of(self.inferior_frame()) == NOT_YET:
            return "[callers not known yet; \"trackway calls\" finds them]"
        return "[callers unknown]"

    def address(self):
        return None

    def frame_args(self):
        return None

    def frame_locals(self):
        return None


class Trackway(gdb.Command):
    """Commands of the trace: trackway goto PLACE, where, calls, find, gaps ... (see: monitor help).

trackway symbols OFFSET FILE loads the names and lines of a program that was loaded so far from where it was linked to."""

    def __init__(self):
        super().__init__("trackway", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        if argument.split()[:1] == ["symbols"]:
            self.add_symbols(*argument.split(None, 2)[1:])
            return
        moves = argument.split()[:1] in (["goto"], ["time"])
        thread = gdb.selected_thread()
        whose = "thread:%d " % thread.ptid[1] if thread and thread.ptid[1] else ""
        text = gdb.execute("monitor " + whose + (argument or "help"), to_string=True)
        for line in text.splitlines():
            if not line.startswith("GDB does not know yet"):
                gdb.write(line + "\n")
        if moves or argument.split()[:1] == ["calls"]:
            gdb.execute("maintenance flush register-cache", to_string=True)
        if moves:
            self.show()

    @staticmethod
    def show():
        """The new place. GDB tells it to windows of its TUI, and to front ends, where another frame is selected."""
        try:
            gdb.execute("up-silently", to_string=True)
        except gdb.error:  # there is no other; "frame" itself would write past the windows
            gdb.write(gdb.execute("frame", to_string=True))
            return
        gdb.execute("frame 0")

    @staticmethod
    def add_symbols(offset="", path=""):
        if not path:
            raise gdb.GdbError("trackway symbols OFFSET FILE")
        quoted = '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
        gdb.execute(f"add-symbol-file {quoted} -o {offset}", False, True)


# GDB would take a register that is not known for 0.
gdb.execute("set print finish off")
# Nor say of each argument that its value at the function's entry is not known either.
gdb.execute("set print entry-values no")
traced_frames = TracedFrames()
gdb.unwinder.register_unwinder(None, traced_frames, replace=True)
trackway_info_frame = InfoFrame(traced_frames)
UnknownCallers()
Trackway()
