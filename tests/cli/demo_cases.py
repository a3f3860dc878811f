# SPDX-License-Identifier: BSD-2-Clause
"""The bundled capture: what the decoder says of it is what the emulator saw."""
import gzip
import pathlib
import subprocess

from harness import ROOT, Skip, case, equal

CAPTURES = ROOT / "tests" / "captures"
DEMO = CAPTURES / "demo"


def read_log(path):
    """The addresses that an execution log lists, and how many system calls it has."""
    data = gzip.decompress(path.read_bytes())
    at = data.index(b"\n\n") + 2
    runs, start, addresses, calls, run = [], 0, [], 0, None

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while True:
        tag = number()
        times = 1
        if tag == 0:
            return addresses, calls
        if tag == 1:
            delta = number()
            start += (delta >> 1) ^ -(delta & 1)
            isa, _kind, count, size = number(), number(), number(), number()
            assert (isa, size) == (0, 4 * count)
            at += size
            run = range(start, start + size, 4)
            runs.append(run)
        elif tag == 3:
            number()
            calls += 1
            continue
        elif tag == 6:
            times = number()
        else:
            run = runs[tag - 16]
        addresses += list(run) * times


@case
def demo_decodes_to_the_log(tool):
    addresses, calls = read_log(CAPTURES / "demo.exlog.gz")
    equal(len(addresses), 51431)
    done = tool.run("decode", DEMO, "--format", "pcs")
    equal(done.err, "")
    assert [int(line, 16) for line in done.out.split()] == addresses
    done = tool.run("decode", DEMO, "--instructions", "--check")
    found = [line.split() for line in done.out.splitlines()]
    assert [int(words[3], 16) for words in found if words[2] == "INSTR"] == addresses
    equal(sum(words[2] == "EXCEPTION" for words in found), calls)


@case
def demo_is_what_make_demo_makes(tool):
    program = pathlib.Path(tool.program).parent / "tests" / "make_demo"
    if not program.exists():
        raise Skip("make_demo is not built")
    log = tool.write("demo.exlog", gzip.decompress((CAPTURES / "demo.exlog.gz").read_bytes()))
    subprocess.run([program, log, DEMO / "recur.elf", tool.folder / "demo"], check=True,
                   stdout=subprocess.DEVNULL)
    made = {path.name: path.read_bytes() for path in (tool.folder / "demo").iterdir()}
    there = {path.name: path.read_bytes() for path in DEMO.iterdir()}
    equal(sorted(made), sorted(there))
    for name, content in there.items():
        assert made[name] == content, name


@case
def demo_is_small(_tool):
    assert sum(path.stat().st_size for path in CAPTURES.rglob("*") if path.is_file()) < 200 << 10


@case
def the_demo_script_runs(tool):
    done = subprocess.run(["sh", ROOT / "scripts" / "demo", tool.program], cwd=ROOT, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    text = done.stdout.decode()
    for words in ["$ trackway info", "ETM_0: id 0x10, etmv4", "INSTR_RANGE    0x4004d0-0x4004e4",
                  "INSTR          0x4004d0", "51431 instructions"]:
        assert words in text, (words, text)
