# SPDX-License-Identifier: BSD-2-Clause
"""trackway packets --bits: every bit of every packet has its field, in text and JSON lines."""
import json
import random

from harness import add_case, case, equal, ROOT

DEMO = ROOT / "tests" / "captures" / "demo"
PROTOCOLS = ["etmv3", "ptm", "etmv4", "ete", "itm", "stm", "etrace", "ntrace"]
SYNC = {"etmv3": bytes(5) + b"\x80", "ptm": bytes(5) + b"\x80", "etmv4": bytes(11) + b"\x80\x01\x00",
        "ete": bytes(11) + b"\x80\x01\x00", "itm": bytes(5) + b"\x80", "stm": b"\xff" * 10 + b"\x0f\x00\x30",
        "etrace": b"", "ntrace": b""}
ETMV4 = "TRCIDR0=0x28c1cea1,TRCIDR1=0x4100fff0,TRCIDR2=0xd0001088,TRCCONFIGR=0x18c1,TRCTRACEIDR=0x10"
CONFIG = {"etmv3": "ETMCR=0,ETMIDR=0x4100f250,ETMCCER=0,ETMTRACEIDR=0x10", "ptm": "ETMCR=0,ETMIDR=0x411cf300,ETMCCER=0,ETMTRACEIDR=0x10",
          "etmv4": ETMV4, "ete": ETMV4 + ",TRCDEVARCH=0x47735a13"}


def check_line(row):
    """Runs follow each other and hold the packet's bits; `nib` half bytes are left out at the ends."""
    runs = row["fields"]
    place = runs[0]["at"]
    for run in runs:
        equal(run["at"], place, f"{row}: no hole and no overlap")
        equal(len(run["v"]), run["n"], "as many bits as it says")
        assert run["f"], row
        place += run["n"]
    for before, run in zip(runs, runs[1:]):
        assert before["f"] != run["f"], "neighbours of one field are one run"
    return "".join(run["v"][::-1] for run in runs), runs[0]["at"]


def lists_all_bits(protocol):
    def run(tool):
        pick = random.Random(protocol)
        data = b"".join(SYNC[protocol] + bytes(pick.randrange(256) for _ in range(60)) for _ in range(20))
        raw = tool.write("raw.bin", data)
        config = ["--config", CONFIG[protocol]] if protocol in CONFIG else []
        words = ["packets", raw, "--protocol", protocol, *config, "--format", "jsonl"]
        plain = tool.run(*words, status=None).out.splitlines()
        with_bits = tool.run(*words, "--bits", status=None).out.splitlines()
        equal(len(plain), len(with_bits), "packets")
        seen = set()
        for before, line in zip(plain, with_bits):
            row = json.loads(line)
            bits = row.pop("fields", None)
            equal(row, json.loads(before), "the rest of the line")
            if bits is None:
                continue
            row["fields"] = bits
            text, first = check_line(row)
            seen |= {run["f"] for run in bits}
            whole = "".join(f"{byte:08b}"[::-1] for byte in data[row["i"]:row["i"] + 80])
            equal(text, whole[first:first + len(text)], "the capture's own bits")
        assert "type" in seen and len(seen) > 1, seen
    return run


@case
def bits_name_the_fields(tool):
    """An address packet of ETE: header, seven bits of address in the first bytes, the context behind it."""
    rows = [json.loads(line) for line in
            tool.run("packets", DEMO, "--format", "jsonl", "--bits", "-q", status=None).out.splitlines()]
    atoms = next(row for row in rows if row["t"].endswith("ATOM_F1"))
    equal([(run["f"], run["n"]) for run in atoms["fields"]], [("atoms", 1), ("type", 7)], "atom format 1")
    long = next(row for row in rows if "ADDR_L_64IS0" in row["t"] or "ADDR_CTXT_L" in row["t"])
    equal(long["fields"][0], {"f": "type", "at": 0, "n": 8, "v": long["fields"][0]["v"]}, "header")
    equal(long["fields"][1]["f"], "addr", "address")
    text = tool.run("packets", DEMO, "--bits", "-q", status=None).out
    assert "|type   |atoms|\n    |1111011|1    |" in text, text[:2000]
    assert "there is text and jsonl" in tool.run("packets", DEMO, "--bits", "--format", "csv", status=2).err


for each in PROTOCOLS:
    add_case(f"bits_{each}", lists_all_bits(each))
