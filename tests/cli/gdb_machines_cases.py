# SPDX-License-Identifier: BSD-2-Clause
"""trackway gdb: data trace, and RV32, with the real GDB."""
import gzip
import re
import struct

from gdb_cases import packet, serve
from gdb_programs_cases import batch
from harness import case, corpus, equal

DATA = [(0, 0x80000010, 3, 0x1122334455667788), None, (1, 0x80000018, 2, 0x55), None, (0, 0x80000020, 3, 0x99), None]
SIGNALS = "itype_0,cause,tval,priv,iaddr_0,context,ctype,iretire_0,ilastsize_0,dretire,dtype,daddr,dsize,data\n"


def words(values):
    return b"".join(struct.pack("<I", value) for value in values)


def data_at(tool, number, capture, *options):
    """What "monitor data" says at an instruction."""
    said = serve(tool, packet("qRcmd," + b"data".hex()), "--at", f"n:{number}", *options, capture=tool.folder / capture)
    return "".join(bytes.fromhex(part.split("#")[0]).decode() for part in said.decode().split("$O")[1:]
                   if not part.startswith("K#"))


@case
def gdb_shows_data_of_a_hart(tool):
    """Accesses that the decoder ties to their instructions are shown there, and nowhere else."""
    tool.write("code.bin", words([0x0005b503, 0x13, 0x00a5a423, 0x13, 0x0085b503, 0x13]))
    rows = [f"0,0,0,3,{0x1000 + 4 * number:x},0,0,1,1," + ("1,{},{:x},{},{:x}".format(*access) if access else "0,0,0,0,0")
            for number, access in enumerate(DATA)]
    tool.write("hart.csv", SIGNALS + "\n".join(rows) + "\n")
    tool.run("encode", "hart.csv", "--protocol", "etrace", "-o", "hart", "--config",
             "layout=v2,iaddress_width_p=64,privilege_width_p=2,itype_width_p=4,retires_p=1,data_width_p=64,"
             "daddress_width_p=64", "--unit", "iEnable=1,dEnable=1,DataCompress=3")
    for number, access in enumerate(DATA):
        said = data_at(tool, number, "hart", "--image", "code.bin@0x1000")
        if not access:
            equal(said, "the trace has no data accesses here\n", number)
            continue
        kind = "store" if access[0] else "load"
        assert "this instruction: " in said and f"{kind} {1 << access[2]} bytes at 0x{access[1]:x}" in said, said
        assert f"0x{access[3]:x}\n" in said and said.count("\n") == 2, said


@case
def gdb_shows_data_of_etmv3(tool):
    """An ETMv3 traces data directly behind the instruction that accesses it."""
    def data(address, value):
        return bytes([0x2E] + [address >> shift & 127 | 128 for shift in (0, 7, 14, 21)] + [address >> 28]) + words([value])
    sync = bytes(5) + b"\x80\x08"
    tool.write("v3.bin", sync + b"\x21" + words([0x8000]) + b"\x84" + data(0x80000010, 0x11223344) + b"\x84\x84" +
               data(0x80000018, 0x55) + b"\x84" + sync + b"\x01" + words([0x8010]) + b"\x84")
    tool.write("code.bin", words([0xe5910000, 0xe1a00000, 0xe5810008, 0xe1a00000, 0xe1a00000]))
    options = ("--protocol", "etmv3", "--framing", "none", "--config",
               "ETMCR=0x1000000c,ETMIDR=0x410CF250,ETMCCER=0x344008F2", "--image", "code.bin@0x8000")
    for number, want in enumerate((("this instruction:", "load 4 bytes at 0x80000010", "0x11223344\n"),
                                   ("no data accesses",), ("this instruction:", "store 4 bytes at 0x80000018", "0x55\n"),
                                   ("no data accesses",), ("no data accesses",))):
        said = data_at(tool, number, "v3.bin", *options)
        assert all(text in said for text in want), (number, said)


@case
def gdb_steps_on_rv32(tool):
    """Every instruction of a program for RV32, there and back, and what GDB is told of the machine."""
    folder = corpus() / "riscv"
    options = ("--protocol", "etrace", "--config", folder / "cases" / "rnd32a-m-all" / "case.txt", "--image",
               folder / "programs" / "rnd32a" / "image.txt")
    capture = folder / "cases" / "rnd32a-m-all" / "trace.bin"
    xml = serve(tool, packet("qXfer:features:read:target.xml:0,1fff"), *options, capture=capture).decode()
    assert "riscv:rv32" in xml and 'name="x0" bitsize="32"' in xml and 'name="pc" bitsize="32"' in xml, xml[:500]
    said = serve(tool, (packet("p20") + packet("s")) * 300 + packet("p20") + (packet("bs") + packet("p20")) * 300, "--first",
                 *options, capture=capture)
    found = [int.from_bytes(bytes.fromhex(digits.decode()), "little") for digits in re.findall(rb"\$([0-9a-f]{8})#", said)]
    want = []
    with gzip.open(folder / "programs" / "rnd32a" / "pcs.txt.gz", "rt") as lines:
        for line in lines:
            what, *rest = line.split()
            if what == "R":
                want.append((int(rest[0], 16), int(rest[2])))
    equal(len(found), 601, "steps")
    equal(found[:301], found[300:][::-1], "there and back")
    # the first of each straight run, in the order of the log
    at = 0
    for first, count in want:
        if at >= 301:
            break
        equal(found[at], first, f"instruction {at}")
        at += count
    out = batch(tool, capture, *options, "--first", "-q",
                commands=["stepi 5", "p $pc", "reverse-stepi 5", "p $pc", "break *0x%x" % found[40], "continue",
                          "reverse-continue", "info registers pc ra"])
    assert f"0x{found[5]:x}" in out and f"0x{found[0]:x}" in out and "Breakpoint 1, " in out, out
    assert "No more reverse-execution history" in out and "<unavailable>" in out, out
