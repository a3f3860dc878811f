#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every command with no memory at its n-th request, and with a full disk at its n-th step of writing (preload_faults.c): it says
so, its status is 3, nothing half is left under any name, what was there stays.  usage: faults.py PROGRAM SHIM [NAME...]

A few n of each command, TW_FAULTS=NUMBER of them; TW_TEST_FULL: every n.  Under sanitizers leaks and reads of freed memory show, too."""
import http.client
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "cli"))

import harness  # noqa: E402
from harness import ROOT  # noqa: E402
from hostile_cases import CONFIG, SCRIPT, SYNC  # noqa: E402
from perf_cases import CODE, two_processes  # noqa: E402
from record_cases import A64, build  # noqa: E402
from sim_riscv_cases import ram, write_program  # noqa: E402

harness.CASES.clear()  # those of the files above are run elsewhere
SHIM = str(pathlib.Path(sys.argv.pop(2)).resolve()) if len(sys.argv) > 2 else ""
DEMO, LOGS = "demo", ROOT / "tests" / "captures" / "logs"
IS_FULL = "TW_TEST_FULL" in os.environ
IS_SANITIZED = bool(os.environ.get("TW_SANITIZED"))
SAMPLE = int(os.environ.get("TW_FAULTS", 1 if IS_SANITIZED else 8))
PERF = ["perf.data", "--sysroot", "root"]
INPUT = "<requests"  # what standard input is
# What GDB asks for: who and where, a step back and one on, what can be known, all the way back.
REQUESTS = "qSupported ? qXfer:features:read:target.xml:0,fff qXfer:threads:read::0,fff bs s g m400500,10 Z0,400174,4 bc c z0,400174,4 D"

# What is done with "out": NAME: COMMAND...
WRITES = {
    "identify": ["identify", "c.bin", "-o", "out"],
    "doctor": ["doctor", DEMO, "-o", "out"],
    "info": ["info", DEMO, "-o", "out"],
    "info_jsonl": ["info", *PERF, "--format", "jsonl", "-o", "out"],
    "frames": ["frames", DEMO, "-o", "out"],
    "frames_split": ["frames", DEMO, "--split", "out"],
    "packets": ["packets", DEMO, "-o", "out"],
    "packets_csv": ["packets", "c.bin", *CONFIG, "--format", "csv", "-o", "out"],
    "decode": ["decode", DEMO, "-o", "out"],
    "decode_jsonl": ["decode", DEMO, "--format", "jsonl", "-o", "out"],
    "decode_csv": ["decode", DEMO, "--format", "csv", "-o", "out"],
    "decode_runs": ["decode", *PERF, "--format", "runs", "-o", "out"],
    "decode_instructions": ["decode", DEMO, "--instructions", "--count", "9", "-o", "out"],
    "decode_part": ["decode", DEMO, "--from", "0x180", "--function", "fib", "--count", "4", "-o", "out"],
    "decode_perf": ["decode", *PERF, "--instructions", "-o", "out"],
    "decode_script": ["decode", *PERF, "--format", "perf", "-o", "out"],
    "branches": ["branches", *PERF, "-o", "out"],
    "branches_autofdo": ["branches", DEMO, "--format", "autofdo", "-o", "out"],
    "calls": ["calls", DEMO, "-o", "out"],
    "calls_csv": ["calls", DEMO, "--format", "csv", "-o", "out"],
    "calls_pprof": ["calls", DEMO, "--format", "pprof", "-o", "out"],
    "calls_svg": ["calls", DEMO, "--format", "svg", "-o", "out"],
    "calls_dot": ["calls", DEMO, "--format", "dot", "-o", "out"],
    "calls_speedscope": ["calls", DEMO, "--format", "speedscope", "-o", "out"],
    "calls_callgrind": ["calls", DEMO, "--format", "callgrind", "-o", "out"],
    "calls_jsonl": ["calls", DEMO, "--format", "jsonl", "-o", "out"],
    "calls_function": ["calls", DEMO, "--function", "fib", "-o", "out"],
    "calls_events": ["calls", DEMO, "--events", "-o", "out"],
    "calls_last": ["calls", DEMO, "--last", "30", "--instructions", "-o", "out"],
    "calls_save": ["calls", DEMO, "--save", "out"],
    "profile": ["profile", DEMO, "-o", "out"],
    "profile_lines": ["profile", DEMO, "--by", "line", "--format", "jsonl", "-o", "out"],
    "profile_stacks": ["profile", DEMO, "--by", "stack", "--format", "folded", "-o", "out"],
    "profile_pprof": ["profile", DEMO, "--format", "pprof", "-o", "out"],
    "profile_save": ["profile", DEMO, "--save", "out"],
    "profile_add": ["profile", "--add", "profile.twr", "--symbols", "demo/recur.elf", "-o", "out"],
    "annotate": ["annotate", DEMO, "--format", "jsonl", "-o", "out"],
    "timeline": ["timeline", DEMO, "-o", "out"],
    "timeline_chrome": ["timeline", DEMO, "--format", "chrome", "-o", "out"],
    "timeline_vcd": ["timeline", DEMO, "--format", "vcd", "-o", "out"],
    "timeline_perfetto": ["timeline", DEMO, "--format", "perfetto", "-o", "out"],
    "timeline_ctf": ["timeline", DEMO, "--format", "ctf", "-o", "out"],
    "timeline_svg": ["timeline", DEMO, "--format", "svg", "-o", "out"],
    "interrupts": ["interrupts", DEMO, "--events", "--format", "jsonl", "-o", "out"],
    "coverage": ["coverage", DEMO, "-o", "out"],
    "coverage_lcov": ["coverage", DEMO, "--format", "lcov", "-o", "out"],
    "coverage_cobertura": ["coverage", DEMO, "--format", "cobertura", "-o", "out"],
    "coverage_drcov": ["coverage", DEMO, "--format", "drcov", "-o", "out"],
    "coverage_autofdo": ["coverage", DEMO, "--format", "autofdo", "-o", "out"],
    "coverage_edges": ["coverage", DEMO, "--format", "afl", "-o", "out"],
    "coverage_each": ["coverage", DEMO, "--each", "--format", "afl-map", "-o", "out"],
    "coverage_save": ["coverage", DEMO, "--save", "out"],
    "stats": ["stats", DEMO, "-o", "out"],
    "stats_save": ["stats", DEMO, "--save", "out"],
    "report": ["report", DEMO, "-o", "out"],
    "diff": ["diff", DEMO, DEMO, "-o", "out"],
    "diff_packets": ["diff", DEMO, DEMO, "--packets", "-o", "out"],
    "formats": ["formats", "-o", "out"],
    "shard": ["shard", DEMO, "--parts", "2", "-o", "out"],
    "merge": ["merge", "-o", "out", "profile.twr", "profile.twr"],
    "channels": ["channels", "itm.bin", "--protocol", "itm", "-o", "out"],
    "pack": ["pack", "--stream", "0x10:c.bin", "-o", "out"],
    "index": ["index", "build", "c.bin", *CONFIG, "--index", "out"],
    "index_find": ["index", "find", DEMO, "--index", "demo.twx", "--at", "+0x400", "-o", "out"],
    "index_show": ["index", "show", DEMO, "--index", "demo.twx", "-o", "out"],
    "index_used": ["decode", DEMO, "--index", "demo.twx", "--from", "0x400", "-o", "out"],
    "snapshot": ["snapshot", "--from", "c.bin", *CONFIG, "-o", "out", "--force"],
    "snapshot_perf": ["snapshot", "--from", *PERF, "-o", "out", "--force"],
    "encode": ["encode", LOGS / "a32-recur.exlog.gz", "--protocol", "ptm", "-o", "out", "--force"],
    "encode_etmv4": ["encode", LOGS / "a64-coro.exlog.gz", "--protocol", "etmv4", "-o", "out", "--force"],
    "check_sequence": ["check-sequence", "s.seq", "-o", "out"],
    "sim": ["sim", "trbe", "s.sim", "--force"],
    "sim_riscv": ["sim", "riscv", "r.sim", "run.log", "--force"],
    "gdb": ["gdb", "--serve", DEMO, INPUT],
    "help": ["--help"],
    "completion": ["help", "decode"],
}


def prepare(tool):
    shutil.copytree(ROOT / "tests" / "captures" / "demo", tool.folder / DEMO)
    tool.write("c.bin", (SYNC + b"\xf7" * 200) * 60)
    tool.write("perf.data", two_processes())
    tool.write("root/bin/one", CODE)
    tool.write("root/bin/two", CODE)
    tool.write("itm.bin", bytes(5) + b"\x80" + b"".join(b"\x01%c" % c for c in b"hello\nworld\n"))
    tool.write("bytes", bytes(64))
    tool.write("s.sim", SCRIPT.format(file="bytes", drain="out"))
    write_program(tool)
    tool.write("r.sim", ram("0x01110061").replace("trace.bin", "out").replace("dump to dump.txt\n", ""))
    tool.write("requests", "+".join(["", *(f"${word}#{sum(word.encode()) & 255:02x}" for word in REQUESTS.split())]))
    tool.write("s.seq", "TRBLIMITR_EL1 = 1\nisb\n")


def content(path):
    if path.is_dir():
        return {str(name.relative_to(path)): name.read_bytes() for name in sorted(path.rglob("*")) if name.is_file()}
    return path.read_bytes() if path.exists() else None


def listing(tool):
    return sorted(str(path.relative_to(tool.folder)) for path in tool.folder.rglob("*") if "out/" not in str(path))


def environment(tool, **variables):
    options = os.environ.get("ASAN_OPTIONS", "")
    return {**os.environ, "LD_PRELOAD": SHIM, "TMPDIR": str(tool.folder), **variables,
            "ASAN_OPTIONS": f"{options}:verify_asan_link_order=0:allocator_may_return_null=1"}


def start(tool, words, **variables):
    with open(tool.folder / "requests" if INPUT in words else os.devnull, "rb") as file:
        return subprocess.run([tool.program, *(str(word) for word in words if word != INPUT)], cwd=tool.folder, stdin=file,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200, check=False,
                              env=environment(tool, **variables))


def clear(path):
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()


def chosen(count, at):
    """All n, or some: the first ones, where little is there yet, and others all over, not the same for every command."""
    if IS_FULL or count <= SAMPLE:
        return range(1, count + 1)
    return sorted({1 + (i * count + (at * 7 + i * 13) % count) // SAMPLE for i in range(SAMPLE)} & set(range(1, count + 1)))


def check(tool, words, fault, before, good):
    """One run with a fault.  Status 0 is right where the memory was not needed: then all is as without the fault."""
    out, clean = tool.folder / "out", listing(tool)
    done = start(tool, words, TW_FAULT=fault)
    said = done.stderr.decode("utf-8", "replace")
    where = f"{fault}: {' '.join(map(str, words))}: status {done.returncode}\n{said[-3000:]}"
    assert "Sanitizer" not in said, where
    if done.returncode != 3:
        assert done.returncode == good[0] and done.stdout == good[1] and content(out) == good[2], where
        return
    assert said.startswith("trackway: ") and said.endswith("\n"), where
    # Whole is right, too, file by file: another one is what could not be written.
    left = content(out)
    is_whole = isinstance(left, dict) and left.items() <= good[2].items()
    assert left in (before, good[2]) or is_whole, f"what was there has changed: {where}"
    left = set(listing(tool)) - {"out"} ^ set(clean) - {"out"}
    assert not left, f"left behind {left}: {where}"


def sweep(tool, words, at, kind, count, good):
    out, failed = tool.folder / "out", []
    is_file = isinstance(good[2], bytes)
    for i, n in enumerate(chosen(count, at)):
        clear(out)
        before = None
        if is_file and i % 2:  # what is replaced has to stay
            before = b"what was there"
            out.write_bytes(before)
        try:
            check(tool, words, f"{kind}:{n}" + ("+" if kind == "memory" and i % 3 == 2 else ""), before, good)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            failed.append(str(error))
    return failed


def command(name, words, at):
    def run(tool):
        if not SHIM:
            raise harness.Skip("nothing to load")
        prepare(tool)
        if any("profile.twr" in str(word) for word in words):
            tool.run("profile", DEMO, "--save", "profile.twr", "-o", "/dev/null")
        if "demo.twx" in words:
            tool.run("index", "build", DEMO, "--index", "demo.twx")
        done = start(tool, words, TW_FAULT_COUNT="count")
        memory, steps = (int(word) for word in (tool.folder / "count").read_text().split())
        (tool.folder / "count").unlink()
        good = (done.returncode, done.stdout, content(tool.folder / "out"))
        assert done.returncode in (0, 1), (words, done.returncode, done.stderr[-500:])
        assert memory and steps, (memory, steps)
        failed = sweep(tool, words, at, "memory", memory, good) + sweep(tool, words, at, "write", steps, good)
        if IS_FULL:
            print(f"{name}: {memory} requests for memory, {steps} steps of writing")
        assert not failed, "\n".join(failed)
    return run


class Served:
    """A server, the pages that are asked for, and its end."""
    PAGES = ("/", "/info", "/data?capture=0", "/window?capture=0&from=0&to=2000", "/nothing")

    def __init__(self, tool, command, **variables):
        path = {"PATH": "/nowhere"} if command == "view" else {}  # no browser there
        with subprocess.Popen([tool.program, command, DEMO, "-q"], cwd=tool.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment(tool, **variables, **path)) as process:
            watch = threading.Timer(200, process.kill)  # it neither answers nor ends: that shows as its status
            watch.start()
            found = re.fullmatch(rb"http://127\.0\.0\.1:(\d+)/\?k=([0-9a-f]{32})\n", process.stdout.readline())
            self.answers = [self.ask(int(found[1]), found[2].decode(), page) for page in self.PAGES] if found else []
            if found:
                process.terminate()
            self.said = process.communicate(timeout=200)[1].decode("utf-8", "replace")
            watch.cancel()
            self.status = process.returncode

    @staticmethod
    def ask(port, token, page):
        """Status and body; None: it was hung up on."""
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=200)
        try:
            link.request("GET", page + ("&" if "?" in page else "?") + "k=" + token)
            answer = link.getresponse()
            return answer.status, answer.read()
        except (http.client.HTTPException, OSError):
            return None
        finally:
            link.close()


def server(command, at):
    """It ends with 3 and says so, or lives: each page is then as without the fault, or is refused as one that could not be made."""
    def run(tool):
        if not SHIM:
            raise harness.Skip("nothing to load")
        prepare(tool)
        good = Served(tool, command, TW_FAULT_COUNT=str(tool.folder / "count"))
        if "this build has no server" in good.said:
            raise harness.Skip("built without libmicrohttpd")
        memory = int((tool.folder / "count").read_text().split()[0])
        (tool.folder / "count").unlink()
        clean = listing(tool)
        if IS_FULL:
            print(f"{command}: {memory} requests for memory")
        assert memory > 100 and len(good.answers) == len(Served.PAGES), good.said
        for n in chosen(memory, at):
            got = Served(tool, command, TW_FAULT=f"memory:{n}")
            where = f"memory:{n}: {command}: status {got.status}, {[a and a[0] for a in got.answers]}\n{got.said[-3000:]}"
            assert "Sanitizer" not in got.said and listing(tool) == clean, where
            if not got.answers:
                assert got.status == 3 and got.said.startswith("trackway: "), where
                continue
            assert got.status == good.status or (got.status == 3 and got.said.startswith("trackway: ")), where
            for mine, right in zip(got.answers, good.answers):
                assert mine is None or mine == right or mine[0] in (500, 503), where
    return run


def recorder(form, at, *more):
    """The tool's part of a recording; the plug-in is in another process.  Where it says that it went wrong nothing half is left, else the
    recording holds the path of the program."""
    def path(tool):
        return tool.run("decode", "out", "--format", "pcs", status=None).out

    def run(tool):
        if not SHIM:
            raise harness.Skip("nothing to load")
        words = ["record", "--format", form, "-o", "out", "--force", *more, build(tool, A64)]
        done = start(tool, words, TW_FAULT_COUNT=str(tool.folder / "count"))
        assert done.returncode == 7, done.stderr[-500:]  # the program's own
        counts = [int(word) for word in (tool.folder / "count").read_text().split()]
        (tool.folder / "count").unlink()
        want = path(tool)
        assert want.count("\n") > 20, want
        for kind, count in zip(("memory", "write"), counts):
            for n in chosen(count, at):
                clear(tool.folder / "out")
                clear(tool.folder / "out.old")
                clean = set(listing(tool))
                done = start(tool, words, TW_FAULT=f"{kind}:{n}")
                said = done.stderr.decode("utf-8", "replace")
                where = f"{kind}:{n}: {form}: status {done.returncode}\n{said[-2000:]}"
                assert "Sanitizer" not in said, where
                if (tool.folder / "out").exists():
                    assert path(tool) == want and done.returncode in (3, 7), where
                else:
                    assert done.returncode == 3, where
                assert done.returncode == 7 or "trackway: " in said, where
                assert set(listing(tool)) - {"out"} == clean, f"left behind {set(listing(tool)) ^ clean}: {where}"
    return run


def without(library, words, said, still):
    """What needs a library that is not on the machine says which; what does not need it is as always."""
    def run(tool):
        if not SHIM:
            raise harness.Skip("nothing to load")
        if IS_SANITIZED:
            raise harness.Skip("built with the library in it")
        prepare(tool)
        tool.write("z.bin.zst", bytes.fromhex("28b52ffd") + bytes(20))
        done = start(tool, words, TW_FAULT_LIBRARY=library)
        where = f"{done.returncode}: {done.stderr}"
        assert said in done.stderr.decode() and done.returncode == 3, where
        done = start(tool, still, TW_FAULT_LIBRARY=library)
        assert vars(done) == vars(start(tool, still)), f"{done.returncode}: {done.stderr}"
    return run


harness.add_case("without_libelf", without("libelf.so.1", ["calls", DEMO, "--symbols", f"{DEMO}/recur.elf"],
                                           "libelf is not on this machine", ["packets", DEMO]))
harness.add_case("without_libzstd", without("libzstd.so.1", ["packets", "z.bin.zst", *CONFIG],
                                            "libzstd (Debian: libzstd1) is not on this machine", ["calls", DEMO]))
for number, title in enumerate(("perf", "snapshot")):
    harness.add_case(f"record_{title}", recorder(title, number))
harness.add_case("record_filtered", recorder("perf", 2, "--range", "0-0xffffffffffff", "--filter", "0x400000-0x410000", "--filter", "_start"))
for number, title in enumerate(("serve", "view")):
    harness.add_case(title, server(title, number))
for number, (title, line) in enumerate(WRITES.items()):
    harness.add_case(title, command(title, line, number))

if __name__ == "__main__":
    sys.exit(harness.main())
