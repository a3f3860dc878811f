# SPDX-License-Identifier: BSD-2-Clause
"""Messages name the thing, the reason and the next step."""
from harness import case, corpus
from identify_cases import ntrace
from perf_file import ETMV4, RAW, PerfFile

REGISTERS = "TRCIDR0=0x28000ea1,TRCIDR1=0x4100f403,TRCIDR2=0x488,TRCCONFIGR=1"


def said(tool, *words, status=None, has=()):
    err = tool.run(*words, status=status).err
    for word in has:
        assert word in err, f"{words}: {word!r} is not in {err!r}"
    return err


@case
def missing_registers_are_named_all_at_once(tool):
    tool.write("raw", bytes(2000))
    said(tool, "packets", "raw", "--protocol", "etmv4", "--config", "TRCIDR1=1",
         has=["registers TRCIDR0, TRCIDR2, TRCCONFIGR are missing"])
    said(tool, "packets", "raw", "--protocol", "ete", "--config", REGISTERS, has=["register TRCDEVARCH is missing"])
    said(tool, "packets", "raw", "--protocol", "ptm", has=["registers ETMCR, ETMIDR, ETMCCER are missing"])


@case
def code_that_is_missing_can_be_given(tool):
    said(tool, "decode", corpus() / "coresight" / "snapshots" / "init-short-addr", has=["not in the image", "--image FILE"])
    said(tool, "decode", corpus() / "perf" / "p10-walk-percpu-etmv4-v1.perf.data", "-o", "out", has=["--sysroot DIR", "--kernel FILE"])


@case
def a_time_that_is_not_there(tool):
    said(tool, "decode", corpus() / "coresight" / "snapshots" / "trace_file_vmid", "--at", "5", status=3,
         has=["there is no 5", "timestamp", "+OFFSET"])


@case
def what_exists_can_be_replaced(tool):
    tool.write("n", ntrace())
    words = ["snapshot", "--trace", "A:n", "-o", "snap"]
    if tool.run(*words, status=None).returncode == 0:
        said(tool, *words, status=3, has=["exists already", "--force"])


@case
def options_without_effect_are_told_of(tool):
    tool.write("flat", bytes(range(1, 200)))
    perf = corpus() / "perf" / "p10-walk-percpu-etmv4-v1.perf.data"
    snapshot = corpus() / "coresight" / "snapshots" / "trace_file_vmid"
    said(tool, "decode", perf, "--kernel", "/nonexist", status=3, has=["--kernel /nonexist", "no such file", "vmlinux"])
    said(tool, "decode", perf, "--sysroot", "/nonexist", status=3, has=["--sysroot /nonexist", "no such folder"])
    said(tool, "decode", snapshot, "--symbols", "flat", status=3, has=["--symbols flat", "no ELF file"])
    said(tool, "decode", snapshot, "--image", "flat", "-o", "out", has=["--image flat", "FILE@ADDRESS"])
    tool.write("raw", bytes(2000))
    said(tool, "packets", "raw", "--framing", "memory", "--source", f"0x10:etmv4:{REGISTERS},TRCTRACEIDR=0x12",
         has=["source 0x10", "trace ID 0x12"])


@case
def channels_of_other_trace(tool):
    said(tool, "channels", corpus() / "coresight" / "snapshots" / "trace_file_vmid", status=1,
         has=["no ITM or STM packet", "--assume-sync"])


@case
def info_sums_up_many_buffers(tool):
    made = PerfFile()
    made.info(ETMV4, {0: {"TRCCONFIGR": 0x41, "TRCTRACEIDR": 0x10, "TRCIDR0": 0x28000ea1, "TRCIDR1": 0x4100f403,
                          "TRCIDR2": 0x488}})
    for n in range(200):
        made.aux(n * 16, 16, RAW, 100, 10 + n)
    made.trace((bytes(11) + b"\x80\x01\x00\x04\xf7") * 200, cpu=0)
    tool.write("many.perf.data", made.bytes())
    short = tool.run("info", "many.perf.data", status=None).out
    assert "200 buffers: 3200 bytes" in short and "-v lists each" in short, short
    assert len(short.splitlines()) < 40, short
    assert tool.run("info", "many.perf.data", "-v", status=None).out.count("framing") == 200
