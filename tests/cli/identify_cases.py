# SPDX-License-Identifier: BSD-2-Clause
"""identify, and captures of which nobody says what they are."""
import gzip
import json
import lzma
import pathlib
import random
import re
import shlex
import shutil
import struct
import subprocess

from far_cases import stamp
from harness import ROOT, Skip, case, corpus, equal
from hostile_cases import SYNC
from perf_file import PerfFile


def answers(done):
    return [json.loads(line) for line in done.out.splitlines()]


def identify(tool, *words):
    return answers(tool.run("identify", "--format", "json", *words))


def ntrace():
    """N-Trace by hand: a ProgTraceSync, then IndirectBranchHist messages."""
    dice = random.Random(3)
    out = bytearray()

    def message(*fields):
        bits, data = [], []
        for value, width, is_last in fields:
            size = max(width or value.bit_length(), 1)
            bits += [value >> i & 1 for i in range(size)]
            if not width:
                while len(bits) % 6:
                    bits.append(0)
                data.append(len(bits) // 6)
            del is_last
        while len(bits) % 6:
            bits.append(0)
        count = len(bits) // 6
        for i in range(count):
            word = sum(bit << k for k, bit in enumerate(bits[6 * i:6 * i + 6]))
            ends = 3 if i + 1 == count else 1 if i + 1 in data else 0
            out.append(word << 2 | ends)

    message((9, 6, 0), (5, 4, 0), (0, 0, 0), (0x40000000 >> 1, 0, 1))
    for _ in range(600):
        message((28, 6, 0), (0, 2, 0), (dice.randrange(1, 60), 0, 0), (dice.randrange(1, 2000), 0, 0),
                (dice.randrange(2, 2**12), 0, 1))
    return bytes(out)


@case
def identify_says_what_it_is_and_how_to_open_it(tool):
    tool.write("dump", ntrace())
    found, = identify(tool, "dump")
    equal([found["file"], found["framing"], found["protocol"], found["ids"]], ["dump", "none", "ntrace", []])
    assert found["confidence"] >= 0.95, found
    assert found["evidence"], found
    assert found["command"].startswith("trackway decode dump --protocol ntrace"), found
    equal(tool.run(*found["command"].split()[1:2], *found["command"].split()[2:], "--format", "jsonl").out,
          tool.run("decode", "dump", "--format", "jsonl", "-q").out)
    text = tool.run("identify", "dump").out
    assert "certain" in text and "because:" in text and "open it: trackway decode" in text, text


@case
def decode_uses_what_is_certain_and_says_so(tool):
    tool.write("dump", ntrace())
    done = tool.run("packets", "dump")
    assert "opened as that" in done.err and "N-Trace" in done.err, done.err
    equal(done.out, tool.run("packets", "dump", "--protocol", "ntrace", "--config", "dialect=1.0").out)


@case
def frames_swapped_bytes_and_an_offset(tool):
    tool.write("n", ntrace())
    tool.run("pack", "--stream", "0x12:n", "-o", "plain")
    plain = (tool.folder / "plain").read_bytes()
    found, = identify(tool, "plain")
    equal([found["framing"], found["protocol"], found["ids"]], ["memory", "ntrace", [0x12]])
    want = tool.run("packets", "plain", "-q").out
    for size in (2, 4):
        tool.write("turned", b"".join(plain[i:i + size][::-1] for i in range(0, len(plain), size)))
        found, = identify(tool, "turned")
        equal([found["framing"], found["protocol"], found["ids"], found["swap"]], ["memory", "ntrace", [0x12], size])
        equal(tool.run("packets", "turned", "-q").out, want)
    tool.write("late", b"\x77" * 5 + plain)
    found, = identify(tool, "late")
    equal([found["framing"], found["offset"], found["protocol"]], ["memory", 5, "ntrace"])
    tool.run("pack", "--stream", "0x12:n", "--framing", "tpiu", "-o", "port")
    found, = identify(tool, "port")
    equal([found["framing"], found["protocol"], found["ids"]], ["tpiu", "ntrace", [0x12]])


@case
def a_ring_buffer_is_opened_at_its_oldest_byte(tool):
    plain = ntrace()
    tool.write("plain", plain)
    for middle in (1000, len(plain) - 777):
        tool.write("ring", plain[middle:] + plain[:middle])
        found, = identify(tool, "ring")
        equal([found["protocol"], found["wrapped_at"]], ["ntrace", len(plain) - middle])
        assert f"--wrapped-at 0x{len(plain) - middle:x}" in found["command"], found
        assert "ring buffer" in tool.run("identify", "ring").out
        # Tracing may have been switched off and on there as well: it is not opened so without being told.
        assert found["confidence"] < 0.95, found
        words = shlex.split(found["command"])[2:]
        equal(tool.run("packets", *words, "-q").out, tool.run("packets", "plain", "-q").out)
    assert "wrapped_at" not in identify(tool, "plain")[0]


@case
def a_large_ring_buffer_is_opened_where_time_goes_back(tool):
    """More than is read whole: the place is found by halves."""
    data = b"".join(SYNC + stamp(1000 * n) + b"\xf7\xf7\xf6" * 60 for n in range(1, 24000))
    for middle in (len(data) // 3 + 77, len(data) - 100_000):
        tool.write("ring", data[middle:] + data[:middle])
        found, = identify(tool, "ring")
        equal([found["protocol"], found["wrapped_at"]], ["etmv4", len(data) - middle])
    tool.write("plain", data)
    assert "wrapped_at" not in identify(tool, "plain")[0]


@case
def a_segment_list_with_a_comment_is_no_flat_image(tool):
    tool.write("dump", ntrace())
    tool.write("list.txt", "# address offset length\nxlen 32\nseg 1000 0 4\n")
    tool.write("list.bin", bytes(4))
    assert "no ELF file" not in tool.run("decode", "dump", "--protocol", "ntrace", "--image", "list.txt", status=None).err
    tool.write("flat", b"\x13\0\0\0")
    assert "no ELF file" in tool.run("decode", "dump", "--protocol", "ntrace", "--image", "flat", status=None).err


@case
def packed_files_and_dumps_as_text_are_opened(tool):
    plain = ntrace()
    tool.write("plain", plain)
    want = tool.run("packets", "plain", "-q").out
    tool.write("t.gz", gzip.compress(plain))
    tool.write("t.xz", lzma.compress(plain))
    tool.write("digits", plain.hex())
    tool.write("bytes", "".join(" ".join(f"{b:02x}" for b in plain[i:i + 16]) + "\n" for i in range(0, len(plain), 16)))
    tool.write("gdb", "".join(f"0x{0x20000000 + i:x} <buffer+{i}>:\t" + "\t".join(f"0x{b:02x}" for b in plain[i:i + 8]) + "\n"
                              for i in range(0, len(plain), 8)))
    tool.write("ihex", "".join(record(plain[i:i + 16], i) for i in range(0, len(plain), 16)) + ":00000001FF\n")
    names = ["t.gz", "t.xz", "digits", "bytes", "gdb", "ihex"]
    for program, name in ((["xxd", "plain"], "xxd"), (["od", "-tx1", "plain"], "od"), (["hexdump", "-C", "plain"], "hexdump")):
        if shutil.which(program[0]):
            tool.write(name, subprocess.run(program, cwd=tool.folder, capture_output=True, check=True).stdout)
            names.append(name)
    for name in names:
        found, = identify(tool, name)
        equal([found["container"], found["protocol"]],
              ["gzip" if name == "t.gz" else "xz" if name == "t.xz" else "hex", "ntrace"], name)
        equal(tool.run("packets", name, "-q").out, want, name)
    tool.write("cut.gz", gzip.compress(plain)[:-20])
    assert "gzip data is damaged" in tool.run("packets", "cut.gz", status=3).err
    tool.write("cut.xz", lzma.compress(plain)[:-20])
    assert "xz data is damaged" in tool.run("packets", "cut.xz", status=3).err
    tool.write("two.xz", lzma.compress(plain[:100]) + bytes(4) + lzma.compress(plain[100:]))
    equal(tool.run("packets", "two.xz", "-q").out, want)


def record(data, address):
    body = bytes([len(data), address >> 8 & 255, address & 255, 0]) + data
    return ":" + (body + bytes([-sum(body) & 255])).hex().upper() + "\n"


@case
def what_is_no_capture_is_named(tool):
    tool.write("prog", b"\x7fELF" + bytes(200))
    tool.write("trace.ini", "[trace_buffers]\nbuffers=buffer0\n")
    tool.write("notes.txt", "Nothing but words, and more of them.\n" * 40)
    for name, word, step in (("prog", "ELF", "--image prog"), ("trace.ini", "snapshot", "folder that holds snapshot.ini"),
                             ("notes.txt", "text", "")):
        done = tool.run("decode", name, status=3)
        assert word in done.err and step in done.err and len(done.err.splitlines()) == 1, done.err
        found, = identify(tool, name)
        equal([found["framing"], found["protocol"]], [None, None])


@case
def identify_is_not_sure_of_chance(tool):
    dice = random.Random(11)
    names = []
    for n in range(40):
        content = bytearray(dice.randbytes(dice.choice([300, 5000, 70000])))
        if n % 2:
            for _ in range(len(content) // 3):
                content[dice.randrange(len(content))] = dice.choice([0, 0, 0, 0x80, 1, 255])
        tool.write(f"{n}", content)
        names.append(f"{n}")
    for found in identify(tool, *names):
        assert found["confidence"] < 0.95, found


@case
def identify_names_perf_data_of_other_architectures(tool):
    for kind, arch, name in [(1, "x86_64", "Intel PT"), (2, "x86_64", "Intel BTS"), (4, "aarch64", "SPE"),
                             (5, "s390x", "s390"), (99, "sparc64", "another kind of")]:
        made = PerfFile()
        made.arch = arch
        made.add(70, struct.pack("<II16Q", kind, 0, *range(16)))
        tool.write("other.perf.data", made.bytes())
        found, = identify(tool, "other.perf.data")
        equal([found["format"], found["protocol"], found["command"]], ["perf.data", None, None])
        assert name.lower() in found["what"].lower() and arch in found["what"], found
        err = tool.run("decode", "other.perf.data", status=3).err
        assert f"recorded on {arch}" in err, err
    made = PerfFile()
    made.arch = "loongarch64"
    made.comm(100, "made", 1)
    tool.write("none.perf.data", made.bytes())
    found, = identify(tool, "none.perf.data")
    assert "no AUXTRACE_INFO record" in found["what"] and "loongarch64" in found["what"], found


@case
def identify_knows_snapshots_and_perf(tool):
    folder = corpus()
    if not folder:
        return
    found, = identify(tool, str(folder / "coresight" / "snapshots" / "Snowball"))
    equal([found["framing"], found["protocol"], found["confidence"]], ["memory", "ptm", 1.0])
    found, = identify(tool, str(folder / "perf" / "p10-walk-percpu-etmv4-v1.perf.data"))
    equal([found["framing"], found["protocol"]], ["perf.data", "etmv4"])


def instructions(tool, name):
    """Host instructions that identify takes for a file."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", tool.program, "identify", name],
                          cwd=tool.folder, capture_output=True, text=True, check=True)
    return int(done.stderr.split("Collected :")[1].split()[0])


@case
def identify_costs_little(tool):
    """3 s of CPU are about 9,000,000,000 instructions: a gibibyte takes a third of that at most, tiny files a few milliseconds."""
    program = pathlib.Path(tool.program).read_bytes()
    if not shutil.which("valgrind") or b"__asan_init" in program or b"__llvm_profile" in program:
        raise Skip("instructions cannot be counted")
    dice = random.Random(17)
    kinds = [dice.randbytes(1 << 18), bytes(1 << 17) + dice.randbytes(1 << 17),
             bytes(dice.choice([0, 0, 0x80, 1, 255, 8, 9]) for _ in range(1 << 18)), ntrace() * 40]
    for kind in kinds:
        with open(tool.folder / "large", "wb") as file:
            file.truncate(1 << 30)
            for at in range(0, 1 << 30, 1 << 24):
                file.seek(at)
                file.write(kind)
        assert instructions(tool, "large") < 3_000_000_000, len(kind)
    for kind in kinds:
        tool.write("tiny", kind[:536])
        assert instructions(tool, "tiny") < 80_000_000


@case
def identify_says_how_to_open_any_name(tool):
    """The command that it gives is for a shell, whatever the file is called."""
    trace = (ROOT / "tests" / "captures" / "demo" / "ETB_0.bin").read_bytes()
    for name in ("it's.bin", "a b.bin", "-x.bin"):
        tool.write(name, trace)
        line = re.search(r"open it: trackway (.*)", tool.run("identify", "--", name).out)[1]
        words = shlex.split(line)
        equal(pathlib.PurePath(words[1]).name, name)
        tool.run(*words, "-q")
