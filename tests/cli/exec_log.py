# SPDX-License-Identifier: BSD-2-Clause
"""Execution logs of the corpus (the form "exlog 1"): the address of every instruction executed, in order."""
import gzip


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
