# SPDX-License-Identifier: BSD-2-Clause
"""RISC-V N-Trace: logs through the encoder and back, messages, paths of the corpus."""
import gzip
import json

from encode_etrace_cases import PCS, TEXT, pcs
from harness import case, corpus, equal


@case
def a_log_comes_back_as_ntrace(tool):
    tool.write("run.log", TEXT)
    tool.write("unit.txt", "mode=btm\nimplicit_return_mode=3\ntimestamps=1\nsync_messages=2\n")
    for more in [(), ("--framing", "memory"), ("--config", "unit.txt"),
                 ("--config", "mode=htm,src_bits=4,src=9,repeat_branch=1,sync_style=exact,sync_messages=1"),
                 ("--config", "all_jumps=1,extend_addr_msb=1", "--unit", "trTeInstSyncMode=3,short-messages=1"),
                 ("--unit", "fifo=80,trTeInstStallEna=1,cycles-per-byte=9")]:
        tool.run("encode", "run.log", "--protocol", "ntrace", "-o", "snap", "--force", *more)
        equal(pcs(tool.run("decode", "snap", "--format", "pcs")), PCS, more)


@case
def filters_of_the_ntrace_encoder(tool):
    tool.write("run.log", TEXT)
    tool.run("encode", "run.log", "--protocol", "ntrace", "-o", "snap", "--unit",
             "trTeInstFilters=1,trTeFilter0Enable=1,trTeFilter0MatchComp1=1,trTeFilter0Comp1=1,"
             "trTeComp1PFunction=5,trTeComp1PMatchLow=0x100c")
    equal(pcs(tool.run("decode", "snap", "--format", "pcs")), [pc for pc in PCS if pc >= 0x100c])


@case
def what_the_ntrace_encoder_refuses(tool):
    tool.write("run.log", TEXT)
    for config, text in [("mode=other", "mode: \"other\" is no value it can have"),
                         ("hist_max_bits=1", "holds no branch"),
                         ("dialect=sifive", "dialect must be 1.0")]:
        done = tool.run("encode", "run.log", "--protocol", "ntrace", "-o", "x", "--config", config, status=3)
        assert text in done.err, done.err
    done = tool.run("encode", "run.log", "--protocol", "ntrace", "-o", "x", "--unit", "trTeNothing=1", status=3)
    assert "there is no field trTeNothing" in done.err, done.err


@case
def messages_of_ntrace(tool):
    tool.write("trace.bin", bytes.fromhex("ffff240d000b0c0fff840007"))
    done = tool.run("packets", "trace.bin", "--protocol", "ntrace", "--format", "jsonl")
    lines = [json.loads(line) for line in done.out.splitlines()]
    flow = [line for line in lines if line["t"] != "Idle"]
    equal([(line["i"], line["t"], line["b"]) for line in flow],
          [(2, "ProgTraceSync", "240d000b"), (6, "DirectBranch", "0c0f"),
           (9, "ProgTraceCorrelation", "840007")])
    equal({key: flow[0][key] for key in ("tcode", "sync", "icnt", "faddr")},
          {"tcode": 9, "sync": 3, "icnt": 0, "faddr": "0x80"})


@case
def paths_of_ntrace(tool):
    root = corpus() / "ntrace"
    for name in ("rnd64a-htm-overflow", "rnd64b-btm-ctx-hyp", "rnd32b-btm-btype1",
                 "rv64-recur-user-filter", "zc32-htm-trap", "rnd64a-htm-cut"):
        folder = root / "cases" / name
        keys = dict(line.split("=", 1) for line in (folder / "case.txt").read_text().splitlines() if "=" in line)
        done = tool.run("decode", folder / "trace.bin", "--protocol", "ntrace", "--config", folder / "case.txt",
                        "--image", root / keys["program"] / "image.txt", "--format", "path",
                        status=1 if "overflow" in name else 0)
        equal(done.out, gzip.open(folder / "expected.txt.gz", "rt").read(), name)
