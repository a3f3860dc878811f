# SPDX-License-Identifier: BSD-2-Clause
"""trackway report: the numbers of the page are those of the commands.  What a browser makes of it: browser_cases.py."""
import json
import re
import shutil
import struct

from harness import ROOT, case, corpus, equal
from report_data import read_report

DEMO = ROOT / "tests" / "captures" / "demo"
SOURCES = ROOT / "tests" / "captures" / "src"
LONG = b"L" + b"0123456789abcdef" * 640  # 10 KB
HOSTILE = {b"memset": b"<script>window.owned=1</script>", b"insert": b"<img src=x onerror=window.owned=1>", b"run": LONG,
           b"hanoi": b"caf\xc3\xa9 \xff\xfe;\"'&amp;<b>", b"walk": b"</script><script>window.owned=1</script>"}


def lines_of(tool, *words):
    return [json.loads(line) for line in tool.run(*words, "--format", "jsonl", "-q", status=None).out.splitlines()]


def report(tool, name, *words, status=0):
    tool.run("report", *words, "-q", "-o", name, status=status)
    return tool.folder / name


def same_functions(tool, data, words):
    """The functions of a report are the rows of the profile."""
    want = sorted((row["name"], row.get("addr", "0x0"), row["self"], row.get("entries", 0), row.get("inclusive", 0))
                  for row in lines_of(tool, "calls", *words) if row["t"] == "FUNCTION" and row["self"] + row["entries"])
    got = sorted((row["name"].decode("utf-8", "replace"), hex(row["address"]), row["self"], row["entries"], row["total"])
                 for row in data.rows("functions") if row["self"] + row["entries"])
    equal([row[:1] + row[2:] for row in got], [row[:1] + row[2:] for row in want])
    edges = sorted((row["from"], row["to"], row["kind"], row["count"], row["inclusive"])
                   for row in lines_of(tool, "calls", *words) if row["t"] == "CALL")
    kinds = ["begin", "call", "tail", "exception", "signal", "outer", "resumed", "inlined"]
    names = [name.decode("utf-8", "replace") for name in data.column("functions", "name")]
    shown = sorted((names[row["from"]], names[row["to"]], kinds[row["kind"]], row["count"], row["inclusive"])
                   for row in data.rows("edges"))
    missing = [edge for edge in edges if edge not in shown and edge[0] in names and edge[1] in names]
    equal(missing, [])
    assert all(edge in edges for edge in shown), "an edge that calls does not have"


def same_paths(tool, data, words):
    """Paths add up to what is folded, and no box is too small for its parts."""
    rows = data.rows("paths")
    folded = {}
    for line in tool.run("calls", *words, "--format", "folded", "-q", status=None).out.splitlines():
        stack, value = line.rsplit(" ", 1)
        folded[stack] = folded.get(stack, 0) + int(value)
    equal(sum(row["self"] for row in rows), sum(folded.values()))
    stacks = []
    shown = {}
    for row in rows:
        name = row["name"].decode("utf-8", "replace").replace(";", ":")
        stack = stacks[row["parent"] - 1] + ";" + name if row["parent"] else name
        stacks.append(stack)
        if row["self"] and row["name"] != b"(other)":
            shown[stack] = shown.get(stack, 0) + row["self"]
    for stack, value in shown.items():
        equal(value, folded.get(stack), stack)


def same_coverage(tool, data, words):
    totals = [row for row in lines_of(tool, "coverage", *words) if row["t"] == "TOTAL"][0]
    info = data.info
    for key, want in (("codeInstructions", "instrs"), ("codeCovered", "covered"), ("codeBranches", "branches"), ("codeBoth", "both"),
                      ("codeLines", "lines"), ("codeLinesCovered", "lines_covered"), ("codeFunctions", "functions"), ("codeFunctionsCovered", "functions_covered")):
        equal(info[key], totals[want], key)
    want = [(row["pc"], row["count"], row.get("taken", 0), row.get("not_taken", 0), row.get("asm", ""))
            for row in lines_of(tool, "annotate", *words) if row["t"] == "INSTR"]
    got = [(hex(row["address"]), row["count"], row["taken"], row["not_taken"], row["text"].decode()) for row in data.rows("code")]
    equal(len(got), len(want))
    if want and want[0][4]:
        equal(sorted(got), sorted(want))


def same_timeline(tool, data, words):
    slices = [row for row in lines_of(tool, "timeline", *words) if row["t"] == "SLICE"]
    first = int(data.info["first"])
    got = sorted((row["name"].decode("utf-8", "replace"), row["depth"], row["start"] + first, row["start"] + row["length"] + first, row["index"], row["n"])
                 for row in data.rows("spans") if row["kind"] != 3)
    want = sorted((row["name"], row["depth"], row["est"], row["est_end"], row["i"], max(0, row["n1"] - row["n0"]))
                  for row in slices if "est" in row and row["est"] is not None)
    equal(data.info["spanLeast"], 0)
    equal(got, want)


def same_interrupts(tool, data, words):
    want = sorted((row["num"], row["count"]) for row in lines_of(tool, "interrupts", *words) if row["t"] == "EXCEPTION")
    equal(sorted((row["number"], row["count"]) for row in data.rows("interrupts")), want)


@case
def report_of_the_demo(tool):
    path = report(tool, "demo.html", DEMO)
    assert path.stat().st_size < 1000000, path.stat().st_size
    data, = read_report(path)
    for same in (same_functions, same_paths, same_coverage, same_timeline, same_interrupts):
        same(tool, data, [DEMO])
    equal(data.info["isWhole"], 1)
    equal(data.info["instructions"], sum(row["self"] for row in data.rows("functions")))
    equal(data.info["words"], str(DEMO))
    # the same again, byte by byte
    equal(report(tool, "again.html", DEMO).read_bytes(), path.read_bytes())


@case
def report_says_how_the_capture_was_read(tool):
    path = report(tool, "demo.html", DEMO, "--id", "0x10", "--budget", "5000000", "--threads=2", "--symbols", DEMO / "recur.elf", "--embed-sources",
                  "--source-root", SOURCES)
    data, = read_report(path)
    equal(data.info["words"], f"{DEMO} --id 0x10 --threads=2 --symbols {DEMO}/recur.elf")
    assert b"int ack(int m, int n)" in b"\n".join(data.texts) or any(b"ack(m - 1" in text for text in data.texts)
    tool.write("it's here/x", "")
    shutil.copytree(DEMO, tool.folder / "it's here" / "demo")
    data, = read_report(report(tool, "odd.html", "it's here/demo"))
    equal(data.info["words"], "'it'\\''s here/demo'")
    assert not any(b"ack(m - 1" in text for text in data.texts), "sources without being asked for"


@case
def report_wants_a_name_and_leaves_no_half_file(tool):
    done = tool.run("report", DEMO, status=2)
    assert "-o report.html" in done.err, done.err
    tool.run("report", "nowhere", "-o", "x.html", status=3)
    assert not (tool.folder / "x.html").exists()
    tool.run("report", DEMO, DEMO / "nowhere", "-o", "x.html", status=3)
    assert not (tool.folder / "x.html").exists()


@case
def report_page_is_strict(tool):
    page = report(tool, "demo.html", DEMO).read_text(encoding="utf-8")
    assert "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:;" in page
    assert "connect-src" not in page
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "<!--DATA", "<!--POLICY", "<!--SCRIPT", "<!--STYLE"):
        assert word not in page, word
    addresses = set(re.findall(r"https?://[^\s\"'`)]+", page)) - {"http://www.w3.org/2000/svg"}
    equal(addresses, set())


def repeated(tool, times, name="repeated"):
    """The demo's capture, its trace so many times as long."""
    folder = tool.folder / name
    shutil.copytree(DEMO, folder)
    trace = (DEMO / "ETB_0.bin").read_bytes()
    with open(folder / "ETB_0.bin", "wb") as file:
        for _ in range(times // 100):
            file.write(trace * 100)
        file.write(trace * (times % 100))
    return folder


@case
def report_keeps_to_its_budget(tool):
    words = [repeated(tool, 20)]
    whole, = read_report(report(tool, "whole.html", *words, status=None))
    page = read_page_size(tool)
    for budget in (page + 60000, page + 120000, page + 240000):
        path = report(tool, "small.html", *words, "--budget", budget, status=None)
        data, = read_report(path)
        assert path.stat().st_size < budget + 30000, (path.stat().st_size, budget)
        equal(data.info["instructions"], whole.info["instructions"])
        equal(sum(row["self"] for row in data.rows("paths")), data.info["instructions"])
        for kind in (0, 1, 3):
            equal(sum(row["count"] for row in data.rows("spans") if row["kind"] == kind), sum(1 for row in whole.rows("spans") if row["kind"] == kind))
    assert data.info["spanLeast"] > 0


def read_page_size(tool):
    page = report(tool, "page.html", DEMO).read_text(encoding="utf-8")
    return len(re.sub(r'<script type="application/x-trackway-data">[^<]*</script>', "", page).encode())


def corpus_captures():
    base = corpus()
    for name in ("perf/p10-walk-percpu-etmv4-v1.perf.data", "perf/p12-walk-percpu-ete-raw-vmid-v1.perf.data"):
        yield [base / name, "--sysroot", base / "perf" / "root"]
    for name in ("TC2", "Snowball", "juno_r1_1", "trace_cov_a15", "stm_only"):
        yield [base / "coresight" / "snapshots" / name]
    yield [base / "exec-m" / "etm" / "m3-nested-etmv4"]
    yield [base / "exec-m" / "swo" / "m0-systick-a.swo"]


@case
def report_of_the_corpus_has_the_numbers_of_the_commands(tool):
    for words in corpus_captures():
        data, = read_report(report(tool, "one.html", *words, status=None))
        if data.directory["functions"]["rows"]:
            same_functions(tool, data, words)
            same_paths(tool, data, words)
            same_coverage(tool, data, words)
        same_timeline(tool, data, words)
        same_interrupts(tool, data, words)


# ---- names of any kind ----

def hostile_elf(source, target):
    """A copy of an ELF file whose symbols have other names: a new string table at its end."""
    image = bytearray(source.read_bytes())
    offset, = struct.unpack_from("<Q", image, 40)
    size, count = struct.unpack_from("<HH", image, 58)
    sections = [list(struct.unpack_from("<IIQQQQIIQQ", image, offset + i * size)) for i in range(count)]
    symtab = next(section for section in sections if section[1] == 2)
    strtab = sections[symtab[6]]
    texts = bytearray(image[strtab[4]:strtab[4] + strtab[5]])
    for at in range(symtab[4], symtab[4] + symtab[5], symtab[9]):
        name, = struct.unpack_from("<I", image, at)
        new = HOSTILE.get(bytes(texts[name:texts.index(0, name)]))
        if new:
            struct.pack_into("<I", image, at, len(texts))
            texts += new + b"\0"
    struct.pack_into("<QQ", image, offset + symtab[6] * size + 24, len(image), len(texts))
    target.write_bytes(image + texts)


def hostile_capture(tool):
    folder = tool.folder / "<b>capture</b>"
    shutil.copytree(DEMO, folder)
    hostile_elf(DEMO / "recur.elf", folder / "recur.elf")
    return folder


@case
def report_keeps_names_of_any_kind(tool):
    path = report(tool, "hostile.html", hostile_capture(tool))
    data, = read_report(path)
    names = set(data.column("functions", "name"))
    for name in HOSTILE.values():
        assert name in names or name.decode("utf-8", "replace").encode() in names, name[:60]
    # no name stands in the page as it is
    page = path.read_bytes()
    for name in HOSTILE.values():
        assert name not in page
    equal(page.count(b"<script"), 2)
