#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The worst inputs that are known of each kind against the bounds of docs/limits.md: host instructions (under valgrind) and bytes of
memory, for so many bytes of input; and four times the input may cost but four times as much.  usage: bounds.py PROGRAM [NAME...]"""
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "cli"))

import harness  # noqa: E402
from perf_file import ETMV4, RAW, PerfFile  # noqa: E402

REGISTERS = {"TRCCONFIGR": 0x1, "TRCTRACEIDR": 0x10, "TRCIDR0": 0x28018ea1, "TRCIDR1": 0x4100f403, "TRCIDR2": 0x488}
ETE = "TRCIDR0=0x28018ea1,TRCIDR1=0x4100fff3,TRCIDR2=0x488,TRCCONFIGR=0x1,TRCDEVARCH=0x47705a13"
ASYNC = bytes(11) + b"\x80"
BEGIN = ASYNC + b"\x01\x01\x00\x04"
GROWTH = 4.6  # of cost, for four times the input; a sort is allowed its logarithm


def registers(**more):
    return ",".join(f"{name}={value:#x}" for name, value in {**REGISTERS, **more}.items())


def a64(address):
    return bytes([(address >> 2) & 0x7f, (address >> 9) & 0x7f]) + (address >> 16).to_bytes(6, "little")


def noise(n, begin=b""):
    """Any bytes, always the same ones; now and then synchronization."""
    value, out = 1, bytearray()
    while len(out) < n:
        value = (value * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        out += begin if begin and len(out) % 97 == 0 else bytes([value >> 56])
    return bytes(out)


def random_bytes(tool, n):
    """Errors and packets of every kind, as often as they may come."""
    path = tool.write("c.bin", noise(n, BEGIN))
    return path.stat().st_size, ["decode", "c.bin", "--protocol", "etmv4", "--config", registers()]


def ntrace_bytes(tool, n):
    path = tool.write("c.bin", noise(n))
    return path.stat().st_size, ["decode", "c.bin", "--protocol", "ntrace", "--config", "src_bits=0"]


def itm_bytes(tool, n):
    path = tool.write("c.bin", noise(n, bytes(5) + b"\x80"))
    return path.stat().st_size, ["decode", "c.bin", "--protocol", "itm"]


def stm_bytes(tool, n):
    path = tool.write("c.bin", noise(n, b"\xff" * 10 + b"\x0f\x00\x3f"))
    return path.stat().st_size, ["decode", "c.bin", "--protocol", "stm"]


def atoms(tool, n):
    """24 branches in a byte."""
    tool.write("image", struct.pack("<I", 0x54000000) * 16)
    path = tool.write("c.bin", BEGIN + b"\x85" + a64(0x100000) + b"\x30" + b"\xd4" * n)
    return path.stat().st_size, ["decode", "c.bin", "--protocol", "etmv4", "--config", registers(), "--image", "image@0x100000"]


def source_addresses(tool, n, *more):
    """Each byte names an address behind 4,000 branches that were not taken."""
    branches, base = 4000, 0x100000
    last = base + 4 * (branches - 1)
    tool.write("image", struct.pack("<I", 0x54000020) * (branches - 1) + struct.pack("<I", 0x14000000 | (base - last) // 4 & 0x3ffffff))
    path = tool.write("c.bin", BEGIN + b"\x85" + a64(base) + b"\x30\xb8" + a64(last) + b"\xb0" * n)
    return path.stat().st_size, ["decode", "c.bin", "--protocol", "ete", "--config", ETE, "--image", "image@0x100000", *more]


def far_source_addresses(tool, n):
    """... behind a million of them: that is refused."""
    size, words = source_addresses(tool, n)
    base, branches = 0x100000, 200000
    tool.write("image", struct.pack("<I", 0x54000020) * branches)
    path = tool.write("c.bin", (BEGIN + b"\x85" + a64(base) + b"\x30\xb8" + a64(base + 4 * branches - 4)) * (n // 16))
    return path.stat().st_size, words


def split_source_addresses(tool, n):
    return source_addresses(tool, n, "--opt", "src-addr-n")


def q_elements(tool, n):
    tool.write("image", bytes(1 << 22))
    path = tool.write("c.bin", BEGIN + b"\x85" + a64(0x100000) + b"\x30" + b"\xa0\xff\xff\x3f" * n)
    return path.stat().st_size, ["decode", "c.bin", "--protocol", "etmv4", "--config", registers(TRCCONFIGR=0x6001),
                                 "--image", "image@0x100000"]


def etrace_blocks(tool, n):
    """Addresses at the far end of a block of 16,000 instructions."""
    count, base = 16000, 0x100000

    def packet(*fields):
        value = bits = 0
        for number, width in fields:
            value |= (number & (1 << width) - 1) << bits
            bits += width
        size = (bits + 7) // 8
        if value >> (bits - 1) & 1:
            value |= (1 << 8 * size) - (1 << bits)
        out = bytearray(value.to_bytes(size, "little"))
        while len(out) > 1 and (out[-1] == 0 and not out[-2] & 0x80 or out[-1] == 0xff and out[-2] & 0x80):
            out.pop()
        return bytes([2 << 5 | len(out)]) + bytes(out)

    sync = packet((3, 2), (0, 2), (1, 1), (3, 2), (base >> 1, 63))
    path = tool.write("c.bin", sync + (packet((2, 2), (2 * (count - 10), 63), (0, 1), (0, 1)) + sync) * n)
    tool.write("c.cfg", "layout=v2\nencapsulation=len5-type2\niaddress_width_p=64\niaddress_lsb_p=1\nnocontext_p=1\nnotime_p=1\n"
               "privilege_width_p=2\necause_width_p=5\nitype_width_p=4\nencoder_mode_bits=1\nioptions_bits=5\ndoptions_bits=4\n")
    back = -4 * (count - 1) & 0x1fffff
    jump = (back >> 20 & 1) << 31 | (back >> 1 & 0x3ff) << 21 | (back >> 11 & 1) << 20 | (back >> 12 & 0xff) << 12 | 0x6f
    tool.write("image", struct.pack("<I", 0x13) * (count - 1) + struct.pack("<I", jump))
    return path.stat().st_size, ["decode", "c.bin", "--protocol", "etrace", "--config", "c.cfg", "--image", "image@0x100000"]


AWAY = b"\x9d" + a64(0x12340000) + b"\xf7"  # a branch where nothing is mapped


def recording(tool, trace, fill):
    perf = PerfFile()
    perf.info(ETMV4, {0: {**REGISTERS, "TRCCONFIGR": 0x41}})
    perf.comm(3001, "a", 1)
    fill(perf)
    perf.start(3001, 2)
    trace = BEGIN + b"\x85" + a64(0x400000) + b"\xb0" + struct.pack("<I", 3001) + trace
    perf.aux(0, len(trace), RAW, 3001, 3)
    perf.trace(trace, cpu=0)
    path = tool.write("perf.data", perf.bytes())
    return path.stat().st_size, ["decode", "perf.data", "--threads", "1", "--format", "jsonl", "--sysroot", "."]


def perf_names(tool, n):
    """One thread changes its name again and again, and the trace its context."""
    return recording(tool, b"".join(b"\x81\xb0" + struct.pack("<I", 3001 + (i & 1)) + AWAY for i in range(n)),
                     lambda perf: [perf.comm(3001, f"{i:07x}", 0x10000 + i) for i in range(n)])


def perf_processes(tool, n):
    return recording(tool, b"".join(b"\x81\xb0" + struct.pack("<I", 10000 + i * 7919 % n) + AWAY for i in range(n)),
                     lambda perf: [perf.map(10000 + i, 0x400000, 0x1000, 0, "/a", 4) for i in range(n)])


def perf_maps(tool, n):
    """Mapped over the same place again and again; the trace is where nothing is."""
    return recording(tool, b"".join(b"\x9d" + a64(0x12340000 + 4 * (i & 0xff)) + b"\xf7" for i in range(n)),
                     lambda perf: [perf.map(10000 + i // 10000, 0x7000000, 0x1000, i % 7 * 0x1000, "/a", 0x10000 + i) for i in range(n)])


def perf_losses(tool, n):
    """Every block of one CPU is truncated, and as many of other CPUs have no trace."""
    block = BEGIN + b"\x85" + a64(0x400000)
    perf = PerfFile()
    perf.info(ETMV4, {0: REGISTERS})
    perf.start(3001, 2)
    for i in range(n):
        perf.aux(i * len(block), len(block), RAW | 1, 3001, 3 + i)
        perf.aux(0, 0, RAW | 1, 3001, 3 + i, 1 + i)
    perf.trace(block * n, cpu=0)
    path = tool.write("perf.data", perf.bytes())
    return path.stat().st_size, ["decode", "perf.data", "--threads", "1", "--format", "jsonl", "--sysroot", "."]


def small_elf():
    """A function of four instructions at offset 120."""
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 3, 183, 1, 0, 64, 192, 0, 64, 56, 1, 64, 4, 3)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 136, 136, 4096)
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 18, 0, 1, 120, 16)
    sections = bytes(64) + struct.pack("<IIQQQQIIQQ", 0, 1, 6, 120, 120, 16, 0, 0, 4, 0)
    sections += struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, 136, 48, 3, 1, 8, 24) + struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 184, 3, 0, 0, 1, 0)
    return head + load + struct.pack("<I", 0x14000000) * 4 + symbols + b"\0f\0".ljust(8, b"\0") + sections


def perf_files(tool, n):
    """A file for every 16 bytes of code, the last name first, and the trace in all of them; saved with the builds of all."""
    for i in range(n):
        tool.write(f"f{i:07}", small_elf())
    trace = b"".join(b"\x9d" + a64(0x400000 + 16 * i) + b"\xf7" for i in range(n))
    size, words = recording(tool, trace, lambda perf: [perf.map(3001, 0x400000 + 16 * i, 16, 120, f"/f{n - 1 - i:07}", 1) for i in range(n)])
    return size + n * len(small_elf()), ["profile", *words[1:4], "-q", "--sysroot", ".", "--save", "a.tws"]


def elf_segments(tool, n):
    """At falling addresses."""
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 2, 183, 1, 0x400000, 64, 0, 0, 64, 56, n, 64, 0, 0)
    path = tool.write("a.elf", head + b"".join(struct.pack("<IIQQQQQQ", 1, 5, 0, 0x40000000 - 16 * i, 0, 1, 1, 1) for i in range(n)))
    tool.write("c.bin", BEGIN)
    return path.stat().st_size, ["decode", "c.bin", "--protocol", "etmv4", "--config", registers(), "--image", "a.elf"]


def snapshot(tool, core="", trace=None):
    device = "[device]\nname={}\nclass={}\ntype={}\n[regs]\n{}"
    lines = "\n".join(f"{name}={value:#x}" for name, value in REGISTERS.items()) + "\n"
    files = {"snapshot.ini": "[snapshot]\nversion=1.0\n[device_list]\na=cpu.ini\nb=etm.ini\n[trace]\nmetadata=trace.ini\n",
             "cpu.ini": device.format("cpu", "core", "Cortex-A57", "PC=0\n") + core,
             "etm.ini": device.format("ETM", "trace_source", "ETM4", lines),
             "trace.ini": trace or "[trace_buffers]\nbuffers=b\n[b]\nname=E\nfile=etb.bin\nformat=source_data\n[source_buffers]\nETM=E\n"
             "[core_trace_sources]\ncpu=ETM\n"}
    for name, text in files.items():
        tool.write(f"snap/{name}", text)
    tool.write("snap/etb.bin", BEGIN)
    tool.write("snap/zero.bin", bytes(16))
    return sum(map(len, files.values())), ["decode", "snap", "-q"]


def snapshot_dumps(tool, n):
    return snapshot(tool, "".join(f"[dump{i}]\nfile=zero.bin\naddress={0x10000000 - 16 * i:#x}\nlength=16\n" for i in range(n)))


def snapshot_buffers(tool, n):
    return snapshot(tool, trace="[trace_buffers]\nbuffers=" + ",".join(f"b{i}" for i in range(n)) + "\n" +
                    "".join(f"[b{i}]\nname=E{i}\nfile=etb.bin\nformat=source_data\n" for i in range(n)) +
                    "[source_buffers]\nETM=" + ",".join(f"E{i}" for i in reversed(range(n))) + "\n[core_trace_sources]\ncpu=ETM\n")


def saved_coverage(tool, n):
    """A saved result of n blocks."""
    tool.write("image", struct.pack("<I", 0x54000020) * n)
    tool.write("c.bin", BEGIN + b"\x85" + a64(0x100000) + b"\x30" + b"\xd4" * (n // 24))
    tool.run("coverage", "c.bin", "--protocol", "etmv4", "--config", registers(), "--image", "image@0x100000", "-q", "--save", "a.tws")
    return (tool.folder / "a.tws").stat().st_size, ["merge", "-o", "b.tws", "a.tws"]


def parts_file(tool, n):
    """Parts of one byte each."""
    tool.write("c.bin", BEGIN + bytes([0x30]) * n)
    path = tool.write("parts.txt", f"trackway parts 1\nbuffer 0 {n + len(BEGIN)} \"c.bin\"\n" +
                      "".join(f"part {i + 1} 0 {i:#x} 0 {i + 1:#x}\n" for i in range(n + len(BEGIN))))
    return path.stat().st_size, ["stats", "c.bin", "--protocol", "etmv4", "--config", registers(), "--parts", "parts.txt", "--part", "1"]


def gdb_packets(tool, n):
    """What no debugger sends, and the longest answers for the shortest questions."""
    def packet(text):
        return b"$" + text + b"#%02x" % (sum(text) & 0xff)

    path = tool.write("input", noise(n) + (packet(b"g") + packet(b"m400000,fff") + packet(b"qXfer:features:read:target.xml:0,fff") +
                                           packet(b"Z1,400000,4") + packet(b"bs")) * (n // 64))
    return path.stat().st_size, ["gdb", "--serve", harness.ROOT / "tests/captures/demo"]


def exported(form):
    """Every other instruction a call of the next but one: a function and an edge of the graph for every eight bytes of code."""
    def make(tool, n):
        tool.write("image", struct.pack("<II", 0x94000002, 0xd503201f) * n)
        trace = tool.write("c.bin", BEGIN + b"\x85" + a64(0x100000) + b"\x30" + b"\xd4" * (n // 24))
        return trace.stat().st_size + 8 * n, ["calls", "c.bin", "--protocol", "etmv4", "--config", registers(), "--image", "image@0x100000",
                                              "-q", "--format", form]
    make.__name__ = f"exported_{form}"
    return make


# Kind of input, how many units of it, host instructions for each byte, bytes of memory for each byte.
BOUNDS = [
    (random_bytes, 4000, 4000, 4096), (atoms, 1000, 60000, 4096),
    (source_addresses, 100, 550000, 4096), (far_source_addresses, 320, 50000, 4096), (split_source_addresses, 25, 6000000, 4096),
    (q_elements, 500, 20000, 4096), (etrace_blocks, 15, 550000, 4096),
    (perf_names, 1000, 300, 100), (perf_processes, 1000, 300, 150), (perf_maps, 1000, 300, 100),
    (perf_losses, 300, 1000, 400), (perf_files, 1000, 500, 200),
    (ntrace_bytes, 4000, 1000, 4096), (itm_bytes, 4000, 2000, 4096), (stm_bytes, 4000, 1000, 4096),
    (elf_segments, 4000, 120, 200), (snapshot_dumps, 1000, 500, 200), (snapshot_buffers, 400, 2500, 400),
    (saved_coverage, 4000, 100, 100), (parts_file, 4000, 100, 100), (gdb_packets, 4000, 5000, 4096),
    *((exported(form), 400, 5000, 4096) for form in ("jsonl", "callgrind", "dot")),
]
MEMORY_BASE = 48 << 20  # of a run that does nothing, with room for large pages


def cost(tool, words):
    """Host instructions and bytes of memory; standard input is the file `input`, where there is one."""
    path = tool.folder / "input"
    taken = path if path.exists() else os.devnull
    with open(taken, "rb") as given:
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", tool.program, *words], stdin=given,
                              cwd=tool.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    text = done.stderr.decode("utf-8", "replace")
    found = re.search(r"refs:\s+([\d,]+)", text)
    assert found and done.returncode in (0, 1), (words, done.returncode, text[-1000:])
    with open(os.devnull, "wb") as null, open(taken, "rb") as given:
        process = subprocess.Popen([tool.program, *words], cwd=tool.folder, stdin=given, stdout=null, stderr=null)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return int(found.group(1).replace(",", "")), usage.ru_maxrss * 1024


def check(make, n, instructions, memory):
    def run(tool):
        if not shutil.which("valgrind"):
            raise harness.Skip("no valgrind")
        _, words = make(tool, n)
        small = cost(tool, words)[0]
        size, words = make(tool, 4 * n)
        count, resident = cost(tool, words)
        idle = cost(tool, ["--version"])[0]
        per_byte = (count - idle) / size
        print(f"{make.__name__}: {size} bytes, {per_byte:.0f} instructions a byte, {resident >> 20} MB; four times the size costs "
              f"{(count - idle) / (small - idle):.2f} times as much")
        assert per_byte <= instructions, f"{per_byte:.0f} instructions for each byte, bound {instructions}"
        assert resident <= MEMORY_BASE + memory * size, f"{resident} bytes of memory for {size}"
        assert (count - idle) / (small - idle) <= GROWTH, "cost grows faster than size"
    return run


def requests(port, token, n):
    """Of one that knows the address and of others: headers without end, numbers that are none, answers of the smallest request."""
    host = f"Host: 127.0.0.1:{port}\r\nConnection: close\r\n"
    for i in range(n):
        yield f"GET /info?k={token} HTTP/1.1\r\n{host}\r\n"
        yield f"GET /tiles?k={token}&capture=0&from={'9' * 2000}&to=1&by=bytes HTTP/1.1\r\n{host}\r\n"
        yield f"GET /{'a/' * 1000}?{'k=' + token[::-1] + '&'}{'x=%41&' * 200} HTTP/1.1\r\n{host}\r\n"
        yield f"GET /info?k={'0' * i} HTTP/1.1\r\n" + "".join(f"h{k}: {'v' * 20}\r\n" for k in range(100)) + host + "\r\n"
        yield f"\x7f{'A' * 500} / HTTP/9.9\r\n\r\n"


def served(tool, n):
    """Bytes of requests, host instructions and bytes of memory of a server that got n of each kind."""
    process = subprocess.Popen(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", tool.program, "serve",
                                harness.ROOT / "tests/captures/demo", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    found = re.fullmatch(rb"http://127\.0\.0\.1:(\d+)/\?k=([0-9a-f]{32})\n", process.stdout.readline())
    if not found:
        said = process.communicate()[1].decode("utf-8", "replace")
        if "this build has no server" in said:
            raise harness.Skip("built without libmicrohttpd")
        raise AssertionError(said[-1000:])
    size = 0
    for request in requests(int(found[1]), found[2].decode(), n):
        with socket.create_connection(("127.0.0.1", int(found[1])), timeout=300) as link:
            link.sendall(request.encode())
            while link.recv(1 << 16):
                pass
        size += len(request)
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        resident = int(re.search(r"VmHWM:\s+(\d+) kB", status.read())[1]) * 1024
    process.terminate()
    text = process.communicate(timeout=300)[1].decode("utf-8", "replace")
    return size, int(re.search(r"refs\s*:\s+([\d,]+)", text)[1].replace(",", "")), resident


def http_requests(tool):
    if not shutil.which("valgrind"):
        raise harness.Skip("no valgrind")
    _, idle, before = served(tool, 0)
    _, small, _ = served(tool, 5)
    size, count, resident = served(tool, 20)
    print(f"http_requests: {size} bytes, {(count - idle) / size:.0f} instructions a byte, {(resident - before) / size:.0f} bytes of memory (under "
          f"valgrind) a byte; four times the size costs {(count - idle) / (small - idle):.2f} times as much")
    assert (count - idle) / size <= HTTP_INSTRUCTIONS and resident <= before + HTTP_MEMORY, (count, idle, size, resident, before)
    assert (count - idle) / (small - idle) <= GROWTH, "cost grows faster than size"


HTTP_INSTRUCTIONS = 300  # for each byte of a request, libmicrohttpd's own included
HTTP_MEMORY = 16 << 20    # whatever comes: connections take what they may, and give it back

harness.add_case("http_requests", http_requests)
for bound in BOUNDS:
    harness.add_case(bound[0].__name__, check(*bound))

if __name__ == "__main__":
    sys.exit(harness.main())
