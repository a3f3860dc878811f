# SPDX-License-Identifier: BSD-2-Clause
"""Reads the data of a report as docs/formats.md describes it."""
import base64
import json
import re
import struct

KINDS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "f64": "d", "s8": "B", "s16": "H", "s32": "I"}


class Data:
    def __init__(self, block):
        assert block[:8] == b"TWVIEW1\n", block[:20]
        size, = struct.unpack_from("<I", block, 8)
        self.directory = json.loads(block[12:12 + size])
        self.block = block
        self.base = 12 + size
        assert self.base % 8 == 0
        self.info = self.directory["info"]
        self.texts = []
        first = self.base + self.directory["textsAt"]
        begin = 0
        for end in self.column("texts", "end"):
            self.texts.append(block[first + begin:first + end])
            begin = end

    def column(self, table, name):
        about = self.directory[table]
        kind, at = about["columns"][name]
        values = struct.unpack_from(f"<{about['rows']}{KINDS[kind]}", self.block, self.base + at)
        if kind[0] == "s":
            return [self.texts[value] for value in values]
        return [int(value) for value in values]

    def rows(self, table):
        """The table as dictionaries; texts are bytes."""
        names = list(self.directory[table]["columns"])
        columns = [self.column(table, name) for name in names]
        return [dict(zip(names, row)) for row in zip(*columns)]


def read_report(path):
    """The data of each capture in a report."""
    page = path.read_text(encoding="utf-8")
    return [Data(base64.b64decode(text, validate=True))
            for text in re.findall(r'<script type="application/x-trackway-data">([^<]*)</script>', page)]
