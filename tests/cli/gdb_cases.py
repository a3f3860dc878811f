# SPDX-License-Identifier: BSD-2-Clause
"""trackway gdb with the real GDB: every stop of random commands, and stacks, against the execution logs."""
import bisect
import gzip
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import time

from exec_log import executed
from harness import Skip, add_case, case, corpus, equal, ROOT

FULL = os.environ.get("TW_TEST_FULL")
COMMANDS, PLACES = 500, 200
UNITS = {"a64": "ete", "a32": "etmv4", "t32": "etmv3", "mix": "ptm", "rv64": "etrace", "sys": "etmv4", "m0": "etmv3",
         "m3": "etmv3", "m4": "etmv4", "m7": "etmv4", "m33": "etmv4", "m55": "etmv4"}
DEPTH = 400
LONG = 300  # instructions that GDB may single-step for one command
# GDB goes over a loop of load-exclusive and store-exclusive in one step.
HAS_EXCLUSIVES = ("clib", "jumps", "throw", "signals")
# Where frames are left without a return a `finish` may never come back.
LEAVES_FRAMES = ("jumps", "throw", "coro", "signals", "sys-el")


def gdb_program():
    found = shutil.which("gdb-multiarch")
    if not found:
        raise Skip("no gdb-multiarch")
    return found


def session(tool, capture, elf, commands, *options, long=()):
    """What GDB shows after each command, the first before any."""
    env = dict(os.environ, TW_GDB_COMMANDS=str(tool.write("commands.json", json.dumps(
        {"commands": commands, "depth": DEPTH, "long": long}))), TW_GDB_RESULTS=str(tool.folder / "results.jsonl"),
        TRACKWAY_GDB=gdb_program(), HOME=str(tool.folder))
    done = subprocess.run([tool.program, "gdb", str(capture), *([str(elf)] if elf else []), *map(str, options), "--", "-nx", "-batch", "-x",
                           str(ROOT / "tests" / "cli" / "gdb_driver.py")],
                          cwd=tool.folder, env=env, timeout=1500, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    text = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0 and "Sanitizer" not in text, text[-3000:]
    lines = (tool.folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    equal(len(lines), len(commands) + 1, f"stops\n{text[-2000:]}")
    return [json.loads(line) for line in lines]


class Symbols:
    """Names of an address are all the same to us."""

    def __init__(self, elf):
        self.at, self.labels = {}, set()
        text = subprocess.run(["readelf", "-sW", str(elf)], stdout=subprocess.PIPE, check=True).stdout.decode()
        for line in text.splitlines():
            words = line.split()
            if len(words) >= 8 and words[3] in ("FUNC", "NOTYPE", "IFUNC", "GNU_IFUNC") and words[6] != "UND":
                self.at.setdefault(words[7], int(words[1], 16) & ~1)
                if words[3] == "NOTYPE":  # GDB may take the function before it
                    self.labels.add(words[7])

    def same(self, a, b):
        a, b = a.split(".cold")[0], b.split(".cold")[0]
        return a == b or "?" in (a[0], b[0]) or b in self.labels or self.at.get(a, a) == self.at.get(b, b)


class Truth:
    """The stack at every instruction, from the events of corpus/analysis."""

    def __init__(self, name):
        self.numbers, self.stacks = [], []
        stack = []
        with gzip.open(corpus() / "analysis" / "truth" / f"{name}.events.gz", "rt") as lines:
            for line in lines:
                words = line.split()
                if not words or words[0] == "#":
                    continue
                kind, number, depth = words[0], int(words[1]), words[-1]
                if kind == "S":
                    stack = (words[3],)
                elif kind == "C":
                    stack = stack[:int(depth) - 1] + (words[4],)
                elif kind == "T":
                    stack = stack[:int(depth) - 1] + (words[4],)
                else:
                    stack = stack[:int(depth)]
                self.numbers.append(number)
                self.stacks.append(stack)

    def at(self, number):
        return self.stacks[bisect.bisect_right(self.numbers, number) - 1]


def long_stretches(elf, log):
    """[first, last] of instructions before which more than LONG of their function were executed since it was entered."""
    text = subprocess.run(["readelf", "-sW", str(elf)], stdout=subprocess.PIPE, check=True).stdout.decode()
    starts = sorted({int(words[1], 16) & ~1 for words in map(str.split, text.splitlines())
                     if len(words) >= 8 and words[3] == "FUNC" and words[6] != "UND"})
    function, count, out = {}, [0] * (len(starts) + 1), []
    for number, pc in enumerate(log):
        if pc not in function:
            function[pc] = bisect.bisect_right(starts, pc)
        which = function[pc]
        count[which] = 0 if which and starts[which - 1] == pc else count[which] + 1
        if count[which] <= LONG:
            continue
        if out and out[-1][1] == number - 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return out


def random_commands(seed, log, count):
    pick = random.Random(seed)
    places = sorted(set(log))
    out = ["continue"]
    while len(out) < count:
        kind = pick.random()
        if kind < 0.22:
            out.append(pick.choice(["stepi", "reverse-stepi"]) + f" {pick.choice([1, 1, 1, 2, 7, 40])}")
        elif kind < 0.27:
            steps = pick.choice([1, 3, 17])
            out += [f"stepi {steps}", f"reverse-stepi {steps}"]
        elif kind < 0.55:
            out.append(pick.choice(["step", "next", "reverse-step", "reverse-next", "until", "finish", "reverse-finish"]))
        elif kind < 0.75:
            out.append(pick.choice(["continue", "reverse-continue"]))
        elif kind < 0.85:
            out.append(pick.choice(["break", "tbreak"]) + f" *0x{pick.choice(places):x}")
        elif kind < 0.90:
            out.append("delete")
        else:
            out.append(f"trackway goto n:{pick.randrange(len(log))}")
    return out[:count]


class Model:
    """Where a command has to stop."""

    def __init__(self, log, last, truth, elf_name):
        self.log, self.last, self.truth, self.found = log, last, truth, {}
        self.has_exclusives = any(word in elf_name for word in HAS_EXCLUSIVES)
        self.is_plain = not any(word in elf_name for word in LEAVES_FRAMES)

    def hits(self, number, points):
        return number < len(self.log) and self.log[number] in points

    def steps(self, number, count, back, points):
        for _ in range(count):
            if number == (0 if back else self.last):
                return number
            number += -1 if back else 1
            if self.hits(number, points):
                return number
        return number

    def places(self, address):
        """The numbers of an address in the log."""
        if address not in self.found:
            self.found[address] = [number for number, pc in enumerate(self.log) if pc == address]
        return self.found[address]

    def run(self, number, back, points):
        stops = [0 if back else self.last]
        for address in points:
            found = self.places(address)
            at = bisect.bisect_left(found, number) - 1 if back else bisect.bisect_right(found, number)
            if 0 <= at < len(found):
                stops.append(found[at])
        return max(stops) if back else min(stops)

    def finish(self, number, points):
        depth = len(self.truth.at(number))
        while number != self.last:
            number += 1
            if self.hits(number, points) or len(self.truth.at(number)) < depth:
                return number
        return number

    def wanted(self, command, number, points):
        """The number of the instruction; None: GDB's own rules for source lines say."""
        word, *rest = command.split()
        if word in ("stepi", "reverse-stepi"):
            return self.steps(number, int(rest[0]), word != "stepi", points)
        if word in ("continue", "reverse-continue"):
            return self.run(number, word != "continue", points)
        if word == "trackway":
            return int(rest[1][2:])
        if word in ("break", "tbreak", "delete"):
            return number
        if word == "finish" and self.truth and self.is_plain and number < len(self.log) and \
                len(self.truth.at(number)) > 1:
            return self.finish(number, points)
        return None


def check_stack(symbols, stop, want):
    got = stop["stack"]
    is_same = len(got) == min(len(want), DEPTH) and all(
        symbols.same(a, b) for a, b in zip(got, reversed(want)))
    assert is_same, f"stack after {stop['command']} at {stop['number']}\ngot  {got[:20]}\nwant {list(reversed(want))[:20]}"


def check_stops(stops, model, symbols):
    log, last = model.log, model.last
    for before, stop in zip(stops, stops[1:]):
        command, number, points = stop["command"], stop["number"], set(before["breakpoints"])
        what = f"{command} from {before['number']} ({stop['said'].strip()[-200:]}), breakpoints {points}"
        want = model.wanted(command, before["number"], points)
        if command == "finish" and before["is_inlined"]:  # out of the inlined code alone
            want = None
        if want is not None and not (command.startswith("stepi") and model.has_exclusives and want < number < want + 40):
            equal(number, want, what)
        if command.split()[0] in ("step", "next", "until"):
            assert before["number"] <= number, what
        if command.split()[0] in ("reverse-step", "reverse-next", "reverse-finish"):
            assert before["number"] >= number, what
        assert 0 <= number <= last, what
        equal(stop["thread"], 1, what)
        is_at_end = number == (0 if command.startswith("reverse") else last)
        if number == len(log):
            continue
        equal(stop["pc"], log[number], what)
        if not model.truth:
            continue
        check_stack(symbols, stop, model.truth.at(number))
        if command in ("next", "reverse-next") and model.is_plain and not model.hits(number, points) \
                and not is_at_end and before["number"] < len(log):
            # A function on one line that calls itself is one range of addresses to GDB.
            old, new = model.truth.at(before["number"]), model.truth.at(number)
            assert len(new) <= len(old) or new[-1] == old[-1], what


def check_pairs(stops):
    """stepi n, then reverse-stepi n, comes back, unless a breakpoint or an end was in the way."""
    for first, on, back in zip(stops, stops[1:], stops[2:]):
        if on["command"].startswith("stepi") and back["command"] == "reverse-" + on["command"] and \
                on["number"] - first["number"] == int(on["command"].split()[1]) == on["number"] - back["number"]:
            equal(back["pc"], first["pc"], "there and back")


def folder_of(kind):
    return corpus() / "analysis" / "truth" if kind == "truth" else corpus() / kind / "logs"


def stops_equal_the_log(kind, name, seed):
    def run(tool):
        folder = folder_of(kind)
        log_path, elf = folder / f"{name}.exlog.gz", folder / f"{name}.elf"
        unit = UNITS[name.split("-")[0]]
        tool.run("encode", log_path, "--elf", elf, "--protocol", unit, "-o", "capture")
        log = executed(log_path)
        truth = Truth(name) if kind == "truth" and "coro" not in name else None
        count = COMMANDS if FULL else 160
        stops = session(tool, "capture", elf, random_commands(seed, log, count), "--first", long=long_stretches(elf, log))
        equal(stops[0]["number"], 0, "--first")
        equal(stops[0]["pc"], log[0], "--first")
        last = stops[1]["number"]
        assert len(log) - 16 < last <= len(log), f"{name}: the end is {last} of {len(log)}"
        if last < len(log) - 1:  # nothing tells of what runs behind the last branch
            log = log[:last]
        check_stops(stops, Model(log, last, truth, name), Symbols(elf))
        check_pairs(stops)
    return run


def stacks_equal_the_truth(name):
    def run(tool):
        folder = folder_of("truth")
        log_path, elf = folder / f"{name}.exlog.gz", folder / f"{name}.elf"
        tool.run("encode", log_path, "--elf", elf, "--protocol", UNITS[name.split("-")[0]], "-o", "capture")
        log, truth, pick = executed(log_path), Truth(name), random.Random(21)
        places = [pick.randrange(len(log)) for _ in range(PLACES if FULL else 40)]
        stops = session(tool, "capture", elf, [f"trackway goto n:{place}" for place in places])
        for place, stop in zip(places, stops[1:]):
            equal(stop["number"], place, "goto")
            equal(stop["pc"], log[place], "goto")
            check_stack(Symbols(elf), stop, truth.at(place))
    return run


def names(folder, left_out=()):
    try:
        return sorted(path.name[:-len(".exlog.gz")] for path in folder_of(folder).glob("*.exlog.gz")
                      if not any(word in path.name for word in left_out))
    except Skip:
        return []


PLAIN = [("truth", "a64-counts"), ("truth", "mix-indirect"), ("exec-m", "m3-nested")]
EVERY = [("truth", name) for name in names("truth")] + \
    [("exec", name) for name in names("exec", ("-big",)) if name not in names("truth")] + \
    [("exec-m", name) for name in names("exec-m")]
for number, (kind, each) in enumerate(EVERY):
    if FULL or (kind, each) in PLAIN:
        add_case(f"gdb_stops_{kind}_{each}", stops_equal_the_log(kind, each, number))
for each in names("truth", ("coro",)):
    if FULL or each in ("a32-recur", "rv64-recur"):
        add_case(f"gdb_stacks_{each}", stacks_equal_the_truth(each))


@case
def gdb_goes_up_and_down_the_stack(tool):
    """The frames of the trace are frames of GDB's: up and down select them, info frame tells of the innermost."""
    folder = folder_of("truth")
    log_path, elf = folder / "a64-counts.exlog.gz", folder / "a64-counts.elf"
    tool.run("encode", log_path, "--elf", elf, "--protocol", "ete", "-o", "capture")
    truth = Truth("a64-counts")
    deepest = max(range(len(truth.stacks)), key=lambda at: len(truth.stacks[at]))
    stack = truth.stacks[deepest][::-1]
    assert len(stack) > 2, stack
    stops = session(tool, "capture", elf, [f"trackway goto n:{truth.numbers[deepest]}", "up", "frame", "up",
                                           "frame", "down", "frame", "down", "frame", "info frame"])
    equal([len(stop["stack"]) for stop in stops[1:]], [len(stack)] * 10, "the stack stays")
    shown = [stop["said"] for stop in stops if stop["command"] == "frame"]
    for said, level in zip(shown, (1, 2, 1, 0)):
        assert said.startswith(f"#{level} ") and f"{stack[level]} (" in said, (said, stack)
    about = stops[-1]["said"]
    assert "Stack level 0" in about and "called by" in about, about


# ---- the protocol ----


def packet(text):
    data = text.encode("latin-1") if isinstance(text, str) else text
    return b"$" + data + b"#%02x" % (sum(data) & 255)


def serve(tool, sent, *options, capture=ROOT / "tests" / "captures" / "demo"):
    """What the server answers to bytes, when nothing comes behind them."""
    client = tool.start("gdb", "--serve", capture, *options, stdin=subprocess.PIPE)
    out, err = client.communicate(sent, timeout=60)
    assert client.returncode == 0 and b"Sanitizer" not in err, (client.returncode, err[-2000:])
    return out


@case
def gdb_answers_as_the_protocol_says(tool):
    equal(serve(tool, packet("vMustReplyEmpty")), b"+$#00", "unknown packet")
    equal(serve(tool, b"$g#00"), b"-", "wrong checksum")
    equal(serve(tool, b"$g#zz"), b"-", "no checksum")
    equal(serve(tool, packet("?") + b"-")[-40:].count(b"T05thread:1;"), 2, "sent again")
    equal(serve(tool, packet(b"m" + b"0" * 70000 + b",4")), b"+" + packet("E07"), "a huge packet")
    equal(serve(tool, packet("QStartNoAckMode") + b"+" + packet("vX") + b"$g#00"), b"+" + packet("OK") + packet(""),
          "without acknowledgements")
    equal(serve(tool, packet("M0,1:00")), b"+" + packet("E01"), "memory is not written")
    equal(serve(tool, packet("m1,4")), b"+" + packet("E14"), "no memory there")
    equal(serve(tool, packet("Hg99") + packet("T99") + packet("vCont;s:99")), (b"+" + packet("E22")) * 3, "no such thread")
    equal(serve(tool, packet("Z2,0,4")), b"+" + packet(""), "watchpoints")
    equal(serve(tool, b"\x03" + packet("D") + packet("g")), b"+" + packet("OK"), "nothing after good-bye")
    equal(serve(tool, b"$qSupp"), b"", "a pipe that closes inside a packet")
    equal(serve(tool, b""), b"", "a pipe that closes at once")


@case
def gdb_says_both_ends(tool):
    assert b"replaylog:end" in serve(tool, packet("c") + packet("c")), "the end"
    assert b"replaylog:begin" in serve(tool, packet("bc")), "the beginning"
    assert b"replaylog:begin" in serve(tool, packet("bs"), "--first"), "a step back from the first"
    assert b"replaylog" not in serve(tool, packet("s"), "--first"), "a step"


@case
def gdb_steps_over_a_breakpoint_at_an_end(tool):
    """GDB 13 is stuck ever after if history ends in such a step: the thread just stops."""
    first = pc_of(serve(tool, packet("p20"), "--first"))
    last = pc_of(serve(tool, packet("p20")))
    commands = [f"break *0x{last:x} if 0", "continue", "continue", "stepi", "reverse-stepi", "stepi", "stepi", "reverse-continue",
                f"break *0x{first:x} if 0", "continue", f"until *0x{last:x}", f"advance *0x{last:x}", "reverse-continue",
                "reverse-stepi", "stepi", "continue", "delete", "reverse-continue", "stepi"]
    demo = ROOT / "tests" / "captures" / "demo"
    stops = session(tool, demo, None, commands, "-q")
    ends = stops[0]["number"]
    numbers = [ends, ends, ends, ends, ends - 1, ends, ends, 0, 0, ends, ends, ends, 0, 0, 1, ends, ends, 0, 1]
    equal([stop["number"] for stop in stops[1:]], numbers, "stops")
    server = f"{tool.program} gdb --serve {demo} -q"
    plain = tool.write("plain.gdb", "\n".join([f"target remote | {server}", *commands, "monitor where"]))
    done = subprocess.run([gdb_program(), "-nx", "-q", "-batch", "-iex", "set osabi none", "-x", str(plain)], timeout=60,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert b"instruction 1\n" in done.stdout.replace(b",", b"\n"), done.stdout[-2000:]
    # One that moves a thread alone, as GDB does to step over a breakpoint; and one that moves all.
    equal(stops_of(serve(tool, packet("vCont;s:1") + packet("vCont;s:1;c") + packet("vCont;s") + packet("vCont;r0,8:1"))),
          [b"T00thread:1;"] + [b"T05thread:1;replaylog:end;"] * 3, "on")
    begin, away = b"T05thread:1;replaylog:begin;", packet(f"z0,{first:x},4")
    equal(stops_of(serve(tool, packet("Hc1") + packet(f"Z0,{first:x},4") + packet("bs") + away + packet("bs") * 2, "--first")),
          [begin, b"T00thread:1;", b"T00thread:1;"], "back")
    equal(stops_of(serve(tool, packet(f"Z0,{first:x},4") + away + packet(f"Z0,{first:x},4") + packet("bs"), "--first")), [begin],
          "it is there again")
    always, there = packet("qRcmd," + b"always-inserted".hex()), packet(f"Z0,{last:x},4")
    step, away = packet("vCont;s:1"), packet(f"z0,{last:x},4")
    equal(stops_of(serve(tool, always + step + there + step + away + step + there + step)),
          [b"T05thread:1;replaylog:end;"] * 2 + [b"T00thread:1;", b"T05thread:1;replaylog:end;"], "breakpoints taken away")


@case
def gdb_listens_on_loopback_alone(tool):
    server = tool.start("gdb", ROOT / "tests" / "captures" / "demo", "--port", "0")
    try:
        line = server.stderr.readline().decode()
        port = int(line.rsplit(":", 1)[1])
        listening = [words.split() for words in open("/proc/net/tcp", encoding="utf-8").read().splitlines()[1:]]
        equal([words[1] for words in listening if words[3] == "0A" and words[1].endswith(f":{port:04X}")],
              [f"0100007F:{port:04X}"], "127.0.0.1 and nothing else")
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            client.sendall(packet("?"))
            answer = b""
            while b"#" not in answer:
                answer += client.recv(1000)
        assert b"T05" in answer, answer
    finally:
        server.kill()
        server.communicate()


@case
def gdb_wants_things_that_go_together(tool):
    demo = ROOT / "tests" / "captures" / "demo"
    assert "give one of them" in tool.run("gdb", demo, "--serve", "--first", "--at", "+0", status=2).err
    assert "65535" in tool.run("gdb", demo, "--port", "70000", status=2).err
    assert "no place" in tool.run("gdb", demo, "--serve", "--at", "nowhere", status=3).err
    assert "does not come" in tool.run("gdb", demo, "--serve", "--at", "n:99999999", status=3).err


def pc_of(answer):
    """The pc in the answer to p20 or pf, as GDB numbers it."""
    return int.from_bytes(bytes.fromhex(answer.decode().rsplit("$", 1)[1].split("#")[0]), "little")


@case
def gdb_stops_where_code_is_missing(tool):
    """A capture of a kernel without its modules: each way into them is a stop, forwards and backwards."""
    juno = corpus() / "coresight" / "snapshots" / "juno_r1_1"
    for way, options in ((["bc"], []), (["c"], ["--first"])):
        answer = serve(tool, packet(way[0]), *options, capture=juno).decode()
        said = "".join(bytes.fromhex(part.split("#")[0]).decode() for part in answer.split("$O")[1:])
        assert "$T00thread:1;" in answer and "code missing: the program went to 0x" in said, answer[-300:]
    there = serve(tool, packet("c") + packet("p20"), "--first", capture=juno)
    back = serve(tool, packet("c") + packet("bs") + packet("s") + packet("p20"), "--first", capture=juno)
    equal(pc_of(back), pc_of(there), "over it, back, and over it again")


@case
def gdb_stops_where_trace_was_lost(tool):
    """A unit whose FIFO overflows: each gap is a stop that says why, at the same place forwards and backwards."""
    folder = folder_of("truth")
    tool.run("encode", folder / "a64-recur.exlog.gz", "--elf", folder / "a64-recur.elf", "--protocol", "ete", "--unit",
             "fifo=64,cycles-per-byte=60", "-o", "lossy")

    def said_of(answer):
        return "".join(bytes.fromhex(part.split("#")[0]).decode() for part in answer.decode().split("$O")[1:]
                       if not part.startswith("K#"))
    rows = said_of(serve(tool, packet("qRcmd," + b"gaps".hex()), capture=tool.folder / "lossy")).splitlines()
    places = re.findall(r"trace lost at (0x[0-9a-f]+) in the capture: overflow; goes on at (0x[0-9a-f]+)", "\n".join(rows))
    assert len(places) > 3 and rows[-1] == f"{len(places)} in all", rows
    ways = [(["c"] * len(places), ["--first"], places), (["bc"] * len(places), [], places[::-1])]
    for steps, options, want in ways:
        answer = serve(tool, b"".join(map(packet, steps)), *options, capture=tool.folder / "lossy")
        equal(re.findall(r"trace lost at (0x[0-9a-f]+) in the capture: overflow", said_of(answer)), [at for at, _ in want], steps[0])
        equal(answer.count(b"$T00thread:1;"), len(places), f"stops of {steps[0]}")
    for number, (_, address) in enumerate(places, 1):
        at = serve(tool, packet("c") * number + packet("p20"), "--first", capture=tool.folder / "lossy")
        equal(pc_of(at), int(address, 16), f"behind gap {number}")
    about = serve(tool, packet("qThreadExtraInfo,1"), capture=tool.folder / "lossy").decode()
    assert "EL0" in bytes.fromhex(about.rsplit("$", 1)[1].split("#")[0]).decode(), about


@case
def gdb_threads_keep_their_places(tool):
    tc2 = corpus() / "coresight" / "snapshots" / "TC2"
    threads = serve(tool, packet("qXfer:threads:read::0,fff"), capture=tc2).decode()
    for number, name in enumerate(("cpu_0", "cpu_2", "cpu_1", "cpu_3"), 1):
        assert f'id="{number}" name="{name}"' in threads, threads
    ask = packet("Hg1") + packet("pf")
    before = pc_of(serve(tool, ask, capture=tc2))
    equal(pc_of(serve(tool, packet("vCont;s:2;c") + packet("Hc2") + packet("bs") * 5 + ask, capture=tc2)), before,
          "the first one stays where it was")
    second = packet("Hg2") + packet("pf")
    assert pc_of(serve(tool, packet("Hc2") + packet("bs") * 5 + second, capture=tc2)) != \
        pc_of(serve(tool, second, capture=tc2)), "the second moved"


@case
def gdb_describes_each_machine(tool):
    for name, unit, words in (("a64-counts", "ete", "aarch64.core"), ("t32-counts", "ptm", "arm.core"),
                              ("rv64-counts", "etrace", "riscv:rv64")):
        folder = folder_of("truth")
        tool.run("encode", folder / f"{name}.exlog.gz", "--elf", folder / f"{name}.elf", "--protocol", unit, "-o", name)
        text = serve(tool, packet("qXfer:features:read:target.xml:0,fff"), capture=tool.folder / name).decode()
        assert words in text and "<osabi>none</osabi>" in text and "trackway_depth" in text, text[:600]
    logs = corpus() / "exec-m" / "logs"
    tool.run("encode", logs / "m3-nested.exlog.gz", "--elf", logs / "m3-nested.elf", "--protocol", "etmv4", "-o", "m3")
    assert "arm.m-profile" in serve(tool, packet("qXfer:features:read:target.xml:0,fff"), capture=tool.folder / "m3").decode()


def ask(tool, line, *options):
    """What a monitor command says."""
    answer = serve(tool, packet("qRcmd," + line.encode().hex()), *options)
    return "".join(bytes.fromhex(part.split("#")[0]).decode() for part in answer.decode().split("$O")[1:]
                   if not part.startswith("K#"))


@case
def gdb_monitor_commands(tool):
    def said(line, *options):
        return ask(tool, line, *options)
    for word in ("goto", "where", "calls", "profile", "coverage", "gaps", "find", "registers", "data", "time"):
        assert f"monitor {word}" in said("help"), word
    assert "instruction 0" in said("where", "--first")
    assert "_start" in said("calls", "--first") and "callers unknown" in said("calls")
    assert "fib" in said("profile") and "51431" in said("profile")
    assert "functions" in said("coverage")
    assert "0 in all" in said("gaps")
    assert "before:" in said("find fib") and "after:   never" in said("find fib")
    assert "there is no function" in said("find nothing_of_that_name")
    assert "traced" in said("registers")
    assert "no data accesses" in said("data")
    assert "no time here" in said("time") and "no time here" in said("time 5")
    equal(said("threads"), 'threads: 1; "info threads" lists them\n')
    assert "instruction 7" in said("goto n:7")
    assert "no place" in said("goto nowhere")
    assert "monitor help" in said("nonsense")


@case
def gdb_monitor_goes_to_places(tool):
    """Each way to name a place, those that lead nowhere, and that there GDB is at the same instruction as by its number."""
    demo = ROOT / "tests" / "captures" / "demo"
    rows = [json.loads(line) for line in tool.run("calls", demo, "--format", "jsonl").out.splitlines()]
    entries, = [row["entries"] for row in rows if row["t"] == "FUNCTION" and row["name"] == "fib"]
    first = ask(tool, "goto function:fib")
    assert "<fib+0>" in first and "trackway goto" in first, first
    number = int(re.search(r"instruction (\d+)", first).group(1))
    for same in ("goto pc:0x400174", "goto pc:0x400174:1", "goto function:fib:0", f"goto n:{number}", "thread:1 goto function:fib:1"):
        equal(ask(tool, same), first, same)
    assert f"instruction {number}" in ask(tool, "where", "--at", f"n:{number}")
    last = ask(tool, f"goto function:fib:{entries}")
    assert "<fib+0>" in last and int(re.search(r"instruction (\d+)", last).group(1)) > number
    assert "(1 times more were asked for)" in ask(tool, f"goto function:fib:{entries + 1}")
    begin = ask(tool, "goto first")
    for same in ("goto begin", "goto sync:1", "goto trace-on:1", "goto n:0", "goto offset:0"):
        equal(ask(tool, same), begin, same)
    equal(ask(tool, "goto end"), ask(tool, "goto last"))
    equal(ask(tool, "goto +0x400"), ask(tool, "goto offset:0x400"))
    for nowhere in ("sync:99999", "trigger:1", "event:1", "time:5", "t:5", "5", "n:99999999", "+0xffffff"):
        equal(ask(tool, f"goto {nowhere}"), f"the trace does not come to {nowhere}\n")
    for unknown in ("function:nothing", "pc:zz"):
        assert "there is no function" in ask(tool, f"goto {unknown}"), unknown
    assert "is no place; give first, last" in ask(tool, "goto n:x")
    assert "is no time" in ask(tool, "time nonsense")
    assert "no monitor command \"thread:9 where\"" in ask(tool, "thread:9 where")
    before, after = ask(tool, "find fib"), ask(tool, "find fib", "--first")
    assert before.count("before:  goto") == 10 and "before:  and so on" in before and "after:   never" in before, before
    assert after.count("after:   goto") == 10 and "after:   and so on" in after and "before:  never" in after, after


# ---- Ctrl-C ----


def long_capture(tool):
    logs = corpus() / "exec" / "logs"
    elf = logs / "a64-sorts-big.elf"
    tool.run("encode", logs / "a64-sorts-big.exlog.gz", "--elf", elf, "--protocol", "ete", "--log-repeats",
             "1000000000", "-o", "long")
    return tool.folder / "long", elf


def stops_of(answer):
    """Stops, without the registers that they tell."""
    return [re.sub(rb"\b[0-9a-f]+:[0-9a-f]+;", b"", stop) for stop in re.findall(rb"\$(T[^#]*)#", answer)]


def read_until(stream, pattern, seconds):
    """What comes until a pattern is in it."""
    said, end = b"", time.monotonic() + seconds
    while not re.search(pattern, said):
        ready, _, _ = select.select([stream], [], [], max(0, end - time.monotonic()))
        more = os.read(stream.fileno(), 65536) if ready else b""
        assert more, f"no {pattern} but {said[-2000:]}"
        said += more
    return said


def stops_while_open(tool, capture, sent, count, *options):
    """The first stops that the server tells a client who stays."""
    server = tool.start("gdb", "--serve", capture, *options, stdin=subprocess.PIPE)
    try:
        server.stdin.write(sent)
        server.stdin.flush()
        said = b""
        while len(stops_of(said)) < count:
            said += read_until(server.stdout, b"#", 60)
        server.stdin.close()
        equal(server.wait(60), 0, "the server ends with its client")
        return stops_of(said)
    finally:
        server.kill()
        server.wait()


@case
def gdb_is_interrupted(tool):
    """Ctrl-C while the server runs, between two steps, and to one who stands still; then it goes on as before."""
    demo = ROOT / "tests" / "captures" / "demo"
    one, end, stop = b"T05thread:1;", b"T05thread:1;replaylog:end;", b"T02thread:1;"
    equal(stops_of(serve(tool, packet("s") + b"\x03" + packet("s") + packet("s"), "--first", capture=demo)),
          [one, stop, one], "between two steps")
    equal(pc_of(serve(tool, packet("s") + b"\x03" + packet("s") + packet("p20"), "--first", capture=demo)),
          pc_of(serve(tool, packet("s") + packet("p20"), "--first", capture=demo)), "the step was not made")
    long, elf = long_capture(tool)
    begin = b"T05thread:1;replaylog:begin;"
    for threads in ("1", "2"):
        options = (elf, "--symbols", elf, "--threads", threads)
        equal(stops_while_open(tool, long, packet("bc") + b"\x03" + packet("bs") + packet("bc"), 3, *options),
              [stop, one, begin], "back")
        equal(stops_while_open(tool, long, packet("c") + b"\x03" + packet("s") + packet("c"), 3, "--first", *options),
              [stop, one, end], "on")


def comes_alone(tool, capture, elf):
    server = tool.start("gdb", "--serve", capture, elf, stdin=subprocess.PIPE)
    try:
        server.stdin.write(packet("bc"))
        server.stdin.flush()
        return read_until(server.stdout, rb"\+", 60) == b"+"
    finally:
        server.kill()
        server.communicate()


@case
def gdb_acknowledges_before_it_runs(tool):
    """GDB sends again what is not acknowledged within seconds. A reader that is late finds the answer behind it."""
    long, elf = long_capture(tool)
    assert any(comes_alone(tool, long, elf) for _ in range(8)), "the acknowledgement came with the answer"


@case
def gdb_passes_ctrl_c_on(tool):
    """Ctrl-C at GDB: steps backwards that would last for hours end, and the next command is done."""
    long, elf = long_capture(tool)
    env = dict(os.environ, TRACKWAY_GDB=gdb_program(), HOME=str(tool.folder))
    gdb = subprocess.Popen([tool.program, "gdb", str(long), str(elf), "--", "-nx", "--interpreter=mi3"], env=env,
                           cwd=tool.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        read_until(gdb.stdout, rb"\(gdb\)", 60)
        for number in range(3):
            gdb.stdin.write(b"1-interpreter-exec console \"reverse-stepi 100000000\"\n")
            gdb.stdin.flush()
            read_until(gdb.stdout, rb"\*running", 60)
            time.sleep(0.3 * number)
            gdb.send_signal(signal.SIGINT)
            # Where it meets GDB in its own work GDB says "Quit", and nothing of a stop.
            said = read_until(gdb.stdout, rb"\*stopped.*\n|Quit\\n\"\n\(gdb\)", 60)
            assert b"SIGINT" in said or b"Quit" in said, said
            gdb.stdin.write(b"2-exec-step-instruction --reverse\n")
            gdb.stdin.flush()
            said = read_until(gdb.stdout, rb"\*stopped.*\n", 60)
            assert b"end-stepping-range" in said, said
        gdb.stdin.write(b"3-gdb-exit\n")
        gdb.stdin.flush()
        equal(gdb.wait(60), 0, "GDB ends")
    finally:
        gdb.kill()
        gdb.communicate()
