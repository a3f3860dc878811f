# SPDX-License-Identifier: BSD-2-Clause
"""CSV: no member of a line is lost, whatever the protocol."""
import csv
import io
import json

from harness import ROOT, add_case, case, corpus, equal, Skip


def shown(value):
    return "" if value is None else value if isinstance(value, str) else str(value)


def check(tool, *words):
    """Each row has what the line of JSON has, and nothing else."""
    text = tool.run(*words, "--format", "csv", "-q", status=None).out
    lines = tool.run(*words, "--format", "jsonl", "-q", status=None).out.splitlines()
    rows = list(csv.DictReader(io.StringIO(text)))
    equal(len(rows), len(lines), words)
    keys = set()
    for row, line in zip(rows, lines):
        members = json.loads(line, parse_float=str)
        keys |= members.keys()
        equal({k: v for k, v in row.items() if v != ""},
              {k: shown(v) for k, v in members.items() if v != ""}, (words, line))
    return keys


def snapshot(folder):
    def run(tool):
        for command in ("packets", "decode"):
            check(tool, command, folder)
        check(tool, "decode", folder, "--errors", "--clock", "1000000")
    return run


def etrace(folder):
    def run(tool):
        words = [folder / "trace.bin", "--protocol", "etrace", "--config", folder / "case.txt"]
        keys = check(tool, "packets", *words)
        if "dtype" in folder.name:
            assert {"format", "diff"} <= keys, keys
        else:
            check(tool, "decode", *words)
    return run


@case
def columns_keep_their_places(tool):
    demo = ROOT / "tests" / "captures" / "demo"
    head = tool.run("packets", demo, "--format", "csv").out.splitlines()[0].split(",")
    equal(head[:9], ["i", "o", "id", "buf", "t", "b", "nib", "nb", "addr"])
    equal(head.index("ioptions"), 114)
    equal(len(head), len(set(head)))
    for name in ("format", "subtype", "diff", "data_len", "addr_msbs", "addr_lsbs", "op_len",
                 "operand", "operand_value", "denable", "dloss", "doptions", "in", "src"):
        assert head.index(name) > 114, name
    head = tool.run("decode", demo, "--format", "csv").out.splitlines()[0].split(",")
    equal((head[:5], head.index("off")), (["i", "id", "buf", "t", "st"], 67))
    assert "unknown" in head[68:] and "operand" in head[68:] and "be" in head[68:]
    equal(tool.run("packets", demo, "--format", "csv", "--columns", "t,in").out.splitlines()[0],
          "t,in")


@case
def instructions_have_their_columns(tool):
    for words in (["--instructions"], ["--instructions", "--from", "0x40", "--to", "0x80"]):
        keys = check(tool, "decode", ROOT / "tests" / "captures" / "demo", *words)
        assert {"pc", "op", "size", "sym"} <= keys, keys


@case
def texts_are_quoted(tool):
    """Texts with commas and quotes: the message of an error, a name."""
    tool.write("swo.raw", bytes(5) + b"\x80\x04\x04" + bytes(5) + b"\x80\x03a")
    check(tool, "decode", "swo.raw", "--protocol", "itm", "--errors")
    for path in (ROOT / "tests" / "captures" / "demo").iterdir():
        content = path.read_bytes()
        if path.name == "trace.ini":
            content = content.replace(b"name=ETB_0", b'name=a "quoted" one').replace(
                b"ETM_0=ETB_0", b'ETM_0=a "quoted" one').replace(b"buffers=buffer0",
                                                                 b"buffers=buffer0,buffer1")
            content += b"\n[buffer1]\nname=two\nfile=ETB_0.bin\nformat=coresight\n"
        tool.write(f"snap/{path.name}", content)
    keys = check(tool, "packets", "snap")
    assert "buf" in keys
    assert '"a ""quoted"" one"' in tool.run("packets", "snap", "--format", "csv", "-q").out


def add_corpus():
    try:
        root = corpus()
    except Skip:
        return
    for name in ("Snowball", "TC2", "stm_only", "itm_only_raw", "init-short-addr", "event_test",
                 "ete-ite-instr-part", "a57_single_step", "armv8_1m_branches", "q_elem-part",
                 "tme_simple", "juno-uname-001"):
        add_case(f"csv_of_{name}", snapshot(root / "coresight" / "snapshots" / name))
    for name in ("br_j_asm-m-all", "br_j_asm-m-jtc4", "hello_world-py-irdepth8-time",
                 "data64-dtype-basic", "data64-dtype-diffaddr-fulldata", "mt-vvadd-dtype-debug"):
        add_case(f"csv_of_{name}", etrace(root / "riscv" / "cases" / name))
    perf = root / "perf"
    add_case("csv_of_perf_data", lambda tool: check(
        tool, "decode", perf / "p10-walk-percpu-etmv4-v1.perf.data", "--sysroot", perf / "root"))
    add_case("csv_of_perf_data_instructions", lambda tool: check(
        tool, "decode", perf / "p10-walk-percpu-etmv4-v1.perf.data", "--sysroot", perf / "root",
        "--instructions", "--count", "300"))


add_corpus()
