# SPDX-License-Identifier: BSD-2-Clause
"""RISC-V code for cases, and what a hart reports when it runs through it."""
import struct

NOP, MRET = 0x00000013, 0x30200073


def field(value, high, low):
    return value >> low & (1 << high - low + 1) - 1


def jal(rd, offset):
    return (field(offset, 20, 20) << 31 | field(offset, 10, 1) << 21 | field(offset, 11, 11) << 20 |
            field(offset, 19, 12) << 12 | rd << 7 | 0x6f)


def jalr(rd, rs1, offset=0):
    return field(offset, 11, 0) << 20 | rs1 << 15 | rd << 7 | 0x67


def beq(offset):
    return (field(offset, 12, 12) << 31 | field(offset, 10, 5) << 25 | field(offset, 4, 1) << 8 |
            field(offset, 11, 11) << 7 | 0x63)


def upper(opcode, rd, value):
    return value & 0xfffff000 | rd << 7 | opcode


def lui(rd, value):
    return upper(0x37, rd, value)


def auipc(rd, value):
    return upper(0x17, rd, value)


def load(rd=10, rs1=11):
    return rs1 << 15 | 3 << 12 | rd << 7 | 0x03


class Code:
    """Words from an address on; `at` names the address of each."""

    def __init__(self, base=0x80000000):
        self.base, self.words = base, {}
        self.next = base

    def add(self, *words):
        first = self.next
        for word in words:
            self.words[self.next] = word
            self.next += 4
        return first

    def write(self, tool, name="code"):
        """A flat file and where it lies, for --image."""
        tool.write(name + ".bin", self.bytes())
        return f"{name}.bin@{self.base:#x}"

    def write_elf(self, tool, xlen, name):
        """An ELF file of one segment, linked to the base."""
        data = self.bytes()
        ident = b"\x7fELF" + bytes([xlen // 32, 1, 1]) + bytes(9)
        if xlen == 32:
            head = struct.pack("<HHIIIIIHHHHHH", 2, 243, 1, self.base, 52, 0, 0, 52, 32, 1, 40, 0, 0)
            segment = struct.pack("<8I", 1, 84, self.base, self.base, len(data), len(data), 5, 4)
        else:
            head = struct.pack("<HHIQQQIHHHHHH", 2, 243, 1, self.base, 64, 0, 0, 64, 56, 1, 64, 0, 0)
            segment = struct.pack("<IIQQQQQQ", 1, 5, 120, self.base, self.base, len(data), len(data), 4)
        tool.write(name, ident + head + segment + data)
        return name

    def bytes(self):
        data = bytearray(max(self.words) + 4 - self.base)
        for address, word in self.words.items():
            data[address - self.base:address - self.base + 4] = word.to_bytes(4, "little")
        return bytes(data)


def itype_of(word, address, following):
    """4.1.1, with four bits."""
    opcode, rd, rs1 = word & 0x7f, word >> 7 & 31, word >> 15 & 31
    if opcode == 0x63:
        return 4 if following in (None, address + 4) else 5
    if word == MRET:
        return 3
    if opcode == 0x6f:
        return 9 if rd in (1, 5) else 15 if rd else 11
    if opcode == 0x67:
        if rd in (1, 5):
            return 12 if rs1 in (1, 5) and rs1 != rd else 8
        return 13 if rs1 in (1, 5) else 14 if rd else 10
    return 0


def retired(code, path, **common):
    """One row for each address of a path."""
    rows = []
    for number, address in enumerate(path):
        following = path[number + 1] if number + 1 < len(path) else None
        rows.append(dict(dict(itype=itype_of(code.words[address], address, following), cause=0, tval=0, priv=3,
                              iaddr=address, context=0, ctype=0, iretire=1, ilastsize=1), **common))
    return rows


HEXADECIMAL = ("iaddr", "tval", "daddr", "data", "sdata", "ldata", "operand")


def csv(rows):
    """The rows as a log for `encode`; columns that a row lacks are empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [",".join(names)]
    for row in rows:
        lines.append(",".join("" if name not in row else
                              f"{row[name]:x}" if name.rstrip("_0123456789") in HEXADECIMAL else str(row[name])
                              for name in names))
    return "\n".join(lines) + "\n"


def config(**keys):
    """A configuration, for --config."""
    every = dict(layout="v2", iaddress_width_p=64, privilege_width_p=2, itype_width_p=4, ecause_width_p=5,
                 context_width_p=8, nocontext_p=0)
    every.update(keys)
    return ",".join(f"{key}={value}" for key, value in every.items())
