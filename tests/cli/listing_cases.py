# SPDX-License-Identifier: BSD-2-Clause
"""decode --instructions, --function and --symbols, with an ELF file made here."""
import csv
import io
import struct

from decode_cases import CODE, CONFIG, SYNC, START, TRACE, raw, rows
from harness import Skip, case, equal

# What TRACE executes at 0x4000, as (address, opcode, text).
INSTRUCTIONS = {
    0x4000: (0xd503201f, "nop"),
    0x4004: (0xb4000040, "cbz x0, 0x400c"),
    0x4008: (0xd503201f, "nop"),
    0x400c: (0x17fffffd, "b 0x4000"),
}
EXECUTED = [0x4000, 0x4004, 0x400c, 0x4000, 0x4004, 0x4008, 0x400c]
SYMBOLS = [("start", 0x4000, 8), ("rest", 0x4008, 8)]
OFFSET = 0x100  # of the code in the ELF file

# One unit, a.c in /src, from 0x4000 on: line 3 up to 0x4008, then line 7.
ABBREV = bytes.fromhex("0111000308" "1b08" "1017" "1101" "1207" "0000" "00")
INFO = (struct.pack("<HIB", 4, 0, 8) + b"\1a.c\0/src\0" + struct.pack("<IQQ", 0, 0x4000, 0x10))
INFO = struct.pack("<I", len(INFO)) + INFO
LINES = (bytes.fromhex("0101fb0e0d" "000101010100000001000001" "00") + b"a.c\0\0\0\0\0")
LINES = (struct.pack("<HI", 2, len(LINES)) + LINES + b"\0\x09\x02" + struct.pack("<Q", 0x4000) +
         bytes.fromhex("030201" "0208030401" "0208" "000101"))
LINES = struct.pack("<I", len(LINES)) + LINES


def elf(symbols=SYMBOLS, lines=False):
    """An AArch64 program: CODE at 0x4000, symbols, perhaps DWARF."""
    names, table = b"\0", bytes(24)
    for name, value, size in symbols:
        table += struct.pack("<IBBHQQ", len(names), 0x12, 0, 1, value, size)
        names += name.encode() + b"\0"
    parts = [(".text", 1, 6, 0x4000, CODE, 0), (".symtab", 2, 0, 0, table, 3),
             (".strtab", 3, 0, 0, names, 0)]
    if lines:
        parts += [(".debug_info", 1, 0, 0, INFO, 0), (".debug_abbrev", 1, 0, 0, ABBREV, 0),
                  (".debug_line", 1, 0, 0, LINES, 0)]
    titles = b"\0" + b"".join(part[0].encode() + b"\0" for part in parts) + b".shstrtab\0"
    parts.append((".shstrtab", 3, 0, 0, titles, 0))
    body, heads = b"", bytes(64)
    for title, kind, flags, address, data, link in parts:
        heads += struct.pack("<IIQQQQIIQQ", titles.index(title.encode() + b"\0"), kind, flags,
                             address, OFFSET + len(body), len(data), link, 0, 1,
                             24 if kind == 2 else 0)
        body += data
    body += bytes(-len(body) % 8)
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 183, 1, 0x4000, 64,
                       OFFSET + len(body), 0, 64, 56, 1, 64, len(parts) + 1, len(parts))
    head += struct.pack("<IIQQQQQQ", 1, 5, OFFSET, 0x4000, 0x4000, len(CODE), len(CODE), 1)
    return head.ljust(OFFSET, b"\0") + body + heads


def has(tool, feature):
    return feature in tool.run("--version").out.splitlines()[1].split()


def need(tool, feature):
    if not has(tool, feature):
        raise Skip(f"this build has no {feature}")


def name(pc):
    return f"start+{pc - 0x4000:#x}" if pc < 0x4008 else f"rest+{pc - 0x4008:#x}"


def listed(found):
    return [int(r["pc"], 16) for r in found if r["t"] == "INSTR"]


@case
def instructions_of_a_flat_image(tool):
    found = rows(tool.run("decode", *raw(tool), "--instructions", "--format", "jsonl"))
    equal(listed(found), EXECUTED)
    every = rows(tool.run("decode", *raw(tool), "--format", "jsonl"))
    equal([r for r in found if r["t"] != "INSTR"], [r for r in every if r["t"] != "INSTR_RANGE"])
    for r in found:
        if r["t"] == "INSTR":
            opcode, text = INSTRUCTIONS[int(r["pc"], 16)]
            want = {"op": hex(opcode), "size": 4, "isa": "A64", "asm": text}
            if not has(tool, "llvm"):
                del want["asm"]
            equal({k: v for k, v in r.items() if k not in ("i", "id", "t", "pc")}, want)
    equal([(r["i"], r["id"]) for r in found if r["t"] == "INSTR"],
          [(26, 16), (26, 16), (27, 16), (28, 16), (28, 16), (29, 16), (29, 16)])


@case
def instructions_as_text_and_table(tool):
    words = ["decode", *raw(tool), "--instructions"]
    done = tool.run(*words)
    lines = [line.split() for line in done.out.splitlines() if "INSTR" in line]
    equal([(int(w[3], 16), w[4]) for w in lines],
          [(pc, f"{INSTRUCTIONS[pc][0]:08x}") for pc in EXECUTED])
    if has(tool, "llvm"):
        equal([" ".join(w[5:]) for w in lines], [INSTRUCTIONS[pc][1] for pc in EXECUTED])
        equal(done.err, "")
    else:
        equal([w[5:] for w in lines], [[]] * len(lines))
        equal(done.err.count("\n"), 1)
        assert "libllvm19" in done.err, done.err
    table = list(csv.DictReader(io.StringIO(tool.run(*words, "--format", "csv").out)))
    found = rows(tool.run(*words, "--format", "jsonl"))
    equal([{k: v for k, v in row.items() if v} for row in table],
          [{k: str(v) for k, v in row.items()} for row in found])
    tool.run(*words, "--format", "path", status=2)


@case
def names_come_from_elf_files(tool):
    need(tool, "elf")
    words = raw(tool)
    tool.write("prog.elf", elf())
    tool.write("moved.elf", elf([(n, v - 0x3000, s) for n, v, s in SYMBOLS]))
    for more in [[*words[:-1], "prog.elf"], [*words, "--symbols", "prog.elf"]]:
        found = rows(tool.run("decode", *more, "--instructions", "--format", "jsonl"))
        equal([(int(r["pc"], 16), r["sym"]) for r in found if r["t"] == "INSTR"],
              [(pc, name(pc)) for pc in EXECUTED])
    if has(tool, "llvm"):
        equal([r["asm"] for r in found if r.get("pc") == "0x4004"], ["cbz x0, 0x400c <rest+0x4>"] * 2)
        equal([r["asm"] for r in found if r.get("pc") == "0x400c"], ["b 0x4000 <start>"] * 2)
    found = rows(tool.run("decode", *words, "--symbols", "prog.elf@0x1000", "--instructions",
                          "--format", "jsonl"))
    assert not any("sym" in r for r in found), found
    text = tool.run("decode", *words, "--symbols", "prog.elf", "--instructions").out
    equal([line.split()[-1] for line in text.splitlines() if "INSTR" in line],
          [name(pc) for pc in EXECUTED])


@case
def functions_and_ranges_keep_instructions(tool):
    need(tool, "elf")
    words = ["decode", *raw(tool)]
    tool.write("prog.elf", elf(SYMBOLS + [("tail", 0x400c, 4)]))
    names = ["--symbols", "prog.elf"]
    for keep, want in [(["--function", "tail"], [0x400c]), (["--function", "start"], [0x4000, 0x4004]),
                       (["--range", "0x4004-0x4009"], [0x4004, 0x4008]),
                       (["--function", "tail", "--range", "0x4000-0x4001"], [0x4000, 0x400c]),
                       (["--function", "tail", "--function", "start"], [0x4000, 0x4004, 0x400c])]:
        want = [pc for pc in EXECUTED if pc in want]
        found = rows(tool.run(*words, *names, *keep, "--instructions", "--format", "jsonl"))
        equal(listed(found), want, keep)
        equal(len(found), len(want))
        pcs = tool.run(*words, *names, *keep, "--format", "pcs").out
        equal([int(line, 16) for line in pcs.splitlines()], want, keep)
    found = rows(tool.run(*words, *names, "--function", "tail", "--format", "jsonl"))
    equal([r["st"] for r in found], ["0x400c", "0x4008"])  # the ranges that touch it
    done = tool.run(*words, *names, "--function", "nobody", status=3)
    equal(done.err, 'trackway: no function is named "nobody"\n')
    done = tool.run(*words, "--function", "tail", status=3)
    assert "give --symbols FILE" in done.err, done.err


@case
def source_lines_where_they_change(tool):
    need(tool, "dw")
    words = ["decode", *raw(tool), "--symbols", "prog.elf", "--instructions"]
    tool.write("prog.elf", elf(lines=True))
    found = rows(tool.run(*words, "--format", "jsonl"))
    equal([r["src"] for r in found if r["t"] == "INSTR"],
          ["/src/a.c:3" if pc < 0x4008 else "/src/a.c:7" for pc in EXECUTED])
    lines = [line.split()[-1] for line in tool.run(*words).out.splitlines() if "INSTR" in line]
    equal(lines, ["/src/a.c:3", "start+0x4", "/src/a.c:7", "/src/a.c:3", "start+0x4", "/src/a.c:7",
                  "rest+0x4"])


@case
def a_snapshot_names_itself(tool):
    need(tool, "elf")
    raw(tool)
    tool.write("prog.elf", elf())
    tool.run("snapshot", "-o", "snap", "--trace", "one=etm.bin,format=source_data",
             "--device", "cpu_0,class=core,type=Cortex-A53",
             "--dump", f"cpu_0:prog.elf@0x4000,offset={OFFSET:#x},length=0x10",
             "--device", "ETM_0,class=trace_source,type=ETM4.0,core=cpu_0,buffer=one",
             "--reg", f"ETM_0:{CONFIG}")
    for path in ["snap", "snap/snapshot.ini"]:
        found = rows(tool.run("decode", path, "--instructions", "--format", "jsonl"))
        equal([r["sym"] for r in found if r["t"] == "INSTR"], [name(pc) for pc in EXECUTED])
    # The same file as symbols is no second image.
    tool.run("decode", "snap", "--symbols", "prog.elf", "--function", "rest")


@case
def files_that_are_no_elf(tool):
    words = ["decode", *raw(tool), "--instructions"]
    tool.write("bad.elf", elf()[:200])
    for bad in ["etm.bin", "gone", ".", "bad.elf"]:
        done = tool.run(*words, "--symbols", bad, status=None)
        if done.returncode == 3:
            assert done.err.startswith("trackway: --symbols: ") and done.err.count("\n") == 1, done.err
        else:
            equal((bad, listed_text(done.out)), ("bad.elf", EXECUTED))


def listed_text(text):
    return [int(line.split()[3], 16) for line in text.splitlines() if "INSTR" in line]


@case
def failed_transactions_did_not_happen(tool):
    # ETE: the branch before the transaction, two inside it, then failure or commit.
    config = CONFIG.replace("TRCIDR1=0x4100f403", "TRCIDR1=0x4100fff3") + ",TRCDEVARCH=0x47705a13"
    for end, counts in [("0631" "9d0020000000000000" "9d0020000000000000f7", False), ("0bf7", True)]:
        trace = SYNC + START + b"\xf7\x0a\xf7\xf6" + bytes.fromhex(end)
        tool.write("code.bin", CODE)
        tool.write("ete.bin", trace)
        words = ["decode", "ete.bin", "--protocol", "ete", "--config", config, "--image",
                 "code.bin@0x4000", "-q"]
        every = rows(tool.run(*words, "--format", "jsonl", status=None))
        kinds = [r["kind"] for r in every if r["t"] == "MEMTRANS"]
        equal(kinds, ["start", "commit" if counts else "fail"], trace.hex())
        inside = sum(r["n"] for r in ranges_between(every))
        total = sum(r["n"] for r in every if r["t"] == "INSTR_RANGE")
        assert inside > 0
        found = listed(rows(tool.run(*words, "--instructions", "--format", "jsonl", status=None)))
        equal(len(found), total if counts else total - inside)
        pcs = tool.run(*words, "--format", "pcs", status=None).out.split()
        equal([int(pc, 16) for pc in pcs], found)


def ranges_between(elements):
    is_inside = False
    for r in elements:
        if r["t"] == "MEMTRANS":
            is_inside = r["kind"] == "start"
        elif is_inside and r["t"] == "INSTR_RANGE":
            yield r


@case
def cut_elf_files_do_no_harm(tool):
    words = ["decode", *raw(tool, TRACE), "--instructions", "--format", "jsonl"]
    whole = elf(lines=True)
    for size in range(0, len(whole), 37):
        tool.write("cut.elf", whole[:size])
        assert tool.run(*words, "--symbols", "cut.elf", status=None).returncode in (0, 3)
