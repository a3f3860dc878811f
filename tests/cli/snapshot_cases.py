# SPDX-License-Identifier: BSD-2-Clause
"""Snapshots: written, read again by ourselves and by the reference."""
import json
import re
import shutil
import subprocess

import perf_file
from harness import Skip, case, corpus, equal
from perf_file import PerfFile

# A-sync, trace info, trace on, an address and a few atoms.
ETMV4 = bytes(11) + bytes.fromhex("80 01 00 04 9d 00 40 00 00 00 00 00 00 f7 f6 f7".replace(" ", ""))
ETMV4_REGISTERS = ("TRCCONFIGR(0x004)=0x000000C1,TRCTRACEIDR(id:0x10,size:32)=0x10,TRCIDR0=0x28000EA1,"
                   "TRCIDR1=0x4100F403,TRCIDR2=0x00000488,TRCIDR8=0,TRCIDR9=0,TRCIDR10=0,"
                   "TRCIDR11=0,TRCIDR12=0,TRCIDR13=0,TRCAUTHSTATUS=0xCC")


def make_parts(tool):
    tool.write("etm.bin", ETMV4)
    tool.write("code.bin", bytes.fromhex("1f2003d5") * 64)
    tool.run("pack", "--stream", "0x10:etm.bin", "--align", "64", "-o", "etb.bin")


def make_snapshot(tool, folder="snap", more=()):
    make_parts(tool)
    return tool.run("snapshot", "-o", folder, "--trace", "ETB_0=etb.bin",
                    "--device", "cpu_0,class=core,type=Cortex-A53",
                    "--device", "ETM_0,class=trace_source,type=ETM4.0,core=cpu_0,buffer=ETB_0,"
                    "location=dap:2,ap:1,address:0x80010000",
                    "--reg", f"ETM_0:{ETMV4_REGISTERS}", "--reg", "cpu_0:PC(size:64)=0x4000",
                    "--dump", "cpu_0:code.bin@0x4000,space=EL1N,length=0x80,offset=0x10",
                    "--cluster", "cluster_0=cpu_0", "--description", "made by a test", *more)


def records(done):
    return [json.loads(line) for line in done.out.splitlines()]


@case
def snapshot_holds_what_was_given(tool):
    make_snapshot(tool)
    rows = records(tool.run("info", "snap", "--format", "jsonl"))
    by_type = {}
    for row in rows:
        by_type.setdefault(row["t"], []).append(row)
    equal(by_type["CAPTURE"][0]["kind"], "snapshot")
    equal(by_type["CAPTURE"][0]["description"], "made by a test")
    buffer, = by_type["BUFFER"]
    equal((buffer["buf"], buffer["format"], buffer["framing"]), ("ETB_0", "coresight", "memory"))
    source, = by_type["SOURCE"]
    equal([source[k] for k in ("name", "id", "protocol", "core", "core_type", "buffers")],
          ["ETM_0", 16, "etmv4", "cpu_0", "Cortex-A53", ["ETB_0"]])
    equal(source["regs"]["TRCIDR0"], "0x28000ea1")
    devices = {row["name"]: row for row in by_type["DEVICE"]}
    equal(devices["ETM_0"]["location"], "dap:2,ap:1,address:0x80010000")
    equal(devices["cpu_0"]["cluster"], "cluster_0")
    equal(devices["cpu_0"]["regs"], {"PC": "0x4000"})
    region, = by_type["REGION"]
    equal((region["st"], region["bytes"], region["space"]), ("0x4000", 0x80, 2))
    stream = [row for row in by_type["STREAM"] if row["id"] == 16]
    equal([(row["bytes"], row["source"]) for row in stream], [(len(ETMV4), "ETM_0")])
    assert "WARNING" not in by_type, by_type["WARNING"]


@case
def info_as_text(tool):
    make_snapshot(tool)
    text = tool.run("info", "snap").out
    for part in ["snap: snapshot\nmade by a test\n", "ETB_0: 64 bytes, coresight, framing memory",
                 f"id 0x10 {len(ETMV4):12} bytes  ETM_0",
                 "ETM_0: id 0x10, etmv4 (ETM4.0), core cpu_0 (Cortex-A53), buffers ETB_0",
                 "cpu_0: core, Cortex-A53, cluster cluster_0, 1 registers, 1 dumps",
                 "0x0000000000004000        128 bytes  EL1N"]:
        assert part in text, f"{part}\n---\n{text}"
    assert "PC=0x4000" in tool.run("info", "snap", "-v").out


@case
def snapshot_is_not_overwritten_unasked(tool):
    make_snapshot(tool)
    before = (tool.folder / "snap" / "snapshot.ini").read_bytes()
    done = tool.run("snapshot", "-o", "snap", "--device", "x,class=core", status=3)
    assert "snap" in done.err, done.err
    equal((tool.folder / "snap" / "snapshot.ini").read_bytes(), before)
    make_snapshot(tool, more=["--force"])
    tool.run("info", "snap")


@case
def snapshot_is_written_whole_or_not_at_all(tool):
    done = tool.run("snapshot", "-o", "snap", "--trace", "ETB_0=gone.bin", "--device", "cpu_0",
                    status=3)
    assert "gone.bin" in done.err, done.err
    equal(list(tool.folder.iterdir()), [])


@case
def snapshot_says_what_is_wrong_with_its_parts(tool):
    make_parts(tool)
    start = ["snapshot", "-o", "snap", "--device", "cpu_0,class=core"]
    for words, said in [
            (["--trace", "etb.bin"], "is not NAME=FILE"),
            (["--trace", "A=etb.bin,format=zip"], 'there is no format "zip"'),
            (["--device", "a,color=red"], "with the keys class, type"),
            (["--reg", "nobody:A=1"], 'there is no device "nobody"'),
            (["--reg", "cpu_0:A=one"], "value that is no number"),
            (["--reg", "cpu_0:A(odd:1)=1"], "is not NAME(id:N,size:N)"),
            (["--dump", "cpu_0:code.bin"], "is not FILE@ADDRESS"),
            (["--dump", "cpu_0:code.bin@0,length=x"], "length wants a number"),
            (["--cluster", "x"], "is not NAME=DEVICE"),
    ]:
        done = tool.run(*start, *words, status=2)
        assert said in done.err, done.err
    assert not (tool.folder / "snap").exists()


@case
def registers_from_a_file(tool):
    tool.write("regs.ini", "# comment\n[regs]\nTRCIDR0 = 0x12\n\nTRCIDR1(id:0x79)=3\n")
    tool.run("snapshot", "-o", "snap", "--device", "e,class=trace_source,type=ETM4",
             "--reg", "e:regs.ini")
    source, = [r for r in records(tool.run("info", "snap", "--format", "jsonl"))
               if r["t"] == "DEVICE"]
    equal(source["regs"], {"TRCIDR0": "0x12", "TRCIDR1": "0x3"})


@case
def the_reference_lister_reads_our_snapshot(tool):
    lister = shutil.which("trc_pkt_lister")
    if not lister:
        raise Skip("no trc_pkt_lister (package libopencsd-bin)")
    make_snapshot(tool)
    done = subprocess.run([lister, "-ss_dir", "snap", "-decode", "-logstdout"],
                          cwd=tool.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=60, check=False)
    text = done.stdout.decode("utf-8", "replace")
    equal(done.returncode, 0, text)
    for part in ["I_ASYNC", "I_TRACE_INFO", "I_TRACE_ON", "ETMV4I"]:
        assert part in text, text
    for part in ["Snapshot Parse Error", "Reader : Error", "No supported protocols"]:
        assert part not in text, text


def elements(done):
    """What was decoded, by buffer and source; without what only one kind of capture tells."""
    found = {}
    for row in records(done):
        key = row.pop("buf", None), row["id"]
        for name in ("i", "cpu", "pid", "tid", "comm", "time", "dso", "off"):
            row.pop(name, None)
        found.setdefault(key, []).append(row)
    if len({buffer for buffer, _ in found}) == 1:
        found = {(None, number): rows for (_, number), rows in found.items()}
    return {key: rows for key, rows in found.items()
            if any(row["t"] not in ("EO_TRACE",) for row in rows)}


def check_from(tool, *words):
    """The snapshot made of a capture decodes to the same."""
    tool.run("snapshot", "--from", *words, "-o", "made", "--force", "-q")
    want = elements(tool.run("decode", *words, "--format", "jsonl", "-q", status=None))
    equal(elements(tool.run("decode", "made", "--format", "jsonl", "-q", status=None)), want)
    return sum(map(len, want.values()))


@case
def snapshot_from_raw_files(tool):
    make_parts(tool)
    tool.write("etm.bin", ETMV4[:15] + bytes.fromhex("8130") + ETMV4[15:])
    tool.write("code.bin", bytes.fromhex("1f2003d5") * 63 + bytes.fromhex("c1ffff17"))  # a loop
    config = re.sub(r"\([^)]*\)", "", ETMV4_REGISTERS)
    raw = ["etm.bin", "--protocol", "etmv4", "--config", config]
    assert check_from(tool, *raw, "--image", "code.bin@0x8000") > 3
    assert check_from(tool, *raw, "--image", "code.bin@0x8000,space=EL1N",
                      "--image", "code.bin@0x8000,space=EL3") > 3
    tool.run("pack", "--stream", "0x10:etm.bin", "--stream", "0x11:etm.bin", "-o", "two.bin")
    framed = ["two.bin", "--framing", "memory", "--source", f"0x10:etmv4:{config}",
              "--source", f"0x11:etmv4:{config.replace('TRCTRACEIDR=0x10', 'TRCTRACEIDR=0x11')}",
              "--image", "code.bin@0x8000"]
    assert check_from(tool, *framed) > 6
    # A source whose trace ID is not among its registers.
    without = config.replace("TRCTRACEIDR=0x10,", "")
    assert check_from(tool, "two.bin", "--framing", "memory", "--source", f"0x11:etmv4:{without}",
                      "--image", "code.bin@0x8000") > 3


@case
def snapshot_from_perf_data(tool):
    """Two CPUs with a buffer each; the code of two processes at one address."""
    trace = ETMV4[:15] + bytes.fromhex("81b064000000") + ETMV4[15:]
    registers = {"TRCCONFIGR": 0x41, "TRCIDR0": 0x28000ea1, "TRCIDR1": 0x4100f403,
                 "TRCIDR2": 0x488, "TRCAUTHSTATUS": 0xcc}
    made = PerfFile()
    made.info(perf_file.ETMV4, {cpu: dict(registers, TRCTRACEIDR=0x10 + cpu) for cpu in (0, 1)})
    made.comm(100, "a", 5)
    made.map(100, 0x8000, 256, 0, "/bin/a", 6)
    for cpu in (0, 1):
        tool.write("trace.bin", trace)
        tool.run("pack", "--stream", f"{0x10 + cpu}:trace.bin", "-o", "framed.bin")
        framed = (tool.folder / "framed.bin").read_bytes()
        for offset in (0, len(framed)):
            made.aux(offset, len(framed), 0, 100, 9, cpu)
        made.trace(2 * framed, cpu=cpu, index=cpu)
    tool.write("perf.data", made.bytes())
    tool.write("root/bin/a", bytes.fromhex("1f2003d5") * 63 + bytes.fromhex("c1ffff17"))  # a loop
    tool.write("root/bin/b", bytes(256))
    assert check_from(tool, "perf.data", "--sysroot", "root") > 12
    names = [row["name"] for row in records(tool.run("info", "made", "--format", "jsonl"))
             if row["t"] == "SOURCE"]
    size = hex(len(framed))
    equal(names, ["etmv4-cpu0", f"etmv4-cpu0_cpu0+{size}", "etmv4-cpu1", f"etmv4-cpu1_cpu1+{size}"])
    made.map(200, 0x8000, 256, 0, "/bin/b", 6)
    tool.write("perf.data", made.bytes())
    done = tool.run("snapshot", "--from", "perf.data", "--sysroot", "root", "-o", "both")
    assert "256 bytes of memory are left out" in done.err, done.err


@case
def snapshot_from_the_corpus(tool):
    folder = corpus() / "perf"
    for name in ["p03", "p04", "p05", "p10", "p12", "p14", "p19"]:
        path = next(folder.glob(f"{name}-*.perf.data"))
        assert check_from(tool, path, "--sysroot", folder / "root") > 2000, name
    folder = corpus() / "riscv"
    for name in ["br_j_asm-m-all", "br_j_asm-m-ir-counter"]:
        config = folder / "cases" / name / "case.txt"
        assert check_from(tool, config.parent / "trace.bin", "--protocol", "etrace", "--config",
                          config, "--image", folder / "programs" / "br_j_asm" / "image.txt") > 500


@case
def snapshot_from_what_it_cannot_be_made_of(tool):
    make_snapshot(tool)
    assert "--image" in tool.run("snapshot", "--from", "snap", "--image", "code.bin@0", "-o", "x",
                                 status=2).err
    assert "TPIU" in tool.run("snapshot", "--from", "etb.bin", "--framing", "tpiu", "--source",
                              "0x10:etmv4:TRCIDR0=1,TRCIDR1=0x4100f403,TRCIDR2=0,TRCCONFIGR=1",
                              "-o", "x", status=3).err
    assert "--from" in tool.run("snapshot", "--from", "etb.bin", "--device", "a", "-o", "x",
                                status=2).err
    assert "nowhere" in tool.run("snapshot", "--from", "nowhere", "-o", "x", status=3).err


def read_folder(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@case
def snapshot_from_a_snapshot(tool):
    make_snapshot(tool)
    tool.run("snapshot", "--from", "snap", "-o", "copy")
    # Only that of the dump is kept which the snapshot shows, and so its place in the file.
    want, made = read_folder(tool.folder / "snap"), read_folder(tool.folder / "copy")
    equal(made.pop("code.bin"), want.pop("code.bin")[0x10:0x90])
    want["device_0.ini"] = want["device_0.ini"].replace(b"length=0x80\noffset=0x10\n", b"")
    equal(made, want)
    assert check_from(tool, "snap") > 1
    tool.run("snapshot", "--from", "copy", "-o", "again")
    equal(read_folder(tool.folder / "again"), read_folder(tool.folder / "copy"))


@case
def snapshot_from_a_snapshot_of_many_files(tool):
    """Files of one name in several folders, a dump of two cores, one that is missing."""
    make_parts(tool)
    tool.write("s/snapshot.ini", "[snapshot]\nversion=1.0\ndescription=deep\n[device_list]\n"
               "a=cpu/0.ini\nb=cpu/1.ini\nc=etm.ini\n[clusters]\nx=cpu_0,cpu_1\n[trace]\nmetadata=t.ini\n")
    for core in (0, 1):
        tool.write(f"s/cpu/{core}.ini", f"[device]\nname=cpu_{core}\ntype=Cortex-A53\n"
                   "[dump]\nfile=one/mem.bin\naddress=0\n[dump]\nfile=two/mem.bin\naddress=0x100\nspace=N\n"
                   "[dump]\nfile=gone.bin\naddress=0x200\n")
    tool.write("s/one/mem.bin", b"1" * 8)
    tool.write("s/two/mem.bin", b"2" * 8)
    tool.write("s/etm.ini", "[device]\nname=ETM_0\ntype=ETM4.0\n[regs]\n"
               + ETMV4_REGISTERS.replace(",size", "#").replace(",", "\n").replace("#", ",size") + "\n")
    trace = (tool.folder / "etb.bin").read_bytes()
    tool.write("s/one/t.bin", trace[:16])
    tool.write("s/two/t.bin", trace[16:])
    tool.write("s/t.ini", "[trace_buffers]\nbuffers=b\n[b]\nname=B\nformat=coresight\nfile=one/t.bin,two/t.bin\n"
               "[core_trace_sources]\ncpu_1=ETM_0\n")
    tool.run("snapshot", "--from", "s", "-o", "made")
    assert "file=t.bin,2_t.bin" in (tool.folder / "made" / "trace.ini").read_text()
    kept = read_folder(tool.folder / "made")
    equal(sorted(kept), ["2_t.bin", "4_mem.bin", "device_0.ini", "device_1.ini", "device_2.ini", "mem.bin",
                         "snapshot.ini", "t.bin", "trace.ini"])
    equal((kept["mem.bin"], kept["4_mem.bin"]), (b"1" * 8, b"2" * 8))
    equal(tool.run("decode", "made", status=None).out, tool.run("decode", "s", status=None).out)
    # Put in order, the bytes are those that are read.
    tool.run("snapshot", "--from", "s", "--wrapped-at", "32", "-o", "turned")
    equal(tool.run("frames", "turned").out, tool.run("frames", "s", "--wrapped-at", "32").out)


@case
def snapshot_from_the_snapshots_of_the_corpus(tool):
    for name in ["TC2", "juno_r1_1", "Snowball", "itm_only_raw"]:
        assert check_from(tool, corpus() / "coresight" / "snapshots" / name) > 10, name


DATA = bytes(11) + b"\x80" + bytes(16)


# [CSD 4.2.3.2/2] [CSD 4.2.3.4/4]
@case
def streams_and_buffers_of_several_files(tool):
    """Instructions and data of one unit in buffers of their own, the first in two files."""
    tool.write("i0.bin", ETMV4[:14])
    tool.write("i1.bin", ETMV4[14:])
    tool.write("d.bin", DATA)
    registers = ETMV4_REGISTERS.replace("0x28000EA1", "0x28000EFF").replace("0x000000C1", "0x30007")
    words = ["--device", "cpu_0,class=core,type=Cortex-R8", "--reg", f"ETM_0:{registers}",
             "--trace", "I=i0.bin,file=i1.bin,format=source_data", "--trace", "D=d.bin,format=source_data"]
    device = "ETM_0,class=trace_source,type=ETM4.0,core=cpu_0,buffer=I(stream:0),buffer=D(stream:1)"
    tool.run("snapshot", "-o", "snap", *words, "--device", device)
    text = (tool.folder / "snap" / "trace.ini").read_text()
    assert "file=i0.bin,i1.bin\n" in text, text
    assert "ETM_0(stream:0)=I\nETM_0(stream:1)=D\n" in text, text
    done = tool.run("packets", "snap", status=1)  # data trace is listed, not decoded
    equal(re.findall(r"^(\w): 0x\w+ +(0x\w+) \w+ +(\w+)", done.out, re.M)[:4],
          [("I", "0x10", "I_ASYNC"), ("I", "0x10", "I_TRACE_INFO"), ("I", "0x10", "I_TRACE_ON"),
           ("I", "0x10", "I_ADDR_L_64IS0")])
    assert "D: 0x0       0x11" in done.out, done.out
    tool.run("snapshot", "--from", "snap", "-o", "copy")
    equal(read_folder(tool.folder / "copy"), read_folder(tool.folder / "snap"))
    for buffer, said in [("D(stream:x)", "stream wants a number"), ("D(flow:1)", "is not BUFFER(stream:N)")]:
        done = tool.run("snapshot", "-o", "bad", *words, "--device", f"ETM_0,buffer={buffer}", status=2)
        assert said in done.err, done.err
    done = tool.run("snapshot", "-o", "bad", *words, "--device", "ETM_0,buffer=X(stream:1)", status=3)
    assert "there is no buffer X" in done.err, done.err


@case
def each_source_is_decoded_or_named(tool):
    """What a snapshot leaves out is said."""
    make_snapshot(tool)
    device = tool.folder / "snap" / "device_1.ini"
    text = device.read_text()
    whole = tool.run("decode", "snap", status=None).out
    for old, new, said in [
            ("TRCTRACEIDR(id:0x10)=0x00000010\n", "", "its trace ID is not known: register TRCTRACEIDR"),
            ("=0x00000010\n", "=0\n", "its trace ID is 0, which is no source's: register TRCTRACEIDR"),
            ("type=ETM4.0\n", "", "no type given"),
            ("type=ETM4.0\n", "type=ETM9\n", "this build knows no such type of trace")]:
        assert old in text, text
        device.write_text(text.replace(old, new))
        done = tool.run("decode", "snap", status=3)
        assert f"source ETM_0 is left out: {said}" in done.err, done.err
    device.write_text(text.replace("class=trace_source\n", ""))
    equal(tool.run("decode", "snap", status=None).out, whole)
    device.write_text(text)
    index = tool.folder / "snap" / "snapshot.ini"
    index.write_text(index.read_text().replace("[trace]\nmetadata=trace.ini\n", ""))
    for command in ["decode", "packets", "stats"]:
        assert "there is no trace in it" in tool.run(command, "snap", status=3).err
    tool.write("snap/trace.ini", (tool.folder / "snap" / "trace.ini").read_text() + "cpu_0=ETM_7\n")
    index.write_text(index.read_text() + "[trace]\nmetadata=trace.ini\n")
    assert "cpu_0=ETM_7: no device file describes" in tool.run("decode", "snap", status=None).err
