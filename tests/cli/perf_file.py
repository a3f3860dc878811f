# SPDX-License-Identifier: BSD-2-Clause
"""Writes small perf.data files, as perf record does."""
import struct

ETMV4 = 0x4040404040404040
ETE = 0x5050505050505050
ETMV3 = 0x3030303030303030  # PTM, too: ETMIDR says which
WORDS = {ETMV3: ["ETMCR", "ETMTRACEIDR", "ETMCCER", "ETMIDR"],
         ETMV4: ["TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8",
                 "TRCAUTHSTATUS"],
         ETE: ["TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8",
               "TRCAUTHSTATUS", "TRCDEVARCH"]}
NONE = 0xffffffff
RAW = 0x100
EXEC = 1 << 13
PMU = 8
TID, TIME, CPU, IDENTIFIER = 1 << 1, 1 << 2, 1 << 7, 1 << 16
EVENT_ID, DUMMY_ID = 101, 102


def padded(data, to=8):
    return data + bytes(-len(data) % to)


def record(kind, body, misc=0):
    body = padded(body)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(value, room=64):
    return struct.pack("<I", room) + value.encode().ljust(room, b"\0")


class PerfFile:
    """Records in the order of the calls; every one of the kernel's ends with pid, tid, time, the
    event's identifier, and before that the CPU, which a recording of one thread does not have."""

    def __init__(self, has_cpu=True):
        self.has_cpu = has_cpu
        self.sample_type = 1 | TID | TIME | IDENTIFIER | (CPU if has_cpu else 0)
        self.records = b""
        self.arch = "aarch64"
        self.pieces = []  # where records with trace behind them are

    def tail(self, pid, tid, time, cpu=0, event=DUMMY_ID):
        return (struct.pack("<IIQ", pid, tid, time) +
                (struct.pack("<II", cpu, 0) if self.has_cpu else b"") + struct.pack("<Q", event))

    def add(self, kind, body, misc=0):
        self.records += record(kind, body, misc)

    def info(self, magic, cpus, version=1):
        """cpus: for each number the registers of its trace unit."""
        words = [version, PMU << 32 | len(cpus), 0]
        for cpu, registers in cpus.items():
            names = WORDS[magic]
            words += [magic, cpu, len(names)] + [registers.get(name, 0) for name in names]
        self.add(70, struct.pack("<II", 3, 0) + struct.pack(f"<{len(words)}Q", *words))

    def comm(self, pid, name, time, is_exec=False):
        self.add(3, struct.pack("<II", pid, pid) + padded(name.encode() + b"\0") +
                 self.tail(pid, pid, time), EXEC if is_exec else 0)

    def map(self, pid, address, size, offset, path, time, mode=2):
        self.add(10, struct.pack("<IIQQQIIQQII", pid, pid & NONE, address, size, offset, 8, 1, 7, 0,
                                 5, 2) + padded(path.encode() + b"\0") +
                 self.tail(pid, pid, time), mode)

    def start(self, pid, time, cpu=0):
        self.add(12, struct.pack("<II", pid, pid) + self.tail(pid, pid, time, cpu, EVENT_ID))

    def aux(self, offset, size, flags, pid, time, cpu=0):
        self.add(11, struct.pack("<QQQ", offset, size, flags) +
                 self.tail(pid, pid, time, cpu, EVENT_ID))

    def trace(self, data, offset=0, tid=NONE, cpu=NONE, index=0):
        data = padded(data)
        self.pieces.append(len(self.records))
        self.add(71, struct.pack("<QQQIIII", len(data), offset, 0, index, tid, cpu, 0))
        self.records += data

    def attributes(self, at):
        """The two events of a recording, and their ids, which lie at `at`."""
        body = b""
        for kind, config, flags, place in [(PMU, 0, 1 << 18 | 0x1041, at),
                                           (1, 9, 1 << 18 | 0x1842301, at + 8)]:
            attribute = struct.pack("<IIQQQQQ", kind, 128, config, 1, self.sample_type, 4, flags)
            body += attribute.ljust(128, b"\0") + struct.pack("<QQ", place, 8)
        return body

    def bytes(self):
        """The file, with the features that perf wants to see."""
        head, attributes = 104, 2 * 144
        data = head + 16 + attributes
        features = {4: text("6.1.0"), 5: text("6.1.0"), 6: text(self.arch),
                    7: struct.pack("<II", 1, 1), 18: struct.pack("<Q", len(self.pieces)) +
                    b"".join(struct.pack("<QQ", data + place, 48) for place in self.pieces)}
        table, sections = b"", b""
        end = data + len(self.records)
        for number in sorted(features):
            table += struct.pack("<QQ", end + 16 * len(features) + len(sections),
                                 len(features[number]))
            sections += features[number]
        bits = sum(1 << number for number in features)
        return (struct.pack("<8sQQQQQQQQ4Q", b"PERFILE2", head, 144, head + 16, attributes, data,
                            len(self.records), 0, 0, bits, 0, 0, 0) +
                struct.pack("<QQ", EVENT_ID, DUMMY_ID) + self.attributes(head) + self.records +
                table + sections)
