# SPDX-License-Identifier: BSD-2-Clause
"""Execution logs of the corpus (the form "exlog 1"): the address of every instruction executed, in order."""
import gzip

# A log as text, of AArch64.
CALL_LOOP_INTERRUPT = """trackway-log 1
# A call, a loop, an interrupt.
context el=0 cid=0xaa
i 0x1000 94000400           # bl 0x2000
i 0x2000 d503201f
i 0x2004 54ffffe0 taken     # b.eq 0x2000
i 0x2000 d503201f
i 0x2004 54ffffe0
i 0x2008 d65f03c0 taken 0x1004
i 0x1004 d503201f
exception irq return=0x1008
context el=1
i 0x3000 d69f03e0 taken 0x1008
context el=0
i 0x1008 14000000
"""


def leb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def signed(data, at):
    value, at = leb(data, at)
    return (value >> 1) ^ -(value & 1), at


def addresses_of(isa, start, code):
    """Where the instructions of a straight run begin."""
    out, at = [], 0
    while at < len(code):
        out.append(start + at)
        half = code[at] | code[at + 1] << 8
        is_short = (isa == 2 and half >> 11 < 0x1D) or (isa == 3 and half & 3 != 3)
        at += 2 if is_short else 4
    return out


def executed(path):
    """The addresses, and of each run that began where: what the log calls records is left out."""
    with gzip.open(path) as file:
        data = file.read()
    at = data.index(b"\n\n") + 2
    runs, last, out, before = [], 0, [], []
    fields = {2: 6, 3: 1, 4: 2, 5: 4}
    while True:
        tag, at = leb(data, at)
        if tag == 0:
            return out
        if tag == 1:
            delta, at = signed(data, at)
            isa, at = leb(data, at)
            _, at = leb(data, at)
            _, at = leb(data, at)
            size, at = leb(data, at)
            last += delta
            before = addresses_of(isa, last, data[at:at + size])
            at += size
            runs.append(before)
            out += before
        elif tag == 6:
            times, at = leb(data, at)
            out += before * times
        elif tag >= 16:
            before = runs[tag - 16]
            out += before
        else:
            for _ in range(fields[tag]):
                _, at = leb(data, at)


# ---- logs of our own ----


def put_leb(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def put_signed(value):
    return put_leb(value << 1 if value >= 0 else (-value << 1) - 1)


class Log:
    """A log as a list of what happened: ("run", number) and ("exc", fields); runs are (isa, start, code)."""

    def __init__(self, path):
        with gzip.open(path) as file:
            data = file.read()
        at = data.index(b"\n\n") + 2
        self.head, self.runs, self.events = data[:at], [], []
        fields, last = {2: 6, 3: 1, 4: 2, 5: 4}, 0
        while True:
            tag, at = leb(data, at)
            if tag == 0:
                return
            if tag == 1:
                delta, at = signed(data, at)
                isa, at = leb(data, at)
                kind, at = leb(data, at)
                count, at = leb(data, at)
                size, at = leb(data, at)
                last += delta
                self.runs.append((isa, kind, count, last, data[at:at + size]))
                at += size
                self.events.append(("run", len(self.runs) - 1))
            elif tag == 6:
                times, at = leb(data, at)
                self.events += [self.events[-1]] * times
            elif tag >= 16:
                self.events.append(("run", tag - 16))
            else:
                values = []
                for _ in range(fields[tag]):
                    value, at = leb(data, at)
                    values.append(value)
                self.events.append((tag, values))

    def write(self, path, events):
        out, known, last = bytearray(self.head), {}, 0
        for kind, what in events:
            if kind != "run":
                out += put_leb(kind) + b"".join(map(put_leb, what))
            elif what in known:
                out += put_leb(16 + known[what])
            else:
                isa, end, count, start, code = self.runs[what]
                out += put_leb(1) + put_signed(start - last) + put_leb(isa) + put_leb(end) + put_leb(count)
                out += put_leb(len(code)) + code
                known[what], last = len(known), start
        with gzip.open(path, "wb", compresslevel=1) as file:
            file.write(bytes(out + b"\0"))

    def addresses(self, events):
        each = [addresses_of(isa, start, code) for isa, _, _, start, code in self.runs]
        return [address for kind, what in events if kind == "run" for address in each[what]]
